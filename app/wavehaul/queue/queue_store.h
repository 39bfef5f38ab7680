/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The queue's rows: orders, their results, and which is next. In a database, so that a restarted
 * process continues with them. Time is an argument: seconds of the time of day, which may step.
 *
 * An order is READY if it needs only a place, WAITING for its time (not-before, or a pause after a
 * failure), BLOCKED by another order that it follows. The cost of each call depends on the orders
 * that could run, not on the size of the queue.
 */

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#define WH_ORDER_HOST_BYTES 256
#define WH_ORDER_WHY_BYTES  400
#define WH_ORDER_RATE_BYTES 512

/* Hexadecimal, with a terminator. */
#define WH_ORDER_TOKEN_BYTES 33
#define WH_ORDER_KEY_BYTES   65
#define WH_ORDER_PEER_BYTES  64

#define WH_PRIORITY_MAX      9
#define WH_PRIORITY_STANDARD 5

/* The longest pause before a request is sent again to the host that runs the order. */
#define WH_SAY_AGAIN_LAST_S 60

/* Orders that are over are kept for this long, for `wavehaul job show`. */
#define WH_ORDER_KEPT_S (INT64_C(30) * 86400)

enum wh_order_state {
	WH_ORDER_READY = 0,
	WH_ORDER_WAITING,
	WH_ORDER_BLOCKED,
	WH_ORDER_PAUSED,
	WH_ORDER_RUNNING,
	WH_ORDER_DONE,
	WH_ORDER_FAILED,
	WH_ORDER_CANCELLED,
};

#define WH_ORDER_STATES 8

const char *wh_order_state_name(enum wh_order_state state);

static inline bool wh_order_is_over(enum wh_order_state state)
{
	return state >= WH_ORDER_DONE;
}

/* The result of an order. */
struct wh_order_result {
	int status;   /* exit status */
	bool no_room; /* an end had too much to do, or no memory, and nothing else went wrong */
	bool soon;    /* another try need not pause: it waits for the host by itself */
	bool final;   /* no other try: bytes of a stream do not come twice */
	char why[WH_ORDER_WHY_BYTES];
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes;       /* of files that arrived */
	uint64_t moved_bytes; /* of all tries */
	uint64_t run_ns;      /* of all tries */
};

struct wh_order {
	uint64_t id;
	enum wh_order_state state;
	uint32_t owner; /* user id */
	bool sends;
	/*
	 * The order copies from `host` to a third host, and is run by the queue of `host`. `here`
	 * are paths at `host`; the path in `there` is preceded by the third host. This host sends
	 * no data.
	 */
	bool copies;
	bool attached; /* ends with its client, which has also gone when the process ends */
	bool stream;   /* its bytes come from a connection of its client, or go there */
	char host[WH_ORDER_HOST_BYTES];
	char rate[WH_ORDER_RATE_BYTES]; /* a timetable */
	/* Lists of paths and options, as JSON. The caller frees them by wh_order_free. */
	char *here;
	char *there;
	char *words;
	uint32_t priority; /* highest first */
	double place;      /* position within a priority, lowest first */
	uint64_t after;    /* 0: none */
	uint32_t retries;  /* tries after the first */
	uint32_t tries;
	int64_t due_s; /* not before; for WAITING */
	int64_t added_s;
	int64_t began_s; /* the last try; 0: none */
	int64_t ended_s;
	/* Identifies it in its host's queue, or to the peer that gave it; "": neither. */
	char token[WH_ORDER_TOKEN_BYTES];
	uint64_t delegated; /* copies: its number there; 0: unknown */
	bool said;          /* copies: the other host may have it, even if it has not confirmed */
	uint32_t wish;      /* enum wh_order_wish: to be sent there; or the last one received */
	/*
	 * The peer that gave it, if it has a token and does not copy: its name, "" for our own key;
	 * and the key whose rights apply.
	 */
	char peer[WH_ORDER_PEER_BYTES];
	char key[WH_ORDER_KEY_BYTES];
	/* The peer's last request. The rate in use may differ. */
	char asked_rate[WH_ORDER_RATE_BYTES];
	bool as_name; /* if its target exists now, it is not a folder for the files */
	struct wh_order_result result;
};

static inline bool wh_order_is_accepted(const struct wh_order *order)
{
	return order->token[0] != '\0' && !order->copies;
}

