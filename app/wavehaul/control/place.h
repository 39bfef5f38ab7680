/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONTROL_PLACE_H
#define WH_CONTROL_PLACE_H

/* Where the control socket is, for its server and for whoever asks it. */

#include "control/control.h"

/*
 * A socket of that name, for its owner and the group of `user`, "" for the service's; what a server
 * has left that is gone is replaced. Or a negative errno; -EADDRINUSE: another one answers there.
 */
int wh_control_bind(const char *path, const char *user);

/* A connection to it, or a negative errno. */
int wh_control_connect(const char *path);

#endif
