/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a file by two lanes: what one gets wrong, or lies about, and what comes of it. */
#include "bundle/waits.h"
#include "sink/assembly.h"
#include "sink_rig.h"

const char wh_suite_name[] = "sink_segments";

#define MIB   (UINT64_C(1) << 20)
#define BYTES (2 * MIB + 100)
#define SPLIT 5

static struct wh_assemblies all;
static uint8_t *content;

/* Lane 0, the lead lane, has bytes below 1 MiB; lane 1 those behind. */
struct lanes {
	struct rig *lead;
	struct rig *other;
};

static void open_lane(struct rig *rig, struct rig *where, uint32_t lane)
{
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;

	config.root_fd = where->root_fd;
	config.assemblies = &all;
	config.lane = lane;
	config.lanes = 2;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
}

static void announce(
	struct rig *rig, uint64_t id, enum wh_entry_content how, uint32_t split, uint64_t bytes)
{
	struct wh_record record = rig_entry(id, WH_ENTRY_FILE, "file", 0640);

	record.entry.size_bytes = bytes;
	record.entry.content = (uint8_t)how;
	record.entry.split = split;
	rig_put(rig, &record);
	rig_flush(rig);
	rig->entries++;
}

static struct lanes begin(const char *base)
{
	struct lanes lanes = {rig_new(base), rig_new(base)};

	wh_assemblies_init(&all, 2);
	content = content_of(BYTES, 1);
	open_lane(lanes.lead, lanes.lead, 0);
	open_lane(lanes.other, lanes.lead, 1);
	return lanes;
}

/* Both have been told WANT. */
static struct lanes begin_wanted(const char *base)
{
	struct lanes lanes = begin(base);

	announce(lanes.other, 1, WH_CONTENT_SEGMENT, SPLIT, BYTES);
	for (int i = 0; i < 10; i++)
		rig_poll(lanes.other);
	CU_ASSERT(
		rig_find(lanes.other, WH_RECORD_WANT, 1) == NULL); /* before the lead lane's word */
	CU_ASSERT(wh_sink_waits(lanes.other->sink) == WH_WAITS_SEGMENTS);
	announce(lanes.lead, 1, WH_CONTENT_LEAD, SPLIT, BYTES);
	rig_await(lanes.lead, WH_RECORD_WANT, 1);
	rig_await(lanes.other, WH_RECORD_WANT, 1);
	return lanes;
}

static void end(struct lanes *lanes)
{
	/* The other's files are in the lead lane's folder. */
	wh_sink_close(lanes->other->sink);
	lanes->other->sink = NULL;
	rig_free(lanes->lead);
	rig_free(lanes->other);
	wh_assemblies_free(&all);
	free(content);
}

static void send_part(struct rig *rig, uint64_t from, uint64_t to, int error, uint8_t doing)
{
	struct wh_digest digest = digest_of(content + from, to - from);

	rig_extent(rig, 1, from, content + from, to - from);
	rig_file_end(rig, 1, error == 0 ? &digest : NULL, error, doing);
}

static void expect_done(struct rig *rig)
{
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
}

static void copy_whole(const char *base, bool head_is_first)
{
	struct lanes lanes = begin_wanted(base);

	if (head_is_first)
		send_part(lanes.lead, 0, MIB, 0, 0);
	for (int i = 0; i < RIG_POLLS_MAX && head_is_first; i++) {
		rig_poll(lanes.lead);
		if (wh_sink_waits(lanes.lead->sink) == WH_WAITS_SEGMENTS)
			break;
	}
	CU_ASSERT(faccessat(lanes.lead->root_fd, "file", F_OK, 0) != 0);
	if (head_is_first)
		CU_ASSERT(wh_sink_waits(lanes.lead->sink) == WH_WAITS_SEGMENTS);
	send_part(lanes.other, MIB, BYTES, 0, 0);
	expect_done(lanes.other);
	if (!head_is_first)
		send_part(lanes.lead, 0, MIB, 0, 0);
	expect_done(lanes.lead);
	CU_ASSERT(rig_holds(lanes.lead, "file", content, BYTES));
	CU_ASSERT(rig_looks(lanes.lead, "file", 0640));
	CU_ASSERT(lanes.lead->totals.files == 1 && lanes.lead->totals.bytes == BYTES);
	CU_ASSERT(lanes.lead->result_count == 1 && lanes.other->result_count == 0);
	CU_ASSERT(lanes.other->totals.files == 0 && lanes.other->totals.bytes == 0);
	end(&lanes);
}

