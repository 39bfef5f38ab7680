/* SPDX-License-Identifier: BSD-3-Clause */

/* What a transmitter sends again that nobody asks, and when, against a peer made by hand. */

#include "../../rig/end.h"
#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "retransmit";

#define HZ          UINT64_C(1000000000)
#define MS          (HZ / 1000)
#define NOW         (10 * HZ)
#define SENDER      5
#define CID         0x41
#define CHUNKS      16
#define CHUNK_BYTES (64 * 1024)
#define WINDOW      256
#define PKTS        47 /* of a chunk: 1,408 bytes each and one less */

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

struct rig {
	uint64_t now_tsc;
	struct wh_session *session;
	uint64_t first; /* packet number */
	uint64_t sent;  /* new ones, by the last turn */
	uint64_t again;
	uint64_t last_again; /* counted from `first` */
	uint64_t heard_end;  /* in the last report */
	uint32_t acks2;
};

static void give(struct rig *rig, struct wh_packet *packet)
{
	packet->cid = SENDER;
	wh_session_input(rig->session, rig->now_tsc, rig->now_tsc, packet);
	wh_session_poll(rig->session, rig->now_tsc);
}

static void take(struct rig *rig, const struct wh_out *out)
{
	struct wh_packet packet;

	if (out->payload_bytes == 0) {
		CU_ASSERT_EQUAL_FATAL(
			wh_packet_decode(out->head, out->head_bytes, &packet), WH_WIRE_OK);
		rig->acks2 += packet.type == WH_PACKET_ACK2;
		if (packet.type == WH_PACKET_TRANS_REPORT)
			rig->heard_end = packet.trans_report.heard_end;
		return;
	}
	CU_ASSERT_EQUAL_FATAL(
		wh_packet_decode_virtual(out->head, out->payload_bytes, &packet), WH_WIRE_OK);
	if (packet.flags & WH_FLAG_RETRANSMISSION) {
		rig->again++;
		rig->last_again = packet.pn - rig->first;
	} else {
		rig->sent++;
	}
}

/* A turn in which all goes that may. */
static void turn(struct rig *rig)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	rig->sent = 0;
	rig->again = 0;
	do
		wh_session_poll(rig->session, rig->now_tsc);
	while (wh_session_output(rig->session, rig->now_tsc, &out, 1) > 0 &&
		(take(rig, &out), true));
	wh_session_check(rig->session, true);
}

static void step(struct rig *rig, uint64_t ms)
{
	rig->now_tsc += ms * MS;
	turn(rig);
}

static void fill(struct rig *rig, uint32_t chunks)
{
	for (uint32_t i = 0; i < chunks; i++) {
		struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(rig->session));

		CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
		chunk->number = i;
		chunk->bytes = CHUNK_BYTES;
		chunk->end = false;
		wh_fifo_push(wh_session_ready_chunks(rig->session), chunk);
	}
}

static void rig_open(struct rig *rig, const char *profile, const char *option, double value)
{
	struct wh_session_config config;
	struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.accept = {.acceptor_cid = CID, .stamp_us = NOW / 1000, .buffer_chunks = CHUNKS},
	};

	*rig = (struct rig){.now_tsc = NOW};
	wh_rig_session_config(&config, HZ, CHUNK_BYTES, CHUNKS, WINDOW);
	wh_session_config_profile(&config, wh_profile_find(profile));
	CU_ASSERT_EQUAL(wh_profile_options_put(&config.options, config.profile, option, value), 0);
	config.payload_virtual = true;
	config.rate_bps = 0;
	rig->session = wh_session_open(&config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->session);
	wh_connect_begin(rig->session, NOW, SENDER, 7);
	rig->first = wh_session_params(rig->session)->first_pn;
	give(rig, &accept);
	turn(rig);
}

static void rig_close(struct rig *rig, uint64_t bad_pkts)
{
	CU_ASSERT_EQUAL(wh_session_stats(rig->session).bad_pkts, bad_pkts);
	wh_session_destroy(rig->session);
}

