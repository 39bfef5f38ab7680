/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: whatever decodes is within its limits and must encode to the same bytes. */
#include "bundle/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct wh_record record;
	uint32_t decoded = wh_record_decode(bytes, length, &record);

	if (decoded == 0)
		return 0;
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
	{.type = WH_RECORD_WANT, .id = {.id = 1}},
	{.type = WH_RECORD_HAVE, .have = {.id = 1}},
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
			.path = {"a", "", "b/c"},
			.path_bytes = {1, 0, 3}}},
	{.type = WH_RECORD_HELLO,
		.hello = {.version = WH_BUNDLE_VERSION, .verb = WH_JOB_IDLE, .lanes = 1}},
	{.type = WH_RECORD_REFUSED, .refused = {.error = 13, .text = "no", .text_bytes = 2}},
	{.type = WH_RECORD_READY, .ready = {.queues = 1}},
	{.type = WH_RECORD_REPORT, .report = {.elapsed_ns = 1}},
	{.type = WH_RECORD_WAITS, .waits = {.worked = 7, .waits = 1}},
};

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	if (number >= sizeof(seeds) / sizeof(seeds[0]))
		return 0;
	return wh_record_encode(&seeds[number], bytes, room);
}
