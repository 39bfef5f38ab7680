/* SPDX-License-Identifier: BSD-3-Clause */

/* What is found is drawn, kept and read again; a file that is anything else is not believed. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "probe/tell.h"
#include "unit.h"

const char wh_suite_name[] = "app/probe_kept";

#define COUNT 1000
#define WHOLE 600

static uint64_t arrivals[COUNT];

/* Behind 600 every third is lost. */
static struct wh_findings overflow(void)
{
	struct wh_findings found = {
		.echoes_sent = 100,
		.echoes_heard = 99,
		.echoes_got = 98,
		.rtt_min_ns = 96000000,
		.rtt_p50_ns = 96100000,
		.rtt_p99_ns = 97000000,
		.mtu_bytes = 1500,
		.pairs = 64,
		.pairs_bps = 621e6,
		.trains_bps = 622e6,
		.line_bps = 1e9,
		.burst_end = WH_BURST_OVERFLOW,
		.burst_pkts = WHOLE,
		.burst_verified = true,
		.wire_bytes = 1538,
		.lost_share = 0.33,
		.lost_share_expected = 0.378,
		.lost_runs = 133,
		.longest_run = 1,
		.memory_bytes = 348818.4,
		.forbidden = true,
		.forbidden_low_bps = 27e6,
		.forbidden_high_bps = 973e6,
		.initial_bps = 76e6,
		.steady_sent = 1000,
		.steady_lost = 1,
		.steady_bps = 311e6,
		.trains = 12,
		.trains_arrived_pkts = 5000,
		.sent_pkts = 6000,
		.sent_bytes = 9000000,
		.elapsed_ns = 2000000000,
		.shown_count = COUNT,
		.shown = arrivals,
	};

	for (uint64_t i = 0; i < COUNT; i++)
		if (i < WHOLE || i % 3 != 0)
			arrivals[found.shown_arrivals++] = i * 19000 << 32 | i;
	return found;
}

static void round_trip(void)
{
	struct wh_findings found = overflow(), again;
	json_t *object = wh_findings_to_json(&found);

	CU_ASSERT(wh_findings_from_json(object, &again));
	again.shown = found.shown;
	again.shown_count = found.shown_count;
	again.shown_arrivals = found.shown_arrivals;
	CU_ASSERT_EQUAL(memcmp(&again, &found, sizeof(found)), 0);
	json_decref(object);
}

/* Each member, by turns missing, of another type, negative, and beyond what makes sense. */
static void nothing_else_is_believed(void)
{
	struct wh_findings found = overflow(), again;
	json_t *object = wh_findings_to_json(&found);
	const char *key;
	json_t *value;
	uint32_t members = 0;

	json_object_foreach(object, key, value)
	{
		json_t *const wrong[] = {NULL, json_array(), json_integer(-1), json_real(1e300)};

		members++;
		for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
			json_t *copy = json_copy(object);

			json_object_del(copy, key);
			if (wrong[i] != NULL)
				json_object_set_new(copy, key, wrong[i]);
			CU_ASSERT_FALSE(wh_findings_from_json(copy, &again));
			json_decref(copy);
		}
	}
	CU_ASSERT(members > 30);
	CU_ASSERT_FALSE(wh_findings_from_json(NULL, &again));
	json_decref(object);
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void kept(void)
{
	char top[] = "/tmp/wavehaul-kept-XXXXXX";
	char folder[64], path[128], when[WH_PROBE_WHEN_BYTES];
	struct wh_findings found = overflow(), again;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	snprintf(folder, sizeof(folder), "%s/deep", top);
	snprintf(path, sizeof(path), "%s/peer-2001:db8::1.json", folder);
	CU_ASSERT_FALSE(wh_probe_recall(folder, "2001:db8::1", &again, when));
	CU_ASSERT_EQUAL(wh_probe_keep(folder, "2001:db8::1", &found), 0);
	CU_ASSERT(wh_probe_recall(folder, "2001:db8::1", &again, when));
	CU_ASSERT_EQUAL(again.burst_pkts, WHOLE);
	CU_ASSERT_EQUAL(strlen(when), 20);
	CU_ASSERT_FALSE(wh_probe_recall(folder, "2001:db8::2", &again, when));
	CU_ASSERT_FALSE(wh_probe_recall("none", "2001:db8::1", &again, when));
	CU_ASSERT_EQUAL(wh_probe_keep("none", "2001:db8::1", &found), 0);
	write_text(path, "{\"format\": 2, \"when\": \"x\", \"found\": {}}");
	CU_ASSERT_FALSE(wh_probe_recall(folder, "2001:db8::1", &again, when));
	write_text(path, "no JSON");
	CU_ASSERT_FALSE(wh_probe_recall(folder, "2001:db8::1", &again, when));
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(rmdir(folder), 0); /* nothing else was left there */
	/* A file in the place of the folder. */
	write_text(folder, "");
	CU_ASSERT(wh_probe_keep(folder, "2001:db8::1", &found) < 0);
	unlink(folder);
	rmdir(top);
}

static uint32_t count_of(const char *text, const char *part)
{
	uint32_t count = 0;

	while ((text = strstr(text, part)) != NULL) {
		count++;
		text++;
	}
	return count;
}

static void drawn(void)
{
	static char text[65536];
	char path[] = "/tmp/wavehaul-plot-XXXXXX";
	struct wh_findings found = overflow();
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	CU_ASSERT_EQUAL(wh_probe_plot(&found, "192.0.2.1", path), 0);

	FILE *file = fopen(path, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(path);
	CU_ASSERT_EQUAL(count_of(text, "h0"), found.shown_arrivals);
	CU_ASSERT_EQUAL(count_of(text, "v8"), COUNT - found.shown_arrivals);
	CU_ASSERT_EQUAL(count_of(text, "</svg>"), 1);
	CU_ASSERT(wh_probe_plot(&found, "192.0.2.1", "/nowhere/way.svg") < 0);
}

CU_TestInfo wh_tests[] = {
	{"round trip", round_trip},
	{"nothing else is believed", nothing_else_is_believed},
	{"kept", kept},
	{"drawn", drawn},
	CU_TEST_INFO_NULL,
};
