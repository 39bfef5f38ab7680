/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The evaluation model of periodic-exchange.txt ("Simulation Model", Fig. 3). The host's packets
 * arrive one by one, exponentially. Each of an end's four tasks (the paper's processes) needs time
 * for each packet that it handles, data and control alike. Tasks are joined by FIFOs. Each has a
 * processor of its own, or the four of an end share one.
 *
 *   host queue -> host_trans -> trans -> network       network -> rcv -> host_rcv -> host
 *                 get_rcv_stat <- network              network -> get_trans_stat
 *                 send_trans_stat -> trans             send_rcv_stat -> network
 *
 * The protocol state is the session's, and changes when a task completes a packet. This module has
 * the FIFOs and the processors.
 */

#include "lab/sim/server.h"
#include "lab/sim/simulation.h"

struct wh_tasks_config {
	uint64_t arrival_ps;       /* mean time between packets of the host; 0: no model */
	uint64_t task_ps;          /* per packet and task of the sending end */
	uint64_t receiver_task_ps; /* the same of the receiving end */
	bool single;               /* one processor per end instead of four */
};

/* Callbacks of the tasks into their end; they take no time. */
struct wh_tasks_ops {
	/*
	 * One packet between host and session. begin_host returns false at the sending end without
	 * a free buffer, or while the previous packet waits for the window; at the receiving end
	 * without a packet next in order. end_host completes it: the session takes the packet, or
	 * its buffer is freed.
	 */
	bool (*begin_host)(void *context);
	void (*end_host)(void *context);
	/* The session's next packet, control before data; NULL: none. */
	struct wh_sim_packet *(*next)(void *context, uint64_t now_ps);
	void (*take)(void *context, uint64_t now_ps, struct wh_sim_packet *packet);
	void (*send)(void *context, struct wh_sim_packet *packet);
	/* Something has changed: polls the session. */
	void (*turn)(void *context, uint64_t now_ps);
};

enum wh_task {
	WH_TASK_TAKE_CONTROL, /* get_rcv_stat, get_trans_stat */
	WH_TASK_SAY_CONTROL,  /* send_trans_stat, send_rcv_stat */
	WH_TASK_NETWORK,      /* trans, rcv */
	WH_TASK_HOST,         /* host_trans, host_rcv */
	WH_TASKS,
};

struct wh_tasks {
	const struct wh_tasks_ops *ops;
	void *context;
	struct wh_tasks_config config;
	struct wh_sim_events *events;
	bool sends;
	struct wh_prng prng;
	struct wh_sim_event arrival;
	struct wh_sim_server server[WH_TASKS];
	uint32_t servers;
	uint64_t host_pkts;             /* arrived, waiting for host_trans */
	struct wh_sim_fifo control_in;  /* -> get_*_stat */
	struct wh_sim_fifo data_in;     /* -> rcv */
	struct wh_sim_fifo to_say;      /* from the session -> send_*_stat */
	struct wh_sim_fifo control_out; /* -> trans */
	struct wh_sim_packet *in_hand[WH_TASKS];
};

void wh_tasks_init(struct wh_tasks *tasks, const struct wh_tasks_config *config,
	const struct wh_tasks_ops *ops, struct wh_sim_events *events, bool sends, uint64_t seed,
	void *context);

/* Sending end: the host's packets begin, and end. */
void wh_tasks_start(struct wh_tasks *tasks, uint64_t now_ps);
void wh_tasks_stop(struct wh_tasks *tasks);

/* A packet has arrived from the network. */
void wh_tasks_arrive(struct wh_tasks *tasks, uint64_t now_ps, struct wh_sim_packet *packet);

/* The session was polled: idle tasks look for work. */
void wh_tasks_ask(struct wh_tasks *tasks, uint64_t now_ps);

/* Data packets waiting for rcv. */
static inline uint64_t wh_tasks_waiting_pkts(const struct wh_tasks *tasks)
{
	return tasks->data_in.count_pkts;
}
