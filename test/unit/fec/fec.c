/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both codes as their users see them. What tornado recovers is held against a slow decoder that
 * knows nothing but the graph: it solves the checks as equations over bits.
 */
#include "fec/fec.h"

#include <malloc.h>

#include "base/prng.h"
#include "fec/tornado_graph.h"
#include "unit.h"

const char wh_suite_name[] = "fec";

#define K_MAX        1200
#define R_MAX        600
#define SYMBOL_BYTES 96

static const struct wh_fec_limits limits = {.k = K_MAX, .r = R_MAX, .symbol_bytes = SYMBOL_BYTES};

static struct wh_fec *fec;
static struct wh_prng prng;
static uint8_t *original;
static uint8_t *data;
static uint8_t *repair;
static uint8_t *parts;
static uint64_t have[(K_MAX + R_MAX) / 64 + 1];

static void begin(uint64_t seed)
{
	wh_prng_init(&prng, seed);
	fec = wh_fec_create(&limits);
	original = aligned_alloc(4096, 1 << 20);
	data = aligned_alloc(4096, 1 << 20);
	repair = aligned_alloc(4096, 1 << 20);
	parts = aligned_alloc(4096, 1 << 20);
	CU_ASSERT_TRUE_FATAL(
		fec != NULL && original != NULL && data != NULL && repair != NULL && parts != NULL);
	for (uint32_t i = 0; i < 1 << 20; i++)
		original[i] = (uint8_t)wh_prng_u64(&prng);
	memcpy(data, original, 1 << 20);
}

static void end(void)
{
	wh_fec_destroy(fec);
	free(original);
	free(data);
	free(repair);
	free(parts);
}

