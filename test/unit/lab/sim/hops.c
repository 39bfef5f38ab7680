/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "lab/sim/hops.h"
#include "unit.h"

const char wh_suite_name[] = "sim_hops";

#define DRAWS 200000

/* A hop of a millisecond and no waiting: the delay is the number of hops. */
static void test_geometric(void)
{
	static const double means[] = {1.0, 1.05, 2.0, 5.0};

	for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++) {
		const struct wh_sim_hops hops = {.mean = means[m], .service_ps = 1000000000};
		uint32_t count[4] = {0}; /* of 1 to 3 hops, and of all */
		struct wh_prng prng;
		double sum = 0.0;

		wh_prng_init(&prng, 1 + m);
		for (uint32_t i = 0; i < DRAWS; i++) {
			uint64_t delay_ps = wh_sim_hops_draw_ps(&hops, &prng);
			uint64_t n = delay_ps / hops.service_ps;

			CU_ASSERT_EQUAL(delay_ps % hops.service_ps, 0);
			CU_ASSERT(n >= 1);
			if (n <= 3)
				count[n - 1]++;
			sum += (double)n;
		}
		CU_ASSERT(fabs(sum / DRAWS - means[m]) < 0.02 * means[m]);
		/* P(N = n) = (1 - p)^(n - 1) p with p = 1 / mean, within four deviations. */
		for (uint32_t n = 1; n <= 3; n++) {
			double p = pow(1.0 - 1.0 / means[m], n - 1) / means[m];
			double error = 4.0 * sqrt(p * (1.0 - p) / DRAWS) + 1e-9;

			CU_ASSERT(fabs((double)count[n - 1] / DRAWS - p) < error);
		}
	}
}

/* T = N (S + W): one hop, a wait of 3 ms in the mean beside a service of 2. */
static void test_wait(void)
{
	const struct wh_sim_hops hops = {
		.mean = 1.0, .service_ps = 2000000000, .wait_ps = UINT64_C(3000000000)};
	struct wh_prng prng;
	uint32_t beyond = 0;
	double sum = 0.0;

	wh_prng_init(&prng, 7);
	for (uint32_t i = 0; i < DRAWS; i++) {
		uint64_t delay_ps = wh_sim_hops_draw_ps(&hops, &prng);

		CU_ASSERT(delay_ps >= hops.service_ps);
		beyond += delay_ps > hops.service_ps + 2 * hops.wait_ps;
		sum += (double)delay_ps;
	}
	CU_ASSERT(fabs(sum / DRAWS / 5e9 - 1.0) < 0.01);
	CU_ASSERT(fabs((double)beyond / DRAWS - exp(-2.0)) < 0.004);
}

CU_TestInfo wh_tests[] = {
	{"geometric", test_geometric},
	{"waiting", test_wait},
	CU_TEST_INFO_NULL,
};
