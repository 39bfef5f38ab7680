/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/gcm.h"

#include "unit.h"

const char wh_suite_name[] = "gcm";

#define ROOM 9300

/*
 * The test cases of the cipher's authors (McGrew and Viega, "The Galois/Counter Mode of Operation",
 * appendix B), those with nonces of 12 bytes; as in NIST's list for SP 800-38D.
 */
static const struct {
	enum wh_cipher cipher;
	const char *key, *nonce, *aad, *open, *closed, *tag;
} known[] = {
	{WH_CIPHER_AES_128_GCM, "00000000000000000000000000000000", "000000000000000000000000", "",
		"", "", "58e2fccefa7e3061367f1d57a4e7455a"},
	{WH_CIPHER_AES_128_GCM, "00000000000000000000000000000000", "000000000000000000000000", "",
		"00000000000000000000000000000000", "0388dace60b6a392f328c2b971b2fe78",
		"ab6e47d42cec13bdf53a67b21257bddf"},
	{WH_CIPHER_AES_128_GCM, "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", "",
		"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255",
		"42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
		"21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985",
		"4d5c2af327cd64a62cf35abd2ba6fab4"},
	{WH_CIPHER_AES_128_GCM, "feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
		"feedfacedeadbeeffeedfacedeadbeefabaddad2",
		"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		"42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
		"21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
		"5bc94fbc3221a5db94fae95ae7121a47"},
	{WH_CIPHER_AES_256_GCM, "0000000000000000000000000000000000000000000000000000000000000000",
		"000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"},
	{WH_CIPHER_AES_256_GCM, "0000000000000000000000000000000000000000000000000000000000000000",
		"000000000000000000000000", "", "00000000000000000000000000000000",
		"cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"},
	{WH_CIPHER_AES_256_GCM, "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
		"cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2",
		"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
		"1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
		"522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
		"8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
		"76fc6ece0f4e1768cddf8853bb2d551b"},
};

static size_t from_hex(const char *hex, uint8_t *to)
{
	size_t bytes = strlen(hex) / 2;

	for (size_t i = 0; i < bytes; i++) {
		char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		to[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return bytes;
}

static void check_known(const struct wh_gcm_unit *unit, uint32_t number)
{
	uint8_t bytes[32], nonce[12], aad[64], open[64], closed[64], out[64], tag[16], made[16];
	struct wh_gcm_key key;
	struct wh_gcm_message message = {.nonce = nonce, .aad = aad, .from = open, .to = out};

	from_hex(known[number].key, bytes);
	from_hex(known[number].nonce, nonce);
	message.aad_bytes = from_hex(known[number].aad, aad);
	message.bytes = from_hex(known[number].open, open);
	from_hex(known[number].closed, closed);
	from_hex(known[number].tag, tag);
	CU_ASSERT_FATAL(wh_gcm_begin(&key, unit, known[number].cipher, bytes));
	wh_gcm_encrypt(&key, &message, made);
	CU_ASSERT_EQUAL(memcmp(out, closed, message.bytes), 0);
	CU_ASSERT_EQUAL(memcmp(made, tag, sizeof(tag)), 0);
	message.from = closed;
	memset(out, 0, sizeof(out));
	CU_ASSERT(wh_gcm_decrypt(&key, &message, tag));
	CU_ASSERT_EQUAL(memcmp(out, open, message.bytes), 0);
	wh_gcm_end(&key);
}

static void test_known(void)
{
	for (uint32_t number = 0; number < WH_GCM_UNITS; number++) {
		const struct wh_gcm_unit *unit = wh_gcm_unit_by(number);

		if (unit == NULL) {
			printf("skipped: this CPU lacks what libipsec-mb needs\n");
			continue;
		}
		for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			check_known(unit, i);
	}
}

/* The same bytes from both, at the lengths where their ways part; in place, too. */
static void check_same(enum wh_cipher cipher, size_t bytes)
{
	static uint8_t from[ROOM], out[2][ROOM];
	const uint8_t bits[32] = {9, 8, 7, (uint8_t)bytes};
	uint8_t nonce[12] = {1}, aad[48] = {3}, tag[2][16];

	for (size_t i = 0; i < bytes; i++)
		from[i] = (uint8_t)(i * 13 + bytes);
	for (uint32_t number = 0; number < 2; number++) {
		struct wh_gcm_key key;
		struct wh_gcm_message message = {nonce, aad, sizeof(aad), from, bytes, out[number]};

		CU_ASSERT_FATAL(wh_gcm_begin(&key, wh_gcm_unit_by(number), cipher, bits));
		wh_gcm_encrypt(&key, &message, tag[number]);
		message.from = out[number];
		if (number == 0) {
			wh_gcm_end(&key);
			continue;
		}
		CU_ASSERT_EQUAL(memcmp(out[0], out[1], bytes), 0);
		CU_ASSERT_EQUAL(memcmp(tag[0], tag[1], 16), 0);
		CU_ASSERT(wh_gcm_decrypt(&key, &message, tag[0]));
		CU_ASSERT_EQUAL(memcmp(out[1], from, bytes), 0);
		wh_gcm_end(&key);
	}
}

static void test_same(void)
{
	if (wh_gcm_unit_by(1) == NULL)
		return;
	for (size_t bytes = 0; bytes < 2100; bytes += bytes < 300 ? 1 : 37)
		for (int cipher = 1; cipher < WH_CIPHERS; cipher++)
			check_same((enum wh_cipher)cipher, bytes);
	check_same(WH_CIPHER_AES_128_GCM, 8896);
	check_same(WH_CIPHER_AES_256_GCM, 9216);
}

/* One bit of anything, and it does not open: nonce, what is proved, what is encrypted, tag. */
static void check_bits(const struct wh_gcm_unit *unit)
{
	uint8_t all[12 + 48 + 33 + 16] = {0}, out[33];
	struct wh_gcm_message message = {all, all + 12, 48, all + 60, 33, all + 60};
	const uint8_t bits[32] = {5};
	struct wh_gcm_key key;

	CU_ASSERT_FATAL(wh_gcm_begin(&key, unit, WH_CIPHER_AES_128_GCM, bits));
	wh_gcm_encrypt(&key, &message, all + 93);
	message.to = out;
	CU_ASSERT(wh_gcm_decrypt(&key, &message, all + 93));
	for (uint32_t bit = 0; bit < 8 * sizeof(all); bit++) {
		all[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CU_ASSERT_FALSE(wh_gcm_decrypt(&key, &message, all + 93));
		all[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	CU_ASSERT(wh_gcm_decrypt(&key, &message, all + 93));
	wh_gcm_end(&key);
}

static void test_bits(void)
{
	for (uint32_t number = 0; number < WH_GCM_UNITS; number++)
		if (wh_gcm_unit_by(number) != NULL)
			check_bits(wh_gcm_unit_by(number));
}

/* Nothing of a key is left. */
static void test_wiped(void)
{
	const uint8_t bits[32] = {0x5a, 0x5a, 0x5a, 0x5a};
	struct wh_gcm_key key;

	CU_ASSERT_FATAL(wh_gcm_begin(&key, wh_gcm_unit(), WH_CIPHER_AES_256_GCM, bits));
	wh_gcm_end(&key);
	for (size_t i = 0; i < sizeof(key); i++)
		CU_ASSERT_EQUAL_FATAL(((const uint8_t *)&key)[i], 0);
	wh_gcm_end(&key);
}

CU_TestInfo wh_tests[] = {
	{"known answers", test_known},
	{"both libraries", test_same},
	{"each bit", test_bits},
	{"wiped", test_wiped},
	CU_TEST_INFO_NULL,
};
