/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A security association (SA) is what two authenticated processes share: a secret, the identity of
 * the other end, and a number at each end by which the other addresses the SA in packets sealed
 * with it. All sessions between the two, in both directions, are opened under it.
 *
 * A table has places for SAs, in memory that stays as long as the table does. One atomic word per
 * place contains the SA's number and the count of its holders, so that any core may look up an
 * SA at any time without a lock: it gets the one with that number, or none. A place is wiped and
 * free again when the SA has ended and the last holder has let go.
 *
 *   wh_sadb_reserve    a number, sent to the peer in the handshake
 *   wh_sadb_fill       the SA with that number; its creator holds it, until wh_sa_end
 *   wh_sadb_hold       any core: by number; each hold needs one wh_sa_let_go
 *   wh_sa_end          it cannot be found any more; holders may continue to use it
 *   wh_sa_revoke       the same, and sessions under it end
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "seal/gcm.h"
#include "seal/secret.h"
#include "wire/encap.h"

#define WH_IDENTITY_BYTES 32
#define WH_PROCESS_BYTES  16 /* drawn by each process when it starts */

#define WH_SA_PLACES_MIN 16
#define WH_SA_PLACES_MAX (UINT32_C(1) << 16)

/* A place for a session, offered without an OPEN; in wire format. */
struct wh_offered {
	uint32_t cid; /* the acceptor's; 0: none */
	uint8_t cookie[WH_COOKIE_BYTES];
} __attribute__((packed));

/* The offer at the end that received it: for the first session between these two queues. */
struct wh_sa_offer {
	struct wh_offered offered;
	struct wh_address peer;
	uint32_t queue; /* ours */
	uint32_t rtt_us;
	uint64_t came_us;
};

struct wh_sa_config {
	uint8_t secret[WH_SECRET_BYTES]; /* known to both ends only */
	uint8_t own_identity[WH_IDENTITY_BYTES];
	uint8_t peer_identity[WH_IDENTITY_BYTES];
	struct wh_address peer; /* address from which it made the handshake; family 0: unknown */
	uint8_t peer_process[WH_PROCESS_BYTES];
	uint32_t peer_number; /* of the SA at the peer */
	enum wh_cipher cipher;
	bool asked; /* this end asked for the handshake */
	struct wh_sa_offer offer;
	/*
	 * The peer's rights here, and whose limits apply: set and read by the owner, not used here.
	 */
	uint64_t rights;
	uint8_t owner[WH_IDENTITY_BYTES];
};

struct wh_sa {
	_Atomic uint64_t state;     /* sa.c */
	struct wh_sa_config config; /* contains the secret: never copied as a whole */
	_Atomic uint64_t sent;      /* number of packets sealed by the SA itself */
	/* [0]: of packets that the peer seals, [1]: of ours. `raw`: the keys about number 0. */
	uint8_t secret[2][WH_SECRET_BYTES];
	struct wh_gcm_raw raw[2];
	uint64_t probed_end; /* of an answerer: one past the latest authenticated probe */
	_Atomic bool offer_taken;
	_Atomic bool revoked;
	_Atomic bool hinted; /* an unauthenticated hint says that the peer has lost the SA */
	_Atomic uint64_t doubted_tsc;
	_Atomic uint32_t successor;
};

/* Written by one owner; `hold` may be called by any core. */
struct wh_sadb {
	struct wh_sa *sa;
	uint32_t places; /* a power of two */
	uint32_t cursor;
	_Atomic uint32_t news; /* counts changes of SAs that sessions must see soon */
};

/* 0 or -ENOMEM. */
int wh_sadb_init(struct wh_sadb *sadb, uint32_t places);

/* After all other cores have stopped using it; remaining SAs are wiped. */
void wh_sadb_free(struct wh_sadb *sadb);

/*
 * Any core: a number other than 0 that no other SA here has, made of a place and `random`; or 0
 * if all places are taken. Must be cancelled, or filled.
 */
uint32_t wh_sadb_reserve(struct wh_sadb *sadb, uint32_t random);
void wh_sadb_cancel(struct wh_sadb *sadb, uint32_t number);

/* Makes a reserved number an SA, held by the caller. */
struct wh_sa *wh_sadb_fill(
	struct wh_sadb *sadb, uint32_t number, const struct wh_sa_config *config);

/* Any core: the SA with that number, with one more hold, or NULL. */
struct wh_sa *wh_sadb_hold(struct wh_sadb *sadb, uint32_t number);

/* Any core: whether an SA with that number is reserved now. */
bool wh_sadb_is_reserved(const struct wh_sadb *sadb, uint32_t number);

/* Any core: the offer, once, for a session with that peer by that queue of ours, or NULL. */
const struct wh_sa_offer *wh_sa_take_offer(
	struct wh_sa *sa, const struct wh_address *peer, uint32_t queue);

