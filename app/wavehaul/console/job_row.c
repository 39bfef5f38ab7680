/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/job_row.h"

#include <string.h>

static const char *const facts[] = {"job", "state", "verb", "from", "to", "options", "percent",
	"files", "skipped", "failed", "moved_bytes", "bytes", "now_bps", "eta_s", "seconds", "rate",
	"rate_bps", "priority", "after", "due", "added", "began", "ended", "tries", "retries",
	"owner", "attached", "ordered_by", "far_job", "untold", "exit_status", "error"};

static const char *text_of(const json_t *job, const char *key)
{
	const char *text = json_string_value(json_object_get(job, key));

	return text != NULL ? text : "";
}

/* A copy's target names its host itself. */
static json_t *places(const json_t *job, const char *key, const char *host, bool brief)
{
	const json_t *paths = json_object_get(job, key);
	json_t *list = json_array();
	bool named = strcmp(text_of(job, "verb"), "copy") == 0 && strcmp(key, "there") == 0;

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
	bool gets = strcmp(text_of(job, "verb"), "get") == 0;
	bool copies = strcmp(text_of(job, "verb"), "copy") == 0;
	const char *host = text_of(job, "host");
	json_t *row = json_copy((json_t *)job);
	const char *key;
	json_t *value;
	void *next;

	json_object_set_new(row, "from",
		gets ? places(job, "there", host, brief)
		     : places(job, "here", copies ? host : NULL, brief));
	json_object_set_new(row, "to",
		gets ? places(job, "here", NULL, brief) : places(job, "there", host, brief));
	if (strcmp(text_of(job, "state"), "done") == 0)
		json_object_set_new(row, "percent", json_real(100));
	json_object_foreach_safe(row, next, key, value)
	{
		if (tells_nothing(key, value, json_is_integer(json_object_get(job, "ended"))))
			json_object_del(row, key);
	}
	return row;
}

json_t *wh_job_facts(const json_t *job)
{
	json_t *row = wh_job_row(job, false);
	json_t *told = json_object();

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (json_object_get(row, facts[i]) != NULL)
			json_object_set(told, facts[i], json_object_get(row, facts[i]));
	json_decref(row);
	return told;
}
