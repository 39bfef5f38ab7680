/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/authority.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "base/assert.h"
#include "trust/identity.h"

#define CHAIN_MAX 10

#define FILE_BYTES_MAX (4 << 20)

/* Security of 112 bits: no SHA-1, no RSA below 2048. */
#define AUTH_LEVEL 2

struct wh_authority {
	X509_STORE *store;
	_Atomic uint32_t holders;
	uint32_t certificates;
};

/* Includes names given by `openssl rehash`: two CRLs of one CA are .r0 and .r1. */
static bool is_taken(const char *name)
{
	static const char *const ends[] = {".pem", ".crt", ".crl"};
	const char *end = strrchr(name, '.');

	if (end == NULL || name[0] == '.')
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(end, ends[i]) == 0)
			return true;
	end += end[1] == 'r' ? 2 : 1;
	return end[0] != '\0' && end[strspn(end, "0123456789")] == '\0';
}

static bool add(struct wh_authority *authority, const X509_INFO *found)
{
	if (found->x509 != NULL && X509_STORE_add_cert(authority->store, found->x509) == 1)
		authority->certificates++;
	else if (found->x509 != NULL)
		return false;
	return found->crl == NULL || X509_STORE_add_crl(authority->store, found->crl) == 1;
}

/* Write permission to the file amounts to the right to vouch for anybody. */
static int see_file(int fd, struct stat *facts)
{
	if (fstat(fd, facts) != 0)
		return -errno;
	if (!S_ISREG(facts->st_mode))
		return -EBADMSG;
	if (facts->st_size > FILE_BYTES_MAX)
		return -EFBIG;
	return (facts->st_mode & (S_IWGRP | S_IWOTH)) != 0 ||
			       (facts->st_uid != geteuid() && facts->st_uid != 0)
		       ? -EPERM
		       : 0;
}

/* Opens a file as a BIO, which the caller frees; or a negative errno. */
static int open_file(const char *path, BIO **file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat facts;
	int rc;

	if (fd < 0)
		return -errno;
	rc = see_file(fd, &facts);
	*file = rc == 0 ? BIO_new_fd(fd, BIO_CLOSE) : NULL;
	if (*file == NULL)
		close(fd);
	return rc == 0 && *file == NULL ? -ENOMEM : rc;
}

static int read_file(struct wh_authority *authority, const char *path)
{
	STACK_OF(X509_INFO) *found = NULL;
	BIO *file = NULL;
	int rc = open_file(path, &file);

	if (rc == 0)
		rc = -EBADMSG;
	if (file != NULL)
		found = PEM_X509_INFO_read_bio(file, NULL, NULL, NULL);
	if (found != NULL && sk_X509_INFO_num(found) > 0)
		rc = 0;
	for (int i = 0; rc == 0 && i < sk_X509_INFO_num(found); i++)
		if (!add(authority, sk_X509_INFO_value(found, i)))
			rc = -EBADMSG;
	sk_X509_INFO_pop_free(found, X509_INFO_free);
	BIO_free(file);
	ERR_clear_error();
	return rc;
}

/*
 * CRL checking requires a CRL for each certificate; here a CA without one is accepted. A CRL that
 * is dated later than now means that this host's clock is behind: what it revokes is revoked.
 */
static int see_error(int good, X509_STORE_CTX *context)
{
	int error = X509_STORE_CTX_get_error(context);

	return good == 1 || error == X509_V_ERR_UNABLE_TO_GET_CRL ||
	       error == X509_V_ERR_CRL_NOT_YET_VALID;
}

/* Errors that a wrong clock of this host would cause, too, have a text that says so. */
static const char *why_not(int error)
{
	switch (error) {
	case X509_V_ERR_CERT_NOT_YET_VALID:
		return "certificate is not yet valid, by the clock of this host; check the clock";
	case X509_V_ERR_CERT_HAS_EXPIRED:
		return "certificate has expired, by the clock of this host";
	case X509_V_ERR_CRL_HAS_EXPIRED:
		return "its authority's revocation list has expired, by the clock of this host; "
		       "put a new one into the folder of authorities";
	default:
		return X509_verify_cert_error_string(error);
	}
}

static struct wh_authority *make(void)
{
	struct wh_authority *authority = calloc(1, sizeof(*authority));

	if (authority == NULL)
		return NULL;
	authority->store = X509_STORE_new();
	atomic_store(&authority->holders, 1);
	if (authority->store != NULL)
		return authority;
	free(authority);
	return NULL;
}

static int read_folder(struct wh_authority *authority, DIR *entries, const char *folder, char *path,
	size_t path_room)
{
	const struct dirent *entry;
	uint32_t files = 0;
	int rc = 0;

	while (rc == 0 && (errno = 0, entry = readdir(entries)) != NULL) {
		if (!is_taken(entry->d_name))
			continue;
		if (++files > WH_AUTHORITY_FILES_MAX)
			return -E2BIG;
		if (snprintf(path, path_room, "%s/%s", folder, entry->d_name) >= (int)path_room)
			rc = -ENAMETOOLONG;
		else
			rc = read_file(authority, path);
	}
	/* What is behind may be a revocation list. */
	return rc == 0 ? -errno : rc;
}

