/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/record_shape.h"

#include <assert.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "base/assert.h"
#include "bundle/waits.h"

#define RECORD_ALIGN 8

/* The largest errno that a Linux kernel returns. */
#define ERRNO_MAX 4095

/* Everything in front of texts and content, as it travels. */
struct wire_head {
	uint32_t length;
	uint16_t type;
	uint16_t zero;
};

struct wire_entry {
	struct wire_head head;
	uint64_t id;
	uint64_t mtime_s;
	uint64_t size_bytes;
	uint64_t hole_bytes;
	uint32_t mtime_ns;
	uint16_t mode;
	uint16_t path_bytes;
	uint16_t link_bytes;
	uint8_t kind;
	uint8_t content;
	uint32_t split;
};

struct wire_extent {
	struct wire_head head;
	uint64_t id;
	uint64_t offset;
	uint64_t bytes;
};

struct wire_file_end {
	struct wire_head head;
	uint64_t id;
	uint32_t error;
	uint8_t doing;
	uint8_t zero_8;
	uint16_t zero_16;
	struct wh_digest digest;
};

struct wire_u64 { /* SAME, WANT, COMMITTED */
	struct wire_head head;
	uint64_t value;
};

struct wire_finish {
	struct wire_head head;
	uint64_t entries;
	uint64_t owners;
	uint64_t set_ids;
	uint64_t xattrs;
	uint64_t hard_links;
};

struct wire_have {
	struct wire_head head;
	uint64_t id;
	struct wh_digest digest;
};

struct wire_fault {
	struct wire_head head;
	uint32_t error;
	uint16_t path_bytes;
	uint8_t doing;
	uint8_t zero;
};

struct wire_outcome {
	struct wire_head head;
	uint64_t id;
	uint32_t error;
	uint8_t status;
	uint8_t doing;
	uint16_t zero;
};

struct wire_totals {
	struct wire_head head;
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes;
};

/* Then the paths' lengths, 16 bits each, then the paths. */
struct wire_hello {
	struct wire_head head;
	uint8_t version;
	uint8_t verb;
	uint8_t recursive;
	uint8_t into_folder;
	uint8_t reverse;
	uint8_t profile;
	uint16_t paths;
	uint64_t reply;
	uint16_t lane;
	uint16_t lanes;
	uint32_t payload_bytes;
	uint8_t as_name;
	uint8_t fec_code;
	uint8_t fec_k;
	uint8_t fec_r;
	uint16_t options;
	uint16_t zero;
	uint64_t rate_bps;
	uint64_t transfer;
	uint64_t bench_ns;
	uint64_t bench_bytes;
	uint64_t option[WH_HELLO_OPTIONS_MAX];
};

struct wire_refused {
	struct wire_head head;
	uint32_t error;
	uint16_t text_bytes;
	uint16_t zero;
};

struct wire_ready {
	struct wire_head head;
	uint16_t queues;
	uint8_t as_name;
	uint8_t zero_8;
	uint32_t zero_32;
};

struct wire_report {
	struct wire_head head;
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t pkts;
	uint64_t duplicate_pkts;
	uint64_t bad_pkts;
	uint64_t lost_pkts;
	uint64_t dropped_pkts;
	uint64_t cycles;
};

struct wire_waits {
	struct wire_head head;
	uint64_t worked;
	uint8_t waits;
	uint8_t zero_8;
	uint16_t zero_16;
	uint32_t zero_32;
};

/* Members at multiples of their size leave no gaps, whose bytes nobody would look at. */
static_assert(sizeof(struct wire_head) == 8, "head");
static_assert(sizeof(struct wire_entry) == 56, "ENTRY");
static_assert(sizeof(struct wire_extent) == 32, "EXTENT");
static_assert(sizeof(struct wire_file_end) == 40, "FILE_END");
static_assert(sizeof(struct wire_u64) == 16, "SAME, WANT, COMMITTED");
static_assert(sizeof(struct wire_finish) == 48, "FINISH");
static_assert(sizeof(struct wire_have) == 32, "HAVE");
static_assert(sizeof(struct wire_fault) == 16, "FAULT");
static_assert(sizeof(struct wire_outcome) == 24, "OUTCOME");
static_assert(sizeof(struct wire_totals) == 40, "TOTALS");
static_assert(sizeof(struct wire_hello) == 200, "HELLO");
static_assert(sizeof(struct wire_refused) == 16, "REFUSED");

