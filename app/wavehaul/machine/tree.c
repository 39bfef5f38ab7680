/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/units.h"

/* "" when it would be too long: then nothing is found there. */
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

static void join_path(char path[PATH_MAX], const char *root, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	join(path, root, format, args);
	va_end(args);
}

/* In place; returns where the text now begins. */
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

/* A pipe in a copied tree must not hold us up. */
static FILE *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");

	if (fd >= 0 && file == NULL)
		close(fd);
	return file;
}

static char *next_line(FILE *file, char **line, size_t *room)
{
	if (getline(line, room, file) < 0)
		return NULL;
	(*line)[strcspn(*line, "\n")] = '\0';
	return trim(*line);
}

static bool first_line(const char *path, char *line, size_t room)
{
	FILE *file = open_file(path);
	char *buffer = NULL;
	size_t buffer_room = 0;
	char *text = file == NULL ? NULL : next_line(file, &buffer, &buffer_room);

	snprintf(line, room, "%s", text == NULL ? "" : text);
	free(buffer);
	if (file != NULL)
		fclose(file);
	return text != NULL;
}

bool wh_tree_line(const char *root, char *line, size_t room, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	join(path, root, format, args);
	va_end(args);
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
	va_list args;

	va_start(args, format);
	join(path, root, format, args);
	va_end(args);
	if (!first_line(path, line, sizeof(line)) || line[0] == '\0')
		return false;
	return read_number(line, number);
}

struct field {
	const char *key;
	char *value;
	size_t room;
	bool found;
};

static void match_field(void *context, char *line)
{
	struct field *field = context;
	size_t length = strlen(field->key);

	if (field->found || strncmp(line, field->key, length) != 0)
		return;

	char *after = line + length;

	after += strspn(after, " ");
	if (*after == ':')
		after++;
	else if (after == line + length)
		return;
	snprintf(field->value, field->room, "%s", trim(after));
	field->found = true;
}

bool wh_tree_field(const char *root, char *value, size_t room, const char *path, const char *key)
{
	struct field field = {.key = key, .value = value, .room = room};

	WH_ASSERT(room > 0 && key[0] != '\0');
	value[0] = '\0';
	wh_tree_each_line(root, path, match_field, &field);
	return field.found;
}

bool wh_tree_link(const char *root, char *name, size_t room, const char *format, ...)
{
	char path[PATH_MAX];
	char target[PATH_MAX];
	va_list args;

	va_start(args, format);
	join(path, root, format, args);
	va_end(args);

	ssize_t length = readlink(path, target, sizeof(target) - 1);

	target[length < 0 ? 0 : length] = '\0';

	const char *slash = strrchr(target, '/');

	snprintf(name, room, "%s", slash == NULL ? target : slash + 1);
	return name[0] != '\0';
}

bool wh_tree_exists(const char *root, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	join(path, root, format, args);
	va_end(args);
	return access(path, F_OK) == 0;
}

static void each_line(const char *path, void (*visit)(void *context, char *line), void *context)
{
	FILE *file = open_file(path);
	char *buffer = NULL;
	size_t room = 0;
	char *line;

	if (file == NULL)
		return;
	while ((line = next_line(file, &buffer, &room)) != NULL)
		visit(context, line);
	free(buffer);
	fclose(file);
}

struct needle {
	const char *text;
	bool found;
};

static void find_needle(void *context, char *line)
{
	struct needle *needle = context;

	needle->found = needle->found || strstr(line, needle->text) != NULL;
}

bool wh_tree_contains(const char *root, const char *text, const char *format, ...)
{
	struct needle needle = {.text = text};
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	join(path, root, format, args);
	va_end(args);
	each_line(path, find_needle, &needle);
	return needle.found;
}

void wh_tree_each_line(
	const char *root, const char *path, void (*visit)(void *context, char *line), void *context)
{
	char full[PATH_MAX];

	WH_ASSERT(path[0] == '/');
	join_path(full, root, "/%s", path + 1);
	each_line(full, visit, context);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

struct wh_tree_list wh_tree_list(const char *root, const char *format, ...)
{
	struct wh_tree_list list = {0};
	char path[PATH_MAX];
	va_list args;

	va_start(args, format);
	join(path, root, format, args);
	va_end(args);

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
