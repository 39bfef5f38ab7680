/* SPDX-License-Identifier: BSD-3-Clause */

/* When a request is repeated, in virtual time: its attempts end as each test says. */

#include "job/retry/retry.h"

#include <rte_common.h>

#include "base/clock.h"
#include "unit.h"

const char wh_suite_name[] = "app/job_retry";

#define HZ    UINT64_C(1000000)
#define NOW   (100 * HZ)
#define LANES 2

struct rig {
	struct wh_job job[LANES];
	struct wh_lanes lanes;
	struct wh_retry retry;
	uint64_t now_tsc;
};

static void set_up(struct rig *rig, uint64_t wait_ns, uint32_t retries)
{
	*rig = (struct rig){.now_tsc = NOW, .lanes = {.count = LANES, .started = LANES}};
	for (uint32_t lane = 0; lane < LANES; lane++) {
		rig->lanes.job[lane] = &rig->job[lane];
		atomic_store(&rig->job[lane].view.state, WH_JOB_OVER);
	}
	wh_retry_init(&rig->retry, HZ, wait_ns, 0, retries, NOW);
}

/* READY came then (0: it did not), and both lanes are over; the first one tells why. */
static enum wh_retry_step fail(struct rig *rig, uint64_t began_tsc, enum wh_release_status first)
{
	rig->job[0].ready.began_tsc = began_tsc;
	rig->job[0].result.failed = first;
	rig->job[1].result.failed = WH_STATUS_INTERRUPTED;
	return wh_retry_next(&rig->retry, &rig->lanes, rig->now_tsc);
}

/* Goes to the next attempt; how long that takes. */
static uint64_t pause_ns(struct rig *rig)
{
	uint64_t due_tsc = rig->retry.due_tsc;
	uint64_t pause_tsc = due_tsc - rig->now_tsc;

	CU_ASSERT_FALSE(wh_retry_is_due(&rig->retry, due_tsc - 1));
	CU_ASSERT_TRUE(wh_retry_is_due(&rig->retry, due_tsc));
	CU_ASSERT_FALSE(wh_retry_is_due(&rig->retry, due_tsc)); /* an attempt begins once */
	rig->now_tsc = due_tsc;
	return wh_tsc_to_ns(HZ, pause_tsc);
}

static void test_patience(void)
{
	CU_ASSERT_EQUAL(wh_retry_patience_ns(0), WH_NS_PER_S);
	CU_ASSERT_EQUAL(wh_retry_patience_ns(1), WH_NS_PER_S);
	CU_ASSERT_EQUAL(wh_retry_patience_ns(2), 2 * WH_NS_PER_S);
	CU_ASSERT_EQUAL(wh_retry_patience_ns(10), 512 * WH_NS_PER_S);
	CU_ASSERT_EQUAL(wh_retry_patience_ns(11), 600 * WH_NS_PER_S);
	CU_ASSERT_EQUAL(wh_retry_patience_ns(UINT32_MAX), 600 * WH_NS_PER_S);
}

/* Looks for a server that is not there; how long until that is given up. */
static uint64_t look(struct rig *rig, bool by_lanes)
{
	for (;;) {
		enum wh_retry_step step = by_lanes ? fail(rig, 0, WH_STATUS_PEER_GONE)
						   : wh_retry_unreached(&rig->retry, rig->now_tsc);

		if (step == WH_RETRY_NOT)
			return wh_tsc_to_ns(HZ, rig->now_tsc - NOW);
		CU_ASSERT_TRUE_FATAL(step == WH_RETRY_LOOKS || step == WH_RETRY_COUNTED);
		CU_ASSERT_EQUAL(pause_ns(rig), WH_RETRY_LOOK_NS);
	}
}

/* No pause is longer than a look, and each retry's patience is used. */
static void test_absent_server(void)
{
	const uint64_t wait_ns = 3 * WH_NS_PER_S;

	for (uint32_t retries = 0; retries <= 6; retries++) {
		uint64_t least_ns = wait_ns + ((UINT64_C(1) << retries) - 1) * WH_NS_PER_S;

		for (uint32_t by_lanes = 0; by_lanes < 2; by_lanes++) {
			struct rig rig;

			set_up(&rig, wait_ns, retries);

			uint64_t looked_ns = look(&rig, by_lanes);

			CU_ASSERT_TRUE(looked_ns >= least_ns);
			CU_ASSERT_TRUE(looked_ns <= least_ns + 2 * retries * WH_RETRY_LOOK_NS +
							    WH_RETRY_LOOK_NS);
			CU_ASSERT_EQUAL(rig.retry.used, retries);
			CU_ASSERT_EQUAL(rig.retry.left, 0);
		}
	}
}

/* Without a retry and without a wait there is one attempt. */
static void test_one_attempt(void)
{
	struct rig rig;

	set_up(&rig, 0, 0);
	CU_ASSERT_EQUAL(fail(&rig, 0, WH_STATUS_PEER_GONE), WH_RETRY_NOT);
	CU_ASSERT_EQUAL(fail(&rig, NOW, WH_STATUS_PEER_GONE), WH_RETRY_NOT);
}

