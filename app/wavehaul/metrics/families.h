/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The families of figures for a monitoring system. Each is taken from an answer on the control
 * socket: the table names the member and the answer, so that both always agree.
 */

#include <stdint.h>

enum wh_family_type {
	WH_FAMILY_COUNTER, /* never falls; its name ends in _total */
	WH_FAMILY_GAUGE,
	WH_FAMILY_INFO, /* 1, and texts as labels; its name ends in _info */
};

/* A request, and the member of its answer to read; "": the answer itself. */
struct wh_family_source {
	const char *name;
	const char *request;
	const char *member;
};

struct wh_metric_family {
	const char *name; /* without _total and _info; ends in the unit */
	const char *unit; /* base unit, or "" */
	const char *help; /* one line */
	const char *from; /* a source's name */
	/*
	 * A member of the source; with a '*' each member that matches, and the text for the '*' is
	 * the label's value. The member of an INFO is a text, in the label named `label`.
	 */
	const char *key;
	const char *label; /* label for '*' */
	const char *each;  /* the source has several objects, named by this label; NULL: one */
	uint8_t type;      /* enum wh_family_type */
	double scale;      /* factor to the base unit; 0: unchanged */
};

extern const struct wh_family_source wh_family_sources[];
extern const uint32_t wh_family_sources_count;
extern const struct wh_metric_family wh_families[];
extern const uint32_t wh_families_count;

/* The source's index. */
uint32_t wh_family_source_find(const char *name);
