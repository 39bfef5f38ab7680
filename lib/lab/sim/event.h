/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Events in order of their time; at equal times in the order in which they were set. Time is in
 * picoseconds, so that a byte at 100 Gb/s takes a whole number of them; it lasts 213 days. The
 * event structure is part of its owner's state; setting it allocates nothing once the heap has room
 * for the largest number of events ever pending at once.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_PS_PER_NS    UINT64_C(1000)
#define WH_PS_PER_S     UINT64_C(1000000000000)
#define WH_SIM_NEVER_PS UINT64_MAX

static inline double wh_ps_to_seconds(uint64_t span_ps)
{
	return (double)span_ps / (double)WH_PS_PER_S;
}

struct wh_sim_event {
	void (*fire)(void *context, uint64_t now_ps);
	void *context;
	uint32_t place; /* index in the heap, from 1; 0: not pending */
};

/* An entry of the heap; includes the sort keys, so that sifting does not access the event. */
struct wh_sim_pending {
	uint64_t due_ps;
	uint64_t order;
	struct wh_sim_event *event;
};

struct wh_sim_events {
	struct wh_sim_pending *heap; /* [0] is unused */
	uint32_t count;
	uint32_t room;
	uint64_t next_order;
	uint64_t now_ps;
	uint64_t fired;
};

void wh_sim_events_init(struct wh_sim_events *events);
void wh_sim_events_free(struct wh_sim_events *events);

void wh_sim_event_init(
	struct wh_sim_event *event, void (*fire)(void *context, uint64_t now_ps), void *context);

/* Sets the event, or moves it when pending; due_ps is not before now. */
void wh_sim_event_at(struct wh_sim_events *events, struct wh_sim_event *event, uint64_t due_ps);

/* No effect unless pending. */
void wh_sim_event_cancel(struct wh_sim_events *events, struct wh_sim_event *event);

static inline bool wh_sim_event_is_pending(const struct wh_sim_event *event)
{
	return event->place != 0;
}

/* When it is due; pending events only. */
uint64_t wh_sim_event_due_ps(const struct wh_sim_events *events, const struct wh_sim_event *event);

/* Fires all events due up to and including until_ps, and sets the clock to it. */
void wh_sim_events_run(struct wh_sim_events *events, uint64_t until_ps);
