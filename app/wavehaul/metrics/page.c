/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/page.h"

#include <inttypes.h>
#include <math.h>

#include "base/units.h"
#include "cli/plain_text.h"

/* Size of a word on the page. */
#define WORD_BYTES 512

enum page_kind {
	WORD,
	COUNT,
	BYTES,
	BPS,
	SECONDS,
};

struct column {
	const char *key;
	const char *title;
	enum page_kind kind;
};

struct page_table {
	const char *title;
	const char *request;
	const char *list; /* name in the answer */
	const char *none; /* shown if that is empty */
	struct column column[10];
};

static const struct page_table tables[] = {
	{"Jobs that run", "{\"do\":\"jobs\"}", "jobs", "None.",
		{{"verb", "verb", WORD}, {"peer", "peer", WORD}, {"role", "we are", WORD},
			{"state", "state", WORD}, {"lane", "lane", COUNT},
			{"files", "files", COUNT}, {"bytes", "in files", BYTES},
			{"moved_bytes", "moved", BYTES}, {"limit", "limited by", WORD}}},
	{"The queue", "{\"do\":\"job.list\"}", "jobs", "Empty.",
		{{"job", "job", COUNT}, {"state", "state", WORD}, {"verb", "verb", WORD},
			{"host", "host", WORD}, {"priority", "priority", COUNT},
			{"tries", "tries", COUNT}, {"rate", "rate", WORD},
			{"files", "files", COUNT}, {"moved_bytes", "moved", BYTES}}},
	{"Last transfers", "{\"do\":\"transfers\",\"count\":30}", "transfers", "None is noted.",
		{{"ended", "ended", WORD}, {"side", "for", WORD}, {"verb", "verb", WORD},
			{"peer", "peer", WORD}, {"name", "name", WORD}, {"files", "files", COUNT},
			{"bytes", "size", BYTES}, {"seconds", "time", SECONDS},
			{"bps", "rate", BPS}, {"outcome", "outcome", WORD}}},
};

static const struct column figures[] = {
	{"live", "sessions", COUNT},
	{"sessions", "so far", COUNT},
	{"moved_bytes", "payload", BYTES},
	{"sent_pkts", "packets sent", COUNT},
	{"retransmitted_pkts", "retransmitted", COUNT},
	{"received_pkts", "received", COUNT},
	{"lost_pkts", "missing", COUNT},
	{"repaired_pkts", "repaired", COUNT},
	{"paced_bps", "pace", BPS},
};

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta http-equiv=\"refresh\" content=\"5\"><title>wavehaul</title>\n<style>\n"
	":root{color-scheme:light dark}\n"
	"body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:75em;padding:0 1em}\n"
	"h2{font-size:1.1em;margin:1.6em 0 .4em}\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th,td{padding:.2em .8em .2em 0;text-align:left;border-bottom:1px solid #8884}\n"
	"th{font-weight:600;opacity:.7}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums}\n"
	"</style></head><body>\n";

static void escaped(FILE *to, const char *text)
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

static void write_value(FILE *to, const struct column *column, const json_t *value)
{
	double number = json_number_value(value);
	char text[WH_UNITS_MAX];

	if (json_is_string(value))
		escaped(to, json_string_value(value));
	else if (!json_is_number(value))
		fputs("&ndash;", to);
	else if (column->kind == BYTES)
		fputs(wh_format_size(text, sizeof(text), (uint64_t)fmax(number, 0)), to);
	else if (column->kind == BPS)
		fputs(wh_format_rate(text, sizeof(text), number), to);
	else if (column->kind == SECONDS)
		fprintf(to, "%.2f s", number);
	else
		fprintf(to, "%" PRId64, (int64_t)json_integer_value(value));
}

static void write_cell(FILE *to, const struct column *column, const json_t *row)
{
	fputs(column->kind == WORD ? "<td>" : "<td class=\"n\">", to);
	write_value(to, column, json_object_get(row, column->key));
	fputs("</td>", to);
}

static void write_head(FILE *to, const struct column *column)
{
	fputs(column->kind == WORD ? "<th>" : "<th class=\"n\">", to);
	escaped(to, column->title);
	fputs("</th>", to);
}

static void write_table(FILE *to, const struct page_table *table, const json_t *list)
{
	size_t columns = sizeof(table->column) / sizeof(table->column[0]);

	fprintf(to, "<h2>%s</h2>\n", table->title);
	if (json_array_size(list) == 0) {
		fprintf(to, "<p>%s</p>\n", table->none);
		return;
	}
	fputs("<table><thead><tr>", to);
	for (size_t i = 0; i < columns && table->column[i].key != NULL; i++)
		write_head(to, &table->column[i]);
	fputs("</tr></thead><tbody>\n", to);
	for (size_t row = 0; row < json_array_size(list); row++) {
		fputs("<tr>", to);
		for (size_t i = 0; i < columns && table->column[i].key != NULL; i++)
			write_cell(to, &table->column[i], json_array_get(list, row));
		fputs("</tr>\n", to);
	}
	fputs("</tbody></table>\n", to);
}

static void write_status(FILE *to, const json_t *status)
{
	const char *port = json_string_value(json_object_get(status, "port"));
	int64_t up_s = json_integer_value(json_object_get(status, "seconds"));

	fputs("<h1>wavehaul ", to);
	escaped(to, port != NULL ? port : "");
	fprintf(to,
		"</h1>\n<p>Serving for %" PRId64 " h %02d min; the link is %s; %" PRId64
		" jobs%s. <a href=\"/metrics\">Figures for Prometheus</a>.</p>\n",
		up_s / 3600, (int)(up_s / 60 % 60),
		json_is_true(json_object_get(status, "link_up")) ? "up" : "<b>down</b>",
		(int64_t)json_integer_value(json_object_get(status, "live")),
		json_is_true(json_object_get(status, "draining")) ? ", and no new ones" : "");
}

static void write_figures(FILE *to, const json_t *totals)
{
	const char *role;
	json_t *row;

	fputs("<h2>Sessions</h2>\n<table><thead><tr><th></th>", to);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		write_head(to, &figures[i]);
	fputs("</tr></thead><tbody>\n", to);
	json_object_foreach((json_t *)totals, role, row)
	{
		fputs("<tr><th>", to);
		escaped(to, role);
		fputs("</th>", to);
		for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
			write_cell(to, &figures[i], row);
		fputs("</tr>\n", to);
	}
	fputs("</tbody></table>\n", to);
}

void wh_page_write(FILE *to, const struct wh_page_asker *asker)
{
	json_t *status = asker->ask(asker->context, "{\"do\":\"status\"}");
	json_t *totals = asker->ask(asker->context, "{\"do\":\"totals\"}");

	fputs(head, to);
	write_status(to, status);
	write_figures(to, json_object_get(totals, "totals"));
	json_decref(status);
	json_decref(totals);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		json_t *answer = asker->ask(asker->context, tables[i].request);

		write_table(to, &tables[i], json_object_get(answer, tables[i].list));
		json_decref(answer);
	}
	fputs("</body></html>\n", to);
}
