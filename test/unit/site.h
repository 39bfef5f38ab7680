/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A site with a CA: who it vouches for, and who speaks for whom. */

#include <time.h>

#include <openssl/conf.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include "unit.h"

#define NOW_S  INT64_C(1800000000)
#define YEAR_S (365 * 86400)

struct party {
	EVP_PKEY *key;
	X509 *certificate;
};

static inline void add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
	X509V3_CTX context;

	CONF *empty = NCONF_new(NULL);

	X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
	X509V3_set_nconf(&context, empty);

	X509_EXTENSION *extension = X509V3_EXT_nconf_nid(empty, &context, nid, value);

	CU_ASSERT_PTR_NOT_NULL_FATAL(extension);
	X509_add_ext(certificate, extension, -1);
	X509_EXTENSION_free(extension);
	NCONF_free(empty);
}

enum kind { AUTHORITY, OWNER, PROXY };

/*
 * Good for so many years before NOW_S and after. `issuer` NULL: by itself. The key belongs to the
 * result.
 */
static inline struct party issue_for(EVP_PKEY *key, const struct party *issuer, const char *name,
	enum kind kind, long pn, int64_t years)
{
	struct party party = {key, X509_new()};
	const struct party *by = issuer != NULL ? issuer : &party;
	X509_NAME *subject = X509_get_subject_name(party.certificate);

	X509_set_version(party.certificate, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(party.certificate), pn);
	X509_time_adj(X509_getm_notBefore(party.certificate), 0, &(time_t){NOW_S - years * YEAR_S});
	X509_time_adj(X509_getm_notAfter(party.certificate), 0, &(time_t){NOW_S + years * YEAR_S});
	if (kind == PROXY)
		X509_set_subject_name(
			party.certificate, X509_get_subject_name(issuer->certificate));
	else
		X509_NAME_add_entry_by_txt(
			subject, "O", MBSTRING_ASC, (const uint8_t *)"Site", -1, -1, 0);
	subject = X509_get_subject_name(party.certificate);
	X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const uint8_t *)name, -1, -1, 0);
	X509_set_pubkey(party.certificate, party.key);
	X509_set_issuer_name(party.certificate,
		issuer != NULL ? X509_get_subject_name(issuer->certificate) : subject);
	add_extension(party.certificate, by->certificate, NID_subject_key_identifier, "hash");
	add_extension(party.certificate, by->certificate, NID_authority_key_identifier, "keyid");
	if (kind == AUTHORITY) {
		add_extension(party.certificate, by->certificate, NID_basic_constraints,
			"critical,CA:TRUE");
		add_extension(party.certificate, by->certificate, NID_key_usage,
			"critical,keyCertSign,cRLSign");
	} else {
		add_extension(party.certificate, by->certificate, NID_key_usage,
			"critical,digitalSignature");
	}
	if (kind == PROXY)
		add_extension(party.certificate, by->certificate, NID_proxyCertInfo,
			"critical,language:id-ppl-inheritAll");
	CU_ASSERT(X509_sign(party.certificate, by->key, NULL) > 0);
	return party;
}

static inline struct party issue(
	const struct party *issuer, const char *name, enum kind kind, long pn, int64_t years)
{
	return issue_for(EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"), issuer, name, kind, pn, years);
}

static inline void drop(struct party *party)
{
	EVP_PKEY_free(party->key);
	X509_free(party->certificate);
}
