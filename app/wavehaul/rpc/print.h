/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A remote operation's results, as lines or as one JSON object written in parts. Lists are sorted
 * by path while they fit in memory; longer ones are in the server's order.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "rpc/reader.h"
#include "rpc/spool.h"

#define WH_PRINT_SORTED_MAX 65536

struct wh_print_line {
	char *key;
	char *text;
};

struct wh_print {
	enum wh_verb verb;
	bool json;
	const char *const *path; /* as they were asked for */
	uint32_t paths;
	struct wh_spool spool;
	bool open;
	bool some;      /* JSON's list has an element already */
	bool sorts;     /* lines are kept for sorting */
	uint32_t lines; /* number of kept lines */
	struct wh_print_line *line;
	uint64_t *rtt_ns; /* PING */
	uint64_t pings;
	uint64_t pings_max;
	bool missing;    /* something did not exist */
	uint64_t faults; /* reported so far */
	uint64_t hz;
};

/* 0 or a negative errno. */
int wh_print_open(struct wh_print *print, const struct wh_settings *settings, enum wh_verb verb,
	const char *const *path, uint32_t paths);

/* Writes all that was kept. */
void wh_print_end(struct wh_print *print);

/* PING: the summary. */
void wh_print_pings(struct wh_print *print, const char *server);

/* JSON: ends the list and adds the last members. Then closes the spool: 0 or a negative errno. */
int wh_print_close(
	struct wh_print *print, const char *server, int status, const struct wh_tally *tally);

/* Callbacks of struct wh_rpc_listener; `context` is the print. */
bool wh_print_may_take(void *context);
void wh_print_item(void *context, const struct wh_item *item);
void wh_print_fault(
	void *context, int error, enum wh_doing doing, const char *path, uint32_t path_bytes);
void wh_print_ping(void *context, uint64_t sequence, uint64_t rtt_tsc);
