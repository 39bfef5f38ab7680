/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One connection, as seen by one of its ends: packets and time go in, packets and the next
 * deadline come out. No clock, socket, thread; no allocation after create.
 *
 * The transmitter's four tasks and the receiver's four (periodic-exchange.txt, Fig. 3) are
 * eight files of their names:
 *
 *   chunks ->  host_trans -> trans -> packets      packets -> rcv -> host_rcv -> chunks
 *              get_rcv_stat  send_trans_stat       get_trans_stat  send_rcv_stat
 *
 * Three parties call these functions; all three may be on one core:
 *
 *   owner core  runs the end's four tasks, one after the other. A transmitter's owner core is the
 *               one that sends, a receiver's the one that receives. Every function below is for
 *               the owner core unless its comment says otherwise.
 *   other core  handles the other direction: it brings a transmitter's control packets and takes
 *               a receiver's, by one FIFO each.
 *   users       jobs and file I/O, on any core and in any number, until one of them has asked to
 *               close. They may use the chunk FIFOs, wh_session_ask, kick, news, context, stats,
 *               moved_bytes, limit_now, tell_reader, stalled, rtt_tsc, and what never changes:
 *               peer and params, except for the connection ID in params.
 *
 * lib/endpoint opens, drives and ends a session (lifecycle.h). It tells when no other core can
 * hold a pointer to the session any more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"
#include "fec/planner.h"
#include "profile/profile.h"
#include "seal/sa.h"
#include "seal/seal.h"
#include "wire/encap.h"
#include "wire/packet.h"

/* The most that peer_timeout_ns may be. */
#define WH_PEER_TIMEOUT_MAX_S 3600

/* Stall timeouts granted to a disk that is busy with a sync or with queued data. */
#define WH_DISK_PATIENCE 60

enum wh_role {
	WH_TRANSMITTER,
	WH_RECEIVER,
};

enum wh_phase {
	WH_PHASE_OPENING, /* transmitter: OPEN has been sent */
	WH_PHASE_RUNNING,
	WH_PHASE_RELEASING, /* the outcome is known here, but not yet to the peer */
	WH_PHASE_CLOSED,
};

/* Repair packets of a transmitter's stream. Receivers use recovery and repair_pkts only. */
struct wh_repair_config {
	enum wh_recovery recovery;
	uint32_t repair_pkts; /* most per chunk; chunk memory includes them */
	enum wh_fec_code code;
	/*
	 * Fixed repair: fixed_r packets per block of fixed_k data packets; 0: the planner decides.
	 */
	uint32_t fixed_k;
	uint32_t fixed_r;
	struct wh_fec_planner_config planner;
};

/*
 * Sets recovery, code and planner to those of the profile. The caller provides the memory for
 * repair packets, and therefore sets repair_pkts and the planner's r_max. A stream without repair
 * packets has recovery NAK.
 */
void wh_repair_config_init(struct wh_repair_config *repair, const struct wh_profile *profile);

struct wh_shared_rate;

struct wh_session_config {
	uint64_t hz;
	const struct wh_profile *profile;
	uint32_t payload_bytes; /* of a full data packet */
	uint32_t packet_bytes;  /* a full packet at the IP layer: the papers' MTU */
	uint32_t wire_bytes;    /* a full packet on the wire, with Ethernet overhead */
	uint32_t chunk_bytes;
	uint32_t chunks;       /* buffers of this end */
	uint8_t *chunk_memory; /* chunks * wh_session_chunk_stride(), aligned to WH_CHUNK_ALIGN */
	struct wh_repair_config repair;
	/*
	 * For simulators, at both ends: payload has a length but no bytes. chunk_memory and each
	 * chunk's data are NULL; packets are those of wh_packet_decode_virtual.
	 */
	bool payload_virtual;
	/*
	 * Payloads of at least this length are sent from where they are. Shorter ones are copied
	 * behind their heads, which have room: the port would copy them anyway. 0: none is copied.
	 */
	uint32_t attach_bytes;
	uint32_t window_pkts; /* a power of two, WH_WINDOW_PACKETS_MIN or more */
	uint64_t rate_bps;    /* see struct wh_control_config */
	/*
	 * A rate shared with other sessions; it must outlive them all. NULL: no bound. A receiver
	 * enforces it on its peer by the packet numbers that it grants.
	 */
	struct wh_shared_rate *shared_rate;
	uint32_t burst_pkts;        /* of the pacer */
	uint64_t line_bps;          /* of this host's line; 0: unknown */
	struct wh_known_path known; /* a transmitter's: passed to its controller */
	/*
	 * A transmitter's own options; a receiver gets its peer's in OPEN. A bitmap profile's
	 * initial loss takes precedence over the planner's.
	 */
	struct wh_profile_options options;
	uint64_t initial_rtt_ns;   /* until measured */
	uint64_t peer_timeout_ns;  /* silence after which the peer counts as gone */
	uint64_t stall_timeout_ns; /* no progress for this long ends the connection */
	uint64_t seed;             /* for the first packet number */
	bool awaits_reply;         /* transmitter: under an SA its peer may reply without OPEN */
	/*
	 * Transmitters only: the SA shared with the peer. All packets are sealed, and the session
	 * holds a reference. A receiver gets the SA that OPEN named. NULL: packets have checksums
	 * only.
	 */
	struct wh_sa *sa;
	/*
	 * The peer is a client, whose address may change; the session follows it if it is sealed
	 * (lib/endpoint/moves.h).
	 */
	bool peer_moves;
	/*
	 * Bookkeeping runs on another core than the one that takes packets (apart/landing.h): of
	 * receivers of streams without repair packets. Others ignore it.
	 */
	bool books_apart;
};

