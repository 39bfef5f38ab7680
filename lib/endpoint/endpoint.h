/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The sessions behind one queue of a port. The endpoint finds the session of each packet by its
 * connection ID (an index, no hash), opens and decodes the packet once, counts bad ones by reason,
 * listens for new connections, and polls the sessions that have work. It has two halves, each
 * polled by one core, which may be the same:
 *
 *   receive half  RX core: input, receive_poll. Owns receivers: it accepts connections
 *   send half     TX core: send_poll, output. Owns transmitters: it takes those of wh_endpoint_open
 *
 * The bookkeeping of receivers may run on a third core (books.h).
 *
 * Both halves read the table of sessions. Each writes its own half of the places; the receive half
 * has the lower ones. The halves exchange control packets, by each session's inbox and outbox, and
 * kicks (half.h), which say where to look. Neither half keeps a pointer to a session of the other
 * from one turn to the next: a session that was removed from the table may be freed once the other
 * half's turn count has advanced by two.
 *
 * A connection ID is a place in the table and random bits. With it goes a token of 64 bits, by
 * which each packet of an unsealed connection is closed (seal/checksum.c): ours is drawn for each
 * connection that we open, a peer's is the proof in the cookie that opened it. A packet of an
 * earlier connection, or of an attacker, is accepted by a later one in the same place with a
 * probability of 2^-64. Connection IDs and tokens derive from the listener's secret; a peer that is
 * refused learns neither.
 *
 * A place accepts no cookie older than that of its latest session, so that a CONFIRM opens one
 * connection even if it is replayed. For this each place keeps one time, by our own clock, which
 * only an accepted session changes.
 *
 * A session leaves soon after its last packet, DONE, ABORT or REPLY, which may be lost. It is
 * kept for each place, and sent again to a peer that still behaves as if it had not received it:
 * only to the address of that connection, or of a client that may have moved, and never in answer
 * to a DONE or ABORT.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "base/meter.h"
#include "endpoint/connect.h"
#include "endpoint/early.h"
#include "endpoint/lifecycle.h"
#include "probe/answerer.h"
#include "probe/prober.h"
#include "seal/sa.h"
#include "session/half.h"
#include "wire/handshake_datagram.h"

#define WH_ENDPOINT_PLACES_MIN 64
#define WH_ENDPOINT_PLACES_MAX 8192
#define WH_ENDPOINT_REPLIES    255 /* 2^n - 1: see fifo.h */
#define WH_ENDPOINT_DATAGRAMS  8   /* most replies and datagrams in one turn of the TX core */

/* A MAC address, or whatever else the layer below needs to answer a stranger. */
#define WH_ENDPOINT_VIA_BYTES 6

/* Written by the RX core. */
struct wh_endpoint_stats {
	uint64_t packets;
	uint64_t bad[WH_WIRE_REASONS]; /* by the decoder's reason, or the seal's */
	uint64_t no_session_pkts;      /* no session has that connection ID */
	uint64_t wrong_peer_pkts; /* the session of that connection ID has another peer address */
	uint64_t moves;           /* clients that were found at another address */
	uint64_t bad_cookie_pkts;
	uint64_t refused_opens;
	uint64_t turned_away_pkts;       /* from addresses that may not connect */
	uint64_t no_sa_pkts;             /* under an SA that is unknown here */
	uint64_t unhinted_pkts;          /* not answered, since hints are rate-limited */
	uint64_t early_pkts;             /* kept until their SA exists */
	uint64_t hints;                  /* unauthenticated hints received */
	uint64_t repeated_closings;      /* to peers that had not received the last packet */
	uint64_t replies_dropped_pkts;   /* no room for a stateless answer */
	uint64_t datagrams_dropped_pkts; /* handshakes arrived faster than they are handled */
};

