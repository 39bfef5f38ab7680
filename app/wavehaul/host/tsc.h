/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TSC_H
#define WH_APP_TSC_H

/*
 * The rate of the time-stamp counter. Where the CPU does not tell it, EAL sleeps for 100 ms to
 * measure it, and rounds what it finds to 10 MHz: 0.15 % off at 2596 MHz, while pacing is to be
 * right to 0.01 %. Here it is measured over what a start takes anyway, against the kernel's clock
 * that nobody adjusts (CLOCK_MONOTONIC_RAW): to a few parts in a million.
 */

#include <stdint.h>

struct wh_tsc_stamp {
	uint64_t tsc;
	uint64_t ns;
};

/* Both counters at one moment. */
struct wh_tsc_stamp wh_tsc_stamp(void);

/* Cycles a second since then; waits for the rest of 10 ms after it. */
uint64_t wh_tsc_measure_hz(const struct wh_tsc_stamp *since);

#endif
