/* SPDX-License-Identifier: BSD-3-Clause */

/* The verb completion: what a shell reads to complete verbs, options and their values. */

#include <string.h>

#include "cli/complain.h"
#include "cli/completion.h"
#include "cli/exit.h"
#include "cli/settings.h"
#include "verbs.h"

int wh_verb_completion(int argc, char **argv)
{
	struct wh_settings settings;
	int status = wh_settings_read(&settings, WH_VERB_COMPLETION, argc, argv);

	if (status != -1)
		return status;
	if (settings.operand_count != 1 || strcmp(settings.operands[0], "bash") != 0) {
		wh_complain("wavehaul completion takes the name of a shell, and knows one: "
			    "`wavehaul completion bash`");
		return WH_EXIT_USAGE;
	}
	wh_completion_print();
	return WH_EXIT_OK;
}
