/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A session's state, shared by the files of this room and by lib/endpoint, which drives it. The
 * four tasks of an end run on its owner core. Each member is written by the task under whose
 * heading it stands, with two exceptions: opening and release also start timers and count as
 * progress, and get_rcv_stat sets the pacer's interval. Members written by the other core and by
 * users are at the end, on cache lines of their own.
 */

#include <assert.h>
#include <stdatomic.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/fifo.h"
#include "base/meter.h"
#include "fec/fec.h"
#include "fec/planner.h"
#include "measure/arrival.h"
#include "measure/arrived_bitmap.h"
#include "measure/bitmap_loss.h"
#include "measure/pair.h"
#include "measure/rtt.h"
#include "measure/skew.h"
#include "measure/straight.h"
#include "measure/trend.h"
#include "profile/profile.h"
#include "session/apart/landing.h"
#include "session/half.h"
#include "session/limit/ration.h"
#include "session/pacer.h"
#include "session/peer_address.h"
#include "session/session.h"
#include "track/recv_table.h"
#include "track/replay.h"
#include "track/sent_table.h"

/* udt.txt names an expiration event without a constant: silence shorter than this is normal. */
#define WH_EXP_MIN_MS 300

/*
 * Heartbeat: a report is sent this often even without news, so that silence means something. While
 * nothing is outstanding and nothing waits to be sent, the pause doubles each time, up to the
 * maximum or a third of the peer timeout.
 */
#define WH_HEARTBEAT_MS     100
#define WH_HEARTBEAT_MAX_MS 2000

/*
 * The transmitter repeats its latest news this many times before it falls back to heartbeats. The
 * receiver needs two such reports to detect losses at the end of a burst.
 */
#define WH_REPORT_REPEATS 3

/* No progress for this long is a stall; after stall_timeout_ns it ends the connection. */
#define WH_STALL_NOTICE_MS 1000

/* No path reorders packets by more than this. */
#define WH_YOUNGEST_MS 1000

/*
 * A receiver may send this many bytes for each byte that it receives, and save up no more than
 * WH_SAY_BYTES_SAVED. Beyond that it sends only heartbeats, which limits amplification. An honest
 * transmitter sends a whole packet for each 8-byte range in a few reports.
 */
#define WH_SAY_PER_HEARD   8
#define WH_SAY_BYTES_SAVED (256 << 10)

/*
 * The first OPEN is repeated after this, then after twice that, and so on up to the maximum. The
 * first repeats come soon because the first OPENs may be lost while the peer's MAC address is being
 * resolved; a listener keeps no state for any of them.
 */
#define WH_OPEN_REPEAT_MS     50
#define WH_OPEN_REPEAT_MAX_MS 1000

/*
 * Ring sizes, relative to the window. Inbox: decoded control packets. Outbox: encoded ones. Fresh:
 * packets that are admitted but not sent yet, a few bursts. Each ring has 2^n - 1 elements, which
 * wastes no slot.
 */
#define WH_PKTS_PER_CONTROL 64
#define WH_CONTROL_MIN      8
#define WH_INBOX_MAX        256
#define WH_OUTBOX_MAX       128
#define WH_FRESH_MAX        256

/* Load stretches a control interval by at most this factor. */
#define WH_LOAD_MOST 32

/* With feedback.delivery: data bytes that must arrive for each byte of the receiver's reports. */
#define WH_DATA_PER_REPORT 100

/* The same while buffers are short: the line then has room for a report per packet. */
#define WH_DATA_PER_SHORT_REPORT 4

/* With feedback.delivery: longest pause between reports while enough data arrive to pay for one. */
#define WH_DELIVERY_PERIOD_MS 10

/* The transmitter sends a report at least this often while data are slow. */
#define WH_QUIET_MS 1000

/* With feedback.data_per_report, the longest pause between two reports while data are sent. */
#define WH_QUIET_DATA_MS 10000

/* A chunk being sent, by its slot. */
struct wh_tx_chunk {
	uint32_t packets; /* data and repair */
	uint32_t unacked_pkts;
	struct wh_fec_shape shape; /* of the encoder, before the chunk is ready */
};

/* Owned by the worker that encodes. */
struct wh_encoder {
	struct wh_fec_planner planner;
	uint64_t known_pkts; /* how much of the owner core's counters the plan includes */
	uint64_t known_lost_pkts;
	uint64_t known_events;
};

/* Most packets of the probe before data. */
#define WH_PROBE_TRAIN_MAX 15

/* Room that a probe leaves in inbox and outbox for other packets. */
#define WH_BESIDE_TRAIN 3

