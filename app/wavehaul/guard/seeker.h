/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_GUARD_SEEKER_H
#define WH_APP_GUARD_SEEKER_H

/*
 * A guarded process connects to nobody, and the client of a memif has to, when its server begins
 * anew (port/rejoin.h): a caller does it, which knows the path of that socket alone. One of the
 * process, as its guard is.
 */

#include "port/spec.h"

/* While the process has one thread; of a port that does not rejoin nothing happens. */
void wh_seeker_start(const struct wh_port_spec *port);

/* The process has entered its guard: whom it looks for it finds by the caller from now on. */
void wh_seeker_guard(void);

/* There is nobody to look for any more. */
void wh_seeker_end(void);

#endif
