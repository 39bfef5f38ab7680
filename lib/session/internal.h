/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_INTERNAL_H
#define WH_SESSION_INTERNAL_H

/*
 * A session's state, shared by the files of this room only. The four processes of an end share
 * the home core; a member is written by the process that it stands under, but for these: opening
 * and release start timers and count as progress, and get_rcv_stat sets the pacer's interval.
 * What the other core and users write stands at the end, on cache lines of its own.
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
#include "measure/trend.h"
#include "profile/profile.h"
#include "session/half.h"
#include "session/pacer.h"
#include "session/session.h"
#include "track/recv_table.h"
#include "track/replay.h"
#include "track/sent_table.h"

/* udt.txt names an expiration event without a constant: silence that is worth noticing. */
#define WH_EXP_MIN_MS 300

/*
 * Without news a state still goes out this often, so that silence means something. While there is
 * nothing outstanding and nothing to send, the pause doubles with each, up to the maximum and to
 * a third of the peer timeout.
 */
#define WH_HEARTBEAT_MS     100
#define WH_HEARTBEAT_MAX_MS 2000

/* The transmitter's news is told this often before it waits for a heartbeat: the receiver acts on
 * the second. */
#define WH_STATE_REPEATS 3

/* No progress for this long is noticed as a stall (and for stall_timeout_ns ends it). */
#define WH_STALL_NOTICE_MS 1000

/* No path overtakes by more than this. */
#define WH_YOUNGEST_MS 1000

/* A peer names the period; what it names is not shorter than this here. */
#define WH_PERIOD_US_LEAST 1000

/*
 * A receiver says so many bytes for each that it hears, and saves up no more than this; beyond that
 * only heartbeats are left, so that nobody gets much for little. An honest transmitter brings a
 * whole packet for a range of 8 bytes in a few states.
 */
#define WH_SAY_PER_HEARD   8
#define WH_SAY_BYTES_SAVED (256 << 10)

/*
 * OPEN is repeated after this, twice that, and so on up to the maximum. Soon at first, since the
 * first ones go while the peer's MAC address is still asked for; a listener answers each of them
 * without keeping anything.
 */
#define WH_OPEN_REPEAT_MS     50
#define WH_OPEN_REPEAT_MAX_MS 4000

/* ABORT is said this often, a period apart (a heartbeat at most): nobody acknowledges it. */
#define WH_ABORT_REPEATS 3

/* A reply without DONE is repeated this often each round trip, then less and less often. */
#define WH_REPLY_QUICK_REPEATS 10

/*
 * Rings by the size of the window, each 2^n - 1 elements, which wastes no slot: decoded control
 * packets, encoded ones, and packets admitted and not sent (a few bursts).
 */
#define WH_PKTS_PER_CONTROL 64
#define WH_CONTROL_MIN      8
#define WH_INBOX_MAX        256
#define WH_OUTBOX_MAX       128
#define WH_FRESH_MAX        256

/*
 * Samples whose ACK2 may still come: one in each period of 10 ms of the longest round trip, 2 s and
 * more; the smallest windows have fewer.
 */
#define WH_ACK_HISTORY_MIN 64
#define WH_ACK_HISTORY_MAX 512

/* The load makes a control interval no longer than so many times what it is without. */
#define WH_LOAD_MOST 32

/* Control packets that a state may take per period, so that trans is never flooded. */
#define WH_STATE_PACKETS_MAX 32

/* With feedback.delivery: of the receiver's states so many bytes of data make one byte. */
#define WH_DATA_PER_STATE 100

/* With feedback.delivery no state waits for longer where one is due, unless it was not earned. */
#define WH_DELIVERY_PERIOD_MS 10

/* Nor does the transmitter say nothing for longer than that while data go slowly. */
#define WH_QUIET_MS 1000

/* A chunk being sent, by its slot. */
struct wh_tx_chunk {
	uint32_t packets; /* data and repair */
	uint32_t unacked_pkts;
	struct wh_fec_shape shape; /* of the encoder, before the chunk is ready */
};

/* What the encoder keeps, of the working core that encodes. */
struct wh_encoder {
	struct wh_fec_planner planner;
	uint64_t known_pkts; /* of what the home core told, this much is planned with */
	uint64_t known_lost_pkts;
	uint64_t known_events;
};

/* Packets of a probe before data, at most, and what fits into a box beside them. */
#define WH_PROBE_TRAIN_MAX 15
#define WH_BESIDE_TRAIN    3