static_assert(WH_CONTROL_MIN - 1 >= WH_BESIDE_TRAIN + 2, "the smallest box has room for a pair");

struct wh_probing {
	bool waits;                           /* for answers to the latest train */
	uint16_t train;                       /* number of the latest train, from 1; it wraps */
	uint32_t returned;                    /* bit i: packet i was answered */
	uint64_t came_ns[WH_PROBE_TRAIN_MAX]; /* its arrival, by the receiver's clock or ours */
	uint64_t sent_tsc;
	uint64_t latest_tsc; /* arrival of the latest answer */
	uint64_t due_tsc;    /* when to use the answers so far, or to send another train */
};

/* Reordering tolerance of loss detection, and probing of the last packets. */
struct wh_late {
	uint64_t window_tsc;
	uint64_t patience_tsc; /* before the first probe of the last packets */
	uint64_t seen_tsc[2];  /* most reordering seen, in this span and the previous one */
	uint64_t span_ends_tsc;
	uint32_t probes;   /* in a row without an answer */
	bool probe_waits;  /* the first in `retransmits` needs no token */
	uint64_t seen_end; /* the receiver's, when `probes` was last reset */
	uint64_t lost_end; /* one past the latest packet found missing */
	uint64_t runs;     /* of missing packets */
};

/*
 * What the receiver has reported about our packets; see delivery.c. The 32-bit clocks in reports
 * wrap; the 64-bit sums of their differences do not.
 */
struct wh_delivery {
	uint64_t delivered_pkts;
	uint64_t seen_pkts;
	uint64_t arrived_stamps; /* of the latest packet, by the receiver's clock */
	int64_t delay_stamps;    /* one-way delay of that packet */
	uint32_t arrived;        /* as last reported */
	uint32_t delay;
	uint32_t retransmitted_pkts;
	bool begun;
	bool delayed;
	/*
	 * Clock skew lengthens the delay in one direction and shortens it in the other. Only the
	 * part that both directions show counts as skew, or the slope that `straight` has measured.
	 */
	struct wh_skew there;
	struct wh_skew back;
	struct wh_straight straight;
	double least_tsc;      /* least one-way delay, skew removed */
	double taken_tsc;      /* sum of the skew removed so far */
	uint64_t first_at_tsc; /* arrival with which taken_tsc begins */
	uint64_t least_at_tsc;
	int64_t least_raw_tsc;
};

struct wh_missing {
	uint64_t next_ask_tsc;   /* next OPEN to the silent peer; 0: the peer is not silent */
	uint64_t answered_tsc;   /* first answer since the peer fell silent */
	uint32_t first_stamp_us; /* of the first OPEN since then */
	uint32_t answers;
};

struct wh_transmitter {
	struct wh_fifo free;        /* chunks: get_rcv_stat -> reader */
	struct wh_fifo filled;      /* chunks: reader -> encoder; only with repair packets */
	struct wh_fifo ready;       /* chunks: reader or encoder -> host_trans */
	struct wh_fifo fresh;       /* packet numbers: host_trans -> trans */
	struct wh_fifo retransmits; /* packet numbers, each once: get_rcv_stat -> trans */
	struct wh_sent_table table;
	struct wh_tx_chunk *tx_chunk; /* host_trans fills it in, get_rcv_stat counts down */

	struct wh_encoder encoder;
	/* get_rcv_stat -> encoder */
	_Atomic uint64_t told_pkts;
	_Atomic uint64_t told_lost_pkts;
	_Atomic uint64_t told_events;
	_Atomic uint64_t told_flight_pkts; /* sent in a round trip; with feedback.delivery */

	/* host_trans */
	struct wh_chunk *open_chunk;
	uint32_t open_index;
	bool end_seen; /* end of stream: chunks, total_bytes and digest are final */
	uint64_t chunks;
	uint64_t total_bytes;
	struct wh_digest digest;
	uint32_t chunks_out;           /* begun, and not yet given back to the reader */
	enum wh_limit admission_limit; /* why the last packet was not admitted */
	bool admission_held_up;        /* by something other than the controller */

	struct wh_probing probe; /* lib/endpoint/prelude.c */

