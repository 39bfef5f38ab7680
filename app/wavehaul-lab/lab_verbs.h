/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* One file per verb; each gets its own argc and argv, argv[0] being its name. */

int wh_verb_demo(int argc, char **argv);
int wh_verb_sim(int argc, char **argv);
int wh_verb_plan(int argc, char **argv);
int wh_verb_wan(int argc, char **argv);
