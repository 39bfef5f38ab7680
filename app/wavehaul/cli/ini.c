/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/ini.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/nearest/nearest.h"

#define FILE_BYTES_MAX (1 << 20)
#define KNOWN_BYTES    512

/* Out of memory ends the program: nothing has begun yet. */
static void *insist(void *memory)
{
	if (memory == NULL) {
		wh_complain("out of memory while reading a settings file");
		exit(WH_EXIT_OTHER);
	}
	return memory;
}

static char *copy(const char *text)
{
	return insist(strdup(text));
}

__attribute__((format(printf, 1, 2))) static char *make_text(const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return insist(text);
}

/* Trims the text, in place. */
static char *strip(char *text)
{
	size_t chars;

	text += strspn(text, " \t");
	chars = strlen(text);
	while (chars > 0 && isblank((unsigned char)text[chars - 1]))
		chars--;
	text[chars] = '\0';
	return text;
}

struct wh_ini_entry *wh_ini_find(const struct wh_ini_section *section, const char *key)
{
	for (uint32_t i = 0; i < section->n_entries; i++)
		if (strcmp(section->entries[i].key, key) == 0)
			return &section->entries[i];
	return NULL;
}

static void add_section(struct wh_ini *ini, uint32_t kind, const char *name, const char *where)
{
	const char *word = ini->form->kinds[kind].word;
	size_t bytes = (ini->n_sections + 1) * sizeof(*ini->sections);
	bool unnamed = kind < ini->form->n_unnamed;

	/* The unnamed sections are at their kinds' indices. */
	WH_ASSERT(kind < ini->form->n_kinds && (!unnamed || kind == ini->n_sections));
	WH_ASSERT(unnamed == (name[0] == '\0'));
	ini->sections = insist(realloc(ini->sections, bytes));
	ini->sections[ini->n_sections++] = (struct wh_ini_section){
		.kind = kind,
		.word = word,
		.name = copy(name),
		.head = make_text("%s%s%s", word, unnamed ? "" : " ", name),
		.where = copy(where),
	};
}

static struct wh_ini_entry *add_entry(struct wh_ini_section *section, const char *key)
{
	size_t bytes = (section->n_entries + 1) * sizeof(*section->entries);

	section->entries = insist(realloc(section->entries, bytes));
	section->entries[section->n_entries] = (struct wh_ini_entry){.key = copy(key)};
	return &section->entries[section->n_entries++];
}

/* Finds a section by its head; NULL: there is none. */
static struct wh_ini_section *find_section(struct wh_ini *ini, const char *head)
{
	for (uint32_t i = 0; i < ini->n_sections; i++)
		if (strcmp(ini->sections[i].head, head) == 0)
			return &ini->sections[i];
	return NULL;
}

/* Position while reading. */
struct reader {
	struct wh_ini *ini;
	uint32_t line;
	char *where;
	int64_t section; /* -1: before the first */
};

/* Always false. */
static bool refuse(const struct reader *reader, const char *why)
{
	return wh_fail(false, "%s: %s", reader->where, why);
}

/* Always false. */
static bool refuse_section(const struct reader *reader, const char *word, const char *name)
{
	const struct wh_ini_form *form = reader->ini->form;
	struct wh_nearest nearest = {.typed = word};
	char text[WH_NEAREST_TEXT_BYTES];
	char known[KNOWN_BYTES] = "the sections are ";

	for (uint32_t i = 0; i < form->n_kinds; i++) {
		const struct wh_ini_kind *kind = &form->kinds[i];
		size_t used = strlen(known);

		if (strcmp(word, kind->word) != 0)
			wh_nearest_try(&nearest, kind->word);

		snprintf(known + used, sizeof(known) - used, "%s%s%s%s", i > 0 ? ", " : "",
			kind->word, kind->name != NULL ? " " : "",
			kind->name != NULL ? kind->name : "");
	}
	return wh_fail(false, "%s: there is no section [%s%s%s]; %s", reader->where, word,
		name[0] != '\0' ? " " : "", name, wh_nearest_text(&nearest, "", known, text));
}

