/* SPDX-License-Identifier: BSD-3-Clause */

/* Operands from a file, inserted before the last one of the command line. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "transfer/operands.h"

/* The most that a walk, and a guard's rules, handle in reasonable time. */
#define LISTED_MAX 100000

static int add(struct wh_wanted *wanted, const char *text)
{
	char **more;

	if (text[0] == '\0')
		return 0;
	if (wanted->listed == LISTED_MAX)
		return wh_fail(WH_EXIT_USAGE,
			"--files-from has more than %d names; send their folder instead, with "
			"--include and --exclude",
			LISTED_MAX);
	more = realloc(wanted->list, (wanted->listed + 2) * sizeof(more[0]));
	if (more == NULL)
		return WH_EXIT_OTHER;
	wanted->list = more;
	more[wanted->listed] = strdup(text);
	return more[wanted->listed++] != NULL ? 0 : WH_EXIT_OTHER;
}

static int read_all(struct wh_wanted *wanted, FILE *file)
{
	int end = wanted->settings.nul ? '\0' : '\n';
	char *line = NULL;
	size_t room = 0;
	ssize_t bytes;
	int status = 0;

	while (status == 0 && (bytes = getdelim(&line, &room, end, file)) >= 0) {
		if (bytes > 0 && line[bytes - 1] == end)
			line[bytes - 1] = '\0';
		status = add(wanted, line);
	}
	if (status == 0 && ferror(file)) {
		wh_complain("cannot read --files-from %s: %s", wanted->settings.files_from,
			strerror(errno));
		status = WH_EXIT_OTHER;
	}
	free(line);
	return status;
}

int wh_transfer_read_list(struct wh_wanted *wanted, char ***operands, uint32_t *count)
{
	struct wh_settings *settings = &wanted->settings;
	bool is_stdin = strcmp(settings->files_from, "-") == 0;
	FILE *file;
	int status = 0;

	*operands = settings->operands;
	*count = (uint32_t)settings->operand_count;
	if (settings->files_from[0] == '\0' || *count == 0)
		return 0;
	settings->relative = true;
	file = is_stdin ? stdin : fopen(settings->files_from, "re");
	if (file == NULL)
		return wh_fail(WH_EXIT_NO_FILE, "cannot read --files-from %s: %s",
			settings->files_from, strerror(errno));
	for (uint32_t i = 0; i + 1 < *count && status == 0; i++)
		status = add(wanted, settings->operands[i]);
	if (status == 0)
		status = read_all(wanted, file);
	if (!is_stdin)
		fclose(file);
	if (status == 0)
		status = add(wanted, settings->operands[*count - 1]);
	*operands = wanted->list;
	*count = wanted->listed;
	return status;
}

void wh_transfer_free_list(struct wh_wanted *wanted)
{
	for (uint32_t i = 0; i < wanted->listed; i++)
		free(wanted->list[i]);
	free(wanted->list);
}
