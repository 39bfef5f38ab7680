/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TELEMETRY_ANSWER_H
#define WH_APP_TELEMETRY_ANSWER_H

/*
 * What the answers of telemetry.h are made with. An answer looks at the host between enter and
 * leave only, and sleeps outside of them.
 */

#include <jansson.h>

#include "telemetry/telemetry.h"

/* NULL: nothing runs (any more), and there is nothing to leave. */
const struct wh_host *wh_tel_enter(void);
void wh_tel_leave(void);

/* Likewise; no session is freed before leave. */
const struct wh_host *wh_tel_enter_sessions(void);
void wh_tel_leave_sessions(void);

/* Until the second look, that a rate is made of. */
void wh_tel_wait(void);

/* Decimal digits and nothing else; NULL is no number. */
bool wh_tel_number(const char *params, uint64_t *number);

/* Between enter_sessions and leave_sessions: of those that are gone. */
const struct wh_past *wh_tel_past(void);

/* A counter that another core writes. */
static inline uint64_t wh_tel_load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* What a list and a text have at most: DPDK's limits. */
#define WH_TEL_LIST_MAX   512
#define WH_TEL_TEXT_BYTES 128

void wh_tel_put(json_t *data, const char *name, uint64_t value);
void wh_tel_put_text(json_t *data, const char *name, const char *text);

/* A value by the name of PREFIX WHAT SUFFIX, which have `_` for all that names may not have. */
void wh_tel_put_about(
	json_t *data, const char *prefix, const char *what, const char *suffix, uint64_t value);

/* What a session counts, or several. */
void wh_tel_put_counters(json_t *data, const struct wh_session_stats *stats, uint64_t moved_bytes,
	uint64_t lost_pkts);

#endif
