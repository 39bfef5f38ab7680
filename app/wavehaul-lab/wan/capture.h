/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The frames of both ports as a pcapng file: an interface for each port, and each frame's direction
 * there. The core of a direction puts copies into its own ring, from which the task that writes the
 * file takes them. Frames for which the ring has no room, or beyond the file's maximum size, are
 * counted and not written.
 */

#include <stdbool.h>
#include <stdint.h>

#include "netem/join.h"
#include "pcap/frames.h"
#include "pcap/pcapng.h"

struct wh_wan_capture_config {
	const char *path;
	uint64_t bytes_max;                 /* of the file */
	uint32_t snap_bytes;                /* the most kept of each frame */
	const char *port[WH_EMULATOR_ENDS]; /* names of the interfaces */
	uint64_t hz;
};

struct wh_wan_capture {
	struct wh_frames
		direction[WH_EMULATOR_ENDS]; /* indexed by the end at which frames arrive */
	struct wh_wan_capture_config config;
	struct wh_pcapng file; /* fd -1 after a failure, which was reported */
	uint64_t flush_tsc;    /* when what is buffered is written */
	bool opened;
	bool told_failure;
	/* Valid once it is closed: */
	uint64_t written_pkts;
	uint64_t missed_pkts;
	uint64_t beyond_pkts; /* beyond bytes_max, or after a failure */
};

/* 0, or a negative errno after one sentence on stderr. */
int wh_wan_capture_open(struct wh_wan_capture *capture, const struct wh_wan_capture_config *config);

/* Memory needed, without the file. */
uint64_t wh_wan_capture_bytes(uint32_t snap_bytes);

/* Called on the direction's core, as a wh_join_tap's function; `frames` is a struct wh_frames. */
void wh_wan_capture_frame(void *frames, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves);

/* A task: writes the stored frames; returns their number. */
int32_t wh_wan_capture_poll(void *capture, uint64_t now_tsc);

/* Writes what is left. 0, or the negative errno of the write that failed, whenever it was. */
int wh_wan_capture_close(struct wh_wan_capture *capture);
