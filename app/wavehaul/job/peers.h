/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PEERS_H
#define WH_APP_PEERS_H

/*
 * What each peer has of a server, and whether it may have more. A peer is whoever has a key, be it
 * at several addresses; and where nothing is sealed an IPv4 address, or the 64 bits before the
 * interface of an IPv6 one, which is known from here on only once a cookie has proved that it is
 * there: forged addresses cost no entry.
 *
 * The table is bounded, and each call looks at one row of it. Who has nothing is forgotten for who
 * comes; where a row is full of peers that have something, another one there has to wait. Calls
 * come from cores that accept and from those that work: a lock is held, which no data packet's way
 * includes.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "profile/profile.h"
#include "seal/bond.h"
#include "sink/room.h"
#include "wire/encap.h"

struct wh_peer_limits {
	uint32_t places;       /* of all peers together ... */
	uint32_t spare_places; /* ... and beside them, for peers that have none */
	uint32_t peer_places;
	uint64_t peer_bytes;      /* of memory */
	uint64_t peer_kept_bytes; /* of files that did not come whole; 0: any */
	uint64_t peer_room_bytes; /* on disk, for files that are announced and have not come */
	uint32_t peer_openings_s; /* jobs, in a second; three times as many at once */
	uint32_t peer_lines_s;    /* of the log, likewise */
	uint32_t lines_s;         /* of all peers together */
};

/* So much a second, three seconds' worth at once; held in billionths. */
struct wh_allowance {
	uint64_t spent_ns; /* when all that was taken is paid for */
};

struct wh_who {
	const struct wh_address *address;
	const uint8_t *identity; /* WH_IDENTITY_BYTES; NULL: none was proved */
};

/* Under the lock, but for what any core may look at while the peer has a place. */
struct wh_peer {
	uint64_t key;                        /* 0: nobody */
	uint8_t identity[WH_IDENTITY_BYTES]; /* zeros: it is an address */
	_Atomic uint32_t places;             /* any core's to read, as are: */
	_Atomic uint64_t bytes;
	_Atomic uint64_t
		moved_ns; /* one of its jobs got on; 0: none has yet. Any core's to write */
	struct wh_room_share room; /* what its files on disk may hold */
	uint64_t seen_ns;
	struct wh_allowance openings;
	struct wh_allowance lines;
	uint64_t untold_lines;
	struct wh_address address; /* where it was seen last */
	/* What our sessions to it have found of the way there, where that was, and when. */
	struct wh_known_path known;
	struct wh_address known_at;
	uint64_t known_ns;
};

#define WH_PEERS_ROWS    2048
#define WH_PEERS_PER_ROW 8

struct wh_peers {
	struct wh_spin lock;
	struct wh_peer_limits limits;
	uint64_t seed[2];        /* of the rows: strangers do not choose theirs */
	_Atomic uint32_t places; /* any core's to read */
	struct wh_allowance lines;
	uint64_t untold_lines; /* of peers that were forgotten since */
	struct wh_peer *peer;  /* by row */
};

/* 0 or -ENOMEM. */
int wh_peers_init(
	struct wh_peers *peers, const struct wh_peer_limits *limits, const uint64_t seed[2]);
void wh_peers_free(struct wh_peers *peers);

/* Whether it would get a place now; keeps nothing of it. */
bool wh_peers_would_admit(struct wh_peers *peers, const struct wh_who *who, uint64_t now_ns);

/*
 * Takes a place for a proved peer. NULL: it may not have one; else its entry, which is there until
 * it has given back the last of its places.
 */
struct wh_peer *wh_peers_admit(struct wh_peers *peers, const struct wh_who *who, uint64_t now_ns);
void wh_peers_dismiss(struct wh_peers *peers, struct wh_peer *peer);

/* What an operator is told of a peer. */
struct wh_peer_seen {
	struct wh_address address; /* of the latest with that key */
	uint32_t places;
	uint64_t bytes;
	uint64_t known_bps; /* of the way there; 0: not known */
};

/* Those that are known, in no order: returns how many, at most `room`. */
uint32_t wh_peers_list(struct wh_peers *peers, struct wh_peer_seen *seen, uint32_t room);

/* Memory that a peer with a place may still take. */
uint64_t wh_peers_left_bytes(const struct wh_peers *peers, const struct wh_peer *peer);

/* Takes it, or gives it back. False: it would be too much, nothing was taken. */
bool wh_peers_take_bytes(const struct wh_peers *peers, struct wh_peer *peer, uint64_t bytes);
void wh_peers_give_bytes(struct wh_peer *peer, uint64_t bytes);

/*
 * What was found of the way to a peer with a place, in place of what was found before, but for a
 * burst if none is known now; and that, with its age. Nothing is known for longer than its entry,
 * nor of the way to another address of the peer.
 */
void wh_peers_learn(struct wh_peers *peers, struct wh_peer *peer, const struct wh_address *address,
	const struct wh_known_path *found, uint64_t now_ns);
struct wh_known_path wh_peers_known(struct wh_peers *peers, const struct wh_peer *peer,
	const struct wh_address *address, uint64_t now_ns);

/* More places are taken than there are for all: one is to be given up. */
bool wh_peers_are_crowded(const struct wh_peers *peers);

/* Whether a line that a peer with a place gives rise to may be written; if not it is counted. */
bool wh_peers_may_log(struct wh_peers *peers, struct wh_peer *peer, uint64_t now_ns);

/*
 * The next peer of which lines were held back and which may have one again, and how many; false:
 * none. family 0: of several that are not known any more.
 */
bool wh_peers_next_untold(
	struct wh_peers *peers, uint64_t now_ns, struct wh_address *address, uint64_t *lines);

#endif
