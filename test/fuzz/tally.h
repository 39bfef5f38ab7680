/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What became of packets: how many of each type were taken, and why the others were not. */

#include <inttypes.h>
#include <stdio.h>

#include "../rig/packet_names.h"
#include "wire/packet.h"

struct wh_tally {
	uint64_t taken[WH_PACKET_TYPES];
	uint64_t refused[WH_WIRE_REASONS];
};

static inline void wh_tally_add(
	struct wh_tally *tally, enum wh_wire_reason reason, const struct wh_packet *packet)
{
	if (reason == WH_WIRE_OK)
		tally->taken[packet->type]++;
	else
		tally->refused[reason]++;
}

static inline void wh_tally_print(const struct wh_tally *tally)
{
	uint64_t taken = 0;
	uint64_t refused = 0;

	for (uint32_t i = 1; i < WH_PACKET_TYPES; i++)
		taken += tally->taken[i];
	for (uint32_t i = 1; i < WH_WIRE_REASONS; i++)
		refused += tally->refused[i];
	printf("%" PRIu64 " packets taken:", taken);
	for (uint32_t i = 1; i < WH_PACKET_TYPES; i++)
		printf(" %s %" PRIu64, wh_rig_packet_name(i), tally->taken[i]);
	printf("\n%" PRIu64 " refused:", refused);
	for (uint32_t i = 1; i < WH_WIRE_REASONS; i++)
		printf(" %s %" PRIu64, wh_wire_reason_name(i), tally->refused[i]);
	printf("\n");
}
