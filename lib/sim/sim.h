/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SIM_SIM_H
#define WH_SIM_SIM_H

/*
 * A simulated network: nodes, joined by links of one direction each, with agents that sit on nodes
 * and send each other packets. Packets go by the way with the least sum of delays, ties by fewest
 * links, then by the lowest number of the first node on the way.
 *
 *   agent -> wh_sim_send -> policer -> queue -> line -> loss -> delay -> next node ...
 *                                                                  -> agent's receive
 *
 * Everything follows from the configuration and the seed, on any machine and in any build.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "fibre/loss_model.h"
#include "sim/event.h"
#include "sim/hops.h"
#include "sim/packet.h"
#include "sim/policer.h"
#include "sim/queue.h"

#define WH_SIM_STEPS_MAX 32

/* From then on something has another value. */
struct wh_sim_step {
	uint64_t at_ps;
	uint64_t value;
};

/* Ascending, each at its own moment. */
struct wh_sim_steps {
	struct wh_sim_step step[WH_SIM_STEPS_MAX];
	uint32_t count;
};

struct wh_sim_link_config {
	uint32_t from; /* nodes */
	uint32_t to;
	uint64_t rate_bps; /* not 0 */
	uint64_t delay_ps;
	/*
	 * A packet has the rate of the moment at which its first bit leaves and the delay of that
	 * at which its last one does, and keeps both: when the delay falls, packets overtake those
	 * that fly, as on a shorter way. Ways are chosen by the delays at the beginning.
	 */
	struct wh_sim_steps rate_steps; /* none is 0 */
	struct wh_sim_steps delay_steps;
	struct wh_sim_hops hops; /* what they take is added to the delay, and reorders */
	struct wh_sim_queue_config queue;
	struct wh_fibre_config
		loss;              /* of it: loss_model, loss, gilbert_elliott, bit_error, outage */
	double reorder;            /* this share of packets ... */
	uint64_t reorder_delay_ps; /* ... arrives later by this, and others overtake them */
	struct wh_sim_policer_config policer;
	bool counts_delays; /* of its queue, in wh_sim_link_delays */
	/* Ascending: nothing begins to be sent meanwhile, and the queue fills. */
	struct wh_fibre_outage pause[WH_FIBRE_OUTAGES_MAX];
	uint32_t n_pauses;
};

struct wh_sim_link_stats {
	uint64_t entered_pkts;
	uint64_t entered_bytes;
	uint64_t left_pkts; /* at the far end */
	uint64_t left_bytes;
	uint64_t policed_pkts;  /* dropped before the queue */
	uint64_t overflow_pkts; /* dropped for want of room */
	uint64_t early_pkts;    /* dropped by RED or CoDel before that */
	uint64_t lost_pkts;     /* by the line */
	uint64_t gone_bytes;    /* of these four */
	uint64_t busy_ps;       /* of the line */
	uint64_t queue_max_pkts;
	uint64_t queue_max_bytes;
	unsigned __int128 queue_pkt_ps; /* integral of the queue's length */
};

/* What belongs to one flow, wherever it is counted. Moments are NEVER before they come. */
struct wh_sim_flow_stats {
	uint64_t sent_pkts;  /* by its source: data, retransmissions too */
	uint64_t sent_bytes; /* by its source: all of it, control too, as links count it */
	uint64_t data_bytes; /* of these, of data that go for the first time */
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;   /* of those sent */
	uint64_t goodput_bytes; /* payload, new, in the hands of the receiver's user */
	uint64_t dropped_pkts;  /* data and control, by queues and lines */
	uint64_t dropped_bytes; /* the same as links count it */
	uint64_t needless_pkts; /* data that arrived and were there already */
	uint64_t opened_ps;     /* a profile's: its peer has accepted */
	uint64_t first_sent_ps;
	uint64_t finished_ps; /* a sized one: its last byte was acknowledged */
};

struct wh_sim;

/* The memory of a simulation is the process's: without it, it ends with a sentence. */
struct wh_sim *wh_sim_create(uint64_t seed);
void wh_sim_destroy(struct wh_sim *sim);

uint32_t wh_sim_add_node(struct wh_sim *sim);
uint32_t wh_sim_add_link(struct wh_sim *sim, const struct wh_sim_link_config *config);
uint32_t wh_sim_add_flow(struct wh_sim *sim);

/* An agent's packets arrive here; it takes them over. */
uint32_t wh_sim_add_agent(struct wh_sim *sim, uint32_t node,
	void (*receive)(void *context, uint64_t now_ps, struct wh_sim_packet *packet),
	void *context);

/*
 * Once all nodes and links are there. False: these two nodes have no way between them, or are one.
 */
bool wh_sim_has_way(struct wh_sim *sim, uint32_t from, uint32_t to);

/* How many wait in the first link on that way. */
uint32_t wh_sim_waiting_pkts(struct wh_sim *sim, uint32_t from, uint32_t to);

/* Runs until then. Conservation is asserted at every link. */
void wh_sim_run(struct wh_sim *sim, uint64_t until_ps);

uint64_t wh_sim_now_ps(const struct wh_sim *sim);
struct wh_sim_events *wh_sim_events(struct wh_sim *sim);
struct wh_sim_pool *wh_sim_pool(struct wh_sim *sim);
struct wh_prng *wh_sim_prng(struct wh_sim *sim);

/* Sends a packet from a node to its agent `to`. The way must exist. */
void wh_sim_send(struct wh_sim *sim, uint32_t from_node, struct wh_sim_packet *packet);

/* Of the first link on the way, which must exist. */
uint64_t wh_sim_line_bps(struct wh_sim *sim, uint32_t from, uint32_t to);

/* Packets that entered links, ever. */
uint64_t wh_sim_hops(const struct wh_sim *sim);

uint32_t wh_sim_links(const struct wh_sim *sim);
const struct wh_sim_link_config *wh_sim_link_config(const struct wh_sim *sim, uint32_t link);
/* Up to now. */
const struct wh_sim_link_stats *wh_sim_link_stats(const struct wh_sim *sim, uint32_t link);
uint32_t wh_sim_link_queue_pkts(const struct wh_sim *sim, uint32_t link);

/*
 * For how many nanoseconds packets waited before the line took them, by buckets to a sixty-fourth
 * (base/histogram.h); NULL when the link does not count them.
 */
#define WH_SIM_DELAY_BITS    6
#define WH_SIM_DELAY_BUCKETS WH_BUCKETS(WH_SIM_DELAY_BITS)
const uint64_t *wh_sim_link_delays(const struct wh_sim *sim, uint32_t link);

/* Written by the agents and, what is dropped, by the links; it stays where it is. */
struct wh_sim_flow_stats *wh_sim_flow_stats(struct wh_sim *sim, uint32_t flow);

/* entered = left + dropped + lost + held, for packets and bytes, at every link. */
void wh_sim_check(const struct wh_sim *sim);

#endif
