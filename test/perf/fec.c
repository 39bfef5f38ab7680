/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The erasure codes beside a bare ISA-L loop of the same shape, alternating, the best of each; the
 * dearest of tornado's graphs; and what it needs beyond k packets, over random orders of arrival.
 * With an argument: so many orders for each code (10000).
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <isa-l.h>

#include "base/prng.h"
#include "fec/fec.h"
#include "fec/tornado_graph.h"
#include "now.h"

#define K_MAX        10000
#define R_MAX        5000
#define SYMBOL_BYTES 1408
#define ROUNDS       200

static struct wh_fec *fec;
static struct wh_prng prng;
static uint8_t *data;
static uint8_t *repair;
static uint64_t have[(K_MAX + R_MAX) / 64 + 1];

static double gb_per_s(const struct wh_fec_shape *shape, uint64_t best_ns)
{
	return (double)shape->k * SYMBOL_BYTES / (double)best_ns;
}

static void keep_best(uint64_t *best, uint64_t begin)
{
	uint64_t took = now_ns() - begin;

	if (took < *best)
		*best = took;
}

/* Of all shapes with k data packets, the one whose graph takes longest to make. */
static void dearest_graph(uint32_t k)
{
	struct wh_tornado_graph graph;
	struct wh_tornado_scratch scratch;
	struct wh_tornado_levels plan;
	uint64_t worst_ns = 0;
	uint32_t worst_r = 0;

	if (wh_tornado_graph_init(&graph, k, k) != 0 ||
		wh_tornado_scratch_init(&scratch, k, k) != 0)
		abort();
	for (uint32_t r = 1; r <= k; r += 1 + r / 32) {
		uint64_t best_ns = UINT64_MAX;

		for (uint32_t i = 0; i < 5 && wh_tornado_plan(k, r, &plan); i++) {
			uint64_t begin = now_ns();

			wh_tornado_graph_make(&graph, &scratch, k, r);
			keep_best(&best_ns, begin);
		}
		if (best_ns != UINT64_MAX && best_ns > worst_ns) {
			worst_ns = best_ns;
			worst_r = r;
		}
	}
	printf("tornado %5" PRIu32 "+%-4" PRIu32 " takes longest to make: %.3f ms\n", k, worst_r,
		(double)worst_ns / 1e6);
	wh_tornado_graph_free(&graph);
	wh_tornado_scratch_free(&scratch);
}

/* One block after the other, tables made before: what ISA-L alone can do. */
static void bare_encode(const struct wh_fec_shape *shape, uint8_t *gf)
{
	uint32_t k = shape->k / shape->blocks;
	uint32_t r = shape->r / shape->blocks;
	uint8_t *sources[255];
	uint8_t *results[255];

	for (uint32_t b = 0; b < shape->blocks; b++) {
		for (uint32_t i = 0; i < k; i++)
			sources[i] = data + (size_t)(i * shape->blocks + b) * SYMBOL_BYTES;
		for (uint32_t i = 0; i < r; i++)
			results[i] = repair + (size_t)(i * shape->blocks + b) * SYMBOL_BYTES;
		ec_encode_data(SYMBOL_BYTES, (int)k, (int)r, gf, sources, results);
	}
}

static void lose_as_many_as_are_repaired(const struct wh_fec_shape *shape)
{
	memset(have, 0xff, sizeof(have));
	for (uint32_t i = 0; i < shape->r; i++)
		have[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static void race_rs(uint32_t k, uint32_t r, uint32_t blocks)
{
	struct wh_fec_shape shape = {
		WH_FEC_RS, k * blocks, r * blocks, blocks, SYMBOL_BYTES, SYMBOL_BYTES};
	uint8_t *matrix = malloc(256 * 256);
	uint8_t *gf = aligned_alloc(64, 32 * 255 * 255);
	uint64_t bare = UINT64_MAX;
	uint64_t encode = UINT64_MAX;
	uint64_t decode = UINT64_MAX;

	gf_gen_cauchy1_matrix(matrix, (int)(k + r), (int)k);
	ec_init_tables((int)k, (int)r, matrix + k * k, gf);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t begin = now_ns();

		bare_encode(&shape, gf);
		keep_best(&bare, begin);
		begin = now_ns();
		wh_fec_encode(fec, &shape, data, 0, shape.k, repair);
		keep_best(&encode, begin);
		lose_as_many_as_are_repaired(&shape);
		begin = now_ns();
		wh_fec_decode(fec, &shape, data, repair, have);
		keep_best(&decode, begin);
	}
	printf("rs %3" PRIu32 "+%-3" PRIu32 " x %" PRIu32
	       "        bare ISA-L %6.2f GB/s, encode %6.2f (%.2f), decode %6.2f (%.2f)\n",
		k, r, blocks, gb_per_s(&shape, bare), gb_per_s(&shape, encode),
		(double)bare / (double)encode, gb_per_s(&shape, decode),
		(double)bare / (double)decode);
	free(matrix);
	free(gf);
}

static void race_tornado(uint32_t k, uint32_t r)
{
	struct wh_fec_shape tornado = {WH_FEC_TORNADO, k, r, 1, SYMBOL_BYTES, SYMBOL_BYTES};
	struct wh_fec_shape rs = tornado;
	uint64_t encode = UINT64_MAX;
	uint64_t decode = UINT64_MAX;
	uint64_t rs_encode = UINT64_MAX;

	rs.code = WH_FEC_RS;
	rs.blocks = (k + r + 254) / 255;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t begin = now_ns();

		wh_fec_encode(fec, &rs, data, 0, k, repair);
		keep_best(&rs_encode, begin);
		begin = now_ns();
		wh_fec_encode(fec, &tornado, data, 0, k, repair);
		keep_best(&encode, begin);

		/* Half of what the repair packets could bring back at best. */
		memset(have, 0xff, sizeof(have));
		for (uint32_t i = 0; i < r / 2; i++) {
			uint64_t lost = wh_prng_below(&prng, k);

			have[lost / 64] &= ~(UINT64_C(1) << lost % 64);
		}
		begin = now_ns();
		if (wh_fec_decode(fec, &tornado, data, repair, have) == 0)
			keep_best(&decode, begin);
	}
	printf("tornado %5" PRIu32 "+%-4" PRIu32 " encode %6.2f GB/s (%.1f of rs: %.2f), "
	       "decode %6.2f\n",
		k, r, gb_per_s(&tornado, encode), (double)rs_encode / (double)encode,
		gb_per_s(&rs, rs_encode), gb_per_s(&tornado, decode));
}

