/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A client with a socket of the kernel's: it opens a stream to the server, takes the one that the
 * server opens in answer, and sends reports as an honest one would. The rest is the attack's. Under
 * the attacker's SA, if it has one, all is sealed.
 */

#include "attacker.h"
#include "bundle/record.h"
#include "bundle/record_pack.h"
#include "file/digest.h"
#include "seal/seal.h"

#define WH_PEER_IN_CHUNKS 64
#define WH_PEER_IN_PKTS   65536

struct wh_peer_chunk {
	uint8_t *bytes;
	uint32_t k; /* 0: nothing has come */
	uint32_t have;
	uint32_t length;
};

struct wh_peer {
	struct wh_attacker *attacker;
	int socket;
	struct wh_open_params params;
	uint32_t acceptor_cid;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint64_t acceptor_token;
	uint8_t refused;
	bool open;
	/* with an SA: of our stream and of the server's, to it and from it */
	struct wh_seal to[2];
	struct wh_seal from[2];
	uint8_t *keys;
	uint64_t pn[WH_PACKET_TYPES];
	uint64_t next_pn;
	uint32_t next_chunk;
	struct wh_hasher hasher; /* of the records of our bundle */
	bool full;               /* says that it has no room for anything */
	bool forges;             /* seals are of something else */
	/* what the server says of our stream */
	uint64_t acked; /* below this packet number all is there */
	uint64_t reports;
	uint64_t releases;
	uint8_t released_as; /* status of its last one */
	uint64_t got_pkts;
	uint64_t got_bytes; /* of UDP payload */
	/* its stream to us */
	uint64_t reply;
	bool in_open;
	struct wh_open_params theirs;
	uint32_t in_cid;
	uint64_t in_lower;
	uint64_t in_end;
	uint32_t in_chunks; /* of which something has come */
	uint64_t in_told_ns;
	uint8_t *in_has; /* by packet number */
	struct wh_peer_chunk in[WH_PEER_IN_CHUNKS];
};

/* Unconnected; `port` 0 is any port. */
void wh_peer_init(struct wh_peer *peer, struct wh_attacker *attacker, uint16_t port);
void wh_peer_free(struct wh_peer *peer);

/* OPEN as in peer->params, then CONFIRM; false: refused, or no answer. */
bool wh_peer_open(struct wh_peer *peer);
void wh_peer_confirm(struct wh_peer *peer);

/* Of control packets their numbers are filled in; and of all to our stream, address and token. */
void wh_peer_send(struct wh_peer *peer, struct wh_packet *packet);
void wh_peer_send_bytes(struct wh_peer *peer, const uint8_t *bytes, size_t count);

/* Whatever these bytes say, closed as of the connection or the SA that they name, and sent. */
void wh_peer_send_closed(struct wh_peer *peer, uint8_t *bytes, uint32_t count);

/* One data packet of `fields`, which has all but its transmission. */
void wh_peer_data(struct wh_peer *peer, uint64_t pn, const struct wh_data_fields *fields,
	const uint8_t *payload);

/* The next chunk of our stream, again and again until the server has it; false: it has not. */
bool wh_peer_chunk(struct wh_peer *peer, const uint8_t *bytes, uint32_t count);
bool wh_peer_say(struct wh_peer *peer, const struct wh_record *record);

/* Records as a sealed chunk of a bundle; `bytes` has room for WH_SEAL_BYTES more. */
bool wh_peer_pack(struct wh_peer *peer, uint8_t *bytes, uint32_t count);

/* That nothing is under way, which is what keeps a connection alive. */
void wh_peer_state(struct wh_peer *peer);
void wh_peer_release(
	struct wh_peer *peer, enum wh_release_stage stage, enum wh_release_status status);

/* The end of it, and of all that it has. */
void wh_peer_give_up(struct wh_peer *peer);

/* As long as the attack goes on, an honest client with nothing to do. */
void wh_peer_linger(struct wh_peer *peer);

/* Listens for so long, and answers as an honest client. */
void wh_peer_pump(struct wh_peer *peer, uint32_t ms);

/* What HELLO of an honest client says. */
struct wh_hello wh_peer_hello(struct wh_peer *peer, enum wh_job_verb verb, const char *path);
/* Opens, says that HELLO, and awaits the server's stream. */
bool wh_peer_begin(struct wh_peer *peer, const struct wh_hello *hello);

/* The records that have come, one at each call with *chunk and *at at 0 at first. */
bool wh_peer_answer(
	const struct wh_peer *peer, uint32_t *chunk, uint32_t *at, struct wh_record *record);
