/* SPDX-License-Identifier: BSD-3-Clause */

/* The network devices on the PCI bus, and their drivers. */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"
#include "base/units.h"
#include "machine/machine.h"
#include "machine/routes.h"
#include "machine/tree.h"

#define DEVICES "/sys/bus/pci/devices"

/* PCI class codes: the base class, and its subclasses that can carry Ethernet. */
#define CLASS_NETWORK    0x02
#define CLASS_BRIDGE     0x06
#define CLASS_ETHERNET   0x0200
#define CLASS_INFINIBAND 0x0207

/* No kernel reports more, but a copied tree may. */
#define SPEED_MAX_MBPS 1000000000

/*
 * Kernel drivers of PCI devices for which DPDK 22.11 (Debian 12) has its own driver, and those
 * beside whose kernel driver DPDK works.
 */
static const struct {
	const char *name;
	enum wh_nic_holder holder;
} drivers[] = {
	{"vfio-pci", WH_NIC_VFIO},
	{"igb_uio", WH_NIC_UIO},
	{"uio_pci_generic", WH_NIC_UIO},
	{"mlx4_core", WH_NIC_IN_PLACE},
	{"mlx5_core", WH_NIC_IN_PLACE},
	{"atlantic", WH_NIC_KERNEL},
	{"bnx2x", WH_NIC_KERNEL},
	{"bnxt_en", WH_NIC_KERNEL},
	{"cxgb4", WH_NIC_KERNEL},
	{"cxgb4vf", WH_NIC_KERNEL},
	{"e1000", WH_NIC_KERNEL},
	{"e1000e", WH_NIC_KERNEL},
	{"ena", WH_NIC_KERNEL},
	{"enic", WH_NIC_KERNEL},
	{"fm10k", WH_NIC_KERNEL},
	{"gve", WH_NIC_KERNEL},
	{"hinic", WH_NIC_KERNEL},
	{"hns3", WH_NIC_KERNEL},
	{"i40e", WH_NIC_KERNEL},
	{"iavf", WH_NIC_KERNEL},
	{"ice", WH_NIC_KERNEL},
	{"idpf", WH_NIC_KERNEL},
	{"igb", WH_NIC_KERNEL},
	{"igbvf", WH_NIC_KERNEL},
	{"igc", WH_NIC_KERNEL},
	{"ionic", WH_NIC_KERNEL},
	{"ixgbe", WH_NIC_KERNEL},
	{"ixgbevf", WH_NIC_KERNEL},
	{"nfp", WH_NIC_KERNEL},
	{"ngbe", WH_NIC_KERNEL},
	{"qede", WH_NIC_KERNEL},
	{"sfc", WH_NIC_KERNEL},
	{"txgbe", WH_NIC_KERNEL},
	{"virtio-pci", WH_NIC_KERNEL},
	{"vmxnet3", WH_NIC_KERNEL},
};

/* "0000:3b:00.0" only: the address becomes part of a command. */
static bool is_address(const char *text)
{
	static const char form[] = "xxxx:xx:xx.x";

	static_assert(sizeof(form) <= WH_NIC_ADDRESS_MAX, "it is copied as it is");

	if (strlen(text) != sizeof(form) - 1)
		return false;
	for (size_t i = 0; form[i] != '\0'; i++) {
		bool digit = strchr("0123456789abcdef", text[i]) != NULL;

		if (form[i] == 'x' ? !digit : text[i] != form[i])
			return false;
	}
	return true;
}

static void look_for_upper(struct wh_machine *machine, const char *folder, struct wh_nic *nic)
{
	static const char prefix[] = "upper_";
	struct wh_tree_list list = wh_tree_list(machine->root, "%s", folder);

	for (int i = 0; i < list.count && nic->upper[0] == '\0'; i++) {
		const char *name = list.entry[i]->d_name;

		if (strncmp(name, prefix, sizeof(prefix) - 1) == 0)
			snprintf(
				nic->upper, sizeof(nic->upper), "%.31s", name + sizeof(prefix) - 1);
	}
	wh_tree_list_free(&list);
}