int wh_authority_open(
	struct wh_authority **authority, const char *folder, char *path, size_t path_room)
{
	DIR *entries = opendir(folder);
	struct wh_authority *made;
	int rc;

	*authority = NULL;
	snprintf(path, path_room, "%s", folder);
	if (entries == NULL)
		return errno == ENOENT ? 0 : -errno;
	made = make();
	rc = made == NULL ? -ENOMEM : read_folder(made, entries, folder, path, path_room);
	closedir(entries);
	if (rc == 0 && made->certificates > 0)
		*authority = made;
	else
		wh_authority_let_go(made);
	return rc;
}

void wh_authority_share(struct wh_authority *authority)
{
	if (authority != NULL)
		atomic_fetch_add(&authority->holders, 1);
}

void wh_authority_let_go(struct wh_authority *authority)
{
	if (authority == NULL)
		return;

	uint32_t holders = atomic_fetch_sub(&authority->holders, 1);

	WH_ASSERT(holders > 0);
	if (holders > 1)
		return;
	X509_STORE_free(authority->store);
	free(authority);
}

/* The subject of the first certificate in the chain that is not a proxy: the owner. */
static bool owner_of(const X509_STORE_CTX *context, char *subject, size_t room)
{
	STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context);
	int i = 0;

	while (i < sk_X509_num(chain) &&
		(X509_get_extension_flags(sk_X509_value(chain, i)) & EXFLAG_PROXY) != 0)
		i++;
	if (i == sk_X509_num(chain))
		return false;

	BIO *text = BIO_new(BIO_s_mem());
	char *bytes;
	bool good = text != NULL &&
		    X509_NAME_print_ex(text, X509_get_subject_name(sk_X509_value(chain, i)), 0,
			    XN_FLAG_RFC2253) > 0;
	long length = good ? BIO_get_mem_data(text, &bytes) : 0;

	good = length > 0 && (size_t)length < room;
	if (good) {
		memcpy(subject, bytes, (size_t)length);
		subject[length] = '\0';
	}
	BIO_free(text);
	return good;
}

/*
 * The owner of a certificate chooses the keys of its proxies. We check their signatures again and
 * again, as long as the peer is trusted.
 */
static bool is_cheap(STACK_OF(X509) * chain)
{
	bool cheap = true;

	for (int i = 0; i < sk_X509_num(chain) && cheap; i++)
		cheap = wh_identity_is_cheap(sk_X509_value(chain, i));
	return cheap;
}

bool wh_authority_vouches(const struct wh_authority *authority, X509 *certificate,
	STACK_OF(X509) * chain, int64_t now_s, char *subject, size_t subject_room, const char **why)
{
	X509_STORE_CTX *context;
	bool good = false;

	*why = "a key in its chain takes too long to check";
	if (!is_cheap(chain))
		return false;
	context = X509_STORE_CTX_new();
	*why = "no memory";
	if (context != NULL &&
		X509_STORE_CTX_init(context, authority->store, certificate, chain) == 1) {
		X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);

		X509_VERIFY_PARAM_set_flags(
			param, X509_V_FLAG_ALLOW_PROXY_CERTS | X509_V_FLAG_CRL_CHECK |
				       X509_V_FLAG_CRL_CHECK_ALL | X509_V_FLAG_X509_STRICT);
		X509_VERIFY_PARAM_set_time(param, (time_t)now_s);
		X509_VERIFY_PARAM_set_depth(param, CHAIN_MAX);
		X509_VERIFY_PARAM_set_auth_level(param, AUTH_LEVEL);
		X509_STORE_CTX_set_verify_cb(context, see_error);
		good = X509_verify_cert(context) == 1;
		*why = why_not(X509_STORE_CTX_get_error(context));
		if (good && !owner_of(context, subject, subject_room)) {
			*why = "its subject is too long";
			good = false;
		}
	}
	X509_STORE_CTX_free(context);
	ERR_clear_error();
	return good;
}

/* An escaped comma (\,) belongs to a name and does not separate parts of the subject. */
static bool is_escaped(const char *subject, size_t at)
{
	size_t backslashes = 0;

	while (backslashes < at && subject[at - backslashes - 1] == '\\')
		backslashes++;
	return backslashes % 2 == 1;
}

bool wh_subject_is(const char *subject, const char *pattern)
{
	size_t chars = strlen(subject);
	size_t wanted;

	if (pattern[0] != '*')
		return strcmp(subject, pattern) == 0;
	wanted = strlen(pattern + 1);
	return wanted <= chars && strcmp(subject + chars - wanted, pattern + 1) == 0 &&
	       !is_escaped(subject, chars - wanted);
}
