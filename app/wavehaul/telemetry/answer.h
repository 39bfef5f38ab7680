/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Helpers for the answers of telemetry.h. An answer accesses the host only between enter and leave,
 * and sleeps outside of them.
 */

#include <jansson.h>

#include "telemetry/telemetry.h"

/* Sets what answers are about from now on; NULL, NULL: nothing runs. */
void wh_tel_watch(struct wh_host *host, struct wh_jobs *jobs);

/* Begins access to the host. NULL: nothing runs (any more), and leave must not be called. */
const struct wh_host *wh_tel_enter(void);
void wh_tel_leave(void);

/* Like wh_tel_enter; in addition no session is freed until leave. */
const struct wh_host *wh_tel_enter_sessions(void);
void wh_tel_leave_sessions(void);

/* Waits until the second reading, from which a rate is calculated. */
void wh_tel_wait(void);

/* Decimal digits only; NULL is no number. */
bool wh_tel_number(const char *params, uint64_t *number);

/* Between enter_sessions and leave_sessions: figures of the sessions that are gone. */
const struct wh_past *wh_tel_past(void);

/* Reads a counter that another core writes. */
static inline uint64_t wh_tel_load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Maximum sizes of a list and a text: DPDK's limits. */
#define WH_TEL_LIST_MAX   512
#define WH_TEL_TEXT_BYTES 128

void wh_tel_put(json_t *data, const char *name, uint64_t value);
void wh_tel_put_text(json_t *data, const char *name, const char *text);

/* A value named PREFIX WHAT SUFFIX; characters not allowed in names are replaced by `_`. */
void wh_tel_put_about(
	json_t *data, const char *prefix, const char *what, const char *suffix, uint64_t value);

/* The counters of a session, or of several. */
void wh_tel_put_counters(json_t *data, const struct wh_session_stats *stats, uint64_t moved_bytes,
	uint64_t lost_pkts);
