/* SPDX-License-Identifier: BSD-3-Clause */

/* Jobs of which the story is fixed, and ends badly: a full disk, ends that stand still or die. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "bundle/split.h"
#include "file/background.h"
#include "story.h"
#include "unit.h"

const char wh_suite_name[] = "jobs/troubles";

/* What the client of a story wants; the tree is planted already. */
static struct visit_config config_of(enum wh_job_verb verb, uint32_t lanes, const struct tree *tree)
{
	return (struct visit_config){
		.client = STORY_CLIENT,
		.verb = verb,
		.lanes = lanes,
		.tree = verb == WH_JOB_BENCH ? NULL : tree,
		.bench_bytes = verb == WH_JOB_BENCH ? UINT64_C(100000000) : 0,
		.settings = story_settings(),
		.request = story_request(UINT64_C(800000000)),
	};
}

static void await_end(const struct visit *visit)
{
	uint64_t limit_ns = story.house.now_ns + 60 * WH_NS_PER_S;

	while (!visit->over && story_can_wait(limit_ns))
		;
	CU_ASSERT_TRUE_FATAL(visit->over);
	CU_ASSERT_PTR_NULL(visit->owed);
}

static void go(struct visit *visit, const struct visit_config *config)
{
	visit_begin(visit, &story.house, config, story.folder);
	await_end(visit);
}

static void go_on_until(uint64_t tsc)
{
	while (story_can_wait(tsc))
		;
}

/* All of them are there, or at least none that is not whole. */
static void check_files(const struct visit *visit, bool complete, bool clean)
{
	char why[TREE_WHY_BYTES] = "";
	struct stat status;

	if (!complete && stat(visit->result, &status) != 0)
		return;

	bool good = tree_check(visit->config.tree, NULL, visit->result, complete, clean, why);

	CU_ASSERT_TRUE(good);
	if (!good)
		fprintf(stderr, "%s\n", why);
}

#define SPLIT_LANES 2

/* Large enough that each lane has its part. */
static void plant_split(struct tree *tree)
{
	story_plant(tree, 1);
	tree->entry[3].bytes = SPLIT_LANES * WH_SPLIT_BYTES_MIN + 12345;
	tree->bytes += tree->entry[3].bytes;
}

/* Lanes share a split file in halves: bytes of each, as long as its jobs are there. */
static void follow_lanes(struct visit *visit, uint64_t moved_bytes[SPLIT_LANES], uint64_t enough)
{
	uint64_t limit_ns = story.house.now_ns + 20 * WH_NS_PER_S;

	while (!visit->gone && moved_bytes[0] + moved_bytes[1] < enough && story_can_wait(limit_ns))
		for (uint32_t lane = 0; !visit->gone && lane < SPLIT_LANES; lane++)
			moved_bytes[lane] = visit->lanes.job[lane]->view.moved_bytes;
}

static void split_a_file(enum wh_job_verb verb)
{
	static struct tree tree;
	struct visit visit;
	const struct visit_config config = config_of(verb, SPLIT_LANES, &tree);
	uint64_t moved_bytes[SPLIT_LANES] = {0};

	story_open(UINT64_C(1000000000));
	plant_split(&tree);
	visit_prepare(&config, story.folder);

	/* Killed in the middle: what is there is not under its name. */
	visit_begin(&visit, &story.house, &config, story.folder);
	follow_lanes(&visit, moved_bytes, WH_SPLIT_BYTES_MIN);
	CU_ASSERT_FALSE_FATAL(visit.over);
	visit_kill(&visit, HOUSE_KILLED);
	go_on_until(story.house.now_ns + 10 * WH_NS_PER_S);
	check_files(&visit, false, false);

	memset(moved_bytes, 0, sizeof(moved_bytes));
	visit_begin(&visit, &story.house, &config, story.folder);
	follow_lanes(&visit, moved_bytes, UINT64_MAX);
	await_end(&visit);
	CU_ASSERT_TRUE(visit_went_well(&visit));
	CU_ASSERT_EQUAL(visit.totals.files + visit.totals.skipped, tree.count);
	check_files(&visit, true, true);
	for (uint32_t lane = 0; lane < SPLIT_LANES; lane++)
		CU_ASSERT_TRUE(moved_bytes[lane] >= WH_SPLIT_BYTES_MIN);
	story_close();
}

