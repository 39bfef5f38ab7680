/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_RECORD_SHAPE_H
#define WH_BUNDLE_RECORD_SHAPE_H

/*
 * How records travel, as tables: encoding, decoding and the tests of limits are made from them.
 * Private to record.c and its tests.
 */

#include <stdint.h>

#include "bundle/record.h"

#define WH_RECORD_HEAD_BYTES 8

/* A member of struct wh_record and its limits; of more than 8 bytes: without. */
struct wh_record_field {
	const char *name;
	uint16_t wire_at; /* in the record */
	uint8_t bytes;
	uint64_t least;
	uint64_t most;
};

struct wh_record_shape {
	uint8_t wire_bytes; /* before texts and content, the head counted */
	uint8_t count;
	const struct wh_record_field *fields;
};

/* NULL: there is no such type. */
const struct wh_record_shape *wh_record_shape(uint32_t type);

#endif
