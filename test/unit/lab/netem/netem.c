/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "lab/netem/netem.h"

const char wh_suite_name[] = "link";

#define HZ        WH_NS_PER_S /* a cycle is a nanosecond */
#define GBPS      UINT64_C(1000000000)
#define MS_NS     UINT64_C(1000000)
#define ITEMS_MAX 4096

static struct wh_netem *make(const struct wh_link_model *config, uint32_t items_max)
{
	struct wh_netem *netem = wh_netem_create(config, HZ, 0, items_max);

	CU_ASSERT_PTR_NOT_NULL_FATAL(netem);
	return netem;
}

static void drain(struct wh_netem *netem)
{
	while (wh_netem_take_any(netem) != NULL)
		;
	wh_netem_destroy(netem);
}

static struct wh_netem_fate admit(struct wh_netem *netem, uint64_t now_tsc, uint32_t wire_bytes)
{
	struct wh_netem_fate fate;

	wh_netem_admit(netem, now_tsc, wire_bytes, &fate);
	return fate;
}

/* Items are serial numbers from 1, since NULL is none. */
static void *item(uint64_t pn)
{
	return (void *)(uintptr_t)(pn + 1);
}

static uint64_t pn_of(const struct wh_netem_item *taken)
{
	return (uint64_t)(uintptr_t)taken->item - 1;
}

/* Within 4 standard deviations of a binomial count. */
static void check_count(uint64_t count, double n, double p)
{
	CU_ASSERT_TRUE(fabs((double)count - n * p) <= 4.0 * sqrt(n * p * (1.0 - p)));
}

static uint64_t sum_drops(const struct wh_netem_stats *stats)
{
	uint64_t sum = 0;

	for (int i = 0; i < WH_NETEM_DROPS; i++)
		sum += stats->dropped_pkts[i];
	return sum;
}

static bool is_conserved(const struct wh_netem *netem)
{
	const struct wh_netem_stats *stats = wh_netem_stats(netem);

	return stats->entered_pkts + stats->duplicated_pkts ==
	       stats->left_pkts + sum_drops(stats) + wh_netem_held(netem);
}

/* The first whole cycle in which `bytes` have left a line that began at 0. */
static uint64_t leave_tsc(uint64_t bytes, uint64_t rate_bps, uint64_t hz)
{
	unsigned __int128 cycles = (unsigned __int128)bytes * 8 * hz;

	return (uint64_t)((cycles + rate_bps - 1) / rate_bps);
}

static void delay_is_exact(void)
{
	static const uint64_t delays_ns[] = {0, 1, 999, 50 * MS_NS, 1000 * MS_NS};

	for (unsigned int i = 0; i < 5; i++) {
		struct wh_link_model config = {.delay_ns = delays_ns[i]};
		struct wh_netem *netem = make(&config, 1);

		for (uint64_t now_tsc = 0; now_tsc < 10000; now_tsc += 7) {
			struct wh_netem_fate fate = admit(netem, now_tsc, 9038);

			CU_ASSERT_EQUAL(fate.drop, WH_NETEM_DELIVERED);
			CU_ASSERT_EQUAL(fate.copies, 1);
			CU_ASSERT_EQUAL(fate.due_tsc[0], now_tsc + delays_ns[i]);
			CU_ASSERT_FALSE(fate.corrupt);
		}
		CU_ASSERT_EQUAL(wh_netem_stats(netem)->queue_bytes_max, 0);
		wh_netem_destroy(netem);
	}
}

