/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs of which the story is fixed: a process with two servers, and rates that change. */

#include <CUnit/CUnit.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/remove_tree.h"
#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "disk.h"
#include "house.h"
#include "unit.h"
#include "visit.h"

const char wh_suite_name[] = "jobs/cases";

#define MS      UINT64_C(1000000)
#define SERVERS 2
#define CLIENT  2
#define QUANTUM (50 * UINT64_C(1000))

/* What servers say of their peers is no part of these stories. */
void wh_say(const char *format, ...)
{
	(void)format;
}

void wh_complain(const char *format, ...)
{
	(void)format;
}

static struct house house;
static char folder[32];
static int root_fd[SERVERS];

static struct wh_request request_of(uint64_t rate_bps)
{
	struct wh_request request = {
		.profile = wh_profile_find("fixed"),
		.rate_bps = rate_bps,
		.payload_bytes = WH_PAYLOAD_BYTES_MAX,
		.memory_bytes = UINT64_C(64) << 20,
		.peer_timeout_ns = 3 * WH_NS_PER_S,
		.stall_timeout_ns = 3 * WH_NS_PER_S,
	};

	wh_profile_options_init(&request.options, request.profile);
	wh_repair_options_init(&request.repair);
	wh_repair_settle(&request.repair, request.profile);
	return request;
}

static struct wh_host_settings settings_of(void)
{
	return (struct wh_host_settings){
		.queues = HOUSE_QUEUES_MAX,
		.mtu_bytes = 1500,
		.buffer_bytes = UINT64_C(128) << 20,
	};
}

static void start_server(uint32_t server)
{
	struct wh_service service = {
		.own = request_of(WH_RATE_MAX),
		.limits = {.places = 16,
			.spare_places = 2,
			.peer_places = 16,
			.peer_bytes = UINT64_C(96) << 20,
			.peer_room_bytes = UINT64_C(16) << 30,
			.peer_openings_s = 100,
			.peer_lines_s = 5,
			.lines_s = 50},
		.allow[0] = {.address = house_address(0), .prefix_bits = 24},
		.allows = 1,
	};
	char root[64];

	snprintf(root, sizeof(root), "%s/root%u", folder, server);
	WH_ASSERT(mkdir(root, 0755) == 0);
	root_fd[server] = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	WH_ASSERT(root_fd[server] >= 0);
	service.own.here.root_fd = root_fd[server];
	house.process[server].settings = settings_of();
	house_start(&house, server, &service, false);
}

/* Two servers, and a line from the client to each. */
static void open_story(uint64_t rate_bps)
{
	const struct wh_fibre_config fibre = {
		.rate_bps = rate_bps, .delay_ns = MS / 2, .queue_bytes = 1000000};

	strcpy(folder, "/dev/shm/wh_cases_XXXXXX");
	WH_ASSERT(mkdtemp(folder) != NULL);
	disk_begin(&(struct disk_config){.seed = 1, .latency_ns = MS});
	house_open(&house, 1, QUANTUM);
	for (uint32_t server = 0; server < SERVERS; server++) {
		start_server(server);
		house_lay(&house, CLIENT, server, &fibre, &fibre);
	}
}

static bool can_wait(uint64_t until_ns)
{
	house_step(&house, until_ns);
	return house.now_ns < until_ns;
}

/* A server that is still there has heard of the end, and was given back all. */
static void close_story(void)
{
	uint64_t limit_ns = house.now_ns + 30 * WH_NS_PER_S;

	for (uint32_t server = 0; server < SERVERS; server++) {
		struct process *process = &house.process[server];

		if (!process->alive)
			continue;
		while (process->jobs.live > 0 && can_wait(limit_ns))
			;
		CU_ASSERT_PTR_NULL(house_owes(&house, server));
		house_end(&house, server, false);
	}
	while (disk_deadline() != UINT64_MAX)
		disk_run(disk_deadline());
	for (uint32_t server = 0; server < SERVERS; server++)
		close(root_fd[server]);
	house_close(&house);
	remove_tree(folder);
}