static void look_at_interface(
	struct wh_machine *machine, const char *net, const char *name, struct wh_nic *nic)
{
	char folder[600];
	int64_t number;

	snprintf(folder, sizeof(folder), "%s/%s", net, name);
	nic->routes |= wh_interface_has_routes(machine->root, name);
	nic->default_route |= wh_interface_has_default_route(machine->root, name);
	if (nic->session[0] == '\0')
		wh_interface_session(machine->root, name, nic->session);
	look_for_upper(machine, folder, nic);
	if (nic->interfaces++ > 0)
		return;
	snprintf(nic->interface, sizeof(nic->interface), "%.31s", name);
	nic->link = wh_tree_number(machine->root, &number, "%s/carrier", folder) && number == 1;
	if (wh_tree_number(machine->root, &number, "%s/speed", folder) && number > 0 &&
		number <= SPEED_MAX_MBPS)
		nic->speed_mbps = number;
	if (wh_tree_number(machine->root, &number, "%s/mtu", folder) && number > 0)
		nic->mtu_bytes = number;
}

static void look_at_interfaces(struct wh_machine *machine, const char *net, struct wh_nic *nic)
{
	struct wh_tree_list list = wh_tree_list(machine->root, "%s", net);

	for (int i = 0; i < list.count; i++)
		look_at_interface(machine, net, list.entry[i]->d_name, nic);
	wh_tree_list_free(&list);
}

/* A virtio device's interfaces are one folder deeper. */
static void look_at_all_interfaces(struct wh_machine *machine, struct wh_nic *nic)
{
	char path[300];
	struct wh_tree_list list = wh_tree_list(machine->root, DEVICES "/%s", nic->address);

	snprintf(path, sizeof(path), DEVICES "/%s/net", nic->address);
	look_at_interfaces(machine, path, nic);
	for (int i = 0; i < list.count; i++) {
		const char *name = list.entry[i]->d_name;

		if (strncmp(name, "virtio", strlen("virtio")) != 0)
			continue;
		snprintf(path, sizeof(path), DEVICES "/%s/%.200s/net", nic->address, name);
		look_at_interfaces(machine, path, nic);
	}
	wh_tree_list_free(&list);
}

static void add_mate(struct wh_nic *nic, const char *address, const char *driver)
{
	size_t used = strlen(nic->mates);

	snprintf(nic->mates + used, sizeof(nic->mates) - used, "%s%.12s (%.31s)",
		used > 0 ? ", " : "", address, driver);
}

/* A bridge may be in a group; any other device with a driver that is not vfio's may not. */
static void look_at_group(struct wh_machine *machine, struct wh_nic *nic)
{
	char group[24];
	uint64_t number;

	if (!wh_tree_link(
		    machine->root, group, sizeof(group), DEVICES "/%s/iommu_group", nic->address) ||
		wh_parse_count(group, &number) != 0)
		return;
	nic->group = (int64_t)number;

	struct wh_tree_list list =
		wh_tree_list(machine->root, "/sys/kernel/iommu_groups/%s/devices", group);

	for (int i = 0; i < list.count; i++) {
		const char *mate = list.entry[i]->d_name;
		char driver[32];
		int64_t class = 0;

		wh_tree_number(machine->root, &class, DEVICES "/%s/class", mate);
		if (class >> 16 != CLASS_NETWORK && class >> 16 != CLASS_BRIDGE &&
			wh_tree_link(machine->root, driver, sizeof(driver), DEVICES "/%s/driver",
				mate) &&
			strcmp(driver, "vfio-pci") != 0)
			add_mate(nic, mate, driver);
	}
	wh_tree_list_free(&list);
}

static enum wh_nic_holder holder_of(const struct wh_nic *nic, int64_t class)
{
	bool carries_ethernet = class == CLASS_ETHERNET || class == CLASS_INFINIBAND;