/* All below `lower` has come, and of [from, end) all; counted from the first packet number. */
static void say(struct rig *rig, uint64_t pn, uint64_t lower, uint64_t from, uint64_t end)
{
	struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.pn = pn,
		.rcv_report =
			{
				.lower = rig->first + lower,
				.upper = rig->first + lower + WINDOW,
				.highest_end = rig->first + end,
				.cover_first = rig->first + lower,
				.cover_end = rig->first + end,
				.chunk_upper = CHUNKS,
				.buffer_chunks = CHUNKS,
			},
	};

	if (from > lower) {
		packet.rcv_report.n_holes = 1;
		packet.rcv_report.holes[0].count = (uint32_t)(from - lower);
	}
	give(rig, &packet);
}

/* 15 ms are 3 reports of 5 ms: 0 is known, all go, and with 3 more what misses goes again. */
static void test_counted(void)
{
	struct rig rig;

	rig_open(&rig, "pxp", "timeout", 15e6);
	fill(&rig, 1);
	say(&rig, 0, 0, 0, 0);
	step(&rig, 1);
	CU_ASSERT_EQUAL(rig.sent, PKTS);
	say(&rig, 1, 3, 4, 40);
	step(&rig, 5);
	say(&rig, 2, 3, 4, 40);
	step(&rig, 1000); /* time alone does nothing */
	CU_ASSERT_EQUAL(rig.again, 0);
	say(&rig, 3, 3, 4, 40);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.again, 8); /* 3, and 40 to 46 of which nothing was said */
	CU_ASSERT_EQUAL(rig.last_again, PKTS - 1);
	say(&rig, 4, 3, 4, PKTS);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.again, 0);
	say(&rig, 6, 3, 4, PKTS); /* 5 is lost or skipped, and counts */
	turn(&rig);
	CU_ASSERT_EQUAL(rig.again, 1);
	CU_ASSERT_EQUAL(rig.last_again, 3);
	CU_ASSERT_EQUAL(rig.acks2, 0);
	step(&rig, 5);
	CU_ASSERT_EQUAL(rig.heard_end, 7);
	rig_close(&rig, 0);
}

/* A report that was overtaken is dropped, whatever it says, and counts for nothing. */
static void test_old_report(void)
{
	struct rig rig;

	rig_open(&rig, "pxp", "timeout", 15e6);
	fill(&rig, 1);
	say(&rig, 0, 0, 0, 0);
	step(&rig, 1);
	say(&rig, 2, 0, 1, PKTS);
	say(&rig, 1, PKTS, PKTS, PKTS);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.again, 0);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).control_stale_pkts, 1);
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&rig.session->tx.table), 1);
	rig_close(&rig, 0);
}

/* Of what a report does not cover nothing is known: it does not go again for that. */
static void test_not_covered(void)
{
	struct rig rig;
	struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.pn = 9,
		.rcv_report = {.upper = WINDOW, .chunk_upper = CHUNKS, .buffer_chunks = CHUNKS},
	};

	rig_open(&rig, "pxp", "timeout", 15e6);
	fill(&rig, 1);
	say(&rig, 0, 0, 0, 0);
	step(&rig, 1);
	packet.rcv_report.lower = rig.first;
	packet.rcv_report.upper += rig.first;
	packet.rcv_report.cover_first = rig.first + 20;
	packet.rcv_report.cover_end = rig.first + 30;
	packet.rcv_report.highest_end = rig.first + PKTS;
	packet.rcv_report.n_holes = 1;
	packet.rcv_report.holes[0] = (struct wh_range){.offset = 5, .count = 1};
	give(&rig, &packet);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.again, 1);
	CU_ASSERT_EQUAL(rig.last_again, 25);
	rig_close(&rig, 0);
}

