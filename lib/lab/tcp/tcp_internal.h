/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Shared by the varieties of TCP: for this room and its tests only. */

#include "base/highspeed.h"
#include "lab/tcp/hystart.h"
#include "lab/tcp/model/bbr.h"
#include "lab/tcp/ranges.h"
#include "lab/tcp/rto.h"
#include "lab/tcp/sent.h"
#include "lab/tcp/tcp.h"
#include "profile/sttp.h"

#define WH_SIM_DUPLICATES 3 /* duplicate acknowledgements that indicate a loss */

/* Reason of the latest reduction of the window. */
enum wh_sim_tcp_cut {
	WH_SIM_CUT_NEVER,
	WH_SIM_CUT_BY_DUPLICATES,
	WH_SIM_CUT_REPAIRED, /* by duplicates; new segments were acknowledged since */
	WH_SIM_CUT_BY_TIMEOUT,
};

/* Events of the sender that rack.c reports to a congestion control with `hear`. */
enum wh_sim_rack_event {
	WH_SIM_RACK_STANDS,   /* the connection is open */
	WH_SIM_RACK_RECOVERS, /* a recovery begins; the window is not yet reduced */
	WH_SIM_RACK_TIMES_OUT,
	WH_SIM_RACK_UNDONE, /* the timeout was spurious */
	WH_SIM_RACK_RESTARTS,
};

struct wh_sim_tcp_ops {
	const char *name;

	/*
	 * The handshake segment is as long as data, since its round-trip time is compared with
	 * theirs.
	 */
	bool long_handshake;

	/* On each acknowledgement, including old ones. */
	void (*ack)(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment);

	/* Sends what the window allows; at most burst_pkts, 0: any number. */
	void (*send)(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);

	/* On a timeout: after the common part, before sending; NULL: nothing more. */
	void (*timeout)(struct wh_sim_tcp *tcp, uint64_t now_ps);

	/* Opens the window for one acknowledgement of new segments; NULL: Vegas. */
	void (*grow)(struct wh_sim_tcp *tcp, uint64_t now_ps);

	/* The window after a loss; tcp->cut still has the previous reason. */
	double (*keep)(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why);

	/*
	 * Called with each round-trip sample, before the window grows; with rack.c only. NULL:
	 * unused.
	 */
	void (*round_trip)(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t rtt_ps);

	/* On sending each segment; NULL: nothing to note. */
	void (*note_sent)(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn);

	/* The timer, where it has several purposes; NULL: the common one. */
	void (*expire)(struct wh_sim_tcp *tcp, uint64_t now_ps);

	/*
	 * Set pace and window from a sample per acknowledgement, and from events; with rack.c only.
	 * NULL: the window alone limits, by grow and keep.
	 */
	void (*sample)(struct wh_sim_tcp *tcp, const struct wh_sim_rate_sample *sample);
	void (*lose)(struct wh_sim_tcp *tcp, const struct wh_sim_rate_loss *loss); /* or NULL */
	void (*hear)(struct wh_sim_tcp *tcp, enum wh_sim_rack_event event,
		const struct wh_sim_rate_sample *sample);
};

extern const struct wh_sim_tcp_ops wh_sim_tcp_reno;
extern const struct wh_sim_tcp_ops wh_sim_tcp_newreno;
extern const struct wh_sim_tcp_ops wh_sim_tcp_sack;
extern const struct wh_sim_tcp_ops wh_sim_tcp_vegas;
extern const struct wh_sim_tcp_ops wh_sim_tcp_highspeed;
extern const struct wh_sim_tcp_ops wh_sim_tcp_cubic;
extern const struct wh_sim_tcp_ops wh_sim_tcp_cubic_linux;
extern const struct wh_sim_tcp_ops wh_sim_tcp_bbr;
extern const struct wh_sim_tcp_ops wh_sim_tcp_bbr3;
extern const struct wh_sim_tcp_ops wh_sim_tcp_sttp;

struct wh_sim_reno {
	uint32_t inflation_pkts; /* duplicates, each counted as a segment that left the path */
	bool partial;            /* NewReno: this recovery had a partial acknowledgement */
};

struct wh_sim_tcp_sacked {
	struct wh_sim_ranges ranges;
	bool recovering;
	bool after_timeout; /* until an acknowledgement of new segments */
	int64_t pipe_pkts;
	uint64_t repaired_end; /* holes below have been retransmitted */
};

struct wh_sim_cubic {
	uint64_t epoch_ps; /* WH_SIM_NEVER_PS: none since the latest loss */
	double k_s;
	double w_max_pkts;  /* of the latest loss; 0: none, or a timeout since */
	double origin_pkts; /* where the cubic is flat */
	double w_est_pkts;
	double prior_cwnd_pkts;