static void test_whole(void)
{
	copy_whole("/tmp", true);
	copy_whole("/dev/shm", true);
	copy_whole("/tmp", false);
	copy_whole("/dev/shm", false);
}

/* What is there is kept: the other lane is told so without a word of the lead lane's source. */
static void test_same(void)
{
	struct lanes lanes = begin("/dev/shm");

	rig_make_file(lanes.lead, "file", content, BYTES);
	announce(lanes.other, 1, WH_CONTENT_SEGMENT, SPLIT, BYTES);
	announce(lanes.lead, 1, WH_CONTENT_LEAD, SPLIT, BYTES);
	rig_await(lanes.lead, WH_RECORD_HAVE, 1);
	rig_same(lanes.lead, 1);
	rig_await(lanes.lead, WH_RECORD_OUTCOME, 1);
	rig_await(lanes.other, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_skipped(lanes.lead, 1) && rig_skipped(lanes.other, 1));
	expect_done(lanes.other);
	expect_done(lanes.lead);
	CU_ASSERT(lanes.lead->totals.skipped == 1 && lanes.other->totals.skipped == 0);
	end(&lanes);
}

/* It fails for the lead lane, which alone tells; nothing of it stays. */
static void expect_failed(struct lanes *lanes, int error, enum wh_doing doing)
{
	send_part(lanes->lead, 0, MIB, 0, 0);
	rig_await(lanes->lead, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_failed(lanes->lead, 1, error, doing));
	expect_done(lanes->lead);
	CU_ASSERT(lanes->lead->totals.failed == 1 && lanes->other->result_count == 0);
	CU_ASSERT(faccessat(lanes->lead->root_fd, "file", F_OK, 0) != 0);
}

static void test_segment_fails(void)
{
	static const struct {
		int error, told;
		enum wh_doing doing;
	} ends[] = {{EBUSY, EBUSY, WH_DOING_CHANGED}, {0, EIO, WH_DOING_DIGEST}};

	for (size_t i = 0; i < 2; i++) {
		struct lanes lanes = begin_wanted("/dev/shm");

		if (ends[i].error == 0)
			content[MIB] ^= 1; /* the digest is of what was read */
		rig_extent(lanes.other, 1, MIB, content + MIB, BYTES - MIB);
		content[MIB] ^= ends[i].error == 0;

		struct wh_digest digest = digest_of(content + MIB, BYTES - MIB);

		rig_file_end(lanes.other, 1, ends[i].error == 0 ? &digest : NULL, ends[i].error,
			ends[i].error == 0 ? 0 : (uint8_t)ends[i].doing);
		expect_done(lanes.other);
		expect_failed(&lanes, ends[i].told, ends[i].doing);
		end(&lanes);
	}
}

/* The lead lane's folder cannot be made: the other lane's segment is not needed, and it goes on. */
static void test_lead_fails(void)
{
	struct lanes lanes = begin("/dev/shm");

	CU_ASSERT(mkdirat(lanes.lead->root_fd, "file", 0755) == 0);
	announce(lanes.other, 1, WH_CONTENT_SEGMENT, SPLIT, BYTES);
	announce(lanes.lead, 1, WH_CONTENT_LEAD, SPLIT, BYTES);
	rig_await(lanes.lead, WH_RECORD_OUTCOME, 1);
	rig_await(lanes.other, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_failed(lanes.lead, 1, EISDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_skipped(lanes.other, 1));
	expect_done(lanes.other);
	expect_done(lanes.lead);
	CU_ASSERT(lanes.lead->totals.failed == 1 && lanes.other->totals.failed == 0);
	end(&lanes);
}

static void lie_before_part(struct rig *rig)
{
	rig_extent(rig, 1, 0, content, 10);
}

static void lie_beyond(struct rig *rig)
{
	rig_extent(rig, 1, MIB, content, 65536);
	rig_extent(rig, 1, MIB + 65536, content, BYTES - MIB - 65536 + 1);
}

static void lie_short(struct rig *rig)
{
	struct wh_digest digest = digest_of(content, 65536);

	rig_extent(rig, 1, MIB, content, 65536);
	rig_file_end(rig, 1, &digest, 0, 0);
}

static void lie_same(struct rig *rig)
{
	rig_same(rig, 1);
}

static void lie_twice(struct rig *rig)
{
	announce(rig, 2, WH_CONTENT_SEGMENT, SPLIT, BYTES);
}

static void lie_head_too(struct rig *rig)
{
	announce(rig, 2, WH_CONTENT_LEAD, SPLIT, BYTES);
}

static void lie_two_heads(struct rig *rig)
{
	announce(rig, 2, WH_CONTENT_LEAD, SPLIT + 1, BYTES);
	announce(rig, 3, WH_CONTENT_LEAD, SPLIT + 1, BYTES);
}

static void lie_small(struct rig *rig)
{
	announce(rig, 2, WH_CONTENT_SEGMENT, SPLIT + 1, MIB);
}

static void lie_many(struct rig *rig)
{
	for (uint32_t i = 1; i <= WH_SPLITS_MAX; i++)
		announce(rig, 1 + i, WH_CONTENT_SEGMENT, SPLIT + i, BYTES);
}

static void lie_finish(struct rig *rig)
{
	rig_finish(rig);
}

/* The liar's job ends, the lead lane's file fails, and the lead lane goes on. */
static void test_lies(void)
{
	static void (*const lies[])(struct rig *) = {lie_before_part, lie_beyond, lie_short,
		lie_same, lie_twice, lie_head_too, lie_two_heads, lie_small, lie_many, lie_finish};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct lanes lanes = begin_wanted(i % 2 == 0 ? "/tmp" : "/dev/shm");

		lies[i](lanes.other);
		CU_ASSERT(rig_run(lanes.other) == WH_SINK_BROKEN);
		CU_ASSERT(wh_sink_progress(lanes.other->sink)->error == -EPROTO);
		expect_failed(&lanes, ECANCELED, WH_DOING_WRITING);
		end(&lanes);
	}
}

