/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/expr.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "lab/sim/sim_memory.h"
#include "scenario/lex.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

#define DEPTH_MAX        32
#define BDP_PACKET_BYTES 1500.0

/* Parser of a text: `token` is the current token, from `token_text` on; `text` is after it. */
struct parser {
	const struct wh_expr_scope *scope;
	const char *text;
	const char *token_text;
	struct wh_token token;
	char *wrong;
	uint32_t depth;
	bool words; /* words may stand alone */
};

static bool parse_sum(struct parser *p, struct wh_value *value);

bool wh_is_name(const char *text)
{
	size_t chars =
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	return isalpha((unsigned char)text[0]) && text[chars] == '\0' && chars < WH_WORD_BYTES;
}

bool wh_sign_holds(enum wh_sign sign, double left, double right)
{
	enum wh_sign stand = left < right    ? WH_SIGN_LESS
			     : left == right ? WH_SIGN_EQUAL
			     : left > right  ? WH_SIGN_GREATER
					     : WH_SIGN_UNORDERED;

	return (sign & stand) != 0;
}

/* Always false; only the first error is reported. */
__attribute__((format(printf, 2, 3))) static bool refuse(struct parser *p, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (p->wrong[0] == '\0')
		vsnprintf(p->wrong, WH_EXPR_WRONG_BYTES, format, args);
	va_end(args);
	return false;
}

static bool advance(struct parser *p)
{
	p->token_text = p->text;
	wh_lex(&p->text, &p->token, p->wrong);
	return p->token.kind != WH_TOKEN_WRONG;
}

static bool is_punct(const struct parser *p, char punct)
{
	return p->token.kind == WH_TOKEN_PUNCT && p->token.punct == punct;
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->token.kind == WH_TOKEN_NAME && strcmp(p->token.name, word) == 0;
}

const struct wh_variable *wh_variable_find(const struct wh_expr_scope *scope, const char *name)
{
	for (uint32_t i = 0; i < scope->n_variables; i++)
		if (strcmp(scope->variables[i].name, name) == 0)
			return &scope->variables[i];
	return NULL;
}

static bool refuse_name(struct parser *p, const char *name)
{
	char known[WH_EXPR_WRONG_BYTES / 2] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < p->scope->n_variables && used < sizeof(known) - 1; i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
			i > 0 ? ", " : "", p->scope->variables[i].name);
	return refuse(p, "has '%s', which is no name here; %s%s", name,
		used > 0 ? "names are " : "there are none", known);
}

static bool is_quantity(struct parser *p, const struct wh_value *value)
{
	return value->kind != WH_VALUE_WORD ||
	       (value->of == NULL ? refuse_name(p, value->word)
				  : refuse(p, "counts with '%s', whose value is the word %s",
					    value->of->name, value->word));
}

static bool same_kind(struct parser *p, const struct wh_value *a, const struct wh_value *b)
{
	if (!is_quantity(p, a) || !is_quantity(p, b))
		return false;
	/* 0 needs no unit. */
	if (a->kind == b->kind || a->x == 0.0 || b->x == 0.0)
		return true;
	return refuse(p, "holds a time against a number; a time has a unit, as 10ms, and divided "
			 "by 1s it is a number");
}

static enum wh_value_kind joint_kind(const struct wh_value *a, const struct wh_value *b)
{
	return a->kind == WH_VALUE_TIME || b->kind == WH_VALUE_TIME ? WH_VALUE_TIME
								    : WH_VALUE_NUMBER;
}

static double bdp(const double *x)
{
	return x[0] * x[1] / 8.0 / x[2];
}

/*
 * Functions of the language itself. Kinds of values: t a time, n a number; NULL: any, all the same.
 */
static const struct function {
	const char *name;
	const char *kinds;
	uint32_t least;
	const char *form;
	double (*of_one)(double x);
	double (*of_two)(double x, double y);
} functions[] = {
	{"bdp", "ntn", 2, .form = "bdp(RATE, TIME) or bdp(RATE, TIME, BYTES)"},
	{"round", "n", 1, "round(NUMBER)", .of_one = round},
	{"floor", "n", 1, "floor(NUMBER)", .of_one = floor},
	{"sqrt", "n", 1, "sqrt(NUMBER)", .of_one = sqrt},
	{"pow", "nn", 2, "pow(NUMBER, NUMBER)", .of_two = pow},
	{"min", NULL, .of_two = fmin},
	{"max", NULL, .of_two = fmax},
};

