/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/tree.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/units.h"

/* "" if it would be too long: then nothing is found. */
static void join(char path[PATH_MAX], const char *root, const char *format, va_list args)
{
	size_t used = strlen(root);

	path[0] = '\0';
	if (used + 1 >= PATH_MAX)
		return;
	memcpy(path, root, used);

	int length = vsnprintf(path + used, PATH_MAX - used, format, args);

	WH_ASSERT(path[used] == '/');
	if (used + (size_t)length >= PATH_MAX)
		path[0] = '\0';
}

/* Begins every function with a format. */
#define JOIN(path, root, format)                                                                   \
	do {                                                                                       \
		va_list args;                                                                      \
                                                                                                   \
		va_start(args, format);                                                            \
		join(path, root, format, args);                                                    \
		va_end(args);                                                                      \
	} while (0)

/* In place; returns the new beginning. */
static char *trim(char *text)
{
	size_t length = strlen(text);

	for (char *tab = text; (tab = strchr(tab, '\t')) != NULL;)
		*tab = ' ';

	while (length > 0 && text[length - 1] == ' ')
		text[--length] = '\0';
	while (*text == ' ')
		text++;
	return text;
}

/* O_NONBLOCK: a pipe in a copied tree must not block. */
static struct wh_tree_lines open_lines(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct wh_tree_lines lines = {.file = fd < 0 ? NULL : fdopen(fd, "r")};

	if (fd >= 0 && lines.file == NULL)
		close(fd);
	return lines;
}

struct wh_tree_lines wh_tree_lines(const char *root, const char *format, ...)
{
	char path[PATH_MAX];

	JOIN(path, root, format);
	return open_lines(path);
}

static void close_lines(struct wh_tree_lines *lines)
{
	if (lines->file != NULL)
		fclose(lines->file);
	free(lines->line);
	*lines = (struct wh_tree_lines){0};
}

/* The next line; NULL after the last. A caller that stops earlier must close the lines. */
static char *next_line(struct wh_tree_lines *lines)
{
	if (lines->file == NULL || getline(&lines->line, &lines->room, lines->file) < 0) {
		close_lines(lines);
		return NULL;
	}
	lines->line[strcspn(lines->line, "\n")] = '\0';
	return trim(lines->line);
}

bool wh_tree_words(struct wh_tree_lines *lines, char **word, uint32_t count)
{
	char *line;

	while ((line = next_line(lines)) != NULL) {
		uint32_t found = 0;

		while (found < count && (word[found] = strsep(&line, " ")) != NULL)
			found += word[found][0] != '\0';
		if (found == count)
			return true;
	}
	return false;
}

static bool first_line(const char *path, char *line, size_t room)
{
	struct wh_tree_lines lines = open_lines(path);
	const char *text = next_line(&lines);

	snprintf(line, room, "%s", text == NULL ? "" : text);
	close_lines(&lines);
	return text != NULL;
}

bool wh_tree_line(const char *root, char *line, size_t room, const char *format, ...)
{
	char path[PATH_MAX];

	JOIN(path, root, format);
	return first_line(path, line, room);
}

