/* SPDX-License-Identifier: BSD-3-Clause */

/* What goes again by the time at which the latest was sent that came: WH_RESEND_LATE. */

#include "../delivery_rig.h"

const char wh_suite_name[] = "retransmit_late";

#define CHUNKS 200

static bool every_tenth(uint64_t transmission)
{
	return transmission % 10 == 3;
}

static bool all(uint64_t number)
{
	(void)number;
	return true;
}

static bool one_percent(uint64_t transmission)
{
	return transmission * 2654435761u % 10000 < 100;
}

static bool nine_of_ten(uint64_t number)
{
	return number % 10 != 0;
}

static uint64_t pkts(uint64_t chunks)
{
	return chunks * 47;
}

/* Runs until all chunks have come, or for that long; how long it took. */
static uint64_t run_out(struct pair *pair, uint64_t most_tsc)
{
	uint64_t began_tsc = pair->now_tsc;

	while (pair->ends.delivered < pair->chunks && pair->now_tsc - began_tsc < most_tsc)
		run_for(pair, 100 * US);
	return pair->now_tsc - began_tsc;
}

/* Each loss is mended by one transmission, as soon as a report can say so; no other goes again. */
static void test_losses(void)
{
	static const uint64_t ways_tsc[] = {25 * US, 500 * US, 5 * MS, 50 * MS};

	for (size_t i = 0; i < sizeof(ways_tsc) / sizeof(ways_tsc[0]); i++) {
		pace(10 * US);

		struct pair *pair = pair_open(ways_tsc[i]);

		pair->chunks = CHUNKS;
		pair->there.lose = every_tenth;

		/* 94 ms and a ninth more of sending, and the end. */
		uint64_t took_tsc = run_out(pair, 10 * HZ);
		struct wh_session_stats stats = wh_session_stats(pair->ends.sender);

		CU_ASSERT_TRUE(took_tsc <= 105 * MS + 12 * ways_tsc[i] + MS);
		CU_ASSERT_EQUAL(pair->ends.delivered, CHUNKS);
		CU_ASSERT_TRUE(stats.retransmitted_pkts >= pkts(CHUNKS) / 9);
		CU_ASSERT_TRUE(stats.retransmitted_pkts <= pkts(CHUNKS) / 9 + 3);
		run_for(pair, 4 * ways_tsc[i] + 20 * MS);
		CU_ASSERT_TRUE(wh_session_stats(pair->ends.sender).spurious_pkts <= 1);
		pair_close(pair);
	}
}

static uint64_t lost_from;
static uint64_t lost_end;

static bool in_range(uint64_t transmission)
{
	return transmission >= lost_from && transmission < lost_end;
}

/* Where nothing later shows what is lost, one probe does: within three round trips all is there. */
static void test_tail(void)
{
	for (uint64_t lost = 1; lost <= 100; lost += 9) {
		pace(10 * US);

		struct pair *pair = pair_open(5 * MS);

		pair->chunks = 20;
		lost_end = pkts(20);
		lost_from = lost_end - lost;
		pair->there.lose = in_range;

		uint64_t took_tsc = run_out(pair, HZ);
		struct wh_session_stats stats = wh_session_stats(pair->ends.sender);

		CU_ASSERT_EQUAL(pair->ends.delivered, 20);
		CU_ASSERT_TRUE(took_tsc <= (9 + 5 + 2 * 10 + 12) * MS);
		CU_ASSERT_EQUAL(stats.retransmitted_pkts, lost);
		pair_close(pair);
	}
}

/* While nothing arrives, no packet tells how often the ends have their turns. */
static void run_outage(struct pair *pair, uint64_t span_tsc)
{
	uint64_t step_tsc = pair->step_tsc;

	pair->step_tsc = 100 * US;
	run_for(pair, span_tsc);
	pair->step_tsc = step_tsc;
}

