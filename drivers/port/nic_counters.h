/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Counters of NICs that tell of packets lost or held back in the NIC, below what ethdev's common
 * statistics tell, by the names that their drivers give them (xstats). Reading them may be a
 * command to the NIC or a call of the kernel: no core that moves packets should.
 */

#include <stdint.h>

#define WH_NIC_COUNTERS_MAX 16

struct wh_nic_counters {
	uint32_t count; /* those that this device has */
	uint8_t known[WH_NIC_COUNTERS_MAX];
	uint64_t id[WH_NIC_COUNTERS_MAX]; /* ethdev's */
	uint64_t value[WH_NIC_COUNTERS_MAX];
	uint64_t next_tsc;
};

/* On a started device of this driver. */
void wh_nic_counters_find(struct wh_nic_counters *counters, uint16_t ethdev, const char *driver);

/* Reads them, at most once in every_tsc. On any thread. */
void wh_nic_counters_read(
	struct wh_nic_counters *counters, uint16_t ethdev, uint64_t now_tsc, uint64_t every_tsc);

/* Name and value of counter number `number` below `count`, as last read. */
const char *wh_nic_counter(
	const struct wh_nic_counters *counters, uint32_t number, uint64_t *value);

/*
 * How often the NIC held back or dropped what we sent, because it may not or cannot send more:
 * packets, or pauses that the switch asked for.
 */
uint64_t wh_nic_counters_held(const struct wh_nic_counters *counters);
