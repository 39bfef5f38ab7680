/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles that lie, folders that move, disks that are full. */
#include <dirent.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "sink/stage.h"
#include "sink_rig.h"

const char wh_suite_name[] = "sink_hostile";

#define BYTES 300000

static uint8_t content[BYTES]; /* 1, 2, .. 251, 1, ..: no record */

/* What the source says after "good" has gone, "asked" been asked for and WANT been said. */
static void lie_unknown_extent(struct rig *rig)
{
	rig_extent(rig, 99, 0, content, 10);
}

static void lie_small_extent(struct rig *rig)
{
	rig_extent(rig, 1, 0, content, 4);
}

static void lie_gap(struct rig *rig)
{
	rig_extent(rig, 2, 1, content, 10);
}

static void lie_too_long(struct rig *rig)
{
	rig_extent(rig, 2, 0, content, 65536);
	rig_extent(rig, 2, 65536, content, BYTES - 65536 + 1);
}

static void lie_short_raw(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_EXTENT};
	struct wh_chunk *chunk;

	record.extent.id = 2;
	record.extent.bytes = 100000;
	rig_put(rig, &record);
	rig_flush(rig);
	chunk = rig_chunk(rig);
	chunk->bytes = 65535;
	rig_push(rig, chunk);
}

static void lie_extent_not_last(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_EXTENT};

	record.extent.id = 2;
	record.extent.bytes = 100;
	rig_put(rig, &record);
	rig_text(rig, 3, "more", "x");
	rig_flush(rig);
}

static void lie_end_instead(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_EXTENT};

	record.extent.id = 2;
	record.extent.bytes = 100;
	rig_put(rig, &record);
	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
}

static void lie_early_end(struct rig *rig)
{
	struct wh_digest digest = rig_digest(content, 65536);

	rig_extent(rig, 2, 0, content, 65536);
	rig_file_end(rig, 2, &digest, 0, 0);
}

static void lie_end_at_once(struct rig *rig)
{
	struct wh_digest digest = rig_digest(content, 0);

	rig_file_end(rig, 2, &digest, 0, 0);
}

static void lie_end_unknown(struct rig *rig)
{
	rig_file_end(rig, 99, NULL, EIO, WH_DOING_READING);
}

static void lie_end_twice(struct rig *rig)
{
	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
}

static void lie_same_as_nothing(struct rig *rig)
{
	rig_same(rig, 2);
}

static void lie_same_unknown(struct rig *rig)
{
	rig_same(rig, 99);
}

static void lie_between_extents(struct rig *rig)
{
	rig_extent(rig, 2, 0, content, 65536);
	rig_text(rig, 3, "between", "x");
	rig_flush(rig);
}

static void lie_id_again(struct rig *rig)
{
	rig_text(rig, 2, "again", "x");
	rig_flush(rig);
}

static void lie_id_descends(struct rig *rig)
{
	rig_text(rig, 9, "nine", "x");
	rig_text(rig, 8, "eight", "x");
	rig_flush(rig);
}

static void lie_extent_of_unasked(struct rig *rig)
{
	rig_ask(rig, 3, "other", 0644, BYTES);
	rig_extent(rig, 3, 0, content, 10); /* before WANT */
}

static void lie_asks_too_much(struct rig *rig)
{
	/* "asked" is one of them. */
	for (uint64_t id = 3; id < 3 + WH_SOURCE_ASKED; id++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", (int)id);
		rig_ask(rig, id, name, 0644, 1);
	}
}

static void lie_finish_unfinished(struct rig *rig)
{
	rig_finish(rig);
}

static void lie_wrong_count(struct rig *rig)
{
	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
	rig->entries++;
	rig_finish(rig);
}

static void lie_after_finish(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_FINISH};

	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
	record.finish.entries = rig->entries;
	rig_put(rig, &record);
	rig_text(rig, 3, "after", "x");
	rig_end(rig);
}

static void lie_chunk_after_finish(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_FINISH};

	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
	record.finish.entries = rig->entries;
	rig_put(rig, &record);
	rig_flush(rig);
	rig_fault(rig, "after", EIO, WH_DOING_READING);
	rig_end(rig);
}

static void lie_end_without_finish(struct rig *rig)
{
	rig_end(rig);
}

static void lie_digest(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_FINISH};

	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
	record.finish.entries = rig->entries;
	rig_put(rig, &record);
	rig_flush(rig);
	XXH3_128bits_update(rig->sent, "x", 1);
	rig_end(rig);
}