static void delay_follows_the_line(void)
{
	struct wh_link_model config = {.rate_bps = 100 * GBPS, .delay_ns = 1000};
	struct wh_netem *netem = make(&config, 1);

	/* Leaving at 123.04, 246.08, 369.12; then the line is idle until 1000. */
	CU_ASSERT_EQUAL(admit(netem, 0, 1538).due_tsc[0], 1124);
	CU_ASSERT_EQUAL(admit(netem, 0, 1538).due_tsc[0], 1247);
	CU_ASSERT_EQUAL(admit(netem, 200, 1538).due_tsc[0], 1370);
	CU_ASSERT_EQUAL(admit(netem, 1000, 1538).due_tsc[0], 2124);
	/* 123.04 is not over in cycle 1123, and is in cycle 1124: no part of it is lost. */
	CU_ASSERT_EQUAL(admit(netem, 1123, 1538).due_tsc[0], 2247); /* 1246.08 */
	CU_ASSERT_EQUAL(admit(netem, 1247, 1538).due_tsc[0], 2371); /* 1370.04 */
	wh_netem_destroy(netem);

	/* The delay is in the link's clock. */
	netem = wh_netem_create(&config, UINT64_C(2300000000), 0, 1);
	CU_ASSERT_EQUAL(admit(netem, 0, 1250).due_tsc[0], 2300 + 230);
	wh_netem_destroy(netem);
}

static void the_queue_drops_its_tail(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .delay_ns = 500, .queue_bytes = 3000};
	struct wh_netem *netem = make(&config, 1);

	for (uint64_t n = 1; n <= 3; n++)
		CU_ASSERT_EQUAL(admit(netem, 0, 1000).due_tsc[0], n * 8000 + 500);

	struct wh_netem_fate fate = admit(netem, 7999, 1000);

	CU_ASSERT_EQUAL(fate.drop, WH_NETEM_DROP_QUEUE);
	CU_ASSERT_EQUAL(fate.copies, 0);
	CU_ASSERT_EQUAL(admit(netem, 8000, 1000).due_tsc[0], 4 * 8000 + 500);
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->queue_bytes_max, 3000);
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_QUEUE], 1);
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->entered_pkts, 5);
	wh_netem_destroy(netem);
}

static void lost_packets_took_their_time_on_the_line(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .loss = 0.3, .bit_error = 1e-5};
	struct wh_netem *netem = make(&config, 1);
	uint64_t n_lost = 0;

	for (uint64_t n = 1; n <= 10000; n++) {
		struct wh_netem_fate fate = admit(netem, 0, 1000);

		CU_ASSERT_EQUAL(fate.copies, fate.drop == WH_NETEM_DELIVERED ? 1 : 0);
		if (fate.drop == WH_NETEM_DELIVERED)
			CU_ASSERT_EQUAL(fate.due_tsc[0], n * 8000);
		n_lost += fate.drop != WH_NETEM_DELIVERED;
	}
	/* 0.7 * (1 - (1 - 1e-5)^8000), by decimal arithmetic: 0.0538186 */
	CU_ASSERT_EQUAL(n_lost, sum_drops(wh_netem_stats(netem)));
	check_count(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_LOSS], 10000, 0.3);
	check_count(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_BIT_ERROR], 10000, 0.0538186);
	wh_netem_destroy(netem);
}

static void bernoulli_loss_within_four_sigma(void)
{
	struct wh_link_model config = {.loss = 0.01, .seed = 1};
	struct wh_netem *netem = make(&config, 1);

	for (uint64_t n = 0; n < 1000000; n++)
		admit(netem, n, 1538);
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->entered_pkts, 1000000);
	check_count(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_LOSS], 1e6, 0.01);
	wh_netem_destroy(netem);
}

static void outages_drop_before_the_line(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .outage = {{1000, 500}}, .n_outages = 1};
	const uint64_t start_tsc = 5000;
	struct wh_netem *netem = wh_netem_create(&config, HZ, start_tsc, 1);

	CU_ASSERT_EQUAL(admit(netem, start_tsc + 999, 1000).drop, WH_NETEM_DELIVERED);
	CU_ASSERT_EQUAL(admit(netem, start_tsc + 1000, 1000).drop, WH_NETEM_DROP_OUTAGE);
	CU_ASSERT_EQUAL(admit(netem, start_tsc + 1499, 1000).drop, WH_NETEM_DROP_OUTAGE);
	/* After the first, at 999 + 8000 + 8000. */
	CU_ASSERT_EQUAL(admit(netem, start_tsc + 1500, 1000).due_tsc[0], start_tsc + 16999);
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_OUTAGE], 2);
	wh_netem_destroy(netem);
}