/* What wh_hello_peek and a client that is told no rely on, whatever the version. */
static_assert(offsetof(struct wire_hello, version) == 8, "fixed for ever");
static_assert(offsetof(struct wire_hello, reply) == 16, "fixed for ever");
static_assert(WH_RECORD_HELLO == 32 && WH_RECORD_REFUSED == 33, "fixed for ever");
static_assert(offsetof(struct wire_refused, error) == 8, "fixed for ever");
static_assert(offsetof(struct wire_refused, text_bytes) == 12, "fixed for ever");
static_assert(sizeof(struct wire_ready) == 16, "READY");
static_assert(sizeof(struct wire_report) == 72, "REPORT");
static_assert(sizeof(struct wire_waits) == 24, "WAITS");
static_assert(sizeof(struct wire_entry) + 2 * WH_PATH_BYTES_MAX + RECORD_ALIGN <=
		      WH_BUNDLE_CHUNK_BYTES_MIN,
	"every ENTRY fits into a chunk, its content apart");

#define SIZE(type, member) sizeof(((type *)NULL)->member)

/* The size of both, which must be the same. */
#define BYTES(wire, name, member)                                                                  \
	(SIZE(struct wire, name) +                                                                 \
		0 * sizeof(char[SIZE(struct wire, name) == SIZE(struct wh_record, member) ? 1      \
											  : -1]))

#define FIELD(wire, name, member, least, most)                                                     \
	{                                                                                          \
#name, offsetof(struct wire, name), offsetof(struct wh_record, member),            \
			BYTES(wire, name, member), least, most                                     \
	}
#define ANY(wire, name, member) FIELD(wire, name, member, 0, UINT64_MAX)
#define ZERO(wire, name)                                                                           \
	{                                                                                          \
#name, offsetof(struct wire, name), WH_RECORD_NOWHERE, SIZE(struct wire, name), 0, \
			0                                                                          \
	}

/* UINT64_MAX is no identifier, so that `below` can be above every one. */
#define ID_MAX (UINT64_MAX - 1)

static const struct wh_record_field entry_fields[] = {
	FIELD(wire_entry, id, entry.id, 0, ID_MAX),
	ANY(wire_entry, mtime_s, entry.mtime_s),
	FIELD(wire_entry, size_bytes, entry.size_bytes, 0, INT64_MAX),
	FIELD(wire_entry, hole_bytes, entry.hole_bytes, 0, INT64_MAX),
	FIELD(wire_entry, mtime_ns, entry.mtime_ns, 0, 999999999),
	FIELD(wire_entry, mode, entry.mode, 0, 07777),
	FIELD(wire_entry, path_bytes, entry.path_bytes, 1, WH_PATH_BYTES_MAX),
	FIELD(wire_entry, link_bytes, entry.link_bytes, 0, WH_PATH_BYTES_MAX),
	FIELD(wire_entry, kind, entry.kind, WH_ENTRY_FILE, WH_ENTRY_LINK),
	FIELD(wire_entry, content, entry.content, WH_CONTENT_NONE, WH_CONTENT_PART),
	ANY(wire_entry, split, entry.split),
};

static const struct wh_record_field extent_fields[] = {
	FIELD(wire_extent, id, extent.id, 0, ID_MAX),
	FIELD(wire_extent, offset, extent.offset, 0, INT64_MAX - 1),
	FIELD(wire_extent, bytes, extent.bytes, 1, WH_EXTENT_BYTES_MAX),
};