static int ascending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a;
	uint32_t right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

/* The first so many packets of an order that suffice. */
static uint32_t packets_needed(const struct wh_fec_shape *shape, const uint32_t *order)
{
	uint32_t low = shape->k - 1;
	uint32_t high = shape->k + shape->r;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		memset(have, 0, sizeof(have));
		for (uint32_t i = 0; i < middle; i++)
			have[order[i] / 64] |= UINT64_C(1) << order[i] % 64;
		if (wh_fec_decode(fec, shape, NULL, NULL, have) == 0)
			high = middle;
		else
			low = middle;
	}
	return high;
}

static void overhead(uint32_t k, uint32_t r, uint32_t orders)
{
	struct wh_fec_shape shape = {WH_FEC_TORNADO, k, r, 1, 0, 0};
	uint32_t *needed = malloc(orders * sizeof(uint32_t));
	uint32_t *order = malloc((k + r) * sizeof(uint32_t));
	double sum = 0.0;

	for (uint32_t n = 0; n < orders; n++) {
		for (uint32_t i = 0; i < k + r; i++) {
			uint32_t at = (uint32_t)wh_prng_below(&prng, i + 1);

			order[i] = order[at];
			order[at] = i;
		}
		needed[n] = packets_needed(&shape, order);
		sum += needed[n];
	}
	qsort(needed, orders, sizeof(uint32_t), ascending);

	uint32_t nearly_all = needed[orders - 1 - orders / 1000];

	printf("tornado %5" PRIu32 "+%-4" PRIu32
	       " overhead: mean %5.2f %%, 99.9 %% of orders %5.2f %%; "
	       "bears the loss of %.3f and %.3f of r\n",
		k, r, 100.0 * (sum / orders / k - 1.0), 100.0 * ((double)nearly_all / k - 1.0),
		(k + r - sum / orders) / r, (double)(k + r - nearly_all) / r);
	free(needed);
	free(order);
}

int main(int argc, char **argv)
{
	static const struct wh_fec_limits limits = {K_MAX, R_MAX, SYMBOL_BYTES};
	uint32_t orders = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;

	fec = wh_fec_create(&limits);
	data = aligned_alloc(4096, (size_t)K_MAX * 4096);
	repair = aligned_alloc(4096, (size_t)R_MAX * 4096);
	if (fec == NULL || data == NULL || repair == NULL || orders < 1000) {
		fprintf(stderr, "perf_fec: no memory, or fewer than 1000 orders\n");
		return EXIT_FAILURE;
	}
	wh_prng_init(&prng, 1);
	for (size_t i = 0; i < (size_t)K_MAX * 4096; i++)
		data[i] = (uint8_t)wh_prng_u64(&prng);

	race_rs(128, 4, 1);
	race_rs(128, 4, 6);
	race_rs(124, 12, 6);
	race_rs(212, 43, 1);
	race_tornado(700, 140);
	race_tornado(700, 35);
	race_tornado(10000, 2000);
	dearest_graph(745);
	dearest_graph(886);
	overhead(100, 20, orders);
	overhead(700, 35, orders);
	overhead(700, 140, orders);
	overhead(711, 355, orders);
	overhead(711, 1066, orders);
	overhead(711, 2133, orders);
	overhead(10000, 500, orders);
	overhead(10000, 2000, orders);
	wh_fec_destroy(fec);
	free(data);
	free(repair);
	return EXIT_SUCCESS;
}
