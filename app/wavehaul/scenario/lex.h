/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SIM_LEX_H
#define WH_APP_SIM_LEX_H

#include "scenario/expr.h"

/* The next thing in the text of an expression. */

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

/* `*text` moves behind it, and blanks behind that. */
void wh_lex(const char **text, struct wh_token *token, char wrong[WH_EXPR_WRONG_BYTES]);

/*
 * The next item of a list, without blanks at its ends and cut to WH_ITEM_BYTES; *list moves behind
 * the sign, and is NULL behind the last. Signs within parentheses do not count. False: no more.
 */
#define WH_ITEM_BYTES 512
bool wh_lex_item(const char **list, char sign, char item[WH_ITEM_BYTES]);

bool wh_lex_is_unit(const char *name);

#endif
