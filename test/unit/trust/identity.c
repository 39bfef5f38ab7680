/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/identity.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "trust/fingerprint.h"
#include "unit.h"

const char wh_suite_name[] = "identity";

static char folder[] = "/tmp/wh-identity-XXXXXX";
static char path[PATH_MAX];

static void begin(void)
{
	if (path[0] == '\0') {
		CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
		snprintf(path, sizeof(path), "%s/identity.pem", folder);
	}
	unlink(path);
}

static void end(void)
{
	unlink(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0); /* nothing is left under another name */
	path[0] = '\0';
	strcpy(folder, "/tmp/wh-identity-XXXXXX");
}

static void write_text(const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	chmod(path, mode);
}

static void test_made(void)
{
	struct wh_identity one;
	struct wh_identity other;

	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&one), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&other), 0);
	CU_ASSERT_EQUAL(EVP_PKEY_is_a(one.key, "ED25519"), 1);
	CU_ASSERT_EQUAL(X509_verify(one.certificate, one.key), 1);
	CU_ASSERT_EQUAL(X509_verify(one.certificate, other.key), 0);
	CU_ASSERT_EQUAL(X509_check_ca(one.certificate), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(one.id, other.id, sizeof(one.id)), 0);
	wh_identity_free(&one);
	wh_identity_free(&other);
}

static void test_saved_and_loaded(void)
{
	struct wh_identity made;
	struct wh_identity loaded;
	struct stat facts;

	begin();
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&made), 0);
	CU_ASSERT_EQUAL(wh_identity_save(&made, path, false), 0);
	CU_ASSERT_EQUAL(stat(path, &facts), 0);
	CU_ASSERT_EQUAL(facts.st_mode & 0777, 0600);
	CU_ASSERT_EQUAL_FATAL(wh_identity_load(&loaded, path), 0);
	CU_ASSERT_EQUAL(memcmp(made.id, loaded.id, sizeof(made.id)), 0);
	CU_ASSERT_EQUAL(EVP_PKEY_eq(made.key, loaded.key), 1);
	CU_ASSERT_PTR_NULL(loaded.chain);
	wh_identity_free(&loaded);

	/* Another one does not take its place unasked. */
	wh_identity_free(&made);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&made), 0);
	CU_ASSERT_EQUAL(wh_identity_save(&made, path, false), -EEXIST);
	CU_ASSERT_EQUAL_FATAL(wh_identity_load(&loaded, path), 0);
	CU_ASSERT_NOT_EQUAL(memcmp(made.id, loaded.id, sizeof(made.id)), 0);
	wh_identity_free(&loaded);
	CU_ASSERT_EQUAL(wh_identity_save(&made, path, true), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_load(&loaded, path), 0);
	CU_ASSERT_EQUAL(memcmp(made.id, loaded.id, sizeof(made.id)), 0);
	wh_identity_free(&loaded);
	wh_identity_free(&made);
	end();
}

static int load_once(void)
{
	struct wh_identity loaded;
	int rc = wh_identity_load(&loaded, path);

	if (rc == 0)
		wh_identity_free(&loaded);
	return rc;
}

static void test_others_may_not_read(void)
{
	static const mode_t modes[] = {0640, 0604, 0620, 0601, 0777};
	struct wh_identity made;

	begin();
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&made), 0);
	CU_ASSERT_EQUAL(wh_identity_save(&made, path, false), 0);
	for (uint32_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		chmod(path, modes[i]);
		CU_ASSERT_EQUAL(load_once(), -EPERM);
	}
	chmod(path, 0400);
	CU_ASSERT_EQUAL(load_once(), 0);
	wh_identity_free(&made);
	end();
}

