/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "bundle/choice.h"
#include "cli/complain.h"
#include "cli/fault_text.h"
#include "cli/json.h"
#include "cli/moment/moment.h"
#include "cli/plain_text.h"

/* A byte of a name may be written as up to four characters. */
#define NAME_TEXT_BYTES (4 * (2 * WH_PATH_BYTES_MAX + 2) + 1)

static const char *const kinds[] = {
	[WH_ITEM_FILE] = "file",
	[WH_ITEM_FOLDER] = "folder",
	[WH_ITEM_LINK] = "link",
	[WH_ITEM_OTHER] = "other",
};

static void put(struct wh_print *print, const char *text)
{
	wh_spool_put(&print->spool, text, strlen(text));
}

int wh_print_open(struct wh_print *print, const struct wh_settings *settings, enum wh_verb verb,
	const char *const *path, uint32_t paths)
{
	*print = (struct wh_print){
		.verb = verb,
		.json = settings->json,
		.path = path,
		.paths = paths,
		/* A program that reads whole trees gets each folder in front of what is in it. */
		.sorts = verb == WH_VERB_LS && !(settings->json && settings->recursive),
		.pings_max = verb == WH_VERB_PING ? settings->pings : 0,
	};
	print->rtt_ns = calloc(print->pings_max + 1, sizeof(print->rtt_ns[0]));
	print->line = calloc(WH_PRINT_SORTED_MAX, sizeof(print->line[0]));
	if (print->rtt_ns == NULL || print->line == NULL)
		return -ENOMEM;

	int rc = wh_spool_open(&print->spool);

	print->open = rc == 0;
	if (print->json && rc == 0)
		put(print, "{\n\"entries\": [");
	return rc;
}

static void put_line(struct wh_print *print, const char *text)
{
	if (print->json)
		put(print, print->some ? ",\n" : "\n");
	print->some = true;
	put(print, text);
}

static int compare(const void *a, const void *b)
{
	const struct wh_print_line *one = a;
	const struct wh_print_line *other = b;

	return strcmp(one->key, other->key);
}

static void put_sorted(struct wh_print *print)
{
	qsort(print->line, print->lines, sizeof(print->line[0]), compare);
	for (uint32_t i = 0; i < print->lines; i++) {
		put_line(print, print->line[i].text);
		free(print->line[i].key);
		free(print->line[i].text);
	}
	print->lines = 0;
}

/* A sort key by which a folder's contents follow it directly. */
static char *key_of(uint32_t given, const char *path, uint32_t path_bytes)
{
	char *key = NULL;

	if (asprintf(&key, "%04x%.*s", given, (int)path_bytes, path) < 0)
		return NULL;
	for (char *c = key; *c != '\0'; c++)
		if (*c == '/')
			*c = '\1';
	return key;
}

/* Takes over the text. */
static void keep(struct wh_print *print, const struct wh_item *item, char *text)
{
	char *key = print->sorts ? key_of(item->given, item->path, item->path_bytes) : NULL;

	WH_ASSERT(text != NULL);
	if (key == NULL) {
		put_line(print, text);
		free(text);
		return;
	}
	print->line[print->lines++] = (struct wh_print_line){.key = key, .text = text};
	if (print->lines < WH_PRINT_SORTED_MAX)
		return;
	put_sorted(print);
	print->sorts = false;
}

/*
 * Includes the path that was asked for, if there were several, or if the item is that path itself.
 */
static void full_path(const struct wh_print *print, const struct wh_item *item, bool whole,
	char path[2 * WH_PATH_BYTES_MAX + 2])
{
	const char *given = print->path[item->given];
	bool is_given = item->path_bytes == 1 && item->path[0] == '.';
	int base_bytes = (int)wh_wildcard_base_bytes(given);

	WH_ASSERT(item->given < print->paths);
	if (item->matched)
		snprintf(path, 2 * WH_PATH_BYTES_MAX + 2, "%.*s%.*s", base_bytes, given,
			(int)item->path_bytes, item->path);
	else if (is_given)
		snprintf(path, 2 * WH_PATH_BYTES_MAX + 2, "%s", given);
	else if (whole || print->paths > 1)
		snprintf(path, 2 * WH_PATH_BYTES_MAX + 2, "%s%s%.*s", given,
			given[strlen(given) - 1] == '/' ? "" : "/", (int)item->path_bytes,
			item->path);
	else
		snprintf(
			path, 2 * WH_PATH_BYTES_MAX + 2, "%.*s", (int)item->path_bytes, item->path);
}

