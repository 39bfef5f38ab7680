/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TCP_INTERNAL_H
#define WH_TCP_INTERNAL_H

/* What the varieties of TCP share: for this room and its tests only. */

#include "base/highspeed.h"
#include "profile/sttp.h"
#include "tcp/bbr.h"
#include "tcp/hystart.h"
#include "tcp/ranges.h"
#include "tcp/rto.h"
#include "tcp/sent.h"
#include "tcp/tcp.h"

#define WH_SIM_DUPLICATES 3 /* acknowledgements that mean a loss */

/* Why the window was made smaller the last time. */
enum wh_sim_tcp_cut {
	WH_SIM_CUT_NEVER,
	WH_SIM_CUT_BY_DUPLICATES,
	WH_SIM_CUT_REPAIRED, /* by duplicates, and an acknowledgement of new segments came since */
	WH_SIM_CUT_BY_TIMEOUT,
};

/* What a control beside the window hears of its sender (rack.c). */
enum wh_sim_rack_event {
	WH_SIM_RACK_STANDS,   /* the connection: data may go */
	WH_SIM_RACK_RECOVERS, /* from losses; the window is as before */
	WH_SIM_RACK_TIMES_OUT,
	WH_SIM_RACK_UNDONE, /* nothing was lost after all */
	WH_SIM_RACK_RESTARTS,
};

struct wh_sim_tcp_ops {
	const char *name;

	/* The handshake is as long as data: its round trip is held against theirs. */
	bool long_handshake;

	/* An acknowledgement; old ones, too. */
	void (*ack)(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment);

	/* Whatever the window allows; burst_pkts at most, 0: any number. */
	void (*send)(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);

	/* Nothing came for too long: after what all do, before they send; NULL: nothing more. */
	void (*timeout)(struct wh_sim_tcp *tcp, uint64_t now_ps);

	/* Opens the window by what one acknowledgement of new segments is worth; NULL: Vegas. */
	void (*grow)(struct wh_sim_tcp *tcp, uint64_t now_ps);

	/* What a loss leaves of a window; tcp->cut still says why it was cut before. */
	double (*keep)(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why);

	/* The round trip of each acknowledgement that tells of one, before the window grows; with
	 * rack.c only. NULL: nobody asks. */
	void (*round_trip)(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t rtt_ps);

	/* Each segment on its way out; NULL: nothing to note. */
	void (*note_sent)(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t serial);

	/* The timer, where it is for more than one thing; NULL: what all do. */
	void (*expire)(struct wh_sim_tcp *tcp, uint64_t now_ps);

	/*
	 * Sets pace and window by a sample of each acknowledgement, and by what happens; with
	 * rack.c only. NULL: the window alone, by grow and keep.
	 */
	void (*sample)(struct wh_sim_tcp *tcp, const struct wh_sim_rate_sample *sample);
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
extern const struct wh_sim_tcp_ops wh_sim_tcp_sttp;

struct wh_sim_reno {
	uint32_t inflation_pkts; /* duplicates that count as segments gone */
	bool partial;            /* NewReno: one has come in this recovery */
};

struct wh_sim_tcp_sacked {
	struct wh_sim_ranges ranges;
	bool recovering;
	bool after_timeout; /* until an acknowledgement of new segments */
	int64_t pipe_pkts;
	uint64_t repaired_end; /* holes below have been sent again */
};

struct wh_sim_cubic {
	uint64_t epoch_ps; /* WH_SIM_NEVER_PS: none since the latest loss */
	double k_s;
	double w_max_pkts;
	double w_est_pkts;
	double prior_cwnd_pkts;

