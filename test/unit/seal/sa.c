/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/sa.h"

#include <pthread.h>

#include "unit.h"
#include "wire/packet.h"

const char wh_suite_name[] = "sa";

#define PLACES WH_SA_PLACES_MIN

static const struct wh_sa_config plain = {
	.secret = {1, 2, 3},
	.own_identity = {'a'},
	.peer_identity = {'b'},
	.peer_number = 77,
	.cipher = WH_CIPHER_AES_128_GCM,
	.asked = true,
};

static struct wh_sa *sa_in(struct wh_sadb *sadb, const struct wh_sa_config *config)
{
	uint32_t number = wh_sadb_reserve(sadb, 0xabcd0000);

	CU_ASSERT_NOT_EQUAL_FATAL(number, 0);
	return wh_sadb_fill(sadb, number, config);
}

static void test_numbers(void)
{
	struct wh_sadb sadb;
	uint32_t number[PLACES];

	CU_ASSERT_EQUAL_FATAL(wh_sadb_init(&sadb, PLACES), 0);
	for (uint32_t i = 0; i < PLACES; i++) {
		number[i] = wh_sadb_reserve(&sadb, i % 2 == 0 ? 0 : UINT32_MAX);
		CU_ASSERT_NOT_EQUAL(number[i], 0);
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(number[i], number[j]);
		CU_ASSERT_PTR_NULL(wh_sadb_hold(&sadb, number[i]));
	}
	CU_ASSERT_EQUAL(wh_sadb_reserve(&sadb, 5), 0);
	wh_sadb_cancel(&sadb, number[3]);
	CU_ASSERT_EQUAL(wh_sadb_reserve(&sadb, 0x500), 0x500 + 3);
	wh_sadb_free(&sadb);
}

/* Found by its number alone, until it ends; there for who holds it; then wiped. */
static void test_life(void)
{
	static const uint8_t zeros[WH_SECRET_BYTES];
	struct wh_sadb sadb;

	CU_ASSERT_EQUAL_FATAL(wh_sadb_init(&sadb, PLACES), 0);

	struct wh_sa *sa = sa_in(&sadb, &plain);
	uint32_t number = wh_sa_number(sa);

	CU_ASSERT_PTR_EQUAL(wh_sadb_hold(&sadb, number), sa);
	CU_ASSERT_PTR_NULL(wh_sadb_hold(&sadb, number + PLACES));
	CU_ASSERT_PTR_NULL(wh_sadb_hold(&sadb, number + 1));
	CU_ASSERT_PTR_NULL(wh_sadb_hold(&sadb, 0));
	wh_sa_share(sa);
	CU_ASSERT_EQUAL(wh_sa_holders(sa), 3);
	CU_ASSERT(wh_sa_is_alive(sa));
	wh_sa_revoke(sa);
	CU_ASSERT(wh_sa_is_revoked(sa) && !wh_sa_is_alive(sa));
	CU_ASSERT_PTR_NULL(wh_sadb_hold(&sadb, number));
	wh_sa_let_go(sa);
	wh_sa_let_go(sa);
	CU_ASSERT_EQUAL(memcmp(sa->config.secret, plain.secret, WH_SECRET_BYTES), 0);
	wh_sa_let_go(sa);
	CU_ASSERT_EQUAL(memcmp(sa->config.secret, zeros, WH_SECRET_BYTES), 0);
	CU_ASSERT_EQUAL(wh_sa_number(sa), 0);
	for (uint32_t i = 0; i < PLACES; i++) /* its place is free again */
		CU_ASSERT_NOT_EQUAL(wh_sadb_reserve(&sadb, 0), 0);
	wh_sadb_free(&sadb);
}

