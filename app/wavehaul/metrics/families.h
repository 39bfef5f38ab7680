/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_METRICS_FAMILIES_H
#define WH_METRICS_FAMILIES_H

/*
 * The families of figures that a monitoring system reads. Each is what a request on the control
 * socket is answered: the table says which member of which answer, so that the two cannot tell two
 * stories.
 */

#include <stdint.h>

enum wh_family_type {
	WH_FAMILY_COUNTER, /* never falls; its name ends in _total */
	WH_FAMILY_GAUGE,
	WH_FAMILY_INFO, /* 1, and texts as labels; its name ends in _info */
};

/* What is asked, and the member of the answer that is read: "": the answer itself. */
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
	/* A member there; with a '*' each that fits, and what is in its place is the label's value.
	 * The member of an INFO is a text, and its label has the name of `label`. */
	const char *key;
	const char *label; /* of '*' */
	const char *each;  /* the source has objects, as labels by this name; NULL: it has none */
	uint8_t type;      /* enum wh_family_type */
	double scale;      /* to the base unit; 0: as it is */
};

extern const struct wh_family_source wh_family_sources[];
extern const uint32_t wh_family_sources_count;
extern const struct wh_metric_family wh_families[];
extern const uint32_t wh_families_count;

/* Its number. */
uint32_t wh_family_source_find(const char *name);

#endif
