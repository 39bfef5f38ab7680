/* SPDX-License-Identifier: BSD-3-Clause */

/* When a file has its name, what belongs to it, and what gets in. */

#include "free_room.h"
#include "sink_rig.h"

const char wh_suite_name[] = "sink_names";

/*
 * Content, mode and time are there with the name: in memory long before the batch is due, on a disk
 * after it was synced, and never before.
 */
static void test_when_named(const char *base)
{
	bool at_once = names_at_once(base);
	struct rig *rig = rig_begin(base);
	struct stat status;

	rig_file(rig, 1, "file", 01751, "bytes", 5);
	rig_file(rig, 2, "folder/file", 0604, "more", 4);
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT(rig->answer_count == 0);
	CU_ASSERT(rig_holds(rig, "file", "bytes", 5) == at_once);
	CU_ASSERT(rig_looks(rig, "file", 01751) == at_once);
	CU_ASSERT(rig_looks(rig, "folder/file", 0604) == at_once);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.files == 2 && rig->totals.bytes == 9 && rig->totals.failed == 0);
	CU_ASSERT(rig_holds(rig, "file", "bytes", 5) && rig_looks(rig, "file", 01751));
	CU_ASSERT(rig_holds(rig, "folder/file", "more", 4));
	CU_ASSERT(stat(rig_path(rig, "folder/file"), &status) == 0 && status.st_nlink == 1);
	CU_ASSERT(rig_looks(rig, "folder/file", 0604) && rig_count(rig->root) == 3);
	rig_free(rig);
}

/* The folder was empty when it was opened; what has the name since is replaced nevertheless. */
static void test_taken_meanwhile(const char *base)
{
	struct rig *rig = rig_begin(base);

	rig_text(rig, 1, "folder/first", "1");
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	rig_make_file(rig, "folder/second", "another's", 9);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder/third"), 0755) == 0);
	CU_ASSERT_FATAL(mkfifo(rig_path(rig, "folder/fourth"), 0600) == 0);
	rig_text(rig, 2, "folder/second", "2");
	rig_text(rig, 3, "folder/third", "3");
	rig_text(rig, 4, "folder/fourth", "4");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_holds_text(rig, "folder/second", "2"));
	CU_ASSERT(rig_failed(rig, 3, EISDIR, WH_DOING_RENAMING));
	CU_ASSERT(rig_failed(rig, 4, EEXIST, WH_DOING_RENAMING));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.failed == 2);
	CU_ASSERT(rig_count(rig->root) == 5);
	rig_free(rig);
}

static bool is_kind(const struct rig *rig, const char *name, mode_t kind)
{
	struct stat status;

	return lstat(rig_path(rig, name), &status) == 0 && (status.st_mode & S_IFMT) == kind;
}

/* Pipes, sockets and devices stay what they are, whatever should take their place. */
static void test_not_replaced(const char *base)
{
	struct rig *rig = rig_begin(base);

	CU_ASSERT_FATAL(mkfifo(rig_path(rig, "small"), 0600) == 0);
	CU_ASSERT_FATAL(mkfifo(rig_path(rig, "large"), 0600) == 0);
	CU_ASSERT_FATAL(mkfifo(rig_path(rig, "link"), 0600) == 0);
	CU_ASSERT_FATAL(mkfifo(rig_path(rig, "folder"), 0600) == 0);
	CU_ASSERT_FATAL(mknod(rig_path(rig, "socket"), S_IFSOCK | 0600, 0) == 0);
	rig_text(rig, 1, "small", "x");
	rig_ask(rig, 2, "large", 0644, RIG_CHUNK_BYTES);
	rig_link(rig, 3, "link", "small");
	rig_folder(rig, 4, "folder", 0755);
	rig_text(rig, 5, "socket", "x");
	rig_text(rig, 6, "file", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, EEXIST, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 2, EEXIST, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 3, EEXIST, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 4, ENOTDIR, WH_DOING_CREATING));
	CU_ASSERT(rig_failed(rig, 5, EEXIST, WH_DOING_CREATING));
	CU_ASSERT(is_kind(rig, "small", S_IFIFO) && is_kind(rig, "large", S_IFIFO));
	CU_ASSERT(is_kind(rig, "link", S_IFIFO) && is_kind(rig, "folder", S_IFIFO));
	CU_ASSERT(is_kind(rig, "socket", S_IFSOCK) && rig_holds_text(rig, "file", "x"));
	CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 5);
	CU_ASSERT(rig_count(rig->root) == 6);
	rig_free(rig);
}

static void fail_at_source(struct rig *rig, uint64_t id)
{
	rig_file_end(rig, id, NULL, EIO, WH_DOING_READING);
}

#define TENTH (UINT64_C(100) << 20)

