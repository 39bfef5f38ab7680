/* SPDX-License-Identifier: BSD-3-Clause */

/* What a receiver says of the packets that came, and what a transmitter makes of it. */

#include "../delivery_rig.h"

const char wh_suite_name[] = "delivery";

static bool every_tenth(uint64_t transmission)
{
	return transmission % 10 == 3;
}

/* 100 packets a ms, of which every tenth is lost, over 5 ms each way. */
static void test_counts(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(5 * MS);

	pair->there.lose = every_tenth;
	run_for(pair, 200 * MS);

	const struct wh_delivery_event *event = &watch.event;
	uint64_t late_pkts = event->seen_pkts - event->delivered_pkts;

	CU_ASSERT_TRUE(watch.events > 50);
	/* A way ago the receiver spoke, and what it saw was sent a way before. */
	CU_ASSERT_TRUE(event->sent_pkts >= event->seen_pkts + 999);
	CU_ASSERT_TRUE(event->sent_pkts <= event->seen_pkts + 1300);
	CU_ASSERT_TRUE(late_pkts * 10 >= event->seen_pkts - 10);
	CU_ASSERT_TRUE(late_pkts * 10 <= event->seen_pkts + 10);
	CU_ASSERT_FALSE(event->held_up);
	pair_close(pair);
}

static bool five_of_a_hundred(uint64_t transmission)
{
	return transmission % 100 >= 3 && transmission % 100 < 8;
}

/* Five in a row are one run, or two where some of the five were sent again. */
static void test_runs(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(5 * MS);

	pair->there.lose = five_of_a_hundred;
	run_for(pair, 200 * MS);

	uint64_t hundreds = watch.event.seen_pkts / 100;

	CU_ASSERT_TRUE(hundreds > 100);
	CU_ASSERT_TRUE(watch.event.lost_runs >= hundreds - 1);
	CU_ASSERT_TRUE(watch.event.lost_runs <= hundreds + hundreds / 2);
	pair_close(pair);
}

/* The way takes 5 ms each way and a packet 12 us on its line; nothing else does. */
static void test_times(void)
{
	pace(100 * US);

	struct pair *pair = pair_open(5 * MS);

	pair->there.packet_tsc = 12 * US;
	run_for(pair, 200 * MS);
	CU_ASSERT_TRUE(watch.event.rtt_tsc >= 10 * MS + 12 * US);
	CU_ASSERT_TRUE(watch.event.rtt_tsc <= 10 * MS + 12 * US + 2 * pair->step_tsc);
	CU_ASSERT_TRUE(llabs(watch.event.delay_tsc) <= 16);
	CU_ASSERT_TRUE(llabs(watch.event.least_delay_tsc) <= 16);

	int64_t before_tsc = watch.event.least_delay_tsc;

	pair->there.delay_tsc += 700 * US;
	run_for(pair, 100 * MS);
	CU_ASSERT_TRUE(llabs(watch.event.least_delay_tsc - before_tsc - 700 * (int64_t)US) <= 32);
	CU_ASSERT_TRUE(watch.event.rtt_tsc >= 10 * MS + 712 * US);
	pair_close(pair);
}

/* A train of 32 packets at once leaves a line of 12 us a packet as far apart. */
static void test_train(void)
{
	watch.decision = (struct wh_decision){
		.interval_fp = WH_INTERVAL_MAX_FP, .window_pkts = WINDOW, .tokens = 32};

	struct pair *pair = pair_open(5 * MS);

	pair->there.packet_tsc = 12 * US;
	run_for(pair, 12 * MS);

	/* Of one report or of several, each from its first packet on. */
	CU_ASSERT_EQUAL(watch.event.delivered_pkts, 33);
	CU_ASSERT_EQUAL(watch.event.sent_pkts, 33);
	if (watch.event.span_pkts > 0)
		CU_ASSERT_TRUE(llabs((int64_t)(watch.event.span_tsc / watch.event.span_pkts) -
				       12 * (int64_t)US) <= 32);
	pair_close(pair);
}

