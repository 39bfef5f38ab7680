/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A fuzz target is one file with these functions. libFuzzer (clang -fsanitize=fuzzer) brings
 * its own main; elsewhere standalone.c is the main.
 */

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* The number-th good input, of at most `room` bytes, to be mutated; 0: there are no more. */
size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room);

struct wh_prng;

/* An input with the structure of good ones, of at most `room` bytes; 0: this target makes none. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room);

/* Says what became of the inputs. */
void wh_fuzz_report(void);
