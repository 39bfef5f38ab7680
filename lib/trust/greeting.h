/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_GREETING_H
#define WH_TRUST_GREETING_H

/*
 * How two processes meet: TLS 1.3, in which each end proves its key, and cards, on which it says
 * whether it takes the other one and under which number it knows the bond. Bytes go in and out; who
 * carries them is stream.h.
 *
 *   client                                server
 *   ClientHello                 ------>
 *                               <------   ServerHello .. Finished, card
 *   MET: who is it?
 *   .. Finished, card           ------>
 *   WAITS: the bond is there              MET: who is it?
 *                               <------   card
 *   DONE                                  DONE
 *
 * The server's first card goes to somebody whom it does not know yet, in TLS's half round trip: it
 * has the bond's number and the offer of a session, and says nothing of whether he is welcome. With
 * it a client that takes the server has all that a bond needs, and what it goes on to send may
 * come right behind its own card. The server's second card is its verdict.
 *
 * TLS proves that the other end has the key of its certificate, and nothing else: whether that key
 * is welcome is for the owner to say, once a greeting is MET. So a refusal is told to who proved
 * his key, sealed, with its reason.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/ssl.h>

#include "seal/bond.h"
#include "trust/identity.h"

#define WH_GREETING_PROTOCOL "wavehaul/1"

/* What an end makes of the other one. The numbers travel. */
enum wh_reception {
	WH_RECEPTION_NONE = 0, /* not known yet */
	WH_RECEPTION_WELCOME = 1,
	WH_RECEPTION_UNKNOWN = 2, /* not trusted here */
	WH_RECEPTION_BUSY = 3,    /* no place for another bond */
	WH_RECEPTION_CIPHER = 4,  /* no cipher that both take */
	WH_RECEPTIONS = 5,
};

#define WH_CARD_VERSION_BYTES 32

/* What an end says of itself when it has met the other one; as it travels. */
struct wh_card {
	uint8_t format; /* WH_CARD_FORMAT */
	uint8_t verdict;
	uint8_t ciphers; /* that it takes: bit n is of enum wh_cipher n */
	uint8_t reserved;
	uint32_t number;                     /* of the bond there; 0 unless welcome */
	uint8_t process[WH_PROCESS_BYTES];   /* whose: of one host, one user, others have others */
	char version[WH_CARD_VERSION_BYTES]; /* of its wavehaul, ended by a NUL */
	struct wh_offered offered;           /* server's first: a session; else zeros */
};

#define WH_CARD_FORMAT 3

/* What all greetings of an identity have in common. */
struct wh_greeting_ends {
	SSL_CTX *client;
	SSL_CTX *server;
};

/* 0, -ENOMEM, or -EBADMSG: not an identity that TLS takes. The identity is not kept. */
int wh_greeting_ends_init(struct wh_greeting_ends *ends, const struct wh_identity *identity);
void wh_greeting_ends_free(struct wh_greeting_ends *ends);

enum wh_greeting_state {
	WH_GREETING_GOING = 0,
	WH_GREETING_MET,   /* the owner is to answer */
	WH_GREETING_WAITS, /* client: for the server's verdict */
	WH_GREETING_DONE,  /* both cards are here, whatever they say */
	WH_GREETING_BROKEN,
};

struct wh_greeting {
	SSL *ssl; /* NULL: ended */
	bool client;
	enum wh_greeting_state state;
	const char *broken_by; /* a constant, and nothing that the peer has said; NULL: it is not */
	bool introduced;       /* server: its first card is on its way */
	struct wh_card ours;
	struct wh_card theirs;     /* the server's is the first one, ... */
	enum wh_reception verdict; /* ... and this is of the last one */
	struct wh_card coming;
	uint32_t card_bytes;                /* of the one that comes, read so far */
	uint8_t peer_id[WH_IDENTITY_BYTES]; /* once it is MET */
};

/*
 * 0 or -ENOMEM. A server's first card, without `format`; with a verdict it is one of BUSY. NULL:
 * this is a client.
 */
int wh_greeting_begin(struct wh_greeting *greeting, const struct wh_greeting_ends *ends,
	const struct wh_card *first);

/* Bytes of the other end, and what follows from them; NULL with 0 bytes: its first step. */
enum wh_greeting_state wh_greeting_put(
	struct wh_greeting *greeting, const uint8_t *bytes, uint32_t count);

/* Bytes for the other end, at most `room`; 0: none now. */
uint32_t wh_greeting_take(struct wh_greeting *greeting, uint8_t *bytes, uint32_t room);

/* Once it is MET: what the peer has shown, its own certificate first; valid until the end. */
X509 *wh_greeting_certificate(const struct wh_greeting *greeting);
STACK_OF(X509) * wh_greeting_chain(const struct wh_greeting *greeting);

/* Once it is MET: our verdict, without `format`. One other than WELCOME has no number. */
enum wh_greeting_state wh_greeting_answer(struct wh_greeting *greeting, const struct wh_card *card);

/* Once it is MET: the cipher that he takes and one of `ciphers` is; 0: there is none. */
enum wh_cipher wh_greeting_cipher(const struct wh_greeting *greeting, uint8_t ciphers);

/* What both ends of a greeting that is MET share, and nobody else; false: TLS has none. */
bool wh_greeting_secret(const struct wh_greeting *greeting, uint8_t secret[WH_SECRET_BYTES]);

void wh_greeting_end(struct wh_greeting *greeting);

const char *wh_reception_name(enum wh_reception verdict);

#endif
