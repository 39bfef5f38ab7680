/* SPDX-License-Identifier: BSD-3-Clause */

/* A path that from some moment on loses long packets, or all, in virtual time. */

#include "../../rig/end.h"
#include "../../rig/line.h"
#include "base/clock.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "narrower";

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define STEP_TSC    MS
#define WAY_TSC     (5 * MS)
#define CHUNK_BYTES 65536
#define CHUNKS      8
#define WINDOW      64
#define BURST       32
#define PASSES      1280

static _Alignas(WH_CHUNK_ALIGN) uint8_t memory[CHUNKS * CHUNK_BYTES];

static struct world {
	struct wh_rig_end end[2];
	struct wh_rig_line line[2]; /* to that end */
	struct wh_session *send, *receive;
	uint64_t chunks;
	uint64_t now_tsc;
	uint32_t loses; /* packets from so many bytes on; those that may be cut pass */
	uint64_t cut_pkts, cut_since_tsc;
} world;

static void accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	(void)context;
	(void)config;
	world.receive = session;
}

static void gone(void *context, struct wh_session *session)
{
	(void)context;
	(void)session;
	CU_FAIL("a session has ended");
}

static void open_world(void)
{
	memset(&world, 0, sizeof(world));
	world.now_tsc = HZ;
	world.loses = UINT32_MAX;
	for (uint8_t i = 0; i < 2; i++) {
		wh_rig_session_config(&world.end[i].session, HZ, CHUNK_BYTES, CHUNKS, WINDOW);
		world.end[i].session.chunk_memory = memory;
		world.end[i].session.rate_bps = UINT64_C(8000000);
		world.end[i].accepted = accepted;
		world.end[i].gone = gone;
		wh_rig_end_open(&world.end[i], i + 1, WH_ENDPOINT_PLACES_MIN);
		wh_rig_line_open(&world.line[i], 4 * WINDOW);
	}
	world.send = wh_rig_end_connect(
		&world.end[0], &world.end[1].address, "x", WH_OBJECT_BYTES_UNKNOWN, NULL);
}

static void close_world(void)
{
	wh_session_destroy(world.send);
	wh_session_destroy(world.receive);
	for (uint32_t i = 0; i < 2; i++) {
		wh_rig_end_close(&world.end[i]);
		wh_rig_line_close(&world.line[i]);
	}
}

static void put(uint32_t to, const struct wh_out *out)
{
	if (out->cut) {
		CU_ASSERT_TRUE(out->payload_bytes > 0);
		if (world.cut_pkts++ == 0)
			world.cut_since_tsc = world.now_tsc;
	}
	if (out->head_bytes + out->payload_bytes < world.loses || (out->cut && world.loses > 0))
		wh_rig_line_put(&world.line[to], out, world.now_tsc + WAY_TSC);
}

static void turn(uint32_t i)
{
	struct wh_endpoint *endpoint = &world.end[i].endpoint;
	struct wh_rig_packet *packet;
	uint8_t room[WH_RIG_PACKET_BYTES];

	while ((packet = wh_rig_line_take(&world.line[i], world.now_tsc)) != NULL)
		wh_endpoint_input(endpoint, world.now_tsc, world.now_tsc, packet->data,
			packet->bytes, &world.end[1 - i].address);
	wh_endpoint_receive_poll(endpoint, world.now_tsc);
	wh_endpoint_send_poll(endpoint, world.now_tsc);
	for (uint32_t n = 0; n < BURST; n++) {
		struct wh_out out = {.head = room, .cut = true};

		if (wh_endpoint_output(endpoint, world.now_tsc, &out, 1) == 0)
			break;
		put(1 - i, &out);
	}
}

/* From one FIFO to the other; new ones get their numbers. */
static void pass(struct wh_session *session, struct wh_fifo *from, struct wh_fifo *to, bool fills)
{
	struct wh_chunk *chunk;

	while ((chunk = wh_fifo_pop(from)) != NULL) {
		if (fills) {
			chunk->number = world.chunks++;
			chunk->bytes = CHUNK_BYTES;
		}
		CU_ASSERT_TRUE(wh_fifo_push(to, chunk));
		wh_session_kick(session);
	}
}

static void run(uint64_t ms)
{
	for (uint64_t end_tsc = world.now_tsc + ms * MS; world.now_tsc < end_tsc;
		world.now_tsc += STEP_TSC) {
		pass(world.send, wh_session_free_chunks(world.send),
			wh_session_ready_chunks(world.send), true);
		if (world.receive != NULL)
			pass(world.receive, wh_session_deliver_chunks(world.receive),
				wh_session_recycled_chunks(world.receive), false);
		turn(0);
		turn(1);
	}
}

static uint64_t received_pkts(void)
{
	return wh_session_stats(world.receive).received_pkts;
}

static void test_narrower(void)
{
	open_world();
	run(200);
	CU_ASSERT_TRUE(received_pkts() > WINDOW);
	CU_ASSERT_EQUAL(world.cut_pkts, 0);

	uint64_t since_tsc = world.now_tsc;

	world.loses = PASSES;
	run(2000);
	CU_ASSERT_EQUAL(wh_session_stats(world.send).narrowings, 1);
	CU_ASSERT_TRUE(world.cut_since_tsc > since_tsc + 500 * MS);
	CU_ASSERT_TRUE(world.cut_since_tsc < since_tsc + 1000 * MS);

	uint64_t pkts = received_pkts();

	run(1000);
	CU_ASSERT_TRUE(received_pkts() > pkts + WINDOW);
	/* Whole packets go again later, and the path has become whole. */
	world.loses = UINT32_MAX;
	run(600000);
	pkts = world.cut_pkts;
	run(100);
	CU_ASSERT_EQUAL(world.cut_pkts, pkts);
	CU_ASSERT_EQUAL(wh_session_stats(world.send).narrowings, 1);
	close_world();
}

/* A peer that is not heard says nothing about lengths. */
static void test_silent(void)
{
	open_world();
	run(200);
	world.loses = 0;
	run(3000);
	CU_ASSERT_EQUAL(world.cut_pkts, 0);
	world.loses = UINT32_MAX;
	run(2000);
	CU_ASSERT_EQUAL(world.cut_pkts, 0);
	CU_ASSERT_EQUAL(wh_session_stats(world.send).narrowings, 0);
	close_world();
}

CU_TestInfo wh_tests[] = {
	{"narrower", test_narrower},
	{"silent", test_silent},
	CU_TEST_INFO_NULL,
};
