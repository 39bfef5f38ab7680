/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * BBR in two versions: a model of the path by delivery rate and least round-trip time, from which
 * pace and window follow. bbr.c has what they share.
 *
 * The first (bbr1.c; Cardwell, Cheng, Gunn, Yeganeh, Jacobson: "BBR: congestion-based congestion
 * control", 2016; draft-cardwell-iccrg-bbr-congestion-control-00) is as in Linux 5.0 to 6.18, with
 * its additions to the paper; constants are Linux's, in its fixed point.
 *
 * The third (bbr3.c; Cardwell, Swett, Beshay: draft-ietf-ccwg-bbr, its text of August 2026) also
 * has limits learnt from losses: a long-term one of what may be in flight, found while probing, and
 * short-term ones of rate and volume, which hold until the next probe. Its names are the draft's.
 *
 * Deviations: losses are counted in segments; no ECN; recovery is rack.c's; extra acknowledgements
 * are remembered for ten rounds, by the first version, too, where Linux has two windows of five.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "lab/tcp/model/window_max.h"

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
	uint64_t delivered_ps;        /* time of the latest delivery */
	uint64_t srtt_ps;             /* 0: none yet */
	uint64_t next_send_ps;        /* earliest time the pacing allows */
	uint64_t sent_in_flight_pkts; /* when the latest of them was sent, with it */
	uint64_t lost_since_pkts;     /* since then */
	bool window_was_limit;        /* of what was sent last */
};

/* A segment that is newly marked as lost. */
struct wh_sim_rate_loss {
	uint64_t now_ps;
	uint64_t pn;
	uint64_t sent_in_flight_pkts; /* when it was sent, with it */
	uint64_t lost_since_pkts;     /* since then, with it */
	bool limited;                 /* sent while application-limited */
	uint64_t all_delivered_pkts;
};

enum wh_sim_bbr_mode {
	WH_SIM_BBR_STARTUP,
	WH_SIM_BBR_DRAIN,
	WH_SIM_BBR_PROBE_RTT,
	WH_SIM_BBR_PROBE_BW, /* of the first version */
	WH_SIM_BBR_DOWN,     /* ProbeBW of the third */
	WH_SIM_BBR_CRUISE,
	WH_SIM_BBR_REFILL,
	WH_SIM_BBR_UP,
};

struct wh_sim_bbr;

/* Constants and functions of a version. */
struct wh_sim_bbr_version {
	double startup_gain;   /* of the first pace */
	double probe_rtt_gain; /* of the product, while looking for the least round trip */
	uint64_t probe_rtt_every_ps;
	uint64_t min_rtt_ps; /* the least round trip is kept for this long */
	void (*init)(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);
	void (*sample)(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);
	/* Each segment that counts as lost, before the sample; or NULL. */
	void (*lose)(struct wh_sim_bbr *bbr, const struct wh_sim_rate_loss *loss);
	/* A recovery begins: what is to be restored is kept. Then a timeout's rest; or NULL. */
	void (*recover)(struct wh_sim_bbr *bbr);
	void (*time_out)(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);
	void (*undo)(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);
	/* The least round trip was looked for. */
	void (*resume)(struct wh_sim_bbr *bbr);
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

struct wh_sim_bbr {
	const struct wh_sim_bbr_version *version;
	struct wh_prng *prng;
	uint32_t segment_bytes;
	double initial_pkts;
	double pace_pps;  /* desired pace */
	double cwnd_pkts; /* desired window */
	bool limited;     /* set the application-limited mark on what is sent from now on */

	enum wh_sim_bbr_mode mode;
	uint64_t now_ps;
	uint64_t delivered_pkts;
	double rate_pps; /* of the latest sample; 0: it is not valid */
	double bw_pps;   /* the estimate */
	bool rtt_seen;   /* the initial pace was based on a round-trip time */

	uint64_t min_rtt_ps; /* NO_RTT_PS: none yet */
	uint64_t min_rtt_at_ps;
	uint64_t probe_rtt_min_ps; /* since it was looked for */
	uint64_t probe_rtt_min_at_ps;
	uint64_t probe_rtt_done_ps; /* 0: the window is not yet small */
	bool probe_rtt_round_done;
	bool restarting; /* after idle */

	uint64_t rounds;
	uint64_t round_end_pkts; /* total delivered; a packet sent after that many ends the round */
	bool round_start;

	bool full;     /* the pipe was full once */
	bool full_now; /* since full_pps was begun anew */
	double full_pps;
	uint32_t full_rounds;

