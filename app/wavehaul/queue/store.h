/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_STORE_H
#define WH_QUEUE_STORE_H

/*
 * The queue's rows: orders, what has become of them, and which is next. In a database, so that a
 * process that begins again goes on with them. Time is an argument: seconds of the clock on the
 * wall, which may step.
 *
 * An order is READY when nothing but a place holds it up, WAITING for its time (not before, or a
 * pause after a failure), BLOCKED by another one that it follows. Each call is bounded by what is
 * there to run, not by what the queue holds.
 */

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#define WH_ORDER_HOST_BYTES 256
#define WH_ORDER_WHY_BYTES  400
#define WH_ORDER_RATE_BYTES 512

/* Hexadecimal, and its end. */
#define WH_ORDER_TOKEN_BYTES 33
#define WH_ORDER_KEY_BYTES   65
#define WH_ORDER_PEER_BYTES  64

#define WH_PRIORITY_MAX      9
#define WH_PRIORITY_STANDARD 5

/* Pauses before another try double from the first up to the last. */
#define WH_RETRY_FIRST_S 5
#define WH_RETRY_LAST_S  600

/* Likewise, up to this, before what is wished of an order is said again where it runs. */
#define WH_SAY_AGAIN_LAST_S 60

/* Orders that are over are kept so long, for `wavehaul job show`. */
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

/* What has become of it. */
struct wh_order_result {
	int status; /* exit status */
	char why[WH_ORDER_WHY_BYTES];
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes;       /* of files that came */
	uint64_t moved_bytes; /* of all tries */
	uint64_t run_ns;      /* likewise */
};

struct wh_order {
	uint64_t id;
	enum wh_order_state state;
	uint32_t owner; /* user */
	bool sends;
	/* From its host to a third one, by that host's queue: `here` are paths there, and the one
	 * of `there` has its host before it. It sends nothing from here. */
	bool copies;
	bool attached; /* to its client, who is gone if the process is */
	char host[WH_ORDER_HOST_BYTES];
	char rate[WH_ORDER_RATE_BYTES]; /* a timetable */
	char *here;  /* lists of paths and of options, as JSON; the caller's ... */
	char *there; /* ... to free, by wh_order_free */
	char *words;
	uint32_t priority; /* the highest first */
	double place;      /* among those, the lowest first */
	uint64_t after;    /* 0: none */
	uint32_t retries;  /* more tries than the first */
	uint32_t tries;
	int64_t due_s; /* not before; of a WAITING one */
	int64_t added_s;
	int64_t began_s; /* the last try; 0: none */
	int64_t ended_s;
	/* What its host's queue, or that of the peer who gave it, knows it by; "": neither. */
	char token[WH_ORDER_TOKEN_BYTES];
	uint64_t far;  /* copies: its number there; 0: nobody has said */
	bool said;     /* copies: it may be there, whether anybody has said so or not */
	uint32_t wish; /* enum wh_order_wish: that is to be told there; or was heard last */
	/* Who gave it, if it has a token and copies not: by name, "" with our own key; and whose
	 * rights it goes by. */
	char peer[WH_ORDER_PEER_BYTES];
	char key[WH_ORDER_KEY_BYTES];
	char asked_rate[WH_ORDER_RATE_BYTES]; /* the last that he wished; ours may be another */
	bool as_name; /* what stands for its target then is no folder to put it into */
	struct wh_order_result result;
};

static inline bool wh_order_is_taken(const struct wh_order *order)
{
	return order->token[0] != '\0' && !order->copies;
}

struct wh_queue;

/*
 * Takes the database, which stays the caller's and there: rows that were running, when another
 * process had them, are ready again. 0 or a negative errno.
 */
int wh_queue_open(struct wh_queue **queue, sqlite3 *database, int64_t now_s);

/* By another connection of the process that has it: what runs goes on. */
int wh_queue_reopen(struct wh_queue **queue, sqlite3 *database, int64_t now_s);
void wh_queue_close(struct wh_queue *queue);

/* 0 or a negative errno; *id. -ENOENT: it follows none that there is. */
int wh_queue_add(struct wh_queue *queue, const struct wh_order *order, int64_t now_s, uint64_t *id);

/* 0, -ENOENT or another errno. */
int wh_queue_find(struct wh_queue *queue, uint64_t id, struct wh_order *order);

/* The one after that id, in their order, or over ones, too: -ENOENT past the last. */
int wh_queue_after(struct wh_queue *queue, uint64_t id, bool over, struct wh_order *order);

void wh_order_free(struct wh_order *order);

/*
 * The order to run now, RUNNING from here on: of those to `busy` hosts, at their limits, none.
 * 0, -ENOENT: none, or another errno.
 */
int wh_queue_next(struct wh_queue *queue, int64_t now_s, const char *const *busy, uint32_t count,
	struct wh_order *order);

/* When to ask again, if nothing happens; INT64_MAX: never. */
int64_t wh_queue_due_s(struct wh_queue *queue);

/*
 * It does not run any more: over with that result, or in that state again. A failure that another
 * try may mend, as long as there are some, has it wait; and so does what was not heard elsewhere,
 * which is WAITING. *state: what it is then.
 */
int wh_queue_end(struct wh_queue *queue, const struct wh_order *order,
	const struct wh_order_result *result, enum wh_order_state wanted, int64_t now_s,
	enum wh_order_state *state);

/* What people wish; -EINVAL: not of an order in that state. One that runs is not theirs to set. */
int wh_queue_pause(struct wh_queue *queue, uint64_t id);
int wh_queue_resume(struct wh_queue *queue, uint64_t id, int64_t now_s);
int wh_queue_cancel(struct wh_queue *queue, uint64_t id, int64_t now_s);
/* One that has not begun, or is paused, does so at once, to say there what is wished. */
int wh_queue_begin(struct wh_queue *queue, uint64_t id, int64_t now_s);
int wh_queue_retry(struct wh_queue *queue, uint64_t id, int64_t now_s);
int wh_queue_rate(struct wh_queue *queue, uint64_t id, const char *rate);

/* Likewise, as the peer wishes who gave it. */
int wh_queue_rate_asked(struct wh_queue *queue, uint64_t id, const char *rate);

/* Its target was no folder when it began: later tries do not take what came of it for one. */
int wh_queue_as_name(struct wh_queue *queue, uint64_t id);

/*
 * Of a peer's order: its row by its token, -ENOENT: there is none; how many of his are not over,
 * where those that have been for longest are forgotten but for `kept`.
 */
int wh_queue_find_taken(
	struct wh_queue *queue, const char *peer, const char *token, struct wh_order *order);
int wh_queue_count_taken(
	struct wh_queue *queue, const char *peer, uint32_t kept, uint64_t *live);

/* What is known of an order that another queue has: 0 and another token: it has it not any more. */
int wh_queue_set_far(struct wh_queue *queue, uint64_t id, uint64_t far, const char *token);
int wh_queue_set_wish(struct wh_queue *queue, uint64_t id, uint32_t wish);
int wh_queue_set_said(struct wh_queue *queue, uint64_t id);

/* To the place before `other` (0: behind all) among those of its priority, which may be new. */
int wh_queue_move(struct wh_queue *queue, uint64_t id, uint32_t priority, uint64_t other);

/* Of each state. */
int wh_queue_counts(struct wh_queue *queue, uint64_t counts[WH_ORDER_STATES]);

/* Those that were over long ago go. */
int wh_queue_forget(struct wh_queue *queue, int64_t now_s);

#endif