static void test_split_send(void)
{
	split_a_file(WH_JOB_SEND);
}

static void test_split_get(void)
{
	split_a_file(WH_JOB_GET);
}

/*
 * The job ends at the first file that finds no room, which is named; files that do not fit in the
 * room that is told fail one by one. Those that arrived stay, and with room the rest comes.
 */
static void fill_the_disk(enum wh_job_verb verb, const struct disk_config *disk)
{
	static struct tree tree;
	struct visit visit;
	const struct visit_config config = config_of(verb, 1, &tree);
	/* A server promises a client's files less than they need, and finds out when it writes. */
	bool fits_are_told = verb == WH_JOB_GET && disk->room_is_told;

	story_open(UINT64_C(1000000000));
	story_plant(&tree, 1);
	visit_prepare(&config, story.folder);
	disk_begin(disk);
	go(&visit, &config);
	CU_ASSERT_TRUE(disk_was_full() || disk->room_is_told);
	if (fits_are_told) {
		CU_ASSERT_EQUAL(visit.status, WH_STATUS_PENDING);
		CU_ASSERT_EQUAL(visit.files_full, tree.count - visit.files_told);
	} else {
		CU_ASSERT_EQUAL(
			visit.status, verb == WH_JOB_SEND ? WH_STATUS_REFUSED : WH_STATUS_NO_SPACE);
		CU_ASSERT_EQUAL(visit.files_full, 1);
	}
	CU_ASSERT_EQUAL(visit.totals.failed, visit.files_full);
	CU_ASSERT_EQUAL(visit.files_told, 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(visit.full_path, "tree/file"));
	check_files(&visit, false, true);

	uint64_t whole = visit.totals.files;

	disk_begin(&(struct disk_config){.seed = 2, .latency_ns = MS});
	go(&visit, &config);
	CU_ASSERT_TRUE(visit_went_well(&visit));
	CU_ASSERT_EQUAL(visit.totals.skipped, whole);
	CU_ASSERT_EQUAL(visit.totals.files, tree.count - whole);
	check_files(&visit, true, true);
	story_close();
}

static void test_full_disk(void)
{
	static const enum wh_job_verb verbs[] = {WH_JOB_SEND, WH_JOB_GET};

	for (uint32_t i = 0; i < 8; i++) {
		const struct disk_config disk = {
			.seed = 3,
			.latency_ns = MS,
			.in_memory = (i & 2) != 0,
			.room_bytes = 1000000,
			.room_is_told = (i & 4) != 0,
		};

		fill_the_disk(verbs[i & 1], &disk);
	}
}

/* One end's jobs stand still while its sessions live. */
struct stand {
	enum wh_job_verb verb;
	bool reverse;
	uint32_t who;
	bool at_once;     /* when HELLO is answered; else a while later, when all is under way */
	const char *text; /* what the other end says of it */
};

#define SAYS_NOTHING(who) "; the " who " says nothing"

