/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/exposition.h"

#include <inttypes.h>
#include <string.h>

#include "base/assert.h"

struct writer {
	FILE *to;
	bool open_metrics;
	const struct wh_metric_family *family;
	bool headed; /* its head is written; a family without figures has none */
};

static const char *type_name(const struct writer *writer)
{
	switch (writer->family->type) {
	case WH_FAMILY_COUNTER:
		return "counter";
	case WH_FAMILY_INFO:
		return writer->open_metrics ? "info" : "gauge";
	default:
		return "gauge";
	}
}

static const char *suffix(const struct wh_metric_family *family)
{
	return family->type == WH_FAMILY_COUNTER ? "_total"
	       : family->type == WH_FAMILY_INFO  ? "_info"
						 : "";
}

/* OpenMetrics puts the family's name here, the older format the name of its lines. */
static void head(struct writer *writer)
{
	const struct wh_metric_family *family = writer->family;
	const char *end = writer->open_metrics ? "" : suffix(family);

	if (writer->headed)
		return;
	writer->headed = true;
	fprintf(writer->to, "# HELP %s%s %s\n", family->name, end, family->help);
	fprintf(writer->to, "# TYPE %s%s %s\n", family->name, end, type_name(writer));
	if (writer->open_metrics && family->unit[0] != '\0')
		fprintf(writer->to, "# UNIT %s %s\n", family->name, family->unit);
}

struct label {
	const char *name; /* NULL: none */
	const char *value;
	int chars;
};

static void write_label(FILE *to, const struct label *label)
{
	fprintf(to, "%s=\"", label->name);
	for (int i = 0; i < label->chars; i++) {
		char c = label->value[i];

		if (c == '\n')
			fputs("\\n", to);
		else if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else
			putc(c, to);
	}
	putc('"', to);
}

static void write_value(FILE *to, const struct wh_metric_family *family, const json_t *value)
{
	if (json_is_boolean(value) || family->type == WH_FAMILY_INFO)
		fprintf(to, "%d\n", json_is_true(value) || family->type == WH_FAMILY_INFO);
	else if (json_is_integer(value) && family->scale == 0)
		fprintf(to, "%" PRId64 "\n", (int64_t)json_integer_value(value));
	else
		fprintf(to, "%.6f\n",
			json_number_value(value) * (family->scale != 0 ? family->scale : 1));
}

static void write_line(struct writer *writer, const json_t *value, const struct label *each,
	const struct label *star)
{
	const struct wh_metric_family *family = writer->family;

	head(writer);
	fprintf(writer->to, "%s%s", family->name, suffix(family));
	if (each->name != NULL || star->name != NULL) {
		putc('{', writer->to);
		if (each->name != NULL)
			write_label(writer->to, each);
		if (each->name != NULL && star->name != NULL)
			putc(',', writer->to);
		if (star->name != NULL)
			write_label(writer->to, star);
		putc('}', writer->to);
	}
	putc(' ', writer->to);
	write_value(writer->to, family, value);
}

/* Whether the name matches a key with a '*', and the text that the '*' stands for. */
static bool fits(const char *key, const char *name, struct label *label)
{
	const char *star = strchr(key, '*');
	size_t before = (size_t)(star - key);
	size_t after = strlen(star + 1);
	size_t chars = strlen(name);

	if (chars <= before + after || strncmp(key, name, before) != 0 ||
		strcmp(name + chars - after, star + 1) != 0)
		return false;
	label->value = name + before;
	label->chars = (int)(chars - before - after);
	return true;
}

static void write_object(struct writer *writer, const json_t *object, const struct label *each)
{
	const struct wh_metric_family *family = writer->family;
	struct label star = {.name = family->label};
	const char *name;
	json_t *value;

	if (strchr(family->key, '*') == NULL) {
		value = json_object_get(object, family->key);
		star.value = json_is_string(value) ? json_string_value(value) : "";
		star.chars = (int)strlen(star.value);
		if (value != NULL)
			write_line(writer, value, each, &star);
		return;
	}
	WH_ASSERT(family->label != NULL);
	json_object_foreach((json_t *)object, name, value)
	{
		if (json_is_number(value) && fits(family->key, name, &star))
			write_line(writer, value, each, &star);
	}
}

/* "cpu_3" with the label "cpu" is 3. */
static struct label label_of(const char *each, const char *name)
{
	size_t chars = strlen(each);

	if (strncmp(name, each, chars) == 0 && name[chars] == '_')
		name += chars + 1;
	return (struct label){each, name, (int)strlen(name)};
}

static void write_family(struct writer *writer, const json_t *object)
{
	const struct label none = {.name = NULL};
	const char *name;
	json_t *value;

	if (writer->family->each == NULL) {
		write_object(writer, object, &none);
		return;
	}
	json_object_foreach((json_t *)object, name, value)
	{
		const struct label each = label_of(writer->family->each, name);

		write_object(writer, value, &each);
	}
}

void wh_exposition_write(FILE *to, bool open_metrics, const struct wh_figures *figures)
{
	for (uint32_t i = 0; i < wh_families_count; i++) {
		struct writer writer = {
			.to = to, .open_metrics = open_metrics, .family = &wh_families[i]};
		const json_t *object =
			figures->of(figures->context, wh_family_source_find(wh_families[i].from));

		if (object != NULL)
			write_family(&writer, object);
	}
	if (open_metrics)
		fputs("# EOF\n", to);
}
