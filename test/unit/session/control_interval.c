/* SPDX-License-Identifier: BSD-3-Clause */

/* When a receiver says its state, and what of it counts, against a peer made by hand. */

#include "../../rig/end.h"
#include "endpoint/connect.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "control_interval";

#define HZ      UINT64_C(1000000000)
#define MS      (HZ / 1000)
#define NOW     (10 * HZ)
#define CID     0x41
#define PAYLOAD WH_PAYLOAD_BYTES_MIN
#define CHUNKS  64
#define STATES  64

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

struct rig {
	uint64_t now_tsc;
	uint64_t trans_pn;
	struct wh_session *session;
	struct wh_packet said; /* the last report ... */
	uint32_t states;       /* ... of so many ... */
	uint64_t pn[STATES];
	uint64_t at_tsc[STATES]; /* ... which came then */
	uint32_t naks;
};

static void rig_open(struct rig *rig, const char *profile, const char *option, double value)
{
	struct wh_session_config config;

	wh_session_config_init(&config);
	config.hz = HZ;
	wh_session_config_profile(&config, wh_profile_find(profile));
	if (option != NULL)
		CU_ASSERT_EQUAL(
			wh_profile_options_put(&config.options, config.profile, option, value), 0);
	config.payload_bytes = PAYLOAD;
	config.packet_bytes = 124;
	config.wire_bytes = 162;
	config.chunk_bytes = 4096;
	config.chunks = CHUNKS;
	config.window_pkts = 4096;
	config.payload_virtual = true;

	struct wh_open_params params = wh_rig_open_params(&config, 0);

	params.n_options =
		(uint8_t)wh_profile_options_tell(&config.options, config.profile, params.options);
	*rig = (struct rig){.now_tsc = NOW};
	rig->session = wh_session_accept(&config, NOW, CID, &peer, &params, MS);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->session);
}

static void take(struct rig *rig, const struct wh_out *out)
{
	struct wh_packet packet;

	CU_ASSERT_EQUAL_FATAL(wh_packet_decode(out->head, out->head_bytes, &packet), WH_WIRE_OK);
	rig->naks += packet.type == WH_PACKET_NAK;
	if (packet.type != WH_PACKET_RCV_REPORT || rig->states == STATES)
		return;
	rig->said = packet;
	rig->pn[rig->states] = packet.pn;
	rig->at_tsc[rig->states++] = rig->now_tsc;
}

static void turn(struct rig *rig)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	wh_session_poll(rig->session, rig->now_tsc);
	while (wh_session_output(rig->session, rig->now_tsc, &out, 1) > 0)
		take(rig, &out);
	wh_session_check(rig->session, true);
}

static void run(struct rig *rig, uint64_t ms)
{
	for (uint64_t i = 0; i < 10 * ms; i++) {
		rig->now_tsc += MS / 10;
		turn(rig);
	}
}

static void give(struct rig *rig, uint64_t pn)
{
	struct wh_packet packet = {
		.type = WH_PACKET_DATA,
		.cid = CID,
		.pn = pn,
		.data = {.chunk = (uint32_t)(pn / 128),
			.index = (uint16_t)(pn % 128),
			.k = 128,
			.payload_bytes = PAYLOAD},
	};

	wh_session_input(rig->session, rig->now_tsc, rig->now_tsc, &packet);
}

static void tell(struct rig *rig, uint64_t upper, uint64_t heard_end, uint32_t held_us)
{
	struct wh_packet packet = {
		.type = WH_PACKET_TRANS_REPORT,
		.cid = CID,
		.pn = rig->trans_pn++,
		.trans_report = {.upper = upper,
			.heard_end = heard_end,
			.queued_pkts = 1,
			.held_us = held_us},
	};

	wh_session_input(rig->session, rig->now_tsc, rig->now_tsc, &packet);
	wh_session_poll(rig->session, rig->now_tsc);
}

static void rig_close(struct rig *rig)
{
	wh_session_destroy(rig->session);
}

/*
 * 10 packets a millisecond: a report each 5.001 ms, of packet numbers in a row, and no NAK for the
 * gap.
 */
