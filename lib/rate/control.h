/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_RATE_CONTROL_H
#define WH_RATE_CONTROL_H

/*
 * How fast to send. A controller is a const table of functions in one registry, chosen by name.
 * It gets small events and changes only its own state; after each event the session asks for the
 * decision. All times are cycles of the session's clock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "measure/bitmap_loss.h"

/* Constants of udt.txt, defaults of struct wh_udt_options. */
#define WH_UDT_SYN_US         10000  /* III A: constant synchronization interval, 0.01 s */
#define WH_UDT_BETA           1.5e-6 /* III C, formulas (3) and (4) */
#define WH_UDT_LOSS_THRESHOLD 0.01   /* III C: no increase from this loss rate on */
#define WH_UDT_DECREASE       1.125  /* (7): the rate falls by 1/9 */
#define WH_UDT_FIRST_E        4      /* III C: dc == 2^e, e starts at 4 */
#define WH_UDT_FIRST_WINDOW   2      /* III D */
#define WH_UDT_LEAST_WINDOW   4      /* after slow start; the reason is in udt.c */
#define WH_WINDOW_UNLIMITED   UINT32_MAX

/* Constants of ttp.txt, defaults of struct wh_ttp_options. */
#define WH_TTP_N_PKTS         1024 /* III A: control packets of 1K bits */
#define WH_TTP_Q_PKTS         3    /* III A: the congestion indicator */
#define WH_TTP_INITIAL_LOSS   0.5  /* III A: the initial link loss rate */
#define WH_TTP_INITIAL_SHARE  0.8  /* III A: initial send rate, of the bottleneck's */
#define WH_TTP_DECREASE       2    /* II B: "halved" */
/*
 * III A has 8 and 100 Mb/s for a bottleneck that ends in links of 100 Mb/s (and 8 and 10 Mb/s for
 * links of 10, which leaves nothing to control).
 */
#define WH_TTP_MIN_SHARE      0.08
/* I: "end hosts configured with gigabit Ethernet cards", where nobody named a rate. */
#define WH_TTP_BOTTLENECK_BPS UINT64_C(1000000000)
/*
 * II B names no constant for the additive increase. With this one the 50 Mb/s that are lost by
 * halving from 100 are back after 25 clean control packets.
 */
#define WH_TTP_INCREASE_SHARE 0.02
/* II B: "a constant factor"; see measure/path_bitmap.h. The bound is our choice. */
#define WH_TTP_STRETCH        2
#define WH_TTP_STRETCH_MAX    4

struct wh_udt_options {
	bool use_formula_3;     /* default true; section V removes it */
	bool spare_single_loss; /* default false; section V: an epoch's first single loss is free */
	bool bandwidth_in_bytes; /* default false: B' in (3), (4) in bits per second; see udt.c */
	bool use_delay_warning;  /* default true */
	double beta;             /* above 0, at most 1 */
	double loss_threshold;   /* 0 to 1 */
};

struct wh_ttp_options {
	/* Of the receiver, and q of both ends. */
	uint32_t n_pkts;      /* of a bitmap, and from one to the next; 1 to 1024 */
	uint32_t q_pkts;      /* so many lost in a row are congestion; at least 1 */
	uint32_t stretch;     /* of the interval after a clean bitmap; at least 1 */
	uint32_t stretch_max; /* of the interval, in n_pkts; at least 1 */

	/* Of the transmitter, and initial_loss of both ends. Rates are on the wire. */
	double initial_loss;     /* 0 to 1: the link's until measured, and the first chunk's */
	double decrease;         /* the rate is divided by it; above 1 */
	uint64_t bottleneck_bps; /* 0: rate_bps, or else WH_TTP_BOTTLENECK_BPS */
	uint64_t initial_bps;    /* 0: a share of the bottleneck's; likewise the others */
	uint64_t min_bps;
	uint64_t max_bps; /* 0: the bottleneck's; never above rate_bps, where that is given */
	uint64_t increase_bps;
};

#define WH_WINDOW_PKTS_MIN 2 /* of window_pkts_max: no controller can start with less */

struct wh_control_config {
	uint64_t hz;
	uint64_t syn_tsc;      /* rate control and feedback period */
	uint32_t packet_bytes; /* MTU of the papers: a full packet's IP bytes */
	uint32_t wire_bytes;   /* a full packet on the wire, Ethernet overhead counted */
	uint64_t rate_bps;     /* on the wire; fixed: the rate, others: its bound; 0: unlimited */
	uint32_t window_pkts_max;
	struct wh_udt_options udt;
	struct wh_ttp_options ttp;
};

