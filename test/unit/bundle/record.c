/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/record.h"
#include "bundle/waits.h"
#include "file/blocks.h"

#include "unit.h"

const char wh_suite_name[] = "record";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A string literal with bytes of any value, and its length. */
#define BYTES(literal) (const uint8_t *)(literal), sizeof(literal) - 1

#define DIGEST_BYTES "\xd0\xd1\xd2\xd3\xd4\xd5\xd6\xd7\xd8\xd9\xda\xdb\xdc\xdd\xde\xdf"

/* Of 8 bytes, given the first; and three that are 0. */
#define NUMBER(byte) byte "\0\0\0\0\0\0\0"
#define ZEROS_64     ZEROS ZEROS NUMBER("\0") NUMBER("\0")
#define ZEROS        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

#define ID            UINT64_C(0x0807060504030201)
#define ID_BYTES      "\x01\x02\x03\x04\x05\x06\x07\x08"
#define NEXT_ID_BYTES "\x02\x02\x03\x04\x05\x06\x07\x08"

struct sample {
	const char *what;
	struct wh_record record;
	const uint8_t *bytes;
	size_t length;
};

static const struct sample samples[] = {
	{"file with its bytes",
		{.type = WH_RECORD_ENTRY,
			.entry = {.id = ID,
				.kind = WH_ENTRY_FILE,
				.content = WH_CONTENT_INLINE,
				.mode = 04755,
				.mtime_ns = 999999999,
				.mtime_s = -2,
				.size_bytes = 3,
				.uid = 7,
				.gid = 8,
				.xattr_bytes = 3,
				.xattrs = (const uint8_t *)"\x01\0",
				.path = "d/f",
				.path_bytes = 3,
				.inline_bytes = (const uint8_t *)"xyz"}},
		BYTES("\x68\0\0\0\x01\0\0\0" ID_BYTES "\xfe\xff\xff\xff\xff\xff\xff\xff"
		      "\x03\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\xff\xc9\x9a\x3b\xed\x09\x03\0"
		      "\0\0\x01\x01\0\0\0\0"
		      "\x07\0\0\0\x08\0\0\0\x03\0\0\0"
		      "\0\0\0\0" NUMBER("\0") NUMBER("\0") "d/f\x01\0\0xyz\0\0\0\0\0\0\0")},
	{"link",
		{.type = WH_RECORD_ENTRY,
			.entry = {.id = 0,
				.kind = WH_ENTRY_LINK,
				.mode = 0777,
				.path = "l",
				.path_bytes = 1,
				.link = "../../x",
				.link_bytes = 7}},
		BYTES("\x60\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\xff\x01\x01\0\x07\0\x03\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0" NUMBER("\0") NUMBER("\0") "l../../x")},
	{"file to be asked for",
		{.type = WH_RECORD_ENTRY,
			.entry = {.id = 1,
				.kind = WH_ENTRY_FILE,
				.content = WH_CONTENT_ASK,
				.size_bytes = INT64_MAX,
				.hole_bytes = INT64_MAX - 1,
				.inode = 5,
				.ctime_s = -1,
				.ctime_ns = 6,
				.path = "12345678",
				.path_bytes = 8}},
		BYTES("\x60\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\xff\xff\xff\xff\xff\xff\xff\x7f\xfe\xff\xff\xff\xff\xff\xff\x7f"
		      "\0\0\0\0\0\0\x08\0\0\0\x01\x02\0\0\0\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0\x06\0\0\0" NUMBER(
			      "\x05") "\xff\xff\xff\xff\xff\xff\xff\xff"
				      "12345678")},
	{"part of a file",
		{.type = WH_RECORD_ENTRY,
			.entry = {.id = 1,
				.kind = WH_ENTRY_FILE,
				.content = WH_CONTENT_SEGMENT,
				.size_bytes = 1 << 30,
				.split = 0x01020304,
				.path = "12345678",
				.path_bytes = 8}},
		BYTES("\x60\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\x08\0\0\0\x01\x04\x04\x03\x02\x01"
		      "\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0" NUMBER("\0") NUMBER("\0") "12345678")},
	{"extent",
		{.type = WH_RECORD_EXTENT,
			.extent = {.id = ID,
				.offset = UINT64_C(1) << 40,
				.bytes = 64 << 20,
				.digest = {DIGEST_BYTES}}},
		BYTES("\x30\0\0\0\x02\0\0\0" ID_BYTES
		      "\0\0\0\0\0\x01\0\0\0\0\0\x04\0\0\0\0" DIGEST_BYTES)},
	{"end of a file",
		{.type = WH_RECORD_FILE_END, .file_end = {.id = ID, .digest = {DIGEST_BYTES}}},
		BYTES("\x28\0\0\0\x03\0\0\0" ID_BYTES DIGEST_BYTES "\0\0\0\0\0\0\0\0")},
	{"failed file",
		{.type = WH_RECORD_FILE_END,
			.file_end = {.id = 1, .error = 4095, .doing = WH_DOING_KIND}},
		BYTES("\x28\0\0\0\x03\0\0\0\x01\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\x0f\0\0\x0d\0\0\0")},
	{"same", {.type = WH_RECORD_SAME, .id = {.id = ID}},
		BYTES("\x10\0\0\0\x04\0\0\0" ID_BYTES)},
	{"fault",
		{.type = WH_RECORD_FAULT,
			.fault = {.error = 21,
				.doing = WH_DOING_OPENING,
				.path = "/",
				.path_bytes = 1}},
		BYTES("\x10\0\0\0\x05\0\0\0\x15\0\0\0\x01\0\x01/")},
	{"finish", {.type = WH_RECORD_FINISH, .finish = {.entries = ID, .left_out = {1, 2, 3, 4}}},
		BYTES("\x30\0\0\0\x06\0\0\0" ID_BYTES "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
		      "\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0")},
	{"found", {.type = WH_RECORD_FOUND, .found = {.files = ID, .bytes = 5}},
		BYTES("\x18\0\0\0\x07\0\0\0" ID_BYTES NUMBER("\x05"))},
	{"want", {.type = WH_RECORD_WANT, .want = {.id = ID}},
		BYTES("\x38\0\0\0\x10\0\0\0" ID_BYTES NUMBER("\0") NUMBER("\0") NUMBER("\0")
				NUMBER("\0") NUMBER("\0"))},
	{"want what is behind",
		{.type = WH_RECORD_WANT, .want = {.id = ID, .offset = WH_INLINE_BYTES_MAX}},
		BYTES("\x38\0\0\0\x10\0\0\0" ID_BYTES "\0\0\x04\0\0\0\0\0" NUMBER("\0") NUMBER("\0")
				NUMBER("\0") NUMBER("\0"))},
	{"want the rest",
		{.type = WH_RECORD_WANT,
			.want = {.id = ID,
				.offset = 1 << 20,
				.digest = {DIGEST_BYTES},
				.seed = 5,
				.resume = WH_RESUME_FULL}},
		BYTES("\x38\0\0\0\x10\0\0\0" ID_BYTES
		      "\0\0\x10\0\0\0\0\0" DIGEST_BYTES NUMBER("\x05") NUMBER("\x03"))},
	{"have", {.type = WH_RECORD_HAVE, .have = {.id = ID, .digest = {DIGEST_BYTES}}},
		BYTES("\x20\0\0\0\x11\0\0\0" ID_BYTES DIGEST_BYTES)},
	{"blocks",
		{.type = WH_RECORD_BLOCKS,
			.blocks = {.id = ID,
				.first = WH_BLOCKS_MAX - 1,
				.count = 2,
				.digests = (const uint8_t *)"0123456789abcdefFEDCBA9876543210"}},
		BYTES("\x38\0\0\0\x15\0\0\0" ID_BYTES "\xff\xff\x03\0\x02\0\0\0"
		      "0123456789abcdefFEDCBA9876543210")},
	{"outcome",
		{.type = WH_RECORD_OUTCOME,
			.outcome = {.id = ID,
				.status = WH_OUTCOME_FAILED,
				.error = 28,
				.doing = WH_DOING_RESERVING}},
		BYTES("\x18\0\0\0\x12\0\0\0" ID_BYTES "\x1c\0\0\0\x02\x05\0\0")},
	{"committed", {.type = WH_RECORD_COMMITTED, .committed = {.below = UINT64_MAX}},
		BYTES("\x10\0\0\0\x13\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff")},
	{"totals",
		{.type = WH_RECORD_TOTALS,
			.totals = {.files = ID,
				.skipped = 1,
				.failed = 2,
				.bytes = 3,
				.resumed_bytes = 4,
				.sampled_bytes = 7,
				.began_again = 5,
				.removed = 6}},
		BYTES("\x48\0\0\0\x14\0\0\0" ID_BYTES "\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0"
		      "\x03\0\0\0\0\0\0\0" NUMBER("\x04") NUMBER("\x07") NUMBER("\x05")
				NUMBER("\x06"))},
	{"hello, get",
		{.type = WH_RECORD_HELLO,
			.hello = {.version = WH_BUNDLE_VERSION,
				.verb = WH_JOB_GET,
				.recursive = true,
				.profile = 2,
				.lane = 1,
				.lanes = 0x0304,
				.payload_bytes = 1408,
				.as_name = true,
				.fec_code = 2,
				.fec_k = 128,
				.fec_r = 4,
				.options = 0x8002,
				.resume = WH_RESUME_SPARSE,
				.ports = 3,
				.option = {[1] = ID, [15] = ID + 1},
				.rate_bps = UINT64_MAX,
				.reply = ID,
				.transfer = ID + 1,
				.paths = 2,
				.wishes = 5,
				.terms = 1,
				.path = {"a/b", "", "-*.o"},
				.path_bytes = {3, 0, 4}}},
		BYTES("\xe0\0\0\0\x20\0\0\0\x0f\x02\x01\0\0\x02\x02\0" ID_BYTES "\x01\0\x04\x03"
		      "\x80\x05\0\0\x01\x02\x80\x04\x02\x80\x02\x03\xff\xff\xff\xff\xff\xff\xff"
		      "\xff" NEXT_ID_BYTES "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0" ID_BYTES ZEROS ZEROS ZEROS ZEROS
		      "\0\0\0\0\0\0\0\0" NEXT_ID_BYTES
		      "\x05\0\0\0\x01\0\0\0\x03\0\0\0\x04\0a/b-*.o\0\0\0")},
	{"hello, bench",
		{.type = WH_RECORD_HELLO,
			.hello = {.version = WH_BUNDLE_VERSION,
				.verb = WH_JOB_BENCH,
				.reverse = true,
				.lanes = 1,
				.bench_ns = ID,
				.bench_bytes = 5}},
		BYTES("\xd0\0\0\0\x20\0\0\0\x0f\x03\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0" ID_BYTES "\x05\0\0\0\0\0\0\0" ZEROS_64 ZEROS_64
		      "\0\0\0\0\0\0\0\0")},
	{"hello, send",
		{.type = WH_RECORD_HELLO,
			.hello = {.version = WH_BUNDLE_VERSION,
				.verb = WH_JOB_SEND,
				.into_folder = true,
				.lanes = 1,
				.paths = 1,
				.path = {"."},
				.path_bytes = {1}}},
		BYTES("\xd8\0\0\0\x20\0\0\0\x0f\x01\0\x01\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0" ZEROS_64 ZEROS_64 "\0\0\0\0\0\0\0\0"
		      "\x01\0.\0\0\0\0\0")},
	{"refused",
		{.type = WH_RECORD_REFUSED,
			.refused = {.error = 13, .text = "go away", .text_bytes = 7}},
		BYTES("\x18\0\0\0\x21\0\0\0\x0d\0\0\0\x07\0go away\0\0\0")},
	{"ready",
		{.type = WH_RECORD_READY,
			.ready = {.queues = 0x0102,
				.keeps = 3,
				.ports = 1,
				.addresses = (const uint8_t *)"\x04\xc0\0\x02\x01\0\0\0\0\0\0"
							      "\0\0\0\0\0\0"}},
		BYTES("\x20\0\0\0\x22\0\0\0\x02\x01\0\x03\x01\x04\xc0\0\x02\x01\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0")},
	{"item",
		{.type = WH_RECORD_ITEM,
			.item = {.bytes = ID,
				.used_bytes = 4096,
				.entries = 2,
				.mtime_s = -1,
				.mtime_ns = 999999999,
				.uid = 7,
				.gid = 8,
				.mode = 0755,
				.given = 3,
				.kind = WH_ITEM_LINK,
				.matched = 1,
				.path = "a/b",
				.path_bytes = 3,
				.link = "xy",
				.link_bytes = 2}},
		BYTES("\x48\0\0\0\x28\0\0\0" ID_BYTES "\0\x10\0\0\0\0\0\0" NUMBER(
			"\x02") "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xc9\x9a\x3b\x07\0\0\0\x08"
				"\0\0\0\xed\x01\x03\0\x03\0\x02\0\x03\x01"
				"a/bxy\0\0\0\0\0")},
	{"tally", {.type = WH_RECORD_TALLY, .tally = {.items = ID, .faults = 1, .done = 2}},
		BYTES("\x20\0\0\0\x29\0\0\0" ID_BYTES NUMBER("\x01") NUMBER("\x02"))},
	{"ping", {.type = WH_RECORD_PING, .ping = {.sequence = ID}},
		BYTES("\x10\0\0\0\x2a\0\0\0" ID_BYTES)},
	{"order",
		{.type = WH_RECORD_ORDER,
			.order = {.token = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
				.number = ID,
				.host_bytes = 4,
				.path_bytes = 1,
				.rate_bytes = 3,
				.words_bytes = 2,
				.wish = WH_WISH_CANCEL,
				.priority = 9,
				.host = "dtn3",
				.path = "a",
				.rate = "max",
				.words = "[]"}},
		BYTES("\x38\0\0\0\x2b\0\0\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d"
		      "\x0e\x0f\x10" ID_BYTES "\x04\0\x01\0\x03\0\x02\0\x02\x09"
		      "dtn3amax[]\0\0\0\0")},
	{"order_status",
		{.type = WH_RECORD_STATUS,
			.order_status = {.number = 7,
				.files = 1,
				.skipped = 2,
				.failed = 3,
				.bytes = ID,
				.moved_bytes = 5,
				.run_ns = 6,
				.why_bytes = 2,
				.state = WH_ORDER_STATUS_FAILED,
				.status = 23,
				.why = "no"}},
		BYTES("\x48\0\0\0\x2c\0\0\0" NUMBER("\x07") NUMBER("\x01") NUMBER("\x02") NUMBER(
			"\x03") ID_BYTES NUMBER("\x05") NUMBER("\x06") "\x02\0\x05\x17no\0\0")},
	{"report", {.type = WH_RECORD_REPORT, .report = {ID, 1, 2, 3, 4, 5, 6, 7, 8}},
		BYTES("\x50\0\0\0\x23\0\0\0" ID_BYTES NUMBER("\x01") NUMBER("\x02") NUMBER("\x03")
				NUMBER("\x04") NUMBER("\x05") NUMBER("\x06") NUMBER("\x07")
					NUMBER("\x08"))},
	{"waits",
		{.type = WH_RECORD_WAITS,
			.waits = {.worked = 7, .rate_bps = 9, .waits = WH_WAITS_LANES}},
		BYTES("\x20\0\0\0\x24\0\0\0" NUMBER("\x07") NUMBER("\x09") "\x07\0\0\0\0\0\0\0")},
};

