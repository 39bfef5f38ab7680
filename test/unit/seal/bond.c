/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/bond.h"

#include <string.h>

#include <pthread.h>

#include "unit.h"
#include "wire/packet.h"

const char wh_suite_name[] = "bond";

#define PLACES WH_BOND_PLACES_MIN

static const struct wh_bond_config plain = {
	.secret = {1, 2, 3},
	.own_identity = {'a'},
	.peer_identity = {'b'},
	.peer_number = 77,
	.cipher = WH_CIPHER_AES_128_GCM,
	.asked = true,
};

static struct wh_bond *bond_in(struct wh_bonds *bonds, const struct wh_bond_config *config)
{
	uint32_t number = wh_bonds_reserve(bonds, 0xabcd0000);

	CU_ASSERT_NOT_EQUAL_FATAL(number, 0);
	return wh_bonds_fill(bonds, number, config);
}

static void test_numbers(void)
{
	struct wh_bonds bonds;
	uint32_t number[PLACES];

	CU_ASSERT_EQUAL_FATAL(wh_bonds_init(&bonds, PLACES), 0);
	for (uint32_t i = 0; i < PLACES; i++) {
		number[i] = wh_bonds_reserve(&bonds, i % 2 == 0 ? 0 : UINT32_MAX);
		CU_ASSERT_NOT_EQUAL(number[i], 0);
		for (uint32_t j = 0; j < i; j++)
			CU_ASSERT_NOT_EQUAL(number[i], number[j]);
		CU_ASSERT_PTR_NULL(wh_bonds_hold(&bonds, number[i]));
	}
	CU_ASSERT_EQUAL(wh_bonds_reserve(&bonds, 5), 0);
	wh_bonds_cancel(&bonds, number[3]);
	CU_ASSERT_EQUAL(wh_bonds_reserve(&bonds, 0x500), 0x500 + 3);
	wh_bonds_free(&bonds);
}

/* Found by its number alone, until it ends; there for who holds it; then wiped. */
static void test_life(void)
{
	static const uint8_t zeros[WH_SECRET_BYTES];
	struct wh_bonds bonds;

	CU_ASSERT_EQUAL_FATAL(wh_bonds_init(&bonds, PLACES), 0);

	struct wh_bond *bond = bond_in(&bonds, &plain);
	uint32_t number = wh_bond_number(bond);

	CU_ASSERT_PTR_EQUAL(wh_bonds_hold(&bonds, number), bond);
	CU_ASSERT_PTR_NULL(wh_bonds_hold(&bonds, number + PLACES));
	CU_ASSERT_PTR_NULL(wh_bonds_hold(&bonds, number + 1));
	CU_ASSERT_PTR_NULL(wh_bonds_hold(&bonds, 0));
	wh_bond_share(bond);
	CU_ASSERT_EQUAL(wh_bond_holders(bond), 3);
	CU_ASSERT(wh_bond_is_alive(bond));
	wh_bond_revoke(bond);
	CU_ASSERT(wh_bond_is_revoked(bond) && !wh_bond_is_alive(bond));
	CU_ASSERT_PTR_NULL(wh_bonds_hold(&bonds, number));
	wh_bond_let_go(bond);
	wh_bond_let_go(bond);
	CU_ASSERT_EQUAL(memcmp(bond->config.secret, plain.secret, WH_SECRET_BYTES), 0);
	wh_bond_let_go(bond);
	CU_ASSERT_EQUAL(memcmp(bond->config.secret, zeros, WH_SECRET_BYTES), 0);
	CU_ASSERT_EQUAL(wh_bond_number(bond), 0);
	for (uint32_t i = 0; i < PLACES; i++) /* its place is free again */
		CU_ASSERT_NOT_EQUAL(wh_bonds_reserve(&bonds, 0), 0);
	wh_bonds_free(&bonds);
}

