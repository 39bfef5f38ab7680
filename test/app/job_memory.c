/* SPDX-License-Identifier: BSD-3-Clause */

/* How many chunks of a host's memory a session gets: all there are, or its share. */

#include <stdlib.h>

#include "base/assert.h"
#include "job/jobs.h"
#include "unit.h"

const char wh_suite_name[] = "app/job_memory";

#define MIB (UINT64_C(1) << 20)

static struct wh_host_settings settings;
static struct wh_host_ctx ctx;
static struct wh_service service;
static struct wh_jobs jobs;
static struct wh_job job;
static void *memory;

static void begin(enum wh_job_role role, uint64_t buffer_bytes, uint32_t places)
{
	uint64_t bytes = RTE_ALIGN_CEIL(buffer_bytes, (uint64_t)WH_ARENA_UNIT_BYTES);

	settings = (struct wh_host_settings){.buffer_bytes = buffer_bytes};
	ctx = (struct wh_host_ctx){.hz = 1000000000, .settings = &settings};
	service = (struct wh_service){
		.limits =
			{
				.places = places,
				.peer_places = places,
				.peer_bytes = buffer_bytes,
				.peer_openings_s = 1,
				.peer_lines_s = 1,
				.lines_s = 1,
			},
	};
	jobs = (struct wh_jobs){.ctx = &ctx, .service = &service};
	job = (struct wh_job){
		.jobs = &jobs,
		.role = role,
		.request = {.lanes = 1, .memory_bytes = buffer_bytes},
	};
	job.place.peer = (struct wh_address){.family = WH_IPV4, .ip = {192, 0, 2, 1}};
	memory = aligned_alloc(WH_CHUNK_ALIGN, bytes);
	WH_ASSERT(memory != NULL);
	CU_ASSERT_EQUAL_FATAL(wh_arena_init(&ctx.arena, memory, bytes), 0);
	CU_ASSERT_EQUAL_FATAL(wh_peers_init(&jobs.peers, &service.limits, (uint64_t[2]){1, 2}), 0);
	job.place.peer_entry = wh_peers_admit(
		&jobs.peers, &(struct wh_who){.address = &job.place.peer}, 1000000000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(job.place.peer_entry);
}

static void end(void)
{
	wh_peers_free(&jobs.peers);
	wh_arena_free(&ctx.arena);
	free(memory);
}

/* Whoever is alone with a host has the chunks that its buffers were reckoned for, and few more. */
static void test_alone(void)
{
	static const uint64_t chunks[] = {4, 5, 16, 64, 262, 1000};
	const struct wh_open_params params = {
		.window_pkts = 1 << 20,
		.payload_bytes = 8896,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
	};

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		uint64_t buffer_bytes = wh_jobs_buffers_for(chunks[i] * MIB);
		uint64_t spare = chunks[i] / 16 + 2;

		begin(WH_AT_CLIENT, buffer_bytes, 1);
		uint32_t got = wh_job_sender_chunks(&job, MIB);

		CU_ASSERT(got >= chunks[i] && got <= chunks[i] + spare);
		end();
		begin(WH_AT_SERVER, buffer_bytes, 1);
		got = wh_job_receiver_chunks(&job, &params, MIB);
		CU_ASSERT(got >= chunks[i] && got <= chunks[i] + spare);
		end();
	}
}

/* What it has left is enough for its tables and for a stream of answers. */
static void test_beside(void)
{
	begin(WH_AT_SERVER, wh_jobs_buffers_for(256 * MIB), 1);
	struct wh_session_config config;

	wh_session_config_init(&config);
	wh_session_config_profile(&config, wh_profile_find("udt"));
	config.payload_bytes = 1408;
	config.window_pkts = 1 << 18;
	config.chunk_bytes = WH_CHUNK_BYTES_DEFAULT;
	config.chunks = 256;
	CU_ASSERT_PTR_NOT_NULL_FATAL(wh_arena_take(&ctx.arena, 256 * MIB));
	CU_ASSERT(wh_jobs_free_bytes(&jobs) >=
		  wh_session_table_bytes(WH_RECEIVER, &config) +
			  WH_ANSWER_CHUNKS * (uint64_t)WH_ANSWER_CHUNK_BYTES);
	end();
}

/* One of several gets its share, and a receiver no more than its window has use for. */
static void test_several(void)
{
	const struct wh_open_params params = {
		.window_pkts = 4096,
		.payload_bytes = 8192,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
	};

	begin(WH_AT_SERVER, 64 * MIB, 8);
	CU_ASSERT_EQUAL(wh_job_sender_chunks(&job, MIB), 16);
	CU_ASSERT_EQUAL(wh_job_receiver_chunks(&job, &params, MIB), 16);
	end();
	begin(WH_AT_SERVER, 256 * MIB, 1);
	CU_ASSERT_EQUAL(wh_job_receiver_chunks(&job, &params, MIB), 32 + 8);
	end();
}

/* Lists of blocks are a peer's memory, and the host's, at a server; a client's are its own. */
static void test_lists(void)
{
	begin(WH_AT_CLIENT, 64 * MIB, 4);
	CU_ASSERT(wh_job_lists(&job).take == NULL);
	end();
	begin(WH_AT_SERVER, 64 * MIB, 4);

	const struct wh_blocks_account account = wh_job_lists(&job);
	uint64_t free_bytes = wh_jobs_free_bytes(&jobs);

	CU_ASSERT_FATAL(account.take != NULL);
	CU_ASSERT(account.take(account.context, 4 * MIB));
	CU_ASSERT_EQUAL(wh_jobs_free_bytes(&jobs), free_bytes - 4 * MIB);
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&jobs.peers, job.place.peer_entry), 60 * MIB);
	CU_ASSERT(!account.take(account.context, 60 * MIB + 1));
	account.give(account.context, 4 * MIB);
	CU_ASSERT_EQUAL(wh_jobs_free_bytes(&jobs), free_bytes);
	CU_ASSERT_EQUAL(wh_peers_left_bytes(&jobs.peers, job.place.peer_entry), 64 * MIB);
	end();
}

CU_TestInfo wh_tests[] = {
	{"lists of blocks are charged", test_lists},
	{"alone", test_alone},
	{"beside the chunks", test_beside},
	{"several", test_several},
	CU_TEST_INFO_NULL,
};
