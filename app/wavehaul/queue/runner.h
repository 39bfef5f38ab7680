/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Runs the queue: chooses which orders run, sends events about them, and applies changes requested
 * on the control socket. Only that socket's thread calls the functions here.
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/calendar.h"
#include "control/control.h"
#include "queue/queue_store.h"
#include "queue/rpcs.h"
#include "queue/run.h"

#define WH_RUNS_MAX 64

/* Lanes of all running orders; they have places beside those for peers. */
#define WH_RUN_LANES_MAX 64

/* Clients whose orders end with them. */
#define WH_RUNNER_CLIENTS_MAX WH_CONTROL_CLIENTS_MAX

/* An order that ends with its client, until it is over. */
struct wh_runner_attached {
	uint64_t order;  /* 0: unused */
	uint64_t client; /* 0: gone */
	struct wh_run_client has;
};

/* The result of an order until the database has accepted it. */
struct wh_runner_end {
	struct wh_order order; /* without its lists */
	struct wh_order_result result;
	enum wh_order_state wanted;
};

/* Pause before a host is asked again that had no room. */
#define WH_ROOM_AGAIN_S 2

/* A host that had no room for an order, or for which we had none: not asked again until then. */
struct wh_runner_full {
	char host[WH_ORDER_HOST_BYTES];
	int64_t until_s;
};

struct wh_runner {
	struct wh_run_host_ctx ctx;
	struct wh_control_socket *control;
	char path[PATH_MAX]; /* of the database; "": none */
	sqlite3 *database;
	struct wh_queue *queue; /* NULL: none, and no orders */
	bool replaced;          /* the file was replaced: what is written now is lost when we end */
	int64_t next_open_s;
	/* Called when a try of an order is over; may be NULL. */
	void (*on_end)(
		void *context, const struct wh_run *run, const struct wh_order_result *result);
	/* Called when an order is over that had begun; may be NULL. */
	void (*on_over)(void *context, const struct wh_order *order,
		const struct wh_order_result *result, enum wh_order_state state);
	void *context;
	uint32_t at_once;
	uint32_t at_once_host;
	struct wh_rpcs rpcs;
	struct wh_run *run[WH_RUNS_MAX];
	uint32_t runs;
	uint32_t lanes;
	struct wh_runner_end end[WH_RUNS_MAX]; /* to be written before anything else begins */
	uint32_t ends;
	int64_t next_end_s;
	/* A host that has no place here is asked by each of its orders. */
	struct wh_runner_full full[WH_RUNS_MAX];
	bool look_now;       /* something has changed */
	int64_t next_look_s; /* time of the next due event */
	int64_t next_forget_s;
	struct wh_calendar calendar;
	bool failing; /* the database cannot be written, as was reported */
	struct wh_runner_attached attached[WH_RUNNER_CLIENTS_MAX];
};

/*
 * Opens the database in that folder, before the guard; if it is not available that is reported, and
 * there is no queue until it is. The caller must have set host context, control and limits.
 */
void wh_runner_open(struct wh_runner *runner, const char *folder);

/* Adds its commands. */
void wh_runner_add(struct wh_control_tables *tables, struct wh_runner *runner);

/* The control's turn, and the end of one of its clients; `context` is the runner. */
uint32_t wh_runner_turn(void *context);
void wh_runner_on_gone(void *context, uint64_t client);

/* Whether that job, a lane, belongs to an order of that user; `context` is the runner. */
bool wh_runner_owns(void *context, uint32_t uid, const void *job);

/*
 * Call when neither loops nor the control run any more: running orders continue after the next
 * start.
 */
void wh_runner_close(struct wh_runner *runner);

/*
 * keeping.c: reports a failure of the database the first time, and its recovery. True: it was a
 * failure.
 */
bool wh_runner_trouble(struct wh_runner *runner, int rc);

/* Tries again to open a database that was not available; writes one anew that was removed. */
void wh_runner_follow(struct wh_runner *runner, int64_t now_s);

/* For queue_commands.c: */

/* The running order of that number; NULL: it does not run. */
static inline struct wh_run *wh_runner_find(struct wh_runner *runner, uint64_t id)
{
	for (uint32_t i = 0; i < runner->runs; i++)
		if (runner->run[i]->order.id == id)
			return runner->run[i];
	return NULL;
}

/* Stops a running order, which then gets that state; if another queue has it, that must be told. */
void wh_runner_stop(struct wh_runner *runner, struct wh_run *run, enum wh_order_state state);

/*
 * From now on the order ends with that client, and has what it took over from it. False: too many
 * orders are attached.
 */
bool wh_runner_attach(
	struct wh_runner *runner, uint64_t client, uint64_t order, const struct wh_run_client *has);

/* An order as in answers: of a long list of paths only the beginning. */
json_t *wh_order_json(const struct wh_order *order, struct wh_run *run);

/* The most bytes of its lists there. */
size_t wh_order_bytes(const struct wh_order *order);

/* Sends the order's state to clients that watch it. */
void wh_runner_tell(struct wh_runner *runner, uint64_t id, enum wh_order_state state,
	const struct wh_order_result *result);
