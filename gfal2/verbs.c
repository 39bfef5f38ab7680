/* SPDX-License-Identifier: BSD-3-Clause */

#include "verbs.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define ERRNO_MAX 133

/* Exit statuses of wavehaul(1). */
static const struct {
	int status, error;
} statuses[] = {
	{2, EINVAL},
	{3, ENOENT},
	{5, EHOSTUNREACH},
	{20, ECANCELED},
	{30, ETIMEDOUT},
};

/* Its sentences that name no error of the system. */
static const struct {
	const char *part;
	int error;
} sentences[] = {
	{"is a folder", EISDIR},
	{"a folder already has this", EISDIR},
	{"part of this path is a file", ENOTDIR},
	{"already has this name", EEXIST},
	{"leads out of the served", EACCES},
	{"may not", EACCES},
};

int verb_errno(int status, const char *sentence)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sentences); i++)
		if (strstr(sentence, sentences[i].part) != NULL)
			return sentences[i].error;
	for (int error = 1; error <= ERRNO_MAX; error++) {
		const char *name = strerrordesc_np(error);

		if (name != NULL && g_str_has_suffix(sentence, name))
			return error;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].error;
	return EIO;
}

static void add_options(const struct plugin *plugin, GPtrArray *words, const char *key)
{
	gsize count = 0;
	char **options = gfal2_get_opt_string_list_with_default(
		plugin->context, PLUGIN_GROUP, key, &count, NULL);

	for (gsize i = 0; options != NULL && i < count; i++)
		if (options[i][0] != '\0')
			g_ptr_array_add(words, g_strdup(options[i]));
	g_strfreev(options);
}

char **verb_words(const struct plugin *plugin, const struct place *place, const char *verb, ...)
{
	GPtrArray *words = g_ptr_array_new();
	char *control =
		gfal2_get_opt_string_with_default(plugin->context, PLUGIN_GROUP, "CONTROL", NULL);
	va_list more;

	add_options(plugin, words, "COMMAND");
	if (words->len == 0)
		g_ptr_array_add(words, g_strdup("wavehaul"));
	va_start(more, verb);
	for (const char *word = verb; word != NULL; word = va_arg(more, const char *))
		g_ptr_array_add(words, g_strdup(word));
	va_end(more);
	if (control != NULL && control[0] != '\0') {
		g_ptr_array_add(words, g_strdup("--control"));
		g_ptr_array_add(words, g_strdup(control));
	}
	if (place != NULL)
		add_options(plugin, words, "OPTIONS");
	/* A server of this host has one port for all that it reaches. */
	if (place != NULL && place->port != 0) {
		g_ptr_array_add(words, g_strdup("--daemon"));
		g_ptr_array_add(words, g_strdup("never"));
		g_ptr_array_add(words, g_strdup("--udp-port"));
		g_ptr_array_add(words, g_strdup_printf("%u", place->port));
	}
	g_free(control);
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, false);
}

struct collected {
	const struct flow *flow;
	GString *out;
};

static ssize_t collect_feed(void *context, void *buffer, size_t bytes, GError **err)
{
	const struct collected *collected = context;

	return collected->flow->feed(collected->flow->context, buffer, bytes, err);
}

static bool collect_take(void *context, const void *bytes, size_t count, GError **err)
{
	struct collected *collected = context;

	(void)err;
	g_string_append_len(collected->out, bytes, (gssize)count);
	return true;
}

static bool collect_beat(void *context, GError **err)
{
	const struct collected *collected = context;
	const struct flow *flow = collected->flow;

	return flow == NULL || flow->beat == NULL || flow->beat(flow->context, err);
}

/* The sentence in a report, of the one path that failed or of the whole; NULL: there is none. */
static char *told_by(const json_t *report)
{
	const char *keys[] = {"entries", "failures"};
	const char *told = json_string_value(json_object_get(report, "error"));

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		size_t index;
		const json_t *one;

		json_array_foreach(json_object_get(report, keys[i]), index, one)
		{
			const char *path = json_string_value(json_object_get(one, "path"));
			const char *error = json_string_value(json_object_get(one, "error"));

			/* What is sent has no name here but the one of standard input. */
			if (error != NULL && path != NULL && strcmp(path, "-") != 0)
				return g_strdup_printf("%s: %s", path, error);
			if (error != NULL)
				return g_strdup(error);
		}
	}
	return g_strdup(told);
}

/* What it says on standard error, in one line. */
static char *said_by(const GString *said)
{
	char **lines = g_strsplit(said->str, "\n", -1);
	GString *sentence = g_string_new(NULL);

	for (char **line = lines; *line != NULL; line++) {
		const char *text = g_str_has_prefix(*line, "wavehaul: ") ? *line + 10 : *line;

		if (text[0] != '\0')
			g_string_append_printf(
				sentence, "%s%s", sentence->len > 0 ? "; " : "", text);
	}
	g_strfreev(lines);
	if (sentence->len == 0)
		g_string_append(sentence, "wavehaul failed, and does not say why");
	return g_string_free(sentence, false);
}

static void fail(int status, const json_t *report, const GString *said, GError **err)
{
	char *told = told_by(report);

	if (told == NULL)
		told = said_by(said);
	gfal2_set_error(err, plugin_quark(), verb_errno(status, told), __func__, "%s", told);
	g_free(told);
}

json_t *verb_ask(const struct plugin *plugin, char **words, guint64 timeout_s,
	const struct flow *flow, GError **err)
{
	struct collected collected = {.flow = flow, .out = g_string_new(NULL)};
	struct flow all = {
		.feed = flow != NULL && flow->feed != NULL ? collect_feed : NULL,
		.take = collect_take,
		.beat = collect_beat,
		.context = &collected,
	};
	GString *said = g_string_new(NULL);
	int status = child_run(plugin, words, timeout_s, &all, said, err);
	json_t *report = status >= 0 ? json_loadb(collected.out->str, collected.out->len,
					       JSON_ALLOW_NUL, NULL)
				     : NULL;

	if (status > 0 || (status == 0 && !json_is_object(report))) {
		fail(status, report, said, err);
		status = -1;
	}
	g_string_free(said, true);
	g_string_free(collected.out, true);
	g_strfreev(words);
	if (status == 0)
		return report;
	json_decref(report);
	return NULL;
}

bool verb_run(const struct plugin *plugin, char **words, guint64 timeout_s, const struct flow *flow,
	GError **err)
{
	GString *said = g_string_new(NULL);
	int status = child_run(plugin, words, timeout_s, flow, said, err);

	if (status > 0)
		fail(status, NULL, said, err);
	g_string_free(said, true);
	g_strfreev(words);
	return status == 0;
}
