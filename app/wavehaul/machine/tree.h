/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Reads the kernel's files about a machine in /proc and /sys, below a root: "" is this machine,
 * otherwise a copy. Paths are formats and begin with a slash. Tabs are read as blanks.
 */

#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The first line, trimmed; false: not readable, and line is "". */
bool wh_tree_line(const char *root, char *line, size_t room, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The first line as an integer, which may be negative; false: it is not one. */
bool wh_tree_number(const char *root, int64_t *number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The text after `key` and a colon or blanks, in the first line that begins with them. */
bool wh_tree_field(const char *root, char *value, size_t room, const char *path, const char *key);

/* The last name in a symbolic link's target: a driver, for example. */
bool wh_tree_link(const char *root, char *name, size_t room, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Whether it is a symbolic link with that target. */
bool wh_tree_links_to(const char *root, const char *wanted, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

bool wh_tree_exists(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether a line of the file contains `text`. */
bool wh_tree_contains(const char *root, const char *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The trimmed lines of a file, one after the other. */
struct wh_tree_lines {
	FILE *file; /* NULL: no such file, or all read */
	char *line;
	size_t room;
};

struct wh_tree_lines wh_tree_lines(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first words of the next line that has at least `count`; false after the last line. */
bool wh_tree_words(struct wh_tree_lines *lines, char **word, uint32_t count);

/* A folder's entries sorted by number. Free with wh_tree_list_free. */
struct wh_tree_list {
	struct dirent **entry;
	int count; /* 0 if there is no such folder */
};

struct wh_tree_list wh_tree_list(const char *root, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void wh_tree_list_free(struct wh_tree_list *list);

/* Lists of CPUs or nodes as the kernel writes them: "0-3,8". An invalid list is the empty set. */
void wh_cpus_parse(const char *text, cpu_set_t *cpus);

/* Written to `text`, which is also returned; ends with ",..." if the room is too small. */
#define WH_CPUS_TEXT_MAX 120
const char *wh_cpus_format(char *text, size_t room, const cpu_set_t *cpus);
