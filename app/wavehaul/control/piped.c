/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/piped.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"

#define PIECE_BYTES ((size_t)256 << 10)

/* How often a request to stop is checked for. */
#define LOOK_MS 100

int wh_piped_open(struct wh_piped *piped, const char *control, uint64_t *stream)
{
	int rc = wh_asker_open(&piped->line, control);
	json_t *answer;
	int status;

	if (rc != 0)
		return wh_fail(WH_EXIT_NETWORK,
			"this host's server takes no connection for a stream: %s", strerror(-rc));
	answer = wh_asker_ask(&piped->line, json_pack("{s:s}", "do", "stream"));
	status = wh_answer_conclude(answer);
	*stream = (uint64_t)json_integer_value(json_object_get(answer, "stream"));
	json_decref(answer);
	return status;
}

/* False: it is to stop. */
static bool await(struct wh_piped *piped, int fd, short events)
{
	struct pollfd polled = {.fd = fd, .events = events};

	while (!atomic_load(&piped->stop) && wh_signals_count() < 2)
		if (poll(&polled, 1, LOOK_MS) > 0)
			return true;
	return false;
}

static bool is_pause(void)
{
	return errno == EAGAIN || errno == EINTR;
}

/* False: not all of them could be written. */
static bool write_all(struct wh_piped *piped, int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t taken = write(fd, data, bytes);

		if (taken < 0 && (!is_pause() || !await(piped, fd, POLLOUT)))
			return false;
		if (taken <= 0)
			continue;
		data += taken;
		bytes -= (size_t)taken;
	}
	return true;
}

/*
 * Moves the bytes. A shutdown tells the server that the pipe has ended. A connection that closes
 * without one means that bytes are missing.
 */
static void carry(struct wh_piped *piped, char *piece)
{
	int server_fd = piped->line.fd;
	int from = piped->sends ? piped->pipe_fd : server_fd;
	int to = piped->sends ? server_fd : piped->pipe_fd;
	ssize_t bytes;

	while (await(piped, from, POLLIN)) {
		bytes = read(from, piece, PIECE_BYTES);
		if (bytes < 0 && is_pause())
			continue;
		if (bytes == 0) {
			(void)shutdown(server_fd, SHUT_WR);
			return;
		}
		if (bytes > 0 && write_all(piped, to, piece, (size_t)bytes))
			continue;
		/* If the server has closed its end, the end of the job tells why. */
		if ((bytes < 0) == piped->sends && !is_pause())
			piped->error = errno;
		break;
	}
	(void)shutdown(server_fd, SHUT_RDWR);
}

static void *run(void *argument)
{
	struct wh_piped *piped = argument;
	char *piece = malloc(PIECE_BYTES);

	if (piece != NULL)
		carry(piped, piece);
	else
		piped->error = ENOMEM;
	if (piece == NULL)
		(void)shutdown(piped->line.fd, SHUT_RDWR);
	free(piece);
	return NULL;
}

int wh_piped_start(struct wh_piped *piped, int pipe_fd, bool sends)
{
	int rc;

	piped->pipe_fd = pipe_fd;
	piped->sends = sends;
	rc = pthread_create(&piped->thread, NULL, run, piped);
	piped->runs = rc == 0;
	return -rc;
}

void wh_piped_end(struct wh_piped *piped, bool whole)
{
	if (!piped->runs)
		return;
	if (piped->sends || !whole)
		atomic_store(&piped->stop, true);
	pthread_join(piped->thread, NULL);
	piped->runs = false;
}

void wh_piped_close(struct wh_piped *piped)
{
	wh_piped_end(piped, false);
	if (piped->line.line != NULL)
		wh_asker_close(&piped->line);
}
