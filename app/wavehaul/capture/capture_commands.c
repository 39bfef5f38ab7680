/* SPDX-License-Identifier: BSD-3-Clause */

/* The commands about captures on the control socket. */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/units.h"
#include "capture/captures.h"
#include "cli/exit.h"

/* Default limits of a capture, and the smallest and largest that are accepted. */
#define PKTS_STANDARD    UINT64_C(100000)
#define BYTES_STANDARD   (UINT64_C(64) << 20)
#define SECONDS_STANDARD 60
#define BYTES_MIN        (UINT64_C(64) << 10)
#define BYTES_MAX        (UINT64_C(1) << 40)
#define SECONDS_MAX      (7 * 86400)
#define SNAP_MAX         UINT64_C(65535)

static const char *const of_names[] = {
	[WH_CAPTURE_SESSION] = "session",
	[WH_CAPTURE_QUEUE] = "queue",
	[WH_CAPTURE_PORT] = "port",
};

static json_t *capture_json(const struct wh_captures *captures, const struct wh_capture *capture)
{
	const struct wh_capture_wanted *wanted = &capture->wanted;
	uint64_t hz = captures->host->ctx.hz;
	uint64_t end_tsc = capture->state == WH_CAPTURE_RUNS ? rte_rdtsc() : capture->ended_tsc;
	char path[PATH_MAX + WH_CAPTURE_NAME_BYTES + sizeof(WH_CAPTURE_FOLDER) + 2];
	uint64_t seen_pkts;
	uint64_t missed_pkts;
	json_t *object;

	wh_capture_count(capture, &seen_pkts, &missed_pkts);
	snprintf(path, sizeof(path), "%s/" WH_CAPTURE_FOLDER "/%s", captures->state, wanted->name);
	object = json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:I, s:s}", "capture",
		(json_int_t)capture->number, "of", of_names[wanted->of], "state",
		capture->state == WH_CAPTURE_OVER ? "over" : "running", "seen_pkts",
		(json_int_t)seen_pkts, "written_pkts", (json_int_t)wh_capture_written_pkts(capture),
		"missed_pkts", (json_int_t)missed_pkts, "bytes", (json_int_t)capture->file.bytes,
		"why", capture->why);
	json_object_set_new(object, "number",
		wanted->of != WH_CAPTURE_PORT ? json_integer((json_int_t)wanted->number)
					      : json_null());
	json_object_set_new(
		object, "seconds", json_real((double)(end_tsc - capture->began_tsc) / (double)hz));
	json_object_set_new(object, "packets_max", json_integer((json_int_t)wanted->pkts_max));
	json_object_set_new(object, "bytes_max", json_integer((json_int_t)wanted->bytes_max));
	json_object_set_new(object, "seconds_max", json_integer((json_int_t)wanted->seconds_max));
	json_object_set_new(object, "snap_bytes", json_integer(wanted->snap_bytes));
	json_object_set_new(object, "owner", json_integer(wanted->uid));
	json_object_set_new(object, "file", json_string(path));
	return object;
}

/* Reads which of the three is to be captured. */
static void take_what(
	const struct wh_control_call *call, struct wh_capture_wanted *wanted, uint32_t *said)
{
	bool session = json_object_get(call->request, "session") != NULL;
	bool queue = json_object_get(call->request, "queue") != NULL;
	bool port = wh_control_switch(call, "port");

	wanted->of = session ? WH_CAPTURE_SESSION : queue ? WH_CAPTURE_QUEUE : WH_CAPTURE_PORT;
	wanted->number = wh_control_count(call, of_names[wanted->of], 0);
	*said = session + queue + port;
}

/* Letters, digits and no path separators, so that the file stays in the folder of captures. */
static bool is_name(const char *name)
{
	size_t bytes = strlen(name);

	if (bytes == 0 || bytes >= WH_CAPTURE_NAME_BYTES || name[0] == '.')
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (!isalnum((unsigned char)name[i]) && strchr("._-", name[i]) == NULL)
			return false;
	return true;
}

static uint64_t take_count(struct wh_control_call *call, const char *name, uint64_t standard,
	uint64_t least, uint64_t most)
{
	uint64_t value = wh_control_count(call, name, standard);

	if (value < least || value > most)
		wh_control_fail(call, WH_EXIT_USAGE, "%s of a capture are %llu to %llu", name,
			(unsigned long long)least, (unsigned long long)most);
	return value;
}

static void take_bounds(struct wh_control_call *call, struct wh_capture_wanted *wanted)
{
	const char *bytes = wh_control_text(call, "bytes");

	wanted->bytes_max = BYTES_STANDARD;
	wanted->pkts_max = take_count(call, "packets", PKTS_STANDARD, 1, INT64_MAX);
	wanted->seconds_max = take_count(call, "seconds", SECONDS_STANDARD, 1, SECONDS_MAX);
	if (json_object_get(call->request, "snap") != NULL)
		wanted->snap_bytes =
			(uint32_t)take_count(call, "snap", 0, WH_FRAMES_SNAP_MIN, SNAP_MAX);
	if (bytes != NULL &&
		(wh_parse_size(bytes, &wanted->bytes_max) != 0 || wanted->bytes_max < BYTES_MIN ||
			wanted->bytes_max > BYTES_MAX))
		wh_control_fail(call, WH_EXIT_USAGE,
			"'%.60s' is not a size for a capture: write 64K to 1T, for example 64M",
			bytes);
}

