/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PORT_INTERFACE_H
#define WH_PORT_INTERFACE_H

/*
 * What the kernel says of its own interfaces, below a port or beside it. Who goes on to ask under a
 * guard has asked something before it.
 */

#include <stdbool.h>
#include <stdint.h>

/* Each returns 0, or a negative errno: -ENODEV when there is no interface of that name. */
int wh_interface_number(const char *name, unsigned int *number);
int wh_interface_mtu(const char *name, uint32_t *mtu);
int wh_interface_is_up(const char *name, bool *up);

/* Frames that belong together come as one, which no line carries: GRO or LRO is on. */
int wh_interface_merges(const char *name, bool *merges);

/* Receiving queues in use; -EOPNOTSUPP where the driver does not tell. */
int wh_interface_queues(const char *name, uint32_t *queues);

#endif
