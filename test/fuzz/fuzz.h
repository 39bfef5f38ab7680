/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_FUZZ_H
#define WH_TEST_FUZZ_H

/*
 * A fuzz target is one file with these two functions. libFuzzer (clang -fsanitize=fuzzer) brings
 * its own main; elsewhere standalone.c is the main.
 */

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The number-th good input, of at most `room` bytes, to be mutated; 0: there are no more. */
size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room);

#endif
