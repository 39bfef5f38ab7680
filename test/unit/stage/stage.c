/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/stage.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "bundle/staging_name.h"
#include "folder_rig.h"
#include "names_at_once.h"

const char wh_suite_name[] = "stage";

#define HZ       UINT64_C(1000000000)
#define MS       (HZ / 1000)
#define POLLS    30000000
#define NO_ERROR 4711 /* *error was not written */

static const char *const bases[] = {"/dev/shm", "/tmp"};

static _Atomic bool sync_hangs;

/* As the kernel's, with a disk that may hang. */
int syncfs(int fd)
{
	while (atomic_load(&sync_hangs))
		sched_yield();
	return (int)syscall(SYS_syncfs, fd);
}

static struct wh_stage *new_stage(const struct folder *folder)
{
	struct wh_stage *stage = NULL;

	CU_ASSERT_FATAL(wh_stage_open(&stage, folder->fd, HZ, INT64_MIN) == 0);
	await_background();
	return stage;
}

/* Stages a file of this text and adds it. */
static void add(struct wh_stage *stage, uint64_t id, const char *path, uint64_t now_tsc)
{
	struct wh_staged file = {
		.id = id,
		.bytes = strlen(path),
		.path = path,
		.path_bytes = (uint16_t)strlen(path),
		.kind = WH_ENTRY_FILE,
	};
	int fd = wh_stage_create(stage, 0600, &file.number);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_FATAL(write(fd, path, strlen(path)) == (ssize_t)strlen(path));
	CU_ASSERT(wh_stage_identify(fd, file.bytes + 1, &file.identity) == -EIO);
	CU_ASSERT(wh_stage_identify(fd, file.bytes, &file.identity) == 0);
	close(fd);
	wh_stage_add(stage, &file, now_tsc);
}

/* Waits for the thread. */
static const struct wh_staged *take(struct wh_stage *stage)
{
	int error = NO_ERROR;

	for (int i = 0; i < POLLS && wh_stage_is_committing(stage); i++) {
		const struct wh_staged *file = wh_stage_take(stage, &error);

		if (file != NULL) {
			CU_ASSERT(error == 0);
			return file;
		}
		sched_yield();
	}
	return NULL;
}

static void test_way_of_a_file(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct folder folder = folder_new(bases[i]);
		struct wh_stage *stage = new_stage(&folder);
		const struct wh_staged *file;
		char text[8];

		CU_ASSERT(folder_count(&folder) == 0 && !wh_stage_exists(stage));
		CU_ASSERT(wh_stage_prepare(stage) == 0 && wh_stage_prepare(stage) == 0);
		CU_ASSERT(folder_count(&folder) == 1 && wh_stage_exists(stage));
		CU_ASSERT(wh_stage_is_empty(stage) && wh_stage_least_id(stage) == UINT64_MAX);
		add(stage, 7, "seven", 0);
		add(stage, 3, "three", 0);
		CU_ASSERT(!wh_stage_is_empty(stage) && wh_stage_least_id(stage) == 3);
		CU_ASSERT(take(stage) == NULL); /* not sealed */
		wh_stage_seal(stage, 0, false, true);
		CU_ASSERT(wh_stage_is_committing(stage));
		add(stage, 2, "two", 0); /* while that one is being synced */
		wh_stage_seal(stage, 0, false, true);
		CU_ASSERT(wh_stage_least_id(stage) == 2);
		file = take(stage);
		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		CU_ASSERT(file->id == 7 && memcmp(file->path, "seven", 5) == 0);
		CU_ASSERT(wh_stage_rename(stage, file, folder.fd, "final") == 0);
		CU_ASSERT(wh_stage_rename(stage, file, folder.fd, "again") == -ESTALE);
		file = take(stage);
		CU_ASSERT(file != NULL && file->id == 3);
		wh_stage_remove(stage, file->number);
		CU_ASSERT(take(stage) == NULL);
		CU_ASSERT(!wh_stage_is_committing(stage) && !wh_stage_is_empty(stage));
		CU_ASSERT(wh_stage_least_id(stage) == 2);
		wh_stage_seal(stage, 0, false, true);
		file = take(stage);
		CU_ASSERT(file != NULL && file->id == 2 && file->bytes == 3);
		CU_ASSERT(wh_stage_rename(stage, file, folder.fd, "link to come") == 0);
		CU_ASSERT(take(stage) == NULL && wh_stage_is_empty(stage));

		struct wh_staged link = {.id = 9, .kind = WH_ENTRY_LINK, .path = "l"};

		CU_ASSERT(wh_stage_create_link(stage, "nowhere", &link) == 0);
		CU_ASSERT(wh_stage_rename(stage, &link, folder.fd, "link to come") == 0);
		CU_ASSERT(readlinkat(folder.fd, "link to come", text, sizeof(text)) == 7);
		wh_stage_close(stage);
		CU_ASSERT(folder_has(&folder, "final") && folder_count(&folder) == 2);
		folder_free(&folder);
	}
}

