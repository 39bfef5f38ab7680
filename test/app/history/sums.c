/* SPDX-License-Identifier: BSD-3-Clause */
#include "history/sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/history_csv.h"
#include "unit.h"

const char wh_suite_name[] = "app/sums";

static struct wh_history_record entry_of(const char *name, uint64_t bytes, int64_t day, int status)
{
	struct wh_history_record record = {.uid = -1,
		.verb = "get",
		.peer = "192.0.2.1",
		.bytes = bytes,
		.files = 1,
		.pkts = 100,
		.lost_pkts = 1,
		.status = status,
		.outcome = "ok"};

	record.began_us = (day * 86400 + 43200) * 1000000;
	record.ended_us = record.began_us + 2000000;
	snprintf(record.name, sizeof(record.name), "%s", name);
	return record;
}

static void add(struct wh_sums *sums, const char *name, uint64_t bytes, int64_t day, int status)
{
	const struct wh_history_record record = entry_of(name, bytes, day, status);

	CU_ASSERT(wh_sums_add(sums, &record));
}

static void test_peers(void)
{
	struct wh_sums sums = {.by = WH_SUMS_BY_PEER};

	add(&sums, "b", 10, 0, 0);
	add(&sums, "a", 500, 0, 3);
	add(&sums, "b", 5, 1, 0);
	add(&sums, "", 1, 1, 0);
	wh_sums_put_in_order(&sums);
	CU_ASSERT_EQUAL_FATAL(sums.count, 3);
	CU_ASSERT_STRING_EQUAL(sums.sum[0].name, "a");
	CU_ASSERT_EQUAL(sums.sum[0].wrong, 1);
	CU_ASSERT_STRING_EQUAL(sums.sum[1].name, "b");
	CU_ASSERT_EQUAL(sums.sum[1].bytes, 15);
	CU_ASSERT_EQUAL(sums.sum[1].transfers, 2);
	CU_ASSERT_EQUAL(sums.sum[1].seconds, 4);
	CU_ASSERT_STRING_EQUAL(sums.sum[2].name, "192.0.2.1");
	CU_ASSERT_EQUAL(sums.all.bytes, 516);
	CU_ASSERT_EQUAL(sums.all.pkts, 400);
	wh_sums_free(&sums);
}

/* In their order, however they came. */
static void test_days(void)
{
	struct wh_sums sums = {.by = WH_SUMS_BY_DAY};

	add(&sums, "a", 1, 2, 0);
	add(&sums, "a", 2, 0, 0);
	add(&sums, "a", 4, 1, 0);
	wh_sums_put_in_order(&sums);
	CU_ASSERT_EQUAL_FATAL(sums.count, 3);
	CU_ASSERT_STRING_EQUAL(sums.sum[0].name, "1970-01-01");
	CU_ASSERT_EQUAL(sums.sum[0].bytes, 2);
	CU_ASSERT_STRING_EQUAL(sums.sum[2].name, "1970-01-03");
	wh_sums_free(&sums);
}

/* Who makes up names costs one row in the end. */
static void test_bound(void)
{
	struct wh_sums sums = {.by = WH_SUMS_BY_PEER};
	char name[32];

	for (uint32_t i = 0; i < WH_SUMS_MAX + 50; i++) {
		snprintf(name, sizeof(name), "p%u", i * 7919 % 100003);
		add(&sums, name, 1, 0, 0);
	}
	CU_ASSERT_EQUAL(sums.count, WH_SUMS_MAX + 1);
	wh_sums_put_in_order(&sums);
	CU_ASSERT_STRING_EQUAL(sums.sum[0].name, WH_SUMS_OTHERS);
	CU_ASSERT_EQUAL(sums.sum[0].bytes, 50);
	CU_ASSERT_EQUAL(sums.all.transfers, WH_SUMS_MAX + 50);
	wh_sums_free(&sums);
}

static void expect_field(const char *text, const char *expected)
{
	char *written = NULL;
	size_t bytes;
	FILE *to = open_memstream(&written, &bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	wh_csv_text(to, text);
	fclose(to);
	CU_ASSERT_STRING_EQUAL(written, expected);
	free(written);
}

static void test_fields(void)
{
	expect_field("", "\"\"");
	expect_field("a,b", "\"a,b\"");
	expect_field("say \"x\"", "\"say \"\"x\"\"\"");
	expect_field("=1+1", "\"'=1+1\"");
	expect_field("@a\n\x1b", "\"'@a\\x0a\\x1b\"");
}

CU_TestInfo wh_tests[] = {
	{"by peer", test_peers},
	{"by day", test_days},
	{"a bound", test_bound},
	{"fields of CSV", test_fields},
	CU_TEST_INFO_NULL,
};
