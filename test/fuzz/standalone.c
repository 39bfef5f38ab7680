/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main() of a fuzz target where there is no libFuzzer: feeds it files, for example a crash to be
 * looked at, or random mutations of the target's seeds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"

#define INPUT_BYTES_MAX 16384
#define SEEDS_MAX       256

/* In a block of exactly its size, so that a sanitizer sees any byte read beyond. */
static void feed(const uint8_t *bytes, size_t length)
{
	uint8_t *copy = malloc(length);

	WH_ASSERT(copy != NULL || length == 0);
	if (length > 0)
		memcpy(copy, bytes, length);
	LLVMFuzzerTestOneInput(copy, length);
	free(copy);
}

static int feed_file(const char *path)
{
	static uint8_t bytes[INPUT_BYTES_MAX];
	FILE *file = fopen(path, "rb");

	if (file == NULL) {
		int error = errno;

		fprintf(stderr, "%s: %s\n", path, strerror(error));
		return -error;
	}

	size_t length = fread(bytes, 1, sizeof(bytes), file);
	bool all = feof(file) != 0 || fgetc(file) == EOF;

	fclose(file);
	if (!all) {
		fprintf(stderr, "%s: longer than %d bytes\n", path, INPUT_BYTES_MAX);
		return -EFBIG;
	}
	feed(bytes, length);
	return 0;
}

struct seeds {
	uint32_t count;
	size_t length[SEEDS_MAX];
	uint8_t bytes[SEEDS_MAX][INPUT_BYTES_MAX];
};

static void collect(struct seeds *seeds)
{
	for (; seeds->count < SEEDS_MAX; seeds->count++) {
		size_t length =
			wh_fuzz_seed(seeds->count, seeds->bytes[seeds->count], INPUT_BYTES_MAX);

		WH_ASSERT(length <= INPUT_BYTES_MAX);
		if (length == 0)
			break;
		seeds->length[seeds->count] = length;
	}
	WH_ASSERT(seeds->count > 0);
}

/* One change: a bit, a byte, a byte at its edge, a stretch copied over another, another end. */
static size_t mutate(struct wh_prng *prng, uint8_t *bytes, size_t length)
{
	static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff};

	if (length == 0)
		return wh_prng_below(prng, 128);

	/* Fields are in front: every second change goes there. */
	size_t reach = length > 128 && wh_prng_below(prng, 2) == 0 ? 128 : length;
	uint8_t *at = bytes + wh_prng_below(prng, reach);
	size_t left = (size_t)(bytes + length - at);

	switch (wh_prng_below(prng, 5)) {
	case 0:
		*at ^= (uint8_t)(1u << wh_prng_below(prng, 8));
		break;
	case 1:
		*at = (uint8_t)wh_prng_u64(prng);
		break;
	case 2:
		*at = edges[wh_prng_below(prng, sizeof(edges))];
		break;
	case 3:
		left = wh_prng_below(prng, left < 16 ? left + 1 : 17);
		memmove(at, bytes + wh_prng_below(prng, length - left + 1), left);
		break;
	default:
		if (wh_prng_below(prng, 2) == 0)
			return (size_t)(at - bytes);
		left = wh_prng_below(prng, 33);
		if (left > INPUT_BYTES_MAX - length)
			left = INPUT_BYTES_MAX - length;
		memset(bytes + length, 0, left);
		return length + left;
	}
	return length;
}

static void feed_random(uint64_t count, uint64_t seed)
{
	static struct seeds seeds;
	static uint8_t bytes[INPUT_BYTES_MAX];
	struct wh_prng prng;

	collect(&seeds);
	wh_prng_init(&prng, seed);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t chosen = wh_prng_below(&prng, seeds.count);
		size_t length = seeds.length[chosen];

		memcpy(bytes, seeds.bytes[chosen], length);
		for (uint64_t changes = wh_prng_below(&prng, 5); changes > 0; changes--)
			length = mutate(&prng, bytes, length);
		feed(bytes, length);
	}
	printf("%" PRIu64 " inputs, seed %" PRIu64 "\n", count, seed);
}

static bool parse_u64(const char *text, uint64_t *result)
{
	char *end;

	errno = 0;
	*result = strtoull(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

int main(int argc, char **argv)
{
	uint64_t count, seed;

	if (argc == 4 && strcmp(argv[1], "--random") == 0 && parse_u64(argv[2], &count) &&
		parse_u64(argv[3], &seed)) {
		feed_random(count, seed);
		return EXIT_SUCCESS;
	}
	if (argc < 2 || argv[1][0] == '-') {
		fprintf(stderr, "usage: %s FILE... | --random COUNT SEED\n", argv[0]);
		return EXIT_FAILURE;
	}
	for (int i = 1; i < argc; i++)
		if (feed_file(argv[i]) != 0)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
