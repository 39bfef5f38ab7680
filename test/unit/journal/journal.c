/* SPDX-License-Identifier: BSD-3-Clause */
#include "journal/journal.h"

#include <sys/file.h>
#include <sys/mman.h>

#include "bundle/staging_name.h"
#include "dying_vfs.h"
#include "folder_rig.h"

const char wh_suite_name[] = "journal";

#define KEEP_S 100

static struct folder folder;
static char path[128];
static int64_t now_s;
static unsigned int said;

static int64_t wall_s(void)
{
	return now_s;
}

static void say(const char *sentence)
{
	CU_ASSERT(sentence[0] != '\0');
	said++;
}

static struct wh_journal *open_journal(void)
{
	const struct wh_journal_config config = {
		.path = path, .keep_s = KEEP_S, .wall_s = wall_s, .say = say};
	struct wh_journal *journal = NULL;

	CU_ASSERT_FATAL(wh_journal_open(&journal, &config) == 0);
	return journal;
}

static struct wh_journal *begin(void)
{
	folder = folder_new("/dev/shm");
	snprintf(path, sizeof(path), "%s/service.db", folder.path);
	CU_ASSERT_FATAL(mkdirat(folder.fd, WH_PARTS_FOLDER, 0700) == 0);
	now_s = 1000;
	said = 0;
	return open_journal();
}

static void end(struct wh_journal *journal)
{
	wh_journal_close(journal);
	folder_free(&folder);
}

static struct wh_journal_target target_of(const char *name)
{
	struct stat status;

	CU_ASSERT_FATAL(fstat(folder.fd, &status) == 0);
	return (struct wh_journal_target){.device = status.st_dev,
		.folder = status.st_ino,
		.path = name,
		.path_bytes = (uint16_t)strlen(name)};
}

static const struct wh_journal_source source = {
	.size_bytes = 1000, .mtime_s = -5, .mtime_ns = 6, .inode = 7, .ctime_s = 8, .ctime_ns = 9};
static const struct wh_journal_owner owner = {.id = "somebody"};

/* A part on the disk, and its row with a span. */
static struct wh_journal_part keep_by(struct wh_journal *journal, const struct wh_journal_owner *by,
	const char *name, uint32_t number, uint64_t from, uint64_t to)
{
	const struct wh_journal_target target = target_of(name);
	struct wh_journal_part part = {.number = number, .spans = 1, .span = {{from, to}}};
	char file[64];
	struct stat status;

	snprintf(file, sizeof(file), WH_PARTS_FOLDER "/%u", number);
	folder_put(&folder, file, "bytes");
	CU_ASSERT_FATAL(fstatat(folder.fd, file, &status, 0) == 0);
	part.inode = status.st_ino;
	CU_ASSERT(wh_journal_note(journal, &target, &source, by, folder.path, &part) == 0);
	return part;
}

static struct wh_journal_part keep(
	struct wh_journal *journal, const char *name, uint32_t number, uint64_t from, uint64_t to)
{
	return keep_by(journal, &owner, name, number, from, to);
}

static int find(struct wh_journal *journal, const char *name, struct wh_journal_part *part)
{
	const struct wh_journal_target target = target_of(name);

	return wh_journal_find(journal, &target, &owner, &source, part);
}

static void test_spans(void)
{
	struct wh_journal *journal = begin();
	struct wh_journal_part part = keep(journal, "d/f", 1, 0, 100), found;
	const struct wh_journal_target target = target_of("d/f");

	CU_ASSERT(part.row != 0);
	part.spans = 2;
	part.span[0] = (struct wh_journal_span){0, 200};
	part.span[1] = (struct wh_journal_span){500, 600};
	CU_ASSERT(wh_journal_note(journal, &target, &source, &owner, folder.path, &part) == 0);
	CU_ASSERT(find(journal, "d/f", &found) == WH_JOURNAL_PART);
	CU_ASSERT(found.row == part.row && found.number == 1 && found.inode == part.inode);
	CU_ASSERT(found.spans == 2 && found.span[0].end == 200 && found.span[1].from == 500);
	/* Less than is known changes nothing; what meets is one. */
	part.spans = 1;
	part.span[0] = (struct wh_journal_span){0, 50};
	CU_ASSERT(wh_journal_note(journal, &target, &source, &owner, folder.path, &part) == 0);
	part.span[0] = (struct wh_journal_span){200, 500};
	CU_ASSERT(wh_journal_note(journal, &target, &source, &owner, folder.path, &part) == 0);
	CU_ASSERT(find(journal, "d/f", &found) == WH_JOURNAL_PART && found.spans == 1);
	CU_ASSERT(found.span[0].from == 0 && found.span[0].end == 600);
	CU_ASSERT(wh_journal_retract(journal, part.row, 500, 1000) == 0);
	CU_ASSERT(find(journal, "d/f", &found) == WH_JOURNAL_PART && found.spans == 1);
	CU_ASSERT(found.span[0].end == 500);
	CU_ASSERT(find(journal, "d", &found) == WH_JOURNAL_NOTHING);
	CU_ASSERT(wh_journal_forget(journal, &part.row, 1) == 0);
	CU_ASSERT(find(journal, "d/f", &found) == WH_JOURNAL_NOTHING);
	/* Whoever still has it learns that it is gone. */
	CU_ASSERT(wh_journal_note(journal, &target, &source, &owner, folder.path, &part) == 0);
	CU_ASSERT(part.row == 0 && said == 0);
	end(journal);
}

