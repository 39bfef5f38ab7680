/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/files.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"
#include "store/store.h"

#define MADE_NAME "demo.bin"
#define OUT_NAME  "arrived"

/* Chunks between the maker and the disk. */
#define MAKE_CHUNKS 16

/* Left free on a file system in any case. */
#define SPARE_BYTES (UINT64_C(64) << 20)

static uint64_t free_bytes(const char *folder)
{
	struct statvfs fs;

	return statvfs(folder, &fs) == 0 ? (uint64_t)fs.f_bavail * fs.f_frsize : 0;
}

const char *wh_demo_files_place(uint64_t bytes)
{
	const char *places[] = {getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i] != NULL && access(places[i], W_OK) == 0 &&
			free_bytes(places[i]) >= bytes + SPARE_BYTES)
			return places[i];
	return NULL;
}

static int make_folder(uint64_t bytes, struct wh_demo_files *files)
{
	const char *place = wh_demo_files_place(bytes);
	char need[WH_UNITS_MAX];

	if (place == NULL) {
		wh_complain("no room for %s of temporary files in $TMPDIR, "
			    "/var/tmp or /tmp; choose a smaller --size, or set TMPDIR",
			wh_format_size(need, sizeof(need), bytes));
		return WH_EXIT_OTHER;
	}
	snprintf(files->made_folder, sizeof(files->made_folder), "%s/wavehaul-demo-XXXXXX", place);
	if (mkdtemp(files->made_folder) == NULL) {
		wh_complain("cannot make a folder in %s: %s", place, strerror(errno));
		files->made_folder[0] = '\0';
		return WH_EXIT_OTHER;
	}
	return WH_EXIT_OK;
}

/* The file is written by the store's own reader of a pattern and writer of files. */
struct maker {
	struct wh_chunk chunk[MAKE_CHUNKS];
	uint8_t *memory;
	struct wh_fifo free;
	struct wh_fifo ready;
	struct wh_reader *reader;
	struct wh_writer *writer;
};

static int maker_open(struct maker *maker, const char *folder, uint64_t bytes, uint64_t seed)
{
	*maker = (struct maker){0};
	maker->memory = aligned_alloc(WH_CHUNK_ALIGN, (size_t)MAKE_CHUNKS * WH_CHUNK_BYTES_DEFAULT);
	if (maker->memory == NULL || wh_fifo_init(&maker->free, 2 * MAKE_CHUNKS) != 0 ||
		wh_fifo_init(&maker->ready, 2 * MAKE_CHUNKS) != 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < MAKE_CHUNKS; i++) {
		maker->chunk[i].data = maker->memory + (size_t)i * WH_CHUNK_BYTES_DEFAULT;
		maker->chunk[i].slot = i;
		wh_fifo_push(&maker->free, &maker->chunk[i]);
	}

	int rc = wh_memory_reader_open(
		&maker->reader, bytes, seed, WH_CHUNK_BYTES_DEFAULT, &maker->free, &maker->ready);

	return rc != 0 ? rc
		       : wh_file_writer_open(&maker->writer, folder, MADE_NAME, bytes,
				 WH_CHUNK_BYTES_DEFAULT, &maker->ready, &maker->free);
}

static void maker_close(struct maker *maker)
{
	wh_reader_close(maker->reader);
	wh_writer_close(maker->writer);
	wh_fifo_free(&maker->free);
	wh_fifo_free(&maker->ready);
	free(maker->memory);
}

static int make_file(const struct wh_demo_options *options, struct wh_demo_files *files)
{
	struct maker maker;
	char size[WH_UNITS_MAX];
	int rc = maker_open(&maker, files->made_folder, options->size_bytes, options->seed);
	int done = WH_STORE_RUNNING;

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "making a file of %s in %s\n",
			wh_format_size(size, sizeof(size), options->size_bytes),
			files->made_folder);
	while (rc == 0 && done == WH_STORE_RUNNING && wh_signals_count() == 0) {
		int32_t work = wh_reader_poll(maker.reader, 0) + wh_writer_poll(maker.writer, 0);

		done = atomic_load_explicit(&maker.writer->done, memory_order_acquire);
		if (work == 0)
			usleep(50);
	}
	if (done == WH_STORE_FAILED)
		rc = maker.writer->error;
	maker_close(&maker);
	if (done == WH_STORE_OK)
		return WH_EXIT_OK;
	if (rc == 0)
		return WH_EXIT_INTERRUPTED;
	wh_complain("cannot make a file in %s: %s", files->made_folder, strerror(-rc));
	return WH_EXIT_OTHER;
}

