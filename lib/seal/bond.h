/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SEAL_BOND_H
#define WH_SEAL_BOND_H

/*
 * What two processes share once they know each other: a secret, who the other one is, and a number
 * at each end by which the other names the bond in what it closes with it. All sessions between the
 * two, both ways, are opened under it.
 *
 * A table has places for them, in memory that stays as long as the table does. One word of a place
 * says whose it is and how many hold it, so that any core may ask for a bond at any time without a
 * lock: it gets the one with that number, or none. A place is wiped and free again when the bond
 * has ended and the last holder has let go.
 *
 *   wh_bonds_reserve   a number, to be told to the peer in the greeting
 *   wh_bonds_fill      the bond under it; held by who fills it, until wh_bond_end
 *   wh_bonds_hold      any core: by number; each hold is let go once (wh_bond_let_go)
 *   wh_bond_end        nobody finds it any more; who holds it may go on
 *   wh_bond_revoke     likewise, and sessions under it end
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "seal/gcm.h"
#include "seal/secret.h"
#include "wire/encap.h"

#define WH_IDENTITY_BYTES 32
#define WH_PROCESS_BYTES  16 /* drawn by each process anew */

#define WH_BOND_PLACES_MIN 16
#define WH_BOND_PLACES_MAX (UINT32_C(1) << 16)

/* A session that may be confirmed without having been asked for, as it travels. */
struct wh_offered {
	uint32_t lci; /* the acceptor's; 0: there is none */
	uint8_t cookie[WH_COOKIE_BYTES];
} __attribute__((packed));

/* The same at the end that it was offered to: for the first session between these two queues. */
struct wh_bond_offer {
	struct wh_offered offered;
	struct wh_address peer;
	uint32_t queue; /* ours */
	uint32_t rtt_us;
	uint64_t came_us;
};

struct wh_bond_config {
	uint8_t secret[WH_SECRET_BYTES]; /* the same at both ends, and nowhere else */
	uint8_t own_identity[WH_IDENTITY_BYTES];
	uint8_t peer_identity[WH_IDENTITY_BYTES];
	struct wh_address peer; /* from where it was greeted; family 0: not known */
	uint8_t peer_process[WH_PROCESS_BYTES];
	uint32_t peer_number; /* by which the peer knows it */
	enum wh_cipher cipher;
	bool asked; /* this end asked for the greeting, the other one did not */
	struct wh_bond_offer offer;
	/* What the peer may do here, and who is charged: who gave them reads them, nobody here. */
	uint64_t rights;
	uint8_t owner[WH_IDENTITY_BYTES];
};

struct wh_bond {
	_Atomic uint64_t state;       /* bond.c */
	struct wh_bond_config config; /* the secret is in it: never copied as a whole */
	_Atomic uint64_t sent;        /* serials of what was closed by the bond itself */
	/* Of what the peer closes, and of what we do; its key of number 0 is at hand. */
	uint8_t secret[2][WH_SECRET_BYTES];
	struct wh_gcm_raw raw[2];
	uint64_t probed_end; /* an answerer's: one past the latest probe that was proved */
	_Atomic bool offer_taken;
	_Atomic bool revoked;
	_Atomic bool hinted; /* somebody says that the peer knows it no more */
	_Atomic uint64_t doubted_tsc;
	_Atomic uint32_t successor;
};

/* Kept by one owner; `hold` is for any core. */
struct wh_bonds {
	struct wh_bond *bond;
	uint32_t places; /* a power of two */
	uint32_t cursor;
	_Atomic uint32_t news; /* counts what sessions under some bond have to see soon */
};

/* 0 or -ENOMEM. */
int wh_bonds_init(struct wh_bonds *bonds, uint32_t places);

/* No core asks any more; whatever is left is wiped. */
void wh_bonds_free(struct wh_bonds *bonds);

/*
 * Any core: a number that is not 0 and that no other bond here has, made of a place and of
 * `random`; or 0 when all places are taken. It is given back by wh_bonds_cancel, or filled.
 */
uint32_t wh_bonds_reserve(struct wh_bonds *bonds, uint32_t random);
void wh_bonds_cancel(struct wh_bonds *bonds, uint32_t number);

/* A reserved number becomes a bond, which the caller holds. */
struct wh_bond *wh_bonds_fill(
	struct wh_bonds *bonds, uint32_t number, const struct wh_bond_config *config);

/* Any core: the bond with that number, held once more, or NULL. */
struct wh_bond *wh_bonds_hold(struct wh_bonds *bonds, uint32_t number);

/* Any core: whether a bond with that number is to come; of one moment. */
bool wh_bonds_is_reserved(const struct wh_bonds *bonds, uint32_t number);

