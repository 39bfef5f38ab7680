/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TRUST_IDENTITY_H
#define WH_TRUST_IDENTITY_H

/*
 * Who a host or a user is to its peers: a key and its certificate, known by the SHA-256 of the
 * certificate's SubjectPublicKeyInfo. Ours are Ed25519, signed by themselves, say no name and never
 * end: what they are worth is in the files of those who trust them. A site's own, with the chain
 * that its CA has signed, may stand in the same file.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#define WH_IDENTITY_BYTES 32

struct wh_identity {
	EVP_PKEY *key;
	X509 *certificate;
	STACK_OF(X509) * chain; /* what the file has behind it; NULL: nothing */
	uint8_t id[WH_IDENTITY_BYTES];
};

/* 0 or a negative errno, as are all; after an error there is nothing to free. */
int wh_identity_make(struct wh_identity *identity);

/*
 * A file of PEM: a key, its certificate, perhaps a chain.
 * -EPERM: others than its owner may read it, or it is of another user; -EBADMSG: it is damaged,
 * asks for a password, or its key is not that of the certificate; -ENOTSUP: a kind of key or a
 * length that is not taken.
 */
int wh_identity_load(struct wh_identity *identity, const char *path);

/*
 * To a file of the owner's alone that is there once it is whole, even after a power cut. What is
 * there already is replaced if `replace` says so, or else left: -EEXIST.
 */
int wh_identity_save(const struct wh_identity *identity, const char *path, bool replace);

void wh_identity_free(struct wh_identity *identity);

/* Whose certificate it is. */
int wh_identity_of(const X509 *certificate, uint8_t id[WH_IDENTITY_BYTES]);

/*
 * Whether a signature of that key is checked in 0.1 ms or so: whoever shows a certificate need not
 * have its key, and RSA may be made to cost many milliseconds.
 */
bool wh_identity_is_cheap(const X509 *certificate);

#endif
