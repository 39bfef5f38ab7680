/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Where figures are served: [ADDRESS:]PORT, reachable from this host only unless an address is
 * given.
 */

#define WH_LISTEN_TEXT_BYTES 64

/*
 * A listening socket, and in `told` its address, with the actual port if port 0 was given. Or a
 * negative errno; -EINVAL: not a valid text.
 */
int wh_listen_open(const char *text, char told[WH_LISTEN_TEXT_BYTES]);
