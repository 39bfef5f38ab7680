/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What an end's cycles make of a byte of payload, and of cores at 100 Gb/s. */

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* In turns with work, by the meters. */
struct wh_cost {
	uint64_t packet_cycles;
	uint64_t worker_cycles; /* files, jobs, repair packets */
};

/* Of all cycles those of workers; both may be a peer's, who may tell anything. */
struct wh_cost wh_cost_of(uint64_t cycles, uint64_t worker_cycles);

/*
 * {"cycles_per_byte": {"packets": .., "workers": ..}, "cores_at_100_gbps": the same}, cores of hz
 * each, whatever the other end's CPU has; zeros: nothing has moved.
 */
json_t *wh_cost_json(const struct wh_cost *cost, uint64_t bytes, uint64_t hz);

/* A line of the same for `whose`; nothing if nothing has moved. */
void wh_cost_print(
	FILE *to, const char *whose, const struct wh_cost *cost, uint64_t bytes, uint64_t hz);