struct wh_endpoint_config {
	uint64_t hz;
	uint8_t key[WH_SIPHASH_KEY_BYTES]; /* the listener's secret, drawn for each process */
	uint32_t places;      /* a power of two: half for peers' connections, half for ours */
	bool payload_virtual; /* as of its sessions; input then takes only OPEN and CONFIRM */
	/*
	 * The SAs of this process. Connections are opened under one of them and sealed; others
	 * are refused. NULL: peers open unsealed connections only.
	 */
	struct wh_sadb *sadb;
	/*
	 * Receivers whose config has books_apart are polled by wh_endpoint_books_poll, on a third
	 * core.
	 */
	bool books_apart;
	struct wh_meter *rx_meter; /* of the cores; NULL: not metered */
	struct wh_meter *tx_meter;
	struct wh_meter *books_meter;
	/*
	 * Decides on an OPEN: WH_STATUS_PENDING and the number of chunk buffers of the connection,
	 * or why it is refused. NULL: this end only opens connections and refuses all. Decoding has
	 * checked the format's limits; this function checks that the profile exists, that
	 * chunk_bytes is a multiple of WH_CHUNK_ALIGN and that memory suffices: accept gets what
	 * was admitted here, and nothing else. `sa`: the one of the OPEN, readable until the call
	 * returns; NULL: none.
	 */
	enum wh_release_status (*welcome)(void *context, uint64_t now_tsc,
		const struct wh_open_params *params, const struct wh_address *peer,
		const struct wh_sa *sa, uint32_t *buffer_chunks);
	/*
	 * Creates the session (wh_session_accept) for a peer whose address is proved, with at least
	 * the promised buffers; NULL: impossible.
	 */
	struct wh_session *(*accept)(void *context, uint64_t now_tsc, uint32_t cid,
		const struct wh_address *peer, const struct wh_sa *sa,
		const struct wh_open_params *params, uint64_t rtt_tsc);
	/*
	 * A session that was asked to close has left: no core uses it, and the owner may destroy
	 * it. Called on the core that polls its half. NULL: sessions are never asked to close.
	 */
	void (*gone)(void *context, struct wh_session *session);
	/*
	 * Whether that peer may probe the path to this host now, as in wh_answerer_config; NULL: no
	 * peer may. Each train is recorded with room for probe_room_pkts.
	 */
	enum wh_release_status (*may_probe)(void *context, uint64_t now_tsc,
		const struct wh_address *peer, const struct wh_sa *sa);
	uint32_t probe_room_pkts;
	/*
	 * Whether that address may begin a handshake or probe at all; or, with an SA, whether a
	 * session under it may move there. NULL: any may. Not asked for OPEN and CONFIRM, on which
	 * `welcome` decides.
	 */
	bool (*may_come)(void *context, const struct wh_address *peer, const struct wh_sa *sa);
	/*
	 * Some core takes handshakes of this queue from datagrams_in and puts handshakes to send
	 * into datagrams_out.
	 */
	bool with_handshake;
	/*
	 * A cookie that one peer has got by another way, for one handshake: whoever comes with it
	 * first. Zeros: none.
	 */
	uint8_t told_cookie[WH_COOKIE_BYTES];
	uint32_t queue;
	void *context;
};

/* The last packet of a session that has left. */
struct wh_closing_packet {
	struct wh_address peer; /* family 0: it may have moved, and is known by its seal */
	uint32_t cid;           /* 0: none yet */
	uint8_t stage;          /* WH_RELEASE_DONE, ABORT or REPLY */
	/* On the way to the RX core: the session, which still has the seal and packet numbers. */
	const struct wh_session *leaving;
	/* Of the peer's remaining packets; and the least numbers of its RELEASEs and reports. */
	struct wh_seal seal;
	uint64_t next_release, next_report;
	uint8_t packet[WH_HEAD_BYTES + WH_DIGEST_BYTES]; /* sealed, ready to be sent */
};

/* Who has come with the cookie that was told. */
struct wh_told_taker {
	struct wh_address peer; /* family 0: nobody yet */
	uint64_t handshake;
};

/* Sessions that the other half may still use, oldest first. */
struct wh_leaving {
	struct wh_session *first;
	struct wh_session *last;
};

struct wh_endpoint {
	struct wh_endpoint_config config;
	struct wh_listener listener;
	struct wh_told_taker told;             /* RX core */
	_Atomic(struct wh_session *) *session; /* by place */
	struct wh_half *rx;
	struct wh_half *tx;
	struct wh_half *books;               /* of receivers too; NULL: not apart */
	struct wh_slot_fifo replies;         /* stateless answers: RX core -> TX core */
	struct wh_slot_fifo closing_packets; /* of transmitters: TX core -> RX core */
	/* Of struct wh_handshake_datagram: RX core -> handshake core; handshake core -> TX core. */
	struct wh_slot_fifo datagrams_in;
	struct wh_slot_fifo datagrams_out;
	struct rte_ring *opened;            /* sessions: any core -> TX core */
	_Atomic(struct wh_prober *) prober; /* NULL: none. Both cores read it */