static void test_changed(void)
{
	struct wh_journal *journal = begin();
	const struct wh_journal_target target = target_of("f");
	struct wh_journal_part found;
	struct wh_journal_source other[6];

	keep(journal, "f", 1, 0, 100);
	for (int i = 0; i < 6; i++)
		other[i] = source;
	other[0].size_bytes++;
	other[1].mtime_s++;
	other[2].mtime_ns++;
	other[3].inode++;
	other[4].ctime_s++;
	other[5].ctime_ns++;
	for (int i = 0; i < 6; i++)
		CU_ASSERT(wh_journal_find(journal, &target, &owner, &other[i], &found) ==
			  WH_JOURNAL_CHANGED);
	/* A source that tells neither is believed by size and mtime. */
	other[0] = source;
	other[0].inode = other[0].ctime_ns = 0;
	other[0].ctime_s = 0;
	CU_ASSERT(wh_journal_find(journal, &target, &owner, &other[0], &found) == WH_JOURNAL_PART);
	end(journal);
}

/* What another peer has sent is not found, and neither is in the other's way. */
static void test_owners(void)
{
	struct wh_journal *journal = begin();
	const struct wh_journal_owner other = {.id = "other"};
	const struct wh_journal_target target = target_of("f");
	struct wh_journal_part found;

	CU_ASSERT(keep(journal, "f", 1, 0, 100).row != 0);
	CU_ASSERT(wh_journal_find(journal, &target, &other, &source, &found) == WH_JOURNAL_NOTHING);
	CU_ASSERT(keep_by(journal, &other, "f", 2, 0, 50).row != 0);
	CU_ASSERT(wh_journal_find(journal, &target, &other, &source, &found) == WH_JOURNAL_PART);
	CU_ASSERT(found.number == 2 && found.span[0].end == 50);
	CU_ASSERT(find(journal, "f", &found) == WH_JOURNAL_PART && found.number == 1);
	CU_ASSERT(wh_journal_forget(journal, &found.row, 1) == 0);
	CU_ASSERT(wh_journal_find(journal, &target, &other, &source, &found) == WH_JOURNAL_PART);
	end(journal);
}

/* An owner has one part of a path, the first, and so many bytes; others have theirs. */
static void test_limits(void)
{
	struct wh_journal *journal = begin();
	struct wh_journal_owner small = {.id = "small", .bytes_max = 100};
	const struct wh_journal_target target = target_of("b");
	struct wh_journal_part part, found;

	CU_ASSERT(keep(journal, "a", 1, 0, 100).row != 0);
	CU_ASSERT(keep(journal, "a", 2, 0, 100).row == 0);
	CU_ASSERT(find(journal, "a", &found) == WH_JOURNAL_PART && found.number == 1);
	part = keep_by(journal, &small, "b", 3, 0, 60);
	CU_ASSERT(part.row != 0);
	CU_ASSERT(keep_by(journal, &small, "c", 4, 0, 41).row == 0);
	CU_ASSERT(keep_by(journal, &small, "d", 5, 0, 40).row != 0);
	part.span[0].end = 61;
	CU_ASSERT(wh_journal_note(journal, &target, &source, &small, folder.path, &part) == 0);
	CU_ASSERT(part.row == 0 && find(journal, "b", &found) == WH_JOURNAL_NOTHING);
	CU_ASSERT(keep(journal, "e", 6, 0, 1000).row != 0);
	end(journal);
}

