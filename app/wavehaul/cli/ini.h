/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_INI_H
#define WH_APP_INI_H

/*
 * Files of [section], key = value and # comment, and what --set puts in their place; "\#" is the
 * sign itself. Each entry knows where it comes from, so that whoever refuses it can say so.
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

/* Sections of one kind: one without a name, or any number with names, [link A-B]. */
struct wh_ini_kind {
	const char *word;
	const char *name; /* an example; NULL: it has none */
};

/* What a file may have. */
struct wh_ini_form {
	const char *what; /* the file is, in a complaint that it cannot be read */
	const char *else_do;
	const struct wh_ini_kind *kinds; /* those without a name first */
	uint32_t n_kinds;
	uint32_t n_unnamed;
	bool utf8;                                                /* and no other text */
	bool (*may_repeat)(const char *section, const char *key); /* NULL: no key may */
};

#define WH_INI_ASKED_MAX 128

struct wh_ini_section {
	uint32_t kind; /* of the form */
	const char *word;
	char *name; /* "" of a kind without */
	char *head; /* as it is written: "link A-B" */
	char *where;
	struct wh_ini_entry *entries;
	uint32_t n_entries;
	const char *asked[WH_INI_ASKED_MAX]; /* keys that somebody looked for: those there may be */
	uint32_t n_asked;
};

/* The sections without a name are always there, in the order of their kinds; then those named. */
struct wh_ini {
	const struct wh_ini_form *form;
	char *path;
	struct wh_ini_section *sections;
	uint32_t n_sections;
};

/* -1, or the exit status after a complaint; to be freed either way. */
int wh_ini_read(struct wh_ini *ini, const struct wh_ini_form *form, const char *path);
int wh_ini_parse(struct wh_ini *ini, const struct wh_ini_form *form, const char *path,
	const char *text, size_t bytes);
void wh_ini_free(struct wh_ini *ini);

/* In place of what the section says, or beside it. */
void wh_ini_put(
	struct wh_ini_section *section, const char *key, const char *value, const char *where);

/* SECTION.KEY=VALUE in place of what the file says, or beside it. */
int wh_ini_set(struct wh_ini *ini, const char *setting);

/* NULL when it is not there. */
struct wh_ini_entry *wh_ini_find(const struct wh_ini_section *section, const char *key);

#endif