/*
 * In memory nothing is reserved: files get in as long as all that did have room together, whatever
 * lane they came by.
 */
static void test_room_in_memory(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	struct rig *lane = rig_begin(rig_bases[0]);

	free_room.told = true;
	free_room.blocks = 20 * TENTH / FREE_ROOM_BLOCK_BYTES;
	free_room.free_blocks = 10 * TENTH / FREE_ROOM_BLOCK_BYTES;
	rig_ask(rig, 1, "six", 0644, 6 * TENTH);
	rig_await(rig, WH_RECORD_WANT, 1);
	rig_ask(rig, 2, "five", 0644, 5 * TENTH);
	rig_await(rig, WH_RECORD_OUTCOME, 2);
	CU_ASSERT(rig_failed(rig, 2, ENOSPC, WH_DOING_RESERVING));
	rig_ask(lane, 1, "five there", 0644, 5 * TENTH);
	rig_await(lane, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_failed(lane, 1, ENOSPC, WH_DOING_RESERVING));
	rig_ask(lane, 2, "three", 0644, 3 * TENTH);
	rig_await(lane, WH_RECORD_WANT, 2);
	fail_at_source(rig, 1);
	rig_ask(rig, 3, "seven", 0644, 7 * TENTH);
	rig_await(rig, WH_RECORD_WANT, 3);
	rig_ask(lane, 3, "a byte", 0644, 1);
	rig_await(lane, WH_RECORD_OUTCOME, 3);
	CU_ASSERT(rig_failed(lane, 3, ENOSPC, WH_DOING_RESERVING));
	rig_free(lane);
	rig_ask(rig, 4, "three again", 0644, 3 * TENTH);
	rig_await(rig, WH_RECORD_WANT, 4);
	rig_ask(rig, 5, "more than all", 0644, UINT64_C(1) << 60);
	rig_await(rig, WH_RECORD_OUTCOME, 5);
	CU_ASSERT(rig_failed(rig, 5, ENOSPC, WH_DOING_RESERVING));
	CU_ASSERT(rig_room.device[0].promised_bytes == 10 * TENTH);
	fail_at_source(rig, 3);
	fail_at_source(rig, 4);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.files == 0 && rig->totals.failed == 5);
	CU_ASSERT(rig_count(rig->root) == 0);
	rig_free(rig);
	free_room.told = false;
}

/* A file larger than all that is free gets in if its data fit, and so does it arrive. */
static void test_room_of_holes(const char *base)
{
	struct rig *rig = rig_begin(base);
	uint8_t *content = content_of(5 * RIG_CHUNK_BYTES, 8);
	struct wh_digest digest;
	struct stat status;

	memset(content + RIG_CHUNK_BYTES, 0, 3 * RIG_CHUNK_BYTES);
	digest = digest_of(content, 5 * RIG_CHUNK_BYTES);
	free_room.told = true;
	free_room.blocks = TENTH;
	free_room.free_blocks = 3 * RIG_CHUNK_BYTES / FREE_ROOM_BLOCK_BYTES;
	rig_ask(rig, 1, "dense", 0644, 5 * RIG_CHUNK_BYTES);
	rig_await(rig, WH_RECORD_OUTCOME, 1);
	CU_ASSERT(rig_failed(rig, 1, ENOSPC, WH_DOING_RESERVING));
	rig_ask_sparse(rig, 2, "sparse", 0644, 5 * RIG_CHUNK_BYTES, 3 * RIG_CHUNK_BYTES);
	rig_await(rig, WH_RECORD_WANT, 2);
	rig_extent(rig, 2, 0, content, 5 * RIG_CHUNK_BYTES);
	rig_file_end(rig, 2, &digest, 0, 0);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	free_room.told = false;
	CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 1);
	CU_ASSERT(rig_holds(rig, "sparse", content, 5 * RIG_CHUNK_BYTES));
	CU_ASSERT(fstatat(rig->root_fd, "sparse", &status, 0) == 0);
	CU_ASSERT((uint64_t)status.st_blocks * 512 <= 2 * RIG_CHUNK_BYTES + 4096);
	rig_free(rig);
	free(content);
	for (int i = 0; i < WH_ROOM_DEVICES; i++)
		CU_ASSERT(rig_room.device[i].promised_bytes == 0);
}

