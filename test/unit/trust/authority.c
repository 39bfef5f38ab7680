/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/authority.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/pem.h>

#include "site.h"
#include "unit.h"

const char wh_suite_name[] = "authority";

static char folder[PATH_MAX];
static char wrong[PATH_MAX];

static void begin(void)
{
	strcpy(folder, "/tmp/wh-authority-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static FILE *file_named(const char *name, const char *mode)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (mode == NULL) {
		unlink(path);
		return NULL;
	}

	FILE *file = fopen(path, mode);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	return file;
}

static void move_file(const char *from, const char *to)
{
	char paths[2][PATH_MAX + 32];

	snprintf(paths[0], sizeof(paths[0]), "%s/%s", folder, from);
	snprintf(paths[1], sizeof(paths[1]), "%s/%s", folder, to);
	CU_ASSERT_EQUAL(rename(paths[0], paths[1]), 0);
}

static void write_certificate(const char *name, X509 *certificate)
{
	FILE *file = file_named(name, "w");

	PEM_write_X509(file, certificate);
	fclose(file);
}

static void revoke_by(const struct party *by, long pn, time_t until_s)
{
	X509_CRL *list = X509_CRL_new();
	X509_REVOKED *entry = X509_REVOKED_new();
	ASN1_INTEGER *number = ASN1_INTEGER_new();
	ASN1_TIME *when = ASN1_TIME_set(NULL, NOW_S - 100);
	ASN1_TIME *next = ASN1_TIME_set(NULL, until_s);
	FILE *file = file_named("site.r0", "w");

	ASN1_INTEGER_set(number, pn);
	X509_REVOKED_set_serialNumber(entry, number);
	X509_REVOKED_set_revocationDate(entry, when);
	X509_CRL_set_version(list, X509_CRL_VERSION_2);
	X509_CRL_set_issuer_name(list, X509_get_subject_name(by->certificate));
	X509_CRL_set1_lastUpdate(list, when);
	X509_CRL_set1_nextUpdate(list, next);
	X509_CRL_add0_revoked(list, entry);
	CU_ASSERT(X509_CRL_sign(list, by->key, NULL) > 0);
	PEM_write_X509_CRL(file, list);
	fclose(file);
	X509_CRL_free(list);
	ASN1_INTEGER_free(number);
	ASN1_TIME_free(when);
	ASN1_TIME_free(next);
}

/* Whose it is by what the folder says now; "": nobody vouches. */
static const char *owner(const struct party *of, const struct party *behind, int64_t now_s)
{
	static char subject[256];
	struct wh_authority *authority;
	STACK_OF(X509) *chain = sk_X509_new_null();
	const char *why;

	subject[0] = '\0';
	if (behind != NULL)
		sk_X509_push(chain, behind->certificate);
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(authority);
	if (!wh_authority_vouches(
		    authority, of->certificate, chain, now_s, subject, sizeof(subject), &why)) {
		CU_ASSERT(why[0] != '\0');
		subject[0] = '\0';
	}
	sk_X509_free(chain);
	wh_authority_let_go(authority);
	return subject;
}

/* No key that signs another one may take long to check: we would pay for it, every second. */
static void test_dear_keys(void)
{
	EVP_PKEY_CTX *maker = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	BIGNUM *exponent = NULL;
	EVP_PKEY *key = NULL;

	BN_hex2bn(&exponent, "c000000000000000000000000000000b");
	CU_ASSERT_EQUAL(EVP_PKEY_keygen_init(maker), 1);
	CU_ASSERT_EQUAL(EVP_PKEY_CTX_set_rsa_keygen_bits(maker, 2048), 1);
	CU_ASSERT_EQUAL(EVP_PKEY_CTX_set1_rsa_keygen_pubexp(maker, exponent), 1);
	CU_ASSERT_EQUAL_FATAL(EVP_PKEY_keygen(maker, &key), 1);
	begin();

	struct party site = issue(NULL, "ca", AUTHORITY, 1, 1);
	struct party host = issue(&site, "dtn2", OWNER, 7, 1);
	struct party dear = issue_for(key, &site, "dtn2", OWNER, 8, 1);
	struct party proxy = issue(&host, "proxy", PROXY, 9, 1);
	struct party proxy_of_dear = issue(&dear, "proxy", PROXY, 10, 1);

	write_certificate("site.pem", site.certificate);
	CU_ASSERT_STRING_EQUAL(owner(&proxy, &host, NOW_S), "CN=dtn2,O=Site");
	CU_ASSERT_STRING_EQUAL(owner(&proxy_of_dear, &dear, NOW_S), "");
	drop(&site), drop(&host), drop(&dear), drop(&proxy), drop(&proxy_of_dear);
	EVP_PKEY_CTX_free(maker);
	BN_free(exponent);
	file_named("site.pem", NULL);
	rmdir(folder);
}