static const struct wh_record_field file_end_fields[] = {
	FIELD(wire_file_end, id, file_end.id, 0, ID_MAX),
	FIELD(wire_file_end, error, file_end.error, 0, ERRNO_MAX),
	FIELD(wire_file_end, doing, file_end.doing, 0, WH_DOING_KIND),
	ZERO(wire_file_end, zero_8),
	ZERO(wire_file_end, zero_16),
	ANY(wire_file_end, digest, file_end.digest),
};

static const struct wh_record_field id_fields[] = {
	FIELD(wire_u64, value, id.id, 0, ID_MAX),
};

static const struct wh_record_field finish_fields[] = {
	ANY(wire_finish, entries, finish.entries),
	ANY(wire_finish, owners, finish.left_out.owners),
	ANY(wire_finish, set_ids, finish.left_out.set_ids),
	ANY(wire_finish, xattrs, finish.left_out.xattrs),
	ANY(wire_finish, hard_links, finish.left_out.hard_links),
};

static const struct wh_record_field committed_fields[] = {
	ANY(wire_u64, value, committed.below),
};

static const struct wh_record_field have_fields[] = {
	FIELD(wire_have, id, have.id, 0, ID_MAX),
	ANY(wire_have, digest, have.digest),
};

static const struct wh_record_field fault_fields[] = {
	FIELD(wire_fault, error, fault.error, 1, ERRNO_MAX),
	FIELD(wire_fault, path_bytes, fault.path_bytes, 1, WH_PATH_BYTES_MAX),
	FIELD(wire_fault, doing, fault.doing, WH_DOING_NOTHING + 1, WH_DOINGS - 1),
	ZERO(wire_fault, zero),
};

static const struct wh_record_field outcome_fields[] = {
	FIELD(wire_outcome, id, outcome.id, 0, ID_MAX),
	FIELD(wire_outcome, error, outcome.error, 0, ERRNO_MAX),
	FIELD(wire_outcome, status, outcome.status, WH_OUTCOME_SKIPPED, WH_OUTCOME_FAILED),
	FIELD(wire_outcome, doing, outcome.doing, 0, WH_DOING_KIND),
	ZERO(wire_outcome, zero),
};

static const struct wh_record_field totals_fields[] = {
	ANY(wire_totals, files, totals.files),
	ANY(wire_totals, skipped, totals.skipped),
	ANY(wire_totals, failed, totals.failed),
	ANY(wire_totals, bytes, totals.bytes),
};

#define FOUR_OPTIONS(i)                                                                            \
	ANY(wire_hello, option[i], hello.option[i]),                                               \
		ANY(wire_hello, option[i + 1], hello.option[i + 1]),                               \
		ANY(wire_hello, option[i + 2], hello.option[i + 2]),                               \
		ANY(wire_hello, option[i + 3], hello.option[i + 3])

static const struct wh_record_field hello_fields[] = {
	FIELD(wire_hello, version, hello.version, WH_BUNDLE_VERSION, WH_BUNDLE_VERSION),
	FIELD(wire_hello, verb, hello.verb, WH_JOB_SEND, WH_JOB_IDLE),
	FIELD(wire_hello, recursive, hello.recursive, 0, 1),
	FIELD(wire_hello, into_folder, hello.into_folder, 0, 1),
	FIELD(wire_hello, reverse, hello.reverse, 0, 1),
	ANY(wire_hello, profile, hello.profile),
	FIELD(wire_hello, paths, hello.paths, 0, WH_HELLO_PATHS_MAX),
	FIELD(wire_hello, lane, hello.lane, 0, UINT16_MAX - 1),
	FIELD(wire_hello, lanes, hello.lanes, 1, UINT16_MAX),
	ANY(wire_hello, payload_bytes, hello.payload_bytes),
	FIELD(wire_hello, as_name, hello.as_name, 0, 1),
	ANY(wire_hello, fec_code, hello.fec_code),
	ANY(wire_hello, fec_k, hello.fec_k),
	ANY(wire_hello, fec_r, hello.fec_r),
	ANY(wire_hello, options, hello.options),
	ZERO(wire_hello, zero),
	FOUR_OPTIONS(0),
	FOUR_OPTIONS(4),
	FOUR_OPTIONS(8),
	FOUR_OPTIONS(12),
	ANY(wire_hello, rate_bps, hello.rate_bps),
	ANY(wire_hello, reply, hello.reply),
	ANY(wire_hello, transfer, hello.transfer),
	ANY(wire_hello, bench_ns, hello.bench_ns),
	ANY(wire_hello, bench_bytes, hello.bench_bytes),
};