/* A port takes packets in bursts: what it took at first is not counted, and the rest is right. */
static void test_train_in_bursts(void)
{
	for (uint64_t step_us = 20; step_us <= 200; step_us += 30) {
		watch.decision = (struct wh_decision){
			.interval_fp = WH_INTERVAL_MAX_FP, .window_pkts = WINDOW, .tokens = 63};

		struct pair *pair = pair_open(5 * MS);

		pair->there.packet_tsc = 12 * US;
		pair->step_tsc = step_us * US;
		pair->in_bursts = true;
		while (watch.event.delivered_pkts < 64)
			run_for(pair, MS);

		double packet_tsc = (double)watch.span_tsc / (double)watch.span_pkts;

		CU_ASSERT_TRUE(packet_tsc >= 12 * US * 0.7);
		CU_ASSERT_TRUE(packet_tsc <= 12 * US * 1.4);
		pair_close(pair);
	}
}

/*
 * The receiver is away from its port for so long, takes what came at once, and is told since when
 * nobody has looked, or is not. The greatest delay of a latest packet until it has all told.
 */
static int64_t away_for(struct pair *pair, uint64_t span_tsc, bool told)
{
	uint64_t left_tsc = pair->now_tsc;
	int64_t most_tsc = INT64_MIN;

	while (pair->now_tsc < left_tsc + span_tsc) {
		pair->now_tsc += pair->step_tsc;
		wh_rig_joined_serve(&pair->ends, pair->chunks);
		give_arrived(pair, &pair->back, pair->ends.sender, sender_now(pair));
		wh_session_poll(pair->ends.sender, sender_now(pair));
		take_output(pair, pair->ends.sender, sender_now(pair));
	}
	wh_session_looked(pair->ends.receiver, told ? left_tsc : 0);
	pair->in_bursts = true;
	give_arrived(pair, &pair->there, pair->ends.receiver, pair->now_tsc);
	pair->in_bursts = false;
	wh_session_looked(pair->ends.receiver, 0);
	for (uint32_t i = 0; i < 80; i++) {
		run_for(pair, 100 * US);
		if (watch.event.delay_tsc > most_tsc)
			most_tsc = watch.event.delay_tsc;
	}
	return most_tsc;
}

/* What a host waits for its CPU is no delay of the way's, where it says so; what comes is. */
static void test_pauses(void)
{
	for (uint32_t told = 0; told < 2; told++) {
		int64_t most_tsc = 0;

		pace(MS);

		struct pair *pair = pair_open(5 * MS);

		run_for(pair, 200 * MS);
		for (uint32_t i = 0; i < 20; i++) {
			int64_t pause_tsc = away_for(pair, 4300 * US, told != 0);

			most_tsc = pause_tsc > most_tsc ? pause_tsc : most_tsc;
		}
		CU_ASSERT_TRUE(told != 0 ? most_tsc <= 32 : most_tsc >= 500 * (int64_t)US);
		pair->there.delay_tsc += 700 * US;
		(void)away_for(pair, 4300 * US, true);
		most_tsc = away_for(pair, 4300 * US, true);
		CU_ASSERT_TRUE(llabs(most_tsc - 700 * (int64_t)US) <= 32);
		pair_close(pair);
	}
}

/* A pause in a train is none of the line's: packets are as far apart as on both sides of it. */
static void test_train_in_pause(void)
{
	for (uint32_t pkts = 3; pkts < 30; pkts += 6) {
		watch.decision = (struct wh_decision){
			.interval_fp = WH_INTERVAL_MAX_FP, .window_pkts = WINDOW, .tokens = 63};

		struct pair *pair = pair_open(5 * MS);

		pair->there.packet_tsc = 12 * US;
		pair->step_tsc = US;
		while (pair->ends.receiver->rx.arrivals.delivered_pkts < pkts)
			run_for(pair, US);
		away_for(pair, (40 - pkts) * 12 * US, true);
		CU_ASSERT_EQUAL(watch.event.delivered_pkts, 64);
		CU_ASSERT_TRUE(watch.span_pkts >= 24);
		CU_ASSERT_TRUE(watch.span_tsc >= watch.span_pkts * 11 * US);
		CU_ASSERT_TRUE(watch.span_tsc <= watch.span_pkts * 13 * US);
		pair_close(pair);
	}
}

