/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/hops.h"

#include "base/arith.h"
#include "base/assert.h"

/* Limits the number of hops; the probability of more is negligible. */
#define HOPS_MAX 1e6

/* Uniform in (0, 1]. */
static double share(struct wh_prng *prng)
{
	return 1.0 - wh_prng_unit(prng);
}

/* At each hop the probability of another is 1 - 1/mean. */
static double draw_hops(double mean, struct wh_prng *prng)
{
	double hops;

	if (mean == 1.0)
		return 1.0;
	hops = 1.0 + wh_log(share(prng)) / wh_log(1.0 - 1.0 / mean);
	return hops < HOPS_MAX ? (double)(uint64_t)hops : HOPS_MAX;
}

uint64_t wh_sim_hops_draw_ps(const struct wh_sim_hops *hops, struct wh_prng *prng)
{
	double wait_ps = -wh_log(share(prng)) * (double)hops->wait_ps;

	WH_ASSERT(hops->mean >= 1.0);
	return (uint64_t)(draw_hops(hops->mean, prng) * ((double)hops->service_ps + wait_ps));
}