static_assert(WH_CONTROL_MIN - 1 >= WH_BESIDE_TRAIN + 2, "the smallest box has room for a pair");

struct wh_probing {
	bool waits;                           /* for the answers of the latest train */
	uint16_t train;                       /* its number, first 1; it wraps */
	uint32_t returned;                    /* bit i: its packet i was answered, ... */
	uint64_t came_ns[WH_PROBE_TRAIN_MAX]; /* ... and had come then, by one of the two clocks */
	uint64_t sent_tsc;
	uint64_t latest_tsc; /* of the answers */
	uint64_t due_tsc;    /* when the next train goes, or what came must do */
};

/* How much later than those behind it a packet may come, and what is done about the last ones. */
struct wh_late {
	uint64_t window_tsc;
	uint64_t patience_tsc; /* with the last packets, the first time */
	uint64_t seen_tsc
		[2]; /* that one was overtaken by, at most: in this span and the one before */
	uint64_t span_ends_tsc;
	uint32_t probes;   /* in a row that nothing came of */
	bool probe_waits;  /* the first in `again` goes without a token */
	uint64_t seen_end; /* when the timer was set */
};

/* What a receiver has told of our packets; delivery.c. Clocks wrap, sums of their steps do not. */
struct wh_delivery {
	uint64_t delivered_pkts;
	uint64_t seen_pkts;
	uint64_t arrived_stamps; /* the latest's, by the receiver's clock */
	int64_t delay_stamps;    /* its delay */
	uint32_t arrived;        /* as told */
	uint32_t delay;
	uint32_t again_pkts;
	bool begun;
	bool delayed;
	/*
	 * The skew of the clocks lengthens one way and shortens the other: so much of it is
	 * believed as shows in both.
	 */
	struct wh_skew there;
	struct wh_skew back;
	double least_tsc; /* the least delay, without it */
	uint64_t least_at_tsc;
	int64_t least_raw_tsc;
};

struct wh_transmitter {
	struct wh_fifo free;   /* chunks: get_rcv_stat -> reader */
	struct wh_fifo filled; /* chunks: reader -> encoder; only with repair packets */
	struct wh_fifo ready;  /* chunks: reader or encoder -> host_trans */
	struct wh_fifo fresh;  /* serials: host_trans -> trans */
	struct wh_fifo again;  /* serials: get_rcv_stat -> trans; each at most once in it */
	struct wh_sent_table table;
	struct wh_tx_chunk *tx_chunk; /* host_trans fills in, get_rcv_stat counts down */

	struct wh_encoder encoder;
	/* get_rcv_stat -> encoder */
	_Atomic uint64_t told_pkts;
	_Atomic uint64_t told_lost_pkts;
	_Atomic uint64_t told_events;
	_Atomic uint64_t told_flight_pkts; /* of a round trip; with feedback.delivery */

	/* host_trans */
	struct wh_chunk *open_chunk;
	uint32_t open_index;
	bool end_seen; /* the stream's end: chunks, total_bytes and digest are final */
	uint64_t chunks;
	uint64_t total_bytes;
	struct wh_digest digest;
	uint32_t chunks_out; /* begun and not acknowledged: get_rcv_stat counts them down */
	enum wh_limit admission_limit; /* why the last packet was not admitted */
	bool admission_held_up;        /* not by the controller */

	struct wh_probing probe; /* prelude.c */

	/* trans */
	struct wh_pacer pacer;
	uint64_t *sent_tsc; /* by serial, modulo the window; 0: it went again. Or NULL */
	uint32_t control_charged_bytes; /* since data went, or none waited */
	uint64_t sent_end;              /* one past the largest serial sent */
	uint64_t transmission;
	uint64_t stamp_tsc; /* of the turn that stamp is for */
	uint32_t stamp;
	uint32_t stamp_us; /* with WH_RESEND_LATE */
	bool held_up;   /* since the last event of delivery, by other things than the controller */
	bool pair_open; /* first of a pair is out, the second is to follow at once */
	bool paused;    /* when it was its turn last there was nothing that might go */
	uint64_t limit_since_tsc;
	enum wh_limit limit_now;
	enum wh_limit pace_limit; /* what a packet waits for that is not due yet */

