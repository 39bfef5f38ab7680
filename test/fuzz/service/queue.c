/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: the rows of a queue that a crash or a hand has left. Whatever stands in any of their
 * columns, each is listed, begun, ended and steered, or refused with a reason; and what follows one
 * that is over does not wait for it.
 */

#include "queue/queue_store.h"

#include <inttypes.h>
#include <stdio.h>

#include "fuzz.h"
#include "queue/runner.h"
#include "rows.h"
#include "script_input.h"
#include "transfer/order_words.h"

#define NOW_S INT64_C(1000000)
#define ROWS  4
#define BEGUN 8

static sqlite3 *database;
static struct wh_queue *queue;
static char names[ROW_COLUMNS_MAX][32];
static uint32_t columns;
static uint64_t listed, begun, ended, steered, refused;

static void open_queue(void)
{
	WH_ASSERT(sqlite3_open(":memory:", &database) == SQLITE_OK);
	WH_ASSERT(wh_database_run(database, "CREATE TABLE room(name TEXT PRIMARY KEY, version "
					    "INTEGER NOT NULL) WITHOUT ROWID") == 0);
	WH_ASSERT(wh_queue_open(&queue, database, NOW_S) == 0);
	wh_queue_close(queue);
	columns = wh_rows_loosen(database, "job", names);
	WH_ASSERT(wh_queue_open(&queue, database, NOW_S) == 0);
}

static void check(const struct wh_order *order)
{
	json_t *told = wh_order_json(order, NULL);
	char *text = json_dumps(told, JSON_COMPACT);
	struct wh_settings settings;
	json_t *words = json_loads(order->words, 0, NULL);
	struct wh_timetable table;

	WH_ASSERT((unsigned int)order->state < WH_ORDER_STATES);
	WH_ASSERT(order->priority <= WH_PRIORITY_MAX);
	WH_ASSERT(text != NULL && json_object_get(told, "rate_bps") != NULL);
	WH_ASSERT((uint64_t)json_integer_value(json_object_get(told, "job")) == order->id);
	(void)wh_order_settings(words, &settings);
	(void)wh_timetable_parse(order->rate, &table);
	json_decref(words);
	json_decref(told);
	free(text);
}

static void list(void)
{
	struct wh_order order;
	uint64_t counts[WH_ORDER_STATES];
	uint32_t rows = 0;

	for (uint64_t id = 0; rows < ROWS && wh_queue_after(queue, id, true, &order) == 0; rows++) {
		WH_ASSERT(order.id > id);
		id = order.id;
		check(&order);
		wh_order_free(&order);
	}
	WH_ASSERT(rows == ROWS && wh_queue_counts(queue, counts) == 0);
	listed += rows;
}

static void begin_and_end(struct wh_script *script)
{
	const char *busy[] = {"localhost", ""};
	struct wh_order_result result = {.status = (int)wh_script_below(script, 9)};
	enum wh_order_state state;
	struct wh_order order;

	for (uint32_t i = 0; i < BEGUN; i++) {
		enum wh_order_state wanted =
			wh_script_one_in(script, 2) ? WH_ORDER_DONE : WH_ORDER_FAILED;

		(void)wh_queue_due_s(queue);
		if (wh_queue_next(queue, NOW_S + i, busy, (uint32_t)wh_script_below(script, 3),
			    &order) != 0)
			return;
		begun++;
		check(&order);
		ended += wh_queue_end(queue, &order, &result, wanted, NOW_S, &state) == 0;
		wh_order_free(&order);
	}
}

static void steer(struct wh_script *script)
{
	uint64_t id = 1 + wh_script_below(script, ROWS);
	int rc;

	switch (wh_script_below(script, 6)) {
	case 0:
		rc = wh_queue_pause(queue, id);
		break;
	case 1:
		rc = wh_queue_resume(queue, id, NOW_S);
		break;
	case 2:
		rc = wh_queue_cancel(queue, id, NOW_S);
		break;
	case 3:
		rc = wh_queue_retry(queue, id, NOW_S);
		break;
	case 4:
		rc = wh_queue_rate(queue, id, "1G");
		break;
	default:
		rc = wh_queue_move(queue, id, (uint32_t)wh_script_below(script, 10),
			wh_script_below(script, ROWS + 1));
	}
	steered += rc == 0;
	refused += rc != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct wh_script script;

	if (queue == NULL)
		open_queue();
	wh_script_init(&script, bytes, length);
	WH_ASSERT(wh_database_run(database, "DELETE FROM job;"
					    "DELETE FROM sqlite_sequence") == 0);
	for (uint32_t i = 0; i < ROWS; i++)
		wh_rows_add(database, "job", names, columns, &script);
	list();
	for (uint32_t i = 0; i < 4; i++)
		steer(&script);
	begin_and_end(&script);
	list();
	WH_ASSERT(wh_queue_forget(queue, INT64_MAX) == 0);
	return 0;
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " rows listed, %" PRIu64 " begun, %" PRIu64 " ended, %" PRIu64
	       " steered, %" PRIu64 " not\n",
		listed, begun, ended, steered, refused);
}
