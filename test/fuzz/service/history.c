/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: the history, read from rows that a crash or a hand has left. Whatever stands in any
 * of their columns, each is told as JSON, as a line and as CSV without a byte that moves a
 * terminal, and is added up.
 */

#include "history/history_store.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz.h"
#include "history/history_tell.h"
#include "history/sums.h"
#include "rows.h"
#include "script_input.h"

#define ROWS 3

static char folder[] = "/dev/shm/wh_fuzz_history_XXXXXX";
static char path[64];
static sqlite3 *database;
static struct wh_history *history;
static char names[ROW_COLUMNS_MAX][32];
static uint32_t columns;
static uint64_t told, lines;

static void remove_folder(void)
{
	static const char *const tails[] = {"", "-wal", "-shm"};
	char name[80];

	wh_history_close(history);
	sqlite3_close(database);
	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		unlink(name);
	}
	rmdir(folder);
}

static void open_history(void)
{
	WH_ASSERT(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
	snprintf(path, sizeof(path), "%s/service.db", folder);
	WH_ASSERT(wh_history_open(&history, folder, true) == 0);
	WH_ASSERT(sqlite3_open(path, &database) == SQLITE_OK);
	WH_ASSERT(wh_database_run(database, "PRAGMA synchronous=OFF") == 0);
	columns = wh_rows_loosen(database, "transfer", names);
}

static void check_text(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		WH_ASSERT((text[i] & 0xe0) != 0 || text[i] == '\n');
	lines++;
}

static void check_json(const struct wh_history_record *record)
{
	json_t *object = wh_history_json(record);
	char *text = json_dumps(object, JSON_COMPACT);

	WH_ASSERT(text != NULL && json_object_get(object, "outcome") != NULL);
	WH_ASSERT(json_object_get(object, "side") != NULL);
	free(text);
	json_decref(object);
}

static void check(const struct wh_history_record *record, struct wh_sums *sums)
{
	static char text[1 << 16];
	FILE *memory = fmemopen(text, sizeof(text), "w");

	WH_ASSERT(memory != NULL);
	check_json(record);
	WH_ASSERT(wh_history_seconds(record) >= 0 && wh_history_record_bps(record) >= 0);
	wh_history_print(record, memory);
	wh_history_csv(record, memory);
	WH_ASSERT(wh_sums_add(sums, record));
	wh_sums_print(sums, memory);
	wh_sums_csv(sums, memory);

	long bytes = ftell(memory);

	fclose(memory);
	check_text(text, (size_t)bytes);
	json_decref(wh_sums_json(sums));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct wh_history_record record;
	struct wh_script script;
	struct wh_sums sums = {0};
	int64_t below = INT64_MAX;

	if (history == NULL)
		open_history();
	wh_script_init(&script, bytes, length);
	sums.by = (enum wh_sums_by)wh_script_below(&script, WH_SUMS_BYS);
	WH_ASSERT(wh_database_run(database, "BEGIN; DELETE FROM transfer") == 0);
	for (uint32_t i = 0; i < ROWS; i++)
		wh_rows_add(database, "transfer", names, columns, &script);
	WH_ASSERT(wh_database_run(database, "COMMIT") == 0);
	while (wh_history_next(history, INT64_MIN, INT64_MAX, below, &record) == 1) {
		WH_ASSERT(record.id < below);
		below = record.id;
		check(&record, &sums);
		told++;
	}
	wh_sums_put_in_order(&sums);
	wh_sums_free(&sums);
	return 0;
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " records told, %" PRIu64 " texts\n", told, lines);
}
