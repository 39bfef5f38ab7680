/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rte_cfgfile gives the values. What it would skip, cut or mistake without a word is found by a
 * look at every line before, and since it keeps no line numbers, its entries are then counted off
 * against the lines once more.
 */

#include "cli/settings_table.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_cfgfile.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"

#define FILE_BYTES_MAX (1 << 20)

/* Within rte_cfgfile's buffer for a line, with its end. */
#define LINE_CHARS_MAX (CFG_NAME_LEN + CFG_VALUE_LEN)

enum line_kind {
	LINE_BLANK,
	LINE_SECTION,
	LINE_ENTRY,
};

/* Where a walk over the text is, and the line that it has come to. */
struct walk {
	const char *next;
	const char *end;
	const char *begin; /* of the line, until `stop`: without comment and blanks */
	const char *stop;
	uint32_t number;
	enum line_kind kind;
	char section[CFG_NAME_LEN]; /* that the line is in, or heads */
	char key[CFG_NAME_LEN];
};

struct ini {
	const char *path;
	char *text;
	size_t bytes;
};

static struct walk walk_begin(const struct ini *ini)
{
	return (struct walk){.next = ini->text, .end = ini->text + ini->bytes};
}

static void strip(const char **begin, const char **stop)
{
	while (*begin < *stop && isblank((unsigned char)**begin))
		++*begin;
	while (*begin < *stop && isblank((unsigned char)(*stop)[-1]))
		--*stop;
}

/* NULL, or what is wrong with the line as text. Cuts the comment off, and the blanks. */
static const char *take_line(struct walk *walk)
{
	const char *begin = walk->next;
	const char *stop = memchr(begin, '\n', (size_t)(walk->end - begin));

	if (stop == NULL)
		stop = walk->end;
	walk->next = stop < walk->end ? stop + 1 : stop;
	walk->number++;
	if (stop > begin && stop[-1] == '\r')
		stop--;
	if (stop - begin > LINE_CHARS_MAX)
		return "the line is longer than 320 characters";
	for (const char *p = begin; p < stop; p++)
		if (iscntrl((unsigned char)*p) && *p != '\t')
			return "there is a control character: this is no text";

	const char *sign = memchr(begin, '#', (size_t)(stop - begin));

	if (sign != NULL && sign > begin && sign[-1] == '\\') {
		/* rte_cfgfile looks no further than the first sign. */
		for (const char *p = sign + 1; p < stop; p++)
			if (*p == '#' && p[-1] != '\\')
				return "write \\# for each # of a value, and put the comment on a "
				       "line of its own";
	} else if (sign != NULL) {
		stop = sign;
	}
	strip(&begin, &stop);
	walk->begin = begin;
	walk->stop = stop;
	return NULL;
}

static_assert(LINE_CHARS_MAX == 320, "the sentence in take_line says so");

static bool copy_name(char name[CFG_NAME_LEN], const char *begin, const char *stop)
{
	strip(&begin, &stop);
	if (begin == stop || stop - begin >= CFG_NAME_LEN)
		return false;
	memcpy(name, begin, (size_t)(stop - begin));
	name[stop - begin] = '\0';
	return true;
}

static const char *take_entry(struct walk *walk)
{
	const char *equals = memchr(walk->begin, '=', (size_t)(walk->stop - walk->begin));

	if (equals == NULL && *walk->begin == ';')
		return "a comment begins with #";
	if (equals == NULL || !copy_name(walk->key, walk->begin, equals))
		return "this is neither a [section] nor key = value nor a # comment";

	const char *value = equals + 1;
	const char *stop = walk->stop;

	strip(&value, &stop);
	if (value == stop)
		return "the value is missing; give one, or put # before the line";
	if (stop - value >= CFG_VALUE_LEN)
		return "the value is longer than 255 characters";
	if (walk->section[0] == '\0')
		return "a [section] must come before, for example [port]";
	return NULL;
}