static void jitter_keeps_range_and_order(void)
{
	static const uint64_t jitters_ns[] = {1, 100, 20000, 5 * MS_NS};

	for (unsigned int i = 0; i < 4; i++) {
		struct wh_link_model config = {
			.rate_bps = GBPS, .delay_ns = MS_NS, .jitter_ns = jitters_ns[i], .seed = i};
		struct wh_netem *netem = make(&config, 1);
		uint64_t last_tsc = 0;
		uint64_t most_tsc = 0;
		uint64_t n_wrong = 0;

		for (uint64_t n = 1; n <= 20000; n++) {
			uint64_t due_tsc = admit(netem, (n - 1) * 8000, 1000).due_tsc[0];
			uint64_t base_tsc = n * 8000 + MS_NS;

			n_wrong += due_tsc < base_tsc || due_tsc > base_tsc + jitters_ns[i];
			n_wrong += due_tsc < last_tsc;
			last_tsc = due_tsc;
			if (due_tsc >= base_tsc)
				most_tsc = wh_max_u64(most_tsc, due_tsc - base_tsc);
		}
		CU_ASSERT_EQUAL(n_wrong, 0);
		WH_ASSERT_NEAR(most_tsc, jitters_ns[i], 0.02);
		wh_netem_destroy(netem);
	}
}

static void jitter_is_uniform(void)
{
	struct wh_link_model config = {.jitter_ns = 9, .seed = 3};
	struct wh_netem *netem = make(&config, 1);
	uint64_t counts[10] = {0};

	/* Far apart, so that order asks for nothing. */
	for (uint64_t now_tsc = 0; now_tsc < 1000000; now_tsc += 10) {
		uint64_t jitter_tsc = admit(netem, now_tsc, 1).due_tsc[0] - now_tsc;

		CU_ASSERT_FATAL(jitter_tsc <= 9);
		counts[jitter_tsc]++;
	}
	for (int i = 0; i < 10; i++)
		check_count(counts[i], 100000, 0.1);
	wh_netem_destroy(netem);
}

static void reorder_delays(void)
{
	static const struct {
		uint64_t rate_bps, delay_ns, reorder_delay_ns;
		uint64_t due_tsc; /* of 1000 bytes at 0 */
	} cases[] = {
		{GBPS, 0, 0, 8000 + 80000},               /* 10 packet times */
		{GBPS, 799999, 0, 8000 + 799999 + 80000}, /* a little more than */
		{GBPS, 800010, 0, 8000 + 800010 + 80001}, /* a tenth of the delay */
		{GBPS, 100 * MS_NS, 0, 8000 + 100 * MS_NS + 10 * MS_NS},
		{GBPS, 100 * MS_NS, 1, 8000 + 100 * MS_NS + 1}, /* as asked */
		{0, 1000, 0, 1100},
		{0, 10, 0, 11},
		{0, 0, 777, 777},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_link_model config = {
			.rate_bps = cases[i].rate_bps,
			.delay_ns = cases[i].delay_ns,
			.reorder = 1.0,
			.reorder_delay_ns = cases[i].reorder_delay_ns,
		};
		struct wh_netem *netem = make(&config, 1);

		CU_ASSERT_EQUAL(admit(netem, 0, 1000).due_tsc[0], cases[i].due_tsc);
		wh_netem_destroy(netem);
	}
}

