/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_COMPLAIN_H
#define WH_APP_COMPLAIN_H

#include <stdbool.h>

/*
 * One clear sentence to the operator, on stderr: what happened, and what to do. The last one is
 * kept, since it is the `error` of --json, too. For the main thread.
 */

void wh_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From here on events are worth no line. */
void wh_say_nothing(void);

/* An event that is worth a line on stderr and is nobody's failure; from any thread. */
void wh_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A line that is written over is open on stderr: `erase` goes before the next sentence, so that the
 * two do not stick together. NULL: it is no more. The text lives on.
 */
void wh_complain_over(const char *erase);

/* "" when there was none. */
const char *wh_last_complaint(void);

/* Whether a word is on the command line: for a wish that holds when the rest cannot be read. */
bool wh_words_contain(int argc, char *const *argv, const char *word);

#endif