struct wh_queue;

/*
 * Uses the database, which the caller keeps open and closes. Rows that were running in another
 * process are ready again. 0 or a negative errno.
 */
int wh_queue_open(struct wh_queue **queue, sqlite3 *database, int64_t now_s);

/* With a new connection of the same process: running orders continue. */
int wh_queue_reopen(struct wh_queue **queue, sqlite3 *database, int64_t now_s);
void wh_queue_close(struct wh_queue *queue);

/* From now on called for each order that fails because the one that it follows did, and why. */
void wh_queue_on_fallen(struct wh_queue *queue,
	void (*on_fallen)(void *context, uint64_t id, const char *why), void *context);

/* 0 or a negative errno; *id. -ENOENT: the order that it follows does not exist. */
int wh_queue_add(struct wh_queue *queue, const struct wh_order *order, int64_t now_s, uint64_t *id);

/* 0, -ENOENT or another errno. */
int wh_queue_find(struct wh_queue *queue, uint64_t id, struct wh_order *order);

/* The next one by id, with `over` including ended ones: -ENOENT after the last. */
int wh_queue_after(struct wh_queue *queue, uint64_t id, bool over, struct wh_order *order);

void wh_order_free(struct wh_order *order);

/*
 * The order to run now, set to RUNNING; none to a host in `busy`. 0, -ENOENT: none, or another
 * errno.
 */
int wh_queue_next(struct wh_queue *queue, int64_t now_s, const char *const *busy, uint32_t count,
	struct wh_order *order);

/* Time of the next due order; INT64_MAX: never. */
int64_t wh_queue_due_s(struct wh_queue *queue);

/*
 * A run has ended: the order is over with that result, or gets the state `wanted`. After a failure
 * that another try may repair, it waits if tries are left. With `wanted` WAITING it waits because
 * another host was not told. *state: its new state.
 */
int wh_queue_end(struct wh_queue *queue, const struct wh_order *order,
	const struct wh_order_result *result, enum wh_order_state wanted, int64_t now_s,
	enum wh_order_state *state);

/* Requests of users; -EINVAL: not possible in that state. A running order must be stopped first. */
int wh_queue_pause(struct wh_queue *queue, uint64_t id);
int wh_queue_resume(struct wh_queue *queue, uint64_t id, int64_t now_s);
int wh_queue_cancel(struct wh_queue *queue, uint64_t id, int64_t now_s);
/* Begins at once an order that has not begun, or is paused, to send a request to the other host. */
int wh_queue_begin(struct wh_queue *queue, uint64_t id, int64_t now_s);
int wh_queue_retry(struct wh_queue *queue, uint64_t id, int64_t now_s);
int wh_queue_rate(struct wh_queue *queue, uint64_t id, const char *rate);

/* Sets the rate at the request of the peer that gave the order. */
int wh_queue_rate_asked(struct wh_queue *queue, uint64_t id, const char *rate);

/*
 * The order's target was no folder when it began: later tries must not take what arrived for one.
 */
int wh_queue_as_name(struct wh_queue *queue, uint64_t id);

/*
 * For a peer's orders: the first finds a row by its token, -ENOENT: none. The second counts the
 * orders that are not over, and forgets the oldest ended ones beyond `kept`.
 */
int wh_queue_find_accepted(
	struct wh_queue *queue, const char *peer, const char *token, struct wh_order *order);
int wh_queue_count_accepted(
	struct wh_queue *queue, const char *peer, uint32_t kept, uint64_t *live);

/*
 * Stores what is known of an order that another queue has. `delegated` 0 with a new token: no other
 * host's queue holds this order.
 */
int wh_queue_set_delegated(
	struct wh_queue *queue, uint64_t id, uint64_t delegated, const char *token);
int wh_queue_set_wish(struct wh_queue *queue, uint64_t id, uint32_t wish);
int wh_queue_set_said(struct wh_queue *queue, uint64_t id);

/* Moves it before `other` (0: to the end) within its priority, which may be new. */
int wh_queue_move(struct wh_queue *queue, uint64_t id, uint32_t priority, uint64_t other);

/* Number of orders in each state. */
int wh_queue_counts(struct wh_queue *queue, uint64_t counts[WH_ORDER_STATES]);

/* Deletes those that ended long ago. */
int wh_queue_forget(struct wh_queue *queue, int64_t now_s);