static void reordered_packets_are_overtaken(void)
{
	struct wh_link_model config = {
		.rate_bps = GBPS, .delay_ns = MS_NS, .reorder = 0.1, .seed = 5};
	struct wh_netem *netem = make(&config, ITEMS_MAX);
	uint64_t n_late = 0;
	uint64_t next_max = 0;
	uint64_t reordered = 0;
	struct wh_netem_item taken;

	/* A tenth of the delay is 12.5 packet times. */
	for (uint64_t n = 0; n < 20000; n++) {
		struct wh_netem_fate fate = admit(netem, n * 8000, 1000);
		uint64_t in_order_tsc = (n + 1) * 8000 + MS_NS;

		CU_ASSERT_TRUE(fate.due_tsc[0] == in_order_tsc ||
			       fate.due_tsc[0] == in_order_tsc + MS_NS / 10);
		CU_ASSERT_TRUE(wh_netem_hold(netem, fate.due_tsc[0], item(n)));
		while (wh_netem_take(netem, n * 8000, &taken, 1) == 1) {
			/* Overtaken by 12, less those of them that are late too. */
			if (pn_of(&taken) < next_max) {
				CU_ASSERT_TRUE(next_max - pn_of(&taken) <= 13);
				n_late++;
			} else {
				next_max = pn_of(&taken) + 1;
			}
		}
	}
	reordered = wh_netem_stats(netem)->reordered_pkts;
	check_count(reordered, 20000, 0.1);
	/* But those still held: 1 ms of delay and 0.1 ms are 138 packets. */
	CU_ASSERT_TRUE(n_late <= reordered && n_late + 138 > reordered);
	CU_ASSERT_TRUE(is_conserved(netem));
	drain(netem);
}

static void duplicates_follow_by_a_packet_time(void)
{
	struct wh_link_model config = {.rate_bps = GBPS, .delay_ns = 500, .duplicate = 1.0};
	struct wh_netem *netem = make(&config, 1);

	for (uint64_t n = 1; n <= 100; n++) {
		struct wh_netem_fate fate = admit(netem, 0, 1000);

		CU_ASSERT_EQUAL(fate.copies, 2);
		/* The first copies come as if there were no second ones. */
		CU_ASSERT_EQUAL(fate.due_tsc[0], n * 8000 + 500);
		CU_ASSERT_EQUAL(fate.due_tsc[1], n * 8000 + 500 + 8000);
	}
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->duplicated_pkts, 100);
	wh_netem_destroy(netem);
}

static void duplicates_are_as_many_as_asked(void)
{
	struct wh_link_model config = {
		.rate_bps = GBPS, .delay_ns = MS_NS, .duplicate = 0.05, .seed = 6};
	struct wh_netem *netem = make(&config, ITEMS_MAX);
	uint8_t *n_taken = calloc(20000, 1);
	uint64_t n_twice = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(n_taken);
	for (uint64_t n = 0; n < 20000; n++) {
		struct wh_netem_fate fate = admit(netem, n * 8000, 1000);
		struct wh_netem_item taken;

		for (uint32_t i = 0; i < fate.copies; i++)
			CU_ASSERT_TRUE(wh_netem_hold(netem, fate.due_tsc[i], item(n)));
		while (wh_netem_take(netem, n * 8000, &taken, 1) == 1)
			n_taken[pn_of(&taken)]++;
	}
	for (void *any; (any = wh_netem_take_any(netem)) != NULL;)
		n_taken[(uintptr_t)any - 1]++;
	for (int n = 0; n < 20000; n++) {
		CU_ASSERT_TRUE(n_taken[n] == 1 || n_taken[n] == 2);
		n_twice += n_taken[n] == 2;
	}
	CU_ASSERT_EQUAL(n_twice, wh_netem_stats(netem)->duplicated_pkts);
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->left_pkts, 20000 + n_twice);
	check_count(n_twice, 20000, 0.05);
	free(n_taken);
	wh_netem_destroy(netem);
}

