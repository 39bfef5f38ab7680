/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control_ask.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "control/control_place.h"

/* The longest answer of a server, which may contain a list; a longer one is not accepted. */
#define ANSWER_BYTES_MAX (UINT32_C(16) << 20)
#define HELLO_MS         5000
#define ANSWER_MS        30000 /* to a request that does not wait for anything */

static json_t *take_line(struct wh_asker *asker)
{
	char *end = asker->line_bytes > 0 ? memchr(asker->line, '\n', asker->line_bytes) : NULL;
	json_t *found = NULL;

	if (end == NULL)
		return NULL;

	size_t bytes = (size_t)(end - asker->line);

	found = json_loadb(asker->line, bytes, 0, NULL);
	asker->line_bytes -= bytes + 1;
	memmove(asker->line, end + 1, asker->line_bytes);
	return found;
}

/* False: the server has gone, or nothing arrived in time. */
static bool hear(struct wh_asker *asker, int timeout_ms)
{
	struct pollfd polled = {.fd = asker->fd, .events = POLLIN};

	if (asker->room - asker->line_bytes < WH_CONTROL_PIECE_BYTES) {
		size_t room = asker->room + WH_CONTROL_PIECE_BYTES;
		char *larger = room <= ANSWER_BYTES_MAX ? realloc(asker->line, room) : NULL;

		if (larger == NULL) {
			asker->gone = true;
			return false;
		}
		asker->line = larger;
		asker->room = room;
	}
	if (poll(&polled, 1, timeout_ms) <= 0)
		return false;

	ssize_t bytes = recv(
		asker->fd, asker->line + asker->line_bytes, asker->room - asker->line_bytes, 0);

	if (bytes <= 0) {
		asker->gone = bytes == 0 || errno != EINTR;
		return false;
	}
	asker->line_bytes += (size_t)bytes;
	return true;
}

json_t *wh_asker_next(struct wh_asker *asker, int timeout_ms)
{
	json_t *found;

	while ((found = take_line(asker)) == NULL)
		if (!hear(asker, timeout_ms))
			return NULL;
	return found;
}

int wh_asker_open(struct wh_asker *asker, const char *option)
{
	char path[WH_CONTROL_PATH_BYTES];
	int placed = wh_control_place(option, path);
	json_t *hello;
	bool known;

	*asker = (struct wh_asker){.fd = placed};
	if (placed == 0)
		asker->fd = wh_control_connect(path);
	if (asker->fd < 0)
		return asker->fd;
	hello = wh_asker_next(asker, HELLO_MS);
	known = json_integer_value(json_object_get(hello, "control")) == WH_CONTROL_VERSION;
	json_decref(hello);
	if (known)
		return 0;
	wh_asker_close(asker);
	return -EPROTO;
}

void wh_asker_close(struct wh_asker *asker)
{
	if (asker->fd >= 0)
		close(asker->fd);
	free(asker->line);
	*asker = (struct wh_asker){.fd = -1};
}

json_t *wh_asker_ask(struct wh_asker *asker, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t bytes = text != NULL ? strlen(text) : 0;
	json_t *answer;

	json_decref(request);
	if (bytes == 0 || send(asker->fd, text, bytes, MSG_NOSIGNAL) != (ssize_t)bytes ||
		send(asker->fd, "\n", 1, MSG_NOSIGNAL) != 1) {
		free(text);
		return NULL;
	}
	free(text);
	while ((answer = wh_asker_next(asker, ANSWER_MS)) != NULL &&
		json_object_get(answer, "event") != NULL) {
		if (asker->on_event != NULL)
			asker->on_event(asker->context, answer);
		else
			json_decref(answer);
	}
	/* A late answer would be mistaken for that to the next request. */
	asker->gone |= answer == NULL;
	return answer;
}

int wh_answer_conclude(const json_t *answer)
{
	const char *error = json_string_value(json_object_get(answer, "error"));
	json_int_t status = json_integer_value(json_object_get(answer, "status"));

	if (answer == NULL)
		return wh_fail(WH_EXIT_NETWORK, "the server is gone, or does not answer");
	if (json_is_true(json_object_get(answer, "ok")))
		return WH_EXIT_OK;
	wh_complain("%s", error != NULL ? error : "the server refuses, and does not say why");
	return status > 0 && status < 128 ? (int)status : WH_EXIT_OTHER;
}
