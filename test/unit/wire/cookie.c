/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/cookie.h"

#include "unit.h"

const char wh_suite_name[] = "cookie";

#define LIFETIME_US UINT64_C(5000000)
#define MADE_US     UINT64_C(0x0102030405060708)
#define QUEUE       3
#define CID         0xd1d2d3d4

/* The key of the paper's appendix A. */
static const uint8_t key[WH_SIPHASH_KEY_BYTES] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static const struct wh_address peer = {.family = WH_IPV4, .ip = {10, 0, 0, 2}, .port = 5760};

static const struct wh_open_params params = {
	.initiator_cid = 0xa1a2a3a4,
	.profile = 3,
	.payload_bytes = 1408,
	.chunk_bytes = 1 << 20,
	.window_pkts = 65536,
	.period_us = 10000,
	.first_pn = 7,
	.object_bytes = 123456789,
	.name_bytes = 7,
	.name = "run.dat",
	.initiator_token = UINT64_C(0xe1e2e3e4e5e6e7e8),
	.reply_cid = 0xa5a6a7a8,
	.reply_cookie = {0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb,
		0xfc, 0xfd, 0xfe, 0xff},
};

/* Messages 00 01 02 ...; of 15 bytes it is the paper's appendix A, the others its authors'. */
static void siphash_vectors(void)
{
	static const struct {
		size_t length;
		uint64_t hash;
	} cases[] = {
		{15, UINT64_C(0xa129ca6149be45e5)},
		{0, UINT64_C(0x726fdb47dd0e0e31)},
		{1, UINT64_C(0x74f839c593dc67fd)},
		{7, UINT64_C(0xab0200f58b01d137)},
		{8, UINT64_C(0x93f5f5799a932462)},
		{16, UINT64_C(0x3f2acc7f57c29bdb)},
		{63, UINT64_C(0x958a324ceb064572)},
		/* The length counts modulo 256; by OpenSSL's SipHash. */
		{300, UINT64_C(0x4b0b710db6117839)},
	};
	uint8_t bytes[301];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)i;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_siphash24(key, bytes, cases[i].length), cases[i].hash);
	CU_ASSERT_EQUAL(wh_siphash24(key, NULL, 0), UINT64_C(0x726fdb47dd0e0e31));

	/* Wherever in memory they lie. */
	memmove(bytes + 1, bytes, 15);
	CU_ASSERT_EQUAL(wh_siphash24(key, bytes + 1, 15), UINT64_C(0xa129ca6149be45e5));
}

/* The proof was computed by another SipHash over the 110 bytes, written down apart from here. */
static void known_cookie(void)
{
	static const uint8_t expected[WH_COOKIE_BYTES] = {
		8, 7, 6, 5, 4, 3, 2, 1, 0x5d, 0x16, 0xbd, 0xd9, 0x27, 0x56, 0x4a, 0xf3};
	uint8_t cookie[WH_COOKIE_BYTES];

	wh_cookie_make(cookie, key, MADE_US, &peer, QUEUE, CID, &params);
	CU_ASSERT_EQUAL(memcmp(cookie, expected, sizeof(expected)), 0);
	CU_ASSERT_EQUAL(wh_cookie_made_us(cookie), MADE_US);
	CU_ASSERT_EQUAL(wh_cookie_token(cookie), UINT64_C(0xf34a5627d9bd165d));
}

static void age(void)
{
	static const struct {
		uint64_t made_us, now_us;
		bool good;
	} cases[] = {
		{1000, 1000, true},
		{1000, 1001, true},
		{1000, 5001000, true},
		{1000, 5001001, false},
		{1000, 999, false}, /* from the future: not ours */
		{1000, 0, false},
		{0, 0, true},
		{0, 5000000, true},
		{0, UINT64_MAX, false},
		{UINT64_MAX, UINT64_MAX, true},
		{UINT64_MAX, 0, false},
		{UINT64_MAX - 5000000, UINT64_MAX, true},
		{UINT64_MAX - 5000001, UINT64_MAX, false},
	};
	uint8_t cookie[WH_COOKIE_BYTES];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t age_us = 77;

		wh_cookie_make(cookie, key, cases[i].made_us, &peer, QUEUE, CID, &params);
		CU_ASSERT_EQUAL(wh_cookie_check(cookie, key, cases[i].now_us, LIFETIME_US, &peer,
					QUEUE, CID, &params, &age_us),
			cases[i].good);
		CU_ASSERT_EQUAL(age_us, cases[i].good ? cases[i].now_us - cases[i].made_us : 77);
	}
}