/* A section that exists already is continued. */
static bool open_section(struct reader *reader, char *word)
{
	struct wh_ini *ini = reader->ini;
	char *name = word + strcspn(word, " \t");
	uint32_t kind = 0;

	if (*name != '\0')
		*name++ = '\0';
	name = strip(name);
	while (kind < ini->form->n_kinds && strcmp(ini->form->kinds[kind].word, word) != 0)
		kind++;
	if (kind == ini->form->n_kinds || (kind < ini->form->n_unnamed) != (name[0] == '\0'))
		return refuse_section(reader, word, name);
	if (kind < ini->form->n_unnamed) {
		reader->section = kind;
		return true;
	}

	char *head = make_text("%s %s", word, name);

	if (find_section(ini, head) == NULL)
		add_section(ini, kind, name, reader->where);
	reader->section = find_section(ini, head) - ini->sections;
	free(head);
	return true;
}

static bool put_line(struct reader *reader, const char *key, const char *value)
{
	const struct wh_ini_form *form = reader->ini->form;
	struct wh_ini_section *section = &reader->ini->sections[reader->section];

	WH_ASSERT(reader->section < reader->ini->n_sections);

	bool repeats = form->may_repeat != NULL && form->may_repeat(section->word, key);
	const struct wh_ini_entry *before = repeats ? NULL : wh_ini_find(section, key);

	if (before != NULL)
		return wh_fail(false, "%s: %s is already set at %s; remove one of the two",
			reader->where, key, before->where);

	struct wh_ini_entry *entry = add_entry(section, key);

	entry->value = copy(value);
	entry->where = copy(reader->where);
	return true;
}

static bool take_entry(struct reader *reader, char *text)
{
	char *value = strchr(text, '=');

	if (value == NULL)
		return refuse(
			reader, *text == ';' ? "this is not a comment: comments begin with #"
					     : "expected a [section], key = value, or a # comment");
	*value++ = '\0';
	text = strip(text);
	value = strip(value);
	if (text[0] == '\0')
		return refuse(reader, "there is no key before the =");
	if (value[0] == '\0')
		return refuse(
			reader, "the value is missing; add one, or comment the line out with #");
	if (reader->section >= 0)
		return put_line(reader, text, value);
	return wh_fail(false, "%s: a [section] must come before, for example [%s]", reader->where,
		reader->ini->form->kinds[0].word);
}

/* Ends the line at the comment; "\#" becomes "#". */
static void cut_comment(char *line)
{
	char *to = line;

	for (const char *from = line; *from != '\0' && *from != '#'; from++) {
		if (from[0] == '\\' && from[1] == '#')
			from++;
		*to++ = *from;
	}
	*to = '\0';
}

static bool take_text(struct reader *reader, char *text)
{
	size_t chars = strlen(text);

	if (chars == 0)
		return true;
	if (*text != '[')
		return take_entry(reader, text);
	if (text[chars - 1] == ']' && chars > 2) {
		text[chars - 1] = '\0';
		return open_section(reader, strip(text + 1));
	}
	return wh_fail(false, "%s: write a section as [%s], with nothing after it", reader->where,
		reader->ini->form->kinds[0].word);
}

static bool take_line(struct reader *reader, char *line, size_t chars)
{
	if (chars > 0 && line[chars - 1] == '\r')
		line[--chars] = '\0';
	for (size_t i = 0; i < chars; i++)
		if (iscntrl((unsigned char)line[i]) && line[i] != '\t')
			return refuse(reader, "it contains a control character: not a text file");
	if (reader->ini->form->utf8) {
		json_t *text = json_string(line);
		bool good = text != NULL;

		json_decref(text);
		if (!good)
			return refuse(reader, "not valid UTF-8");
	}
	cut_comment(line);
	return take_text(reader, strip(line));
}

