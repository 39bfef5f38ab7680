/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/history_tell.h"

#include <string.h>
#include <time.h>

#include "unit.h"

const char wh_suite_name[] = "app/tell";

static struct wh_history_record an_entry(void)
{
	return (struct wh_history_record){
		.verb = "send",
		.peer = "192.0.2.2",
		.name = "dtn2",
		.path = "in/a",
		.paths = 1,
		.lanes = 1,
		.began_us = 0,
		.ended_us = 4000000,
		.files = 2,
		.bytes = 1000000000,
		.outcome = "ok",
	};
}

static void expect_told(const struct wh_history_record *record, const char *expected)
{
	char sentence[WH_TELL_BYTES];

	wh_history_tell(record, sentence);
	CU_ASSERT_STRING_EQUAL(sentence, expected);
	if (strcmp(sentence, expected) != 0)
		fprintf(stderr, "\n    %s\n    %s\n", sentence, expected);
}

static void test_sentences(void)
{
	struct wh_history_record record = an_entry();

	expect_told(&record, "1970-01-01T00:00:04.000Z 192.0.2.2 (dtn2) send in/a: 2 files, "
			     "954 MiB in 4.00 s, 2.00 Gb/s: ok");
	record.pkts = 120000;
	record.lost_pkts = 60;
	record.resumed_bytes = 500000000;
	strcpy(record.limit, "rate");
	strcpy(record.digest, "0123456789abcdef0123456789abcdef");
	expect_told(&record,
		"1970-01-01T00:00:04.000Z 192.0.2.2 (dtn2) send in/a: 2 files, 954 MiB in 4.00 s, "
		"1.00 Gb/s, 477 MiB of it had come before, 0.05 % lost, limited by rate, xxh3-128 "
		"0123456789abcdef0123456789abcdef: ok");
	record = an_entry();
	record.lanes = 4;
	record.lane = 1;
	record.files = 1;
	record.failed = 3;
	record.skipped = 5;
	record.paths = 3;
	record.name[0] = '\0';
	strcpy(record.path, "esc\x1b[2J\n\xff");
	strcpy(record.outcome, "some files failed");
	strcpy(record.why, "no \x07 room");
	expect_told(&record,
		"1970-01-01T00:00:04.000Z 192.0.2.2 send esc\\x1b[2J\\x0a\\xff and 2 more, lane 2 "
		"of 4: 1 file, 954 MiB in 4.00 s, 2.00 Gb/s, 5 skipped, 3 failed: some files "
		"failed: no \\x07 room");
	record = an_entry();
	strcpy(record.path, ".");
	strcpy(record.file, "gw/a.csv");
	expect_told(&record,
		"1970-01-01T00:00:04.000Z 192.0.2.2 (dtn2) send . (first: gw/a.csv): 2 "
		"files, "
		"954 MiB in 4.00 s, 2.00 Gb/s: ok");
	/* What failed has its rate by all that moved, and its reason once. */
	record = an_entry();
	record.status = 1;
	record.files = record.bytes = 0;
	record.moved_bytes = 250000000;
	strcpy(record.outcome, "replaced");
	expect_told(&record, "1970-01-01T00:00:04.000Z 192.0.2.2 (dtn2) send in/a: 238 MiB in 4.00 "
			     "s, 500 Mb/s: replaced");
	record = (struct wh_history_record){.verb = "bench",
		.peer = "192.0.2.2",
		.order = 17,
		.ended_us = 1000000,
		.moved_bytes = 125000000,
		.outcome = "ok"};
	expect_told(&record, "1970-01-01T00:00:01.000Z job 17 192.0.2.2 bench: 119 MiB in 1.00 s, "
			     "1.00 Gb/s: ok");
}

/* Without the moment at its begin. */
static void expect_refused(const struct wh_refusal *refusal, const char *expected)
{
	char sentence[WH_TELL_BYTES];

	wh_refusal_tell(refusal, 0, sentence);
	CU_ASSERT_STRING_EQUAL(strchr(sentence, ' ') + 1, expected);
}

static void test_refusals(void)
{
	struct wh_refusal refusal = {.outcome = "refused", .times = 1};

	expect_refused(&refusal, "others refused");
	refusal.times = 3;
	expect_refused(&refusal, "others refused, 3 times");
	strcpy(refusal.why, "nobody knows it");
	refusal.outcome = "busy";
	expect_refused(&refusal, "others refused: busy, 3 times: nobody knows it");
}

/* The longest there is ends where its room does. */
static void test_long(void)
{
	struct wh_history_record record = an_entry();
	char sentence[WH_TELL_BYTES];

	memset(record.path, 7, sizeof(record.path) - 1);
	memset(record.name, 7, sizeof(record.name) - 1);
	memset(record.why, 7, sizeof(record.why) - 1);
	memset(record.limit, 'x', sizeof(record.limit) - 1);
	memset(record.digest, 'x', sizeof(record.digest) - 1);
	record.pkts = record.lost_pkts = UINT64_MAX;
	record.resumed_bytes = UINT64_MAX;
	wh_history_tell(&record, sentence);
	CU_ASSERT(strlen(sentence) < WH_TELL_BYTES);
	for (const char *c = sentence; *c != '\0'; c++)
		CU_ASSERT(*c >= ' ' && *c != 0x7f);
}

/* One word for a peer in tables and pictures: 64 digits would break both. */
static void test_who(void)
{
	static const uint8_t id[WH_IDENTITY_BYTES] = {1, 2, 3};
	struct wh_history_record record = an_entry();
	char print[WH_FINGERPRINT_BYTES], expected[WH_FINGERPRINT_BYTES];

	wh_id_text(id, record.identity);
	CU_ASSERT_STRING_EQUAL(wh_history_who(&record, print), "dtn2");
	record.name[0] = '\0';
	CU_ASSERT_STRING_EQUAL(wh_history_who(&record, print), wh_fingerprint_text(id, expected));
	CU_ASSERT_EQUAL(strlen(print), WH_FINGERPRINT_BYTES - 1);
	record.identity[0] = '\0';
	CU_ASSERT_STRING_EQUAL(wh_history_who(&record, print), "192.0.2.2");
}

static void test_json(void)
{
	struct wh_history_record record = an_entry();
	json_t *object = wh_history_json(&record);

	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(object, "bytes")), 1000000000);
	CU_ASSERT_EQUAL(json_real_value(json_object_get(object, "bps")), 2e9);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(object, "ended")), "1970-01-01T00:00:04.000Z");
	CU_ASSERT(json_is_null(json_object_get(object, "job")));
	CU_ASSERT(json_is_null(json_object_get(object, "why")));
	json_decref(object);
}

CU_TestInfo wh_tests[] = {
	{"sentences", test_sentences},
	{"refusals", test_refusals},
	{"long ones", test_long},
	{"who", test_who},
	{"JSON", test_json},
	CU_TEST_INFO_NULL,
};
