/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What the kernel says of its own interfaces, below a port or beside it. A process that asks under
 * a guard must have asked once before, since the guard allows no new socket.
 */

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/* Each returns 0, or a negative errno: -ENODEV if there is no such interface. */
int wh_interface_number(const char *name, unsigned int *number);
int wh_interface_name(unsigned int number, char name[IF_NAMESIZE]);
int wh_interface_mtu(const char *name, uint32_t *mtu);
int wh_interface_is_up(const char *name, bool *up);

/* Whether GRO or LRO is on: related frames are then merged into one that no line carries. */
int wh_interface_merges(const char *name, bool *merges);

/* Receive queues in use; -EOPNOTSUPP: the driver does not tell. */
int wh_interface_queues(const char *name, uint32_t *queues);
