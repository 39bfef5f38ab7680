/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The laboratory: for trying the appliance, not for using it. `wavehaul` runs this program for the
 * verbs that are here, so that people type one name.
 */

#include <stdio.h>
#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/program/program.h"
#include "cli/settings_table.h"
#include "lab_verbs.h"
#include "seal/secret_heap.h"

static void print_help(FILE *to)
{
	const char *summary;
	enum wh_verb verb;

	fprintf(to, "usage: wavehaul-lab VERB [OPTIONS], as `wavehaul VERB [OPTIONS]`\n\nVerbs:\n");
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		if (wh_verb_is_of_laboratory(verb))
			fprintf(to, "  %-10s %s\n", wh_verb_name(verb), summary);
	fprintf(to, "\n" WH_EXIT_HELP);
}

/* 0 after a complaint. */
static enum wh_verb find_verb(const char *name)
{
	const char *summary;
	enum wh_verb verb;

	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		if (wh_verb_is_of_laboratory(verb) && strcmp(name, wh_verb_name(verb)) == 0)
			return verb;
	wh_complain("no verb '%s' in the laboratory; `wavehaul-lab --help` lists them", name);
	return 0;
}

static int run(enum wh_verb verb, int argc, char **argv)
{
	switch (verb) {
	case WH_VERB_DEMO:
		return wh_verb_demo(argc, argv);
	case WH_VERB_SIM:
		return wh_verb_sim(argc, argv);
	case WH_VERB_WAN:
		return wh_verb_wan(argc, argv);
	case WH_VERB_PLAN:
		return wh_verb_plan(argc, argv);
	default:
		return WH_EXIT_USAGE; /* find_verb complained */
	}
}

int main(int argc, char **argv)
{
	int status = wh_program_begin(argc, argv, "wavehaul-lab", print_help);

	if (status >= 0)
		return status;
	(void)wh_secret_heap_begin();
	return wh_program_finish(run(find_verb(argv[1]), argc - 1, argv + 1));
}
