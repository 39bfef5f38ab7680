/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a packet's tag costs, and what the hash library's choice of vectors by CPU gains over the
 * code that this project's base (corei7) allows. Bodies lie in a buffer as large as a few chunks,
 * so that each comes from a cache further out, as in a transfer.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "wire/packet.h"
#include "wire/tag.h"

#define BUFFER_BYTES (UINT32_C(4) << 20)
#define ROUNDS       25

static uint8_t *buffer;
static uint64_t sum; /* keeps the compiler from leaving work out */

static uint64_t base(const uint8_t *head, const uint8_t *body, size_t bytes)
{
	return XXH3_128bits_withSeed(head, WH_TAG_OFFSET, XXH3_64bits(body, bytes)).low64;
}

static uint64_t ours(const uint8_t *head, const uint8_t *body, size_t bytes)
{
	return wh_tag_agrees(head, body, bytes);
}

static double cycles_per_packet(
	uint64_t (*hash)(const uint8_t *, const uint8_t *, size_t), uint32_t body_bytes)
{
	static const uint8_t head[WH_HEAD_BYTES];
	uint64_t best = UINT64_MAX;
	uint32_t packets = BUFFER_BYTES / body_bytes;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t begin = rte_rdtsc();

		for (uint32_t i = 0; i < packets; i++)
			sum += hash(head, buffer + (size_t)i * body_bytes, body_bytes);

		uint64_t took = rte_rdtsc() - begin;

		if (took < best)
			best = took;
	}
	return (double)best / packets;
}

int main(void)
{
	static const uint32_t bodies[] = {64, 256, 512, 1408, 8928};

	buffer = malloc(BUFFER_BYTES);
	if (buffer == NULL)
		return 1;
	for (uint32_t i = 0; i < BUFFER_BYTES; i++)
		buffer[i] = (uint8_t)(i * 2654435761U >> 24);
	printf("%8s %16s %16s %8s\n", "bytes", "base, cycles", "tag, cycles", "gain");
	for (uint32_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		double before = cycles_per_packet(base, bodies[i]);
		double now = cycles_per_packet(ours, bodies[i]);

		printf("%8" PRIu32 " %16.0f %16.0f %8.2f\n", bodies[i], before, now, before / now);
	}
	free(buffer);
	return sum == 1; /* never */
}
