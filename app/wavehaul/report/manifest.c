/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/manifest.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "bundle/beneath.h"
#include "bundle/record.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"

/* The most sentences about files; further ones are counted. */
#define TOLD_MAX 20

static int compare(const void *a, const void *b)
{
	const struct wh_manifest_line *one = a;
	const struct wh_manifest_line *other = b;

	return strcmp(one->path, other->path);
}

/* Reverses md5sum(1)'s escaping of names that contain a newline or '\\'. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text != '\0'; text++) {
		if (text[0] == '\\' && text[1] != '\0')
			*to++ = *++text == 'n' ? '\n' : *text;
		else
			*to++ = *text;
	}
	*to = '\0';
}

/* "SUM  PATH" or "SUM *PATH"; false: out of memory. Other lines are ignored. */
static bool take_line(struct wh_manifest *manifest, char *line)
{
	bool escaped = line[0] == '\\';
	size_t digits;
	struct wh_manifest_line *more;

	line[strcspn(line, "\n")] = '\0';
	line += escaped;
	digits = strspn(line, "0123456789abcdefABCDEF");
	if (digits == 0 || digits >= WH_CHECKSUM_TEXT_BYTES || line[digits] != ' ' ||
		(line[digits + 1] != ' ' && line[digits + 1] != '*') || line[digits + 2] == '\0')
		return true;
	if (escaped)
		unescape(line + digits + 2);
	more = realloc(manifest->expected, (manifest->expects + 1) * sizeof(more[0]));
	if (more == NULL)
		return false;
	manifest->expected = more;
	more += manifest->expects;
	*more = (struct wh_manifest_line){.path = strdup(line + digits + 2)};
	for (size_t i = 0; i < digits; i++)
		more->sum[i] = (char)tolower((unsigned char)line[i]);
	manifest->expects += more->path != NULL;
	return more->path != NULL;
}

/* The largest file of --expect below a folder, where reading it delays other jobs. */
#define EXPECT_BYTES_MAX (INT64_C(256) << 20)

