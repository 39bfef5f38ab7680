/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: a database that a disk or a hand has changed. The input says which bytes of a good
 * one, or of its log, are others. It opens, mended or anew, or not; no call ends the process, and
 * what is found of a part is a list of spans.
 */

#include "journal/journal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "fuzz.h"
#include "script_input.h"

#define FILE_BYTES_MAX (1 << 18)
#define PARTS          40
#define NOW_S          1000000
#define NO_FOLDER      "/dev/null" /* so that parts are not looked for, and stay */

static char folder[] = "/dev/shm/wh_fuzz_journal_XXXXXX";
static char path[64], log_path[80];
static struct {
	size_t bytes;
	uint8_t data[FILE_BYTES_MAX];
} files[2]; /* the database, and its log */

static uint64_t opened, told, found;

static int64_t read_wall(void)
{
	return NOW_S;
}

static void say(const char *sentence)
{
	told += sentence[0] != '\0';
}

static const struct wh_journal_config config = {
	.path = path, .keep_s = 1000, .wall_s = read_wall, .say = say};

static const struct wh_journal_source source = {.size_bytes = 1 << 30, .mtime_s = 7, .inode = 5};

static struct wh_journal_target target_of(uint32_t i, char name[16])
{
	return (struct wh_journal_target){.device = 1,
		.folder = 2,
		.path = name,
		.path_bytes = (uint16_t)snprintf(name, 16, "file%u", i)};
}

static void note_all(struct wh_journal *journal)
{
	const struct wh_journal_owner owner = {.id = {1}};
	char name[16];

	for (uint32_t i = 0; i < PARTS; i++) {
		const struct wh_journal_target target = target_of(i, name);
		struct wh_journal_part part = {.number = i,
			.inode = 100 + i,
			.spans = 2,
			.span = {{0, 1 << 20}, {1 << 21, (1 << 21) + i}}};

		WH_ASSERT(
			wh_journal_note(journal, &target, &source, &owner, NO_FOLDER, &part) == 0);
	}
}

static void keep(uint32_t which, const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? -1 : read(fd, files[which].data, FILE_BYTES_MAX);

	WH_ASSERT(bytes > 0 && bytes < FILE_BYTES_MAX);
	files[which].bytes = (size_t)bytes;
	close(fd);
}

/* With what is made of a database that is damaged. */
static void remove_files(void)
{
	static const char *const tails[] = {
		"", "-wal", "-shm", ".damaged", ".damaged-wal", ".damaged-shm", "-journal"};
	char name[100];

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		unlink(name);
	}
}

static void remove_folder(void)
{
	remove_files();
	rmdir(folder);
}

/* Half of it is in the database, the rest in the log. */
static void make_good_one(void)
{
	struct wh_journal *journal;

	WH_ASSERT(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
	snprintf(path, sizeof(path), "%s/service.db", folder);
	snprintf(log_path, sizeof(log_path), "%s-wal", path);
	WH_ASSERT(wh_journal_open(&journal, &config) == 0);
	note_all(journal);
	wh_journal_close(journal);
	WH_ASSERT(wh_journal_open(&journal, &config) == 0);
	note_all(journal);
	keep(0, path);
	keep(1, log_path);
	wh_journal_close(journal);
}

static void write_file(uint32_t which, const char *name, struct wh_script *script)
{
	static uint8_t data[FILE_BYTES_MAX];
	size_t bytes = files[which].bytes;
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memcpy(data, files[which].data, bytes);
	for (uint64_t count = wh_script_below(script, 6); count > 0; count--) {
		/* Heads of the file and of its pages are looked at first. */
		uint64_t at = wh_script_below(script, bytes);

		if (wh_script_one_in(script, 2))
			at = at / 4096 * 4096 + wh_script_below(script, 128);
		if (at < bytes)
			data[at] = (uint8_t)wh_script_below(script, 256);
	}
	if (wh_script_one_in(script, 8))
		bytes = wh_script_below(script, bytes);
	WH_ASSERT(fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes);
	close(fd);
}

static const struct wh_journal_owner owner = {.id = {2}};

static void look(struct wh_journal *journal)
{
	static struct wh_journal_row row;
	struct wh_journal_part part;
	uint32_t rows = 0;
	char name[16];

	for (uint32_t i = 0; i < 4; i++) {
		const struct wh_journal_target target = target_of(i * 9, name);

		if (wh_journal_find(journal, &target, &owner, &source, &part) <= 0)
			continue;
		found++;
		WH_ASSERT(part.spans <= WH_JOURNAL_SPANS_MAX);
		for (uint32_t s = 0; s < part.spans; s++)
			WH_ASSERT(part.span[s].from < part.span[s].end);
		wh_journal_retract(journal, part.row, 0, 1 << 20);
		wh_journal_forget(journal, &part.row, 1);
	}
	for (row.row = 0; wh_journal_next(journal, row.row, &row) == 1; rows++)
		WH_ASSERT(memchr(row.path, '\0', sizeof(row.path)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct wh_journal_part part = {.number = 1, .inode = 1, .spans = 1, .span = {{0, 5}}};
	struct wh_journal *journal;
	struct wh_script script;
	char name[16];
	const struct wh_journal_target target = target_of(PARTS, name);

	if (path[0] == '\0')
		make_good_one();
	wh_script_init(&script, bytes, length);
	write_file(0, path, &script);
	if (wh_script_one_in(&script, 2))
		write_file(1, log_path, &script);
	if (wh_journal_open(&journal, &config) == 0) {
		opened++;
		look(journal);
		wh_journal_note(journal, &target, &source, &owner, NO_FOLDER, &part);
		look(journal);
		wh_journal_close(journal);
	}
	remove_files();
	return 0;
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " opened, %" PRIu64 " sentences, %" PRIu64 " parts found\n", opened, told,
		found);
}
