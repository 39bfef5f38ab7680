/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SIGNALS_H
#define WH_APP_SIGNALS_H

/*
 * Ctrl-C, termination and a lost terminal end a verb in good order: nothing half done is left
 * behind.
 */

#include <stdbool.h>
#include <stdint.h>

/* Also ignores SIGPIPE, and SIGXFSZ: a file size limit is an error like a full disk. */
void wh_signals_catch(void);

/* How often the operator has asked for the end. */
uint32_t wh_signals_count(void);

/* SIGHUP is no end from now on, but a wish to read files again: true once for each that came. */
void wh_signals_catch_reload(void);
bool wh_signals_reload(void);

#endif
