/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Sums of the counters of closed sessions, so that a process's totals do not fall when sessions
 * close.
 */

#include <stdint.h>

#include "session/session.h"

struct wh_past_role {
	uint64_t sessions;
	uint64_t moved_bytes;
	uint64_t lost_pkts;
	struct wh_session_stats stats; /* except its times */
};

/* Of transmitters, and of receivers. */
struct wh_past {
	struct wh_past_role role[2];
};

void wh_past_add(struct wh_past *past, enum wh_role role, const struct wh_session *session);
