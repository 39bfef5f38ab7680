/* SPDX-License-Identifier: BSD-3-Clause */
/* A probe of a lambda that nothing is wrong with, and of a peer that does not want it. */
#include "probe_rig.h"
#include "unit.h"

const char wh_suite_name[] = "prober";

static void plain_lambda(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);

	const struct wh_findings *found = &rig.prober.findings;

	CU_ASSERT_EQUAL(found->echoes_sent, 100);
	CU_ASSERT_EQUAL(found->echoes_heard, 100);
	CU_ASSERT_EQUAL(found->echoes_got, 100);
	/* 20 ms, and twice a head of 130 bytes at 1 Gb/s. */
	CU_ASSERT_EQUAL(found->rtt_min_ns, 20000000 + 2 * 1040);
	CU_ASSERT_EQUAL(found->rtt_p99_ns, found->rtt_min_ns);
	CU_ASSERT_EQUAL(found->mtu_bytes, 1500);
	CU_ASSERT_EQUAL(found->pairs, WH_PROBER_PAIRS);
	WH_ASSERT_NEAR(found->pairs_bps, 1e9, 0.001);
	WH_ASSERT_NEAR(found->trains_bps, 1e9, 0.001);
	CU_ASSERT_EQUAL(found->burst_end, WH_BURST_LONGEST);
	CU_ASSERT_EQUAL(found->burst_pkts, 8192);
	CU_ASSERT(found->burst_verified);
	CU_ASSERT_EQUAL(found->memory_bytes, 0);
	CU_ASSERT_EQUAL(found->steady_sent, WH_PROBER_STEADY_PKTS);
	CU_ASSERT_EQUAL(found->steady_lost, 0);
	CU_ASSERT_EQUAL(found->overtaken_pkts, 0);
	CU_ASSERT_EQUAL(found->duplicate_pkts, 0);
	CU_ASSERT_EQUAL(rig.server.answerer.stats.probes, 1);
	probe_rig_close(&rig);
}

static void refused(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	rig.welcome = WH_STATUS_BUSY;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_REFUSED);
	CU_ASSERT_EQUAL(rig.prober.findings.refused, WH_STATUS_BUSY);
	CU_ASSERT_EQUAL(rig.heard_pkts, 1);
	probe_rig_close(&rig);
}

/* A transfer has begun: not a train more. */
static bool become_busy(struct probe_rig *rig, bool to_server, uint8_t *bytes, uint32_t *length)
{
	(void)bytes;
	(void)length;
	if (to_server && rig->server.answerer.stats.train_pkts > 300)
		rig->welcome = WH_STATUS_BUSY;
	return true;
}

static void refused_in_the_middle(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	rig.meddle = become_busy;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_REFUSED);
	CU_ASSERT(rig.server.answerer.stats.train_pkts <= 128 + 16 + 32 + 64 + 128);
	probe_rig_close(&rig);
}

static void never_longer_than_the_question(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_DONE);
	CU_ASSERT(rig.said_bytes < rig.heard_bytes);
	CU_ASSERT(rig.said_pkts < rig.heard_pkts);

	struct wh_prober_bounds bounds;

	wh_prober_bounds(&rig.config, &bounds);
	CU_ASSERT_EQUAL(rig.heard_pkts, rig.prober.findings.sent_pkts);
	CU_ASSERT(rig.prober.findings.sent_pkts <= bounds.pkts);
	CU_ASSERT(rig.prober.findings.sent_bytes <= bounds.bytes);
	probe_rig_close(&rig);
}

static void out_of_time(void)
{
	struct probe_rig rig;

	probe_rig_init(&rig);
	rig.config.duration_ns = 300000000;
	CU_ASSERT_EQUAL(probe_rig_run(&rig), WH_PROBER_BOUND);
	CU_ASSERT_EQUAL(rig.prober.findings.echoes_got, 100);
	CU_ASSERT(rig.now_tsc < 310000000);
	probe_rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"a plain lambda", plain_lambda},
	{"refused", refused},
	{"refused in the middle", refused_in_the_middle},
	{"never longer than the question", never_longer_than_the_question},
	{"out of time", out_of_time},
	CU_TEST_INFO_NULL,
};
