/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A seal closes packets at one end, so that the other end can check that they arrive as they were
 * sent, and opens them there. A seal is for one direction of one connection; each end of a
 * connection has two, and shares each with the other end. A kind of seal is one table of functions,
 * in a file of its own and with a row below.
 *
 *   head   WH_HEAD_BYTES, the last WH_TAG_BYTES of which are the tag. Everything before the tag is
 *          authenticated, including the key number (which wh_seal_close writes), and not encrypted
 *   body   the rest; if the kind encrypts, the ciphertext of the same length takes its place
 *
 * Both pass over the body once, and may copy it in that pass: from a chunk into a packet, and from
 * a packet to its place in a chunk (wh_session_place). So the session is found by the connection
 * identifier before a packet is opened, and the head, not authenticated yet, may say where the body
 * goes. Until `open` succeeds, nothing of the packet is trusted, counted for the session or
 * answered. If it fails `to` may contain anything, so it must be memory where wrong bytes do no
 * harm.
 *
 * Kinds:
 *
 *   checksum   key number 0; detects damage, and an attacker off the path has to guess a token
 *   gcm        key numbers from 1 on; AES-GCM under keys of a session, derived from its SA
 *              (sa.h). The head before the tag is authenticated, the body is encrypted. The nonce
 *              derives from the packet's type and a number that never repeats: `transmission` of
 *              data and repair packets, since a retransmission keeps its packet number, and `pn`
 *              of all others. Keys change by themselves (gcm_seal.c)
 *
 * A duplicate opens again: the session detects it by its authenticated number (track/replay.h).
 *
 * Packets before a session exists are sealed by the SA of both ends, if there is one; otherwise
 * OPEN and CONFIRM have the checksum without a token, and ACCEPT has the token of OPEN. The last
 * packet of a session is sealed before its seal ends (endpoint.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seal/sa.h"
#include "seal/secret.h"
#include "wire/packet.h"

#define WH_SEAL_STATE_BYTES 48

/* Keys 1 to WH_KEYS_SEALED are of the kind gcm: the lower bits of the epoch. */
#define WH_KEY_SEALED  1
#define WH_KEYS_SEALED 4

struct wh_seal_ops;

/* `state` contains what is derived from the secret, or points to memory of the owner. */
struct wh_seal {
	const struct wh_seal_ops *ops; /* NULL: not begun */
	uint8_t key;                   /* first key number in heads */
	uint8_t keys;                  /* how many key numbers, from `key` on, it accepts */
	_Alignas(8) uint8_t state[WH_SEAL_STATE_BYTES];
};

/* The direction of a connection that a seal is for. */
struct wh_seal_direction {
	uint64_t token;   /* chosen by the receiving end: 64 random bits */
	uint32_t cid;     /* address of the receiving end */
	bool to_acceptor; /* the receiving end is the acceptor */
};

struct wh_seal_ops {
	const char *name;
	bool encrypts; /* the body is always copied, and packet numbers are authenticated */

	/* Memory required from its owner, zeroed, for secrets; [1]: to_acceptor. */
	size_t memory_bytes[2];

	/*
	 * Sets `key`, `keys` and `state`; `secret` is shared by both ends, of a type specific to
	 * the kind. False: no memory.
	 */
	bool (*begin)(struct wh_seal *seal, const struct wh_seal_direction *direction,
		const void *secret, void *memory);

	/* NULL: nothing to release. The owner wipes the memory. */
	void (*end)(struct wh_seal *seal);

	/*
	 * Makes a seal without memory, which opens the peer's remaining control packets, at a
	 * higher cost.
	 */
	void (*keep)(const struct wh_seal *seal, struct wh_seal *kept);

	/*
	 * Writes the tag, the key number if it is not the first one, and the sealed body to `to`:
	 * the same as body, disjoint from it, or NULL if it is not wanted (only without
	 * encryption).
	 */
	void (*close)(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
		size_t body_bytes, uint8_t *to);

	/* Writes the opened body to `to`, which is the packet's body itself or disjoint from it. */
	bool (*open)(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
		size_t body_bytes, uint8_t *to);
};

/* The kinds. */
extern const struct wh_seal_ops wh_seal_checksum;
extern const struct wh_seal_ops wh_seal_gcm; /* its secret is a struct wh_seal_secret */

struct wh_seal_secret {
	uint8_t secret[WH_SECRET_BYTES]; /* of a session */
	enum wh_cipher cipher;
};

/*
 * A keylog, with which packets can be decrypted later, receives lines of text: an identifier, the
 * cipher, a use, its secret in hexadecimal, and for uses marked * the number that the key is about,
 * in 16 digits. NULL: no keylog. It is set before any session opens, and called by the core that
 * opens a session or makes a handshake.
 *
 *   use             packets                                      identifier
 *   data, control   of a session                                 connection ID of that direction
 *   sa              OPEN, CONFIRM, first question of a probe     SA's number at the receiving end
 *   accept *        ACCEPT                                       the initiator's connection ID
 *   probe *         all others of a probe                        0
 */
typedef void (*wh_keylog_fn)(void *context, const char *line);
void wh_seal_set_keylog(wh_keylog_fn keylog, void *context);
bool wh_seal_has_keylog(void);

/* No effect without a keylog. */
void wh_seal_log_secret(uint32_t identifier, enum wh_cipher cipher, const char *use,
	const uint8_t secret[WH_SECRET_BYTES], uint64_t about);

/* For packets to a listener: a checksum without a token. */
extern const struct wh_seal wh_seal_to_listener;

static inline bool wh_seal_begin(struct wh_seal *seal, const struct wh_seal_ops *ops,
	const struct wh_seal_direction *direction, const void *secret, void *memory)
{
	seal->ops = ops;
	return ops->begin(seal, direction, secret, memory);
}

static inline void wh_seal_begin_checksum(struct wh_seal *seal, uint64_t token)
{
	const struct wh_seal_direction direction = {.token = token};

	wh_seal_begin(seal, &wh_seal_checksum, &direction, NULL, NULL);
}

/* It need not have begun. */
static inline void wh_seal_end(struct wh_seal *seal)
{
	if (seal->ops != NULL && seal->ops->end != NULL)
		seal->ops->end(seal);
	seal->ops = NULL;
}

static inline void wh_seal_close(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	head[WH_KEY_OFFSET] = seal->key;
	seal->ops->close(seal, head, body, body_bytes, to);
}

/*
 * Begins a seal for packets of no session, in one direction, under a key from an SA. `memory` is
 * for secrets, aligned as wh_secret_alloc does; its owner wipes it after the seal has ended. False:
 * no memory.
 */
#define WH_SEAL_RAW_BYTES 1280
bool wh_seal_begin_raw(struct wh_seal *seal, const struct wh_gcm_raw *raw, void *memory);

/* A whole packet in place, WH_HEAD_BYTES or more. */
static inline void wh_seal_close_packet(
	const struct wh_seal *seal, uint8_t *packet, size_t packet_bytes)
{
	uint8_t *body = packet + WH_HEAD_BYTES;

	wh_seal_close(seal, packet, body, packet_bytes - WH_HEAD_BYTES, body);
}

static inline bool wh_seal_has_key(const struct wh_seal *seal, const uint8_t *packet)
{
	return (uint8_t)(packet[WH_KEY_OFFSET] - seal->key) < seal->keys;
}

/* A packet of WH_HEAD_BYTES or more: WH_WIRE_OK, or WH_WIRE_KEY or WH_WIRE_TAG. */
static inline enum wh_wire_reason wh_seal_open(
	const struct wh_seal *seal, const uint8_t *packet, size_t packet_bytes, uint8_t *to)
{
	const uint8_t *body = packet + WH_HEAD_BYTES;

	if (!wh_seal_has_key(seal, packet))
		return WH_WIRE_KEY;
	return seal->ops->open(seal, packet, body, packet_bytes - WH_HEAD_BYTES, to) ? WH_WIRE_OK
										     : WH_WIRE_TAG;
}

/* Opens a packet in place. */
static inline enum wh_wire_reason wh_seal_open_packet(
	const struct wh_seal *seal, uint8_t *packet, size_t packet_bytes)
{
	return wh_seal_open(seal, packet, packet_bytes, packet + WH_HEAD_BYTES);
}