/* The next line, understood; false at the end. `*wrong` is NULL, or what is wrong with it. */
static bool walk_on(struct walk *walk, const char **wrong)
{
	WH_ASSERT(walk->next <= walk->end);
	*wrong = NULL;
	if (walk->next == walk->end)
		return false;
	*wrong = take_line(walk);
	if (*wrong != NULL)
		return true;
	if (walk->begin == walk->stop) {
		walk->kind = LINE_BLANK;
	} else if (*walk->begin == '[') {
		walk->kind = LINE_SECTION;
		if (walk->stop[-1] != ']' ||
			!copy_name(walk->section, walk->begin + 1, walk->stop - 1))
			*wrong = "a section is written as [port], and nothing behind it";
	} else {
		walk->kind = LINE_ENTRY;
		*wrong = take_entry(walk);
	}
	return true;
}

static void append(char *list, const char *word)
{
	size_t used = strlen(list);

	snprintf(list + used, WH_SETTINGS_TEXT_BYTES - used, "%s%s", used > 0 ? ", " : "", word);
}

static bool has_keys(const char *section)
{
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if (wh_settings_table[i].key != NULL &&
			strcmp(wh_settings_table[i].section, section) == 0)
			return true;
	return false;
}

/* False after a complaint. */
static bool is_section_known(const struct ini *ini, const struct walk *walk)
{
	char known[WH_SETTINGS_TEXT_BYTES] = "";
	const struct wh_settings_section *section = wh_settings_sections;

	if (has_keys(walk->section))
		return true;
	for (; section->name != NULL; section++)
		if (has_keys(section->name))
			append(known, section->name);
	wh_complain("%s:%u: there is no section [%s]; the sections are %s", ini->path, walk->number,
		walk->section, known);
	return false;
}

static bool is_key_known(const struct ini *ini, const struct walk *walk)
{
	char known[WH_SETTINGS_TEXT_BYTES] = "";

	if (wh_setting_find(walk->section, walk->key) != NULL)
		return true;
	for (uint32_t i = 0; i < wh_settings_count; i++)
		if (wh_settings_table[i].key != NULL &&
			strcmp(wh_settings_table[i].section, walk->section) == 0)
			append(known, wh_settings_table[i].key);
	wh_complain("%s:%u: [%s] has no key '%s'; its keys are %s", ini->path, walk->number,
		walk->section, walk->key, known);
	return false;
}

/* Lists may go over several lines; anything else that comes twice is a mistake. */
static bool is_first(const struct ini *ini, const struct walk *walk)
{
	struct walk before = walk_begin(ini);
	const char *wrong;

	if (wh_setting_is_list(wh_setting_find(walk->section, walk->key)))
		return true;
	while (walk_on(&before, &wrong) && before.number < walk->number) {
		if (before.kind != LINE_ENTRY || strcmp(before.section, walk->section) != 0 ||
			strcmp(before.key, walk->key) != 0)
			continue;
		wh_complain("%s:%u: %s stands in line %u already; remove one of the two", ini->path,
			walk->number, walk->key, before.number);
		return false;
	}
	return true;
}

static bool check_lines(const struct ini *ini)
{
	struct walk walk = walk_begin(ini);
	const char *wrong;

	while (walk_on(&walk, &wrong)) {
		if (wrong != NULL) {
			wh_complain("%s:%u: %s", ini->path, walk.number, wrong);
			return false;
		}
		if (walk.kind == LINE_SECTION && !is_section_known(ini, &walk))
			return false;
		if (walk.kind == LINE_ENTRY && (!is_key_known(ini, &walk) || !is_first(ini, &walk)))
			return false;
	}
	return true;
}

/* The line of the next entry. */
static bool walk_to_entry(struct walk *walk)
{
	const char *wrong;

	while (walk_on(walk, &wrong))
		if (walk->kind == LINE_ENTRY)
			return true;
	return false;
}

static int take_value(const struct ini *ini, const struct walk *walk, const char *value,
	struct wh_settings *settings, enum wh_verb verb)
{
	const struct wh_setting *setting = wh_setting_find(walk->section, walk->key);
	struct wh_settings others = *settings;
	char advice[WH_SETTINGS_TEXT_BYTES];