static const struct sample *sample_of(const char *what)
{
	for (size_t i = 0; i < COUNT(samples); i++)
		if (strcmp(samples[i].what, what) == 0)
			return &samples[i];
	CU_FAIL_FATAL("no such sample");
	return NULL;
}

/* From a block of exactly that size, so that a sanitizer sees any byte read beyond. */
static uint32_t decode_exact(const uint8_t *bytes, size_t length, struct wh_record *record)
{
	static uint8_t *copy;

	free(copy);
	copy = malloc(length + (length == 0));
	memcpy(copy, bytes, length);
	return wh_record_decode(copy, length, record);
}

static void encodes(void)
{
	uint8_t bytes[256];

	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct sample *s = &samples[i];

		memset(bytes, 0xee, sizeof(bytes));
		CU_ASSERT_EQUAL(wh_record_bytes(&s->record), s->length);
		CU_ASSERT_EQUAL(wh_record_encode(&s->record, bytes, s->length - 1), 0);
		CU_ASSERT_EQUAL(bytes[0], 0xee);
		CU_ASSERT_EQUAL(wh_record_encode(&s->record, bytes, s->length), s->length);
		CU_ASSERT_EQUAL(memcmp(bytes, s->bytes, s->length), 0);
		CU_ASSERT_EQUAL(bytes[s->length], 0xee);
	}
}

