/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SEAL_SEAL_H
#define WH_SEAL_SEAL_H

/*
 * What a packet is closed with at one end, so that the other can tell that it came as it was sent,
 * and opened with there. A seal is of one direction of one connection; each end of a connection has
 * two, and shares each with the other end. A kind of seal is one table of functions, in a file of
 * its own and with a row below.
 *
 *   head   WH_HEAD_BYTES, the last WH_TAG_BYTES of which are the tag. All before it stays readable
 *          and is proved, the key number (which wh_seal_close writes) included
 *   body   all that follows; a kind that encrypts puts the ciphertext in its place, of the same
 *          length
 *
 * Both pass over the body once, and copy it in that pass where it is to go elsewhere: from a chunk
 * into a packet, and from a packet to its place in a chunk (wh_session_place). So whoever opens a
 * packet finds the session by the connection identifier first, and a head that nobody believes yet
 * may say where the body goes. Until `open` agrees nothing of the packet is believed, counted for
 * the session or answered. Where it does not agree, `to` may hold anything; it must be memory where
 * wrong bytes do no harm.
 *
 * What a kind gets for its secret (`begin`) is the connection identifier and the token of the end
 * that opens, which are drawn anew for each connection, the direction, and what its owner shares
 * with the peer. What AES-GCM would do with it:
 *
 *   key    derived from all of these, so that no two directions or connections share one
 *   nonce  the packet's type, and the number that never repeats: `transmission` of data and repair
 *          packets, since a retransmission keeps its serial; `serial` of all others. Both are less
 *          than 2^62 and stand in the head
 *   proof  associated data are the head's bytes before the tag, the tag has all its 16 bytes
 *
 * A packet that arrives twice opens twice: that it counts once is the session's to see, by serials
 * that a seal has proved. Where a kind encrypts, an old state is refused however late it comes.
 *
 * Before there is a session there is no secret: OPEN and CONFIRM are closed with the checksum and
 * no token, what a listener answers (ACCEPT) with the checksum and the token that OPEN told. The
 * last word of a session is closed before its seal is gone (endpoint.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/packet.h"

/* For 15 round keys of AES-256, 8 powers of the hash key and a nonce's fixed part. */
#define WH_SEAL_STATE_BYTES 384

struct wh_seal_ops;

/* A value, which may be copied: what is worked out of the secret is in it, and nothing changes. */
struct wh_seal {
	const struct wh_seal_ops *ops; /* NULL: none yet */
	uint8_t key;                   /* the key number in heads */
	_Alignas(16) uint8_t state[WH_SEAL_STATE_BYTES];
};

/* The direction of a connection that a seal is for. */
struct wh_seal_way {
	uint64_t token;   /* chosen by the end that opens: 64 random bits */
	uint32_t lci;     /* by which that end is addressed */
	bool to_acceptor; /* it is the acceptor */
};

struct wh_seal_ops {
	const char *name;
	bool encrypts; /* closing changes the body, which therefore is always copied; and who can
			* close has the secret, so that a serial is proved, too */

	/* Makes `key` and `state`; `secret` is what both ends share, as this kind wants it. */
	void (*begin)(struct wh_seal *seal, const struct wh_seal_way *way, const void *secret);

	/*
	 * Writes the tag, and the closed body to `to`: body itself, elsewhere apart from it, or
	 * NULL, when it is not wanted: only where nothing is encrypted.
	 */
	void (*close)(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
		size_t body_bytes, uint8_t *to);

	/* Writes the open body to `to`, the packet's body itself or apart from it. */
	bool (*open)(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
		size_t body_bytes, uint8_t *to);
};

/* The kinds. */
extern const struct wh_seal_ops wh_seal_checksum; /* key number 0 */

/* Of what is sent to a listener: a checksum without a token. */
extern const struct wh_seal wh_seal_to_listener;

static inline void wh_seal_begin(struct wh_seal *seal, const struct wh_seal_ops *ops,
	const struct wh_seal_way *way, const void *secret)
{
	seal->ops = ops;
	ops->begin(seal, way, secret);
}

static inline void wh_seal_begin_checksum(struct wh_seal *seal, uint64_t token)
{
	const struct wh_seal_way way = {.token = token};

	wh_seal_begin(seal, &wh_seal_checksum, &way, NULL);
}

static inline void wh_seal_close(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	head[WH_KEY_OFFSET] = seal->key;
	seal->ops->close(seal, head, body, body_bytes, to);
}

/* A whole packet, as it goes out: WH_HEAD_BYTES or more. */
static inline void wh_seal_close_packet(
	const struct wh_seal *seal, uint8_t *packet, size_t packet_bytes)
{
	uint8_t *body = packet + WH_HEAD_BYTES;

	wh_seal_close(seal, packet, body, packet_bytes - WH_HEAD_BYTES, body);
}

/* A packet of WH_HEAD_BYTES or more: WH_WIRE_OK, or WH_WIRE_KEY or WH_WIRE_TAG. */
static inline enum wh_wire_reason wh_seal_open(
	const struct wh_seal *seal, const uint8_t *packet, size_t packet_bytes, uint8_t *to)
{
	const uint8_t *body = packet + WH_HEAD_BYTES;

	if (packet[WH_KEY_OFFSET] != seal->key)
		return WH_WIRE_KEY;
	return seal->ops->open(seal, packet, body, packet_bytes - WH_HEAD_BYTES, to) ? WH_WIRE_OK
										     : WH_WIRE_TAG;
}

/* The same in place. */
static inline enum wh_wire_reason wh_seal_open_packet(
	const struct wh_seal *seal, uint8_t *packet, size_t packet_bytes)
{
	return wh_seal_open(seal, packet, packet_bytes, packet + WH_HEAD_BYTES);
}

#endif
