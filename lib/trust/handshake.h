/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The authentication of two processes: TLS 1.3, in which each end proves its key, and auth
 * messages, on which each end says whether it trusts the other and by which number it addresses the
 * SA. Bytes go in and out; stream.h carries them in packets.
 *
 *   client                                server
 *   ClientHello                 ------>
 *                               <------   ServerHello .. Finished, auth
 *   MET: who is it?
 *   .. Finished, auth           ------>
 *   WAITS: the SA exists                  MET: who is it?
 *                               <------   auth
 *   DONE                                  DONE
 *
 * The server sends its first auth message in TLS's half round trip, before it knows the client: it
 * contains the SA's number and the offer of a session, but no verdict. With it a client that
 * trusts the server has all that an SA needs, and may send data right after its own auth message.
 * The server's second auth message contains its verdict.
 *
 * TLS proves only that the peer has the key of its certificate. Whether that key is trusted is
 * decided by the handshake server, once a handshake is MET. So a refusal is sent, encrypted and
 * with its reason, only to a peer that has proved its key.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/ssl.h>

#include "seal/sa.h"
#include "trust/identity.h"

#define WH_HANDSHAKE_PROTOCOL "wavehaul/1"

/* An end's verdict on the other one. The numbers are part of the wire format. */
enum wh_auth_verdict {
	WH_AUTH_NONE = 0, /* not decided yet */
	WH_AUTH_WELCOME = 1,
	WH_AUTH_UNKNOWN = 2, /* not trusted */
	WH_AUTH_BUSY = 3,    /* no place for another SA */
	WH_AUTH_CIPHER = 4,  /* no common cipher */
	WH_AUTH_SELF = 5,    /* the other end is this process: its own packets come back */
	WH_AUTH_VERDICTS = 6,
};

#define WH_AUTH_VERSION_BYTES 32

/* What an end says about itself and the other one, in wire format. */
struct wh_auth {
	uint8_t format; /* WH_AUTH_FORMAT */
	uint8_t verdict;
	uint8_t ciphers; /* supported: bit n stands for enum wh_cipher n */
	uint8_t reserved;
	uint32_t number;                     /* of the SA at its sender; 0 unless welcome */
	uint8_t process[WH_PROCESS_BYTES];   /* random number of the sender's process */
	char version[WH_AUTH_VERSION_BYTES]; /* of the sender's wavehaul, NUL-terminated */
	struct wh_offered offered; /* server's first auth message: a session; else zeros */
};

#define WH_AUTH_FORMAT 3

/* Shared by all handshakes of an identity. */
struct wh_handshake_ends {
	SSL_CTX *client;
	SSL_CTX *server;
};

/* 0, -ENOMEM, or -EBADMSG: TLS rejects the identity. Keeps no pointer to the identity. */
int wh_handshake_ends_init(struct wh_handshake_ends *ends, const struct wh_identity *identity);
void wh_handshake_ends_free(struct wh_handshake_ends *ends);

enum wh_handshake_state {
	WH_HANDSHAKE_GOING = 0,
	WH_HANDSHAKE_MET,   /* the owner must call wh_handshake_answer */
	WH_HANDSHAKE_WAITS, /* client: for the server's verdict */
	WH_HANDSHAKE_DONE,  /* both auth messages were received, whatever they say */
	WH_HANDSHAKE_BROKEN,
};

struct wh_handshake {
	SSL *ssl; /* NULL: ended */
	bool client;
	enum wh_handshake_state state;
	const char *broken_by; /* a constant, never text of the peer; NULL: not broken */
	bool introduced;       /* server: its first auth message was written */
	struct wh_auth ours;
	struct wh_auth theirs;              /* the peer's first auth message */
	enum wh_auth_verdict verdict;       /* of the peer's latest auth message */
	struct wh_auth coming;              /* the auth message that is being read */
	uint32_t auth_bytes;                /* number of bytes of `coming` read so far */
	uint8_t peer_id[WH_IDENTITY_BYTES]; /* valid once MET */
};

/*
 * 0 or -ENOMEM. `first`: a server's first auth message, without `format`; its verdict is NONE or
 * BUSY. NULL: this is a client.
 */
int wh_handshake_begin(struct wh_handshake *handshake, const struct wh_handshake_ends *ends,
	const struct wh_auth *first);

/* Processes bytes from the peer; NULL with 0 bytes: a client's first step. */
enum wh_handshake_state wh_handshake_put(
	struct wh_handshake *handshake, const uint8_t *bytes, uint32_t count);

/* Bytes for the peer, at most `room`; 0: none now. */
uint32_t wh_handshake_take(struct wh_handshake *handshake, uint8_t *bytes, uint32_t room);

/* Once MET: the peer's certificate, and the chain that begins with it; valid until the end. */
X509 *wh_handshake_certificate(const struct wh_handshake *handshake);
STACK_OF(X509) * wh_handshake_chain(const struct wh_handshake *handshake);

/* Once MET: sends our verdict; `auth` without `format`. Only WELCOME has a number. */
enum wh_handshake_state wh_handshake_answer(
	struct wh_handshake *handshake, const struct wh_auth *auth);

/* Once MET: a cipher that the peer supports and `ciphers` contains; 0: none. */
enum wh_cipher wh_handshake_cipher(const struct wh_handshake *handshake, uint8_t ciphers);

/* Once MET: the secret shared by both ends only; false: TLS failed. */
bool wh_handshake_secret(const struct wh_handshake *handshake, uint8_t secret[WH_SECRET_BYTES]);

void wh_handshake_end(struct wh_handshake *handshake);

const char *wh_auth_verdict_name(enum wh_auth_verdict verdict);
