/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What can follow a verb and an option, for the scripts of all shells. */

#include "cli/settings_table.h"

/* What a verb's operands, or an option's value, may be. */
enum wh_completes {
	WH_COMPLETES_NOTHING, /* or a text that only the operator knows */
	WH_COMPLETES_LOCAL,
	WH_COMPLETES_REMOTE,  /* HOST:PATH */
	WH_COMPLETES_EITHER,  /* files here, then HOST:PATH */
	WH_COMPLETES_FETCHED, /* HOST:PATH, then files here */
	WH_COMPLETES_HOST,
	WH_COMPLETES_JOB,
	WH_COMPLETES_PEER,
	WH_COMPLETES_SCENARIO,
	WH_COMPLETES_VERB,
	WH_COMPLETES_WORDS,   /* a value: those of wh_complete_words */
	WH_COMPLETES_OPTIONS, /* a value: PROFILE.OPTION= */
};

/* The words of which a verb's first operand is one, as "list show"; "": none. */
const char *wh_complete_first(enum wh_verb verb);

/* What a verb's other operands are; those of `job add` are those of send. */
enum wh_completes wh_complete_operands(enum wh_verb verb);

enum wh_completes wh_complete_value(const struct wh_setting *setting);

/* Prints the words of a setting's value, each followed by a blank. */
void wh_complete_words(const struct wh_setting *setting);
void wh_complete_profiles(void);

/*
 * Prints PROFILE.OPTION for all switches, or for all other options: `behind` follows each, and
 * `between` stands between two.
 */
void wh_complete_options(bool switches, const char *between, const char *behind);

/* bash.c, zsh.c, fish.c: the script, on stdout. */
void wh_complete_bash(void);
void wh_complete_zsh(void);
void wh_complete_fish(void);
