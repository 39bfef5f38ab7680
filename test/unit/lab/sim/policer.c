/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"

#include "lab/sim/event.h"
#include "lab/sim/policer.h"

const char wh_suite_name[] = "sim_policer";

#define US (WH_PS_PER_S / 1000000)

/* 1 Gb/s is 125 bytes a microsecond. */
static struct wh_sim_policer police(uint64_t bucket_bytes)
{
	const struct wh_sim_policer_config config = {
		.rate_bps = UINT64_C(1000000000), .bucket_bytes = bucket_bytes};
	struct wh_sim_policer policer;

	wh_sim_policer_init(&policer, &config);
	return policer;
}

static void a_full_bucket_passes_at_once(void)
{
	struct wh_sim_policer policer = police(4500);

	for (unsigned int i = 0; i < 3; i++)
		CU_ASSERT_TRUE(wh_sim_policer_passes(&policer, 0, 1500));
	CU_ASSERT_FALSE(wh_sim_policer_passes(&policer, 0, 1));
	CU_ASSERT_FALSE(wh_sim_policer_passes(&policer, 12 * US - 1, 1500));
	CU_ASSERT_TRUE(wh_sim_policer_passes(&policer, 12 * US, 1500));
	CU_ASSERT_FALSE(wh_sim_policer_passes(&policer, 12 * US, 1));
}

static void a_bucket_overflows(void)
{
	struct wh_sim_policer policer = police(3000);

	CU_ASSERT_TRUE(wh_sim_policer_passes(&policer, 1000000 * WH_PS_PER_S, 3000));
	CU_ASSERT_FALSE(wh_sim_policer_passes(&policer, 1000000 * WH_PS_PER_S, 1));
}

static void what_is_dropped_takes_nothing(void)
{
	struct wh_sim_policer policer = police(3000);

	for (unsigned int i = 0; i < 100; i++)
		CU_ASSERT_FALSE(wh_sim_policer_passes(&policer, i, 3001));
	CU_ASSERT_TRUE(wh_sim_policer_passes(&policer, 100, 3000));
}

/* Ten times its rate: of 1500 bytes each 1.2 us, a tenth passes beside the bucket's ten. */
static void what_passes_has_the_rate(void)
{
	struct wh_sim_policer policer = police(15000);
	uint32_t passed = 0;

	for (uint64_t i = 0; i < 100000; i++)
		passed += wh_sim_policer_passes(&policer, i * 12 * US / 10, 1500);
	CU_ASSERT_EQUAL(passed, 10 + 9999);
}

static void without_a_rate_all_passes(void)
{
	const struct wh_sim_policer_config config = {0};
	struct wh_sim_policer policer;

	wh_sim_policer_init(&policer, &config);
	for (unsigned int i = 0; i < 100; i++)
		CU_ASSERT_TRUE(wh_sim_policer_passes(&policer, 0, 65535));
}

CU_TestInfo wh_tests[] = {
	{"a full bucket passes at once", a_full_bucket_passes_at_once},
	{"a bucket overflows", a_bucket_overflows},
	{"what is dropped takes nothing", what_is_dropped_takes_nothing},
	{"what passes has the rate", what_passes_has_the_rate},
	{"without a rate all passes", without_a_rate_all_passes},
	CU_TEST_INFO_NULL,
};