	WH_ASSERT(setting != NULL);

	const char *wrong =
		wh_setting_take(setting, value, (setting->verbs & verb) != 0 ? settings : &others);

	if (wrong == NULL)
		return -1;
	wh_setting_advise(setting, advice);
	wh_complain("%s:%u: %s = '%s' %s; write for example %s = %s", ini->path, walk->number,
		setting->key, value, wrong, setting->key, advice);
	return WH_EXIT_USAGE;
}

static int complain_of_change(const struct ini *ini)
{
	wh_complain("%s changed while it was read; try again", ini->path);
	return WH_EXIT_OTHER;
}

/* The entries of the i-th section, in the order of the file. */
static int take_section(const struct ini *ini, struct rte_cfgfile *cfg, int i, struct walk *walk,
	struct wh_settings *settings, enum wh_verb verb)
{
	char name[CFG_NAME_LEN];
	int count = rte_cfgfile_section_num_entries_by_index(cfg, name, i);
	struct rte_cfgfile_entry *entries = calloc((size_t)count + 1, sizeof(*entries));
	int status = -1;

	if (entries == NULL) {
		wh_complain("no memory for the settings of %s", ini->path);
		return WH_EXIT_OTHER;
	}
	count = rte_cfgfile_section_entries_by_index(cfg, i, name, entries, count);
	for (int e = 0; e < count && status == -1; e++) {
		if (!walk_to_entry(walk) || strcmp(walk->section, name) != 0 ||
			strcmp(walk->key, entries[e].name) != 0)
			status = complain_of_change(ini);
		else
			status = take_value(ini, walk, entries[e].value, settings, verb);
	}
	free(entries);
	return status;
}

static int take_entries(const struct ini *ini, struct wh_settings *settings, enum wh_verb verb)
{
	const struct rte_cfgfile_parameters parameters = {.comment_character = '#'};
	struct rte_cfgfile *cfg = rte_cfgfile_load_with_params(ini->path, 0, &parameters);
	struct walk walk = walk_begin(ini);
	int status = -1;

	if (cfg == NULL)
		return complain_of_change(ini);

	int sections = rte_cfgfile_num_sections(cfg, NULL, 0);

	for (int i = 0; i < sections && status == -1; i++)
		status = take_section(ini, cfg, i, &walk, settings, verb);
	rte_cfgfile_close(cfg);
	return status;
}

/* -1 and the text to be freed, or the exit status after a complaint. */
static int read_text(struct ini *ini)
{
	struct stat facts;
	int fd = open(ini->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &facts) != 0) {
		wh_complain("cannot read the configuration %s: %s; --config none goes without",
			ini->path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return WH_EXIT_NO_FILE;
	}
	if (!S_ISREG(facts.st_mode) || facts.st_size > FILE_BYTES_MAX) {
		wh_complain("the configuration %s is %s; --config names an INI file, none goes "
			    "without",
			ini->path, S_ISREG(facts.st_mode) ? "larger than 1 MiB" : "no file");
		close(fd);
		return WH_EXIT_NO_FILE;
	}
	ini->text = malloc((size_t)facts.st_size + 1);

	ssize_t got = ini->text == NULL ? -1 : read(fd, ini->text, (size_t)facts.st_size);

	close(fd);
	if (got < 0) {
		wh_complain("cannot read the configuration %s: %s", ini->path, strerror(errno));
		free(ini->text);
		return WH_EXIT_NO_FILE;
	}
	ini->bytes = (size_t)got;
	return -1;
}

int wh_settings_read_file(struct wh_settings *settings, enum wh_verb verb, const char *path)
{
	struct ini ini = {.path = path};
	int status = read_text(&ini);

	if (status != -1)
		return status;
	status = check_lines(&ini) ? take_entries(&ini, settings, verb) : WH_EXIT_USAGE;
	free(ini.text);
	return status;
}