/* A lie about the count brings all that is under way once for each lie, and no more. */
static void test_liar(void)
{
	struct rig rig;
	uint64_t again = 0;

	rig_open(&rig, "pxp", "timeout", 15e6);
	fill(&rig, 2);
	say(&rig, 0, 0, 0, 0);
	step(&rig, 1);
	CU_ASSERT_EQUAL(rig.sent, 2 * PKTS);
	for (uint32_t i = 1; i <= 20; i++) {
		say(&rig, UINT64_C(1) << (2 * i), 0, 1, 1);
		turn(&rig);
		again += rig.again;
		CU_ASSERT(rig.again <= 2 * PKTS);
	}
	CU_ASSERT_EQUAL(again, 20 * 2 * PKTS);
	say(&rig, WH_PN_MAX - 1, 0, 1, 1);
	step(&rig, 20);
	CU_ASSERT_EQUAL(rig.heard_end, WH_PN_MAX);
	rig_close(&rig, 0);
}

/* The window is one of packet numbers: with the first missing, nothing goes beyond it. */
static void test_span(void)
{
	struct rig rig;

	rig_open(&rig, "pxp", "window", 64);
	fill(&rig, 4);
	say(&rig, 0, 0, 0, 0);
	step(&rig, 1);
	CU_ASSERT_EQUAL(rig.sent, 64);
	say(&rig, 1, 0, 1, 64);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.sent, 0);
	say(&rig, 2, 10, 10, 64);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.sent, 64);
	rig_close(&rig, 0);
}

/* An acknowledgement says of one packet that it has come, and `lower` does not count. */
static void ack(struct rig *rig, uint64_t pn, uint64_t packet)
{
	struct wh_packet state = {
		.type = WH_PACKET_RCV_REPORT,
		.pn = pn,
		.rcv_report =
			{
				.lower = rig->first + packet,
				.upper = rig->first + packet + WINDOW,
				.highest_end = rig->first + packet + 1,
				.cover_first = rig->first + packet,
				.cover_end = rig->first + packet + 1,
				.chunk_upper = CHUNKS,
				.buffer_chunks = CHUNKS,
			},
	};

	give(rig, &state);
}

/* A chunk goes at 1 ms; 40 ms later all but the acknowledged ones go again. */
static void test_timed(void)
{
	struct rig rig;
	uint64_t again = 0;

	rig_open(&rig, "pack", "timeout", 40e6);
	rig.session->feedback.ack_in_order = false;
	fill(&rig, 1);
	ack(&rig, 0, 0); /* credits: of nothing that went yet */
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_pkts, 1);
	say(&rig, 0, 0, 0, 0);
	step(&rig, 1);
	CU_ASSERT_EQUAL(rig.sent, PKTS);
	ack(&rig, 5, 45);
	ack(&rig, 4, 7); /* overtaken, and true all the same */
	step(&rig, 39);
	CU_ASSERT_EQUAL(rig.again, 0);
	for (uint32_t i = 0; i < 4; i++) {
		step(&rig, 1);
		again += rig.again;
	}
	CU_ASSERT_EQUAL(again, PKTS - 2);
	step(&rig, 36);
	CU_ASSERT_EQUAL(rig.again, 0);
	for (uint32_t i = 0; i < PKTS; i++)
		ack(&rig, 6 + i, i);
	step(&rig, 100);
	CU_ASSERT_EQUAL(rig.again, 0);
	CU_ASSERT_EQUAL(wh_sent_table_unacked(&rig.session->tx.table), 0);
	CU_ASSERT_EQUAL(rig.acks2, 0);
	rig_close(&rig, 1);
}

CU_TestInfo wh_tests[] = {
	{"by the count of reports", test_counted},
	{"an old state", test_old_report},
	{"not covered", test_not_covered},
	{"a lie about the count", test_liar},
	{"a window of packet numbers", test_span},
	{"by timers", test_timed},
	CU_TEST_INFO_NULL,
};
