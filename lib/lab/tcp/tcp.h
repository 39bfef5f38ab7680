/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Reference TCPs, one-way as in ns-2: the window counts segments, all of the same size, and the
 * receiver's buffer is unlimited. The common part (timers, counting, sending) is tcp.c; the
 * reactions of each variety to acknowledgements, timeouts and losses are a table of functions in
 * its own file. receiver.c is the receiver of all. They behave like ns-2's agents of the same
 * names, which test/sim/ns2.py compares; those with rack.c behave like Linux.
 */

#include <stdbool.h>
#include <stdint.h>

#include "lab/sim/simulation.h"
#include "profile/options.h"

enum wh_sim_tcp_variety {
	WH_SIM_TCP_RENO,
	WH_SIM_TCP_NEWRENO,
	WH_SIM_TCP_SACK,
	WH_SIM_TCP_VEGAS,
	WH_SIM_TCP_HIGHSPEED, /* RFC 3649 on SACK */
	WH_SIM_TCP_CUBIC,     /* RFC 9438 on SACK */
	WH_SIM_TCP_BBR,       /* BBR v1 as in Linux, with its recovery */
	WH_SIM_TCP_BBR3,      /* BBR v3, with the same recovery */
	WH_SIM_TCP_STTP,      /* sttp.txt's agent: shares only timer and sink with TCP */
	WH_SIM_TCP_VARIETIES,
};

/* The varieties that are TCPs come first. */
#define WH_SIM_TCP_TCPS WH_SIM_TCP_STTP

const char *wh_sim_tcp_variety_name(enum wh_sim_tcp_variety variety);

struct wh_sim_tcp_config {
	enum wh_sim_tcp_variety variety;
	uint32_t segment_bytes; /* payload */
	uint32_t head_bytes;    /* of data and of acknowledgements, which add 8 per SACK range */
	uint32_t window_pkts;   /* upper limit of the window; 0: none */
	double initial_cwnd_pkts;
	double initial_ssthresh_pkts; /* 0: the window limit */
	double max_ssthresh_pkts;     /* limited slow start, RFC 3742; 0: off; unused by Vegas */
	/*
	 * Capacity of the sending device's queue: when it is full, a new segment waits for the next
	 * acknowledgement, and the window is reduced as by a loss, once per window, as in Linux. 0:
	 * no limit.
	 */
	uint32_t device_queue_pkts;
	bool handshake;        /* a head alone is sent first: ns-2's syn_ */
	bool limited_transmit; /* RFC 3042: ns-2's singledup_; not in Vegas */
	bool as_linux;         /* CUBIC on rack.c; always so with BBR */
	bool hystart;          /* with as_linux: ends slow start before a loss */
	bool delayed_ack;      /* for every second segment, or after ack_delay_ps */
	uint64_t ack_delay_ps; /* 100 ms */
	uint64_t tick_ps;      /* of the RTT clock */
	uint64_t initial_rto_ps;
	uint64_t min_rto_ps;
	uint64_t max_rto_ps;
	struct wh_profile_options sttp; /* options of the profile sttp */
};

/* ns-2's defaults, 1460 bytes of payload; for BBR Linux's: 10 segments, and 1 s at first. */
void wh_sim_tcp_config_init(struct wh_sim_tcp_config *config, enum wh_sim_tcp_variety variety);

/* For BBR, and for CUBIC as in Linux: Linux's recovery and defaults. */
void wh_sim_tcp_config_as_linux(struct wh_sim_tcp_config *config);

struct wh_sim_tcp;

/*
 * A connection from a node to another, part of a flow (which may have several). It sends nothing
 * before an offer. Free it with wh_sim_tcp_destroy, after the run.
 */
struct wh_sim_tcp *wh_sim_tcp_create(struct wh_sim *sim, const struct wh_sim_tcp_config *config,
	uint32_t from_node, uint32_t to_node, uint32_t flow);
void wh_sim_tcp_destroy(struct wh_sim_tcp *tcp);

/* Adds this many segments to be sent from now on; UINT64_MAX: endless. */
void wh_sim_tcp_offer(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t segments);

/* No new segments from now on; outstanding ones are still repaired. */
void wh_sim_tcp_stop(struct wh_sim_tcp *tcp);

/*
 * Provides segments one by one (psock): `more` is called whenever the window has room, after a
 * first offer, possibly of 0 segments, has started the connection. False: there is none.
 */
void wh_sim_tcp_feed(struct wh_sim_tcp *tcp, bool (*more)(void *context), void *context);

/* Called when all that was offered is acknowledged. */
void wh_sim_tcp_on_done(
	struct wh_sim_tcp *tcp, void (*done)(void *context, uint64_t now_ps), void *context);

/* In segments with payload, so without the handshake. */
double wh_sim_tcp_cwnd_pkts(const struct wh_sim_tcp *tcp);
uint64_t wh_sim_tcp_next_pn(const struct wh_sim_tcp *tcp);
uint64_t wh_sim_tcp_acked_pkts(const struct wh_sim_tcp *tcp);

/* Observations of an STTP agent, zeros until known; NULL for other varieties. */
struct wh_sim_sttp_seen {
	double first_back_s; /* return of the first probe packet, since sending */
	double back_s;       /* and of the last, after which data may be sent */
	double capacity_bps; /* estimated by the probe */
	double first_sigma;  /* bucket size derived from the probe */
	double rtt_s;        /* of the first acknowledgement */
	double sigma;        /* after it */
	/* The largest decrease of the round-trip time from one acknowledgement to the next. */
	double fell_at_s;
	double fell_from_s;
	double fell_to_s;
};
const struct wh_sim_sttp_seen *wh_sim_tcp_sttp_seen(const struct wh_sim_tcp *tcp);
