/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <rte_version.h>

#include "bundle/record.h"
#include "cli/exit.h"
#include "verbs.h"
#include "wire/packet.h"

static const struct {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
} verbs[] = {
	{"demo", "send a file across an emulated lambda inside this machine", wh_verb_demo},
	{"serve", "accept transfers and serve files below a folder", wh_verb_serve},
	{"send", "send files or trees to a server", wh_verb_send},
	{"get", "get files or trees from a server", wh_verb_get},
	{"bench", "measure memory to memory against a server", wh_verb_bench},
	{"sim", "run a scenario in virtual time: a network, flows, expectations", wh_verb_sim},
	{"plan", "what each profile and each TCP would do on a link", wh_verb_plan},
	{"doctor", "say whether this machine is fit for transfers, and what repairs it",
		wh_verb_doctor},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void print_help(FILE *to)
{
	fprintf(to,
		"wavehaul: transfers on dedicated 10-100 Gb/s lambdas, past the kernel by DPDK\n"
		"\n"
		"usage: wavehaul VERB [OPTIONS]\n"
		"\n"
		"Verbs:\n");
	for (size_t i = 0; i < VERBS; i++)
		fprintf(to, "  %-8s %s\n", verbs[i].name, verbs[i].summary);
	fprintf(to,
		"\n"
		"`wavehaul VERB --help` explains a verb; `wavehaul --version` names the build.\n"
		"First steps: `wavehaul demo`\n"
		"\n" WH_EXIT_HELP);
}

/* Two ends understand each other when their formats are the same. */
static void print_version(void)
{
	printf("wavehaul %s", WH_VERSION);
	if (wh_commit[0] != '\0')
		printf(" (commit %s)", wh_commit);
	printf(", packet format %u, bundle format %u, %s\n", WH_WIRE_VERSION, WH_BUNDLE_VERSION,
		rte_version());
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return WH_EXIT_USAGE;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_help(stdout);
		return WH_EXIT_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		print_version();
		return WH_EXIT_OK;
	}
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(argv[1], verbs[i].name) == 0)
			return verbs[i].run(argc - 1, argv + 1);
	fprintf(stderr, "wavehaul: no verb '%s'; `wavehaul --help` lists them\n", argv[1]);
	return WH_EXIT_USAGE;
}
