/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SESSION_ENDPOINT_H
#define WH_SESSION_ENDPOINT_H

/*
 * What sits behind one queue of a port: finds the session of each packet by its LCI (an index, no
 * hash), opens and decodes it once, counts the bad ones by reason, listens for new connections, and
 * polls the sessions that have something to do. It has two halves, each polled by one core; they
 * may be the same:
 *
 *   receive half  RX core: input, receive_poll. Home of receivers: it accepts connections.
 *   send half     TX core: send_poll, output. Home of transmitters: it takes those of
 *                 wh_endpoint_open.
 *
 * The table of sessions is read by both. Each half writes its half of the places, the lower ones
 * being the receive half's. Between the halves go control packets, in each session's inbox and
 * outbox, and kicks (half.h), which say where to look. What sits at home elsewhere is held from
 * one turn to the next by neither half: a session that has left the table is gone when the other
 * half's turns have counted on by two.
 *
 * An LCI is a place in the table and random bits. With it goes a token of 64 bits, by which each
 * packet of a connection is closed (seal/seal.h): ours is drawn for each that we open, a peer's is
 * the proof in the cookie that opened it. Packets of an earlier connection do not reach a later one
 * in the same place, nor do a stranger's, but by a guess of one in 2^64. Both come from the
 * listener's secret; who is refused learns neither.
 *
 * A place takes no cookie that is older than its latest tenant's, so that a CONFIRM opens one
 * connection, however often it comes. That is a moment for each place, by our own clock: nothing is
 * counted that a stranger could move, and only a tenant moves it.
 *
 * A session leaves soon after its last word, DONE or ABORT, which may be lost all the same. What
 * it was is remembered for each place, at no cost but that, and said again to a peer that still
 * tells what the last word would have ended. It goes to the address that the connection was with,
 * and nowhere else; to a packet that is a last word itself there is no answer.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/fifo.h"
#include "base/meter.h"
#include "probe/answerer.h"
#include "probe/prober.h"
#include "seal/bond.h"
#include "session/half.h"
#include "session/handshake.h"
#include "session/open/early.h"
#include "session/session.h"
#include "wire/letter.h"

#define WH_ENDPOINT_PLACES_MIN 64
#define WH_ENDPOINT_PLACES_MAX 8192
#define WH_ENDPOINT_REPLIES    63 /* 2^n - 1: see fifo.h */

/* A MAC address, or whatever the layer below wants to know again when a stranger is answered. */
#define WH_ENDPOINT_VIA_BYTES 6

/* Written by the RX core. */
struct wh_endpoint_stats {
	uint64_t packets;
	uint64_t bad[WH_WIRE_REASONS]; /* by the decoder's reason, or the seal's */
	uint64_t no_session_pkts;      /* an LCI that nobody has */
	uint64_t wrong_peer_pkts;      /* an LCI that belongs to another address */
	uint64_t bad_cookie_pkts;
	uint64_t refused_opens;
	uint64_t turned_away_pkts;     /* of who may not come */
	uint64_t unbound_pkts;         /* of a bond that nobody has here */
	uint64_t unhinted_pkts;        /* that are not answered, since others just were */
	uint64_t early_pkts;           /* kept until there was their bond */
	uint64_t hints;                /* heard: what nobody proves */
	uint64_t repeated_farewells;   /* to peers that had not heard the last word */
	uint64_t replies_dropped_pkts; /* no room for a stateless answer */
	uint64_t letters_dropped_pkts; /* of greetings that are slower than they come */
};