	/* Linux's variant only. */
	uint64_t min_rtt_ps; /* 0: none yet */
	struct wh_sim_hystart hystart;
};

struct wh_sim_vegas {
	bool started;
	uint64_t start_ps;
	double base_rtt_ps;
	double srtt_ps8;
	double rttvar_ps4;
	double patience_ps; /* the fine-grained timeout */
	double rtt_sum_ps;  /* in this round */
	uint32_t rtt_count;
	uint64_t mark; /* the round ends when this packet number is acknowledged */
	uint64_t mark_ps;
	double growth_pkts;    /* per acknowledgement of this round */
	bool growing;          /* slow start grows in this round: in every second one */
	uint32_t worried;      /* acknowledgements that still must check for expired segments */
	double kept_cwnd_pkts; /* window after the latest reduction; 0: none */
	uint64_t cut_ps;
};

struct wh_sim_sttp {
	struct wh_sttp_rules rules;
	struct wh_bucket bucket;
	bool probed;
	double capacity_pps;
	uint64_t train; /* number of the latest probe train, from 1 on */
	uint64_t train_ps;
	uint32_t returned; /* bit i: packet i of the train */
	uint64_t returned_ps[WH_STTP_PROBE_PKTS_MAX];
	struct wh_sim_event feeder; /* with a timer: adds tokens */
	struct wh_sim_sttp_seen seen;
};

/* Purpose of the timer. */
enum wh_sim_rack_patience {
	WH_SIM_RACK_FOR_ANYTHING, /* retransmission timeout */
	WH_SIM_RACK_FOR_ORDER,    /* reordering: missing segments may only be late */
	WH_SIM_RACK_FOR_TAIL,     /* tail loss probe: the last acknowledgements may be lost */
};

struct wh_sim_rack {
	struct wh_sim_sent sent;
	enum wh_sim_rack_state state;
	bool stands; /* acknowledgements are for data */

	uint64_t srtt_ps; /* 0: none yet */
	uint64_t rttvar_ps;
	uint64_t min_rtt_ps;
	uint64_t min_rtt_at_ps;

	/* State of delivery-rate estimation. */
	uint64_t delivered_pkts;
	uint64_t delivered_ps;
	uint64_t first_sent_ps;
	uint64_t limited_pkts; /* application-limited up to this delivered_pkts; 0: not */

	/* Of the segments that arrived, the one sent last. */
	uint64_t latest_ps;
	uint64_t latest_pn;
	uint64_t latest_rtt_ps;
	uint64_t sacked_end;     /* one past the highest SACKed packet number */
	uint64_t reordered_pkts; /* largest extent of reordering seen; at least three */
	bool reorders;

	enum wh_sim_rack_patience patience;
	uint64_t patience_ps; /* remaining reordering timeout; 0: none */
	uint32_t backoff;
	uint64_t probe_end; /* sent_end at the latest tail loss probe; 0: none outstanding */
	bool doubtful;      /* the timeout may be spurious */

	double pace_pps; /* 0: none */
	uint32_t burst_pkts;
	uint64_t next_send_ps;
	uint64_t data_pkts; /* sent, including retransmissions */
	struct wh_sim_event pacer;

	/* Proportional rate reduction, where only the window limits. */
	double prior_cwnd;
	double prior_ssthresh;
	uint64_t reduced_delivered_pkts;
	uint64_t reduced_sent_pkts;
	bool window_was_limit;
};

struct wh_sim_tcp_receiver {
	struct wh_sim_tcp *tcp;
	uint32_t agent;
	uint64_t next; /* the first missing packet number */
	struct wh_sim_ranges beyond;
	struct wh_sim_sack recent[WH_SIM_SACKS_MAX]; /* reported before, the latest first */
	uint32_t n_recent;
	struct wh_sim_event delay;
	uint64_t delayed; /* packet number to be acknowledged when `delay` fires */
};

/*
 * Packet numbers begin with the handshake where there is one. una <= next <= sent_end: after a
 * timeout `next` is set back to una, and everything below sent_end is sent again.
 */
struct wh_sim_tcp {
	const struct wh_sim_tcp_ops *ops;
	struct wh_sim *sim;
	struct wh_sim_tcp_config config;
	struct wh_sim_flow_stats *stats;
	uint32_t flow;
	uint32_t from_node;
	uint32_t to_node;
	uint32_t agent;
	struct wh_sim_tcp_receiver receiver;

	double cwnd;
	double ssthresh;
	double window; /* upper limit of cwnd */
	double initial_cwnd;
	uint64_t una;
	uint64_t next;
	uint64_t sent_end;
	uint64_t offered_end; /* UINT64_MAX: endless */
	uint64_t acked_pkts;  /* by the latest acknowledgement of new segments */
	uint64_t recover;     /* sent_end at the latest loss: no other reduction below it */
	uint64_t device_end;  /* sent_end when the device's queue was full: the same for that */
	uint32_t duplicates;
	enum wh_sim_tcp_cut cut;
	struct wh_sim_rto rto;
	struct wh_sim_event timer;
	uint64_t timeouts;

