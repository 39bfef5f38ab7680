/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A profile defines how a connection finds its rate, what the receiver reports for that and when,
 * and how losses are found and recovered. It is one const struct in a file of its own, and a row in
 * profile.c.
 *
 * The controller runs at the transmitter: it gets small events and changes only its own state;
 * after each event the session asks for its decision. All times are cycles of the session's clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/bitmap_loss.h"
#include "profile/limit.h"
#include "profile/options.h"
#include "wire/packet.h"

#define WH_WINDOW_UNLIMITED UINT32_MAX
#define WH_WINDOW_PKTS_MIN  2 /* of window_pkts_max: controllers need at least this */

/*
 * Advance knowledge of a path, from a probe, an earlier session or the operator; also what a
 * finished session has found. capacity_bps 0: nothing is known. It may be outdated, of another
 * path, or wrong: the controller starts with it and verifies it like any estimate.
 */
struct wh_known_path {
	uint64_t capacity_bps; /* on the wire, of this session: its share of a shared path */
	uint64_t rtt_ns;       /* the least; > 0 if capacity_bps is */
	uint32_t burst_pkts;   /* full packets at line rate that pass without loss; 0: unknown */
	uint32_t age_s;        /* time since it was measured */
};

#define WH_KNOWN_BPS_MAX    UINT64_C(100000000000000)
#define WH_KNOWN_RTT_MAX_NS UINT64_C(100000000000)
#define WH_KNOWN_PKTS_MAX   (UINT32_C(1) << 24)

/* Whether it is empty, or within the bounds above. */
bool wh_known_path_valid(const struct wh_known_path *known);

struct wh_control_config {
	uint64_t hz;
	uint64_t syn_tsc;      /* rate control and feedback period */
	uint32_t packet_bytes; /* the papers' MTU: a full packet's IP bytes */
	uint32_t wire_bytes;   /* a full packet on the wire, with Ethernet overhead */
	uint64_t rate_bps;     /* on the wire; fixed: the rate, others: upper bound; 0: unlimited */
	uint64_t line_bps;     /* of this host's own line; 0: unknown */
	uint32_t window_pkts_max;
	struct wh_profile_options options;
	struct wh_known_path known;
};

struct wh_feedback_event {
	uint64_t now_tsc;
	uint64_t acked_pkts; /* newly acknowledged by this report */
	uint64_t acked_pkts_total;
	uint32_t arrival_pps;     /* 0: unknown */
	uint32_t capacity_pps;    /* 0: unknown */
	uint64_t rtt_tsc;         /* smoothed; 0: unknown */
	uint64_t sent_pkts_total; /* data packets, including retransmissions */
	/* In total: these arrived although they had arrived before; no more than were sent again */
	uint64_t duplicate_pkts_total;
	/* With feedback.round_trips: of the latest of these packets; 0: it was retransmitted. */
	uint64_t sample_rtt_tsc;
};

/*
 * With feedback.delivery, for each report newer than all before, once a packet has been received.
 * Data and repair packets are counted by transmission, so that a retransmission counts as another
 * packet. Counts never decrease; seen - delivered are lost, or reordered. Arrival times are by the
 * receiver's clock, in our cycles from an unknown zero. A real port delivers packets in bursts: a
 * packet arrives when its burst is read. After a pause of the receiver a packet is assumed to have
 * arrived with the delay of the packet before, as far as that was within the pause.
 */
struct wh_delivery_event {
	uint64_t now_tsc;
	uint64_t sent_pkts;      /* total */
	uint64_t seen_pkts;      /* of these, up to the latest one received */
	uint64_t delivered_pkts; /* of these, received */
	uint64_t lost_runs;      /* total, known a little late; losses in a row are one run */
	uint64_t arrived_tsc;    /* of the latest packet */
	uint64_t span_tsc;       /* first to last arrival since the last report, without pauses */
	uint32_t span_pkts;      /* packets that arrived in it, without those at its start */
	uint64_t rtt_tsc;        /* of the latest packet, less the holding time; 0: unknown */
	/*
	 * One-way delay from an unknown zero, without clock skew: of the latest packet, and the
	 * least since the previous report. Unchanged if no packet arrived.
	 */
	int64_t delay_tsc;
	int64_t least_delay_tsc;
	/*
	 * Greatest lateness of a packet since the previous event: the packets after it were sent in
	 * a burst.
	 */
	uint64_t late_tsc;
	/* The longest time, recently, by which a packet was overtaken by others. */
	uint64_t overtaken_tsc;
	/*
	 * Since the previous event, the stream, the peer's buffers or our tables limited the flow.
	 */
	bool held_up;
};

struct wh_probe_event { /* once: the result of the probe before all data */
	uint64_t now_tsc;
	uint64_t gap_tsc; /* median gap between neighbours on arrival; 0: below a cycle */
	uint64_t rtt_tsc; /* of the last packet answered */
	uint32_t bytes;   /* of each packet, on the wire */
};

