/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FIBRE_LINE_H
#define WH_FIBRE_LINE_H

/*
 * A line of some rate and the drop-tail queue in front of it. Nothing is stored but times: when
 * the line will have sent all that waits and, if the queue is limited in packets, when each of
 * them will have left.
 *
 * Line time counts in 2^-64 cycles (`_span`), so that sums of packet times stay exact.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "fibre/fibre.h"

struct wh_line {
	unsigned __int128 busy_until; /* in 2^-64 cycles, too */
	unsigned __int128 byte_span;  /* 0: infinite rate */
	unsigned __int128 queue_span;
	unsigned __int128 queue_span_max; /* the longest seen ... */
	uint64_t queue_bytes_max;         /* ... and the bytes of it */
	uint64_t *leave_tsc;              /* ring: when the waiting packets will have left */
	uint32_t queue_pkts;              /* that may wait; 0: no limit in packets */
	uint32_t ring_pkts;               /* entries of the ring */
	uint32_t oldest;
	uint32_t waiting_pkts;
};

/* 0, -ENOMEM, or -EINVAL when the rate does not fit the clock. */
int wh_line_init(struct wh_line *line, const struct wh_fibre_config *config, uint64_t hz);
void wh_line_free(struct wh_line *line);

/* How what waits at a change of the rate leaves by it. */
struct wh_line_pace {
	uint64_t now_tsc;
	uint64_t before_tsc; /* all of it was to have left until then ... */
	uint64_t after_tsc;  /* ... and will have until then */
};

/*
 * Another rate and queue from now on: what waits, by the byte, leaves at the new rate. A queue
 * whose limit was not in packets counts those that enter from then on. The rate is finite before
 * and after and fits the clock, and queue_pkts is at most the queue_pkts_max of init.
 */
struct wh_line_pace wh_line_change(
	struct wh_line *line, const struct wh_fibre_config *config, uint64_t hz, uint64_t now_tsc);

bool wh_line_rate_fits(uint64_t rate_bps, uint64_t hz);

/* When a packet leaves that was to leave at leave_tsc before the change; never before another. */
static inline uint64_t wh_line_pace(const struct wh_line_pace *pace, uint64_t leave_tsc)
{
	if (leave_tsc <= pace->now_tsc)
		return leave_tsc;
	if (leave_tsc >= pace->before_tsc)
		return pace->after_tsc;
	return pace->now_tsc + wh_muldiv_u64(leave_tsc - pace->now_tsc,
				       pace->after_tsc - pace->now_tsc,
				       pace->before_tsc - pace->now_tsc);
}

/*
 * Takes a packet into the queue and says in which cycle its last bit will have left; false when
 * there is no room. Times never decrease.
 */
bool wh_line_enter(
	struct wh_line *line, uint64_t now_tsc, uint32_t wire_bytes, uint64_t *leave_tsc);

/* Bytes that wait at now_tsc; one that has left in part still counts. */
uint64_t wh_line_queue_bytes(const struct wh_line *line, uint64_t now_tsc);

/* The first whole cycle in which all that was taken will have left; 0 at an infinite rate. */
uint64_t wh_line_free_tsc(const struct wh_line *line);

/* How long a packet takes, in whole cycles and no less. */
uint64_t wh_line_packet_tsc(const struct wh_line *line, uint32_t wire_bytes);

#endif
