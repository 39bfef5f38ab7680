/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/nearest/nearest.h"
#include "cli/program/program.h"
#include "cli/settings_table.h"
#include "host/tsc.h"
#include "laboratory.h"
#include "seal/secret_heap.h"
#include "verbs.h"

static int run(enum wh_verb verb, int argc, char **argv)
{
	switch (verb) {
	case WH_VERB_SERVE:
		return wh_verb_serve(argc, argv);
	case WH_VERB_SEND:
		return wh_verb_send(argc, argv);
	case WH_VERB_GET:
		return wh_verb_get(argc, argv);
	case WH_VERB_BENCH:
		return wh_verb_bench(argc, argv);
	case WH_VERB_PROBE:
		return wh_verb_probe(argc, argv);
	case WH_VERB_DOCTOR:
		return wh_verb_doctor(argc, argv);
	case WH_VERB_NIC:
		return wh_verb_nic(argc, argv);
	case WH_VERB_PROFILES:
		return wh_verb_profiles(argc, argv);
	case WH_VERB_KEYGEN:
		return wh_verb_keygen(argc, argv);
	case WH_VERB_JOB:
		return wh_verb_job(argc, argv);
	case WH_VERB_FLEET:
		return wh_verb_fleet(argc, argv);
	case WH_VERB_CONSOLE:
		return wh_verb_console(argc, argv);
	case WH_VERB_TRUST:
		return wh_verb_trust(argc, argv);
	case WH_VERB_REPORT:
		return wh_verb_report(argc, argv);
	case WH_VERB_LS:
	case WH_VERB_DU:
	case WH_VERB_RM:
	case WH_VERB_MKDIR:
	case WH_VERB_MV:
	case WH_VERB_PING:
		return wh_verb_rpc(verb, argc, argv);
	case WH_VERB_PARTS:
		return wh_verb_parts(argc, argv);
	default:
		WH_ASSERT(verb == WH_VERB_COMPLETION);
		return wh_verb_completion(argc, argv);
	}
}

static void print_help(FILE *to)
{
	const char *summary;
	enum wh_verb verb;

	fprintf(to,
		"wavehaul: files over dedicated paths of 10 to 100 Gb/s, past the kernel by DPDK\n"
		"\n"
		"usage: wavehaul VERB [OPTIONS]\n"
		"\n"
		"Verbs:\n");
	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++)
		fprintf(to, "  %-10s %s\n", wh_verb_name(verb), summary);
	fprintf(to, "\n"
		    "`wavehaul help VERB` explains a verb; `wavehaul --version` names the build.\n"
		    "First steps: `wavehaul demo`\n"
		    "\n" WH_EXIT_HELP);
}

/* 0 after a complaint. */
static enum wh_verb find_verb(const char *name)
{
	struct wh_nearest nearest = {.typed = name};
	char text[WH_NEAREST_TEXT_BYTES];
	const char *summary;
	enum wh_verb verb;

	for (uint32_t i = 0; (verb = wh_verb_at(i, &summary)) != 0; i++) {
		if (strcmp(name, wh_verb_name(verb)) == 0)
			return verb;
		wh_nearest_try(&nearest, wh_verb_name(verb));
	}
	wh_nearest_try(&nearest, "help");
	wh_complain("no verb '%s'; %s", name,
		wh_nearest_text(&nearest, "", "`wavehaul help` lists them", text));
	return verb;
}

static int explain(int argc, char **argv)
{
	enum wh_verb verb;

	if (argc < 3) {
		print_help(stdout);
		return WH_EXIT_OK;
	}
	verb = find_verb(argv[2]);
	if (verb == 0)
		return WH_EXIT_USAGE;
	wh_settings_help(verb);
	return WH_EXIT_OK;
}

int main(int argc, char **argv)
{
	int status = wh_program_begin(argc, argv, "wavehaul", print_help);
	enum wh_verb verb;

	if (status >= 0)
		return status;
	if (strcmp(argv[1], "help") == 0)
		return wh_program_finish(explain(argc, argv));
	verb = find_verb(argv[1]);
	if (verb == 0)
		return WH_EXIT_USAGE;
	if (wh_verb_is_of_laboratory(verb))
		return wh_laboratory_run(argv);
	wh_tsc_begin();
	(void)wh_secret_heap_begin();
	return wh_program_finish(run(verb, argc - 1, argv + 1));
}