static void lie_number(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_FINISH};

	rig_file_end(rig, 2, NULL, EIO, WH_DOING_READING);
	record.finish.entries = rig->entries;
	rig_put(rig, &record);
	rig_flush(rig);
	rig->number++;
	rig_end(rig);
}

static void lie_answer(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_WANT};

	record.id.id = 2;
	rig_put(rig, &record);
	rig_flush(rig);
}

static void lie_hello(struct rig *rig)
{
	struct wh_record record = {.type = WH_RECORD_HELLO};

	record.hello.version = WH_BUNDLE_VERSION;
	record.hello.verb = WH_JOB_IDLE;
	record.hello.lanes = 1;
	rig_put(rig, &record);
	rig_flush(rig);
}

static void lie_garbage(struct rig *rig)
{
	rig->chunk = rig_chunk(rig);
	memcpy(rig->chunk->data, content, 4096);
	rig->chunk->bytes = 4096;
	rig_flush(rig);
}

static void lie_nothing(struct rig *rig)
{
	rig_push(rig, rig_chunk(rig));
}

/* A record whose path is changed after it was encoded, as long as what it was. */
static void lie_path(struct rig *rig, const char *path)
{
	char decent[64] = "";

	memset(decent, 'q', strlen(path));
	rig_text(rig, 3, decent, "x");

	char *found = memmem(rig->chunk->data, rig->chunk->bytes, decent, strlen(decent));

	CU_ASSERT_FATAL(found != NULL);
	memcpy(found, path, strlen(path));
	rig_flush(rig);
}

static void lie_above(struct rig *rig)
{
	lie_path(rig, "../outside/x");
}

static void lie_above_inside(struct rig *rig)
{
	lie_path(rig, "a/../../outside/x");
}

static void lie_absolute(struct rig *rig)
{
	lie_path(rig, "/tmp/x");
}

static void lie_dot(struct rig *rig)
{
	lie_path(rig, "a/./x");
}

static void lie_double_slash(struct rig *rig)
{
	lie_path(rig, "a//x");
}

static void (*const lies[])(struct rig *) = {lie_unknown_extent, lie_small_extent, lie_gap,
	lie_too_long, lie_short_raw, lie_extent_not_last, lie_end_instead, lie_early_end,
	lie_end_at_once, lie_end_unknown, lie_end_twice, lie_same_as_nothing, lie_same_unknown,
	lie_between_extents, lie_id_again, lie_id_descends, lie_extent_of_unasked,
	lie_asks_too_much, lie_finish_unfinished, lie_wrong_count, lie_after_finish,
	lie_chunk_after_finish, lie_end_without_finish, lie_digest, lie_number, lie_answer,
	lie_hello, lie_garbage, lie_nothing, lie_above, lie_above_inside, lie_absolute, lie_dot,
	lie_double_slash};

static void fill_content(void)
{
	for (size_t i = 0; i < BYTES; i++)
		content[i] = (uint8_t)(i % 251 + 1);
}

/*
 * Every lie ends the job; nothing of it stays, but in memory what was whole and named before; every
 * chunk comes back.
 */