	if (nic->driver[0] == '\0')
		return carries_ethernet ? WH_NIC_NOBODY : WH_NIC_FOREIGN;
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		if (strcmp(nic->driver, drivers[i].name) != 0)
			continue;
		if (drivers[i].holder == WH_NIC_KERNEL &&
			(nic->default_route || nic->upper[0] != '\0' || nic->session[0] != '\0'))
			return WH_NIC_SYSTEM;
		return drivers[i].holder;
	}
	return WH_NIC_FOREIGN;
}

bool wh_nic_ready(const struct wh_nic *nic)
{
	return nic->holder == WH_NIC_VFIO || nic->holder == WH_NIC_UIO ||
	       nic->holder == WH_NIC_IN_PLACE;
}

static bool look_at_nic(struct wh_machine *machine, const char *address, struct wh_nic *nic)
{
	const char *root = machine->root;
	int64_t class = 0;
	int64_t number;

	*nic = (struct wh_nic){.node = -1, .group = -1};
	if (!is_address(address) || !wh_tree_number(root, &class, DEVICES "/%s/class", address) ||
		class >> 16 != CLASS_NETWORK)
		return false;
	strcpy(nic->address, address);
	if (wh_tree_number(root, &number, DEVICES "/%s/vendor", address))
		nic->vendor = (uint16_t)number;
	if (wh_tree_number(root, &number, DEVICES "/%s/device", address))
		nic->device = (uint16_t)number;
	wh_tree_number(root, &nic->node, DEVICES "/%s/numa_node", address);
	wh_tree_link(root, nic->driver, sizeof(nic->driver), DEVICES "/%s/driver", address);
	nic->verbs = wh_tree_exists(root, DEVICES "/%s/infiniband_verbs", address);
	look_at_all_interfaces(machine, nic);
	look_at_group(machine, nic);
	nic->holder = holder_of(nic, class >> 8);
	WH_ASSERT(!wh_nic_ready(nic) || nic->driver[0] != '\0');
	return true;
}

/* A NIC that stays the system's keeps its group with it. */
static void look_at_mates(struct wh_machine *machine, struct wh_nic *nic)
{
	for (uint32_t i = 0; nic->group >= 0 && i < machine->nics; i++) {
		const struct wh_nic *mate = &machine->nic[i];

		if (mate != nic && mate->group == nic->group && mate->driver[0] != '\0' &&
			(mate->holder == WH_NIC_SYSTEM || mate->holder == WH_NIC_FOREIGN ||
				mate->holder == WH_NIC_IN_PLACE))
			add_mate(nic, mate->address, mate->driver);
	}
}

void wh_machine_look_for_nics(struct wh_machine *machine)
{
	struct wh_tree_list list = wh_tree_list(machine->root, DEVICES);

	WH_ASSERT(machine->nic == NULL && machine->nics == 0); /* called only once */
	if (list.count == 0)
		return;
	machine->nic = calloc((size_t)list.count, sizeof(*machine->nic));
	WH_ASSERT(machine->nic != NULL);
	for (int i = 0; i < list.count; i++)
		if (look_at_nic(machine, list.entry[i]->d_name, &machine->nic[machine->nics]))
			machine->nics++;
	for (uint32_t i = 0; i < machine->nics; i++)
		look_at_mates(machine, &machine->nic[i]);
	wh_tree_list_free(&list);
}

const struct wh_nic *wh_machine_nic(const struct wh_machine *machine, const char *address)
{
	for (uint32_t i = 0; i < machine->nics; i++)
		if (strcasecmp(machine->nic[i].address, address) == 0 ||
			strcasecmp(machine->nic[i].address + strlen("0000:"), address) == 0)
			return &machine->nic[i];
	return NULL;
}

const struct wh_nic *wh_nic_mate(
	const struct wh_machine *machine, const struct wh_nic *nic, const struct wh_nic *last)
{
	const struct wh_nic *end = machine->nic + machine->nics;

	for (const struct wh_nic *mate = last == NULL ? machine->nic : last + 1; mate < end; mate++)
		if (mate != nic && nic->group >= 0 && mate->group == nic->group &&
			mate->holder != WH_NIC_VFIO && mate->driver[0] != '\0')
			return mate;
	return NULL;
}