struct wh_ack_event { /* packets of one chunk, acknowledged by one report; before its feedback */
	uint64_t now_tsc;
	uint64_t first_pn;
	uint32_t pkts; /* number of packets, from first_pn on */
};

struct wh_loss_event { /* one NAK */
	uint64_t now_tsc;
	uint64_t lost_pkts;
	uint64_t last_lost_pn;    /* the largest in this NAK, below sent_end */
	uint64_t sent_end;        /* one past the largest packet number sent so far */
	uint64_t sent_pkts_total; /* data packets, including retransmissions */
};

struct wh_delay_event { /* one delay warning */
	uint64_t now_tsc;
	uint64_t sent_end;
};

struct wh_bitmap_event { /* one control packet of ttp.txt */
	uint64_t now_tsc;
	enum wh_bitmap_finding finding;
	uint64_t first;    /* first packet number in the bitmap */
	uint64_t sent_end; /* one past the last packet number sent so far */
};

struct wh_silence_event { /* nothing was received for longer than expected; repeated */
	uint64_t now_tsc;
	uint64_t since_tsc;
};

struct wh_tick_event { /* every SYN */
	uint64_t now_tsc;
	uint64_t sent_pkts_total; /* data packets, including retransmissions */
	uint64_t rtt_tsc;         /* smoothed, at first the handshake's; 0: unknown */
};

struct wh_decision {
	uint64_t interval_fp; /* between full packets (interval.h); 0: limited by the window only */
	uint32_t window_pkts; /* unacknowledged packets allowed */
	uint32_t burst_pkts;  /* most packets back to back when late; 0: as configured */
	/* Most lateness due to a busy CPU, beyond a burst, that is recovered; 0: it is forfeited */
	uint64_t owed_most_tsc;
	/*
	 * Total of packets that may be sent before they are due, now or later; never decreases.
	 * With WH_INTERVAL_MAX_FP only tokens allow sending, except for the first packet.
	 */
	uint64_t tokens;
	/*
	 * Every data packet needs a token and waits for its interval as well. `tokens` is then the
	 * total of packets that may be sent, including retransmissions, and may decrease.
	 */
	bool by_tokens;
	uint64_t freeze_until_tsc; /* nothing is sent before; 0: no freeze */
	/*
	 * Most packet numbers admitted from the first unacknowledged one on; 0: as many as tables
	 * hold
	 */
	uint32_t span_pkts;
	uint32_t resend_after; /* without requests: see enum wh_resend */
	/* What keeps interval and window from more, below the bounds of operator and line. */
	enum wh_limit limit;
	const char
		*mode; /* the part of the controller that decided, a constant; NULL: it has one */
};

/* State of any controller, of a fixed size so that none allocates. */
#define WH_CONTROL_STATE_BYTES 1408

struct wh_control {
	const struct wh_profile *profile;
	struct wh_control_config config;
	_Alignas(8) uint8_t state[WH_CONTROL_STATE_BYTES];
};

/* Bitmaps by which the receiver reports arrivals (ttp.txt II B); n_pkts 0: none. */
struct wh_bitmap_rules {
	uint32_t n_pkts;      /* packets per bitmap, and between bitmaps */
	uint32_t q_pkts;      /* this many consecutive losses are congestion */
	uint32_t stretch;     /* factor of the interval after a clean bitmap */
	uint32_t stretch_max; /* largest interval, in n_pkts */
	double initial_loss;  /* loss rate until measured, also for encoding the first chunk */
};

/* A train of packets before all data, which the receiver answers (sttp.txt III A); pkts 0: none. */
struct wh_probe_rules {
	uint32_t pkts;
	uint32_t bytes; /* of each at the IP layer; less than a head: a full packet */
	bool repeats;   /* a lost train is sent again; otherwise the flow never starts */
};

/* When a packet is retransmitted. Without NAKs only reports tell of gaps. */
enum wh_resend {
	WH_RESEND_ASKED, /* when a NAK requests it */
	/*
	 * when a report says it is missing, and decision.resend_after reports were sent since the
	 * packet, by the difference of the reports' numbers
	 */
	WH_RESEND_COUNTED,
	WH_RESEND_TIMED, /* when it is not acknowledged within decision.resend_after microseconds */
	/*
	 * When a report says it is missing although a packet sent later has arrived, later by more
	 * than any reordering seen so far; with feedback.delivery only. When nothing is heard of
	 * the last packets, the very last is retransmitted, whose arrival reveals the others.
	 */
	WH_RESEND_LATE,
};

/*
 * The control interval of periodic-exchange.txt, "Control Packet Transmission Time": the period,
 * plus the time to process the control packets of all connections, plus `load` times a part that
 * grows with waiting packets and used buffers (session/control_interval.c). After a report without
 * news one is skipped, then two, up to `skip`.
 */
