/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "scenario/expr.h"

/* The next token of an expression. */

enum wh_token_kind {
	WH_TOKEN_END,
	WH_TOKEN_VALUE,
	WH_TOKEN_NAME,
	WH_TOKEN_SIGN,  /* of a comparison */
	WH_TOKEN_PUNCT, /* one of ( ) + - * / */
	WH_TOKEN_WRONG,
};

struct wh_token {
	enum wh_token_kind kind;
	struct wh_value value;
	char name[WH_WORD_BYTES];
	enum wh_sign sign;
	char punct;
};

/* `*text` moves after the token and the blanks that follow it. */
void wh_lex(const char **text, struct wh_token *token, char wrong[WH_EXPR_WRONG_BYTES]);

/*
 * The next item of a list, trimmed and truncated to WH_ITEM_BYTES; *list moves after the sign, and
 * is NULL after the last item. Signs within parentheses do not count. False: no more.
 */
#define WH_ITEM_BYTES 512
bool wh_lex_item(const char **list, char sign, char item[WH_ITEM_BYTES]);

bool wh_lex_is_unit(const char *name);
