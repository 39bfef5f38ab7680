/* SPDX-License-Identifier: BSD-3-Clause */

/* The status as a page for a browser, written again and again. */

#include <string.h>

#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/whole_file.h"
#include "fleet/deadline.h"
#include "fleet/fleet_tell.h"
#include "plot/html.h"

static const struct wh_html_table shards = {"Shards", "",
	{{"all", "all", WH_HTML_COUNT}, {"done", "done", WH_HTML_COUNT},
		{"running", "running", WH_HTML_COUNT}, {"waiting", "waiting", WH_HTML_COUNT},
		{"stopped", "stopped", WH_HTML_COUNT}, {"given_up", "given up", WH_HTML_COUNT}}};

static const struct wh_html_table running = {"Under way, the slowest first", "None.",
	{{"shard", "shard", WH_HTML_COUNT}, {"node", "node", WH_HTML_WORD},
		{"receiver", "receiver", WH_HTML_WORD}, {"bytes", "moved", WH_HTML_BYTES},
		{"of_bytes", "of", WH_HTML_BYTES}, {"rate_bps", "now", WH_HTML_BPS}}};

static const struct wh_html_table failed = {"Failed", "None.",
	{{"shard", "shard", WH_HTML_COUNT}, {"failures", "times", WH_HTML_COUNT},
		{"given_up", "given up", WH_HTML_WORD}, {"node", "node", WH_HTML_WORD},
		{"receiver", "receiver", WH_HTML_WORD}, {"error", "why", WH_HTML_WORD}}};

static const struct wh_html_table nodes = {"Nodes", "None.",
	{{"done", "tries that arrived", WH_HTML_COUNT}, {"failures", "that failed", WH_HTML_COUNT},
		{"excluded", "excluded", WH_HTML_WORD}}};

static const struct wh_html_table differed = {"Verified, and not the same", "None.",
	{{"shard", "shard", WH_HTML_COUNT}, {"differed", "files", WH_HTML_COUNT},
		{"receiver", "receiver", WH_HTML_WORD},
		{"exit_status", "exit status", WH_HTML_COUNT}}};

static double rate_of(const json_t *one)
{
	return json_number_value(json_object_get(one, "rate_bps"));
}

/* A copy of the list; there are as many as nodes. */
static json_t *slowest_first(const json_t *list)
{
	json_t *sorted = json_array(), *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		size_t at = 0;

		while (at < json_array_size(sorted) &&
			rate_of(json_array_get(sorted, at)) <= rate_of(one))
			at++;
		json_array_insert(sorted, at, one);
	}
	return sorted;
}

static void write_sums(FILE *to, const json_t *now)
{
	char done[WH_UNITS_MAX], all[WH_UNITS_MAX], rate[WH_UNITS_MAX];
	char late[WH_DEADLINE_TEXT_BYTES];
	const json_t *deadline = json_object_get(now, "deadline");

	fputs("<h1>", to);
	wh_html_escaped(to, wh_json_text(now, "plan"));
	fprintf(to, "</h1>\n<p>%s ", json_is_true(json_object_get(now, "gets")) ? "From" : "To");
	wh_html_escaped(to, wh_json_text(now, "site"));
	fprintf(to, ": %s of %s, %s now.",
		wh_format_size(done, sizeof(done), wh_json_count(now, "bytes_done")),
		wh_format_size(all, sizeof(all), wh_json_count(now, "bytes")),
		wh_format_rate(rate, sizeof(rate), rate_of(now)));
	if (wh_json_count(json_object_get(now, "shards"), "waiting") > 0) {
		fputs(" Slurm says why shards wait: ", to);
		wh_html_escaped(to, wh_json_text(now, "waits_for"));
	}
	if (deadline != NULL) {
		wh_deadline_text(deadline, "the mean so far is", late);
		fputs("<br>", to);
		wh_html_escaped(to, late);
	}
	fputs("</p>\n", to);
}

void wh_fleet_page_write(FILE *to, const json_t *now, uint32_t again_s)
{
	json_t *one = json_array(), *slowest = slowest_first(json_object_get(now, "running"));
	const json_t *verified = json_object_get(now, "verified");

	json_array_append(one, json_object_get(now, "shards"));
	wh_html_begin(to, wh_json_text(now, "plan"), again_s);
	write_sums(to, now);
	wh_html_table(to, &shards, one);
	wh_html_table(to, &running, slowest);
	wh_html_table(to, &failed, json_object_get(now, "failed"));
	wh_html_table(to, &nodes, json_object_get(now, "nodes"));
	if (wh_json_count(verified, "same") + json_array_size(json_object_get(verified, "shards")) >
		0)
		wh_html_table(to, &differed, json_object_get(verified, "shards"));
	wh_html_end(to);
	json_decref(one);
	json_decref(slowest);
}

int wh_fleet_page(const json_t *now, const char *name, uint32_t again_s)
{
	struct wh_whole_file whole;
	int rc = wh_whole_file_open(&whole, name);

	if (rc == 0) {
		wh_fleet_page_write(whole.file, now, again_s);
		rc = wh_whole_file_close(&whole, false);
	}
	return rc == 0 ? -1 : wh_fail(WH_EXIT_OTHER, "cannot write %s: %s", name, strerror(-rc));
}
