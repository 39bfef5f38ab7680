/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * HyStart (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011) as in Linux: slow start
 * ends when a round's acknowledgements arrive closely spaced for half of the least round-trip time,
 * or when all round-trip times of a round exceed the least one by an eighth of it, but at least 4
 * ms and at most 16 ms.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sim_hystart {
	bool begun;
	bool found; /* slow start must end */
	uint64_t round_end;
	uint64_t round_ps;
	uint64_t close_ps; /* the latest of a train of closely spaced acknowledgements */
	uint64_t least_ps; /* of this round */
	uint32_t samples;
};

struct wh_sim_hystart_ack {
	uint64_t now_ps;
	uint64_t una;
	uint64_t next; /* the next packet number to be sent: ends a round that begins now */
	uint64_t rtt_ps;
	uint64_t min_rtt_ps;
	double cwnd_pkts;
	double pace_bytes_ps; /* bytes per second: twice the window per round-trip time */
};

/*
 * To be called for each acknowledgement in slow start with a round-trip time. True: end slow start.
 */
bool wh_sim_hystart_ends(struct wh_sim_hystart *hystart, const struct wh_sim_hystart_ack *ack);
