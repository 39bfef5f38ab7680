/* SPDX-License-Identifier: BSD-3-Clause */

/* What is found is drawn, kept and read again; a file that is anything else is not believed. */

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/kept.h"
#include "report/probe_tell.h"
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
		.wanted_bytes = 2.9e6,
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

static char top[64];
static char path[160];
static struct wh_kept_place place;

static void make_place(const char *peer, const char *port)
{
	static char folder[80];

	strcpy(top, "/tmp/wavehaul-kept-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	snprintf(folder, sizeof(folder), "%s/deep", top);
	place = (struct wh_kept_place){.folder = folder, .peer = peer, .port = port};
	snprintf(path, sizeof(path), "%s/peer-%s-0000:3b:00.0.json", folder, peer);
}

static void remove_place(void)
{
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(place.folder), 0); /* nothing else was left there */
	CU_ASSERT_EQUAL(rmdir(top), 0);
}

static void kept(void)
{
	struct wh_findings found = overflow();
	struct wh_kept again;

	make_place("2001:db8::1", "0000:3b:00.0");
	CU_ASSERT_FALSE(wh_kept_recall(&place, &again));
	CU_ASSERT_EQUAL(wh_kept_probe(&place, &found), 0);
	CU_ASSERT(wh_kept_recall(&place, &again));
	CU_ASSERT_TRUE(again.probed);
	CU_ASSERT_EQUAL(again.found.burst_pkts, WHOLE);
	CU_ASSERT_EQUAL(strlen(again.found_when), 20);
	CU_ASSERT_STRING_EQUAL(again.path_by, "probe");
	CU_ASSERT_EQUAL(again.path.capacity_bps, 622000000);
	CU_ASSERT_EQUAL(again.path.rtt_ns, 96000000);
	CU_ASSERT_EQUAL(again.path.burst_pkts, WHOLE);
	CU_ASSERT(again.path.age_s < 60);
	CU_ASSERT_EQUAL(again.memory_bytes, 348818.4);

	/* Of another peer, from another port, and where nothing is to be kept. */
	struct wh_kept_place other = place;

	other.peer = "2001:db8::2";
	CU_ASSERT_FALSE(wh_kept_recall(&other, &again));
	other = place;
	other.port = "0000:3b:00.1";
	CU_ASSERT_FALSE(wh_kept_recall(&other, &again));
	other.port = "0000:3b:00/0"; /* its file would be another's */
	CU_ASSERT_FALSE(wh_kept_recall(&other, &again));
	other = place;
	other.folder = "none";
	CU_ASSERT_FALSE(wh_kept_recall(&other, &again));
	CU_ASSERT_EQUAL(wh_kept_probe(&other, &found), 0);
	remove_place();

	/* A file in the place of the folder. */
	make_place("192.0.2.1", "0000:3b:00.0");
	write_text(place.folder, "");
	CU_ASSERT(wh_kept_probe(&place, &found) < 0);
	unlink(place.folder);
	rmdir(top);
}

/* The later of a probe and a transfer says how the way is; a probe's findings stay. */
static void of_both(void)
{
	const struct wh_profile *udt = wh_profile_find("udt");
	struct wh_known_path way = {.capacity_bps = 9800000000, .rtt_ns = 95000000};
	struct wh_findings found = overflow();
	struct wh_kept again;

	make_place("192.0.2.1", "0000:3b:00.0");
	CU_ASSERT_EQUAL(wh_kept_transfer(&place, &way, udt), 0);
	CU_ASSERT(wh_kept_recall(&place, &again));
	CU_ASSERT_FALSE(again.probed);
	CU_ASSERT_EQUAL(again.path.burst_pkts, 0);
	CU_ASSERT_EQUAL(wh_kept_probe(&place, &found), 0);
	CU_ASSERT_EQUAL(wh_kept_transfer(&place, &way, udt), 0);
	CU_ASSERT(wh_kept_recall(&place, &again));
	CU_ASSERT_STRING_EQUAL(again.path_by, "udt");
	CU_ASSERT_EQUAL(again.path.capacity_bps, 9800000000);
	CU_ASSERT_EQUAL(again.path.rtt_ns, 95000000);
	CU_ASSERT_EQUAL(again.path.burst_pkts, WHOLE);
	CU_ASSERT_TRUE(again.probed);
	CU_ASSERT_EQUAL(again.found.trains, 12);
	way.burst_pkts = 7;
	CU_ASSERT_EQUAL(wh_kept_transfer(&place, &way, udt), 0);
	CU_ASSERT(wh_kept_recall(&place, &again));
	CU_ASSERT_EQUAL(again.path.burst_pkts, 7);
	/* One that saw no train arrive says nothing of the capacity. */
	found.trains_bps = 0;
	CU_ASSERT_EQUAL(wh_kept_probe(&place, &found), 0);
	CU_ASSERT(wh_kept_recall(&place, &again));
	CU_ASSERT_STRING_EQUAL(again.path_by, "udt");
	remove_place();
}

