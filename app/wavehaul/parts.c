/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul parts`: shows and removes the parts of incomplete files stored here. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/moment.h"
#include "cli/plain_text.h"
#include "transfer/recollect.h"
#include "verbs.h"

struct parts_verb {
	struct wh_settings settings;
	struct wh_recollect recollect;
	struct wh_journal_row row;
	json_t *listed;
};

static void list_row(struct parts_verb *parts)
{
	const struct wh_journal_row *row = &parts->row;
	char done[WH_UNITS_MAX], size[WH_UNITS_MAX], when[WH_MOMENT_BYTES];
	char place[4 * WH_JOURNAL_PLACE_BYTES + 1], path[4 * WH_JOURNAL_PLACE_BYTES + 1];

	if (parts->settings.json) {
		json_t *line = json_pack("{s:I, s:I, s:I, s:I}", "number", (json_int_t)row->row,
			"durable_bytes", (json_int_t)row->durable_bytes, "size_bytes",
			(json_int_t)row->size_bytes, "touched", (json_int_t)row->touched_s);

		wh_path_to_json(line, "folder", row->place);
		wh_path_to_json(line, "path", row->path);
		json_array_append_new(parts->listed, line);
		return;
	}
	printf("%6" PRId64 "  %s  %s of %s  %s/%s\n", row->row,
		wh_moment_text(row->touched_s, when),
		wh_format_size(done, sizeof(done), row->durable_bytes),
		wh_format_size(size, sizeof(size), row->size_bytes),
		wh_plain_text(row->place, true, place, sizeof(place)),
		wh_plain_text(row->path, true, path, sizeof(path)));
}

/* An exit status; a part in use by a job stays. */
static int remove_row(struct parts_verb *parts)
{
	int rc = wh_journal_remove(parts->recollect.journal, &parts->row);

	if (rc == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_OTHER, "part %" PRId64 " stays: %s", parts->row.row,
		rc == -EBUSY ? "a job is at it" : strerror(-rc));
}

static int list_all(struct parts_verb *parts)
{
	int rc;

	parts->listed = json_array();
	while ((rc = wh_journal_next(parts->recollect.journal, parts->row.row, &parts->row)) == 1)
		list_row(parts);
	if (rc == 0 && parts->settings.json) {
		json_t *object = wh_head_json("parts", WH_EXIT_OK);

		json_object_set(object, "parts", parts->listed);
		wh_json_print(object, JSON_INDENT(2));
	}
	json_decref(parts->listed);
	return rc == 0 ? WH_EXIT_OK : WH_EXIT_OTHER;
}

static int remove_all(struct parts_verb *parts)
{
	int status = WH_EXIT_OK;

	while (wh_journal_next(parts->recollect.journal, parts->row.row, &parts->row) == 1)
		if (remove_row(parts) != WH_EXIT_OK)
			status = WH_EXIT_OTHER;
	return status;
}

static int remove_numbers(struct parts_verb *parts, uint32_t count, const char *const *numbers)
{
	int status = WH_EXIT_OK;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t number;

		if (wh_parse_count(numbers[i], &number) != 0 || number == 0 || number > INT64_MAX)
			return wh_fail(WH_EXIT_USAGE,
				"'%s' is no part's number; wavehaul parts lists them", numbers[i]);
		if (wh_journal_next(parts->recollect.journal, (int64_t)number - 1, &parts->row) !=
				1 ||
			parts->row.row != (int64_t)number) {
			wh_complain("there is no part %" PRIu64, number);
			status = WH_EXIT_NO_FILE;
		} else if (remove_row(parts) != WH_EXIT_OK) {
			status = WH_EXIT_OTHER;
		}
	}
	return status;
}

static int run(struct parts_verb *parts)
{
	const struct wh_settings *settings = &parts->settings;
	const char *const *words = (const char *const *)settings->operands;
	uint32_t count = settings->operand_count;

	if (count == 0 || (count == 1 && strcmp(words[0], "list") == 0))
		return list_all(parts);
	if (count == 2 && strcmp(words[0], "rm") == 0 && strcmp(words[1], "all") == 0)
		return remove_all(parts);
	if (count >= 2 && strcmp(words[0], "rm") == 0)
		return remove_numbers(parts, count - 1, words + 1);
	return wh_fail(WH_EXIT_USAGE, "parts takes list, rm NUMBER... or rm all");
}

int wh_verb_parts(int argc, char **argv)
{
	struct parts_verb *parts = calloc(1, sizeof(*parts));
	struct wh_guard guard;

	if (parts == NULL)
		return WH_EXIT_OTHER;

	int status = wh_settings_read(&parts->settings, WH_VERB_PARTS, argc, argv);

	if (status < 0) {
		wh_guard_init(&guard, true, "", false, NULL, 0);
		parts->settings.resume = WH_RESUME_SPARSE;
		/* Looking must not delete expired parts. */
		parts->settings.keep_parts_ns = UINT64_MAX;
		wh_recollect_init(&parts->recollect, &parts->settings, &guard);
		wh_recollect_open(&parts->recollect, &parts->settings);
		status = parts->recollect.journal != NULL ? run(parts) : WH_EXIT_OTHER;
		wh_recollect_close(&parts->recollect);
	}
	free(parts);
	return status;
}