/* The bytes are pinned above: when they come out again, no field was lost. */
static void round_trip(void)
{
	static struct wh_record record;
	uint8_t again[256];

	for (size_t i = 0; i < COUNT(samples); i++) {
		const struct sample *s = &samples[i];

		memset(&record, 0xdd, sizeof(record));
		CU_ASSERT_EQUAL_FATAL(decode_exact(s->bytes, s->length, &record), s->length);
		CU_ASSERT_EQUAL(record.type, s->record.type);
		CU_ASSERT_EQUAL(wh_record_encode(&record, again, sizeof(again)), s->length);
		CU_ASSERT_EQUAL(memcmp(again, s->bytes, s->length), 0);
	}
}

static void texts_in_place(void)
{
	const struct sample *s = sample_of("file with its bytes");
	struct wh_record record;
	uint8_t bytes[256];

	memcpy(bytes, s->bytes, s->length);
	memset(bytes + s->length, 0xee, sizeof(bytes) - s->length);
	CU_ASSERT_EQUAL_FATAL(wh_record_decode(bytes, sizeof(bytes), &record), 104);
	CU_ASSERT_EQUAL(record.entry.mtime_s, -2);
	CU_ASSERT_PTR_EQUAL(record.entry.path, bytes + 88);
	CU_ASSERT_PTR_EQUAL(record.entry.xattrs, bytes + 91);
	CU_ASSERT_PTR_EQUAL(record.entry.inline_bytes, bytes + 94);
	CU_ASSERT_EQUAL(wh_entry_content_at(&record.entry), 94);

	s = sample_of("hello, get");
	CU_ASSERT_EQUAL_FATAL(wh_record_decode(s->bytes, s->length, &record), 224);
	CU_ASSERT_PTR_EQUAL(record.hello.path[0], s->bytes + 214);
	CU_ASSERT_PTR_EQUAL(record.hello.path[1], s->bytes + 217);
	CU_ASSERT(record.hello.recursive && !record.hello.into_folder);
}

