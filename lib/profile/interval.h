/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The time from one full packet to the next, in cycles with fractions kept (44.20 fixed point), so
 * that a rate is exact over any number of packets.
 */

#include <assert.h>
#include <stdint.h>

#define WH_INTERVAL_FRACTION_BITS 20

/* From one cycle to about 18 minutes at 1 GHz: sums of a few intervals cannot overflow. */
#define WH_INTERVAL_MIN_FP (UINT64_C(1) << WH_INTERVAL_FRACTION_BITS)
#define WH_INTERVAL_MAX_FP (UINT64_C(1) << (40 + WH_INTERVAL_FRACTION_BITS))

static_assert(WH_INTERVAL_MAX_FP <= UINT64_MAX / 8, "a sum of eight fits");

/* Interval of a rate: hz * bytes * 8 / bps, rounded, within the bounds above; bps > 0. */
uint64_t wh_interval_fp(uint64_t hz, uint32_t wire_bytes, uint64_t rate_bps);

struct wh_control;

/* The interval of config.rate_bps, for controllers; 0: the rate is unlimited. */
uint64_t wh_control_rate_fp(const struct wh_control *control);
