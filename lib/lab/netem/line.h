/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A line of some rate and the drop-tail queue in front of it. Only times are stored: when the line
 * will have sent all queued packets and, if the queue is limited in packets, when each of them will
 * have left.
 *
 * Line time counts in 2^-64 cycles (`_span`), so that sums of packet times stay exact.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "lab/netem/netem.h"

struct wh_line {
	unsigned __int128 busy_until; /* also in 2^-64 cycles */
	unsigned __int128 byte_span;  /* 0: infinite rate */
	unsigned __int128 queue_span;
	unsigned __int128 queue_span_max; /* longest so far */
	uint64_t queue_bytes_max;         /* the same in bytes */
	uint64_t *leave_tsc;              /* ring: when each queued packet will have left */
	uint32_t queue_pkts;              /* limit of the queue; 0: none */
	uint32_t ring_pkts;               /* entries of the ring */
	uint32_t oldest;
	uint32_t waiting_pkts;
};

/* 0, -ENOMEM, or -EINVAL when the rate does not fit the clock. */
int wh_line_init(struct wh_line *line, const struct wh_link_model *config, uint64_t hz);
void wh_line_free(struct wh_line *line);

/* A change of rate, as it applies to the queued packets. */
struct wh_line_pace {
	uint64_t now_tsc;
	uint64_t before_tsc; /* when all would have left at the old rate */
	uint64_t after_tsc;  /* when all will have left at the new rate */
};

/*
 * Changes rate and queue: queued bytes leave at the new rate. If the queue had no limit in packets,
 * only packets that enter from now on count. The rates before and after are finite and fit the
 * clock, and queue_pkts is at most the queue_pkts_max given to init.
 */
struct wh_line_pace wh_line_change(
	struct wh_line *line, const struct wh_link_model *config, uint64_t hz, uint64_t now_tsc);

bool wh_line_rate_fits(uint64_t rate_bps, uint64_t hz);

/* The new departure time of a packet that was to leave at leave_tsc; keeps the order. */
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
 * Enters a packet into the queue and sets the cycle in which its last bit will have left; false
 * when there is no room. Times never decrease.
 */
bool wh_line_enter(
	struct wh_line *line, uint64_t now_tsc, uint32_t wire_bytes, uint64_t *leave_tsc);

/* Bytes queued and not yet sent at now_tsc, rounded up. */
uint64_t wh_line_queue_bytes(const struct wh_line *line, uint64_t now_tsc);

/* The first whole cycle in which all queued packets will have left; 0 at an infinite rate. */
uint64_t wh_line_free_tsc(const struct wh_line *line);

/* Transmission time of a packet in cycles, rounded up. */
uint64_t wh_line_packet_tsc(const struct wh_line *line, uint32_t wire_bytes);