	/* trans */
	struct wh_pacer pacer;
	uint64_t *sent_tsc; /* NULL, or by packet number modulo window; 0: retransmitted */
	uint32_t control_charged_bytes; /* since the last data packet, or since none waited */
	uint64_t sent_end;              /* one past the largest packet number sent */
	uint64_t transmission;
	uint64_t stamp_tsc; /* time of the turn for which `stamp` was computed */
	uint32_t stamp;
	uint32_t stamp_us; /* the same time in microseconds; with WH_RESEND_LATE only */
	bool held_up;   /* since the last delivery event, by something other than the controller */
	bool pair_open; /* the first of a pair is sent, the second follows at once */
	bool paused;    /* in its last turn no data could be sent */
	uint64_t limit_since_tsc;
	enum wh_limit limit_now;
	enum wh_limit pace_limit; /* what delays a packet that is not due yet */

	/* get_rcv_stat */
	struct wh_control control;
	struct wh_decision decision;
	uint64_t next_tick_tsc;
	uint64_t next_report_pn; /* older reports are dropped */
	uint64_t report_tsc;
	uint32_t reports_counted; /* by differences of their packet numbers; wraps */
	uint64_t next_look_tsc;   /* when timers are checked next */
	struct wh_late late;      /* retransmit.c, with WH_RESEND_LATE */
	uint64_t next_warning_pn;
	uint64_t warning_tsc;
	struct wh_bitmap_loss bitmap_loss;
	struct wh_delivery *delivery; /* if the profile has feedback.delivery; else NULL */
	uint64_t nak_end;             /* one past the highest packet number of a NAK */
	uint64_t nak_tsc;             /* when that NAK arrived */
	uint64_t naks_before;         /* bit i: NAK nak_end - 1 - i was seen */
	uint64_t peer_upper;          /* credit: first packet number beyond it */
	uint64_t peer_chunk_upper;    /* credit: first chunk beyond it */
	uint32_t peer_chunks;         /* number of the peer's buffers */
	bool peer_writer_behind;      /* queue to its writer holds most of its buffers */
	bool report_seen;
	uint64_t acked_end; /* one past the highest number that the latest report acked; 0: none */
	uint64_t acked_pkts;
	uint64_t progress_tsc;
	uint64_t progress_sent_pkts; /* sent until then */
	uint64_t cut_until_tsc;      /* data may be cut on their way until then */
	bool idle;                   /* nothing outstanding, nothing to send, stream not ended */
	uint64_t busy_since_tsc;     /* since then a living peer has had reason to send */
	uint64_t all_acked_tsc; /* first reply received with everything acknowledged; 0: none */
	uint64_t next_exp_tsc;
	bool peer_silent;
	bool stalled;

	struct wh_missing missing; /* lib/endpoint/missing.c */

	/* send_trans_stat */
	uint64_t unanswered_tsc; /* of the first report since the peer was heard; 0: none */
	uint64_t next_trans_report_tsc;
	uint64_t last_trans_report_tsc;
	uint32_t same_reports; /* in a row without news */
	uint64_t told_lower;
	uint64_t told_upper;
	uint64_t told_transmission;
	bool told_queued;
};

/* With feedback.delivery: what the next report tells about arrivals; see delivery.c. */
struct wh_arrivals {
	uint64_t delivered_pkts;
	uint64_t seen_end;
	uint64_t latest_tsc; /* arrival of the packet with the highest transmission */
	uint32_t stamp;      /* of that packet */
	uint32_t delay;      /* of the previous packet: our clock less its stamp; wraps */
	uint64_t pause_tsc;  /* a longer gap between looks at the port is a pause */
	uint32_t retransmitted_pkts;
	bool cut;              /* there are more holes than one report can hold */
	uint64_t round_cursor; /* where the next report of holes in rotation continues */
	uint64_t told_end[2];  /* highest_end at the previous report and at the one before */
	/* Since the previous report. */
	uint64_t last_tsc;
	uint64_t taken_tsc; /* when the latest packet was read from the port */
	uint64_t span_tsc;  /* time between arrivals, without our own pauses */
	uint32_t span_pkts; /* packets that arrived in span_tsc */
	uint32_t pkts;
	uint32_t least_delay;
	uint32_t late;
	/* Pause before the next report; patience_tsc: if too few data arrive to pay for it. */
	uint64_t interval_tsc;
	uint64_t patience_tsc;
	uint64_t short_tsc;     /* pause while buffers are short */
	uint64_t told_upper[2]; /* `upper` as reported in this round trip and in the previous one */
	uint64_t told_upper_tsc; /* when told_upper[0] was sent */
	int64_t credit_bytes;    /* data credit left by earlier reports, without `pkts` */
	/* Arrival of the latest burst, converted once: that is the dearest step of each packet. */
	uint64_t clock_tsc;
	uint32_t clock;
};

