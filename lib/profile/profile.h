/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PROFILE_PROFILE_H
#define WH_PROFILE_PROFILE_H

/*
 * A profile says how a connection finds its rate, what the receiver tells for that and when, and
 * how losses are found and recovered. It is one const struct in a file of its own, and a row in
 * profile.c.
 *
 * The controller is the transmitter's: it gets small events and changes only its own state; after
 * each event the session asks for the decision. All times are cycles of the session's clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/bitmap_loss.h"
#include "profile/options.h"
#include "wire/packet.h"

#define WH_WINDOW_UNLIMITED UINT32_MAX
#define WH_WINDOW_PKTS_MIN  2 /* of window_pkts_max: no controller can start with less */

/*
 * What is known of a way before its first packet, from a probe, an earlier session or the operator,
 * or found by a session that is over. capacity_bps 0: nothing is known. It may be out of date, of
 * another way, or wrong: it says where to look first, and is verified like any estimate.
 */
struct wh_known_path {
	uint64_t capacity_bps; /* on the wire, of this session: its part where several share it */
	uint64_t rtt_ns;       /* the least; > 0 where capacity_bps is */
	uint32_t
		burst_pkts; /* full packets at line rate that it bears without a loss; 0: unknown */
	uint32_t age_s;     /* since it was found */
};

#define WH_KNOWN_BPS_MAX    UINT64_C(100000000000000)
#define WH_KNOWN_RTT_MAX_NS UINT64_C(100000000000)
#define WH_KNOWN_PKTS_MAX   (UINT32_C(1) << 24)

/* Nothing, or within the bounds above. */
bool wh_known_path_valid(const struct wh_known_path *known);

struct wh_control_config {
	uint64_t hz;
	uint64_t syn_tsc;      /* rate control and feedback period */
	uint32_t packet_bytes; /* MTU of the papers: a full packet's IP bytes */
	uint32_t wire_bytes;   /* a full packet on the wire, Ethernet overhead counted */
	uint64_t rate_bps;     /* on the wire; fixed: the rate, others: its bound; 0: unlimited */
	uint64_t line_bps;     /* of this host's own line; 0: unknown */
	uint32_t window_pkts_max;
	struct wh_profile_options options;
	struct wh_known_path known;
};

struct wh_feedback_event {
	uint64_t now_tsc;
	uint64_t acked_pkts; /* newly acknowledged by this state */
	uint64_t acked_pkts_total;
	uint32_t arrival_pps;     /* 0: unknown */
	uint32_t capacity_pps;    /* 0: unknown */
	uint64_t rtt_tsc;         /* smoothed; 0: unknown */
	uint64_t sent_pkts_total; /* data packets, retransmissions too */
	/* With feedback.round_trips: of the latest of these packets; 0: it went more than once. */
	uint64_t sample_rtt_tsc;
};

/*
 * With feedback.delivery, of each state that is younger than all before and of which a packet has
 * come: data and repair packets are counted by transmission, so that one that goes again is
 * another one. Counts never decrease; seen - delivered is lost, or late so far. Arrivals are by the
 * receiver's clock, in our cycles from an unknown zero; where a real port brings packets in bursts,
 * a packet arrives when its burst is taken, but while the receiver was away from the port as early
 * as makes its delay that of the one before.
 */
struct wh_delivery_event {
	uint64_t now_tsc;
	uint64_t sent_pkts;      /* so far */
	uint64_t seen_pkts;      /* of these, up to the latest that came */
	uint64_t delivered_pkts; /* of these, that came */
	uint64_t arrived_tsc;    /* the latest */
	uint64_t span_tsc;       /* first to last arrival since the state before, without pauses */
	uint32_t span_pkts;      /* ... and how many came in it after its first moment */
	uint64_t rtt_tsc;        /* of the latest, without what the receiver held; 0: unknown */
	/*
	 * On the way, from an unknown zero, without the skew of the clocks: of the latest, and the
	 * least since the state before. As before where none came.
	 */
	int64_t delay_tsc;
	int64_t least_delay_tsc;
	/* Since the event before, the latest that a packet went: others went with it, at once. */
	uint64_t late_tsc;
	/* Since the event before, the stream, the peer's buffers or our tables held us up. */
	bool held_up;
};

struct wh_probe_event { /* once, of what the train before all data has found */
	uint64_t now_tsc;
	uint64_t gap_tsc; /* median of those between neighbours' returns; 0: below a cycle */
	uint64_t rtt_tsc; /* of the last one that came back */
	uint32_t bytes;   /* of each packet on the wire */
};

struct wh_ack_event { /* packets of one chunk, acknowledged by one state; before its feedback */
	uint64_t now_tsc;
	uint64_t first_serial;
	uint32_t pkts; /* from that one on */
};