/* Files of which all lanes have some. */
static void plant(struct tree *tree, uint64_t seed)
{
	*tree = (struct tree){.count = 8};
	for (uint32_t i = 0; i < tree->count; i++) {
		struct tree_entry *entry = &tree->entry[i];

		entry->bytes = 300000 + 1000 * i;
		entry->seed = seed + i;
		snprintf(entry->path, sizeof(entry->path), "file%u", i);
		tree->bytes += entry->bytes;
	}
}

struct errand {
	struct tree tree;
	struct visit visit;
};

/* To one server it sends, from the other it gets, both in a process and by lanes. */
static void begin_errands(struct errand errand[SERVERS], const uint64_t rate_bps[SERVERS])
{
	static const enum wh_job_verb verbs[SERVERS] = {WH_JOB_SEND, WH_JOB_GET};

	for (uint32_t server = 0; server < SERVERS; server++) {
		const struct visit_config config = {
			.client = CLIENT,
			.server = server,
			.verb = verbs[server],
			.lanes = 2 + server,
			.tree = &errand[server].tree,
			.settings = settings_of(),
			.request = request_of(rate_bps[server]),
		};

		plant(&errand[server].tree, 100 * (1 + server));
		visit_prepare(&config, folder);
		visit_begin(&errand[server].visit, &house, &config, folder);
	}
}

static void check_whole(const struct visit *visit, const char *result)
{
	const struct tree *tree = visit->config.tree;
	char why[TREE_WHY_BYTES] = "";

	CU_ASSERT_TRUE(visit_went_well(visit));
	CU_ASSERT_EQUAL(visit->totals.files, tree->count);
	CU_ASSERT_EQUAL(visit->files_told, tree->count);

	bool whole = visit_went_well(visit) && tree_check(tree, NULL, result, true, true, why);

	CU_ASSERT_TRUE(whole);
	if (!whole)
		fprintf(stderr, "%s\n", why);
}

static void test_two_servers(void)
{
	static const uint64_t rate_bps[SERVERS] = {40000000, 40000000};
	struct errand *errand = calloc(SERVERS, sizeof(*errand));

	open_story(UINT64_C(100000000));
	begin_errands(errand, rate_bps);
	while (!errand[0].visit.over && can_wait(20 * WH_NS_PER_S))
		;
	for (uint32_t server = 0; server < SERVERS; server++) {
		const struct visit *visit = &errand[server].visit;

		check_whole(visit, visit->result);
		CU_ASSERT_PTR_NULL(visit->owed);
		/* Each has the way for itself: 2.4 MB at 40 Mb/s. */
		CU_ASSERT_TRUE(visit->ended_ns - visit->began_ns < WH_NS_PER_S);
	}
	close_story();
	free(errand);
}

static void lose_server(uint32_t server, const struct visit *lost)
{
	while (can_wait(lost->began_ns + 200 * MS))
		;
	CU_ASSERT_FALSE(lost->gone);
	house_end(&house, server, true);
}