	/* Excess of acknowledged segments over the model, by aggregation of acknowledgements. */
	uint64_t extra_ps;
	double extra_acked_pkts;
	struct wh_window_max extra_pkts;

	enum wh_sim_rack_state before;
	double kept_cwnd_pkts;

	union {
		struct { /* of the first version only */
			double pacing_gain;
			struct wh_window_max pps; /* maximum over rounds */
			uint32_t phase;           /* of the gain cycle */
			uint64_t phase_ps;
			bool conserving; /* packets, in the first round of a recovery */
			struct wh_sim_bbr_policer policer;
		};
		struct { /* of the third; volumes and rates without a limit are INFINITY */
			double cycle_pps[2]; /* best rate of this probing cycle, and the last */
			double bw_shortterm_pps;
			double inflight_shortterm_pkts;
			double inflight_longterm_pkts;
			double bw_latest_pps;
			double inflight_latest_pkts;

			uint64_t loss_round_end_pkts;
			bool loss_round_start;
			bool loss_in_round;
			uint32_t lost_ranges; /* in this round of losses */
			uint64_t lost_next;   /* one past the last segment lost */
			uint32_t recovering_rounds;
			uint64_t drain_start_round;

			bool probe_samples; /* samples are of a probe, */
			bool probe_stops;   /* until this round ends */
			bool probe_too_high;
			bool probe_precautionary;
			uint32_t up_rounds;
			double up_acked_pkts;
			double up_acked_per_pkt;
			uint64_t rounds_since_up;
			uint64_t cycle_ps;
			uint64_t probe_wait_ps;

			bool undo; /* undo_mode is set */
			enum wh_sim_bbr_mode undo_mode;
			double undo_bw_pps;
			double undo_shortterm_pkts;
			double undo_longterm_pkts;
		};
	};
};

extern const struct wh_sim_bbr_version wh_sim_bbr1;
extern const struct wh_sim_bbr_version wh_sim_bbr3;

/* The connection is open; the handshake may have given a round-trip time. */
void wh_sim_bbr_init(struct wh_sim_bbr *bbr, const struct wh_sim_bbr_version *version,
	struct wh_prng *prng, uint32_t segment_bytes, double cwnd_pkts,
	const struct wh_sim_rate_sample *sample);

/* On each acknowledgement: updates the model, then pace and window. */
void wh_sim_bbr_sample(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* Retransmission timeout: cwnd_pkts becomes the window. */
void wh_sim_bbr_timeout(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double cwnd_pkts);

/* The loss or timeout was spurious. */
void wh_sim_bbr_undo(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* The application has data again, after nothing was in flight. */
void wh_sim_bbr_restart(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* Segments sent in one burst: about a millisecond of the pace. */
uint32_t wh_sim_bbr_burst_pkts(const struct wh_sim_bbr *bbr);

/* For the versions only, in the order of a sample. */

#define WH_SIM_BBR_CWND_LEAST_PKTS 4
#define WH_SIM_BBR_PACING_SHARE    0.99 /* the rest lets the queue drain */

/* Whether a round trip has ended, by what was delivered when a segment was sent. */
void wh_sim_bbr_take_round(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);
void wh_sim_bbr_start_round(struct wh_sim_bbr *bbr);
void wh_sim_bbr_take_extra(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* The pipe is full once three rounds brought no quarter more than this rate. */
void wh_sim_bbr_reset_full(struct wh_sim_bbr *bbr, double from_pps);
void wh_sim_bbr_look_whether_full(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double pps);

/* Takes the round trip, and looks for the least one from time to time. True: it begins to. */
bool wh_sim_bbr_take_rtt(struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample);

/* The bandwidth-delay product at this rate and the least round-trip time. */
double wh_sim_bbr_product(const struct wh_sim_bbr *bbr, double pps, double gain);

/* Until the pipe is full the pace never decreases. */
void wh_sim_bbr_set_pace(struct wh_sim_bbr *bbr, double gain);

/* Grows by what was acknowledged, once the pipe is full up to the target. */
void wh_sim_bbr_grow(
	struct wh_sim_bbr *bbr, const struct wh_sim_rate_sample *sample, double target_pkts);

/* The window before a recovery, and before the least round trip is looked for. */
void wh_sim_bbr_keep_window(struct wh_sim_bbr *bbr);
void wh_sim_bbr_restore_window(struct wh_sim_bbr *bbr);
