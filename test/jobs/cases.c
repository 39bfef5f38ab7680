/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs of which the story is fixed: a process with two servers, and rates that change. */

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "story.h"
#include "unit.h"

const char wh_suite_name[] = "jobs/cases";

struct rpc {
	struct tree tree;
	struct visit visit;
};

/* To one server it sends, from the other it gets, both in a process and by lanes. */
static void begin_rpcs(struct rpc rpc[STORY_SERVERS], const uint64_t rate_bps[STORY_SERVERS])
{
	static const enum wh_job_verb verbs[STORY_SERVERS] = {WH_JOB_SEND, WH_JOB_GET};

	for (uint32_t server = 0; server < STORY_SERVERS; server++) {
		const struct visit_config config = {
			.client = STORY_CLIENT,
			.server = server,
			.verb = verbs[server],
			.lanes = 2 + server,
			.tree = &rpc[server].tree,
			.settings = story_settings(),
			.request = story_request(rate_bps[server]),
		};

		story_plant(&rpc[server].tree, 100 * (1 + server));
		visit_prepare(&config, story.folder);
		visit_begin(&rpc[server].visit, &story.house, &config, story.folder);
	}
}

static void test_two_servers(void)
{
	static const uint64_t rate_bps[STORY_SERVERS] = {40000000, 40000000};
	struct rpc *rpc = calloc(STORY_SERVERS, sizeof(*rpc));

	story_open(UINT64_C(100000000));
	begin_rpcs(rpc, rate_bps);
	while (!rpc[0].visit.over && story_can_wait(20 * WH_NS_PER_S))
		;
	for (uint32_t server = 0; server < STORY_SERVERS; server++) {
		const struct visit *visit = &rpc[server].visit;

		story_check_whole(visit, visit->result);
		CU_ASSERT_PTR_NULL(visit->owed);
		/* Each has the way for itself: 2.4 MB at 40 Mb/s. */
		CU_ASSERT_TRUE(visit->ended_ns - visit->began_ns < WH_NS_PER_S);
	}
	story_close();
	free(rpc);
}

static void lose_server(uint32_t server, const struct visit *lost)
{
	while (story_can_wait(lost->began_ns + 200 * MS))
		;
	CU_ASSERT_FALSE(lost->gone);
	house_end(&story.house, server, HOUSE_KILLED);
}

/* What a remote operation takes at 2 Mb/s beside one to another server, which may die. */
static uint64_t time_beside(uint32_t other, bool dies)
{
	static const uint64_t rate_bps[STORY_SERVERS] = {2000000, 2000000};
	struct rpc *rpc = calloc(STORY_SERVERS, sizeof(*rpc));
	const struct visit *lost = &rpc[other].visit;
	const struct visit *kept = &rpc[1 - other].visit;

	story_open(UINT64_C(100000000));
	begin_rpcs(rpc, rate_bps);
	if (dies)
		lose_server(other, lost);
	while (!kept->over && story_can_wait(60 * WH_NS_PER_S))
		;
	story_check_whole(kept, kept->result);
	CU_ASSERT_EQUAL(visit_went_well(lost), !dies);
	CU_ASSERT_PTR_NULL(kept->owed);
	/* It is found out, and given up, while the other goes on. */
	if (dies)
		CU_ASSERT_TRUE(lost->over && lost->ended_ns + WH_NS_PER_S < kept->ended_ns);

	uint64_t took_ns = kept->ended_ns - kept->began_ns;

	story_close();
	free(rpc);
	return took_ns;
}

/* Whichever dies, what goes on with the other takes its time and no more. */
static void test_dead_receiver(void)
{
	WH_ASSERT_NEAR(time_beside(0, true), time_beside(0, false), 0.02);
}

static void test_dead_sender(void)
{
	WH_ASSERT_NEAR(time_beside(1, true), time_beside(1, false), 0.02);
}

/* Into the served root. */
static struct visit_config sending(struct tree *tree, uint64_t rate_bps)
{
	return (struct visit_config){
		.client = STORY_CLIENT,
		.verb = WH_JOB_SEND,
		.lanes = 1,
		.tree = tree,
		.remote = "",
		.settings = story_settings(),
		.request = story_request(rate_bps),
	};
}

/* A path of no bytes is the served root, as "/" is. */
static void test_empty_path(void)
{
	struct tree tree;
	struct visit visit;
	const struct visit_config config = sending(&tree, UINT64_C(40000000));
	char result[64];

	story_open(UINT64_C(100000000));
	story_plant(&tree, 1);
	visit_prepare(&config, story.folder);
	visit_begin(&visit, &story.house, &config, story.folder);
	while (!visit.over && story_can_wait(20 * WH_NS_PER_S))
		;
	snprintf(result, sizeof(result), "%s/root0/tree", story.folder);
	story_check_whole(&visit, result);
	story_close();
}

