/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TCP_RTO_H
#define WH_TCP_RTO_H

/*
 * When to stop waiting for an acknowledgement: RFC 6298 by a clock of ticks, in ns-2's (and BSD's)
 * fixed point. One segment is timed at a time and never one that was sent twice (Karn).
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sim_tcp_config;

struct wh_sim_rto {
	uint64_t tick_ps;
	uint64_t min_ps;
	uint64_t max_ps;
	uint64_t phase_ps;   /* of the clock: a host's own */
	int64_t srtt_ticks8; /* smoothed, in eighths of a tick; 0: none */
	int64_t rttvar_ticks4;
	uint64_t base_ps; /* before it is backed off */
	uint32_t backoff;
	bool timing;
	uint64_t timed_serial;
	uint64_t timed_ps;
	uint64_t sample_ps; /* the latest, as it was; 0: none yet */
};

void wh_sim_rto_init(
	struct wh_sim_rto *rto, const struct wh_sim_tcp_config *config, uint64_t phase_ps);

/* A segment left for the first time. */
void wh_sim_rto_sent(struct wh_sim_rto *rto, uint64_t now_ps, uint64_t serial);

/* `end` is the number of the next segment wanted. A sample ends the backing off. */
void wh_sim_rto_acked(struct wh_sim_rto *rto, uint64_t now_ps, uint64_t end);

/* The same, of what may be an answer to a retransmission: no sample. */
void wh_sim_rto_acked_in_recovery(struct wh_sim_rto *rto, uint64_t end);

void wh_sim_rto_back_off(struct wh_sim_rto *rto);
uint64_t wh_sim_rto_ps(const struct wh_sim_rto *rto);

#endif
