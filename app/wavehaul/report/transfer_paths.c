/* SPDX-License-Identifier: BSD-3-Clause */

/* What send and get are to move, read from the operands: FILE... HOST:PATH, HOST:PATH... DEST. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "report/transfer.h"
#include "source/walk.h"
#include "trust/trust.h"

/* HOST:PATH or [HOST]:PATH; NULL: no such. The host is copied, the path points into the text. */
static const char *split(const char *text, char *host, size_t room)
{
	const char *end = text[0] == '[' ? strchr(text, ']') : strchr(text, ':');
	size_t begin = text[0] == '[' ? 1 : 0;

	if (end == NULL || end[begin] != ':' || memchr(text, '/', (size_t)(end - text)) != NULL)
		return NULL;

	size_t bytes = (size_t)(end - text) - begin;

	if (bytes == 0 || bytes >= room)
		return NULL;
	memcpy(host, text + begin, bytes);
	host[bytes] = '\0';
	return end + begin + 1;
}

static int add_remote(struct wh_transfer *transfer, const char *text)
{
	char host[sizeof(transfer->server)];
	const char *path = split(text, host, sizeof(host));

	if (path == NULL) {
		wh_complain("'%s' names no host; write HOST:PATH, and an IPv6 address as "
			    "[2001:db8::1]:PATH",
			text);
		return WH_EXIT_USAGE;
	}
	if (transfer->remotes > 0 && strcmp(host, transfer->server) != 0) {
		wh_complain("one transfer is with one host, and '%s' and '%s' are two",
			transfer->server, host);
		return WH_EXIT_USAGE;
	}
	if (strlen(path) > WH_PATH_BYTES_MAX) {
		wh_complain("a path is longer than %d bytes", WH_PATH_BYTES_MAX);
		return WH_EXIT_USAGE;
	}
	snprintf(transfer->server, sizeof(transfer->server), "%s", host);
	transfer->remote[transfer->remotes] = strdup(path[0] == '\0' ? "." : path);
	return transfer->remote[transfer->remotes++] != NULL ? 0 : WH_EXIT_OTHER;
}

/* One file that is not there is worth no connection; of several the rest goes. */
static int check_only_file(const struct wh_transfer *transfer)
{
	struct stat status;

	if (transfer->locals != 1 || stat(transfer->local[0], &status) == 0)
		return 0;
	wh_complain("cannot send %s: %s", transfer->local[0], strerror(errno));
	return WH_EXIT_NO_FILE;
}

static int read_send(struct wh_transfer *transfer, char **operands, uint32_t count)
{
	transfer->local = (const char *const *)operands;
	transfer->locals = count - 1;

	int status = add_remote(transfer, operands[count - 1]);

	return status != 0 ? status : check_only_file(transfer);
}

static int read_get(struct wh_transfer *transfer, char **operands, uint32_t count)
{
	for (uint32_t i = 0; i < count - 1; i++) {
		int status = add_remote(transfer, operands[i]);

		if (status != 0)
			return status;
	}
	transfer->local = (const char *const *)&operands[count - 1];
	transfer->locals = 1;
	return 0;
}

static int check_names(char **operands, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(operands[i], "-") == 0) {
			wh_complain("- is no name: nothing is read from standard input or written "
				    "to standard output; a file of that name is ./-");
			return WH_EXIT_USAGE;
		}
	return 0;
}

int wh_transfer_read_operands(struct wh_transfer *transfer)
{
	const struct wh_settings *settings = &transfer->settings;
	uint32_t count = (uint32_t)settings->operand_count;
	bool sends = transfer->verb == WH_VERB_SEND;

	if (count < 2 || count > WH_HELLO_PATHS_MAX) {
		wh_complain(sends ? "send wants FILE... HOST:PATH; `wavehaul send --help` explains"
				  : "get wants HOST:PATH... DEST; `wavehaul get --help` explains");
		return WH_EXIT_USAGE;
	}

	int status = check_names(settings->operands, count);

	if (status != 0)
		return status;
	transfer->remote = calloc(count, sizeof(transfer->remote[0]));
	if (transfer->remote == NULL)
		return WH_EXIT_OTHER;
	status = sends ? read_send(transfer, settings->operands, count)
		       : read_get(transfer, settings->operands, count);

	if (status != 0)
		return status;
	return wh_trust_resolve(settings->identity, settings->trust, transfer->server,
		       settings->ipv4.address.family != 0, settings->ipv6.address.family != 0,
		       &transfer->peer) == 0
		       ? 0
		       : WH_EXIT_NETWORK;
}

