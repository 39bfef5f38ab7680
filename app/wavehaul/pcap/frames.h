/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PCAP_FRAMES_H
#define WH_PCAP_FRAMES_H

/*
 * Copies of frames on their way from the core that carries them to whoever writes them down. The
 * core never waits: a frame for which there is no room is counted, and goes on like any other.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "base/fifo.h"

/* The least that is kept of a frame: what Ethernet pads to, with its check sequence. */
#define WH_FRAMES_SNAP_MIN 64

struct wh_frames {
	struct wh_slot_fifo fifo;
	uint32_t snap_bytes; /* of each frame, at most */
	/* Written by the core. */
	uint64_t seen_pkts;
	uint64_t missed_pkts; /* no room */
} __rte_cache_aligned;

struct wh_frame {
	uint64_t when_tsc;
	uint32_t frame_bytes; /* as it was */
	uint32_t bytes;       /* that were kept of it */
	bool leaves;
	const uint8_t *data;
};

/* Room for `count` of them, 2^n - 1. 0 or -ENOMEM. */
int wh_frames_init(struct wh_frames *frames, uint32_t count, uint32_t snap_bytes);
void wh_frames_free(struct wh_frames *frames);
uint64_t wh_frames_bytes(uint32_t count, uint32_t snap_bytes);

/* The core: a copy of that. */
void wh_frames_put(
	struct wh_frames *frames, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves);

/* The other end: the oldest, which stays until it is dropped; false: there is none. */
bool wh_frames_peek(struct wh_frames *frames, struct wh_frame *frame);
void wh_frames_drop(struct wh_frames *frames);

/* Of several rings the one whose oldest frame is the oldest of all; NULL: they are empty. */
struct wh_frames *wh_frames_oldest(
	struct wh_frames *frames, uint32_t count, struct wh_frame *frame);

#endif
