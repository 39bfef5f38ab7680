/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Ctrl-C, termination and a closed terminal end a verb in an orderly way, with nothing left half
 * done. From a third one on, seconds after the first, they end the process at once.
 */

#include <stdbool.h>
#include <stdint.h>

/* Also ignores SIGPIPE, and SIGXFSZ: a file size limit is an error like a full disk. */
void wh_signals_catch(void);

/* How often the operator has asked to end. */
uint32_t wh_signals_count(void);

/* From now on SIGHUP does not end the verb but asks to read files again: true once for each. */
void wh_signals_catch_reload(void);
bool wh_signals_reload(void);
