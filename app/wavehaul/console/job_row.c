/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/job_row.h"

#include <pwd.h>
#include <string.h>

#include "cli/json.h"

const struct wh_job_fact wh_job_facts[] = {
	{"job", "job"},
	{"state", "state"},
	{"verb", "verb"},
	{"from", "from"},
	{"to", "to"},
	{"options", "options"},
	{"percent", "percent"},
	{"now_bps", "rate now"},
	{"eta_s", "time left"},
	{"moved_bytes", "moved"},
	{"files", "files"},
	{"bytes", "bytes of files"},
	{"skipped", "skipped"},
	{"failed", "failed"},
	{"seconds", "seconds"},
	{"rate", "rate limit"},
	{"rate_bps", "rate limit now"},
	{"priority", "priority"},
	{"after", "after job"},
	{"due", "not before"},
	{"added", "added"},
	{"began", "began"},
	{"ended", "ended"},
	{"tries", "tries"},
	{"retries", "retries"},
	{"owner", "owner"},
	{"attached", "ends with client"},
	{"ordered_by", "ordered by"},
	{"delegated_job", "job there"},
	{"delegated_state", "state there"},
	{"untold", "paths not told"},
	{"exit_status", "exit status"},
	{"error", "error"},
	{NULL, NULL},
};

/* A copy's target names its host itself. */
static json_t *places(const json_t *job, const char *key, const char *host, bool brief)
{
	const json_t *paths = json_object_get(job, key);
	json_t *list = json_array();
	bool named = strcmp(wh_json_text(job, "verb"), "copy") == 0 && strcmp(key, "there") == 0;

	for (size_t i = 0; i < json_array_size(paths); i++) {
		if (brief && i > 0) {
			json_array_append_new(
				list, json_sprintf("and %zu more", json_array_size(paths) - i));
			break;
		}

		const char *path = json_string_value(json_array_get(paths, i));

		if (host == NULL || named)
			json_array_append(list, json_array_get(paths, i));
		else
			json_array_append_new(
				list, json_sprintf(strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s",
					      host, path != NULL ? path : ""));
	}
	return list;
}

/* Shows the owner by name, if this host has one for the number. */
static void name_owner(json_t *row)
{
	const json_t *owner = json_object_get(row, "owner");
	const struct passwd *user =
		json_is_integer(owner) ? getpwuid((uid_t)json_integer_value(owner)) : NULL;

	if (user != NULL)
		json_object_set_new(row, "owner", json_string(user->pw_name));
}

static bool tells_nothing(const char *key, const json_t *value, bool is_over)
{
	if (strcmp(key, "exit_status") == 0)
		return !is_over;
	if (strcmp(key, "attached") == 0)
		return !json_is_true(value);
	return json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
}

json_t *wh_job_row(const json_t *job, bool brief)
{
	bool gets = strcmp(wh_json_text(job, "verb"), "get") == 0;
	bool copies = strcmp(wh_json_text(job, "verb"), "copy") == 0;
	const char *host = wh_json_text(job, "host");
	json_t *row = json_copy((json_t *)job);
	const char *key;
	json_t *value;
	void *next;

	json_object_set_new(row, "from",
		gets ? places(job, "there", host, brief)
		     : places(job, "here", copies ? host : NULL, brief));
	json_object_set_new(row, "to",
		gets ? places(job, "here", NULL, brief) : places(job, "there", host, brief));
	name_owner(row);
	if (strcmp(wh_json_text(job, "state"), "done") == 0)
		json_object_set_new(row, "percent", json_real(100));
	json_object_foreach_safe(row, next, key, value)
	{
		if (tells_nothing(key, value, json_is_integer(json_object_get(job, "ended"))))
			json_object_del(row, key);
	}
	return row;
}
