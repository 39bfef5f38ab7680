/* SPDX-License-Identifier: BSD-3-Clause */
#include "console/shown.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "cli/moment/moment.h"
#include "cli/plain_text.h"
#include "console/job_row.h"

#define COLUMNS_MAX 16
#define CELL_BYTES  160

/*
 * What is shown of some commands' lists. Of other lists all members are shown but lists and
 * objects.
 */
static const struct {
	const char *command;
	const char *list;
	const char *columns;
} views[] = {
	{"sessions", "rows",
		"id role peer profile phase moved_bytes paced_bps rtt_us lost_pkts limited_by"},
	{"jobs", "jobs", "session verb peer role state lane files moved_bytes rate_bps limit"},
	{"queues", "queues", "queue rx_pkts rx_bytes tx_pkts tx_bytes dropped_pkts"},
	{"cores", "cores", "core tasks busy_us total_us turns naps"},
	{"peers", "peers", "address jobs memory_bytes known_bps"},
	{"neighbours", "neighbours", "address mac state queue"},
	{"capture.list", "captures",
		"capture of number state written_pkts missed_pkts bytes seconds file why"},
	{"job.list", "jobs", WH_JOB_ROW_COLUMNS},
};

struct table {
	const json_t *rows;   /* a list */
	const json_t *before; /* the list in the earlier answer, or NULL */
	double seconds;
	uint32_t columns;
	const char *key[COLUMNS_MAX];
	char *names; /* into which the keys point */
	bool is_rate[COLUMNS_MAX];
	uint32_t width[COLUMNS_MAX];
};

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text);
	size_t end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

/* Seconds since 1970. */
static bool is_moment(const char *key)
{
	static const char *const moments[] = {"added", "began", "due", "ended"};

	for (size_t i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		if (strcmp(moments[i], key) == 0)
			return true;
	return false;
}

/* The time that is left, as on a clock: 0:01:05. */
static void print_left(double seconds, char *text, size_t room)
{
	uint64_t whole = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds + 0.5) : 0;

	snprintf(text, room, "%" PRIu64 ":%02u:%02u", whole / 3600, (unsigned)(whole / 60 % 60),
		(unsigned)(whole % 60));
}

static void print_number(const char *key, double value, char *text, size_t room)
{
	uint64_t whole = value > 0 && value < 1e19 ? (uint64_t)value : 0;

	if (strcmp(key, "mtu_bytes") == 0)
		snprintf(text, room, "%" PRIu64, whole);
	else if (ends_with(key, "_bytes") || strcmp(key, "bytes") == 0)
		wh_format_size(text, room, whole);
	else if (ends_with(key, "_bps"))
		wh_format_rate(text, room, value);
	else if (ends_with(key, "_us"))
		wh_format_time(text, room, whole * 1000);
	else if (ends_with(key, "_ns"))
		wh_format_time(text, room, whole);
	else if (is_moment(key))
		wh_moment_text((int64_t)whole, text);
	else if (strcmp(key, "percent") == 0)
		snprintf(text, room, "%.1f", value);
	else if (strcmp(key, "eta_s") == 0)
		print_left(value, text, room);
	else
		snprintf(text, room, "%.10g", value);
}

static void print_cell(const char *key, const json_t *value, char *text, size_t room);

static void print_list(const json_t *list, char *text, size_t room)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < json_array_size(list) && length + 1 < room; i++) {
		char one[CELL_BYTES];

		print_cell("", json_array_get(list, i), one, sizeof(one));
		length += (size_t)snprintf(
			text + length, room - length, "%s%s", i > 0 ? ", " : "", one);
	}
}

/* An object is not shown in full in a cell. */
static void print_cell(const char *key, const json_t *value, char *text, size_t room)
{
	WH_ASSERT(room >= WH_MOMENT_BYTES);
	if (json_is_string(value))
		wh_plain_text(json_string_value(value), false, text, room);
	else if (json_is_boolean(value))
		snprintf(text, room, "%s", json_is_true(value) ? "yes" : "no");
	else if (json_is_number(value))
		print_number(key, json_number_value(value), text, room);
	else if (json_is_array(value))
		print_list(value, text, room);
	else
		snprintf(text, room, "-");
}

/* The row with the same first column in the earlier answer. */
static const json_t *row_before(const struct table *table, const json_t *row)
{
	const json_t *name = json_object_get(row, table->key[0]);

	for (size_t i = 0; i < json_array_size(table->before); i++) {
		const json_t *other = json_array_get(table->before, i);

		if (json_equal(json_object_get(other, table->key[0]), name))
			return other;
	}
	return NULL;
}