static const struct function *find_function(const char *name)
{
	for (size_t i = 0; i < LENGTH(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

bool wh_expr_is_reserved(const char *name)
{
	static const char *const words[] = {"when", "at", "and", "duration", "warmup"};

	for (size_t i = 0; i < LENGTH(words); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return wh_lex_is_unit(name) || find_function(name) != NULL;
}

static bool call_plain(struct parser *p, const struct function *function,
	const struct wh_value *args, uint32_t n_args, struct wh_value *value)
{
	const char *kinds = function->kinds;
	double x[3] = {0.0, 0.0, BDP_PACKET_BYTES};

	WH_ASSERT(function->least <= strlen(kinds) && strlen(kinds) <= LENGTH(x));
	if (n_args < function->least || n_args > strlen(kinds))
		return refuse(p, "must be written %s", function->form);
	for (uint32_t i = 0; i < n_args; i++) {
		enum wh_value_kind kind = kinds[i] == 't' ? WH_VALUE_TIME : WH_VALUE_NUMBER;

		if (!is_quantity(p, &args[i]))
			return false;
		if (args[i].kind != kind && args[i].x != 0.0)
			return refuse(p, "must be written %s", function->form);
		x[i] = args[i].x;
	}
	*value = (struct wh_value){
		.kind = WH_VALUE_NUMBER,
		.x = function->of_one != NULL   ? function->of_one(x[0])
		     : function->of_two != NULL ? function->of_two(x[0], x[1])
						: bdp(x),
	};
	return true;
}

static bool call_extreme(struct parser *p, const struct function *function,
	const struct wh_value *args, uint32_t n_args, struct wh_value *value)
{
	WH_ASSERT(n_args > 0);
	if (!is_quantity(p, &args[0]))
		return false;
	*value = args[0];
	for (uint32_t i = 1; i < n_args; i++) {
		if (!same_kind(p, value, &args[i]))
			return false;
		value->kind = joint_kind(value, &args[i]);
		value->x = function->of_two(value->x, args[i].x);
	}
	return true;
}

static bool parse_call(struct parser *p, const struct function *function, struct wh_value *value)
{
	struct wh_value args[WH_EXPR_ARGS_MAX];
	uint32_t n_args = 0;

	do {
		if (n_args == WH_EXPR_ARGS_MAX)
			return refuse(p, "has a function of more than %d values", WH_EXPR_ARGS_MAX);
		if (!advance(p) || !parse_sum(p, &args[n_args++]))
			return false;
	} while (is_punct(p, ','));
	if (!is_punct(p, ')'))
		return refuse(p, "lacks a )");
	return advance(p) &&
	       (function->kinds == NULL ? call_extreme(p, function, args, n_args, value)
					: call_plain(p, function, args, n_args, value));
}

/* Length up to the parenthesis that closes the open one. */
static size_t chars_within(const char *text)
{
	uint32_t open = 0;
	size_t chars = 0;

	for (; text[chars] != '\0' && (open > 0 || text[chars] != ')'); chars++) {
		if (text[chars] == '(')
			open++;
		else if (text[chars] == ')')
			open--;
	}
	return chars;
}

/* The scope's `ask` gets the texts between the commas; p->text is after the opening parenthesis. */
static bool parse_ask(struct parser *p, const char *name, struct wh_value *value)
{
	char items[WH_EXPR_ARGS_MAX][WH_ITEM_BYTES];
	const char *args[WH_EXPR_ARGS_MAX];
	size_t chars = chars_within(p->text);
	char *list = wh_sim_insist(strndup(p->text, chars), chars);
	const char *rest = list;
	uint32_t n_args = 0;

	for (; n_args < WH_EXPR_ARGS_MAX && wh_lex_item(&rest, ',', items[n_args]); n_args++)
		args[n_args] = items[n_args];
	free(list);
	if (p->text[chars] == '\0')
		return refuse(p, "lacks a )");
	if (rest != NULL)
		return refuse(p, "has a function of more than %d values", WH_EXPR_ARGS_MAX);
	p->text += chars + 1;
	return p->scope->ask(p->scope, name, args, n_args, value, p->wrong) && advance(p);
}

static bool parse_name(struct parser *p, struct wh_value *value)
{
	char name[WH_WORD_BYTES];

	memcpy(name, p->token.name, sizeof(name));
	if (!advance(p))
		return false;
	if (is_punct(p, '(')) {
		if (find_function(name) != NULL)
			return parse_call(p, find_function(name), value);
		if (p->scope->ask != NULL)
			return parse_ask(p, name, value);
		return refuse(p,
			"has '%s', which is no function here; functions are min, max, "
			"bdp, round, floor, sqrt, pow",
			name);
	}

	const struct wh_variable *variable = wh_variable_find(p->scope, name);

	if (variable == NULL) {
		if (!p->words)
			return refuse_name(p, name);
		*value = (struct wh_value){.kind = WH_VALUE_WORD};
		memcpy(value->word, name, sizeof(name));
		return true;
	}
	*value = variable->value;
	value->of = variable;
	return p->words || is_quantity(p, value);
}

static bool parse_primary(struct parser *p, struct wh_value *value)
{
	if (p->token.kind == WH_TOKEN_VALUE) {
		*value = p->token.value;
		return advance(p);
	}
	if (p->token.kind == WH_TOKEN_NAME)
		return parse_name(p, value);
	if (is_punct(p, '(')) {
		if (!advance(p) || !parse_sum(p, value))
			return false;
		return is_punct(p, ')') ? advance(p) : refuse(p, "lacks a )");
	}
	if (p->token.kind == WH_TOKEN_END)
		return refuse(p, "ends where a quantity is wanted");
	if (p->token.kind == WH_TOKEN_PUNCT)
		return refuse(p, "has a '%c' where a quantity is wanted", p->token.punct);
	return refuse(p, "has a comparison where a quantity is wanted");
}

static bool parse_unary(struct parser *p, struct wh_value *value)
{
	bool negative = is_punct(p, '-');
	bool fine;

	if (++p->depth > DEPTH_MAX)
		return refuse(p, "is too deep");
	if (!negative)
		fine = parse_primary(p, value);
	else
		fine = advance(p) && parse_unary(p, value) && is_quantity(p, value);
	if (fine && negative)
		value->x = -value->x;
	p->depth--;
	return fine;
}

static bool scale(struct parser *p, bool divide, struct wh_value *value, const struct wh_value *by)
{
	if (!is_quantity(p, value) || !is_quantity(p, by))
		return false;
	if (divide && by->kind == WH_VALUE_TIME) {
		if (value->kind != WH_VALUE_TIME)
			return refuse(p, "divides a number by a time; divide the time by 1s first");
		value->kind = WH_VALUE_NUMBER;
	} else if (!divide && by->kind == WH_VALUE_TIME) {
		if (value->kind == WH_VALUE_TIME)
			return refuse(p, "multiplies times; divide one by 1s first");
		value->kind = WH_VALUE_TIME;
	}
	value->x = divide ? value->x / by->x : value->x * by->x;
	value->of = NULL;
	return true;
}

static bool parse_product(struct parser *p, struct wh_value *value)
{
	struct wh_value by;

	if (!parse_unary(p, value))
		return false;
	while (is_punct(p, '*') || is_punct(p, '/')) {
		bool divide = is_punct(p, '/');

		if (!advance(p) || !parse_unary(p, &by) || !scale(p, divide, value, &by))
			return false;
	}
	return true;
}

static bool parse_sum(struct parser *p, struct wh_value *value)
{
	struct wh_value more;

	if (!parse_product(p, value))
		return false;
	while (is_punct(p, '+') || is_punct(p, '-')) {
		bool minus = is_punct(p, '-');

		if (!advance(p) || !parse_product(p, &more) || !same_kind(p, value, &more))
			return false;
		value->kind = joint_kind(value, &more);
		value->x += minus ? -more.x : more.x;
		value->of = NULL;
	}
	return true;
}

/* Compares words: one is a swept variable's, the other one must be among its values. */
static bool compare_words(struct parser *p, enum wh_sign sign, const struct wh_value *left,
	const struct wh_value *right, struct wh_compared *compared)
{
	const struct wh_value *swept = left->of != NULL ? left : right;
	const struct wh_value *written = left->of != NULL ? right : left;

	if (left->kind != right->kind)
		return refuse(p, "holds the word %s against a quantity",
			left->kind == WH_VALUE_WORD ? left->word : right->word);
	if (sign != WH_SIGN_EQUAL && sign != WH_SIGN_NOT_EQUAL)
		return refuse(
			p, "compares words by %s; == and != are for words", wh_sign_text(sign));
	if (swept->of == NULL)
		return refuse_name(p, written->word);

	bool among = written->of != NULL || swept->of->values == NULL;

	for (uint32_t i = 0; !among && i < swept->of->n_values; i++)
		among = strcmp(swept->of->values[i].word, written->word) == 0;
	if (!among)
		return refuse(p, "compares %s to '%s', which it never is", swept->of->name,
			written->word);
	*compared = (struct wh_compared){
		.left = strcmp(left->word, right->word) != 0, .right = 0.0, .sign = sign};
	return true;
}

static bool compare(struct parser *p, enum wh_sign sign, const struct wh_value *left,
	const struct wh_value *right, struct wh_compared *compared)
{
	if (left->kind == WH_VALUE_WORD || right->kind == WH_VALUE_WORD)
		return compare_words(p, sign, left, right, compared);
	*compared = (struct wh_compared){.left = left->x, .right = right->x, .sign = sign};
	return same_kind(p, left, right);
}

static bool parse_chain(struct parser *p, struct wh_compared *compared, uint32_t *count)
{
	struct wh_value left;
	struct wh_value right;

	if (!parse_sum(p, &left))
		return false;
	if (p->token.kind != WH_TOKEN_SIGN)
		return is_quantity(p, &left) &&
		       refuse(p, "is no comparison: it lacks one of < <= > >= == !=");
	while (p->token.kind == WH_TOKEN_SIGN) {
		enum wh_sign sign = p->token.sign;

		if (*count == WH_COMPARED_MAX)
			return refuse(p, "has more than %d comparisons", WH_COMPARED_MAX);
		if (!advance(p) || !parse_sum(p, &right) ||
			!compare(p, sign, &left, &right, &compared[(*count)++]))
			return false;
		left = right;
	}
	return true;
}

static bool parse_all(struct parser *p, struct wh_compared *compared, uint32_t *count)
{
	*count = 0;
	if (!parse_chain(p, compared, count))
		return false;
	while (is_word(p, "and"))
		if (!advance(p) || !parse_chain(p, compared, count))
			return false;
	return true;
}

static bool begin(struct parser *p, const struct wh_expr_scope *scope, const char *text, bool words,
	char wrong[WH_EXPR_WRONG_BYTES])
{
	*p = (struct parser){.scope = scope, .text = text, .wrong = wrong, .words = words};
	wrong[0] = '\0';
	return advance(p);
}

static bool end(struct parser *p)
{
	if (p->token.kind == WH_TOKEN_END)
		return true;
	return refuse(
		p, "is complete before '%s'", p->token_text[0] != '\0' ? p->token_text : "its end");
}

static bool parse_value(const struct wh_expr_scope *scope, const char *text, bool words,
	struct wh_value *value, char wrong[WH_EXPR_WRONG_BYTES])
{
	struct parser p;

	if (!begin(&p, scope, text, words, wrong) || !parse_sum(&p, value) || !end(&p))
		return false;
	return (words && value->kind == WH_VALUE_WORD) || is_quantity(&p, value);
}

bool wh_expr_quantity(const struct wh_expr_scope *scope, const char *text, struct wh_value *value,
	char wrong[WH_EXPR_WRONG_BYTES])
{
	return parse_value(scope, text, false, value, wrong);
}

bool wh_expr_value(const struct wh_expr_scope *scope, const char *text, struct wh_value *value,
	char wrong[WH_EXPR_WRONG_BYTES])
{
	return parse_value(scope, text, true, value, wrong);
}

bool wh_expr_expectation(const struct wh_expr_scope *scope, const char *text,
	struct wh_expectation *expectation, char wrong[WH_EXPR_WRONG_BYTES])
{
	struct wh_compared condition[WH_COMPARED_MAX];
	uint32_t n_conditions;
	struct parser p;

	expectation->applies = true;
	if (!begin(&p, scope, text, true, wrong) ||
		!parse_all(&p, expectation->compared, &expectation->n_compared))
		return false;
	if (!is_word(&p, "when"))
		return end(&p);
	if (!advance(&p) || !parse_all(&p, condition, &n_conditions) || !end(&p))
		return false;
	for (uint32_t i = 0; i < n_conditions; i++)
		expectation->applies &=
			wh_sign_holds(condition[i].sign, condition[i].left, condition[i].right);
	return true;
}