static void test_vouches(void)
{
	begin();

	struct party site = issue(NULL, "ca", AUTHORITY, 1, 1);
	struct party other = issue(NULL, "other", AUTHORITY, 2, 1);
	struct party host = issue(&site, "dtn2", OWNER, 7, 1);
	struct party proxy = issue(&host, "proxy", PROXY, 9, 1);
	struct party stranger = issue(&other, "dtn2", OWNER, 7, 1);
	struct party no_authority = issue(&host, "dtn3", OWNER, 8, 1);

	write_certificate("site.pem", site.certificate);
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S), "CN=dtn2,O=Site");
	CU_ASSERT_STRING_EQUAL(owner(&proxy, &host, NOW_S), "CN=dtn2,O=Site");
	CU_ASSERT_STRING_EQUAL(owner(&proxy, NULL, NOW_S), "");
	CU_ASSERT_STRING_EQUAL(owner(&stranger, NULL, NOW_S), "");
	CU_ASSERT_STRING_EQUAL(owner(&stranger, &other, NOW_S), "");
	CU_ASSERT_STRING_EQUAL(owner(&no_authority, &host, NOW_S), "");
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S + 2 * YEAR_S), "");
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S - 2 * YEAR_S), "");

	/* What was revoked, and for whom it speaks; others of the same authority go on. */
	revoke_by(&site, 6, NOW_S + YEAR_S);
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S), "CN=dtn2,O=Site");
	CU_ASSERT_STRING_EQUAL(owner(&proxy, &host, NOW_S), "CN=dtn2,O=Site");
	revoke_by(&site, 7, NOW_S + YEAR_S);
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S), "");
	CU_ASSERT_STRING_EQUAL(owner(&proxy, &host, NOW_S), "");
	/* Of a second list, too, which tools number on. */
	revoke_by(&site, 7, NOW_S + YEAR_S);
	move_file("site.r0", "0a1b2c3d.r1");
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S), "");
	file_named("0a1b2c3d.r1", NULL);
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S), "CN=dtn2,O=Site");
	/* A clock that is behind makes no list too young, and what that says is revoked. */
	revoke_by(&site, 6, NOW_S + YEAR_S);
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S - 3600), "CN=dtn2,O=Site");
	revoke_by(&site, 7, NOW_S + YEAR_S);
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S - 3600), "");
	/* A list that is out of date trusts nobody. */
	revoke_by(&site, 6, NOW_S - 1);
	CU_ASSERT_STRING_EQUAL(owner(&host, NULL, NOW_S), "");
	file_named("site.r0", NULL);
	file_named("site.pem", NULL);
	rmdir(folder);
	drop(&site), drop(&other), drop(&host), drop(&proxy), drop(&stranger), drop(&no_authority);
}

/* Whoever may write one could vouch for anybody; and what is no file, or without end, is none. */
static void test_files(void)
{
	struct wh_authority *authority;
	char path[PATH_MAX + 32];
	char name[32];

	begin();

	struct party site = issue(NULL, "ca", AUTHORITY, 1, 1);

	write_certificate("site.pem", site.certificate);
	snprintf(path, sizeof(path), "%s/site.pem", folder);
	chmod(path, 0664);
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), -EPERM);
	CU_ASSERT_PTR_NULL(authority);
	CU_ASSERT_PTR_NOT_NULL(strstr(wrong, "/site.pem"));
	file_named("site.pem", NULL);

	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), -EBADMSG);
	file_named("site.pem", NULL);

	write_certificate("site.pem", site.certificate);
	CU_ASSERT_EQUAL(truncate(path, (4 << 20) + 1), 0);
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), -EFBIG);
	file_named("site.pem", NULL);

	for (uint32_t i = 0; i <= WH_AUTHORITY_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "%u.pem", i);
		write_certificate(name, site.certificate);
	}
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), -E2BIG);
	file_named("0.pem", NULL);
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), 0);
	CU_ASSERT_PTR_NOT_NULL(authority);
	wh_authority_let_go(authority);
	for (uint32_t i = 1; i <= WH_AUTHORITY_FILES_MAX; i++) {
		snprintf(name, sizeof(name), "%u.pem", i);
		file_named(name, NULL);
	}
	rmdir(folder);
	drop(&site);
}

static void test_folders(void)
{
	struct wh_authority *authority;

	begin();
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), 0);
	CU_ASSERT_PTR_NULL(authority);
	fputs("no PEM\n", file_named("README", "w"));
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), 0);
	fclose(file_named("site.pem", "w"));
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(wrong, "/site.pem"));
	file_named("site.pem", NULL);
	file_named("README", NULL);
	rmdir(folder);
	CU_ASSERT_EQUAL(wh_authority_open(&authority, folder, wrong, sizeof(wrong)), 0);
	CU_ASSERT_PTR_NULL(authority);
}

static void test_subjects(void)
{
	CU_ASSERT_TRUE(wh_subject_is("CN=dtn2,O=Site", "CN=dtn2,O=Site"));
	CU_ASSERT_TRUE(wh_subject_is("CN=dtn2,O=Site", "*,O=Site"));
	CU_ASSERT_TRUE(wh_subject_is("CN=dtn2,O=Site", "*"));
	CU_ASSERT_FALSE(wh_subject_is("CN=dtn2,O=Site", "CN=dtn,O=Site"));
	CU_ASSERT_FALSE(wh_subject_is("CN=dtn2,O=Site,C=NL", "*,O=Site"));
	CU_ASSERT_FALSE(wh_subject_is("O=Site", "*,O=Site"));
	/* Somebody whose name is "dtn2,O=Site", and one whose name ends in a backslash. */
	CU_ASSERT_FALSE(wh_subject_is("CN=dtn2\\,O=Site", "*,O=Site"));
	CU_ASSERT_TRUE(wh_subject_is("CN=dtn2\\\\,O=Site", "*,O=Site"));
}

CU_TestInfo wh_tests[] = {
	{"vouches", test_vouches},
	{"dear keys", test_dear_keys},
	{"files", test_files},
	{"folders", test_folders},
	{"subjects", test_subjects},
	CU_TEST_INFO_NULL,
};