	/* get_rcv_stat */
	struct wh_control control;
	struct wh_decision decision;
	uint64_t next_tick_tsc;
	uint64_t next_state_serial; /* older states are dropped */
	uint64_t state_tsc;
	uint32_t states_counted; /* by differences of their serials; wraps */
	uint64_t next_look_tsc;  /* at timers */
	struct wh_late late;     /* again.c, with WH_RESEND_LATE */
	uint64_t next_warning_serial;
	uint64_t warning_tsc;
	struct wh_bitmap_loss bitmap_loss;
	struct wh_delivery *delivery; /* where the profile has feedback.delivery; or NULL */
	uint64_t nak_end;             /* one past the highest NAK seen ... */
	uint64_t nak_tsc;             /* ... which came then, ... */
	uint64_t naks_before;         /* ... and bit i: nak_end - 1 - i was seen */
	uint64_t peer_upper;          /* credits: first serial and first chunk without room */
	uint64_t peer_chunk_upper;
	uint32_t peer_chunks;    /* that it has room for at once */
	bool peer_writer_behind; /* its queue of whole chunks holds most of its buffers */
	bool state_seen;
	uint64_t
		acked_end; /* one past the highest that the state now taken acknowledges; 0: none */
	uint64_t acked_pkts;
	uint64_t progress_tsc;
	bool idle;               /* nothing outstanding, nothing to send, and the end is to come */
	uint64_t busy_since_tsc; /* since then the peer has had a reason to speak */
	uint64_t all_acked_tsc;  /* of the first reply that found it so; 0: not yet */
	uint64_t next_exp_tsc;
	bool peer_silent;
	bool stalled;

	/* send_trans_stat */
	uint64_t next_trans_state_tsc;
	uint64_t last_trans_state_tsc;
	uint32_t same_states; /* in a row without news */
	uint64_t told_lower;
	uint64_t told_upper;
	uint64_t told_transmission;
	bool told_queued;
};

/* With feedback.delivery: what the next state says of the packets that came; delivery.c. */
struct wh_arrivals {
	uint64_t delivered_pkts;
	uint64_t seen_end;
	uint64_t latest_tsc; /* when the one with the highest transmission came ... */
	uint32_t stamp;      /* ... and what it said */
	uint32_t delay;      /* of the one before, wrapping: clock less stamp */
	uint64_t pause_tsc;  /* not to have looked for so long */
	uint32_t again_pkts;
	bool cut;              /* there are more holes than one state says */
	uint64_t round_cursor; /* where those that go round go on */
	uint64_t told_end[2];  /* highest ends in the state before and the one before that */
	/* Since the state before. */
	uint64_t last_tsc;
	uint64_t taken_tsc; /* the latest, out of the port */
	uint64_t span_tsc;  /* from one to the next, without pauses of ours ... */
	uint32_t span_pkts; /* ... and how many came in it */
	uint32_t pkts;
	uint32_t least_delay;
	uint32_t late;
	/* From one state to the next, and to one that is not earned. */
	uint64_t interval_tsc;
	uint64_t patience_tsc;
	int64_t credit_bytes; /* of data, that states have not used up; before these packets */
	/* Of the latest burst: a conversion is dearer than all the rest. */
	uint64_t clock_tsc;
	uint32_t clock;
};

/* A chunk being received; live chunk numbers differ modulo the count of buffers. */
struct wh_rx_chunk {
	struct wh_chunk *buffer; /* NULL: no packet of it yet */
	uint32_t k;
	uint32_t have;
	uint32_t last_bytes; /* of the packet k - 1, once it is here */
	bool whole;

	/* With repair packets; see settle.c. */
	struct wh_fec_shape shape;
	uint32_t last_bytes_told; /* by any packet */
	uint32_t have_repair;
	uint64_t have_bytes; /* of its data */
	bool decoding;       /* with a working core: its memory and bits are not ours */
	bool asked;          /* its losses have been settled: what still misses is asked for */
};

/* Where a chunk's packets lie in the order, known from any of them; by number. */
struct wh_span {
	uint64_t number_end; /* chunk number + 1; 0: none */
	uint64_t first;
	uint64_t end;
};

/* A period's first state, and when it went; 0: its ACK2 has been taken. */
struct wh_ack_sample {
	uint64_t serial;
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
	struct wh_chunk **spare; /* host_rcv puts, rcv takes: same core */
	uint32_t spares;

