/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TCP_HYSTART_H
#define WH_TCP_HYSTART_H

/*
 * HyStart (Ha and Rhee, "Taming the elephants: new TCP slow start", 2011) as Linux has it: slow
 * start ends where a round's acknowledgements come close together for half of the least round
 * trip, or where the round trips of a round are all longer than the least one by an eighth of it,
 * which is at least 4 ms and at most 16 ms.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_sim_hystart {
	bool begun;
	bool found; /* slow start is to end */
	uint64_t round_end;
	uint64_t round_ps;
	uint64_t close_ps; /* the latest acknowledgement of a train of them */
	uint64_t least_ps; /* of this round */
	uint32_t samples;
};

struct wh_sim_hystart_ack {
	uint64_t now_ps;
	uint64_t una;
	uint64_t next; /* the serial that is sent next: the end of a round that begins */
	uint64_t rtt_ps;
	uint64_t min_rtt_ps;
	double cwnd_pkts;
	double pace_bytes_ps; /* a second: what a window in a round trip is, twice */
};

/* Each acknowledgement in slow start that tells of a round trip. True: it is to end. */
bool wh_sim_hystart_ends(struct wh_sim_hystart *hystart, const struct wh_sim_hystart_ack *ack);

#endif
