/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "cli/settings.h"

/* One file per verb; each gets its own argc and argv, argv[0] being its name. */

int wh_verb_completion(int argc, char **argv);
int wh_verb_doctor(int argc, char **argv);
int wh_verb_serve(int argc, char **argv);
int wh_verb_send(int argc, char **argv);
int wh_verb_get(int argc, char **argv);
int wh_verb_bench(int argc, char **argv);
int wh_verb_probe(int argc, char **argv);
int wh_verb_profiles(int argc, char **argv);
int wh_verb_keygen(int argc, char **argv);
int wh_verb_job(int argc, char **argv);
int wh_verb_fleet(int argc, char **argv);
int wh_verb_console(int argc, char **argv);
int wh_verb_trust(int argc, char **argv);
int wh_verb_nic(int argc, char **argv);
int wh_verb_parts(int argc, char **argv);
int wh_verb_report(int argc, char **argv);
int wh_verb_rpc(enum wh_verb verb, int argc, char **argv); /* ls, du, rm, mkdir, mv, ping */