static void corrupt_bits_cover_the_packet(void)
{
	struct wh_link_model config = {.corrupt = 0.2, .duplicate = 1.0, .seed = 7};
	struct wh_netem *netem = make(&config, 1);
	const uint64_t item_bits = 8 * 1400;
	uint64_t counts[8] = {0};
	uint64_t n_corrupt = 0;

	for (uint64_t n = 0; n < 100000; n++) {
		struct wh_netem_fate fate = admit(netem, n, 1424);
		uint64_t bit = fate.corrupt_bit % item_bits;

		CU_ASSERT_EQUAL(fate.copies, 2);
		if (fate.corrupt)
			counts[bit * 8 / item_bits]++;
		n_corrupt += fate.corrupt;
	}
	CU_ASSERT_EQUAL(n_corrupt, wh_netem_stats(netem)->corrupted_pkts);
	check_count(n_corrupt, 100000, 0.2);
	/* No part of the packet is hit more than another, headers neither. */
	for (int i = 0; i < 8; i++)
		check_count(counts[i], (double)n_corrupt, 0.125);
	wh_netem_destroy(netem);
}

static const struct wh_link_model everything = {
	.rate_bps = GBPS,
	.delay_ns = 200000,
	.queue_bytes = 20000,
	.queue_pkts = 15,
	.loss_model = WH_LOSS_GILBERT_ELLIOTT,
	.gilbert_elliott = {0.01, 0.2, 0.001, 0.9},
	.bit_error = 1e-7,
	.corrupt = 0.01,
	.duplicate = 0.1,
	.reorder = 0.1,
	.jitter_ns = 30000,
	.outage = {{3000000, 200000}},
	.n_outages = 1,
};

static void same_seed_same_fates(void)
{
	struct wh_link_model config = everything;
	struct wh_netem *a = make(&config, 1);
	struct wh_netem *b = make(&config, 1);

	config.seed = 1;

	struct wh_netem *c = make(&config, 1);
	unsigned int n_different = 0;

	for (uint64_t n = 0; n < 5000; n++) {
		struct wh_netem_fate fate_a = admit(a, n * 7000, 1000);
		struct wh_netem_fate fate_b = admit(b, n * 7000, 1000);
		struct wh_netem_fate fate_c = admit(c, n * 7000, 1000);

		CU_ASSERT_EQUAL(fate_a.drop, fate_b.drop);
		CU_ASSERT_EQUAL(fate_a.copies, fate_b.copies);
		CU_ASSERT_EQUAL(fate_a.due_tsc[0], fate_b.due_tsc[0]);
		CU_ASSERT_EQUAL(fate_a.due_tsc[1], fate_b.due_tsc[1]);
		CU_ASSERT_EQUAL(fate_a.corrupt, fate_b.corrupt);
		CU_ASSERT_EQUAL(fate_a.corrupt_bit, fate_b.corrupt_bit);
		n_different += fate_a.due_tsc[0] != fate_c.due_tsc[0];
	}
	CU_ASSERT_EQUAL(
		memcmp(wh_netem_stats(a), wh_netem_stats(b), sizeof(*wh_netem_stats(a))), 0);
	CU_ASSERT_NOT_EQUAL(n_different, 0);
	wh_netem_destroy(a);
	wh_netem_destroy(b);
	wh_netem_destroy(c);
}

static void what_is_off_or_certain_draws_nothing(void)
{
	struct wh_link_model plain = {.loss = 0.5, .seed = 8};
	struct wh_link_model certain = {
		.loss = 0.5, .seed = 8, .duplicate = 1.0, .reorder = 1.0, .reorder_delay_ns = 100};
	struct wh_netem *a = make(&plain, 1);
	struct wh_netem *b = make(&certain, 1);

	for (uint64_t n = 0; n < 1000; n++)
		CU_ASSERT_EQUAL(admit(a, n, 1000).drop, admit(b, n, 1000).drop);
	wh_netem_destroy(a);
	wh_netem_destroy(b);
}