/* For a holder: one more hold for somebody else. */
void wh_sa_share(struct wh_sa *sa);

/* The last holder wipes the SA. NULL is allowed. */
void wh_sa_let_go(struct wh_sa *sa);

/* For holders: the SA cannot be found any more. May be called repeatedly, by any of them. */
void wh_sa_end(struct wh_sa *sa);
void wh_sa_revoke(struct wh_sa *sa);

/* When this has changed, owners of sessions check their SAs. */
static inline void wh_sadb_tell(struct wh_sadb *sadb)
{
	atomic_fetch_add_explicit(&sadb->news, 1, memory_order_release);
}

static inline uint32_t wh_sadb_news(const struct wh_sadb *sadb)
{
	return atomic_load_explicit(&sadb->news, memory_order_acquire);
}

/*
 * Another process of the same peer has made a handshake with us from the same address and port.
 * Either the process of this SA has ended, or two share the address. The SA is in doubt until its
 * sessions have heard from the old process (wh_sa_clear_doubt), or have asked in vain
 * (wh_sa_confirm_doubt).
 */
static inline void wh_sa_doubt(struct wh_sa *sa, uint64_t now_tsc)
{
	uint64_t before = 0;

	atomic_compare_exchange_strong(&sa->doubted_tsc, &before, now_tsc);
}

/* Beginning of the doubt; 0: none. WH_TSC_NEVER: the process has ended. */
static inline uint64_t wh_sa_doubted_tsc(const struct wh_sa *sa)
{
	return atomic_load_explicit(&sa->doubted_tsc, memory_order_relaxed);
}

void wh_sa_clear_doubt(struct wh_sa *sa, uint64_t doubted_tsc);
void wh_sa_confirm_doubt(struct wh_sa *sa, uint64_t doubted_tsc);

static inline bool wh_sa_is_revoked(const struct wh_sa *sa)
{
	return atomic_load_explicit(&sa->revoked, memory_order_relaxed);
}

/*
 * Number of a newer SA with the same peer, if the peer has lost this one; 0: none. Sessions that
 * are not open yet move to it when they see it.
 */
static inline uint32_t wh_sa_successor(const struct wh_sa *sa)
{
	return atomic_load_explicit(&sa->successor, memory_order_acquire);
}

static inline void wh_sa_succeed(struct wh_sa *sa, uint32_t number)
{
	atomic_store_explicit(&sa->successor, number, memory_order_release);
}

/* The successor `number` has ended; another one that was named meanwhile stays. */
static inline void wh_sa_give_up_successor(struct wh_sa *sa, uint32_t number)
{
	atomic_compare_exchange_strong(&sa->successor, &number, 0);
}

/* Whether wh_sadb_hold can find it. */
bool wh_sa_is_alive(const struct wh_sa *sa);

/* Number of holders: its creator, and one per session. */
uint32_t wh_sa_holders(const struct wh_sa *sa);

/* The number by which the peer addresses the SA. */
uint32_t wh_sa_number(const struct wh_sa *sa);

/* The packet number of the next packet sealed by the SA itself; never repeats. */
static inline uint64_t wh_sa_next_pn(struct wh_sa *sa)
{
	return atomic_fetch_add_explicit(&sa->sent, 1, memory_order_relaxed);
}

/*
 * Any core: seals a packet of no session, with a packet number of wh_sa_next_pn; opens one in
 * place. `about` is a number known to both ends: a packet sealed about another number does not
 * open. False: it does not open, or no memory.
 */
bool wh_sa_close(const struct wh_sa *sa, uint64_t about, uint8_t *packet, size_t packet_bytes);
bool wh_sa_open(const struct wh_sa *sa, uint64_t about, uint8_t *packet, size_t packet_bytes);

/*
 * For users of several packets about that number, to whom the above is too dear: our key or the
 * peer's, for wh_gcm_open_packet; or seals for probes. Without an SA these are checksums. `memory`
 * is for two, as for wh_seal_begin_raw; false: no memory.
 */
void wh_sa_key(const struct wh_sa *sa, bool by_us, uint64_t about, struct wh_gcm_raw *raw);
struct wh_seal;
bool wh_sa_begin_seals(const struct wh_sa *sa, uint64_t about, struct wh_seal *closing,
	struct wh_seal *opening, uint8_t *memory);

/* Writes the key about that number to the keylog (seal.h). */
void wh_sa_log_key(
	const struct wh_sa *sa, bool by_us, uint64_t about, const char *use, uint32_t identifier);

/*
 * Derives a secret from what both ends know and have said. It includes the numbers and identities
 * of both ends, so that it is specific to this SA.
 */
void wh_sa_derive(const struct wh_sa *sa, const char *purpose, const void *transcript,
	size_t transcript_bytes, uint8_t secret[WH_SECRET_BYTES]);
