/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What uses an interface of the kernel: its routes, and those who are connected through them. */

#include <stdbool.h>

#include "machine/machine.h"

bool wh_interface_has_routes(const char *root, const char *interface);
bool wh_interface_has_default_route(const char *root, const char *interface);

/*
 * Whether packets to somebody who is connected to a TCP port of this host go out by the interface:
 * "198.51.100.9 is connected to TCP port 22". Counted are port 22, even if nothing listens there
 * any more, and every port where something listens.
 */
bool wh_interface_session(const char *root, const char *interface, char text[WH_SESSION_TEXT_MAX]);
