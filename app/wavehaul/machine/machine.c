/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "machine/tree.h"

#define CAP_IPC_LOCK_BIT 14 /* linux/capability.h */

static void look_at_cpu(struct wh_machine *machine)
{
	char flags[sizeof(machine->flags) - 2];

	wh_tree_field(machine->root, machine->vendor, sizeof(machine->vendor), "/proc/cpuinfo",
		"vendor_id");
	wh_tree_field(machine->root, machine->model, sizeof(machine->model), "/proc/cpuinfo",
		"model name");
	wh_tree_field(machine->root, flags, sizeof(flags), "/proc/cpuinfo", "flags");
	snprintf(machine->flags, sizeof(machine->flags), " %s ", flags);
	machine->virtual = wh_machine_flag(machine, "hypervisor");
}

static void look_at_process(struct wh_machine *machine)
{
	static const char status[] = "/proc/self/status";
	char text[1024];
	const char *rest;
	uint64_t id;
	uint64_t capabilities;

	wh_tree_field(machine->root, text, sizeof(text), status, "Cpus_allowed_list");
	wh_cpus_parse(text, &machine->cpus);
	wh_tree_field(machine->root, text, sizeof(text), status, "Uid");
	rest = wh_scan_count(text, &id); /* the real id, followed by the effective one */
	machine->superuser =
		rest != NULL && wh_scan_count(rest + strspn(rest, " "), &id) != NULL && id == 0;
	wh_tree_field(machine->root, text, sizeof(text), status, "CapEff");
	machine->may_lock = wh_scan_hex(text, &capabilities) != NULL &&
			    (capabilities >> CAP_IPC_LOCK_BIT & 1) != 0;
}

void wh_machine_look(struct wh_machine *machine, const char *root)
{
	char nodes[1024];

	*machine = (struct wh_machine){.root = root, .live = root[0] == '\0'};
	look_at_cpu(machine);
	look_at_process(machine);
	wh_tree_line(root, machine->kernel, sizeof(machine->kernel), "/proc/sys/kernel/osrelease");
	wh_tree_line(root, nodes, sizeof(nodes), "/sys/devices/system/node/online");
	wh_cpus_parse(nodes, &machine->nodes);
	wh_machine_look_for_nics(machine);
}

void wh_machine_free(struct wh_machine *machine)
{
	free(machine->nic);
	machine->nic = NULL;
	machine->nics = 0;
}

bool wh_machine_flag(const struct wh_machine *machine, const char *flag)
{
	char word[32];
	int length = snprintf(word, sizeof(word), " %s ", flag);

	WH_ASSERT(length < (int)sizeof(word));
	WH_ASSERT(flag[0] != '\0' && strchr(flag, ' ') == NULL);
	return strstr(machine->flags, word) != NULL;
}

bool wh_machine_has_ready_nic(const struct wh_machine *machine)
{
	for (uint32_t i = 0; i < machine->nics; i++)
		if (wh_nic_ready(&machine->nic[i]))
			return true;
	return false;
}

static bool has_module(const struct wh_machine *machine, const char *name, const char *list)
{
	char file[64];

	snprintf(file, sizeof(file), "/%.50s.ko", name);
	return wh_tree_contains(
		machine->root, file, "/lib/modules/%s/modules.%s", machine->kernel, list);
}

enum wh_module wh_machine_module(const struct wh_machine *machine, const char *name)
{
	char folder[64];

	snprintf(folder, sizeof(folder), "%.60s", name);
	for (char *at = folder; (at = strchr(at, '-')) != NULL;)
		*at = '_';
	if (wh_tree_exists(machine->root, "/sys/module/%s", folder))
		return WH_MODULE_LOADED;
	if (has_module(machine, name, "builtin"))
		return WH_MODULE_BUILT_IN;
	return has_module(machine, name, "dep") ? WH_MODULE_THERE : WH_MODULE_MISSING;
}

bool wh_machine_noiommu_mode(const struct wh_machine *machine)
{
	char text[8];

	wh_tree_line(machine->root, text, sizeof(text), WH_NOIOMMU_KNOB);
	return strcmp(text, "Y") == 0 || strcmp(text, "1") == 0;
}

const char *wh_nic_driver(const struct wh_machine *machine, const struct wh_nic *nic)
{
	return nic->group >= 0 || wh_machine_noiommu_mode(machine) ? "vfio-pci" : "uio_pci_generic";
}

bool wh_machine_needs_vfio(const struct wh_machine *machine)
{
	bool ready = wh_machine_has_ready_nic(machine);

	for (uint32_t i = 0; i < machine->nics; i++) {
		enum wh_nic_holder holder = machine->nic[i].holder;

		if (holder == WH_NIC_VFIO ||
			(!ready && (holder == WH_NIC_KERNEL || holder == WH_NIC_NOBODY)))
			return true;
	}
	return false;
}
