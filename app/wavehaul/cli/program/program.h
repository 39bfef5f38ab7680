/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PROGRAM_H
#define WH_APP_PROGRAM_H

/* What the programs of the project have in common, however their verbs differ. */

#include <stdbool.h>

/* The commit from which this program was built; empty: unknown. */
extern const char wh_commit[];

/* Two ends are compatible if their formats are the same. */
void wh_program_version(const char *program);

/* The exit status, after what was printed is out. */
int wh_program_finish(int status);

bool wh_is_either(const char *word, const char *one, const char *other);

#endif
