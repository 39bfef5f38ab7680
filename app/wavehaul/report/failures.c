/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/failures.h"

#include <string.h>

#include "cli/json.h"

void wh_failures_init(struct wh_failures *failures)
{
	*failures = (struct wh_failures){0};
	STAILQ_INIT(&failures->named);
}

/* The most bytes that a text takes in JSON: what is not UTF-8 becomes hexadecimal. */
static size_t json_bytes(const char *text)
{
	size_t bytes = 0;

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		bytes += c < ' '                              ? sizeof("\\u0000") - 1
			 : c >= 0x80 || c == '"' || c == '\\' ? 2
							      : 1;
	}
	return bytes;
}

static void free_failure(struct wh_failure *failure)
{
	free(failure->path);
	free(failure->text);
	free(failure);
}

static struct wh_failure *make_failure(
	const char *path, const char *text, enum wh_failure_kind kind)
{
	struct wh_failure *failure = calloc(1, sizeof(*failure));

	if (failure == NULL)
		return NULL;
	failure->path = strdup(path);
	failure->text = strdup(text);
	failure->kind = kind;
	if (failure->path != NULL && failure->text != NULL)
		return failure;
	free_failure(failure);
	return NULL;
}

void wh_failures_add(
	struct wh_failures *failures, const char *path, const char *text, enum wh_failure_kind kind)
{
	size_t bytes =
		sizeof("{\"error\":\"\",\"path_hex\":\"\"}") + json_bytes(path) + json_bytes(text);
	struct wh_failure *failure = NULL;

	/*
	 * Once a name is left out all later ones are: the list has the first names, not the short
	 * ones.
	 */
	if (failures->unnamed[kind] == 0 && bytes <= WH_FAILURES_BYTES - failures->bytes[kind])
		failure = make_failure(path, text, kind);
	if (failure == NULL) {
		failures->unnamed[kind]++;
		return;
	}
	failures->bytes[kind] += (uint32_t)bytes;
	STAILQ_INSERT_TAIL(&failures->named, failure, next);
}

void wh_failures_forget(struct wh_failures *failures)
{
	while (!STAILQ_EMPTY(&failures->named)) {
		struct wh_failure *failure = STAILQ_FIRST(&failures->named);

		STAILQ_REMOVE_HEAD(&failures->named, next);
		free_failure(failure);
	}
	wh_failures_init(failures);
}

const struct wh_failure *wh_failures_first(const struct wh_failures *failures)
{
	const struct wh_failure *failure;

	STAILQ_FOREACH(failure, &failures->named, next)
	{
		if (failure->kind == WH_FAILURE_FAILED)
			return failure;
	}
	return NULL;
}

static json_t *list_of(const struct wh_failures *failures, enum wh_failure_kind kind)
{
	const struct wh_failure *failure;
	json_t *list = json_array();

	STAILQ_FOREACH(failure, &failures->named, next)
	{
		if (failure->kind != kind)
			continue;

		json_t *one = json_object();

		if (kind != WH_FAILURE_REMOVED)
			json_object_set_new(one, "error", wh_word_to_json(failure->text));
		wh_path_to_json(one, "path", failure->path);
		json_array_append_new(list, one);
	}
	return list;
}

void wh_failures_to_json(const struct wh_failures *failures, json_t *object)
{
	static const struct {
		const char *list, *unnamed;
	} names[WH_FAILURE_KINDS] = {
		[WH_FAILURE_FAILED] = {"failures", "failures"},
		[WH_FAILURE_PASSED_OVER] = {"passed_over", "passed_over"},
		[WH_FAILURE_REMOVED] = {"removed_names", "removed"},
	};
	json_t *unnamed = json_object();

	for (enum wh_failure_kind kind = 0; kind < WH_FAILURE_KINDS; kind++) {
		json_object_set_new(object, names[kind].list, list_of(failures, kind));
		json_object_set_new(unnamed, names[kind].unnamed,
			json_integer((json_int_t)failures->unnamed[kind]));
	}
	json_object_set_new(object, "unnamed", unnamed);
}