/* A chunk being received; numbers of live chunks differ modulo the number of buffers. */
struct wh_rx_chunk {
	struct wh_chunk *buffer; /* NULL: no packet received yet */
	uint32_t k;
	uint32_t have;
	uint32_t last_bytes; /* of packet k - 1, once it is received */
	uint16_t order;      /* as its first packet tells it */
	bool whole;

	/* With repair packets; see settle.c. */
	struct wh_fec_shape shape;
	uint32_t last_bytes_told; /* length of the last data packet; any packet tells it */
	uint32_t have_repair;
	uint64_t have_bytes; /* of its data */
	bool decoding;       /* a worker owns the chunk's memory and bits */
	bool asked;          /* settled: its missing packets have been requested */
};

/* The packet numbers of a chunk, which any one of its packets tells. */
struct wh_span {
	uint64_t number_end; /* chunk number + 1; 0: none */
	uint64_t first;
	uint64_t end;
};

/* The first report of a period and when it was sent; 0: its ACK2 was received. */
struct wh_ack_sample {
	uint64_t pn;
	uint64_t sent_tsc;
};

struct wh_receiver {
	struct wh_fifo arrived;  /* chunk numbers: rcv -> host_rcv */
	struct wh_fifo deliver;  /* chunks: host_rcv -> writer */
	struct wh_fifo recycled; /* chunks: writer -> host_rcv */
	struct wh_recv_table table;
	struct wh_loss_list losses;
	struct wh_rx_chunk *rx_chunk;
	uint64_t *have_bits; /* have_words per rx_chunk */
	uint32_t have_words;
	struct wh_chunk **spare; /* filled by host_rcv, emptied by rcv: same core */
	uint32_t spares;

	/* settle.c: losses are settled chunk by chunk, in order */
	struct wh_fifo decode;  /* chunk numbers: rcv, settle -> decoder */
	struct wh_fifo decoded; /* chunk numbers: decoder -> settle */
	struct wh_span *span;   /* of unsettled chunks, by number */
	uint32_t spans;
	uint64_t settle_chunk; /* first chunk not settled yet */
	uint64_t settle_pn;    /* first packet number whose loss is not settled yet */
	uint64_t newest_chunk; /* one past the highest seen */

	/* rcv, get_trans_stat: losses found since the last immediate NAK */
	struct wh_loss_range fresh_loss[WH_RANGES_MAX];
	uint32_t fresh_losses;

	/* rcv */
	uint64_t step; /* counts polls and used rx slots: an rx slot is valid in one step only */
	struct wh_arrival arrival;
	struct wh_pair pair;
	struct wh_arrived_bitmap arrived_bitmap; /* if the profile has bitmaps */
	struct wh_bitmap_loss bitmap_loss;
	struct wh_arrivals arrivals;
	uint64_t pair_first_pn;
	uint64_t pair_first_tsc;
	uint64_t arrived_since_period; /* packets, for the mean interval of the NAK timer */

	/* host_rcv */
	uint64_t next_deliver; /* chunk number */
	uint64_t recycled_count;
	bool end_delivered;
	struct wh_chunk end_marker;

	/* send_rcv_stat */
	uint64_t next_report_tsc;
	uint64_t next_nak_tsc;
	uint64_t last_report_tsc;
	uint64_t period_began_tsc;
	uint64_t cover_cursor;
	struct wh_ack_sample *ack_sample; /* reports whose ACK2 gives a round trip sample */
	uint32_t ack_history;             /* size of ack_sample, which keeps the latest */
	uint64_t ack_samples;             /* total taken */
	uint32_t unearned_reports;        /* in a row, sent beyond may_say_bytes */
	bool at_rest;                     /* only heartbeats are due */
	uint32_t rest_reports;            /* in a row sent at rest */
	uint64_t news_pn;                 /* first report that contained the latest news */
	uint64_t told_trans_pn;
	uint64_t told_lower;
	uint64_t told_highest_end;
	uint64_t waiting_pkts;  /* arrived at this host and not processed yet */
	uint32_t skips_left;    /* number of reports to skip */
	uint32_t quiet_reports; /* in a row without news, capped at interval.skip */
	uint64_t sampled_tsc;   /* last report that gives a round trip sample */
	uint64_t told_recycled;
	uint64_t told_received_pkts;
	uint64_t mean_arrival_tsc;

