/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONTROL_LINE_H
#define WH_CONTROL_LINE_H

/*
 * What is said on the control socket: a JSON object a line each way. A request names a command by
 * "do", and has its arguments beside it; the answer has the request's "id", "ok", and what was
 * asked for, or "error", a sentence, and "status", as wavehaul's exit status. Commands are tables,
 * which rooms bring; a request is held against its command's arguments before that is run.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Of the protocol: the first line of a server names it. It grows with what clients must know of. */
#define WH_CONTROL_VERSION 1

/* A line, its end counted; what most need; and values in one. */
#define WH_CONTROL_LINE_BYTES  (UINT32_C(1) << 20)
#define WH_CONTROL_PIECE_BYTES (UINT32_C(64) << 10)
#define WH_CONTROL_TEXT_BYTES  4096
#define WH_CONTROL_LIST_MAX    16384
#define WH_CONTROL_WHY_BYTES   400

#define WH_CONTROL_ARGUMENTS_MAX 24
#define WH_CONTROL_TABLES_MAX    5

enum wh_control_type {
	WH_CONTROL_TEXT,   /* a string without NUL */
	WH_CONTROL_COUNT,  /* an integer >= 0 */
	WH_CONTROL_SWITCH, /* true or false */
	WH_CONTROL_TEXTS,  /* a list of strings */
};

struct wh_control_argument {
	const char *name; /* NULL: the list ends */
	enum wh_control_type type;
	bool needed;
	const char *help;
};

struct wh_control_client;

/* One request, and what comes of it. */
struct wh_control_call {
	void *context;                    /* the table's */
	const json_t *request;            /* its arguments are of their types */
	uint32_t uid;                     /* whose process asks, by the kernel */
	bool administers;                 /* root, or the user of the server itself */
	struct wh_control_client *client; /* NULL: nobody can be told of events */
	json_t *answer;                   /* members are added to it */
	int status;                       /* not WH_EXIT_OK: it failed, `why` says how */
	char why[WH_CONTROL_WHY_BYTES];
};

struct wh_control_command {
	const char *name;
	const char *help;
	const char *words; /* how it is said in words (console/forms.h); NULL: not at all */
	bool administers;  /* only who does may ask for it */
	void (*run)(struct wh_control_call *call);
	struct wh_control_argument argument[WH_CONTROL_ARGUMENTS_MAX];
};

struct wh_control_table {
	const struct wh_control_command *command;
	uint32_t count;
	void *context;
};

struct wh_control_tables {
	struct wh_control_table table[WH_CONTROL_TABLES_MAX];
	uint32_t count;
};

void wh_control_add(struct wh_control_tables *tables, const struct wh_control_command *command,
	uint32_t count, void *context);

/*
 * The answer to a line, without its end: the caller's to free. Of `call` the caller fills in who
 * asks.
 */
json_t *wh_control_answer(const struct wh_control_tables *tables, const char *line, size_t bytes,
	struct wh_control_call *call);

/* In a command: it fails, for that reason. */
void wh_control_fail(struct wh_control_call *call, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* In a command: an argument, or what it is when it was not given. */
const char *wh_control_text(const struct wh_control_call *call, const char *name);
uint64_t wh_control_count(const struct wh_control_call *call, const char *name, uint64_t otherwise);
bool wh_control_switch(const struct wh_control_call *call, const char *name);

#endif
