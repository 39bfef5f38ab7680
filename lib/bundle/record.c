/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/record_shape.h"

#include <assert.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>

#include "base/assert.h"
#include "bundle/waits.h"
#include "file/blocks.h"

#define RECORD_ALIGN 8

/* The largest errno that a Linux kernel returns. */
#define ERRNO_MAX 4095

/* Precedes the fields. */
struct head {
	uint32_t length;
	uint16_t type;
	uint16_t zero;
};

/* Offset of a member in a record, whose fields begin with the union. */
#define BODY         offsetof(struct wh_record, entry)
#define SIZE(member) sizeof(((struct wh_record *)NULL)->member)
#define AT(member)   (offsetof(struct wh_record, member) - BODY + WH_RECORD_HEAD_BYTES)
#define END(member)  (AT(member) + SIZE(member))

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "fields travel as they are in memory");
static_assert(sizeof(struct head) == WH_RECORD_HEAD_BYTES, "head");
static_assert(BODY >= WH_RECORD_HEAD_BYTES, "what is judged in memory is in the record");

/* Used by wh_hello_peek and by a refused client, whatever the version. */
static_assert(AT(hello.version) == 8 && AT(hello.reply) == 16, "fixed for ever");
static_assert(WH_RECORD_HELLO == 32 && WH_RECORD_REFUSED == 33, "fixed for ever");
static_assert(AT(refused.error) == 8 && AT(refused.text_bytes) == 12, "fixed for ever");
static_assert(END(entry.ctime_s) + 2 * WH_PATH_BYTES_MAX + WH_XATTR_BYTES_MAX + RECORD_ALIGN <=
		      WH_BUNDLE_CHUNK_BYTES_MIN,
	"every ENTRY fits into a chunk, its content apart");

#define FIELD(part, member, least, most)                                                           \
	{                                                                                          \
#member, AT(part.member), SIZE(part.member), least, most                           \
	}
#define ANY(part, member) FIELD(part, member, 0, UINT64_MAX)

/* UINT64_MAX is no identifier, so that `below` can be above every one. */
#define ID_MAX (UINT64_MAX - 1)

static const struct wh_record_field entry_fields[] = {
	FIELD(entry, id, 0, ID_MAX),
	ANY(entry, mtime_s),
	FIELD(entry, size_bytes, 0, INT64_MAX),
	FIELD(entry, hole_bytes, 0, INT64_MAX),
	FIELD(entry, mtime_ns, 0, 999999999),
	FIELD(entry, mode, 0, 07777),
	FIELD(entry, path_bytes, 1, WH_PATH_BYTES_MAX),
	FIELD(entry, link_bytes, 0, WH_PATH_BYTES_MAX),
	FIELD(entry, kind, WH_ENTRY_FILE, WH_ENTRY_PREFIX),
	FIELD(entry, content, WH_CONTENT_NONE, WH_CONTENT_AHEAD),
	ANY(entry, split),
	ANY(entry, uid),
	ANY(entry, gid),
	FIELD(entry, xattr_bytes, 0, WH_XATTR_BYTES_MAX),
	FIELD(entry, ctime_ns, 0, 999999999),
	ANY(entry, inode),
	ANY(entry, ctime_s),
};

static const struct wh_record_field extent_fields[] = {
	FIELD(extent, id, 0, ID_MAX),
	FIELD(extent, offset, 0, INT64_MAX - 1),
	FIELD(extent, bytes, 1, WH_EXTENT_BYTES_MAX),
	ANY(extent, digest),
};

static const struct wh_record_field file_end_fields[] = {
	FIELD(file_end, id, 0, ID_MAX),
	ANY(file_end, digest),
	FIELD(file_end, error, 0, ERRNO_MAX),
	FIELD(file_end, doing, 0, WH_DOING_KIND),
};

static const struct wh_record_field id_fields[] = {
	FIELD(id, id, 0, ID_MAX),
};

