/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_SESSION_H
#define WH_SESSION_SESSION_H

/*
 * One connection, as seen by one of its ends: packets and time go in, packets and the next
 * deadline come out. No clock, socket, thread; no allocation after create.
 *
 * The transmitter's four processes and the receiver's four (periodic-exchange.txt, Fig. 3) are
 * eight files of their names:
 *
 *   chunks ->  host_trans -> trans -> packets      packets -> rcv -> host_rcv -> chunks
 *              get_rcv_stat  send_trans_stat       get_trans_stat  send_rcv_stat
 *
 * Who may call what:
 *
 *   home core   the four processes run here, one after the other (wh_session_poll): the core that
 *               sends for a transmitter, the one that receives for a receiver. Everything below
 *               is the home core's unless it says otherwise.
 *   other core  the one that does the other direction: brings a transmitter's control packets
 *               (wh_session_input), takes a receiver's (wh_session_output), by a FIFO each
 *   users       jobs and file I/O on any core, as many as there are, until one has asked to close:
 *               the chunk FIFOs, wh_session_ask, kick, news, context, stats, moved_bytes,
 *               limit_now, stalled, rtt_tsc and what never changes (peer, params but for the
 *               LCI in them)
 *
 * All three may be one core. handshake.c opens a connection, release.c ends it; endpoint.h polls
 * the sessions of a port's queue and says when nobody else holds one any more.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"
#include "fec/planner.h"
#include "profile/profile.h"
#include "seal/bond.h"
#include "seal/seal.h"
#include "wire/encap.h"
#include "wire/packet.h"

/* The most that peer_timeout_ns may be. */
#define WH_PEER_TIMEOUT_MAX_S 3600

/* Stall timeouts that a disk may take which is at work, be it over a sync or over what it got. */
#define WH_DISK_PATIENCE 60

enum wh_role {
	WH_TRANSMITTER,
	WH_RECEIVER,
};

enum wh_phase {
	WH_PHASE_OPENING, /* transmitter: OPEN is out */
	WH_PHASE_RUNNING,
	WH_PHASE_RELEASING, /* the outcome is known here; the peer is still to be told */
	WH_PHASE_CLOSED,
};

/* What keeps the flow from going faster. */
enum wh_limit {
	WH_LIMIT_RATE,   /* the operator's, or one that the profile found without a loss */
	WH_LIMIT_WINDOW, /* unacknowledged packets: the controller's window or the table's size */
	WH_LIMIT_DISK,   /* no chunk from the reader, or the peer's writer is behind */
	WH_LIMIT_PEER,   /* the peer is silent */
	WH_LIMIT_CPU,    /* the rate allows more than this core sends, or there is none */
	/* Buffers, here or at the peer: all wait for packets that are missing or under way. */
	WH_LIMIT_MEMORY,
	WH_LIMIT_LOSS, /* the rate that the profile holds since losses or delay told it to */
	WH_LIMIT_LINE, /* of a host, never of a session: its port takes no more */
	WH_LIMITS,
};

const char *wh_limit_name(enum wh_limit limit);

/* Repair packets of a transmitter's stream; of a receiver, recovery and repair_pkts count alone. */
struct wh_repair_config {
	enum wh_recovery recovery;
	uint32_t repair_pkts; /* a chunk has at most so many: there is memory for them */
	enum wh_fec_code code;
	/* Of each block of k data packets so many, whatever the path does; r 0: as planned. */
	uint32_t fixed_k;
	uint32_t fixed_r;
	struct wh_fec_planner_config planner;
};

/*
 * Recovery, code and planner of a profile, as planned; repair_pkts, and the planner's r_max with
 * it, are the caller's, who has the memory. Without repair packets it is recovery NAK alone.
 */
void wh_repair_config_init(struct wh_repair_config *repair, const struct wh_profile *profile);

