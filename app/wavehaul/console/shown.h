/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONSOLE_SHOWN_H
#define WH_CONSOLE_SHOWN_H

/* Answers of the control socket for people: tables, and lists of facts. */

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

/* What a terminal has of both; 0: as much as is wanted. */
struct wh_shown_room {
	uint32_t lines;
	uint32_t columns;
};

/*
 * The answer to a command. `before`: the answer of so many seconds ago, of whose difference rates
 * are made; NULL: there is none. Nothing of it moves a cursor or hides, whatever names there are.
 */
void wh_answer_show(const char *command, const json_t *answer, const json_t *before, double seconds,
	struct wh_shown_room room, FILE *to);

#endif
