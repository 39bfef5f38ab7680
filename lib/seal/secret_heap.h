/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SEAL_SECRET_HEAP_H
#define WH_SEAL_SECRET_HEAP_H

/*
 * OpenSSL's allocations, in pages excluded from core dumps: during a handshake it has secrets and
 * plain text in many places, none of them marked. Freed memory is wiped.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * Once, before any use of OpenSSL; from then on any thread may allocate. False: not installed,
 * because in a build with a memory checker it would hide errors.
 */
bool wh_secret_heap_begin(void);

/* Like malloc, realloc and free; fails for WH_SECRET_HEAP_BYTES_MAX and more. */
#define WH_SECRET_HEAP_BYTES_MAX ((size_t)1 << 30)
void *wh_secret_heap_alloc(size_t bytes);
void *wh_secret_heap_realloc(void *memory, size_t bytes);
void wh_secret_heap_free(void *memory);

#endif
