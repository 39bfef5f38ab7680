/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "base/clock.h"
#include "base/prng.h"
#include "lab/netem/netem.h"

const char wh_suite_name[] = "netem_change";

#define HZ    WH_NS_PER_S /* a cycle is a nanosecond */
#define GBPS  UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)
#define US_NS UINT64_C(1000)
#define ITEMS 4096

static struct wh_netem *make(const struct wh_link_model *config)
{
	struct wh_netem *netem = wh_netem_create(config, HZ, 0, ITEMS);

	CU_ASSERT_PTR_NOT_NULL_FATAL(netem);
	return netem;
}

static void drain(struct wh_netem *netem)
{
	while (wh_netem_take_any(netem) != NULL)
		;
	wh_netem_destroy(netem);
}

/* Items are serial numbers from 1, since NULL is none. False: the packet is dropped. */
static bool enter(struct wh_netem *netem, uint64_t now_tsc, uint32_t wire_bytes, uintptr_t pn)
{
	struct wh_netem_fate fate;

	wh_netem_admit(netem, now_tsc, wire_bytes, &fate);
	for (uint32_t i = 0; i < fate.copies; i++)
		CU_ASSERT_TRUE(wh_netem_hold(netem, fate.due_tsc[i], (void *)(pn + 1)));
	return fate.copies > 0;
}

static void expect_next(struct wh_netem *netem, uintptr_t pn, uint64_t due_tsc)
{
	struct wh_netem_item item = {.item = NULL};

	CU_ASSERT_EQUAL(wh_netem_take(netem, due_tsc - 1, &item, 1), 0);
	CU_ASSERT_EQUAL(wh_netem_take(netem, due_tsc, &item, 1), 1);
	CU_ASSERT_EQUAL((uintptr_t)item.item, pn + 1);
	CU_ASSERT_EQUAL(item.due_tsc, due_tsc);
}

/* 1250 bytes last 10 us at 1 Gb/s: what waits goes on at the new rate, what has left flies on. */
static void rate_steps(void)
{
	static const uint64_t rates_bps[] = {GBPS / 10, 2 * GBPS, 100 * GBPS, GBPS};

	for (unsigned int r = 0; r < 4; r++) {
		struct wh_link_model config = {.rate_bps = GBPS, .delay_ns = MS_NS};
		struct wh_netem *netem = make(&config);
		uint64_t packet_ns = 10 * US_NS * GBPS / rates_bps[r];

		for (uintptr_t i = 0; i < 10; i++)
			CU_ASSERT_TRUE(enter(netem, 0, 1250, i));
		config.rate_bps = rates_bps[r];
		wh_netem_change(netem, &config, HZ, 40 * US_NS);
		for (uintptr_t i = 0; i < 4; i++)
			expect_next(netem, i, MS_NS + 10 * US_NS * (i + 1));
		CU_ASSERT_TRUE(enter(netem, 40 * US_NS, 1250, 10));
		for (uintptr_t i = 4; i < 11; i++)
			expect_next(netem, i, MS_NS + 40 * US_NS + packet_ns * (i - 3));
		CU_ASSERT_EQUAL(wh_netem_held(netem), 0);
		drain(netem);
	}
}

/* In the middle of a packet: its rest goes at the new rate, too. */
static void rate_within_a_packet(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .delay_ns = MS_NS};
	struct wh_netem *netem = make(&config);

	enter(netem, 0, 1250, 0);
	enter(netem, 0, 1250, 1);
	config.rate_bps = GBPS / 2;
	wh_netem_change(netem, &config, HZ, 5 * US_NS);
	expect_next(netem, 0, MS_NS + 15 * US_NS);
	expect_next(netem, 1, MS_NS + 35 * US_NS);
	drain(netem);
}

/* The queue is of bytes: what it has room for follows neither the rate nor the change. */
static void queue_steps(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .queue_bytes = 12500};
	struct wh_netem *netem = make(&config);

	for (uintptr_t i = 0; i < 10; i++)
		CU_ASSERT_TRUE(enter(netem, 0, 1250, i));
	CU_ASSERT_FALSE(enter(netem, 0, 1250, 10));
	config.rate_bps = 7 * GBPS;
	wh_netem_change(netem, &config, HZ, 0);
	CU_ASSERT_FALSE(enter(netem, 0, 1250, 10));
	config.queue_bytes = 13750;
	wh_netem_change(netem, &config, HZ, 0);
	CU_ASSERT_TRUE(enter(netem, 0, 1250, 10));
	CU_ASSERT_FALSE(enter(netem, 0, 1250, 11));
	config.queue_bytes = 2500;
	wh_netem_change(netem, &config, HZ, 0);
	CU_ASSERT_FALSE(enter(netem, 0, 1250, 11));
	drain(netem);
}

static void queue_in_packets(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .queue_pkts = 3, .queue_pkts_max = 6};
	struct wh_netem *netem = make(&config);

	for (uintptr_t i = 0; i < 3; i++)
		CU_ASSERT_TRUE(enter(netem, 0, 1250, i));
	CU_ASSERT_FALSE(enter(netem, 0, 1250, 3));
	config.queue_pkts = 6;
	config.rate_bps = GBPS / 10;
	wh_netem_change(netem, &config, HZ, 0);
	for (uintptr_t i = 3; i < 6; i++)
		CU_ASSERT_TRUE(enter(netem, 0, 1250, i));
	CU_ASSERT_FALSE(enter(netem, 99999, 1250, 6));
	CU_ASSERT_TRUE(enter(netem, 100000, 1250, 6));
	config.queue_pkts = 0;
	wh_netem_change(netem, &config, HZ, 100000);
	for (uintptr_t i = 7; i < 50; i++)
		CU_ASSERT_TRUE(enter(netem, 100000, 1250, i));
	config.queue_pkts = 2;
	wh_netem_change(netem, &config, HZ, 100000);
	CU_ASSERT_TRUE(enter(netem, 100000, 1250, 50));
	CU_ASSERT_TRUE(enter(netem, 100000, 1250, 51));
	CU_ASSERT_FALSE(enter(netem, 100000, 1250, 52));
	for (uintptr_t i = 0; i < 6; i++)
		expect_next(netem, i, 100 * US_NS * (i + 1));
	drain(netem);
}