static char *pem_of(EVP_PKEY *key, X509 *certificate, const char *password)
{
	BIO *memory = BIO_new(BIO_s_mem());
	char *text;

	if (key != NULL)
		PEM_write_bio_PrivateKey(memory, key, password ? EVP_aes_128_cbc() : NULL,
			(const unsigned char *)password, password ? (int)strlen(password) : 0, NULL,
			NULL);
	if (certificate != NULL)
		PEM_write_bio_X509(memory, certificate);

	long bytes = BIO_get_mem_data(memory, &text);
	char *copy = calloc(1, (size_t)bytes + 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memcpy(copy, text, (size_t)bytes); /* it does not end with a NUL */
	BIO_free(memory);
	return copy;
}

static int load_pem(EVP_PKEY *key, X509 *certificate, const char *password)
{
	char *text = pem_of(key, certificate, password);

	write_text(text, 0600);
	free(text);
	return load_once();
}

static void test_damaged(void)
{
	struct wh_identity one;
	struct wh_identity other;

	begin();
	CU_ASSERT_EQUAL(load_once(), -ENOENT);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&one), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&other), 0);
	CU_ASSERT_EQUAL(load_pem(one.key, one.certificate, NULL), 0);
	CU_ASSERT_EQUAL(load_pem(one.key, other.certificate, NULL), -EBADMSG);
	CU_ASSERT_EQUAL(load_pem(one.key, NULL, NULL), -EBADMSG);
	CU_ASSERT_EQUAL(load_pem(NULL, one.certificate, NULL), -EBADMSG);
	CU_ASSERT_EQUAL(load_pem(one.key, one.certificate, "secret"), -EBADMSG);
	write_text("", 0600);
	CU_ASSERT_EQUAL(load_once(), -EBADMSG);
	write_text("-----BEGIN PRIVATE KEY-----\nMC4CAQAw\n-----END PRIVATE KEY-----\n", 0600);
	CU_ASSERT_EQUAL(load_once(), -EBADMSG);
	unlink(path);
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	CU_ASSERT_EQUAL(load_once(), -EBADMSG);
	CU_ASSERT_EQUAL(rmdir(path), 0);
	wh_identity_free(&one);
	wh_identity_free(&other);
	end();
}

/* By another key than Ed25519: of a site's CA. */
static int load_other(EVP_PKEY *key)
{
	X509 *certificate = X509_new();

	CU_ASSERT_PTR_NOT_NULL_FATAL(key);
	X509_set_version(certificate, X509_VERSION_3);
	X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
	X509_gmtime_adj(X509_getm_notAfter(certificate), 60);
	X509_set_pubkey(certificate, key);
	CU_ASSERT(X509_sign(certificate, key, EVP_sha256()) > 0);

	int rc = load_pem(key, certificate, NULL);

	X509_free(certificate);
	EVP_PKEY_free(key);
	return rc;
}

static void test_other_kinds(void)
{
	begin();
	CU_ASSERT_EQUAL(load_other(EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256")), 0);
	CU_ASSERT_EQUAL(load_other(EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048)), 0);
	CU_ASSERT_EQUAL(load_other(EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)1024)), -ENOTSUP);
	end();
}

/* What stands behind our certificate goes with it, and comes back from a file. */
static void test_chain(void)
{
	struct wh_identity leaf;
	struct wh_identity above;
	struct wh_identity loaded;

	begin();
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&leaf), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&above), 0);
	leaf.chain = sk_X509_new_null();
	X509_up_ref(above.certificate);
	sk_X509_push(leaf.chain, above.certificate);
	CU_ASSERT_EQUAL(wh_identity_save(&leaf, path, false), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_load(&loaded, path), 0);
	CU_ASSERT_EQUAL(sk_X509_num(loaded.chain), 1);
	CU_ASSERT_EQUAL(X509_cmp(sk_X509_value(loaded.chain, 0), above.certificate), 0);
	CU_ASSERT_EQUAL(memcmp(loaded.id, leaf.id, sizeof(leaf.id)), 0);
	wh_identity_free(&loaded);
	wh_identity_free(&leaf);
	wh_identity_free(&above);
	end();
}

