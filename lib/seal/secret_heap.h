/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SEAL_SECRET_HEAP_H
#define WH_SEAL_SECRET_HEAP_H

/*
 * Whatever OpenSSL allocates, in pages that no core dump holds: what a greeting knows is in many
 * places there, traffic secrets and plain text, none of them marked. What is given back is wiped.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * Once, before OpenSSL is used for anything; from then on any thread allocates. False: all stays as
 * it was, for this build looks for errors of memory, which would be hidden.
 */
bool wh_secret_heap_begin(void);

/* As malloc, realloc and free; of WH_SECRET_HEAP_BYTES_MAX and more there is none. */
#define WH_SECRET_HEAP_BYTES_MAX ((size_t)1 << 30)
void *wh_secret_heap_alloc(size_t bytes);
void *wh_secret_heap_realloc(void *memory, size_t bytes);
void wh_secret_heap_free(void *memory);

#endif
