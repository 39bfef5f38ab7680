/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Values of the keys of one section at one point of a sweep. The first error is reported; from then
 * on `failed` is set, and fallbacks are returned.
 */

#include "cli/ini.h"
#include "lab/sim/event.h"
#include "scenario/expr.h"

struct wh_taker {
	struct wh_ini_section *section;
	const struct wh_expr_scope *scope;
	bool failed;
};

/* False after a complaint with an example of the missing key. */
bool wh_take_require(struct wh_taker *taker, const char *key, const char *example);

bool wh_take_has(struct wh_taker *taker, const char *key);
double wh_take_number(
	struct wh_taker *taker, const char *key, double fallback, double least, double most);
uint64_t wh_take_count(
	struct wh_taker *taker, const char *key, uint64_t fallback, uint64_t least, uint64_t most);
uint64_t wh_take_ps(struct wh_taker *taker, const char *key, uint64_t fallback_ps);
bool wh_take_switch(struct wh_taker *taker, const char *key, bool fallback);

/* `none` is 0, which is also returned without the key. */
uint64_t wh_take_count_or_none(struct wh_taker *taker, const char *key, uint64_t most);

/* The value of the swept variable of that name, or the text itself. */
void wh_take_word(
	struct wh_taker *taker, const char *key, const char *fallback, char word[WH_WORD_BYTES]);

/* The index of the word in `names`, terminated by NULL. */
uint32_t wh_take_choice(
	struct wh_taker *taker, const char *key, const char *const *names, uint32_t fallback);

/* Up to `most` numbers or times, separated by commas; returns their number, 0 without the key. */
uint32_t wh_take_list(struct wh_taker *taker, const char *key, enum wh_value_kind kind,
	double *values, uint32_t most);

/* "RATE at TIME, ..."; the values before `at` are times if first_is_time. */
struct wh_taken_at {
	double x; /* seconds, if a time */
	uint64_t at_ps;
};
uint32_t wh_take_ats(struct wh_taker *taker, const char *key, bool first_is_time,
	struct wh_taken_at *ats, uint32_t most);

/* The rows of a file beside the scenario: values separated by blanks; # begins a comment. */
#define WH_ROW_FIELDS_MAX 3

struct wh_rows {
	const char *form;    /* of a line, with an example */
	uint32_t n_fields;   /* all of a line, of which */
	uint32_t n_required; /* the first cannot be "-", NAN */
	const char *kinds;   /* t: a time in seconds, n: a number */
	const char *no_row;  /* what is said of a file without a row */
	/* Takes a row; false: it has written what is wrong with it. */
	bool (*put)(void *context, const double *values, char why[WH_EXPR_WRONG_BYTES]);
	void *context;
};

/* Reads the file that the key names. False after a complaint, which names the line. */
bool wh_take_rows(struct wh_taker *taker, const char *key, const struct wh_rows *rows);

/* Complains about an entry, with what would be right; always false. */
bool wh_take_refuse(struct wh_taker *taker, const char *key, const char *why);

/* False after a complaint about the first key that was never looked up. */
bool wh_take_all_used(const struct wh_ini_section *section);

/* Converts and rounds to picoseconds; false: out of range. */
bool wh_seconds_to_ps(double seconds, uint64_t *span_ps);