static void test_lies(void)
{
	fill_content();
	for (size_t i = 0; i < RIG_COUNT(lies) * RIG_COUNT(rig_bases); i++) {
		const char *base = rig_bases[i % RIG_COUNT(rig_bases)];
		bool at_once = names_at_once(base);
		struct rig *rig = rig_begin(base);

		rig_text(rig, 1, "good", "x");
		rig_ask(rig, 2, "asked", 0644, BYTES);
		rig_await(rig, WH_RECORD_WANT, 2);
		lies[i / RIG_COUNT(rig_bases)](rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		if (rig_state(rig) != WH_SINK_BROKEN)
			fprintf(stderr, "lie %zu was believed\n", i / RIG_COUNT(rig_bases));
		CU_ASSERT(wh_sink_progress(rig->sink)->error == -EPROTO);
		CU_ASSERT(rig->answers[rig->answer_count - 1].type == WH_RECORD_REFUSED);
		CU_ASSERT(rig->answers[rig->answer_count - 1].error == EPROTO);
		CU_ASSERT(rig_holds_text(rig, "good", "x") == at_once);
		/* One lie is an id that descends from that of another whole file. */
		CU_ASSERT(rig_count(rig->root) ==
			  at_once + (at_once && rig_holds_text(rig, "nine", "x")));
		CU_ASSERT(rig_count(rig->outside) == 0);
		/* It goes on giving back what comes. */
		rig_push(rig, rig_chunk(rig));
		rig_poll(rig);
		CU_ASSERT(rig->held == UINT32_MAX);
		rig_free(rig);
	}
}

/* A link of the bundle leads nowhere, nor does one that lies there or comes in between. */
static void test_links_lead_nowhere(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);

	CU_ASSERT_FATAL(mkdir(rig_path(rig, "real"), 0755) == 0);
	CU_ASSERT_FATAL(symlink("../outside", rig_path(rig, "there")) == 0);
	CU_ASSERT_FATAL(symlink("real", rig_path(rig, "inner")) == 0);
	rig_link(rig, 1, "came", "../outside");
	rig_link(rig, 2, "absolute", rig->outside);
	rig_flush(rig);
	rig_await(rig, WH_RECORD_COMMITTED, 3);
	rig_text(rig, 3, "came/x", "x");
	rig_text(rig, 4, "came/y/x", "x");
	rig_folder(rig, 5, "came/folder", 0777);
	rig_folder(rig, 6, "came", 0777); /* it would be chmod of what is outside */
	rig_text(rig, 7, "absolute/x", "x");
	rig_text(rig, 8, "there/x", "x");
	rig_folder(rig, 9, "there", 0777);
	rig_link(rig, 10, "there/x", "x");
	rig_ask(rig, 11, "there/x", 0644, BYTES);
	rig_text(rig, 12, "inner/x", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (uint64_t id = 3; id <= 12; id++) {
		bool folder = id == 6 || id == 9; /* by name, in a folder that is no link */

		CU_ASSERT(rig_failed(rig, id, folder ? ENOTDIR : ELOOP,
			folder ? WH_DOING_CREATING : WH_DOING_PATH));
	}
	CU_ASSERT(rig_count(rig->outside) == 0);
	CU_ASSERT(rig_count(rig_path(rig, "real")) == 0);
	rig_free(rig);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

/* Somebody replaces a folder by a link to the outside, at the worst moments. */
static void test_folder_becomes_link(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	char moved[sizeof(rig->root) + 16];

	snprintf(moved, sizeof(moved), "%s/moved", rig->root);
	rig_folder(rig, 1, "a", 0777);
	rig_text(rig, 2, "a/staged", "x");
	rig_folder(rig, 3, "b", 0777);
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(rename(rig_path(rig, "a"), moved) == 0);
	CU_ASSERT_FATAL(symlink(rig->outside, rig_path(rig, "a")) == 0);
	CU_ASSERT_FATAL(rmdir(rig_path(rig, "b")) == 0);
	CU_ASSERT_FATAL(symlink(rig->outside, rig_path(rig, "b")) == 0);
	rig_text(rig, 4, "a/new", "x");
	rig_text(rig, 5, "b/new", "x");
	rig_text(rig, 6, "good", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_count(rig->outside) == 0);
	CU_ASSERT(mode_of(rig->outside) == 0755);
	CU_ASSERT(rig_holds_text(rig, "good", "x"));
	CU_ASSERT(rig_failed(rig, 5, ELOOP, WH_DOING_PATH));
	/* Attributes of both folders, and b/new. */
	CU_ASSERT(rig->totals.failed == 3);
	rig_free(rig);
}

/*
 * The cache holds 16 folders: one that was looked up again is as safe. On a disk, where files wait
 * in a batch for their names.
 */
static void test_folder_becomes_link_uncached(void)
{
	struct rig *rig = rig_begin(rig_bases[1]);
	char name[32];

	rig_text(rig, 1, "a/staged", "x");
	for (uint64_t id = 2; id < 40; id++) {
		snprintf(name, sizeof(name), "%d/x", (int)id);
		rig_text(rig, id, name, "x");
	}
	rig_flush(rig);
	for (int i = 0; i < 40; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(rmdir(rig_path(rig, "a")) == 0);
	CU_ASSERT_FATAL(symlink(rig->outside, rig_path(rig, "a")) == 0);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, ELOOP, WH_DOING_PATH));
	CU_ASSERT(rig_count(rig->outside) == 0);
	CU_ASSERT(rig->totals.files == 38);
	rig_free(rig);
}

/* A whole bundle, each of whose chunks has been changed at random places. */
static void mutate(struct rig *rig, struct wh_prng *prng)
{
	static const char *const bits[] = {"..", "/", ".", "\0", "../outside"};
	uint64_t changes = wh_prng_below(prng, 4);

	for (uint64_t i = 0; i < changes; i++) {
		uint64_t at = wh_prng_below(prng, rig->chunk->bytes);

		if (wh_prng_below(prng, 2) == 0) {
			rig->chunk->data[at] = (uint8_t)wh_prng_u64(prng);
		} else {
			const char *bit = bits[wh_prng_below(prng, RIG_COUNT(bits))];
			size_t bytes = strlen(bit) + (bit[0] == '\0');

			if (at + bytes <= rig->chunk->bytes)
				memcpy(rig->chunk->data + at, bit, bytes);
		}
	}
}

static bool has_staging(const struct rig *rig)
{
	bool found = false;

	await_aside();

	DIR *folder = opendir(rig->root);

	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		found = found || strncmp(entry->d_name, ".wavehaul-", 10) == 0;
	closedir(folder);
	return found;
}

static void test_mutations(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 42);
	for (int run = 0; run < 1500; run++) {
		struct rig *rig = rig_begin(rig_bases[0]);

		CU_ASSERT_FATAL(symlink("../outside", rig_path(rig, "l")) == 0);
		rig_folder(rig, 1, "folder", 0755);
		rig_text(rig, 2, "folder/file", "0123456789abcdef");
		rig_link(rig, 3, "l/ink", "text");
		rig_file(rig, 4, "an/other", 0600, content, 5000);
		rig_text(rig, 5, "l", "x");
		mutate(rig, &prng);
		rig_flush(rig);
		rig_ask(rig, 6, "large", 0644, BYTES);
		for (int i = 0; i < 400 && rig_state(rig) == WH_SINK_RUNNING; i++)
			rig_poll(rig);
		if (rig_find(rig, WH_RECORD_WANT, 6) != NULL) {
			struct wh_digest digest = rig_digest(content, BYTES);

			rig_extent(rig, 6, 0, content, BYTES);
			rig_file_end(rig, 6, &digest, 0, 0);
		}
		rig_fault(rig, "fault", EIO, WH_DOING_READING);
		mutate(rig, &prng);
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) != WH_SINK_RUNNING);
		CU_ASSERT(rig_count(rig->outside) == 0);
		CU_ASSERT(mode_of(rig->outside) == 0755);
		wh_sink_close(rig->sink);
		rig->sink = NULL;
		CU_ASSERT(!has_staging(rig));
		rig_free(rig);
	}
}

