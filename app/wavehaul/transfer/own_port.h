/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A client's transfer through a port of its own. */

#include "guard/hook.h"
#include "transfer/transfer.h"

/* After its operands were read. `then_run`: the command that runs afterwards. An exit status. */
int wh_transfer_by_port(struct wh_transfer *transfer, struct wh_hook *then_run);
