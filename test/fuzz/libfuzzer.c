/* SPDX-License-Identifier: BSD-3-Clause */
/* Where libFuzzer is the main: every few inputs it is given one that the target makes. */
#include "base/prng.h"
#include "fuzz.h"

#define INPUT_BYTES_MAX 16384 /* what targets ask for */
#define MADE_OF         8

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t room, unsigned int seed);

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t room, unsigned int seed)
{
	struct wh_prng prng;
	size_t made = 0;

	wh_prng_init(&prng, seed);
	if (room >= INPUT_BYTES_MAX && wh_prng_below(&prng, MADE_OF) == 0)
		made = wh_fuzz_make(&prng, bytes, room);
	return made > 0 ? made : LLVMFuzzerMutate(bytes, length, room);
}
