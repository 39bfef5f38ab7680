/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Captures packets of a host into pcapng files while it serves: of a session, of a queue, or of all
 * queues; sealed packets as they are on the wire. A core that carries a matching frame puts a copy
 * into its own ring; the control's thread, the only one that calls the functions here, writes it to
 * the file. If a ring is full the copy is lost, never the packet; on a queue without captures a
 * burst costs one branch.
 *
 * Files are created in the folder of captures below --state, which the guard lets the server write,
 * under names that do not exist yet. A capture ends by its own limits, with its session, when the
 * disk is almost full, or on request; not when the client that started it leaves.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/filter.h"
#include "control/control_line.h"
#include "host/host.h"
#include "pcap/frames.h"
#include "pcap/pcapng.h"

/* Concurrent captures; and those remembered, running or ended. */
#define WH_CAPTURES_MAX  4
#define WH_CAPTURES_KEPT 32

/* All rings of one capture together. */
#define WH_CAPTURE_MEMORY_BYTES (UINT64_C(32) << 20)

/* Space left free on the disk for the queue and the journal. */
#define WH_CAPTURE_LEAVES_BYTES (UINT64_C(64) << 20)

/* Folder below --state. */
#define WH_CAPTURE_FOLDER "captures"

#define WH_CAPTURE_NAME_BYTES 65
#define WH_CAPTURE_WHY_BYTES  160

enum wh_capture_of {
	WH_CAPTURE_SESSION,
	WH_CAPTURE_QUEUE,
	WH_CAPTURE_PORT,
};

struct wh_capture_wanted {
	enum wh_capture_of of;
	uint64_t number; /* of the session or the queue */
	char name[WH_CAPTURE_NAME_BYTES];
	uint64_t pkts_max;
	uint64_t bytes_max; /* of the file */
	uint64_t seconds_max;
	uint32_t snap_bytes; /* 0: whole frames */
	uint32_t uid;        /* the user who asked for it */
};

enum wh_capture_state {
	WH_CAPTURE_RUNS,
	WH_CAPTURE_LEAVES, /* cores may still be writing to its rings */
	WH_CAPTURE_OVER,
};

struct wh_capture {
	uint64_t number; /* counted from 1; 0: no capture */
	struct wh_capture_wanted wanted;
	enum wh_capture_state state;
	char why[WH_CAPTURE_WHY_BYTES]; /* why it ended */
	struct wh_capture_filter filter;
	struct wh_frames *frames; /* two per queue, in and out; NULL once it is over */
	uint32_t rings;
	uint32_t first_queue;
	struct wh_pcapng file;
	uint64_t *turns; /* of each loop, when the taps were removed */
	uint64_t began_tsc;
	uint64_t ended_tsc;
	uint64_t look_tsc; /* time of the next check of its session and the disk */
	/* Valid once it is over: */
	uint64_t seen_pkts;
	uint64_t missed_pkts;
};

/* One direction of a queue, as its core sees it. */
struct wh_capture_direction {
	struct wh_port_tap tap;
	bool leaves;
	struct wh_capture_seat {
		const struct wh_capture_filter *filter;
		struct wh_frames *_Atomic frames; /* NULL: unused */
	} seat[WH_CAPTURES_MAX];
};

struct wh_captures {
	struct wh_host *host;
	char state[PATH_MAX]; /* "": no state is kept, so captures are refused */
	/* Whether the session's job is an order of that user; called with `context`. */
	bool (*owns)(void *context, uint32_t uid, const void *job);
	void *context;
	uint64_t count; /* so far */
	struct wh_capture *running[WH_CAPTURES_MAX];
	struct wh_capture kept[WH_CAPTURES_KEPT];
	struct wh_capture_direction direction[WH_PORT_QUEUES_MAX][2]; /* in, out */
};

/* `captures` must be zero except the caller's fields: host, state, owns, context. */
void wh_captures_init(struct wh_captures *captures);

/* Adds the commands. */
void wh_captures_add(struct wh_control_tables *tables, struct wh_captures *captures);

/* Called in the control's turn; `captures` is a struct wh_captures. */
uint32_t wh_captures_turn(void *captures);

/* Call when neither loops nor the control run any more: writes the stored frames. */
void wh_captures_close(struct wh_captures *captures);

/* For capture_commands.c: */

/* NULL: refused, as told to `call`. */
const struct wh_capture *wh_capture_start(struct wh_captures *captures,
	const struct wh_capture_wanted *wanted, struct wh_control_call *call);
void wh_capture_stop(struct wh_captures *captures, struct wh_capture *capture, const char *why);
struct wh_capture *wh_capture_find(struct wh_captures *captures, uint64_t number);

/* Matching packets that its cores have seen, and those missed because the ring was full. */
void wh_capture_count(const struct wh_capture *capture, uint64_t *seen_pkts, uint64_t *missed_pkts);

static inline uint64_t wh_capture_written_pkts(const struct wh_capture *capture)
{
	return capture->file.flushed_pkts + capture->file.buffered_pkts;
}