/* Content that is already where it belongs stays there. */
static void content_in_place(void)
{
	const struct sample *s = sample_of("file with its bytes");
	struct wh_record record = s->record;
	uint8_t bytes[104];

	memset(bytes, 0xee, sizeof(bytes));
	memcpy(bytes + wh_entry_content_at(&record.entry), "xyz", 3);
	record.entry.inline_bytes = bytes + wh_entry_content_at(&record.entry);
	CU_ASSERT_EQUAL(wh_record_encode(&record, bytes, sizeof(bytes)), 104);
	CU_ASSERT_EQUAL(memcmp(bytes, s->bytes, 104), 0);
}

/* A good record with `width` bytes at `offset` replaced. */
static const struct malformed {
	const char *what;
	const char *sample;
	uint8_t offset;
	uint8_t width;
	uint64_t value;
} malformed[] = {
	{"length 0", "same", 0, 4, 0},
	{"length of a head", "same", 0, 4, 8},
	{"length less", "file with its bytes", 0, 4, 80},
	{"length more", "same", 0, 4, 24},
	{"length beyond", "same", 0, 4, UINT32_MAX},
	{"length not by eight", "file with its bytes", 0, 4, 54},
	{"type 0", "same", 4, 2, 0},
	{"type 7", "same", 4, 2, 7},
	{"type 15", "same", 4, 2, 15},
	{"type 21", "same", 4, 2, 21},
	{"type 36", "same", 4, 2, 36},
	{"type 65535", "same", 4, 2, 65535},
	{"head's zero", "same", 6, 2, 1},
	{"no identifier", "file with its bytes", 8, 8, UINT64_MAX},
	{"size", "file to be asked for", 24, 8, UINT64_C(1) << 63},
	{"more holes than bytes", "file to be asked for", 24, 8, 9},
	{"holes in what came whole", "file with its bytes", 32, 8, 1},
	{"a second of nanoseconds", "file with its bytes", 40, 4, 1000000000},
	{"mode", "file with its bytes", 44, 2, 010000},
	{"no path", "file with its bytes", 46, 2, 0},
	{"path of 4096", "file with its bytes", 46, 2, 4096},
	{"path and all", "file with its bytes", 46, 2, 7},
	{"kind 0", "file with its bytes", 50, 1, 0},
	{"kind 4, without a text", "file with its bytes", 50, 1, 4},
	{"kind 4, of a path that leads out", "link", 50, 1, 4},
	{"kind 5, with a text", "link", 50, 1, 5},
	{"kind 5, with content", "file with its bytes", 50, 1, 5},
	{"kind 6", "link", 50, 1, 6},
	{"attributes and all", "file with its bytes", 64, 4, 7681},
	{"head without a number", "file to be asked for", 51, 1, 3},
	{"file with a number", "part of a file", 51, 1, 2},
	{"part without a number", "part of a file", 52, 4, 0},
	{"a stream of a size", "part of a file", 51, 1, 5},
	{"content 6", "part of a file", 51, 1, 6},
	{"file without content", "file to be asked for", 51, 1, 0},
	{"inline and huge", "file to be asked for", 51, 1, 1},
	{"inline and empty", "file with its bytes", 24, 8, 0},
	{"folder with content", "file with its bytes", 50, 1, 2},
	{"file with a link", "link", 50, 1, 1},
	{"folder with a link", "link", 50, 1, 2},
	{"link without text", "link", 48, 2, 0},
	{"link of 4096", "link", 48, 2, 4096},
	{"a second of nanoseconds of change", "file to be asked for", 68, 4, 1000000000},
	{"link's text with a NUL", "link", 90, 1, 0},
	{"link with content", "link", 24, 8, 1},
	{"link with a number", "link", 52, 4, 1},
	{"path with a NUL", "file with its bytes", 88, 1, 0},
	{"absolute path", "file with its bytes", 88, 1, '/'},
	{"path that ends in /", "file with its bytes", 90, 1, '/'},
	{"path with .", "file with its bytes", 88, 1, '.'},
	{"padding", "file with its bytes", 103, 1, 1},
	{"padding, first", "file with its bytes", 97, 1, 1},
	{"extent's identifier", "extent", 8, 8, UINT64_MAX},
	{"extent beyond", "extent", 16, 8, INT64_MAX - (64 << 20) + 1},
	{"extent's offset", "extent", 16, 8, UINT64_C(1) << 63},
	{"extent of nothing", "extent", 24, 8, 0},
	{"extent too large", "extent", 24, 8, (64 << 20) + 1},
	{"end with an error only", "end of a file", 32, 4, 5},
	{"end with a doing only", "end of a file", 36, 1, 1},
	{"end's error", "failed file", 32, 4, 4096},
	{"end's error below 0", "failed file", 32, 4, UINT32_MAX},
	{"end's doing", "failed file", 36, 1, 14},
	{"end's zero", "failed file", 37, 1, 1},
	{"end's zeros", "failed file", 38, 2, 0x100},
	{"same nobody", "same", 8, 8, UINT64_MAX},
	{"fault without error", "fault", 8, 4, 0},
	{"fault without path", "fault", 12, 2, 0},
	{"fault's path of 4096", "fault", 12, 2, 4096},
	{"fault doing nothing", "fault", 14, 1, 0},
	{"fault's doing", "fault", 14, 1, WH_DOINGS},
	{"fault's path with a NUL", "fault", 15, 1, 0},
	{"want nobody", "want", 8, 8, UINT64_MAX},
	{"want the rest of nothing", "want", 16, 8, 1},
	{"want it all, proved", "want", 48, 1, WH_RESUME_FULL},
	{"want the rest, unproved", "want the rest", 48, 1, WH_RESUME_OFF},
	{"want the rest, without a digest", "want the rest", 48, 1, WH_RESUME_ATTRIBUTES},
	{"want the rest, otherwise", "want the rest", 48, 1, WH_RESUMES},
	{"have nobody", "have", 8, 8, UINT64_MAX},
	{"outcome of nobody", "outcome", 8, 8, UINT64_MAX},
	{"outcome 0", "outcome", 20, 1, 0},
	{"outcome 3", "outcome", 20, 1, 3},
	{"skipped with an error", "outcome", 20, 1, 1},
	{"failed without one", "outcome", 16, 4, 0},
	{"failed doing nothing", "outcome", 21, 1, 0},
	{"failed passing it over", "outcome", 21, 1, WH_DOING_PASSING},
	{"outcome's zero", "outcome", 22, 2, 1},
	{"version 0", "hello, get", 8, 1, 0},
	{"version 3", "hello, get", 8, 1, WH_BUNDLE_VERSION - 1},
	{"next version", "hello, get", 8, 1, WH_BUNDLE_VERSION + 1},
	{"verb 0", "hello, get", 9, 1, 0},
	{"verb 12", "hello, get", 9, 1, WH_JOB_ORDER + 1},
	{"order with terms", "hello, get", 9, 1, WH_JOB_ORDER},
	{"order without path", "hello, bench", 9, 1, WH_JOB_ORDER},
	{"order for nobody", "order", 32, 2, 0},
	{"order's wish", "order", 40, 1, WH_WISHES},
	{"order's priority", "order", 41, 1, 10},
	{"order's host with a NUL", "order", 42, 1, 0},
	{"order's words with a NUL", "order", 50, 1, 0},
	{"order's words too long", "order", 38, 2, 9},
	{"STATUS's state", "order_status", 66, 1, WH_ORDER_STATUSES},
	{"STATUS's why with a NUL", "order_status", 68, 1, 0},
	{"STATUS's why too long", "order_status", 64, 2, 7},
	{"remote operation with terms", "hello, get", 9, 1, WH_JOB_LIST},
	{"ping with a path", "hello, send", 9, 1, WH_JOB_PING},
	{"move of one path", "hello, send", 9, 1, WH_JOB_MOVE},
	{"list without path", "hello, bench", 9, 1, WH_JOB_LIST},
	{"item's kind", "item", 60, 1, WH_ITEM_OTHER + 1},
	{"item of a link without text", "item", 60, 1, WH_ITEM_FILE},
	{"item's match", "item", 61, 1, 2},
	{"item's path with a NUL", "item", 62, 1, 0},
	{"item above", "item", 62, 3, 0x2f2e2e},
	{"item's path too long", "item", 56, 2, 4},
	{"send with two paths", "hello, get", 9, 1, 1},
	{"bench with paths", "hello, get", 9, 1, 3},
	{"send without path", "hello, bench", 9, 1, 1},
	{"get without path", "hello, bench", 9, 1, 2},
	{"recursive 2", "hello, get", 10, 1, 2},
	{"into folder 2", "hello, get", 11, 1, 2},
	{"reverse 255", "hello, get", 12, 1, 255},
	{"three paths", "hello, get", 14, 2, 3},
	{"1025 paths", "hello, get", 14, 2, 1025},
	{"no lanes", "hello, bench", 26, 2, 0},
	{"lane 1 of 1", "hello, bench", 24, 2, 1},
	{"as name 2", "hello, get", 32, 1, 2},
	{"hello's resume", "hello, get", 38, 1, WH_RESUMES},
	{"hello's ports", "hello, get", 39, 1, WH_READY_PORTS_MAX + 1},
	{"ready, no port", "ready", 12, 1, 0},
	{"ready, too many ports", "ready", 12, 1, WH_READY_PORTS_MAX + 1},
	{"path's length", "hello, get", 208, 2, 5},
	{"path's length of 65535", "hello, get", 208, 2, 65535},
	{"wanted path with a NUL", "hello, get", 214, 1, 0},
	{"a wish that is none", "hello, get", 200, 4, WH_CHOICES_ALL + 1},
	{"two terms", "hello, get", 204, 4, 2},
	{"257 terms", "hello, get", 204, 4, WH_TERMS_MAX + 1},
	{"bench with wishes", "hello, bench", 200, 4, 1},
	{"refused without error", "refused", 8, 4, 0},
	{"refused without a word", "refused", 12, 2, 0},
	{"refused's padding", "refused", 21, 1, 1},
	{"NUL in the sentence", "refused", 14, 1, 0},
	{"no queue", "ready", 8, 2, 0},
	{"ready, as name 2", "ready", 10, 1, 2},
	{"ready, what nobody keeps", "ready", 11, 1, 32},
	{"ready's zeros", "ready", 30, 1, 1},
	{"waits for what there is not", "waits", 24, 1, WH_WAITS_COUNT},
	{"waits' zero", "waits", 25, 1, 1},
	{"waits' zeros of 16 bits", "waits", 26, 2, 1},
	{"waits' zeros of 32 bits", "waits", 28, 4, 1},
};

