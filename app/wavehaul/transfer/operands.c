/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/operands.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/split.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "job/hello.h"
#include "source/given.h"

static int add_remote(struct wh_wanted *wanted, const char *text)
{
	const char *path = wh_remote_path(text, wanted->server);

	if (path == NULL)
		return WH_EXIT_USAGE;
	wanted->remote[wanted->remotes] = strdup(path);
	return wanted->remote[wanted->remotes++] != NULL ? 0 : WH_EXIT_OTHER;
}

/* If the only file does not exist there is no need to connect; of several, the rest is sent. */
static int check_only_file(const struct wh_wanted *wanted)
{
	struct stat status;

	if (wanted->locals != 1)
		return 0;
	/* With --relative a link goes as a link, wherever it leads. */
	if (fstatat(AT_FDCWD, wanted->local[0], &status,
		    wanted->settings.relative ? AT_SYMLINK_NOFOLLOW : 0) == 0)
		return 0;
	return wh_fail(WH_EXIT_NO_FILE, "cannot send %s: %s", wanted->local[0], strerror(errno));
}

static int read_send(struct wh_wanted *wanted, char **operands, uint32_t count)
{
	wanted->local = (const char *const *)operands;
	wanted->locals = count - 1;

	return add_remote(wanted, operands[count - 1]);
}

static int read_get(struct wh_wanted *wanted, char **operands, uint32_t count)
{
	for (uint32_t i = 0; i < count - 1; i++) {
		int status = add_remote(wanted, operands[i]);

		if (status != 0)
			return status;
	}
	wanted->local = (const char *const *)&operands[count - 1];
	wanted->locals = 1;
	return 0;
}

