/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/lex.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *name;
	enum wh_value_kind kind;
	double factor;
	bool divides; /* divide by the factor, so that 1ns is the double nearest to 1e-9 */
} units[] = {
	{"ns", WH_VALUE_TIME, 1e9, true},
	{"us", WH_VALUE_TIME, 1e6, true},
	{"ms", WH_VALUE_TIME, 1e3, true},
	{"s", WH_VALUE_TIME, 1.0, false},
	{"K", WH_VALUE_NUMBER, 1e3, false},
	{"M", WH_VALUE_NUMBER, 1e6, false},
	{"G", WH_VALUE_NUMBER, 1e9, false},
	{"T", WH_VALUE_NUMBER, 1e12, false},
	{"KiB", WH_VALUE_NUMBER, 0x1p10, false},
	{"MiB", WH_VALUE_NUMBER, 0x1p20, false},
	{"GiB", WH_VALUE_NUMBER, 0x1p30, false},
	{"TiB", WH_VALUE_NUMBER, 0x1p40, false},
	{"%", WH_VALUE_NUMBER, 100.0, true},
};

/* Longer signs first. */
static const struct {
	const char *text;
	enum wh_sign sign;
} signs[] = {
	{"<=", WH_SIGN_LESS_OR_EQUAL},
	{">=", WH_SIGN_GREATER_OR_EQUAL},
	{"==", WH_SIGN_EQUAL},
	{"!=", WH_SIGN_NOT_EQUAL},
	{"<", WH_SIGN_LESS},
	{">", WH_SIGN_GREATER},
};

bool wh_lex_is_unit(const char *name)
{
	for (size_t i = 0; i < LENGTH(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return true;
	return false;
}

const char *wh_sign_text(enum wh_sign sign)
{
	for (size_t i = 0; i < LENGTH(signs); i++)
		if (signs[i].sign == sign)
			return signs[i].text;
	return "?";
}

static void lex_value(const char **text, struct wh_token *token, char wrong[WH_EXPR_WRONG_BYTES])
{
	const char *begin = *text;
	const char *name = wh_scan_number(begin, &token->value.x);
	const char *stop = name == NULL ? begin : name;
	char unit[WH_WORD_BYTES];

	while (isalnum((unsigned char)*stop) || *stop == '%' || *stop == '_' || *stop == '.')
		stop++;
	*text = stop;
	token->kind = name == NULL ? WH_TOKEN_WRONG : WH_TOKEN_VALUE;
	token->value.kind = WH_VALUE_NUMBER;
	if (name == NULL)
		snprintf(wrong, WH_EXPR_WRONG_BYTES, "has '%.*s', which is no number within bounds",
			(int)(stop - begin), begin);
	if (name == NULL || name == stop)
		return;
	snprintf(unit, sizeof(unit), "%.*s", (int)(stop - name), name);
	for (size_t i = 0; i < LENGTH(units); i++) {
		if (strcmp(unit, units[i].name) != 0)
			continue;
		token->value.kind = units[i].kind;
		if (units[i].divides)
			token->value.x /= units[i].factor;
		else
			token->value.x *= units[i].factor;
		return;
	}
	token->kind = WH_TOKEN_WRONG;
	snprintf(wrong, WH_EXPR_WRONG_BYTES,
		"has '%.*s', and '%s' is no unit; units are ns us ms s, K M G T, KiB MiB GiB TiB, "
		"%%",
		(int)(stop - begin), begin, unit);
}

static void lex_name(const char **text, struct wh_token *token)
{
	const char *stop = *text;

	while (isalnum((unsigned char)*stop) || *stop == '_')
		stop++;
	snprintf(token->name, sizeof(token->name), "%.*s", (int)(stop - *text), *text);
	token->kind = WH_TOKEN_NAME;
	*text = stop;
}

static bool lex_sign(const char **text, struct wh_token *token)
{
	for (size_t i = 0; i < LENGTH(signs); i++) {
		size_t chars = strlen(signs[i].text);

		if (strncmp(*text, signs[i].text, chars) != 0)
			continue;
		token->kind = WH_TOKEN_SIGN;
		token->sign = signs[i].sign;
		*text += chars;
		return true;
	}
	return false;
}

void wh_lex(const char **text, struct wh_token *token, char wrong[WH_EXPR_WRONG_BYTES])
{
	*text += strspn(*text, " \t");
	*token = (struct wh_token){.kind = WH_TOKEN_END};
	if (**text == '\0')
		return;
	if (isdigit((unsigned char)**text)) {
		lex_value(text, token, wrong);
	} else if (isalpha((unsigned char)**text) || **text == '_') {
		lex_name(text, token);
	} else if (!lex_sign(text, token)) {
		token->kind = strchr("()+-*/,", **text) != NULL ? WH_TOKEN_PUNCT : WH_TOKEN_WRONG;
		token->punct = **text;
		if (token->kind == WH_TOKEN_WRONG)
			snprintf(wrong, WH_EXPR_WRONG_BYTES, "has a '%c' that means nothing here",
				**text);
		++*text;
	}
	*text += strspn(*text, " \t");
}

bool wh_lex_item(const char **list, char sign, char item[WH_ITEM_BYTES])
{
	const char *begin = *list;
	const char *stop = begin;
	int open = 0;

	if (begin == NULL)
		return false;
	for (; *stop != '\0' && (*stop != sign || open > 0); stop++) {
		if (*stop == '(')
			open++;
		else if (*stop == ')')
			open--;
	}
	*list = *stop == sign ? stop + 1 : NULL;
	while (begin < stop && isblank((unsigned char)*begin))
		begin++;
	while (stop > begin && isblank((unsigned char)stop[-1]))
		stop--;
	snprintf(item, WH_ITEM_BYTES, "%.*s", (int)(stop - begin), begin);
	return true;
}
