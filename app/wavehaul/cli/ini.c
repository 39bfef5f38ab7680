/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/ini.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"

#define FILE_BYTES_MAX (1 << 20)
#define HEAD_BYTES     512

/* The end of memory is the end of the program: nothing has begun yet. */
static void *insist(void *memory)
{
	if (memory == NULL) {
		wh_complain("no memory for a file of settings");
		exit(WH_EXIT_OTHER);
	}
	return memory;
}

static char *copy_text(const char *begin, size_t chars)
{
	char *copy = insist(malloc(chars + 1));

	memcpy(copy, begin, chars); /* what is copied from ends without a NUL */
	copy[chars] = '\0';
	return copy;
}

const char *wh_ini_section_text(const struct wh_ini_section *section, char *text, size_t room)
{
	snprintf(text, room, "%s%s%s", section->word, section->name[0] != '\0' ? " " : "",
		section->name);
	return text;
}

struct wh_ini_entry *wh_ini_find(const struct wh_ini_section *section, const char *key)
{
	for (uint32_t i = 0; i < section->n_entries; i++)
		if (strcmp(section->entries[i].key, key) == 0)
			return &section->entries[i];
	return NULL;
}

static struct wh_ini_section *add_section(
	struct wh_ini *ini, uint32_t kind, char *name, char *where)
{
	size_t bytes = (ini->n_sections + 1) * sizeof(*ini->sections);
	bool unnamed = kind < ini->form->n_unnamed;

	/* Those without a name stand at their kinds' places. */
	WH_ASSERT(kind < ini->form->n_kinds && (!unnamed || kind == ini->n_sections));
	WH_ASSERT(unnamed == (name[0] == '\0'));
	ini->sections = insist(realloc(ini->sections, bytes));
	ini->sections[ini->n_sections] = (struct wh_ini_section){
		.kind = kind, .word = ini->form->kinds[kind].word, .name = name, .where = where};
	return &ini->sections[ini->n_sections++];
}

static void add_entry(struct wh_ini_section *section, char *key, char *value, char *where)
{
	size_t bytes = (section->n_entries + 1) * sizeof(*section->entries);

	section->entries = insist(realloc(section->entries, bytes));
	section->entries[section->n_entries++] =
		(struct wh_ini_entry){.key = key, .value = value, .where = where};
}

static void strip(const char **begin, const char **stop)
{
	while (*begin < *stop && isblank((unsigned char)**begin))
		++*begin;
	while (*begin < *stop && isblank((unsigned char)(*stop)[-1]))
		--*stop;
}

/* A section by the text of its head; NULL: there is none. */
static struct wh_ini_section *find_section(struct wh_ini *ini, const char *begin, const char *stop)
{
	char text[HEAD_BYTES];

	for (uint32_t i = 0; i < ini->n_sections; i++) {
		wh_ini_section_text(&ini->sections[i], text, sizeof(text));
		if (strlen(text) == (size_t)(stop - begin) &&
			memcmp(text, begin, strlen(text)) == 0)
			return &ini->sections[i];
	}
	return NULL;
}

/* Where the file is being read. */
struct reader {
	struct wh_ini *ini;
	uint32_t line;
	int64_t section; /* -1: before the first */
};

static char *where_text(const struct reader *reader)
{
	char *where;

	if (asprintf(&where, "%s:%u", reader->ini->path, reader->line) < 0)
		where = NULL;
	return insist(where);
}

/* Always false. */
static bool refuse(const struct reader *reader, const char *why)
{
	wh_complain("%s:%u: %s", reader->ini->path, reader->line, why);
	return false;
}

/* Always false. */
static bool refuse_section(const struct reader *reader, const char *begin, const char *stop)
{
	const struct wh_ini_form *form = reader->ini->form;
	char known[HEAD_BYTES] = "";

	for (uint32_t i = 0; i < form->n_kinds; i++) {
		const struct wh_ini_kind *kind = &form->kinds[i];
		size_t used = strlen(known);

		snprintf(known + used, sizeof(known) - used, "%s%s%s%s", i > 0 ? ", " : "",
			kind->word, kind->name != NULL ? " " : "",
			kind->name != NULL ? kind->name : "");
	}
	wh_complain("%s:%u: there is no section [%.*s]; the sections are %s", reader->ini->path,
		reader->line, (int)(stop - begin), begin, known);
	return false;
}