static void refuses(void)
{
	struct wh_record record;
	uint8_t bytes[256];

	for (size_t i = 0; i < COUNT(malformed); i++) {
		const struct malformed *m = &malformed[i];
		const struct sample *s = sample_of(m->sample);

		memcpy(bytes, s->bytes, s->length);
		CU_ASSERT_FATAL(memcmp(bytes + m->offset, &m->value, m->width) != 0);
		memcpy(bytes + m->offset, &m->value, m->width);
		if (decode_exact(bytes, s->length, &record) != 0)
			CU_FAIL(m->what);
	}
	CU_ASSERT_EQUAL(decode_exact(bytes, 0, &record), 0);
}

static void refuses_cut(void)
{
	struct wh_record record;

	for (size_t i = 0; i < COUNT(samples); i++)
		for (size_t length = 0; length < samples[i].length; length++)
			CU_ASSERT_EQUAL(decode_exact(samples[i].bytes, length, &record), 0);
}

static void largest(void)
{
	static struct wh_record record;
	const size_t room = WH_INLINE_BYTES_MAX + 88 + WH_PATH_BYTES_MAX + 1;
	uint8_t *bytes = malloc(room);
	uint8_t *content = calloc(1, WH_INLINE_BYTES_MAX);
	char path[WH_PATH_BYTES_MAX];

	memset(path, 'x', sizeof(path));
	record = (struct wh_record){.type = WH_RECORD_ENTRY,
		.entry = {.id = UINT64_MAX - 1,
			.kind = WH_ENTRY_FILE,
			.content = WH_CONTENT_INLINE,
			.mode = 07777,
			.mtime_s = INT64_MIN,
			.size_bytes = WH_INLINE_BYTES_MAX,
			.path = path,
			.path_bytes = sizeof(path),
			.inline_bytes = content}};
	CU_ASSERT_EQUAL(wh_record_encode(&record, bytes, room), room);
	CU_ASSERT_EQUAL(wh_record_decode(bytes, room, &record), room);
	CU_ASSERT_EQUAL(record.entry.mtime_s, INT64_MIN);

	/* Both texts at their longest fit into the smallest chunk. */
	record.entry.kind = WH_ENTRY_LINK;
	record.entry.content = WH_CONTENT_NONE;
	record.entry.size_bytes = 0;
	record.entry.path = record.entry.link = path;
	record.entry.link_bytes = sizeof(path);
	CU_ASSERT_EQUAL(wh_record_encode(&record, bytes, WH_BUNDLE_CHUNK_BYTES_MIN), 8280);

	record = (struct wh_record){.type = WH_RECORD_HELLO,
		.hello = {.version = WH_BUNDLE_VERSION,
			.verb = WH_JOB_GET,
			.lanes = UINT16_MAX,
			.paths = 1024}};
	for (uint32_t i = 0; i < 1024; i++) {
		record.hello.path[i] = path;
		record.hello.path_bytes[i] = 100;
	}
	CU_ASSERT_EQUAL(wh_record_encode(&record, bytes, room), 208 + 1024 * 102);
	CU_ASSERT_EQUAL(wh_record_decode(bytes, 208 + 1024 * 102, &record), 208 + 1024 * 102);
	CU_ASSERT_PTR_EQUAL(record.hello.path[1023], bytes + 208 + 2048 + 102300);
	free(bytes);
	free(content);
}

