/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Copies of frames in transit from the core that carries them to the thread that writes them to a
 * file. The core never waits: if there is no room, the copy is counted as missed; the frame itself
 * is not affected.
 */

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "base/fifo.h"

/* The fewest bytes kept of a frame: a minimal Ethernet frame with its check sequence. */
#define WH_FRAMES_SNAP_MIN 64

struct wh_frames {
	struct wh_slot_fifo fifo;
	uint32_t snap_bytes; /* the most kept of each frame */
	/* Written by the core. */
	uint64_t seen_pkts;
	uint64_t missed_pkts; /* for lack of room */
} __rte_cache_aligned;

struct wh_frame {
	uint64_t when_tsc;
	uint32_t frame_bytes; /* original length */
	uint32_t bytes;       /* length of `data` */
	bool leaves;
	const uint8_t *data;
};

/* Room for `count` frames, 2^n - 1. 0 or -ENOMEM. */
int wh_frames_init(struct wh_frames *frames, uint32_t count, uint32_t snap_bytes);
void wh_frames_free(struct wh_frames *frames);
uint64_t wh_frames_bytes(uint32_t count, uint32_t snap_bytes);

/* Called by the core: stores a copy of the frame. */
void wh_frames_put(
	struct wh_frames *frames, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves);

/* Called by the other end: the oldest frame, valid until it is dropped; false: none. */
bool wh_frames_peek(struct wh_frames *frames, struct wh_frame *frame);
void wh_frames_drop(struct wh_frames *frames);

/* The ring whose oldest frame is the oldest of all; NULL: all are empty. */
struct wh_frames *wh_frames_oldest(
	struct wh_frames *frames, uint32_t count, struct wh_frame *frame);
