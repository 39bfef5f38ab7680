/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Reads and writes that go on after a signal, and after a part of the bytes. They block. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 0 or a negative errno. */
int wh_write_all(int fd, const void *bytes, size_t count);

/* From an offset of a file. The bytes read, fewer only at its end; or a negative errno. */
ssize_t wh_read_all_at(int fd, void *bytes, size_t count, uint64_t from);
