/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A transfer of send, get or the queue. */

#include "transfer/operands.h"
#include "transfer/running.h"
#include "transfer/told.h"

struct wh_transfer {
	struct wh_wanted wanted;
	struct wh_running running;
	struct wh_told told;
};