struct wh_interval_rules {
	uint32_t processing_ns; /* per control packet */
	double load;
	uint32_t skip;
};

/* What the receiver reports and when. */
struct wh_feedback {
	enum wh_resend resend;
	struct wh_interval_rules interval; /* of profiles that count reports */
	uint32_t queued_pkts_max; /* no new connection while more packets are queued; 0: no limit */
	bool ack_each;            /* each received packet is acknowledged at once, by itself */
	bool ack_in_order;        /* ack_each is cumulative, without SACK */
	bool no_ack2;             /* the transmitter's report echoes the receiver's instead */

	uint32_t period_us;        /* of both ends' reports and of the rate control: SYN */
	uint32_t report_bytes;     /* a report is also sent after this many; 0: by period only */
	bool report_per_packet;    /* a report is also sent for each received packet */
	bool report_on_news_only;  /* a report without news waits for two round trips */
	bool data_tell;            /* while data are sent, the transmitter sends no reports */
	uint32_t nak_packets_max;  /* each time the NAK timer fires */
	bool delay_warnings;       /* the receiver reports a growing delay */
	bool trend_one_way;        /* delay warnings judge one-way delays, not round trips */
	uint32_t pair_period_pkts; /* after this many packets two are sent back to back; 0: never */
	struct wh_bitmap_rules bitmaps;
	struct wh_probe_rules probe;
	bool round_trips; /* of data packets are measured, one per report */
	/*
	 * Each report tells which packets arrived and when, and the round trip is measured by that
	 * only. Reports are timed by the round trip, limited to a share of the received data.
	 */
	bool delivery;
	/* With delivery: data bytes for each byte of the transmitter's reports; 0: as of others. */
	uint32_t data_per_report;
	/*
	 * Repair packets are planned only for chunks of the last round trips, whose retransmissions
	 * would arrive when everything else has. A fixed number set by the operator applies to all
	 * chunks. With feedback.delivery.
	 */
	bool repair_tail;
};

struct wh_profile {
	uint8_t number; /* in the wire format */
	const char *name;
	const char *summary; /* one line, for --help */
	const struct wh_option *options;
	uint32_t n_options;
	/* Returns an option that contradicts another, and *why; NULL: none. */
	const struct wh_option *(*contradiction)(
		const struct wh_profile_options *options, const char **why);

	/* The controller; handlers may be NULL, except `decide`. */
	uint32_t control_bytes; /* used of control->state, zero when init is called */
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
	void (*on_rate)(struct wh_control *control);    /* config.rate_bps has changed */
	void (*on_options)(struct wh_control *control); /* live values of config.options changed */
	struct wh_decision (*decide)(const struct wh_control *control);
	/*
	 * Tells what the controller has found of the path: the next session starts with it
	 * (config.known). NULL: it finds nothing worth keeping, and ignores config.known.
	 */
	void (*found)(const struct wh_control *control, struct wh_known_path *found);
	bool rate_is_told;     /* the operator sets the rate, the controller finds none */
	bool control_is_paced; /* the rate includes the transmitter's control packets */

	struct wh_feedback feedback;
	/* Changes `feedback` according to options; NULL: none do. */
	void (*adapt)(const struct wh_profile_options *options, struct wh_feedback *feedback);

	/* How losses are recovered, unless the operator sets something else. */
	enum wh_recovery recovery;
	enum wh_fec_code code;
	double repair_ceiling; /* repair packets per packet sent; 0: the planner's own */
};

/* The i-th, for listings; NULL past the last. */
const struct wh_profile *wh_profile_at(uint32_t i);

/* NULL if no profile has that name or number. */
const struct wh_profile *wh_profile_find(const char *name);
const struct wh_profile *wh_profile_by_number(uint8_t number);

/* `feedback` as changed by these options. */
struct wh_feedback wh_profile_feedback(
	const struct wh_profile *profile, const struct wh_profile_options *options);

void wh_control_init(struct wh_control *control, const struct wh_profile *profile,
	const struct wh_control_config *config);

/* A new rate, or bound of the rate, from now on; the old and the new one are above 0. */
void wh_control_set_rate(struct wh_control *control, uint64_t rate_bps);

/* New values of live options. */
void wh_control_set_options(struct wh_control *control, const struct wh_profile_options *options);

/* What the controller has found of the path; capacity_bps 0: nothing worth keeping. */
struct wh_known_path wh_control_found(const struct wh_control *control);

/* Calls a handler, if the profile has it. */
#define WH_CONTROL_TELL(control, handler, event)                                                   \
	do {                                                                                       \
		if ((control)->profile->handler != NULL)                                           \
			(control)->profile->handler((control), (event));                           \
	} while (0)