static void test_reopen(void)
{
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);
	struct stat status;
	struct wh_staged link;
	uint32_t number;

	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	for (uint32_t i = 0; i < 12; i++) {
		int fd = wh_stage_create(stage, 0600, &number);

		CU_ASSERT(fd >= 0 && number == i);
		CU_ASSERT(fstat(fd, &status) == 0 && (status.st_mode & 07777) == 0600);
		close(fd);
	}

	int fd = wh_stage_reopen(stage, number, false, status.st_ino);

	CU_ASSERT(fd >= 0 && write(fd, "x", 1) == 1);
	close(fd);
	CU_ASSERT(wh_stage_reopen(stage, number, false, status.st_ino + 1) == -ESTALE);
	CU_ASSERT(wh_stage_reopen(stage, 12, false, status.st_ino) == -ENOENT);
	CU_ASSERT(wh_stage_create_link(stage, "/etc/passwd", &link) == 0);
	CU_ASSERT(wh_stage_reopen(stage, link.number, false, link.identity.inode) == -ELOOP);
	wh_stage_close(stage);
	CU_ASSERT(folder_count(&folder) == 0);
	folder_free(&folder);
}

/* What an open file is, as far as it tells. */
static struct stat status_of(int fd)
{
	struct stat status = {0};

	CU_ASSERT(fstat(fd, &status) == 0);
	return status;
}

/* By the umask of the moment; it is asked for once for a run of files of one mode. */
static void test_keeps_mode(void)
{
	static const struct {
		mode_t umask;
		uint16_t mode;
		bool keeps;
	} cases[] = {
		{0022, 0644, true},
		{0022, 0666, false},
		{0022, 0755, true},
		{0077, 0644, false},
		{0077, 0600, true},
		{0, 01777, true},
		{0777, 0, true},
	};
	mode_t kept = umask(0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct folder folder = folder_new(bases[i % 2]);
		struct wh_stage *stage = new_stage(&folder);
		uint32_t number;

		CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
		umask(cases[i].umask);

		int fd = wh_stage_create(stage, cases[i].mode, &number);

		CU_ASSERT_FATAL(fd >= 0);
		CU_ASSERT(wh_stage_keeps_mode(stage, fd, cases[i].mode) == cases[i].keeps);
		CU_ASSERT(((status_of(fd).st_mode & 07777) == cases[i].mode) == cases[i].keeps);
		/* The answer holds for the next of that mode, and for no other. */
		CU_ASSERT(wh_stage_keeps_mode(stage, -1, cases[i].mode) == cases[i].keeps);
		CU_ASSERT(!wh_stage_keeps_mode(stage, fd, 0123));
		CU_ASSERT(!wh_stage_keeps_mode(stage, -1, cases[i].mode));
		close(fd);
		umask(0);
		wh_stage_close(stage);
		folder_free(&folder);
	}
	umask(kept);
}