/* Opens standard input or output anew, as a file description of our own that does not block. */
static int open_pipe(struct wh_wanted *wanted)
{
	bool sends = wh_wanted_sends(wanted);
	const char *path = sends ? "/proc/self/fd/0" : "/proc/self/fd/1";
	int flags = (sends ? O_RDONLY : O_WRONLY) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;

	if (isatty(sends ? STDIN_FILENO : STDOUT_FILENO))
		return wh_fail(WH_EXIT_USAGE, sends ? "- is standard input, and that is a "
						      "terminal; a file of that name is ./-"
						    : "- is standard output, and that is a "
						      "terminal: redirect it to a pipe or a file");
	wanted->pipe_fd = open(path, flags);
	/* A socket cannot be opened anew. */
	if (wanted->pipe_fd < 0 && errno == ENXIO)
		wanted->pipe_fd = fcntl(
			sends ? STDIN_FILENO : STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (wanted->pipe_fd < 0 ||
		fcntl(wanted->pipe_fd, F_SETFL, fcntl(wanted->pipe_fd, F_GETFL) | O_NONBLOCK) != 0)
		return wh_fail(WH_EXIT_OTHER, "cannot use standard %s: %s",
			sends ? "input" : "output", strerror(errno));
	return 0;
}

/* NULL: nothing. */
static const char *join_wrong(const struct wh_settings *settings, bool is_piped)
{
	char term[WH_SETTINGS_TEXT_BYTES + 1];

	if (is_piped)
		return "brings a range of a file, and - is a pipe";
	if (settings->range_from % WH_SPLIT_ALIGN_BYTES != 0 ||
		settings->range_bytes % WH_SPLIT_ALIGN_BYTES != 0)
		return "needs an --offset and --length of whole MiB, as 800M";
	snprintf(term, sizeof(term), "=%s", settings->join);
	return wh_term_wrong(term);
}

bool wh_transfer_range_fits(const struct wh_settings *settings, bool sends, bool is_piped)
{
	bool joins = settings->join[0] != '\0';
	const char *wrong = joins ? join_wrong(settings, is_piped) : NULL;

	if (wrong != NULL)
		return wh_fail(false, "--join %s", wrong);
	if (joins || (is_piped && !sends) ||
		(settings->range_from == 0 && settings->range_bytes == 0))
		return true;
	return sends ? wh_fail(false, "send has --offset and --length with --join only")
		     : wh_fail(false, "a part of a file goes to standard output: with --offset or "
				      "--length, DEST is -");
}

const char *wh_transfer_pipe_wrong(const struct wh_settings *settings, const char *there)
{
	const char *last;

	if (settings->parallel != 1)
		return "- stands for one file and cannot be combined with other files or "
		       "--parallel; leave those out";
	if (settings->manifest[0] != '\0' || settings->expect[0] != '\0')
		return "data from a pipe cannot be read twice; leave out --manifest and --expect";
	if (settings->dry_run)
		return "the content of a pipe is unknown until it is read; leave out --dry-run";
	if (settings->move)
		return "data from a pipe cannot be removed at its source; leave out --move";
	if (wh_path_last_name(there, &last) == 0 || there[strlen(there) - 1] == '/')
		return "data from a pipe has no file name: put one into HOST:PATH";
	return NULL;
}

/* Only a single file in one lane, with a name at the other end. */
static int check_pipe(const struct wh_wanted *wanted)
{
	const struct wh_settings *settings = &wanted->settings;
	const char *wrong = wh_transfer_pipe_wrong(settings, wanted->remote[0]);

	if (wanted->remotes != 1 || wanted->locals != 1)
		wrong = "- stands for one file and cannot be combined with other files or "
			"--parallel; leave those out";
	else if (wrong == NULL && !wh_wanted_sends(wanted) &&
		 (settings->json || settings->json_stream))
		wrong = "--json and the file cannot both use standard output; leave out "
			"--json, or write the file elsewhere";
	if (wrong == NULL)
		return 0;
	return wh_fail(WH_EXIT_USAGE, "%s", wrong);
}

/* Looks for "-" as the local operand. */
static int see_pipe(struct wh_wanted *wanted)
{
	bool sends = wh_wanted_sends(wanted);
	int status;

	for (uint32_t i = 0; i < wanted->locals; i++)
		wanted->is_piped |= strcmp(wanted->local[i], "-") == 0;
	if (!wh_transfer_range_fits(&wanted->settings, sends, wanted->is_piped))
		return WH_EXIT_USAGE;
	if (!wanted->is_piped)
		return sends ? check_only_file(wanted) : 0;
	if (sends && strcmp(wanted->settings.files_from, "-") == 0)
		return wh_fail(WH_EXIT_USAGE,
			"standard input can be the file or the list for --files-from, not both");
	status = check_pipe(wanted);
	return status != 0 ? status : open_pipe(wanted);
}

/* With --relative a whole path is a name below the target. It must not go up, out of the target. */
static int check_relative(const struct wh_wanted *wanted)
{
	bool sends = wh_wanted_sends(wanted);
	uint32_t count = sends ? wanted->locals : wanted->remotes;
	char name[WH_PATH_BYTES_MAX + 1];
	size_t above_bytes;

	for (uint32_t i = 0; i < count && wanted->settings.relative; i++) {
		const char *path = sends ? wanted->local[i] : wanted->remote[i];

		if (wh_path_in_bundle(path, true, name, &above_bytes) != -EINVAL)
			continue;
		return wh_fail(WH_EXIT_USAGE,
			"%s goes up (..), and --relative would keep that; write /./ before the "
			"part to keep, as in ../data/./a/b",
			path);
	}
	return 0;
}

int wh_transfer_read_words(struct wh_wanted *wanted)
{
	bool sends = wh_wanted_sends(wanted);
	char **operands;
	uint32_t count;
	int status = wh_transfer_read_list(wanted, &operands, &count);

	if (status != 0)
		return status;
	if (count < 2 || (!sends && count > WH_HELLO_PATHS_MAX))
		return wh_fail(WH_EXIT_USAGE,
			sends ? "send needs FILE... HOST:PATH; `wavehaul send --help` explains"
			      : "get needs HOST:PATH... DEST; `wavehaul get --help` explains");

	wanted->remote = calloc(count, sizeof(wanted->remote[0]));
	if (wanted->remote == NULL)
		return WH_EXIT_OTHER;
	status = sends ? read_send(wanted, operands, count) : read_get(wanted, operands, count);

	if (status == 0)
		status = check_relative(wanted);
	return status == 0 ? see_pipe(wanted) : status;
}

/* Whether the target is a folder, whatever the server has. */
static bool surely_names_folder(const struct wh_request *request)
{
	bool sends = request->verb == WH_JOB_SEND;
	const struct wh_request_paths *from = sends ? &request->here : &request->there;
	const char *target = (sends ? &request->there : &request->here)->path[0];
	size_t bytes = strlen(target);
	const char *last;

	return wh_choice_has(&request->choice, WH_CHOICE_RELATIVE) || from->count > 1 ||
	       (bytes > 0 && target[bytes - 1] == '/') ||
	       wh_path_last_name(from->path[0], &last) == 0;
}

bool wh_request_is_by_match(const struct wh_request *request)
{
	return request->verb == WH_JOB_GET && !surely_names_folder(request) &&
	       wh_path_has_wildcard(request->there.path[0]);
}

bool wh_request_names_folder(const struct wh_request *request)
{
	return surely_names_folder(request) || wh_request_is_by_match(request);
}

void wh_request_see_contents(struct wh_request *request)
{
	bool sends = request->verb == WH_JOB_SEND;
	const struct wh_request_paths *from = sends ? &request->here : &request->there;
	bool relative = wh_choice_has(&request->choice, WH_CHOICE_RELATIVE);
	char name[WH_PATH_BYTES_MAX + 1];
	size_t above_bytes;

	if (!wh_choice_has(&request->choice, WH_CHOICE_DELETE))
		return;
	for (uint32_t i = 0; i < from->count; i++)
		if (wh_path_in_bundle(from->path[i], relative, name, &above_bytes) == 0)
			request->choice.wishes |= WH_CHOICE_DELETE_TOP;
}

bool wh_request_fits(const struct wh_request *request)
{
	if (wh_hello_fits(request))
		return true;
	return wh_fail(false, "too many paths and patterns for one request; transfer their folder "
			      "with -r instead");
}

static int open_folder(struct wh_wanted *wanted, const char *path)
{
	wanted->dest_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (wanted->dest_fd >= 0)
		return 0;
	return wh_fail(WH_EXIT_NO_FILE, "cannot write into %s: %s", path, strerror(errno));
}

static const char *kind_name(mode_t mode)
{
	return S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
}

/* *status: of DEST, with links followed; zeros: it does not exist. 0 or an exit status. */
static int look_at_dest(const char *dest, struct stat *status)
{
	struct stat link;

	if (stat(dest, status) != 0) {
		int error = errno;

		*status = (struct stat){0};
		if (lstat(dest, &link) != 0 || !S_ISLNK(link.st_mode))
			return 0;
		if (error == ENOENT)
			wh_complain("%s is a symbolic link to a missing target; create the target, "
				    "or remove the link",
				dest);
		else
			wh_complain("cannot follow %s: %s", dest, strerror(error));
		return WH_EXIT_NO_FILE;
	}
	if (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))
		return 0;
	return wh_fail(WH_EXIT_OTHER,
		"%s is a %s, and get writes files: name a file or a folder; `wavehaul bench` "
		"measures without files",
		dest, kind_name(status->st_mode));
}

