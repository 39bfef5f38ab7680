/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a core dump of this process would hold: all pages that may be written, but for those that
 * are marked. No key and no secret of a handshake is in it, neither while it goes on nor after it.
 */

#include <openssl/evp.h>

#include "seal/secret.h"
#include "seal/secret_heap.h"
#include "trust/handshake.h"
#include "unit.h"

const char wh_suite_name[] = "core dump";

#define NEEDLES 8

/* Sought; in pages that are marked themselves. */
static struct needles {
	uint32_t count;
	uint8_t secret[NEEDLES][WH_SECRET_BYTES];
} * needles;

/* "LABEL RANDOM SECRET" in hexadecimal digits: once more only where nobody dumps. */
static void note_secret(const SSL *ssl, const char *line)
{
	const char *digits = strrchr(line, ' ') + 1;

	(void)ssl;
	CU_ASSERT_FATAL(needles->count < NEEDLES);
	if (strlen(digits) < 2 * WH_SECRET_BYTES)
		return;
	for (uint32_t i = 0; i < WH_SECRET_BYTES; i++) {
		uint8_t *byte = &needles->secret[needles->count][i];

		for (uint32_t half = 0; half < 2; half++) {
			char digit = digits[2 * i + half];

			*byte = (uint8_t)(*byte << 4 |
					  (digit <= '9' ? digit - '0' : digit - 'a' + 10));
		}
	}
	needles->count++;
}

static uint32_t found_in(const uint8_t *from, const uint8_t *to)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < needles->count; i++)
		found += memmem(from, (size_t)(to - from), needles->secret[i], WH_SECRET_BYTES) !=
			 NULL;
	return found;
}

/* In all mappings that are written to and not marked. */
static uint32_t found_in_dump(void)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	unsigned long range[2] = {0};
	uint32_t found = 0;
	char line[512];
	char rights[8];

	CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx %7s", &from, &to, rights) == 3) {
			range[0] = from;
			range[1] = to;
			continue;
		}
		if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " rd wr") != NULL &&
			strstr(line, " dd") == NULL)
			found += found_in((const uint8_t *)range[0], (const uint8_t *)range[1]);
	}
	fclose(maps);
	return found;
}

static void pass(struct wh_handshake *from, struct wh_handshake *to)
{
	uint8_t bytes[2048];
	uint32_t count;

	while ((count = wh_handshake_take(from, bytes, sizeof(bytes))) > 0)
		wh_handshake_put(to, bytes, count);
}

static void handshake(struct wh_handshake *client, struct wh_handshake *server)
{
	const struct wh_auth auth = {.verdict = WH_AUTH_WELCOME, .ciphers = 2, .number = 7};

	wh_handshake_put(client, NULL, 0);
	for (uint32_t turn = 0; turn < 6; turn++) {
		pass(client, server);
		pass(server, client);
		if (client->state == WH_HANDSHAKE_MET)
			wh_handshake_answer(client, &auth);
		if (server->state == WH_HANDSHAKE_MET)
			wh_handshake_answer(server, &auth);
	}
	CU_ASSERT_EQUAL(client->state, WH_HANDSHAKE_DONE);
	CU_ASSERT_EQUAL(server->state, WH_HANDSHAKE_DONE);
}

static void test_handshake(void)
{
	const struct wh_auth first = {.ciphers = 2, .number = 7};
	struct wh_identity identity;
	struct wh_handshake client, server;
	struct wh_handshake_ends ends;
	size_t bytes = WH_SECRET_BYTES;

	if (!wh_secret_heap_begin()) {
		printf("skipped: this build looks for errors of memory\n");
		return;
	}
	needles = wh_secret_alloc(sizeof(*needles));
	CU_ASSERT_PTR_NOT_NULL_FATAL(needles);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&identity), 0);
	CU_ASSERT_EQUAL(EVP_PKEY_get_raw_private_key(
				identity.key, needles->secret[needles->count++], &bytes),
		1);
	CU_ASSERT_EQUAL_FATAL(wh_handshake_ends_init(&ends, &identity), 0);
	SSL_CTX_set_keylog_callback(ends.client, note_secret);
	CU_ASSERT_EQUAL_FATAL(wh_handshake_begin(&client, &ends, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(wh_handshake_begin(&server, &ends, &first), 0);
	handshake(&client, &server);
	CU_ASSERT(wh_handshake_secret(&client, needles->secret[needles->count++]));
	/* The key, five of TLS 1.3 and what the SA is made of. */
	CU_ASSERT_EQUAL(needles->count, 7);
	CU_ASSERT_EQUAL(found_in_dump(), 0);
	wh_handshake_end(&client);
	wh_handshake_end(&server);
	wh_handshake_ends_free(&ends);
	wh_identity_free(&identity);
	CU_ASSERT_EQUAL(found_in_dump(), 0);
	wh_secret_free(needles, sizeof(*needles));
}

CU_TestInfo wh_tests[] = {
	{"handshake", test_handshake},
	CU_TEST_INFO_NULL,
};
