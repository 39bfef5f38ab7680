/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* An order as a row of the queue's table. */

#include "journal/database.h"
#include "queue/queue_store.h"

/* Values of the column `sends`. */
#define WH_ORDER_GETS   0
#define WH_ORDER_SENDS  1
#define WH_ORDER_COPIES 2

/* What wh_order_read wants, in this order. */
#define WH_ORDER_COLUMNS                                                                           \
	"id,state,owner,sends,attached,host,rate,here,there,words,priority,place,after,retries,"   \
	"tries,due,added,began,ended,status,why,files,skipped,failed,bytes,moved,run_ns,as_name,"  \
	"token,delegated,wish,peer,peer_key,asked_rate,said,stream"

/* Of a damaged file a row may contain anything. 0 or -ENOMEM. */
int wh_order_read(sqlite3_stmt *row, struct wh_order *order);