/* `path` is not an existing folder: its last name is the file's new one. */
static int open_above(struct wh_wanted *wanted, char *path)
{
	size_t bytes = strlen(path);

	while (bytes > 1 && path[bytes - 1] == '/')
		path[--bytes] = '\0';

	char *slash = strrchr(path, '/');

	wanted->dest_name = strdup(slash != NULL ? slash + 1 : path);
	if (slash != NULL)
		slash[slash == path ? 1 : 0] = '\0';
	return wanted->dest_name == NULL ? WH_EXIT_OTHER
					 : open_folder(wanted, slash != NULL ? path : ".");
}

/* Opens an empty, deleted folder, in which nothing can be created: enough for a pipe. */
static int open_nowhere(struct wh_wanted *wanted)
{
	char path[] = "/tmp/wavehaul-XXXXXX";

	if (mkdtemp(path) == NULL)
		return wh_fail(WH_EXIT_OTHER, "cannot make a folder in /tmp: %s", strerror(errno));
	wanted->dest_is_folder = true;
	wanted->dest_name = strdup(".");

	int status = open_folder(wanted, path);

	rmdir(path);
	return wanted->dest_name == NULL ? WH_EXIT_OTHER : status;
}

/*
 * An existing folder receives the files; otherwise DEST's last name is the file's new one. If it is
 * a link, the file to which it leads is replaced in its own folder.
 */
int wh_transfer_open_dest(struct wh_wanted *wanted)
{
	const char *dest = wanted->local[0];
	struct stat status;
	int rc = wanted->is_piped ? 0 : look_at_dest(dest, &status);

	wanted->dest_fd = -1;
	if (wanted->is_piped)
		return open_nowhere(wanted);
	if (rc != 0)
		return rc;
	if (S_ISDIR(status.st_mode)) {
		wanted->dest_is_folder = true;
		wanted->dest_name = strdup(".");
		return wanted->dest_name == NULL ? WH_EXIT_OTHER : open_folder(wanted, dest);
	}

	const struct wh_request request = {
		.verb = WH_JOB_GET,
		.choice = {.wishes = wanted->settings.relative ? WH_CHOICE_RELATIVE : 0},
		.here = {.path = &dest, .count = 1},
		.there = {.path = (const char *const *)wanted->remote, .count = wanted->remotes},
	};

	wanted->dest_is_folder = wh_request_names_folder(&request);
	wanted->dest_by_match = wh_request_is_by_match(&request);

	char *path = status.st_mode != 0 ? realpath(dest, NULL) : strdup(dest);

	rc = path == NULL ? WH_EXIT_OTHER : open_above(wanted, path);
	free(path);
	return rc;
}

void wh_transfer_free_operands(struct wh_wanted *wanted)
{
	for (uint32_t i = 0; i < wanted->remotes; i++)
		free(wanted->remote[i]);
	free(wanted->remote);
	free(wanted->dest_name);
	wh_transfer_free_list(wanted);
	if (!wh_wanted_sends(wanted) && wanted->dest_fd >= 0)
		close(wanted->dest_fd);
}