/* Files that are announced and do not come hold what their owner may, and not a block. */
static void test_claims(const char *base)
{
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "");
	uint64_t promised = 0;
	enum wh_doing doing;
	char name[16];

	struct wh_room_share share = {.most_bytes = 5 << 20};

	config.share = &share;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	for (uint64_t id = 1; id <= 8; id++) {
		snprintf(name, sizeof(name), "%d", (int)id);
		rig_ask(rig, id, name, 0644, UINT64_C(64) << 20);
		rig_await(rig, WH_RECORD_WANT, id);
	}
	for (int i = 0; i < WH_ROOM_DEVICES; i++)
		promised += rig_room.device[i].promised_bytes;
	CU_ASSERT(promised == 5 << 20 && share.promised_bytes == promised);
	CU_ASSERT(rig_blocks(rig->root) <= 8 * 4096);
	rig_free(rig);
	CU_ASSERT(share.promised_bytes == 0);
	for (int i = 0; i < WH_ROOM_DEVICES; i++)
		CU_ASSERT(rig_room.device[i].promised_bytes == 0);
}

/* One that is as large as all that is free keeps no more than half of it from others. */
static void test_claim_of_all(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	struct rig *other = rig_new(rig_bases[0]);
	struct wh_sink_config config = rig_config(rig, "");
	struct wh_sink_config other_config = rig_config(other, "");
	enum wh_doing doing;

	free_room.told = true;
	free_room.blocks = 20 * TENTH / FREE_ROOM_BLOCK_BYTES;
	free_room.free_blocks = 10 * TENTH / FREE_ROOM_BLOCK_BYTES;
	struct wh_room_share share = {.most_bytes = UINT64_C(1) << 40};

	config.share = other_config.share = &share;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	CU_ASSERT_FATAL(wh_sink_open(&other->sink, &other_config, &doing) == 0);
	rig_ask(rig, 1, "all", 0644, 10 * TENTH);
	rig_await(rig, WH_RECORD_WANT, 1);
	CU_ASSERT(rig_room.device[0].promised_bytes == 5 * TENTH);
	rig_ask(other, 1, "four", 0644, 4 * TENTH);
	rig_await(other, WH_RECORD_WANT, 1);
	CU_ASSERT(rig_room.device[0].promised_bytes == 5 * TENTH);
	rig_free(other);
	rig_free(rig);
	free_room.told = false;
	CU_ASSERT(rig_room.device[0].promised_bytes == 0);
}

/* A folder told again and again takes no more memory than a sink may have for folders. */
static void test_folder_memory(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;

	config.folder_log_max_bytes = 10 * (48 + 6);
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	for (uint64_t id = 1; id <= 12; id++)
		rig_folder(rig, id, "folder", 0750);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.failed == 2 && rig_failed(rig, 11, ENOMEM, WH_DOING_ATTRIBUTES));
	CU_ASSERT(rig_looks(rig, "folder", 0750));
	rig_free(rig);
}

/* A file's room is its own as it is written: the last one takes exactly what is left. */
static void test_room_while_written(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	uint8_t *content = content_of(2 * RIG_CHUNK_BYTES, 3);

	rig_ask(rig, 1, "file", 0644, 2 * RIG_CHUNK_BYTES);
	rig_await(rig, WH_RECORD_WANT, 1);
	CU_ASSERT(rig_room.device[0].promised_bytes == 2 * RIG_CHUNK_BYTES);
	rig_extent(rig, 1, 0, content, RIG_CHUNK_BYTES);
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT(rig_room.device[0].promised_bytes == RIG_CHUNK_BYTES);
	rig_free(rig);
	CU_ASSERT(rig_room.device[0].promised_bytes == 0);
	free(content);
}

/* Modes are the source's, whatever the umask. */
static void test_umask(const char *base)
{
	static const uint16_t modes[] = {0644, 0644, 0666, 0, 0777, 0644, 0600, 0100, 0400};
	mode_t kept = umask(0077);
	struct rig *rig = rig_begin(base);
	char name[8];

	for (size_t i = 0; i < RIG_COUNT(modes); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		rig_file(rig, i + 1, name, modes[i], "x", 1);
	}
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (size_t i = 0; i < RIG_COUNT(modes); i++) {
		snprintf(name, sizeof(name), "%zu", i);
		CU_ASSERT(rig_looks(rig, name, modes[i]));
	}
	umask(kept);
	rig_free(rig);
}

BOTH(when_named)
BOTH(umask)
BOTH(room_of_holes)
BOTH(claims)
BOTH(taken_meanwhile)
BOTH(not_replaced)

CU_TestInfo wh_tests[] = {
	{"a name with all that belongs to it", both_when_named},
	{"umask", both_umask},
	{"taken meanwhile", both_taken_meanwhile},
	{"not replaced", both_not_replaced},
	{"room in memory", test_room_in_memory},
	{"room of holes", both_room_of_holes},
	{"claims", both_claims},
	{"claim of all", test_claim_of_all},
	{"memory for folders", test_folder_memory},
	{"room while written", test_room_while_written},
	CU_TEST_INFO_NULL,
};
