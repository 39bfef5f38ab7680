/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_HANDED_H
#define WH_APP_HANDED_H

/* A transfer that the server of this host runs, by its port, for a client that asks it to. */

#include <stdbool.h>

#include "report/transfer.h"

/*
 * By --daemon, whose operands were read: false: the client opens a port of its own. *status: an
 * exit status, whose words were said.
 */
bool wh_transfer_hand_over(struct wh_transfer *transfer, int *status);

#endif