/* "-1", "42" or "0x8086". */
static bool read_number(const char *text, int64_t *number)
{
	bool negative = *text == '-';
	const char *digits = text + negative;
	bool hex = digits[0] == '0' && digits[1] == 'x';
	uint64_t value;
	const char *end = hex ? wh_scan_hex(digits + 2, &value) : wh_scan_count(digits, &value);

	if (end == NULL || *end != '\0' || value > INT64_MAX)
		return false;
	*number = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

bool wh_tree_number(const char *root, int64_t *number, const char *format, ...)
{
	char path[PATH_MAX];
	char line[32];

	JOIN(path, root, format);
	if (!first_line(path, line, sizeof(line)) || line[0] == '\0')
		return false;
	return read_number(line, number);
}

bool wh_tree_field(const char *root, char *value, size_t room, const char *path, const char *key)
{
	struct wh_tree_lines lines = wh_tree_lines(root, "%s", path);
	size_t length = strlen(key);
	bool found = false;
	char *line;

	WH_ASSERT(room > 0 && key[0] != '\0');
	value[0] = '\0';
	while (!found && (line = next_line(&lines)) != NULL) {
		size_t blanks = strncmp(line, key, length) == 0 ? strspn(line + length, " ") : 0;
		char *after = line + length + blanks;

		found = strncmp(line, key, length) == 0 && (*after == ':' || blanks > 0);
		if (found)
			snprintf(value, room, "%s", trim(after + (*after == ':')));
	}
	close_lines(&lines);
	return found;
}

bool wh_tree_links_to(const char *root, const char *wanted, const char *format, ...)
{
	char path[PATH_MAX];
	char target[PATH_MAX];

	JOIN(path, root, format);

	ssize_t length = readlink(path, target, sizeof(target));

	return length == (ssize_t)strlen(wanted) && memcmp(target, wanted, (size_t)length) == 0;
}

bool wh_tree_link(const char *root, char *name, size_t room, const char *format, ...)
{
	char path[PATH_MAX];
	char target[PATH_MAX];

	JOIN(path, root, format);

	ssize_t length = readlink(path, target, sizeof(target) - 1);

	target[length < 0 ? 0 : length] = '\0';

	const char *slash = strrchr(target, '/');

	snprintf(name, room, "%s", slash == NULL ? target : slash + 1);
	return name[0] != '\0';
}

bool wh_tree_exists(const char *root, const char *format, ...)
{
	char path[PATH_MAX];

	JOIN(path, root, format);
	return access(path, F_OK) == 0;
}

bool wh_tree_contains(const char *root, const char *text, const char *format, ...)
{
	char path[PATH_MAX];
	const char *line = "";

	JOIN(path, root, format);

	struct wh_tree_lines lines = open_lines(path);

	while (line != NULL && strstr(line, text) == NULL)
		line = next_line(&lines);
	close_lines(&lines);
	return line != NULL;
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

struct wh_tree_list wh_tree_list(const char *root, const char *format, ...)
{
	struct wh_tree_list list = {0};
	char path[PATH_MAX];

	JOIN(path, root, format);

	int count = scandir(path, &list.entry, not_hidden, versionsort);

	if (count > 0)
		list.count = count;
	else if (count == 0)
		free(list.entry);
	return list;
}

void wh_tree_list_free(struct wh_tree_list *list)
{
	if (list->count == 0)
		return;
	for (int i = 0; i < list->count; i++)
		free(list->entry[i]);
	free(list->entry);
	*list = (struct wh_tree_list){0};
}

void wh_cpus_parse(const char *text, cpu_set_t *cpus)
{
	uint64_t first;
	uint64_t last;

	CPU_ZERO(cpus);
	while ((text = wh_scan_count(text, &first)) != NULL) {
		last = first;
		if (*text == '-')
			text = wh_scan_count(text + 1, &last);
		for (uint64_t cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, cpus);
		if (text == NULL || *text++ != ',')
			return;
	}
}

const char *wh_cpus_format(char *text, size_t room, const cpu_set_t *cpus)
{
	static const char more[] = ",...";
	size_t used = 0;

	WH_ASSERT(room >= sizeof(more));
	text[0] = '\0';
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		int last = cpu;
		char range[32];

		if (!CPU_ISSET(cpu, cpus))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, cpus))
			last++;

		const char *comma = used == 0 ? "" : ",";

		int length = last == cpu
				     ? snprintf(range, sizeof(range), "%s%d", comma, cpu)
				     : snprintf(range, sizeof(range), "%s%d-%d", comma, cpu, last);

		if (used + (size_t)length + sizeof(more) > room) {
			strcpy(text + used, used == 0 ? more + 1 : more);
			return text;
		}
		memcpy(text + used, range, (size_t)length + 1);
		used += (size_t)length;
		cpu = last;
	}
	return text;
}