static const struct wh_record_field want_fields[] = {
	FIELD(want, id, 0, ID_MAX),
	FIELD(want, offset, 0, INT64_MAX - 1),
	ANY(want, digest),
	ANY(want, seed),
	FIELD(want, resume, 0, WH_RESUMES - 1),
};

static const struct wh_record_field finish_fields[] = {
	ANY(finish, entries),
	ANY(finish, left_out.owners),
	ANY(finish, left_out.set_ids),
	ANY(finish, left_out.xattrs),
	ANY(finish, left_out.hard_links),
};

static const struct wh_record_field found_fields[] = {
	ANY(found, files),
	ANY(found, bytes),
};

static const struct wh_record_field committed_fields[] = {
	ANY(committed, below),
};

static const struct wh_record_field have_fields[] = {
	FIELD(have, id, 0, ID_MAX),
	ANY(have, digest),
};

static const struct wh_record_field blocks_fields[] = {
	FIELD(blocks, id, 0, ID_MAX),
	FIELD(blocks, first, 0, WH_BLOCKS_MAX - 1),
	FIELD(blocks, count, 1, WH_BLOCKS_TOLD_MAX),
};

static const struct wh_record_field fault_fields[] = {
	FIELD(fault, error, 1, ERRNO_MAX),
	FIELD(fault, path_bytes, 1, WH_PATH_BYTES_MAX),
	FIELD(fault, doing, WH_DOING_NOTHING + 1, WH_DOINGS - 1),
};

static const struct wh_record_field outcome_fields[] = {
	FIELD(outcome, id, 0, ID_MAX),
	FIELD(outcome, error, 0, ERRNO_MAX),
	FIELD(outcome, status, WH_OUTCOME_SKIPPED, WH_OUTCOME_KEPT),
	FIELD(outcome, doing, 0, WH_DOING_CROWDED),
};

static const struct wh_record_field totals_fields[] = {
	ANY(totals, files),
	ANY(totals, skipped),
	ANY(totals, failed),
	ANY(totals, bytes),
	ANY(totals, resumed_bytes),
	ANY(totals, sampled_bytes),
	ANY(totals, began_again),
	ANY(totals, removed),
};

#define FOUR_OPTIONS(i)                                                                            \
	ANY(hello, option[i]), ANY(hello, option[i + 1]), ANY(hello, option[i + 2]),               \
		ANY(hello, option[i + 3])

static const struct wh_record_field hello_fields[] = {
	FIELD(hello, version, WH_BUNDLE_VERSION, WH_BUNDLE_VERSION),
	FIELD(hello, verb, WH_JOB_SEND, WH_JOB_ORDER),
	FIELD(hello, recursive, 0, 1),
	FIELD(hello, into_folder, 0, 1),
	FIELD(hello, reverse, 0, 1),
	ANY(hello, profile),
	FIELD(hello, paths, 0, WH_HELLO_PATHS_MAX),
	ANY(hello, reply),
	FIELD(hello, lane, 0, UINT16_MAX - 1),
	FIELD(hello, lanes, 1, UINT16_MAX),
	ANY(hello, payload_bytes),
	FIELD(hello, as_name, 0, 1),
	ANY(hello, fec_code),
	ANY(hello, fec_k),
	ANY(hello, fec_r),
	FIELD(hello, options, 0, UINT16_MAX),
	FIELD(hello, resume, 0, WH_RESUMES - 1),
	FIELD(hello, ports, 0, WH_READY_PORTS_MAX),
	ANY(hello, rate_bps),
	ANY(hello, transfer),
	ANY(hello, bench_ns),
	ANY(hello, bench_bytes),
	FOUR_OPTIONS(0),
	FOUR_OPTIONS(4),
	FOUR_OPTIONS(8),
	FOUR_OPTIONS(12),
	FIELD(hello, wishes, 0, WH_CHOICES_ALL),
	FIELD(hello, terms, 0, WH_TERMS_MAX),
};

static const struct wh_record_field refused_fields[] = {
	FIELD(refused, error, 1, ERRNO_MAX),
	FIELD(refused, text_bytes, 1, WH_PATH_BYTES_MAX),
};

