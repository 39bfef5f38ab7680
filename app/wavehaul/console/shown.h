/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Answers of the control socket for people: tables, and lists of facts. */

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* The size of a terminal; 0: unlimited. */
struct wh_shown_room {
	uint32_t lines;
	uint32_t columns;
};

/*
 * Shows the answer to a command. `before`: the answer `seconds` earlier, to calculate rates; NULL:
 * none. Names are shown without control characters.
 */
void wh_answer_show(const char *command, const json_t *answer, const json_t *before, double seconds,
	struct wh_shown_room room, FILE *to);