struct wh_session_config {
	uint64_t hz;
	const struct wh_profile *profile;
	uint32_t payload_bytes; /* of a full data packet */
	uint32_t packet_bytes;  /* a full packet as IP counts it: the papers' MTU */
	uint32_t wire_bytes;    /* a full packet on the wire, Ethernet overhead counted */
	uint32_t chunk_bytes;
	uint32_t chunks;       /* buffers of this end */
	uint8_t *chunk_memory; /* chunks * wh_session_chunk_stride(), aligned to WH_CHUNK_ALIGN */
	struct wh_repair_config repair;
	/*
	 * For simulators, and of both ends: payload has a length and no bytes. chunk_memory is
	 * NULL and so is each chunk's data; packets are those of wh_packet_decode_virtual.
	 */
	bool payload_virtual;
	/*
	 * Payloads from here on are sent from where they are, shorter ones stand right behind their
	 * heads, which have the room: as the port would copy them anyway. 0: none is copied.
	 */
	uint32_t attach_bytes;
	uint32_t window_pkts;       /* a power of two, WH_WINDOW_PACKETS_MIN or more */
	uint64_t rate_bps;          /* see struct wh_control_config */
	uint32_t burst_pkts;        /* the pacer's */
	uint64_t line_bps;          /* of this host's line; 0: unknown */
	struct wh_known_path known; /* a transmitter's, for its controller */
	/* A transmitter's; OPEN tells a receiver's. Bitmaps' loss goes before repair's. */
	struct wh_profile_options options;
	uint64_t initial_rtt_ns;   /* until measured */
	uint64_t peer_timeout_ns;  /* silence after which the peer is gone */
	uint64_t stall_timeout_ns; /* no progress for so long ends the connection */
	uint64_t seed;             /* of serials */
	/*
	 * A transmitter's: what it shares with the peer. All packets are sealed, and the session
	 * holds it. A receiver has the one that OPEN named. NULL: packets have checksums alone.
	 */
	struct wh_bond *bond;
};

/* No bond, timeouts of 30 s, 100 ms of RTT: the caller fills in the rest. */
void wh_session_config_init(struct wh_session_config *config);

/* The profile, and its options as the papers have them. */
void wh_session_config_profile(struct wh_session_config *config, const struct wh_profile *profile);

struct wh_session_stats {
	uint64_t sent_pkts; /* data, retransmissions too */
	uint64_t retransmitted_pkts;
	uint64_t acked_bytes;    /* payload, sent and acknowledged */
	uint64_t received_pkts;  /* data, new */
	uint64_t received_bytes; /* payload, new; what was repaired, too */
	uint64_t duplicate_pkts;
	uint64_t replayed_pkts; /* proved packets that came before: dropped */
	uint64_t spurious_pkts; /* sent again, and had come: found, or told by feedback.delivery */
	uint64_t control_sent_pkts;
	uint64_t control_received_pkts;
	uint64_t control_stale_pkts;  /* overtaken by a later one: dropped */
	uint64_t control_full_pkts;   /* no room in a FIFO: dropped */
	uint64_t bad_pkts;            /* contradict the connection: dropped, see reasons */
	uint64_t bad_window_pkts;     /* of these: serial or chunk beyond what was offered */
	uint64_t bad_place_pkts;      /* of these: chunk, index, k or length contradict */
	uint64_t bad_unexpected_pkts; /* of these: a type that this end does not take */
	uint64_t losses_detected_pkts;
	uint64_t loss_events;        /* runs of them */
	uint64_t repair_pkts;        /* sent or received */
	uint64_t repaired_pkts;      /* data brought back by them, here or at the peer */
	uint64_t undecodable_blocks; /* for which they did not suffice */
	uint64_t naks;               /* sent or received */
	uint64_t delay_warnings;     /* sent or received */
	uint64_t exp_events;         /* the peer was silent for longer than expected */
	uint64_t stalls;
	uint64_t limit_tsc[WH_LIMITS];
	uint64_t first_sent_tsc; /* of data; 0: none yet */
	uint64_t outcome_tsc;    /* when the outcome was known here */
};