	/* settle.c: chunks in order, losses of which are settled one after the other */
	struct wh_fifo decode;  /* chunk numbers: rcv, settle -> decoder */
	struct wh_fifo decoded; /* back */
	struct wh_span *span;   /* spans of them, by number */
	uint32_t spans;
	uint64_t settle_chunk;  /* the first that is not settled ... */
	uint64_t settle_serial; /* ... and up to where losses are */
	uint64_t newest_chunk;  /* one past the highest seen */

	/* rcv, get_trans_stat: found since the last immediate NAK */
	struct wh_loss_range fresh_loss[WH_RANGES_MAX];
	uint32_t fresh_losses;

	/* rcv */
	uint64_t step; /* counts turns and tickets used up: no ticket is of two steps */
	struct wh_arrival arrival;
	struct wh_pair pair;
	struct wh_arrived_bitmap arrived_bitmap; /* where the profile has bitmaps */
	struct wh_bitmap_loss bitmap_loss;
	struct wh_arrivals arrivals;
	uint64_t pair_first_serial;
	uint64_t pair_first_tsc;
	uint64_t arrived_since_period; /* packets, for the NAK timer's mean interval */

	/* host_rcv */
	uint64_t next_deliver; /* chunk number */
	uint64_t recycled_count;
	bool end_delivered;
	struct wh_chunk end_marker;

	/* send_rcv_stat */
	uint64_t next_state_tsc;
	uint64_t next_nak_tsc;
	uint64_t last_state_tsc;
	uint64_t period_began_tsc;
	uint64_t cover_cursor;
	struct wh_ack_sample *ack_sample; /* states whose ACK2 is a sample of the round trip */
	uint32_t ack_history;             /* the latest so many of them are known */
	uint64_t ack_samples;             /* ever */
	uint32_t unearned_states;         /* in a row, of those beyond may_say_bytes */
	bool at_rest;                     /* nothing to tell but that we live */
	uint32_t rest_states;             /* in a row told at rest */
	uint64_t news_serial;             /* of the state that told the latest news first */
	uint64_t told_trans_serial;
	uint64_t told_lower;
	uint64_t told_highest_end;
	uint64_t waiting_pkts; /* at this end, and not taken yet */
	uint32_t skips_left;   /* states */
	uint32_t quiet_states; /* in a row without news, as far as that matters */
	uint64_t sampled_tsc;  /* the last state that is a sample of the round trip */
	uint64_t told_recycled;
	uint64_t told_received_pkts;
	uint64_t mean_arrival_tsc;

	/* get_trans_stat */
	uint32_t probes_heard;
	uint64_t next_trans_serial;
	uint64_t trans_state_tsc;
	uint64_t previous_trans_upper;
	uint32_t peer_queued_pkts;
	uint32_t skew_base_us; /* the first one-way delay */
	uint64_t acked_end;    /* one past the latest state that the transmitter is known to know */
	uint64_t progress_tsc;
	struct wh_trend trend;
	struct wh_skew *skew; /* where the trend is that of one-way delays; else NULL */
	uint64_t next_warning_tsc;
	bool total_known; /* from the release request */
	uint64_t chunks;
	uint64_t total_bytes;
	struct wh_digest digest;
};

struct wh_session {
	struct wh_session_config config;
	struct wh_feedback feedback; /* of the profile with these options */
	enum wh_role role;
	enum wh_phase phase;
	enum wh_release_status outcome;
	uint32_t local_lci;   /* 0 until it has a place */
	uint32_t peer_lci;    /* 0 until ACCEPT */
	uint64_t local_token; /* which the peer was told, for what it closes to us */
	struct wh_address peer;
	struct wh_open_params params;
	uint32_t chunk_packets; /* of a full chunk */
	struct wh_meter *meter; /* of the home core */
	void *context;

	/* Each is begun before anything goes its way. */
	struct wh_seal send_seal;    /* home core */
	struct wh_seal receive_seal; /* RX core */

	/* open/sealing.c, with a bond */
	struct wh_bond *bond; /* NULL: none */
	uint8_t *keys;        /* of both seals, and the window of data */
	_Atomic bool sealed;  /* the seals have begun */
	/* RX core: numbers of proved packets that have come; data's is of transmissions. */
	struct wh_replay heard[WH_PACKET_TYPES];
	uint64_t heard_bits[WH_PACKET_TYPES];

