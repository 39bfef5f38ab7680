/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_eth_read_clock, since DPDK 19.08 */
#include "port/nic_clock.h"

#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "base/assert.h"
#include "base/clock.h"

/* A reading within which the core was interrupted says too little. */
#define READING_US 20

/* How far a reading may be from what the previous ones promised: 40 ppm of two seconds. */
#define STRAYS_US 80

/* Of several readings the quickest is taken. */
#define TRIES 3

/* Clocks of NICs run at 1 kHz to 10 GHz. */
#define TSC_PER_TICK_MIN 0.1
#define TSC_PER_TICK_MAX 1e7

bool wh_nic_clock_is_readable(uint16_t ethdev, const char *driver)
{
	static const char *const drivers[] = {
		"mlx5_pci", "mlx5_auxiliary", "net_cn9k", "net_cn10k"};
	uint64_t ticks;

	for (size_t i = 0; i < RTE_DIM(drivers); i++)
		if (strcmp(driver, drivers[i]) == 0)
			return rte_eth_read_clock(ethdev, &ticks) == 0;
	return false;
}

void wh_nic_clock_init(struct wh_nic_clock *clock, uint64_t hz)
{
	WH_ASSERT(hz > 0);
	*clock = (struct wh_nic_clock){.hz = hz};
}

static void set_rate(struct wh_nic_clock *clock, struct wh_nic_rate rate)
{
	uint32_t other = !clock->current;

	clock->rate[other] = rate;
	__atomic_store_n(&clock->current, other, __ATOMIC_RELEASE);
}

static bool strays(const struct wh_nic_clock *clock, const struct wh_nic_reading *reading)
{
	const struct wh_nic_rate *rate = &clock->rate[clock->current];
	double expected_tsc =
		(double)(int64_t)(reading->ticks - rate->at.ticks) * rate->tsc_per_tick;
	double off_tsc = expected_tsc - (double)(int64_t)(reading->tsc - rate->at.tsc);

	return rate->tsc_per_tick > 0 &&
	       (off_tsc < 0 ? -off_tsc : off_tsc) > (double)wh_us_to_tsc(clock->hz, STRAYS_US);
}

static void keep(struct wh_nic_clock *clock, struct wh_nic_reading reading)
{
	if (clock->readings == WH_NIC_CLOCK_READINGS)
		memmove(&clock->reading[0], &clock->reading[1],
			--clock->readings * sizeof(clock->reading[0]));
	clock->reading[clock->readings++] = reading;
}

/* From the first to the last of the readings. */
static struct wh_nic_rate rate_of(const struct wh_nic_clock *clock)
{
	const struct wh_nic_reading *first = &clock->reading[0];
	const struct wh_nic_reading *last = &clock->reading[clock->readings - 1];
	double ticks = (double)(int64_t)(last->ticks - first->ticks);
	struct wh_nic_rate rate = {.at = *last};

	if (ticks > 0)
		rate.tsc_per_tick = (double)(last->tsc - first->tsc) / ticks;
	if (!(rate.tsc_per_tick >= TSC_PER_TICK_MIN && rate.tsc_per_tick <= TSC_PER_TICK_MAX))
		rate.tsc_per_tick = 0;
	return rate;
}

void wh_nic_clock_note(
	struct wh_nic_clock *clock, uint64_t before_tsc, uint64_t ticks, uint64_t after_tsc)
{
	struct wh_nic_reading reading = {
		.tsc = before_tsc + (after_tsc - before_tsc) / 2, .ticks = ticks};

	if (after_tsc - before_tsc > wh_us_to_tsc(clock->hz, READING_US))
		return; /* and again at the next chance */
	clock->next_tsc =
		after_tsc + wh_us_to_tsc(clock->hz, WH_NIC_CLOCK_EVERY_MS * UINT64_C(1000));
	if (strays(clock, &reading))
		clock->readings = 0;
	keep(clock, reading);
	set_rate(clock, rate_of(clock));
}

void wh_nic_clock_watch(struct wh_nic_clock *clock, uint16_t ethdev)
{
	uint64_t ticks[TRIES];
	uint64_t tsc[TRIES + 1];
	uint32_t best = 0;

	if (rte_rdtsc() < clock->next_tsc)
		return;
	tsc[0] = rte_rdtsc();
	for (uint32_t i = 0; i < TRIES; i++) {
		if (rte_eth_read_clock(ethdev, &ticks[i]) != 0)
			return;
		tsc[i + 1] = rte_rdtsc();
		if (tsc[i + 1] - tsc[i] < tsc[best + 1] - tsc[best])
			best = i;
	}
	wh_nic_clock_note(clock, tsc[best], ticks[best], tsc[best + 1]);
}
