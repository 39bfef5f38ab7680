/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a packet's checksum costs by each vector unit. Bodies lie in half a second-level cache,
 * so that each comes from there, as in a transfer; copies go to one place.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_cycles.h>

#include "seal/hash.h"
#include "wire/packet.h"

#define BUFFER_BYTES (UINT32_C(512) << 10)
#define ROUNDS       25

/* Before each body, as in a frame, so that bodies lie across cache lines. */
#define HEADERS_BYTES 106

static uint8_t *buffer;
static uint64_t sum; /* keeps the compiler from leaving work out */

static double cycles_per_packet(const struct wh_seal_hash *unit, uint32_t body_bytes, uint8_t *to)
{
	static const uint8_t head[WH_HEAD_BYTES];
	uint64_t best = UINT64_MAX;
	uint32_t packets = BUFFER_BYTES / (body_bytes + HEADERS_BYTES);

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t begin = rte_rdtsc();

		for (uint32_t i = 0; i < packets; i++) {
			const uint8_t *body =
				buffer + HEADERS_BYTES + (size_t)i * (body_bytes + HEADERS_BYTES);

			sum += to == NULL ? unit->hash(head, body, body_bytes)
					  : unit->hash_copy(head, body, body_bytes, to);
		}

		uint64_t took = rte_rdtsc() - begin;

		if (took < best)
			best = took;
	}
	return (double)best / packets;
}

static void print_row(const struct wh_seal_hash *unit)
{
	static uint8_t copy[WH_PAYLOAD_BYTES_MAX];
	static const uint32_t bodies[] = {64, 256, 512, 1408, 8928};

	printf("%8s", unit->name);
	for (uint32_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		printf("   %4" PRIu32 ": %4.0f %4.0f", bodies[i],
			cycles_per_packet(unit, bodies[i], NULL),
			cycles_per_packet(unit, bodies[i], copy));
	printf("\n");
}

int main(void)
{
	buffer = malloc(BUFFER_BYTES);
	if (buffer == NULL)
		return 1;
	for (uint32_t i = 0; i < BUFFER_BYTES; i++)
		buffer[i] = (uint8_t)(i * 2654435761U >> 24);
	printf("cycles per body of so many bytes: its tag, and with a copy\n");
	for (uint32_t number = 0; number < WH_SEAL_HASHES; number++)
		if (wh_seal_hash_by(number) != NULL)
			print_row(wh_seal_hash_by(number));
	free(buffer);
	return sum == 1; /* never */
}
