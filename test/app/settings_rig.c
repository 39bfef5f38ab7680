/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings_rig.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"

char wh_rig_path[] = "/tmp/wavehaul-settings-XXXXXX";

static void remove_file(void)
{
	unlink(wh_rig_path);
}

static void write_file(const char *bytes, size_t length)
{
	static int fd = -1;

	if (fd < 0) {
		fd = mkstemp(wh_rig_path);
		WH_ASSERT(fd >= 0);
		atexit(remove_file);
	}
	WH_ASSERT(ftruncate(fd, 0) == 0);
	WH_ASSERT(pwrite(fd, bytes, length, 0) == (ssize_t)length);
}

/* Sends a stream elsewhere; returns what brings it back. */
static int divert(FILE *stream, int to)
{
	fflush(stream);

	int kept = dup(fileno(stream));

	WH_ASSERT(kept >= 0);
	WH_ASSERT(dup2(to, fileno(stream)) >= 0);
	return kept;
}

static void restore(FILE *stream, int kept)
{
	fflush(stream);
	WH_ASSERT(dup2(kept, fileno(stream)) >= 0);
	close(kept);
}

static void read_diverted(struct wh_rig *rig, enum wh_verb verb)
{
	FILE *out = tmpfile();
	int nowhere = open("/dev/null", O_WRONLY);

	WH_ASSERT(out != NULL && nowhere >= 0);

	int kept_out = divert(stdout, fileno(out));
	int kept_err = divert(stderr, nowhere);

	wh_complain("%s", "");
	rig->status = wh_settings_read(&rig->settings, verb, rig->argc, rig->argv);
	restore(stdout, kept_out);
	restore(stderr, kept_err);
	snprintf(rig->said, sizeof(rig->said), "%s", wh_last_complaint());
	rewind(out);
	rig->out[fread(rig->out, 1, sizeof(rig->out) - 1, out)] = '\0';
	fclose(out);
	close(nowhere);
}

static void add_words(struct wh_rig *rig, const char *words)
{
	static char room[1 << 14];
	char *rest = room;

	WH_ASSERT(strlen(words) < sizeof(room));
	strcpy(room, words);
	while (*words != '\0' && rest != NULL) {
		WH_ASSERT(rig->argc + 1 < WH_RIG_ARGS_MAX);
		rig->argv[rig->argc++] = strsep(&rest, "|");
	}
	rig->argv[rig->argc] = NULL;
}

static void name_verb(struct wh_rig *rig, enum wh_verb verb)
{
	static char name[16];

	memset(rig, 0, sizeof(*rig));
	snprintf(name, sizeof(name), "%s", wh_verb_name(verb));
	rig->argv[rig->argc++] = name;
}

void wh_rig_read(struct wh_rig *rig, enum wh_verb verb, const char *words)
{
	name_verb(rig, verb);
	add_words(rig, words);
	read_diverted(rig, verb);
}

void wh_rig_read_file(
	struct wh_rig *rig, enum wh_verb verb, const char *bytes, size_t length, const char *words)
{
	static char config[] = "--config";

	write_file(bytes, length);
	name_verb(rig, verb);
	rig->argv[rig->argc++] = config;
	rig->argv[rig->argc++] = wh_rig_path;
	add_words(rig, words);
	read_diverted(rig, verb);
}

char *wh_rig_slurp(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t length = 0;

	if (file == NULL)
		return NULL;
	WH_ASSERT(getdelim(&text, &length, '\0', file) >= 0);
	fclose(file);
	return text;
}

const char *wh_rig_value(const struct wh_rig *rig, enum wh_verb verb, const char *name)
{
	static char value[WH_SETTINGS_TEXT_BYTES];
	char key[WH_SETTINGS_KEY_BYTES];

	for (uint32_t i = 0; wh_settings_at(&rig->settings, verb, i, key, value); i++)
		if (strcmp(key, name) == 0)
			return value;
	return "?";
}
