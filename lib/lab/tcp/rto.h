/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The retransmission timeout: RFC 6298 with a clock of ticks, in ns-2's (and BSD's) fixed point.
 * One segment is timed at a time, never a retransmitted one (Karn).
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sim_tcp_config;

struct wh_sim_rto {
	uint64_t tick_ps;
	uint64_t min_ps;
	uint64_t max_ps;
	uint64_t phase_ps;   /* of the clock: differs per host */
	int64_t srtt_ticks8; /* smoothed, in eighths of a tick; 0: none */
	int64_t rttvar_ticks4;
	uint64_t base_ps; /* without backoff */
	uint32_t backoff;
	bool timing;
	uint64_t timed_pn;
	uint64_t timed_ps;
	uint64_t sample_ps; /* latest round-trip sample, in ps; 0: none yet */
};

void wh_sim_rto_init(
	struct wh_sim_rto *rto, const struct wh_sim_tcp_config *config, uint64_t phase_ps);

/* A segment was sent for the first time. */
void wh_sim_rto_sent(struct wh_sim_rto *rto, uint64_t now_ps, uint64_t pn);

/* `end` is the next packet number expected. A sample resets the backoff. */
void wh_sim_rto_acked(struct wh_sim_rto *rto, uint64_t now_ps, uint64_t end);

/*
 * The same for an acknowledgement that may answer a retransmission: no sample. True: it is of the
 * segment that was timed.
 */
bool wh_sim_rto_acked_in_recovery(struct wh_sim_rto *rto, uint64_t end);

void wh_sim_rto_back_off(struct wh_sim_rto *rto);
uint64_t wh_sim_rto_ps(const struct wh_sim_rto *rto);
