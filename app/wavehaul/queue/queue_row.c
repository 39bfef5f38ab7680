/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/queue_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bundle/record.h"

void wh_order_free(struct wh_order *order)
{
	free(order->here);
	free(order->there);
	free(order->words);
	order->here = order->there = order->words = NULL;
}

static char *text_of(sqlite3_stmt *statement, int column)
{
	const unsigned char *text = sqlite3_column_text(statement, column);

	return strdup(text != NULL ? (const char *)text : "");
}

static void read_result(sqlite3_stmt *row, struct wh_order_result *result)
{
	result->status = sqlite3_column_int(row, 19);
	wh_database_text(row, 20, result->why, sizeof(result->why));
	result->files = wh_database_number(row, 21);
	result->skipped = wh_database_number(row, 22);
	result->failed = wh_database_number(row, 23);
	result->bytes = wh_database_number(row, 24);
	result->moved_bytes = wh_database_number(row, 25);
	result->run_ns = wh_database_number(row, 26);
}

int wh_order_read(sqlite3_stmt *row, struct wh_order *order)
{
	*order = (struct wh_order){
		.id = wh_database_number(row, 0),
		.state = (enum wh_order_state)wh_min_u64(
			wh_database_number(row, 1), WH_ORDER_STATES - 1),
		.owner = (uint32_t)sqlite3_column_int64(row, 2),
		.sends = sqlite3_column_int(row, 3) == WH_ORDER_SENDS,
		.copies = sqlite3_column_int(row, 3) == WH_ORDER_COPIES,
		.attached = sqlite3_column_int(row, 4) != 0,
		.here = text_of(row, 7),
		.there = text_of(row, 8),
		.words = text_of(row, 9),
		.priority = (uint32_t)wh_min_u64(wh_database_number(row, 10), WH_PRIORITY_MAX),
		.place = sqlite3_column_double(row, 11),
		.after = wh_database_number(row, 12),
		.retries = (uint32_t)wh_min_u64(wh_database_number(row, 13), UINT32_MAX),
		.tries = (uint32_t)wh_min_u64(wh_database_number(row, 14), UINT32_MAX),
		.due_s = sqlite3_column_int64(row, 15),
		.added_s = sqlite3_column_int64(row, 16),
		.began_s = sqlite3_column_int64(row, 17),
		.ended_s = sqlite3_column_int64(row, 18),
		.as_name = sqlite3_column_int(row, 27) != 0,
		.delegated = wh_database_number(row, 29),
		.wish = (uint32_t)wh_min_u64(wh_database_number(row, 30), WH_WISHES - 1),
		.said = sqlite3_column_int(row, 34) != 0,
		.stream = sqlite3_column_int(row, 35) != 0,
	};
	wh_database_text(row, 28, order->token, sizeof(order->token));
	wh_database_text(row, 31, order->peer, sizeof(order->peer));
	wh_database_text(row, 32, order->key, sizeof(order->key));
	wh_database_text(row, 33, order->asked_rate, sizeof(order->asked_rate));
	wh_database_text(row, 5, order->host, sizeof(order->host));
	wh_database_text(row, 6, order->rate, sizeof(order->rate));
	read_result(row, &order->result);
	if (order->here != NULL && order->there != NULL && order->words != NULL)
		return 0;
	wh_order_free(order);
	return -ENOMEM;
}
