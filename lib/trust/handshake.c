/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/handshake.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <openssl/err.h>

#include "base/assert.h"

#define LABEL "EXPORTER-wavehaul-bond"

/* A chain from a site's CA has some kilobytes; a stranger's chain is not stored beyond this. */
#define CERTIFICATES_BYTES_MAX 8192

static_assert(sizeof(struct wh_auth) ==
		      8 + WH_PROCESS_BYTES + WH_AUTH_VERSION_BYTES + 4 + WH_COOKIE_BYTES,
	"an auth message has no gaps");

/* In ALPN's format: the length first. */
static const uint8_t protocol[] = "\x0a" WH_HANDSHAKE_PROTOCOL;

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

int wh_handshake_ends_init(struct wh_handshake_ends *ends, const struct wh_identity *identity)
{
	*ends = (struct wh_handshake_ends){
		.client = make_end(identity, true),
		.server = make_end(identity, false),
	};
	ERR_clear_error();
	if (ends->client != NULL && ends->server != NULL)
		return 0;
	wh_handshake_ends_free(ends);
	return -EBADMSG;
}

void wh_handshake_ends_free(struct wh_handshake_ends *ends)
{
	SSL_CTX_free(ends->client);
	SSL_CTX_free(ends->server);
	*ends = (struct wh_handshake_ends){0};
}

int wh_handshake_begin(struct wh_handshake *handshake, const struct wh_handshake_ends *ends,
	const struct wh_auth *first)
{
	BIO *in = BIO_new(BIO_s_mem());
	BIO *out = BIO_new(BIO_s_mem());
	bool client = first == NULL;

	*handshake = (struct wh_handshake){
		.ssl = SSL_new(client ? ends->client : ends->server),
		.client = client,
	};
	if (handshake->ssl == NULL || in == NULL || out == NULL) {
		BIO_free(in);
		BIO_free(out);
		SSL_free(handshake->ssl);
		handshake->ssl = NULL;
		return -ENOMEM;
	}
	if (!client) {
		handshake->ours = *first;
		handshake->ours.format = WH_AUTH_FORMAT;
	}
	/* An empty buffer is not the end of the stream. */
	BIO_set_mem_eof_return(in, -1);
	SSL_set_bio(handshake->ssl, in, out);
	if (client)
		SSL_set_connect_state(handshake->ssl);
	else
		SSL_set_accept_state(handshake->ssl);
	return 0;
}

static bool is_of_our_protocol(const SSL *ssl)
{
	const uint8_t *chosen;
	unsigned int bytes;

	SSL_get0_alpn_selected(ssl, &chosen, &bytes);
	return bytes == sizeof(protocol) - 2 && memcmp(chosen, protocol + 1, bytes) == 0;
}

/* Ends the handshake with `why`, or if that is NULL with the reason that TLS gives. */
static void break_off(struct wh_handshake *handshake, const char *why)
{
	if (why == NULL)
		why = ERR_reason_error_string(ERR_peek_last_error());
	handshake->state = WH_HANDSHAKE_BROKEN;
	handshake->broken_by = why != NULL ? why : "TLS gives no reason";
}

static void meet(struct wh_handshake *handshake)
{
	X509 *certificate = wh_handshake_certificate(handshake);

	if (!is_of_our_protocol(handshake->ssl))
		break_off(handshake, "not wavehaul's protocol");
	else if (certificate == NULL || wh_identity_of(certificate, handshake->peer_id) != 0)
		break_off(handshake, "a certificate without a key");
	else
		handshake->state = WH_HANDSHAKE_MET;
}

/* Whether TLS only needs more bytes. */
static bool waits_for_bytes(struct wh_handshake *handshake, int rc)
{
	int error = SSL_get_error(handshake->ssl, rc);

	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
}

/* A server's first auth message has no verdict, unless it has no place for an SA. */
static bool makes_sense(const struct wh_auth *auth, bool first)
{
	bool numbered =
		auth->verdict == WH_AUTH_WELCOME || (first && auth->verdict == WH_AUTH_NONE);

	return auth->format == WH_AUTH_FORMAT && auth->reserved == 0 &&
	       auth->verdict < WH_AUTH_VERDICTS && numbered == (auth->number != 0) &&
	       (first ? auth->verdict == WH_AUTH_NONE || auth->verdict == WH_AUTH_BUSY
		      : auth->verdict != WH_AUTH_NONE) &&
	       memchr(auth->version, '\0', sizeof(auth->version)) != NULL;
}

/* True once a whole, valid auth message was read. */
static bool read_auth(struct wh_handshake *handshake)
{
	struct wh_auth *auth = &handshake->coming;
	bool first = handshake->client && handshake->state == WH_HANDSHAKE_GOING;

	while (handshake->auth_bytes < sizeof(*auth)) {
		int got = SSL_read(handshake->ssl, (uint8_t *)auth + handshake->auth_bytes,
			(int)(sizeof(*auth) - handshake->auth_bytes));

		if (got <= 0) {
			if (!waits_for_bytes(handshake, got))
				break_off(handshake, NULL);
			return false;
		}
		handshake->auth_bytes += (uint32_t)got;
	}
	handshake->auth_bytes = 0;
	if (!makes_sense(auth, first)) {
		break_off(handshake, "an auth message that makes no sense");
		return false;
	}
	handshake->verdict = (enum wh_auth_verdict)auth->verdict;
	/* A client uses the SA number of the first auth message. */
	if (!handshake->client || first)
		handshake->theirs = *auth;
	return true;
}

