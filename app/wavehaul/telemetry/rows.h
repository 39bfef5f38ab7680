/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TELEMETRY_ROWS_H
#define WH_APP_TELEMETRY_ROWS_H

/*
 * Tables of what runs, a row each, for the control socket alone: DPDK's telemetry has no lists of
 * objects. NULL: nothing runs (any more).
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"

/* Rows of one answer; the rest by the first number that is wanted. */
#define WH_TEL_ROWS_MAX 512

json_t *wh_tel_session_rows(uint64_t first);

/* A row for each lane, whose data goes by that session. */
json_t *wh_tel_job_rows(void);

json_t *wh_tel_queue_rows(void);

/* Who is known on the link, or asked for. */
json_t *wh_tel_neighbour_rows(void);

/*
 * The job whose session has that number, and all lanes of its transfer, go by another rate from now
 * on. 0; -ENOENT: there is none; -EPERM: it does not send, or was begun without a rate.
 */
int wh_tel_set_rate(uint64_t session, uint64_t rate_bps);

/* How a session's packets are known, and the job that it belongs to, by its address alone. */
struct wh_tel_way {
	uint32_t queue;
	uint32_t lci;
	uint32_t peer_lci; /* 0: not known yet */
	struct wh_address peer;
	const void *job;
};

/* False: there is no session of that number. */
bool wh_tel_session_way(uint64_t session, struct wh_tel_way *way);

#endif
