/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Replaces this process by the program wavehaul-lab, which has the verbs of the laboratory, with
 * these arguments. So exit status and signals need no relay. If it is not installed: complains, and
 * returns an exit status.
 */
int wh_laboratory_run(char **argv);
