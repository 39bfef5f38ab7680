/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A site's certificate authorities (CAs), for X.509 path validation (RFC 5280): a folder of PEM
 * files with their certificates and certificate revocation lists (CRLs). A proxy certificate
 * (RFC 3820) stands for the owner of the certificate that issued it.
 *
 * A CA without a CRL is accepted. If a CA's CRL has expired, no certificate of that CA is accepted.
 * A CRL that is dated later than now is checked all the same.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <openssl/x509.h>

struct wh_authority;

/*
 * Reads the files of a folder that end in .pem, .crt, .crl, or a number with or without an r before
 * it. *authority stays NULL if the folder does not exist or contains none. 0, or a negative errno
 * with the file in `path`: -EBADMSG: not PEM; -EPERM: others may write it; -E2BIG: too many files.
 */
#define WH_AUTHORITY_FILES_MAX 1024
int wh_authority_open(
	struct wh_authority **authority, const char *folder, char *path, size_t path_room);

/* Reference counting: each holder lets go once. NULL is allowed. */
void wh_authority_share(struct wh_authority *authority);
void wh_authority_let_go(struct wh_authority *authority);

/*
 * Any core: whether a CA vouches, at that time (seconds since 1970), for the owner of the
 * certificate, by the chain that came with it. The chain's keys must be cheap to check
 * (identity.h). Sets the owner's subject, as CN=dtn2,O=Site, or *why not.
 */
bool wh_authority_vouches(const struct wh_authority *authority, X509 *certificate,
	STACK_OF(X509) * chain, int64_t now_s, char *subject, size_t subject_room,
	const char **why);

/* Whether a subject matches a pattern: it is equal, or the pattern is *x and it ends in x. */
bool wh_subject_is(const char *subject, const char *pattern);
