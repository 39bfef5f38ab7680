/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Binding the control socket, and connecting to it. */

#include "control/control.h"

/*
 * A bound socket for its owner and the group of `user` ("": the service's); replaces one that a
 * dead server has left. Or a negative errno; -EADDRINUSE: another server answers there.
 */
int wh_control_bind(const char *path, const char *user);

/* A connected socket, or a negative errno. */
int wh_control_connect(const char *path);