/* All is lost for a while, there, back or both, and then all goes on. */
static void test_outage(void)
{
	for (uint32_t which = 1; which <= 3; which++) {
		pace(10 * US);

		struct pair *pair = pair_open(5 * MS);

		pair->chunks = CHUNKS;
		run_for(pair, 50 * MS);
		pair->there.lose = which & 1 ? all : NULL;
		pair->back.lose = which & 2 ? all : NULL;
		run_for(pair, 200 * MS);
		pair->there.lose = pair->back.lose = NULL;

		uint64_t took_tsc = run_out(pair, 10 * HZ);

		CU_ASSERT_EQUAL(pair->ends.delivered, CHUNKS);
		/* What is left of 94 ms, and at most a pause as long as the outage. */
		CU_ASSERT_TRUE(took_tsc <= (94 + 200 + 50) * MS);
		pair_close(pair);
	}
}

/*
 * Data are lost for long, and reports come back all the time: the first data after that come within
 * a heartbeat, and a round trip later all goes on.
 */
static void test_end_of_outage(void)
{
	for (uint64_t outage_ms = 400; outage_ms <= 3000; outage_ms += 167) {
		pace(10 * US);

		struct pair *pair = pair_open(5 * MS);

		pair->chunks = CHUNKS;
		run_for(pair, 50 * MS);
		pair->there.lose = all;
		run_outage(pair, outage_ms * MS);
		pair->there.lose = NULL;

		/* 45 ms of sending are left, and what was under way. */
		uint64_t took_tsc = run_out(pair, 10 * HZ);

		CU_ASSERT_EQUAL(pair->ends.delivered, CHUNKS);
		CU_ASSERT_TRUE(took_tsc <= (45 + 5 + WH_HEARTBEAT_MS + 2 * 10) * MS);
		pair_close(pair);
	}
}

/* Nothing of the receiver's comes back before the transmitter has said something after this. */
static const struct way *speaks;
static uint64_t spoken_bytes;

static bool not_asked(uint64_t number)
{
	(void)number;
	return speaks->bytes == spoken_bytes;
}

/*
 * The transmitter hears nothing for long, with more data to send than its window lets it. A switch
 * sends what is for it elsewhere until it speaks: it does so as often as a heartbeat.
 */
static void test_end_of_silence(void)
{
	for (uint64_t outage_ms = 400; outage_ms <= 3000; outage_ms += 167) {
		pace(10 * US);
		watch.decision.window_pkts = 2000;

		struct pair *pair = pair_open(5 * MS);

		pair->chunks = CHUNKS;
		run_for(pair, 50 * MS);
		pair->there.lose = pair->back.lose = all;
		run_outage(pair, outage_ms * MS);
		speaks = &pair->there;
		spoken_bytes = speaks->bytes;
		pair->there.lose = NULL;
		pair->back.lose = not_asked;

		/* 45 ms of sending are left, and what was under way. */
		uint64_t took_tsc = run_out(pair, 10 * HZ);

		CU_ASSERT_EQUAL(pair->ends.delivered, CHUNKS);
		CU_ASSERT_TRUE(took_tsc <= (45 + 5 + WH_HEARTBEAT_MS + 4 * 10) * MS);
		pair_close(pair);
	}
}

/*
 * All reports are lost for so long that a probe waits until the receiver is heard again. Then it is
 * told that the probed packet has arrived: the data behind it keep the pace.
 */
static void test_pace_after_silence(void)
{
	pace(MS);
	watch.decision.window_pkts = 20;

	struct pair *pair = pair_open(5 * MS);

	run_for(pair, 50 * MS);
	pair->back.lose = all;
	run_outage(pair, 5 * HZ);
	pair->back.lose = NULL;

	uint64_t before_pkts = wh_session_stats(pair->ends.sender).sent_pkts;

	run_for(pair, HZ);

	uint64_t sent_pkts = wh_session_stats(pair->ends.sender).sent_pkts - before_pkts;

	CU_ASSERT_TRUE(sent_pkts > 500);
	CU_ASSERT_TRUE(sent_pkts <= 1000 + 2);
	pair_close(pair);
}

