/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The expressions of wavehaul-scenario(5): quantities, words, comparisons. Errors are worded to
 * follow the text itself in a sentence.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_WORD_BYTES       64
#define WH_EXPR_WRONG_BYTES 512
#define WH_EXPR_ARGS_MAX    64
#define WH_COMPARED_MAX     8 /* the most comparisons of one expectation */

enum wh_value_kind {
	WH_VALUE_NUMBER,
	WH_VALUE_TIME, /* seconds */
	WH_VALUE_WORD,
};

struct wh_value {
	enum wh_value_kind kind;
	double x;
	char word[WH_WORD_BYTES];
	const struct wh_variable *of; /* variable with this word as its value; NULL: a literal */
};

struct wh_variable {
	const char *name;
	struct wh_value value;
	const struct wh_value *values; /* its values at all points; NULL: unknown */
	uint32_t n_values;
};

/*
 * `ask` evaluates functions that the language itself does not have, from the texts between the
 * commas. False: it has written the error. NULL: no such functions.
 */
struct wh_expr_scope {
	const struct wh_variable *variables;
	uint32_t n_variables;
	bool (*ask)(const struct wh_expr_scope *scope, const char *function,
		const char *const *args, uint32_t n_args, struct wh_value *value,
		char wrong[WH_EXPR_WRONG_BYTES]);
	void *context;
};

/* Bits of a comparison: the allowed relations of its sides. */
enum wh_sign {
	WH_SIGN_LESS = 1 << 0,
	WH_SIGN_EQUAL = 1 << 1,
	WH_SIGN_GREATER = 1 << 2,
	WH_SIGN_UNORDERED = 1 << 3, /* one is NaN */
	WH_SIGN_LESS_OR_EQUAL = WH_SIGN_LESS | WH_SIGN_EQUAL,
	WH_SIGN_GREATER_OR_EQUAL = WH_SIGN_GREATER | WH_SIGN_EQUAL,
	WH_SIGN_NOT_EQUAL = WH_SIGN_LESS | WH_SIGN_GREATER | WH_SIGN_UNORDERED,
};

const char *wh_sign_text(enum wh_sign sign);
bool wh_sign_holds(enum wh_sign sign, double left, double right);

struct wh_compared {
	double left;
	double right;
	enum wh_sign sign;
};

/* The comparisons before `when`, and whether the condition after it holds: true without one. */
struct wh_expectation {
	struct wh_compared compared[WH_COMPARED_MAX];
	uint32_t n_compared;
	bool applies;
};

/* Evaluates a quantity; wh_expr_value also accepts a word. */
bool wh_expr_quantity(const struct wh_expr_scope *scope, const char *text, struct wh_value *value,
	char wrong[WH_EXPR_WRONG_BYTES]);
bool wh_expr_value(const struct wh_expr_scope *scope, const char *text, struct wh_value *value,
	char wrong[WH_EXPR_WRONG_BYTES]);
bool wh_expr_expectation(const struct wh_expr_scope *scope, const char *text,
	struct wh_expectation *expectation, char wrong[WH_EXPR_WRONG_BYTES]);

const struct wh_variable *wh_variable_find(const struct wh_expr_scope *scope, const char *name);

/* Whether the name has a meaning already: a function, a unit, a word of the language. */
bool wh_expr_is_reserved(const char *name);

/* A letter, then letters, digits and underscores, fewer than WH_WORD_BYTES. */
bool wh_is_name(const char *text);