static void packets_are_conserved(void)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct wh_link_model config = everything;

		config.seed = seed;

		struct wh_netem *netem = make(&config, 30); /* too few at times */
		const struct wh_netem_stats *stats = wh_netem_stats(netem);
		struct wh_netem_item taken[4];
		uint64_t last_tsc = 0;
		uint64_t n_refused = 0;

		for (uint64_t n = 0; n < 3000; n++) {
			uint64_t now_tsc = n * 6000;
			struct wh_netem_fate fate = admit(netem, now_tsc, 200 + n % 1000);

			for (uint32_t i = 0; i < fate.copies; i++) {
				if (wh_netem_hold(netem, fate.due_tsc[i], item(n)))
					continue;
				CU_ASSERT_EQUAL(wh_netem_held(netem), 30);
				wh_netem_count_queue_drop(netem);
				n_refused++;
			}
			CU_ASSERT_TRUE(is_conserved(netem));

			uint32_t n_taken = wh_netem_take(netem, now_tsc, taken, n % 5);

			for (uint32_t i = 0; i < n_taken; i++) {
				CU_ASSERT_TRUE(taken[i].due_tsc <= now_tsc);
				CU_ASSERT_TRUE(taken[i].due_tsc >= last_tsc || n % 5 != 0);
				last_tsc = taken[i].due_tsc;
			}
			CU_ASSERT_TRUE(is_conserved(netem));
		}
		CU_ASSERT_EQUAL(stats->entered_pkts, 3000);
		CU_ASSERT_TRUE(n_refused > 0);
		for (int i = WH_NETEM_DROP_OUTAGE; i <= WH_NETEM_DROP_LOSS; i++)
			CU_ASSERT_TRUE(stats->dropped_pkts[i] > 0);
		CU_ASSERT_EQUAL(stats->dropped_pkts[WH_NETEM_DELIVERED], 0);
		while (wh_netem_take_any(netem) != NULL)
			CU_ASSERT_TRUE(is_conserved(netem));
		CU_ASSERT_EQUAL(wh_netem_held(netem), 0);
		wh_netem_destroy(netem);
	}
}

static void items_max_is_reached_and_refused(void)
{
	struct wh_link_model config = {.delay_ns = 100};
	struct wh_netem *netem = make(&config, 3);
	struct wh_netem_item taken;

	CU_ASSERT_EQUAL(wh_netem_deadline(netem), WH_TSC_NEVER);
	for (uint64_t n = 0; n < 3; n++)
		CU_ASSERT_TRUE(wh_netem_hold(netem, admit(netem, n, 84).due_tsc[0], item(n)));
	CU_ASSERT_EQUAL(wh_netem_held(netem), 3);
	CU_ASSERT_EQUAL(wh_netem_deadline(netem), 100);

	uint64_t due_tsc = admit(netem, 100, 84).due_tsc[0];

	CU_ASSERT_FALSE(wh_netem_hold(netem, due_tsc, item(3)));
	wh_netem_count_queue_drop(netem);
	CU_ASSERT_TRUE(is_conserved(netem));
	CU_ASSERT_EQUAL(wh_netem_take(netem, 99, &taken, 1), 0);
	CU_ASSERT_EQUAL(wh_netem_take(netem, 100, &taken, 1), 1);
	CU_ASSERT_EQUAL(pn_of(&taken), 0);
	CU_ASSERT_EQUAL(wh_netem_deadline(netem), 101);
	CU_ASSERT_TRUE(wh_netem_hold(netem, admit(netem, 100, 84).due_tsc[0], item(4)));
	CU_ASSERT_EQUAL(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_QUEUE], 1);
	drain(netem);
}

static void items_needed_is_the_sum_of_its_parts(void)
{
	struct wh_link_model config = {
		.rate_bps = 10 * GBPS, .delay_ns = 100 * MS_NS, .queue_bytes = 1500000};

	/* 125 MB of delay are 81274 packets, the queue 975 and one; 100 beside. */
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), 81274 + 976 + 100);
	config.queue_pkts = 500;
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), 81274 + 500 + 100);
	config.queue_bytes = 0;
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), 81274 + 500 + 100);
	config.reorder = 0.1; /* 110 ms */
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), 89401 + 500 + 100);
	config.jitter_ns = 10 * MS_NS; /* 120 ms */
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), 97529 + 500 + 100);
	config.reorder_delay_ns = 40 * MS_NS; /* 150 ms */
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), 121911 + 500 + 100);
	config.duplicate = 1e-9;
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), 2 * (121911 + 500 + 100));

	config.queue_pkts = 0;
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), UINT32_MAX);
	config.queue_pkts = 500;
	config.rate_bps = 0;
	CU_ASSERT_EQUAL(wh_netem_items_needed(&config, 1538), UINT32_MAX);
}

