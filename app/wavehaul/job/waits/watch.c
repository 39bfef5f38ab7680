/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/waits/watch.h"

#include <stdio.h>

#include "base/assert.h"

void wh_watch_begin(struct wh_watch *watch, uint64_t hz, uint64_t now_tsc)
{
	WH_ASSERT(hz > 0 && now_tsc > 0); /* 0 means not begun */
	*watch = (struct wh_watch){
		.window_tsc = WH_WATCH_WINDOW_S * hz,
		.moved_tsc = now_tsc,
		.progress_tsc = now_tsc,
		.looked_tsc = now_tsc,
	};
}

static void see_progress(
	struct wh_watch *watch, uint64_t now_tsc, const struct wh_watch_sight *sight)
{
	WH_ASSERT(sight->worked >= watch->worked && sight->moved_bytes >= watch->moved_bytes);

	bool moved = sight->moved_bytes - watch->moved_bytes >= WH_WATCH_MOVED_BYTES;

	if (moved || now_tsc - watch->moved_tsc >= watch->window_tsc) {
		watch->moved_bytes = sight->moved_bytes;
		watch->moved_tsc = now_tsc;
	}
	if (!moved && sight->worked == watch->worked)
		return;
	watch->worked = sight->worked;
	watch->progress_tsc = now_tsc;
}

static void see_peer(struct wh_watch *watch, uint64_t now_tsc, const struct wh_watch_sight *sight)
{
	if (sight->waits_told == watch->waits_told)
		return;
	watch->waits_told = sight->waits_told;
	watch->told_tsc = now_tsc;
	if (sight->peer.worked == watch->peer_worked)
		return;
	watch->peer_worked = sight->peer.worked;
	watch->peer_worked_tsc = now_tsc;
}

/* Other lanes may be waiting for a disk. */
static bool is_patient(enum wh_waits waits)
{
	return waits == WH_WAITS_DISK || waits == WH_WAITS_SEGMENTS;
}

static bool is_for_lanes(enum wh_waits waits)
{
	return waits == WH_WAITS_LANES || waits == WH_WAITS_SEGMENTS;
}

static bool is_recent(uint64_t tsc, uint64_t now_tsc, uint64_t span_tsc)
{
	return tsc != 0 && now_tsc - tsc <= span_tsc;
}

/* For a local pipe there is no limit. */
static bool is_at_pipe(const struct wh_watch *watch, uint64_t now_tsc, bool heard,
	const struct wh_watch_patience *patience, const struct wh_watch_sight *sight)
{
	if (sight->waits == WH_WAITS_PIPE)
		return true;
	return heard && sight->peer.waits == WH_WAITS_PIPE &&
	       (patience->pipe_tsc == 0 || now_tsc - watch->progress_tsc <= patience->pipe_tsc);
}

bool wh_watch_see(struct wh_watch *watch, uint64_t now_tsc,
	const struct wh_watch_patience *patience, const struct wh_watch_sight *sight)
{
	uint64_t stall_timeout_tsc = patience->stall_tsc;

	/*
	 * The wait for other lanes is theirs. When it ends the step that this lane then takes may
	 * not show: a message of the peer's may have come in the same turn.
	 */
	if (sight->waits == WH_WAITS_LANES)
		watch->progress_tsc = now_tsc;
	else if (sight->silent)
		watch->progress_tsc += now_tsc - watch->looked_tsc;
	watch->looked_tsc = now_tsc;
	see_progress(watch, now_tsc, sight);
	see_peer(watch, now_tsc, sight);
	watch->last = *sight;
	if (now_tsc - watch->progress_tsc <= stall_timeout_tsc)
		return true;

	bool heard = is_recent(watch->told_tsc, now_tsc, stall_timeout_tsc);

	if (is_at_pipe(watch, now_tsc, heard, patience, sight))
		return true;
	if (sight->company && (is_for_lanes(sight->waits) ||
				      (heard && is_for_lanes((enum wh_waits)sight->peer.waits))))
		return true;
	if (now_tsc - watch->progress_tsc > WH_DISK_PATIENCE * stall_timeout_tsc)
		return false;
	return is_patient(sight->waits) ||
	       (heard && is_patient((enum wh_waits)sight->peer.waits)) ||
	       is_recent(watch->peer_worked_tsc, now_tsc, stall_timeout_tsc);
}

const char *wh_watch_text(const struct wh_watch *watch, uint64_t now_tsc,
	uint64_t stall_timeout_tsc, const char *ours, const char *peers,
	char text[WH_WATCH_TEXT_BYTES])
{
	const struct wh_watch_sight *last = &watch->last;
	char end[32];
	const char *waits = wh_waits_text(last->waits);
	bool pipe = last->peer.waits == WH_WAITS_PIPE;

	/* An end that has everything but has not ended waits for the other end to finish, too. */
	snprintf(end, sizeof(end), "the %s to end", peers);
	if (last->waits == WH_WAITS_NOTHING)
		waits = end;
	if (is_recent(watch->told_tsc, now_tsc, stall_timeout_tsc))
		snprintf(text, WH_WATCH_TEXT_BYTES, "the %s waits for %s; the %s waits for %s%s",
			ours, waits, peers, wh_waits_text((enum wh_waits)last->peer.waits),
			pipe ? ", for longer than --pipe-timeout" : "");
	else
		snprintf(text, WH_WATCH_TEXT_BYTES, "the %s waits for %s; the %s says nothing",
			ours, waits, peers);
	return text;
}