int wh_ini_parse(struct wh_ini *ini, const struct wh_ini_form *form, const char *path,
	const char *text, size_t bytes)
{
	struct reader reader = {.ini = ini, .section = -1};
	char *all = insist(malloc(bytes + 1));
	char *end = all + bytes;
	bool good = true;

	WH_ASSERT(form->n_kinds > 0 && form->n_unnamed <= form->n_kinds);
	*ini = (struct wh_ini){.form = form, .path = copy(path)};
	for (uint32_t kind = 0; kind < form->n_unnamed; kind++)
		add_section(ini, kind, "", path);
	memcpy(all, text, bytes);
	for (char *line = all; good && line < end;) {
		char *stop = memchr(line, '\n', (size_t)(end - line));

		if (stop == NULL)
			stop = end;
		*stop = '\0';
		reader.where = make_text("%s:%u", path, ++reader.line);
		good = take_line(&reader, line, (size_t)(stop - line));
		free(reader.where);
		line = stop + 1;
	}
	free(all);
	return good ? -1 : WH_EXIT_USAGE;
}

static int cannot_read(const struct wh_ini_form *form, const char *path, const char *why)
{
	return wh_fail(WH_EXIT_NO_FILE, "cannot read the %s %s: %s; %s", form->what, path, why,
		form->else_do);
}

int wh_ini_read(struct wh_ini *ini, const struct wh_ini_form *form, const char *path)
{
	struct stat facts;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int status;

	*ini = (struct wh_ini){.form = form};
	if (fd < 0)
		return cannot_read(form, path, strerror(errno));
	if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size > FILE_BYTES_MAX) {
		close(fd);
		return cannot_read(form, path,
			S_ISREG(facts.st_mode) ? "it is larger than 1 MiB"
					       : "it is not a regular file");
	}

	char *text = insist(malloc((size_t)facts.st_size + 1));
	ssize_t got = read(fd, text, (size_t)facts.st_size);

	close(fd);
	status = got < 0 ? cannot_read(form, path, "it cannot be read")
			 : wh_ini_parse(ini, form, path, text, (size_t)got);
	free(text);
	return status;
}

void wh_ini_put(
	struct wh_ini_section *section, const char *key, const char *value, const char *where)
{
	struct wh_ini_entry *entry = wh_ini_find(section, key);

	if (entry == NULL)
		entry = add_entry(section, key);
	free(entry->value);
	free(entry->where);
	entry->value = copy(value);
	entry->where = copy(where);
	entry->set = true;
}

/* The first dot ends the section: names of links and flows contain none, labels may. */
int wh_ini_set(struct wh_ini *ini, const char *setting)
{
	char *head = copy(setting);
	char *where = make_text("--set %s", setting);
	char *key = strchr(head, '.');
	char *value = key == NULL ? NULL : strchr(key, '=');
	struct wh_ini_section *section = NULL;

	if (value == NULL || value == key + 1 || value[1] == '\0') {
		wh_complain("%s: write SECTION.KEY=VALUE, for example scenario.duration=5s", where);
	} else {
		*key++ = '\0';
		*value++ = '\0';
		section = find_section(ini, head);
		if (section == NULL)
			wh_complain("%s: %s has no section [%s]", where, ini->path, head);
		else
			wh_ini_put(section, strip(key), strip(value), where);
	}
	free(head);
	free(where);
	return section == NULL ? WH_EXIT_USAGE : -1;
}

void wh_ini_free(struct wh_ini *ini)
{
	for (uint32_t i = 0; i < ini->n_sections; i++) {
		struct wh_ini_section *section = &ini->sections[i];

		for (uint32_t k = 0; k < section->n_entries; k++) {
			free(section->entries[k].key);
			free(section->entries[k].value);
			free(section->entries[k].where);
		}
		free(section->entries);
		free(section->name);
		free(section->head);
		free(section->where);
	}
	free(ini->sections);
	free(ini->path);
	*ini = (struct wh_ini){0};
}