/* Packet numbers of what the SA itself closes never come twice. */
static void test_pns(void)
{
	struct wh_sadb sadb;

	CU_ASSERT_EQUAL_FATAL(wh_sadb_init(&sadb, PLACES), 0);

	struct wh_sa *sa = sa_in(&sadb, &plain);

	for (uint64_t i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(wh_sa_next_pn(sa), i);
	wh_sadb_free(&sadb);
}

/* What one end closes opens at the other, and not at its own; no bit of it may change. */
static void check_packets(const struct wh_sa *from, const struct wh_sa *to, uint64_t about)
{
	uint8_t packet[WH_HEAD_BYTES + 5] = {WH_WIRE_VERSION, WH_PACKET_OPEN};
	uint8_t copy[sizeof(packet)];

	memcpy(packet + WH_HEAD_BYTES, "names", 5);
	CU_ASSERT(wh_sa_close(from, about, packet, sizeof(packet)));
	CU_ASSERT_NOT_EQUAL(memcmp(packet + WH_HEAD_BYTES, "names", 5), 0);
	memcpy(copy, packet, sizeof(packet));
	CU_ASSERT(!wh_sa_open(from, about, copy, sizeof(copy)));
	for (uint32_t bit = 0; bit < 8 * sizeof(packet); bit++) {
		memcpy(copy, packet, sizeof(packet));
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT(!wh_sa_open(to, about, copy, sizeof(copy)));
	}
	memcpy(copy, packet, sizeof(packet));
	CU_ASSERT(!wh_sa_open(to, about + 1, copy, sizeof(copy)));
	memcpy(copy, packet, sizeof(packet));
	CU_ASSERT(wh_sa_open(to, about, copy, sizeof(copy)));
	CU_ASSERT_EQUAL(memcmp(copy + WH_HEAD_BYTES, "names", 5), 0);
}

/* The same at both ends; another one by each of what it is made of. */
static void test_derive(void)
{
	struct wh_sadb sadb;
	struct wh_sa_config other = {
		.secret = {1, 2, 3},
		.own_identity = {'b'},
		.peer_identity = {'a'},
		.cipher = WH_CIPHER_AES_128_GCM,
	};
	struct wh_sa_config own = plain;
	uint8_t here[WH_SECRET_BYTES], there[WH_SECRET_BYTES];

	CU_ASSERT_EQUAL_FATAL(wh_sadb_init(&sadb, PLACES), 0);

	uint32_t number[2] = {wh_sadb_reserve(&sadb, 1 << 20), wh_sadb_reserve(&sadb, 2 << 20)};

	own.peer_number = number[1];
	other.peer_number = number[0];

	const struct wh_sa *sa[2] = {
		wh_sadb_fill(&sadb, number[0], &own), wh_sadb_fill(&sadb, number[1], &other)};

	check_packets(sa[0], sa[1], 0);
	check_packets(sa[1], sa[0], UINT64_C(0x1122334455667788));
	wh_sa_derive(sa[0], "one", "said", 4, here);
	wh_sa_derive(sa[1], "one", "said", 4, there);
	CU_ASSERT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	wh_sa_derive(sa[1], "two", "said", 4, there);
	CU_ASSERT_NOT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	wh_sa_derive(sa[1], "one", "sail", 4, there);
	CU_ASSERT_NOT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	for (uint32_t i = 0; i < 5; i++) {
		struct wh_sa_config changed = own;

		changed.secret[31] ^= i == 0;
		changed.own_identity[31] ^= i == 1;
		changed.peer_identity[0] ^= i == 2;
		changed.peer_number ^= i == 3;
		changed.asked = i != 4;
		wh_sa_derive(sa_in(&sadb, &changed), "one", "said", 4, there);
		CU_ASSERT_NOT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	}
	wh_sadb_free(&sadb);
}

/* Cores ask for an SA while it ends and its place has another: each gets what it asked for. */
static struct wh_sadb shared;
static _Atomic uint32_t current;
static _Atomic bool over;

/* Holds that were right, and so much for each that was not. */
#define WRONG  (UINT64_C(1) << 32)
#define ENOUGH 2000

static void *ask(void *context)
{
	_Atomic uint64_t *found = context;

	while (!atomic_load(&over)) {
		uint32_t number = atomic_load(&current);
		struct wh_sa *sa = wh_sadb_hold(&shared, number);

		if (sa == NULL)
			continue;
		if (wh_sa_number(sa) == number && sa->config.rights == number &&
			sa->config.peer_number == (number ^ 0x5a5a5a5a))
			atomic_fetch_add(found, 1);
		else
			atomic_fetch_add(found, WRONG);
		wh_sa_let_go(sa);
	}
	return NULL;
}

static void test_cores(void)
{
	_Atomic uint64_t found[2] = {0};
	pthread_t thread[2];

	CU_ASSERT_EQUAL_FATAL(wh_sadb_init(&shared, PLACES), 0);
	for (uint32_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, ask, (void *)&found[i]), 0);
	for (uint32_t i = 0; atomic_load(&found[0]) < ENOUGH || atomic_load(&found[1]) < ENOUGH;
		i++) {
		struct wh_sa_config config = plain;
		uint32_t number = wh_sadb_reserve(&shared, i << 8);

		if (number == 0)
			continue; /* those who ask hold them all */
		config.peer_number = number ^ 0x5a5a5a5a;
		config.rights = number;

		struct wh_sa *sa = wh_sadb_fill(&shared, number, &config);

		atomic_store(&current, number);
		for (uint32_t spin = 0; spin < 100; spin++)
			CU_ASSERT_FATAL(wh_sa_is_alive(sa));
		wh_sa_end(sa);
		wh_sa_let_go(sa);
	}
	atomic_store(&over, true);
	for (uint32_t i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		CU_ASSERT_EQUAL(atomic_load(&found[i]) / WRONG, 0);
	}
	for (uint32_t i = 0; i < PLACES; i++)
		CU_ASSERT_EQUAL(atomic_load(&shared.sa[i].state), 0);
	wh_sadb_free(&shared);
}

CU_TestInfo wh_tests[] = {
	{"numbers", test_numbers},
	{"life", test_life},
	{"pns", test_pns},
	{"derive", test_derive},
	{"cores", test_cores},
	CU_TEST_INFO_NULL,
};
