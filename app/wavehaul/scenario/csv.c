/* SPDX-License-Identifier: BSD-3-Clause */

/* Files of rows, of what --json shows: numbers with twelve digits, names as they are. */

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/complain.h"
#include "scenario/report.h"

static bool complain_of(const char *path)
{
	wh_complain("cannot write %s: %s", path, strerror(errno));
	return false;
}

static bool make_folder(const char *path)
{
	return mkdir(path, 0777) == 0 || errno == EEXIST || complain_of(path);
}

/* NULL after a complaint. `path` is PATH_MAX long. */
static FILE *open_file(const char *folder, const char *name, char *path)
{
	FILE *file;

	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	file = fopen(path, "w");
	if (file == NULL)
		complain_of(path);
	return file;
}

static bool close_file(FILE *file, const char *path)
{
	bool fine = ferror(file) == 0;

	return (fclose(file) == 0 && fine) || complain_of(path);
}

/* In quotes where the form demands it, RFC 4180. */
static void write_text(FILE *file, const char *text)
{
	if (strpbrk(text, ",\"\n") == NULL) {
		fputs(text, file);
		return;
	}
	putc('"', file);
	for (; *text != '\0'; text++)
		fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
	putc('"', file);
}

/* null is an empty field. */
static void write_value(FILE *file, const json_t *value)
{
	if (json_is_string(value))
		write_text(file, json_string_value(value));
	else if (json_is_integer(value))
		fprintf(file, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else if (json_is_real(value))
		fprintf(file, "%.12g", json_real_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", file);
}

/* Objects with the same keys, one a row. */
static bool write_rows(const char *folder, const char *name, const json_t *rows)
{
	char path[PATH_MAX];
	FILE *file = open_file(folder, name, path);
	const char *key;
	json_t *value;
	json_t *row;
	size_t i;
	const char *comma = "";

	if (file == NULL)
		return false;
	json_object_foreach(json_array_get(rows, 0), key, value)
	{
		fprintf(file, "%s%s", comma, key);
		comma = ",";
	}
	putc('\n', file);
	json_array_foreach(rows, i, row)
	{
		comma = "";
		json_object_foreach(row, key, value)
		{
			fputs(comma, file);
			write_value(file, value);
			comma = ",";
		}
		putc('\n', file);
	}
	return close_file(file, path);
}

/* Objects of arrays by name, one row for each moment and name. */
static bool write_samples(const char *folder, const char *file_name, const char *what,
	const json_t *seconds, json_t *named)
{
	char path[PATH_MAX];
	FILE *file = open_file(folder, file_name, path);
	json_t *columns;
	json_t *values;
	const char *name;
	const char *key;

	if (file == NULL)
		return false;
	fprintf(file, "seconds,%s", what);
	json_object_foreach(json_object_iter_value(json_object_iter(named)), key, values)
		fprintf(file, ",%s", key);
	putc('\n', file);
	for (size_t i = 0; i < json_array_size(seconds); i++) {
		json_object_foreach(named, name, columns)
		{
			write_value(file, json_array_get(seconds, i));
			fprintf(file, ",%s", name);
			json_object_foreach(columns, key, values)
			{
				putc(',', file);
				write_value(file, json_array_get(values, i));
			}
			putc('\n', file);
		}
	}
	return close_file(file, path);
}

bool wh_sim_csv_run(const char *folder, uint32_t point, uint64_t seed, const json_t *run)
{
	const json_t *samples = json_object_get(run, "samples");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%03" PRIu32 "-%" PRIu64, folder, point + 1, seed);
	if (!make_folder(folder) || !make_folder(path) ||
		!write_rows(path, "flows.csv", json_object_get(run, "flows")) ||
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

/* Of an expectation by its label, null where it does not apply. */
static const json_t *find_ok(const json_t *point, const char *label)
{
	json_t *one;
	size_t i;

	json_array_foreach(json_object_get(point, "expect"), i,
		one) if (strcmp(json_string_value(json_object_get(one, "label")), label) ==
			 0) return json_object_get(one, "ok");
	return NULL;
}

static void write_head(FILE *file, const struct wh_ini *ini, const json_t *points)
{
	const char *key;
	json_t *value;

	fputs("point", file);
	json_object_foreach(json_object_get(json_array_get(points, 0), "sweep"), key, value)
	{
		putc(',', file);
		write_text(file, key);
	}
	for (uint32_t kind = WH_INI_REPORT; kind <= WH_INI_EXPECT; kind++) {
		for (uint32_t i = 0; i < ini->sections[kind].n_entries; i++) {
			putc(',', file);
			write_text(file, ini->sections[kind].entries[i].key);
		}
	}
	putc('\n', file);
}

bool wh_sim_csv_points(const char *folder, const struct wh_ini *ini, const json_t *points)
{
	char path[PATH_MAX];
	FILE *file = make_folder(folder) ? open_file(folder, "points.csv", path) : NULL;
	const char *parts[] = {"sweep", "report"};
	const char *key;
	json_t *point;
	json_t *value;
	size_t i;

	if (file == NULL)
		return false;
	write_head(file, ini, points);
	json_array_foreach(points, i, point)
	{
		write_value(file, json_object_get(point, "number"));
		for (size_t part = 0; part < 2; part++) {
			json_object_foreach(json_object_get(point, parts[part]), key, value)
			{
				putc(',', file);
				write_value(file, value);
			}
		}
		for (uint32_t k = 0; k < ini->sections[WH_INI_EXPECT].n_entries; k++) {
			putc(',', file);
			write_value(
				file, find_ok(point, ini->sections[WH_INI_EXPECT].entries[k].key));
		}
		putc('\n', file);
	}
	return close_file(file, path);
}
