/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What we do on EAL's interrupt thread. An alarm would not do: one that sets the next can keep the
 * thread in EAL's loop over alarms, away from its other events, and rte_eal_cleanup waits for it.
 */

#include <stdbool.h>

/*
 * The thread calls `callback`, with none of its locks held, while the eventfd that is returned is
 * readable. -1: there is no descriptor or memory for it. It stays for as long as the process lives.
 */
int wh_interrupts_add(void (*callback)(void *unused));

/*
 * Stops EAL's interrupt thread until the process ends. Call between the last port's end and
 * rte_eal_cleanup (DPDK 22.11), which wakes that thread to look at its handles and unmaps them
 * without waiting; memif leaves the handle of each socket on which it listened. False: the thread
 * could not be stopped within a second.
 */
bool wh_interrupts_park(void);