/* NULL: see errno. */
static FILE *open_to_read(int root_fd, const char *name)
{
	struct stat status;
	FILE *file;
	int fd;

	if (root_fd < 0)
		return fopen(name, "re");
	fd = wh_beneath_resolve(root_fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	errno = fd < 0 ? -fd : 0;
	if (fd >= 0 && fstat(fd, &status) == 0 &&
		(!S_ISREG(status.st_mode) || status.st_size > EXPECT_BYTES_MAX))
		errno = EFBIG;
	file = errno == 0 ? fdopen(fd, "r") : NULL;
	if (file == NULL && fd >= 0)
		close(fd);
	return file;
}

/* Anything but a regular file, such as /dev/stdout, is written directly. */
static int open_here(struct wh_manifest *manifest, const char *name)
{
	struct stat status;

	manifest->appears_whole = stat(name, &status) != 0 || S_ISREG(status.st_mode);
	if (manifest->appears_whole)
		return wh_whole_file_open(&manifest->whole, name);
	manifest->to = fopen(name, "we");
	return manifest->to != NULL ? 0 : -errno;
}

/*
 * A link below a folder is replaced, not followed: it might lead outside of what the folder's owner
 * allows.
 */
static int open_below(struct wh_manifest *manifest, int root_fd, const char *name)
{
	char above[WH_PATH_BYTES_MAX + 1] = ".";
	char path[PATH_MAX];
	size_t above_bytes = wh_beneath_parent_bytes(name, strlen(name));
	const char *last = name + above_bytes + (above_bytes > 0);
	struct stat status;
	int fd;

	WH_ASSERT(above_bytes < sizeof(above));
	if (above_bytes > 0)
		snprintf(above, sizeof(above), "%.*s", (int)above_bytes, name);
	fd = wh_beneath_resolve(root_fd, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	manifest->is_below = true;
	manifest->folder_fd = fd;
	if (fstatat(fd, last, &status, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(status.st_mode) &&
		!S_ISLNK(status.st_mode))
		return -EEXIST;
	manifest->appears_whole = true;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", fd, last);
	return wh_whole_file_open(&manifest->whole, path);
}

static int open_to_write(struct wh_manifest *manifest, int root_fd, const char *name)
{
	int rc = root_fd < 0 ? open_here(manifest, name) : open_below(manifest, root_fd, name);

	if (rc == 0 && manifest->appears_whole)
		manifest->to = manifest->whole.file;
	return rc;
}

static int read_expected(struct wh_manifest *manifest, int root_fd, const char *name)
{
	FILE *file = open_to_read(root_fd, name);
	char *line = NULL;
	size_t room = 0;
	bool good = true;

	if (file == NULL)
		return wh_fail(
			WH_EXIT_NO_FILE, "cannot read --expect %s: %s", name, strerror(errno));
	while (good && getline(&line, &room, file) >= 0)
		good = take_line(manifest, line);
	free(line);
	fclose(file);
	if (good && manifest->expects == 0)
		return wh_fail(WH_EXIT_USAGE,
			"--expect %s has no line of the form 'SUM  PATH', as md5sum writes them",
			name);
	if (manifest->expects > 0)
		qsort(manifest->expected, manifest->expects, sizeof(manifest->expected[0]),
			compare);
	return good ? 0 : WH_EXIT_OTHER;
}

/* NULL: nothing is wrong. */
static const char *wrong_with(const struct wh_settings *settings, bool on, bool sends)
{
	if (!on && strcmp(settings->digest, "xxh3") != 0)
		return "--digest needs --manifest or --expect; add one of them";
	if (on && sends && settings->move)
		return "--manifest and --expect cannot read files that --move has removed; leave "
		       "out one of them";
	return NULL;
}

int wh_manifest_judge(
	const struct wh_settings *settings, bool sends, enum wh_checksum *kind, bool *on)
{
	const char *wrong;

	*on = settings->manifest[0] != '\0' || settings->expect[0] != '\0';
	wrong = wrong_with(settings, *on, sends);
	if (!wh_checksum_find(settings->digest, kind))
		wrong = "--digest is one of " WH_CHECKSUM_NAMES;
	if (wrong == NULL)
		return 0;
	return wh_fail(WH_EXIT_USAGE, "%s", wrong);
}

int wh_manifest_open(
	struct wh_manifest *manifest, const struct wh_settings *settings, bool sends, int root_fd)
{
	int wrong = wh_manifest_judge(settings, sends, &manifest->kind, &manifest->on);

	if (wrong != 0)
		return wrong;
	manifest->end = UINT64_MAX;
	if (settings->join[0] != '\0') {
		manifest->from = settings->range_from;
		if (settings->range_bytes > 0)
			manifest->end = manifest->from + settings->range_bytes;
	}
	if (settings->expect[0] != '\0') {
		int status = read_expected(manifest, root_fd, settings->expect);

		if (status != 0)
			return status;
	}
	if (settings->manifest[0] == '\0')
		return 0;

	int rc = open_to_write(manifest, root_fd, settings->manifest);

	if (rc == 0)
		return 0;
	return wh_fail(
		WH_EXIT_OTHER, "cannot write --manifest %s: %s", settings->manifest, strerror(-rc));
}

void wh_manifest_note(struct wh_manifest *manifest, const char *path)
{
	if (!manifest->on)
		return;
	if (manifest->paths == manifest->room) {
		uint64_t room = manifest->room == 0 ? 256 : 2 * manifest->room;
		char **more = realloc(manifest->path, room * sizeof(more[0]));

		manifest->incomplete |= more == NULL;
		if (more == NULL)
			return;
		manifest->path = more;
		manifest->room = room;
	}
	manifest->path[manifest->paths] = strdup(path);
	manifest->incomplete |= manifest->path[manifest->paths] == NULL;
	manifest->paths += manifest->path[manifest->paths] != NULL;
}

void wh_manifest_forget(struct wh_manifest *manifest)
{
	while (manifest->paths > 0)
		free(manifest->path[--manifest->paths]);
	manifest->incomplete = false;
}

static void tell_wrong(struct wh_manifest *manifest, const char *path, const char *why)
{
	char plain[4 * WH_PATH_BYTES_MAX + 1];

	if (manifest->wrong++ < TOLD_MAX)
		wh_complain("%s: %s", wh_plain_text(path, true, plain, sizeof(plain)), why);
}

/* The first line of that path, which may have several, in *count. */
static struct wh_manifest_line *lines_of(
	struct wh_manifest *manifest, const char *path, uint64_t *count)
{
	const struct wh_manifest_line key = {.path = (char *)path};
	struct wh_manifest_line *line = manifest->expects == 0
						? NULL
						: bsearch(&key, manifest->expected,
							  manifest->expects, sizeof(key), compare);
	const struct wh_manifest_line *end = manifest->expected + manifest->expects;

	*count = 0;
	if (line == NULL)
		return NULL;
	while (line > manifest->expected && compare(line - 1, &key) == 0)
		line--;
	while (line + *count < end && compare(line + *count, &key) == 0)
		++*count;
	return line;
}

static void judge(struct wh_manifest *manifest, const char *path, const char *sum)
{
	uint64_t count;
	struct wh_manifest_line *line = lines_of(manifest, path, &count);
	bool same = true;

	for (uint64_t i = 0; i < count; i++) {
		line[i].seen = true;
		same &= strcmp(line[i].sum, sum) == 0;
	}
	manifest->compared += count > 0;
	if (!same)
		tell_wrong(manifest, path, "its checksum differs from the one in --expect");
}

static void note_unread(struct wh_manifest *manifest, const char *path, int error)
{
	char plain[4 * WH_PATH_BYTES_MAX + 1];
	uint64_t count;
	struct wh_manifest_line *line = lines_of(manifest, path, &count);

	for (uint64_t i = 0; i < count; i++)
		line[i].seen = true;
	if (manifest->unread++ < TOLD_MAX)
		wh_complain("cannot read %s: %s", wh_plain_text(path, true, plain, sizeof(plain)),
			strerror(error));
}

/* A name with a newline or '\' is written as by md5sum(1), with a '\' before the line. */
static void write_line(FILE *to, const char *path, const char *sum)
{
	bool escaped = strpbrk(path, "\n\\") != NULL;

	fprintf(to, "%s%s  ", escaped ? "\\" : "", sum);
	for (; *path != '\0'; path++) {
		if (*path == '\n')
			fputs("\\n", to);
		else if (*path == '\\')
			fputs("\\\\", to);
		else
			fputc(*path, to);
	}
	fputc('\n', to);
}

static void sum_one(struct wh_manifest *manifest, const char *path, int fd)
{
	char sum[WH_CHECKSUM_TEXT_BYTES];
	int rc = fd;

	if (fd >= 0 && lseek(fd, (off_t)manifest->from, SEEK_SET) < 0)
		rc = -errno;
	if (rc >= 0)
		rc = wh_checksum_of(
			fd, manifest->end - manifest->from, manifest->kind, &manifest->stop, sum);

	if (rc == -ECANCELED)
		return;
	if (rc < 0) {
		note_unread(manifest, path, -rc);
		return;
	}
	manifest->summed++;
	judge(manifest, path, sum);
	if (manifest->to != NULL)
		write_line(manifest->to, path, sum);
}

static bool close_written(struct wh_manifest *manifest)
{
	FILE *to = manifest->to;
	bool good;

	if (to == NULL)
		return true;
	manifest->to = NULL;
	if (manifest->appears_whole)
		return wh_whole_file_close(&manifest->whole, true) == 0;
	good = ferror(to) == 0;
	return fclose(to) == 0 && good;
}

int wh_manifest_finish(struct wh_manifest *manifest,
	int (*open_file)(void *context, const char *path), void *context, int status)
{
	bool failed = false;

	if (!manifest->on || (status != WH_EXIT_OK && status != WH_EXIT_PARTIAL))
		return status;
	for (uint64_t i = 0; i < manifest->paths && !atomic_load(&manifest->stop); i++) {
		int fd = open_file(context, manifest->path[i]);

		sum_one(manifest, manifest->path[i], fd);
		if (fd >= 0)
			close(fd);
	}
	if (atomic_load(&manifest->stop))
		return WH_EXIT_INTERRUPTED;
	for (uint64_t i = 0; i < manifest->expects; i++)
		if (!manifest->expected[i].seen)
			tell_wrong(manifest, manifest->expected[i].path,
				"it is listed in --expect, but was not transferred");
	failed = !close_written(manifest);
	if (failed || manifest->incomplete)
		wh_complain("the manifest is incomplete: %s",
			failed ? "it could not be written" : "out of memory for the names");
	if (manifest->wrong > 0)
		return wh_fail(WH_EXIT_VERIFY, "%llu file%s from --expect",
			(unsigned long long)manifest->wrong,
			manifest->wrong == 1 ? " differs" : "s differ");
	if (manifest->unread > 0)
		return wh_fail(WH_EXIT_OTHER, "%llu file%s without a checksum: see above",
			(unsigned long long)manifest->unread,
			manifest->unread == 1 ? " is" : "s are");
	return failed || manifest->incomplete ? WH_EXIT_OTHER : status;
}

void wh_manifest_free(struct wh_manifest *manifest)
{
	for (uint64_t i = 0; i < manifest->expects; i++)
		free(manifest->expected[i].path);
	wh_manifest_forget(manifest);
	free(manifest->expected);
	free(manifest->path);
	if (manifest->to != NULL && manifest->appears_whole)
		wh_whole_file_drop(&manifest->whole);
	else if (manifest->to != NULL)
		fclose(manifest->to);
	if (manifest->is_below)
		close(manifest->folder_fd);
}