/* Payload that came more than once, whoever was the cause: the sender, the way, or a stranger. */
static inline uint64_t wh_session_came_again_pkts(const struct wh_session_stats *stats)
{
	return stats->duplicate_pkts + stats->replayed_pkts;
}

struct wh_session; /* internal.h */

/*
 * The transmitter's end, in phase OPENING; any core makes it, and its timers begin when
 * wh_endpoint_open has set it going. object_bytes may be WH_OBJECT_BYTES_UNKNOWN: a stream that may
 * also lie idle for as long as it likes. NULL: no memory.
 */
struct wh_session *wh_session_open(const struct wh_session_config *config,
	const struct wh_address *peer, const char *name, uint64_t object_bytes);

/*
 * The receiver's end for a confirmed handshake; local_lci is not 0 and is how the peer addresses
 * it, rtt_tsc is what the cookie's age says. NULL: no memory, or OPEN tells options that the
 * profile does not have.
 */
struct wh_session *wh_session_accept(const struct wh_session_config *config, uint64_t now_tsc,
	uint32_t local_lci, const struct wh_address *peer, const struct wh_open_params *params,
	uint64_t rtt_tsc);

/* When no core holds it any more: it never was in an endpoint, or the endpoint said `gone`. */
void wh_session_destroy(struct wh_session *session);

/*
 * The FIFOs to readers and writers. Transmitter: free, ready; receiver: deliver, recycled. Whoever
 * has pushed into ready or recycled kicks the session. A chunk is full or, anywhere in the stream,
 * shorter; it is delivered as it was sent.
 */
struct wh_fifo *wh_session_free_chunks(struct wh_session *session);
struct wh_fifo *wh_session_ready_chunks(struct wh_session *session);
struct wh_fifo *wh_session_deliver_chunks(struct wh_session *session);
struct wh_fifo *wh_session_recycled_chunks(struct wh_session *session);

/* What a data or repair packet is to a session, if what its head says is true. */
enum wh_ticket_kind {
	WH_TICKET_FITS,        /* new, and awaited */
	WH_TICKET_DUPLICATE,   /* came before, or nobody needs it any more */
	WH_TICKET_PAST,        /* of a chunk that was repaired and delivered without it */
	WH_TICKET_BEYOND,      /* serial or chunk beyond what was offered */
	WH_TICKET_CONTRADICTS, /* chunk, index, k or length contradict what is known */
	WH_TICKET_UNEXPECTED,  /* this end takes no payload */
};

struct wh_ticket {
	struct wh_session *session;
	const struct wh_packet *packet; /* the caller's, unchanged until the ticket is used up */
	uint8_t *to;                    /* where its payload belongs; NULL: nowhere */
	struct wh_rx_chunk *entry;
	uint64_t step; /* of the session, which may not go on meanwhile */
	enum wh_ticket_kind kind;
};

/*
 * The core that receives: what a data or repair packet is and where its payload belongs, by a head
 * that nobody believes yet; nothing changes but *ticket. The caller writes the payload to
 * ticket->to, in the pass that finds out whether the packet is to be believed: wrong bytes there
 * count for nothing. If it is, the caller uses the ticket up; if not, he forgets it. Between the
 * two calls the session is not polled and takes nothing else: that is asserted.
 */
void wh_session_place(
	struct wh_session *session, const struct wh_packet *packet, struct wh_ticket *ticket);
void wh_session_take(struct wh_ticket *ticket, uint64_t now_tsc, uint64_t arrived_tsc);

/* Chunks that are encoded ahead of those under way. */
#define WH_ENCODED_AHEAD 4

/*
 * Users of a session with repair packets, on a working core with that core's tables: encodes a
 * chunk that the reader has filled; recovers what is missing of one that has come. Returns 0 when
 * there was none, or WH_ENCODED_AHEAD are encoded and not begun: repair is planned by the latest
 * loss that is known. Its limits are wh_session_fec_limits or more.
 */
