/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Whether a job makes progress. Sessions supervise their packets, but cannot notice two ends that
 * wait for each other, or a peer that is alive but does nothing. So each end counts its work, tells
 * the other from time to time, and requires that one of the two makes progress: bytes, files,
 * records, or work that moves none of these, such as calculating the digest of an existing file.
 *
 * A peer's own claims of work, and a busy disk, are accepted for WH_DISK_PATIENCE stall timeouts.
 * Other lanes that are waited for have watches of their own. A peer may wait for a pipe for any
 * time, to which a separate timeout applies.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/waits.h"
#include "session/session.h"
#include "sink/sink.h"
#include "source/source.h"

/* More payload than this in such a window is more than the ends' messages about themselves. */
#define WH_WATCH_MOVED_BYTES 1024
#define WH_WATCH_WINDOW_S    4

/* Interval of the messages about waits; even the shortest stall timeout contains several. */
#define WH_WATCH_TELL_MS 250

/* Observed state of a job. */
struct wh_watch_sight {
	uint64_t worked;      /* work done here, except the messages about waits */
	uint64_t moved_bytes; /* payload of both streams */
	enum wh_waits waits;  /* here */
	uint64_t waits_told;  /* number of the peer's messages */
	struct wh_waits_told peer;
	bool silent;  /* nothing arrives from the peer: that time is not counted */
	bool company; /* other jobs of the same peer make progress */
};

struct wh_watch {
	uint64_t worked;
	uint64_t window_tsc;  /* length of WH_WATCH_WINDOW_S */
	uint64_t moved_bytes; /* at the beginning of the window */
	uint64_t moved_tsc;   /* beginning of the window */
	uint64_t progress_tsc;
	uint64_t looked_tsc;
	uint64_t waits_told;
	uint64_t told_tsc;
	uint64_t peer_worked;
	uint64_t peer_worked_tsc;
	struct wh_watch_sight last;
};

void wh_watch_begin(struct wh_watch *watch, uint64_t hz, uint64_t now_tsc);

struct wh_watch_patience {
	uint64_t stall_tsc;
	uint64_t pipe_tsc; /* for the peer's pipe; 0: unlimited */
};

/* False: no progress for longer than the patience. */
bool wh_watch_see(struct wh_watch *watch, uint64_t now_tsc,
	const struct wh_watch_patience *patience, const struct wh_watch_sight *sight);

#define WH_WATCH_TEXT_BYTES 200

/*
 * Who waits for whom, as last observed: "the source waits for the receiver to say which files it
 * wants; the sink says nothing". `ours` and `peers` name the two ends.
 */
const char *wh_watch_text(const struct wh_watch *watch, uint64_t now_tsc,
	uint64_t stall_timeout_tsc, const char *ours, const char *peers,
	char text[WH_WATCH_TEXT_BYTES]);
