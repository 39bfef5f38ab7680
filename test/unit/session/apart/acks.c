/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A transmitter whose acknowledgements are entered on another core: what that core decides alone,
 * and what the one that sends makes of it.
 */

#include "session/apart/acks.h"

#include "../../../rig/end.h"
#include "unit.h"

#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"

const char wh_suite_name[] = "acks";

#define HZ          UINT64_C(1000000000)
#define MS          (HZ / 1000)
#define SENDER      5
#define CHUNKS      4
#define CHUNK_BYTES (64 * 1024)
#define WINDOW      256
#define PKTS        47 /* of a chunk: 1,408 bytes each and one less */

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};
static struct wh_session *session;
static uint64_t first, now_tsc, reports;
static uint64_t sent, again;

static void poll_once(void)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	sent = again = 0;
	do
		wh_session_poll(session, now_tsc);
	while (wh_session_output(session, now_tsc, &out, 1) > 0 &&
		(out.payload_bytes == 0 ||
			((out.head[2] & WH_FLAG_RETRANSMISSION ? again++ : sent++), true)));
	wh_session_check(session, true);
}

static void hear(struct wh_packet *packet)
{
	packet->cid = SENDER;
	wh_session_input(session, now_tsc, now_tsc, packet);
}

static void fill(uint32_t number)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	chunk->number = number;
	chunk->bytes = CHUNK_BYTES;
	wh_fifo_push(wh_session_ready_chunks(session), chunk);
}

static void open_with(const char *profile)
{
	struct wh_session_config config;
	struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.accept = {.acceptor_cid = 9, .stamp_us = 10000000, .buffer_chunks = CHUNKS},
	};

	now_tsc = 10 * HZ;
	reports = 0;
	wh_rig_session_config(&config, HZ, CHUNK_BYTES, CHUNKS, WINDOW);
	wh_session_config_profile(&config, wh_profile_find(profile));
	config.payload_virtual = true;
	config.rate_bps = 0;
	config.books_apart = true;
	session = wh_session_open(&config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	wh_connect_begin(session, now_tsc, SENDER, 7);
	first = wh_session_params(session)->first_pn;
	hear(&accept);
}

/* All below `lower` has come, and of [lower + missing, end) all. */
static void report(uint64_t lower, uint32_t missing, uint64_t end)
{
	struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.pn = reports++,
		.rcv_report =
			{
				.lower = first + lower,
				.upper = first + lower + WINDOW,
				.highest_end = first + end,
				.cover_first = first + lower,
				.cover_end = first + end,
				.chunk_upper = CHUNKS,
				.buffer_chunks = CHUNKS,
				.n_holes = missing > 0,
				.holes[0].count = missing,
			},
	};

	now_tsc += MS;
	hear(&packet);
}

static void begin(const char *profile)
{
	open_with(profile);
	CU_ASSERT_PTR_NOT_NULL_FATAL(session->acks);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	poll_once();
	for (uint32_t i = 0; i < CHUNKS - 1; i++)
		fill(i);
	report(0, 0, 0);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	poll_once();
	CU_ASSERT_EQUAL(sent, (CHUNKS - 1) * PKTS);
}

static uint32_t free_chunks(void)
{
	return wh_fifo_count(wh_session_free_chunks(session));
}

/* The table knows at once, the session when it has the note, the reader when it is told. */
static void test_two_steps(void)
{
	begin("pxp");
	report(PKTS, 3, 2 * PKTS);
	poll_once();
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&session->tx.table), 3 * PKTS);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&session->tx.table), PKTS + 3);
	CU_ASSERT_EQUAL(wh_sent_table_lower(&session->tx.table), first + PKTS);
	CU_ASSERT_EQUAL(wh_session_stats(session).acked_bytes,
		CHUNK_BYTES + CHUNK_BYTES - UINT64_C(3) * 1408);
	CU_ASSERT_EQUAL(session->tx.acked_pkts, 0);
	CU_ASSERT_EQUAL(free_chunks(), 1);
	poll_once();
	CU_ASSERT_EQUAL(session->tx.acked_pkts, 2 * PKTS - 3);
	CU_ASSERT_EQUAL(session->tx.chunks_out, 2);
	CU_ASSERT_EQUAL(free_chunks(), 2);
	report(2 * PKTS, 0, 2 * PKTS);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	poll_once();
	CU_ASSERT_EQUAL(free_chunks(), 3);
	wh_session_destroy(session);
}