	/* get_trans_stat */
	uint32_t probes_heard;
	uint64_t next_trans_pn;
	uint64_t trans_report_tsc;
	uint64_t previous_trans_upper;
	uint32_t peer_queued_pkts;
	uint32_t skew_base_us; /* the first one-way delay, subtracted from all */
	uint64_t acked_end;    /* one past the latest report known to have been received */
	uint64_t progress_tsc;
	struct wh_trend trend;
	struct wh_skew *skew; /* if the trend is of one-way delays; else NULL */
	uint64_t next_warning_tsc;
	bool total_known; /* from the release request */
	uint64_t chunks;
	uint64_t total_bytes;
	struct wh_digest digest;
};

struct wh_session {
	struct wh_session_config config;
	struct wh_feedback feedback; /* of the profile with the options of this session */
	enum wh_role role;
	enum wh_phase phase;
	enum wh_release_status outcome;
	uint32_t local_cid;   /* 0 until it has a place */
	uint32_t peer_cid;    /* 0 until ACCEPT */
	uint64_t local_token; /* seals packets to us; OPEN or the cookie told it to the peer */
	struct wh_peer_address peer;
	struct wh_open_params params;
	uint32_t chunk_packets; /* of a full chunk */
	struct wh_meter *meter; /* of the owner core */
	void *context;

	/* Each seal is begun before any packet that it closes or opens. */
	struct wh_seal send_seal;    /* owner core */
	struct wh_seal receive_seal; /* RX core */

	/* sealing.c, with an SA */
	struct wh_sa *sa;    /* NULL: none */
	uint8_t *keys;       /* keys of both seals; sealing.c says what follows them */
	_Atomic bool sealed; /* the seals are in use */
	/* RX core: replay windows by packet number; that of data is by transmission number. */
	struct wh_replay heard[WH_PACKET_TYPES];
	uint64_t heard_bits[WH_PACKET_TYPES];

	struct wh_slot_fifo inbox;  /* decoded control packets */
	struct wh_slot_fifo outbox; /* encoded control packets, for trans */
	uint64_t control_pn[WH_PACKET_TYPES];
	int64_t may_say_bytes; /* receiver: what WH_SAY_PER_HEARD still allows */
	bool outbox_news;      /* something was added since the endpoint looked */

	struct wh_ration ration; /* limit/ration.c */
	uint64_t period_tsc;
	uint64_t peer_timeout_tsc;
	uint64_t last_heard_tsc;
	uint64_t looked_tsc; /* packets read now arrived after this; 0: unknown */
	struct wh_rtt rtt;

	/* lib/endpoint/connect.c */
	uint64_t next_open_tsc;
	uint64_t open_repeat_tsc;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint64_t opened_tsc;
	uint64_t accepted_tsc;
	bool offered;             /* CONFIRM takes a place that was offered without OPEN */
	struct wh_sa_offer offer; /* of the session that this one replies to; cid 0: none */
	bool anew;                /* must be opened again, with a new place and new keys */

	/* lib/endpoint/release.c */
	uint64_t next_release_tsc;
	uint32_t release_repeats;
	bool abort_pending;
	uint8_t last_word; /* DONE, ABORT, or REPLY with the outcome, once sent; 0: none */

	/* ask.c */
	uint32_t granted; /* subset of `wishes` */
	bool closing;     /* its users have asked to close it */

	/* lib/endpoint/endpoint.c */
	struct wh_session *next; /* in the list of sessions that are leaving */
	uint64_t gone_turn;      /* from this turn on the other half holds no pointer to it */
	uint64_t books_turn;     /* nor the half of the bookkeeping from this one on */

	struct wh_chunk *chunk;     /* config.chunks of them */
	struct wh_landing *landing; /* NULL: one core takes packets and does the bookkeeping */
	struct wh_acks *acks;       /* NULL: the TX core enters acknowledgements */
	struct wh_session_stats stats;
	union {
		struct wh_transmitter tx;
		struct wh_receiver rx;
	};

	/* The other core's counters. */
	_Alignas(64) struct wh_session_stats away;

	/* Between the owner core and users; see ask.c. */
	_Alignas(64) _Atomic uint32_t wishes;  /* enum wh_session_wish, and the statuses */
	_Atomic uint32_t news;                 /* phase, and the outcome above it */
	_Atomic uint32_t peer_versions;        /* low byte: least, next: most; 0: unknown */
	_Atomic uint64_t wanted_bps;           /* transmitter: the rate that users ask for */
	_Atomic uint64_t rate_bps;             /* transmitter: the rate in use */
	_Atomic uint32_t reader_limit;         /* transmitter: why its reader has no chunk */
	_Atomic uint32_t option_wishes;        /* counts users' changes of `option` */
	uint32_t options_followed;             /* owner core: changes applied so far */
	_Atomic double option[WH_OPTIONS_MAX]; /* transmitter: profile options as users want them */
	_Atomic(struct wh_half *) half;        /* of the owner core; NULL: not known yet */
	_Atomic uint32_t place;
};

