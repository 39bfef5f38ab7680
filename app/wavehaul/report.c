/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul report`: past transfers of this host, from the history in --state. */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "history/history_store.h"
#include "history/history_tell.h"
#include "history/sums.h"
#include "plot/svg.h"
#include "report/kept.h"
#include "verbs.h"

#define NONE "transfer"

struct report {
	struct wh_settings settings;
	bool each; /* every transfer instead of sums */
	struct wh_sums sums;
	struct wh_history *history;
	struct wh_history_record record;
	json_t *list;
	int64_t since_us;
	int64_t until_us;
};

static int read_words(struct report *report)
{
	const struct wh_settings *settings = &report->settings;

	if (settings->operand_count > 0)
		return wh_fail(
			WH_EXIT_USAGE, "'%s' is not an option of report", settings->operands[0]);
	if (settings->json && settings->as_csv)
		return wh_fail(
			WH_EXIT_USAGE, "--json and --csv are two forms of the same: choose one");
	report->each = strcmp(settings->by, NONE) == 0;
	if (!report->each && !wh_sums_by_word(settings->by, &report->sums.by))
		return wh_fail(WH_EXIT_USAGE,
			"--by is day, peer, user, verb, outcome or " NONE ", not '%s'",
			settings->by);
	if (report->each && settings->plot[0] != '\0')
		return wh_fail(
			WH_EXIT_USAGE, "--plot draws sums: --by day, peer, user, verb or outcome");
	report->since_us = (int64_t)settings->since_s * 1000000;
	report->until_us =
		settings->until_s != 0 ? (int64_t)settings->until_s * 1000000 : INT64_MAX;
	return -1;
}

static bool take(struct report *report)
{
	const struct wh_settings *settings = &report->settings;

	if (!report->each)
		return wh_sums_add(&report->sums, &report->record);
	if (settings->json)
		json_array_append_new(report->list, wh_history_json(&report->record));
	else if (settings->as_csv)
		wh_history_csv(&report->record, stdout);
	else
		wh_history_print(&report->record, stdout);
	return true;
}

/* A missing history has no records. */
static int read_all(struct report *report)
{
	int64_t below = INT64_MAX;
	int rc;

	while (report->history != NULL &&
		(rc = wh_history_next(report->history, report->since_us, report->until_us, below,
			 &report->record)) != 0) {
		if (rc < 0 || !take(report))
			return wh_fail(WH_EXIT_OTHER, "what was transferred cannot be read: %s",
				rc < 0 ? strerror(-rc) : "no memory");
		below = report->record.id;
	}
	return WH_EXIT_OK;
}

static void print_json(struct report *report, int status)
{
	json_t *object = wh_head_json("report", status);

	if (report->each)
		json_object_set(object, "transfers", report->list);
	else
		wh_json_add(object, wh_sums_json(&report->sums));
	wh_json_print(object, JSON_INDENT(2));
}

static void print_head(const struct report *report)
{
	if (!report->each || report->settings.json)
		return;
	if (report->settings.as_csv)
		wh_history_csv_head(stdout);
	else
		wh_history_print_head(stdout);
}

static void describe_span(const struct report *report, char text[2 * WH_WHEN_BYTES + 16])
{
	char since[WH_WHEN_BYTES], until[WH_WHEN_BYTES];

	snprintf(text, 2 * WH_WHEN_BYTES + 16, "%s%s%s%s", report->since_us > 0 ? "since " : "all",
		report->since_us > 0 ? wh_when_text(report->since_us, since) : "",
		report->until_us != INT64_MAX ? " until " : "",
		report->until_us != INT64_MAX ? wh_when_text(report->until_us, until) : "");
}

static int draw(const struct report *report)
{
	char span[2 * WH_WHEN_BYTES + 16];
	int rc;

	describe_span(report, span);
	rc = wh_sums_draw(&report->sums, span, report->settings.plot);
	if (rc == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_OTHER, "cannot write %s: %s", report->settings.plot, strerror(-rc));
}

static int tell(struct report *report)
{
	const struct wh_settings *settings = &report->settings;
	int status;

	print_head(report);
	status = read_all(report);
	wh_sums_put_in_order(&report->sums);
	if (status == WH_EXIT_OK && settings->plot[0] != '\0')
		status = draw(report);
	if (settings->json)
		print_json(report, status);
	else if (status == WH_EXIT_OK && !report->each && settings->as_csv)
		wh_sums_csv(&report->sums, stdout);
	else if (status == WH_EXIT_OK && !report->each)
		wh_sums_print(&report->sums, stdout);
	return status;
}

static int run(struct report *report)
{
	const struct wh_settings *settings = &report->settings;
	char folder[PATH_MAX];
	int status = read_words(report);
	int rc;

	if (status != -1)
		return status;
	if (settings->plot[0] != '\0' && !wh_svg_may_write(settings->plot))
		return WH_EXIT_OTHER;
	if (!wh_kept_where(settings->state, folder))
		return wh_fail(WH_EXIT_NO_FILE, "there is no folder of --state");
	rc = wh_history_open(&report->history, folder, false);
	if (rc < 0 && rc != -ENOENT)
		return wh_fail(WH_EXIT_OTHER, "the history of transfers in %s cannot be read: %s",
			folder, strerror(-rc));
	if (rc == -ENOENT)
		wh_say("nothing was noted in %s so far", folder);
	return tell(report);
}

int wh_verb_report(int argc, char **argv)
{
	struct report *report = calloc(1, sizeof(*report));

	if (report == NULL)
		return WH_EXIT_OTHER;

	int status = wh_settings_read(&report->settings, WH_VERB_REPORT, argc, argv);

	if (status < 0) {
		report->list = json_array();
		status = run(report);
		json_decref(report->list);
		wh_sums_free(&report->sums);
		wh_history_close(report->history);
	}
	free(report);
	return status;
}
