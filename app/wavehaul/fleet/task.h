/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a task of the array does: one shard, by `wavehaul send`, to one receiver after the other. */

#include <stdint.h>

#include "fleet/fleet_plan.h"

/* An exit status, after a complaint unless it is 0. */
int wh_fleet_task(const struct wh_plan *plan, uint32_t shard);

/*
 * Sends a shard that is done once more: `send` compares the bytes of each file at both ends, and
 * what differs goes again. WH_EXIT_VERIFY: something did.
 */
int wh_fleet_check(const struct wh_plan *plan, uint32_t shard);
