/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Whether this machine lets us have a port's NIC or interface. */

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "port/spec.h"

/*
 * False, and in `why` one sentence: the port would take the default route from the system, and so
 * perhaps the operator's own connection; or a NIC is not DPDK's, another process has it, or we may
 * not open it. AF_PACKET shares an interface with the kernel, and is allowed.
 * Sets spec->physical and spec->node.
 */
bool wh_host_may_have(struct wh_port_spec *spec, char *why, size_t why_bytes);

/* The same of a NIC, from the kernel's files below a root, for a process of root or not. */
bool wh_host_may_have_nic(
	struct wh_port_spec *spec, const char *root, bool superuser, char *why, size_t why_bytes);

/* The CPUs of spec->node, from the kernel's files below a root. False: unknown. */
bool wh_host_near_cpus(const struct wh_port_spec *spec, const char *root, cpu_set_t *cpus);