/* Known by its key alone: `openssl x509 -pubkey | openssl pkey -pubin -outform der | sha256sum`. */
static void test_id(void)
{
	static const char pem[] =
		"-----BEGIN CERTIFICATE-----\n"
		"MIIBLjCB4aADAgECAhR3bsCRjphrvbZ8d8JbLx9z9YAN5jAFBgMrZXAwDDEKMAgG\n"
		"A1UEAwwBeDAgFw0yNjExMjIxNzQ1NDlaGA8yMTI2MTAyOTE3NDU0OVowDDEKMAgG\n"
		"A1UEAwwBeDAqMAUGAytlcAMhAO5EPIr7x0YfbhRM8pYy4RcOi0XpzDE6pTBdq3eU\n"
		"hjjeo1MwUTAdBgNVHQ4EFgQUjWsKdF3sT747q6kz5vj2lCjVXB8wHwYDVR0jBBgw\n"
		"FoAUjWsKdF3sT747q6kz5vj2lCjVXB8wDwYDVR0TAQH/BAUwAwEB/zAFBgMrZXAD\n"
		"QQBvqkiTOCl9kzTyxbG68NLnKCyZ683eEEXjFLnMJ2oxhe6E+nBtOQt0XK3dRSTq\n"
		"7J1RoQZzPDEMEvnOgBzFisAJ\n"
		"-----END CERTIFICATE-----\n";
	BIO *memory = BIO_new_mem_buf(pem, -1);
	X509 *certificate = PEM_read_bio_X509(memory, NULL, NULL, NULL);
	uint8_t id[WH_IDENTITY_BYTES];
	char text[WH_ID_TEXT_BYTES];

	CU_ASSERT_PTR_NOT_NULL_FATAL(certificate);
	CU_ASSERT_EQUAL(wh_identity_of(certificate, id), 0);
	CU_ASSERT_STRING_EQUAL(wh_id_text(id, text),
		"sha256:15907f732e190748a259ad9f58c54487d6d4b9acb50401b62b223d1f17bddc5d");
	X509_free(certificate);
	BIO_free(memory);
}

/* A certificate of RSA with numbers that are none. */
static X509 *show_rsa(uint32_t bits, uint32_t exponent_bits)
{
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	BIGNUM *n = BN_new(), *e = BN_new();
	X509 *certificate = X509_new();
	EVP_PKEY *key = NULL;

	CU_ASSERT_FATAL(BN_rand(n, (int)bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD) == 1);
	CU_ASSERT_FATAL(BN_rand(e, (int)exponent_bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD) == 1);
	CU_ASSERT_FATAL(OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) == 1);
	CU_ASSERT_FATAL(OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) == 1);

	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);

	CU_ASSERT_FATAL(EVP_PKEY_fromdata_init(ctx) == 1);
	CU_ASSERT_FATAL(EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) == 1);
	CU_ASSERT_FATAL(X509_set_pubkey(certificate, key) == 1);
	EVP_PKEY_free(key);
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(build);
	EVP_PKEY_CTX_free(ctx);
	BN_free(n);
	BN_free(e);
	return certificate;
}

/* A stranger's key that would take milliseconds to check a signature with is refused before. */
static void test_dear_keys(void)
{
	static const struct {
		uint32_t bits, exponent_bits;
		bool cheap;
	} cases[] = {{2048, 17, true}, {4096, 32, true}, {4104, 17, false}, {3072, 33, false}};
	struct wh_identity identity;

	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&identity), 0);
	CU_ASSERT(wh_identity_is_cheap(identity.certificate));
	wh_identity_free(&identity);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		X509 *certificate = show_rsa(cases[i].bits, cases[i].exponent_bits);

		CU_ASSERT_EQUAL(wh_identity_is_cheap(certificate), cases[i].cheap);
		X509_free(certificate);
	}
}

CU_TestInfo wh_tests[] = {
	{"made", test_made},
	{"saved and loaded", test_saved_and_loaded},
	{"others may not read it", test_others_may_not_read},
	{"damaged", test_damaged},
	{"other kinds of keys", test_other_kinds},
	{"a chain", test_chain},
	{"known by its key", test_id},
	{"keys that are dear to check", test_dear_keys},
	CU_TEST_INFO_NULL,
};