/* A counter's growth per second. */
static void print_growth(
	const struct table *table, const char *key, const json_t *row, char *text, size_t room)
{
	const json_t *before = row_before(table, row);
	double now = json_number_value(json_object_get(row, key));
	double then = json_number_value(json_object_get(before, key));
	double grown = before != NULL && now >= then ? (now - then) / table->seconds : 0;

	if (before == NULL)
		snprintf(text, room, "-");
	else if (ends_with(key, "_bytes"))
		wh_format_rate(text, room, grown * 8);
	else if (ends_with(key, "_us"))
		snprintf(text, room, "%.1f %%", grown / 1e4);
	else
		snprintf(text, room, "%.0f/s", grown);
}

static void print_in(
	const struct table *table, uint32_t column, const json_t *row, char text[CELL_BYTES])
{
	const char *key = table->key[column];

	if (table->is_rate[column])
		print_growth(table, key, row, text, CELL_BYTES);
	else
		print_cell(key, json_object_get(row, key), text, CELL_BYTES);
}

/* In columns, not bytes: all characters are one column wide. */
static uint32_t width_of(const char *text)
{
	uint32_t width = 0;

	for (; *text != '\0'; text++)
		width += (*text & 0xc0) != 0x80;
	return width;
}

/* A key without its unit, which is shown in the cells. */
static void print_title(const struct table *table, uint32_t column, char text[CELL_BYTES])
{
	static const char *const units[] = {"_bytes", "_bps", "_us", "_ns"};

	snprintf(text, CELL_BYTES, "%s%s", table->key[column], table->is_rate[column] ? "/s" : "");
	if (strcmp(table->key[column], "eta_s") == 0)
		strcpy(text, "left");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (ends_with(table->key[column], units[i]))
			snprintf(text, CELL_BYTES, "%.*s%s",
				(int)(strlen(table->key[column]) - strlen(units[i])),
				table->key[column], table->is_rate[column] ? "/s" : "");
}

static bool is_counter(const char *key)
{
	static const char *const counters[] = {"moved_bytes", "rx_bytes", "tx_bytes", "rx_pkts",
		"tx_pkts", "busy_us", "written_pkts"};

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		if (strcmp(counters[i], key) == 0)
			return true;
	return false;
}

static void add_column(struct table *table, const char *key)
{
	if (table->columns < COLUMNS_MAX)
		table->key[table->columns++] = key;
	if (table->before == NULL || !is_counter(key) || table->columns == COLUMNS_MAX)
		return;
	table->is_rate[table->columns] = true;
	table->key[table->columns++] = key;
}

static void choose_columns(struct table *table, const char *wanted)
{
	const char *key;
	json_t *value;
	char *state;

	if (wanted != NULL && (table->names = strdup(wanted)) != NULL) {
		for (char *at = strtok_r(table->names, " ", &state); at != NULL;
			at = strtok_r(NULL, " ", &state))
			add_column(table, at);
		return;
	}
	json_object_foreach(json_array_get(table->rows, 0), key, value)
	{
		if (!json_is_object(value) && !json_is_array(value))
			add_column(table, key);
	}
}

static void measure(struct table *table)
{
	char text[CELL_BYTES];

	for (uint32_t c = 0; c < table->columns; c++) {
		print_title(table, c, text);
		table->width[c] = width_of(text);
		for (size_t i = 0; i < json_array_size(table->rows); i++) {
			uint32_t width;

			print_in(table, c, json_array_get(table->rows, i), text);
			width = width_of(text);
			if (width > table->width[c])
				table->width[c] = width;
		}
	}
}

/* A row, or the titles; truncated at the terminal's width. */
static void print_row(
	const struct table *table, const json_t *row, struct wh_shown_room room, FILE *to)
{
	uint32_t used = 0;

	for (uint32_t c = 0; c < table->columns; c++) {
		char text[CELL_BYTES];
		uint32_t width;

		if (row != NULL)
			print_in(table, c, row, text);
		else
			print_title(table, c, text);
		width = width_of(text);
		if (room.columns > 0 && used + table->width[c] + 2 > room.columns)
			break;
		fprintf(to, "%s%s%*s", c > 0 ? "  " : "", text,
			c + 1 < table->columns ? (int)(table->width[c] - width) : 0, "");
		used += table->width[c] + 2;
	}
	fputc('\n', to);
}