static int open_folder(struct wh_transfer *transfer, const char *path)
{
	transfer->dest_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (transfer->dest_fd >= 0)
		return 0;
	wh_complain("cannot write into %s: %s", path, strerror(errno));
	return WH_EXIT_NO_FILE;
}

static const char *kind_name(mode_t mode)
{
	return S_ISFIFO(mode) ? "pipe" : S_ISSOCK(mode) ? "socket" : "device";
}

/* *status: what is at DEST, or where it leads to; zeros: nothing is. 0 or an exit status. */
static int look_at_dest(const char *dest, struct stat *status)
{
	struct stat link;

	if (stat(dest, status) != 0) {
		int error = errno;

		*status = (struct stat){0};
		if (lstat(dest, &link) != 0 || !S_ISLNK(link.st_mode))
			return 0;
		if (error == ENOENT)
			wh_complain("%s is a symbolic link to what is not there; make that first, "
				    "or remove the link",
				dest);
		else
			wh_complain("cannot follow %s: %s", dest, strerror(error));
		return WH_EXIT_NO_FILE;
	}
	if (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode))
		return 0;
	wh_complain("%s is a %s, and get writes files: name a file or a folder; `wavehaul bench` "
		    "measures without files",
		dest, kind_name(status->st_mode));
	return WH_EXIT_OTHER;
}

/* `path` is no folder that is there: its last name is the file's new one. */
static int open_above(struct wh_transfer *transfer, char *path)
{
	size_t bytes = strlen(path);

	while (bytes > 1 && path[bytes - 1] == '/')
		path[--bytes] = '\0';

	char *slash = strrchr(path, '/');

	transfer->dest_name = strdup(slash != NULL ? slash + 1 : path);
	if (slash != NULL)
		slash[slash == path ? 1 : 0] = '\0';
	return transfer->dest_name == NULL ? WH_EXIT_OTHER
					   : open_folder(transfer, slash != NULL ? path : ".");
}

/*
 * A folder that is there takes the files; else DEST's last name is the file's new one. The file
 * that a link leads to is replaced, where it is.
 */
int wh_transfer_open_dest(struct wh_transfer *transfer)
{
	const char *dest = transfer->local[0];
	size_t bytes = strlen(dest);
	const char *last;
	struct stat status;
	int rc = look_at_dest(dest, &status);

	transfer->dest_fd = -1;
	if (rc != 0)
		return rc;
	if (S_ISDIR(status.st_mode)) {
		transfer->dest_is_folder = true;
		transfer->dest_name = strdup(".");
		return transfer->dest_name == NULL ? WH_EXIT_OTHER : open_folder(transfer, dest);
	}
	transfer->dest_is_folder = transfer->remotes > 1 || (bytes > 0 && dest[bytes - 1] == '/') ||
				   wh_path_last_name(transfer->remote[0], &last) == 0;

	char *path = status.st_mode != 0 ? realpath(dest, NULL) : strdup(dest);

	rc = path == NULL ? WH_EXIT_OTHER : open_above(transfer, path);
	free(path);
	return rc;
}

void wh_transfer_free_operands(struct wh_transfer *transfer)
{
	for (uint32_t i = 0; i < transfer->remotes; i++)
		free(transfer->remote[i]);
	free(transfer->remote);
	free(transfer->dest_name);
	if (transfer->verb == WH_VERB_GET && transfer->dest_fd >= 0)
		close(transfer->dest_fd);
}
