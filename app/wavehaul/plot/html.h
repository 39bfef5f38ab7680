/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Tables of a page of HTML without scripts that renews itself, made of JSON. Names chosen by peers,
 * files and operators are escaped.
 */

#include <stdio.h>

#include <jansson.h>

enum wh_html_kind {
	WH_HTML_WORD,
	WH_HTML_COUNT,
	WH_HTML_BYTES,
	WH_HTML_BPS,
	WH_HTML_SECONDS,
};

struct wh_html_column {
	const char *key;
	const char *title;
	enum wh_html_kind kind;
};

#define WH_HTML_COLUMNS_MAX 10

struct wh_html_table {
	const char *title;
	const char *none; /* shown if there is no row */
	struct wh_html_column column[WH_HTML_COLUMNS_MAX];
};

/* A browser asks for it again after so many seconds. */
void wh_html_begin(FILE *to, const char *title, unsigned int again_s);
void wh_html_end(FILE *to);

void wh_html_escaped(FILE *to, const char *text);

/* `rows`: a list of objects, or an object of them, whose keys are the first column. */
void wh_html_table(FILE *to, const struct wh_html_table *table, const json_t *rows);