	struct wh_slot_fifo inbox;  /* decoded control packets */
	struct wh_slot_fifo outbox; /* encoded control packets, for trans */
	uint64_t control_serial[WH_PACKET_TYPES];
	int64_t may_say_bytes; /* receiver: of what WH_SAY_PER_HEARD allows, this is left */
	bool outbox_news;      /* something was put there since the endpoint looked last */

	uint64_t period_tsc;
	uint64_t peer_timeout_tsc;
	uint64_t last_heard_tsc;
	uint64_t looked_tsc; /* what comes now came after that; 0: it is not known */
	struct wh_rtt rtt;

	/* handshake.c */
	uint64_t next_open_tsc;
	uint64_t open_repeat_tsc;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint64_t opened_tsc;
	uint64_t accepted_tsc;
	uint64_t answered_tsc; /* the latest ACCEPT, also to an OPEN that was repeated */
	bool offered;          /* CONFIRM is of an offer */
	bool anew;             /* it opens once more, from another place and with other keys */

	/* release.c */
	uint64_t next_release_tsc;
	uint32_t release_repeats;
	bool abort_pending;
	uint8_t last_word; /* DONE or ABORT, once that is said; 0: it is not */

	/* ask.c */
	uint32_t granted; /* of `wishes` */
	bool closing;     /* the users have let go */

	/* endpoint.c */
	struct wh_session *next; /* of those on their way out */
	uint64_t gone_turn;      /* of the other half: then it has let go, too */

	struct wh_chunk *chunk; /* config.chunks of them */
	struct wh_session_stats stats;
	union {
		struct wh_transmitter tx;
		struct wh_receiver rx;
	};

	/* The other core's counters. */
	_Alignas(64) struct wh_session_stats away;

	/* Between the home core and users; see ask.c. */
	_Alignas(64) _Atomic uint32_t wishes;  /* enum wh_session_wish, and the statuses */
	_Atomic uint32_t news;                 /* phase, and the outcome above it */
	_Atomic uint32_t peer_versions;        /* least, and the most above it; 0: not told */
	_Atomic uint64_t wanted_bps;           /* transmitter: the rate that users want ... */
	_Atomic uint64_t rate_bps;             /* ... and that it has */
	_Atomic uint32_t option_wishes;        /* transmitter: how often users wanted ... */
	uint32_t options_followed;             /* ... (home: of these it has seen) ... */
	_Atomic double option[WH_OPTIONS_MAX]; /* ... other values of the profile's options */
	_Atomic(struct wh_half *) half;        /* of home; NULL: not known yet */
	_Atomic uint32_t place;
};

/* One core writes a counter and any may read it: no atomic addition, but no torn value either. */
static inline void wh_session_add(uint64_t *counter, uint64_t count)
{
	__atomic_store_n(counter, *counter + count, __ATOMIC_RELAXED);
}

static inline void wh_session_count(uint64_t *counter)
{
	wh_session_add(counter, 1);
}

/* Of an admitted packet: a chunk's last may be short, anywhere in the stream. */
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

/* session.c */

/* Our LCI and token are known, or the peer's: so is the seal of what is addressed to them. */
void wh_session_begin_receive_seal(struct wh_session *s, uint64_t local_token);
void wh_session_begin_send_seal(struct wh_session *s, uint64_t peer_token);

/*
 * open/sealing.c. The session holds the bond, and has memory for keys and windows: 0 or -ENOMEM.
 * Both lci, the parameters and the cookie are known: so are its keys; false: no memory. A packet to
 * a listener is addressed to the bond.
 */
int wh_sealing_alloc(struct wh_session *s, struct wh_bond *bond);
bool wh_sealing_begin(struct wh_session *s, const uint8_t cookie[WH_COOKIE_BYTES]);

/* What ACCEPT is about is known: so is its key, which costs as much as the rest of opening it. */
void wh_sealing_expect(struct wh_session *s, uint64_t about);
const struct wh_gcm_raw *wh_sealing_accept_key(const struct wh_session *s);
void wh_sealing_end(struct wh_session *s);

/* No core looks at it: no keys, empty windows, and another bond if one took its bond's place. */
void wh_sealing_renew(struct wh_session *s, struct wh_bonds *bonds);
void wh_sealing_address(struct wh_session *s, struct wh_packet *packet);

/* RX core: whether what is addressed to it may be opened by now. */
static inline bool wh_sealing_is_ready(const struct wh_session *s)
{
	return s->bond == NULL || atomic_load_explicit(&s->sealed, memory_order_acquire);
}