/*
 * Clocks up to 100 ppm apart: a minute would be 6 ms. After a second and a half the least delay
 * stays where it is, to some us in three minutes, and shows a queue of 300 us as that.
 */
static void test_skew(void)
{
	static const double ppms[] = {-100, 3, 100};

	for (size_t i = 0; i < sizeof(ppms) / sizeof(ppms[0]); i++) {
		pace(500 * US);

		struct pair *pair = pair_open(5 * MS);

		pair->step_tsc = 250 * US;
		pair->sender_ppm = ppms[i];
		run_for(pair, 1500 * MS);

		int64_t first_tsc = watch.event.least_delay_tsc;

		CU_ASSERT_TRUE(llabs(first_tsc) <= 60 * (int64_t)US);
		for (uint32_t s = 0; s < 180; s += 20) {
			run_for(pair, 20 * HZ);
			CU_ASSERT_TRUE(
				llabs(watch.event.least_delay_tsc - first_tsc) <= 5 * (int64_t)US);
		}
		first_tsc = watch.event.least_delay_tsc;
		pair->there.delay_tsc += 300 * US;
		run_for(pair, 500 * MS);
		CU_ASSERT_TRUE(llabs(watch.event.least_delay_tsc - first_tsc - 300 * (int64_t)US) <=
			       2 * (int64_t)US);
		pair_close(pair);
	}
}

/* A queue that grows for seconds, here or on the way back, is none of the clocks' doing. */
static void test_queue_is_no_skew(void)
{
	for (uint32_t which = 0; which < 2; which++) {
		pace(500 * US);

		struct pair *pair = pair_open(5 * MS);
		struct way *way = which == 0 ? &pair->there : &pair->back;
		int64_t grown_tsc = which == 0 ? 500 * (int64_t)US : 0;

		pair->step_tsc = 250 * US;
		for (uint32_t ms = 0; ms < 5000; ms++) {
			way->delay_tsc += US / 10;
			run_for(pair, MS);
		}
		CU_ASSERT_TRUE(llabs(watch.event.least_delay_tsc - grown_tsc) <= 5 * (int64_t)US);
		pair_close(pair);
	}
}

/* The way back fills up at 2 ms a second, clocks are apart: the way there tells of them alone. */
static void test_skew_and_queue_back(void)
{
	for (int sign = -1; sign <= 1; sign += 2) {
		pace(500 * US);

		struct pair *pair = pair_open(5 * MS);

		pair->step_tsc = 250 * US;
		pair->sender_ppm = sign * 100;
		for (uint32_t ms = 0; ms < 8000; ms++) {
			pair->back.delay_tsc += 2 * US;
			run_for(pair, MS);
		}
		/* 800 us without; some of them before it is known. */
		CU_ASSERT_TRUE(llabs(watch.event.least_delay_tsc) <= 80 * (int64_t)US);
		pair_close(pair);
	}
}

/*
 * The way back fills up as slowly as clocks run apart, in either sense: 200 us a second are 1.2 ms.
 * What goes becomes less, as of a controller that takes it for a queue, and they go on growing.
 */
static void test_skew_and_slow_queue_back(void)
{
	static const uint64_t grows_ns[] = {180, 300};

	for (size_t i = 0; i < 2; i++) {
		pace(500 * US);

		struct pair *pair = pair_open(5 * MS);

		pair->step_tsc = 250 * US;
		pair->sender_ppm = -200;
		for (uint32_t ms = 0; ms < 6000; ms++) {
			pair->back.delay_tsc += grows_ns[i] * US / 1000;
			pace(500 * US + ms * US / 100);
			run_for(pair, MS);
		}
		CU_ASSERT_TRUE(llabs(watch.event.least_delay_tsc) <= 20 * (int64_t)US);
		pair_close(pair);
	}
}