/* TLS lets a server write behind its Finished, before the client's Finished has arrived. */
static void introduce(struct wh_handshake *handshake)
{
	const struct wh_auth *ours = &handshake->ours;
	uint8_t none;
	size_t bytes;
	int rc = SSL_read_early_data(handshake->ssl, &none, sizeof(none), &bytes);

	if (rc == SSL_READ_EARLY_DATA_ERROR && waits_for_bytes(handshake, -1))
		return;
	handshake->introduced =
		rc == SSL_READ_EARLY_DATA_FINISH &&
		SSL_write_early_data(handshake->ssl, ours, sizeof(*ours), &bytes) == 1 &&
		bytes == sizeof(*ours);
	if (!handshake->introduced)
		break_off(handshake, NULL);
}

static void shake(struct wh_handshake *handshake)
{
	int rc = SSL_do_handshake(handshake->ssl);

	if (rc != 1 && !waits_for_bytes(handshake, rc))
		break_off(handshake, NULL);
}

static void step(struct wh_handshake *handshake)
{
	if (!handshake->client && !handshake->introduced)
		introduce(handshake);
	if (handshake->state == WH_HANDSHAKE_GOING &&
		(handshake->client || handshake->introduced) && SSL_in_init(handshake->ssl))
		shake(handshake);
	/* MET requires the peer's auth message. */
	if (handshake->state == WH_HANDSHAKE_GOING && !SSL_in_init(handshake->ssl) &&
		read_auth(handshake))
		meet(handshake);
	if (handshake->state == WH_HANDSHAKE_WAITS && read_auth(handshake))
		handshake->state = WH_HANDSHAKE_DONE;
}

enum wh_handshake_state wh_handshake_put(
	struct wh_handshake *handshake, const uint8_t *bytes, uint32_t count)
{
	WH_ASSERT(handshake->ssl != NULL && count <= INT32_MAX);
	if (count > 0 && BIO_write(SSL_get_rbio(handshake->ssl), bytes, (int)count) != (int)count)
		break_off(handshake, NULL);
	if (handshake->state == WH_HANDSHAKE_GOING || handshake->state == WH_HANDSHAKE_WAITS)
		step(handshake);
	/*
	 * OpenSSL's error queue belongs to the thread: the next handshake would find what is left
	 * in it.
	 */
	ERR_clear_error();
	return handshake->state;
}

uint32_t wh_handshake_take(struct wh_handshake *handshake, uint8_t *bytes, uint32_t room)
{
	WH_ASSERT(handshake->ssl != NULL && room <= INT32_MAX);

	int got = BIO_read(SSL_get_wbio(handshake->ssl), bytes, (int)room);

	return got > 0 ? (uint32_t)got : 0;
}

X509 *wh_handshake_certificate(const struct wh_handshake *handshake)
{
	return SSL_get0_peer_certificate(handshake->ssl);
}

STACK_OF(X509) * wh_handshake_chain(const struct wh_handshake *handshake)
{
	return SSL_get_peer_cert_chain(handshake->ssl);
}

enum wh_handshake_state wh_handshake_answer(
	struct wh_handshake *handshake, const struct wh_auth *auth)
{
	struct wh_auth *ours = &handshake->ours;
	bool welcome = auth->verdict == WH_AUTH_WELCOME;

	WH_ASSERT(handshake->state == WH_HANDSHAKE_MET && auth->verdict != WH_AUTH_NONE);
	WH_ASSERT(welcome == (auth->number != 0));
	*ours = *auth;
	ours->format = WH_AUTH_FORMAT;
	if (SSL_write(handshake->ssl, ours, sizeof(*ours)) != (int)sizeof(*ours))
		break_off(handshake, NULL);
	else
		handshake->state =
			handshake->client && welcome ? WH_HANDSHAKE_WAITS : WH_HANDSHAKE_DONE;
	ERR_clear_error();
	return handshake->state;
}

enum wh_cipher wh_handshake_cipher(const struct wh_handshake *handshake, uint8_t ciphers)
{
	uint32_t both = ciphers & handshake->theirs.ciphers;

	for (uint32_t cipher = 1; cipher < WH_CIPHERS; cipher++)
		if ((both >> cipher & 1) != 0)
			return (enum wh_cipher)cipher;
	return (enum wh_cipher)0;
}

bool wh_handshake_secret(const struct wh_handshake *handshake, uint8_t secret[WH_SECRET_BYTES])
{
	bool made = SSL_export_keying_material(handshake->ssl, secret, WH_SECRET_BYTES, LABEL,
			    sizeof(LABEL) - 1, NULL, 0, 0) == 1;

	ERR_clear_error();
	return made;
}

void wh_handshake_end(struct wh_handshake *handshake)
{
	SSL_free(handshake->ssl);
	handshake->ssl = NULL;
}

const char *wh_auth_verdict_name(enum wh_auth_verdict verdict)
{
	static const char *const names[WH_AUTH_VERDICTS] = {
		[WH_AUTH_NONE] = "none",
		[WH_AUTH_WELCOME] = "welcome",
		[WH_AUTH_UNKNOWN] = "unknown",
		[WH_AUTH_BUSY] = "busy",
		[WH_AUTH_CIPHER] = "cipher",
		[WH_AUTH_SELF] = "self",
	};

	WH_ASSERT(verdict < WH_AUTH_VERDICTS);
	return names[verdict];
}
