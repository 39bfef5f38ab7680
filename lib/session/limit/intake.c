/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/limit/intake.h"

#include <math.h>

#include "base/assert.h"
#include "base/clock.h"

/* After ten overflows in a row. Then it takes 1023 times WH_INTAKE_GROWS_MS to the whole. */
#define SHARE_LEAST 0x1p-10

static double share_now(const struct wh_intake_share *intake, uint64_t hz, uint64_t now_tsc)
{
	if (intake->cut_tsc == 0)
		return 1.0;

	uint64_t since_tsc = now_tsc > intake->cut_tsc ? now_tsc - intake->cut_tsc : 0;
	double grows_tsc = (double)(hz / 1000 * WH_INTAKE_GROWS_MS);

	return fmin(intake->share * (1.0 + (double)since_tsc / grows_tsc), 1.0);
}

void wh_intake_overflowed(struct wh_intake_share *intake, uint64_t hz, uint64_t now_tsc)
{
	WH_ASSERT(now_tsc > 0);
	if (intake->cut_tsc > 0 && now_tsc < intake->cut_tsc + hz / 1000 * WH_INTAKE_PAUSE_MS)
		return;
	intake->share = fmax(share_now(intake, hz, now_tsc) / 2, SHARE_LEAST);
	intake->cut_tsc = now_tsc;
}

uint64_t wh_intake_pkts(
	const struct wh_intake_share *intake, uint64_t hz, uint64_t now_tsc, uint64_t table_pkts)
{
	uint64_t pkts = (uint64_t)(share_now(intake, hz, now_tsc) * (double)table_pkts);

	return wh_min_u64(wh_max_u64(pkts, WH_INTAKE_PKTS_MIN), table_pkts);
}