int32_t wh_session_encode(struct wh_session *session, struct wh_fec *fec);
int32_t wh_session_decode(struct wh_session *session, struct wh_fec *fec);
struct wh_fec_limits wh_session_fec_limits(const struct wh_session_config *config);

/* A chunk and its repair packets in memory. */
uint64_t wh_session_chunk_stride(const struct wh_session_config *config);

/*
 * The core that receives: nothing waited at looked_tsc, so that what it gives to the session from
 * now on has come later. A host that was away from its port since then takes all of that at once,
 * and who is not told takes it for new.
 */
void wh_session_looked(struct wh_session *session, uint64_t looked_tsc);

/*
 * The core that receives: a packet for this session that is believed arrived at
 * arrived_tsc <= now_tsc. A payload is copied to where it belongs.
 */
void wh_session_input(struct wh_session *session, uint64_t now_tsc, uint64_t arrived_tsc,
	const struct wh_packet *packet);

/*
 * The core that receives: so many packets have come for this session and wait to be taken. Where
 * the profile says so the receiver's states go less often meanwhile.
 */
void wh_session_note_waiting(struct wh_session *session, uint64_t pkts);

/* Runs the processes that are due; returns how much work was done, 0 for none. */
int32_t wh_session_poll(struct wh_session *session, uint64_t now_tsc);

/*
 * A packet to send: head_bytes at head, then payload_bytes at payload (0 for control), which
 * stays valid until the session is polled again. Virtual payload is NULL. One that was copied
 * (attach_bytes) or sealed is at head + head_bytes.
 */
struct wh_out {
	/* The caller's, WH_CONTROL_BYTES_MAX of room, and for a payload to copy or to seal. */
	uint8_t *head;
	uint32_t head_bytes;
	const uint8_t *payload;
	uint32_t payload_bytes;
	const struct wh_address *to;
};

/* The core that sends: packets that may go now, at most `count`; returns how many. */
uint32_t wh_session_output(
	struct wh_session *session, uint64_t now_tsc, struct wh_out *out, uint32_t count);

/* When wh_session_poll wants to be called next if nothing arrives before. */
uint64_t wh_session_deadline(const struct wh_session *session);

/* Ends it now; the peer is told. Statuses from WH_STATUS_MISMATCH on. */
void wh_session_abort(struct wh_session *session, uint64_t now_tsc, enum wh_release_status status);

/* Receiver: the writer is done with everything, or failed. */
void wh_session_sink_done(
	struct wh_session *session, uint64_t now_tsc, enum wh_release_status status);

enum wh_phase wh_session_phase(const struct wh_session *session);

/* WH_STATUS_PENDING until the outcome is known, then never changes. */
enum wh_release_status wh_session_outcome(const struct wh_session *session);

/* What users ask for; each wish is granted once, a second one of its kind is not heard. */
enum wh_session_wish {
	WH_WISH_ABORT = 1,     /* wh_session_abort with that status */
	WH_WISH_SINK_DONE = 2, /* wh_session_sink_done with that status; told before an abort */
	/*
	 * The last word of the session's users: reader and writer are closed, the FIFOs let go, and
	 * none of them touches it again. Unless its outcome is known it is aborted as INTERRUPTED;
	 * when the last words to the peer are said, its endpoint says `gone`. Status is ignored.
	 */
	WH_WISH_CLOSE = 4,
};

/* Users. Not CLOSE from within the endpoint's accept, which may return NULL instead. */
void wh_session_ask(
	struct wh_session *session, enum wh_session_wish wish, enum wh_release_status status);

/*
 * Users of a transmitter that was opened with a rate: another one, > 0, as soon as its home core
 * looks; and the one that it goes by.
 */
void wh_session_set_rate(struct wh_session *session, uint64_t rate_bps);
uint64_t wh_session_rate(const struct wh_session *session);

/*
 * Users of a transmitter, one thread: an option of its profile, which is live and may have that
 * value (wh_profile_options_change), has it as soon as its home core looks; and all as they are
 * wanted.
 */