/* Sets: no SA, timeouts of 30 s, 100 ms of RTT. The caller fills in the rest. */
void wh_session_config_init(struct wh_session_config *config);

/* Sets the profile and the papers' values of its options. */
void wh_session_config_profile(struct wh_session_config *config, const struct wh_profile *profile);

struct wh_session_stats {
	uint64_t sent_pkts; /* data, including retransmissions */
	uint64_t retransmitted_pkts;
	uint64_t acked_bytes;    /* payload, acknowledged by the peer */
	uint64_t received_pkts;  /* data, new */
	uint64_t received_bytes; /* payload, new; includes repaired packets */
	uint64_t duplicate_pkts;
	uint64_t replayed_pkts; /* authenticated packets received before: dropped */
	uint64_t spurious_pkts; /* retransmitted although received, as far as known */
	uint64_t control_sent_pkts;
	uint64_t control_received_pkts;
	uint64_t control_stale_pkts;  /* overtaken by a newer one: dropped */
	uint64_t control_full_pkts;   /* no room in a FIFO: dropped */
	uint64_t notes_full_pkts;     /* data, which the bookkeeping had no room for: dropped */
	uint64_t bad_pkts;            /* contradict the connection: dropped, reasons below */
	uint64_t bad_window_pkts;     /* of these: packet number or chunk beyond the credits */
	uint64_t bad_place_pkts;      /* of these: chunk, index, k or length is inconsistent */
	uint64_t bad_unexpected_pkts; /* of these: a type that this end does not accept */
	uint64_t losses_detected_pkts;
	uint64_t loss_events;        /* runs of consecutive losses */
	uint64_t repair_pkts;        /* sent or received */
	uint64_t repaired_pkts;      /* data recovered by repair packets, here or at the peer */
	uint64_t undecodable_blocks; /* too few repair packets to decode */
	uint64_t naks;               /* sent or received */
	uint64_t delay_warnings;     /* sent or received */
	uint64_t exp_events;         /* the peer was silent for longer than expected */
	uint64_t stalls;
	uint64_t narrowings;           /* the path seemed to have become narrower: transmitter */
	uint64_t limit_tsc[WH_LIMITS]; /* time of each limit; not while nothing was to be sent */
	/* Moments, which do not add up, are behind all that does. */
	uint64_t first_sent_tsc; /* first data packet; 0: none yet */
	uint64_t outcome_tsc;    /* when the outcome became known here */
};

/* Payload packets received more than once, duplicated by the sender, the network or an attacker. */
static inline uint64_t wh_session_retransmitted_in_pkts(const struct wh_session_stats *stats)
{
	return stats->duplicate_pkts + stats->replayed_pkts;
}

struct wh_session; /* session_internal.h */

/*
 * FIFOs to readers and writers: a transmitter has free and ready, a receiver deliver and recycled.
 * After a push into ready or recycled, kick the session. Any chunk may be shorter than chunk_bytes.
 * The receiver delivers chunks of the lengths that were sent.
 */
struct wh_fifo *wh_session_free_chunks(struct wh_session *session);
struct wh_fifo *wh_session_ready_chunks(struct wh_session *session);
struct wh_fifo *wh_session_deliver_chunks(struct wh_session *session);
struct wh_fifo *wh_session_recycled_chunks(struct wh_session *session);

/* How a session classifies a data or repair packet, provided that its head is genuine. */
enum wh_rx_slot_kind {
	WH_RX_SLOT_FITS,        /* new and expected */
	WH_RX_SLOT_DUPLICATE,   /* received before, or not needed any more */
	WH_RX_SLOT_PAST,        /* of a chunk that was repaired and delivered without it */
	WH_RX_SLOT_BEYOND,      /* packet number or chunk beyond the credits */
	WH_RX_SLOT_CONTRADICTS, /* chunk, index, k or length is inconsistent */
	WH_RX_SLOT_UNEXPECTED,  /* this end accepts no payload */
};