	/* RX core, on cache lines of its own */
	uint8_t apart_rx[64];
	/* Set by the caller: sender of the current input; when the port was last empty, or 0. */
	uint8_t via[WH_ENDPOINT_VIA_BYTES];
	uint64_t looked_tsc;
	uint64_t *spent_us; /* by place: older cookies open nothing there */
	uint64_t rx_draws;
	uint64_t next_hint_tsc;    /* when the next hint about SAs may be sent */
	uint64_t next_put_off_tsc; /* when the next hint about unknown handshakes may be sent */
	/* By place: of the latest session that sent one. */
	struct wh_closing_packet *closing_packet;
	struct wh_leaving rx_leaving;
	uint32_t rx_news; /* of wh_sadb_news, as last seen */
	struct wh_early early;
	struct wh_answerer answerer; /* without arrivals: probing is not allowed */
	struct wh_endpoint_stats stats;

	/* TX core */
	uint8_t apart_tx[64];
	struct wh_leaving tx_leaving;
	struct wh_session *unplaced;
	uint64_t tx_draws;
	uint32_t next_offered;  /* places for replies go in rotation, from the last one down */
	uint32_t tx_news;       /* of wh_sadb_news, as last seen */
	uint32_t next_turn;     /* output serves the sessions in rotation */
	uint32_t next_datagram; /* a reply's turn if even, else a datagram's */
	/* Addresses of the replies and datagrams of the last turn. */
	struct wh_address reply_to[WH_ENDPOINT_DATAGRAMS];
	uint8_t reply_via[WH_ENDPOINT_DATAGRAMS][WH_ENDPOINT_VIA_BYTES];
	struct wh_address datagram_to[WH_ENDPOINT_DATAGRAMS];

	/* Core of the bookkeeping */
	uint8_t apart_books[64];
	uint32_t books_news; /* of wh_sadb_news, as last seen */
	uint64_t overflow_seen_tsc;
	_Atomic uint64_t overflowed_tsc; /* RX core: when the port dropped packets last */
};

/* 0 or -ENOMEM. */
int wh_endpoint_init(struct wh_endpoint *endpoint, const struct wh_endpoint_config *config);

/* After all cores have stopped polling. Sessions still in it are the caller's to destroy. */
void wh_endpoint_free(struct wh_endpoint *endpoint);

/*
 * Any core: hands over a transmitter's session, which starts to open its connection; from here on
 * users may ask it for things. If all places are taken it ends at once as BUSY. 0, or -ENOBUFS if
 * too many are being opened at once: it remains the caller's.
 */
int wh_endpoint_open(struct wh_endpoint *endpoint, struct wh_session *session);

/*
 * Any core: starts probing the path to the prober's peer. The prober remains the caller's, which
 * does not touch it until it has ended and the endpoint is polled no more. NULL: takes it out.
 */
void wh_endpoint_probe(struct wh_endpoint *endpoint, struct wh_prober *prober);

/*
 * Whether a packet that output wrote for `to` answers a packet without a session; *via is then the
 * value of endpoint->via when that packet was received. Nothing is kept about a stranger in order
 * to answer.
 */
static inline bool wh_endpoint_is_reply(
	const struct wh_endpoint *endpoint, const struct wh_address *to, const uint8_t **via)
{
	bool is_reply = to >= endpoint->reply_to && to < endpoint->reply_to + WH_ENDPOINT_DATAGRAMS;

	*via = is_reply ? endpoint->reply_via[to - endpoint->reply_to] : NULL;
	return is_reply;
}

/*
 * RX core: one UDP payload from `from`, which arrived at arrived_tsc <= now_tsc. May be decrypted
 * in place: the contents of `bytes` are undefined afterwards.
 */
void wh_endpoint_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint64_t arrived_tsc,
	uint8_t *bytes, size_t length, const struct wh_address *from);

/* RX core: the port has dropped packets that were not read in time (session/limit/intake.h). */
void wh_endpoint_overflowed(struct wh_endpoint *endpoint, uint64_t now_tsc);

/* RX core, once per turn, after the input: polls receivers that are due. */
int32_t wh_endpoint_receive_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);

/* With books_apart, its core, once per turn: polls the receivers that are due. */
int32_t wh_endpoint_books_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);

/*
 * TX core, once per turn, before the output: takes new transmitters and polls those that are due.
 */
int32_t wh_endpoint_send_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);

/* TX core: fills in at most `count` packets to send; they are valid until the next turn. */
uint32_t wh_endpoint_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count);

/* When the half is due next if nothing arrives before; 0: at once. */
uint64_t wh_endpoint_receive_deadline(const struct wh_endpoint *endpoint);
uint64_t wh_endpoint_send_deadline(const struct wh_endpoint *endpoint);
uint64_t wh_endpoint_books_deadline(const struct wh_endpoint *endpoint);

/* Packets that belong to no session here, for whatever reason. */
uint64_t wh_endpoint_bad_pkts(const struct wh_endpoint *endpoint);
