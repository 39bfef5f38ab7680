/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A receiving host whose CPU is taken away for 9 of 10 ms, and senders that know no rate but their
 * windows, which are far larger than its port's buffer; in virtual time.
 */

#include "../../rig/end.h"
#include "base/clock.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "overflow";

#define HZ          WH_NS_PER_S
#define STEP_TSC    (HZ / 10000)
#define STEPS       100 /* in a period, ... */
#define STEPS_HERE  10  /* ... of which the receiver runs in so many */
#define BURST_PKTS  200 /* in a step: 24 Gb/s */
#define ROOM_PKTS   2000
#define LANES       16
#define WINDOW      1024
#define CHUNK_BYTES 65536
#define CHUNKS      64
#define PKT_BYTES   1504

struct port {
	struct {
		uint32_t bytes;
		uint8_t data[PKT_BYTES];
	} pkt[ROOM_PKTS];
	uint32_t pkts;
	uint64_t dropped_pkts;
};

/* Of all sessions together: nobody looks at what is in it. */
static _Alignas(WH_CHUNK_ALIGN) uint8_t memory[CHUNKS * CHUNK_BYTES];

static struct world {
	struct wh_rig_end sender, receiver;
	struct wh_session *sends[LANES], *receives[LANES];
	uint32_t lanes; /* accepted */
	uint64_t chunks[LANES];
	struct port there, back;
	uint64_t now_tsc, steps;
} world;

static void accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	(void)context;
	(void)config;
	CU_ASSERT_FATAL(world.lanes < LANES);
	world.receives[world.lanes++] = session;
}

static void gone(void *context, struct wh_session *session)
{
	(void)context;
	CU_FAIL("a session has ended");
	for (uint32_t i = 0; i < LANES; i++) {
		world.sends[i] = world.sends[i] == session ? NULL : world.sends[i];
		world.receives[i] = world.receives[i] == session ? NULL : world.receives[i];
	}
	wh_session_destroy(session);
}

static void open_end(struct wh_rig_end *end, uint8_t number, bool books_apart)
{
	wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, WINDOW);
	end->session.chunk_memory = memory;
	end->session.books_apart = books_apart;
	end->more.books_apart = books_apart;
	end->accepted = accepted;
	end->gone = gone;
	wh_rig_end_open(end, number, WH_ENDPOINT_PLACES_MIN);
}

static void open_world(bool books_apart)
{
	memset(&world, 0, sizeof(world));
	world.now_tsc = HZ;
	open_end(&world.sender, 1, false);
	open_end(&world.receiver, 2, books_apart);
	for (uint32_t i = 0; i < LANES; i++)
		world.sends[i] = wh_rig_end_connect(
			&world.sender, &world.receiver.address, "x", WH_OBJECT_BYTES_UNKNOWN, NULL);
}

static void close_world(void)
{
	for (uint32_t i = 0; i < LANES; i++)
		wh_session_destroy(world.sends[i]);
	for (uint32_t i = 0; i < world.lanes; i++)
		wh_session_destroy(world.receives[i]);
	wh_rig_end_close(&world.sender);
	wh_rig_end_close(&world.receiver);
}

static void send_some(struct wh_rig_end *end, struct port *port)
{
	uint8_t room[PKT_BYTES];
	struct wh_out out = {.head = room};

	wh_endpoint_send_poll(&end->endpoint, world.now_tsc);
	for (uint32_t i = 0; i < BURST_PKTS; i++) {
		if (wh_endpoint_output(&end->endpoint, world.now_tsc, &out, 1) == 0)
			break;
		if (port->pkts == ROOM_PKTS) {
			port->dropped_pkts++;
			continue;
		}
		port->pkt[port->pkts].bytes = out.head_bytes + out.payload_bytes;
		memcpy(port->pkt[port->pkts].data, out.head, out.head_bytes);
		memcpy(port->pkt[port->pkts++].data + out.head_bytes, out.payload,
			out.payload_bytes);
	}
}

static void receive_all(struct wh_rig_end *end, struct port *port, const struct wh_rig_end *from)
{
	for (uint32_t i = 0; i < port->pkts; i++)
		wh_endpoint_input(&end->endpoint, world.now_tsc, world.now_tsc, port->pkt[i].data,
			port->pkt[i].bytes, &from->address);
	port->pkts = 0;
	wh_endpoint_receive_poll(&end->endpoint, world.now_tsc);
	if (end->more.books_apart)
		wh_endpoint_books_poll(&end->endpoint, world.now_tsc);
}