struct wh_endpoint_config {
	uint64_t hz;
	uint8_t key[WH_SIPHASH_KEY_BYTES]; /* the listener's secret, another one each time */
	uint32_t places;      /* a power of two: half for connections opened to us, half for ours */
	bool payload_virtual; /* as that of its sessions: input is for what opens them alone */
	/*
	 * The bonds of this process: connections are opened under one of them and are sealed, or
	 * they are refused. NULL: none is sealed that a peer opens.
	 */
	struct wh_bonds *bonds;
	struct wh_meter *rx_meter; /* of the cores; NULL: not metered */
	struct wh_meter *tx_meter;
	/*
	 * Whether an OPEN is welcome: WH_STATUS_PENDING and how many chunk buffers the connection
	 * will have, or the reason why not. NULL: this end only opens connections and refuses them
	 * all. Decoding has held the fields to the format's limits; that the profile exists,
	 * chunk_bytes is a multiple of WH_CHUNK_ALIGN and memory allows for the sizes is for this
	 * to say: accept gets what was welcome, and nothing else. `bond`: under which it comes, to
	 * be read until the call returns; NULL: under none.
	 */
	enum wh_release_status (*welcome)(void *context, uint64_t now_tsc,
		const struct wh_open_params *params, const struct wh_address *peer,
		const struct wh_bond *bond, uint32_t *buffer_chunks);
	/*
	 * Makes the session (wh_session_accept) for a proved peer, with no fewer buffers than it
	 * was told; NULL: it cannot.
	 */
	struct wh_session *(*accept)(void *context, uint64_t now_tsc, uint32_t lci,
		const struct wh_address *peer, const struct wh_bond *bond,
		const struct wh_open_params *params, uint64_t rtt_tsc);
	/*
	 * A session that was asked to close has left: no core touches it any more, and it is the
	 * owner's to destroy. Called on its home core. NULL: nobody asks to close.
	 */
	void (*gone)(void *context, struct wh_session *session);
	/*
	 * Whether the way to here may be probed by that peer now, as in wh_answerer_config; NULL:
	 * by nobody. Trains are noted with room for probe_room_pkts each.
	 */
	enum wh_release_status (*may_probe)(void *context, uint64_t now_tsc,
		const struct wh_address *peer, const struct wh_bond *bond);
	uint32_t probe_room_pkts;
	/*
	 * Whether somebody of that address may greet or probe at all; NULL: anybody. Whose OPEN is
	 * closed by a bond has greeted, or was greeted by us.
	 */
	bool (*may_come)(void *context, const struct wh_address *peer);
	/*
	 * Under which peers of IPv4 and of IPv6 address this end; family 0: not known. An ACCEPT
	 * under a bond is for the very address that its OPEN was sent from, and by the one that it
	 * was sent to, as both ends know them: redirected it does not open.
	 */
	struct wh_address own[2];
	/*
	 * Somebody takes what comes in letters_in and brings what goes out in letters_out, on one
	 * core of his own: greetings, of this queue.
	 */
	bool greets;
	uint32_t queue;
	void *context;
};

/* The last word of a session that has left. */
struct wh_farewell {
	struct wh_address peer;
	uint32_t lci;                     /* 0: none yet */
	uint8_t stage;                    /* WH_RELEASE_DONE or ABORT */
	const struct wh_session *leaving; /* from the TX core: what the RX core takes the rest of */
	struct wh_seal seal;              /* of what its peer goes on to send, ... */
	uint64_t next_release, next_state; /* ... which counts from these serials on */
	uint8_t packet[WH_HEAD_BYTES + WH_DIGEST_BYTES]; /* closed, to be sent as it is */
};

/* Sessions that the other half may still hold, the first to leave first. */
struct wh_leaving {
	struct wh_session *first;
	struct wh_session *last;
};

struct wh_endpoint {
	struct wh_endpoint_config config;
	struct wh_listener listener;
	_Atomic(struct wh_session *) *session; /* by place */
	struct wh_half *rx;
	struct wh_half *tx;
	struct wh_slot_fifo replies;        /* stateless answers: RX core -> TX core */
	struct wh_slot_fifo farewells;      /* of transmitters: TX core -> RX core */
	struct wh_slot_fifo letters_in;     /* struct wh_letter: RX core -> who greets ... */
	struct wh_slot_fifo letters_out;    /* ... -> TX core */
	struct rte_ring *opened;            /* sessions: any core -> TX core */
	_Atomic(struct wh_prober *) prober; /* NULL: none, both cores look */