/* RX core, of a packet that was opened: the first time, or nobody can tell. Else it is counted. */
bool wh_session_is_first(struct wh_session *s, const struct wh_packet *packet);

void wh_session_bad(struct wh_session *s, uint64_t *reason);

/* The pause before a heartbeat, so many doublings after the first. */
uint64_t wh_session_heartbeat_tsc(const struct wh_session *s, uint32_t doublings);

/* How long a living peer may be silent: one state without news (two round trips) got lost. */
uint64_t wh_session_exp_tsc(const struct wh_session *s);
void wh_session_settle(struct wh_session *s, uint64_t now_tsc, enum wh_release_status outcome);
uint64_t wh_session_ms_tsc(const struct wh_session *s, uint64_t span_ms);

/* Encodes a control packet of `type` into the outbox; the caller has filled in its union. */
void wh_session_push_control(
	struct wh_session *s, uint64_t now_tsc, enum wh_packet_type type, struct wh_packet *packet);

static inline uint32_t wh_session_now_us(const struct wh_session *s, uint64_t now_tsc)
{
	return (uint32_t)wh_tsc_to_us(s->config.hz, now_tsc);
}

/* Whether the peer has been heard enough for one more packet that is no answer. */
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
 * Whether a control packet is younger than all of its type: *next is one past the youngest, which
 * came at *at_tsc. That counts for WH_YOUNGEST_MS and no longer, so that one with a serial that was
 * never said does not silence those that are true; a seal that encrypts proves serials, and there
 * the youngest is so for ever. (session.c)
 */
bool wh_session_is_younger(
	struct wh_session *s, uint64_t now_tsc, uint64_t serial, uint64_t *next, uint64_t *at_tsc);

/* The eight processes, and the two that open and end. */
int32_t wh_host_trans(struct wh_session *s, uint64_t now_tsc);
uint32_t wh_trans(struct wh_session *s, uint64_t now_tsc, struct wh_out *out, uint32_t count);

/* The controller decides, and the pacer goes by it; a freeze is the caller's. (get_rcv_stat.c) */
void wh_session_decide(struct wh_session *s);

/* What sets the pace, by the last decision of the controller. */
enum wh_limit wh_session_pace_limit(const struct wh_session *s);
int32_t wh_get_rcv_stat(struct wh_session *s, uint64_t now_tsc);
int32_t wh_send_trans_stat(struct wh_session *s, uint64_t now_tsc);

int32_t wh_host_rcv(struct wh_session *s, uint64_t now_tsc);
int32_t wh_get_trans_stat(struct wh_session *s, uint64_t now_tsc);
int32_t wh_send_rcv_stat(struct wh_session *s, uint64_t now_tsc);

/* [first, end) is missing: enters the loss list and waits for the immediate NAK. (rcv.c) */
void wh_rcv_note_loss(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end);

/* Whether its packets may be repair packets, and losses wait until they have had their chance. */
static inline bool wh_session_repairs(const struct wh_session *s)
{
	return s->config.repair.recovery != WH_RECOVERY_NAK;
}

/* [first, end) is asked for now, and again and again until it comes. (rcv.c) */
void wh_rcv_ask(struct wh_session *s, uint64_t now_tsc, uint64_t first, uint64_t end);

/* A new serial has come. (rcv.c) */
void wh_rcv_enter(struct wh_session *s, uint64_t now_tsc, uint64_t serial);

/* This packet alone is acknowledged. (send_rcv_stat.c) */
void wh_session_ack(struct wh_session *s, uint64_t now_tsc, uint64_t serial);

/*
 * settle.c, for rcv. A packet agrees with what is known of its chunk's code and place; the first of
 * a chunk has come.
 */
bool wh_settle_place(const struct wh_session *s, const struct wh_rx_chunk *entry, uint64_t serial,
	const struct wh_data_fields *data);
void wh_settle_begin(struct wh_session *s, struct wh_rx_chunk *entry, uint64_t serial,
	const struct wh_data_fields *data);

/* Of a chunk that is being worked on; of one that is delivered, and not settled yet. */
bool wh_settle_is_decoding(struct wh_session *s, const struct wh_data_fields *data);
bool wh_settle_is_past(struct wh_session *s, const struct wh_packet *packet);

/* What misses of a chunk may be worked out by now: off to a working core. */
void wh_settle_try(struct wh_session *s, struct wh_rx_chunk *entry);

