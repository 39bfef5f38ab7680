/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A guarded process cannot connect, but a memif client must when its server restarts
 * (port/rejoin.h): a caller, limited to the path of that socket, connects for it. One per process,
 * like the guard.
 */

#include "port/spec.h"

/* While the process has one thread; does nothing if the port does not rejoin. */
void wh_seeker_start(const struct wh_port_spec *port);

/* Call when the process has entered its guard: from now on the caller connects. */
void wh_seeker_guard(void);

/* The port is closed: ends the caller. */
void wh_seeker_end(void);