/*
 * A peer that lies about when a train arrived, or holds our echoes. What is kept is within bounds,
 * or as before; and what is written is read again, so that nothing else in the file is lost.
 */
static void lies(void)
{
	static const struct {
		double trains_bps;
		uint64_t rtt_min_ns;
		uint64_t capacity_bps, rtt_ns; /* as kept */
	} cases[] = {
		{0.0, 1000, 5000, 3000},
		{0.9, 1000, 5000, 3000},
		{622e6, 0, 5000, 3000},
		{1.0, 1, 1, 1},
		{1e14, UINT64_C(100000000000), WH_KNOWN_BPS_MAX, WH_KNOWN_RTT_MAX_NS},
		{1e17, UINT64_C(1000000000000), WH_KNOWN_BPS_MAX, WH_KNOWN_RTT_MAX_NS},
		{1e300, UINT64_MAX >> 1, WH_KNOWN_BPS_MAX, WH_KNOWN_RTT_MAX_NS},
		{(double)INFINITY, 1, WH_KNOWN_BPS_MAX, 1},
		{(double)NAN, 1, 5000, 3000},
	};
	const struct wh_known_path before = {.capacity_bps = 5000, .rtt_ns = 3000};
	struct wh_kept again;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_findings found = overflow();

		make_place("192.0.2.1", "0000:3b:00.0");
		CU_ASSERT_EQUAL(wh_kept_transfer(&place, &before, wh_profile_find("lambda")), 0);
		found.trains_bps = found.steady_bps = cases[i].trains_bps;
		found.rtt_min_ns = cases[i].rtt_min_ns;
		CU_ASSERT_EQUAL(wh_kept_probe(&place, &found), 0);
		CU_ASSERT(wh_kept_recall(&place, &again));
		CU_ASSERT_EQUAL(again.path.capacity_bps, cases[i].capacity_bps);
		CU_ASSERT_EQUAL(again.path.rtt_ns, cases[i].rtt_ns);
		CU_ASSERT_TRUE(again.probed);
		CU_ASSERT_EQUAL(again.found.burst_pkts, WHOLE);
		remove_place();
	}
}

static void text_of(char *text, size_t room, int64_t age_s, const char *capacity, const char *rest)
{
	time_t then = time(NULL) - (time_t)age_s;
	char when[32];
	struct tm tm;

	gmtime_r(&then, &tm);
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm);
	snprintf(text, room,
		"{\"format\": 2, \"peer\": \"192.0.2.1\", \"port\": \"0000:3b:00.0\", "
		"\"memory_bytes\": 0.0, \"probe\": null, \"path\": {\"capacity_bps\": %s, "
		"\"rtt_ns\": 1000, \"burst_pkts\": 3, \"by\": \"probe\", \"when\": \"%s\"}}%s",
		capacity, when, rest);
}