static void test_unnamed(void)
{
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);

	CU_ASSERT(!wh_stage_can_name(stage));
	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	CU_ASSERT(wh_stage_can_name(stage) == names_at_once(bases[0]));
	if (!wh_stage_can_name(stage)) {
		wh_stage_close(stage);
		folder_free(&folder);
		return;
	}
	CU_ASSERT(wh_stage_prepare(stage) == 0 && wh_stage_can_name(stage));

	int fd = wh_stage_create_unnamed(stage, 0640);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT((status_of(fd).st_mode & 07777) == 0640 && status_of(fd).st_nlink == 0);
	CU_ASSERT(write(fd, "x", 1) == 1);
	folder_put(&folder, "taken", "other");
	CU_ASSERT(wh_stage_name(fd, folder.fd, "taken") == -EEXIST);
	CU_ASSERT(status_of(fd).st_nlink == 0);
	/* With a number it goes the way of all. */
	struct wh_staged file = {0};

	CU_ASSERT(wh_stage_number(stage, fd, &file.number) == 0 && file.number == 0);
	CU_ASSERT(wh_stage_identify(fd, 1, &file.identity) == 0);
	close(fd);
	CU_ASSERT(wh_stage_rename(stage, &file, folder.fd, "taken") == 0);
	fd = wh_stage_create_unnamed(stage, 0600);
	CU_ASSERT(wh_stage_name(fd, folder.fd, "free") == 0 && status_of(fd).st_nlink == 1);
	close(fd);
	fd = openat(folder.fd, "taken", O_RDONLY);
	CU_ASSERT(status_of(fd).st_size == 1);
	close(fd);
	/* One that has neither leaves nothing; the others stay. */
	close(wh_stage_create_unnamed(stage, 0600));
	wh_stage_close(stage);
	CU_ASSERT(folder_has(&folder, "free") && folder_count(&folder) == 2);
	folder_free(&folder);
}

/* Where a sync has to come first, nothing is named before it. */
static void test_unnamed_on_disk(void)
{
	struct folder folder = folder_new(bases[1]);
	struct wh_stage *stage = new_stage(&folder);

	CU_ASSERT(wh_stage_prepare(stage) == 0);
	CU_ASSERT(wh_stage_can_name(stage) == names_at_once(bases[1]));
	wh_stage_close(stage);
	folder_free(&folder);
}

static bool seals(struct wh_stage *stage, uint64_t now_tsc, bool quiet)
{
	wh_stage_seal(stage, now_tsc, quiet, false);
	return wh_stage_is_committing(stage);
}

static void drain(struct wh_stage *stage)
{
	for (const struct wh_staged *file; (file = take(stage)) != NULL;)
		wh_stage_remove(stage, file->number);
}

static void test_when_due(void)
{
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);
	const uint64_t start = 5 * HZ;

	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	CU_ASSERT(!seals(stage, UINT64_MAX, true)); /* there is nothing in it */
	add(stage, 1, "a", start);
	add(stage, 2, "b", start + 100 * MS);
	CU_ASSERT(wh_stage_least_id(stage) == 1);
	CU_ASSERT(!seals(stage, start + WH_BATCH_QUIET_MS * MS - 1, true));
	CU_ASSERT(!seals(stage, start + WH_BATCH_QUIET_MS * MS, false));
	CU_ASSERT(seals(stage, start + WH_BATCH_QUIET_MS * MS, true));
	drain(stage);
	add(stage, 3, "c", start);
	CU_ASSERT(!seals(stage, start + WH_BATCH_AGE_MS * MS - 1, false));
	CU_ASSERT(seals(stage, start + WH_BATCH_AGE_MS * MS, false));
	drain(stage);
	wh_stage_close(stage);
	folder_free(&folder);
}

/* A batch ends at files, at bytes of paths, at bytes; then it is due at once. */
static void test_full(void)
{
	static char path[WH_PATH_BYTES_MAX];
	static const struct {
		uint64_t bytes;
		uint16_t path_bytes;
		uint32_t files;
	} cases[] = {
		{0, 1, WH_BATCH_FILES},
		{0, WH_PATH_BYTES_MAX, WH_BATCH_PATH_BYTES / WH_PATH_BYTES_MAX},
		{WH_BATCH_BYTES, 1, 1},
		{WH_BATCH_BYTES - 1, 1, 2},
	};
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);

	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	memset(path, 'p', sizeof(path));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_staged file = {.bytes = cases[i].bytes,
			.path = path,
			.path_bytes = cases[i].path_bytes,
			.kind = WH_ENTRY_FILE};
		uint32_t files = 0;

		while (wh_stage_has_room(stage)) {
			CU_ASSERT(!seals(stage, 0, true));
			file.number = files++;
			wh_stage_add(stage, &file, 0);
		}
		CU_ASSERT(files == cases[i].files);
		CU_ASSERT(seals(stage, 0, false));
		CU_ASSERT(wh_stage_has_room(stage)); /* the other one */
		for (uint32_t n = 0; n < files; n++) {
			const struct wh_staged *taken = take(stage);

			CU_ASSERT_FATAL(taken != NULL);
			CU_ASSERT(taken->number == n);
			CU_ASSERT(memcmp(taken->path, path, cases[i].path_bytes) == 0);
		}
		CU_ASSERT(take(stage) == NULL);
	}
	wh_stage_close(stage);
	folder_free(&folder);
}

