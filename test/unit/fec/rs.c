/* SPDX-License-Identifier: BSD-3-Clause */
#include "fec/rs.h"

#include "base/prng.h"
#include "unit.h"

const char wh_suite_name[] = "rs";

#define BYTES   96 /* a vector and a half of the widest kind */
#define PACKETS WH_RS_PACKETS_MAX

static uint8_t data[PACKETS][BYTES] __attribute__((aligned(64)));
static uint8_t again[PACKETS][BYTES] __attribute__((aligned(64)));
static uint8_t repair[PACKETS][BYTES] __attribute__((aligned(64)));
static uint8_t parts[PACKETS][BYTES] __attribute__((aligned(64)));
static uint8_t *data_of[PACKETS], *again_of[PACKETS], *repair_of[PACKETS], *parts_of[PACKETS];
static struct wh_prng prng;

static void fill(void)
{
	wh_prng_init(&prng, 1);
	for (uint32_t i = 0; i < PACKETS; i++) {
		data_of[i] = data[i];
		again_of[i] = again[i];
		repair_of[i] = repair[i];
		parts_of[i] = parts[i];
		for (uint32_t b = 0; b < BYTES; b++)
			data[i][b] = (uint8_t)wh_prng_u64(&prng);
	}
	memcpy(again, data, sizeof(data));
}

/* Bit by bit, modulo x^8 + x^4 + x^3 + x^2 + 1: nothing of it is shared with what is tested. */
static uint8_t slow_times(uint8_t a, uint8_t b)
{
	uint32_t product = 0;

	for (uint32_t bit = 0; bit < 8; bit++)
		if (b >> bit & 1)
			product ^= (uint32_t)a << bit;
	for (int32_t bit = 14; bit >= 8; bit--)
		if (product >> bit & 1)
			product ^= UINT32_C(0x11d) << (bit - 8);
	return (uint8_t)product;
}

static uint8_t slow_inverse(uint8_t a)
{
	for (uint32_t b = 1; b < 256; b++)
		if (slow_times(a, (uint8_t)b) == 1)
			return (uint8_t)b;
	return 0;
}

static void slow_encode(uint32_t k, uint32_t row, uint8_t *out)
{
	memset(out, 0, BYTES);
	for (uint32_t j = 0; j < k; j++) {
		uint8_t factor = slow_inverse((uint8_t)((255 - row) ^ j));

		for (uint32_t b = 0; b < BYTES; b++)
			out[b] ^= slow_times(factor, data[j][b]);
	}
}

static void test_matches_slow_matrix(void)
{
	static const struct {
		uint32_t k, r;
	} cases[] = {{1, 1}, {1, 254}, {2, 3}, {128, 4}, {212, 43}, {223, 32}, {254, 1}};
	struct wh_rs rs;
	uint8_t expected[BYTES];

	fill();
	CU_ASSERT_EQUAL_FATAL(wh_rs_init(&rs, 254), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wh_rs_encode(&rs, cases[i].k, cases[i].r, BYTES, 0, cases[i].k, data_of, repair_of);
		for (uint32_t row = 0; row < cases[i].r; row += 1 + cases[i].r / 5) {
			slow_encode(cases[i].k, row, expected);
			CU_ASSERT_EQUAL(memcmp(repair[row], expected, BYTES), 0);
		}
	}
	wh_rs_free(&rs);
}

/* In parts, whatever they are and whatever was in the repair packets before. */
static void test_parts_add_up(void)
{
	struct wh_rs rs;

	fill();
	CU_ASSERT_EQUAL_FATAL(wh_rs_init(&rs, 43), 0);
	for (uint32_t round = 0; round < 100; round++) {
		uint32_t r = 1 + (uint32_t)wh_prng_below(&prng, 43);
		uint32_t k = 1 + (uint32_t)wh_prng_below(&prng, PACKETS - r);

		memset(parts, (int)round, sizeof(parts));
		wh_rs_encode(&rs, k, r, BYTES, 0, k, data_of, repair_of);
		for (uint32_t first = 0, end; first < k; first = end) {
			end = first + 1 + (uint32_t)wh_prng_below(&prng, k - first);
			wh_rs_encode(&rs, k, r, BYTES, first, end, data_of + first, parts_of);
		}
		CU_ASSERT_EQUAL(memcmp(repair, parts, r * sizeof(repair[0])), 0);
	}
	wh_rs_free(&rs);
}

