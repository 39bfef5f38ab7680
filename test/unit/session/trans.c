/* SPDX-License-Identifier: BSD-3-Clause */

/* What a transmitter sends when, and what it says held it up, against a peer made by hand. */

#include "../../rig/end.h"
#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "session/session.h"
#include "unit.h"

const char wh_suite_name[] = "trans";

#define HZ          UINT64_C(1000000000)
#define MS          (HZ / 1000)
#define NOW         (10 * HZ)
#define KBPS        UINT64_C(1000)
#define SENDER      5
#define CID         0x41
#define CHUNKS      8
#define CHUNK_BYTES (64 * 1024)
#define CHUNK_PKTS  7  /* full ones */
#define PERIOD_MS   10 /* of `fixed` */
#define SPAN_S      120
#define WIRE_BYTES  9038      /* of a full packet of 9,000 bytes */
#define OVERHEAD    (38 + 28) /* Ethernet's, IP's and UDP's */

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

/* A transmitter, and what has come of it. */
struct rig {
	uint64_t now_tsc;
	struct wh_session_config config;
	struct wh_session *session;
	uint64_t first_pn;
	uint64_t report_pn;
	uint64_t filled; /* chunks */
	uint64_t fill_end;
	bool fill_ends;
	struct wh_chunk end;
	uint64_t new_pkts;
	uint64_t retransmitted_pkts;
	uint64_t control_pkts;
	uint64_t control_bytes; /* of the wire */
};

static void give(struct rig *rig, struct wh_packet *packet)
{
	packet->cid = SENDER;
	wh_session_input(rig->session, rig->now_tsc, rig->now_tsc, packet);
	wh_session_poll(rig->session, rig->now_tsc);
}

static void rig_open(struct rig *rig, uint64_t rate_bps)
{
	struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.accept = {.acceptor_cid = CID, .stamp_us = NOW / 1000, .buffer_chunks = CHUNKS},
	};

	*rig = (struct rig){.now_tsc = NOW};
	wh_rig_session_config(&rig->config, HZ, CHUNK_BYTES, CHUNKS, 1024);
	wh_rig_session_mtu(&rig->config, WH_IPV4, 9000);
	rig->config.chunk_bytes = CHUNK_BYTES;
	rig->config.payload_virtual = true;
	rig->config.rate_bps = rate_bps;
	rig->config.burst_pkts = 1;
	rig->session = wh_session_open(&rig->config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->session);
	wh_connect_begin(rig->session, NOW, SENDER, 7);
	rig->first_pn = wh_session_params(rig->session)->first_pn;
	give(rig, &accept);
}

static void rig_close(struct rig *rig)
{
	wh_session_check(rig->session, true);
	CU_ASSERT_EQUAL(wh_session_stats(rig->session).bad_pkts, 0);
	wh_session_destroy(rig->session);
}

/* All before `lower` has come, and of what follows nothing. */
static void give_report(struct rig *rig, uint64_t lower)
{
	struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.pn = rig->report_pn++,
		.rcv_report =
			{
				.lower = lower,
				.upper = lower + 1024,
				.highest_end = lower,
				.cover_first = lower,
				.cover_end = lower,
				.chunk_upper = UINT32_MAX,
				.buffer_chunks = CHUNKS,
			},
	};

	give(rig, &packet);
}

static void fill(struct rig *rig)
{
	struct wh_fifo *ready = wh_session_ready_chunks(rig->session);
	struct wh_chunk *chunk;

	while (rig->filled < rig->fill_end &&
		(chunk = wh_fifo_pop(wh_session_free_chunks(rig->session))) != NULL) {
		chunk->number = rig->filled++;
		chunk->bytes = CHUNK_PKTS * rig->config.payload_bytes;
		chunk->end = false;
		CU_ASSERT_TRUE(wh_fifo_push(ready, chunk));
	}
	if (rig->fill_ends && rig->filled == rig->fill_end && !rig->end.end) {
		rig->end = (struct wh_chunk){.number = rig->filled, .end = true};
		CU_ASSERT_TRUE(wh_fifo_push(ready, &rig->end));
	}
}

static void count(struct rig *rig, const struct wh_out *out)
{
	struct wh_packet packet;

	if (out->payload_bytes == 0) {
		rig->control_pkts++;
		rig->control_bytes += out->head_bytes + OVERHEAD;
		return;
	}
	CU_ASSERT_EQUAL_FATAL(
		wh_packet_decode_virtual(out->head, out->payload_bytes, &packet), WH_WIRE_OK);
	rig->new_pkts += !(packet.flags & WH_FLAG_RETRANSMISSION);
	rig->retransmitted_pkts += (packet.flags & WH_FLAG_RETRANSMISSION) != 0;
}

/* A millisecond passes. */
static void step(struct rig *rig)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	rig->now_tsc += MS;
	fill(rig);
	wh_session_poll(rig->session, rig->now_tsc);
	while (wh_session_output(rig->session, rig->now_tsc, &out, 1) > 0)
		count(rig, &out);
}