static void test_sync(void)
{
	for (size_t i = 0; i < 2; i++) {
		struct folder folder = folder_new(bases[i]);
		struct wh_stage *stage = new_stage(&folder);

		CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
		for (int again = 0; again < 2; again++) {
			int rc = -EINPROGRESS;

			for (int n = 0; n < POLLS && rc == -EINPROGRESS; n++) {
				rc = wh_stage_sync(stage);
				sched_yield();
			}
			CU_ASSERT(rc == 0);
		}
		/* Closed in the middle of one. */
		wh_stage_sync(stage);
		wh_stage_close(stage);
		CU_ASSERT(folder_count(&folder) == 0);
		folder_free(&folder);
	}
}

static void test_abandon(void)
{
	struct folder folder = folder_new(bases[1]);
	struct wh_stage *stage = new_stage(&folder);

	wh_stage_abandon(stage); /* of nothing */
	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	add(stage, 1, "a", 0);
	wh_stage_seal(stage, 0, false, true);
	add(stage, 2, "b", 0);
	wh_stage_abandon(stage);
	CU_ASSERT(folder_count(&folder) == 0);
	wh_stage_close(stage);
	wh_stage_close(NULL);
	folder_free(&folder);
}

/* Each has its own folder, and one that lives is left alone by the next. */
static void test_two(void)
{
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);

	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	add(stage, 1, "a", 0);

	struct wh_stage *other = new_stage(&folder);

	CU_ASSERT_FATAL(wh_stage_prepare(other) == 0);
	CU_ASSERT(folder_count(&folder) == 2);
	wh_stage_close(other);
	CU_ASSERT(folder_count(&folder) == 1);
	wh_stage_seal(stage, 0, false, true);
	CU_ASSERT(wh_stage_rename(stage, take(stage), folder.fd, "a") == 0);
	wh_stage_close(stage);
	CU_ASSERT(folder_has(&folder, "a") && folder_count(&folder) == 1);
	folder_free(&folder);
}

/* A disk that does not end a sync holds nobody up but the batch. */
static void test_close_while_syncing(void)
{
	struct folder folder = folder_new(bases[1]);
	int before = folder_descriptors();
	struct wh_stage *stage = new_stage(&folder);

	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	add(stage, 1, "a", 0);
	atomic_store(&sync_hangs, true);
	wh_stage_seal(stage, 0, false, true);
	CU_ASSERT(wh_stage_is_committing(stage));
	wh_stage_close(stage);
	CU_ASSERT(wh_background_count() > 0); /* we are here while it hangs */
	atomic_store(&sync_hangs, false);
	CU_ASSERT(folder_count(&folder) == 0);
	CU_ASSERT(folder_descriptors() == before);
	folder_free(&folder);
}

/* What is replaced or discarded goes, large or small, and its descriptors with it. */
static void test_large_go_background(void)
{
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);
	int before = folder_descriptors();
	uint32_t number;

	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	for (uint64_t bytes = 1; bytes <= WH_BACKGROUND_BYTES; bytes *= WH_BACKGROUND_BYTES) {
		close(wh_stage_create(stage, 0600, &number));
		CU_ASSERT(folder_count(&folder) == 1);
		wh_stage_discard(stage, &(struct wh_staged){.number = number, .bytes = bytes});
		await_background();
		CU_ASSERT(wh_stage_reopen(stage, number, false, 0) == -ENOENT);
	}
	folder_put(&folder, "old", "x");
	CU_ASSERT(wh_stage_hold(folder.fd, "old", WH_BACKGROUND_BYTES - 1) == -1);

	int held_fd = wh_stage_hold(folder.fd, "old", WH_BACKGROUND_BYTES);

	CU_ASSERT(held_fd >= 0);
	wh_stage_let_go(held_fd);
	wh_stage_let_go(-1);
	wh_stage_close(stage);
	CU_ASSERT(folder_descriptors() == before);
	folder_free(&folder);
}