/* What is of another time, or nothing that we would have written. */
static void not_believed(void)
{
	static const struct {
		int64_t age_s;
		const char *capacity;
		const char *rest;
		bool known;
		uint64_t capacity_bps;
	} cases[] = {
		{3600, "1000000", "", true, 1000000},
		{-3600, "1000000", "", true, 1000000},
		{29 * 86400, "1000000", "", true, 1000000},
		{31 * 86400, "1000000", "", true, 0},
		{-2 * 86400, "1000000", "", false, 0},
		{0, "0", "", false, 0},
		{0, "-1", "", false, 0},
		{0, "1e300", "", false, 0},
		{0, "\"much\"", "", false, 0},
		{0, "null", "", false, 0},
		{0, "1000000", "}", false, 0},
	};
	struct wh_kept again;
	char text[512];

	make_place("192.0.2.1", "0000:3b:00.0");
	CU_ASSERT_EQUAL(mkdir(place.folder, 0755), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		text_of(text, sizeof(text), cases[i].age_s, cases[i].capacity, cases[i].rest);
		write_text(path, text);
		CU_ASSERT_EQUAL(wh_kept_recall(&place, &again), cases[i].known);
		CU_ASSERT_EQUAL(again.path.capacity_bps, cases[i].capacity_bps);
	}
	text_of(text, sizeof(text), 3600, "5", "");
	write_text(path, text);
	CU_ASSERT(wh_kept_recall(&place, &again));
	CU_ASSERT(again.path.age_s >= 3600 && again.path.age_s < 3660);
	/* The same of another user, and what nobody would ever stop reading. */
	if (geteuid() == 0) {
		CU_ASSERT_EQUAL(chown(path, 65534, 65534), 0);
		CU_ASSERT_FALSE(wh_kept_recall(&place, &again));
	}
	unlink(path);
	CU_ASSERT_EQUAL(symlink("/dev/zero", path), 0);
	CU_ASSERT_FALSE(wh_kept_recall(&place, &again));
	unlink(path);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	CU_ASSERT_FALSE(wh_kept_recall(&place, &again));
	unlink(path);
	write_text(path, "no JSON");
	CU_ASSERT_FALSE(wh_kept_recall(&place, &again));
	remove_place();
}

static uint32_t files_there(void)
{
	DIR *dir = opendir(place.folder);
	uint32_t count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count - 2;
}

/* A host that has met everybody forgets whom it met first; what is not of this kind stays. */
static void bounded(void)
{
	struct wh_findings found = overflow();
	const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char name[200];

	make_place("192.0.2.1", "0000:3b:00.0");
	CU_ASSERT_EQUAL(mkdir(place.folder, 0755), 0);
	for (uint32_t i = 0; i < WH_KEPT_FILES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "%s/peer-%u.json", place.folder, i);
		write_text(name, "");
		if (i < 5)
			utimensat(AT_FDCWD, name, old, 0);
	}
	snprintf(name, sizeof(name), "%s/other", place.folder);
	write_text(name, "");
	utimensat(AT_FDCWD, name, old, 0);
	CU_ASSERT_EQUAL(wh_kept_probe(&place, &found), 0);
	CU_ASSERT_EQUAL(files_there(), WH_KEPT_FILES_MAX + 1);
	for (uint32_t i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "%s/peer-%u.json", place.folder, i);
		CU_ASSERT_NOT_EQUAL(access(name, F_OK), 0);
	}
	for (uint32_t i = 0; i < WH_KEPT_FILES_MAX + 10; i++) {
		snprintf(name, sizeof(name), "%s/peer-%u.json", place.folder, i);
		unlink(name);
	}
	snprintf(name, sizeof(name), "%s/other", place.folder);
	CU_ASSERT_EQUAL(unlink(name), 0);
	remove_place();
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
	char plot[] = "/tmp/wavehaul-plot-XXXXXX";
	struct wh_findings found = overflow();
	int fd = mkstemp(plot);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	CU_ASSERT_EQUAL(wh_probe_plot(&found, "192.0.2.1", plot), 0);

	FILE *file = fopen(plot, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(plot);
	CU_ASSERT_EQUAL(count_of(text, "h0"), found.shown_arrivals);
	CU_ASSERT_EQUAL(count_of(text, "v8"), COUNT - found.shown_arrivals);
	CU_ASSERT_EQUAL(count_of(text, "</svg>"), 1);
	CU_ASSERT(wh_probe_plot(&found, "192.0.2.1", "/nowhere/way.svg") < 0);
}

CU_TestInfo wh_tests[] = {
	{"round trip", round_trip},
	{"nothing else is believed", nothing_else_is_believed},
	{"kept", kept},
	{"of both", of_both},
	{"lies", lies},
	{"not believed", not_believed},
	{"bounded", bounded},
	{"drawn", drawn},
	CU_TEST_INFO_NULL,
};
