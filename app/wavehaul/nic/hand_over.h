/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A NIC changes hands between the kernel's driver and DPDK's, now and for each boot: the kernel
 * takes the driver that is written to driver_override, and a rule of udev writes it again.
 */

#include <stdbool.h>

#include "machine/machine.h"

/* False after a complaint; the NIC then has the driver that it had. */
bool wh_nic_hand_over(const struct wh_machine *machine, const struct wh_nic *nic);
bool wh_nic_take_back(const struct wh_machine *machine, const struct wh_nic *nic);