/* Where the root is another file system; false: no right to mount one. */
static bool mount_root(struct rig *rig, const char *options)
{
	if (mount("wh_sink", rig->root, "tmpfs", 0, options) != 0) {
		fprintf(stderr, "no right to mount: not tested\n");
		return false;
	}
	close(rig->root_fd);
	rig->root_fd = open(rig->root, O_PATH | O_DIRECTORY);
	return true;
}

static void unmount_root(struct rig *rig)
{
	wh_sink_close(rig->sink);
	rig->sink = NULL;
	close(rig->root_fd);
	rig->root_fd = open(rig->top, O_PATH);
	CU_ASSERT(umount2(rig->root, MNT_DETACH) == 0);
}

/* A chunk that is not the source's leaves nothing, wherever names are given at once. */
static void test_forged_chunk(void)
{
	for (size_t i = 0; i < RIG_COUNT(rig_bases); i++) {
		struct rig *rig = rig_begin(rig_bases[i]);

		rig_text(rig, 1, "genuine", "x");
		rig_flush(rig);
		for (int n = 0; n < 100; n++)
			rig_poll(rig);
		rig_text(rig, 2, "forged", "12345678");

		uint8_t *text = memmem(rig->chunk->data, rig->chunk->bytes, "12345678", 8);

		rig->forges = text;
		rig_flush(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		CU_ASSERT(wh_sink_progress(rig->sink)->error == -EBADMSG);
		CU_ASSERT(wh_sink_progress(rig->sink)->doing == WH_DOING_DIGEST);
		CU_ASSERT(rig->answers[rig->answer_count - 1].type == WH_RECORD_REFUSED);
		CU_ASSERT(rig_count(rig->root) == (names_at_once(rig_bases[i]) ? 1 : 0));
		CU_ASSERT(faccessat(rig->root_fd, "forged", F_OK, 0) != 0);
		rig_free(rig);
	}
}

static void test_full_disk(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	const uint64_t small = 50000;
	char name[8];

	if (!mount_root(rig, "size=1m")) {
		rig_free(rig);
		return;
	}
	rig_open(rig, "");
	rig_ask(rig, 1, "larger", 0644, UINT64_C(2) << 20);
	rig_await(rig, WH_RECORD_OUTCOME, 1); /* until then it holds what there is */
	for (uint64_t id = 2; id < 32; id++) {
		snprintf(name, sizeof(name), "%d", (int)id);
		rig_file(rig, id, name, 0644, content, small);
	}
	rig_flush(rig);
	rig_await(rig, WH_RECORD_OUTCOME, 31);
	rig_ask(rig, 32, "also", 0644, BYTES);
	rig_await(rig, WH_RECORD_OUTCOME, 32);
	rig_text(rig, 33, "sub/empty", "");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, ENOSPC, WH_DOING_RESERVING));
	CU_ASSERT(rig_failed(rig, 31, ENOSPC, WH_DOING_WRITING));
	CU_ASSERT(rig_failed(rig, 32, ENOSPC, WH_DOING_RESERVING));
	CU_ASSERT(rig_find(rig, WH_RECORD_WANT, 1) == NULL);
	CU_ASSERT(rig_find(rig, WH_RECORD_WANT, 32) == NULL);
	CU_ASSERT(rig_holds(rig, "2", content, small));
	CU_ASSERT(rig_holds_text(rig, "sub/empty", ""));
	CU_ASSERT(rig->totals.files + rig->totals.failed == 33);
	CU_ASSERT(rig->totals.files >= 15 && rig->totals.files <= 22);
	CU_ASSERT((uint64_t)rig_count(rig->root) == rig->totals.files + 1);
	unmount_root(rig);
	rig_free(rig);
}