void wh_session_set_option(struct wh_session *session, uint32_t option, double value);
struct wh_profile_options wh_session_options(const struct wh_session *session);

/*
 * Of a transmitter: nothing was heard of its acceptor for so long that it asks anew. It does once
 * its endpoint's halves have had their turns.
 */
bool wh_session_begins_anew(const struct wh_session *session);

/* Users: there is something new in ready or recycled. */
void wh_session_kick(struct wh_session *session);

struct wh_session_news {
	enum wh_phase phase;
	enum wh_release_status outcome;
};

/*
 * Users: what the home core told last. With an outcome that is not PENDING the digest, the pacer
 * and the controller are final, and may be read by users, too.
 */
struct wh_session_news wh_session_news(const struct wh_session *session);

/*
 * Users, of a transmitter that was REFUSED: true when that is because the peer speaks other
 * versions of the format than this end, and which.
 */
bool wh_session_peer_versions(const struct wh_session *session, uint8_t *least, uint8_t *most);

/* A pointer of the owner's, which means nothing here; set before others know the session. */
void wh_session_set_context(struct wh_session *session, void *context);
void *wh_session_context(const struct wh_session *session);

/* What its packets are sealed by, as long as the session is there; NULL: nothing. */
struct wh_bond *wh_session_bond(const struct wh_session *session);

/* How the peer addresses it; 0: it has no place in an endpoint. */
uint32_t wh_session_lci(const struct wh_session *session);

/* How it addresses the peer; 0: that is not known yet. Users, too. */
uint32_t wh_session_peer_lci(const struct wh_session *session);

/*
 * Users: the counters of both cores together. Each is whole, but they are read one after the other
 * while they change, so that they need not add up before the session is closed.
 */
struct wh_session_stats wh_session_stats(const struct wh_session *session);

/* Users: payload that has arrived: received here, or acknowledged by the peer. */
uint64_t wh_session_moved_bytes(const struct wh_session *session);

/*
 * Transmitter's users: chunks with numbers below `end` are those that the peer has promised room
 * for, `chunks` is how many it has room for at once; both as told last, and 0 before.
 */
struct wh_session_credit {
	uint64_t end;
	uint32_t chunks;
};
struct wh_session_credit wh_session_credit(const struct wh_session *session);

/*
 * Transmitter: what has limited the flow for most of the time; users: what does at the moment.
 * Receivers do not know, and say RATE.
 */
enum wh_limit wh_session_limited_by(const struct wh_session *session);
enum wh_limit wh_session_limit_now(const struct wh_session *session);

/* Users: no progress for a while, though there is something to do: limit_now says why. */
bool wh_session_stalled(const struct wh_session *session);

uint64_t wh_session_rtt_tsc(const struct wh_session *session);
uint64_t wh_session_rtt_min_tsc(const struct wh_session *session); /* 0: none was measured */
const struct wh_open_params *wh_session_params(const struct wh_session *session);
const struct wh_address *wh_session_peer(const struct wh_session *session);
/* Of transmitters. */
const struct wh_control *wh_session_control(const struct wh_session *session);
const struct wh_pacer *wh_session_pacer(const struct wh_session *session);

/* Transmitter; users: what the controller allows at the moment. */
struct wh_session_pace {
	uint64_t rate_bps; /* on the wire; 0: not paced */
	uint32_t window_pkts;
};
struct wh_session_pace wh_session_pace(const struct wh_session *session);

/* Users: what went missing, by all that this end knows: as found, as told, or as sent again. */
uint64_t wh_session_lost_pkts(const struct wh_session *session);

/* What a session takes beside its chunk memory, to the byte that malloc is asked for. */
uint64_t wh_session_table_bytes(enum wh_role role, const struct wh_session_config *config);

/* And under a bond, for keys and windows: whole pages of it. */
uint64_t wh_session_sealing_bytes(enum wh_role role);

/* Everything a session promises about itself, asserted. `deep` walks the tables too. */
void wh_session_check(const struct wh_session *session, bool deep);

#endif
