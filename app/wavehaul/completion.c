/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul completion`: the scripts by which shells complete, all from the table of settings. */

#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "completion/completion_words.h"
#include "verbs.h"

static const struct {
	const char *name;
	void (*print)(void);
} shells[] = {
	{"bash", wh_complete_bash},
	{"zsh", wh_complete_zsh},
	{"fish", wh_complete_fish},
};

int wh_verb_completion(int argc, char **argv)
{
	struct wh_settings settings;
	int status = wh_settings_read(&settings, WH_VERB_COMPLETION, argc, argv);

	if (status != -1)
		return status;
	for (size_t i = 0; settings.operand_count == 1 && i < sizeof(shells) / sizeof(shells[0]);
		i++) {
		if (strcmp(settings.operands[0], shells[i].name) != 0)
			continue;
		shells[i].print();
		return WH_EXIT_OK;
	}
	wh_complain("wavehaul completion needs the name of a shell, bash, zsh or fish: for example "
		    "`wavehaul completion bash`");
	return WH_EXIT_USAGE;
}