static const struct wh_record_field refused_fields[] = {
	FIELD(wire_refused, error, refused.error, 1, ERRNO_MAX),
	FIELD(wire_refused, text_bytes, refused.text_bytes, 1, WH_PATH_BYTES_MAX),
	ZERO(wire_refused, zero),
};

static const struct wh_record_field ready_fields[] = {
	FIELD(wire_ready, queues, ready.queues, 1, UINT16_MAX),
	FIELD(wire_ready, as_name, ready.as_name, 0, 1),
	ZERO(wire_ready, zero_8),
	ZERO(wire_ready, zero_32),
};

static const struct wh_record_field report_fields[] = {
	ANY(wire_report, elapsed_ns, report.elapsed_ns),
	ANY(wire_report, bytes, report.bytes),
	ANY(wire_report, pkts, report.pkts),
	ANY(wire_report, duplicate_pkts, report.duplicate_pkts),
	ANY(wire_report, bad_pkts, report.bad_pkts),
	ANY(wire_report, lost_pkts, report.lost_pkts),
	ANY(wire_report, dropped_pkts, report.dropped_pkts),
	ANY(wire_report, cycles, report.cycles),
};

static const struct wh_record_field waits_fields[] = {
	ANY(wire_waits, worked, waits.worked),
	FIELD(wire_waits, waits, waits.waits, 0, WH_WAITS_COUNT - 1),
	ZERO(wire_waits, zero_8),
	ZERO(wire_waits, zero_16),
	ZERO(wire_waits, zero_32),
};

#define SHAPE(wire, fields)                                                                        \
	{                                                                                          \
		sizeof(struct wire), RTE_DIM(fields), fields                                       \
	}

/* By type; without fields: no such type. */
static const struct wh_record_shape shapes[] = {
	[WH_RECORD_ENTRY] = SHAPE(wire_entry, entry_fields),
	[WH_RECORD_EXTENT] = SHAPE(wire_extent, extent_fields),
	[WH_RECORD_FILE_END] = SHAPE(wire_file_end, file_end_fields),
	[WH_RECORD_SAME] = SHAPE(wire_u64, id_fields),
	[WH_RECORD_FAULT] = SHAPE(wire_fault, fault_fields),
	[WH_RECORD_FINISH] = SHAPE(wire_finish, finish_fields),
	[WH_RECORD_WANT] = SHAPE(wire_u64, id_fields),
	[WH_RECORD_HAVE] = SHAPE(wire_have, have_fields),
	[WH_RECORD_OUTCOME] = SHAPE(wire_outcome, outcome_fields),
	[WH_RECORD_COMMITTED] = SHAPE(wire_u64, committed_fields),
	[WH_RECORD_TOTALS] = SHAPE(wire_totals, totals_fields),
	[WH_RECORD_HELLO] = SHAPE(wire_hello, hello_fields),
	[WH_RECORD_REFUSED] = SHAPE(wire_refused, refused_fields),
	[WH_RECORD_READY] = SHAPE(wire_ready, ready_fields),
	[WH_RECORD_REPORT] = SHAPE(wire_report, report_fields),
	[WH_RECORD_WAITS] = SHAPE(wire_waits, waits_fields),
};

const struct wh_record_shape *wh_record_shape(uint32_t type)
{
	return type < RTE_DIM(shapes) && shapes[type].fields != NULL ? &shapes[type] : NULL;
}