struct wh_loss_event { /* one NAK */
	uint64_t now_tsc;
	uint64_t lost_pkts;
	uint64_t last_lost_serial; /* the largest in this NAK, below sent_end */
	uint64_t sent_end;         /* one past the largest serial sent so far */
	uint64_t sent_pkts_total;  /* data packets, retransmissions too */
};

struct wh_delay_event { /* one delay warning */
	uint64_t now_tsc;
	uint64_t sent_end;
};

struct wh_bitmap_event { /* one control packet of ttp.txt */
	uint64_t now_tsc;
	enum wh_bitmap_finding finding;
	uint64_t first;    /* the first packet that it tells of */
	uint64_t sent_end; /* one past the last that was sent by now */
};

struct wh_silence_event { /* nothing was heard for longer than a peer needs; again and again */
	uint64_t now_tsc;
	uint64_t since_tsc;
};

struct wh_tick_event { /* every SYN */
	uint64_t now_tsc;
	uint64_t sent_pkts_total; /* data packets, retransmissions too */
};

struct wh_decision {
	uint64_t interval_fp; /* between full packets (interval.h); 0: as the window lets */
	uint32_t window_pkts; /* unacknowledged packets allowed */
	uint32_t burst_pkts;  /* back to back when late; 0: what the session was opened with */
	/* So late for want of a CPU, beyond a burst, is made good; 0: it is forfeited */
	uint64_t owed_most_tsc;
	/*
	 * Packets that were ever allowed to go before the interval lets them, at once if they are
	 * there and later if not; never less than in the decision before. With WH_INTERVAL_MAX_FP
	 * there is nothing but tokens, but for the first packet.
	 */
	uint64_t tokens;
	/*
	 * Every data packet needs a token, and waits for the interval as well. `tokens` is then how
	 * many packets may have gone, ever, retransmissions too, and may fall.
	 */
	bool by_tokens;
	uint64_t freeze_until_tsc; /* nothing is sent before; 0: no freeze */
	/* Serials that may be admitted, from the first unacknowledged one on; 0: all in tables */
	uint32_t span_pkts;
	uint32_t resend_after; /* where nobody asks: see enum wh_resend */
};

/* State of any controller: no allocation, and the session need not know which it is. */
#define WH_CONTROL_STATE_BYTES 1280

struct wh_control {
	const struct wh_profile *profile;
	struct wh_control_config config;
	_Alignas(8) uint8_t state[WH_CONTROL_STATE_BYTES];
};

/* Bitmaps by which the receiver tells what arrives (ttp.txt II B); n_pkts 0: none. */
struct wh_bitmap_rules {
	uint32_t n_pkts;      /* of a bitmap, and from one to the next */
	uint32_t q_pkts;      /* so many lost in a row are congestion */
	uint32_t stretch;     /* of the interval after a clean bitmap */
	uint32_t stretch_max; /* of the interval, in n_pkts */
	double initial_loss;  /* the link's until measured, and the first chunk's */
};

/* A train of packets that goes before all data and comes back (sttp.txt III A); pkts 0: none. */
struct wh_probe_rules {
	uint32_t pkts;
	uint32_t bytes; /* of each, as IP counts it; less than a head's: a full packet's */
	bool repeats;   /* one that does not come back goes again; or nothing ever goes */
};

/* When a packet goes again. Where it is not asked for, no gap is told but by the states. */
enum wh_resend {
	WH_RESEND_ASKED, /* when a NAK asks for it */
	/* when a state says that it misses, and decision.resend_after states have been said since
	 * it went, by the differences of their serials */
	WH_RESEND_COUNTED,
	WH_RESEND_TIMED, /* when it is not acknowledged within so many microseconds */
	/*
	 * When a state says that it misses though one that was sent longer after it has come than
	 * packets were ever seen to overtake each other; with feedback.delivery only. When nothing
	 * is heard of the last packets, the very last goes again, and shows the others.
	 */
	WH_RESEND_LATE,
};

/*
 * The control interval of periodic-exchange.txt, "Control Packet Transmission Time": the period,
 * the time to process the control packets of all connections, and `load` times a part that grows
 * with what waits and with the buffers in use (session/control_interval.c). A state without news is
 * followed by one that is skipped, then by two, up to `skip`.
 */
struct wh_interval_rules {
	uint32_t processing_ns; /* of one control packet */
	double load;
	uint32_t skip;
};

/* What the receiver tells and when. */
struct wh_feedback {
	enum wh_resend resend;
	struct wh_interval_rules interval; /* of profiles that count */
	uint32_t
		crowd_pkts; /* with more queued for the receiver it accepts no connection; 0: any */
	/* Each packet that comes is answered at once, by an acknowledgement of it alone ... */
	bool ack_each;
	bool ack_in_order; /* ... or of all before the first that is missing, and of no other */
	bool no_ack2;      /* the transmitter's state says what it knows of the receiver's */