static void start(struct wh_control_call *call)
{
	struct wh_captures *captures = call->context;
	const char *name = wh_control_text(call, "file");
	struct wh_capture_wanted wanted = {.uid = call->uid};
	const struct wh_capture *capture = NULL;
	uint32_t said;

	take_what(call, &wanted, &said);
	take_bounds(call, &wanted);
	if (said != 1)
		wh_control_fail(call, WH_EXIT_USAGE,
			"a capture is of a session, of a queue, or of the port");
	else if (!is_name(name))
		wh_control_fail(call, WH_EXIT_USAGE,
			"'%.70s' is no name of a capture: letters, digits, '.', '_' and '-', 64 at "
			"most, and no path, for it lies below the folder of --state",
			name);
	else if (captures->state[0] == '\0')
		wh_control_fail(call, WH_EXIT_OTHER,
			"this server has no state folder: --state names the folder for captures, "
			"too");
	else if (wanted.of != WH_CAPTURE_SESSION && !call->administers)
		wh_control_fail(call, WH_EXIT_OTHER,
			"only root and the server's user may capture a queue or the port");
	if (call->status != WH_EXIT_OK)
		return;
	snprintf(wanted.name, sizeof(wanted.name), "%s", name);
	capture = wh_capture_start(captures, &wanted, call);
	if (capture != NULL)
		json_object_update_new(call->answer, capture_json(captures, capture));
}

static void stop(struct wh_control_call *call)
{
	struct wh_captures *captures = call->context;
	uint64_t number = wh_control_count(call, "capture", 0);
	struct wh_capture *capture = wh_capture_find(captures, number);

	if (capture == NULL)
		wh_control_fail(call, WH_EXIT_OTHER, "there is no capture %llu",
			(unsigned long long)number);
	else if (!call->administers && capture->wanted.uid != call->uid)
		wh_control_fail(call, WH_EXIT_OTHER,
			"capture %llu belongs to user %u: only that user, root and the server's "
			"user may stop it",
			(unsigned long long)number, capture->wanted.uid);
	else if (capture->state != WH_CAPTURE_RUNS)
		wh_control_fail(call, WH_EXIT_OTHER, "capture %llu is over: %s",
			(unsigned long long)number, capture->why);
	else
		wh_capture_stop(captures, capture, "it was stopped");
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = (*(const struct wh_capture *const *)left)->number;
	uint64_t b = (*(const struct wh_capture *const *)right)->number;

	return (a > b) - (a < b);
}

static void list(struct wh_control_call *call)
{
	const struct wh_captures *captures = call->context;
	const struct wh_capture *found[WH_CAPTURES_KEPT];
	json_t *rows = json_array();
	size_t count = 0;

	for (uint32_t i = 0; i < WH_CAPTURES_KEPT; i++)
		if (captures->kept[i].number != 0)
			found[count++] = &captures->kept[i];
	qsort(found, count, sizeof(found[0]), by_number);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, capture_json(captures, found[i]));
	json_object_set_new(call->answer, "captures", rows);
}

#define BOUNDS " to <file> [for <seconds>] [packets <packets>] [bytes <bytes>] [snap <snap>]"

static const struct wh_control_command commands[] = {
	{.name = "capture.start",
		.words = "capture session <session>" BOUNDS " | capture queue <queue>" BOUNDS
			 " | capture port" BOUNDS,
		.help = "packets into a pcapng file below the folder of --state",
		.run = start,
		.argument = {{"session", WH_CONTROL_COUNT, false, "of this session,"},
			{"queue", WH_CONTROL_COUNT, false, "or of this queue,"},
			{"port", WH_CONTROL_SWITCH, false, "or of all queues"},
			{"file", WH_CONTROL_TEXT, true, "its name, that no file has yet"},
			{"seconds", WH_CONTROL_COUNT, false, "at most; 60"},
			{"packets", WH_CONTROL_COUNT, false, "at most; 100000"},
			{"bytes", WH_CONTROL_TEXT, false, "of the file, at most; 64M"},
			{"snap", WH_CONTROL_COUNT, false, "of each frame; all of it"}}},
	{.name = "capture.stop",
		.words = "capture stop <capture...>",
		.help = "it ends, and its file is whole",
		.run = stop,
		.argument = {{"capture", WH_CONTROL_COUNT, true, "its number"}}},
	{.name = "capture.list",
		.words = "show captures",
		.help = "those that run, and the last that did",
		.run = list},
};

void wh_captures_add(struct wh_control_tables *tables, struct wh_captures *captures)
{
	wh_control_add(tables, commands, sizeof(commands) / sizeof(commands[0]), captures);
}
