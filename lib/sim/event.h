/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_EVENT_H
#define WH_SIM_EVENT_H

/*
 * What happens when: events in order of their time, those of the same time in order of their being
 * set. Time is in picoseconds, so that a byte at 100 Gb/s takes a whole number of them, and ends
 * after 213 days. An event lies in the state of whoever waits for it; setting it allocates nothing
 * once the heap has grown to as many as were ever pending at once.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_PS_PER_NS    UINT64_C(1000)
#define WH_PS_PER_S     UINT64_C(1000000000000)
#define WH_SIM_NEVER_PS UINT64_MAX

struct wh_sim_event {
	void (*fire)(void *context, uint64_t now_ps);
	void *context;
	uint32_t place; /* in the heap, from 1; 0: not pending */
};

/* An entry of the heap: what decides on the order lies in it, so that sifting touches no event. */
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

/* Sets it, or moves it when it is pending; due_ps is not before now. */
void wh_sim_event_at(struct wh_sim_events *events, struct wh_sim_event *event, uint64_t due_ps);

/* Not pending is fine, too. */
void wh_sim_event_cancel(struct wh_sim_events *events, struct wh_sim_event *event);

static inline bool wh_sim_event_is_pending(const struct wh_sim_event *event)
{
	return event->place != 0;
}

/* When it is due; pending events only. */
uint64_t wh_sim_event_due_ps(const struct wh_sim_events *events, const struct wh_sim_event *event);

/* Fires what is due up to and at until_ps, and leaves the clock there. */
void wh_sim_events_run(struct wh_sim_events *events, uint64_t until_ps);

#endif
