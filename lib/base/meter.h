/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Cycles of a core, by task. Exact accounting would read the cycle counter twice per task and turn,
 * which costs more than many of the tasks. So the core's loop measures one turn in WH_METER_EVERY,
 * and the report multiplies.
 *
 * One meter per core, written by that core only. The caller provides the counter as a function,
 * since nothing in lib/ reads a clock.
 *
 * A turn that found nothing to do counts entirely as the loop's: cycles per packet must express the
 * cost of a packet, not how long the core waited for it.
 */

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>

#include "base/assert.h"

/* A prime, so that the sampling does not coincide with a period of the work. */
#define WH_METER_EVERY 61

enum wh_meter_task {
	WH_METER_LOOP = 0, /* the loop itself, and turns without work */
	WH_METER_PORT_RECEIVE,
	WH_METER_DECODE, /* frames to packets, packets to sessions */
	WH_METER_RCV,
	WH_METER_HOST_RCV,
	WH_METER_SEND_RCV_STAT,
	WH_METER_GET_TRANS_STAT,
	WH_METER_HOST_TRANS,
	WH_METER_TRANS,
	WH_METER_GET_RCV_STAT,
	WH_METER_SEND_TRANS_STAT,
	WH_METER_OPENING, /* handshake and release */
	WH_METER_FRAME,   /* packets to frames */
	WH_METER_PORT_SEND,
	WH_METER_READER, /* from here on workers' */
	WH_METER_WRITER,
	WH_METER_JOB,
	WH_METER_CODER, /* repair packets: encoder and decoder */
	WH_METER_TASKS,
};

static_assert(WH_METER_TASKS <= UINT8_MAX, "wh_meter.current holds each");

struct wh_meter {
	uint64_t (*read)(void);
	bool on;                              /* this turn is measured */
	uint8_t current;                      /* enum wh_meter_task, since `since` */
	uint64_t since;                       /* counter value */
	uint64_t turns;                       /* measured ones */
	uint64_t turn_cycles[WH_METER_TASKS]; /* of the turn being measured */
	uint64_t cycles[WH_METER_TASKS];      /* of earlier turns; never decrease */
};

const char *wh_meter_task_name(enum wh_meter_task task);

/* All tasks but the loop: the cost of packets and files. */
uint64_t wh_meter_sum(const uint64_t cycles[WH_METER_TASKS]);

/* Of these, the tasks of workers: files, jobs and repair packets. */
uint64_t wh_meter_workers(const uint64_t cycles[WH_METER_TASKS]);

/* Called by the loop around a measured turn; `now` is a counter value. */
void wh_meter_begin(struct wh_meter *meter, uint64_t now);
void wh_meter_end(struct wh_meter *meter, bool worked);

/* Attributes the cycles from here on to `task`; returns the task before, for leave. */
static inline uint8_t wh_meter_enter(struct wh_meter *meter, enum wh_meter_task task)
{
	if (likely(meter == NULL || !meter->on))
		return WH_METER_LOOP;

	uint64_t now = meter->read();
	uint8_t before = meter->current;

	WH_DEBUG_ASSERT(before < WH_METER_TASKS && task < WH_METER_TASKS);
	meter->turn_cycles[before] += now - meter->since;
	meter->since = now;
	meter->current = (uint8_t)task;
	return before;
}

static inline void wh_meter_leave(struct wh_meter *meter, uint8_t before)
{
	wh_meter_enter(meter, (enum wh_meter_task)before);
}