/* A longer way puts off what has not left; a shorter one lets it overtake. */
static void delay_steps(void)
{
	static const uint64_t delays_ns[] = {5 * MS_NS, MS_NS / 10};

	for (unsigned int d = 0; d < 2; d++) {
		struct wh_link_model config = {.rate_bps = GBPS, .delay_ns = MS_NS};
		struct wh_netem *netem = make(&config);
		uint64_t new_ns = delays_ns[d];

		for (uintptr_t i = 0; i < 4; i++)
			enter(netem, 0, 1250, i);
		config.delay_ns = new_ns;
		wh_netem_change(netem, &config, HZ, 20 * US_NS);
		enter(netem, 20 * US_NS, 1250, 4);
		for (uintptr_t i = 0; d == 0 && i < 2; i++)
			expect_next(netem, i, MS_NS + 10 * US_NS * (i + 1));
		for (uintptr_t i = 2; i < 5; i++)
			expect_next(netem, i, new_ns + 10 * US_NS * (i + 1));
		for (uintptr_t i = 0; d == 1 && i < 2; i++)
			expect_next(netem, i, MS_NS + 10 * US_NS * (i + 1));
		enter(netem, 2 * MS_NS, 1250, 5);
		enter(netem, 2 * MS_NS, 1250, 6);
		expect_next(netem, 5, 2 * MS_NS + 10 * US_NS + new_ns);
		expect_next(netem, 6, 2 * MS_NS + 20 * US_NS + new_ns);
		drain(netem);
	}
}

static void losses_and_outages(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .delay_ns = MS_NS};
	struct wh_netem *netem = make(&config);

	CU_ASSERT_TRUE(enter(netem, 0, 100, 0));
	config.outage[0] = (struct wh_link_outage){.start_ns = 0, .length_ns = 10 * US_NS};
	config.n_outages = 1;
	wh_netem_change(netem, &config, HZ, 50 * US_NS);
	CU_ASSERT_FALSE(enter(netem, 50 * US_NS, 100, 1));
	config.n_outages = 0; /* it goes on */
	config.loss = 1;
	wh_netem_change(netem, &config, HZ, 55 * US_NS);
	CU_ASSERT_FALSE(enter(netem, 59999, 100, 2));
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_OUTAGE], 2);
	CU_ASSERT_FALSE(enter(netem, 60 * US_NS, 100, 3));
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_LOSS], 1);
	config.loss = 0;
	config.bit_error = 1;
	wh_netem_change(netem, &config, HZ, 70 * US_NS);
	CU_ASSERT_FALSE(enter(netem, 70 * US_NS, 100, 4));
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_BIT_ERROR], 1);
	config.bit_error = 0;
	wh_netem_change(netem, &config, HZ, 80 * US_NS);
	CU_ASSERT_TRUE(enter(netem, 80 * US_NS, 100, 5));
	drain(netem);
}

/* Anything at any time: nothing is lost but by a name, and all comes in its order. */
static void anything(void)
{
	struct wh_prng prng;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct wh_link_model config = {.rate_bps = GBPS,
			.delay_ns = MS_NS,
			.queue_bytes = 50000,
			.queue_pkts_max = 100,
			.seed = seed};
		struct wh_netem *netem = make(&config);
		uint64_t last_tsc = 0;

		wh_prng_init(&prng, seed);
		for (uint64_t now = 0; now < 20 * MS_NS; now += wh_prng_below(&prng, 40 * US_NS)) {
			struct wh_netem_item items[32];
			uint32_t came = wh_netem_take(netem, now, items, 32);

			for (uint32_t i = 0; i < came; i++) {
				CU_ASSERT_TRUE(items[i].due_tsc >= last_tsc || seed % 2 == 0);
				last_tsc = items[i].due_tsc;
			}
			(void)enter(netem, now, 64 + (uint32_t)wh_prng_below(&prng, 9000), now);
			if (wh_prng_below(&prng, 20) != 0)
				continue;
			config.rate_bps = GBPS / 100 + wh_prng_below(&prng, 20 * GBPS);
			config.queue_pkts = (uint32_t)wh_prng_below(&prng, 2) * 100;
			config.jitter_ns = wh_prng_below(&prng, 2) * 30 * US_NS;
			config.reorder = seed % 2 == 0 ? 0.1 : 0;
			/* A delay that falls lets packets overtake. */
			config.delay_ns = seed % 2 == 0 ? wh_prng_below(&prng, 2 * MS_NS)
							: config.delay_ns + US_NS;
			wh_netem_change(netem, &config, HZ, now);
		}

		const struct wh_netem_stats *stats = wh_netem_stats(netem);

		CU_ASSERT_EQUAL(stats->entered_pkts,
			stats->left_pkts + stats->dropped_pkts[WH_NETEM_DROP_QUEUE] +
				wh_netem_held(netem));
		drain(netem);
	}
}

CU_TestInfo wh_tests[] = {
	{"what waits goes on at the new rate", rate_steps},
	{"the rest of a packet, too", rate_within_a_packet},
	{"a queue of bytes", queue_steps},
	{"a queue of packets", queue_in_packets},
	{"delays", delay_steps},
	{"losses and outages", losses_and_outages},
	{"any changes, at any time", anything},
	CU_TEST_INFO_NULL,
};
