/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/cost.h"

#include "base/clock.h"

#define BYTES_PER_S 12.5e9 /* at 100 Gb/s */

struct wh_cost wh_cost_of(uint64_t cycles, uint64_t worker_cycles)
{
	uint64_t workers = wh_min_u64(worker_cycles, cycles);

	return (struct wh_cost){.packet_cycles = cycles - workers, .worker_cycles = workers};
}

static double per_byte(uint64_t cycles, uint64_t bytes)
{
	return bytes > 0 ? (double)cycles / (double)bytes : 0;
}

static double cores(uint64_t cycles, uint64_t bytes, uint64_t hz)
{
	return hz > 0 ? per_byte(cycles, bytes) * BYTES_PER_S / (double)hz : 0;
}

json_t *wh_cost_json(const struct wh_cost *cost, uint64_t bytes, uint64_t hz)
{
	return json_pack("{s:{s:f, s:f}, s:{s:f, s:f}}", "cycles_per_byte", "packets",
		per_byte(cost->packet_cycles, bytes), "workers",
		per_byte(cost->worker_cycles, bytes), "cores_at_100_gbps", "packets",
		cores(cost->packet_cycles, bytes, hz), "workers",
		cores(cost->worker_cycles, bytes, hz));
}

void wh_cost_print(
	FILE *to, const char *whose, const struct wh_cost *cost, uint64_t bytes, uint64_t hz)
{
	if (bytes == 0)
		return;
	fprintf(to,
		"cycles a byte %s: %.3f of packets, %.3f of workers; at 100 Gb/s %.2f and %.2f "
		"cores\n",
		whose, per_byte(cost->packet_cycles, bytes), per_byte(cost->worker_cycles, bytes),
		cores(cost->packet_cycles, bytes, hz), cores(cost->worker_cycles, bytes, hz));
}
