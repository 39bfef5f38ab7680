/* SPDX-License-Identifier: BSD-3-Clause */
#include "demo/files.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_common.h>

#include "base/clock.h"
#include "base/prng.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"
#include "cli/temporary/temporary.h"

#define MADE_NAME "demo.bin"

#define PIECE_BYTES (8 << 20)
#define BLOCK_BYTES 4096

static int make_folder(uint64_t bytes, struct wh_demo_files *files)
{
	const char *place = wh_temporary_place(bytes);
	char need[WH_UNITS_MAX];

	if (place == NULL)
		return wh_fail(WH_EXIT_OTHER,
			"no room for %s of temporary files in $TMPDIR, /var/tmp or /tmp; choose a "
			"smaller --size, or set TMPDIR",
			wh_format_size(need, sizeof(need), bytes));
	snprintf(files->made_folder, sizeof(files->made_folder), "%s/wavehaul-demo-XXXXXX", place);
	if (mkdtemp(files->made_folder) == NULL) {
		wh_complain("cannot make a folder in %s: %s", place, strerror(errno));
		files->made_folder[0] = '\0';
		return WH_EXIT_OTHER;
	}
	return WH_EXIT_OK;
}

/*
 * Bypasses the page cache, whose writeback would slow down the arriving file. Not all file systems
 * support that, and none does for a piece that ends within a block.
 */
static int open_made(const char *path)
{
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
	int fd = open(path, flags | O_DIRECT, 0600);

	return fd < 0 && errno == EINVAL ? open(path, flags, 0600) : fd;
}

/* 0, or a negative errno; -EINTR: a signal was caught. */
static int write_file(int fd, uint64_t bytes, struct wh_prng *prng)
{
	static _Alignas(BLOCK_BYTES) uint64_t piece[PIECE_BYTES / sizeof(uint64_t)];
	uint64_t done = 0;

	static_assert(PIECE_BYTES % BLOCK_BYTES == 0, "only the last piece ends within a block");
	while (done < bytes) {
		size_t wanted = wh_min_u64(bytes - done, sizeof(piece));

		for (size_t i = 0; i < wanted / sizeof(piece[0]) + 1 && i < RTE_DIM(piece); i++)
			piece[i] = wh_prng_u64(prng);
		if (wanted % BLOCK_BYTES != 0 && fcntl(fd, F_SETFL, 0) != 0)
			return -errno;
		if (wh_signals_count() > 0)
			return -EINTR;

		ssize_t written = write(fd, piece, wanted);

		if (written <= 0)
			return written < 0 ? -errno : -EIO;
		done += (uint64_t)written;
	}
	return 0;
}

static int make_file(const struct wh_demo_options *options, struct wh_demo_files *files)
{
	struct wh_prng prng;
	char size[WH_UNITS_MAX];
	int fd = open_made(files->source);
	int rc = fd < 0 ? -errno : 0;

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "making a file of %s in %s\n",
			wh_format_size(size, sizeof(size), options->settings.size_bytes),
			files->made_folder);
	wh_prng_init(&prng, options->settings.link.seed);
	if (rc == 0)
		rc = write_file(fd, options->settings.size_bytes, &prng);
	if (fd >= 0)
		close(fd);
	if (rc == 0)
		return WH_EXIT_OK;
	if (rc == -EINTR)
		return WH_EXIT_INTERRUPTED;
	return wh_fail(
		WH_EXIT_OTHER, "cannot make a file in %s: %s", files->made_folder, strerror(-rc));
}

bool wh_demo_files_digest(const struct wh_demo_files *files, struct wh_digest *digest)
{
	struct wh_hasher hasher;
	char piece[4096];
	ssize_t bytes = -1;
	int fd = open(files->source, O_RDONLY | O_CLOEXEC);

	wh_hasher_init(&hasher);
	while (fd >= 0 && (bytes = read(fd, piece, sizeof(piece))) > 0)
		wh_hasher_add(&hasher, piece, (size_t)bytes);
	if (fd >= 0)
		close(fd);
	wh_hasher_digest(&hasher, digest);
	return bytes == 0;
}

/* Checks the operator's own file: existing, regular, readable. */
static int take_file(const char *path, struct wh_demo_files *files)
{
	const char *slash = strrchr(path, '/');
	struct stat status;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &status) != 0)
		return wh_fail(WH_EXIT_NO_FILE, "cannot read %s: %s", path, strerror(errno));
	close(fd);
	if (!S_ISREG(status.st_mode))
		return wh_fail(
			WH_EXIT_NO_FILE, "%s is not a regular file; name one with --file", path);
	snprintf(files->source, sizeof(files->source), "%s", path);
	snprintf(files->name, sizeof(files->name), "%.255s", slash != NULL ? slash + 1 : path);
	files->bytes = (uint64_t)status.st_size;
	return WH_EXIT_OK;
}

static int check_out(const char *folder, struct wh_demo_files *files)
{
	struct stat source;
	struct stat target;
	char path[sizeof(files->out) + sizeof(files->name)];

	if (stat(folder, &target) != 0 || !S_ISDIR(target.st_mode))
		return wh_fail(WH_EXIT_NO_FILE,
			"there is no folder %s; make it, or name another with --out", folder);
	if (access(folder, W_OK | X_OK) != 0)
		return wh_fail(WH_EXIT_OTHER, "cannot write into %s: %s", folder, strerror(errno));
	snprintf(files->out, sizeof(files->out), "%s", folder);

	/* The arriving file would replace the one being read. */
	snprintf(path, sizeof(path), "%s/%s", folder, files->name);
	if (files->source[0] == '\0' || stat(files->source, &source) != 0 ||
		stat(path, &target) != 0 || source.st_dev != target.st_dev ||
		source.st_ino != target.st_ino)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_USAGE,
		"%s would be replaced by its own copy; choose another folder with --out", path);
}

int wh_demo_files_prepare(const struct wh_demo_options *options, struct wh_demo_files *files)
{
	bool make = options->settings.file[0] == '\0';
	bool keep = options->settings.out[0] != '\0';
	int status = WH_EXIT_OK;

	*files = (struct wh_demo_files){.name = MADE_NAME, .bytes = options->settings.size_bytes};
	if (!make)
		status = take_file(options->settings.file, files);
	if (status == WH_EXIT_OK && keep)
		status = check_out(options->settings.out, files);
	if (status != WH_EXIT_OK || (!make && keep))
		return status;

	status = make_folder((make ? files->bytes : 0) + (keep ? 0 : files->bytes), files);
	if (status != WH_EXIT_OK)
		return status;
	if (!keep) {
		snprintf(files->out, sizeof(files->out), "%s/arrived", files->made_folder);
		if (mkdir(files->out, 0700) != 0)
			return wh_fail(
				WH_EXIT_OTHER, "cannot make %s: %s", files->out, strerror(errno));
	}
	if (!make)
		return WH_EXIT_OK;
	snprintf(files->source, sizeof(files->source), "%s/" MADE_NAME, files->made_folder);
	return make_file(options, files);
}

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *at)
{
	(void)facts;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

void wh_demo_files_clean(struct wh_demo_files *files)
{
	if (files->made_folder[0] != '\0')
		nftw(files->made_folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	files->made_folder[0] = '\0';
}
