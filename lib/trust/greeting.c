/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/greeting.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "base/assert.h"

#define LABEL "EXPORTER-wavehaul-bond"

/* A chain from a site's CA has some kilobytes; a stranger's chain is not stored beyond this. */
#define CERTIFICATES_BYTES_MAX 8192

static_assert(sizeof(struct wh_card) ==
		      8 + WH_PROCESS_BYTES + WH_CARD_VERSION_BYTES + 4 + WH_COOKIE_BYTES,
	"a card has no gaps");

/* In ALPN's format: the length first. */
static const uint8_t protocol[] = "\x0a" WH_GREETING_PROTOCOL;

static_assert(sizeof(protocol) - 2 == 0x0a, "the length is that of the name");

/*
 * Called before the signature is checked. Accepts any key that is cheap to check, because TLS only
 * has to prove that the peer has the key; whether it is trusted is decided afterwards.
 */
static int take_any(X509_STORE_CTX *store, void *context)
{
	(void)context;
	if (wh_identity_is_cheap(X509_STORE_CTX_get0_cert(store)))
		return 1;
	X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
	return 0;
}

static int choose_protocol(SSL *ssl, const uint8_t **chosen, uint8_t *bytes, const uint8_t *offered,
	unsigned int offered_bytes, void *context)
{
	uint8_t *found;

	(void)ssl;
	(void)context;
	if (SSL_select_next_proto(&found, bytes, protocol, sizeof(protocol) - 1, offered,
		    offered_bytes) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*chosen = found;
	return SSL_TLSEXT_ERR_OK;
}

static bool set_identity(SSL_CTX *ctx, const struct wh_identity *identity)
{
	if (SSL_CTX_use_certificate(ctx, identity->certificate) != 1 ||
		SSL_CTX_use_PrivateKey(ctx, identity->key) != 1 ||
		SSL_CTX_check_private_key(ctx) != 1)
		return false;
	return identity->chain == NULL || SSL_CTX_set1_chain(ctx, identity->chain) == 1;
}

static SSL_CTX *make_end(const struct wh_identity *identity, bool client)
{
	SSL_CTX *ctx = SSL_CTX_new(client ? TLS_client_method() : TLS_server_method());

	if (ctx == NULL)
		return NULL;
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_max_cert_list(ctx, CERTIFICATES_BYTES_MAX);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
	SSL_CTX_set_cert_verify_callback(ctx, take_any, NULL);
	SSL_CTX_set_alpn_select_cb(ctx, choose_protocol, NULL);
	if (SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) == 1 &&
		SSL_CTX_set_num_tickets(ctx, 0) == 1 &&
		SSL_CTX_set1_groups_list(ctx, "X25519:P-256") == 1 &&
		SSL_CTX_set1_sigalgs_list(ctx,
			"ed25519:ecdsa_secp256r1_sha256:ecdsa_secp384r1_sha384:"
			"rsa_pss_rsae_sha256:rsa_pss_pss_sha256") == 1 &&
		SSL_CTX_set_alpn_protos(ctx, protocol, sizeof(protocol) - 1) == 0 &&
		set_identity(ctx, identity))
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

int wh_greeting_ends_init(struct wh_greeting_ends *ends, const struct wh_identity *identity)
{
	*ends = (struct wh_greeting_ends){
		.client = make_end(identity, true),
		.server = make_end(identity, false),
	};
	ERR_clear_error();
	if (ends->client != NULL && ends->server != NULL)
		return 0;
	wh_greeting_ends_free(ends);
	return -EBADMSG;
}

void wh_greeting_ends_free(struct wh_greeting_ends *ends)
{
	SSL_CTX_free(ends->client);
	SSL_CTX_free(ends->server);
	*ends = (struct wh_greeting_ends){0};
}

int wh_greeting_begin(struct wh_greeting *greeting, const struct wh_greeting_ends *ends,
	const struct wh_card *first)
{
	BIO *in = BIO_new(BIO_s_mem());
	BIO *out = BIO_new(BIO_s_mem());
	bool client = first == NULL;

	*greeting = (struct wh_greeting){
		.ssl = SSL_new(client ? ends->client : ends->server),
		.client = client,
	};
	if (greeting->ssl == NULL || in == NULL || out == NULL) {
		BIO_free(in);
		BIO_free(out);
		SSL_free(greeting->ssl);
		greeting->ssl = NULL;
		return -ENOMEM;
	}
	if (!client) {
		greeting->ours = *first;
		greeting->ours.format = WH_CARD_FORMAT;
	}
	/* An empty buffer is not the end of the stream. */
	BIO_set_mem_eof_return(in, -1);
	SSL_set_bio(greeting->ssl, in, out);
	if (client)
		SSL_set_connect_state(greeting->ssl);
	else
		SSL_set_accept_state(greeting->ssl);
	return 0;
}

static bool is_of_our_protocol(const SSL *ssl)
{
	const uint8_t *chosen;
	unsigned int bytes;

	SSL_get0_alpn_selected(ssl, &chosen, &bytes);
	return bytes == sizeof(protocol) - 2 && memcmp(chosen, protocol + 1, bytes) == 0;
}

/* Ends the greeting with `why`, or if that is NULL with the reason that TLS gives. */
static void break_off(struct wh_greeting *greeting, const char *why)
{
	if (why == NULL)
		why = ERR_reason_error_string(ERR_peek_last_error());
	greeting->state = WH_GREETING_BROKEN;
	greeting->broken_by = why != NULL ? why : "TLS gives no reason";
}

static void meet(struct wh_greeting *greeting)
{
	X509 *certificate = wh_greeting_certificate(greeting);

	if (!is_of_our_protocol(greeting->ssl))
		break_off(greeting, "no wavehaul's protocol");
	else if (certificate == NULL || wh_identity_of(certificate, greeting->peer_id) != 0)
		break_off(greeting, "a certificate without a key");
	else
		greeting->state = WH_GREETING_MET;
}

/* Whether TLS only needs more bytes. */
static bool waits_for_bytes(struct wh_greeting *greeting, int rc)
{
	int error = SSL_get_error(greeting->ssl, rc);

	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

/* A server's first card has no verdict, unless it has no place for a bond. */
static bool makes_sense(const struct wh_card *card, bool first)
{
	bool numbered = card->verdict == WH_RECEPTION_WELCOME ||
			(first && card->verdict == WH_RECEPTION_NONE);

	return card->format == WH_CARD_FORMAT && card->reserved == 0 &&
	       card->verdict < WH_RECEPTIONS && numbered == (card->number != 0) &&
	       (first ? card->verdict == WH_RECEPTION_NONE || card->verdict == WH_RECEPTION_BUSY
		      : card->verdict != WH_RECEPTION_NONE) &&
	       memchr(card->version, '\0', sizeof(card->version)) != NULL;
}

/* True once a whole, valid card was read. */
static bool read_card(struct wh_greeting *greeting)
{
	struct wh_card *card = &greeting->coming;
	bool first = greeting->client && greeting->state == WH_GREETING_GOING;

	while (greeting->card_bytes < sizeof(*card)) {
		int got = SSL_read(greeting->ssl, (uint8_t *)card + greeting->card_bytes,
			(int)(sizeof(*card) - greeting->card_bytes));

		if (got <= 0) {
			if (!waits_for_bytes(greeting, got))
				break_off(greeting, NULL);
			return false;
		}
		greeting->card_bytes += (uint32_t)got;
	}
	greeting->card_bytes = 0;
	if (!makes_sense(card, first)) {
		break_off(greeting, "a card that makes no sense");
		return false;
	}
	greeting->verdict = (enum wh_reception)card->verdict;
	/* A client uses the bond number of the first card. */
	if (!greeting->client || first)
		greeting->theirs = *card;
	return true;
}

/* TLS lets a server write behind its Finished, before the client's Finished has arrived. */
static void introduce(struct wh_greeting *greeting)
{
	const struct wh_card *ours = &greeting->ours;
	uint8_t none;
	size_t bytes;
	int rc = SSL_read_early_data(greeting->ssl, &none, sizeof(none), &bytes);

	if (rc == SSL_READ_EARLY_DATA_ERROR && waits_for_bytes(greeting, -1))
		return;
	greeting->introduced =
		rc == SSL_READ_EARLY_DATA_FINISH &&
		SSL_write_early_data(greeting->ssl, ours, sizeof(*ours), &bytes) == 1 &&
		bytes == sizeof(*ours);
	if (!greeting->introduced)
		break_off(greeting, NULL);
}

static void shake(struct wh_greeting *greeting)
{
	int rc = SSL_do_handshake(greeting->ssl);

	if (rc != 1 && !waits_for_bytes(greeting, rc))
		break_off(greeting, NULL);
}

static void step(struct wh_greeting *greeting)
{
	if (!greeting->client && !greeting->introduced)
		introduce(greeting);
	if (greeting->state == WH_GREETING_GOING && (greeting->client || greeting->introduced) &&
		SSL_in_init(greeting->ssl))
		shake(greeting);
	/* MET requires the peer's card. */
	if (greeting->state == WH_GREETING_GOING && !SSL_in_init(greeting->ssl) &&
		read_card(greeting))
		meet(greeting);
	if (greeting->state == WH_GREETING_WAITS && read_card(greeting))
		greeting->state = WH_GREETING_DONE;
}

enum wh_greeting_state wh_greeting_put(
	struct wh_greeting *greeting, const uint8_t *bytes, uint32_t count)
{
	WH_ASSERT(greeting->ssl != NULL && count <= INT32_MAX);
	if (count > 0 && BIO_write(SSL_get_rbio(greeting->ssl), bytes, (int)count) != (int)count)
		break_off(greeting, NULL);
	if (greeting->state == WH_GREETING_GOING || greeting->state == WH_GREETING_WAITS)
		step(greeting);
	/*
	 * OpenSSL's error queue belongs to the thread: the next greeting would find what is left in
	 * it.
	 */
	ERR_clear_error();
	return greeting->state;
}

uint32_t wh_greeting_take(struct wh_greeting *greeting, uint8_t *bytes, uint32_t room)
{
	WH_ASSERT(greeting->ssl != NULL && room <= INT32_MAX);

	int got = BIO_read(SSL_get_wbio(greeting->ssl), bytes, (int)room);

	return got > 0 ? (uint32_t)got : 0;
}

X509 *wh_greeting_certificate(const struct wh_greeting *greeting)
{
	return SSL_get0_peer_certificate(greeting->ssl);
}

STACK_OF(X509) * wh_greeting_chain(const struct wh_greeting *greeting)
{
	return SSL_get_peer_cert_chain(greeting->ssl);
}

enum wh_greeting_state wh_greeting_answer(struct wh_greeting *greeting, const struct wh_card *card)
{
	struct wh_card *ours = &greeting->ours;
	bool welcome = card->verdict == WH_RECEPTION_WELCOME;

	WH_ASSERT(greeting->state == WH_GREETING_MET && card->verdict != WH_RECEPTION_NONE);
	WH_ASSERT(welcome == (card->number != 0));
	*ours = *card;
	ours->format = WH_CARD_FORMAT;
	if (SSL_write(greeting->ssl, ours, sizeof(*ours)) != (int)sizeof(*ours))
		break_off(greeting, NULL);
	else
		greeting->state =
			greeting->client && welcome ? WH_GREETING_WAITS : WH_GREETING_DONE;
	ERR_clear_error();
	return greeting->state;
}

enum wh_cipher wh_greeting_cipher(const struct wh_greeting *greeting, uint8_t ciphers)
{
	uint32_t both = ciphers & greeting->theirs.ciphers;

	for (uint32_t cipher = 1; cipher < WH_CIPHERS; cipher++)
		if ((both >> cipher & 1) != 0)
			return (enum wh_cipher)cipher;
	return (enum wh_cipher)0;
}

bool wh_greeting_secret(const struct wh_greeting *greeting, uint8_t secret[WH_SECRET_BYTES])
{
	bool made = SSL_export_keying_material(greeting->ssl, secret, WH_SECRET_BYTES, LABEL,
			    sizeof(LABEL) - 1, NULL, 0, 0) == 1;

	ERR_clear_error();
	return made;
}

void wh_greeting_end(struct wh_greeting *greeting)
{
	SSL_free(greeting->ssl);
	greeting->ssl = NULL;
}

const char *wh_reception_name(enum wh_reception verdict)
{
	static const char *const names[WH_RECEPTIONS] = {
		[WH_RECEPTION_NONE] = "none",
		[WH_RECEPTION_WELCOME] = "welcome",
		[WH_RECEPTION_UNKNOWN] = "unknown",
		[WH_RECEPTION_BUSY] = "busy",
		[WH_RECEPTION_CIPHER] = "cipher",
		[WH_RECEPTION_SELF] = "self",
	};

	WH_ASSERT(verdict < WH_RECEPTIONS);
	return names[verdict];
}