const char *wh_doing_name(enum wh_doing doing)
{
	static const char *const names[] = {
		[WH_DOING_NOTHING] = "nothing",
		[WH_DOING_OPENING] = "opening",
		[WH_DOING_READING] = "reading",
		[WH_DOING_LISTING] = "listing the folder",
		[WH_DOING_CREATING] = "creating",
		[WH_DOING_RESERVING] = "reserving space",
		[WH_DOING_WRITING] = "writing",
		[WH_DOING_RENAMING] = "renaming",
		[WH_DOING_SYNCING] = "syncing",
		[WH_DOING_ATTRIBUTES] = "setting mode and times",
		[WH_DOING_CHANGED] = "reading (it changed meanwhile)",
		[WH_DOING_DIGEST] = "comparing digests",
		[WH_DOING_PATH] = "looking up the path",
		[WH_DOING_KIND] = "looking at its kind",
		[WH_DOING_PASSING] = "passing it over",
	};

	static_assert(RTE_DIM(names) == WH_DOINGS, "a name for each");
	WH_ASSERT((uint32_t)doing < WH_DOINGS);
	return names[doing];
}

/* A number of 1 to 8 bytes, little-endian on the wire, native in memory. */
static uint64_t load(const uint8_t *at, uint32_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, at, bytes);
	return value;
}

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "fields travel as they are in memory");

static bool has_nul(const char *text, size_t bytes)
{
	return memchr(text, '\0', bytes) != NULL;
}

bool wh_fibre_is_safe(const char *path, size_t path_bytes)
{
	const char *end = path + path_bytes;

	if (path_bytes == 0 || path_bytes > WH_PATH_BYTES_MAX || has_nul(path, path_bytes))
		return false;
	for (const char *name = path; name <= end;) {
		const char *slash = memchr(name, '/', (size_t)(end - name));
		size_t bytes = (size_t)((slash == NULL ? end : slash) - name);

		if (bytes == 0 || (bytes == 1 && name[0] == '.') ||
			(bytes == 2 && name[0] == '.' && name[1] == '.'))
			return false;
		name += bytes + 1;
	}
	return true;
}

/* The tables limit each field; these, what one field means for another, and the texts. */
static bool entry_holds(const struct wh_entry *entry)
{
	bool is_link = entry->kind == WH_ENTRY_LINK;

	if (!wh_fibre_is_safe(entry->path, entry->path_bytes))
		return false;
	if (is_link != (entry->link_bytes > 0))
		return false;
	if (is_link && has_nul(entry->link, entry->link_bytes))
		return false;
	if ((entry->size_bytes > 0) != (entry->content != WH_CONTENT_NONE))
		return false;
	if (entry->hole_bytes > (entry->content >= WH_CONTENT_ASK ? entry->size_bytes : 0))
		return false;
	if (entry->content == WH_CONTENT_INLINE && entry->size_bytes > WH_INLINE_BYTES_MAX)
		return false;
	if ((entry->content >= WH_CONTENT_HEAD) != (entry->split != 0))
		return false;
	return entry->kind == WH_ENTRY_FILE || entry->content == WH_CONTENT_NONE;
}

static bool hello_holds(const struct wh_hello *hello)
{
	for (uint32_t i = 0; i < hello->paths; i++)
		if (hello->path_bytes[i] > WH_PATH_BYTES_MAX ||
			has_nul(hello->path[i], hello->path_bytes[i]))
			return false;
	if (hello->lane >= hello->lanes)
		return false;
	if (hello->verb == WH_JOB_SEND)
		return hello->paths == 1;
	return (hello->verb == WH_JOB_GET) == (hello->paths > 0);
}