/* Serials of what the bond itself closes never come twice. */
static void test_serials(void)
{
	struct wh_bonds bonds;

	CU_ASSERT_EQUAL_FATAL(wh_bonds_init(&bonds, PLACES), 0);

	struct wh_bond *bond = bond_in(&bonds, &plain);

	for (uint64_t i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(wh_bond_next_serial(bond), i);
	wh_bonds_free(&bonds);
}

/* What one end closes opens at the other, and not at its own; no bit of it may change. */
static void check_packets(const struct wh_bond *from, const struct wh_bond *to, uint64_t about)
{
	uint8_t packet[WH_HEAD_BYTES + 5] = {WH_WIRE_VERSION, WH_PACKET_OPEN};
	uint8_t copy[sizeof(packet)];

	memcpy(packet + WH_HEAD_BYTES, "names", 5);
	CU_ASSERT(wh_bond_close(from, about, packet, sizeof(packet)));
	CU_ASSERT_NOT_EQUAL(memcmp(packet + WH_HEAD_BYTES, "names", 5), 0);
	memcpy(copy, packet, sizeof(packet));
	CU_ASSERT(!wh_bond_open(from, about, copy, sizeof(copy)));
	for (uint32_t bit = 0; bit < 8 * sizeof(packet); bit++) {
		memcpy(copy, packet, sizeof(packet));
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT(!wh_bond_open(to, about, copy, sizeof(copy)));
	}
	memcpy(copy, packet, sizeof(packet));
	CU_ASSERT(!wh_bond_open(to, about + 1, copy, sizeof(copy)));
	memcpy(copy, packet, sizeof(packet));
	CU_ASSERT(wh_bond_open(to, about, copy, sizeof(copy)));
	CU_ASSERT_EQUAL(memcmp(copy + WH_HEAD_BYTES, "names", 5), 0);
}

/* The same at both ends; another one by each of what it is made of. */
static void test_derive(void)
{
	struct wh_bonds bonds;
	struct wh_bond_config other = {
		.secret = {1, 2, 3},
		.own_identity = {'b'},
		.peer_identity = {'a'},
		.cipher = WH_CIPHER_AES_128_GCM,
	};
	struct wh_bond_config own = plain;
	uint8_t here[WH_SECRET_BYTES], there[WH_SECRET_BYTES];

	CU_ASSERT_EQUAL_FATAL(wh_bonds_init(&bonds, PLACES), 0);

	uint32_t number[2] = {wh_bonds_reserve(&bonds, 1 << 20), wh_bonds_reserve(&bonds, 2 << 20)};

	own.peer_number = number[1];
	other.peer_number = number[0];

	const struct wh_bond *bond[2] = {
		wh_bonds_fill(&bonds, number[0], &own), wh_bonds_fill(&bonds, number[1], &other)};

	check_packets(bond[0], bond[1], 0);
	check_packets(bond[1], bond[0], UINT64_C(0x1122334455667788));
	wh_bond_derive(bond[0], "one", "said", 4, here);
	wh_bond_derive(bond[1], "one", "said", 4, there);
	CU_ASSERT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	wh_bond_derive(bond[1], "two", "said", 4, there);
	CU_ASSERT_NOT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	wh_bond_derive(bond[1], "one", "sail", 4, there);
	CU_ASSERT_NOT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	for (uint32_t i = 0; i < 5; i++) {
		struct wh_bond_config changed = own;

		changed.secret[31] ^= i == 0;
		changed.own_identity[31] ^= i == 1;
		changed.peer_identity[0] ^= i == 2;
		changed.peer_number ^= i == 3;
		changed.asked = i != 4;
		wh_bond_derive(bond_in(&bonds, &changed), "one", "said", 4, there);
		CU_ASSERT_NOT_EQUAL(memcmp(here, there, sizeof(here)), 0);
	}
	wh_bonds_free(&bonds);
}

/* Cores ask for a bond while it ends and its place has another: each gets what it asked for. */
static struct wh_bonds shared;
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
		struct wh_bond *bond = wh_bonds_hold(&shared, number);

		if (bond == NULL)
			continue;
		if (wh_bond_number(bond) == number && bond->config.rights == number &&
			bond->config.peer_number == (number ^ 0x5a5a5a5a))
			atomic_fetch_add(found, 1);
		else
			atomic_fetch_add(found, WRONG);
		wh_bond_let_go(bond);
	}
	return NULL;
}

static void test_cores(void)
{
	_Atomic uint64_t found[2] = {0};
	pthread_t thread[2];

	CU_ASSERT_EQUAL_FATAL(wh_bonds_init(&shared, PLACES), 0);
	for (uint32_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, ask, (void *)&found[i]), 0);
	for (uint32_t i = 0; atomic_load(&found[0]) < ENOUGH || atomic_load(&found[1]) < ENOUGH;
		i++) {
		struct wh_bond_config config = plain;
		uint32_t number = wh_bonds_reserve(&shared, i << 8);

		if (number == 0)
			continue; /* those who ask hold them all */
		config.peer_number = number ^ 0x5a5a5a5a;
		config.rights = number;

		struct wh_bond *bond = wh_bonds_fill(&shared, number, &config);

		atomic_store(&current, number);
		for (uint32_t spin = 0; spin < 100; spin++)
			CU_ASSERT_FATAL(wh_bond_is_alive(bond));
		wh_bond_end(bond);
		wh_bond_let_go(bond);
	}
	atomic_store(&over, true);
	for (uint32_t i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		CU_ASSERT_EQUAL(atomic_load(&found[i]) / WRONG, 0);
	}
	for (uint32_t i = 0; i < PLACES; i++)
		CU_ASSERT_EQUAL(atomic_load(&shared.bond[i].state), 0);
	wh_bonds_free(&shared);
}

CU_TestInfo wh_tests[] = {
	{"numbers", test_numbers},
	{"life", test_life},
	{"serials", test_serials},
	{"derive", test_derive},
	{"cores", test_cores},
	CU_TEST_INFO_NULL,
};
