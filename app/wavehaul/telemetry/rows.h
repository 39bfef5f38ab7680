/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Tables of running sessions, jobs, queues and neighbours, for the control socket only: DPDK's
 * telemetry has no lists of objects. NULL: nothing runs (any more).
 */

#include <jansson.h>
#include <stdint.h>

/* The most rows in one answer; `first` selects the rest. */
#define WH_TEL_ROWS_MAX 512

json_t *wh_tel_session_rows(uint64_t first);

/* A row for each lane, with the number of the session that carries its data. */
json_t *wh_tel_job_rows(void);

json_t *wh_tel_queue_rows(void);

/* The neighbours that are known or asked for. */
json_t *wh_tel_neighbour_rows(void);
