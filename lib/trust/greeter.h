/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_GREETER_H
#define WH_TRUST_GREETER_H

/*
 * All greetings of a host, of peers that come and of those that we look for, and the bonds that
 * come of them. Letters go in and out; the endpoints have checked what comes: that a cookie is
 * ours, or an answer for one of our numbers.
 *
 *   us                                    peer
 *   ASK                         ------>   (nothing is kept)
 *                               <------   COOKIE
 *   CRYPTO: cookie, TLS         <----->   CRYPTO: TLS
 *
 * The first bytes of a greeting come with an offer of the endpoint's, which the peer is told. Who
 * greets has its bond, and the offer, once the other end has proved its key and is taken: what that
 * end thinks of us comes later, and where it refuses us the bond is revoked.
 *
 * What strangers can cost is bounded. No key is used for anybody before a cookie has proved his
 * address. Of those that come there are so many at once, so many of one address (of IPv6: its /64),
 * and so many that begin in a second; who takes too long goes, and where there is no place the one
 * that has been at it for longest does, after a few round trips or WH_GREETING_GRACE_MS. Until a
 * peer has proved his key he is sent no more than WH_GREETING_GAIN bytes for each of his.
 *
 * One core takes, gives and polls; any core may ask for the bond with a peer (wh_greeter_meet).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "seal/bond.h"
#include "trust/believer.h"
#include "trust/greeting.h"
#include "trust/stream.h"
#include "wire/cookie.h"
#include "wire/letter.h"

#define WH_GREETING_GAIN     3
#define WH_GREETING_GRACE_MS 500
#define WH_GREETING_S        20  /* that a greeting may take, less than its cookie is good for */
#define WH_BOND_IDLE_S       600 /* a bond that no session needed for so long ends */

#define WH_GREETER_GUESTS        256 /* at once, ours among them */
#define WH_GREETER_OF_ADDRESS    16
#define WH_GREETER_PER_SECOND    2000
#define WH_GREETER_ACQUAINTANCES 64

struct wh_guest;

/* What became of a greeting. */
struct wh_greeter_news {
	struct wh_address peer;
	bool came;
	uint8_t id[WH_IDENTITY_BYTES];       /* that he has proved; zeros: none */
	enum wh_reception verdict;           /* WELCOME at both ends: there is a bond */
	const char *broken_by;               /* a constant: why there is no verdict; or NULL */
	bool by_peer;                        /* the verdict is his */
	char version[WH_CARD_VERSION_BYTES]; /* of his wavehaul; "": he did not say */
};

struct wh_greeter_config {
	uint64_t hz;
	uint8_t key[WH_SIPHASH_KEY_BYTES];  /* of the endpoints, for cookies */
	const struct wh_identity *identity; /* ours; must stay until the end */
	uint8_t ciphers;                    /* that we take: bit n is of enum wh_cipher n */
	const char *version;
	struct wh_bonds *bonds;
	uint32_t guests; /* 0: WH_GREETER_GUESTS; likewise: */
	uint32_t guests_of_address;
	uint32_t per_second;
	/* Whom to trust; NULL `believe`: who has our own key, and nobody else. */
	struct wh_believer believer;
	void (*tell)(void *context, const struct wh_greeter_news *news); /* or NULL */
	void *context;
};

enum wh_meeting_state {
	WH_MEETING_ASKS = 0, /* nothing was heard yet */
	WH_MEETING_GREETS,
	WH_MEETING_JUDGED, /* who he is is known, not yet whether he is trusted */
	WH_MEETING_BONDED, /* as far as we are concerned */
	WH_MEETING_REFUSED,
	WH_MEETING_FULL, /* too many peers at once */
};

struct wh_meeting {
	enum wh_meeting_state state;
	enum wh_reception verdict; /* of one that was refused, ... */
	bool by_peer;              /* ... and by whom */
	bool unsealed;             /* somebody says that nobody greets there: a hint, ... */
	uint8_t least, most;       /* ... or which other versions are spoken; 0: nobody does */
	bool seen;                 /* peer_id is known */
	uint8_t peer_id[WH_IDENTITY_BYTES];
	struct wh_bond *bond; /* BONDED: held for the caller, who lets it go */
};

/* A peer that we look for, by address. The lock is the greeter's. */
struct wh_acquaintance {
	struct wh_address peer; /* family 0: none */
	uint64_t wanted_tsc;
	struct wh_meeting meeting; /* its bond is one that is kept below */

	/* The greeter's core. */
	uint64_t number;
	uint64_t next_ask_tsc;
	uint64_t patience_tsc;
	uint64_t asked_tsc;
	bool asks;    /* for a cookie, ... */
	bool ask_due; /* ... and is to ask now */
	bool greets;  /* has one, and a greeting */
};

/* A bond that has no session now, or has. */
struct wh_kept_bond {
	struct wh_bond *bond; /* NULL: none */
	uint64_t used_tsc;
};

struct wh_greeter_stats {
	uint64_t began; /* of peers that came */
	uint64_t met;
	uint64_t bonds;
	uint64_t refused;     /* by us or by them */
	uint64_t broken;      /* TLS that went wrong */
	uint64_t late;        /* took too long */
	uint64_t crowded_out; /* gave up their place to others */
	uint64_t turned_away; /* no place, too many of an address, or too fast */
	uint64_t bad_letters; /* that no greeting has use for */
	uint64_t in_bytes;    /* UDP payload of letters, and ... */
	uint64_t out_bytes;
};

struct wh_greeter {
	struct wh_greeter_config config;
	struct wh_greeting_ends ends;
	uint8_t process[WH_PROCESS_BYTES]; /* says that it is this one, and no later one */
	struct wh_guest *guest;            /* config.guests of them */
	uint32_t guests;                   /* in use */
	uint32_t next_turn;
	uint64_t tokens_tsc; /* when the next one may begin, but for a burst */
	uint64_t next_sweep_tsc;
	struct wh_kept_bond *kept; /* as many as the table of bonds has places */
	struct wh_greeter_stats stats;

	struct wh_spin lock; /* of what follows */
	struct wh_acquaintance acquaintance[WH_GREETER_ACQUAINTANCES];
};

/* 0, -ENOMEM, or -EBADMSG: TLS does not take the identity. */
int wh_greeter_init(struct wh_greeter *greeter, const struct wh_greeter_config *config);

/* Nobody asks any more; bonds are ended, and wiped once their sessions have let go. */
void wh_greeter_free(struct wh_greeter *greeter);

void wh_greeter_take(struct wh_greeter *greeter, uint64_t now_tsc, const struct wh_letter *letter);

/* The next letter to send; false: there is none now. */
bool wh_greeter_give(struct wh_greeter *greeter, uint64_t now_tsc, struct wh_letter *letter);

/* What time brings; how much was done. */
int32_t wh_greeter_poll(struct wh_greeter *greeter, uint64_t now_tsc);

/*
 * Any core: how it stands with a peer, whom we begin to look for if there is no bond with him, and
 * go on to for WH_MEETING_WANTED_S after the last call.
 */
#define WH_MEETING_WANTED_S 5
void wh_greeter_meet(struct wh_greeter *greeter, uint64_t now_tsc, const struct wh_address *peer,
	struct wh_meeting *meeting);

#endif