	/* RX core, its cache lines apart from those above and below */
	uint8_t apart_rx[64];
	uint8_t via[WH_ENDPOINT_VIA_BYTES]; /* the caller's: from where the input comes, ... */
	uint64_t looked_tsc; /* ... and when nothing waited there, the latest; 0: unknown */
	uint64_t *spent_us; /* by place: cookies made before this open nothing there */
	uint64_t rx_draws;
	uint64_t next_hint_tsc;       /* that is said */
	struct wh_farewell *farewell; /* by place: of the latest that said one */
	struct wh_leaving rx_leaving;
	uint32_t rx_news; /* of bonds, seen */
	struct wh_early early;
	struct wh_answerer answerer; /* without arrivals: nobody may probe */
	struct wh_endpoint_stats stats;

	/* TX core */
	uint8_t apart_tx[64];
	struct wh_leaving tx_leaving;
	struct wh_session *unplaced;
	uint64_t tx_draws;
	uint32_t tx_news;           /* of bonds, seen */
	uint32_t next_turn;         /* output takes the sessions in turn */
	struct wh_address reply_to; /* of the reply handed out last */
	uint8_t reply_via[WH_ENDPOINT_VIA_BYTES];
	struct wh_address letter_to; /* of the letter handed out last */
};

/* 0 or -ENOMEM. */
int wh_endpoint_init(struct wh_endpoint *endpoint, const struct wh_endpoint_config *config);

/* No core polls any more. Sessions still in it are the caller's to destroy. */
void wh_endpoint_free(struct wh_endpoint *endpoint);

/*
 * Any core: hands over a transmitter's session, which opens its connection now; its users may ask
 * things of it from here on. Without a place for it, it ends at once as BUSY. 0, or -ENOBUFS when
 * too many are on their way at once: it stays the caller's.
 */
int wh_endpoint_open(struct wh_endpoint *endpoint, struct wh_session *session);

/*
 * Any core: probes the way to its peer from now on, until it has ended and the endpoint is polled
 * no more: it stays the caller's, and is left alone while a core may look.
 */
void wh_endpoint_probe(struct wh_endpoint *endpoint, struct wh_prober *prober);

/*
 * Whether what output wrote for `to` answers a packet without a session; *via is then what stood in
 * endpoint->via as that came. Who asks is a stranger: to answer him, nothing may be kept of him.
 */
static inline bool wh_endpoint_is_reply(
	const struct wh_endpoint *endpoint, const struct wh_address *to, const uint8_t **via)
{
	*via = endpoint->reply_via;
	return to == &endpoint->reply_to;
}

/*
 * RX core: one UDP payload from `from`, which came in at arrived_tsc <= now_tsc. It may be opened
 * where it is: its bytes are not the caller's any more.
 */
void wh_endpoint_input(struct wh_endpoint *endpoint, uint64_t now_tsc, uint64_t arrived_tsc,
	uint8_t *bytes, size_t length, const struct wh_address *from);

/* RX core, once a turn, after the input: receivers that are due. */
int32_t wh_endpoint_receive_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);

/* TX core, once a turn, before the output: new transmitters, and those that are due. */
int32_t wh_endpoint_send_poll(struct wh_endpoint *endpoint, uint64_t now_tsc);

/* TX core: packets to send, at most `count`; they are valid until the next turn. */
uint32_t wh_endpoint_output(
	struct wh_endpoint *endpoint, uint64_t now_tsc, struct wh_out *out, uint32_t count);

/* When the half wants its next turn if nothing arrives before; 0: at once. */
uint64_t wh_endpoint_receive_deadline(const struct wh_endpoint *endpoint);
uint64_t wh_endpoint_send_deadline(const struct wh_endpoint *endpoint);

/* Packets that were not a packet of any session here, whatever the reason. */
uint64_t wh_endpoint_bad_pkts(const struct wh_endpoint *endpoint);

#endif