static const struct wh_record_field ready_fields[] = {
	FIELD(ready, queues, 1, UINT16_MAX),
	FIELD(ready, as_name, 0, 1),
	FIELD(ready, keeps, 0, WH_CHOICE_KEEPS >> WH_CHOICE_KEEPS_SHIFT),
	FIELD(ready, ports, 1, WH_READY_PORTS_MAX),
};

static const struct wh_record_field report_fields[] = {
	ANY(report, elapsed_ns),
	ANY(report, bytes),
	ANY(report, pkts),
	ANY(report, duplicate_pkts),
	ANY(report, bad_pkts),
	ANY(report, lost_pkts),
	ANY(report, dropped_pkts),
	ANY(report, cycles),
	ANY(report, worker_cycles),
};

static const struct wh_record_field waits_fields[] = {
	ANY(waits, worked),
	ANY(waits, rate_bps),
	FIELD(waits, waits, 0, WH_WAITS_COUNT - 1),
};

static const struct wh_record_field item_fields[] = {
	FIELD(item, bytes, 0, INT64_MAX),
	FIELD(item, used_bytes, 0, INT64_MAX),
	ANY(item, entries),
	ANY(item, mtime_s),
	FIELD(item, mtime_ns, 0, 999999999),
	ANY(item, uid),
	ANY(item, gid),
	FIELD(item, mode, 0, 07777),
	FIELD(item, given, 0, WH_HELLO_PATHS_MAX - 1),
	FIELD(item, path_bytes, 1, WH_PATH_BYTES_MAX),
	FIELD(item, link_bytes, 0, WH_PATH_BYTES_MAX),
	FIELD(item, kind, WH_ITEM_FILE, WH_ITEM_OTHER),
	FIELD(item, matched, 0, 1),
};

static const struct wh_record_field tally_fields[] = {
	ANY(tally, items),
	ANY(tally, faults),
	ANY(tally, done),
};

static const struct wh_record_field ping_fields[] = {
	ANY(ping, sequence),
};

static const struct wh_record_field order_fields[] = {
	ANY(order, token),
	ANY(order, number),
	FIELD(order, host_bytes, 1, WH_ORDER_HOST_MAX),
	FIELD(order, path_bytes, 0, WH_PATH_BYTES_MAX),
	FIELD(order, rate_bytes, 1, WH_ORDER_RATE_MAX),
	FIELD(order, words_bytes, 0, WH_ORDER_WORDS_MAX),
	FIELD(order, wish, 0, WH_WISHES - 1),
	FIELD(order, priority, 0, 9),
};

static const struct wh_record_field status_fields[] = {
	FIELD(order_status, number, 0, INT64_MAX),
	ANY(order_status, files),
	ANY(order_status, skipped),
	ANY(order_status, failed),
	ANY(order_status, bytes),
	ANY(order_status, moved_bytes),
	ANY(order_status, run_ns),
	FIELD(order_status, why_bytes, 0, WH_ORDER_STATUS_WHY_MAX),
	FIELD(order_status, state, 0, WH_ORDER_STATUSES - 1),
	ANY(order_status, status),
};

#define SHAPE(fields, last)                                                                        \
	{                                                                                          \
		END(last), RTE_DIM(fields), fields                                                 \
	}