static bool good_for(const struct wh_address *from, uint32_t cid, const struct wh_open_params *p)
{
	uint8_t cookie[WH_COOKIE_BYTES];
	uint64_t age_us;

	wh_cookie_make(cookie, key, MADE_US, &peer, QUEUE, CID, &params);
	return wh_cookie_check(cookie, key, MADE_US + 1, LIFETIME_US, from, QUEUE, cid, p, &age_us);
}

static void bound_to_address(void)
{
	struct wh_address other = peer;

	CU_ASSERT(good_for(&other, CID, &params));
	other.port++;
	CU_ASSERT_FALSE(good_for(&other, CID, &params));
	other = peer;
	other.ip[3]++;
	CU_ASSERT_FALSE(good_for(&other, CID, &params));
	other = peer;
	other.ip[15]++;
	CU_ASSERT_FALSE(good_for(&other, CID, &params));
	other = peer;
	other.family = WH_IPV6;
	CU_ASSERT_FALSE(good_for(&other, CID, &params));
	CU_ASSERT_FALSE(good_for(&peer, CID + 1, &params));
}

/* Only what the fields say is proved, not what lies between and behind them in memory. */
static void same_fields_other_memory(void)
{
	struct wh_address from;
	struct wh_open_params p;

	memset(&from, 0xff, sizeof(from));
	memset(from.ip, 0, sizeof(from.ip));
	memcpy(from.ip, peer.ip, 4);
	from.family = WH_IPV4;
	from.port = 5760;
	memset(&p, 0xff, sizeof(p));
	p.initiator_cid = params.initiator_cid;
	p.initiator_token = params.initiator_token;
	p.profile = params.profile;
	p.payload_bytes = params.payload_bytes;
	p.chunk_bytes = params.chunk_bytes;
	p.window_pkts = params.window_pkts;
	p.period_us = params.period_us;
	p.first_pn = params.first_pn;
	p.object_bytes = params.object_bytes;
	p.recovery = params.recovery;
	p.repair_pkts = params.repair_pkts;
	p.reply_cid = params.reply_cid;
	memcpy(p.reply_cookie, params.reply_cookie, WH_COOKIE_BYTES);
	p.n_options = params.n_options;
	p.options[0] = params.options[0];
	p.name_bytes = params.name_bytes;
	memcpy(p.name, params.name, params.name_bytes);
	CU_ASSERT(good_for(&from, CID, &p));
}

#define CHANGED(field)                                                                             \
	do {                                                                                       \
		struct wh_open_params p = params;                                                  \
		p.field++;                                                                         \
		CU_ASSERT_FALSE(good_for(&peer, CID, &p));                                         \
	} while (0)

static void bound_to_params(void)
{
	CHANGED(initiator_cid);
	CHANGED(initiator_token);
	CHANGED(reply_cid);
	CHANGED(reply_cookie[0]);
	CHANGED(reply_cookie[15]);
	CHANGED(profile);
	CHANGED(payload_bytes);
	CHANGED(chunk_bytes);
	CHANGED(window_pkts);
	CHANGED(period_us);
	CHANGED(first_pn);
	CHANGED(object_bytes);
	CHANGED(recovery);
	CHANGED(repair_pkts);
	CHANGED(n_options);
	CHANGED(name_bytes);
	CHANGED(name[0]);
	CHANGED(name[6]);

	/* Both options, and where one ends. */
	struct wh_open_params p = params;
	uint8_t cookie[WH_COOKIE_BYTES];
	uint64_t age_us;

	p.n_options = 2;
	p.options[1].number = 7;
	wh_cookie_make(cookie, key, MADE_US, &peer, QUEUE, CID, &p);
	for (uint32_t i = 0; i < 5; i++) {
		struct wh_open_params other = p;

		other.options[0].number += i == 1;
		other.options[0].bits += i == 2;
		other.options[1].number += i == 3;
		other.options[1].bits += i == 4;
		CU_ASSERT_EQUAL(wh_cookie_check(cookie, key, MADE_US, LIFETIME_US, &peer, QUEUE,
					CID, &other, &age_us),
			i == 0);
	}
}

