/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TCP_TCP_H
#define WH_TCP_TCP_H

/*
 * Reference TCPs, one-way as ns-2's: the window counts segments, all of the same size, and the
 * receiver has room for any. What they have in common (timers, counting, sending) is tcp.c; what
 * one variety does with an acknowledgement, on a timeout and with a loss is a table of functions
 * in its own file. receiver.c is the receiver of all. They behave as ns-2's agents of the same
 * names, and test/sim/ns2.py holds them against these; those with rack.c do as Linux does.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/highspeed.h"
#include "profile/options.h"
#include "sim/sim.h"

enum wh_sim_tcp_variety {
	WH_SIM_TCP_RENO,
	WH_SIM_TCP_NEWRENO,
	WH_SIM_TCP_SACK,
	WH_SIM_TCP_VEGAS,
	WH_SIM_TCP_HIGHSPEED, /* RFC 3649 on SACK */
	WH_SIM_TCP_CUBIC,     /* RFC 9438 on SACK */
	WH_SIM_TCP_BBR,       /* BBR v1 as Linux's, with its recovery */
	WH_SIM_TCP_STTP,      /* sttp.txt's agent: no TCP but for its timer and its sink */
	WH_SIM_TCP_VARIETIES,
};

/* Those that are TCPs come first. */
#define WH_SIM_TCP_TCPS WH_SIM_TCP_STTP

const char *wh_sim_tcp_variety_name(enum wh_sim_tcp_variety variety);

struct wh_sim_tcp_config {
	enum wh_sim_tcp_variety variety;
	uint32_t segment_bytes; /* payload */
	uint32_t head_bytes;    /* of data; of an acknowledgement, too, beside 8 per SACK range */
	uint32_t window_pkts;   /* the limit; 0: none */
	double initial_cwnd_pkts;
	double initial_ssthresh_pkts; /* 0: the window */
	double max_ssthresh_pkts;     /* limited slow start, RFC 3742; 0: off; Vegas ends its own */
	/*
	 * What the sending device's queue holds: when it is full a new segment waits for the next
	 * acknowledgement, and the window is cut as by a loss, once for all that is under way; so
	 * Linux does it. 0: no such limit.
	 */
	uint32_t device_queue_pkts;
	bool handshake;        /* a head goes first, alone: ns-2's syn_ */
	bool limited_transmit; /* RFC 3042: ns-2's singledup_; none in Vegas */
	bool as_linux;         /* CUBIC on rack.c; BBR is so anyway */
	bool hystart;          /* with as_linux: ends slow start before something is lost */
	bool delayed_ack;      /* every second, or after ack_delay_ps */
	uint64_t ack_delay_ps; /* 100 ms */
	uint64_t tick_ps;      /* of the RTT clock */
	uint64_t initial_rto_ps;
	uint64_t min_rto_ps;
	uint64_t max_rto_ps;
	double vegas_alpha_pkts;
	double vegas_beta_pkts;
	double vegas_gamma_pkts;
	struct wh_highspeed_config highspeed;
	struct wh_profile_options sttp; /* the profile's */
};

/* ns-2's defaults, 1460 bytes of payload; of BBR Linux's: 10 segments, and 1 s at first. */
void wh_sim_tcp_config_init(struct wh_sim_tcp_config *config, enum wh_sim_tcp_variety variety);

/* BBR, and CUBIC that is wanted as Linux has it: with its recovery and its defaults. */
void wh_sim_tcp_config_as_linux(struct wh_sim_tcp_config *config);

struct wh_sim_tcp;

/*
 * A connection from a node to another, which belongs to a flow (several may belong to one) and
 * sends nothing before it is told to. It is freed with wh_sim_tcp_destroy, after the run.
 */
struct wh_sim_tcp *wh_sim_tcp_create(struct wh_sim *sim, const struct wh_sim_tcp_config *config,
	uint32_t from_node, uint32_t to_node, uint32_t flow);
void wh_sim_tcp_destroy(struct wh_sim_tcp *tcp);

/* So many more segments to send, from now on; UINT64_MAX: without end. */
void wh_sim_tcp_offer(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t segments);

/* No new segments from now on; what is outstanding is still repaired. */
void wh_sim_tcp_stop(struct wh_sim_tcp *tcp);

/*
 * Whoever wants segments handed out one by one (psock): asked each time that the window has room,
 * once the first offer, which may be of 0 segments, has started it. False: there is none.
 */
void wh_sim_tcp_feed(struct wh_sim_tcp *tcp, bool (*more)(void *context), void *context);

/* Called when all that was offered is acknowledged. */
void wh_sim_tcp_on_done(
	struct wh_sim_tcp *tcp, void (*done)(void *context, uint64_t now_ps), void *context);

/* In segments with payload: the handshake is none. */
double wh_sim_tcp_cwnd_pkts(const struct wh_sim_tcp *tcp);
double wh_sim_tcp_ssthresh_pkts(const struct wh_sim_tcp *tcp);
uint64_t wh_sim_tcp_next_serial(const struct wh_sim_tcp *tcp);
uint64_t wh_sim_tcp_acked_pkts(const struct wh_sim_tcp *tcp);
uint64_t wh_sim_tcp_timeouts(const struct wh_sim_tcp *tcp);

/* What an agent of STTP has seen of its way, zeros until then; NULL of all others. */
struct wh_sim_sttp_seen {
	double first_back_s; /* of the probe's packets the first, since they left */
	double back_s;       /* and the last, with which data may leave */
	double capacity_bps; /* by the probe */
	double first_sigma;  /* the bucket that it filled */
	double rtt_s;        /* of the first acknowledgement */
	double sigma;        /* after it */
	/* Of all acknowledgements the one whose round trip fell the most against the one before. */
	double fell_at_s;
	double fell_from_s;
	double fell_to_s;
};
const struct wh_sim_sttp_seen *wh_sim_tcp_sttp_seen(const struct wh_sim_tcp *tcp);

#endif
