/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/program/program.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <rte_version.h>

#include "bundle/record.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "wire/packet.h"

/* Two ends are compatible if their formats are the same. */
static void print_version(const char *program)
{
	printf("%s %s", program, WH_VERSION);
	if (strcmp(wh_commit, WH_VERSION) != 0)
		printf(" (commit %s)", wh_commit);
	printf(", packet format %u, bundle format %u, %s\n", WH_WIRE_VERSION, WH_BUNDLE_VERSION,
		rte_version());
}

/* Output may have been buffered until now, so a full disk may first be noticed here. */
int wh_program_finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	wh_complain("cannot write the report: %s", strerror(errno));
	return status == WH_EXIT_OK ? WH_EXIT_OTHER : status;
}

static bool is_either(const char *word, const char *one, const char *other)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

int wh_program_begin(int argc, char **argv, const char *program, void (*print_help)(FILE *to))
{
	if (argc < 2) {
		print_help(stderr);
		return WH_EXIT_USAGE;
	}
	if (is_either(argv[1], "--help", "-h"))
		print_help(stdout);
	else if (is_either(argv[1], "--version", "-V"))
		print_version(program);
	else
		return -1;
	return wh_program_finish(WH_EXIT_OK);
}