/* The stream has nothing more: held up. */
static void test_held_up(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(MS);

	pair->chunks = 20;
	run_for(pair, 100 * MS);
	CU_ASSERT_EQUAL(pair->ends.delivered, 20);
	CU_ASSERT_TRUE(watch.event.held_up);
	CU_ASSERT_EQUAL(watch.event.delivered_pkts, 20 * 47);
	pair_close(pair);
}

static void say(struct pair *pair, struct wh_rcv_report report)
{
	uint64_t first = wh_session_params(pair->ends.sender)->first_pn;
	struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.flags = WH_FLAG_DELIVERY,
		.cid = WH_RIG_SENDER_CID,
		.pn = 1000000 + pair->reports++,
		.rcv_report = report,
	};

	packet.rcv_report.lower = packet.rcv_report.highest_end = first;
	packet.rcv_report.cover_first = packet.rcv_report.cover_end = first;
	packet.rcv_report.upper = first + WINDOW;
	packet.rcv_report.chunk_upper = packet.rcv_report.buffer_chunks = 1024;
	wh_session_input(pair->ends.sender, pair->now_tsc, pair->now_tsc, &packet);
	wh_session_poll(pair->ends.sender, pair->now_tsc);
}

/* Whatever a receiver says, counts stay possible, and no time becomes another's. */
static void test_liar(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(MS);

	run_for(pair, 20 * MS);

	uint64_t sent = pair->ends.sender->tx.transmission;
	uint64_t bad = wh_session_stats(pair->ends.sender).bad_pkts;
	uint32_t events = watch.events;

	/* More than was sent, or nothing at all where something must be said. */
	say(pair, (struct wh_rcv_report){.seen_end = sent + 1});
	say(pair, (struct wh_rcv_report){.seen_end = UINT64_MAX / 4});
	CU_ASSERT_EQUAL(wh_session_stats(pair->ends.sender).bad_pkts, bad + 2);
	CU_ASSERT_EQUAL(watch.events, events);

	/* More delivered than seen, fewer than before, and clocks that jump. */
	uint64_t seen = watch.event.seen_pkts;

	say(pair, (struct wh_rcv_report){.seen_end = seen, .delivered_pkts = UINT64_MAX});
	CU_ASSERT_EQUAL(watch.event.delivered_pkts, seen);
	say(pair, (struct wh_rcv_report){.seen_end = 1, .delivered_pkts = 1});
	CU_ASSERT_EQUAL(watch.event.delivered_pkts, seen);
	CU_ASSERT_EQUAL(watch.event.seen_pkts, seen);
	for (uint64_t i = 0; i < 1000; i++) {
		uint32_t wild = (uint32_t)(i * UINT32_C(2654435761));

		say(pair, (struct wh_rcv_report){
				  .seen_end = sent,
				  .delivered_pkts = i * seen,
				  .stamp = wild,
				  .held = i % 3 == 0 ? UINT32_MAX : wild ^ UINT32_C(0x55555555),
				  .arrived = wild * 3,
				  .span = ~wild,
				  .span_pkts = wild,
				  .least_delay = wild * 7,
				  .late = UINT32_MAX - wild,
				  .retransmitted_pkts = wild,
			  });
		CU_ASSERT_TRUE(watch.event.rtt_tsc <= 30 * HZ);
		CU_ASSERT_EQUAL(watch.event.seen_pkts, sent);
	}
	CU_ASSERT_EQUAL(watch.events, events + 1002);
	wh_session_check(pair->ends.sender, true);
	wh_session_destroy(pair->ends.sender);
	wh_session_destroy(pair->ends.receiver);
}

CU_TestInfo wh_tests[] = {
	{"counts", test_counts},
	{"runs", test_runs},
	{"times", test_times},
	{"train", test_train},
	{"train in bursts", test_train_in_bursts},
	{"pauses", test_pauses},
	{"train in a pause", test_train_in_pause},
	{"skew", test_skew},
	{"a queue is no skew", test_queue_is_no_skew},
	{"skew and a queue back", test_skew_and_queue_back},
	{"skew and a slow queue back", test_skew_and_slow_queue_back},
	{"held up", test_held_up},
	{"liar", test_liar},
	CU_TEST_INFO_NULL,
};
