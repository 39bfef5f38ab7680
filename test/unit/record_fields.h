/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * An encoder of records that refuses nothing, made of the tables in lib/bundle/record.c: for
 * records that are right but for what a test wants wrong. Works on the bytes that travel.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "bundle/record_shape.h"

#define RECORD_TYPES 64 /* more than there are */

/* Texts of a record that is made here end before this. */
#define RECORD_ROOM (UINT32_C(600) << 10)

static inline const struct wh_record_field *record_field(uint32_t type, const char *name)
{
	const struct wh_record_shape *shape = wh_record_shape(type);

	for (uint32_t i = 0; i < shape->count; i++)
		if (strcmp(shape->fields[i].name, name) == 0)
			return &shape->fields[i];
	WH_ASSERT(false);
	return NULL;
}

static inline uint64_t record_most(const struct wh_record_field *field)
{
	uint64_t width_most =
		field->bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->bytes) - 1;

	return field->most < width_most ? field->most : width_most;
}

static inline void record_put(uint8_t *bytes, const struct wh_record_field *field, uint64_t value)
{
	memcpy(bytes + field->wire_at, &value, field->bytes);
}

static inline uint64_t record_get(const uint8_t *bytes, const struct wh_record_field *field)
{
	uint64_t value = 0;

	memcpy(&value, bytes + field->wire_at, field->bytes);
	return value;
}

static inline void record_set(uint8_t *bytes, uint32_t type, const char *name, uint64_t value)
{
	record_put(bytes, record_field(type, name), value);
}

static inline uint64_t record_is(const uint8_t *bytes, uint32_t type, const char *name)
{
	return record_get(bytes, record_field(type, name));
}

static inline bool record_pinned(const struct wh_record_field *pinned, const char *name)
{
	return pinned != NULL && strcmp(pinned->name, name) == 0;
}

/* Every field at its least. */
static inline void record_begin(uint8_t *bytes, uint32_t type)
{
	const struct wh_record_shape *shape = wh_record_shape(type);

	memset(bytes, 0, shape->wire_bytes);
	memcpy(bytes + 4, &type, 2);
	for (uint32_t i = 0; i < shape->count; i++)
		if (shape->fields[i].bytes <= 8)
			record_put(bytes, &shape->fields[i], shape->fields[i].least);
}

static inline void settle_entry(uint8_t *bytes, const struct wh_record_field *pinned)
{
	const uint32_t type = WH_RECORD_ENTRY;
	uint64_t hole_bytes = record_is(bytes, type, "hole_bytes");

	if (record_pinned(pinned, "hole_bytes") && hole_bytes > 0) {
		record_set(bytes, type, "size_bytes", hole_bytes);
		record_set(bytes, type, "content", WH_CONTENT_ASK);
	} else {
		hole_bytes = 0;
		record_set(bytes, type, "hole_bytes", 0);
	}
	if (record_pinned(pinned, "split") && record_is(bytes, type, "split") > 0)
		record_set(bytes, type, "content", WH_CONTENT_LEAD);
	else
		record_set(bytes, type, "split",
			wh_content_is_split((uint8_t)record_is(bytes, type, "content")));
	if (record_pinned(pinned, "size_bytes"))
		record_set(bytes, type, "content",
			record_is(bytes, type, "size_bytes") > 0 ? WH_CONTENT_ASK
								 : WH_CONTENT_NONE);
	else if (hole_bytes == 0)
		record_set(bytes, type, "size_bytes",
			record_is(bytes, type, "content") == WH_CONTENT_AHEAD
				? WH_INLINE_BYTES_MAX + 1
				: record_is(bytes, type, "content") != WH_CONTENT_NONE &&
					  record_is(bytes, type, "content") != WH_CONTENT_STREAM);
	if (record_pinned(pinned, "link_bytes"))
		record_set(bytes, type, "kind",
			record_is(bytes, type, "link_bytes") > 0 ? WH_ENTRY_LINK : WH_ENTRY_FILE);
	else
		record_set(bytes, type, "link_bytes",
			record_is(bytes, type, "kind") == WH_ENTRY_LINK ||
				record_is(bytes, type, "kind") == WH_ENTRY_HARD);
}

/* An error and what was being done go together, and of an outcome the status with them. */
static inline void settle_error(uint8_t *bytes, uint32_t type, const struct wh_record_field *pinned)
{
	bool failed = record_is(bytes, type, "error") > 0;

	if (record_pinned(pinned, "doing"))
		failed = record_is(bytes, type, "doing") > 0;
	if (record_pinned(pinned, "status"))
		failed = record_is(bytes, type, "status") == WH_OUTCOME_FAILED;
	if (!record_pinned(pinned, "error"))
		record_set(bytes, type, "error", failed);
	if (!record_pinned(pinned, "doing"))
		record_set(bytes, type, "doing", failed);
	if (type == WH_RECORD_OUTCOME && !record_pinned(pinned, "status"))
		record_set(bytes, type, "status", failed ? WH_OUTCOME_FAILED : WH_OUTCOME_SKIPPED);
}

