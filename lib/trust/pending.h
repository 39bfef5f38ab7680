/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The parts of a handshake server, private to lib/trust. */

#include "seal/seal.h"
#include "trust/handshakes.h"
#include "wire/versions.h"

/* A handshake in progress. */
struct wh_pending {
	bool used;
	bool came;              /* the peer began it; else we did */
	enum wh_host_rank rank; /* of its host when it began */
	bool proved;            /* the peer has proved its key: it was MET */
	bool over;              /* the verdict is known: only the last bytes have to be delivered */
	struct wh_sa *sa;       /* client: made and referenced before the peer's verdict; or NULL */
	uint32_t rtt_us;
	struct wh_address peer;
	uint32_t queue;
	uint8_t via[WH_VIA_BYTES];
	uint64_t number;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint64_t began_tsc;
	uint64_t grace_tsc; /* from began_tsc on: it keeps its place for at least this long */
	uint64_t until_tsc;
	uint64_t heard_tsc;
	bool silent;      /* client: the server is not heard, and asked for another cookie */
	uint64_t ask_tsc; /* MET: when to ask for the trust decision again */
	uint64_t in_bytes;
	uint64_t out_bytes;
	struct wh_granted granted;
	uint32_t sa_number; /* reserved; 0: none */
	struct wh_handshake handshake;
	struct wh_stream *stream;
};

/*
 * pending.c. _begin: begins a handshake in a free place, or in that of one that makes room; NULL:
 * there is none. _put_off: tells a peer that its handshake is not here. _reserve: a number for an
 * SA; 0: none is free. _auth: fills in an auth message of ours.
 */
struct wh_pending *wh_pending_begin(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_crypto *packet, bool came);
struct wh_pending *wh_pending_find(struct wh_handshakes *handshakes,
	const struct wh_handshake_datagram *datagram, const struct wh_crypto *packet, bool came);
void wh_pending_end(struct wh_handshakes *handshakes, struct wh_pending *pending);
void wh_pending_put_off(
	struct wh_handshakes *handshakes, uint64_t now_tsc, const struct wh_put_off *put_off);
uint32_t wh_pending_reserve(struct wh_handshakes *handshakes);
void wh_pending_auth(const struct wh_handshakes *handshakes, struct wh_auth *auth,
	enum wh_auth_verdict verdict, uint32_t number);

/* attempt.c. _step: the handshake has advanced, or a decision is due. _give_up: it failed. */
void wh_pending_step(
	struct wh_handshakes *handshakes, struct wh_pending *pending, uint64_t now_tsc);
void wh_pending_give_up(
	struct wh_handshakes *handshakes, struct wh_pending *pending, const char *why);

/* The same address and key. Another key there is another server: no session moves to it. */
static inline bool wh_keep_is_of_same_peer(const struct wh_sa *one, const struct wh_sa *other)
{
	return wh_address_equal(&one->config.peer, &other->config.peer) &&
	       memcmp(one->config.peer_identity, other->config.peer_identity, WH_IDENTITY_BYTES) ==
		       0;
}

/*
 * keep.c. _succeed: a new SA that we asked for becomes the successor of those that its peer has
 * lost.
 */
bool wh_keep_sa(struct wh_handshakes *handshakes, struct wh_sa *sa, uint64_t now_tsc);
void wh_keep_succeed(struct wh_handshakes *handshakes, const struct wh_sa *sa);
void wh_keep_revoke(struct wh_handshakes *handshakes, struct wh_sa *sa);
void wh_keep_sweep(struct wh_handshakes *handshakes, uint64_t now_tsc);
void wh_keep_end(struct wh_handshakes *handshakes);

/* cookies.c */
void wh_cookies_take(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_cookie *packet);
void wh_cookies_take_told(struct wh_handshakes *handshakes, uint64_t now_tsc);
void wh_cookies_put_off(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram, const struct wh_cookie *packet);

/*
 * known_peer.c, for the handshake server's core. _takes: whether a handshake begins with that
 * cookie, and when the peer was asked for it; later cookies are ignored. _wait: the peer has put us
 * off. _lost: a handshake of ours failed. _seek: sessions need a successor of a lost SA. _forget:
 * an SA ends. _ask: writes an ASK that is due.
 */
bool wh_known_peer_takes(struct wh_handshakes *handshakes, const struct wh_address *peer,
	const struct wh_cookie *packet, uint64_t *asked_tsc);
void wh_known_peer_wait(
	struct wh_handshakes *handshakes, const struct wh_address *peer, uint64_t now_tsc);
void wh_known_peer_versions(struct wh_handshakes *handshakes,
	const struct wh_handshake_datagram *datagram, const struct wh_versions *versions);
void wh_known_peer_settle(struct wh_handshakes *handshakes, const struct wh_pending *pending,
	uint64_t now_tsc, const struct wh_attempt *attempt);
void wh_known_peer_judged(struct wh_handshakes *handshakes, const struct wh_pending *pending);
void wh_known_peer_lost(
	struct wh_handshakes *handshakes, const struct wh_address *peer, uint64_t now_tsc);
void wh_known_peer_seek(struct wh_handshakes *handshakes, uint64_t now_tsc, struct wh_sa *lost);
void wh_known_peer_forget(struct wh_handshakes *handshakes, const struct wh_sa *sa);
int32_t wh_known_peer_poll(struct wh_handshakes *handshakes, uint64_t now_tsc);
bool wh_known_peer_ask(struct wh_handshakes *handshakes, struct wh_handshake_datagram *datagram);

/* Encodes and seals the packet, and sets the datagram's length. */
static inline void wh_handshake_datagram_write(
	struct wh_handshake_datagram *datagram, const struct wh_packet *packet)
{
	datagram->bytes = wh_packet_encode(packet, datagram->packet, sizeof(datagram->packet));
	wh_seal_close_packet(&wh_seal_to_listener, datagram->packet, datagram->bytes);
}