static void mode_text(const struct wh_item *item, char text[11])
{
	static const char letters[] = "rwxrwxrwx";
	static const char kind_letters[] = {[WH_ITEM_FILE] = '-',
		[WH_ITEM_FOLDER] = 'd',
		[WH_ITEM_LINK] = 'l',
		[WH_ITEM_OTHER] = '?'};

	text[0] = kind_letters[item->kind];
	for (int i = 0; i < 9; i++)
		text[1 + i] = (item->mode & 0400 >> i) != 0 ? letters[i] : '-';
	if (item->mode & 04000)
		text[3] = text[3] == 'x' ? 's' : 'S';
	if (item->mode & 02000)
		text[6] = text[6] == 'x' ? 's' : 'S';
	if (item->mode & 01000)
		text[9] = text[9] == 'x' ? 't' : 'T';
	text[10] = '\0';
}

static char *list_text(const struct wh_item *item, const char *name)
{
	char plain_link[4 * WH_PATH_BYTES_MAX + 1] = "";
	char link[WH_PATH_BYTES_MAX + 1];
	char *text = NULL;
	char mode[11];
	char time[WH_MOMENT_BYTES];

	mode_text(item, mode);
	memcpy(link, item->link, item->link_bytes);
	link[item->link_bytes] = '\0';
	wh_plain_text(link, true, plain_link, sizeof(plain_link));
	if (asprintf(&text, "%s %6u %6u %14" PRIu64 " %s %s%s%s%s\n", mode, item->uid, item->gid,
		    item->bytes, wh_moment_text(item->mtime_s, time), name,
		    item->kind == WH_ITEM_FOLDER ? "/" : "", item->link_bytes > 0 ? " -> " : "",
		    plain_link) < 0)
		return NULL;
	return text;
}

static char *usage_text(const struct wh_item *item, const char *name)
{
	char used[WH_UNITS_MAX];
	char bytes[WH_UNITS_MAX];
	char *text = NULL;

	wh_format_size(used, sizeof(used), item->used_bytes);
	wh_format_size(bytes, sizeof(bytes), item->bytes);
	if (asprintf(&text, "%10s on disk %10s in files %10" PRIu64 " entries  %s\n", used, bytes,
		    item->entries, name) < 0)
		return NULL;
	return text;
}

/* Characters with a special meaning to a terminal are escaped; frees the object. */
static char *json_text(json_t *object)
{
	char *dumped = json_dumps(object, 0);
	char *text = NULL;
	size_t bytes = 0;
	FILE *to = dumped != NULL ? open_memstream(&text, &bytes) : NULL;

	if (to != NULL) {
		wh_plain_json(dumped, to);
		fclose(to);
	}
	free(dumped);
	json_decref(object);
	return text;
}

static char *item_json(const struct wh_item *item, const char *path)
{
	char link[WH_PATH_BYTES_MAX + 1];
	json_t *object = json_object();

	wh_path_to_json(object, "path", path);
	/* clang-format off */
	wh_json_add(object, json_pack("{s:s, s:I, s:I, s:I, s:I, s:i, s:i, s:I, s:I}",
		"kind", kinds[item->kind],
		"bytes", (json_int_t)item->bytes,
		"used_bytes", (json_int_t)item->used_bytes,
		"entries", (json_int_t)item->entries,
		"mtime_s", (json_int_t)item->mtime_s,
		"mtime_ns", (int)item->mtime_ns,
		"mode", (int)item->mode,
		"uid", (json_int_t)item->uid,
		"gid", (json_int_t)item->gid));
	/* clang-format on */
	if (item->link_bytes > 0) {
		memcpy(link, item->link, item->link_bytes);
		link[item->link_bytes] = '\0';
		wh_path_to_json(object, "link", link);
	}
	return json_text(object);
}

void wh_print_item(void *context, const struct wh_item *item)
{
	struct wh_print *print = context;
	char path[2 * WH_PATH_BYTES_MAX + 2];
	char name[NAME_TEXT_BYTES];
	char *text;

	full_path(print, item, print->json || print->verb == WH_VERB_DU, path);
	if (print->json) {
		text = item_json(item, path);
	} else {
		wh_plain_text(path, true, name, sizeof(name));
		text = print->verb == WH_VERB_DU ? usage_text(item, name) : list_text(item, name);
	}
	keep(print, item, text);
}