struct wh_feedback_event {
	uint64_t now_tsc;
	uint64_t acked_pkts; /* newly acknowledged by this state */
	uint64_t acked_pkts_total;
	uint32_t arrival_pps;  /* 0: unknown */
	uint32_t capacity_pps; /* 0: unknown */
	uint64_t rtt_tsc;      /* smoothed; 0: unknown */
};

struct wh_loss_event { /* one NAK */
	uint64_t now_tsc;
	uint64_t lost_pkts;
	uint64_t last_lost_serial; /* the largest in this NAK, below sent_end */
	uint64_t sent_end;         /* one past the largest serial sent so far */
};

struct wh_delay_event { /* one delay warning */
	uint64_t now_tsc;
	uint64_t sent_end;
};

struct wh_bitmap_event { /* one control packet of ttp.txt */
	uint64_t now_tsc;
	enum wh_bitmap_finding finding;
};

struct wh_tick_event { /* every SYN */
	uint64_t now_tsc;
	uint64_t sent_pkts_total; /* data packets, retransmissions too */
};

struct wh_decision {
	uint64_t interval_fp; /* between full packets (pacer.h); 0: as fast as the window lets */
	uint32_t window_pkts; /* unacknowledged packets allowed */
	uint64_t freeze_until_tsc; /* nothing is sent before; 0: no freeze */
};

/* State of any controller: no allocation, and the session need not know which it is. */
#define WH_CONTROL_STATE_BYTES 256

struct wh_control {
	const struct wh_control_ops *ops;
	struct wh_control_config config;
	_Alignas(8) uint8_t state[WH_CONTROL_STATE_BYTES];
};

struct wh_control_ops {
	const char *name;
	const char *summary; /* one line, for --help */
	void (*init)(struct wh_control *control);
	void (*on_feedback)(struct wh_control *control, const struct wh_feedback_event *event);
	void (*on_loss)(struct wh_control *control, const struct wh_loss_event *event);
	void (*on_delay)(struct wh_control *control, const struct wh_delay_event *event);
	void (*on_bitmap)(struct wh_control *control, const struct wh_bitmap_event *event);
	void (*on_tick)(struct wh_control *control, const struct wh_tick_event *event);
	/* config.rate_bps is another one now. */
	void (*on_rate)(struct wh_control *control);
	struct wh_decision (*decide)(const struct wh_control *control);
};

/* Handlers of events that a controller is deaf to: whoever calls one need not ask. */
void wh_control_ignore_feedback(struct wh_control *control, const struct wh_feedback_event *event);
void wh_control_ignore_loss(struct wh_control *control, const struct wh_loss_event *event);
void wh_control_ignore_delay(struct wh_control *control, const struct wh_delay_event *event);
void wh_control_ignore_bitmap(struct wh_control *control, const struct wh_bitmap_event *event);
void wh_control_ignore_tick(struct wh_control *control, const struct wh_tick_event *event);

extern const struct wh_control_ops wh_control_fixed;
extern const struct wh_control_ops wh_control_udt;
extern const struct wh_control_ops wh_control_ttp;

/* By name, or NULL; by number, NULL past the last. */
const struct wh_control_ops *wh_control_find(const char *name);
const struct wh_control_ops *wh_control_at(uint32_t number);

/*
 * The papers' constants, window unlimited, no rate: the caller fills in hz, syn_tsc
 * (WH_UDT_SYN_US), packet_bytes and wire_bytes.
 */
void wh_control_config_init(struct wh_control_config *config);
void wh_control_init(struct wh_control *control, const struct wh_control_ops *ops,
	const struct wh_control_config *config);

/* Another rate from now on, or another bound of it; both that and the one before are above 0. */
void wh_control_set_rate(struct wh_control *control, uint64_t rate_bps);

/* What tests and traces look at; zeros for other controllers. */
struct wh_udt_view {
	bool slow_start;
	double rate_pps;          /* C; 0 in slow start */
	double capacity_pps;      /* B */
	double last_decrease_pps; /* D */
	double loss_rate;
	uint64_t last_dec_serial; /* 0 in slow start */
	uint32_t decrease_count;  /* dc */
	uint32_t e;
	uint64_t decreases; /* by (7), ever */
	uint64_t freezes;
};
struct wh_udt_view wh_udt_view(const struct wh_control *control);

/* ttp.txt, Fig. 1. */
enum wh_ttp_state {
	WH_TTP_STEADY,
	WH_TTP_LOSS,
	WH_TTP_NO_LOSS,
};

/* Likewise. */
struct wh_ttp_view {
	enum wh_ttp_state state;
	uint64_t rate_bps;
	uint64_t bitmaps;
	uint64_t decreases;
	uint64_t increases; /* decisions, even those that a bound made void */
};
struct wh_ttp_view wh_ttp_view(const struct wh_control *control);

#endif
