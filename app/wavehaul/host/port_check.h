/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PORT_CHECK_H
#define WH_APP_PORT_CHECK_H

#include <stdbool.h>

#include "port/spec.h"

/*
 * Whether the port would take from the system the NIC or interface of its default route, and with
 * it the operator's own connection, perhaps; then one sentence in `why`. AF_PACKET shares an
 * interface with the kernel, and may.
 */
bool wh_port_is_systems(const struct wh_port_spec *spec, char *why, size_t why_bytes);

#endif