static bool holds(const struct wh_record *record)
{
	switch (record->type) {
	case WH_RECORD_ENTRY:
		return entry_holds(&record->entry);
	case WH_RECORD_EXTENT:
		return record->extent.offset <= INT64_MAX - record->extent.bytes;
	case WH_RECORD_FILE_END:
		return (record->file_end.error == 0) == (record->file_end.doing == 0);
	case WH_RECORD_FAULT:
		return !has_nul(record->fault.path, record->fault.path_bytes);
	case WH_RECORD_OUTCOME:
		return (record->outcome.error == 0) == (record->outcome.doing == 0) &&
		       (record->outcome.error == 0) ==
			       (record->outcome.status == WH_OUTCOME_SKIPPED);
	case WH_RECORD_HELLO:
		return hello_holds(&record->hello);
	case WH_RECORD_REFUSED:
		return !has_nul(record->refused.text, record->refused.text_bytes);
	default:
		return true;
	}
}

/* Texts and content; the fields that say how long they are have been read. */
static size_t rest_bytes(const struct wh_record *record)
{
	const struct wh_hello *hello = &record->hello;
	size_t bytes = 0;

	switch (record->type) {
	case WH_RECORD_ENTRY:
		bytes = (size_t)record->entry.path_bytes + record->entry.link_bytes;
		if (record->entry.content == WH_CONTENT_INLINE)
			bytes += record->entry.size_bytes;
		return bytes;
	case WH_RECORD_FAULT:
		return record->fault.path_bytes;
	case WH_RECORD_REFUSED:
		return record->refused.text_bytes;
	case WH_RECORD_HELLO:
		for (uint32_t i = 0; i < hello->paths; i++)
			bytes += sizeof(hello->path_bytes[0]) + hello->path_bytes[i];
		return bytes;
	default:
		return 0;
	}
}

static size_t with_padding(const struct wh_record *record)
{
	return RTE_ALIGN_CEIL(wh_record_shape(record->type)->wire_bytes + rest_bytes(record),
		(size_t)RECORD_ALIGN);
}

uint32_t wh_record_bytes(const struct wh_record *record)
{
	WH_ASSERT(wh_record_shape(record->type) != NULL);
	return (uint32_t)with_padding(record);
}

uint32_t wh_entry_content_at(const struct wh_entry *entry)
{
	return (uint32_t)sizeof(struct wire_entry) + entry->path_bytes + entry->link_bytes;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
	if (count > 0 && at != bytes)
		memcpy(at, bytes, count);
	return at + count;
}

static uint8_t *put_rest(const struct wh_record *record, uint8_t *at)
{
	const struct wh_hello *hello = &record->hello;

	switch (record->type) {
	case WH_RECORD_ENTRY:
		at = put(at, record->entry.path, record->entry.path_bytes);
		at = put(at, record->entry.link, record->entry.link_bytes);
		if (record->entry.content == WH_CONTENT_INLINE)
			at = put(at, record->entry.inline_bytes, record->entry.size_bytes);
		return at;
	case WH_RECORD_FAULT:
		return put(at, record->fault.path, record->fault.path_bytes);
	case WH_RECORD_REFUSED:
		return put(at, record->refused.text, record->refused.text_bytes);
	case WH_RECORD_HELLO:
		at = put(at, hello->path_bytes, hello->paths * sizeof(hello->path_bytes[0]));
		for (uint32_t i = 0; i < hello->paths; i++)
			at = put(at, hello->path[i], hello->path_bytes[i]);
		return at;
	default:
		return at;
	}
}

uint32_t wh_record_encode(const struct wh_record *record, uint8_t *bytes, size_t room)
{
	const struct wh_record_shape *shape = wh_record_shape(record->type);

	WH_ASSERT(shape != NULL && holds(record));

	size_t length = with_padding(record);

	if (length > room)
		return 0;

	struct wire_head head = {.length = (uint32_t)length, .type = (uint16_t)record->type};

	memcpy(bytes, &head, sizeof(head));
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct wh_record_field *field = &shape->fields[i];
		const uint8_t *member = (const uint8_t *)record + field->record_at;

		if (field->record_at == WH_RECORD_NOWHERE) {
			memset(bytes + field->wire_at, 0, field->bytes);
			continue;
		}
		WH_ASSERT(field->bytes > sizeof(uint64_t) ||
			  (load(member, field->bytes) >= field->least &&
				  load(member, field->bytes) <= field->most));
		memcpy(bytes + field->wire_at, member, field->bytes);
	}

	uint8_t *end = put_rest(record, bytes + shape->wire_bytes);

	memset(end, 0, (size_t)(bytes + length - end));
	return (uint32_t)length;
}