/* One core writes a counter and any core may read it: no atomic add, but no torn value either. */
static inline void wh_session_add(uint64_t *counter, uint64_t count)
{
	__atomic_store_n(counter, *counter + count, __ATOMIC_RELAXED);
}

static inline void wh_session_count(uint64_t *counter)
{
	wh_session_add(counter, 1);
}

/* Admitted packets that wait for the pacer. */
static inline bool wh_session_data_waits(const struct wh_transmitter *tx)
{
	return wh_fifo_count(&tx->retransmits) > 0 || wh_fifo_count(&tx->fresh) > 0;
}

/* Of an admitted packet. The last packet of any chunk may be short. */
static inline uint32_t wh_session_payload_bytes(
	const struct wh_session *s, const struct wh_sent_record *record)
{
	const struct wh_tx_chunk *sending = &s->tx.tx_chunk[record->chunk_slot];
	uint32_t offset = record->index * s->config.payload_bytes;

	if (record->index >= sending->shape.k)
		return s->config.payload_bytes; /* repair packets are full */
	return (uint32_t)wh_min_u64(
		s->config.payload_bytes, s->chunk[record->chunk_slot].bytes - offset);
}

/* sealing.c: called once our connection ID and token are known, or the peer's. */
void wh_session_begin_receive_seal(struct wh_session *s, uint64_t local_token);
void wh_session_begin_send_seal(struct wh_session *s, uint64_t peer_token);

/*
 * sealing.c. _alloc takes a reference to the SA and allocates keys and windows: 0 or -ENOMEM.
 * _derive makes the keys from what both ends said. _begin puts the keys into use, once both
 * connection IDs, the parameters and the cookie are known; false: no memory.
 */
int wh_sealing_alloc(struct wh_session *s, struct wh_sa *sa);
void wh_sealing_derive(const struct wh_sa *sa, uint32_t acceptor_cid,
	const uint8_t cookie[WH_COOKIE_BYTES], const struct wh_open_params *params,
	struct wh_seal_secret *secret);
bool wh_sealing_begin(struct wh_session *s, const uint8_t cookie[WH_COOKIE_BYTES]);

/* Derives the key that opens ACCEPT in advance, which is half the cost of opening it. */
void wh_sealing_expect(struct wh_session *s, uint64_t about);
const struct wh_gcm_raw *wh_sealing_accept_key(const struct wh_session *s);
void wh_sealing_end(struct wh_session *s);

/* While no core polls the session: wipes keys and windows, and takes the SA's successor if any. */
void wh_sealing_renew(struct wh_session *s, struct wh_sadb *sadb);

/* Fills in the head of a packet to a listener, which is addressed to the SA. */
void wh_sealing_address(struct wh_session *s, struct wh_packet *packet);

/* RX core: whether packets to this session can be opened yet. */
static inline bool wh_sealing_is_ready(const struct wh_session *s)
{
	return s->sa == NULL || atomic_load_explicit(&s->sealed, memory_order_acquire);
}

/* RX core: one past the newest packet received of that kind, with an SA. */
uint64_t wh_session_heard_end(struct wh_session *s, const struct wh_packet *packet);

/* RX core: false if this authenticated packet is a replay, which is counted. True without an SA. */
bool wh_session_is_first(struct wh_session *s, const struct wh_packet *packet);

void wh_session_bad(struct wh_session *s, uint64_t *reason);

/* The pause before a heartbeat, after `doublings` doublings. */
uint64_t wh_session_heartbeat_tsc(const struct wh_session *s, uint32_t doublings);

/* Longest silence to expect of a living peer, of whose reports one is lost. */
uint64_t wh_session_exp_tsc(const struct wh_session *s);
void wh_session_settle(struct wh_session *s, uint64_t now_tsc, enum wh_release_status outcome);
uint64_t wh_session_ms_tsc(const struct wh_session *s, uint64_t span_ms);

/* The peer timeout has passed. Should the peer come back, the endpoint sends it ABORT. */
void wh_session_give_up(struct wh_session *s, uint64_t now_tsc);

/* boxes.c. _put may run on the other core: it uses only the inbox and `stats`. */
int wh_boxes_init(struct wh_session *s);
uint64_t wh_boxes_bytes(uint32_t window_pkts);
uint32_t wh_boxes_inbox_count(uint32_t window_pkts);
void wh_boxes_put(struct wh_session *s, struct wh_session_stats *stats, uint64_t arrived_tsc,
	const struct wh_packet *packet);

