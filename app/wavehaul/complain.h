/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_COMPLAIN_H
#define WH_APP_COMPLAIN_H

/*
 * One clear sentence to the operator, on stderr: what happened, and what to do. The last one is
 * kept, since it is the `error` of --json, too. For the main thread.
 */

void wh_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An event that is worth a line on stderr and is nobody's failure; from any thread. */
void wh_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "" when there was none. */
const char *wh_last_complaint(void);

#endif