/*
 * Offers twice the line's rate of packets of wire_bytes_min, or of sizes that grow from it by a
 * tenth each up to 64 KiB, and returns the most that were held.
 */
static uint32_t most_held(const struct wh_link_model *config, uint32_t wire_bytes_min, bool growing)
{
	uint32_t needed = wh_netem_items_needed(config, wire_bytes_min);
	struct wh_netem *netem = make(config, needed);
	uint64_t now_tsc = 0;
	uint32_t wire_bytes = wire_bytes_min;
	uint32_t most = 0;
	unsigned int n_refused = 0;

	for (uint64_t n = 0; n < 30000; n++) {
		struct wh_netem_item taken;

		while (wh_netem_take(netem, now_tsc, &taken, 1) == 1)
			;
		struct wh_netem_fate fate = admit(netem, now_tsc, wire_bytes);

		for (uint32_t i = 0; i < fate.copies; i++)
			n_refused += !wh_netem_hold(netem, fate.due_tsc[i], item(n));
		if (wh_netem_held(netem) > most)
			most = wh_netem_held(netem);
		now_tsc += leave_tsc(wire_bytes, 2 * config->rate_bps, HZ);
		if (growing)
			wire_bytes =
				wire_bytes > 65536 ? wire_bytes_min : wire_bytes + wire_bytes / 10;
	}
	CU_ASSERT_EQUAL(n_refused, 0);
	CU_ASSERT_TRUE(wh_netem_stats(netem)->dropped_pkts[WH_NETEM_DROP_QUEUE] > 0);
	drain(netem);
	return most;
}

static void items_needed_is_enough_in_overload(void)
{
	struct wh_link_model config = {
		.rate_bps = 10 * GBPS,
		.delay_ns = 2 * MS_NS,
		.queue_bytes = 200000,
		.reorder = 0.2,
		.duplicate = 0.2,
		.jitter_ns = 300000,
	};
	uint32_t most = most_held(&config, 1538, false);

	/* A fifth are twofold where all might be: about 0.6 of the bound. */
	CU_ASSERT_TRUE(most > wh_netem_items_needed(&config, 1538) / 2);

	config.queue_pkts = 40;
	most_held(&config, 84, false);
	config.queue_bytes = 0;
	config.reorder_delay_ns = MS_NS;
	most_held(&config, 1538, false);
	config.duplicate = 1.0;
	most = most_held(&config, 1538, false);
	CU_ASSERT_TRUE(most > wh_netem_items_needed(&config, 1538) / 10 * 7);
}

static void items_needed_is_enough_for_growing_sizes(void)
{
	struct wh_link_model config = {
		.rate_bps = 10 * GBPS, .queue_bytes = 70000, .queue_pkts = 5, .reorder = 1.0};

	most_held(&config, 64, true);
	config.duplicate = 1.0;
	most_held(&config, 64, true);
}