/* A settled chunk is whole: its other packets are not wanted any more. */
void wh_settle_over(struct wh_session *s, const struct wh_rx_chunk *entry);

/* Takes what was decoded, settles what is past or overdue. */
int32_t wh_settle(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_settle_deadline(const struct wh_session *s);

static inline uint8_t *wh_session_repair(const struct wh_session *s, const struct wh_chunk *chunk)
{
	return chunk->data == NULL ? NULL : chunk->data + s->config.chunk_bytes;
}

/*
 * again.c, for trans and get_rcv_stat, where nobody asks for packets: when one that goes now is due
 * again; `ahead` states have passed with this one; a state says what misses and what came last;
 * timers are looked at, and when next.
 */
uint32_t wh_again_due(const struct wh_session *s, uint64_t now_tsc);
void wh_again_count(struct wh_session *s, uint64_t ahead, const struct wh_rcv_state *state);
void wh_again_begin(struct wh_session *s);
void wh_again_late(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_state *state);
int32_t wh_again_look(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_again_deadline(const struct wh_session *s);

/*
 * control_interval.c, for send_rcv_stat. From one state to the next; whether this one is skipped,
 * and counted; and what a pause since then counts before the next one of a type.
 */
uint64_t wh_control_interval_tsc(const struct wh_session *s);
bool wh_control_skip(struct wh_session *s, bool news);
void wh_session_count_on(
	struct wh_session *s, uint64_t now_tsc, enum wh_packet_type type, uint64_t since_tsc);

/* Our clock as packets say it. */
static inline uint32_t wh_session_stamp(const struct wh_session *s, uint64_t at_tsc)
{
	return (uint32_t)(wh_tsc_to_ns(s->config.hz, at_tsc) / WH_STAMP_NS);
}

/*
 * delivery.c, with feedback.delivery. Receiver: the round trip is known; a packet has come,
 * whatever becomes of it; what a state says of those before it; whether so much has come that the
 * next may go, and when. Transmitter: what a state says; false: nobody can have received so much.
 */
int wh_delivery_init(struct wh_session *s);
void wh_delivery_begin(struct wh_session *s);
void wh_delivery_note(struct wh_session *s, uint64_t arrived_tsc, const struct wh_packet *packet,
	enum wh_ticket_kind kind);
void wh_delivery_say(struct wh_session *s, uint64_t now_tsc, struct wh_rcv_state *state);
bool wh_delivery_earned(const struct wh_session *s);
void wh_delivery_pace(struct wh_session *s);
bool wh_delivery_possible(
	const struct wh_session *s, uint8_t flags, const struct wh_rcv_state *state);
void wh_delivery_take(struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_state *state);

/* When the latest packet that came was sent; 0: not known. */
uint64_t wh_delivery_sent_tsc(
	const struct wh_session *s, uint64_t now_tsc, const struct wh_rcv_state *state);
uint64_t wh_delivery_stamps_tsc(const struct wh_session *s, uint64_t stamps);

/* There is no place for it. */
void wh_handshake_refuse(struct wh_session *s, uint64_t now_tsc);

/* Packets of its probe; 0: it has none. (session.c) */
uint32_t wh_session_train_pkts(const struct wh_session *s);

/* prelude.c: the transmitter's part, and the receiver's answer. */
void wh_prelude_begin(struct wh_session *s, uint64_t now_tsc);
int32_t wh_prelude_poll(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_prelude_deadline(const struct wh_session *s);

/* open/doubt.c: whether the process that it is with is still there; when that is to be seen to. */
void wh_doubt_poll(struct wh_session *s, uint64_t now_tsc);
uint64_t wh_doubt_deadline(const struct wh_session *s);
bool wh_session_is_doubted(const struct wh_session *s);
void wh_prelude_answered(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet);
void wh_prelude_answer(struct wh_session *s, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet);

int32_t wh_handshake_poll(struct wh_session *s, uint64_t now_tsc);
void wh_handshake_accepted(struct wh_session *s, uint64_t now_tsc, const struct wh_accept *accept);

int32_t wh_release_poll(struct wh_session *s, uint64_t now_tsc);
void wh_release_input(struct wh_session *s, uint64_t now_tsc, const struct wh_release *release);

/* What users asked for and was not granted yet; telling them the news. (ask.c) */
int32_t wh_session_grant(struct wh_session *s, uint64_t now_tsc);
void wh_session_publish(struct wh_session *s);

#endif
