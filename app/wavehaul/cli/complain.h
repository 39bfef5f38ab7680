/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/*
 * One clear sentence to the operator, on stderr: what happened, and what to do. The last one is
 * kept as the `error` of --json. Only on the main thread.
 */

void wh_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Complains and returns the status: an exit status, a negative errno, or false. */
int wh_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on wh_say prints nothing; and wh_complain keeps its sentence, but prints nothing. */
void wh_say_nothing(void);
void wh_complain_to_nobody(void);

/* Prints an event on stderr that is no failure; on any thread. */
void wh_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A progress line is open on stderr: `erase` is printed before the next sentence to clear it. NULL:
 * it is no longer open. The text must stay valid.
 */
void wh_complain_over(const char *erase);

/* The last complaint; "": there was none. */
const char *wh_last_complaint(void);

/* Forgets the last complaint: what failed is being tried again, or belongs to another job. */
void wh_complaint_forget(void);

/* Whether a word is on the command line: for an option that applies even if the rest is invalid. */
bool wh_words_contain(int argc, char *const *argv, const char *word);
