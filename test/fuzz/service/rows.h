/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A row of a database in which anything stands: each column of any type, at the edges of what it
 * should be. The table is made anew without types and conditions, as a hand might.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "base/assert.h"
#include "journal/database.h"
#include "script.h"

#define ROW_COLUMNS_MAX 40

/* The same columns, none of them of a type. */
static inline uint32_t wh_rows_loosen(
	sqlite3 *database, const char *table, char names[ROW_COLUMNS_MAX][32])
{
	char sql[2048];
	sqlite3_stmt *statement;
	uint32_t count = 0;
	int used;

	snprintf(sql, sizeof(sql), "SELECT name FROM pragma_table_info('%s') WHERE name<>'id'",
		table);
	WH_ASSERT(sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK);
	while (sqlite3_step(statement) == SQLITE_ROW && count < ROW_COLUMNS_MAX)
		snprintf(names[count++], 32, "%s", sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	used = snprintf(sql, sizeof(sql),
		"DROP TABLE %s; CREATE TABLE %s(id INTEGER PRIMARY KEY AUTOINCREMENT", table,
		table);
	for (uint32_t i = 0; i < count; i++)
		used += snprintf(sql + used, sizeof(sql) - (size_t)used, ",%s", names[i]);
	snprintf(sql + used, sizeof(sql) - (size_t)used, ")");
	WH_ASSERT(count > 0 && wh_database_run(database, sql) == 0);
	return count;
}

static inline void wh_rows_bind_text(sqlite3_stmt *insert, int at, struct wh_script *script)
{
	static const char *const texts[] = {"", "[]", "[\"a\"]", "[\"..\"]", "[\"/a\",7]", "[[[",
		"max", "2G", "weekdays 8:00-18:00 2G, else 1G", "10.0.0.1", "localhost",
		"[\"--rate=1G\"]", "[\"--help\"]", "[\"x\"]", "send", "-1", "1e999", "\x1b[2J",
		"\xff\xfe", "=1+1", "\xf0\x9f\x98\x80"};
	char drawn[6000];
	size_t bytes = wh_script_below(script, wh_script_one_in(script, 8) ? sizeof(drawn) : 40);

	if (!wh_script_one_in(script, 3)) {
		const char *text = texts[wh_script_below(script, sizeof(texts) / sizeof(texts[0]))];

		sqlite3_bind_text(insert, at, text, -1, SQLITE_STATIC);
		return;
	}
	memset(drawn, (int)wh_script_below(script, 256), bytes);
	for (uint32_t i = 0; i < 8 && bytes > 0; i++)
		drawn[wh_script_below(script, bytes)] = (char)wh_script_below(script, 256);
	if (wh_script_one_in(script, 2))
		sqlite3_bind_text(insert, at, drawn, (int)bytes, SQLITE_TRANSIENT);
	else
		sqlite3_bind_blob(insert, at, drawn, (int)bytes, SQLITE_TRANSIENT);
}

static inline void wh_rows_bind(sqlite3_stmt *insert, int at, struct wh_script *script)
{
	static const int64_t numbers[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, -1, 1 << 20, INT32_MAX,
		INT64_C(1) << 32, INT64_MAX, INT64_MIN, INT64_MAX - 1, 1000000, 1000001,
		INT64_C(1800000000000000)};
	static const double reals[] = {0, -1, 1e308, -1e308, 0.5, 1e18, 9.3e18};

	switch (wh_script_below(script, 8)) {
	case 0:
		sqlite3_bind_null(insert, at);
		break;
	case 1:
		sqlite3_bind_double(insert, at, reals[wh_script_below(script, 7)]);
		break;
	case 2:
	case 3:
		wh_rows_bind_text(insert, at, script);
		break;
	default:
		sqlite3_bind_int64(insert, at,
			numbers[wh_script_below(script, sizeof(numbers) / sizeof(numbers[0]))]);
	}
}

/* Another row. */
static inline void wh_rows_add(sqlite3 *database, const char *table,
	char names[ROW_COLUMNS_MAX][32], uint32_t count, struct wh_script *script)
{
	char sql[2048];
	int used = snprintf(sql, sizeof(sql), "INSERT INTO %s(", table);
	sqlite3_stmt *insert;

	for (uint32_t i = 0; i < count; i++)
		used += snprintf(
			sql + used, sizeof(sql) - (size_t)used, "%s%s", i > 0 ? "," : "", names[i]);
	used += snprintf(sql + used, sizeof(sql) - (size_t)used, ") VALUES(?");
	for (uint32_t i = 1; i < count; i++)
		used += snprintf(sql + used, sizeof(sql) - (size_t)used, ",?");
	snprintf(sql + used, sizeof(sql) - (size_t)used, ")");
	insert = wh_database_statement(database, sql);
	WH_ASSERT(insert != NULL);
	for (uint32_t i = 0; i < count; i++)
		wh_rows_bind(insert, (int)i + 1, script);
	(void)wh_database_step(insert);
	sqlite3_finalize(insert);
}