void wh_print_fault(
	void *context, int error, enum wh_doing doing, const char *path, uint32_t path_bytes)
{
	struct wh_print *print = context;
	char plain[4 * WH_PATH_BYTES_MAX + 1];
	char why[WH_FAULT_TEXT_BYTES];
	char name[WH_PATH_BYTES_MAX + 1];

	print->missing |= error == ENOENT;
	print->faults++;
	WH_ASSERT(path_bytes <= WH_PATH_BYTES_MAX);
	memcpy(name, path, path_bytes);
	name[path_bytes] = '\0';
	/* Of a remote operation only mkdir finds it, whatever has the name. */
	if (error == EEXIST)
		snprintf(why, sizeof(why), "something already has this name");
	else
		wh_fault_text(why, doing, error);
	if (!print->json) {
		wh_say("%s: %s", wh_plain_text(name, true, plain, sizeof(plain)), why);
		return;
	}

	json_t *object = json_object();

	wh_path_to_json(object, "path", name);
	wh_json_add(object, json_pack("{s:s}", "error", why));

	char *text = json_text(object);

	put_line(print, text);
	free(text);
}

void wh_print_ping(void *context, uint64_t sequence, uint64_t rtt_tsc)
{
	struct wh_print *print = context;
	uint64_t rtt_ns = wh_tsc_to_ns(print->hz, rtt_tsc);
	char text[64];

	WH_ASSERT(print->pings < print->pings_max);
	print->rtt_ns[print->pings++] = rtt_ns;
	if (print->json)
		snprintf(text, sizeof(text), "{\"ping\": %" PRIu64 ", \"rtt_ns\": %" PRIu64 "}",
			sequence + 1, rtt_ns);
	else
		snprintf(text, sizeof(text), "%" PRIu64 ": %.3f ms\n", sequence + 1,
			(double)rtt_ns / 1e6);
	put_line(print, text);
}

bool wh_print_may_take(void *context)
{
	const struct wh_print *print = context;

	return wh_spool_has_room(&print->spool);
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a;
	uint64_t other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

/* The smallest value not exceeded by `percent` of all; they are sorted. */
static uint64_t quantile(const struct wh_print *print, uint64_t percent)
{
	uint64_t at = (print->pings * percent + 99) / 100;

	return print->pings == 0 ? 0 : print->rtt_ns[at > 0 ? at - 1 : 0];
}

void wh_print_end(struct wh_print *print)
{
	put_sorted(print);
	qsort(print->rtt_ns, print->pings, sizeof(print->rtt_ns[0]), compare_ns);
}

void wh_print_pings(struct wh_print *print, const char *server)
{
	char text[512];

	if (print->json || print->pings == 0)
		return;
	snprintf(text, sizeof(text),
		"%" PRIu64 " of %" PRIu64
		" came back from %s: least %.3f ms, median %.3f ms, 90 %% "
		"within %.3f ms, 99 %% within %.3f ms, most %.3f ms\n",
		print->pings, print->pings_max, server, (double)quantile(print, 0) / 1e6,
		(double)quantile(print, 50) / 1e6, (double)quantile(print, 90) / 1e6,
		(double)quantile(print, 99) / 1e6, (double)quantile(print, 100) / 1e6);
	put(print, text);
}

static json_t *rtt_json(const struct wh_print *print)
{
	/* clang-format off */
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"asked", (json_int_t)print->pings_max,
		"came_back", (json_int_t)print->pings,
		"min_ns", (json_int_t)quantile(print, 0),
		"p50_ns", (json_int_t)quantile(print, 50),
		"p90_ns", (json_int_t)quantile(print, 90),
		"p99_ns", (json_int_t)quantile(print, 99),
		"max_ns", (json_int_t)quantile(print, 100));
	/* clang-format on */
}

/* The list has begun the object already. */
static void put_tail(
	struct wh_print *print, const char *server, int status, const struct wh_tally *tally)
{
	json_t *object = wh_head_json(wh_verb_name(print->verb), status);

	json_object_set_new(object, "host", wh_word_to_json(server));
	json_object_set_new(object, "failed", json_integer((json_int_t)print->faults));
	json_object_set_new(object, "done", json_integer((json_int_t)tally->done));
	if (print->verb == WH_VERB_PING)
		json_object_set_new(object, "rtt", rtt_json(print));

	char *text = json_text(object);

	WH_ASSERT(text != NULL && text[0] == '{');
	put(print, "\n],\n");
	put(print, text + 1);
	put(print, "\n");
	free(text);
}

int wh_print_close(
	struct wh_print *print, const char *server, int status, const struct wh_tally *tally)
{
	int rc = 0;

	if (print->open) {
		if (print->json)
			put_tail(print, server, status, tally);
		rc = wh_spool_close(&print->spool);
	}
	free(print->rtt_ns);
	free(print->line);
	return rc;
}