static void fill(uint32_t lane)
{
	struct wh_session *session = world.sends[lane];
	struct wh_chunk *chunk;

	while ((chunk = wh_fifo_pop(wh_session_free_chunks(session))) != NULL) {
		chunk->number = world.chunks[lane]++;
		chunk->bytes = CHUNK_BYTES;
		CU_ASSERT_TRUE(wh_fifo_push(wh_session_ready_chunks(session), chunk));
		wh_session_kick(session);
	}
}

static void empty(struct wh_session *session)
{
	struct wh_chunk *chunk;

	while ((chunk = wh_fifo_pop(wh_session_deliver_chunks(session))) != NULL) {
		CU_ASSERT_TRUE(wh_fifo_push(wh_session_recycled_chunks(session), chunk));
		wh_session_kick(session);
	}
}

static void run(uint32_t steps)
{
	uint64_t told_pkts = world.there.dropped_pkts;

	while (steps-- > 0) {
		for (uint32_t i = 0; i < LANES; i++)
			fill(i);
		receive_all(&world.sender, &world.back, &world.receiver);
		send_some(&world.sender, &world.there);
		if (world.steps++ % STEPS < STEPS_HERE) {
			if (world.there.dropped_pkts > told_pkts)
				wh_endpoint_overflowed(&world.receiver.endpoint, world.now_tsc);
			told_pkts = world.there.dropped_pkts;
			receive_all(&world.receiver, &world.there, &world.sender);
			for (uint32_t i = 0; i < world.lanes; i++)
				empty(world.receives[i]);
			send_some(&world.receiver, &world.back);
		}
		world.now_tsc += STEP_TSC;
	}
}

static uint64_t received_pkts(void)
{
	uint64_t pkts = 0;

	for (uint32_t i = 0; i < world.lanes; i++)
		pkts += wh_session_stats(world.receives[i]).received_pkts;
	return pkts;
}

static void test_share(void)
{
	struct wh_intake_share intake = {0};

	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, HZ, 1024), 1024);
	wh_intake_overflowed(&intake, HZ, HZ);
	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, HZ, 1024), 512);
	/* What was offered before still arrives. */
	wh_intake_overflowed(&intake, HZ, HZ + HZ / 100);
	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, HZ, 1024), 512);
	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, HZ + HZ / 2, 1024), 768);
	wh_intake_overflowed(&intake, HZ, HZ + HZ / 2);
	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, HZ + HZ / 2, 1024), 384);
	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, 4 * HZ, 1024), 1024);
	for (uint64_t i = 0; i < 100; i++)
		wh_intake_overflowed(&intake, HZ, 5 * HZ + i * HZ / 20);
	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, 5 * HZ, 1024), WH_INTAKE_PKTS_MIN);
	CU_ASSERT_EQUAL(wh_intake_pkts(&intake, HZ, 5 * HZ, 4), 4);
}

static uint64_t limited_tsc(enum wh_limit limit)
{
	uint64_t sum_tsc = 0;

	for (uint32_t i = 0; i < LANES; i++)
		sum_tsc += wh_session_stats(world.sends[i]).limit_tsc[limit];
	return sum_tsc;
}

/*
 * At the whole windows 70 % would be lost. Hardly anything is, each time that the receiver runs it
 * finds more than its port's buffer, and the senders know the cause.
 */
static void away(bool books_apart)
{
	open_world(books_apart);
	run(5000);
	CU_ASSERT_EQUAL(world.lanes, LANES);

	uint64_t dropped_pkts = world.there.dropped_pkts, pkts = received_pkts();
	uint64_t cpu_tsc = limited_tsc(WH_LIMIT_CPU);

	run(20000);
	CU_ASSERT_TRUE(world.there.dropped_pkts - dropped_pkts < 1000);
	CU_ASSERT_TRUE(received_pkts() - pkts > 20000 / STEPS * ROOM_PKTS * 5 / 4);
	CU_ASSERT_TRUE(limited_tsc(WH_LIMIT_CPU) - cpu_tsc > 20000 * STEP_TSC * LANES * 3 / 4);
	for (uint32_t i = 0; i < LANES; i++)
		CU_ASSERT_TRUE(wh_session_stats(world.receives[i]).received_pkts >
			       received_pkts() / LANES / 2);
	close_world();
}

static void test_away(void)
{
	away(false);
}

/* The core that takes packets hears of it from the port, and another one offers the windows. */
static void test_away_apart(void)
{
	away(true);
}

CU_TestInfo wh_tests[] = {
	{"share", test_share},
	{"away", test_away},
	{"away, books apart", test_away_apart},
	CU_TEST_INFO_NULL,
};