static void test_shapes(void)
{
	static const struct {
		struct wh_fec_shape shape;
		bool ok;
	} cases[] = {
		{{WH_FEC_RS, 128, 4, 1, 96, 96}, true},
		{{WH_FEC_RS, 1, 1, 1, 32, 0}, true},
		{{WH_FEC_RS, 1, 1, 1, 0, 0}, true},
		{{WH_FEC_RS, 254, 1, 1, 96, 1}, true},
		{{WH_FEC_RS, 255, 1, 1, 96, 1}, false},
		{{WH_FEC_RS, 255, 2, 2, 96, 1}, true},
		{{WH_FEC_RS, 745, 24, 6, 96, 96}, true},
		{{WH_FEC_RS, 745, 24, 2, 96, 96}, false},
		{{WH_FEC_RS, 4, 24, 5, 96, 96}, false}, /* a block without data */
		{{WH_FEC_RS, 24, 4, 5, 96, 96}, false}, /* a block without repair */
		{{WH_FEC_RS, 128, 4, 0, 96, 96}, false},
		{{WH_FEC_RS, 0, 4, 1, 96, 96}, false},
		{{WH_FEC_RS, 128, 0, 1, 96, 96}, false},
		{{WH_FEC_RS, K_MAX + 1, 600, 8, 96, 96}, false},
		{{WH_FEC_RS, K_MAX, R_MAX, 8, 96, 96}, true},
		{{WH_FEC_RS, K_MAX, R_MAX + 1, 8, 96, 96}, false},
		{{WH_FEC_RS, 128, 4, 1, 128, 96}, false},
		{{WH_FEC_RS, 128, 4, 1, 95, 95}, false},
		{{WH_FEC_RS, 128, 4, 1, 96, 97}, false},
		{{WH_FEC_RS, UINT32_MAX, UINT32_MAX, UINT32_MAX, 96, 96}, false},
		{{WH_FEC_TORNADO, 700, 140, 1, 96, 96}, true},
		{{WH_FEC_TORNADO, 700, 140, 2, 96, 96}, false},
		{{WH_FEC_TORNADO, 700, 1, 1, 96, 96}, false},
		{{WH_FEC_NONE, 700, 140, 1, 96, 96}, false},
		{{WH_FEC_CODES, 700, 140, 1, 96, 96}, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT_EQUAL(wh_fec_shape_ok(&cases[i].shape, &limits), cases[i].ok);
	CU_ASSERT_STRING_EQUAL(wh_fec_code_name(WH_FEC_TORNADO), "tornado");
}

static struct wh_fec_shape draw_shape(void)
{
	struct wh_fec_shape shape = {
		.code = wh_prng_below(&prng, 2) ? WH_FEC_RS : WH_FEC_TORNADO,
		.blocks = 1,
		.symbol_bytes = 32 * (1 + (uint32_t)wh_prng_below(&prng, 3)),
	};

	do {
		shape.k = 1 + (uint32_t)wh_prng_below(&prng, 1000);
		shape.r = 1 + (uint32_t)wh_prng_below(&prng, shape.k / 3 + 2);
		if (shape.code == WH_FEC_RS)
			shape.blocks = 1 + (shape.k + shape.r) / 250;
	} while (!wh_fec_shape_ok(&shape, &limits));
	shape.last_bytes = 1 + (uint32_t)wh_prng_below(&prng, shape.symbol_bytes);
	return shape;
}

static uint32_t packet_bytes(const struct wh_fec_shape *shape, uint32_t packet)
{
	return packet + 1 == shape->k ? shape->last_bytes : shape->symbol_bytes;
}

/* As the file is read: now a few packets, now many; what lay in the buffer does not matter. */
static void test_encoding_as_it_comes(void)
{
	begin(1);
	for (uint32_t round = 0; round < 200; round++) {
		struct wh_fec_shape shape = draw_shape();
		uint32_t at = 0;

		memset(repair, 0x55, R_MAX * SYMBOL_BYTES);
		memset(parts, 0xaa, R_MAX * SYMBOL_BYTES);
		CU_ASSERT_EQUAL(wh_fec_encode(fec, &shape, data, 0, shape.k, repair), shape.k);
		for (uint32_t ready = 0; at < shape.k;) {
			ready += (uint32_t)wh_prng_below(&prng, 200);
			if (ready > shape.k)
				ready = shape.k;
			at = wh_fec_encode(fec, &shape, data, at, ready, parts);
			CU_ASSERT_TRUE(at <= ready);
		}
		CU_ASSERT_EQUAL(memcmp(repair, parts, shape.r * shape.symbol_bytes), 0);
		for (uint32_t i = shape.r * shape.symbol_bytes; i < R_MAX * SYMBOL_BYTES; i++)
			if (repair[i] != 0x55)
				CU_FAIL_FATAL("wrote past the repair packets");
	}
	CU_ASSERT_EQUAL(memcmp(data, original, 1 << 20), 0);
	end();
}

static bool has(uint32_t packet)
{
	return have[packet / 64] >> packet % 64 & 1;
}

/* Each packet is lost with that chance; what was there is gone. */
static void lose(const struct wh_fec_shape *shape, double chance)
{
	memset(have, 0, sizeof(have));
	for (uint32_t i = 0; i < shape->k + shape->r; i++) {
		if (wh_prng_unit(&prng) >= chance)
			have[i / 64] |= UINT64_C(1) << i % 64;
		else if (i < shape->k)
			memset(data + (size_t)i * shape->symbol_bytes, 0xee,
				packet_bytes(shape, i));
		else
			memset(repair + (size_t)(i - shape->k) * shape->symbol_bytes, 0xdd,
				shape->symbol_bytes);
	}
}

/* What is called here is right, byte for byte, and nothing else was touched. */
static uint32_t check_data(const struct wh_fec_shape *shape)
{
	uint32_t missing = 0;
	size_t bytes = (size_t)(shape->k - 1) * shape->symbol_bytes + shape->last_bytes;

	for (uint32_t i = 0; i < shape->k; i++) {
		size_t offset = (size_t)i * shape->symbol_bytes;

		missing += !has(i);
		if (has(i) && memcmp(data + offset, original + offset, packet_bytes(shape, i)) != 0)
			CU_FAIL_FATAL("a wrong byte");
	}
	CU_ASSERT_EQUAL(memcmp(data + bytes, original + bytes, (1 << 20) - bytes), 0);
	memcpy(data, original, bytes);
	return missing;
}

static uint32_t rs_missing(const struct wh_fec_shape *shape)
{
	uint32_t missing = 0;

	for (uint32_t b = 0; b < shape->blocks; b++) {
		uint32_t lost = 0;
		uint32_t helpers = 0;

		for (uint32_t i = b; i < shape->k; i += shape->blocks)
			lost += !has(i);
		for (uint32_t i = b; i < shape->r; i += shape->blocks)
			helpers += has(shape->k + i);
		if (helpers < lost)
			missing += lost;
	}
	return missing;
}

static void test_rs_recovers_every_block_that_can_be(void)
{
	uint32_t whole = 0;
	uint32_t broken = 0;

	begin(2);
	for (uint32_t round = 0; round < 2000; round++) {
		struct wh_fec_shape shape = draw_shape();

		if (shape.code != WH_FEC_RS)
			continue;
		wh_fec_encode(fec, &shape, data, 0, shape.k, repair);
		lose(&shape, wh_prng_unit(&prng) * 1.3 * shape.r / (shape.k + shape.r));

		uint32_t expected = rs_missing(&shape);

		CU_ASSERT_EQUAL(wh_fec_decode(fec, &shape, data, repair, have), expected);
		CU_ASSERT_EQUAL(check_data(&shape), expected);
		*(expected == 0 ? &whole : &broken) += 1;
	}
	CU_ASSERT_TRUE(whole > 300 && broken > 100);
	end();
}

/* One packet after the other, by whatever equation has but one unknown, until nothing changes. */
static uint32_t slow_peeling(const struct wh_fec_shape *shape)
{
	static bool known[K_MAX + R_MAX];
	struct wh_tornado_graph graph;
	struct wh_tornado_scratch scratch;
	uint32_t missing = 0;
	bool changed;

	CU_ASSERT_EQUAL_FATAL(wh_tornado_graph_init(&graph, shape->k, shape->r), 0);
	CU_ASSERT_EQUAL_FATAL(wh_tornado_scratch_init(&scratch, shape->k, shape->r), 0);
	wh_tornado_graph_make(&graph, &scratch, shape->k, shape->r);
	for (uint32_t i = 0; i < shape->k + shape->r; i++)
		known[i] = has(i);
	do {
		uint32_t lost = 0;
		uint32_t helpers = 0;

		changed = false;
		for (uint32_t c = 0; c < graph.checks; c++) {
			uint32_t unknowns = !known[shape->k + c];
			uint32_t which = shape->k + c;

			for (uint32_t p = 0; p < shape->k + graph.checks; p++)
				for (uint32_t d = 0; d < graph.degree[p]; d++)
					if (graph.check[p][d] == c && !known[p]) {
						unknowns++;
						which = p;
					}
			if (unknowns == 1)
				known[which] = changed = true;
		}
		for (uint32_t i = 0; i < graph.close_k; i++)
			lost += !known[graph.close_first + i];
		for (uint32_t i = 0; i < graph.close_r; i++)
			helpers += known[graph.close_first + graph.close_k + i];
		for (uint32_t i = 0; lost > 0 && lost <= helpers && i < graph.close_k; i++)
			known[graph.close_first + i] = changed = true;
	} while (changed);
	for (uint32_t i = 0; i < shape->k; i++)
		missing += !known[i];
	wh_tornado_graph_free(&graph);
	wh_tornado_scratch_free(&scratch);
	return missing;
}

static void test_tornado_recovers_what_peeling_can(void)
{
	uint32_t whole = 0;
	uint32_t broken = 0;

	begin(3);
	for (uint32_t round = 0; round < 400; round++) {
		struct wh_fec_shape shape = draw_shape();

		if (shape.code != WH_FEC_TORNADO || shape.k > 500)
			continue;
		wh_fec_encode(fec, &shape, data, 0, shape.k, repair);
		lose(&shape, wh_prng_unit(&prng) * 1.2 * shape.r / (shape.k + shape.r));

		uint32_t expected = slow_peeling(&shape);

		CU_ASSERT_EQUAL(wh_fec_decode(fec, &shape, data, repair, have), expected);
		CU_ASSERT_EQUAL(check_data(&shape), expected);
		*(expected == 0 ? &whole : &broken) += 1;
	}
	CU_ASSERT_TRUE(whole > 30 && broken > 20);
	end();
}

/* What could not be recovered comes later, a packet at a time: bits and bytes stay right. */
static void test_decoding_goes_on(void)
{
	begin(4);
	for (uint32_t round = 0; round < 100; round++) {
		struct wh_fec_shape shape = draw_shape();
		uint32_t missing;

		wh_fec_encode(fec, &shape, data, 0, shape.k, repair);
		lose(&shape, 0.3);
		missing = wh_fec_decode(fec, &shape, data, repair, have);
		for (uint32_t i = 0; i < shape.k && missing > 0; i++) {
			size_t offset = (size_t)i * shape.symbol_bytes;

			if (has(i))
				continue;
			memcpy(data + offset, original + offset, packet_bytes(&shape, i));
			have[i / 64] |= UINT64_C(1) << i % 64;

			uint32_t left = wh_fec_decode(fec, &shape, data, repair, have);

			CU_ASSERT_TRUE(left < missing);
			missing = left;
		}
		CU_ASSERT_EQUAL(missing, 0);
		CU_ASSERT_EQUAL(check_data(&shape), 0);
	}
	end();
}

/* Without bytes the same packets are recovered, and no memory is looked at. */
static void test_without_bytes(void)
{
	static uint64_t bits[sizeof(have) / sizeof(have[0])];

	begin(5);
	for (uint32_t round = 0; round < 300; round++) {
		struct wh_fec_shape shape = draw_shape();
		struct wh_fec_shape bare = shape;

		bare.symbol_bytes = bare.last_bytes = 0;
		wh_fec_encode(fec, &shape, data, 0, shape.k, repair);
		CU_ASSERT_EQUAL(wh_fec_encode(fec, &bare, NULL, 0, bare.k, NULL), bare.k);
		lose(&shape, 0.1);
		memcpy(bits, have, sizeof(have));
		CU_ASSERT_EQUAL(wh_fec_decode(fec, &bare, NULL, NULL, bits),
			wh_fec_decode(fec, &shape, data, repair, have));
		CU_ASSERT_EQUAL(memcmp(bits, have, sizeof(have)), 0);
		check_data(&shape);
	}
	end();
}

/*
 * In random order, how many packets more than k it takes until all data is there: test/perf/fec.c
 * measures it over more patterns and codes.
 */
static void test_tornado_reception_overhead(void)
{
	struct wh_fec_shape shape = {WH_FEC_TORNADO, 700, 140, 1, 0, 0};
	uint32_t order[840];
	uint64_t needed = 0;

	begin(7);
	for (uint32_t round = 0; round < 300; round++) {
		uint32_t low = 699;
		uint32_t high = 840;

		for (uint32_t i = 0; i < 840; i++) {
			uint32_t at = (uint32_t)wh_prng_below(&prng, i + 1);

			order[i] = order[at];
			order[at] = i;
		}
		while (high - low > 1) {
			uint32_t middle = (low + high) / 2;

			memset(have, 0, sizeof(have));
			for (uint32_t i = 0; i < middle; i++)
				have[order[i] / 64] |= UINT64_C(1) << order[i] % 64;
			*(wh_fec_decode(fec, &shape, NULL, NULL, have) == 0 ? &high : &low) =
				middle;
		}
		needed += high;
	}
	WH_ASSERT_NEAR(needed / 300.0, 729.5, 0.01); /* 4.2 % more than k */
	end();
}

/*
 * A burst as long as there are blocks times repair packets of each is repaired wherever it falls;
 * one packet more is not.
 */
static void test_bursts_are_spread(void)
{
	struct wh_fec_shape shape = {WH_FEC_RS, 745, 24, 6, 96, 40};

	begin(6);
	wh_fec_encode(fec, &shape, data, 0, shape.k, repair);
	for (uint32_t first = 0; first + 24 <= shape.k; first++)
		for (uint32_t length = 24; length <= 25; length++) {
			memset(have, 0xff, sizeof(have));
			for (uint32_t i = first; i < first + length && i < shape.k; i++) {
				have[i / 64] &= ~(UINT64_C(1) << i % 64);
				data[(size_t)i * 96] ^= 1;
			}

			bool whole = length == 24 || first + 24 == shape.k;

			CU_ASSERT_EQUAL(
				wh_fec_decode(fec, &shape, data, repair, have), whole ? 0 : 5);
			CU_ASSERT_EQUAL(check_data(&shape), whole ? 0 : 5);
		}
	end();
}

#ifndef __SANITIZE_ADDRESS__
/* What memory a core's tables take is known before. */
static void test_bytes_are_exact(void)
{
	static const struct wh_fec_limits cases[] = {
		{1, 1, 8896},
		{118, 40, 8896},
		{745, 249, 1408},
		{937, 1064, 8896},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t told = wh_fec_bytes(&cases[i]);
		struct mallinfo2 before = mallinfo2();
		struct wh_fec *one = wh_fec_create(&cases[i]);
		struct mallinfo2 after = mallinfo2();
		uint64_t taken = after.uordblks - before.uordblks + after.hblkhd - before.hblkhd;

		CU_ASSERT_TRUE(taken >= told);
		/* Heads and alignment of 32 pieces; those from 128 KiB on are of whole pages. */
		CU_ASSERT_TRUE(taken <= told + 32 * 96 + (told > 131072 ? 6 * 4096 : 0));
		wh_fec_destroy(one);
	}
}
#endif

CU_TestInfo wh_tests[] = {
	{"shapes", test_shapes},
#ifndef __SANITIZE_ADDRESS__
	{"bytes are exact", test_bytes_are_exact},
#endif
	{"encoding as it comes", test_encoding_as_it_comes},
	{"rs recovers every block that can be", test_rs_recovers_every_block_that_can_be},
	{"tornado recovers what peeling can", test_tornado_recovers_what_peeling_can},
	{"decoding goes on", test_decoding_goes_on},
	{"without bytes", test_without_bytes},
	{"tornado's reception overhead", test_tornado_reception_overhead},
	{"bursts are spread", test_bursts_are_spread},
	CU_TEST_INFO_NULL,
};
