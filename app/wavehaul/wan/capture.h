/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_WAN_CAPTURE_H
#define WH_APP_WAN_CAPTURE_H

/*
 * The frames of both ports as a pcapng file: an interface for each port, and of each frame whether
 * it came in there or left. The core of a way puts copies into a ring of its own; who writes the
 * file takes them from there. Frames for which the ring has no room, or that are beyond the largest
 * size of the file, are counted and not written.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "lambda/join.h"

#define WH_WAN_CAPTURE_SNAP_MIN 64

struct wh_wan_capture_config {
	const char *path;
	uint64_t bytes_max;               /* of the file */
	uint32_t snap_bytes;              /* of each frame, at most */
	const char *port[WH_LAMBDA_ENDS]; /* names of the interfaces */
	uint64_t hz;
};

/* Of one way: what its core puts in. */
struct wh_wan_capture_ring {
	struct wh_slot_fifo fifo;
	uint32_t snap_bytes;
	enum wh_lambda_end end;
	uint64_t seen_pkts;
	uint64_t missed_pkts; /* the ring had no room */
} __rte_cache_aligned;

struct wh_wan_capture {
	struct wh_wan_capture_ring ring[WH_LAMBDA_ENDS];
	struct wh_wan_capture_config config;
	int fd; /* -1: there is none, or it has failed, as was said */
	uint8_t *buffer;
	uint32_t buffered_bytes;
	uint64_t bytes; /* of the file, with what is buffered */
	uint64_t start_tsc;
	uint64_t start_ns; /* since 1970 */
	uint64_t written_pkts;
	uint64_t beyond_pkts; /* of bytes_max, or after a failure */
};

/* 0, or a negative errno after one sentence on stderr. */
int wh_wan_capture_open(struct wh_wan_capture *capture, const struct wh_wan_capture_config *config);

/* What memory it takes beside the file. */
uint64_t wh_wan_capture_bytes(uint32_t snap_bytes);

/* By the core of the way: a wh_join_tap's function; `ring` is a struct wh_wan_capture_ring. */
void wh_wan_capture_frame(void *ring, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves);

/* A process: writes what is there; returns the frames that it took. */
int32_t wh_wan_capture_poll(void *capture, uint64_t now_tsc);

/* Writes what is left. 0, or the negative errno that a write failed by, at any time. */
int wh_wan_capture_close(struct wh_wan_capture *capture);

#endif
