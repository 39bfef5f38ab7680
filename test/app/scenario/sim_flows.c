/* SPDX-License-Identifier: BSD-3-Clause */

/* Scenario files: links that change, and flows that come and go by lists and traces. */

#include <stdlib.h>

#include "scenario/result.h"
#include "sim_rig.h"

const char wh_suite_name[] = "sim_flows";

/*
 * What changes on its way: 1000 packets are lost of 100000, in bursts of 20. The default window is
 * of the largest rate and delay: 20 Mb/s and 50 ms there and back, 10 ms, and a queue of 50.
 */
static void test_changing_link(void)
{
	static const char text[] = SCENARIO
		"[sweep]\nthen = 2s\n" LINK
		"delay = 10ms\nrate_steps = 20M at then, 5M at then * 2\n"
		"delay_steps = 0s at 1s, 50ms at 3s\nloss = 1%\nloss_burst = 20\n"
		"reorder = 3%\nreorder_delay = 1ms\npolice = 2M\npolice_bucket = 250K\n" FLOW;

	CU_ASSERT_EQUAL_FATAL(open_text(text, NULL), -1);

	struct wh_point *point = build(0);

	for (uint32_t i = 0; i < 2; i++) {
		const struct wh_sim_link_config *link = &point->links[i];

		CU_ASSERT_EQUAL(link->rate_steps.count, 2);
		CU_ASSERT_EQUAL(link->rate_steps.step[0].at_ps, 2 * WH_PS_PER_S);
		CU_ASSERT_EQUAL(link->rate_steps.step[0].value, 20000000);
		CU_ASSERT_EQUAL(link->rate_steps.step[1].at_ps, 4 * WH_PS_PER_S);
		CU_ASSERT_EQUAL(link->rate_steps.step[1].value, 5000000);
		CU_ASSERT_EQUAL(link->delay_steps.count, 2);
		CU_ASSERT_EQUAL(link->delay_steps.step[0].value, 0);
		CU_ASSERT_EQUAL(link->delay_steps.step[1].value, 50 * MS);
		CU_ASSERT_EQUAL(link->loss.loss_model, WH_LOSS_GILBERT_ELLIOTT);
		CU_ASSERT_EQUAL(link->loss.loss, 0.0);
		CU_ASSERT_EQUAL(link->loss.gilbert_elliott.bad_to_good, 0.05);
		WH_ASSERT_NEAR(link->loss.gilbert_elliott.good_to_bad, 0.05 * 0.01 / 0.99, 1e-12);
		CU_ASSERT_EQUAL(link->loss.gilbert_elliott.loss_bad, 1.0);
		CU_ASSERT_EQUAL(link->loss.gilbert_elliott.loss_good, 0.0);
		CU_ASSERT_EQUAL(link->reorder, 0.03);
		CU_ASSERT_EQUAL(link->reorder_delay_ps, MS);
		CU_ASSERT_EQUAL(link->policer.rate_bps, 2000000);
		CU_ASSERT_EQUAL(link->policer.bucket_bytes, 250000);
	}
	/* Twice 183.3 on their way in 110 ms and the 50. */
	CU_ASSERT_EQUAL(point->groups[0].engine.window_pkts, 512);
	wh_point_free(point);
	close_file();
}

static void expect_member(const struct wh_point *point, uint32_t i, uint64_t start_ps,
	uint64_t stop_ps, uint64_t size_bytes)
{
	const struct wh_scenario_member *member = &point->groups[0].members[i];

	CU_ASSERT_EQUAL(member->start_ps, start_ps);
	CU_ASSERT_EQUAL(member->stop_ps, stop_ps);
	CU_ASSERT_EQUAL(member->size_bytes, size_bytes);
}

static void test_lists(void)
{
	struct wh_point *point;

	CU_ASSERT_EQUAL_FATAL(
		open_text(
			WHOLE "size = 5M\nstarts = 0s, 1s, 10ms * 200\nstops = 9s, 8s, 7s\n", NULL),
		-1);
	point = build(0);
	CU_ASSERT_EQUAL(point->groups[0].count, 3);
	expect_member(point, 0, 0, 9 * WH_PS_PER_S, 5000000);
	expect_member(point, 1, WH_PS_PER_S, 8 * WH_PS_PER_S, 5000000);
	expect_member(point, 2, 2 * WH_PS_PER_S, 7 * WH_PS_PER_S, 5000000);
	wh_point_free(point);
	close_file();

	CU_ASSERT_EQUAL_FATAL(open_text(WHOLE "sizes = 1M, 2M\ncount = 2\nstop = 3s\n", NULL), -1);
	point = build(0);
	expect_member(point, 0, WH_SIM_NEVER_PS, 3 * WH_PS_PER_S, 1000000);
	expect_member(point, 1, WH_SIM_NEVER_PS, 3 * WH_PS_PER_S, 2000000);
	wh_point_free(point);
	close_file();
}

static void write_trace(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	WH_ASSERT(file != NULL);
	fputs(text, file);
	fclose(file);
}

