/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/take.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/nearest/nearest.h"
#include "scenario/lex.h"

/* 18 times this still fits in picoseconds, so that sums of a few do not overflow. */
#define TIME_S_MAX 1e6

#define LINE_BYTES_MAX 256 /* of a file of rows */

bool wh_seconds_to_ps(double seconds, uint64_t *span_ps)
{
	if (!(seconds >= 0.0 && seconds <= TIME_S_MAX))
		return false;
	*span_ps = (uint64_t)llround(seconds * (double)WH_PS_PER_S);
	return true;
}

/* NULL: the section has no such key, or there was an error before. */
static struct wh_ini_entry *find(struct wh_taker *taker, const char *key)
{
	struct wh_ini_section *section = taker->section;
	struct wh_ini_entry *entry = wh_ini_find(section, key);
	uint32_t i = 0;

	while (i < section->n_asked && strcmp(section->asked[i], key) != 0)
		i++;
	if (i == section->n_asked) {
		WH_ASSERT(section->n_asked < WH_INI_ASKED_MAX);
		section->asked[section->n_asked++] = key;
	}
	if (entry != NULL)
		entry->used = true;
	return taker->failed ? NULL : entry;
}

static void refuse_entry(struct wh_taker *taker, const struct wh_ini_entry *entry, const char *why)
{
	if (!taker->failed)
		wh_complain("%s: %s = '%s' %s", entry->where, entry->key, entry->value, why);
	taker->failed = true;
}

bool wh_take_refuse(struct wh_taker *taker, const char *key, const char *why)
{
	const struct wh_ini_entry *entry = wh_ini_find(taker->section, key);

	if (entry != NULL)
		refuse_entry(taker, entry, why);
	else if (!taker->failed)
		wh_complain("%s: %s %s", taker->section->where, key, why);
	taker->failed = true;
	return false;
}

bool wh_take_require(struct wh_taker *taker, const char *key, const char *example)
{
	if (find(taker, key) != NULL || taker->failed)
		return !taker->failed;
	wh_complain("%s: [%s] lacks %s; write for example %s = %s", taker->section->where,
		taker->section->head, key, key, example);
	taker->failed = true;
	return false;
}

bool wh_take_has(struct wh_taker *taker, const char *key)
{
	return find(taker, key) != NULL;
}

/* Evaluates a text as a value of that kind; 0 has any kind. */
static bool evaluate(struct wh_taker *taker, const struct wh_ini_entry *entry, const char *text,
	enum wh_value_kind kind, double *x)
{
	struct wh_value value;
	char wrong[WH_EXPR_WRONG_BYTES];

	if (!wh_expr_quantity(taker->scope, text, &value, wrong)) {
		refuse_entry(taker, entry, wrong);
		return false;
	}
	if (value.kind != kind && value.x != 0.0) {
		refuse_entry(taker, entry,
			kind == WH_VALUE_TIME ? "is a number without a unit; a time is wanted, "
						"as 10ms"
					      : "is a time; a number is wanted");
		return false;
	}
	*x = value.x;
	return true;
}

double wh_take_number(
	struct wh_taker *taker, const char *key, double fallback, double least, double most)
{
	const struct wh_ini_entry *entry = find(taker, key);
	char why[128];
	double x;

	WH_ASSERT(least <= most);
	if (entry == NULL || !evaluate(taker, entry, entry->value, WH_VALUE_NUMBER, &x))
		return fallback;
	if (x >= least && x <= most)
		return x;
	snprintf(why, sizeof(why), "is %g; it must be from %g to %g", x, least, most);
	refuse_entry(taker, entry, why);
	return fallback;
}

uint64_t wh_take_count(
	struct wh_taker *taker, const char *key, uint64_t fallback, uint64_t least, uint64_t most)
{
	/*
	 * A value up to a half below the minimum is rounded up; one a half above the maximum is too
	 * large.
	 */
	double x = wh_take_number(taker, key, (double)fallback,
		(double)least - (least > 0 ? 0.5 : 0.0), (double)most);

	return wh_ini_find(taker->section, key) == NULL || taker->failed ? fallback
									 : (uint64_t)round(x);
}

/* The value of the swept variable of that name, or the text itself. */
static const char *word_of(
	const struct wh_taker *taker, const struct wh_ini_entry *entry, const char *fallback)
{
	const struct wh_variable *variable =
		entry == NULL ? NULL : wh_variable_find(taker->scope, entry->value);

	if (variable != NULL && variable->value.kind == WH_VALUE_WORD)
		return variable->value.word;
	return entry == NULL ? fallback : entry->value;
}

