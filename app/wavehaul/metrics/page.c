/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/page.h"

#include <inttypes.h>

#include "plot/html.h"

#define AGAIN_S 5

static const struct page_table {
	const char *request;
	const char *list; /* name in the answer */
	struct wh_html_table table;
} tables[] = {
	{"{\"do\":\"jobs\"}", "jobs",
		{"Jobs that run", "None.",
			{{"verb", "verb", WH_HTML_WORD}, {"peer", "peer", WH_HTML_WORD},
				{"role", "we are", WH_HTML_WORD}, {"state", "state", WH_HTML_WORD},
				{"lane", "lane", WH_HTML_COUNT}, {"files", "files", WH_HTML_COUNT},
				{"bytes", "in files", WH_HTML_BYTES},
				{"moved_bytes", "moved", WH_HTML_BYTES},
				{"limit", "limited by", WH_HTML_WORD}}}},
	{"{\"do\":\"job.list\"}", "jobs",
		{"The queue", "Empty.",
			{{"job", "job", WH_HTML_COUNT}, {"state", "state", WH_HTML_WORD},
				{"verb", "verb", WH_HTML_WORD}, {"host", "host", WH_HTML_WORD},
				{"priority", "priority", WH_HTML_COUNT},
				{"tries", "tries", WH_HTML_COUNT}, {"rate", "rate", WH_HTML_WORD},
				{"files", "files", WH_HTML_COUNT},
				{"moved_bytes", "moved", WH_HTML_BYTES}}}},
	{"{\"do\":\"transfers\",\"count\":30}", "transfers",
		{"Last transfers", "None is noted.",
			{{"ended", "ended", WH_HTML_WORD}, {"side", "for", WH_HTML_WORD},
				{"verb", "verb", WH_HTML_WORD}, {"peer", "peer", WH_HTML_WORD},
				{"name", "name", WH_HTML_WORD}, {"files", "files", WH_HTML_COUNT},
				{"bytes", "size", WH_HTML_BYTES},
				{"seconds", "time", WH_HTML_SECONDS}, {"bps", "rate", WH_HTML_BPS},
				{"outcome", "outcome", WH_HTML_WORD}}}},
};

static const struct wh_html_table sessions = {"Sessions", "None.",
	{
		{"live", "sessions", WH_HTML_COUNT},
		{"sessions", "so far", WH_HTML_COUNT},
		{"moved_bytes", "payload", WH_HTML_BYTES},
		{"sent_pkts", "packets sent", WH_HTML_COUNT},
		{"retransmitted_pkts", "retransmitted", WH_HTML_COUNT},
		{"received_pkts", "received", WH_HTML_COUNT},
		{"lost_pkts", "missing", WH_HTML_COUNT},
		{"repaired_pkts", "repaired", WH_HTML_COUNT},
		{"paced_bps", "pace", WH_HTML_BPS},
	}};

static void write_status(FILE *to, const json_t *status)
{
	const char *port = json_string_value(json_object_get(status, "port"));
	int64_t up_s = json_integer_value(json_object_get(status, "seconds"));

	fputs("<h1>wavehaul ", to);
	wh_html_escaped(to, port != NULL ? port : "");
	fprintf(to,
		"</h1>\n<p>Serving for %" PRId64 " h %02d min; the link is %s; %" PRId64
		" jobs%s. <a href=\"/metrics\">Figures for Prometheus</a>.</p>\n",
		up_s / 3600, (int)(up_s / 60 % 60),
		json_is_true(json_object_get(status, "link_up")) ? "up" : "<b>down</b>",
		(int64_t)json_integer_value(json_object_get(status, "live")),
		json_is_true(json_object_get(status, "draining")) ? ", and no new ones" : "");
}

void wh_page_write(FILE *to, const struct wh_page_asker *asker)
{
	json_t *status = asker->ask(asker->context, "{\"do\":\"status\"}");
	json_t *totals = asker->ask(asker->context, "{\"do\":\"totals\"}");

	wh_html_begin(to, "wavehaul", AGAIN_S);
	write_status(to, status);
	wh_html_table(to, &sessions, json_object_get(totals, "totals"));
	json_decref(status);
	json_decref(totals);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		json_t *answer = asker->ask(asker->context, tables[i].request);

		wh_html_table(to, &tables[i].table, json_object_get(answer, tables[i].list));
		json_decref(answer);
	}
	wh_html_end(to);
}
