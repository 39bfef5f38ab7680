/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The switch between a fast link and a slow line: bursts through its memory against (1) of
 * lambda-tcp.txt, whose bits flow where ours come as whole packets.
 */

#include "unit.h"

#include <errno.h>

#include "base/clock.h"
#include "base/prng.h"
#include "lab/netem/netem.h"

const char wh_suite_name[] = "netem_ingress";

#define HZ   WH_NS_PER_S /* a cycle is a nanosecond */
#define GBPS UINT64_C(1000000000)
#define MBPS UINT64_C(1000000)

static struct wh_netem *make(const struct wh_link_model *config)
{
	struct wh_netem *netem = wh_netem_create(config, HZ, 0, 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(netem);
	return netem;
}

/* A burst, all admitted at once: how many pass before the first that is lost, and how many are. */
static uint32_t send_burst(
	struct wh_netem *netem, uint64_t now_tsc, uint32_t pkts, uint32_t bytes, uint32_t *lost)
{
	uint32_t first = pkts;
	struct wh_netem_fate fate;

	*lost = 0;
	for (uint32_t i = 0; i < pkts; i++) {
		wh_netem_admit(netem, now_tsc, bytes, &fate);
		if (fate.drop == WH_NETEM_DELIVERED)
			continue;
		CU_ASSERT_EQUAL(fate.drop, WH_NETEM_DROP_QUEUE);
		if ((*lost)++ == 0)
			first = i;
	}
	return first;
}

/*
 * The n-th packet has come at n l / f, and by then (n - 1) l s / f have left: n l (1 - s / f) +
 * l s / f wait. With 567 kB: (567 - 0.622) / 0.378 = 1498.4.
 */
static void test_the_papers_burst(void)
{
	const struct wh_link_model config = {
		.rate_bps = 622 * MBPS, .ingress_bps = GBPS, .queue_bytes = 567000};
	struct wh_netem *netem = make(&config);
	uint32_t lost;

	CU_ASSERT_EQUAL(send_burst(netem, 0, 5000, 1000, &lost), 1498);
	/* 5000 * 0.378 - 566.4, where (1) has 567 and 1323. */
	CU_ASSERT_EQUAL(lost, 1324);
	CU_ASSERT_EQUAL(wh_netem_ingress_free(netem), 5000 * 8000);
	CU_ASSERT(wh_netem_stats(netem)->queue_bytes_max <= 567000);
	CU_ASSERT(wh_netem_stats(netem)->queue_bytes_max > 567000 - 1000);

	/* 567000 * 8 / 622e6 = 7.3 ms after its end the memory is empty, and as large again. */
	CU_ASSERT_EQUAL(send_burst(netem, 40000000 + 7300000, 1498, 1000, &lost), 1498);
	CU_ASSERT_EQUAL(lost, 0);
	wh_netem_destroy(netem);
}

/* Whatever the rates, the sizes and the memory: what (1) says, for whole packets. */
static void test_random_switches(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 4);
	for (unsigned int i = 0; i < 50; i++) {
		double f = 1e9 + (double)wh_prng_below(&prng, 99000) * 1e6;
		double s = f * (0.05 + 0.9 * wh_prng_unit(&prng));
		uint32_t bytes = 84 + (uint32_t)wh_prng_below(&prng, 8954);
		struct wh_link_model config = {.rate_bps = (uint64_t)s,
			.ingress_bps = (uint64_t)f,
			.queue_bytes = bytes * (2 + wh_prng_below(&prng, 1000))};
		double share = 1.0 - s / f;
		double most = ((double)config.queue_bytes / bytes - s / f) / share;
		struct wh_netem *netem = make(&config);
		uint32_t lost;
		uint32_t first = send_burst(netem, 0, 2 * (uint32_t)most + 2, bytes, &lost);

		CU_ASSERT_DOUBLE_EQUAL(first, most, 1.01);
		CU_ASSERT_DOUBLE_EQUAL(lost, share * (2 * (uint32_t)most + 2 - most), 2.01);
		wh_netem_destroy(netem);
	}
}

/* Without a link before it a burst is there at once, and all but the memory is lost. */
static void test_no_ingress(void)
{
	const struct wh_link_model config = {.rate_bps = 622 * MBPS, .queue_bytes = 567000};
	struct wh_netem *netem = make(&config);
	uint32_t lost;

	CU_ASSERT_EQUAL(send_burst(netem, 0, 5000, 1000, &lost), 567);
	CU_ASSERT_EQUAL(lost, 5000 - 567);
	CU_ASSERT_EQUAL(wh_netem_ingress_free(netem), 0);
	wh_netem_destroy(netem);
}

/* 8 us on the link, 16 us on the line, and the way. */
static void test_times(void)
{
	const struct wh_link_model config = {
		.rate_bps = 500 * MBPS, .ingress_bps = GBPS, .delay_ns = 1000000};
	struct wh_netem *netem = make(&config);
	struct wh_netem_fate fate;

	for (uint64_t n = 1; n <= 3; n++) {
		wh_netem_admit(netem, 0, 1000, &fate);
		CU_ASSERT_EQUAL(fate.due_tsc[0], 8000 + n * 16000 + 1000000);
		CU_ASSERT_EQUAL(wh_netem_ingress_free(netem), n * 8000);
	}
	wh_netem_admit(netem, 100000, 1000, &fate);
	CU_ASSERT_EQUAL(fate.due_tsc[0], 100000 + 8000 + 16000 + 1000000);
	wh_netem_destroy(netem);
}

/* A packet is in an outage when it has come in then. */
static void test_outage(void)
{
	const struct wh_link_model config = {.rate_bps = 500 * MBPS,
		.ingress_bps = GBPS,
		.outage = {{.start_ns = 16000, .length_ns = 8000}},
		.n_outages = 1};
	struct wh_netem *netem = make(&config);
	struct wh_netem_fate fate;

	for (uint32_t n = 1; n <= 4; n++) {
		wh_netem_admit(netem, 0, 1000, &fate);
		CU_ASSERT_EQUAL(fate.drop, n == 2 ? WH_NETEM_DROP_OUTAGE : WH_NETEM_DELIVERED);
	}
	wh_netem_destroy(netem);
}

static void test_impossible(void)
{
	const struct wh_link_model config = {.rate_bps = GBPS, .ingress_bps = 1};

	errno = 0;
	CU_ASSERT_PTR_NULL(wh_netem_create(&config, HZ, 0, 1));
	CU_ASSERT_EQUAL(errno, EINVAL);
}

CU_TestInfo wh_tests[] = {
	{"5000 packets into the paper's switch", test_the_papers_burst},
	{"bursts into fifty others", test_random_switches},
	{"no link before the switch", test_no_ingress},
	{"link, line and way add up", test_times},
	{"an outage counts when a packet has come in", test_outage},
	{"a link of no rate is refused", test_impossible},
	CU_TEST_INFO_NULL,
};