/* By type; no fields: not a type. */
static const struct wh_record_shape shapes[] = {
	[WH_RECORD_ENTRY] = SHAPE(entry_fields, entry.ctime_s),
	[WH_RECORD_EXTENT] = SHAPE(extent_fields, extent.digest),
	[WH_RECORD_FILE_END] = SHAPE(file_end_fields, file_end.doing),
	[WH_RECORD_SAME] = SHAPE(id_fields, id.id),
	[WH_RECORD_FAULT] = SHAPE(fault_fields, fault.doing),
	[WH_RECORD_FINISH] = SHAPE(finish_fields, finish.left_out),
	[WH_RECORD_FOUND] = SHAPE(found_fields, found.bytes),
	[WH_RECORD_WANT] = SHAPE(want_fields, want.resume),
	[WH_RECORD_HAVE] = SHAPE(have_fields, have.digest),
	[WH_RECORD_OUTCOME] = SHAPE(outcome_fields, outcome.doing),
	[WH_RECORD_COMMITTED] = SHAPE(committed_fields, committed.below),
	[WH_RECORD_TOTALS] = SHAPE(totals_fields, totals.removed),
	[WH_RECORD_BLOCKS] = SHAPE(blocks_fields, blocks.count),
	[WH_RECORD_HELLO] = SHAPE(hello_fields, hello.terms),
	[WH_RECORD_REFUSED] = SHAPE(refused_fields, refused.text_bytes),
	[WH_RECORD_READY] = SHAPE(ready_fields, ready.ports),
	[WH_RECORD_REPORT] = SHAPE(report_fields, report.worker_cycles),
	[WH_RECORD_WAITS] = SHAPE(waits_fields, waits.waits),
	[WH_RECORD_ITEM] = SHAPE(item_fields, item.matched),
	[WH_RECORD_TALLY] = SHAPE(tally_fields, tally.done),
	[WH_RECORD_PING] = SHAPE(ping_fields, ping.sequence),
	[WH_RECORD_ORDER] = SHAPE(order_fields, order.priority),
	[WH_RECORD_STATUS] = SHAPE(status_fields, order_status.status),
};

/* What follows the fields in its order: its pointer, and its length, which is one of the fields. */
struct part {
	uint16_t pointer_at; /* in struct wh_record */
	uint16_t count_at;
	uint8_t count_bytes; /* 0: wh_entry_inline_bytes tells its length */
	uint8_t unit_bytes;
	bool is_text; /* without a NUL */
};

#define PART(pointer, count, unit, text)                                                           \
	{                                                                                          \
		offsetof(struct wh_record, pointer), offsetof(struct wh_record, count),            \
			SIZE(count), unit, text                                                    \
	}
#define TEXT(member) PART(member, member##_bytes, 1, true)

#define PARTS_MAX 4

/* By type; those of HELLO are an array. */
static const struct part parts[][PARTS_MAX] = {
	[WH_RECORD_ENTRY] = {TEXT(entry.path), TEXT(entry.link),
		PART(entry.xattrs, entry.xattr_bytes, 1, false),
		{.pointer_at = offsetof(struct wh_record, entry.inline_bytes), .unit_bytes = 1}},
	[WH_RECORD_FAULT] = {TEXT(fault.path)},
	[WH_RECORD_BLOCKS] = {PART(blocks.digests, blocks.count, WH_DIGEST_BYTES, false)},
	[WH_RECORD_REFUSED] = {TEXT(refused.text)},
	[WH_RECORD_READY] = {PART(ready.addresses, ready.ports, WH_READY_ADDRESS_BYTES, false)},
	[WH_RECORD_ITEM] = {TEXT(item.path), TEXT(item.link)},
	[WH_RECORD_ORDER] = {TEXT(order.host), TEXT(order.path), TEXT(order.rate),
		TEXT(order.words)},
	[WH_RECORD_STATUS] = {TEXT(order_status.why)},
};

static_assert(RTE_DIM(parts) == RTE_DIM(shapes), "of every type");

/* The part of that index; NULL: there are no more. */
static const struct part *part_of(const struct wh_record *record, uint32_t index)
{
	const struct part *part = &parts[record->type][index];

	return index < PARTS_MAX && part->unit_bytes > 0 ? part : NULL;
}

const struct wh_record_shape *wh_record_shape(uint32_t type)
{
	return type < RTE_DIM(shapes) && shapes[type].fields != NULL ? &shapes[type] : NULL;
}

