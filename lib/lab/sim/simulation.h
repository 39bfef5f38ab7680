/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A simulated network: nodes, joined by unidirectional links, with agents at nodes that send each
 * other packets. Packets take the path with the least sum of delays, ties by fewest links, then by
 * the lowest number of the first node on the path.
 *
 *   agent -> wh_sim_send -> policer -> queue -> line -> loss -> delay -> next node ...
 *                                                                  -> agent's receive
 *
 * Everything is determined by the configuration and the seed, on any machine and in any build.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "lab/netem/loss_model.h"
#include "lab/sim/event.h"
#include "lab/sim/hops.h"
#include "lab/sim/machine/absence.h"
#include "lab/sim/policer.h"
#include "lab/sim/queue.h"
#include "lab/sim/sim_packet.h"

#define WH_SIM_STEPS_MAX 32

/* A new value from at_ps on. */
struct wh_sim_step {
	uint64_t at_ps;
	uint64_t value;
};

/* In ascending order of time, all different. */
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
	 * A packet's rate is that at which its first bit leaves, its delay that at which its last
	 * bit leaves: when the delay falls, packets overtake those in flight, as on a shorter path.
	 * Routes use the initial delays.
	 */
	struct wh_sim_steps rate_steps; /* none is 0 */
	struct wh_sim_steps delay_steps;
	struct wh_sim_hops hops; /* their delay is added, and reorders packets */
	struct wh_sim_queue_config queue;
	struct wh_link_model loss; /* only loss_model, its parameters, bit_error and outage */
	double reorder;            /* fraction of packets that are delayed */
	uint64_t reorder_delay_ps; /* by this, so that others overtake them */
	struct wh_sim_policer_config policer;
	bool counts_delays; /* of its queue, for wh_sim_link_delays */
	/* Ascending; no transmission begins during a pause, and the queue fills. */
	struct wh_link_outage pause[WH_LINK_OUTAGES_MAX];
	uint32_t n_pauses;
	/*
	 * Absences of the machine that emulates the link. Packets that come during one enter the
	 * queue together at its end, and packets due during it arrive then. Transmission goes on.
	 */
	struct wh_absence_config absence;
};

struct wh_sim_link_stats {
	/* Counts, which only grow, up to busy_ps. */
	uint64_t entered_pkts;
	uint64_t entered_bytes;
	uint64_t left_pkts; /* arrived at the far end */
	uint64_t left_bytes;
	uint64_t policed_pkts;  /* dropped before the queue */
	uint64_t overflow_pkts; /* dropped by a full queue */
	uint64_t early_pkts;    /* dropped by RED or CoDel before it is full */
	uint64_t lost_pkts;     /* on the line */
	uint64_t gone_bytes;    /* total of these four */
	uint64_t busy_ps;       /* of the line */
	uint64_t queue_max_pkts;
	uint64_t queue_pkts;            /* momentary */
	unsigned __int128 queue_pkt_ps; /* integral of the queue's length over time */
};

/* Counters of one flow, wherever they are counted. Times are NEVER until they happen. */
struct wh_sim_flow_stats {
	/* Counts, which only grow, up to needless_pkts. */
	uint64_t sent_pkts; /* by its source: data, including retransmissions */
	uint64_t retransmitted_pkts;
	uint64_t repair_pkts;   /* of sent_pkts */
	uint64_t goodput_bytes; /* new payload, delivered to the receiver's user */
	uint64_t dropped_pkts;  /* data and control, by queues and links */
	uint64_t dropped_bytes; /* the same as links count it */
	uint64_t needless_pkts; /* data received more than once */
	uint64_t opened_ps;     /* of a profile: accepted by its peer */
	uint64_t first_sent_ps;
	uint64_t finished_ps; /* of a sized flow: its last byte was acknowledged */
	const char *busiest;  /* of one with tasks: what its busiest core does */
	uint64_t busiest_ps;
};

struct wh_sim;

/* Memory as in sim/sim_memory.h. */
struct wh_sim *wh_sim_create(uint64_t seed);
void wh_sim_destroy(struct wh_sim *sim);

uint32_t wh_sim_add_node(struct wh_sim *sim);
uint32_t wh_sim_add_link(struct wh_sim *sim, const struct wh_sim_link_config *config);
uint32_t wh_sim_add_flow(struct wh_sim *sim);

/* `receive` gets packets to the agent, and owns them. */
uint32_t wh_sim_add_agent(struct wh_sim *sim, uint32_t node,
	void (*receive)(void *context, uint64_t now_ps, struct wh_sim_packet *packet),
	void *context);

/*
 * The first link of the path from a node to another one; WH_SIM_NO_LINK: there is no path, or they
 * are the same. To be called when all nodes and links exist.
 */
#define WH_SIM_NO_LINK UINT32_MAX
uint32_t wh_sim_next_link(struct wh_sim *sim, uint32_t node, uint32_t to);

/* Runs until that time. Asserts conservation at every link. */
void wh_sim_run(struct wh_sim *sim, uint64_t until_ps);

uint64_t wh_sim_now_ps(const struct wh_sim *sim);
struct wh_sim_events *wh_sim_events(struct wh_sim *sim);
struct wh_sim_pool *wh_sim_pool(struct wh_sim *sim);
struct wh_prng *wh_sim_prng(struct wh_sim *sim);

/* Sends a packet from a node to the agent packet->to. A path must exist. */
void wh_sim_send(struct wh_sim *sim, uint32_t from_node, struct wh_sim_packet *packet);

/* Packets that entered links, total. */
uint64_t wh_sim_hops(const struct wh_sim *sim);

uint32_t wh_sim_links(const struct wh_sim *sim);
const struct wh_sim_link_config *wh_sim_link_config(const struct wh_sim *sim, uint32_t link);
/* Up to now. */
const struct wh_sim_link_stats *wh_sim_link_stats(const struct wh_sim *sim, uint32_t link);

/*
 * Histogram of queueing delays in nanoseconds, at a resolution of 1/64 (base/histogram.h); NULL
 * when the link does not count them.
 */
#define WH_SIM_DELAY_BITS    6
#define WH_SIM_DELAY_BUCKETS WH_BUCKETS(WH_SIM_DELAY_BITS)
const uint64_t *wh_sim_link_delays(const struct wh_sim *sim, uint32_t link);

/* Written by the agents and, for drops, by the links; the pointer stays valid. */
struct wh_sim_flow_stats *wh_sim_flow_stats(struct wh_sim *sim, uint32_t flow);

/* Asserts entered = left + dropped + lost + held, for packets and bytes, at every link. */
void wh_sim_check(const struct wh_sim *sim);