#define LINE_BPS UINT64_C(100000000)

/* A measurement over two lanes by the profile that finds something of its way. */
static struct visit_config finding(bool reverse, uint64_t rate_bps)
{
	struct visit_config config = {
		.client = STORY_CLIENT,
		.verb = WH_JOB_BENCH,
		.reverse = reverse,
		.lanes = 2,
		.bench_bytes = 10000000,
		.settings = story_settings(),
		.request = story_request(rate_bps),
	};

	config.request.profile = wh_profile_find("lambda");
	wh_profile_options_init(&config.request.options, config.request.profile);
	return config;
}

/* What the first server has of its only peer's way. */
static struct wh_known_path known_to_server(void)
{
	const struct wh_peers *peers = &story.house.process[0].jobs.peers;
	struct wh_known_path known = {0};

	for (uint32_t i = 0; i < WH_PEERS_ROWS * WH_PEERS_PER_ROW; i++)
		if (peers->peer[i].key != 0)
			known = peers->peer[i].known;
	return known;
}

/* Of a server's job that sends; zeros: there is none now. */
static struct wh_known_path told_by_server(void)
{
	const struct wh_jobs *jobs = &story.house.process[0].jobs;
	const struct wh_job *job;

	for (uint32_t i = 0; i < jobs->workers; i++)
		TAILQ_FOREACH(job, &jobs->worker[i].busy, next)
	if (wh_job_main(job)->out != NULL && wh_job_sends(job))
		return wh_session_control(wh_job_main(job)->out)->config.known;
	return (struct wh_known_path){0};
}

static void go(const struct visit_config *config, struct visit *visit, struct wh_known_path *told)
{
	*told = (struct wh_known_path){0};
	visit_begin(visit, &story.house, config, story.folder);
	while (!visit->over && story_can_wait(visit->began_ns + 60 * WH_NS_PER_S))
		if (told->capacity_bps == 0)
			*told = told_by_server();
	CU_ASSERT_TRUE(visit_went_well(visit));
	/* The client may be gone before all lanes of the server are. */
	while (story.house.process[0].jobs.live > 0 &&
		story_can_wait(visit->began_ns + 60 * WH_NS_PER_S))
		;
}

/* The way to a client that gets is known the second time; each lane has its part. */
static void test_known_to_server(void)
{
	const struct visit_config config = finding(true, WH_RATE_MAX);
	struct wh_known_path told;
	struct wh_known_path known;
	struct visit visit;

	story_open(LINE_BPS);
	visit_prepare(&config, story.folder);
	go(&config, &visit, &told);
	CU_ASSERT_EQUAL(told.capacity_bps, 0);
	known = known_to_server();
	/* The last lane has the whole line for a moment, and a step more; it counts for both. */
	CU_ASSERT(known.capacity_bps > LINE_BPS / 2 && known.capacity_bps < 2.5 * LINE_BPS);
	CU_ASSERT(known.rtt_ns > 0);
	go(&config, &visit, &told);
	WH_ASSERT_NEAR(told.capacity_bps, known.capacity_bps / 2, 0.01);
	CU_ASSERT_EQUAL(told.rtt_ns, known.rtt_ns);
	story_close();
}

/* A client's lanes tell what they found, but where that is the operator's rate and no way's. */
static void test_found_by_client(void)
{
	static const uint64_t rates_bps[] = {WH_RATE_MAX, LINE_BPS / 5};

	for (size_t i = 0; i < 2; i++) {
		const struct visit_config config = finding(false, rates_bps[i]);
		struct wh_known_path told;
		struct visit visit;

		story_open(LINE_BPS);
		visit_prepare(&config, story.folder);
		go(&config, &visit, &told);
		if (i == 0)
			CU_ASSERT(visit.found_bps > LINE_BPS / 2 && visit.found_bps < 2 * LINE_BPS);
		if (i == 1)
			CU_ASSERT_EQUAL(visit.found_bps, 0);
		story_close();
	}
}

/* Two looks of each lane at what it shares, and what was paced before; then it holds as long. */
#define SETTLE_NS      (100 * MS)
#define RATE_WINDOW_NS (20 * MS)

/* No lane has more than all may have; nor have all together. */
static void check_lanes(const struct visit *visit, uint64_t rate_bps)
{
	uint64_t sum_bps = 0;

	for (uint32_t lane = 0; lane < visit->lanes.count; lane++)
		sum_bps += wh_session_rate(wh_job_main(visit->lanes.job[lane])->out);
	CU_ASSERT_TRUE(sum_bps <= rate_bps);
}

