/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_JOB_WATCH_H
#define WH_APP_JOB_WATCH_H

/*
 * Whether a job still goes on. Sessions watch their packets; what they cannot see is that two ends
 * wait for each other, or one for a peer that lives and does nothing. So each end counts what it
 * does, tells the other now and then, and asks that one of the two gets on: bytes, files, records,
 * or work that moves none of them, such as the digest of a file that is there already.
 *
 * What a peer merely says of itself, and a disk that is at work, are believed for WH_DISK_PATIENCE
 * stall timeouts; other lanes that are waited for are watched themselves. That it waits for a pipe,
 * which takes as long as it takes, it is believed for a time of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bundle/waits.h"
#include "session/session.h"
#include "sink/sink.h"
#include "source/source.h"

/* So much payload in so many seconds is more than both ends tell of themselves meanwhile. */
#define WH_WATCH_MOVED_BYTES 1024
#define WH_WATCH_WINDOW_S    4

/* The shortest stall timeout there is has some of these: each end tells as often how it stands. */
#define WH_WATCH_TELL_MS 250

/* What there is to see of a job. */
struct wh_watch_sight {
	uint64_t worked;      /* done here, of anything but what both ends tell of themselves */
	uint64_t moved_bytes; /* payload of both streams */
	enum wh_waits waits;  /* here */
	uint64_t waits_told;  /* how often the peer has */
	struct wh_waits_told peer;
	bool company; /* other jobs of the same peer get on */
};

struct wh_watch {
	uint64_t worked;
	uint64_t window_tsc;  /* that long is WH_WATCH_WINDOW_S */
	uint64_t moved_bytes; /* at the beginning of ... */
	uint64_t moved_tsc;   /* ... the present window */
	uint64_t progress_tsc;
	uint64_t waits_told;
	uint64_t told_tsc;
	uint64_t peer_worked;
	uint64_t peer_worked_tsc;
	struct wh_watch_sight last;
};

void wh_watch_begin(struct wh_watch *watch, uint64_t hz, uint64_t now_tsc);

struct wh_watch_patience {
	uint64_t stall_tsc;
	uint64_t pipe_tsc; /* of the peer; 0: for ever */
};

/* False: nothing has got on for longer than that. */
bool wh_watch_see(struct wh_watch *watch, uint64_t now_tsc,
	const struct wh_watch_patience *patience, const struct wh_watch_sight *sight);

#define WH_WATCH_TEXT_BYTES 200

/*
 * Who waits for whom, as it was seen last: "the source waits for the receiver to say which files it
 * wants; the sink says nothing". `ours` and `peers` name the two ends.
 */
const char *wh_watch_text(const struct wh_watch *watch, uint64_t now_tsc,
	uint64_t stall_timeout_tsc, const char *ours, const char *peers,
	char text[WH_WATCH_TEXT_BYTES]);

#endif
