/* SPDX-License-Identifier: BSD-3-Clause */
#include "seal/secret.h"

#include "unit.h"

const char wh_suite_name[] = "secret";

/* RFC 5869, A.1 and A.3: with a salt and a purpose, and without. */
static void test_hkdf(void)
{
	static const uint8_t first[] = {0x3c, 0xb2, 0x5f, 0x25, 0xfa, 0xac, 0xd5, 0x7a, 0x90, 0x43,
		0x4f, 0x64, 0xd0, 0x36, 0x2f, 0x2a, 0x2d, 0x2d, 0x0a, 0x90, 0xcf, 0x1a, 0x5a, 0x4c,
		0x5d, 0xb0, 0x2d, 0x56, 0xec, 0xc4, 0xc5, 0xbf, 0x34, 0x00, 0x72, 0x08, 0xd5, 0xb8,
		0x87, 0x18, 0x58, 0x65};
	static const uint8_t third[] = {0x8d, 0xa4, 0xe7, 0x75, 0xa5, 0x63, 0xc1, 0x8f, 0x71, 0x5f,
		0x80, 0x2a, 0x06, 0x3c, 0x5a, 0x31, 0xb8, 0xa1, 0x1f, 0x5c, 0x5e, 0xe1, 0x87, 0x9e,
		0xc3, 0x45, 0x4e, 0x5f, 0x3c, 0x73, 0x8d, 0x2d, 0x9d, 0x20, 0x13, 0x95, 0xfa, 0xa4,
		0xb6, 0x1a, 0x96, 0xc8};
	uint8_t from[22], salt[13], purpose[10], secret[WH_SECRET_BYTES], okm[42];

	memset(from, 0x0b, sizeof(from));
	for (uint8_t i = 0; i < sizeof(salt); i++)
		salt[i] = i;
	for (uint8_t i = 0; i < sizeof(purpose); i++)
		purpose[i] = (uint8_t)(0xf0 + i);
	wh_hkdf_extract(secret, salt, sizeof(salt), from, sizeof(from));
	wh_hkdf_expand(okm, sizeof(okm), secret, purpose, sizeof(purpose));
	CU_ASSERT_EQUAL(memcmp(okm, first, sizeof(okm)), 0);
	wh_hkdf_extract(secret, salt, 0, from, sizeof(from));
	wh_hkdf_expand(okm, sizeof(okm), secret, purpose, 0);
	CU_ASSERT_EQUAL(memcmp(okm, third, sizeof(okm)), 0);
}

/* "dd" in the flags of its mapping is MADV_DONTDUMP: the page is in no core dump. */
static bool is_dumped(const void *memory)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	char line[512];
	bool here = false;
	bool dumped = true;

	CU_ASSERT_PTR_NOT_NULL_FATAL(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			here = from <= (unsigned long)memory && (unsigned long)memory < to;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			dumped = strstr(line, " dd") == NULL;
	}
	fclose(maps);
	return dumped;
}

static void test_memory(void)
{
	uint8_t *secret = wh_secret_alloc(10000);
	uint8_t other[16];

	CU_ASSERT_PTR_NOT_NULL_FATAL(secret);
	CU_ASSERT(!is_dumped(secret));
	CU_ASSERT(is_dumped(other));
	for (uint32_t i = 0; i < 10000; i++)
		CU_ASSERT_EQUAL_FATAL(secret[i], 0);
	memset(secret, 0x55, 10000);
	wh_secret_wipe(secret, 10000);
	for (uint32_t i = 0; i < 10000; i++)
		CU_ASSERT_EQUAL_FATAL(secret[i], 0);
	wh_secret_free(secret, 10000);
	wh_secret_free(NULL, 0);
}

CU_TestInfo wh_tests[] = {
	{"HKDF", test_hkdf},
	{"memory", test_memory},
	CU_TEST_INFO_NULL,
};
