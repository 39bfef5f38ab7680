/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What encoding and decoding a chunk takes by its size, with one repair packet for five of data:
 * ttp.txt's Fig. 3 on this CPU. JSON of the form that `wavehaul sim --json` has, for tools/figures;
 * seconds, the least of some rounds.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "fec/fec.h"
#include "now.h"

#define SYMBOL_BYTES 1408
#define MB_MAX       10
#define K_MAX        (MB_MAX * 1000000 / SYMBOL_BYTES + 1)
#define R_MAX        (K_MAX / DATA_PER_REPAIR + 1)

#define DATA_PER_REPAIR 5
#define ROUNDS          20

static struct wh_fec *fec;
static struct wh_prng prng;
static uint8_t *data;
static uint8_t *repair;
static uint64_t have[(K_MAX + R_MAX) / 64 + 1];

static struct wh_fec_shape shape_of(enum wh_fec_code code, uint32_t k)
{
	uint32_t r = k / DATA_PER_REPAIR;

	return (struct wh_fec_shape){
		.code = code,
		.k = k,
		.r = r,
		.blocks = code == WH_FEC_RS
				  ? (k + r + WH_FEC_RS_PACKETS_MAX - 1) / WH_FEC_RS_PACKETS_MAX
				  : 1,
		.symbol_bytes = SYMBOL_BYTES,
		.last_bytes = SYMBOL_BYTES,
	};
}

/* Half of what repair could bring back at best. */
static void lose_some(const struct wh_fec_shape *shape)
{
	memset(have, 0xff, sizeof(have));
	for (uint32_t lost = 0; lost < shape->r / 2; lost++) {
		uint64_t i = wh_prng_below(&prng, shape->k);

		have[i / 64] &= ~(UINT64_C(1) << i % 64);
	}
}

static void keep_least(uint64_t *least, uint64_t begin)
{
	uint64_t took = now_ns() - begin;

	if (took < *least)
		*least = took;
}

static void measure(enum wh_fec_code code, uint32_t megabytes, const char *comma)
{
	struct wh_fec_shape shape = shape_of(code, megabytes * 1000000 / SYMBOL_BYTES);
	uint64_t encode = UINT64_MAX;
	uint64_t decode = UINT64_MAX;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t begin = now_ns();

		wh_fec_encode(fec, &shape, data, 0, shape.k, repair);
		keep_least(&encode, begin);
		lose_some(&shape);
		begin = now_ns();
		if (wh_fec_decode(fec, &shape, data, repair, have) == 0)
			keep_least(&decode, begin);
	}
	if (decode == UINT64_MAX) {
		fprintf(stderr, "perf_fec_chunks: %s never recovered %" PRIu32 " MB\n",
			wh_fec_code_name(code), megabytes);
		exit(EXIT_FAILURE);
	}
	printf("%s\n  {\"sweep\": {\"code\": \"%s\", \"bytes\": %" PRIu32 "}, \"report\": "
	       "{\"encode\": %.9f, \"decode\": %.9f, \"decoding over encoding\": %.4f}, \"ok\": "
	       "true, \"expect\": [], \"runs\": []}",
		comma, wh_fec_code_name(code), megabytes * 1000000, (double)encode / 1e9,
		(double)decode / 1e9, (double)decode / (double)encode);
}

int main(void)
{
	static const enum wh_fec_code codes[] = {WH_FEC_RS, WH_FEC_TORNADO};
	static const uint32_t megabytes[] = {1, 2, 5, MB_MAX};
	static const struct wh_fec_limits limits = {K_MAX, R_MAX, SYMBOL_BYTES};
	const char *comma = "";

	fec = wh_fec_create(&limits);
	data = aligned_alloc(4096, (size_t)K_MAX * 4096);
	repair = aligned_alloc(4096, (size_t)R_MAX * 4096);
	if (fec == NULL || data == NULL || repair == NULL) {
		fprintf(stderr, "perf_fec_chunks: no memory\n");
		return EXIT_FAILURE;
	}
	wh_prng_init(&prng, 1);
	for (size_t i = 0; i < (size_t)K_MAX * SYMBOL_BYTES; i++)
		data[i] = (uint8_t)wh_prng_u64(&prng);
	printf("{\"title\": \"Encoding and decoding a chunk, by code and size\", \"ok\": true, "
	       "\"points\": [");
	for (uint32_t c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
		for (uint32_t i = 0; i < sizeof(megabytes) / sizeof(megabytes[0]); i++) {
			measure(codes[c], megabytes[i], comma);
			comma = ",";
		}
	}
	printf("\n]}\n");
	wh_fec_destroy(fec);
	free(data);
	free(repair);
	return EXIT_SUCCESS;
}
