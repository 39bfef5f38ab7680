/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/loss_rate.h"

#include "unit.h"

const char wh_suite_name[] = "loss_rate";

static void test_first_packets(void)
{
	struct wh_loss_rate loss;

	wh_loss_rate_init(&loss);
	CU_ASSERT_EQUAL(wh_loss_rate_short(&loss), 0.0);
	CU_ASSERT_EQUAL(wh_loss_rate_long(&loss), 0.0);
	CU_ASSERT_EQUAL(wh_loss_rate_get(&loss), 0.0);

	wh_loss_rate_add(&loss, 0, 0);
	CU_ASSERT_EQUAL(wh_loss_rate_get(&loss), 0.0);

	/* The first count stands for all that is known: 10 of 100, not 10 of 1024. */
	wh_loss_rate_add(&loss, 100, 10);
	WH_ASSERT_NEAR(wh_loss_rate_short(&loss), 0.1, 1e-12);
	WH_ASSERT_NEAR(wh_loss_rate_long(&loss), 0.1, 1e-12);
	WH_ASSERT_NEAR(wh_loss_rate_get(&loss), 0.1, 1e-12);

	wh_loss_rate_add(&loss, 300, 0); /* 10 of 400 */
	WH_ASSERT_NEAR(wh_loss_rate_short(&loss), 0.025, 1e-12);
	WH_ASSERT_NEAR(wh_loss_rate_long(&loss), 0.025, 1e-12);

	wh_loss_rate_add(&loss, 0, 0);
	WH_ASSERT_NEAR(wh_loss_rate_short(&loss), 0.025, 1e-12);
	CU_ASSERT_EQUAL(loss.total_pkts, 400);
	CU_ASSERT_EQUAL(loss.lost_pkts, 10);
}

/*
 * 1024 lost after a million good ones: short (1 - 1/1024)^1024 = exp(-1.000489) = 0.367700 is kept
 * of the 0 before, so 0.632300; long 1024 / 1001024 = 0.00102295; mean of both 0.316662.
 */
static void test_long_and_short(void)
{
	struct wh_loss_rate at_once, one_by_one;

	wh_loss_rate_init(&at_once);
	wh_loss_rate_init(&one_by_one);
	wh_loss_rate_add(&at_once, 1000000, 0);
	wh_loss_rate_add(&one_by_one, 1000000, 0);
	wh_loss_rate_add(&at_once, 1024, 1024);
	for (int i = 0; i < 1024; i++)
		wh_loss_rate_add(&one_by_one, 1, 1);
	WH_ASSERT_NEAR(wh_loss_rate_short(&at_once), 0.632300, 1e-6);
	WH_ASSERT_NEAR(wh_loss_rate_long(&at_once), 0.00102295, 1e-5);
	WH_ASSERT_NEAR(wh_loss_rate_get(&at_once), 0.316662, 1e-5);
	WH_ASSERT_NEAR(wh_loss_rate_short(&one_by_one), wh_loss_rate_short(&at_once), 1e-9);
	WH_ASSERT_NEAR(wh_loss_rate_get(&one_by_one), wh_loss_rate_get(&at_once), 1e-9);
}

/* A loss event goes from the short term with the packets after it; the long term keeps it. */
static void test_forgets(void)
{
	struct wh_loss_rate loss;

	wh_loss_rate_init(&loss);
	wh_loss_rate_add(&loss, 1024, 1024);
	CU_ASSERT_EQUAL(wh_loss_rate_short(&loss), 1.0);
	for (int i = 0; i < 20; i++)
		wh_loss_rate_add(&loss, 1024, 0);
	CU_ASSERT(wh_loss_rate_short(&loss) < 1e-8);
	WH_ASSERT_NEAR(wh_loss_rate_long(&loss), 1.0 / 21.0, 1e-12);
}

static void test_extremes(void)
{
	struct wh_loss_rate loss;

	wh_loss_rate_init(&loss);
	wh_loss_rate_add(&loss, UINT64_C(1) << 60, 0);
	wh_loss_rate_add(&loss, UINT64_C(1) << 60, UINT64_C(1) << 60);
	CU_ASSERT_EQUAL(wh_loss_rate_short(&loss), 1.0);
	CU_ASSERT_EQUAL(wh_loss_rate_long(&loss), 0.5);
	CU_ASSERT_EQUAL(wh_loss_rate_get(&loss), 0.75);
}

CU_TestInfo wh_tests[] = {
	{"first packets", test_first_packets},
	{"long and short term", test_long_and_short},
	{"short term forgets", test_forgets},
	{"extremes", test_extremes},
	CU_TEST_INFO_NULL,
};