static void test_busy(void)
{
	struct rig rig;

	rig_open(&rig, "pxp", NULL, 0);
	for (uint64_t pn = 0; pn < 1000; pn++) {
		if (pn != 3)
			give(&rig, pn);
		rig.now_tsc += MS / 10;
		turn(&rig);
	}
	CU_ASSERT_EQUAL(rig.states, 20);
	for (uint32_t i = 1; i < rig.states; i++) {
		CU_ASSERT_EQUAL(rig.pn[i], rig.pn[i - 1] + 1);
		CU_ASSERT_EQUAL(rig.at_tsc[i] - rig.at_tsc[i - 1], 51 * MS / 10);
	}
	CU_ASSERT_EQUAL(rig.naks, 0);
	CU_ASSERT_EQUAL(rig.said.rcv_report.n_holes, 1);
	CU_ASSERT_EQUAL(rig.said.rcv_report.holes[0].count, 1);
	CU_ASSERT_EQUAL(rig.said.rcv_report.lower, 3);
	CU_ASSERT_EQUAL(rig.said.rcv_report.upper, 3 + 4096);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).losses_detected_pkts, 1);
	rig_close(&rig);
}

/*
 * Without news one is sent and one skipped, then one sent and two skipped: packet numbers count on.
 */
static void test_quiet(void)
{
	static const uint64_t ahead[] = {2, 3, 3, 3, 3};
	struct rig rig;
	uint32_t first;

	rig_open(&rig, "pxp", NULL, 0);
	give(&rig, 1); /* 0 is missing: it does not rest */
	run(&rig, 1);
	first = rig.states - 1;
	run(&rig, 100);
	CU_ASSERT_FATAL(rig.states > first + 6);
	CU_ASSERT_EQUAL(rig.pn[first + 1], rig.pn[first] + 1);
	for (uint32_t i = 0; i < 5; i++) {
		uint32_t at = first + 2 + i;
		uint64_t span_tsc = rig.at_tsc[at] - rig.at_tsc[at - 1];

		CU_ASSERT_EQUAL(rig.pn[at] - rig.pn[at - 1], ahead[i]);
		CU_ASSERT_EQUAL(span_tsc, ahead[i] * 51 * MS / 10);
	}
	rig_close(&rig);
}

/* All is known and nothing to come: heartbeats, whose packet numbers count as well. */
static void test_rest(void)
{
	struct rig rig;
	uint32_t before;

	rig_open(&rig, "pxp", NULL, 0);
	give(&rig, 0);
	run(&rig, 6);
	rig.session->rx.peer_queued_pkts = 0;
	rig.session->rx.acked_end = rig.session->control_pn[WH_PACKET_RCV_REPORT];
	before = rig.states;
	run(&rig, 300);
	CU_ASSERT_EQUAL_FATAL(rig.states, before + 2); /* after 100 and 200 ms */
	CU_ASSERT_EQUAL(rig.pn[before + 1] - rig.pn[before], 200 / 5);
	rig_close(&rig);
}

/*
 * Ten packets a millisecond were taken: 100 that wait take 10 ms, and what is beyond an interval
 * counts. A quarter of the buffers in use adds a quarter of an interval.
 */
static void test_load(void)
{
	static const struct {
		double load;
		uint64_t waiting;
		uint64_t held_chunks;
		uint64_t interval_us;
	} cases[] = {
		{1, 0, 0, 5001},
		{1, 40, 0, 5001},
		{1, 100, 0, 10000},
		{0.5, 100, 0, 7500}, /* 5001 + 4999 / 2 */
		{0, 100, 0, 5001},
		{1, 0, 16, 6251},
		{2, 0, 16, 7501},
		{1, 100000000, 0, 33 * 5001},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		uint64_t interval_tsc;

		rig_open(&rig, "pxp", "load", cases[i].load);
		rig.session->rx.mean_arrival_tsc = MS / 10;
		rig.session->rx.next_deliver = cases[i].held_chunks;
		wh_session_note_waiting(rig.session, cases[i].waiting);
		interval_tsc = wh_control_interval_tsc(rig.session);
		CU_ASSERT_EQUAL(interval_tsc / 1000, cases[i].interval_us);
		rig_close(&rig);
	}
}

/* The transmitter knew state 4 for 3 ms; it is 10 ms old: a round trip of 7. */
static void test_round_trip(void)
{
	struct rig rig;
	struct wh_session *session;

	rig_open(&rig, "pxp", NULL, 0);
	session = rig.session;
	for (uint64_t pn = 0; rig.states < 5; pn++) {
		give(&rig, pn);
		run(&rig, 1);
	}
	CU_ASSERT_EQUAL(rig.said.pn, 4);
	rig.now_tsc = rig.at_tsc[4] + 10 * MS;
	tell(&rig, 0, 5, 3000);
	CU_ASSERT_EQUAL(session->rtt.samples, 1);
	CU_ASSERT_EQUAL(wh_rtt_get(&session->rtt), 7 * MS);
	CU_ASSERT_EQUAL(session->rx.acked_end, 5);
	tell(&rig, 0, 5, 0); /* the same again is no sample */
	tell(&rig, 0, 4, 0);
	CU_ASSERT_EQUAL(session->rtt.samples, 1);
	rig_close(&rig);
}

