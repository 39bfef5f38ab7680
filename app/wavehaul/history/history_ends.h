/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Ends of peers' transfers for the operator's command (guard/hook.h): the records of their lanes
 * become one event. The first lane ends last, unless the transfer has failed.
 */

#include "guard/hook.h"
#include "history/history_record.h"

/* Transfers of which only some lanes have ended. If there are more, the oldest are forgotten. */
#define WH_ENDS_MAX 64

struct wh_ends {
	struct wh_ends_lanes {
		uint64_t number; /* 0: unused */
		uint64_t files;
		uint64_t failed;
		uint64_t bytes;
		int status;
	} lanes[WH_ENDS_MAX];
	uint32_t next;
};

/* Whether the record ends a transfer: then *event is complete. */
bool wh_ends_take(
	struct wh_ends *ends, const struct wh_history_record *record, struct wh_hook_event *event);
