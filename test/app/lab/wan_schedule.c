/* SPDX-License-Identifier: BSD-3-Clause */

/* Files of `wan --then`: what they make of a path, and what is refused in which line. */

#include "wan/schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "unit.h"

const char wh_suite_name[] = "wan_schedule";

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define GBPS          UINT64_C(1000000000)
#define MS_NS         UINT64_C(1000000)
#define A             WH_EMULATOR_A
#define B             WH_EMULATOR_B

static char path[] = "/tmp/wan-schedule-XXXXXX";

static const struct wh_link_model start[WH_EMULATOR_ENDS] = {
	{.rate_bps = GBPS, .delay_ns = 50 * MS_NS, .queue_bytes = 1000000},
	{.rate_bps = GBPS / 10, .delay_ns = 20 * MS_NS, .queue_pkts = 100},
};

static int read_text(struct wh_wan_schedule *schedule, const char *text, uint64_t time_ns)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	return wh_wan_schedule_read(schedule, path, start, time_ns);
}

static void steps(void)
{
	struct wh_wan_schedule schedule;
	const struct wh_wan_step *step;

	CU_ASSERT_EQUAL_FATAL(read_text(&schedule,
				      "# a path that changes\n"
				      "[at 500ms]\nrate = 2G\nrtt = 30ms\n"
				      "[at 500ms back]\nloss = 1%  # there it stays clean\n"
				      "[at 2s there]\noutage = 200ms\nqueue = 50p\n"
				      "[at 3s]\nloss-model = ge:0.1,0.2\nloss = 0\n",
				      0),
		-1);
	CU_ASSERT_EQUAL_FATAL(schedule.count, 4);
	step = schedule.step;
	CU_ASSERT_EQUAL(step[0].at_ns, 500 * MS_NS);
	CU_ASSERT_TRUE(step[0].changes[A] && step[0].changes[B]);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		CU_ASSERT_EQUAL(step[0].netem[end].rate_bps, 2 * GBPS);
		CU_ASSERT_EQUAL(step[0].netem[end].delay_ns, 15 * MS_NS);
	}
	CU_ASSERT_EQUAL(step[0].netem[A].queue_bytes, 1000000);
	CU_ASSERT_EQUAL(step[0].netem[B].queue_pkts, 100);
	CU_ASSERT_STRING_EQUAL(step[1].head, "at 500ms back");
	CU_ASSERT_TRUE(!step[1].changes[A] && step[1].changes[B]);
	CU_ASSERT_EQUAL(step[1].netem[A].loss, 0);
	CU_ASSERT_EQUAL(step[1].netem[B].loss, 0.01);
	CU_ASSERT_TRUE(step[2].changes[A] && !step[2].changes[B]);
	CU_ASSERT_EQUAL(step[2].netem[A].n_outages, 1);
	CU_ASSERT_EQUAL(step[2].netem[A].outage[0].length_ns, 200 * MS_NS);
	CU_ASSERT_EQUAL(step[2].netem[A].queue_bytes, 0);
	CU_ASSERT_EQUAL(step[2].netem[A].queue_pkts, 50);
	CU_ASSERT_EQUAL(step[2].netem[B].n_outages, 0);
	CU_ASSERT_EQUAL(step[3].netem[A].n_outages, 0); /* once */
	CU_ASSERT_EQUAL(step[3].netem[A].queue_pkts, 50);
	CU_ASSERT_EQUAL(step[3].netem[B].loss_model, WH_LOSS_GILBERT_ELLIOTT);
	CU_ASSERT_EQUAL(step[3].netem[B].rate_bps, 2 * GBPS);
	CU_ASSERT_EQUAL(wh_wan_schedule_queue_pkts(&schedule, A), 50);
	CU_ASSERT_EQUAL(wh_wan_schedule_queue_pkts(&schedule, B), 100);
	wh_wan_schedule_free(&schedule);
}

/* Room for the fastest and the longest path of all, and for the largest queue. */
static void room(void)
{
	struct wh_wan_schedule schedule;
	struct wh_link_model widest = {
		.rate_bps = 4 * GBPS, .delay_ns = 80 * MS_NS, .queue_bytes = 3000000};

	CU_ASSERT_EQUAL_FATAL(read_text(&schedule,
				      "[at 1s]\nrate = 4G\n[at 2s]\nrate = 10M\ndelay = 80ms\n"
				      "queue = 3000000\n[at 3s]\nqueue = 5p\n",
				      0),
		-1);
	CU_ASSERT_EQUAL(wh_wan_schedule_items(&schedule, &start[A], A, 500),
		wh_netem_items_needed(&widest, 500));
	wh_wan_schedule_free(&schedule);
}

