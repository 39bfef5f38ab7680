/* SPDX-License-Identifier: BSD-3-Clause */
#include "plot/html.h"

#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "cli/plain_text.h"

/* Size of a word on the page. */
#define WORD_BYTES 512

static const char style[] =
	"</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}\n"
	"h2{font-size:1.1em;margin:1.6em 0 .4em}\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th,td{padding:.2em .8em .2em 0;text-align:left;border-bottom:1px solid #8884}\n"
	"th{font-weight:600;opacity:.7}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"</style></head><body>\n";

void wh_html_escaped(FILE *to, const char *text)
{
	char plain[WORD_BYTES];

	wh_plain_text(text, false, plain, sizeof(plain));
	for (const char *c = plain; *c != '\0'; c++) {
		switch (*c) {
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '&':
			fputs("&amp;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		case '\'':
			fputs("&#39;", to);
			break;
		default:
			putc(*c, to);
		}
	}
}

static void write_value(FILE *to, const struct wh_html_column *column, const json_t *value)
{
	double number = json_number_value(value);
	char text[WH_UNITS_MAX];

	if (json_is_string(value))
		wh_html_escaped(to, json_string_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", to);
	else if (!json_is_number(value))
		fputs("&ndash;", to);
	else if (column->kind == WH_HTML_BYTES)
		fputs(wh_format_size(text, sizeof(text), (uint64_t)fmax(number, 0)), to);
	else if (column->kind == WH_HTML_BPS)
		fputs(wh_format_rate(text, sizeof(text), number), to);
	else if (column->kind == WH_HTML_SECONDS)
		fprintf(to, "%.2f s", number);
	else
		fprintf(to, "%" PRId64, (int64_t)json_integer_value(value));
}

static void write_cell(FILE *to, const struct wh_html_column *column, const json_t *row)
{
	fputs(column->kind == WH_HTML_WORD ? "<td>" : "<td class=\"n\">", to);
	write_value(to, column, json_object_get(row, column->key));
	fputs("</td>", to);
}

static void write_head(FILE *to, const struct wh_html_column *column)
{
	fputs(column->kind == WH_HTML_WORD ? "<th>" : "<th class=\"n\">", to);
	wh_html_escaped(to, column->title);
	fputs("</th>", to);
}

static void write_row(
	FILE *to, const struct wh_html_table *table, const char *name, const json_t *row)
{
	fputs("<tr>", to);
	if (name != NULL) {
		fputs("<th>", to);
		wh_html_escaped(to, name);
		fputs("</th>", to);
	}
	for (size_t i = 0; i < WH_HTML_COLUMNS_MAX && table->column[i].key != NULL; i++)
		write_cell(to, &table->column[i], row);
	fputs("</tr>\n", to);
}

static void write_rows(FILE *to, const struct wh_html_table *table, const json_t *rows)
{
	const char *name;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) write_row(to, table, NULL, row);
	json_object_foreach((json_t *)rows, name, row) write_row(to, table, name, row);
}

void wh_html_table(FILE *to, const struct wh_html_table *table, const json_t *rows)
{
	fprintf(to, "<h2>%s</h2>\n", table->title);
	if (json_array_size(rows) + json_object_size(rows) == 0) {
		fprintf(to, "<p>%s</p>\n", table->none);
		return;
	}
	fputs("<table><thead><tr>", to);
	if (json_is_object(rows))
		fputs("<th></th>", to);
	for (size_t i = 0; i < WH_HTML_COLUMNS_MAX && table->column[i].key != NULL; i++)
		write_head(to, &table->column[i]);
	fputs("</tr></thead><tbody>\n", to);
	write_rows(to, table, rows);
	fputs("</tbody></table>\n", to);
}

void wh_html_begin(FILE *to, const char *title, unsigned int again_s)
{
	fprintf(to,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta http-equiv=\"refresh\" content=\"%u\"><title>",
		again_s);
	wh_html_escaped(to, title);
	fputs(style, to);
}

void wh_html_end(FILE *to)
{
	fputs("</body></html>\n", to);
}