uint64_t wh_take_count_or_none(struct wh_taker *taker, const char *key, uint64_t most)
{
	const struct wh_ini_entry *entry = find(taker, key);

	return strcmp(word_of(taker, entry, "none"), "none") == 0
		       ? 0
		       : wh_take_count(taker, key, 0, 1, most);
}

uint64_t wh_take_ps(struct wh_taker *taker, const char *key, uint64_t fallback_ps)
{
	const struct wh_ini_entry *entry = find(taker, key);
	uint64_t span_ps;
	double x;

	if (entry == NULL || !evaluate(taker, entry, entry->value, WH_VALUE_TIME, &x))
		return fallback_ps;
	if (wh_seconds_to_ps(x, &span_ps))
		return span_ps;
	refuse_entry(taker, entry, "is no time from 0s to 1000000s");
	return fallback_ps;
}

void wh_take_word(
	struct wh_taker *taker, const char *key, const char *fallback, char word[WH_WORD_BYTES])
{
	const struct wh_ini_entry *entry = find(taker, key);
	const char *text = word_of(taker, entry, fallback);

	WH_ASSERT(strlen(fallback) < WH_WORD_BYTES);
	if (strlen(text) >= WH_WORD_BYTES) {
		refuse_entry(taker, entry, "is too long");
		text = fallback;
	}
	snprintf(word, WH_WORD_BYTES, "%s", text);
}

uint32_t wh_take_choice(
	struct wh_taker *taker, const char *key, const char *const *names, uint32_t fallback)
{
	char why[WH_EXPR_WRONG_BYTES] = "is not one of";
	char word[WH_WORD_BYTES];

	wh_take_word(taker, key, names[fallback], word);
	for (uint32_t i = 0; names[i] != NULL; i++) {
		size_t used = strlen(why);

		if (strcmp(names[i], word) == 0)
			return i;
		snprintf(why + used, sizeof(why) - used, "%s %s", i > 0 ? "," : "", names[i]);
	}
	wh_take_refuse(taker, key, why);
	return fallback;
}

bool wh_take_switch(struct wh_taker *taker, const char *key, bool fallback)
{
	static const char *const names[] = {"off", "on", "no", "yes", NULL};

	return wh_take_choice(taker, key, names, fallback) % 2 == 1;
}

uint32_t wh_take_list(struct wh_taker *taker, const char *key, enum wh_value_kind kind,
	double *values, uint32_t most)
{
	const struct wh_ini_entry *entry = find(taker, key);
	const char *list = entry == NULL ? NULL : entry->value;
	char item[WH_ITEM_BYTES];
	uint32_t count = 0;

	while (wh_lex_item(&list, ',', item)) {
		if (count == most) {
			refuse_entry(taker, entry, "has too many values");
			return 0;
		}
		if (!evaluate(taker, entry, item, kind, &values[count++]))
			return 0;
	}
	return count;
}

uint32_t wh_take_ats(struct wh_taker *taker, const char *key, bool first_is_time,
	struct wh_taken_at *ats, uint32_t most)
{
	const struct wh_ini_entry *entry = find(taker, key);
	const char *list = entry == NULL ? NULL : entry->value;
	char item[WH_ITEM_BYTES];
	uint32_t count = 0;

	while (wh_lex_item(&list, ',', item)) {
		char *at = strstr(item, " at ");
		struct wh_taken_at *taken = &ats[count];
		double seconds;

		if (at == NULL || count == most) {
			refuse_entry(taker, entry,
				at == NULL ? first_is_time ? "is not understood; write LENGTH at "
							     "TIME, as 100ms at 10s"
							   : "is not understood; write RATE at "
							     "TIME, as 50M at 10s"
					   : "has too many values");
			return 0;
		}
		*at = '\0';
		if (!evaluate(taker, entry, item, first_is_time ? WH_VALUE_TIME : WH_VALUE_NUMBER,
			    &taken->x) ||
			!evaluate(taker, entry, at + 4, WH_VALUE_TIME, &seconds))
			return 0;
		if (taken->x < 0.0 || !wh_seconds_to_ps(seconds, &taken->at_ps)) {
			refuse_entry(taker, entry, "has a value below 0");
			return 0;
		}
		count++;
	}
	return count;
}

