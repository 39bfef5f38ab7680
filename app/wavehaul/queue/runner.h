/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_RUNNER_H
#define WH_QUEUE_RUNNER_H

/*
 * The queue at work: which order runs, what is told of it, and what is wished of it on the control
 * socket, whose thread is the only one that enters here.
 */

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/calendar.h"
#include "control/control.h"
#include "queue/errands.h"
#include "queue/run.h"
#include "queue/store.h"

#define WH_RUNS_MAX 64

/* Lanes of all orders that run: places for them are beside those for peers. */
#define WH_RUN_LANES_MAX 64

/* Clients whose orders end with them. */
#define WH_RUNNER_CLIENTS_MAX WH_CONTROL_CLIENTS_MAX

/* What became of an order, as long as the database does not take it. */
struct wh_runner_end {
	struct wh_order order; /* without its lists */
	struct wh_order_result result;
	enum wh_order_state wanted;
};

struct wh_runner {
	struct wh_run_ground ground;
	struct wh_control_socket *control;
	char path[PATH_MAX]; /* of the database; "": nowhere */
	sqlite3 *database;
	struct wh_queue *queue; /* NULL: there is none, and no order */
	bool replaced;          /* another file has its name: what is written now is lost with us */
	int64_t next_open_s;
	/* A try of an order is over; NULL: nobody minds. */
	void (*on_end)(
		void *context, const struct wh_run *run, const struct wh_order_result *result);
	void *context;
	uint32_t at_once;
	uint32_t at_once_host;
	struct wh_errands errands;
	struct wh_run *run[WH_RUNS_MAX];
	uint32_t runs;
	uint32_t lanes;
	struct wh_runner_end end[WH_RUNS_MAX]; /* to be written before anything else begins */
	uint32_t ends;
	int64_t next_end_s;
	bool look_now;       /* something has changed */
	int64_t next_look_s; /* when something is due */
	int64_t next_forget_s;
	struct wh_calendar calendar;
	bool failing; /* the database cannot be written, as was said */
	struct {
		uint64_t client; /* 0: nobody */
		uint64_t order;
	} attached[WH_RUNNER_CLIENTS_MAX];
};

/*
 * Opens the database in that folder, before the guard; says so where it cannot be had, and there is
 * no queue until it can. ground, control and limits are the caller's to fill in before.
 */
void wh_runner_open(struct wh_runner *runner, const char *folder);

/* Adds its commands. */
void wh_runner_add(struct wh_control_tables *tables, struct wh_runner *runner);

/* The control's turn, and the end of one of its clients; `context` is the runner. */
uint32_t wh_runner_turn(void *context);
void wh_runner_on_gone(void *context, uint64_t client);

/* Whether that job, a lane, is of an order of that user; `context` is the runner. */
bool wh_runner_owns(void *context, uint32_t uid, const void *job);

/* When neither loops nor the control run any more: what ran goes on with the next start. */
void wh_runner_close(struct wh_runner *runner);

/*
 * keeping.c: what the database answered is told the first time, and when all is well again. True:
 * it was a failure.
 */
bool wh_runner_trouble(struct wh_runner *runner, int rc);

/* A database that could not be had is tried again, one that was removed is written again. */
void wh_runner_follow(struct wh_runner *runner, int64_t now_s);

/* commands.c needs: */

struct wh_run *wh_runner_find(struct wh_runner *runner, uint64_t id);

/* What runs is to end, and be that then; where another queue has it, that has to hear of it. */
void wh_runner_stop(struct wh_runner *runner, struct wh_run *run, enum wh_order_state state);

/* Of an order, as it is in answers: of a long list of paths its beginning. */
json_t *wh_order_json(const struct wh_order *order, struct wh_run *run);

/* Of its lists in there, at most. */
size_t wh_order_bytes(const struct wh_order *order);

/* Tells who watches that the order is in that state. */
void wh_runner_tell(struct wh_runner *runner, uint64_t id, enum wh_order_state state,
	const struct wh_order_result *result);

#endif