const char *wh_job_verb_name(uint32_t verb)
{
	static const char *const names[] = {
		[WH_JOB_SEND] = "send",
		[WH_JOB_GET] = "get",
		[WH_JOB_BENCH] = "bench",
		[WH_JOB_IDLE] = "idle",
		[WH_JOB_LIST] = "ls",
		[WH_JOB_USAGE] = "du",
		[WH_JOB_REMOVE] = "rm",
		[WH_JOB_MAKE] = "mkdir",
		[WH_JOB_MOVE] = "mv",
		[WH_JOB_PING] = "ping",
		[WH_JOB_ORDER] = "order",
	};

	return verb < RTE_DIM(names) && names[verb] != NULL ? names[verb] : "";
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
		[WH_DOING_COUNTING] = "counting files and folders",
		[WH_DOING_ADDING] = "adding up bytes",
		[WH_DOING_DESCENDING] = "counting folders in folders",
		[WH_DOING_NAMING] = "looking at its name",
		[WH_DOING_LINKING] = "looking where the link leads",
		[WH_DOING_FOLDING] = "comparing its name with others",
		[WH_DOING_YIELDING] = "leaving it to another job",
		[WH_DOING_SHARING] = "looking for its name among those of this transfer",
		[WH_DOING_CROWDED] = "remembering the names of this transfer",
		[WH_DOING_SPARING] = "counting what the source does not have",
		[WH_DOING_REMOVING] = "removing",
		[WH_DOING_PASSING] = "passing it over",
	};

	static_assert(RTE_DIM(names) == WH_DOINGS, "a name for each");
	WH_ASSERT((uint32_t)doing < WH_DOINGS);
	return names[doing];
}

const char *wh_doing_forbidden(enum wh_doing doing)
{
	switch (doing) {
	case WH_DOING_COUNTING:
		return "there are more files and folders than one job may bring there "
		       "(--job-files)";
	case WH_DOING_ADDING:
		return "there are more bytes than one job may bring there (--job-bytes)";
	case WH_DOING_DESCENDING:
		return "more folders are above it than may be there (--job-depth)";
	case WH_DOING_NAMING:
		return "its name has control characters, which may not be there (--plain-names)";
	case WH_DOING_FOLDING:
		return "another name there differs from it by case alone (--case-clash)";
	case WH_DOING_SHARING:
		return "another file of this transfer has got that name there; give one of them "
		       "another name, or keep their folders apart (--relative)";
	case WH_DOING_CROWDED:
		return "a file has that name there, and this transfer has too many names to tell "
		       "whether it brought that file itself; transfer the folders one by one";
	case WH_DOING_LINKING:
		return "the link leads out of what is sent, which may not be there "
		       "(--links-inside)";
	case WH_DOING_YIELDING:
		return "a newer job of the same peer goes on with it";
	case WH_DOING_SPARING:
		return "more extra files than --max-delete allows; none were removed";
	default:
		return NULL;
	}
}

static bool has_nul(const char *text, size_t bytes)
{
	return bytes > 0 && memchr(text, '\0', bytes) != NULL;
}

bool wh_path_is_safe(const char *path, size_t path_bytes)
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

bool wh_text_is_plain(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < 0x20 || c == 0x7f)
			return false;
		if (c == 0xc2 && i + 1 < bytes && ((unsigned char)text[i + 1] & 0xe0) == 0x80)
			return false;
	}
	return true;
}

/* The tables limit single fields; these functions check combinations of fields, and texts. */
static bool entry_holds(const struct wh_entry *entry)
{
	bool is_link = entry->kind == WH_ENTRY_LINK || entry->kind == WH_ENTRY_HARD;

	if (!wh_path_is_safe(entry->path, entry->path_bytes))
		return false;
	if (is_link != (entry->link_bytes > 0))
		return false;
	if (entry->kind == WH_ENTRY_HARD && !wh_path_is_safe(entry->link, entry->link_bytes))
		return false;
	if ((entry->size_bytes > 0) !=
		(entry->content != WH_CONTENT_NONE && entry->content != WH_CONTENT_STREAM))
		return false;
	if (entry->hole_bytes > (entry->content >= WH_CONTENT_ASK ? entry->size_bytes : 0))
		return false;
	if (entry->content == WH_CONTENT_INLINE && entry->size_bytes > WH_INLINE_BYTES_MAX)
		return false;
	if (entry->content == WH_CONTENT_AHEAD && entry->size_bytes <= WH_INLINE_BYTES_MAX)
		return false;
	if (wh_content_is_split(entry->content) != (entry->split != 0))
		return false;
	return entry->kind == WH_ENTRY_FILE || entry->content == WH_CONTENT_NONE;
}

