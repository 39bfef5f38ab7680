/* SPDX-License-Identifier: BSD-3-Clause */
#include "fleet/shard_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"

static void take_begin(struct wh_shard_past *past, const json_t *event)
{
	past->cut_off += past->state == WH_SHARD_BEGUN;
	past->begin = event;
	if (past->state != WH_SHARD_DONE)
		past->state = WH_SHARD_BEGUN;
}

static void take_end(struct wh_shard_past *past, const json_t *event)
{
	past->end = event;
	if (json_is_true(json_object_get(event, "passed"))) {
		past->passed++;
	} else {
		past->passed = 0;
		past->failures++;
	}
	if (wh_json_count(event, "exit_status") == WH_EXIT_OK)
		past->state = WH_SHARD_DONE;
	else if (past->state != WH_SHARD_DONE)
		past->state = past->failures >= WH_SHARD_FAILURES_MAX ? WH_SHARD_GIVEN_UP
								      : WH_SHARD_ENDED;
}

static void take(struct wh_shard_past *past, json_t *event)
{
	const char *what = wh_json_text(event, "event");

	if (strcmp(what, "begin") == 0) {
		take_begin(past, event);
	} else if (strcmp(what, "end") == 0) {
		take_end(past, event);
	} else if (strcmp(what, "moved") == 0) {
		past->moved++;
	} else if (strcmp(what, "check") == 0) {
		past->check = event;
	} else if (strcmp(what, "retry") == 0) {
		past->failures = past->passed = 0;
		if (past->state == WH_SHARD_GIVEN_UP)
			past->state = WH_SHARD_ENDED;
	}
	json_array_append_new(past->events, event);
}

void wh_shard_past_read(struct wh_shard_past *past, const struct wh_plan *plan, uint32_t shard)
{
	char path[PATH_MAX];
	char *line = NULL;
	size_t room = 0;
	FILE *file;

	*past = (struct wh_shard_past){.events = json_array()};
	wh_plan_path(plan, shard, "state", ".log", path);
	file = fopen(path, "re");
	while (file != NULL && getline(&line, &room, file) >= 0) {
		json_t *event = json_loads(line, 0, NULL);

		if (event != NULL)
			take(past, event);
	}
	free(line);
	if (file != NULL)
		fclose(file);
}

void wh_shard_past_free(struct wh_shard_past *past)
{
	json_decref(past->events);
}

void wh_shard_failed_on(const struct wh_shard_past *past, json_t *nodes)
{
	const json_t *event, *begin = NULL;
	uint32_t old = 0; /* events before the last retry */
	size_t i;

	json_array_foreach(past->events, i, event)
	{
		if (strcmp(wh_json_text(event, "event"), "retry") == 0)
			old = (uint32_t)i;
	}
	json_array_foreach(past->events, i, event)
	{
		const char *what = wh_json_text(event, "event");

		if (strcmp(what, "begin") == 0)
			begin = event;
		if (i >= old && strcmp(what, "end") == 0 && begin != NULL &&
			wh_json_count(event, "exit_status") != WH_EXIT_OK &&
			!json_is_true(json_object_get(event, "passed")))
			json_object_set_new(nodes, wh_json_text(begin, "node"), json_true());
	}
}

bool wh_shard_is_unreached(int status)
{
	return status == WH_EXIT_NETWORK || status == WH_EXIT_STALLED;
}

/* In one write, behind a newline: a line before it may have been cut. */
int wh_shard_note(const struct wh_plan *plan, uint32_t shard, json_t *event)
{
	char path[PATH_MAX];
	char *text, *line = NULL;
	int fd, length = -1;
	bool good;

	json_object_set_new(event, "at_s", json_real((double)wh_wall_us() / 1e6));
	text = json_dumps(event, JSON_COMPACT);
	json_decref(event);
	if (text != NULL)
		length = asprintf(&line, "\n%s\n", text);
	free(text);
	if (length < 0)
		return WH_EXIT_OTHER;
	wh_plan_path(plan, shard, "state", ".log", path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	good = fd >= 0 && write(fd, line, (size_t)length) == length && fsync(fd) == 0;
	free(line);
	if (!good)
		(void)wh_fail(false, "cannot write %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good ? -1 : WH_EXIT_OTHER;
}
