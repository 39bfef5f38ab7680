/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_AUTHORITY_H
#define WH_TRUST_AUTHORITY_H

/*
 * Authorities of a site: a folder of certificates whose owners say who others are (CAs), as files
 * of PEM, and lists of what they have revoked beside them. Proxy certificates (RFC 3820) speak for
 * whose they are. Where there is a list of an authority it counts, and one that is out of date
 * trusts nobody of its.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/x509.h>

struct wh_authority;

/*
 * Files of a folder that end in .pem, .crt, .crl, or a number with an r before it or without one.
 * *authority stays NULL where the folder is not there or has none. 0, or a negative errno and in
 * `path` the file: -EBADMSG: it is no PEM; -EPERM: others may write it; -E2BIG: there are more.
 */
#define WH_AUTHORITY_FILES_MAX 1024
int wh_authority_open(
	struct wh_authority **authority, const char *folder, char *path, size_t path_room);

/* It may be used by several, each of whom lets go once; NULL is allowed. */
void wh_authority_share(struct wh_authority *authority);
void wh_authority_let_go(struct wh_authority *authority);

/*
 * Whether one of them vouches at that time (seconds since 1970) for the owner of the certificate,
 * by the chain that came with it; whose it is, as CN=dtn2,O=Site, or why not. Any core.
 */
bool wh_authority_vouches(const struct wh_authority *authority, X509 *certificate,
	STACK_OF(X509) * chain, int64_t now_s, char *subject, size_t subject_room,
	const char **why);

/* Whether a subject is one that a pattern means: the same, or of *x one that ends in x. */
bool wh_subject_is(const char *subject, const char *pattern);

#endif