static uint32_t hello_texts(const struct wh_hello *hello)
{
	return hello->paths + hello->terms;
}

static bool hello_holds(const struct wh_hello *hello)
{
	for (uint32_t i = 0; i < hello_texts(hello); i++)
		if (hello->path_bytes[i] > WH_PATH_BYTES_MAX ||
			has_nul(hello->path[i], hello->path_bytes[i]))
			return false;
	if (hello->lane >= hello->lanes)
		return false;
	if ((hello->paths == 0 || wh_job_is_rpc(hello->verb)) &&
		(hello->wishes != 0 || hello->terms != 0))
		return false;
	switch (hello->verb) {
	case WH_JOB_SEND:
		return hello->paths == 1;
	case WH_JOB_MOVE:
		return hello->paths > 1;
	case WH_JOB_BENCH:
	case WH_JOB_IDLE:
	case WH_JOB_PING:
		return hello->paths == 0;
	default:
		return hello->paths > 0;
	}
}

static bool item_holds(const struct wh_item *item)
{
	bool is_given = item->path_bytes == 1 && item->path[0] == '.';

	return ((is_given && !item->matched) || wh_path_is_safe(item->path, item->path_bytes)) &&
	       (item->kind == WH_ITEM_LINK) == (item->link_bytes > 0);
}

/* Without `resume` an offset is that of what came with an ENTRY. */
static bool want_holds(uint64_t offset, uint8_t resume)
{
	return resume == WH_RESUME_OFF ? offset == 0 || offset == WH_INLINE_BYTES_MAX : offset > 0;
}

static size_t part_bytes(const struct wh_record *record, const struct part *part)
{
	uint32_t count = 0;

	if (part->count_bytes == 0)
		return wh_entry_inline_bytes(&record->entry);
	memcpy(&count, (const uint8_t *)record + part->count_at, part->count_bytes);
	return (size_t)count * part->unit_bytes;
}

static const void *part_at(const struct wh_record *record, const struct part *part)
{
	const void *at;

	memcpy(&at, (const uint8_t *)record + part->pointer_at, sizeof(at));
	return at;
}

static bool holds(const struct wh_record *record)
{
	const struct part *part;

	for (uint32_t i = 0; (part = part_of(record, i)) != NULL; i++)
		if (part->is_text && has_nul(part_at(record, part), part_bytes(record, part)))
			return false;
	switch (record->type) {
	case WH_RECORD_ENTRY:
		return entry_holds(&record->entry);
	case WH_RECORD_EXTENT:
		return record->extent.offset <= INT64_MAX - record->extent.bytes;
	case WH_RECORD_WANT:
		return want_holds(record->want.offset, record->want.resume) &&
		       (record->want.seed == 0 || record->want.resume > WH_RESUME_ATTRIBUTES);
	case WH_RECORD_FILE_END:
		return (record->file_end.error == 0) == (record->file_end.doing == 0);
	case WH_RECORD_OUTCOME:
		return (record->outcome.error == 0) == (record->outcome.doing == 0) &&
		       (record->outcome.error == 0) ==
			       (record->outcome.status != WH_OUTCOME_FAILED);
	case WH_RECORD_HELLO:
		return hello_holds(&record->hello);
	case WH_RECORD_ITEM:
		return item_holds(&record->item);
	default:
		return true;
	}
}

