/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Packet arrival speed AS by the median filter of udt.txt III B. Every interval is recorded: the
 * filter removes those of packet pairs and of pauses of the sender.
 */

#include <stdbool.h>
#include <stdint.h>

#include "measure/constants.h"

struct wh_arrival {
	uint64_t hz;
	uint64_t last_tsc;
	bool has_last;
	uint32_t count;  /* intervals held, up to WH_ARRIVAL_INTERVALS */
	uint32_t cursor; /* of the next interval to overwrite */
	uint64_t interval_tsc[WH_ARRIVAL_INTERVALS];
};

void wh_arrival_init(struct wh_arrival *arrival, uint64_t hz);

/* A data packet arrived; times never decrease. */
void wh_arrival_add(struct wh_arrival *arrival, uint64_t arrived_tsc);

/*
 * Packets per second. 0: unknown, because the window is not full, at most half of it passes the
 * filter, or its median is 0, since packets of one receive burst share a timestamp.
 */
uint32_t wh_arrival_get(const struct wh_arrival *arrival);
