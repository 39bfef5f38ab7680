/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_LABORATORY_H
#define WH_APP_LABORATORY_H

/*
 * Becomes the program wavehaul-lab, which has the verbs of the laboratory, with these arguments; so
 * its exit status and its signals are this process's own. Returns an exit status, after a
 * complaint, where it is not installed.
 */
int wh_laboratory_run(char **argv);

#endif