/* Encodes a control packet of `type` into the outbox; the caller has filled in its union. */
void wh_session_push_control(
	struct wh_session *s, uint64_t now_tsc, enum wh_packet_type type, struct wh_packet *packet);

static inline uint32_t wh_session_now_us(const struct wh_session *s, uint64_t now_tsc)
{
	return (uint32_t)wh_tsc_to_us(s->config.hz, now_tsc);
}

/* Whether another unsolicited packet stays within WH_SAY_PER_HEARD. */
static inline bool wh_session_may_say(const struct wh_session *s)
{
	return s->may_say_bytes > 0;
}

static inline void wh_session_heard(struct wh_session *s, uint32_t bytes)
{
	s->may_say_bytes += (int64_t)bytes * WH_SAY_PER_HEARD;
	if (s->may_say_bytes > WH_SAY_BYTES_SAVED)
		s->may_say_bytes = WH_SAY_BYTES_SAVED;
}

/*
 * Whether a control packet is newer than all others of its type. *next is one past the newest
 * packet number, which arrived at *at_tsc. Without an SA an older packet is refused for
 * WH_YOUNGEST_MS only, so that a forged high packet number cannot block genuine packets for longer.
 * With an SA packet numbers are authenticated, and older packets are refused for ever. (boxes.c)
 */
bool wh_session_is_younger(
	struct wh_session *s, uint64_t now_tsc, uint64_t pn, uint64_t *next, uint64_t *at_tsc);

/* The eight tasks. */
int32_t wh_host_trans(struct wh_session *s, uint64_t now_tsc);
uint32_t wh_trans(struct wh_session *s, uint64_t now_tsc, struct wh_out *out, uint32_t count);

/* decide.c. _decide asks the controller and sets the pacer; _apply also starts a freeze. */
void wh_session_decide(struct wh_session *s);
void wh_session_apply(struct wh_session *s);

/* _take processes the receiver's reports, NAKs, delay warnings and bitmaps. */
void wh_get_rcv_stat_take(struct wh_session *s, uint64_t now_tsc, const struct wh_packet *packet);
int32_t wh_get_rcv_stat(struct wh_session *s, uint64_t now_tsc);

/* is_doubted: the peer's process may be gone, so reports are sent that it must answer. */
int32_t wh_send_trans_stat(struct wh_session *s, uint64_t now_tsc, bool is_doubted);

int32_t wh_host_rcv(struct wh_session *s, uint64_t now_tsc);

/*
 * _take processes the transmitter's reports and ACK2s. _end takes the end of the stream from the
 * transmitter's release request; false, and counted: it contradicts what has arrived.
 */
void wh_get_trans_stat_take(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet);
bool wh_get_trans_stat_end(
	struct wh_session *s, uint64_t now_tsc, const struct wh_release *release);
void wh_get_trans_stat(struct wh_session *s, uint64_t now_tsc);
int32_t wh_send_rcv_stat(struct wh_session *s, uint64_t now_tsc);

/* [first, end) is missing: counts the loss and, without repair packets, requests it. (losses.c) */
void wh_rcv_note_loss(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end);

/* Whether the stream has repair packets: losses then wait until repair has been tried. */
static inline bool wh_session_repairs(const struct wh_session *s)
{
	return s->config.repair.recovery != WH_RECOVERY_NAK;
}

/* Requests [first, end) now, and again until it arrives. (losses.c) */
void wh_rcv_ask(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end);

/* Sends an acknowledgement of this packet alone. (send_rcv_stat.c) */
void wh_session_ack(struct wh_session *s, uint64_t now_tsc, uint64_t pn);

/*
 * settle.c, for rcv. _place: whether a packet agrees with what is known of its chunk's code and
 * packet numbers. _begin: the first packet of a chunk has arrived.
 */
bool wh_settle_place(const struct wh_session *s, const struct wh_rx_chunk *entry, uint64_t pn,
	const struct wh_data_fields *data);
void wh_settle_begin(struct wh_session *s, struct wh_rx_chunk *entry, uint64_t pn,
	const struct wh_data_fields *data);

/*
 * Whether the packet is of a chunk that is being decoded, or of one that is delivered but not
 * settled yet.
 */
bool wh_settle_is_decoding(struct wh_session *s, const struct wh_data_fields *data);
bool wh_settle_is_past(struct wh_session *s, const struct wh_packet *packet);

/* Hands the chunk to a worker if its missing packets can be decoded now. */
void wh_settle_try(struct wh_session *s, struct wh_rx_chunk *entry);

