/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SIM_INI_H
#define WH_APP_SIM_INI_H

/*
 * The lines of a scenario, and what --set puts in their place. Each entry knows where it comes
 * from, so that whoever refuses it can say so.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wh_ini_entry {
	char *key;
	char *value;
	char *where; /* "FILE:LINE", "--set ..." */
	bool set;    /* by --set */
	bool used;   /* by whoever understands it; to find those that nobody does */
};

#define WH_INI_ASKED_MAX 64

enum wh_ini_kind {
	WH_INI_SCENARIO,
	WH_INI_SWEEP,
	WH_INI_REPORT,
	WH_INI_EXPECT,
	WH_INI_LINK,
	WH_INI_FLOW,
	WH_INI_KINDS,
};

struct wh_ini_section {
	enum wh_ini_kind kind;
	char *name; /* of a link or flow; "" of others */
	char *where;
	struct wh_ini_entry *entries;
	uint32_t n_entries;
	const char *asked[WH_INI_ASKED_MAX]; /* keys that somebody looked for: those there may be */
	uint32_t n_asked;
};

/* The first four sections are always there, in the order of their kinds; then those of the file. */
struct wh_ini {
	char *path;
	struct wh_ini_section *sections;
	uint32_t n_sections;
};

/* -1, or the exit status after a complaint; to be freed either way. */
int wh_ini_read(struct wh_ini *ini, const char *path);
int wh_ini_parse(struct wh_ini *ini, const char *path, const char *text, size_t bytes);
void wh_ini_free(struct wh_ini *ini);

/* SECTION.KEY=VALUE in place of what the file says, or beside it. */
int wh_ini_set(struct wh_ini *ini, const char *setting);

/* NULL when it is not there. */
struct wh_ini_entry *wh_ini_find(const struct wh_ini_section *section, const char *key);

/* As its head is written: "link A-B". */
const char *wh_ini_section_text(const struct wh_ini_section *section, char *text, size_t room);

#endif
