/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A NIC that is to be removed is asked back: by the kernel, which waits until vfio has closed it,
 * or by a driver beside the kernel's (mlx5). The port's owner closes it then.
 */

#include "port/port.h"

/* From now on wh_port_is_asked_back tells. For a port whose device is there. */
void wh_removal_watch(struct wh_port *port);

/* Before the device is closed. May be called without _watch. */
void wh_removal_end(struct wh_port *port);