static void refusals(void)
{
	static const struct {
		const char *text;
		uint64_t time_ns;
		unsigned int line; /* 0: of the file as a whole */
		const char *said;
	} cases[] = {
		{"", 0, 0, ": there is no [at TIME] in it"},
		{"# nothing\n", 0, 0, ": there is no [at TIME] in it"},
		{"rate = 1G\n", 0, 1, ": a [section] must come before"},
		{"[at 5]\nrate = 1G\n", 0, 1, ": 'at 5' is no time of a change; write"},
		{"[at 5s up]\nrate = 1G\n", 0, 1, ": 'at 5s up' is no time of a change"},
		{"[at -5s]\nrate = 1G\n", 0, 1, ": 'at -5s' is no time"},
		{"[at]\nrate = 1G\n", 0, 1, ": there is no section [at]"},
		{"[then 5s]\nrate = 1G\n", 0, 1, ": there is no section [then 5s]"},
		{"\n[at 5s]\n\n[at 6s]\nrate = 2G\n", 0, 2, ": [at 5s] changes nothing"},
		{"[at 5s]\nrate = 1G\n[at 4s]\nrate = 2G\n", 0, 3,
			": [at 4s] comes before the section above it"},
		{"[at 5s]\nrate = 1G\n", 5000 * MS_NS, 1, ": [at 5s] never comes: --time"},
		{"[at 5s]\nrate = 1G\nrate = 2G\n", 0, 3, ": rate is already set at "},
		{"[at 5s]\n\nspeed = 1G\n", 0, 3,
			": a path has no 'speed' that could change; there are outage, rtt, delay, "
			"rate,"},
		{"[at 5s]\nback-rate = 1G\n", 0, 2, ": a path has no 'back-rate'"},
		{"[at 5s]\nseed = 2\n", 0, 2, ": a path has no 'seed'"},
		{"[at 5s]\nmtu = 9000\n", 0, 2, ": a path has no 'mtu'"},
		{"[at 5s]\nrate = 2\n", 0, 2, ": rate = '2' is out of bounds; write for example"},
		{"[at 5s]\nrate = fast\n", 0, 2, ": rate = 'fast' is not understood"},
		{"[at 5s]\nloss = 101%\n", 0, 2, ": loss = '101%' is not understood"},
		{"[at 5s]\nqueue = 0p\n", 0, 2, ": queue = '0p' is not understood"},
		{"[at 5s]\noutage = 0s\n", 0, 2, ": outage = '0s' is no time"},
		{"[at 5s]\noutage = long\n", 0, 2, ": outage = 'long' is no time"},
		{"[at 5s]\ndelay =\n", 0, 2, ": the value is missing"},
		{"[at 5s]\nloss-model = ge:0.1,0.2\n[at 6s]\nloss = 1%\n", 0, 3,
			": the path of [at 6s] has a loss beside the loss-model ge"},
		{"[at 5s]\nreorder = 1%\ndelay = 0\nrate = 1T\n", 0, 0, ""},
		{"[at 5s]\ningress = 10G\n", 0, 1,
			": the path of [at 5s] has an ingress, and had none"},
	};
	struct wh_wan_schedule schedule;
	char expected[256];

	for (unsigned int i = 0; i < LENGTH(cases); i++) {
		int status = read_text(&schedule, cases[i].text, cases[i].time_ns);

		if (cases[i].said[0] == '\0') {
			CU_ASSERT_EQUAL(status, -1);
		} else {
			if (cases[i].line == 0)
				snprintf(expected, sizeof(expected), "%s%s", path, cases[i].said);
			else
				snprintf(expected, sizeof(expected), "%s:%u%s", path, cases[i].line,
					cases[i].said);
			CU_ASSERT_EQUAL(status, WH_EXIT_USAGE);
			CU_ASSERT_NSTRING_EQUAL(wh_last_complaint(), expected, strlen(expected));
			if (strncmp(wh_last_complaint(), expected, strlen(expected)) != 0)
				printf("\n%s: said '%s'", cases[i].text, wh_last_complaint());
		}
		wh_wan_schedule_free(&schedule);
	}
}

static void no_file(void)
{
	struct wh_wan_schedule schedule;

	CU_ASSERT_NOT_EQUAL(wh_wan_schedule_read(&schedule, "/nowhere/at/all", start, 0), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "cannot read the schedule /nowhere"));
	wh_wan_schedule_free(&schedule);
}

static void begin(void)
{
	int fd = mkstemp(path);

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
}

static void end(void)
{
	unlink(path);
}

CU_TestInfo wh_tests[] = {
	{"a file to write", begin},
	{"steps, each way", steps},
	{"room for all of them", room},
	{"what is refused, and where", refusals},
	{"no file", no_file},
	{"and it goes", end},
	CU_TEST_INFO_NULL,
};
