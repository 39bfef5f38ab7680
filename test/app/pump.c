/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What bench sends over a long link that loses packets, with the memory that its session gets by
 * default at both ends: losses hold chunks back for round trips, and the line must be full all the
 * same. With a tenth of the memory it cannot be, and memory is what it is put down to.
 */

#include <CUnit/CUnit.h>

#include "../sim/world.h"
#include "base/assert.h"
#include "base/clock.h"
#include "job/pump.h"
#include "unit.h"
#include "wire/encap.h"

const char wh_suite_name[] = "app/pump";

#define LINE_BPS      UINT64_C(1000000000)
#define RATE_BPS      UINT64_C(990000000)
#define MTU_BYTES     1500
#define PAYLOAD_BYTES 1408
#define MS            UINT64_C(1000000)
#define FROM_NS       (2 * WH_NS_PER_S)
#define UNTIL_NS      (4 * WH_NS_PER_S)

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

static uint32_t window_for(uint32_t chunks)
{
	uint32_t window_pkts = 1;

	while (window_pkts < chunks * (WH_CHUNK_BYTES_DEFAULT / PAYLOAD_BYTES + 1))
		window_pkts *= 2;
	return window_pkts;
}

static struct wh_world_config config_for(
	struct users *users, uint32_t sender_chunks, uint32_t receiver_chunks)
{
	const struct wh_link_model way = {.rate_bps = LINE_BPS, .delay_ns = 50 * MS, .loss = 0.01};
	struct wh_world_config config = {
		.hz = WH_NS_PER_S,
		.seed = 1,
		.profile = wh_profile_find("fixed"),
		.send_rate_bps = RATE_BPS,
		.mtu_bytes = MTU_BYTES,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.chunks_sender = sender_chunks,
		.chunks_receiver = receiver_chunks,
		.window_pkts = window_for(sender_chunks),
		.burst_pkts = 1,
		.object_bytes = LINE_BPS, /* of no meaning */
		.size_unknown = true,
		.forward = way,
		.reverse = way,
		.heal_ns = UINT64_MAX,
		.limit_ns = UINT64_MAX,
		.poll_users = poll_users,
		.context = users,
	};

	config.forward.seed = 1;
	config.reverse.seed = 2;
	return config;
}

/* Share of the line that payload took, heads counted with it; `limit`: what it is put down to. */
static double measure(uint32_t sender_chunks, uint32_t receiver_chunks, enum wh_limit *limit)
{
	struct users users = {.chunks = sender_chunks};
	struct wh_world_config config = config_for(&users, sender_chunks, receiver_chunks);
	struct wh_world *world = wh_world_create(&config);

	wh_world_run(world, FROM_NS);

	uint64_t before_bytes = wh_session_moved_bytes(wh_world_receiver(world));

	wh_world_run(world, UNTIL_NS);

	uint64_t bytes = wh_session_moved_bytes(wh_world_receiver(world)) - before_bytes;
	double wire_bits =
		(double)bytes * 8 * wh_encap_wire_bytes(WH_IPV4, PAYLOAD_BYTES) / PAYLOAD_BYTES;

	*limit = wh_limit_of(wh_session_stats(wh_world_sender(world)).limit_tsc);
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

/* Half the rate, from a moment on, and all of it again. */
static void test_rate_changes(void)
{
	static const uint64_t bps[] = {RATE_BPS, RATE_BPS / 2, RATE_BPS / 1000, RATE_BPS};
	struct users users = {.chunks = 64};
	struct wh_world_config config = config_for(&users, 64, 64);

	config.forward.loss = 0;
	config.forward.delay_ns = config.reverse.delay_ns = MS;

	struct wh_world *world = wh_world_create(&config);
	struct wh_session *sender = wh_world_sender(world);

	wh_world_run(world, 100 * MS);
	for (uint32_t i = 0; i < 4; i++) {
		wh_session_set_rate(sender, bps[i]);
		wh_world_run(world, wh_world_now_ns(world) + 30 * MS);
		CU_ASSERT_EQUAL(wh_session_rate(sender), bps[i]);

		uint64_t before_pkts = wh_session_stats(sender).sent_pkts;

		wh_world_run(world, wh_world_now_ns(world) + 1000 * MS);

		uint64_t pkts = wh_session_stats(sender).sent_pkts - before_pkts;
		double share = (double)pkts * wh_encap_wire_bytes(WH_IPV4, PAYLOAD_BYTES) * 8 /
			       (double)bps[i];

		CU_ASSERT(share < 1.02);
		/* At a crawl half of it is left to control packets. */
		CU_ASSERT(share > (i == 2 ? 0.4 : 0.97));
	}
	wh_world_destroy(world);
	wh_pump_free(&users.source);
	wh_pump_free(&users.sink);
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
	{"rate changes", test_rate_changes},
	CU_TEST_INFO_NULL,
};