/* Traces that lie; all of them are refused with their line. */
static void test_traces(void)
{
	static const struct {
		const char *trace;
		const char *said; /* behind "f:10: trace = '...' "; NULL: it is fine */
	} cases[] = {
		{"# START SIZE STOP\n0s 1M -\n\n1s - 5s # c\n 2*1s\t3M/2 6s", NULL},
		{"", "has no flow"},
		{"# nothing\n\n", "has no flow"},
		{"0s 1M\n", "is wrong: line 1 is not START SIZE STOP, as 1s 5M - or 2s - 8s"},
		{"0s 1M - -\n", "is wrong: line 1 is not START SIZE STOP"},
		{"0s 1M -\n- 1M -\n", "is wrong: line 2 ends where a quantity is wanted"},
		{"1s 1M -\n0.5s 1M -\n", "is wrong: line 2 starts before the one before it"},
		{"2s 1M 1s\n", "is wrong: line 1 stops before its start"},
		{"1 1M -\n", "is wrong: line 1 is no time, as 1s"},
		{"0s 1s -\n", "is wrong: line 1 is no number"},
		{"0s 0 -\n", "is wrong: line 1 has a size that no flow may have"},
		{"0s 1e30 -\n", "is wrong: line 1 has a size that no flow may have"},
		{"1e300s 1M -\n", "is wrong: line 1 has a time that no flow may have"},
		{"0s x -\n", "is wrong: line 1 has 'x', which is no name here"},
	};
	char path[] = "/tmp/wavehaul-trace-XXXXXX";
	char text[256];
	char said[256];
	char line[400];

	close(mkstemp(path));
	snprintf(text, sizeof(text), WHOLE "trace = %s\n", path);
	for (size_t i = 0; i < LENGTH(cases); i++) {
		write_trace(path, cases[i].trace);
		snprintf(said, sizeof(said), "f:10: trace = '%s' %s", path,
			cases[i].said == NULL ? "" : cases[i].said);
		if (cases[i].said != NULL) {
			expect_said(text, NULL, said);
			continue;
		}
		CU_ASSERT_EQUAL_FATAL(open_text(text, NULL), -1);

		struct wh_point *point = build(0);

		CU_ASSERT_EQUAL(point->groups[0].count, 3);
		expect_member(point, 0, 0, WH_SIM_NEVER_PS, 1000000);
		expect_member(point, 1, WH_PS_PER_S, 5 * WH_PS_PER_S, WH_OBJECT_BYTES_UNKNOWN);
		expect_member(point, 2, 2 * WH_PS_PER_S, 6 * WH_PS_PER_S, 1500000);
		wh_point_free(point);
		close_file();
	}
	memset(line, '1', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	write_trace(path, line);
	snprintf(said, sizeof(said), "f:10: trace = '%s' is wrong: line 1 is too long", path);
	expect_said(text, NULL, said);
	unlink(path);
}

/* In bursts of 20, or none at all. */
static void test_bursts_of_none(void)
{
	CU_ASSERT_EQUAL_FATAL(
		open_text(SCENARIO "[sweep]\np = 0, 1%\n" LINK "loss = p\nloss_burst = 20\n" FLOW,
			NULL),
		-1);
	for (uint32_t i = 0; i < 2; i++) {
		struct wh_point *point = build(i);
		const struct wh_link_model *loss = &point->links[0].loss;

		CU_ASSERT_EQUAL(loss->loss, 0.0);
		CU_ASSERT_EQUAL(loss->loss_model == WH_LOSS_GILBERT_ELLIOTT, i == 1);
		wh_point_free(point);
	}
	close_file();
}

/* What is asked of a fleet is what its run told. */
static void test_fleet(void)
{
	static const char text[] =
		FLEET "nodes = 4\nreceivers = 4\nstart = 250ms\n[report]\nx = alone / time\n";
	static const struct {
		const char *name;
		double value;
	} told[] = {{"time", 25}, {"ideal", 20}, {"alone", 100}, {"by_nic", 0.8}, {"starting", 0.2},
		{"idle", 0}, {"deaths", 0}};
	struct wh_point *point;
	json_t *result, *fleet;

	CU_ASSERT_EQUAL_FATAL(open_text(text, NULL), -1);
	point = build(0);
	CU_ASSERT_FATAL(wh_point_run_fleet(point, 1));
	result = wh_fleet_result(point, &ini, 1);
	fleet = json_array_get(json_object_get(json_object_get(result, "run"), "fleet"), 0);
	for (size_t i = 0; i < LENGTH(told); i++)
		CU_ASSERT_DOUBLE_EQUAL(json_number_value(json_object_get(fleet, told[i].name)),
			told[i].value, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(
		json_number_value(json_array_get(json_object_get(result, "report"), 0)), 4, 1e-6);
	json_decref(result);
	wh_point_free(point);
	close_file();
}

static void test_absences(void)
{
	CU_ASSERT_EQUAL_FATAL(open_text(WHOLE "sender_away = 1ms\nsender_here = 3ms\n", NULL), -1);

	struct wh_point *point = build(0);
	const struct wh_sim_engine_config *engine = &point->groups[0].engine;

	CU_ASSERT_EQUAL(engine->sender_absence.mean.away_ps, WH_PS_PER_S / 1000);
	CU_ASSERT_EQUAL(engine->sender_absence.mean.here_ps, 3 * WH_PS_PER_S / 1000);
	CU_ASSERT_EQUAL(engine->receiver_absence.mean.away_ps, 0);
	wh_point_free(point);
	close_file();
	expect_said(WHOLE "receiver_away = 1ms\n", NULL,
		"f:6: [flow f] lacks receiver_here; write for example receiver_here = 3ms");
	expect_said(WHOLE "receiver_away = 2s\nreceiver_here = 1s\n", NULL,
		"f:10: receiver_away = '2s' is more than a second");
	expect_said(WHOLE "receiver_away = 1ms\nreceiver_here = 0s\n", NULL,
		"f:11: receiver_here = '0s' is not within 1us and 1000s");
	expect_said(WHOLE "sender_away = 1ms\nsender_here = 3ms\narrival = 1ms\nprocess = 60us\n",
		NULL, "f:10: sender_away = '1ms' is not of hosts with arrival");
}

/* Pauses of a machine from a file, at both ends and on a link. */
static void test_noise(void)
{
	static const char *const bad[][2] = {
		{"", "has no pause"},
		{"100\n", "is wrong: line 1 is not HERE AWAY in microseconds, as 3980 4016"},
		{"100 10\n0 10\n", "is wrong: line 2 is no HERE above 0 and AWAY"},
		{"100 -\n", "is wrong: line 1 ends where a quantity is wanted"},
		{"100us 10us\n", "is wrong: line 1 is no number"},
	};
	char path[] = "/tmp/wavehaul-noise-XXXXXX";
	char text[256];
	char said[256];

	close(mkstemp(path));
	snprintf(text, sizeof(text), WHOLE "sender_noise = %s\n", path);
	write_trace(path, "# HERE AWAY\n3980 4016\n\n100 20 # c\n");
	CU_ASSERT_EQUAL_FATAL(open_text(text, NULL), -1);

	struct wh_point *point = build(0);
	const struct wh_absence_config *absence = &point->groups[0].engine.sender_absence;

	CU_ASSERT_EQUAL_FATAL(absence->n_spans, 2);
	CU_ASSERT_EQUAL(absence->spans[0].here_ps, 3980 * MS / 1000);
	CU_ASSERT_EQUAL(absence->spans[0].away_ps, 4016 * MS / 1000);
	CU_ASSERT_EQUAL(absence->spans[1].away_ps, 20 * MS / 1000);
	CU_ASSERT_EQUAL(point->groups[0].engine.receiver_absence.n_spans, 0);
	wh_point_free(point);
	close_file();
	for (size_t i = 0; i < LENGTH(bad); i++) {
		write_trace(path, bad[i][0]);
		snprintf(said, sizeof(said), "f:10: sender_noise = '%s' %s", path, bad[i][1]);
		expect_said(text, NULL, said);
	}
	unlink(path);
	expect_said(WHOLE "sender_noise = n\nsender_away = 1ms\nsender_here = 3ms\n", NULL,
		"f:10: sender_noise = 'n' is there beside means of absences");
	expect_said(WHOLE "receiver_noise = nosuch\n", NULL,
		"f:10: receiver_noise = 'nosuch' is no file that can be read");
}

static void test_clocks(void)
{
	CU_ASSERT_EQUAL_FATAL(open_text(WHOLE "sender_skew = 100e-6\nreceiver_skew = -100e-6\n"
					      "receiver_offset = 3s\n",
				      NULL),
		-1);

	struct wh_point *point = build(0);
	const struct wh_sim_engine_config *engine = &point->groups[0].engine;

	CU_ASSERT_EQUAL(engine->sender_clock.skew, 100e-6);
	CU_ASSERT_EQUAL(engine->sender_clock.offset_ps, 0);
	CU_ASSERT_EQUAL(engine->receiver_clock.skew, -100e-6);
	CU_ASSERT_EQUAL(engine->receiver_clock.offset_ps, 3 * WH_PS_PER_S);
	wh_point_free(point);
	close_file();
	expect_said(WHOLE "sender_skew = 2e-3\n", NULL, "f:10: sender_skew = '2e-3' is 0.002; it");
}

CU_TestInfo wh_tests[] = {
	{"bursts of no loss", test_bursts_of_none},
	{"a fleet", test_fleet},
	{"clocks of hosts", test_clocks},
	{"absences of hosts", test_absences},
	{"links that change", test_changing_link},
	{"flows by lists", test_lists},
	{"pauses of a machine", test_noise},
	{"flows by a trace", test_traces},
	CU_TEST_INFO_NULL,
};