/* Loses what the mask of data packets says, with the repair packets of the other mask. */
static void check_recovery(struct wh_rs *rs, uint32_t k, uint32_t lost_mask, uint32_t with_mask)
{
	uint8_t missing[32];
	uint8_t with[32];
	uint8_t *out[32];
	uint32_t count = 0;
	uint32_t helpers = 0;

	for (uint32_t j = 0; j < k; j++)
		if (lost_mask >> j & 1) {
			memset(again[j], 0xee, BYTES);
			out[count] = again[j];
			missing[count++] = (uint8_t)j;
		}
	for (uint32_t i = 0; i < 32; i++)
		if (with_mask >> i & 1)
			with[helpers++] = (uint8_t)i;
	CU_ASSERT_EQUAL_FATAL(count, helpers);
	wh_rs_decode(rs, k, BYTES, missing, with, count, again_of, repair_of, out);
	CU_ASSERT_EQUAL(memcmp(again, data, sizeof(data)), 0);
	memcpy(again, data, sizeof(data));
}

/* Every pattern of up to r losses, with every choice of repair packets. */
static void test_every_pattern_of_small_blocks(void)
{
	struct wh_rs rs;
	uint32_t patterns = 0;

	fill();
	CU_ASSERT_EQUAL_FATAL(wh_rs_init(&rs, 5), 0);
	for (uint32_t k = 1; k <= 7; k++)
		for (uint32_t r = 1; r <= 5; r++) {
			wh_rs_encode(&rs, k, r, BYTES, 0, k, data_of, repair_of);
			for (uint32_t lost = 1; lost < UINT32_C(1) << k; lost++)
				for (uint32_t with = 1; with < UINT32_C(1) << r; with++)
					if (__builtin_popcount(lost) == __builtin_popcount(with)) {
						check_recovery(&rs, k, lost, with);
						patterns++;
					}
		}
	/* sum over k and r of C(k + r, r) - 1, by Vandermonde's identity */
	CU_ASSERT_EQUAL(patterns, 2954);
	wh_rs_free(&rs);
}

static uint32_t draw_numbers(uint32_t of, uint32_t count, uint8_t *numbers)
{
	uint32_t left = count;
	uint32_t drawn = 0;

	for (uint32_t i = 0; i < of; i++)
		if (wh_prng_below(&prng, of - i) < left) {
			numbers[drawn++] = (uint8_t)i;
			left--;
		}
	return drawn;
}

static void test_random_patterns_of_large_blocks(void)
{
	static const struct {
		uint32_t k, r, rounds;
	} cases[] = {{128, 4, 60000}, {212, 43, 20000}, {100, 20, 20000}, {127, 127, 100},
		{254, 1, 100}, {1, 254, 100}};
	struct wh_rs rs;
	uint8_t missing[PACKETS];
	uint8_t with[PACKETS];
	uint8_t *out[PACKETS];

	fill();
	CU_ASSERT_EQUAL_FATAL(wh_rs_init(&rs, 254), 0);
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		uint32_t k = cases[c].k;
		uint32_t r = cases[c].r;

		wh_rs_encode(&rs, k, r, BYTES, 0, k, data_of, repair_of);
		for (uint32_t round = 0; round < cases[c].rounds; round++) {
			uint32_t count = 1 + (uint32_t)wh_prng_below(&prng, k < r ? k : r);

			draw_numbers(k, count, missing);
			draw_numbers(r, count, with);
			for (uint32_t i = 0; i < count; i++) {
				out[i] = again[missing[i]];
				memset(out[i], 0xee, BYTES);
			}
			wh_rs_decode(&rs, k, BYTES, missing, with, count, again_of, repair_of, out);
			for (uint32_t i = 0; i < count; i++)
				if (memcmp(out[i], data[missing[i]], BYTES) != 0)
					CU_FAIL_FATAL("a wrong byte");
		}
	}
	wh_rs_free(&rs);
}

/* More shapes than are remembered, again and again, in turn. */
static void test_shapes_are_kept_apart(void)
{
	struct wh_rs rs;
	uint8_t first[8][BYTES];

	fill();
	CU_ASSERT_EQUAL_FATAL(wh_rs_init(&rs, 9), 0);
	for (uint32_t round = 0; round < 3; round++)
		for (uint32_t i = 0; i < 8; i++) {
			wh_rs_encode(&rs, 20 + i, 9 - i, BYTES, 0, 20 + i, data_of, repair_of);
			if (round == 0)
				memcpy(first[i], repair[0], BYTES);
			CU_ASSERT_EQUAL(memcmp(first[i], repair[0], BYTES), 0);
		}
	CU_ASSERT_NOT_EQUAL(memcmp(first[0], first[1], BYTES), 0);
	wh_rs_free(&rs);
}

CU_TestInfo wh_tests[] = {
	{"matches a slow matrix code", test_matches_slow_matrix},
	{"parts add up", test_parts_add_up},
	{"every pattern of small blocks", test_every_pattern_of_small_blocks},
	{"random patterns of large blocks", test_random_patterns_of_large_blocks},
	{"shapes are kept apart", test_shapes_are_kept_apart},
	CU_TEST_INFO_NULL,
};
