/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The doctor's checks, each of one fact. They change nothing. */

#include "doctor/finding.h"
#include "machine/machine.h"

/* Hugepages that the demo takes with its defaults; test/app/lab/demo_plan.c compares its plan. */
#define WH_DOCTOR_DEMO_POOL_BYTES (UINT64_C(1082) << 20)

/* software.c */
struct wh_finding wh_check_kernel(const struct wh_machine *machine);
struct wh_finding wh_check_dpdk(const struct wh_machine *machine);
struct wh_finding wh_check_rights(const struct wh_machine *machine);
struct wh_finding wh_check_memlock(const struct wh_machine *machine);
struct wh_finding wh_check_sockets(const struct wh_machine *machine);
struct wh_finding wh_check_io_uring(const struct wh_machine *machine);
struct wh_finding wh_check_room(const struct wh_machine *machine);

/* cpu.c */
struct wh_finding wh_check_cpu(const struct wh_machine *machine);
struct wh_finding wh_check_vectors(const struct wh_machine *machine);
struct wh_finding wh_check_cpus(const struct wh_machine *machine);
struct wh_finding wh_check_isolation(const struct wh_machine *machine);
struct wh_finding wh_check_governor(const struct wh_machine *machine);
struct wh_finding wh_check_smt(const struct wh_machine *machine);
struct wh_finding wh_check_clock(const struct wh_machine *machine);
struct wh_finding wh_check_tsc(const struct wh_machine *machine);

/* doctor_memory.c */
struct wh_finding wh_check_node(const struct wh_machine *machine, int node);
struct wh_finding wh_check_placement(const struct wh_machine *machine);
struct wh_finding wh_check_hugepages(const struct wh_machine *machine);

/* devices.c */
struct wh_finding wh_check_iommu(const struct wh_machine *machine);
struct wh_finding wh_check_vfio(const struct wh_machine *machine);
struct wh_finding wh_check_nic(const struct wh_machine *machine, const struct wh_nic *nic);