/* Each further address of a server has its attempt, and has one again with each retry. */
static void test_other_addresses(void)
{
	static const enum wh_retry_step steps[] = {WH_RETRY_LOOKS, WH_RETRY_LOOKS, WH_RETRY_COUNTED,
		WH_RETRY_LOOKS, WH_RETRY_LOOKS, WH_RETRY_NOT};
	struct rig rig;

	set_up(&rig, 0, 0);
	wh_retry_init(&rig.retry, HZ, 0, 2, 1, NOW);
	for (uint32_t i = 0; i < RTE_DIM(steps); i++) {
		CU_ASSERT_EQUAL(fail(&rig, 0, WH_STATUS_PEER_GONE), steps[i]);
		/* An attempt outlasts the patience of the first retry. */
		if (steps[i] != WH_RETRY_NOT)
			(void)pause_ns(&rig);
		rig.now_tsc += 2 * HZ;
	}
	/* One that was reached is not looked for elsewhere. */
	set_up(&rig, 0, 0);
	wh_retry_init(&rig.retry, HZ, 0, 2, 0, NOW);
	CU_ASSERT_EQUAL(fail(&rig, NOW, WH_STATUS_PEER_GONE), WH_RETRY_NOT);
}

/* Only what the network, or a restart of the server, ends may pass. */
static void test_what_passes(void)
{
	static const bool passes[WH_STATUSES] = {
		[WH_STATUS_PEER_GONE] = true,
		[WH_STATUS_REPLACED] = true,
		[WH_STATUS_UNHEARD] = true,
		[WH_STATUS_STALLED] = true,
		[WH_STATUS_INTERRUPTED] = true,
		[WH_STATUS_BUSY] = true,
	};

	for (uint32_t status = WH_STATUS_MISMATCH; status < WH_STATUSES; status++) {
		struct rig rig;

		set_up(&rig, 0, 1);
		CU_ASSERT_EQUAL(fail(&rig, NOW, (enum wh_release_status)status),
			passes[status] ? WH_RETRY_COUNTED : WH_RETRY_NOT);
	}
}

static void test_all_lanes_end_first(void)
{
	struct rig rig;

	set_up(&rig, 0, 1);
	atomic_store(&rig.job[1].view.state, WH_JOB_ENDING);
	CU_ASSERT_EQUAL(fail(&rig, NOW, WH_STATUS_PEER_GONE), WH_RETRY_ENDING);
	CU_ASSERT_EQUAL(rig.retry.left, 1);
	atomic_store(&rig.job[1].view.state, WH_JOB_OVER);
	CU_ASSERT_EQUAL(fail(&rig, NOW, WH_STATUS_PEER_GONE), WH_RETRY_COUNTED);
	CU_ASSERT_EQUAL(rig.retry.left, 0);
}

/* A server that is gone is looked for at once, however often. */
static void test_gone(void)
{
	static const enum wh_release_status gone[] = {
		WH_STATUS_PEER_GONE, WH_STATUS_UNHEARD, WH_STATUS_REPLACED};
	struct rig rig;

	set_up(&rig, 0, 30);
	for (uint32_t i = 0; i < 30; i++) {
		CU_ASSERT_EQUAL(fail(&rig, rig.now_tsc, gone[i % 3]), WH_RETRY_COUNTED);
		CU_ASSERT_TRUE(wh_retry_may_hurry(&rig.lanes));
		CU_ASSERT_EQUAL(pause_ns(&rig), WH_RETRY_LOOK_NS);
	}
	CU_ASSERT_EQUAL(fail(&rig, rig.now_tsc, gone[0]), WH_RETRY_NOT);
}

/* One that answers and soon ends the request gets longer and longer pauses. */
static void test_pauses(void)
{
	struct rig rig;
	uint64_t due_ns = WH_RETRY_PAUSE_NS;

	set_up(&rig, 0, 20);
	for (uint32_t i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(fail(&rig, rig.now_tsc, WH_STATUS_BUSY), WH_RETRY_COUNTED);
		CU_ASSERT_FALSE(wh_retry_may_hurry(&rig.lanes));
		CU_ASSERT_EQUAL(pause_ns(&rig), due_ns);
		due_ns = wh_min_u64(2 * due_ns, WH_RETRY_PAUSE_MAX_NS);
	}
	CU_ASSERT_EQUAL(due_ns, WH_RETRY_PAUSE_MAX_NS);
	/* One that has gone on for longer than the pause begins with the first again. */
	uint64_t began_tsc = rig.now_tsc;

	rig.now_tsc += wh_ns_to_tsc(HZ, WH_RETRY_PAUSE_MAX_NS) + 1;
	CU_ASSERT_EQUAL(fail(&rig, began_tsc, WH_STATUS_STALLED), WH_RETRY_COUNTED);
	CU_ASSERT_EQUAL(pause_ns(&rig), WH_RETRY_PAUSE_NS);
}

/* Its bytes do not come twice; as long as none was read it may look for the server. */
static void test_pipe(void)
{
	struct rig rig;

	set_up(&rig, WH_NS_PER_S, 5);
	rig.job[0].request.here.is_pipe = true;
	CU_ASSERT_EQUAL(fail(&rig, 0, WH_STATUS_PEER_GONE), WH_RETRY_LOOKS);
	CU_ASSERT_EQUAL(fail(&rig, 0, WH_STATUS_PEER_GONE), WH_RETRY_WAITS);
	CU_ASSERT_EQUAL(pause_ns(&rig), WH_RETRY_LOOK_NS);
	CU_ASSERT_EQUAL(fail(&rig, NOW, WH_STATUS_PEER_GONE), WH_RETRY_NOT);
	CU_ASSERT_EQUAL(rig.retry.left, 5);
}

CU_TestInfo wh_tests[] = {
	{"patience", test_patience},
	{"a server that is not there", test_absent_server},
	{"one attempt", test_one_attempt},
	{"other addresses", test_other_addresses},
	{"what may pass", test_what_passes},
	{"all lanes end first", test_all_lanes_end_first},
	{"a server that is gone", test_gone},
	{"a server that ends it", test_pauses},
	{"a pipe", test_pipe},
	CU_TEST_INFO_NULL,
};
