/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The evaluation model of periodic-exchange.txt ("Simulation Model", Fig. 3). The host's packets
 * arrive one by one, exponentially. Each of an end's four tasks (the paper's processes) needs time
 * for each packet that it handles, data and control alike. Tasks are joined by FIFOs. Each has a
 * processor of its own, or some of an end share one.
 *
 *   host queue -> host_trans -> trans -> network       network -> rcv -> host_rcv -> host
 *                 get_rcv_stat <- network              network -> get_trans_stat
 *                 send_trans_stat -> trans             send_rcv_stat -> network
 *
 * Of a real end sealing and the port are parts of their own between network and trans, or rcv:
 *
 *   trans -> seal -> port -> network                   network -> port -> open -> rcv
 *
 * Several cores may seal; order is kept. What an end does for reports grows there with the packets
 * that they are about, so that a control packet takes as much as all data since the last one.
 *
 * The protocol state is the session's, and changes when a task completes a packet. This module has
 * the FIFOs and the processors.
 */

#include "lab/sim/simulation.h"

enum wh_task {
	WH_TASK_TAKE_CONTROL, /* get_rcv_stat, get_trans_stat */
	WH_TASK_SAY_CONTROL,  /* send_trans_stat, send_rcv_stat */
	WH_TASK_NETWORK,      /* trans, rcv */
	WH_TASK_HOST,         /* host_trans, host_rcv */
	WH_TASKS_PAPER,       /* these are the paper's */
	WH_TASK_SEAL = WH_TASKS_PAPER,
	WH_TASK_PORT,
	WH_TASKS,
};

#define WH_TASK_CORES_MAX 16

struct wh_tasks_config {
	uint64_t arrival_ps;        /* mean time between packets of the host; 0: no model */
	bool real;                  /* sealing and port have times, too */
	uint64_t task_ps[WH_TASKS]; /* per packet, of the sending end */
	uint64_t receiver_task_ps[WH_TASKS]; /* the same of the receiving end */
	uint64_t handing_ps;                 /* for either core, from one to another */
	uint32_t cores;                      /* of each end, at most */
	uint32_t sealing;                    /* of these may seal */
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

struct wh_tasks;

struct wh_task_core {
	struct wh_tasks *tasks;
	uint32_t does; /* bit i: enum wh_task i */
	uint32_t task; /* at work, or the next one to be asked */
	bool busy;
	uint64_t busy_ps;
	char names[96]; /* of what it does */
	struct wh_sim_event done;
	struct wh_sim_packet *packet; /* in hand */
};

struct wh_tasks {
	const struct wh_tasks_ops *ops;
	void *context;
	struct wh_tasks_config config;
	struct wh_sim_events *events;
	bool sends;
	struct wh_sim_flow_stats *stats;
	struct wh_prng prng;
	struct wh_sim_event arrival;
	uint64_t cost_ps[WH_TASKS]; /* with what handing over takes */
	struct wh_task_core core[WH_TASK_CORES_MAX];
	uint64_t host_pkts;                          /* arrived, waiting for host_trans */
	uint64_t data_pkts[WH_TASK_SAY_CONTROL + 1]; /* since each of these had a control packet */
	struct wh_sim_fifo control_in;               /* -> get_*_stat */
	struct wh_sim_fifo data_in;                  /* -> rcv, or port */
	struct wh_sim_fifo to_seal;                  /* -> seal */
	struct wh_sim_fifo sealed;      /* -> port, or rcv: done or in work, in order */
	struct wh_sim_fifo to_say;      /* from the session -> send_*_stat */
	struct wh_sim_fifo control_out; /* -> trans, or port */
};

void wh_tasks_init(struct wh_tasks *tasks, const struct wh_tasks_config *config,
	const struct wh_tasks_ops *ops, struct wh_sim_events *events, bool sends, uint64_t seed,
	struct wh_sim_flow_stats *stats, void *context);

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
	return tasks->data_in.count_pkts + tasks->to_seal.count_pkts + tasks->sealed.count_pkts;
}
