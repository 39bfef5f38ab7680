/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_QUEUE_H
#define WH_SIM_QUEUE_H

/*
 * The queue in front of a line: DropTail, RED (ns-2.35's parameters, defaults and arithmetic) or
 * CoDel (RFC 8289). It does not hold the packet on the line. Each discipline is a table of two
 * functions over the same FIFO.
 *
 * Limits are ns-2's: DropTail and CoDel drop the packet that would make limit_pkts wait, so that
 * a limit of 50 is 49 that wait and one on the line; RED drops when limit_pkts wait. Limits in
 * bytes likewise: ns-2's own, where RED counts bytes, is its limit times mean_packet_bytes. An
 * empty queue takes any packet.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "sim/event.h" /* picoseconds */
#include "sim/packet.h"

enum wh_sim_discipline {
	WH_SIM_DROPTAIL,
	WH_SIM_RED,
	WH_SIM_CODEL,
	WH_SIM_DISCIPLINES,
};

const char *wh_sim_discipline_name(enum wh_sim_discipline discipline);

/*
 * Zero in any member of RED's: ns-2's default, of the line's rate and delay where it depends on
 * them; but in_bytes, which ns-2 has set since 2004.
 */
struct wh_sim_red_config {
	double threshold_pkts;      /* thresh_: 5, or what takes 2.5 ms if that is more */
	double max_threshold_pkts;  /* maxthresh_: 3 * thresh_ */
	double weight;              /* q_weight_: by the packets of ten RTTs */
	double max_p;               /* 1 / linterm_: 0.1 */
	uint32_t mean_packet_bytes; /* mean_pktsize_: 500 */
	bool in_bytes;              /* queue_in_bytes_ and bytes_ */
	bool not_gentle;            /* gentle_ */
	bool no_wait;               /* wait_ */
	bool drop_tail_off;         /* drop_rand_: when there is no room, instead of the last */
};

struct wh_sim_codel_config {
	uint64_t target_ps;   /* 0: 5 ms */
	uint64_t interval_ps; /* 0: 100 ms */
};

struct wh_sim_queue_config {
	enum wh_sim_discipline discipline;
	uint32_t limit_pkts;  /* 0: none */
	uint64_t limit_bytes; /* 0: none */
	struct wh_sim_red_config red;
	struct wh_sim_codel_config codel;
};

/* Averages and thresholds are in packets, or in bytes if its configuration says so. */
struct wh_sim_red {
	struct wh_sim_red_config config; /* complete */
	double average;
	double threshold;
	double max_threshold;
	uint64_t rate_bps; /* how fast the average falls while the line is idle */
	uint64_t idle_since_ps;
	bool idle;
	bool above;          /* the average was above the threshold at the latest arrival */
	uint64_t count_pkts; /* arrived since the latest drop */
	uint64_t count_bytes;
};

struct wh_sim_codel {
	uint64_t target_ps;
	uint64_t interval_ps;
	uint64_t first_above_ps; /* 0: below target */
	uint64_t drop_next_ps;
	uint32_t drops;         /* the next gap is interval / sqrt(drops) */
	uint32_t last_drops;    /* what that was when dropping began */
	uint32_t largest_bytes; /* packet, ever: as much may wait however long */
	bool dropping;
};

struct wh_sim_queue {
	const struct wh_sim_queue_discipline *discipline;
	struct wh_sim_queue_config config;
	struct wh_sim_fifo fifo;
	union {
		struct wh_sim_red red;
		struct wh_sim_codel codel;
	};
};

/* Somebody learns of each packet that the queue drops and gives it back. */
typedef void (*wh_sim_dropper)(void *context, struct wh_sim_packet *packet, bool early);

/* Of a line of that rate and delay, which decide RED's defaults. */
void wh_sim_queue_init(struct wh_sim_queue *queue, const struct wh_sim_queue_config *config,
	uint64_t rate_bps, uint64_t delay_ps);

/* Takes the packet, which may be dropped, or another one instead of it. */
void wh_sim_queue_put(struct wh_sim_queue *queue, uint64_t now_ps, struct wh_sim_packet *packet,
	struct wh_prng *prng, wh_sim_dropper drop, void *context);

/*
 * The next for the line, NULL when it is empty. CoDel drops here. Asked whenever the line is free,
 * so that the queue learns when it becomes idle.
 */
struct wh_sim_packet *wh_sim_queue_take(
	struct wh_sim_queue *queue, uint64_t now_ps, wh_sim_dropper drop, void *context);

#endif