static void test_cannot_be_made(void)
{
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);
	int before = folder_descriptors();

	CU_ASSERT_FATAL(rmdir(folder.path) == 0);
	CU_ASSERT(wh_stage_prepare(stage) == -ENOENT && !wh_stage_exists(stage));
	CU_ASSERT(folder_descriptors() == before);
	wh_stage_close(stage);
	folder_free(&folder);
}

static void test_names(void)
{
	static const struct {
		const char *path;
		bool has;
	} cases[] = {
		{".wavehaul-abcdef.part", true},
		{".wavehaul-abcdef.part/x", true},
		{"x/.wavehaul-abcdef.part", true},
		{"x/.wavehaul-abcdef.part/y", true},
		{"x.wavehaul-abcdef.part/y", false},
		{".wavehaul-abcdef.partx", false},
		{".wavehaul-abcde/.part", false},
		{".wavehaul-.part", true}, /* whatever the letters, whatever the case */
		{"x/.WaveHaul-0x1.Part/y", true},
		{".wavehaul-par", false},
		{".wavehaul.part", false},
		{"x", false},
	};
	const unsigned char random[WH_STAGING_LETTERS] = {0, 25, 26, 255, 51, 1};
	char name[WH_STAGING_NAME_BYTES + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CU_ASSERT(wh_path_has_staging_name(cases[i].path, strlen(cases[i].path)) ==
			  cases[i].has);
	wh_staging_name(name, random);
	CU_ASSERT_STRING_EQUAL(name, ".wavehaul-azavzbaaaaaaaaaaaaaaaaaaaa.part");
	CU_ASSERT(wh_is_staging_name(name, strlen(name)));
}

/* What was put in a file's place, whoever did, gets no name. */
static void test_other_in_its_place(void)
{
	struct folder folder = folder_new(bases[0]);
	struct wh_stage *stage = new_stage(&folder);
	char command[160];

	CU_ASSERT_FATAL(wh_stage_prepare(stage) == 0);
	add(stage, 1, "replaced", 0);
	add(stage, 2, "longer", 0);
	add(stage, 3, "touched", 0);
	add(stage, 4, "as it was", 0);
	snprintf(command, sizeof(command),
		"cd %s/.wave* && cp -p 0 x && mv x 0 && cp -p 1 y && echo >>1 && touch -r y 1 && "
		"touch 2",
		folder.path);
	CU_ASSERT_FATAL(system(command) == 0);
	wh_stage_seal(stage, 0, false, true);
	for (int i = 0; i < 3; i++)
		CU_ASSERT(wh_stage_rename(stage, take(stage), folder.fd, "file") == -ESTALE);
	CU_ASSERT(!folder_has(&folder, "file"));
	CU_ASSERT(wh_stage_rename(stage, take(stage), folder.fd, "file") == 0);
	wh_stage_close(stage);
	folder_free(&folder);
}

CU_TestInfo wh_tests[] = {
	{"another file in its place", test_other_in_its_place},
	{"the way of a file", test_way_of_a_file},
	{"reopen", test_reopen},
	{"modes that a new file keeps", test_keeps_mode},
	{"named at once", test_unnamed},
	{"not named before the sync", test_unnamed_on_disk},
	{"when a batch is due", test_when_due},
	{"when a batch is full", test_full},
	{"sync", test_sync},
	{"abandon", test_abandon},
	{"two in a folder", test_two},
	{"closed while a sync hangs", test_close_while_syncing},
	{"large files go to a background thread", test_large_go_background},
	{"cannot be made", test_cannot_be_made},
	{"names", test_names},
	CU_TEST_INFO_NULL,
};
