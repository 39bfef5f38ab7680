/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TELEMETRY_H
#define WH_APP_TELEMETRY_H

/*
 * What dpdk-telemetry.py shows of a running verb:
 *
 *   /wavehaul/sessions[,FIRST]  the numbers of the sessions, ascending: 512, from FIRST on
 *   /wavehaul/session,ID        one of them: peer, role, phase, rates, counters, what limits it
 *   /wavehaul/totals            of all sessions that are there or were, by role: counters, limits
 *   /wavehaul/ports[,QUEUE]     packets, bytes, drops by reason: of all queues, or of one
 *   /wavehaul/cores[,CPU]       who does what and how busy it is; of one, the cycles by process
 *
 * A session's number is its LCI on our side, plus 2^32 times its queue. Rates and busy shares are
 * those of the WH_TELEMETRY_SPAN_MS that the answer takes; counters begin with their owner and
 * never fall. What cannot be answered is answered with null.
 *
 * DPDK's telemetry thread reads counters that their owners write: each load is whole, and two of
 * them need not be of the same moment.
 */

#include <jansson.h>

#include "host/host.h"
#include "job/jobs.h"

#define WH_TELEMETRY_SPAN_MS 50

/* Once in a process: DPDK takes commands and never gives them back. */
void wh_telemetry_start(struct wh_host *host, struct wh_jobs *jobs);

/*
 * What the commands answer, as others ask for it; NULL: it cannot be answered. `params` as behind
 * the comma, or NULL. `at_once`: without rates and shares, which take their span.
 */
json_t *wh_tel_sessions(const char *params, bool at_once);
json_t *wh_tel_session(const char *params, bool at_once);
json_t *wh_tel_totals(const char *params, bool at_once);
json_t *wh_tel_ports(const char *params, bool at_once);
json_t *wh_tel_cores(const char *params, bool at_once);

/* No command looks at host or jobs afterwards. */
void wh_telemetry_stop(void);

#endif
