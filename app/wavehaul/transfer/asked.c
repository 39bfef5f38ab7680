/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/asked.h"

#include <string.h>
#include <time.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/signals.h"

/* How often a request to end is checked for. */
#define LOOK_MS 100

static void print_item(struct wh_asked *asked, const json_t *event)
{
	char path[WH_PATH_BYTES_MAX + 1];
	char link[WH_PATH_BYTES_MAX + 1];
	struct wh_item item = {
		.bytes = wh_json_count(event, "bytes"),
		.used_bytes = wh_json_count(event, "used_bytes"),
		.entries = wh_json_count(event, "entries"),
		.mtime_s = (int64_t)wh_json_count(event, "mtime_s"),
		.mtime_ns = (uint32_t)wh_json_count(event, "mtime_ns"),
		.uid = (uint32_t)wh_json_count(event, "uid"),
		.gid = (uint32_t)wh_json_count(event, "gid"),
		.mode = (uint16_t)wh_json_count(event, "mode"),
		.given = (uint16_t)wh_json_count(event, "given"),
		.kind = (uint8_t)wh_json_count(event, "kind"),
		.matched = wh_json_count(event, "matched") == 1,
		.path = path,
		.link = link,
	};

	item.path_bytes = wh_path_from_json(event, "path", path);
	item.link_bytes = wh_path_from_json(event, "link", link);
	if (item.path_bytes > 0 && item.given < asked->print->paths && item.kind >= WH_ITEM_FILE &&
		item.kind <= WH_ITEM_OTHER)
		wh_print_item(asked->print, &item);
}

static void print_fault(struct wh_asked *asked, const json_t *event)
{
	uint64_t doing = wh_json_count(event, "doing");
	char path[WH_PATH_BYTES_MAX + 1];
	uint16_t bytes = wh_path_from_json(event, "path", path);

	if (doing < WH_DOINGS)
		wh_print_fault(asked->print, (int)wh_json_count(event, "errno"),
			(enum wh_doing)doing, path, bytes);
}

static void take_over(struct wh_asked *asked, const json_t *event)
{
	const char *error = json_string_value(json_object_get(event, "error"));

	asked->over = true;
	asked->status = (int)wh_json_count(event, "exit_status");
	asked->tally = (struct wh_tally){
		.items = wh_json_count(event, "items"),
		.faults = wh_json_count(event, "faults"),
		.done = wh_json_count(event, "done"),
	};
	if (error != NULL)
		wh_complain("%s", error);
}

static void on_event(void *context, json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	struct wh_asked *asked = context;

	if (name == NULL)
		name = "";
	if (strcmp(name, "item") == 0)
		print_item(asked, event);
	else if (strcmp(name, "fault") == 0)
		print_fault(asked, event);
	else if (strcmp(name, "ping") == 0 && asked->print->pings < asked->print->pings_max)
		wh_print_ping(asked->print, wh_json_count(event, "sequence"),
			wh_json_count(event, "rtt_ns"));
	else if (strcmp(name, "over") == 0)
		take_over(asked, event);
	json_decref(event);
}

int wh_rpc_ask(struct wh_asked *asked, json_t *request)
{
	struct wh_asker *asker = asked->asker;
	json_t *answer;

	asker->on_event = on_event;
	asker->context = asked;
	answer = wh_asker_ask(asker, request);
	asked->status = wh_answer_conclude(answer);
	json_decref(answer);
	if (asked->status != WH_EXIT_OK)
		return asked->status;
	while (!asked->over && wh_signals_count() == 0 &&
		!atomic_load(&asked->print->spool.broken)) {
		/* The reader of our output may be slow: the server then waits with us. */
		json_t *event =
			wh_print_may_take(asked->print) ? wh_asker_next(asker, LOOK_MS) : NULL;

		if (event != NULL)
			on_event(asked, event);
		else if (asker->gone)
			break;
		else if (!wh_print_may_take(asked->print))
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	if (asked->over)
		return asked->status;
	if (wh_signals_count() > 0 || atomic_load(&asked->print->spool.broken))
		return WH_EXIT_INTERRUPTED;
	return wh_fail(WH_EXIT_NETWORK, "this host's server has exited");
}