/* A peer that hears all, and says so each period. */
static void run_heard(struct rig *rig, uint64_t span_ms)
{
	for (uint64_t at = 0; at < span_ms; at++) {
		step(rig);
		if (at % PERIOD_MS == 0)
			give_report(rig, rig->first_pn + rig->new_pkts);
	}
}

/*
 * At a crawl of packets of 9,000 bytes, what is said of reports would take all of the rate. Data
 * has half of it as long as control packets have the other, and at a better rate all that they
 * leave.
 */
static void test_crawl(void)
{
	static const uint64_t rates_bps[] = {20 * KBPS, 60 * KBPS, 100 * KBPS, 180 * KBPS};
	struct rig rig;

	for (size_t i = 0; i < sizeof(rates_bps) / sizeof(rates_bps[0]); i++) {
		rig_open(&rig, rates_bps[i]);
		rig.fill_end = UINT64_MAX;
		run_heard(&rig, SPAN_S * 1000);
		CU_ASSERT(rig.control_bytes * 8 > SPAN_S * rates_bps[i] / 2);
		WH_ASSERT_NEAR(rig.new_pkts, SPAN_S * rates_bps[i] / 8.0 / (2 * WIRE_BYTES), 0.03);
		CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_PENDING);
		rig_close(&rig);
	}
	rig_open(&rig, 1000 * KBPS);
	rig.fill_end = UINT64_MAX;
	run_heard(&rig, SPAN_S * 1000);
	WH_ASSERT_NEAR(
		rig.new_pkts * WIRE_BYTES + rig.control_bytes, SPAN_S * 1000 * KBPS / 8, 0.01);
	rig_close(&rig);
}

/*
 * What is said in a pause counts however long that is, and here it takes all of the rate. So the
 * first packet after it goes when one after another would: two intervals of 1.205 s later.
 */
static void test_crawl_after_a_pause(void)
{
	struct rig rig;

	rig_open(&rig, 60 * KBPS);
	rig.fill_end = 1;
	run_heard(&rig, SPAN_S * 1000);
	CU_ASSERT_EQUAL(rig.new_pkts, CHUNK_PKTS);
	rig.fill_end = 2;

	uint64_t begin_tsc = rig.now_tsc;

	while (rig.new_pkts == CHUNK_PKTS && rig.now_tsc < begin_tsc + 10 * HZ)
		run_heard(&rig, PERIOD_MS);
	WH_ASSERT_NEAR(rig.now_tsc - begin_tsc, 2 * 1.205 * HZ, 0.02);
	rig_close(&rig);
}

static uint64_t limited_tsc(const struct rig *rig)
{
	struct wh_session_stats stats = wh_session_stats(rig->session);
	uint64_t sum_tsc = 0;

	for (uint32_t i = 0; i < WH_LIMITS; i++)
		sum_tsc += stats.limit_tsc[i];
	return sum_tsc;
}

static uint64_t at_rate_tsc(const struct rig *rig)
{
	return wh_session_stats(rig->session).limit_tsc[WH_LIMIT_RATE];
}

/* For so long the peer says ten times a second what it has of the stream: nothing. */
static void run_unheard(struct rig *rig, uint64_t span_ms)
{
	for (uint64_t at = 0; at < span_ms; at++) {
		step(rig);
		if (at % 100 == 0)
			give_report(rig, rig->first_pn);
	}
}

/*
 * With all sent, the rate holds up what goes again and nothing else: of five packets the first goes
 * at once, and each of the others 9.038 ms later, which is 8 Mb/s; in turns of a millisecond.
 */
static void test_only_lost_ones_left(void)
{
	struct wh_packet nak = {.type = WH_PACKET_NAK, .nak = {.n_losses = 1, .losses = {{0, 5}}}};
	struct rig rig;

	rig_open(&rig, 8000 * KBPS);
	rig.fill_end = 2;
	rig.fill_ends = true;
	run_unheard(&rig, 200);
	CU_ASSERT_EQUAL(rig.new_pkts, 2 * CHUNK_PKTS);

	/* Nothing waits but for the last words. */
	uint64_t before_tsc = limited_tsc(&rig);

	run_unheard(&rig, 200);
	CU_ASSERT_EQUAL(limited_tsc(&rig), before_tsc);

	uint64_t at_rate_before_tsc = at_rate_tsc(&rig);

	nak.nak.base = rig.first_pn;
	give(&rig, &nak);
	run_unheard(&rig, 200);
	CU_ASSERT_EQUAL(rig.retransmitted_pkts, 5);

	uint64_t held_up_tsc = at_rate_tsc(&rig) - at_rate_before_tsc;

	CU_ASSERT(held_up_tsc >= 4 * 9038 * MS / 1000);
	CU_ASSERT(held_up_tsc <= 4 * 9038 * MS / 1000 + 2 * MS);
	before_tsc = limited_tsc(&rig);
	run_unheard(&rig, 200);
	CU_ASSERT_EQUAL(limited_tsc(&rig), before_tsc);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"a crawl", test_crawl},
	{"a crawl after a pause", test_crawl_after_a_pause},
	{"only lost ones are left", test_only_lost_ones_left},
	CU_TEST_INFO_NULL,
};
