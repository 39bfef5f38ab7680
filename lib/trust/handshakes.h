/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The handshake server: all handshakes of a host, from peers and to peers, and the SAs that
 * result. Handshake packets go in and out as handshake datagrams; the endpoints have already
 * checked that a packet has a valid cookie of ours, or answers one of our handshakes.
 *
 *   us                                    peer
 *   ASK                         ------>   (keeps nothing)
 *                               <------   COOKIE
 *   CRYPTO: cookie, TLS         <----->   CRYPTO: TLS
 *
 * The first packet of a handshake carries the endpoint's offer of a session, which the server
 * passes on to its peer. The client has its SA, and the offer, as soon as the server has proved
 * its key and is trusted; the server's verdict comes later, and if it refuses us the SA is
 * revoked.
 *
 * The cost that strangers can cause is bounded. Nothing is signed before a cookie has proved the
 * peer's address. There are limits on handshakes from peers: in total, per subnet, per address
 * (IPv6: per /64), and per second, with room for hosts that are known (shares.h). A handshake that
 * takes too long is ended; if all places are taken the oldest one of a stranger makes room, once it
 * has had a few round trips, at most WH_HANDSHAKE_GRACE_MS. Until a peer has proved its key it is
 * sent at most WH_HANDSHAKE_GAIN bytes for each byte received.
 *
 * A peer whose handshake has no place, or has lost it, is told so by a COOKIE with WH_FLAG_LATER,
 * and begins again within WH_PUT_OFF_MS. So is a peer whose server was restarted meanwhile.
 *
 * One core calls take, give and poll; any core may ask for the SA with a peer
 * (wh_handshakes_attempt).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "seal/sa.h"
#include "trust/authorizer.h"
#include "trust/handshake.h"
#include "trust/shares.h"
#include "trust/stream.h"
#include "wire/cookie.h"
#include "wire/handshake_datagram.h"

#define WH_HANDSHAKE_GAIN     3
#define WH_HANDSHAKE_GRACE_MS 250
#define WH_HANDSHAKE_S        20 /* longest handshake; less than its cookie's lifetime */
#define WH_PUT_OFF_MS         1000
#define WH_SA_IDLE_S          600 /* an SA ends after this time without a session */

#define WH_HANDSHAKES_PENDING     256 /* in total, including our own */
#define WH_HANDSHAKES_OF_ADDRESS  16
#define WH_HANDSHAKES_PER_SECOND  2000
#define WH_HANDSHAKES_KNOWN_PEERS 64
#define WH_HANDSHAKES_PUT_OFFS    64 /* most peers told so in one turn */

struct wh_pending;

/* The result of a handshake. */
struct wh_handshakes_news {
	struct wh_address peer;
	bool came;
	uint8_t id[WH_IDENTITY_BYTES];       /* identity that the peer has proved; zeros: none */
	enum wh_auth_verdict verdict;        /* WELCOME by both ends: there is an SA */
	const char *broken_by;               /* a constant: why there is no verdict; or NULL */
	bool by_peer;                        /* the verdict is the peer's */
	char version[WH_AUTH_VERSION_BYTES]; /* of the peer's wavehaul; "": unknown */
};

/* A peer's cookie that came by another way than its UDP packets. */
struct wh_told_cookie {
	struct wh_address peer; /* family 0: none */
	uint8_t cookie[WH_COOKIE_BYTES];
};

struct wh_handshakes_config {
	uint64_t hz;
	uint8_t key[WH_SIPHASH_KEY_BYTES];  /* of the endpoints, for cookies */
	const struct wh_identity *identity; /* ours; must outlive the handshake server */
	uint8_t ciphers;                    /* that we support: bit n stands for enum wh_cipher n */
	const char *version;
	struct wh_told_cookie told; /* the first handshake with that peer begins without ASK */
	struct wh_sadb *sadb;
	/* Limits; 0: the constants above. */
	uint32_t n_pending;
	uint32_t pending_of_address;
	uint32_t per_second;
	/* Decides whom to trust; NULL `authorize`: only peers with our own key. */
	struct wh_authorizer authorizer;
	void (*tell)(void *context, const struct wh_handshakes_news *news); /* or NULL */
	void *context;
};

enum wh_attempt_state {
	WH_ATTEMPT_ASKS = 0, /* no answer yet */
	WH_ATTEMPT_RUNS,
	WH_ATTEMPT_JUDGED, /* the peer is known, the trust decision is pending */
	WH_ATTEMPT_HAS_SA, /* we trust the peer; its verdict may be outstanding */
	WH_ATTEMPT_REFUSED,
	WH_ATTEMPT_FULL, /* too many peers at once */
};

