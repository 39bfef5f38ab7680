/* SPDX-License-Identifier: BSD-3-Clause */
/* What is found out against what is known of the lambda. */
#include <math.h>

#include "../../rig/chance.h"
#include "base/clock.h"
#include "base/prng.h"
#include "probe_rig.h"
#include "unit.h"

const char wh_suite_name[] = "prober_stages";

#define LAMBDAS 20

/* Packets at line rate that a link of this kind takes before it drops one, by its emulator. */
static uint32_t true_burst(const struct probe_rig *rig, uint32_t count)
{
	struct wh_netem *netem = wh_netem_create(&rig->forth, PROBE_RIG_HZ, 0, 1);
	uint64_t bits = probe_rig_wire_bytes(rig) * UINT64_C(8);
	uint32_t i = 0;

	for (; i < count; i++) {
		struct wh_netem_fate fate;

		wh_netem_admit(netem,
			1 + wh_muldiv_u64(i * bits, PROBE_RIG_HZ, rig->config.line_bps),
			probe_rig_wire_bytes(rig), &fate);
		if (fate.drop == WH_NETEM_DROP_QUEUE)
			break;
	}
	wh_netem_destroy(netem);
	return i;
}

/* lambda-tcp.txt 2: 1 Gb/s into 622 Mb/s, 567 kB, 100 ms; 1000-byte packets. */
static void of_the_paper(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	rig.forth = (struct wh_link_model){
		.rate_bps = 622000000, .delay_ns = 50000000, .queue_bytes = 567000};
	rig.back = (struct wh_link_model){.rate_bps = 622000000, .delay_ns = 50000000};
	rig.config.packet_bytes = 1200;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);

	const struct wh_findings *found = &rig.prober.findings;

	CU_ASSERT_EQUAL(found->burst_end, WH_BURST_OVERFLOW);
	CU_ASSERT_EQUAL(found->burst_pkts, true_burst(&rig, 8192));
	CU_ASSERT(found->burst_verified);
	WH_ASSERT_NEAR(found->trains_bps, 622e6, 0.001);
	WH_ASSERT_NEAR(found->memory_bytes, 567000, 0.01);
	WH_ASSERT_NEAR(found->lost_share, 0.378, 0.01);
	/* (2) with what passes: 567 kB / 100 ms / 0.378; (4) by hand for 567 kB. */
	WH_ASSERT_NEAR(found->initial_bps, 120e6, 0.01);
	/* (3), as printed for these rates: 0.378 of 622 Mb/s and 100 ms. */
	WH_ASSERT_NEAR(found->wanted_bytes, 2938950, 0.01);
	CU_ASSERT(found->forbidden);
	WH_ASSERT_NEAR(found->forbidden_low_bps, 47.6e6, 0.01);
	WH_ASSERT_NEAR(found->forbidden_high_bps, 952.4e6, 0.01);
	/* One of three is lost: no two in a row but where the thirds do not come out even. */
	CU_ASSERT(found->longest_run <= 2);
	probe_rig_close(&rig);
}

/* A line of 100 Mb/s to 40 Gb/s behind a link up to ten times as fast. */
static void draw_lambda(struct wh_prng *prng, struct probe_rig *rig)
{
	uint64_t line_bps = between(prng, 200, 100000) * 1000000;
	uint64_t slow_bps = line_bps / 1000 * between(prng, 100, 950);
	uint64_t delay_ns = between(prng, 50000, 100000000);
	uint32_t mtu = wh_prng_below(prng, 2) == 0 ? 1500 : 9000;

	rig->config.packet_bytes = mtu - rig->config.ip_udp_bytes;
	rig->config.line_bps = line_bps;
	rig->config.train_pkts = 32768;
	rig->forth = (struct wh_link_model){.rate_bps = slow_bps, .delay_ns = delay_ns};
	rig->forth.queue_bytes = probe_rig_wire_bytes(rig) * between(prng, 32, 1200);
	/* Where a switch is part of the link, its link paces what comes at once. */
	if (wh_prng_below(prng, 2) == 0)
		rig->forth.ingress_bps = line_bps;
	rig->back = (struct wh_link_model){.rate_bps = slow_bps, .delay_ns = delay_ns};
}