/* The lead lane's own segment ends where the other's begins. */
static void test_lead_lies(void)
{
	struct lanes lanes = begin_wanted("/dev/shm");

	rig_extent(lanes.lead, 1, 0, content, 65536);
	rig_extent(lanes.lead, 1, 65536, content, MIB - 65536 + 1);
	CU_ASSERT(rig_run(lanes.lead) == WH_SINK_BROKEN);
	rig_await(lanes.other, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_skipped(lanes.other, 1));
	rig_file_end(lanes.other, 1, NULL, ECANCELED, WH_DOING_WRITING);
	expect_done(lanes.other);
	CU_ASSERT(rig_count(lanes.lead->root) == 0);
	end(&lanes);
}

static void test_sizes_differ(void)
{
	struct lanes lanes = begin("/dev/shm");

	announce(lanes.lead, 1, WH_CONTENT_LEAD, SPLIT, BYTES);
	rig_await(lanes.lead, WH_RECORD_WANT, 1);
	announce(lanes.other, 1, WH_CONTENT_SEGMENT, SPLIT, BYTES + 1);
	CU_ASSERT(rig_run(lanes.other) == WH_SINK_BROKEN);
	expect_failed(&lanes, ECANCELED, WH_DOING_WRITING);
	end(&lanes);
}

/* A job of one lane has no segments. */
static void test_alone(void)
{
	struct rig *rig = rig_begin("/dev/shm");

	announce(rig, 1, WH_CONTENT_LEAD, SPLIT, BYTES);
	CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
	rig_free(rig);
}

/* A lead lane that gathers has a place of its own, beside those of all files that are asked for. */
static void test_last_place(void)
{
	struct lanes lanes = begin_wanted("/dev/shm");
	uint64_t last = 1 + WH_SOURCE_ASKED;

	send_part(lanes.lead, 0, MIB, 0, 0);
	for (int i = 0; i < RIG_POLLS_MAX && wh_sink_waits(lanes.lead->sink) != WH_WAITS_SEGMENTS;
		i++)
		rig_poll(lanes.lead);
	for (uint64_t id = 2; id <= last; id++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", (unsigned int)id);
		rig_ask(lanes.lead, id, name, 0640, id < last ? 100000 : UINT64_C(1) << 60);
	}
	rig_await(lanes.lead, WH_RECORD_OUTCOME, last);
	CU_ASSERT(rig_failed(lanes.lead, last, ENOSPC, WH_DOING_RESERVING));
	CU_ASSERT(rig_find(lanes.lead, WH_RECORD_WANT, last - 1) != NULL);
	end(&lanes);
}

CU_TestInfo wh_tests[] = {
	{"whole, whichever segment comes first", test_whole},
	{"what is there is kept", test_same},
	{"a segment that fails", test_segment_fails},
	{"a lead lane that fails", test_lead_fails},
	{"lies", test_lies},
	{"a lead lane that lies", test_lead_lies},
	{"sizes that differ", test_sizes_differ},
	{"a segment for a lane that is alone", test_alone},
	{"a failure in the last place", test_last_place},
	CU_TEST_INFO_NULL,
};