/* The fields within their limits; nothing behind them has been looked at. */
static bool take_fields(
	const struct wh_record_shape *shape, const uint8_t *bytes, struct wh_record *record)
{
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct wh_record_field *field = &shape->fields[i];

		if (field->bytes <= sizeof(uint64_t)) {
			uint64_t value = load(bytes + field->wire_at, field->bytes);

			if (value < field->least || value > field->most)
				return false;
		}
		if (field->record_at != WH_RECORD_NOWHERE)
			memcpy((uint8_t *)record + field->record_at, bytes + field->wire_at,
				field->bytes);
	}
	return true;
}

/* The lengths of the paths must be there before their sum can be. */
static bool take_path_lengths(const uint8_t *at, size_t left, struct wh_hello *hello)
{
	size_t bytes = hello->paths * sizeof(hello->path_bytes[0]);

	if (bytes > left)
		return false;
	memcpy(hello->path_bytes, at, bytes);
	return true;
}

static const uint8_t *take_rest(const uint8_t *at, struct wh_record *record)
{
	struct wh_entry *entry = &record->entry;
	struct wh_hello *hello = &record->hello;

	switch (record->type) {
	case WH_RECORD_ENTRY:
		entry->path = (const char *)at;
		entry->link = entry->path + entry->path_bytes;
		at += (size_t)entry->path_bytes + entry->link_bytes;
		entry->inline_bytes = at;
		return entry->content == WH_CONTENT_INLINE ? at + entry->size_bytes : at;
	case WH_RECORD_FAULT:
		record->fault.path = (const char *)at;
		return at + record->fault.path_bytes;
	case WH_RECORD_REFUSED:
		record->refused.text = (const char *)at;
		return at + record->refused.text_bytes;
	case WH_RECORD_HELLO:
		at += hello->paths * sizeof(hello->path_bytes[0]);
		for (uint32_t i = 0; i < hello->paths; i++) {
			hello->path[i] = (const char *)at;
			at += hello->path_bytes[i];
		}
		return at;
	default:
		return at;
	}
}

uint32_t wh_record_decode(const uint8_t *bytes, size_t length, struct wh_record *record)
{
	struct wire_head head;

	if (length < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));

	const struct wh_record_shape *shape = wh_record_shape(head.type);

	if (shape == NULL || head.zero != 0 || head.length > length ||
		head.length < shape->wire_bytes)
		return 0;
	record->type = (enum wh_record_type)head.type;
	if (!take_fields(shape, bytes, record))
		return 0;

	const uint8_t *rest = bytes + shape->wire_bytes;

	if (record->type == WH_RECORD_HELLO &&
		!take_path_lengths(rest, head.length - shape->wire_bytes, &record->hello))
		return 0;
	if (with_padding(record) != head.length)
		return 0;
	rest = take_rest(rest, record);
	for (; rest < bytes + head.length; rest++)
		if (*rest != 0)
			return 0;
	return holds(record) ? head.length : 0;
}

bool wh_hello_peek(const uint8_t *bytes, size_t length, uint8_t *version, uint64_t *reply)
{
	struct wire_head head;
	size_t end = offsetof(struct wire_hello, reply) + sizeof(*reply);

	if (length < end)
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.type != WH_RECORD_HELLO || head.length < end)
		return false;
	*version = bytes[offsetof(struct wire_hello, version)];
	memcpy(reply, bytes + offsetof(struct wire_hello, reply), sizeof(*reply));
	return true;
}
