/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One direction of a line between two ends: packets arrive in the order in which they were sent,
 * each at its time. What is lost is never put.
 */

#include <stdint.h>

#include "session/session.h"

#define WH_RIG_PACKET_BYTES 1504 /* a full packet of an MTU of 1500, aligned */

struct wh_rig_packet {
	uint64_t due_tsc;
	uint32_t bytes;
	uint8_t data[WH_RIG_PACKET_BYTES];
};

struct wh_rig_line {
	struct wh_rig_packet *packet;
	uint32_t places; /* the latest of so many packets are kept, arrived or not */
	uint64_t head;   /* packets that have arrived */
	uint64_t tail;   /* packets ever put */
};

void wh_rig_line_open(struct wh_rig_line *line, uint32_t places);
void wh_rig_line_close(struct wh_rig_line *line);

/* Copies the packet in one piece, and returns the copy. */
struct wh_rig_packet *wh_rig_line_put(
	struct wh_rig_line *line, const struct wh_out *out, uint64_t due_tsc);

/* Takes the next packet that has arrived by now; NULL: none. */
struct wh_rig_packet *wh_rig_line_take(struct wh_rig_line *line, uint64_t now_tsc);

/* When the next packet arrives; WH_TSC_NEVER: nothing is under way. */
uint64_t wh_rig_line_next_tsc(const struct wh_rig_line *line);
