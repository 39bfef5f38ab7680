/* SPDX-License-Identifier: BSD-3-Clause */

/* CSV files with the contents of --json: numbers with twelve digits, names unchanged. */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/complain.h"
#include "scenario/sim_report.h"

static bool complain_of(const char *path)
{
	return wh_fail(false, "cannot write %s: %s", path, strerror(errno));
}

static bool make_folder(const char *path)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST || complain_of(path);
}

/* A file written field by field. */
struct sheet {
	FILE *file;
	char path[PATH_MAX];
	bool in_row;
};

/* False after a complaint. */
static bool open_sheet(struct sheet *sheet, const char *folder, const char *name)
{
	sheet->in_row = false;
	snprintf(sheet->path, sizeof(sheet->path), "%s/%s", folder, name);
	sheet->file = fopen(sheet->path, "w");
	return sheet->file != NULL || complain_of(sheet->path);
}

static bool close_sheet(struct sheet *sheet)
{
	bool fine = ferror(sheet->file) == 0;

	return (fclose(sheet->file) == 0 && fine) || complain_of(sheet->path);
}

/* In quotes where RFC 4180 requires it. */
static void put_text(struct sheet *sheet, const char *text)
{
	bool quoted = strpbrk(text, ",\"\n") != NULL;

	fputs(sheet->in_row ? "," : "", sheet->file);
	fputs(quoted ? "\"" : "", sheet->file);
	for (; *text != '\0'; text++)
		fprintf(sheet->file, *text == '"' ? "\"\"" : "%c", *text);
	fputs(quoted ? "\"" : "", sheet->file);
	sheet->in_row = true;
}

/* null is an empty field. */
static void put(struct sheet *sheet, const json_t *value)
{
	char text[40] = "";

	if (json_is_integer(value))
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		snprintf(text, sizeof(text), "%.12g", json_real_value(value));
	else if (json_is_boolean(value))
		strcpy(text, json_is_true(value) ? "yes" : "no");
	put_text(sheet, json_is_string(value) ? json_string_value(value) : text);
}

static void end_row(struct sheet *sheet)
{
	putc('\n', sheet->file);
	sheet->in_row = false;
}

static void put_keys(struct sheet *sheet, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) put_text(sheet, key);
}

static void put_values(struct sheet *sheet, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) put(sheet, value);
}

/* Objects with the same keys, one per row. */
static bool write_rows(const char *folder, const char *name, const json_t *rows)
{
	struct sheet sheet;
	json_t *row;
	size_t i;

	if (!open_sheet(&sheet, folder, name))
		return false;
	put_keys(&sheet, json_array_get(rows, 0));
	end_row(&sheet);
	json_array_foreach(rows, i, row)
	{
		put_values(&sheet, row);
		end_row(&sheet);
	}
	return close_sheet(&sheet);
}

/* Objects with arrays by name: one row for each moment and name. */
static bool write_samples(const char *folder, const char *file_name, const char *what,
	const json_t *seconds, json_t *named)
{
	struct sheet sheet;
	json_t *columns;
	json_t *values;
	const char *name;
	const char *key;

	if (!open_sheet(&sheet, folder, file_name))
		return false;
	put_text(&sheet, "seconds");
	put_text(&sheet, what);
	put_keys(&sheet, json_object_iter_value(json_object_iter(named)));
	end_row(&sheet);
	for (size_t i = 0; i < json_array_size(seconds); i++) {
		json_object_foreach(named, name, columns)
		{
			put(&sheet, json_array_get(seconds, i));
			put_text(&sheet, name);
			json_object_foreach(columns, key, values)
				put(&sheet, json_array_get(values, i));
			end_row(&sheet);
		}
	}
	return close_sheet(&sheet);
}

bool wh_sim_csv_run(const char *folder, uint32_t point, uint64_t seed, const json_t *run)
{
	const json_t *samples = json_object_get(run, "samples");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%03" PRIu32 "-%" PRIu64, folder, point + 1, seed);
	if (!make_folder(folder) || !make_folder(path))
		return false;
	if (json_object_get(run, "fleet") != NULL)
		return write_rows(path, "fleet.csv", json_object_get(run, "fleet"));
	if (!write_rows(path, "flows.csv", json_object_get(run, "flows")) ||
		!write_rows(path, "links.csv", json_object_get(run, "links")))
		return false;
	if (samples == NULL)
		return true;

	const json_t *seconds = json_object_get(samples, "seconds");

	return write_samples(path, "flow_samples.csv", "flow", seconds,
		       json_object_get(samples, "flows")) &&
	       write_samples(path, "link_samples.csv", "link", seconds,
		       json_object_get(samples, "links"));
}

/* Of an expectation by its label; null if it does not apply. */
static const json_t *find_ok(const json_t *point, const char *label)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(point, "expect"), i,
		one) if (strcmp(json_string_value(json_object_get(one, "label")), label) ==
			 0) return json_object_get(one, "ok");
	return NULL;
}

bool wh_sim_csv_points(const char *folder, const struct wh_ini *ini, const json_t *points)
{
	const struct wh_ini_section *expect = &ini->sections[WH_INI_EXPECT];
	const struct wh_ini_section *report = &ini->sections[WH_INI_REPORT];
	struct sheet sheet;
	json_t *point;
	size_t i;

	if (!make_folder(folder) || !open_sheet(&sheet, folder, "points.csv"))
		return false;
	put_text(&sheet, "point");
	put_keys(&sheet, json_object_get(json_array_get(points, 0), "sweep"));
	for (uint32_t k = 0; k < report->n_entries; k++)
		put_text(&sheet, report->entries[k].key);
	for (uint32_t k = 0; k < expect->n_entries; k++)
		put_text(&sheet, expect->entries[k].key);
	end_row(&sheet);
	json_array_foreach(points, i, point)
	{
		put(&sheet, json_object_get(point, "number"));
		put_values(&sheet, json_object_get(point, "sweep"));
		put_values(&sheet, json_object_get(point, "report"));
		for (uint32_t k = 0; k < expect->n_entries; k++)
			put(&sheet, find_ok(point, expect->entries[k].key));
		end_row(&sheet);
	}
	return close_sheet(&sheet);
}