/* Any core: what was offered, to one session with that peer by that queue of ours, or NULL. */
const struct wh_bond_offer *wh_bond_take_offer(
	struct wh_bond *bond, const struct wh_address *peer, uint32_t queue);

/* Who holds it: for somebody else, who lets it go. */
void wh_bond_share(struct wh_bond *bond);

/* Its last holder wipes it. NULL is allowed. */
void wh_bond_let_go(struct wh_bond *bond);

/* Who holds it: from now on nobody finds it. May be said more than once, by anybody. */
void wh_bond_end(struct wh_bond *bond);
void wh_bond_revoke(struct wh_bond *bond);

/* Whoever has sessions looks at their bonds when this has changed. */
static inline void wh_bonds_tell(struct wh_bonds *bonds)
{
	atomic_fetch_add_explicit(&bonds->news, 1, memory_order_release);
}

static inline uint32_t wh_bonds_news(const struct wh_bonds *bonds)
{
	return atomic_load_explicit(&bonds->news, memory_order_acquire);
}

/*
 * Another process of the same peer greets from the same address and port: the one that this bond is
 * with has ended, or two share them. So the bond is doubted from that moment on, until its sessions
 * have heard of the old one (wh_bond_clear_doubt), or have asked and did not hear
 * (wh_bond_confirm_doubt).
 */
static inline void wh_bond_doubt(struct wh_bond *bond, uint64_t now_tsc)
{
	uint64_t before = 0;

	atomic_compare_exchange_strong(&bond->doubted_tsc, &before, now_tsc);
}

/* Since when; 0: it is not. WH_TSC_NEVER: the process has ended. */
static inline uint64_t wh_bond_doubted_tsc(const struct wh_bond *bond)
{
	return atomic_load_explicit(&bond->doubted_tsc, memory_order_relaxed);
}

void wh_bond_clear_doubt(struct wh_bond *bond, uint64_t doubted_tsc);
void wh_bond_confirm_doubt(struct wh_bond *bond, uint64_t doubted_tsc);

static inline bool wh_bond_is_revoked(const struct wh_bond *bond)
{
	return atomic_load_explicit(&bond->revoked, memory_order_relaxed);
}

/*
 * Another bond with the same peer, which knows this one no more; 0: none. Who has begun nothing
 * under this one yet begins under that.
 */
static inline uint32_t wh_bond_successor(const struct wh_bond *bond)
{
	return atomic_load_explicit(&bond->successor, memory_order_acquire);
}

static inline void wh_bond_succeed(struct wh_bond *bond, uint32_t number)
{
	atomic_store_explicit(&bond->successor, number, memory_order_release);
}

/* Whether it can still be found. */
bool wh_bond_is_alive(const struct wh_bond *bond);

/* How many hold it: who filled it is one of them, each session is one. */
uint32_t wh_bond_holders(const struct wh_bond *bond);

/* By which the peer names it. */
uint32_t wh_bond_number(const struct wh_bond *bond);

/* The serial of the next packet that is closed by the bond itself: none comes twice. */
static inline uint64_t wh_bond_next_serial(struct wh_bond *bond)
{
	return atomic_fetch_add_explicit(&bond->sent, 1, memory_order_relaxed);
}

/*
 * A packet that is of no session yet, by any core: closed with a serial of wh_bond_next_serial;
 * opened in place. `about` is a number that both ends know: what was closed about another one does
 * not open. False: it does not open, or there is no memory.
 */
bool wh_bond_close(
	const struct wh_bond *bond, uint64_t about, uint8_t *packet, size_t packet_bytes);
bool wh_bond_open(const struct wh_bond *bond, uint64_t about, uint8_t *packet, size_t packet_bytes);

/*
 * For who opens or closes more than one about that number: by wh_gcm_open_packet, which is much
 * cheaper, or by seals (wh_seal_begin_raw).
 */
void wh_bond_opening_key(const struct wh_bond *bond, uint64_t about, struct wh_gcm_raw *raw);
void wh_bond_closing_key(const struct wh_bond *bond, uint64_t about, struct wh_gcm_raw *raw);

/* For who reads packets later: the key about that number, as a line of a keylog (seal.h). */
void wh_bond_log_key(const struct wh_bond *bond, bool by_us, uint64_t about, const char *use,
	uint32_t identifier);

/*
 * A secret of what both ends know and say likewise: with the numbers and identities of both in it,
 * so that it is of this bond and these two, whoever asks.
 */
void wh_bond_derive(const struct wh_bond *bond, const char *purpose, const void *transcript,
	size_t transcript_bytes, uint8_t secret[WH_SECRET_BYTES]);

#endif
