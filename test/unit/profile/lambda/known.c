/* SPDX-License-Identifier: BSD-3-Clause */

/* What is kept of a path, and what a lie of it costs. */

#include <math.h>
#include <stdlib.h>

#include "profile/lambda/lambda_internal.h"
#include "unit.h"
#include "way.h"

const char wh_suite_name[] = "lambda_known";

/* What a way bears is kept; what TCPs leave of it, or a scavenger takes beside others, is not. */
static void test_found(void)
{
	struct way *way = way_of(1e9, 20 * MS, 2.5e6);
	struct wh_lambda *lambda = wh_lambda_state_of(&way->control);

	way_begin(way, 0, 0);
	way_run(way, 2000 * MS);
	WH_ASSERT_NEAR((double)wh_control_found(&way->control).capacity_bps, 1e9, 0.05);
	lambda->mode = WH_LAMBDA_WINDOW;
	CU_ASSERT_EQUAL(wh_control_found(&way->control).capacity_bps, 0);
	lambda->mode = WH_LAMBDA_HOLD;
	lambda->yield.capacity_pps = 2.0 * lambda->rate_pps;
	CU_ASSERT_EQUAL(wh_control_found(&way->control).capacity_bps, 0);
	free(way);
}

/* On a line of ten times the path's rate; the receiver takes what has come once a `turn_tsc`. */
static struct way *way_of_lie(uint64_t turn_tsc, uint64_t known_bps)
{
	struct way *way = way_of(1e9, RTT, 0.05 * BDP);

	way->line_bps = UINT64_C(10000000000);
	way->turn_tsc = turn_tsc;
	way_begin(way, 0, known_bps);
	return way;
}

/* Half of what was kept goes behind the train, unless the path has another round trip. */
static void test_jump(void)
{
	static const struct {
		uint64_t bps, rtt_tsc;
		double products;
	} kept[] = {{0, RTT, 0.0}, {1000000000, RTT, 0.44}, {1000000000, 21 * RTT / 10, 0.0},
		{1000000, RTT, 0.0}};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		struct way *way = way_of(1e9, RTT, BDP);

		way->kept_rtt_ns = kept[i].rtt_tsc;
		way_begin(way, 0, kept[i].bps);
		way_run(way, RTT - MS);
		WH_ASSERT_NEAR(
			((double)way->sent_pkts - 32.0) * WIRE_BYTES / BDP, kept[i].products, 0.03);
		way_run(way, 3 * RTT);
		CU_ASSERT(way_run(way, 10 * RTT) >= 0.99);
		CU_ASSERT_EQUAL(way->dropped_pkts, 0);
		free(way);
	}
}

/*
 * Where the first train tells the capacity, what was kept matters for its round trip alone: half of
 * it went behind the train.
 */
static void test_kept_lies_and_a_train(void)
{
	static const struct {
		uint64_t bps;
		double products;
	} lies[] = {
		{1, 0.0}, {1000000, 0.0}, {UINT64_C(10000000000), 4.0}, {WH_KNOWN_BPS_MAX, 4.0}};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct way *way = way_of_lie(0, lies[i].bps);

		way_run(way, 3 * RTT);
		CU_ASSERT(way_run(way, 11 * RTT) >= 0.95);
		CU_ASSERT((double)way->dropped_pkts * WIRE_BYTES <= lies[i].products * BDP);
		free(way);
	}
}

/*
 * The receiver naps, and the trains come all at once. A lie of too little is as nothing known. One
 * of too much costs three quarters of as many products as our line is faster.
 */
static void test_kept_lies(void)
{
	static const struct {
		uint64_t bps;
		double products, least;
	} lies[] = {
		{0, 0.1, 0.88},
		{1, 0.1, 0.88},
		{1000, 0.1, 0.88},
		{1000000, 0.1, 0.88},
		{UINT64_C(1000000000), 0.1, 0.98},
		{UINT64_C(10000000000), 7.1, 0.98},
		{WH_KNOWN_BPS_MAX, 7.1, 0.98},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct way *way = way_of_lie(MS, lies[i].bps);

		way_run(way, 10 * RTT);
		CU_ASSERT(way_run(way, 20 * RTT) >= lies[i].least);
		CU_ASSERT(way_run(way, 50 * RTT) >= 0.99);
		CU_ASSERT((double)way->dropped_pkts * WIRE_BYTES <= lies[i].products * BDP);
		free(way);
	}
}

/*
 * RFC 9959: a round trip of half of what was kept, or of more than ten times that, is of another
 * path. What was kept is as nothing then, and its lie costs nothing.
 */
