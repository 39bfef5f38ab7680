/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_METRICS_PAGE_H
#define WH_METRICS_PAGE_H

/*
 * The figures for people: one page without a script, of what the control socket answers. Names of
 * files are not on it, for whoever reaches the port may read it; what peers and operators have
 * named is escaped.
 */

#include <stdio.h>

#include <jansson.h>

#define WH_PAGE_TYPE "text/html; charset=utf-8"

/* What a request on the control socket is answered: a new reference, or NULL. */
struct wh_page_asker {
	json_t *(*ask)(void *context, const char *request);
	void *context;
};

void wh_page_write(FILE *to, const struct wh_page_asker *asker);

#endif
