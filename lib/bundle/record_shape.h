/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The format of records, as tables, from which encoding, decoding and the tests of limits derive.
 * Private to record.c and its tests.
 */

#include <stdint.h>

#include "bundle/record.h"

#define WH_RECORD_HEAD_BYTES 8

/* A member of struct wh_record and its limits; more than 8 bytes: unlimited. */
struct wh_record_field {
	const char *name;
	uint16_t wire_at; /* in the record */
	uint8_t bytes;
	uint64_t least;
	uint64_t most;
};

struct wh_record_shape {
	uint8_t wire_bytes; /* of the fixed part, including the head */
	uint8_t count;
	const struct wh_record_field *fields;
};

/* NULL: no such type. */
const struct wh_record_shape *wh_record_shape(uint32_t type);