static void test_read_only(void)
{
	struct rig *rig = rig_new(rig_bases[0]);

	if (!mount_root(rig, "size=1m")) {
		rig_free(rig);
		return;
	}
	CU_ASSERT_FATAL(mount(NULL, rig->root, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
	rig_open(rig, "");
	rig_text(rig, 1, "file", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
	CU_ASSERT(wh_sink_progress(rig->sink)->error == -EROFS);
	CU_ASSERT(wh_sink_progress(rig->sink)->doing == WH_DOING_CREATING);
	CU_ASSERT(rig->answers[0].type == WH_RECORD_REFUSED && rig->answers[0].error == EROFS);
	unmount_root(rig);
	rig_free(rig);
}

static void test_root_vanishes(void)
{
	for (size_t i = 0; i < RIG_COUNT(rig_bases); i++) {
		struct rig *rig = rig_begin(rig_bases[i]);

		CU_ASSERT_FATAL(rmdir(rig->root) == 0);
		rig_text(rig, 1, "file", "x");
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		CU_ASSERT(wh_sink_progress(rig->sink)->error == -ENOENT);
		CU_ASSERT(rig->answers[0].type == WH_RECORD_REFUSED);
		CU_ASSERT(rig->answers[0].error == ENOENT);
		rig_free(rig);
	}
}

/* Out of descriptors one file fails, and the next does not. */
static void test_no_descriptors(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	struct rlimit limit, small;

	rig_text(rig, 1, "before", "x");
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	small = limit;
	small.rlim_cur = 3;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &small) == 0);
	rig_text(rig, 2, "without", "x");
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	rig_text(rig, 3, "after", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 2, EMFILE, WH_DOING_CREATING));
	CU_ASSERT(rig_holds_text(rig, "before", "x") && rig_holds_text(rig, "after", "x"));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.failed == 1);
	rig_free(rig);
}

static void test_longest_path(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	char path[WH_PATH_BYTES_MAX + 1];

	/* 2048 names of a letter each; with a longer first name it is too long. */
	memset(path, '/', WH_PATH_BYTES_MAX);
	for (int i = 0; i < WH_PATH_BYTES_MAX; i += 2)
		path[i] = 'a';
	path[WH_PATH_BYTES_MAX] = '\0';
	rig_open(rig, "bb");
	rig_text(rig, 1, path, "x");
	path[WH_PATH_BYTES_MAX - 2] = '\0';
	rig_text(rig, 2, path, "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, ENAMETOOLONG, WH_DOING_PATH));
	CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 1);
	rig_free(rig);
}

CU_TestInfo wh_tests[] = {
	{"a forged chunk", test_forged_chunk},
	{"lies", test_lies},
	{"links lead nowhere", test_links_lead_nowhere},
	{"a folder becomes a link", test_folder_becomes_link},
	{"a folder becomes a link, not cached", test_folder_becomes_link_uncached},
	{"mutations", test_mutations},
	{"a full disk", test_full_disk},
	{"a read-only disk", test_read_only},
	{"the root vanishes", test_root_vanishes},
	{"no descriptors", test_no_descriptors},
	{"the longest path", test_longest_path},
	CU_TEST_INFO_NULL,
};
