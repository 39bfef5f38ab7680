/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The figures for people: one page without scripts, made of the control socket's answers. It shows
 * no file names, because any client that reaches the port may read it; names chosen by peers and
 * operators are escaped.
 */

#include <stdio.h>

#include <jansson.h>

#define WH_PAGE_TYPE "text/html; charset=utf-8"

/* Asks for the control socket's answer to a request: a new reference, or NULL. */
struct wh_page_asker {
	json_t *(*ask)(void *context, const char *request);
	void *context;
};

void wh_page_write(FILE *to, const struct wh_page_asker *asker);