/* By its word; the number of kinds: there is none. */
static uint32_t find_kind(const struct wh_ini_form *form, const char *begin, size_t chars)
{
	uint32_t kind = 0;

	while (kind < form->n_kinds && (strlen(form->kinds[kind].word) != chars ||
					       memcmp(form->kinds[kind].word, begin, chars) != 0))
		kind++;
	return kind;
}

/* A section that was there before goes on. */
static bool open_section(struct reader *reader, const char *begin, const char *stop)
{
	struct wh_ini *ini = reader->ini;
	const char *name;

	strip(&begin, &stop);
	for (name = begin; name < stop && !isblank((unsigned char)*name); name++)
		;

	uint32_t kind = find_kind(ini->form, begin, (size_t)(name - begin));

	strip(&name, &stop);
	if (kind == ini->form->n_kinds || (kind >= ini->form->n_unnamed) != (name < stop) ||
		stop - begin >= HEAD_BYTES - 1)
		return refuse_section(reader, begin, stop);
	if (kind < ini->form->n_unnamed) {
		reader->section = kind;
		return true;
	}

	char head[HEAD_BYTES];
	int chars = snprintf(head, sizeof(head), "%s %.*s", ini->form->kinds[kind].word,
		(int)(stop - name), name);
	struct wh_ini_section *section = find_section(ini, head, head + chars);

	if (section == NULL)
		section = add_section(
			ini, kind, copy_text(name, (size_t)(stop - name)), where_text(reader));
	reader->section = section - ini->sections;
	return true;
}

/* The texts are the entry's from now on. */
static bool put_line(struct reader *reader, char *key, char *value)
{
	const struct wh_ini_form *form = reader->ini->form;
	struct wh_ini_section *section = &reader->ini->sections[reader->section];

	WH_ASSERT(reader->section < reader->ini->n_sections);

	bool repeats = form->may_repeat != NULL && form->may_repeat(section->word, key);
	const struct wh_ini_entry *before = repeats ? NULL : wh_ini_find(section, key);

	if (before != NULL)
		wh_complain("%s:%u: %s stands at %s already; remove one of the two",
			reader->ini->path, reader->line, key, before->where);
	add_entry(section, key, value, where_text(reader));
	return before == NULL;
}

static bool take_entry(struct reader *reader, const char *begin, const char *stop)
{
	const char *equals = memchr(begin, '=', (size_t)(stop - begin));
	const char *key_stop = equals;

	if (equals == NULL && *begin == ';')
		return refuse(reader, "a comment begins with #");
	if (equals == NULL)
		return refuse(
			reader, "this is neither a [section] nor key = value nor a # comment");

	const char *value = equals + 1;

	strip(&begin, &key_stop);
	strip(&value, &stop);
	if (begin == key_stop)
		return refuse(reader, "there is no key before the =");
	if (value == stop)
		return refuse(reader, "the value is missing; give one, or put # before the line");
	if (reader->section < 0) {
		wh_complain("%s:%u: a [section] must come before, for example [%s]",
			reader->ini->path, reader->line, reader->ini->form->kinds[0].word);
		return false;
	}
	return put_line(reader, copy_text(begin, (size_t)(key_stop - begin)),
		copy_text(value, (size_t)(stop - value)));
}

/* Up to the comment, or the end; "\#" becomes "#". */
static size_t cut_comment(char *line)
{
	char *to = line;

	for (const char *from = line; *from != '\0' && *from != '#'; from++) {
		if (from[0] == '\\' && from[1] == '#')
			from++;
		*to++ = *from;
	}
	return (size_t)(to - line);
}

static bool take_text(struct reader *reader, char *line)
{
	const char *begin = line;
	const char *stop = line + cut_comment(line);

	strip(&begin, &stop);
	if (begin == stop)
		return true;
	if (*begin != '[')
		return take_entry(reader, begin, stop);
	if (stop[-1] == ']' && stop - begin > 2)
		return open_section(reader, begin + 1, stop - 1);
	wh_complain("%s:%u: a section is written as [%s], and nothing behind it", reader->ini->path,
		reader->line, reader->ini->form->kinds[0].word);
	return false;
}

