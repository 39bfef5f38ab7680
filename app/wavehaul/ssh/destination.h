/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * USER@HOST: a server is to be started there by ssh. What the operator wrote becomes one argument
 * of ssh, so nothing in it may look like an option, or mean something to a shell that ssh's
 * configuration gives it to (ProxyCommand).
 */

#include <stdbool.h>
#include <stdint.h>

bool wh_destination_has_user(const char *host);

/* NULL, or what is wrong with it, to follow it in a sentence. */
const char *wh_destination_wrong(const char *host);

/* The host's name or address, behind the user. */
const char *wh_destination_name(const char *host);

#define WH_DESTINATION_WORDS_MAX 64

/*
 * Fills in the words of a command: those of `ssh`, which is split at blanks in place, and then at
 * most five of `behind`, which end with a NULL. False: `ssh` has no words, or too many.
 */
#define WH_DESTINATION_WORDS_BEHIND 5
bool wh_destination_command(
	char *ssh, const char *const *behind, char *word[WH_DESTINATION_WORDS_MAX]);
