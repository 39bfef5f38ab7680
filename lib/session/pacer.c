/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/pacer.h"

#include <rte_branch_prediction.h>

#include "base/assert.h"
#include "base/clock.h"

/* A quarter of each interval recovers owed time, so packets are sent a third faster. */
#define MADE_GOOD 4

#define FRACTION_MASK ((UINT64_C(1) << WH_INTERVAL_FRACTION_BITS) - 1)

/* Leaves room for one more interval; a longer burst has no effective bound. */
#define BURST_MAX_FP (UINT64_C(1) << 62)

void wh_pacer_init(
	struct wh_pacer *pacer, uint64_t now_tsc, uint32_t full_bytes, uint32_t burst_pkts)
{
	WH_ASSERT(full_bytes > 0);
	WH_ASSERT(burst_pkts > 0);
	*pacer = (struct wh_pacer){
		.due_tsc = now_tsc,
		.full_bytes = full_bytes,
		.burst_pkts = burst_pkts,
	};
}

void wh_pacer_set_interval(struct wh_pacer *pacer, uint64_t interval_fp)
{
	WH_ASSERT(interval_fp == 0 || interval_fp >= WH_INTERVAL_MIN_FP);
	WH_ASSERT(interval_fp <= WH_INTERVAL_MAX_FP);
	pacer->interval_fp = interval_fp;
	if (__builtin_mul_overflow(interval_fp, (uint64_t)pacer->burst_pkts, &pacer->burst_fp) ||
		pacer->burst_fp > BURST_MAX_FP)
		pacer->burst_fp = BURST_MAX_FP;
}

void wh_pacer_set_burst(struct wh_pacer *pacer, uint32_t burst_pkts)
{
	WH_ASSERT(burst_pkts > 0);
	pacer->burst_pkts = burst_pkts;
	wh_pacer_set_interval(pacer, pacer->interval_fp);
}

void wh_pacer_set_owed_most(struct wh_pacer *pacer, uint64_t owed_most_tsc)
{
	pacer->owed_most_tsc = owed_most_tsc;
	pacer->owed_tsc = wh_min_u64(pacer->owed_tsc, owed_most_tsc);
}

void wh_pacer_grant(struct wh_pacer *pacer, uint64_t granted)
{
	if (granted <= pacer->granted)
		return;
	pacer->tokens += granted - pacer->granted;
	pacer->granted = granted;
	WH_ASSERT(pacer->tokens <= pacer->granted);
}

void wh_pacer_allow(struct wh_pacer *pacer, uint64_t allowed)
{
	WH_ASSERT(pacer->granted == 0);
	pacer->waited |= wh_pacer_tokens_out(pacer);
	pacer->by_tokens = true;
	pacer->allowed = allowed;
}

/* Sets the due time so that this packet and burst_pkts - 1 more are due by now, but no others. */
static void forfeit(struct wh_pacer *pacer, uint64_t now_tsc)
{
	uint64_t credit_fp = pacer->burst_fp - pacer->interval_fp;
	uint64_t due_tsc = now_tsc - (credit_fp >> WH_INTERVAL_FRACTION_BITS);

	WH_ASSERT(due_tsc >= pacer->due_tsc);

	uint64_t late_tsc = due_tsc - pacer->due_tsc;
	uint64_t owed_tsc =
		pacer->waited ? 0 : wh_min_u64(late_tsc, pacer->owed_most_tsc - pacer->owed_tsc);

	pacer->owed_tsc += owed_tsc;
	pacer->forfeited_tsc += pacer->waited ? 0 : late_tsc - owed_tsc;
	pacer->due_tsc = due_tsc;
	pacer->due_fp = 0;
}