static void random_lambdas(void)
{
	struct wh_prng prng;
	double worst_capacity = 0, worst_memory = 0;
	int32_t worst_burst = 0;

	wh_prng_init(&prng, 13);
	for (uint32_t i = 0; i < LAMBDAS; i++) {
		struct probe_rig rig;

		probe_rig_init(&rig);
		draw_lambda(&prng, &rig);
		CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);

		const struct wh_findings *found = &rig.prober.findings;
		double capacity = (double)rig.forth.rate_bps;
		double memory = (double)rig.forth.queue_bytes;
		int32_t off = (int32_t)found->burst_pkts - (int32_t)true_burst(&rig, 32768);

		CU_ASSERT_EQUAL(found->burst_end, WH_BURST_OVERFLOW);
		CU_ASSERT(found->burst_verified);
		WH_ASSERT_NEAR(found->trains_bps, capacity, 0.02);
		WH_ASSERT_NEAR(found->pairs_bps, capacity, 0.02);
		CU_ASSERT(off >= -1 && off <= 1);
		WH_ASSERT_NEAR(found->memory_bytes, memory, 0.05);
		worst_capacity = fmax(worst_capacity, fabs(found->trains_bps / capacity - 1));
		worst_memory = fmax(worst_memory, fabs(found->memory_bytes / memory - 1));
		worst_burst = abs(off) > worst_burst ? abs(off) : worst_burst;
		probe_rig_close(&rig);
	}
	printf("%d lambdas: capacity within %.3f %%, burst within %d packets, memory within "
	       "%.2f %%\n",
		LAMBDAS, 100 * worst_capacity, worst_burst, 100 * worst_memory);
}

/* A path that takes packets of 1400 bytes of IP, and says nothing of others. */
static bool be_narrow(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	(void)rig;
	(void)bytes;
	return !to_server || *length <= 1372;
}

static void narrow(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	rig.meddle = be_narrow;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	CU_ASSERT(rig.prober.findings.mtu_bytes <= 1400 && rig.prober.findings.mtu_bytes > 1396);
	WH_ASSERT_NEAR(rig.prober.findings.trains_bps, 1e9, 0.001);
	probe_rig_close(&rig);
}

/* Losses, copies, packets that are overtaken, and a queue that runs over all the same. */
static void all_at_once(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	rig.config.line_bps = 10000000000;
	rig.forth = (struct wh_link_model){.rate_bps = 4000000000,
		.delay_ns = 5000000,
		.queue_bytes = 1538 * 900,
		.loss = 0.001,
		.duplicate = 0.001,
		.reorder = 0.001,
		.reorder_delay_ns = 20000,
		.seed = 3};
	rig.back = (struct wh_link_model){
		.rate_bps = 4000000000, .delay_ns = 5000000, .loss = 0.05, .seed = 4};
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);

	const struct wh_findings *found = &rig.prober.findings;

	CU_ASSERT(found->echoes_heard >= found->echoes_got && found->echoes_got >= 85);
	CU_ASSERT(found->echoes_got < 100);
	CU_ASSERT_EQUAL(found->burst_end, WH_BURST_OVERFLOW);
	WH_ASSERT_NEAR(found->trains_bps, 4e9, 0.02);
	WH_ASSERT_NEAR(found->burst_pkts, 1500, 0.02);
	WH_ASSERT_NEAR(found->memory_bytes, 1538 * 900, 0.05);
	CU_ASSERT(found->overtaken_pkts > 0 && found->duplicate_pkts > 0);
	CU_ASSERT(found->steady_lost <= 6);
	probe_rig_close(&rig);
}

/* Losses by chance and no queue: they are no overflow. */
static void chance_alone(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	rig.forth.loss = 0.01;
	rig.forth.rate_bps = 500000000;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	CU_ASSERT_EQUAL(rig.prober.findings.burst_end, WH_BURST_LONGEST);
	CU_ASSERT_EQUAL(rig.prober.findings.memory_bytes, 0);
	CU_ASSERT(rig.prober.findings.steady_lost >= 3 && rig.prober.findings.steady_lost <= 25);
	probe_rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"the lambda of the paper", of_the_paper},
	{"random lambdas", random_lambdas},
	{"a narrow path", narrow},
	{"all at once", all_at_once},
	{"chance alone", chance_alone},
	CU_TEST_INFO_NULL,
};