static unsigned int rows(struct wh_journal *journal)
{
	struct wh_journal_row *row = calloc(1, sizeof(*row));
	unsigned int count = 0;

	while (wh_journal_next(journal, row->row, row) == 1)
		count++;
	free(row);
	return count;
}

/* What is too old goes, and a row without its part; a clock that goes back keeps all. */
static void test_expire(void)
{
	struct wh_journal *journal = begin();
	struct wh_journal_row *row = calloc(1, sizeof(*row));

	keep(journal, "old", 1, 0, 100);
	now_s += KEEP_S - 1;
	keep(journal, "young", 2, 0, 100);
	keep(journal, "gone", 3, 0, 100);
	keep(journal, "busy", 4, 0, 100);
	CU_ASSERT(unlinkat(folder.fd, WH_PARTS_FOLDER "/3", 0) == 0);
	now_s = 0;
	CU_ASSERT(wh_journal_expire(journal) == 1 && rows(journal) == 3);
	now_s = 1000 + KEEP_S + 1;
	CU_ASSERT(wh_journal_expire(journal) == 1 && rows(journal) == 2);
	CU_ASSERT(!folder_has(&folder, WH_PARTS_FOLDER "/1"));
	CU_ASSERT(folder_has(&folder, WH_PARTS_FOLDER "/2"));
	/* A job is at it. */
	int fd = openat(folder.fd, WH_PARTS_FOLDER "/4", O_RDONLY);

	CU_ASSERT_FATAL(flock(fd, LOCK_EX | LOCK_NB) == 0);
	now_s += 2 * KEEP_S;
	CU_ASSERT(wh_journal_expire(journal) == 1 && rows(journal) == 1);
	CU_ASSERT(wh_journal_next(journal, 0, row) == 1 && strcmp(row->path, "busy") == 0);
	CU_ASSERT(row->durable_bytes == 100 && row->size_bytes == 1000);
	CU_ASSERT_STRING_EQUAL(row->place, folder.path);
	CU_ASSERT(wh_journal_remove(journal, row) == -EBUSY);
	close(fd);
	CU_ASSERT(wh_journal_remove(journal, row) == 0 && rows(journal) == 0);
	CU_ASSERT(!folder_has(&folder, WH_PARTS_FOLDER "/4"));
	free(row);
	end(journal);
}

#define NOTES 5

/* A part that grows, of which no span is noted before it is said that it is down. */
static void grow(void *argument)
{
	uint64_t *down = argument;
	struct wh_journal *journal = open_journal();
	struct wh_journal_part part = {0};
	const struct wh_journal_target target = target_of("f");

	for (uint64_t i = 1; i <= NOTES; i++) {
		*down = 100 * i;
		if (part.row == 0)
			part = keep(journal, "f", 1, 0, *down);
		part.span[0].end = *down;
		if (wh_journal_note(journal, &target, &source, &owner, folder.path, &part) != 0)
			_exit(1);
	}
	wh_journal_forget(journal, &part.row, 1);
	*down = 0;
	wh_journal_close(journal);
}

/* Killed before any write: never more than was down, and at most one note less. */
static void test_killed(void)
{
	uint64_t *down =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned int kills = 0;
	bool killed = true;

	for (unsigned int at = 1; killed; at++) {
		struct wh_journal_part found;

		wh_journal_close(begin());
		*down = 0;
		killed = dying_run(at, grow, down);
		kills += killed;

		struct wh_journal *journal = open_journal();
		int rc = find(journal, "f", &found);

		CU_ASSERT(rc == WH_JOURNAL_PART || rc == WH_JOURNAL_NOTHING);
		CU_ASSERT(rc == WH_JOURNAL_NOTHING ||
			  (found.spans == 1 && found.span[0].end <= *down &&
				  found.span[0].end + 100 >= *down));
		CU_ASSERT(rc == WH_JOURNAL_PART || *down <= 100 || *down == 100 * NOTES);
		CU_ASSERT(said == 0);
		end(journal);
	}
	CU_ASSERT(kills > 15 && *down == 0);
	munmap(down, 4096);
}

CU_TestInfo wh_tests[] = {
	{"spans", test_spans},
	{"changed", test_changed},
	{"owners", test_owners},
	{"limits", test_limits},
	{"expire", test_expire},
	{"killed", test_killed},
	CU_TEST_INFO_NULL,
};
