/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Files of [section], key = value and # comment, and values of --set that replace theirs; "\#" is a
 * literal #. Each entry has its origin, for messages.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wh_ini_entry {
	char *key;
	char *value;
	char *where; /* "FILE:LINE", "--set ..." */
	bool set;    /* by --set */
	bool used;   /* by code that knows the key; to find unknown keys */
};

/* Sections of one kind: a single one without a name, or any number with names, [link A-B]. */
struct wh_ini_kind {
	const char *word;
	const char *name; /* an example; NULL: it has none */
};

/* The valid contents of a file. */
struct wh_ini_form {
	const char *what; /* kind of file, for the message that it cannot be read */
	const char *else_do;
	const struct wh_ini_kind *kinds; /* those without a name first */
	uint32_t n_kinds;
	uint32_t n_unnamed;
	bool utf8;                                                /* only UTF-8 text is valid */
	bool (*may_repeat)(const char *section, const char *key); /* NULL: no key may */
};

#define WH_INI_ASKED_MAX 128

struct wh_ini_section {
	uint32_t kind; /* index in the form */
	const char *word;
	char *name; /* "" for a kind without names */
	char *head; /* as written: "link A-B" */
	char *where;
	struct wh_ini_entry *entries;
	uint32_t n_entries;
	const char *asked[WH_INI_ASKED_MAX]; /* keys that were looked up: the valid ones */
	uint32_t n_asked;
};

/* The unnamed sections always exist, in the order of their kinds; the named ones follow. */
struct wh_ini {
	const struct wh_ini_form *form;
	char *path;
	struct wh_ini_section *sections;
	uint32_t n_sections;
};

/* -1, or the exit status after a complaint; free it in both cases. */
int wh_ini_read(struct wh_ini *ini, const struct wh_ini_form *form, const char *path);
int wh_ini_parse(struct wh_ini *ini, const struct wh_ini_form *form, const char *path,
	const char *text, size_t bytes);
void wh_ini_free(struct wh_ini *ini);

/* Replaces the section's value, or adds the key. */
void wh_ini_put(
	struct wh_ini_section *section, const char *key, const char *value, const char *where);

/* SECTION.KEY=VALUE replaces the file's value, or adds the key. */
int wh_ini_set(struct wh_ini *ini, const char *setting);

/* NULL: not there. */
struct wh_ini_entry *wh_ini_find(const struct wh_ini_section *section, const char *key);