/* What an errand takes at 2 Mb/s beside one to another server, which may die. */
static uint64_t time_beside(uint32_t other, bool dies)
{
	static const uint64_t rate_bps[SERVERS] = {2000000, 2000000};
	struct errand *errand = calloc(SERVERS, sizeof(*errand));
	const struct visit *lost = &errand[other].visit;
	const struct visit *kept = &errand[1 - other].visit;

	open_story(UINT64_C(100000000));
	begin_errands(errand, rate_bps);
	if (dies)
		lose_server(other, lost);
	while (!kept->over && can_wait(60 * WH_NS_PER_S))
		;
	check_whole(kept, kept->result);
	CU_ASSERT_EQUAL(visit_went_well(lost), !dies);
	CU_ASSERT_PTR_NULL(kept->owed);
	/* It is found out, and given up, while the other goes on. */
	if (dies)
		CU_ASSERT_TRUE(lost->over && lost->ended_ns + WH_NS_PER_S < kept->ended_ns);

	uint64_t took_ns = kept->ended_ns - kept->began_ns;

	close_story();
	free(errand);
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

/* A path of no bytes is the served root, as "/" is. */
static void test_empty_path(void)
{
	struct tree tree;
	struct visit visit;
	const struct visit_config config = {
		.client = CLIENT,
		.verb = WH_JOB_SEND,
		.lanes = 1,
		.tree = &tree,
		.remote = "",
		.settings = settings_of(),
		.request = request_of(UINT64_C(40000000)),
	};
	char result[64];

	open_story(UINT64_C(100000000));
	plant(&tree, 1);
	visit_prepare(&config, folder);
	visit_begin(&visit, &house, &config, folder);
	while (!visit.over && can_wait(20 * WH_NS_PER_S))
		;
	snprintf(result, sizeof(result), "%s/root0/tree", folder);
	check_whole(&visit, result);
	close_story();
}

/* Two looks of each lane at what it shares, and what was paced before; then it holds as long. */
#define SETTLE_NS      (100 * MS)
#define RATE_WINDOW_NS (20 * MS)

/* No lane has more than all may have; nor have all together. */
static void check_lanes(const struct visit *visit, uint64_t rate_bps)
{
	uint64_t sum_bps = 0;

	for (uint32_t lane = 0; lane < visit->lanes.count; lane++)
		sum_bps += wh_session_rate(visit->lanes.job[lane]->streams.out);
	CU_ASSERT_TRUE(sum_bps <= rate_bps);
}

/* A second at that rate, after a moment to get there. */
static void go_at(struct visit *visit, uint64_t rate_bps)
{
	struct wh_request request = visit->config.request;
	const struct house_line *line = house_line(&house, CLIENT, 0);
	uint64_t begin_ns = house.now_ns + SETTLE_NS;

	request.rate_bps = rate_bps;
	CU_ASSERT_TRUE(wh_lanes_change(&visit->lanes, &request));
	while (can_wait(begin_ns))
		;

	uint64_t begin_bytes = line->there_bytes;

	for (uint32_t window = 1; window <= WH_NS_PER_S / RATE_WINDOW_NS; window++) {
		uint64_t bytes = line->there_bytes;

		while (can_wait(begin_ns + window * RATE_WINDOW_NS))
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
		.client = CLIENT,
		.server = 0,
		.verb = WH_JOB_BENCH,
		.lanes = lanes,
		.bench_bytes = 115000000,
		.settings = settings_of(),
		.request = request_of(rates_bps[0]),
	};

	open_story(UINT64_C(1000000000));
	visit_prepare(&config, folder);
	visit_begin(&visit, &house, &config, folder);
	while (can_wait(visit.began_ns + 100 * MS))
		;
	CU_ASSERT_EQUAL_FATAL(visit.lanes.started, lanes);
	for (size_t i = 0; i < sizeof(rates_bps) / sizeof(rates_bps[0]); i++)
		go_at(&visit, rates_bps[i]);
	CU_ASSERT_FALSE(visit.over);
	while (!visit.over && can_wait(20 * WH_NS_PER_S))
		;
	CU_ASSERT_TRUE(visit_went_well(&visit));
	CU_ASSERT_EQUAL(visit.bench_bytes, config.bench_bytes);
	CU_ASSERT_PTR_NULL(visit.owed);
	close_story();
}

static void test_rate_of_one_lane(void)
{
	change_rates(1);
}

static void test_rate_of_lanes(void)
{
	change_rates(4);
}

CU_TestInfo wh_tests[] = {
	{"two servers at once", test_two_servers},
	{"one of two servers dies, which gets", test_dead_receiver},
	{"one of two servers dies, which sends", test_dead_sender},
	{"an empty path", test_empty_path},
	{"a running job's rate", test_rate_of_one_lane},
	{"a running job's rate, by lanes", test_rate_of_lanes},
	CU_TEST_INFO_NULL,
};