	/* As Linux has it. */
	double origin_pkts;
	uint64_t min_rtt_ps; /* 0: none yet */
	struct wh_sim_hystart hystart;
};

struct wh_sim_vegas_slot {
	uint64_t sent_ps;
	uint32_t transmits; /* 0: not outstanding */
};

struct wh_sim_vegas {
	struct wh_sim_vegas_slot *slot; /* by serial, modulo slots, a power of two */
	uint32_t slots;
	bool started;
	uint64_t start_ps;
	double base_rtt_ps;
	double srtt_ps8;
	double rttvar_ps4;
	double patience_ps; /* the fine-grained timeout */
	double rtt_sum_ps;  /* in this round */
	uint32_t rtt_count;
	uint64_t mark; /* the round ends when this one is acknowledged */
	uint64_t mark_ps;
	double growth_pkts;    /* by each acknowledgement of this round */
	bool growing;          /* in this round of slow start: in every second one */
	uint32_t worried;      /* acknowledgements that are to look for expired segments */
	double kept_cwnd_pkts; /* by the latest cut; 0: there was none */
	uint64_t cut_ps;
};

struct wh_sim_sttp {
	struct wh_sttp_rules rules;
	struct wh_bucket bucket;
	bool probed;
	double capacity_pps;
	uint64_t train; /* the latest, from 1 on */
	uint64_t train_ps;
	uint32_t returned; /* bit i: the packet i of it */
	uint64_t returned_ps[WH_STTP_PROBE_PKTS_MAX];
	struct wh_sim_event feeder; /* with a timer: makes tokens */
	struct wh_sim_sttp_seen seen;
};

/* What the timer waits for. */
enum wh_sim_rack_patience {
	WH_SIM_RACK_FOR_ANYTHING, /* all is lost then */
	WH_SIM_RACK_FOR_ORDER,    /* what is missing may only be late */
	WH_SIM_RACK_FOR_TAIL,     /* the last acknowledgements may be lost: a probe asks for them */
};

struct wh_sim_rack {
	struct wh_sim_sent sent;
	enum wh_sim_rack_state state;
	bool stands; /* what comes is about data */

	uint64_t srtt_ps; /* 0: none yet */
	uint64_t rttvar_ps;
	uint64_t min_rtt_ps;
	uint64_t min_rtt_at_ps;

	/* The state that delivery rates are made of. */
	uint64_t delivered_pkts;
	uint64_t delivered_ps;
	uint64_t first_sent_ps;
	uint64_t limited_pkts; /* until so many are delivered samples are the user's; 0: none */

	/* The latest to go of those that arrived. */
	uint64_t latest_ps;
	uint64_t latest_serial;
	uint64_t latest_rtt_ps;
	uint64_t sacked_end;     /* beyond the last that arrived */
	uint64_t reordered_pkts; /* as far as it was seen; at least three */
	bool reorders;

	enum wh_sim_rack_patience patience;
	uint64_t patience_ps; /* relative: what is still to be waited for order; 0: nothing */
	uint32_t backoff;
	uint64_t probe_end; /* sent_end when a probe went; 0: none is out */
	bool doubtful;      /* a timeout that may have been for nothing */

	double pace_pps; /* 0: none */
	uint32_t burst_pkts;
	uint64_t next_send_ps;
	uint64_t data_pkts; /* sent */
	struct wh_sim_event pacer;

	/* Proportional rate reduction, where the window alone decides. */
	double prior_cwnd;
	double prior_ssthresh;
	uint64_t reduced_delivered_pkts;
	uint64_t reduced_sent_pkts;
	bool window_was_limit;
};

struct wh_sim_tcp_receiver {
	struct wh_sim_tcp *tcp;
	uint32_t agent;
	uint64_t next; /* the first that is missing */
	struct wh_sim_ranges beyond;
	struct wh_sim_sack recent[WH_SIM_SACKS_MAX]; /* told before, the latest first */
	uint32_t n_recent;
	struct wh_sim_event delay;
	uint64_t delayed; /* to be acknowledged when it fires */
};

/*
 * Serials begin with the handshake where there is one. una <= next <= sent_end: after a timeout
 * `next` goes back to una, and what lies below sent_end is sent again.
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
	double window; /* the limit */
	double initial_cwnd;
	uint64_t una;
	uint64_t next;
	uint64_t sent_end;
	uint64_t offered_end; /* UINT64_MAX: no end */
	uint64_t acked_pkts;  /* by the latest acknowledgement of new segments */
	uint64_t recover;     /* sent_end at the latest loss: below it, one loss is enough */
	uint64_t
		device_end; /* sent_end when the device's queue was full: once is enough below it */
	uint32_t duplicates;
	enum wh_sim_tcp_cut cut;
	struct wh_sim_rto rto;
	struct wh_sim_event timer;
	uint64_t timeouts;

	bool started;
	bool told; /* that all is acknowledged */
	bool (*more)(void *context);
	void *more_context;
	void (*done)(void *context, uint64_t now_ps);
	void *done_context;

	struct wh_sim_reno reno;
	struct wh_sim_tcp_sacked sacked;
	struct wh_highspeed highspeed;
	struct wh_sim_cubic cubic;
	struct wh_sim_vegas vegas; /* its slots are STTP's, too */
	struct wh_sim_sttp sttp;
	struct wh_sim_rack rack;
	struct wh_sim_bbr bbr;
};

/* The smaller of the congestion window, inflated, and the limit. */
double wh_sim_tcp_window(const struct wh_sim_tcp *tcp);