/* Settles a complete chunk: none of its other packets is needed. */
void wh_settle_over(struct wh_session *s, const struct wh_rx_chunk *entry);

/*
 * Takes decoded chunks back from the worker. Settles chunks whose packets have all passed, or have
 * been waited for too long.
 */
int32_t wh_settle(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_settle_deadline(const struct wh_session *s);

static inline uint8_t *wh_session_repair(const struct wh_session *s, const struct wh_chunk *chunk)
{
	return chunk->data == NULL ? NULL : chunk->data + s->config.chunk_bytes;
}

/*
 * retransmit.c, for trans and get_rcv_stat: retransmission without NAKs (enum wh_resend).
 *
 *   _due       when a packet sent now must be retransmitted unless it is acknowledged
 *   _count     WH_RESEND_COUNTED: takes a report whose number is `ahead` more than the last one's
 *   _late      WH_RESEND_LATE: queues the packets that the report shows as lost
 *   _look      checks the timers; it must be called again at _deadline
 */
uint32_t wh_retransmit_due(const struct wh_session *s, uint64_t now_tsc);
void wh_retransmit_count(struct wh_session *s, uint64_t ahead, const struct wh_rcv_report *report);
void wh_retransmit_begin(struct wh_session *s);
void wh_retransmit_late(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report);

/* The longest recent time by which a packet was overtaken, as the receiver reports it. */
uint64_t wh_retransmit_overtaken_tsc(const struct wh_session *s);
int32_t wh_retransmit_look(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_retransmit_deadline(const struct wh_session *s);

/*
 * control_interval.c, for send_rcv_stat. _interval: the pause before the next report. _skip: true
 * if this report is skipped, and counted. _count_on: advances the packet number of a type by the
 * intervals since since_tsc.
 */
uint64_t wh_control_interval_tsc(const struct wh_session *s);
bool wh_control_skip(struct wh_session *s, bool news);
void wh_session_count_on(
	struct wh_session *s, uint64_t now_tsc, enum wh_packet_type type, uint64_t since_tsc);

/* Our clock in the unit of the wire format, WH_STAMP_NS. */
static inline uint32_t wh_session_stamp(const struct wh_session *s, uint64_t at_tsc)
{
	return (uint32_t)(wh_tsc_to_ns(s->config.hz, at_tsc) / WH_STAMP_NS);
}

/*
 * delivery.c, with feedback.delivery. Receiver: _begin comes first; _note takes each received
 * packet, whatever its rx slot says; _say fills in a report; _earned tells whether data have paid
 * for a report, and _pace sets the pauses between reports; _short tells whether its buffers limit
 * the flow, and _offer records for that the credit of a report. Transmitter: _possible is false if
 * a report claims more than was sent; _take uses a report, and returns true if it gives an event;
 * _tell passes the event to the controller, once the missing packets are known.
 */
int wh_delivery_init(struct wh_session *s);
void wh_delivery_begin(struct wh_session *s);
void wh_delivery_note(struct wh_session *s, uint64_t arrived_tsc, const struct wh_packet *packet,
	enum wh_rx_slot_kind kind);
void wh_delivery_say(struct wh_session *s, uint64_t now_tsc, struct wh_rcv_report *report);
bool wh_delivery_earned(const struct wh_session *s);
bool wh_delivery_short(const struct wh_session *s);
void wh_delivery_offer(struct wh_session *s, uint64_t now_tsc);
void wh_delivery_pace(struct wh_session *s);
bool wh_delivery_possible(
	const struct wh_session *s, uint8_t flags, const struct wh_rcv_report *report);
bool wh_delivery_take(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report,
	struct wh_delivery_event *event);
void wh_delivery_tell(struct wh_session *s, struct wh_delivery_event *event);

/* When the latest received packet was sent; 0: unknown. */
uint64_t wh_delivery_sent_tsc(
	const struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_report *report);
uint64_t wh_delivery_stamps_tsc(const struct wh_session *s, uint64_t stamps);

/* Packets of the probe before data; 0: none is sent. (boxes.c) */
uint32_t wh_session_train_pkts(const struct wh_session *s);

/* ask.c: takes the wishes of users that were not granted yet, and marks them; false: none. */
struct wh_wishes {
	uint32_t wishes; /* enum wh_session_wish */
	enum wh_release_status sink;
	enum wh_release_status abort;
};
bool wh_session_fresh_wishes(struct wh_session *s, struct wh_wishes *fresh);

/* ask.c: publishes phase and outcome to users. */
void wh_session_publish(struct wh_session *s);