/* State while reading; `why`: the error in a line. */
struct row_reader {
	const struct wh_expr_scope *scope;
	const struct wh_rows *rows;
	uint32_t count;
	char why[WH_EXPR_WRONG_BYTES];
};

static bool refuse_line(struct row_reader *reader, const char *why)
{
	snprintf(reader->why, sizeof(reader->why), "%s", why);
	return false;
}

static bool take_word(struct row_reader *reader, uint32_t field, const char *word, double *x)
{
	char kind = reader->rows->kinds[field];
	struct wh_value value;

	*x = NAN;
	if (strcmp(word, "-") == 0 && field >= reader->rows->n_required)
		return true;
	if (!wh_expr_quantity(reader->scope, word, &value, reader->why))
		return false;
	*x = value.x;
	return value.kind == (kind == 't' ? WH_VALUE_TIME : WH_VALUE_NUMBER) || value.x == 0.0 ||
	       refuse_line(reader, kind == 't' ? "is no time, as 1s" : "is no number");
}

static bool take_line(struct row_reader *reader, char *line)
{
	const struct wh_rows *rows = reader->rows;
	double values[WH_ROW_FIELDS_MAX];
	uint32_t field = 0;
	char *rest = line;

	line[strcspn(line, "#")] = '\0';
	for (char *word; (word = strtok_r(rest, " \t\r\n", &rest)) != NULL; field++)
		if (field < rows->n_fields && !take_word(reader, field, word, &values[field]))
			return false;
	if (field == 0)
		return true;
	if (field != rows->n_fields)
		return refuse_line(reader, rows->form);
	reader->count++;
	return rows->put(rows->context, values, reader->why);
}

/* The number of the wrong line; 0: the file as a whole, or nothing, is wrong. */
static uint32_t read_lines(struct row_reader *reader, FILE *file)
{
	char line[LINE_BYTES_MAX];

	for (uint32_t number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
		if (strchr(line, '\n') == NULL && !feof(file))
			refuse_line(reader, "is too long");
		else if (take_line(reader, line))
			continue;
		return number;
	}
	if (ferror(file) || reader->count == 0)
		refuse_line(reader, ferror(file) ? "cannot be read" : reader->rows->no_row);
	return 0;
}

/* In the scenario's folder, unless it is an absolute path. NULL: no such file. */
static FILE *open_beside(const struct wh_taker *taker, const char *name)
{
	const char *slash = strrchr(taker->section->where, '/');
	int chars = name[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - taker->section->where);
	char path[PATH_MAX];
	struct stat facts;
	FILE *file;
	int fd;

	snprintf(path, sizeof(path), "%.*s%s", chars, taker->section->where, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	file = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) ? fdopen(fd, "r") : NULL;
	if (file == NULL)
		close(fd);
	return file;
}

bool wh_take_rows(struct wh_taker *taker, const char *key, const struct wh_rows *rows)
{
	struct row_reader reader = {.scope = taker->scope, .rows = rows};
	char why[WH_EXPR_WRONG_BYTES + 32];
	FILE *file;
	uint32_t line;

	WH_ASSERT(rows->n_fields <= WH_ROW_FIELDS_MAX && rows->n_fields == strlen(rows->kinds));
	file = open_beside(taker, word_of(taker, find(taker, key), ""));
	if (file == NULL)
		return wh_take_refuse(taker, key, "is no file that can be read");
	line = read_lines(&reader, file);
	fclose(file);
	snprintf(why, sizeof(why), "is wrong: line %u %s", line, reader.why);
	return reader.why[0] == '\0' || wh_take_refuse(taker, key, line > 0 ? why : reader.why);
}

bool wh_take_all_used(const struct wh_ini_section *section)
{
	char known[WH_EXPR_WRONG_BYTES] = "its keys are ";
	struct wh_nearest nearest = {0};
	char text[WH_NEAREST_TEXT_BYTES];
	uint32_t i = 0;

	while (i < section->n_entries && section->entries[i].used)
		i++;
	if (i == section->n_entries)
		return true;
	nearest.typed = section->entries[i].key;
	for (uint32_t k = 0; k < section->n_asked; k++) {
		size_t used = strlen(known);

		wh_nearest_try(&nearest, section->asked[k]);

		snprintf(known + used, sizeof(known) - used, "%s%s", k > 0 ? ", " : "",
			section->asked[k]);
	}
	return wh_fail(false, "%s: [%s] has no key '%s'; %s", section->entries[i].where,
		section->head, section->entries[i].key, wh_nearest_text(&nearest, "", known, text));
}