static void safe_paths(void)
{
	static const struct {
		const char *path;
		bool safe;
	} cases[] = {
		{"a", true},
		{"a/b", true},
		{"...", true},
		{"..a/.b/a..", true},
		{" ", true},
		{"a\nb/\xff\\", true},
		{"", false},
		{"/", false},
		{"/a", false},
		{"a/", false},
		{"a//b", false},
		{".", false},
		{"..", false},
		{"./a", false},
		{"../a", false},
		{"a/.", false},
		{"a/..", false},
		{"a/./b", false},
		{"a/../b", false},
	};
	char path[WH_PATH_BYTES_MAX + 1];

	for (size_t i = 0; i < COUNT(cases); i++)
		CU_ASSERT_EQUAL(
			wh_path_is_safe(cases[i].path, strlen(cases[i].path)), cases[i].safe);
	CU_ASSERT(!wh_path_is_safe("a\0b", 3));
	CU_ASSERT(!wh_path_is_safe("a\0", 2));
	CU_ASSERT(wh_path_is_safe("a/.", 1)); /* the length counts */
	memset(path, 'x', sizeof(path));
	CU_ASSERT(wh_path_is_safe(path, WH_PATH_BYTES_MAX));
	CU_ASSERT(!wh_path_is_safe(path, WH_PATH_BYTES_MAX + 1));
}