static inline void settle_hello(uint8_t *bytes, const struct wh_record_field *pinned)
{
	const uint32_t type = WH_RECORD_HELLO;
	uint64_t verb = record_is(bytes, type, "verb");

	if (record_pinned(pinned, "paths"))
		record_set(bytes, type, "verb",
			record_is(bytes, type, "paths") > 0 ? WH_JOB_GET : WH_JOB_BENCH);
	else
		record_set(bytes, type, "paths",
			verb == WH_JOB_MOVE ? 2
					    : verb != WH_JOB_BENCH && verb != WH_JOB_IDLE &&
						      verb != WH_JOB_PING);
	if (record_pinned(pinned, "wishes") || record_pinned(pinned, "terms")) {
		record_set(bytes, type, "verb", WH_JOB_SEND);
		record_set(bytes, type, "paths", 1);
	}
	if (record_pinned(pinned, "lane"))
		record_set(bytes, type, "lanes", record_is(bytes, type, "lane") + 1);
	else
		record_set(bytes, type, "lane", 0);
}

/* An offset and what proves it go together. */
static inline void settle_want(uint8_t *bytes, const struct wh_record_field *pinned)
{
	bool has = record_pinned(pinned, "resume")
			   ? record_is(bytes, WH_RECORD_WANT, "resume") != WH_RESUME_OFF
			   : record_is(bytes, WH_RECORD_WANT, "offset") != 0 ||
				     record_pinned(pinned, "seed");

	if (!record_pinned(pinned, "offset"))
		record_set(bytes, WH_RECORD_WANT, "offset", has);
	if (!record_pinned(pinned, "resume"))
		record_set(bytes, WH_RECORD_WANT, "resume",
			!has                            ? WH_RESUME_OFF
			: record_pinned(pinned, "seed") ? WH_RESUME_FULL
							: WH_RESUME_ATTRIBUTES);
	if (!record_pinned(pinned, "seed"))
		record_set(bytes, WH_RECORD_WANT, "seed", 0);
}

/* Only links have a text. */
static inline void settle_item(uint8_t *bytes, const struct wh_record_field *pinned)
{
	const uint32_t type = WH_RECORD_ITEM;

	if (record_pinned(pinned, "link_bytes"))
		record_set(bytes, type, "kind",
			record_is(bytes, type, "link_bytes") > 0 ? WH_ITEM_LINK : WH_ITEM_FILE);
	else
		record_set(
			bytes, type, "link_bytes", record_is(bytes, type, "kind") == WH_ITEM_LINK);
}

/* All else of a record is made to agree with one field, whatever it says. */
static inline void record_settle(
	uint8_t *bytes, uint32_t type, const struct wh_record_field *pinned)
{
	if (type == WH_RECORD_ENTRY)
		settle_entry(bytes, pinned);
	else if (type == WH_RECORD_FILE_END || type == WH_RECORD_OUTCOME)
		settle_error(bytes, type, pinned);
	else if (type == WH_RECORD_WANT)
		settle_want(bytes, pinned);
	else if (type == WH_RECORD_HELLO)
		settle_hello(bytes, pinned);
	else if (type == WH_RECORD_ITEM)
		settle_item(bytes, pinned);
	else if (type == WH_RECORD_EXTENT && !record_pinned(pinned, "offset"))
		record_set(bytes, type, "offset", 0);
	else if (type == WH_RECORD_EXTENT)
		record_set(bytes, type, "bytes", 1);
}

/* Texts and content as the fields say, as far as there is room; returns the bytes of all. */
static inline uint32_t record_finish(uint8_t *bytes, uint32_t type)
{
	uint32_t at = wh_record_shape(type)->wire_bytes;
	uint64_t rest = 0;

	if (type == WH_RECORD_ENTRY) {
		rest = record_is(bytes, type, "path_bytes") + record_is(bytes, type, "link_bytes") +
		       record_is(bytes, type, "xattr_bytes");
		if (record_is(bytes, type, "content") == WH_CONTENT_INLINE)
			rest += record_is(bytes, type, "size_bytes");
		if (record_is(bytes, type, "content") == WH_CONTENT_AHEAD)
			rest += WH_INLINE_BYTES_MAX;
	} else if (type == WH_RECORD_FAULT) {
		rest = record_is(bytes, type, "path_bytes");
	} else if (type == WH_RECORD_REFUSED) {
		rest = record_is(bytes, type, "text_bytes");
	} else if (type == WH_RECORD_ITEM) {
		rest = record_is(bytes, type, "path_bytes") + record_is(bytes, type, "link_bytes");
	} else if (type == WH_RECORD_ORDER) {
		rest = record_is(bytes, type, "host_bytes") + record_is(bytes, type, "path_bytes") +
		       record_is(bytes, type, "rate_bytes") + record_is(bytes, type, "words_bytes");
	} else if (type == WH_RECORD_STATUS) {
		rest = record_is(bytes, type, "why_bytes");
	} else if (type == WH_RECORD_BLOCKS) {
		rest = record_is(bytes, type, "count") * WH_DIGEST_BYTES;
	} else if (type == WH_RECORD_READY) {
		rest = record_is(bytes, type, "ports") * WH_READY_ADDRESS_BYTES;
	} else if (type == WH_RECORD_HELLO) {
		rest = record_is(bytes, type, "paths") + record_is(bytes, type, "terms");
		if (rest > WH_HELLO_TEXTS_MAX)
			rest = WH_HELLO_TEXTS_MAX;
		for (uint64_t i = rest; i > 0; i--, at += 2)
			memcpy(bytes + at, "\1\0", 2);
	}
	if (rest > RECORD_ROOM / 2)
		rest = RECORD_ROOM / 2;
	memset(bytes + at, 'x', rest);
	at += (uint32_t)rest;
	memset(bytes + at, 0, 8);

	uint32_t length = (at + 7) / 8 * 8;

	memcpy(bytes, &length, sizeof(length));
	return length;
}
