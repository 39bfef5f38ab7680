/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/past/past.h"

#include <assert.h>
#include <stddef.h>

#include "base/assert.h"

#define COUNTERS (offsetof(struct wh_session_stats, first_sent_tsc) / sizeof(uint64_t))

static_assert(
	offsetof(struct wh_session_stats, first_sent_tsc) % sizeof(uint64_t) == 0 &&
		offsetof(struct wh_session_stats, outcome_tsc) == (COUNTERS + 1) * sizeof(uint64_t),
	"counters of 64 bits, and two moments behind them");

void wh_past_add(struct wh_past *past, enum wh_role role, const struct wh_session *session)
{
	const struct wh_session_stats stats = wh_session_stats(session);
	const uint64_t *of = (const uint64_t *)&stats;
	struct wh_past_role *sum = &past->role[role == WH_RECEIVER];
	uint64_t *to = (uint64_t *)&sum->stats;

	WH_ASSERT(role == WH_TRANSMITTER || role == WH_RECEIVER);
	sum->sessions++;
	sum->moved_bytes += wh_session_moved_bytes(session);
	sum->lost_pkts += wh_session_lost_pkts(session);
	for (size_t i = 0; i < COUNTERS; i++)
		to[i] += of[i];
}