/* The operator's own file: there, regular, readable. */
static int take_file(const char *path, struct wh_demo_files *files)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int error = fd < 0 ? errno : 0;

	if (fd >= 0 && fstat(fd, &status) != 0)
		error = errno;
	if (fd >= 0)
		close(fd);
	if (error != 0) {
		wh_complain("cannot read %s: %s", path, strerror(error));
		return WH_EXIT_NO_FILE;
	}
	if (!S_ISREG(status.st_mode)) {
		wh_complain("%s is not a regular file; name one with --file", path);
		return WH_EXIT_NO_FILE;
	}

	char copy[WH_DEMO_PATH_MAX];

	if (strlen(path) >= sizeof(copy)) {
		wh_complain("the name %s is too long", path);
		return WH_EXIT_NO_FILE;
	}
	strcpy(copy, path);
	strcpy(files->source, path);
	snprintf(files->name, sizeof(files->name), "%s", basename(copy));
	files->bytes = (uint64_t)status.st_size;
	return WH_EXIT_OK;
}

static int check_out(const char *folder, struct wh_demo_files *files)
{
	struct stat status;

	if (strlen(folder) >= sizeof(files->out) || stat(folder, &status) != 0 ||
		!S_ISDIR(status.st_mode)) {
		wh_complain("there is no folder %s; make it, or name another "
			    "with --out",
			folder);
		return WH_EXIT_NO_FILE;
	}
	if (access(folder, W_OK | X_OK) != 0) {
		wh_complain("cannot write into %s: %s", folder, strerror(errno));
		return WH_EXIT_OTHER;
	}
	strcpy(files->out, folder);

	/* What arrives would replace what is being read. */
	struct stat source;
	struct stat target;
	char path[WH_DEMO_PATH_MAX + sizeof(files->name) + 1];

	snprintf(path, sizeof(path), "%s/%s", folder, files->name);
	if (files->source[0] != '\0' && stat(files->source, &source) == 0 &&
		stat(path, &target) == 0 && source.st_dev == target.st_dev &&
		source.st_ino == target.st_ino) {
		wh_complain("%s would be replaced by its own copy; choose "
			    "another folder with --out",
			path);
		return WH_EXIT_USAGE;
	}
	return WH_EXIT_OK;
}

/* Appends to a path that is known to have room for these few letters. */
static void join(char *path, const char *folder, const char *name)
{
	int length = snprintf(path, WH_DEMO_PATH_MAX, "%s/%s", folder, name);

	if (length >= WH_DEMO_PATH_MAX)
		path[0] = '\0'; /* mkdtemp would have failed on such a folder */
}

int wh_demo_files_prepare(const struct wh_demo_options *options, struct wh_demo_files *files)
{
	bool make = options->file == NULL;
	int status = WH_EXIT_OK;

	*files = (struct wh_demo_files){.name = MADE_NAME, .bytes = options->size_bytes};
	if (!make)
		status = take_file(options->file, files);
	if (status == WH_EXIT_OK && options->out != NULL)
		status = check_out(options->out, files);
	if (status != WH_EXIT_OK || (!make && options->out != NULL))
		return status;

	status = make_folder(
		(make ? files->bytes : 0) + (options->out == NULL ? files->bytes : 0), files);
	if (status != WH_EXIT_OK)
		return status;
	if (options->out == NULL) {
		join(files->out, files->made_folder, OUT_NAME);
		if (mkdir(files->out, 0700) != 0) {
			wh_complain("cannot make %s: %s", files->out, strerror(errno));
			return WH_EXIT_OTHER;
		}
	}
	if (!make)
		return WH_EXIT_OK;
	join(files->source, files->made_folder, MADE_NAME);
	return make_file(options, files);
}

void wh_demo_files_clean(struct wh_demo_files *files)
{
	char path[WH_DEMO_PATH_MAX + sizeof(files->name) + sizeof(OUT_NAME) + 2];

	if (files->made_folder[0] == '\0')
		return;
	snprintf(path, sizeof(path), "%s/%s/%s", files->made_folder, OUT_NAME, files->name);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", files->made_folder, OUT_NAME);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/%s", files->made_folder, MADE_NAME);
	unlink(path);
	rmdir(files->made_folder);
	files->made_folder[0] = '\0';
}