	uint32_t period_us;        /* of both ends' states and of the rate control: SYN */
	uint32_t state_bytes;      /* a state also goes after so many; 0: by period alone */
	bool state_per_packet;     /* a state also goes for each packet that comes */
	bool state_on_news_only;   /* a state without news waits for two round trips */
	bool data_tell;            /* while data go, the transmitter's state says nothing */
	uint32_t nak_packets_max;  /* per firing of the NAK timer */
	bool delay_warnings;       /* the receiver watches the delay's trend ... */
	bool trend_one_way;        /* ... of the one-way delay, and not of the round trip */
	uint32_t pair_period_pkts; /* every so many packets two go back to back; 0: never */
	struct wh_bitmap_rules bitmaps;
	struct wh_probe_rules probe;
	bool round_trips; /* of data packets are measured, one for each state that comes */
	/*
	 * Each state says what of the packets has come and when. The round trip is measured by that
	 * and by nothing else. States go by the round trip, and within a share of what comes.
	 */
	bool delivery;
	/*
	 * Repair packets are planned for chunks of the last round trips alone: those whose
	 * retransmissions would come when all else has. How many an operator has told holds for
	 * all chunks. With feedback.delivery.
	 */
	bool repair_tail;
};

struct wh_profile {
	uint8_t number; /* on the wire */
	const char *name;
	const char *summary; /* one line, for --help */
	const struct wh_option *options;
	uint32_t n_options;
	/* The option that contradicts another, and *why; NULL: none does. */
	const struct wh_option *(*contradiction)(
		const struct wh_profile_options *options, const char **why);

	/* The controller; a handler that is not set is a no-op, `decide` always is. */
	uint32_t control_bytes; /* of control->state, zero when init is called */
	void (*init)(struct wh_control *control);
	void (*on_probe)(struct wh_control *control, const struct wh_probe_event *event);
	void (*on_feedback)(struct wh_control *control, const struct wh_feedback_event *event);
	void (*on_delivery)(struct wh_control *control, const struct wh_delivery_event *event);
	void (*on_ack)(struct wh_control *control, const struct wh_ack_event *event);
	void (*on_loss)(struct wh_control *control, const struct wh_loss_event *event);
	void (*on_delay)(struct wh_control *control, const struct wh_delay_event *event);
	void (*on_bitmap)(struct wh_control *control, const struct wh_bitmap_event *event);
	void (*on_silence)(struct wh_control *control, const struct wh_silence_event *event);
	void (*on_tick)(struct wh_control *control, const struct wh_tick_event *event);
	void (*on_rate)(struct wh_control *control);    /* config.rate_bps is another one now */
	void (*on_options)(struct wh_control *control); /* live ones of config.options are */
	struct wh_decision (*decide)(const struct wh_control *control);
	/*
	 * What it has found of the way, for the next session, which begins with it (config.known);
	 * NULL: it finds nothing to be kept, and has no use for what is known.
	 */
	void (*found)(const struct wh_control *control, struct wh_known_path *found);
	bool rate_is_told;     /* by the operator: the controller finds none of its own */
	bool control_is_paced; /* the rate includes the transmitter's control packets */

	struct wh_feedback feedback;
	/* What the options change of it; NULL: nothing. */
	void (*adapt)(const struct wh_profile_options *options, struct wh_feedback *feedback);

	/* How losses are recovered, where the operator names nothing else. */
	enum wh_recovery recovery;
	enum wh_fec_code code;
	double repair_ceiling; /* repair packets per packet sent; 0: the planner's own */
};

/* The i-th, for listings; NULL past the last. */
const struct wh_profile *wh_profile_at(uint32_t i);

/* NULL when there is none of that name or number. */
const struct wh_profile *wh_profile_find(const char *name);
const struct wh_profile *wh_profile_by_number(uint8_t number);

/* What the receiver tells by these options. */
struct wh_feedback wh_profile_feedback(
	const struct wh_profile *profile, const struct wh_profile_options *options);

void wh_control_init(struct wh_control *control, const struct wh_profile *profile,
	const struct wh_control_config *config);

/* Another rate from now on, or another bound of it; both that and the one before are above 0. */
void wh_control_set_rate(struct wh_control *control, uint64_t rate_bps);

/* Other values of options that are live. */
void wh_control_set_options(struct wh_control *control, const struct wh_profile_options *options);

/* What the controller has found of the way; capacity_bps 0: nothing that is worth keeping. */
struct wh_known_path wh_control_found(const struct wh_control *control);

/* An event for one of the handlers above. */
#define WH_CONTROL_TELL(control, handler, event)                                                   \
	do {                                                                                       \
		if ((control)->profile->handler != NULL)                                           \
			(control)->profile->handler((control), (event));                           \
	} while (0)

#endif
