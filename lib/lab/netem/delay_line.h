/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Holds items until they are due. Nearly all arrive in order of due time and go through a ring, in
 * O(1). The others go through a binary heap: the late ones, which later items will overtake, and
 * those due before the ring's last. Each yields its items in order of (due time, hold()), so the
 * next item is the smaller of the two heads.
 *
 * A late item would fit at the end of the ring on arrival, but then force every item that overtakes
 * it into the heap; hence the caller marks late items. The mark affects speed only.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/netem/netem.h"

struct wh_delay_line {
	struct wh_netem_item *ring;
	struct wh_netem_item *heap;
	uint64_t next_order;
	uint64_t ring_last_tsc; /* due time of the ring's last item, if it has one */
	uint32_t items_max;     /* capacity of ring and heap each, and of both together */
	uint32_t ring_head;
	uint32_t ring_tail;
	uint32_t ring_count;
	uint32_t heap_count;
};

/* 0 or -ENOMEM. */
int wh_delay_line_init(struct wh_delay_line *line, uint32_t items_max);
void wh_delay_line_free(struct wh_delay_line *line);

/* Makes room for twice as many items. 0 or -ENOMEM. */
int wh_delay_line_grow(struct wh_delay_line *line);

/* False when items_max are held. */
bool wh_delay_line_hold(struct wh_delay_line *line, uint64_t due_tsc, bool late, void *item);

/* Up to `count` items that are due at now_tsc, in order; returns how many. */
uint32_t wh_delay_line_take(
	struct wh_delay_line *line, uint64_t now_tsc, struct wh_netem_item *items, uint32_t count);

/*
 * Maps the due times of all held items; they are reordered accordingly, equal ones keep their
 * order. Takes time in proportion to their number.
 */
void wh_delay_line_change(struct wh_delay_line *line,
	uint64_t (*due_tsc)(void *context, uint64_t due_tsc), void *context);

/* The next item, due or not; NULL when empty. */
void *wh_delay_line_take_any(struct wh_delay_line *line);

/* The same, and it stays. */
void *wh_delay_line_first(const struct wh_delay_line *line);

/* When the next item is due; WH_TSC_NEVER when empty. */
uint64_t wh_delay_line_deadline(const struct wh_delay_line *line);

static inline uint32_t wh_delay_line_held(const struct wh_delay_line *line)
{
	return line->ring_count + line->heap_count;
}