static void bound_to_key_and_bytes(void)
{
	uint8_t cookie[WH_COOKIE_BYTES], other_key[WH_SIPHASH_KEY_BYTES];
	uint64_t age_us;

	wh_cookie_make(cookie, key, MADE_US, &peer, QUEUE, CID, &params);
	for (uint32_t bit = 0; bit < 8 * WH_SIPHASH_KEY_BYTES; bit++) {
		memcpy(other_key, key, sizeof(key));
		other_key[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT_FALSE(wh_cookie_check(cookie, other_key, MADE_US, LIFETIME_US, &peer,
			QUEUE, CID, &params, &age_us));
	}
	for (uint32_t bit = 0; bit < 8 * WH_COOKIE_BYTES; bit++) {
		cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT_FALSE(wh_cookie_check(
			cookie, key, MADE_US, UINT64_MAX, &peer, QUEUE, CID, &params, &age_us));
		cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

static bool good_handshake(const uint8_t cookie[WH_COOKIE_BYTES], uint64_t now_us,
	const struct wh_address *from, uint32_t queue, uint64_t number)
{
	uint64_t age_us;

	return wh_stranger_cookie_check(
		cookie, key, WH_COOKIE_PEERS_HANDSHAKE, now_us, 10, from, queue, number, &age_us);
}

/* Of a handshake: bound to all that it is made of, and good for so long. */
static void handshakes(void)
{
	static const uint64_t number = UINT64_C(0xa1a2a3a4a5a6a7a8);
	uint8_t cookie[WH_COOKIE_BYTES], other_key[WH_SIPHASH_KEY_BYTES];
	struct wh_address other_port = peer, other_ip = peer;
	uint64_t age_us = 0;

	other_port.port ^= 1;
	other_ip.ip[0] ^= 1;
	wh_stranger_cookie_make(cookie, key, WH_COOKIE_PEERS_HANDSHAKE, MADE_US, &peer, 3, number);
	CU_ASSERT(wh_stranger_cookie_check(cookie, key, WH_COOKIE_PEERS_HANDSHAKE, MADE_US + 9, 10,
		&peer, 3, number, &age_us));
	CU_ASSERT_EQUAL(age_us, 9);
	CU_ASSERT(good_handshake(cookie, MADE_US + 10, &peer, 3, number));
	CU_ASSERT_FALSE(good_handshake(cookie, MADE_US + 11, &peer, 3, number));
	CU_ASSERT_FALSE(good_handshake(cookie, MADE_US - 1, &peer, 3, number));
	CU_ASSERT_FALSE(good_handshake(cookie, MADE_US, &peer, 2, number));
	CU_ASSERT_FALSE(good_handshake(cookie, MADE_US, &peer, 3, number ^ 1));
	CU_ASSERT_FALSE(good_handshake(cookie, MADE_US, &other_port, 3, number));
	CU_ASSERT_FALSE(good_handshake(cookie, MADE_US, &other_ip, 3, number));
	CU_ASSERT_FALSE(wh_stranger_cookie_check(
		cookie, key, WH_COOKIE_OFFER, MADE_US, 10, &peer, 3, number, &age_us));
	for (uint32_t bit = 0; bit < 8 * WH_COOKIE_BYTES; bit++) {
		cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT_FALSE(wh_stranger_cookie_check(cookie, key, WH_COOKIE_PEERS_HANDSHAKE,
			MADE_US, UINT64_MAX, &peer, 3, number, &age_us));
		cookie[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}

	uint64_t ours = wh_handshake_number(key, &peer);

	memcpy(other_key, key, sizeof(key));
	other_key[0] ^= 1;
	CU_ASSERT_NOT_EQUAL(ours, wh_handshake_number(key, &other_port));
	CU_ASSERT_NOT_EQUAL(ours, wh_handshake_number(key, &other_ip));
	CU_ASSERT_NOT_EQUAL(ours, wh_handshake_number(other_key, &peer));
	/* The number of ours is no cookie of another's, made of nothing. */
	wh_stranger_cookie_make(cookie, key, WH_COOKIE_PEERS_HANDSHAKE, 0, &peer, 0, 0);
	CU_ASSERT_NOT_EQUAL(wh_cookie_token(cookie), ours);
}

CU_TestInfo wh_tests[] = {
	{"SipHash vectors", siphash_vectors},
	{"known cookie", known_cookie},
	{"age", age},
	{"bound to the address", bound_to_address},
	{"bound to the parameters", bound_to_params},
	{"same fields, other memory", same_fields_other_memory},
	{"bound to key and bytes", bound_to_key_and_bytes},
	{"handshakes", handshakes},
	CU_TEST_INFO_NULL,
};