/* Reports that were never said; held for longer than there was time: nothing is measured. */
static void test_lies(void)
{
	struct rig rig;

	rig_open(&rig, "pxp", NULL, 0);
	give(&rig, 0);
	run(&rig, 6);
	tell(&rig, 1, UINT64_MAX, 0);
	tell(&rig, 1, rig.session->control_pn[WH_PACKET_RCV_REPORT] + 1, 0);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_window_pkts, 2);
	CU_ASSERT_EQUAL(rig.session->rx.acked_end, 0);
	tell(&rig, 1, rig.session->control_pn[WH_PACKET_RCV_REPORT], UINT32_MAX);
	CU_ASSERT_EQUAL(rig.session->rtt.samples, 0);
	rig_close(&rig);
}

/* Every packet is acknowledged alone and at once, a second copy again; nothing else is. */
static void test_ack_each(void)
{
	struct rig rig;
	const struct wh_rcv_report *said = &rig.said.rcv_report;
	uint32_t before;

	rig_open(&rig, "pack", "in_order", 0);
	run(&rig, 10);
	before = rig.states;
	give(&rig, 0);
	give(&rig, 5);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.states, before + 2);
	CU_ASSERT_EQUAL(said->cover_first, 5);
	CU_ASSERT_EQUAL(said->cover_end, 6);
	CU_ASSERT_EQUAL(said->n_holes, 0);
	CU_ASSERT_EQUAL(said->lower, 1);
	give(&rig, 0);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.states, before + 3);
	CU_ASSERT_EQUAL(said->cover_first, 0);
	CU_ASSERT_EQUAL(said->cover_end, 1);
	CU_ASSERT_EQUAL(said->lower, 0);
	CU_ASSERT_EQUAL(said->highest_end, 6);
	CU_ASSERT_EQUAL(rig.naks, 0);
	give(&rig, 5000); /* beyond the window: what has not come is not acknowledged */
	turn(&rig);
	CU_ASSERT_EQUAL(rig.states, before + 3);
	rig_close(&rig);
}

/* All before the first that is missing, whatever came: 1 to 3, then 0. */
static void test_ack_in_order(void)
{
	struct rig rig;
	const struct wh_rcv_report *said = &rig.said.rcv_report;
	uint32_t before;

	rig_open(&rig, "pack", NULL, 0);
	run(&rig, 10);
	before = rig.states;
	for (uint64_t pn = 1; pn <= 3; pn++) {
		give(&rig, pn);
		turn(&rig);
		CU_ASSERT_EQUAL(said->lower, 0);
		CU_ASSERT_EQUAL(said->cover_first, said->cover_end);
	}
	give(&rig, 0);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.states, before + 4);
	CU_ASSERT_EQUAL(said->lower, 4);
	CU_ASSERT_EQUAL(said->cover_end, 4);
	give(&rig, 2); /* a second copy is answered, too */
	turn(&rig);
	CU_ASSERT_EQUAL(rig.states, before + 5);
	CU_ASSERT_EQUAL(said->lower, 4);
	rig_close(&rig);
}

/*
 * A copy from so long ago that the packet cannot be outstanding: nobody waits for an answer, and no
 * state could say it, whose packet numbers are within a window. All packets until then have come.
 */
static void test_ancient_copies(void)
{
	struct rig rig;
	uint64_t end = UINT64_C(2) * WH_WINDOW_PACKETS_MAX;
	uint32_t before;

	rig_open(&rig, "pack", "in_order", 0);
	run(&rig, 10);
	rig.session->rx.table.lower = rig.session->rx.table.highest_end = end;
	rig.session->stats.received_pkts = end;
	before = rig.states;
	give(&rig, 0);
	give(&rig, end - WH_WINDOW_PACKETS_MAX - 1);
	give(&rig, end - rig.session->params.window_pkts - 1);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.states, before);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).duplicate_pkts, 3);
	give(&rig, end - rig.session->params.window_pkts);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.states, before + 1);
	CU_ASSERT_EQUAL(rig.said.rcv_report.cover_first, end - rig.session->params.window_pkts);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"busy", test_busy},
	{"low activity", test_quiet},
	{"at rest", test_rest},
	{"load", test_load},
	{"the round trip by the echo", test_round_trip},
	{"lies about what is known", test_lies},
	{"each packet acknowledged", test_ack_each},
	{"all in order acknowledged", test_ack_in_order},
	{"ancient copies", test_ancient_copies},
	CU_TEST_INFO_NULL,
};