static const struct stand stands[] = {
	{WH_JOB_SEND, false, 0, true,
		"the source waits for the receiver to say which files it wants" SAYS_NOTHING(
			"sink")},
	{WH_JOB_SEND, false, 0, false,
		"the source waits for the receiver to say that all has arrived" SAYS_NOTHING(
			"sink")},
	{WH_JOB_SEND, false, STORY_CLIENT, true,
		"the sink waits for the sender to send more files" SAYS_NOTHING("source")},
	{WH_JOB_SEND, false, STORY_CLIENT, false,
		"the sink waits for the source to end" SAYS_NOTHING("source")},
	{WH_JOB_GET, false, 0, true,
		"the sink waits for the sender to send more files" SAYS_NOTHING("source")},
	{WH_JOB_GET, false, 0, false,
		"the sink waits for the source to end" SAYS_NOTHING("source")},
	{WH_JOB_GET, false, STORY_CLIENT, false,
		"the source waits for the receiver to say that all has arrived" SAYS_NOTHING(
			"sink")},
	{WH_JOB_BENCH, false, 0, false,
		"the sender waits for the network to take what is ready" SAYS_NOTHING("receiver")},
	{WH_JOB_BENCH, false, STORY_CLIENT, false,
		"the receiver waits for the sender to send more files" SAYS_NOTHING("sender")},
	{WH_JOB_BENCH, true, 0, false,
		"the receiver waits for the sender to send more files" SAYS_NOTHING("sender")},
	{WH_JOB_BENCH, true, STORY_CLIENT, false,
		"the sender waits for the network to take what is ready" SAYS_NOTHING("receiver")},
};

/* Whether that end has answered HELLO, or heard the answer. */
static bool is_ready(const struct visit *visit, uint32_t who)
{
	const struct wh_jobs *server = &story.house.process[0].jobs;
	const struct wh_job *job = visit->lanes.job[0];

	for (uint32_t i = 0; who != STORY_CLIENT && i < server->workers; i++)
		job = TAILQ_FIRST(&server->worker[i].busy) != NULL
			      ? TAILQ_FIRST(&server->worker[i].busy)
			      : job;
	return job->view.state >= WH_JOB_RUNNING;
}

static void begin_stand(const struct stand *stand, struct tree *tree, struct visit *visit)
{
	struct visit_config config = config_of(stand->verb, 1, tree);

	story_open(UINT64_C(100000000));
	story_plant(tree, 1);
	tree->entry[0].bytes = 5000000;
	config.reverse = stand->reverse;
	visit_prepare(&config, story.folder);
	visit_begin(visit, &story.house, &config, story.folder);
	do
		story_can_wait(UINT64_MAX);
	while (!is_ready(visit, stand->who));
	if (!stand->at_once)
		go_on_until(story.house.now_ns + 100 * MS);
	CU_ASSERT(visit->lanes.job[0]->view.state <= WH_JOB_RUNNING);
	story.house.process[stand->who].stopped = true;
}

/* The other end finds out in its stall timeout, and soon, and names who waits for whom. */
static void stand_still(const struct stand *stand)
{
	static struct tree tree;
	struct visit visit;
	const struct wh_jobs *server = &story.house.process[0].jobs;
	bool client_stands = stand->who == STORY_CLIENT;

	begin_stand(stand, &tree, &visit);

	const struct wh_job *job = visit.lanes.job[0];
	uint64_t stopped_ns = story.house.now_ns;
	uint64_t stall_ns = visit.config.request.stall_timeout_ns;

	while ((client_stands ? server->live > 0 : job->view.state < WH_JOB_ENDING) &&
		story_can_wait(stopped_ns + 60 * WH_NS_PER_S))
		;
	CU_ASSERT_STRING_EQUAL(client_stands ? story.why : job->result.why, stand->text);
	CU_ASSERT_TRUE(client_stands ? story.stalled : job->result.stalled);
	CU_ASSERT_TRUE(story.house.now_ns - stopped_ns >= stall_ns);
	CU_ASSERT_TRUE(story.house.now_ns - stopped_ns < 3 * stall_ns);
	story.house.process[stand->who].stopped = false;
	await_end(&visit);
	CU_ASSERT_NOT_EQUAL(visit.status, WH_STATUS_PENDING);
	story_close();
}

static void test_stands(void)
{
	for (size_t i = 0; i < sizeof(stands) / sizeof(stands[0]); i++)
		stand_still(&stands[i]);
}

/* Beside a client's jobs, which stand still when its first has come as far as that. */
static int stand_from;

static int32_t stand(void *state, uint64_t now_ns)
{
	const struct visit *visit = state;
	const struct wh_job *job = visit->lanes.job[0];
	struct process *client = &story.house.process[STORY_CLIENT];

	(void)now_ns;
	client->stopped = job->worker != NULL && job->view.state == stand_from;
	return client->stopped;
}

