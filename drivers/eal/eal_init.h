/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * rte_eal_init without two things that DPDK 22.11 does in it, whatever its options: it opens every
 * driver that is installed, 128 shared objects, and sleeps for 100 ms to learn the TSC's rate where
 * CPUID does not tell it. Together they are half of what a short command takes.
 *
 * Both go through a function of the C library, nanosleep and dlopen, which eal_init.c defines for
 * the whole program. They do what those of the library do, except during wh_eal_init: the sleep
 * of 100 ms lasts 10 ms, and the question whether DPDK is a shared library, which decides whether
 * the drivers' folder is opened, is denied if the caller names the drivers it needs.
 */

#include <stdbool.h>
#include <stddef.h>

/* Writes the path of a driver, as net_memif, for -d; false: there is no such file. */
bool wh_eal_driver_path(const char *driver, char *path, size_t path_bytes);

/*
 * As rte_eal_init, once in a process. `drivers_named`: of DPDK's drivers only those are opened that
 * the arguments name by -d; mempool_ring must be among them, without which there are no pools.
 */
int wh_eal_init(int count, char **arguments, bool drivers_named);