static void bad_configurations_are_refused(void)
{
	static const struct {
		uint64_t hz;
		int error; /* 0: good */
		struct wh_link_model config;
	} cases[] = {
		{HZ, 0, {.loss = 1.0, .corrupt = 1.0, .duplicate = 1.0, .bit_error = 1.0}},
		{HZ, EINVAL, {.loss = 1.01}},
		{HZ, EINVAL, {.loss = -0.01}},
		{HZ, EINVAL, {.loss = NAN}},
		{HZ, EINVAL, {.bit_error = 2.0}},
		{HZ, EINVAL, {.corrupt = INFINITY}},
		{HZ, EINVAL, {.duplicate = -1e-9}},
		{HZ, EINVAL, {.reorder = 1.5, .reorder_delay_ns = 1}},
		{HZ, EINVAL, {.gilbert_elliott = {.good_to_bad = 1.1}}},
		{HZ, EINVAL, {.gilbert_elliott = {.bad_to_good = -1.0}}},
		{HZ, EINVAL, {.gilbert_elliott = {.loss_good = 3.0}}},
		{HZ, EINVAL, {.gilbert_elliott = {.loss_bad = NAN}}},
		{HZ, EINVAL, {.loss_model = (enum wh_loss_kind)2}},
		{HZ, 0, {.n_outages = WH_LINK_OUTAGES_MAX}},
		{HZ, EINVAL, {.n_outages = WH_LINK_OUTAGES_MAX + 1}},
		{HZ, 0, {.delay_ns = UINT64_C(1) << 60}},
		{HZ, EINVAL, {.delay_ns = (UINT64_C(1) << 60) + 1}},
		{HZ, EINVAL, {.jitter_ns = UINT64_MAX}},
		{HZ, EINVAL, {.reorder_delay_ns = UINT64_MAX}},
		/* Reordering by no time. */
		{HZ, EINVAL, {.reorder = 0.1}},
		{HZ, EINVAL, {.reorder = 0.1, .delay_ns = 9}},
		{HZ, 0, {.reorder = 0.1, .delay_ns = 10}},
		{HZ, 0, {.reorder = 0.1, .rate_bps = GBPS}},
		/* 2^30 cycles a byte at the most: 7.45 b/s. */
		{HZ, EINVAL, {.rate_bps = 7}},
		{HZ, 0, {.rate_bps = 8}},
		{HZ, 0, {.rate_bps = UINT64_MAX}},
		/* 2^-44 cycles a byte at the least: 8000 * 2^44 b/s. */
		{1000, 0, {.rate_bps = UINT64_C(140737488355328000)}},
		{1000, EINVAL, {.rate_bps = UINT64_C(140737488355329000)}},
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		errno = 0;

		struct wh_netem *netem = wh_netem_create(&cases[i].config, cases[i].hz, 0, 1);

		CU_ASSERT_EQUAL(netem == NULL ? errno : 0, cases[i].error);
		wh_netem_destroy(netem);
	}
}

CU_TestInfo wh_tests[] = {
	{"delay is exact", delay_is_exact},
	{"delay follows the line", delay_follows_the_line},
	{"the queue drops its tail", the_queue_drops_its_tail},
	{"lost packets took their time on the line", lost_packets_took_their_time_on_the_line},
	{"Bernoulli loss within four sigma", bernoulli_loss_within_four_sigma},
	{"outages drop before the line", outages_drop_before_the_line},
	{"jitter keeps range and order", jitter_keeps_range_and_order},
	{"jitter is uniform", jitter_is_uniform},
	{"reorder delays", reorder_delays},
	{"reordered packets are overtaken", reordered_packets_are_overtaken},
	{"duplicates follow by a packet time", duplicates_follow_by_a_packet_time},
	{"duplicates are as many as asked", duplicates_are_as_many_as_asked},
	{"corrupt bits cover the packet", corrupt_bits_cover_the_packet},
	{"same seed, same fates", same_seed_same_fates},
	{"what is off or certain draws nothing", what_is_off_or_certain_draws_nothing},
	{"packets are conserved", packets_are_conserved},
	{"items_max is reached and refused", items_max_is_reached_and_refused},
	{"items_needed is the sum of its parts", items_needed_is_the_sum_of_its_parts},
	{"items_needed is enough in overload", items_needed_is_enough_in_overload},
	{"items_needed is enough for growing sizes", items_needed_is_enough_for_growing_sizes},
	{"bad configurations are refused", bad_configurations_are_refused},
	CU_TEST_INFO_NULL,
};
