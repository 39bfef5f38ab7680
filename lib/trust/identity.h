/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The identity of a host or a user: a key and its certificate, identified by the SHA-256 of the
 * certificate's SubjectPublicKeyInfo. The identities made here are Ed25519, self-signed, all of one
 * name, and never expire: trust in them is recorded in the peers' files. A site may use a key of
 * its own, with the chain from its CA in the same file.
 */

#include <stdbool.h>
#include <stdint.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#define WH_IDENTITY_BYTES 32

struct wh_identity {
	EVP_PKEY *key;
	X509 *certificate;
	STACK_OF(X509) * chain; /* certificates behind the first in the file; NULL: none */
	uint8_t id[WH_IDENTITY_BYTES];
};

/* Functions that return int: 0 or a negative errno. After an error nothing is to be freed. */
int wh_identity_make(struct wh_identity *identity);

/*
 * Reads a PEM file: a key, its certificate, optionally a chain. -EPERM: others may read the file,
 * or it belongs to another user; -EBADMSG: damaged, encrypted with a password, or key and
 * certificate do not match; -ENOTSUP: a kind or length of key that is not supported.
 */
int wh_identity_load(struct wh_identity *identity, const char *path);

/*
 * Writes a file readable by its owner only, which appears under its name only when it is complete,
 * even after a power cut. An existing file is replaced if `replace` is set; otherwise it is left:
 * -EEXIST.
 */
int wh_identity_save(const struct wh_identity *identity, const char *path, bool replace);

void wh_identity_free(struct wh_identity *identity);

/* The identity in a certificate. */
int wh_identity_of(const X509 *certificate, uint8_t id[WH_IDENTITY_BYTES]);

/*
 * Whether checking a signature of that key takes no more than about 0.1 ms. Anybody can show a
 * certificate without having its key, and an RSA key can be built to cost many milliseconds.
 */
bool wh_identity_is_cheap(const X509 *certificate);
