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
 * Kinds:
 *
 *   checksum   key number 0; finds damage, and who cannot read the lambda has to guess a token
 *   gcm        key numbers from 1 on; AES-GCM under keys of a session that its bond made (bond.h).
 *              The head before the tag is proved, the body is encrypted. The nonce is of the
 *              packet's type and a number that never repeats: `transmission` of data and repair
 *              packets, since a retransmission keeps its serial, `serial` of all others. Keys
 *              change by themselves (gcm_seal.c)
 *
 * A packet that arrives twice opens twice: that it counts once is the session's to see, by numbers
 * that a seal has proved (track/replay.h).
 *
 * What is told before there is a session is closed by the bond of both ends, if there is one; else
 * OPEN and CONFIRM with the checksum and no token, and ACCEPT with the token that OPEN told. The
 * last word of a session is closed before its seal is gone (endpoint.c).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seal/bond.h"
#include "seal/secret.h"
#include "wire/packet.h"

#define WH_SEAL_STATE_BYTES 48

/* Keys 1 to WH_KEYS_SEALED are of the kind gcm: the lower bits of an epoch's number. */
#define WH_KEY_SEALED  1
#define WH_KEYS_SEALED 4

struct wh_seal_ops;

/* What is worked out of the secret is in it, or in memory of its owner's. */
struct wh_seal {
	const struct wh_seal_ops *ops; /* NULL: none yet */
	uint8_t key;                   /* the first key number of those in heads, ... */
	uint8_t keys;                  /* ... of which it takes so many */
	_Alignas(8) uint8_t state[WH_SEAL_STATE_BYTES];
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

	/* What it wants of its owner, zeroed, in memory for secrets; the second: to_acceptor. */
	size_t memory_bytes[2];

	/*
	 * Makes `key`, `keys` and `state`; `secret` is what both ends share, as this kind wants
	 * it. False: no memory.
	 */
	bool (*begin)(struct wh_seal *seal, const struct wh_seal_way *way, const void *secret,
		void *memory);

	/* NULL: there is nothing to give back. The memory is its owner's to wipe. */
	void (*end)(struct wh_seal *seal);

	/* One without memory that opens, now and then, what the peer still sends of control. */
	void (*keep)(const struct wh_seal *seal, struct wh_seal *kept);

	/*
	 * Writes the tag, the key number if it is not the first one, and the closed body to `to`:
	 * body itself, elsewhere apart from it, or NULL, when it is not wanted: only where nothing
	 * is encrypted.
	 */
	void (*close)(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
		size_t body_bytes, uint8_t *to);

	/* Writes the open body to `to`, the packet's body itself or apart from it. */
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
 * Who wants to read packets of others later (keylog), as a line of text: an identifier, the cipher,
 * a use, the secret of that in hexadecimal digits, and with a use marked so the number that the key
 * is about, in 16 of them. NULL: nobody. Set before any session opens; called by the core that
 * opens it, or greets.
 *
 *   data, control   of a session: the identifier is its direction's
 *   bond            OPEN, CONFIRM and a probe's first question: the bond's number at the receiving
 *                   end
 *   accept *        ACCEPT: the initiator's identifier
 *   probe *         all else of a probe: 0
 */
typedef void (*wh_keylog_fn)(void *context, const char *line);
void wh_seal_set_keylog(wh_keylog_fn keylog, void *context);
bool wh_seal_has_keylog(void);

/* Does nothing where nobody wants it. */
void wh_seal_log_secret(uint32_t identifier, enum wh_cipher cipher, const char *use,
	const uint8_t secret[WH_SECRET_BYTES], uint64_t about);

/* Of what is sent to a listener: a checksum without a token. */
extern const struct wh_seal wh_seal_to_listener;

static inline bool wh_seal_begin(struct wh_seal *seal, const struct wh_seal_ops *ops,
	const struct wh_seal_way *way, const void *secret, void *memory)
{
	seal->ops = ops;
	return ops->begin(seal, way, secret, memory);
}

static inline void wh_seal_begin_checksum(struct wh_seal *seal, uint64_t token)
{
	const struct wh_seal_way way = {.token = token};

	wh_seal_begin(seal, &wh_seal_checksum, &way, NULL, NULL);
}

/* One that never began is allowed. */
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
 * Of packets of no session, one way, under a key that a bond has for them; the memory, for secrets
 * and aligned as wh_secret_alloc does, is the owner's to wipe once the seal has ended. False: no
 * memory.
 */
#define WH_SEAL_RAW_BYTES 1280
bool wh_seal_begin_raw(struct wh_seal *seal, const struct wh_gcm_raw *raw, void *memory);

/* A whole packet, as it goes out: WH_HEAD_BYTES or more. */
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

/* The same in place. */
static inline enum wh_wire_reason wh_seal_open_packet(
	const struct wh_seal *seal, uint8_t *packet, size_t packet_bytes)
{
	return wh_seal_open(seal, packet, packet_bytes, packet + WH_HEAD_BYTES);
}

#endif
