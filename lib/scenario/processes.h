/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SCENARIO_PROCESSES_H
#define WH_SCENARIO_PROCESSES_H

/*
 * The evaluation model of periodic-exchange.txt ("Simulation Model", Fig. 3): the host's packets
 * arrive one by one, exponentially, and each of an end's four processes takes time for each packet
 * that it works on, data and control alike. Processes are joined by FIFOs, and each has a processor
 * of its own, or all four of an end have one.
 *
 *   host queue -> host_trans -> trans -> network       network -> rcv -> host_rcv -> host
 *                 get_rcv_stat <- network              network -> get_trans_stat
 *                 send_trans_stat -> trans             send_rcv_stat -> network
 *
 * The state is the session's, and changes when a process is done with a packet. What is here are
 * the FIFOs and who is busy.
 */

#include "sim/server.h"
#include "sim/sim.h"

struct wh_processes_config {
	uint64_t arrival_ps;          /* mean, between packets of the host; 0: no model */
	uint64_t process_ps;          /* of a packet, in each process of the sending end ... */
	uint64_t receiver_process_ps; /* ... and of the receiving one */
	bool single;                  /* one processor an end, not four */
};

/* What an end does for its processes, all at this moment. */
struct wh_processes_ops {
	/*
	 * One packet between host and session. Sending end: false while there is no buffer or the
	 * one before waits for the window; receiving end: false while none is there in order. When
	 * the process is done with it, it is the session's, or its buffer is free.
	 */
	bool (*begin_host)(void *context);
	void (*end_host)(void *context);
	/* The session's next packet, control before data; NULL: none. */
	struct wh_sim_packet *(*next)(void *context, uint64_t now_ps);
	void (*take)(void *context, uint64_t now_ps, struct wh_sim_packet *packet);
	void (*send)(void *context, struct wh_sim_packet *packet);
	/* Something has changed: the session is polled. */
	void (*turn)(void *context, uint64_t now_ps);
};

enum wh_process {
	WH_PROCESS_TAKE_CONTROL, /* get_rcv_stat, get_trans_stat */
	WH_PROCESS_SAY_CONTROL,  /* send_trans_stat, send_rcv_stat */
	WH_PROCESS_NETWORK,      /* trans, rcv */
	WH_PROCESS_HOST,         /* host_trans, host_rcv */
	WH_PROCESSES,
};

struct wh_processes {
	const struct wh_processes_ops *ops;
	void *context;
	struct wh_processes_config config;
	struct wh_sim_events *events;
	bool sends;
	struct wh_prng prng;
	struct wh_sim_event arrival;
	struct wh_sim_server server[WH_PROCESSES];
	uint32_t servers;
	uint64_t host_pkts;             /* that have arrived and wait for host_trans */
	struct wh_sim_fifo control_in;  /* -> get_*_stat */
	struct wh_sim_fifo data_in;     /* -> rcv */
	struct wh_sim_fifo to_say;      /* the session's -> send_*_stat */
	struct wh_sim_fifo control_out; /* -> trans */
	struct wh_sim_packet *in_hand[WH_PROCESSES];
};

void wh_processes_init(struct wh_processes *processes, const struct wh_processes_config *config,
	const struct wh_processes_ops *ops, struct wh_sim_events *events, bool sends, uint64_t seed,
	void *context);

/* Sending end: the host begins to have packets; and has no more. */
void wh_processes_start(struct wh_processes *processes, uint64_t now_ps);
void wh_processes_stop(struct wh_processes *processes);

/* A packet has come from the network. */
void wh_processes_arrive(
	struct wh_processes *processes, uint64_t now_ps, struct wh_sim_packet *packet);

/* The session was polled: whoever is idle looks for something to do. */
void wh_processes_ask(struct wh_processes *processes, uint64_t now_ps);

/* Data that wait for rcv. */
static inline uint64_t wh_processes_waiting_pkts(const struct wh_processes *processes)
{
	return processes->data_in.count_pkts;
}

#endif
