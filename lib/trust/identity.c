/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/assert.h"
#include "file/all_bytes.h"
#include "file/fresh_file.h"

#define RSA_BITS_MAX          4096
#define RSA_EXPONENT_BITS_MAX 32

#define FILE_BYTES_MAX (1 << 16)
#define RSA_BITS_MIN   2048

/* OpenSSL's secure heap for private keys: locked, and excluded from core dumps. */
#define SECURE_BYTES       (1 << 16)
#define SECURE_BYTES_LEAST 32

/*
 * Valid from before the time of any wrong clock, until RFC 5280's "no well-defined expiration
 * date".
 */
#define VALID_FROM  "20000101000000Z"
#define VALID_UNTIL "99991231235959Z"

/* Prepares the secure heap. Without the right to lock memory, keys are in ordinary memory. */
static void keep_keys_apart(void)
{
	if (!CRYPTO_secure_malloc_initialized())
		(void)CRYPTO_secure_malloc_init(SECURE_BYTES, SECURE_BYTES_LEAST);
}

bool wh_identity_is_cheap(const X509 *certificate)
{
	const EVP_PKEY *key = X509_get0_pubkey(certificate);
	BIGNUM *exponent = NULL;

	if (key == NULL)
		return false;
	if (!EVP_PKEY_is_a(key, "RSA") && !EVP_PKEY_is_a(key, "RSA-PSS"))
		return true;

	bool cheap = EVP_PKEY_get_bits(key) <= RSA_BITS_MAX &&
		     EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_RSA_E, &exponent) == 1 &&
		     BN_num_bits(exponent) <= RSA_EXPONENT_BITS_MAX;

	BN_free(exponent);
	return cheap;
}

int wh_identity_of(const X509 *certificate, uint8_t id[WH_IDENTITY_BYTES])
{
	uint8_t *spki = NULL;
	int bytes = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &spki);
	unsigned int made = 0;
	bool good =
		bytes > 0 && EVP_Digest(spki, (size_t)bytes, id, &made, EVP_sha256(), NULL) == 1;

	OPENSSL_free(spki);
	return good && made == WH_IDENTITY_BYTES ? 0 : -EBADMSG;
}

static bool add_extension(X509 *certificate, int nid, const char *value)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
	bool added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;

	X509_EXTENSION_free(extension);
	return added;
}

static bool fill(X509 *certificate, EVP_PKEY *key)
{
	X509_NAME *name = X509_get_subject_name(certificate);
	uint64_t pn;

	if (RAND_bytes((uint8_t *)&pn, sizeof(pn)) != 1)
		return false;
	return X509_set_version(certificate, X509_VERSION_3) == 1 &&
	       ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), pn >> 1 | 1) == 1 &&
	       ASN1_TIME_set_string_X509(X509_getm_notBefore(certificate), VALID_FROM) == 1 &&
	       ASN1_TIME_set_string_X509(X509_getm_notAfter(certificate), VALID_UNTIL) == 1 &&
	       X509_NAME_add_entry_by_txt(
		       name, "CN", MBSTRING_ASC, (const uint8_t *)"wavehaul", -1, -1, 0) == 1 &&
	       X509_set_issuer_name(certificate, name) == 1 &&
	       X509_set_pubkey(certificate, key) == 1 &&
	       add_extension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
	       add_extension(certificate, NID_key_usage, "critical,digitalSignature") &&
	       X509_sign(certificate, key, NULL) > 0;
}

int wh_identity_make(struct wh_identity *identity)
{
	keep_keys_apart();
	*identity = (struct wh_identity){
		.key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"),
		.certificate = X509_new(),
	};
	if (identity->key != NULL && identity->certificate != NULL &&
		fill(identity->certificate, identity->key) &&
		wh_identity_of(identity->certificate, identity->id) == 0)
		return 0;
	ERR_clear_error();
	wh_identity_free(identity);
	return -ENOMEM;
}

void wh_identity_free(struct wh_identity *identity)
{
	EVP_PKEY_free(identity->key);
	X509_free(identity->certificate);
	sk_X509_pop_free(identity->chain, X509_free);
	*identity = (struct wh_identity){0};
}

/* Refuses encrypted keys: a host runs without a person who could enter a password. */
static int no_password(char *to, int room, int writes, void *context)
{
	(void)to;
	(void)room;
	(void)writes;
	(void)context;
	return -1;
}

static bool may_be_taken(const EVP_PKEY *key)
{
	return EVP_PKEY_is_a(key, "ED25519") || EVP_PKEY_is_a(key, "EC") ||
	       (EVP_PKEY_is_a(key, "RSA") && EVP_PKEY_get_bits(key) >= RSA_BITS_MIN);
}