/* wire_bytes / full_bytes of the interval, exactly. Divides first, so that nothing overflows. */
static uint64_t share_of_interval(const struct wh_pacer *pacer, uint32_t wire_bytes)
{
	uint64_t per_byte_fp = pacer->interval_fp / pacer->full_bytes;
	uint64_t rest_fp = pacer->interval_fp % pacer->full_bytes;

	WH_DEBUG_ASSERT(wire_bytes / 8 <= pacer->full_bytes);
	return per_byte_fp * wire_bytes + rest_fp * wire_bytes / pacer->full_bytes;
}

/* How much less a packet outside of a catch-up burst is charged, to recover owed time. */
static uint64_t make_good(struct wh_pacer *pacer, uint64_t charge_fp)
{
	uint64_t owed_fp = wh_min_u64(pacer->owed_tsc, BURST_MAX_FP >> WH_INTERVAL_FRACTION_BITS)
			   << WH_INTERVAL_FRACTION_BITS;
	uint64_t less_fp = wh_min_u64(charge_fp / MADE_GOOD, owed_fp);

	/* Rounded up, in favour of the schedule. */
	pacer->owed_tsc -= (less_fp + FRACTION_MASK) >> WH_INTERVAL_FRACTION_BITS;
	return less_fp;
}

void wh_pacer_charge(struct wh_pacer *pacer, uint64_t now_tsc, uint32_t wire_bytes)
{
	pacer->gone++;
	if (pacer->interval_fp == 0) {
		wh_pacer_idle(pacer, now_tsc);
		wh_histogram_add(&pacer->lateness_tsc, 0);
		return;
	}

	if (unlikely(pacer->tokens > 0) && now_tsc < pacer->due_tsc) {
		pacer->tokens--;
		wh_histogram_add(&pacer->lateness_tsc, 0);
		return;
	}

	uint64_t late_tsc = now_tsc > pacer->due_tsc ? now_tsc - pacer->due_tsc : 0;

	wh_histogram_add(&pacer->lateness_tsc, late_tsc);
	if (late_tsc >= (pacer->due_fp + pacer->burst_fp) >> WH_INTERVAL_FRACTION_BITS)
		forfeit(pacer, now_tsc);
	if (!pacer->waited)
		pacer->late_tsc = wh_max_u64(pacer->late_tsc,
			wh_min_u64(late_tsc, pacer->burst_fp >> WH_INTERVAL_FRACTION_BITS));

	uint64_t charge_fp = wire_bytes == pacer->full_bytes ? pacer->interval_fp
							     : share_of_interval(pacer, wire_bytes);

	if (unlikely(pacer->owed_tsc > 0) &&
		late_tsc <= pacer->interval_fp >> WH_INTERVAL_FRACTION_BITS)
		charge_fp -= make_good(pacer, charge_fp);
	pacer->waited = false;
	pacer->due_fp += charge_fp;
	pacer->due_tsc += pacer->due_fp >> WH_INTERVAL_FRACTION_BITS;
	pacer->due_fp &= FRACTION_MASK;
}

void wh_pacer_hasten(struct wh_pacer *pacer, uint64_t now_tsc)
{
	uint64_t latest_tsc = now_tsc + (pacer->interval_fp >> WH_INTERVAL_FRACTION_BITS);

	if (pacer->due_tsc <= latest_tsc)
		return;
	pacer->due_tsc = latest_tsc;
	pacer->due_fp = 0;
}

/* Nothing is due before until_tsc. */
static void delay_until(struct wh_pacer *pacer, uint64_t until_tsc)
{
	if (pacer->due_tsc >= until_tsc)
		return;
	pacer->due_tsc = until_tsc;
	pacer->due_fp = 0;
}

void wh_pacer_idle(struct wh_pacer *pacer, uint64_t now_tsc)
{
	pacer->owed_tsc = 0;
	delay_until(pacer, now_tsc);
}

void wh_pacer_hold_until(struct wh_pacer *pacer, uint64_t until_tsc)
{
	if (until_tsc > pacer->held_until_tsc)
		pacer->held_until_tsc = until_tsc;
	delay_until(pacer, until_tsc);
}