struct wh_rx_slot {
	struct wh_session *session;
	const struct wh_packet *packet; /* the caller's, unchanged until the rx slot is used */
	uint8_t *to;                    /* destination of the payload; NULL: none */
	struct wh_rx_chunk *entry;
	uint64_t step; /* of the session, which must not change meanwhile */
	enum wh_rx_slot_kind kind;
};

/*
 * RX core: finds what a data or repair packet is and where its payload belongs, from a head that is
 * not authenticated yet; changes nothing but *rx_slot. The caller writes the payload to rx_slot->to
 * while it authenticates the packet: wrong bytes there do no harm. Only if that succeeds it calls
 * wh_session_take. Between the two calls the session must not be polled or given other packets:
 * asserted.
 */
void wh_session_place(
	struct wh_session *session, const struct wh_packet *packet, struct wh_rx_slot *rx_slot);
void wh_session_take(struct wh_rx_slot *rx_slot, uint64_t now_tsc, uint64_t arrived_tsc);

/*
 * Most chunks that are encoded and not begun. Encoding further ahead would plan repair by an older
 * loss rate.
 */
#define WH_ENCODED_AHEAD 4

/*
 * Workers call these for a session with repair packets, each with its own tables, whose limits are
 * at least wh_session_fec_limits. _encode makes the repair packets of a chunk that the reader has
 * filled; _decode recovers the missing packets of a received chunk. 0: there was nothing to do.
 */
int32_t wh_session_encode(struct wh_session *session, struct wh_fec *fec);
int32_t wh_session_decode(struct wh_session *session, struct wh_fec *fec);
struct wh_fec_limits wh_session_fec_limits(const struct wh_session_config *config);

/* Bytes of memory per chunk with its repair packets. */
uint64_t wh_session_chunk_stride(const struct wh_session_config *config);

/*
 * RX core: the port was empty at looked_tsc, so packets given to the session from now on arrived
 * later than that. After a pause this host reads a whole backlog at once. Without this call the
 * backlog would seem to have arrived just now.
 */
void wh_session_looked(struct wh_session *session, uint64_t looked_tsc);

/*
 * RX core: number of packets for this session that have arrived and not been processed. If the
 * profile says so, the receiver sends reports less often meanwhile.
 */
void wh_session_note_waiting(struct wh_session *session, uint64_t pkts);

/*
 * A packet to send: head_bytes at head, then payload_bytes at payload (0 for control), valid until
 * the session is polled again. Virtual payload is NULL. A payload that was copied (attach_bytes) or
 * sealed is at head + head_bytes.
 */
struct wh_out {
	/* The caller's, with room for WH_CONTROL_BYTES_MAX, and for a payload to copy or seal. */
	uint8_t *head;
	uint32_t head_bytes;
	const uint8_t *payload;
	uint32_t payload_bytes;
	const struct wh_address *to;
	bool cut; /* the path may have become narrower: IPv6 had better be cut here (RFC 8200, 5) */
};

/* Ends the session now and tells the peer. Statuses from WH_STATUS_MISMATCH on. */
void wh_session_abort(struct wh_session *session, uint64_t now_tsc, enum wh_release_status status);

/* Receiver: the writer has finished, or failed. */
void wh_session_sink_done(
	struct wh_session *session, uint64_t now_tsc, enum wh_release_status status);

enum wh_phase wh_session_phase(const struct wh_session *session);

/* WH_STATUS_PENDING until the outcome is known, then never changes. */
enum wh_release_status wh_session_outcome(const struct wh_session *session);

/* What users may ask for. Each is granted once; a second request of the same kind is ignored. */
enum wh_session_wish {
	WH_WISH_ABORT = 1,     /* wh_session_abort with that status */
	WH_WISH_SINK_DONE = 2, /* wh_session_sink_done with that status; precedes an abort */
	/*
	 * The users' last call: reader and writer are closed, and no user touches the session or
	 * its FIFOs again. A session without an outcome is aborted as INTERRUPTED. When the peer
	 * has been notified, the endpoint calls `gone`. Status is ignored.
	 */
	WH_WISH_CLOSE = 4,
};

/*
 * Users. The endpoint's accept callback must not ask for WH_WISH_CLOSE; it may return NULL instead.
 */
void wh_session_ask(
	struct wh_session *session, enum wh_session_wish wish, enum wh_release_status status);

/*
 * Users of a transmitter that was opened with a rate. _set_rate requests another rate, > 0; the
 * owner core applies it at its next poll. _rate returns the rate in use.
 */
void wh_session_set_rate(struct wh_session *session, uint64_t rate_bps);
uint64_t wh_session_rate(const struct wh_session *session);

