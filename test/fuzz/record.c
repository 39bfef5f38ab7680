/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: whatever decodes is within its limits and must encode to the same bytes. */
#include "bundle/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"
#include "record_fields.h"

static uint64_t taken[RECORD_TYPES];
static uint64_t refused;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct wh_record record;
	uint32_t decoded = wh_record_decode(bytes, length, &record);

	if (decoded == 0) {
		refused++;
		return 0;
	}
	taken[record.type]++;
	WH_ASSERT(decoded <= length && decoded % 8 == 0);
	WH_ASSERT(wh_record_bytes(&record) == decoded);

	uint8_t *again = malloc(decoded);

	WH_ASSERT(again != NULL);
	WH_ASSERT(wh_record_encode(&record, again, decoded - 1) == 0);
	WH_ASSERT(wh_record_encode(&record, again, decoded) == decoded);
	WH_ASSERT(memcmp(bytes, again, decoded) == 0);
	free(again);
	return 0;
}

static const struct wh_record seeds[] = {
	{.type = WH_RECORD_ENTRY,
		.entry = {.id = 1,
			.kind = WH_ENTRY_FILE,
			.content = WH_CONTENT_INLINE,
			.mode = 0644,
			.size_bytes = 5,
			.path = "a/b c",
			.path_bytes = 5,
			.inline_bytes = (const uint8_t *)"hello"}},
	{.type = WH_RECORD_ENTRY,
		.entry = {.kind = WH_ENTRY_LINK,
			.path = "link",
			.path_bytes = 4,
			.link = "../to",
			.link_bytes = 5}},
	{.type = WH_RECORD_ENTRY,
		.entry = {.kind = WH_ENTRY_FILE,
			.content = WH_CONTENT_ASK,
			.size_bytes = 1 << 20,
			.path = "big",
			.path_bytes = 3}},
	{.type = WH_RECORD_EXTENT, .extent = {.id = 3, .offset = 1 << 26, .bytes = 77}},
	{.type = WH_RECORD_FILE_END, .file_end = {.id = 3}},
	{.type = WH_RECORD_FILE_END, .file_end = {.id = 3, .error = 5, .doing = WH_DOING_READING}},
	{.type = WH_RECORD_SAME, .id = {.id = 4}},
	{.type = WH_RECORD_FAULT,
		.fault = {.error = 2, .doing = WH_DOING_OPENING, .path = "gone", .path_bytes = 4}},
	{.type = WH_RECORD_FINISH, .finish = {.entries = 9}},
	{.type = WH_RECORD_FOUND, .found = {.files = 3, .bytes = 7}},
	{.type = WH_RECORD_WANT, .want = {.id = 1}},
	{.type = WH_RECORD_WANT, .want = {.id = 1, .offset = 1 << 20, .resume = WH_RESUME_SPARSE}},
	{.type = WH_RECORD_HAVE, .have = {.id = 1}},
	{.type = WH_RECORD_BLOCKS,
		.blocks = {.id = 1,
			.first = 7,
			.count = 1,
			.digests = (const uint8_t *)"0123456789abcdef"}},
	{.type = WH_RECORD_OUTCOME, .outcome = {.id = 1, .status = WH_OUTCOME_SKIPPED}},
	{.type = WH_RECORD_OUTCOME,
		.outcome = {.status = WH_OUTCOME_FAILED, .error = 28, .doing = WH_DOING_WRITING}},
	{.type = WH_RECORD_COMMITTED, .committed = {.below = 8}},
	{.type = WH_RECORD_TOTALS, .totals = {.files = 2, .bytes = 9}},
	{.type = WH_RECORD_HELLO,
		.hello = {.version = WH_BUNDLE_VERSION,
			.verb = WH_JOB_GET,
			.lanes = 1,
			.paths = 3,
			.wishes = WH_CHOICES_ALL,
			.terms = 2,
			.path = {"a", "", "b/c", "-*.o", "+[a-c]**"},
			.path_bytes = {1, 0, 3, 4, 8}}},
	{.type = WH_RECORD_HELLO,
		.hello = {.version = WH_BUNDLE_VERSION, .verb = WH_JOB_IDLE, .lanes = 1}},
	{.type = WH_RECORD_REFUSED, .refused = {.error = 13, .text = "no", .text_bytes = 2}},
	{.type = WH_RECORD_READY,
		.ready = {.queues = 1,
			.ports = 2,
			.addresses = (const uint8_t[2 * WH_READY_ADDRESS_BYTES]){4, 1}}},
	{.type = WH_RECORD_REPORT, .report = {.elapsed_ns = 1}},
	{.type = WH_RECORD_WAITS, .waits = {.worked = 7, .rate_bps = 8, .waits = 1}},
	{.type = WH_RECORD_HELLO,
		.hello = {.version = WH_BUNDLE_VERSION,
			.verb = WH_JOB_MOVE,
			.lanes = 1,
			.paths = 2,
			.path = {"a", "b"},
			.path_bytes = {1, 1}}},
	{.type = WH_RECORD_ITEM,
		.item = {.bytes = 5,
			.mode = 0644,
			.kind = WH_ITEM_LINK,
			.matched = 1,
			.path = "a/b",
			.path_bytes = 3,
			.link = "../c",
			.link_bytes = 4}},
	{.type = WH_RECORD_ITEM, .item = {.kind = WH_ITEM_FOLDER, .path = ".", .path_bytes = 1}},
	{.type = WH_RECORD_TALLY, .tally = {.items = 3, .faults = 1}},
	{.type = WH_RECORD_PING, .ping = {.sequence = 9}},
	{.type = WH_RECORD_ORDER,
		.order = {.token = {1},
			.host_bytes = 4,
			.path_bytes = 1,
			.rate_bytes = 3,
			.words_bytes = 2,
			.wish = WH_WISH_PAUSE,
			.priority = 5,
			.host = "dtn3",
			.path = "a",
			.rate = "max",
			.words = "[]"}},
	{.type = WH_RECORD_STATUS,
		.order_status = {.number = 7,
			.state = WH_ORDER_STATUS_FAILED,
			.status = 23,
			.why = "no",
			.why_bytes = 2}},
};

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	if (number >= sizeof(seeds) / sizeof(seeds[0]))
		return 0;
	return wh_record_encode(&seeds[number], bytes, room);
}