static void names(void)
{
	for (uint32_t i = 0; i < WH_DOINGS; i++)
		CU_ASSERT(strlen(wh_doing_name(i)) > 0);
	CU_ASSERT_STRING_EQUAL(wh_doing_name(WH_DOING_RESERVING), "reserving space");
	CU_ASSERT_STRING_EQUAL(wh_doing_name(WH_DOING_KIND), "looking at its kind");
	for (uint32_t i = 0; i < WH_DOINGS; i++)
		CU_ASSERT_EQUAL(wh_doing_forbidden(i) != NULL,
			i >= WH_DOING_COUNTING && i <= WH_DOING_SPARING);
}

/* Of any version, as far as it is the same for ever: then a server can say no. */
static void peek(void)
{
	static struct wh_record record = {.type = WH_RECORD_HELLO,
		.hello = {.version = WH_BUNDLE_VERSION,
			.verb = WH_JOB_IDLE,
			.lanes = 1,
			.reply = ID}};
	uint8_t bytes[208];
	uint8_t version;
	uint64_t reply;

	CU_ASSERT_EQUAL_FATAL(wh_record_encode(&record, bytes, sizeof(bytes)), sizeof(bytes));
	for (uint32_t other = 0; other < 256; other++) {
		bytes[8] = (uint8_t)other;
		reply = 0;
		CU_ASSERT(wh_hello_peek(bytes, sizeof(bytes), &version, &reply));
		CU_ASSERT_EQUAL(version, other);
		CU_ASSERT_EQUAL(reply, ID);
		CU_ASSERT_EQUAL(wh_record_decode(bytes, sizeof(bytes), &record) > 0,
			other == WH_BUNDLE_VERSION);
	}
	for (size_t length = 0; length < sizeof(bytes); length++)
		CU_ASSERT_EQUAL(wh_hello_peek(bytes, length, &version, &reply), length >= 24);
	bytes[0] = 16; /* shorter than what is fixed */
	CU_ASSERT(!wh_hello_peek(bytes, sizeof(bytes), &version, &reply));
	bytes[0] = 200;
	bytes[4] = WH_RECORD_READY;
	CU_ASSERT(!wh_hello_peek(bytes, sizeof(bytes), &version, &reply));
}

CU_TestInfo wh_tests[] = {
	{"encodes", encodes},
	{"round trip", round_trip},
	{"texts in place", texts_in_place},
	{"content in place", content_in_place},
	{"refuses", refuses},
	{"refuses what is cut", refuses_cut},
	{"largest", largest},
	{"safe paths", safe_paths},
	{"names", names},
	{"peek", peek},
	CU_TEST_INFO_NULL,
};