/*
 * Users of a transmitter, one thread. _set_option requests a new value for a live option of the
 * profile; wh_profile_options_change must allow it. The owner core applies it at its next poll.
 * _options returns all requested values.
 */
void wh_session_set_option(struct wh_session *session, uint32_t option, double value);
struct wh_profile_options wh_session_options(const struct wh_session *session);

/* Users: something was added to ready or recycled. */
void wh_session_kick(struct wh_session *session);

/*
 * Users: when this session last received a packet of its peer. While the peer is silent, only the
 * peer timeout ends the session; timeouts of users must wait.
 */
uint64_t wh_session_heard_tsc(const struct wh_session *session);

/* A peer is silent after this time, which is longer than the pause between any two heartbeats. */
#define WH_SESSION_SILENT_S 3

struct wh_session_news {
	enum wh_phase phase;
	enum wh_release_status outcome;
};

/*
 * Users: phase and outcome as the owner core last published them. Once the outcome is not PENDING,
 * the digest, the pacer and the controller are final and users may read them, too.
 */
struct wh_session_news wh_session_news(const struct wh_session *session);

/*
 * Users of a transmitter that was REFUSED. True: the peer speaks only versions *least to *most of
 * the wire format.
 */
bool wh_session_peer_versions(const struct wh_session *session, uint8_t *least, uint8_t *most);

/* The owner's pointer, not used by the session; set before others know the session. */
void wh_session_set_context(struct wh_session *session, void *context);
void *wh_session_context(const struct wh_session *session);

/* The SA under which packets are sealed, valid as long as the session; NULL: none. */
struct wh_sa *wh_session_sa(const struct wh_session *session);

/* The connection ID by which the peer addresses us; 0: no place in an endpoint yet. */
uint32_t wh_session_cid(const struct wh_session *session);

/* The connection ID by which we address the peer; 0: not known yet. Users, too. */
uint32_t wh_session_peer_cid(const struct wh_session *session);

/*
 * Users: the sums of both cores' counters. Each counter is right, but they are read one after the
 * other while they change. So before the session is closed they may not match each other.
 */
struct wh_session_stats wh_session_stats(const struct wh_session *session);

/* Adds all counters, of lanes or paths; the moments of `sum` stay. */
void wh_session_stats_add(struct wh_session_stats *sum, const struct wh_session_stats *stats);

/* Users: payload bytes received here, or acknowledged by the peer. */
uint64_t wh_session_moved_bytes(const struct wh_session *session);

/*
 * Transmitter's users, as last reported: the peer has promised buffers for chunks with numbers
 * below `end`, and has `chunks` buffers in all. 0 before the first report.
 */
struct wh_session_credit {
	uint64_t end;
	uint32_t chunks;
};
struct wh_session_credit wh_session_credit(const struct wh_session *session);

/*
 * Transmitter's users: what limits the flow now. A receiver does not know and returns RATE.
 * wh_limit_of(stats.limit_tsc) tells what has limited the flow most.
 */
enum wh_limit wh_session_limit_now(const struct wh_session *session);

/* Transmitter's users: why the reader has no chunk ready; DISK until told. */
void wh_session_tell_reader(struct wh_session *session, enum wh_limit limit);

/* Users: no progress for a while with work to do; limit_now says why. */
bool wh_session_stalled(const struct wh_session *session);

uint64_t wh_session_rtt_tsc(const struct wh_session *session);
uint64_t wh_session_rtt_min_tsc(const struct wh_session *session); /* 0: not measured */
const struct wh_open_params *wh_session_params(const struct wh_session *session);
/* Where the peer is now. The address stays as it is for a second after the next one is in use. */
const struct wh_address *wh_session_peer(const struct wh_session *session);
/* Of transmitters. */
const struct wh_control *wh_session_control(const struct wh_session *session);
const struct wh_pacer *wh_session_pacer(const struct wh_session *session);

/* Transmitter; users: what the controller allows now. */
struct wh_session_pace {
	uint64_t rate_bps; /* on the wire; 0: not paced, or at the shortest interval there is */
	uint32_t window_pkts;
	const char *mode; /* the part of the controller that decided; NULL: it has one only */
};
struct wh_session_pace wh_session_pace(const struct wh_session *session);

/*
 * Users: packets lost as far as this end knows: detected, reported by the peer, or retransmitted.
 */
uint64_t wh_session_lost_pkts(const struct wh_session *session);

/* Bytes of keys and replay windows of a session under an SA; they are allocated in whole pages. */
uint64_t wh_session_sealing_bytes(enum wh_role role);

/* Asserts the session's invariants; `deep` walks the tables, too. */
void wh_session_check(const struct wh_session *session, bool deep);
