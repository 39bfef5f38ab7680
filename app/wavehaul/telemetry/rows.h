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

/* Rows of one answer; the rest by the first number that is wanted. */
#define WH_TEL_ROWS_MAX 512

json_t *wh_tel_session_rows(uint64_t first);

/* A row for each lane, whose data goes by that session. */
json_t *wh_tel_job_rows(void);

json_t *wh_tel_queue_rows(void);

/* Who is known on the link, or asked for. */
json_t *wh_tel_neighbour_rows(void);

#endif
