/* SPDX-License-Identifier: BSD-3-Clause */

/* What a peer moves on a server is bounded by a rate: all its jobs and lanes, both ways. */

#include <stdio.h>

#include "base/clock.h"
#include "session/session_internal.h"
#include "story.h"
#include "unit.h"

const char wh_suite_name[] = "jobs/rates";

#define LINE_BPS UINT64_C(1000000000)
#define RATE_BPS UINT64_C(20000000)
#define SETTLE   (500 * MS)
#define SPAN     (2 * WH_NS_PER_S)

#define VISITS 2

static struct visit visits[VISITS];
static uint64_t lie_pkts; /* what the client believes that it may send, whatever it was told */

/* To the server's memory and from there, or files, at once. */
static void begin(enum wh_job_verb to, enum wh_job_verb from, const struct wh_profile *profile,
	uint32_t lanes)
{
	static struct tree trees[VISITS];
	const enum wh_job_verb verbs[VISITS] = {to, from};

	for (uint32_t i = 0; i < VISITS; i++) {
		struct visit_config config = {
			.client = STORY_CLIENT + i,
			.stands_in = STORY_CLIENT,
			.verb = verbs[i],
			.reverse = i == 1,
			.lanes = lanes,
			.bench_bytes = verbs[i] == WH_JOB_BENCH ? UINT64_C(1) << 30 : 0,
			.tree = &trees[i],
			.settings = story_settings(),
			.request = story_request(WH_RATE_MAX),
		};

		config.request.profile = profile;
		wh_profile_options_init(&config.request.options, profile);
		wh_repair_options_init(&config.request.repair);
		wh_repair_settle(&config.request.repair, profile);
		trees[i] = (struct tree){.count = lanes};
		for (uint32_t f = 0; f < lanes; f++) {
			trees[i].entry[f] = (struct tree_entry){.bytes = 30000000, .seed = f};
			snprintf(trees[i].entry[f].path, sizeof(trees[i].entry[f].path), "file%u",
				f);
			trees[i].bytes += trees[i].entry[f].bytes;
		}
		visit_prepare(&config, story.folder);
		visit_begin(&visits[i], &story.house, &config, story.folder);
	}
}

static uint64_t moved_bytes(const struct visit *visit)
{
	uint64_t bytes = 0;

	for (uint32_t lane = 0; lane < visit->lanes.started; lane++)
		bytes += atomic_load(&visit->lanes.job[lane]->view.moved_bytes);
	return bytes;
}

/* It believes itself, and sends what it has, as often as it likes. */
static void lie(const struct visit *visit)
{
	for (uint32_t lane = 0; lie_pkts > 0 && lane < visit->lanes.started; lane++) {
		struct wh_session *out = wh_job_main(visit->lanes.job[lane])->out;

		if (out != NULL)
			out->tx.peer_upper = out->tx.table.lower + lie_pkts;
	}
}

static void wait_until(uint64_t until_ns)
{
	while (story_can_wait(until_ns))
		lie(&visits[0]);
}

struct shares {
	double there; /* of the rate, in payload */
	double back;
	double by_rate; /* of the time, what goes there was held up by the peer's rate */
};

/* Of all lanes. */
static void add_limits(const struct visit *visit, uint64_t limit_tsc[WH_LIMITS], int64_t sign)
{
	for (uint32_t lane = 0; lane < visit->lanes.started; lane++)
		for (uint32_t i = 0; i < WH_LIMITS; i++)
			limit_tsc[i] += (uint64_t)sign *
					atomic_load(&visit->lanes.job[lane]->view.limit_tsc[i]);
}

static double rate_share(const uint64_t limit_tsc[WH_LIMITS])
{
	uint64_t sum_tsc = 0;

	for (uint32_t i = 0; i < WH_LIMITS; i++)
		sum_tsc += limit_tsc[i];
	return (double)limit_tsc[WH_LIMIT_RATE] / (double)sum_tsc;
}

static struct shares measure(void)
{
	uint64_t before[VISITS], limit_tsc[WH_LIMITS] = {0};
	double rate_bytes = (double)RATE_BPS / 8 * SPAN / WH_NS_PER_S;

	wait_until(story.house.now_ns + SETTLE);
	for (uint32_t i = 0; i < VISITS; i++)
		before[i] = moved_bytes(&visits[i]);
	add_limits(&visits[0], limit_tsc, -1);
	wait_until(story.house.now_ns + SPAN);
	add_limits(&visits[0], limit_tsc, 1);
	return (struct shares){
		.there = (double)(moved_bytes(&visits[0]) - before[0]) / rate_bytes,
		.back = (double)(moved_bytes(&visits[1]) - before[1]) / rate_bytes,
		.by_rate = rate_share(limit_tsc),
	};
}

static void end(void)
{
	for (uint32_t i = 0; i < VISITS; i++)
		wh_lanes_hurry(&visits[i].lanes, story.house.now_ns);
	wait_until(story.house.now_ns + 5 * WH_NS_PER_S);
	story_close();
}

static struct shares run(enum wh_job_verb to, enum wh_job_verb from,
	const struct wh_profile *profile, uint32_t lanes)
{
	struct shares shares;

	story_open(LINE_BPS);
	story.house.process[0].service.own.rate_bps = RATE_BPS;
	begin(to, from, profile, lanes);
	shares = measure();
	lie_pkts = 0;
	end();
	return shares;
}

/*
 * All of the rate is used, and both directions have the same. Headers are of the rate, too: of 100
 * bytes of it 93 are of files, without repair packets.
 */
static void check(const struct shares *shares, bool repairs)
{
	CU_ASSERT_TRUE(shares->there + shares->back <= 0.93);
	CU_ASSERT_TRUE(shares->there + shares->back >= (repairs ? 0.6 : 0.9));
	WH_ASSERT_NEAR(shares->there, shares->back, 0.05);
	CU_ASSERT_TRUE(shares->by_rate >= 0.9);
}

static void test_profiles(void)
{
	for (uint32_t number = 1; wh_profile_by_number((uint8_t)number) != NULL; number++) {
		const struct wh_profile *profile = wh_profile_by_number((uint8_t)number);
		const struct shares shares = run(WH_JOB_BENCH, WH_JOB_BENCH, profile, 1);

		check(&shares, visits[0].config.request.repair.on);
	}
}

static void test_files(void)
{
	const struct wh_profile *profile = story_request(WH_RATE_MAX).profile;
	const struct shares one = run(WH_JOB_SEND, WH_JOB_GET, profile, 1);
	const struct shares four = run(WH_JOB_SEND, WH_JOB_GET, profile, 4);

	check(&one, false);
	check(&four, false);
}

static void test_liar(void)
{
	lie_pkts = UINT64_C(1) << 14;

	const struct shares shares =
		run(WH_JOB_BENCH, WH_JOB_BENCH, story_request(WH_RATE_MAX).profile, 2);

	CU_ASSERT_TRUE(shares.there + shares.back <= 0.93);
}

CU_TestInfo wh_tests[] = {
	{"both ways together, by each profile", test_profiles},
	{"files, by lanes", test_files},
	{"a sender that ignores what it is granted", test_liar},
	CU_TEST_INFO_NULL,
};