static void print_table(
	struct table *table, const char *columns, struct wh_shown_room room, FILE *to)
{
	size_t rows = json_array_size(table->rows);
	size_t shown = room.lines > 3 && rows > room.lines - 3 ? room.lines - 3 : rows;

	choose_columns(table, columns);
	measure(table);
	print_row(table, NULL, room, to);
	for (size_t i = 0; i < shown; i++)
		print_row(table, json_array_get(table->rows, i), room, to);
	if (shown < rows)
		fprintf(to, "... and %zu more\n", rows - shown);
	free(table->names);
}

/* Prints a fact; a list has its items one a line. NULL: prints nothing. */
static void print_fact(
	const char *key, const char *name, const json_t *value, uint32_t indent, FILE *to)
{
	size_t lines = json_array_size(value) > 1 ? json_array_size(value) : value != NULL;
	char text[4 * CELL_BYTES];

	for (size_t i = 0; i < lines; i++) {
		print_cell(key, lines > 1 ? json_array_get(value, i) : value, text, sizeof(text));
		fprintf(to, "%*s%-24s %s\n", (int)indent, "", i == 0 ? name : "", text);
	}
}

static void print_facts(const json_t *object, uint32_t indent, FILE *to)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		char name[CELL_BYTES];

		if (indent == 0 && (strcmp(key, "ok") == 0 || strcmp(key, "id") == 0))
			continue;
		wh_plain_text(key, false, name, sizeof(name));
		if (json_is_object(value)) {
			fprintf(to, "%*s%s\n", (int)indent, "", name);
			print_facts(value, indent + 2, to);
			continue;
		}
		print_fact(key, name, value, indent, to);
	}
}

/*
 * Converts {"cpu_0": {...}} to rows, each with its name; otherwise unchanged. The caller frees it.
 */
static json_t *rows_of(const json_t *found)
{
	const char *key;
	json_t *value;
	json_t *rows;

	if (!json_is_object(found))
		return json_is_array(found) ? json_incref((json_t *)found) : NULL;
	rows = json_array();
	json_object_foreach((json_t *)found, key, value)
	{
		json_t *row = json_copy(value);

		if (!json_is_object(row)) {
			json_decref(row);
			json_decref(rows);
			return NULL;
		}
		json_object_set_new(row, "core", json_string(key));
		json_array_append_new(rows, row);
	}
	return rows;
}

/* Converts the rows of an answer to job.list for people. Frees them. */
static json_t *job_rows(json_t *rows)
{
	json_t *told = json_array();

	for (size_t i = 0; i < json_array_size(rows); i++)
		json_array_append_new(told, wh_job_row(json_array_get(rows, i), true));
	json_decref(rows);
	return told;
}

static json_t *rows_in(const char *command, const json_t *answer, const char *list)
{
	json_t *rows = list != NULL ? rows_of(json_object_get(answer, list)) : NULL;

	return rows != NULL && strcmp(command, "job.list") == 0 ? job_rows(rows) : rows;
}

static void show_job(const json_t *job, FILE *to)
{
	json_t *row = wh_job_row(job, false);

	for (const struct wh_job_fact *fact = wh_job_facts; fact->key != NULL; fact++)
		print_fact(fact->key, fact->name, json_object_get(row, fact->key), 0, to);
	json_decref(row);
}

/* The first list of objects in an answer that has no chosen columns. */
static const char *list_in(const json_t *answer)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)answer, key, value)
	{
		if (json_is_array(value) && json_is_object(json_array_get(value, 0)))
			return key;
	}
	return NULL;
}

void wh_answer_show(const char *command, const json_t *answer, const json_t *before, double seconds,
	struct wh_shown_room room, FILE *to)
{
	struct table table = {.seconds = seconds > 0 ? seconds : 1};
	const char *columns = NULL;
	const char *list = NULL;
	json_t *rows;
	json_t *rows_before;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
		if (strcmp(views[i].command, command) == 0) {
			list = views[i].list;
			columns = views[i].columns;
		}
	if (list == NULL)
		list = list_in(answer);
	rows = rows_in(command, answer, list);
	rows_before = rows_in(command, before, list);
	table.rows = rows;
	table.before = rows_before;
	if (rows != NULL)
		print_table(&table, columns, room, to);
	else if (strcmp(command, "job.show") == 0)
		show_job(json_object_get(answer, "job"), to);
	else
		print_facts(answer, 0, to);
	json_decref(rows);
	json_decref(rows_before);
}
