/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What the programs of the project have in common, however their verbs differ. */

#include <stdio.h>

/* The commit from which this program was built; empty: unknown. */
extern const char wh_commit[];

/* Answers no verb at all, --help and --version by an exit status; -1: argv[1] is something else. */
int wh_program_begin(int argc, char **argv, const char *program, void (*print_help)(FILE *to));

/* The exit status, after what was printed is out. */
int wh_program_finish(int status);