	bool started;
	bool told; /* `done` was called */
	bool (*more)(void *context);
	void *more_context;
	void (*done)(void *context, uint64_t now_ps);
	void *done_context;

	struct wh_sim_reno reno;
	struct wh_sim_tcp_sacked sacked;
	struct wh_highspeed highspeed;
	struct wh_sim_cubic cubic;
	struct wh_sim_vegas vegas;
	struct wh_sim_sttp sttp;
	struct wh_sim_rack rack;
	struct wh_sim_bbr bbr;
};

/* The smaller of the congestion window, with inflation, and the limit. */
double wh_sim_tcp_window(const struct wh_sim_tcp *tcp);

/* Asserts invariants of packet numbers and windows that hold between events. */
void wh_sim_tcp_check(const struct wh_sim_tcp *tcp);

/* Whether there is such a segment to send; asks the feeder for it. */
bool wh_sim_tcp_has(struct wh_sim_tcp *tcp, uint64_t pn);

void wh_sim_tcp_put(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn);

/* Sends what the window allows, from `next` on: `send` of all but SACK. */
void wh_sim_tcp_send_window(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);

/* Limited transmit: a new segment for each of the first two duplicates, if configured. */
void wh_sim_tcp_send_limited(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* New segments are acknowledged: handles duplicates, samples and timer; not the window. */
void wh_sim_tcp_advance(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end);

/* The same, and opens the window. */
void wh_sim_tcp_new_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end);

void wh_sim_tcp_set_timer(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* Whether duplicates indicate a loss other than the latest one. */
bool wh_sim_tcp_may_cut(const struct wh_sim_tcp *tcp);

/* A loss by duplicates: reduces the window and retransmits una. */
void wh_sim_tcp_fast_retransmit(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* Slow start, or a segment per round trip: RFC 5681, with the limit of RFC 3742. */
void wh_sim_tcp_grow_reno(struct wh_sim_tcp *tcp, uint64_t now_ps);
double wh_sim_tcp_keep_half(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why);

/* Minimal growth per acknowledgement in slow start with a large window; 0: none (RFC 3742). */
double wh_sim_tcp_limited_slow_start(const struct wh_sim_tcp *tcp);

void wh_sim_tcp_sack_ack(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment);
void wh_sim_tcp_sack_send(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);
void wh_sim_tcp_sack_timeout(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* Whether the device's queue is at its limit, if it has one, and segments are outstanding. */
bool wh_sim_tcp_device_is_full(struct wh_sim_tcp *tcp);

/* Recovery as in Linux: rack.c, and its sending part, rack_send.c. */
void wh_sim_rack_init(struct wh_sim_tcp *tcp);
void wh_sim_rack_free(struct wh_sim_tcp *tcp);
void wh_sim_rack_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment);
void wh_sim_rack_send(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);
void wh_sim_rack_note_sent(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn);
void wh_sim_rack_expire(struct wh_sim_tcp *tcp, uint64_t now_ps);

/*
 * Marks segments as lost that were sent long enough before the latest that arrived. True: one of
 * them was a retransmission.
 */
bool wh_sim_rack_detect(struct wh_sim_tcp *tcp, uint64_t now_ps);
/* Marks the segment as lost, and tells the variety. */
void wh_sim_rack_lose(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn);
void wh_sim_rack_recover(struct wh_sim_tcp *tcp, uint64_t now_ps);
void wh_sim_rack_tell(struct wh_sim_tcp *tcp, uint64_t now_ps, enum wh_sim_rack_event event);
void wh_sim_rack_set_timer(struct wh_sim_tcp *tcp, uint64_t now_ps);
void wh_sim_rack_pace(void *context, uint64_t now_ps);

void wh_sim_cubic_init(struct wh_sim_cubic *cubic);
double wh_sim_cubic_window(const struct wh_sim_cubic *cubic, double c, double t_s); /* W_cubic */

/*
 * The first notes when a segment is sent. The second, after an acknowledgement of new segments, is
 * the round-trip time of the last of them; 0 if it was retransmitted.
 */
void wh_sim_vegas_note_sent(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t pn);
uint64_t wh_sim_vegas_round_trip(struct wh_sim_tcp *tcp, uint64_t now_ps);

void wh_sim_sttp_init(struct wh_sim_tcp *tcp);
void wh_sim_sttp_free(struct wh_sim_tcp *tcp);

void wh_sim_tcp_receiver_init(struct wh_sim_tcp_receiver *receiver, struct wh_sim_tcp *tcp);
void wh_sim_tcp_receiver_free(struct wh_sim_tcp_receiver *receiver);