static bool take_line(struct reader *reader, const char *begin, const char *stop)
{
	bool good = true;

	if (stop > begin && stop[-1] == '\r')
		stop--;
	for (const char *p = begin; p < stop; p++)
		if (iscntrl((unsigned char)*p) && *p != '\t')
			return refuse(reader, "there is a control character: this is no text");
	if (reader->ini->form->utf8) {
		json_t *text = json_stringn(begin, (size_t)(stop - begin));

		good = text != NULL;
		json_decref(text);
	}
	if (!good)
		return refuse(reader, "this is no UTF-8");

	char *line = copy_text(begin, (size_t)(stop - begin));

	good = take_text(reader, line);
	free(line);
	return good;
}

int wh_ini_parse(struct wh_ini *ini, const struct wh_ini_form *form, const char *path,
	const char *text, size_t bytes)
{
	struct reader reader = {.ini = ini, .section = -1};
	const char *end = text + bytes;

	WH_ASSERT(form->n_kinds > 0 && form->n_unnamed <= form->n_kinds);
	*ini = (struct wh_ini){.form = form, .path = copy_text(path, strlen(path))};
	for (uint32_t kind = 0; kind < form->n_unnamed; kind++)
		add_section(ini, kind, copy_text("", 0), copy_text(path, strlen(path)));
	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		reader.line++;
		if (stop == NULL)
			stop = end;
		if (!take_line(&reader, text, stop))
			return WH_EXIT_USAGE;
		text = stop < end ? stop + 1 : end;
	}
	return -1;
}

static int cannot_read(const struct wh_ini_form *form, const char *path, const char *why)
{
	wh_complain("cannot read the %s %s: %s; %s", form->what, path, why, form->else_do);
	return WH_EXIT_NO_FILE;
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
			S_ISREG(facts.st_mode) ? "it is larger than 1 MiB" : "it is no file");
	}

	char *text = insist(malloc((size_t)facts.st_size + 1));
	ssize_t got = read(fd, text, (size_t)facts.st_size);

	close(fd);
	status = got < 0 ? cannot_read(form, path, "it cannot be read")
			 : wh_ini_parse(ini, form, path, text, (size_t)got);
	free(text);
	return status;
}

static char *copy_string(const char *text)
{
	return copy_text(text, strlen(text));
}

void wh_ini_put(
	struct wh_ini_section *section, const char *key, const char *value, const char *where)
{
	struct wh_ini_entry *entry = wh_ini_find(section, key);

	if (entry == NULL) {
		add_entry(section, copy_string(key), copy_string(value), copy_string(where));
		section->entries[section->n_entries - 1].set = true;
		return;
	}
	free(entry->value);
	free(entry->where);
	entry->value = copy_string(value);
	entry->where = copy_string(where);
	entry->set = true;
}

/* The first dot ends the section: names of links and flows have none, and labels may. */
int wh_ini_set(struct wh_ini *ini, const char *setting)
{
	const char *key = strchr(setting, '.');
	const char *key_stop = key == NULL ? NULL : strchr(key, '=');
	struct wh_ini_section *section = key == NULL ? NULL : find_section(ini, setting, key);
	char *where;

	if (key_stop == NULL || key_stop == key + 1 || key_stop[1] == '\0') {
		wh_complain("--set %s: write SECTION.KEY=VALUE, for example scenario.duration=5s",
			setting);
		return WH_EXIT_USAGE;
	}
	if (section == NULL) {
		wh_complain("--set %s: %s has no section [%.*s]", setting, ini->path,
			(int)(key - setting), setting);
		return WH_EXIT_USAGE;
	}

	const char *value = key_stop + 1;
	const char *value_stop = value + strlen(value);

	key++;
	strip(&key, &key_stop);
	strip(&value, &value_stop);

	char *key_text = copy_text(key, (size_t)(key_stop - key));
	char *value_text = copy_text(value, (size_t)(value_stop - value));

	if (asprintf(&where, "--set %s", setting) < 0)
		where = NULL;
	wh_ini_put(section, key_text, value_text, insist(where));
	free(key_text);
	free(value_text);
	free(where);
	return -1;
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
		free(section->where);
	}
	free(ini->sections);
	free(ini->path);
	*ini = (struct wh_ini){0};
}
