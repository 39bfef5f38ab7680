/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * BBR, the first version (Cardwell, Cheng, Gunn, Yeganeh, Jacobson: "BBR: congestion-based
 * congestion control", 2016; draft-cardwell-iccrg-bbr-congestion-control-00), with Linux's
 * additions to the paper: a model of the path by delivery rate and round-trip time, from which pace
 * and window follow. The constants are Linux's, in its fixed point, as of 5.0 to 6.18.
 *
 * The model handles no packets: its input is one sample per acknowledgement.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "lab/tcp/window_max.h"

/* The sender's state, in Linux's order: from RECOVERY on, the window does not follow the model. */
enum wh_sim_rack_state {
	WH_SIM_RACK_OPEN,
	WH_SIM_RACK_DISORDER, /* segments are missing */
	WH_SIM_RACK_RECOVERY, /* a segment was lost */
	WH_SIM_RACK_LOSS,     /* a retransmission timeout */
};

#define WH_SIM_NO_RTT_PS UINT64_MAX

/*
 * A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation), and the sender's state after
 * processing its acknowledgement.
 */
struct wh_sim_rate_sample {
	uint64_t now_ps;
	bool valid;                    /* segments were delivered, over an interval long enough */
	uint64_t delivered_pkts;       /* during the interval */
	uint64_t interval_ps;          /* the longer of sending and acknowledgement intervals */
	uint64_t prior_delivered_pkts; /* total, when the latest of them was sent */
	uint64_t rtt_ps;               /* NO_RTT_PS: none, as for retransmissions */
	uint64_t prior_in_flight_pkts; /* before this acknowledgement */
	uint64_t acked_pkts;           /* newly, by ACK or SACK */
	uint64_t lost_pkts;            /* newly marked as lost */
	bool limited;                  /* application-limited */
	enum wh_sim_rack_state state;
	uint64_t in_flight_pkts;
	uint64_t all_delivered_pkts; /* total of the connection */
	uint64_t all_lost_pkts;
	uint64_t delivered_ps; /* time of the latest delivery */
	uint64_t srtt_ps;      /* 0: none yet */
	uint64_t next_send_ps; /* earliest time the pacing allows */
};

enum wh_sim_bbr_mode {
	WH_SIM_BBR_STARTUP,
	WH_SIM_BBR_DRAIN,
	WH_SIM_BBR_PROBE_BW,
	WH_SIM_BBR_PROBE_RTT,
};

/* Estimate of a policer's rate: measured while loss is high, used while it stays the same. */
struct wh_sim_bbr_policer {
	bool sampling;
	bool used;
	double pps; /* of the latest interval of high loss; 0: none */
	uint32_t rounds;
	uint64_t from_delivered_pkts;
	uint64_t from_lost_pkts;
	uint64_t from_ps;
};

/* Excess of acknowledged segments over the model, by aggregation of acknowledgements. */
struct wh_sim_bbr_extra {
	uint64_t epoch_ps;
	uint64_t epoch_acked_pkts;
	double pkts[2]; /* maxima of the current and the previous window of rounds */
	uint32_t window;
	uint32_t rounds;
};

struct wh_sim_bbr {
	struct wh_prng *prng;
	uint32_t segment_bytes;
	double pace_pps;  /* desired pace */
	double cwnd_pkts; /* desired window */

	enum wh_sim_bbr_mode mode;
	double pacing_gain;
	double cwnd_gain;
	struct wh_window_max pps; /* maximum over rounds */
	uint64_t min_rtt_ps;      /* NO_RTT_PS: none yet */
	uint64_t min_rtt_at_ps;
	bool rtt_seen; /* the initial pace was based on a round-trip time */

	uint64_t rounds;
	uint64_t round_end_pkts; /* total delivered; a packet sent after that many ends the round */
	bool round_start;

	bool full; /* the pipe is full */
	double full_pps;
	uint32_t full_rounds;

	uint32_t phase; /* of the gain cycle */
	uint64_t phase_ps;

	bool conserving; /* packet conservation, in the first round of a recovery */
	enum wh_sim_rack_state before;
	double kept_cwnd_pkts;

	uint64_t probe_rtt_done_ps; /* 0: the window is not yet small */
	bool probe_rtt_round_done;
	bool restarting; /* after idle */
	bool limited;    /* set the application-limited mark on what is sent from now on */

	struct wh_sim_bbr_policer policer;
	struct wh_sim_bbr_extra extra;
};

/* The connection is open; the handshake may have given a round-trip time. */
void wh_sim_bbr_init(struct wh_sim_bbr *bbr, struct wh_prng *prng, uint32_t segment_bytes,
	double cwnd_pkts, const struct wh_sim_rate_sample *sample);

/* On each acknowledgement: updates the model, then pace and window. */
void wh_sim_bbr_sample(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* Recovery begins, by a loss or a timeout: saves the window, to be restored afterwards. */
void wh_sim_bbr_keep_window(struct wh_sim_bbr *bbr);

/* Retransmission timeout: cwnd_pkts becomes the window. */
void wh_sim_bbr_timeout(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double cwnd_pkts);

/* The loss or timeout was spurious. */
void wh_sim_bbr_undo(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* The application has data again, after nothing was in flight. */
void wh_sim_bbr_restart(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* Segments sent in one burst: about a millisecond of the pace. */
uint32_t wh_sim_bbr_burst_pkts(const struct wh_sim_bbr *bbr);

/* The bandwidth estimate: the policer's rate, or the maximum of ten rounds. */
double wh_sim_bbr_pps(const struct wh_sim_bbr *bbr);