/* Length of the parts, by fields that were read before. */
static size_t rest_bytes(const struct wh_record *record)
{
	const struct wh_hello *hello = &record->hello;
	const struct part *part;
	size_t bytes = 0;

	for (uint32_t i = 0; (part = part_of(record, i)) != NULL; i++)
		bytes += part_bytes(record, part);
	if (record->type == WH_RECORD_HELLO)
		for (uint32_t i = 0; i < hello_texts(hello); i++)
			bytes += sizeof(hello->path_bytes[0]) + hello->path_bytes[i];
	return bytes;
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
	return (uint32_t)END(entry.ctime_s) + entry->path_bytes + entry->link_bytes +
	       entry->xattr_bytes;
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
	const struct part *part;

	for (uint32_t i = 0; (part = part_of(record, i)) != NULL; i++)
		at = put(at, part_at(record, part), part_bytes(record, part));
	if (record->type != WH_RECORD_HELLO)
		return at;
	at = put(at, hello->path_bytes, hello_texts(hello) * sizeof(hello->path_bytes[0]));
	for (uint32_t i = 0; i < hello_texts(hello); i++)
		at = put(at, hello->path[i], hello->path_bytes[i]);
	return at;
}

/* Whether all fields are within their limits, on the wire or in memory. */
static bool within(const struct wh_record_shape *shape, const uint8_t *bytes)
{
	for (uint32_t i = 0; i < shape->count; i++) {
		const struct wh_record_field *field = &shape->fields[i];
		uint64_t value = 0;

		if (field->bytes > sizeof(value))
			continue;
		memcpy(&value, bytes + field->wire_at, field->bytes);
		if (value < field->least || value > field->most)
			return false;
	}
	return true;
}

uint32_t wh_record_encode(const struct wh_record *record, uint8_t *bytes, size_t room)
{
	const struct wh_record_shape *shape = wh_record_shape(record->type);
	const uint8_t *body = (const uint8_t *)record + BODY;

	WH_ASSERT(shape != NULL && within(shape, body - WH_RECORD_HEAD_BYTES) && holds(record));

	size_t length = with_padding(record);

	if (length > room)
		return 0;

	struct head head = {.length = (uint32_t)length, .type = (uint16_t)record->type};

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), body, shape->wire_bytes - sizeof(head));

	uint8_t *end = put_rest(record, bytes + shape->wire_bytes);

	memset(end, 0, (size_t)(bytes + length - end));
	return (uint32_t)length;
}

/* The lengths of the paths must be read before their sum is known. */
static bool take_path_lengths(const uint8_t *at, size_t left, struct wh_hello *hello)
{
	size_t bytes = hello_texts(hello) * sizeof(hello->path_bytes[0]);

	if (bytes > left)
		return false;
	memcpy(hello->path_bytes, at, bytes);
	return true;
}

static const uint8_t *take_rest(const uint8_t *at, struct wh_record *record)
{
	struct wh_hello *hello = &record->hello;
	const struct part *part;

	for (uint32_t i = 0; (part = part_of(record, i)) != NULL; i++) {
		memcpy((uint8_t *)record + part->pointer_at, &at, sizeof(at));
		at += part_bytes(record, part);
	}
	if (record->type != WH_RECORD_HELLO)
		return at;
	at += hello_texts(hello) * sizeof(hello->path_bytes[0]);
	for (uint32_t i = 0; i < hello_texts(hello); i++) {
		hello->path[i] = (const char *)at;
		at += hello->path_bytes[i];
	}
	return at;
}

uint32_t wh_record_decode(const uint8_t *bytes, size_t length, struct wh_record *record)
{
	struct head head;

	if (length < sizeof(head))
		return 0;
	memcpy(&head, bytes, sizeof(head));

	const struct wh_record_shape *shape = wh_record_shape(head.type);

	if (shape == NULL || head.zero != 0 || head.length > length ||
		head.length < shape->wire_bytes)
		return 0;
	if (!within(shape, bytes))
		return 0;
	record->type = (enum wh_record_type)head.type;
	memcpy((uint8_t *)record + BODY, bytes + sizeof(head), shape->wire_bytes - sizeof(head));

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
	struct head head;
	size_t end = AT(hello.reply) + sizeof(*reply);

	if (length < end)
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.type != WH_RECORD_HELLO || head.length < end)
		return false;
	*version = bytes[AT(hello.version)];
	memcpy(reply, bytes + AT(hello.reply), sizeof(*reply));
	return true;
}
