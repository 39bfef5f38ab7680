/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A client's transfer that is run by the server of this host, through that server's port. */

#include <stdbool.h>

#include "guard/hook.h"
#include "transfer/operands.h"
#include "transfer/told.h"

/*
 * Lets the server run the transfer if --daemon says so; the operands were read before. False: the
 * client must open its own port. *status: the exit status, after the report; *event: the job as
 * --then-run is told of it.
 */
bool wh_transfer_hand_over(
	struct wh_wanted *wanted, struct wh_told *told, struct wh_hook_event *event, int *status);
