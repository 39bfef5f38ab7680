/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TCP_BBR_H
#define WH_TCP_BBR_H

/*
 * BBR, the first version (Cardwell, Cheng, Gunn, Yeganeh, Jacobson: "BBR: congestion-based
 * congestion control", 2016; draft-cardwell-iccrg-bbr-congestion-control-00), with what Linux does
 * beyond the paper: a model of the path by delivery rate and round trip, and a pace and a window
 * by that model. The constants are Linux's, in its fixed point, as of 5.0 to 6.18.
 *
 * It knows no packets: each acknowledgement is a sample.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "measure/window_max.h"

/* How the sender is getting on, in Linux's order: from RECOVERY on the window is not trusted. */
enum wh_sim_rack_state {
	WH_SIM_RACK_OPEN,
	WH_SIM_RACK_DISORDER, /* something is missing */
	WH_SIM_RACK_RECOVERY, /* something was lost */
	WH_SIM_RACK_LOSS,     /* nothing came for too long */
};

#define WH_SIM_NO_RTT_PS UINT64_MAX

/*
 * A delivery-rate sample (draft-cheng-iccrg-delivery-rate-estimation), and how the sender stands
 * once all that its acknowledgement says is noted.
 */
struct wh_sim_rate_sample {
	uint64_t now_ps;
	bool valid;                    /* something was delivered, over an interval that counts */
	uint64_t delivered_pkts;       /* in it */
	uint64_t interval_ps;          /* the longer of how long they took to go and to arrive */
	uint64_t prior_delivered_pkts; /* of the connection, when the latest of them went */
	uint64_t rtt_ps;               /* NO_RTT_PS: none, as of what went twice */
	uint64_t prior_in_flight_pkts; /* before this acknowledgement */
	uint64_t acked_pkts;           /* by it, in order or not */
	uint64_t lost_pkts;            /* taken for lost by it */
	bool limited;                  /* by the user, who had no more */
	enum wh_sim_rack_state state;
	uint64_t in_flight_pkts;
	uint64_t all_delivered_pkts; /* by the connection */
	uint64_t all_lost_pkts;
	uint64_t delivered_ps; /* when it delivered the latest */
	uint64_t srtt_ps;      /* 0: none yet */
	uint64_t next_send_ps; /* when the pace lets the next one go */
};

enum wh_sim_bbr_mode {
	WH_SIM_BBR_STARTUP,
	WH_SIM_BBR_DRAIN,
	WH_SIM_BBR_PROBE_BW,
	WH_SIM_BBR_PROBE_RTT,
};

/* What a policer seems to let pass: measured where loss is high, used while it stays the same. */
struct wh_sim_bbr_policer {
	bool sampling;
	bool used;
	double pps; /* of the latest interval with that much loss; 0: none */
	uint32_t rounds;
	uint64_t from_delivered_pkts;
	uint64_t from_lost_pkts;
	uint64_t from_ps;
};

/* How much more than the model says acknowledgements bring at once. */
struct wh_sim_bbr_extra {
	uint64_t epoch_ps;
	uint64_t epoch_acked_pkts;
	double pkts[2]; /* the most in the current window of rounds, and in the one before */
	uint32_t window;
	uint32_t rounds;
};

struct wh_sim_bbr {
	struct wh_prng *prng;
	uint32_t segment_bytes;
	double pace_pps;  /* what it wants */
	double cwnd_pkts; /* likewise */

	enum wh_sim_bbr_mode mode;
	double pacing_gain;
	double cwnd_gain;
	struct wh_window_max pps; /* by rounds */
	uint64_t min_rtt_ps;      /* NO_RTT_PS: none yet */
	uint64_t min_rtt_at_ps;
	bool rtt_seen; /* the first pace was by it */

	uint64_t rounds;
	uint64_t round_end_pkts; /* a packet that goes after so many are delivered ends the round */
	bool round_start;

	bool full; /* the pipe */
	double full_pps;
	uint32_t full_rounds;

	uint32_t phase; /* of the cycle of gains */
	uint64_t phase_ps;

	bool conserving; /* packets, in the first round of a recovery */
	enum wh_sim_rack_state before;
	double kept_cwnd_pkts;

	uint64_t probe_rtt_done_ps; /* 0: the window is not yet small */
	bool probe_rtt_round_done;
	bool restarting; /* from idle */
	bool limited;    /* what is sent from now on tells of no rate: for the sender to note */

	struct wh_sim_bbr_policer policer;
	struct wh_sim_bbr_extra extra;
};

/* The connection stands, by a handshake that may have told of a round trip. */
void wh_sim_bbr_init(struct wh_sim_bbr *bbr, struct wh_prng *prng, uint32_t segment_bytes,
	double cwnd_pkts, const struct wh_sim_rate_sample *sample);

/* An acknowledgement: the model first, then pace and window. */
void wh_sim_bbr_sample(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* Recovery begins, by a loss or a timeout: the window of now is what comes back after it. */
void wh_sim_bbr_keep_window(struct wh_sim_bbr *bbr);

/* Nothing came for too long: all is lost, and this is the window. */
void wh_sim_bbr_timeout(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double cwnd_pkts);

/* Nothing was lost after all. */
void wh_sim_bbr_undo(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* The user has something again, and nothing is under way. */
void wh_sim_bbr_restart(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* Segments that go at once: of about a millisecond of the pace. */
uint32_t wh_sim_bbr_burst_pkts(const struct wh_sim_bbr *bbr);

/* By the policer, or the best of ten rounds. */
double wh_sim_bbr_pps(const struct wh_sim_bbr *bbr);

#endif