static uint64_t any_value(struct wh_prng *prng, const struct wh_record_field *field)
{
	uint64_t most = record_most(field);

	switch (wh_prng_below(prng, 8)) {
	case 0:
		return field->least - 1;
	case 1:
	case 2:
		return field->least;
	case 3:
		return field->least + 1;
	case 4:
		return most - 1;
	case 5:
		return most;
	case 6:
		return most + 1;
	default:
		return wh_prng_u64(prng) >> wh_prng_below(prng, 64);
	}
}

/* Fields at their limits or next to them, the rest made to agree; a length that is nearly right. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static uint8_t made[RECORD_ROOM];
	uint32_t type = (uint32_t)wh_prng_below(prng, RECORD_TYPES);
	const struct wh_record_shape *shape = wh_record_shape(type);

	while (shape == NULL) {
		type = (uint32_t)wh_prng_below(prng, RECORD_TYPES);
		shape = wh_record_shape(type);
	}
	record_begin(made, type);
	record_settle(made, type, NULL);
	for (uint64_t left = wh_prng_below(prng, 4); left > 0; left--) {
		const struct wh_record_field *field =
			&shape->fields[wh_prng_below(prng, shape->count)];

		if (field->bytes <= sizeof(uint64_t))
			record_put(made, field, any_value(prng, field));
		if (wh_prng_below(prng, 4) > 0)
			record_settle(made, type, field);
	}

	uint32_t length = record_finish(made, type);
	uint32_t told = length + 8 * (uint32_t)wh_prng_below(prng, 3) - 8;

	if (wh_prng_below(prng, 16) == 0)
		memcpy(made, &told, sizeof(told));
	if (wh_prng_below(prng, 16) == 0)
		made[wh_prng_below(prng, length)] = (uint8_t)wh_prng_u64(prng);
	if (length > room)
		length = (uint32_t)room;
	memcpy(bytes, made, length);
	return length;
}

void wh_fuzz_report(void)
{
	printf("records taken, by type:");
	for (uint32_t type = 0; type < RECORD_TYPES; type++)
		if (wh_record_shape(type) != NULL)
			printf(" %" PRIu32 ": %" PRIu64, type, taken[type]);
	printf("\n%" PRIu64 " refused\n", refused);
}