/* Of the reports only every tenth arrives: what each says is complete. */
static void test_lost_reports(void)
{
	pace(10 * US);

	struct pair *pair = pair_open(5 * MS);

	pair->chunks = CHUNKS;
	pair->there.lose = every_tenth;
	pair->back.lose = nine_of_ten;

	uint64_t took_tsc = run_out(pair, 10 * HZ);
	struct wh_session_stats stats = wh_session_stats(pair->ends.sender);

	CU_ASSERT_EQUAL(pair->ends.delivered, CHUNKS);
	CU_ASSERT_TRUE(took_tsc <= 400 * MS);
	CU_ASSERT_TRUE(stats.retransmitted_pkts <= pkts(CHUNKS) / 9 + 20);
	pair_close(pair);
}

/*
 * One in a hundred is lost at 10 Gb/s and 100 ms: at any time there are more holes than a report or
 * a few can tell. Each goes again a round trip later, and once.
 */
static void test_many_holes(void)
{
	pace(1230);
	watch.decision.burst_pkts = 64;
	watch.decision.window_pkts = 1 << 18;

	struct pair *pair = pair_open(50 * MS);

	pair->there.lose = one_percent;
	pair->step_tsc = 20 * US;
	run_for(pair, 600 * MS);

	struct wh_session_stats stats = wh_session_stats(pair->ends.sender);
	uint64_t sent_ms = 500; /* what was lost before that is mended */

	CU_ASSERT_TRUE(stats.sent_pkts > 350000);
	CU_ASSERT_TRUE(stats.retransmitted_pkts * 100 <= stats.sent_pkts * 101 / 100);
	CU_ASSERT_TRUE(pair->ends.delivered * 47 * 1230 >= (sent_ms - 280) * MS);
	CU_ASSERT_TRUE(stats.spurious_pkts * 1000 <= stats.retransmitted_pkts);
	pair_close(pair);
}

static bool three_percent(uint64_t transmission)
{
	return transmission * 2654435761u % 10000 < 300;
}

/*
 * 3 % come 1 ms late, at 10 Gb/s: what goes again for nothing is at most 0.5 % of what is sent, and
 * nothing once it has been seen how late they are.
 */
static void test_overtaken(void)
{
	static const uint64_t ways_tsc[] = {500 * US, 5 * MS, 50 * MS};

	for (size_t i = 0; i < sizeof(ways_tsc) / sizeof(ways_tsc[0]); i++) {
		pace(1230);
		watch.decision.burst_pkts = 32;

		struct pair *pair = pair_open(ways_tsc[i]);

		pair->overtaken = three_percent;
		pair->background.delay_tsc = ways_tsc[i] + MS;
		run_for(pair, 400 * MS);

		struct wh_session_stats stats = wh_session_stats(pair->ends.sender);
		uint64_t retransmitted_pkts = stats.retransmitted_pkts;

		CU_ASSERT_TRUE(stats.sent_pkts > 100000);
		CU_ASSERT_TRUE(retransmitted_pkts * 200 <= stats.sent_pkts);
		run_for(pair, 200 * MS);
		stats = wh_session_stats(pair->ends.sender);
		CU_ASSERT_EQUAL(stats.retransmitted_pkts, retransmitted_pkts);
		pair_close(pair);
	}
}

/*
 * A receiver that cannot keep up takes a part of each burst out of its port in a turn, and tells
 * when that arrived: what waits there is not lost.
 */
static void test_waiting_in_port(void)
{
	pace(0);
	watch.decision.window_pkts = 400;

	struct pair *pair = pair_open(25 * US);

	pair->chunks = CHUNKS;
	pair->piece = 32;
	run_out(pair, HZ);
	CU_ASSERT_EQUAL(pair->ends.delivered, CHUNKS);
	CU_ASSERT_EQUAL(wh_session_stats(pair->ends.sender).retransmitted_pkts, 0);
	pair_close(pair);
}

CU_TestInfo wh_tests[] = {
	{"losses", test_losses},
	{"tail", test_tail},
	{"outage", test_outage},
	{"end of an outage", test_end_of_outage},
	{"end of a silence", test_end_of_silence},
	{"pace after a silence", test_pace_after_silence},
	{"lost reports", test_lost_reports},
	{"many holes", test_many_holes},
	{"overtaken", test_overtaken},
	{"waiting in the port", test_waiting_in_port},
	CU_TEST_INFO_NULL,
};