struct wh_attempt {
	enum wh_attempt_state state;
	/* Of a refusal; and whether the peer made it. */
	enum wh_auth_verdict verdict;
	bool by_peer;
	/*
	 * Unauthenticated hints: the peer has no place for us; it does not make handshakes; it
	 * speaks only versions from `least` to `most` (0: no hint).
	 */
	bool put_off;
	bool unsealed;
	uint8_t least, most;
	bool seen; /* peer_id is known */
	uint8_t peer_id[WH_IDENTITY_BYTES];
	struct wh_sa *sa; /* HAS_SA: held for the caller, which lets it go */
};

/* A peer that we look for, by address. Protected by the handshake server's lock. */
struct wh_known_peer {
	struct wh_address peer; /* family 0: free */
	uint64_t wanted_tsc;
	struct wh_attempt attempt; /* its SA is one of those kept below */

	/* Used by the handshake server's core only. */
	uint64_t number;
	uint64_t next_ask_tsc;
	uint64_t patience_tsc;
	uint64_t asked_tsc;
	bool asks;           /* we ask the peer for a cookie */
	bool ask_due;        /* the next ASK is to be sent now */
	bool with_handshake; /* the cookie has arrived, and a handshake is going on */
	uint32_t put_offs;   /* in a row */
};

/* A peer that has to be told that its handshake is not here. */
struct wh_put_off {
	struct wh_address peer;
	uint32_t queue;
	uint8_t via[WH_VIA_BYTES];
	struct wh_cookie cookie; /* of that handshake: the peer may have begun another since */
};

/* An SA, with sessions or without. */
struct wh_kept_sa {
	struct wh_sa *sa; /* NULL: free */
	uint64_t used_tsc;
};

struct wh_handshakes_stats {
	uint64_t began; /* handshakes from peers */
	uint64_t met;
	uint64_t sas;           /* handshakes that resulted in an SA */
	uint64_t refused;       /* by either end */
	uint64_t broken;        /* TLS failed */
	uint64_t late;          /* took too long */
	uint64_t crowded_out;   /* made room for others */
	uint64_t turned_away;   /* no place, too many from an address, or too many per second */
	uint64_t put_off;       /* peers told to begin again */
	uint64_t bad_datagrams; /* datagrams that fit no handshake */
	uint64_t in_bytes;      /* UDP payload of datagrams */
	uint64_t out_bytes;
};

struct wh_handshakes {
	struct wh_handshakes_config config;
	struct wh_handshake_ends ends;
	uint8_t process[WH_PROCESS_BYTES]; /* random, another one in each process */
	struct wh_pending *pending;        /* config.n_pending of them */
	uint32_t n_pending;                /* in use */
	uint32_t next_turn;
	struct wh_shares *shares;
	struct wh_put_off put_off[WH_HANDSHAKES_PUT_OFFS];
	uint32_t put_offs;
	uint64_t next_sweep_tsc;
	bool told_used;          /* the cookie that was told */
	struct wh_kept_sa *kept; /* one for each place in the table of SAs */
	struct wh_handshakes_stats stats;

	struct wh_spin lock; /* protects what follows */
	struct wh_known_peer known_peer[WH_HANDSHAKES_KNOWN_PEERS];
};

/* 0, -ENOMEM, or -EBADMSG: TLS rejects the identity. */
int wh_handshakes_init(struct wh_handshakes *handshakes, const struct wh_handshakes_config *config);

/*
 * After the last wh_handshakes_attempt. SAs are ended, and wiped once their sessions have let go.
 */
void wh_handshakes_free(struct wh_handshakes *handshakes);

/* Takes a received datagram. True: this cost a step of TLS, some 100 us; else next to nothing. */
bool wh_handshakes_take(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_handshake_datagram *datagram);

/* The next datagram to send; false: there is none now. */
bool wh_handshakes_give(
	struct wh_handshakes *handshakes, uint64_t now_tsc, struct wh_handshake_datagram *datagram);

/* Runs what is due; returns the amount of work done. */
int32_t wh_handshakes_poll(struct wh_handshakes *handshakes, uint64_t now_tsc);

/*
 * Any core: the state of the SA with a peer. Without an SA this starts to look for the peer,
 * until WH_ATTEMPT_WANTED_S after the last call.
 */
#define WH_ATTEMPT_WANTED_S 5
void wh_handshakes_attempt(struct wh_handshakes *handshakes, uint64_t now_tsc,
	const struct wh_address *peer, struct wh_attempt *attempt);
