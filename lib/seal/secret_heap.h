/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A heap for OpenSSL, in pages excluded from core dumps. During a handshake OpenSSL has secrets and
 * plain text in many places and marks none of them. Freed memory is wiped.
 */

#include <stdbool.h>
#include <stddef.h>

/*
 * To be called once, before any use of OpenSSL; from then on any thread may allocate. False: the
 * heap is not installed, because it would hide errors from the memory checker of this build.
 */
bool wh_secret_heap_begin(void);

/* Like malloc, realloc and free; fails for WH_SECRET_HEAP_BYTES_MAX and more. */
#define WH_SECRET_HEAP_BYTES_MAX ((size_t)1 << 30)
void *wh_secret_heap_alloc(size_t bytes);
void *wh_secret_heap_realloc(void *memory, size_t bytes);
void wh_secret_heap_free(void *memory);
