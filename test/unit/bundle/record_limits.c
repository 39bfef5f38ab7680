/* SPDX-License-Identifier: BSD-3-Clause */
/* Every limit of every field of every record, met from both sides; see lib/bundle/record.c. */

#include "record_fields.h"
#include "unit.h"

const char wh_suite_name[] = "record limits";

/* In a block of exactly that size, so that a sanitizer sees any byte read beyond. */
static uint32_t decode_exact(const uint8_t *bytes, uint32_t length)
{
	static struct wh_record record;
	uint8_t *copy = malloc(length);

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memcpy(copy, bytes, length);

	uint32_t decoded = wh_record_decode(copy, length, &record);

	free(copy);
	return decoded;
}

static void meet(uint32_t type, const struct wh_record_field *field, uint64_t value)
{
	static uint8_t bytes[RECORD_ROOM];
	bool within = value >= field->least && value <= record_most(field);

	record_begin(bytes, type);
	record_settle(bytes, type, NULL);
	record_put(bytes, field, value);
	record_settle(bytes, type, field);

	uint32_t length = record_finish(bytes, type);
	uint32_t decoded = decode_exact(bytes, length);

	if ((decoded == length) != within)
		printf("%u.%s = %#llx: %u of %u\n", type, field->name, (unsigned long long)value,
			decoded, length);
	CU_ASSERT_EQUAL(decoded, within ? length : 0);
}

static void meet_around(uint32_t type, const struct wh_record_field *field, uint64_t limit)
{
	uint64_t width_most =
		field->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->bytes) - 1;

	if (limit > 0)
		meet(type, field, limit - 1);
	meet(type, field, limit);
	if (limit < width_most)
		meet(type, field, limit + 1);
}

static void every_field(void)
{
	uint32_t types = 0;

	for (uint32_t type = 0; type < RECORD_TYPES; type++) {
		const struct wh_record_shape *shape = wh_record_shape(type);

		if (shape == NULL)
			continue;
		types++;
		for (uint32_t i = 0; i < shape->count; i++) {
			const struct wh_record_field *field = &shape->fields[i];

			if (field->bytes > sizeof(uint64_t)) /* a digest, counters: anything */
				continue;
			meet_around(type, field, field->least);
			meet_around(type, field, record_most(field));
		}
	}
	CU_ASSERT(types >= 15);
}

/* No byte that travels is out of the tables, so that a new field is met as well. */
static void every_byte(void)
{
	for (uint32_t type = 0; type < RECORD_TYPES; type++) {
		const struct wh_record_shape *shape = wh_record_shape(type);
		uint8_t covered[256] = {0};

		if (shape == NULL)
			continue;
		for (uint32_t i = 0; i < shape->count; i++)
			for (uint32_t b = 0; b < shape->fields[i].bytes; b++)
				covered[shape->fields[i].wire_at + b]++;
		for (uint32_t at = 0; at < shape->wire_bytes; at++) {
			if (covered[at] != (at >= 8))
				printf("type %u: byte %u\n", type, at);
			CU_ASSERT_EQUAL(covered[at], at >= 8);
		}
	}
}

/* A length that is too long or too short by whatever is a length, and no type but those. */
static void heads(void)
{
	static uint8_t bytes[RECORD_ROOM];

	for (uint32_t type = 0; type < RECORD_TYPES; type++) {
		const struct wh_record_shape *shape = wh_record_shape(type);
		uint32_t like = shape == NULL ? WH_RECORD_FINISH : type;

		record_begin(bytes, like);
		record_settle(bytes, like, NULL);

		uint32_t length = record_finish(bytes, like);

		memset(bytes + length, 0, 8);
		memcpy(bytes + 4, &type, 2);
		for (uint32_t told = length - 8; told <= length + 8; told++) {
			memcpy(bytes, &told, sizeof(told));
			CU_ASSERT_EQUAL(decode_exact(bytes, length + 8),
				shape != NULL && told == length ? length : 0);
		}
		memcpy(bytes, &length, sizeof(length));
		CU_ASSERT_EQUAL(decode_exact(bytes, length - 1), 0);
		bytes[6] = 1;
		CU_ASSERT_EQUAL(decode_exact(bytes, length), 0);
	}
}

CU_TestInfo wh_tests[] = {
	{"every field", every_field},
	{"every byte", every_byte},
	{"heads", heads},
	CU_TEST_INFO_NULL,
};