static int read_chain(BIO *from, struct wh_identity *identity)
{
	X509 *next;

	while ((next = PEM_read_bio_X509(from, NULL, no_password, NULL)) != NULL) {
		if (identity->chain == NULL)
			identity->chain = sk_X509_new_null();
		if (identity->chain == NULL || sk_X509_push(identity->chain, next) <= 0) {
			X509_free(next);
			return -ENOMEM;
		}
	}
	return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? 0 : -EBADMSG;
}

/* The key may come before its certificate or after it: each is searched from the beginning. */
static int read_pem(const char *text, int bytes, struct wh_identity *identity)
{
	BIO *keys = BIO_new_mem_buf(text, bytes);
	BIO *certificates = BIO_new_mem_buf(text, bytes);
	int rc = -ENOMEM;

	if (keys != NULL && certificates != NULL) {
		identity->key = PEM_read_bio_PrivateKey(keys, NULL, no_password, NULL);
		identity->certificate = PEM_read_bio_X509(certificates, NULL, no_password, NULL);
		if (identity->key == NULL || identity->certificate == NULL ||
			X509_check_private_key(identity->certificate, identity->key) != 1)
			rc = -EBADMSG;
		else if (!may_be_taken(identity->key))
			rc = -ENOTSUP;
		else
			rc = read_chain(certificates, identity);
	}
	BIO_free(keys);
	BIO_free(certificates);
	ERR_clear_error();
	return rc == 0 ? wh_identity_of(identity->certificate, identity->id) : rc;
}

/* Returns the number of bytes read, or a negative errno. */
static int read_owned(int fd, char *text)
{
	struct stat facts;

	if (fstat(fd, &facts) != 0)
		return -errno;
	if (!S_ISREG(facts.st_mode) || facts.st_size > FILE_BYTES_MAX)
		return -EBADMSG;
	if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0 ||
		(facts.st_uid != geteuid() && facts.st_uid != 0))
		return -EPERM;
	return (int)wh_read_all_at(fd, text, FILE_BYTES_MAX, 0);
}

int wh_identity_load(struct wh_identity *identity, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text;
	int rc = -ENOMEM;

	*identity = (struct wh_identity){0};
	if (fd < 0)
		return -errno;
	keep_keys_apart();
	text = OPENSSL_malloc(FILE_BYTES_MAX);
	if (text != NULL)
		rc = read_owned(fd, text);
	close(fd);
	if (rc >= 0)
		rc = read_pem(text, rc, identity);
	OPENSSL_clear_free(text, FILE_BYTES_MAX);
	if (rc != 0)
		wh_identity_free(identity);
	return rc;
}

static bool print_pem(BIO *to, const struct wh_identity *identity)
{
	bool good = PEM_write_bio_PrivateKey(to, identity->key, NULL, NULL, 0, NULL, NULL) == 1 &&
		    PEM_write_bio_X509(to, identity->certificate) == 1;

	for (int i = 0; good && i < sk_X509_num(identity->chain); i++)
		good = PEM_write_bio_X509(to, sk_X509_value(identity->chain, i)) == 1;
	return good;
}

/* 0 or a negative errno. */
static int write_pem(int fd, const struct wh_identity *identity)
{
	BIO *memory = BIO_new(BIO_s_secmem());
	bool printed = memory != NULL && print_pem(memory, identity);
	char *text = NULL;
	long bytes = printed ? BIO_get_mem_data(memory, &text) : 0;
	int rc = printed ? 0 : -ENOMEM;

	if (printed)
		rc = wh_write_all(fd, text, (size_t)bytes);
	BIO_free(memory); /* also wipes it */
	ERR_clear_error();
	return rc == 0 && fsync(fd) != 0 ? -errno : rc;
}

/* Syncs the file's folder, so that the name survives a power cut, too. */
static void sync_folder_of(const char *path)
{
	char folder[PATH_MAX] = ".";
	const char *last = strrchr(path, '/');
	int fd;

	if (last != NULL)
		snprintf(folder, sizeof(folder), "%.*s", (int)(last - path) + 1, path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

int wh_identity_save(const struct wh_identity *identity, const char *path, bool replace)
{
	char fresh[PATH_MAX];
	int fd;
	int rc;

	WH_ASSERT(identity->key != NULL && identity->certificate != NULL);
	fd = wh_fresh_file_open(fresh, path, S_IRUSR | S_IWUSR);
	if (fd < 0)
		return fd;
	rc = write_pem(fd, identity);
	if (rc == 0 && (replace ? rename(fresh, path) : link(fresh, path)) != 0)
		rc = -errno;
	if (rc != 0 || !replace)
		unlink(fresh);
	close(fd);
	if (rc == 0)
		sync_folder_of(path);
	return rc;
}
