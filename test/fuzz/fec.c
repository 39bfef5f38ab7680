/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: a shape as a peer may claim it, and which of its packets came. What is accepted must
 * encode, lose, and decode within its memory, and what is recovered must be right.
 */
#include "fec/fec.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fuzz.h"

#define K_MAX        900
#define R_MAX        300
#define SYMBOL_BYTES 64

/* As on the wire: six fields of two bytes, then a bit for each packet that came. */
struct claim {
	uint16_t code, k, r, blocks, symbol_bytes, last_bytes;
};

static uint8_t expected_byte(size_t at)
{
	return (uint8_t)(at * 167 >> 3);
}

/* Memory of just the size that the shape needs, so that the sanitizer sees every step beyond it. */
static void decode(struct wh_fec *fec, const struct wh_fec_shape *shape, uint64_t *have)
{
	size_t data_bytes = (size_t)(shape->k - 1) * shape->symbol_bytes + shape->last_bytes;
	size_t repair_bytes = (size_t)shape->r * shape->symbol_bytes;
	void *data_room = NULL;
	void *repair_room = NULL;
	int failed = posix_memalign(&data_room, 64, data_bytes) |
		     posix_memalign(&repair_room, 64, repair_bytes);
	uint8_t *data = data_room;
	uint8_t *repair = repair_room;
	uint32_t missing = 0;

	WH_ASSERT(!failed);
	for (size_t i = 0; i < data_bytes; i++)
		data[i] = expected_byte(i);
	WH_ASSERT(wh_fec_encode(fec, shape, data, 0, shape->k, repair) == shape->k);
	for (size_t i = 0; i < data_bytes; i++) {
		uint32_t packet =
			shape->symbol_bytes == 0 ? 0 : (uint32_t)(i / shape->symbol_bytes);

		if (!(have[packet / 64] >> packet % 64 & 1))
			data[i] = 0xee;
	}
	for (uint32_t i = 0; i < shape->k; i++)
		missing += !(have[i / 64] >> i % 64 & 1);

	uint32_t left = wh_fec_decode(fec, shape, data, repair, have);

	WH_ASSERT(left <= missing);
	for (size_t i = 0; i < data_bytes && left == 0; i++)
		WH_ASSERT(data[i] == expected_byte(i));
	free(data);
	free(repair);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static const struct wh_fec_limits limits = {K_MAX, R_MAX, SYMBOL_BYTES};
	static struct wh_fec *fec;
	uint64_t have[(K_MAX + R_MAX) / 64 + 1];
	struct claim claim = {0};

	if (fec == NULL)
		fec = wh_fec_create(&limits);
	WH_ASSERT(fec != NULL);
	memcpy(&claim, bytes, length < sizeof(claim) ? length : sizeof(claim));

	struct wh_fec_shape shape = {
		claim.code, claim.k, claim.r, claim.blocks, claim.symbol_bytes, claim.last_bytes};

	if (!wh_fec_shape_ok(&shape, &limits))
		return 0;
	memset(have, 0xff, sizeof(have));
	if (length > sizeof(claim)) {
		length -= sizeof(claim);
		memcpy(have, bytes + sizeof(claim), length < sizeof(have) ? length : sizeof(have));
	}
	decode(fec, &shape, have);
	return 0;
}

static const struct claim seeds[] = {
	{WH_FEC_RS, 128, 4, 1, 32, 32},
	{WH_FEC_RS, 745, 24, 6, 64, 40},
	{WH_FEC_RS, 1, 1, 1, 32, 0},
	{WH_FEC_RS, 254, 1, 1, 0, 0},
	{WH_FEC_TORNADO, 700, 140, 1, 32, 1},
	{WH_FEC_TORNADO, 100, 20, 1, 64, 64},
	{WH_FEC_TORNADO, 900, 300, 1, 0, 0},
};

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	size_t length = sizeof(seeds[0]) + (K_MAX + R_MAX) / 8;

	if (number >= sizeof(seeds) / sizeof(seeds[0]) || room < length)
		return 0;
	memcpy(bytes, &seeds[number], sizeof(seeds[0]));
	memset(bytes + sizeof(seeds[0]), 0xff, length - sizeof(seeds[0]));
	for (size_t i = sizeof(seeds[0]); i < length; i += 11)
		bytes[i] = 0xf7;
	return length;
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	(void)prng;
	(void)bytes;
	(void)room;
	return 0;
}

void wh_fuzz_report(void)
{
}
