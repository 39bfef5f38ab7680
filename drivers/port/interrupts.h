/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/*
 * Stops EAL's interrupt thread until the process ends. Call between the last port's end and
 * rte_eal_cleanup (DPDK 22.11), which wakes that thread to look at its handles and unmaps them
 * without waiting; memif leaves the handle of each socket on which it listened. False: the thread
 * could not be stopped within a second.
 */
bool wh_interrupts_park(void);