static void test_kept_of_another_path(void)
{
	static const struct {
		uint64_t rtt_ns;
		double products;
	} kept[] = {{RTT * 21 / 10, 0.1}, {RTT / 11, 0.1}, {RTT * 3 / 2, 7.1}, {RTT / 9, 7.1}};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		struct way *way = way_of_lie(MS, 0);

		way->kept_rtt_ns = kept[i].rtt_ns;
		way_begin(way, 0, WH_KNOWN_BPS_MAX);
		way_run(way, 10 * RTT);
		double products = (double)way->dropped_pkts * WIRE_BYTES / BDP;

		CU_ASSERT(products <= kept[i].products);
		CU_ASSERT(products >= kept[i].products - 1.5);
		free(way);
	}
}

/* The train of 32 packets took `span_tsc` to arrive, as the peer says; 0: it came at once. */
static struct wh_known_path found_from(struct way *way, uint64_t span_tsc, uint64_t rtt_tsc)
{
	struct wh_delivery_event says = {
		.now_tsc = RTT,
		.sent_pkts = 32,
		.seen_pkts = 32,
		.delivered_pkts = 32,
		.arrived_tsc = span_tsc,
		.span_tsc = span_tsc,
		.span_pkts = 31,
		.rtt_tsc = rtt_tsc,
	};

	for (uint32_t i = 0; i < 200; i++) {
		WH_CONTROL_TELL(&way->control, on_delivery, &says);
		says.now_tsc += RTT;
		says.sent_pkts += 1000;
		says.seen_pkts += 1000;
		says.delivered_pkts += 1000;
		says.arrived_tsc += span_tsc > 0 ? span_tsc : RTT;
	}
	return wh_control_found(&way->control);
}

/* Whatever a peer tells of times, what is kept of it is within our line and within a clock. */
static void test_lies_found(void)
{
	static const uint64_t rtts_tsc[] = {1, RTT, UINT64_C(1000) * HZ};
	static const uint64_t spans_tsc[] = {1, MS, UINT64_C(100) * HZ};
	struct way *way = way_of(1e9, RTT, BDP);

	way->line_bps = UINT64_C(10000000000);
	for (size_t i = 0; i < 9; i++) {
		way_begin(way, 0, 0);

		struct wh_known_path found = found_from(way, spans_tsc[i % 3], rtts_tsc[i / 3]);

		CU_ASSERT(found.capacity_bps >= 8 * WIRE_BYTES);
		CU_ASSERT(found.capacity_bps <= way->line_bps);
		CU_ASSERT_EQUAL(found.rtt_ns, wh_min_u64(rtts_tsc[i / 3], WH_KNOWN_RTT_MAX_NS));
	}
	way_begin(way, 0, 0);
	CU_ASSERT_EQUAL(found_from(way, 1, 0).capacity_bps, 0);
	way->line_bps = 0;
	way_begin(way, 0, 0);
	CU_ASSERT(found_from(way, 1, RTT).capacity_bps <= WH_KNOWN_BPS_MAX);
	free(way);
}

/* A host that sends 1000 packets in a round trip, and no more, does not keep the lie for ever. */
static void test_kept_lie_ends(void)
{
	struct way *way = way_of(1e9, RTT, BDP);

	way_begin(way, 0, WH_KNOWN_BPS_MAX);
	WH_ASSERT_NEAR(
		(double)found_from(way, 0, RTT).capacity_bps, 10000.0 * 8.0 * WIRE_BYTES, 1e-4);
	free(way);
}

/* The receiver naps, so that no train tells, and others' queue stands: what arrives is kept. */
static void test_found_beside_others(void)
{
	struct way *way = way_of_lie(MS, 0);
	struct wh_lambda *lambda = wh_lambda_state_of(&way->control);

	for (uint64_t until_tsc = MS; lambda->mode == WH_LAMBDA_START; until_tsc += MS)
		way_run(way, until_tsc);
	CU_ASSERT_EQUAL(lambda->train.s, 0.0);
	wh_lambda_begin_fill(lambda, &(struct wh_delivery_event){.now_tsc = lambda->now_tsc,
					     .sent_pkts = lambda->sent_pkts});
	way_run(way, 8 * RTT);
	CU_ASSERT_EQUAL(lambda->mode, WH_LAMBDA_FILL);
	double found_bps = (double)wh_control_found(&way->control).capacity_bps;

	CU_ASSERT(found_bps >= 1e6);
	CU_ASSERT(found_bps <= lambda->rate_pps * 8.0 * WIRE_BYTES);
	free(way);
}

CU_TestInfo wh_tests[] = {
	{"found", test_found},
	{"jump", test_jump},
	{"kept lies and a train", test_kept_lies_and_a_train},
	{"kept lies", test_kept_lies},
	{"kept of another path", test_kept_of_another_path},
	{"lies found", test_lies_found},
	{"a kept lie ends", test_kept_lie_ends},
	{"found beside others", test_found_beside_others},
	CU_TEST_INFO_NULL,
};
