/* SPDX-License-Identifier: BSD-3-Clause */
#include "story.h"

#include <CUnit/CUnit.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../rig/remove_tree.h"
#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"

#define QUANTUM (50 * UINT64_C(1000))

struct story story;

/* What servers say of their peers is no part of these stories. */
__attribute__((constructor)) static void say_nothing(void)
{
	wh_say_nothing();
	wh_complain_to_nobody();
}

struct wh_request story_request(uint64_t rate_bps)
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

struct wh_host_settings story_settings(void)
{
	return (struct wh_host_settings){
		.ports = 1,
		.queues = HOUSE_QUEUES_MAX,
		.mtu_bytes = 1500,
		.buffer_bytes = UINT64_C(128) << 20,
	};
}

static void note_over(void *context, const struct wh_job *job)
{
	(void)context;
	story.stalled = job->result.stalled;
	snprintf(story.why, sizeof(story.why), "%s", job->result.why);
}

static void start_server(uint32_t server)
{
	struct wh_service service = {
		.own = story_request(WH_RATE_MAX),
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
		.on_over = note_over,
	};
	char root[64];

	snprintf(root, sizeof(root), "%s/root%u", story.folder, server);
	WH_ASSERT(mkdir(root, 0755) == 0);
	story.root_fd[server] = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	WH_ASSERT(story.root_fd[server] >= 0);
	service.own.here.root_fd = story.root_fd[server];
	story.house.process[server].settings = story_settings();
	story.house.process[server].settings.handshake = story.handshake;
	house_start(&story.house, server, &service, false);
}

void story_open(uint64_t rate_bps)
{
	story_open_far(rate_bps, MS);
}

void story_open_far(uint64_t rate_bps, uint64_t rtt_ns)
{
	const struct wh_link_model netem = {
		.rate_bps = rate_bps, .delay_ns = rtt_ns / 2, .queue_bytes = 1000000};

	story.stalled = false;
	story.why[0] = '\0';
	strcpy(story.folder, "/dev/shm/wh_cases_XXXXXX");
	WH_ASSERT(mkdtemp(story.folder) != NULL);
	disk_begin(&(struct disk_config){.seed = 1, .latency_ns = MS});
	house_open(&story.house, 1, QUANTUM);
	for (uint32_t server = 0; server < STORY_SERVERS; server++) {
		start_server(server);
		house_lay(&story.house, STORY_CLIENT, server, &netem, &netem);
	}
}

bool story_can_wait(uint64_t until_ns)
{
	house_step(&story.house, until_ns);
	return story.house.now_ns < until_ns;
}

/* A server that is still there has heard of the end, and was given back all. */
void story_close(void)
{
	uint64_t limit_ns = story.house.now_ns + 30 * WH_NS_PER_S;

	for (uint32_t server = 0; server < STORY_SERVERS; server++) {
		struct process *process = &story.house.process[server];

		if (!process->alive)
			continue;
		while (process->jobs.live > 0 && story_can_wait(limit_ns))
			;
		CU_ASSERT_PTR_NULL(house_owes(&story.house, server));
		house_end(&story.house, server, HOUSE_ENDED);
	}
	while (disk_deadline() != UINT64_MAX)
		disk_run(disk_deadline());
	for (uint32_t server = 0; server < STORY_SERVERS; server++)
		close(story.root_fd[server]);
	house_close(&story.house);
	remove_tree(story.folder);
}

void story_plant(struct tree *tree, uint64_t seed)
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

void story_check_whole(const struct visit *visit, const char *result)
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
