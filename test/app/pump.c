/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What bench sends over a long path that loses packets, with the memory that its session gets by
 * default at both ends: losses hold chunks back for round trips, and the line must be full all the
 * same. With a tenth of the memory it cannot be, and memory is what it is put down to.
 */

#include <CUnit/CUnit.h>

#include "../sim/world.h"
#include "base/assert.h"
#include "base/clock.h"
#include "unit.h"
#include "wavehaul/pump.h"
#include "wire/encap.h"

const char wh_suite_name[] = "app/pump";

#define LINE_BPS  UINT64_C(1000000000)
#define RATE_BPS  UINT64_C(990000000)
#define MTU_BYTES 1500
#define MS        UINT64_C(1000000)
#define FROM_NS   (2 * WH_NS_PER_S)
#define UNTIL_NS  (6 * WH_NS_PER_S)

/* Of what the sent rate leaves as payload when a hundredth of it goes twice. */
#define LEAST_SHARE 0.85

/* `bench` and `serve` with their default --buffers: three quarters, and a quarter, of it. */
#define SENDER_CHUNKS   384
#define RECEIVER_CHUNKS 256

struct users {
	struct wh_pump source;
	struct wh_pump sink;
	uint32_t chunks;
};

static int32_t poll_users(
	void *context, uint64_t now_tsc, struct wh_session *sender, struct wh_session *receiver)
{
	struct users *users = context;

	if (users->source.session == NULL) {
		int rc = wh_pump_init(
			&users->source, sender, WH_CHUNK_BYTES_DEFAULT, users->chunks, 0);

		WH_ASSERT(rc == 0);
		users->source.stop_tsc = UINT64_MAX;
	}
	if (receiver != NULL && users->sink.session == NULL) {
		int rc = wh_pump_init(&users->sink, receiver, WH_CHUNK_BYTES_DEFAULT, 1, 0);

		WH_ASSERT(rc == 0);
	}
	return wh_pump_send(&users->source, now_tsc) +
	       (receiver != NULL ? wh_pump_take(&users->sink) : 0);
}

static uint32_t window_for(uint32_t chunks, uint32_t payload_bytes)
{
	uint32_t window_pkts = 1;

	while (window_pkts < chunks * (WH_CHUNK_BYTES_DEFAULT / payload_bytes + 1))
		window_pkts *= 2;
	return window_pkts;
}

/* Share of the line that payload took, heads counted with it; `limit`: what it is put down to. */
static double measure(uint32_t sender_chunks, uint32_t receiver_chunks, enum wh_limit *limit)
{
	const uint32_t payload_bytes = wh_encap_payload_bytes(WH_IPV4, MTU_BYTES);
	const struct wh_path_config way = {.rate_bps = LINE_BPS, .delay_ns = 50 * MS, .loss = 0.01};
	struct users users = {.chunks = sender_chunks};
	struct wh_world_config config = {
		.hz = WH_NS_PER_S,
		.seed = 1,
		.profile = wh_profile_find("fixed"),
		.send_rate_bps = RATE_BPS,
		.mtu_bytes = MTU_BYTES,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.chunks_sender = sender_chunks,
		.chunks_receiver = receiver_chunks,
		.window_pkts = window_for(sender_chunks, payload_bytes),
		.burst_pkts = 1,
		.object_bytes = LINE_BPS, /* of no meaning */
		.size_unknown = true,
		.forward = way,
		.reverse = way,
		.heal_ns = UINT64_MAX,
		.limit_ns = UINT64_MAX,
		.poll_users = poll_users,
		.context = &users,
	};

	config.forward.seed = 1;
	config.reverse.seed = 2;

	struct wh_world *world = wh_world_create(&config);

	wh_world_run(world, FROM_NS);

	uint64_t before_bytes = wh_session_moved_bytes(wh_world_receiver(world));

	wh_world_run(world, UNTIL_NS);

	uint64_t bytes = wh_session_moved_bytes(wh_world_receiver(world)) - before_bytes;
	double wire_bits =
		(double)bytes * 8 * wh_encap_wire_bytes(WH_IPV4, payload_bytes) / payload_bytes;

	*limit = wh_session_limited_by(wh_world_sender(world));
	wh_world_destroy(world);
	wh_pump_free(&users.source);
	wh_pump_free(&users.sink);
	return wire_bits * 1e9 / (double)(UNTIL_NS - FROM_NS) / (double)LINE_BPS;
}

static void test_full(void)
{
	enum wh_limit limit;

	CU_ASSERT(measure(SENDER_CHUNKS, RECEIVER_CHUNKS, &limit) >= LEAST_SHARE);
	CU_ASSERT_EQUAL(limit, WH_LIMIT_RATE);
}

static void test_memory_limits(void)
{
	enum wh_limit limit;

	CU_ASSERT(measure(SENDER_CHUNKS, RECEIVER_CHUNKS / 16, &limit) < 0.5);
	CU_ASSERT_EQUAL(limit, WH_LIMIT_MEMORY); /* the peer's */
	CU_ASSERT(measure(SENDER_CHUNKS / 32, RECEIVER_CHUNKS, &limit) < 0.5);
	CU_ASSERT_EQUAL(limit, WH_LIMIT_MEMORY); /* ours */
}

CU_TestInfo wh_tests[] = {
	{"full", test_full},
	{"memory limits", test_memory_limits},
	CU_TEST_INFO_NULL,
};