/* A second at that rate, after a moment to get there. */
static void go_at(struct visit *visit, uint64_t rate_bps)
{
	struct wh_request request = visit->config.request;
	const struct house_line *line = house_line(&story.house, STORY_CLIENT, 0);
	uint64_t begin_ns = story.house.now_ns + SETTLE_NS;

	request.rate_bps = rate_bps;
	CU_ASSERT_TRUE(wh_lanes_change(&visit->lanes, &request));
	while (story_can_wait(begin_ns))
		;

	uint64_t begin_bytes = line->there_bytes;

	for (uint32_t window = 1; window <= WH_NS_PER_S / RATE_WINDOW_NS; window++) {
		uint64_t bytes = line->there_bytes;

		while (story_can_wait(begin_ns + window * RATE_WINDOW_NS))
			check_lanes(visit, rate_bps);
		WH_ASSERT_NEAR((line->there_bytes - bytes) * 8 * (WH_NS_PER_S / RATE_WINDOW_NS),
			rate_bps, 0.1);
	}
	WH_ASSERT_NEAR((line->there_bytes - begin_bytes) * 8, rate_bps, 0.02);
}

static void change_rates(uint32_t lanes)
{
	static const uint64_t rates_bps[] = {200000000, 50000000, 400000000, 40000000, 100000000};
	struct visit visit;
	const struct visit_config config = {
		.client = STORY_CLIENT,
		.server = 0,
		.verb = WH_JOB_BENCH,
		.lanes = lanes,
		.bench_bytes = 115000000,
		.settings = story_settings(),
		.request = story_request(rates_bps[0]),
	};

	story_open(UINT64_C(1000000000));
	visit_prepare(&config, story.folder);
	visit_begin(&visit, &story.house, &config, story.folder);
	while (story_can_wait(visit.began_ns + 100 * MS))
		;
	CU_ASSERT_EQUAL_FATAL(visit.lanes.started, lanes);
	for (size_t i = 0; i < sizeof(rates_bps) / sizeof(rates_bps[0]); i++)
		go_at(&visit, rates_bps[i]);
	CU_ASSERT_FALSE(visit.over);
	while (!visit.over && story_can_wait(20 * WH_NS_PER_S))
		;
	CU_ASSERT_TRUE(visit_went_well(&visit));
	CU_ASSERT_EQUAL(visit.bench_bytes, config.bench_bytes);
	CU_ASSERT_PTR_NULL(visit.owed);
	story_close();
}

static void test_rate_of_one_lane(void)
{
	change_rates(1);
}

static void test_rate_of_lanes(void)
{
	change_rates(4);
}

#define GOT_NS (300 * MS)

static uint64_t got_bytes(const struct visit *visit)
{
	uint64_t bytes = 0;

	for (uint32_t lane = 0; lane < visit->lanes.started; lane++)
		bytes += atomic_load(&visit->lanes.job[lane]->view.moved_bytes);
	return bytes;
}

static void get_at(struct visit *visit, uint64_t rate_bps)
{
	struct wh_request request = visit->config.request;
	uint64_t begin_ns = story.house.now_ns + SETTLE_NS;
	uint64_t before;

	request.rate_bps = rate_bps;
	CU_ASSERT_TRUE(wh_lanes_change(&visit->lanes, &request));
	while (story_can_wait(begin_ns))
		;
	before = got_bytes(visit);
	while (story_can_wait(begin_ns + GOT_NS))
		;
	CU_ASSERT_FALSE_FATAL(visit->over);
	/* Of 93 bytes of files a hundred are on the wire. */
	WH_ASSERT_NEAR(
		(got_bytes(visit) - before) * 8 * WH_NS_PER_S / GOT_NS, rate_bps / 100 * 93, 0.1);
}

/* What is got goes by the rate that the client wishes for now, but by the server's at most. */
static void get_at_rates(uint32_t lanes)
{
	static const uint64_t rates_bps[] = {200000000, 50000000, 400000000, 40000000};
	struct tree tree = {.count = lanes};
	struct visit visit;
	const struct visit_config config = {
		.client = STORY_CLIENT,
		.verb = WH_JOB_GET,
		.lanes = lanes,
		.tree = &tree,
		.settings = story_settings(),
		.request = story_request(rates_bps[0]),
	};

	for (uint32_t i = 0; i < lanes; i++) {
		tree.entry[i] = (struct tree_entry){.bytes = 60000000 / lanes, .seed = i};
		snprintf(tree.entry[i].path, sizeof(tree.entry[i].path), "file%u", i);
		tree.bytes += tree.entry[i].bytes;
	}
	story_open(UINT64_C(1000000000));
	visit_prepare(&config, story.folder);
	visit_begin(&visit, &story.house, &config, story.folder);
	while (story_can_wait(visit.began_ns + 100 * MS))
		;
	for (size_t i = 0; i < sizeof(rates_bps) / sizeof(rates_bps[0]); i++)
		get_at(&visit, rates_bps[i]);
	while (!visit.over && story_can_wait(visit.began_ns + 20 * WH_NS_PER_S))
		;
	story_check_whole(&visit, visit.result);
	story_close();
}

