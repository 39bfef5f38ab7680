/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Answers to dpdk-telemetry.py about a running verb:
 *
 *   /wavehaul/sessions[,FIRST]  the numbers of the sessions, ascending: 512, from FIRST on
 *   /wavehaul/session,ID        one of them: peer, role, phase, rates, counters, limit
 *   /wavehaul/totals            of all present and past sessions, by role: counters, limits
 *   /wavehaul/ports[,QUEUE]     packets, bytes, drops by reason: of all queues, or of one
 *   /wavehaul/cores[,CPU]       their work, and how busy they are; of one, the cycles by task
 *
 * A session's number is its connection ID on our side, plus 2^32 times its queue. Rates and busy
 * shares are measured during the WH_TELEMETRY_SPAN_MS that the answer takes; counters begin with
 * their owner and never fall. If there is no answer it is null.
 *
 * DPDK's telemetry thread reads counters that their owners write: each load is atomic, but two of
 * them may be of different moments.
 */

#include <jansson.h>

#include "host/host.h"
#include "job/jobs.h"

#define WH_TELEMETRY_SPAN_MS 50

/* Call once in a process: DPDK's commands cannot be unregistered. */
void wh_telemetry_start(struct wh_host *host, struct wh_jobs *jobs);

/*
 * The commands' answers for other callers; NULL: no answer. `params`: the text after the comma, or
 * NULL. `at_once`: without rates and shares, which need time.
 */
json_t *wh_tel_sessions(const char *params, bool at_once);
json_t *wh_tel_session(const char *params, bool at_once);
json_t *wh_tel_totals(const char *params, bool at_once);
json_t *wh_tel_ports(const char *params, bool at_once);
json_t *wh_tel_cores(const char *params, bool at_once);

/* No command accesses host or jobs afterwards. */
void wh_telemetry_stop(void);
