/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * AF_PACKET shares an interface between processes: two wans on it would carry each frame twice. Two
 * on a tap would get a part of its frames each. So each interface of a network namespace has at
 * most one wan.
 */

#include "port/spec.h"

#define WH_WAN_TAKEN -2

/* A descriptor to be kept open, or -1 if none is needed; WH_WAN_TAKEN after a complaint. */
int wh_wan_claim(const struct wh_port_spec *spec);