static void test_rate_of_a_get(void)
{
	get_at_rates(1);
}

static void test_rate_of_a_get_by_lanes(void)
{
	get_at_rates(2);
}

#define FAR_NS (100 * MS)

/*
 * After how many round trips the first 100 KB of a send or get have left; its files have that many
 * bytes.
 */
static double first_data_rtts(
	enum wh_job_verb verb, uint32_t file_bytes, const struct wh_handshake_settings *sealed)
{
	struct tree tree;
	struct visit visit;
	struct visit_config config = sending(&tree, UINT64_C(400000000));
	const struct house_line *line;
	const uint64_t *bytes;
	char result[64];
	double left_ns;
	uint64_t whole;

	config.verb = verb;
	config.remote = verb == WH_JOB_SEND ? "" : NULL;
	config.settings.handshake = story.handshake = sealed;
	story_open_far(UINT64_C(1000000000), FAR_NS);
	line = house_line(&story.house, STORY_CLIENT, 0);
	bytes = verb == WH_JOB_SEND ? &line->there_bytes : &line->back_bytes;
	story_plant(&tree, 1);
	for (uint32_t i = 0; i < tree.count; i++) {
		tree.bytes -= tree.entry[i].bytes - file_bytes;
		tree.entry[i].bytes = file_bytes;
	}
	visit_prepare(&config, story.folder);
	visit_begin(&visit, &story.house, &config, story.folder);
	while (*bytes < 100000 && story_can_wait(20 * WH_NS_PER_S))
		;
	left_ns = (double)(story.house.now_ns - visit.began_ns);
	while (!visit.over && story_can_wait(20 * WH_NS_PER_S))
		;
	snprintf(result, sizeof(result), "%s/root0/tree", story.folder);
	story_check_whole(&visit, verb == WH_JOB_SEND ? result : visit.result);
	/* What went ahead is not sent once more; nor is a tree that is there. */
	CU_ASSERT(*bytes < tree.bytes * 112 / 100);
	whole = *bytes;
	visit_begin(&visit, &story.house, &config, story.folder);
	while (!visit.over && story_can_wait(40 * WH_NS_PER_S))
		;
	CU_ASSERT_EQUAL(visit.totals.skipped, tree.count);
	if (file_bytes > WH_INLINE_BYTES_MAX)
		CU_ASSERT(*bytes - whole < WH_INLINE_BYTES_MAX * 125 / 100);
	story_close();
	story.handshake = NULL;
	return left_ns / FAR_NS;
}

/* OPEN and ACCEPT take one round trip; a large file's beginning goes with its ENTRY. */
static void test_first_data(void)
{
	CU_ASSERT(first_data_rtts(WH_JOB_SEND, 200000, NULL) < 1.5);
	CU_ASSERT(first_data_rtts(WH_JOB_SEND, 300000, NULL) < 1.5);
	CU_ASSERT(first_data_rtts(WH_JOB_GET, 200000, NULL) < 2.75);
	CU_ASSERT(first_data_rtts(WH_JOB_GET, 300000, NULL) < 2.75);
}

/* A handshake takes two and offers a session, which offers one for the reply. */
static void test_first_sealed_data(void)
{
	static struct wh_identity own;
	struct wh_handshake_settings sealed = {
		.identity = &own,
		.ciphers = 1 << WH_CIPHER_AES_128_GCM,
	};

	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&own), 0);
	CU_ASSERT(first_data_rtts(WH_JOB_SEND, 200000, &sealed) < 2.5);
	CU_ASSERT(first_data_rtts(WH_JOB_SEND, 300000, &sealed) < 2.5);
	CU_ASSERT(first_data_rtts(WH_JOB_GET, 200000, &sealed) < 2.75);
	CU_ASSERT(first_data_rtts(WH_JOB_GET, 300000, &sealed) < 2.75);
	wh_identity_free(&own);
}

CU_TestInfo wh_tests[] = {
	{"the first data", test_first_data},
	{"the first data, sealed", test_first_sealed_data},
	{"the way is known to a server", test_known_to_server},
	{"the way that a client found", test_found_by_client},
	{"two servers at once", test_two_servers},
	{"one of two servers dies, which gets", test_dead_receiver},
	{"one of two servers dies, which sends", test_dead_sender},
	{"an empty path", test_empty_path},
	{"a running job's rate", test_rate_of_one_lane},
	{"a running job's rate, by lanes", test_rate_of_lanes},
	{"the rate of what is got", test_rate_of_a_get},
	{"the rate of what is got, by lanes", test_rate_of_a_get_by_lanes},
	CU_TEST_INFO_NULL,
};
