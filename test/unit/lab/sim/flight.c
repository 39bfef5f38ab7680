/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <stdlib.h>

#include "base/prng.h"
#include "lab/sim/flight.h"

const char wh_suite_name[] = "sim_flight";

#define PKTS      1000
#define MANY_PKTS 300000

static struct wh_sim_packet packets[PKTS];

static void add(struct wh_sim_flight *flight, uint32_t i, uint64_t moment_ps)
{
	packets[i] = (struct wh_sim_packet){.moment_ps = moment_ps, .bytes = 100 + i};
	wh_sim_flight_add(flight, &packets[i]);
}

static void expect_order(struct wh_sim_flight *flight, const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT_PTR_EQUAL(wh_sim_flight_first(flight), &packets[order[i]]);
		CU_ASSERT_PTR_EQUAL(wh_sim_flight_take(flight), &packets[order[i]]);
	}
	CU_ASSERT_PTR_NULL(wh_sim_flight_first(flight));
	CU_ASSERT_PTR_NULL(wh_sim_flight_take(flight));
}

static void in_order_one_lane_is_used(void)
{
	struct wh_sim_flight flight = {0};

	for (uint32_t i = 0; i < 10; i++)
		add(&flight, i, 5 + i / 2);
	CU_ASSERT_EQUAL(flight.lane[0].count_pkts, 10);
	expect_order(&flight, (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10);
}

/* One that is held back until 9, and those behind it. */
static void others_overtake_one_that_is_held_back(void)
{
	struct wh_sim_flight flight = {0};
	uint64_t pkts = 0;
	uint64_t bytes = 0;

	add(&flight, 0, 5);
	add(&flight, 1, 9);
	add(&flight, 2, 7);
	add(&flight, 3, 8);
	add(&flight, 4, 9);
	add(&flight, 5, 10);
	wh_sim_flight_count(&flight, &pkts, &bytes);
	CU_ASSERT_EQUAL(pkts, 6);
	CU_ASSERT_EQUAL(bytes, 615);
	CU_ASSERT_EQUAL(flight.lane[1].count_pkts, 2);
	expect_order(&flight, (uint32_t[]){0, 2, 3, 1, 4, 5}, 6);
}

/* Of one packet after another: later, or as late and added later. */
static bool follows(const struct wh_sim_packet *packet, const struct wh_sim_packet *before)
{
	return packet->moment_ps > before->moment_ps ||
	       (packet->moment_ps == before->moment_ps && packet > before);
}

/* Times that fall by far more steps than there are lanes. */
static void any_order_comes_out_sorted(void)
{
	struct wh_sim_flight flight = {0};
	const struct wh_sim_packet *before = NULL;
	uint64_t pkts = 0;
	uint64_t bytes = 0;
	struct wh_prng prng;

	wh_prng_init(&prng, 3);
	for (uint32_t i = 0; i < PKTS; i++)
		add(&flight, i, wh_prng_u64(&prng) % 500);
	wh_sim_flight_count(&flight, &pkts, &bytes);
	CU_ASSERT_EQUAL(pkts, PKTS);
	CU_ASSERT_EQUAL(bytes, PKTS * 100 + PKTS * (PKTS - 1) / 2);
	for (uint32_t i = 0; i < PKTS; i++) {
		const struct wh_sim_packet *packet = wh_sim_flight_take(&flight);

		CU_ASSERT_PTR_NOT_NULL_FATAL(packet);
		CU_ASSERT_TRUE(before == NULL || follows(packet, before));
		before = packet;
	}
	CU_ASSERT_PTR_NULL(wh_sim_flight_take(&flight));
	bytes = pkts = 0;
	wh_sim_flight_count(&flight, &pkts, &bytes);
	CU_ASSERT_EQUAL(pkts, 0);
	CU_ASSERT_EQUAL(bytes, 0);
}

/* Each packet's delay is drawn anew, while some 50,000 are in flight. */
static void jitter_on_a_long_line_is_cheap(void)
{
	struct wh_sim_packet *many = calloc(MANY_PKTS, sizeof(*many));
	struct wh_sim_flight flight = {0};
	const struct wh_sim_packet *before = NULL, *packet;
	uint32_t taken = 0, wrong = 0;
	struct wh_prng prng;

	CU_ASSERT_PTR_NOT_NULL_FATAL(many);
	wh_prng_init(&prng, 4);
	for (uint64_t now_ps = 0; taken < MANY_PKTS; now_ps++) {
		if (now_ps < MANY_PKTS) {
			many[now_ps].moment_ps = now_ps + wh_prng_u64(&prng) % 100000;
			wh_sim_flight_add(&flight, &many[now_ps]);
		}
		while ((packet = wh_sim_flight_first(&flight)) != NULL &&
			packet->moment_ps <= now_ps) {
			wrong += wh_sim_flight_take(&flight) != packet ||
				 (before != NULL && !follows(packet, before));
			before = packet;
			taken++;
		}
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_PTR_NULL(wh_sim_flight_first(&flight));
	free(many);
}

CU_TestInfo wh_tests[] = {
	{"in order one lane is used", in_order_one_lane_is_used},
	{"others overtake one that is held back", others_overtake_one_that_is_held_back},
	{"any order comes out sorted", any_order_comes_out_sorted},
	{"jitter on a long line is cheap", jitter_on_a_long_line_is_cheap},
	CU_TEST_INFO_NULL,
};
