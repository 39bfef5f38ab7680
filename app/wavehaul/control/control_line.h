/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The protocol of the control socket: one JSON object per line in each direction. A request names a
 * command in "do", with its arguments as further members; the answer has the request's "id", "ok",
 * and the results, or "error", a sentence, and "status", a wavehaul exit status. Commands are
 * defined in tables of the rooms; a request is checked against its command's arguments before the
 * command runs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * Version of the protocol, in the first line of a server. Raised for changes that clients must
 * know.
 */
#define WH_CONTROL_VERSION 1

/*
 * The longest line, with its newline; the buffer sufficient for most; and limits of values in a
 * line.
 */
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
	const char *name; /* NULL: end of the list */
	enum wh_control_type type;
	bool needed;
	const char *help;
};

struct wh_control_client;

/* One request, and its result. */
struct wh_control_call {
	void *context;                    /* the table's */
	const json_t *request;            /* its arguments have the right types */
	uint32_t uid;                     /* of the client's process, according to the kernel */
	bool administers;                 /* root, or the server's own user */
	struct wh_control_client *client; /* NULL: no events can be sent */
	json_t *answer;                   /* results are added to it */
	int status;                       /* not WH_EXIT_OK: failed, see `why` */
	char why[WH_CONTROL_WHY_BYTES];
};

struct wh_control_command {
	const char *name;
	const char *help;
	const char *words; /* its spelling for the console (console/forms.h); NULL: none */
	bool administers;  /* only for administrators */
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
 * Answers a line, given without its newline; the caller frees the answer. The caller has set who
 * asks in `call`.
 */
json_t *wh_control_answer(const struct wh_control_tables *tables, const char *line, size_t bytes,
	struct wh_control_call *call);

/* In a command: lets it fail with that reason. */
void wh_control_fail(struct wh_control_call *call, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* In a command: an argument's value, or a default if not given. */
const char *wh_control_text(const struct wh_control_call *call, const char *name);
uint64_t wh_control_count(const struct wh_control_call *call, const char *name, uint64_t otherwise);
bool wh_control_switch(const struct wh_control_call *call, const char *name);