static void await_stand(int from)
{
	struct process *client = &story.house.process[STORY_CLIENT];
	uint64_t limit_ns = story.house.now_ns + 20 * WH_NS_PER_S;

	stand_from = from;
	client->stopped = false;
	while (!client->stopped && story_can_wait(limit_ns))
		;
	CU_ASSERT_TRUE(client->stopped);
}

/*
 * The client's core is another's for longer than a handshake may take, and again from when its job
 * has opened its stream until that is open; the server's meanwhile. Yet it has as much time to
 * answer as any other.
 */
static void test_open_between_two_looks(void)
{
	static struct tree tree;
	struct visit visit;
	const struct visit_config config = config_of(WH_JOB_SEND, 1, &tree);
	struct process *server = &story.house.process[0];
	struct process *client = &story.house.process[STORY_CLIENT];

	story_open(UINT64_C(1000000000));
	story_plant(&tree, 1);
	visit_prepare(&config, story.folder);
	visit_begin(&visit, &story.house, &config, story.folder);

	const struct wh_job *job = visit.lanes.job[0];
	uint64_t limit_ns;

	client->verb[client->verbs].poll = stand;
	client->verb[client->verbs++].state = &visit;
	await_stand(WH_JOB_OPENING);
	go_on_until(story.house.now_ns + 10 * WH_NS_PER_S);
	server->stopped = true;
	await_stand(WH_JOB_TOLD);
	client->verbs--;
	limit_ns = story.house.now_ns + WH_NS_PER_S;
	while (wh_session_news(wh_job_main(job)->out).phase == WH_PHASE_OPENING &&
		story_can_wait(limit_ns))
		;
	CU_ASSERT_EQUAL(wh_session_news(wh_job_main(job)->out).phase, WH_PHASE_RUNNING);
	client->stopped = false;
	go_on_until(story.house.now_ns + config.request.stall_timeout_ns / 2);
	CU_ASSERT_EQUAL(job->view.state, WH_JOB_TOLD); /* and still waits */
	server->stopped = false;
	await_end(&visit);
	story_check_whole(&visit, visit.result);
	story_close();
}

/* The disk breaks and the client leaves, and the server's job hears of both in one step. */
static void test_broken_and_left(void)
{
	static struct tree tree;
	struct visit visit;
	const struct visit_config config = config_of(WH_JOB_SEND, 1, &tree);
	struct process *server = &story.house.process[0];

	story_open(UINT64_C(1000000000));
	story_plant(&tree, 1);
	visit_prepare(&config, story.folder);
	disk_begin(&(struct disk_config){.seed = 1, .work_ns = 20 * MS});
	visit_begin(&visit, &story.house, &config, story.folder);
	/* Files are down, and are to be durable under their names. */
	while ((disk_syncs() < 1 || wh_background_count() == 0) && story_can_wait(20 * WH_NS_PER_S))
		;
	CU_ASSERT_EQUAL(disk_syncs(), 1);
	disk_fail_sync();
	server->stopped = true;
	wh_lanes_hurry(&visit.lanes, story.house.now_ns);
	go_on_until(story.house.now_ns + 100 * MS);
	CU_ASSERT_EQUAL(disk_syncs(), 2);
	CU_ASSERT_EQUAL(server->jobs.live, 1);
	server->stopped = false;
	await_end(&visit);
	CU_ASSERT_EQUAL(visit.status, WH_STATUS_INTERRUPTED);
	story_close();
	CU_ASSERT_STRING_EQUAL(story.why, "");
}

CU_TestInfo wh_tests[] = {
	{"a split file is sent", test_split_send},
	{"a split file is got", test_split_get},
	{"a full disk", test_full_disk},
	{"ends that stand still", test_stands},
	{"a stream opens between two looks", test_open_between_two_looks},
	{"a disk breaks as the client leaves", test_broken_and_left},
	CU_TEST_INFO_NULL,
};
