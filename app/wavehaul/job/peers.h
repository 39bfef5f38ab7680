/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What each peer holds on a server, and whether it may have more. A peer is identified by its key,
 * at any address; if nothing is sealed by its IPv4 address, or the first 64 bits of an IPv6
 * address. It is entered only when a cookie has proved its address: forged addresses use no
 * entries.
 *
 * The table is of fixed size, and each call searches one row. Entries of peers that hold nothing
 * are reused; if all peers of a row hold something, another one in that row must wait. Calls come
 * from accepting and working cores, under a lock that is on no data packet's path.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "profile/profile.h"
#include "seal/sa.h"
#include "session/limit/shared_rate.h"
#include "stage/room.h"
#include "wire/encap.h"

struct wh_peer_limits {
	uint32_t places;       /* of all peers together */
	uint32_t spare_places; /* in addition, for peers that have none */
	uint32_t peer_places;
	uint64_t peer_bytes;      /* of memory */
	uint64_t peer_kept_bytes; /* of incomplete files; 0: unlimited */
	uint64_t peer_room_bytes; /* on disk, for announced files that have not arrived */
	uint32_t peer_openings_s; /* jobs per second; three times as many at once */
	uint32_t peer_lines_s;    /* log lines per second; three times as many at once */
	uint32_t lines_s;         /* of all peers together */
};

/*
 * A limit of events per second, with bursts of three seconds' worth: the generic cell rate
 * algorithm (GCRA).
 */
struct wh_allowance {
	uint64_t spent_ns; /* time at which all that was taken is paid for */
};

struct wh_who {
	const struct wh_address *address;
	const uint8_t *identity; /* WH_IDENTITY_BYTES; NULL: none proved */
};

/* Under the lock, except what any core may read while the peer has a place. */
struct wh_peer {
	uint64_t key;                        /* 0: unused */
	uint8_t identity[WH_IDENTITY_BYTES]; /* zeros: identified by its address */
	uint32_t holds;                      /* beside places: it keeps its entry */
	_Atomic uint32_t places;             /* any core may read it, and the next two */
	_Atomic uint64_t bytes;
	/* Time of progress of any of its jobs; 0: none yet. Any core may write it. */
	_Atomic uint64_t moved_ns;
	struct wh_room_share room;  /* space that its files on disk may use */
	struct wh_shared_rate rate; /* of all its sessions here, both ways */
	uint64_t seen_ns;
	struct wh_allowance openings;
	struct wh_allowance lines;
	uint64_t untold_lines;
	struct wh_address address; /* where it was seen last */
	/* The path to it as measured by our sessions, the address it leads to, and when. */
	struct wh_known_path known;
	struct wh_address known_at;
	uint64_t known_ns;
};

#define WH_PEERS_ROWS    2048
#define WH_PEERS_PER_ROW 8

struct wh_peers {
	struct wh_spin lock;
	struct wh_peer_limits limits;
	uint64_t seed[2];        /* of the rows' hash: strangers cannot choose their row */
	_Atomic uint32_t places; /* any core may read it */
	struct wh_allowance lines;
	uint64_t untold_lines; /* of all peers: who asks for them seldom has to look at each */
	uint64_t left_lines;   /* of these, of peers whose entries were reused since */
	struct wh_peer *peer;  /* a hash table: WH_PEERS_ROWS of WH_PEERS_PER_ROW */
};

/* 0 or -ENOMEM. */
int wh_peers_init(
	struct wh_peers *peers, const struct wh_peer_limits *limits, const uint64_t seed[2]);
void wh_peers_free(struct wh_peers *peers);

/* Whether the peer would get a place now; stores nothing. */
bool wh_peers_would_admit(struct wh_peers *peers, const struct wh_who *who, uint64_t now_ns);

/*
 * Takes a place for a proved peer. NULL: none; otherwise its entry, which is valid until its last
 * place is given back.
 */
struct wh_peer *wh_peers_admit(struct wh_peers *peers, const struct wh_who *who, uint64_t now_ns);
void wh_peers_dismiss(struct wh_peers *peers, struct wh_peer *peer);

/*
 * A proved peer's entry, kept without a place until it is released: orders are run in the peer's
 * name while it may be away. NULL: none is free. Its addresses stay unknown.
 */
struct wh_peer *wh_peers_hold(
	struct wh_peers *peers, const uint8_t identity[WH_IDENTITY_BYTES], uint64_t now_ns);
void wh_peers_release(struct wh_peers *peers, struct wh_peer *peer);

/* Information about a peer for an operator. */
struct wh_peer_seen {
	struct wh_address address; /* the latest with that key */
	uint32_t places;
	uint64_t bytes;
	uint64_t known_bps; /* of the path to it; 0: unknown */
};

/* The known peers, unsorted: returns their number, at most `room`. */
uint32_t wh_peers_list(struct wh_peers *peers, struct wh_peer_seen *seen, uint32_t room);

/* Memory that a peer with a place may still take. */
uint64_t wh_peers_left_bytes(const struct wh_peers *peers, const struct wh_peer *peer);

/* Takes, or gives back. False: too much, nothing was taken. */
bool wh_peers_take_bytes(const struct wh_peers *peers, struct wh_peer *peer, uint64_t bytes);
void wh_peers_give_bytes(struct wh_peer *peer, uint64_t bytes);

/*
 * The first stores the measured path to a peer with a place. It replaces the previous one, whose
 * burst stays if none is known now. The second returns the path, with its age. It is kept no longer
 * than the peer's entry, and only for the same IPv4 address, or first 64 bits of an IPv6 address.
 */
void wh_peers_learn(struct wh_peers *peers, struct wh_peer *peer, const struct wh_address *address,
	const struct wh_known_path *found, uint64_t now_ns);
struct wh_known_path wh_peers_known(struct wh_peers *peers, const struct wh_peer *peer,
	const struct wh_address *address, uint64_t now_ns);

/* More places are taken than there are for all: one must be given up. */
bool wh_peers_are_crowded(const struct wh_peers *peers);

/* Whether a log line caused by a peer with a place may be written; if not, it is counted. */
bool wh_peers_may_log(struct wh_peers *peers, struct wh_peer *peer, uint64_t now_ns);

/*
 * The next peer with withheld lines that may have a line again, and their number; false: none.
 * family 0: several peers that are no longer known.
 */
bool wh_peers_next_untold(
	struct wh_peers *peers, uint64_t now_ns, struct wh_address *address, uint64_t *lines);
