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

#include "lambda/join.h"
#include "pcap/frames.h"
#include "pcap/pcapng.h"

struct wh_wan_capture_config {
	const char *path;
	uint64_t bytes_max;               /* of the file */
	uint32_t snap_bytes;              /* of each frame, at most */
	const char *port[WH_LAMBDA_ENDS]; /* names of the interfaces */
	uint64_t hz;
};

struct wh_wan_capture {
	struct wh_frames way[WH_LAMBDA_ENDS]; /* by the end that frames come in at */
	struct wh_wan_capture_config config;
	struct wh_pcapng file; /* that has failed: as was said */
	bool opened;
	/* Once it is closed: */
	uint64_t written_pkts;
	uint64_t missed_pkts;
	uint64_t beyond_pkts; /* of bytes_max, or after a failure */
};

/* 0, or a negative errno after one sentence on stderr. */
int wh_wan_capture_open(struct wh_wan_capture *capture, const struct wh_wan_capture_config *config);

/* What memory it takes beside the file. */
uint64_t wh_wan_capture_bytes(uint32_t snap_bytes);

/* By the core of the way: a wh_join_tap's function; `frames` is a struct wh_frames. */
void wh_wan_capture_frame(void *frames, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves);

/* A process: writes what is there; returns the frames that it took. */
int32_t wh_wan_capture_poll(void *capture, uint64_t now_tsc);

/* Writes what is left. 0, or the negative errno that a write failed by, at any time. */
int wh_wan_capture_close(struct wh_wan_capture *capture);

#endif