/* What holds of serials and windows between two events. */
void wh_sim_tcp_check(const struct wh_sim_tcp *tcp);

/* Is there such a segment to be sent? Asks the feeder for it. */
bool wh_sim_tcp_has(struct wh_sim_tcp *tcp, uint64_t serial);

void wh_sim_tcp_put(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t serial);

/* From `next` on, what the window allows: `send` of all but SACK. */
void wh_sim_tcp_send_window(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);

/* A new segment for each of the first two duplicates, where the configuration says so. */
void wh_sim_tcp_send_limited(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* New segments are acknowledged: duplicates, times and timer; the window is left alone. */
void wh_sim_tcp_advance(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end);

/* The same, and the window opens. */
void wh_sim_tcp_new_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t end);

void wh_sim_tcp_set_timer(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* May duplicates mean a loss that is none of the latest one's? */
bool wh_sim_tcp_may_cut(const struct wh_sim_tcp *tcp);

/* A loss by duplicates: the window shrinks, and una goes again. */
void wh_sim_tcp_fast_retransmit(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* Slow start, or a segment per round trip: RFC 5681, with the limit of RFC 3742. */
void wh_sim_tcp_grow_reno(struct wh_sim_tcp *tcp, uint64_t now_ps);
double wh_sim_tcp_keep_half(struct wh_sim_tcp *tcp, double window_pkts, enum wh_sim_tcp_cut why);

/* The least that slow start adds per acknowledgement in a large window; 0: nothing (RFC 3742). */
double wh_sim_tcp_limited_slow_start(const struct wh_sim_tcp *tcp);

/* Limited transmit, fast retransmit, or one segment more that has left the path. */
void wh_sim_tcp_reno_duplicate(struct wh_sim_tcp *tcp, uint64_t now_ps);

void wh_sim_tcp_sack_ack(
	struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment);
void wh_sim_tcp_sack_send(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);
void wh_sim_tcp_sack_timeout(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* With room for the device's queue, as far as there is a limit, or nothing under way. */
bool wh_sim_tcp_device_is_full(struct wh_sim_tcp *tcp);

/* Recovery as Linux has it: rack.c, and what it sends, rack_send.c. */
void wh_sim_rack_init(struct wh_sim_tcp *tcp);
void wh_sim_rack_free(struct wh_sim_tcp *tcp);
void wh_sim_rack_ack(struct wh_sim_tcp *tcp, uint64_t now_ps, const struct wh_sim_segment *segment);
void wh_sim_rack_send(struct wh_sim_tcp *tcp, uint64_t now_ps, uint32_t burst_pkts);
void wh_sim_rack_note_sent(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t serial);
void wh_sim_rack_expire(struct wh_sim_tcp *tcp, uint64_t now_ps);

/* Takes for lost what went so much before the latest that arrived. True: one had gone twice. */
bool wh_sim_rack_detect(struct wh_sim_tcp *tcp, uint64_t now_ps);
void wh_sim_rack_recover(struct wh_sim_tcp *tcp, uint64_t now_ps);
void wh_sim_rack_tell(struct wh_sim_tcp *tcp, uint64_t now_ps, enum wh_sim_rack_event event);
struct wh_sim_rate_sample wh_sim_rack_standing(const struct wh_sim_tcp *tcp, uint64_t now_ps);
void wh_sim_rack_set_timer(struct wh_sim_tcp *tcp, uint64_t now_ps);
void wh_sim_rack_pace(void *context, uint64_t now_ps);

void wh_sim_cubic_init(struct wh_sim_cubic *cubic);
double wh_sim_cubic_window(const struct wh_sim_cubic *cubic, double t_s); /* W_cubic(t) */

void wh_sim_vegas_free(struct wh_sim_vegas *vegas);

/* When a segment goes; and when the last of [from, end) did that are acknowledged: its round trip,
 * 0 if it went twice. */
void wh_sim_vegas_note_sent(struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t serial);
uint64_t wh_sim_vegas_round_trip(
	struct wh_sim_tcp *tcp, uint64_t now_ps, uint64_t from, uint64_t end);

void wh_sim_sttp_init(struct wh_sim_tcp *tcp);
void wh_sim_sttp_free(struct wh_sim_tcp *tcp);

void wh_sim_tcp_receiver_init(struct wh_sim_tcp_receiver *receiver, struct wh_sim_tcp *tcp);
void wh_sim_tcp_receiver_free(struct wh_sim_tcp_receiver *receiver);

#endif