/* More was acknowledged than was sent: nothing counts, on neither core. */
static void test_impossible(void)
{
	begin("pxp");
	report(PKTS, 0, 3 * PKTS + 1);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&session->tx.table), 3 * PKTS);
	poll_once();
	CU_ASSERT_EQUAL(wh_session_stats(session).bad_window_pkts, 1);
	CU_ASSERT_EQUAL(session->tx.acked_pkts, 0);
	wh_session_destroy(session);
}

/* An overtaken report acknowledges what it says, and the next one counts it. */
static void test_overtaken(void)
{
	begin("pxp");
	reports += 5;
	report(2, 0, 2);
	reports -= 5;
	report(4, 0, 4);
	CU_ASSERT_EQUAL(wh_acks_book(session), 2);
	poll_once();
	CU_ASSERT_EQUAL(wh_session_stats(session).control_stale_pkts, 1);
	CU_ASSERT_EQUAL(session->tx.acked_pkts, 2);
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&session->tx.table), 3 * PKTS - 4);
	reports += 5;
	report(4, 0, 4);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	poll_once();
	CU_ASSERT_EQUAL(session->tx.acked_pkts, 4);
	wh_session_destroy(session);
}

/* What is to go again was acknowledged meanwhile, as only the other core knows yet. */
static void test_queued_and_acked(void)
{
	struct wh_packet nak = {
		.type = WH_PACKET_NAK,
		.nak = {.n_losses = 1, .losses[0].count = 10},
	};

	begin("fixed");
	nak.nak.base = first;
	hear(&nak);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	wh_session_poll(session, now_tsc);
	CU_ASSERT_EQUAL(wh_fifo_count(&session->tx.retransmits), 10);
	report(8, 0, 8);
	CU_ASSERT_EQUAL(wh_acks_book(session), 1);
	now_tsc += 100 * MS;
	poll_once();
	CU_ASSERT_EQUAL(again, 2);
	wh_session_destroy(session);
}

/* The core that sends stands still: notes wait, then packets, and the rest is lost and counted. */
static void test_full(void)
{
	uint32_t room;

	begin("pxp");
	room = wh_boxes_inbox_count(WINDOW);
	for (uint32_t i = 0; i < 2 * room + 3; i++) {
		report(i, 0, i);
		(void)wh_acks_book(session);
	}
	CU_ASSERT_EQUAL(wh_slot_fifo_count(&session->acks->notes), room);
	CU_ASSERT_EQUAL(wh_slot_fifo_count(&session->inbox), room);
	CU_ASSERT_EQUAL(wh_session_stats(session).control_full_pkts, 3);
	CU_ASSERT_EQUAL(wh_sent_table_lower(&session->tx.table), first + room - 1);
	poll_once();
	CU_ASSERT_EQUAL(wh_acks_book(session), room);
	poll_once();
	CU_ASSERT_EQUAL(session->tx.acked_pkts, 2 * room - 1);
	wh_session_destroy(session);
}

/* A profile that hears of each acknowledgement keeps them where it is. */
static void test_each(void)
{
	open_with("pack");
	CU_ASSERT_PTR_NULL(session->acks);
	poll_once();
	wh_session_destroy(session);
}

CU_TestInfo wh_tests[] = {
	{"two steps", test_two_steps},
	{"impossible", test_impossible},
	{"overtaken", test_overtaken},
	{"queued and acked", test_queued_and_acked},
	{"full", test_full},
	{"each", test_each},
	CU_TEST_INFO_NULL,
};
