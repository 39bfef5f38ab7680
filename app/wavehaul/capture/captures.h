/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CAPTURE_CAPTURES_H
#define WH_CAPTURE_CAPTURES_H

/*
 * Packets of a host as pcapng files, while it serves: of a session, of a queue, or of all queues;
 * sealed ones as they travel. A core that carries a frame somebody wants puts a copy into a ring of
 * its own; the control's thread, the only one that enters here, writes it down. A ring that is full
 * costs the copy, never the packet, and where nobody captures a queue a burst costs one branch.
 *
 * Files are made in the folder of captures below --state, which the guard lets the server write,
 * under names that are not there yet. A capture ends by a bound of its own, with its session, when
 * the disk is as good as full, or when it is told to; not with who has asked for it.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/filter.h"
#include "control/line.h"
#include "host/host.h"
#include "pcap/frames.h"
#include "pcap/pcapng.h"

/* At once; and those that are remembered, ended or not. */
#define WH_CAPTURES_MAX  4
#define WH_CAPTURES_KEPT 32

/* Rings of one capture, all together. */
#define WH_CAPTURE_MEMORY_BYTES (UINT64_C(32) << 20)

/* What is left of a disk to those that keep the queue and the journal there. */
#define WH_CAPTURE_LEAVES_BYTES (UINT64_C(64) << 20)

/* Below --state. */
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
	uint64_t number; /* of the session, or of the queue */
	char name[WH_CAPTURE_NAME_BYTES];
	uint64_t pkts_max;
	uint64_t bytes_max; /* of the file */
	uint64_t seconds_max;
	uint32_t snap_bytes; /* 0: whole frames */
	uint32_t uid;        /* who wants it */
};

enum wh_capture_state {
	WH_CAPTURE_RUNS,
	WH_CAPTURE_LEAVES, /* cores may yet be in its rings */
	WH_CAPTURE_OVER,
};

struct wh_capture {
	uint64_t number; /* counted from 1; 0: no capture */
	struct wh_capture_wanted wanted;
	enum wh_capture_state state;
	char why[WH_CAPTURE_WHY_BYTES]; /* it ended */
	struct wh_capture_filter filter;
	struct wh_frames *frames; /* in and out of each queue; NULL once it is over */
	uint32_t rings;
	uint32_t first_queue;
	struct wh_pcapng file;
	uint64_t *turns; /* of each loop, when the taps were gone */
	uint64_t began_tsc;
	uint64_t ended_tsc;
	uint64_t look_tsc; /* when its session and the disk are looked at */
	/* Once it is over: */
	uint64_t seen_pkts;
	uint64_t missed_pkts;
};

/* One way of a queue, as its core sees it. */
struct wh_capture_way {
	struct wh_port_tap tap;
	bool leaves;
	struct wh_capture_seat {
		const struct wh_capture_filter *filter;
		struct wh_frames *_Atomic frames; /* NULL: nobody */
	} seat[WH_CAPTURES_MAX];
};

struct wh_captures {
	struct wh_host *host;
	char state[PATH_MAX]; /* "": nothing is kept, and nothing captured */
	/* Whether the session's job is an order of that user; the caller's, as `context`. */
	bool (*owns)(void *context, uint32_t uid, const void *job);
	void *context;
	uint64_t count; /* so far */
	struct wh_capture *running[WH_CAPTURES_MAX];
	struct wh_capture kept[WH_CAPTURES_KEPT];
	struct wh_capture_way way[WH_PORT_QUEUES_MAX][2]; /* in, out */
};

/* `captures` is zero but for what the caller has filled in: host, state, owns, context. */
void wh_captures_init(struct wh_captures *captures);

/* Adds the commands. */
void wh_captures_add(struct wh_control_tables *tables, struct wh_captures *captures);

/* The control's turn; `captures` is a struct wh_captures. */
uint32_t wh_captures_turn(void *captures);

/* When neither loops nor the control run any more: what is there is written. */
void wh_captures_close(struct wh_captures *captures);

/* commands.c needs: */

/* NULL: it was said to `call` why not. */
const struct wh_capture *wh_capture_start(struct wh_captures *captures,
	const struct wh_capture_wanted *wanted, struct wh_control_call *call);
void wh_capture_stop(struct wh_captures *captures, struct wh_capture *capture, const char *why);
struct wh_capture *wh_capture_find(struct wh_captures *captures, uint64_t number);

/* What its cores have seen of what was wanted, and missed: the ring was full. */
void wh_capture_count(const struct wh_capture *capture, uint64_t *seen_pkts, uint64_t *missed_pkts);

static inline uint64_t wh_capture_written_pkts(const struct wh_capture *capture)
{
	return capture->file.flushed_pkts + capture->file.buffered_pkts;
}

#endif
