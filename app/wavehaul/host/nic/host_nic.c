/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/nic/host_nic.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "machine/machine.h"
#include "machine/routes.h"
#include "machine/tree.h"

static bool keeps_default_route(const char *what, char *why, size_t why_bytes)
{
	snprintf(why, why_bytes,
		"%.40s carries the default route, so the system keeps it: choose another --port, "
		"or share the interface with af_packet:IFACE",
		what);
	return false;
}

/* Both may open it by its device's file, which a group belongs to. */
static bool may_open(const struct wh_nic *nic, const char *root, char *why, size_t why_bytes)
{
	char path[PATH_MAX];
	char file[WH_NIC_FILE_MAX];

	wh_nic_file(root, nic, file);
	snprintf(path, sizeof(path), "%.3000s%s", root, file);
	if (file[0] == '\0' || access(path, R_OK | W_OK) == 0)
		return true;
	snprintf(why, why_bytes,
		"user %u may not open %s of %s (%s): be root, or let udev give it to a group of "
		"yours, as the package does for the group wavehaul",
		(unsigned int)geteuid(), file, nic->address, strerror(errno));
	return false;
}

static bool is_whole_group(
	const struct wh_machine *machine, const struct wh_nic *nic, char *why, size_t why_bytes)
{
	const struct wh_nic *mate = wh_nic_mate(machine, nic, NULL);

	if (nic->mates[0] == '\0' && mate == NULL)
		return true;
	snprintf(why, why_bytes, "%s shares IOMMU group %d with %s, and a group has one owner: %s",
		nic->address, (int)nic->group, nic->mates[0] != '\0' ? nic->mates : mate->address,
		nic->mates[0] != '\0' ? "put it into another slot" : "`wavehaul nic bind` both");
	return false;
}

static bool is_dpdks(const struct wh_machine *machine, const struct wh_nic *nic,
	struct wh_port_spec *spec, char *why, size_t why_bytes)
{
	char user[80];

	spec->physical = nic->holder == WH_NIC_UIO || wh_machine_noiommu_mode(machine);
	if (wh_nic_user(machine->root, nic, user, sizeof(user)))
		snprintf(why, why_bytes,
			"%s is in use by %s, and a NIC has one user: stop that; if it is this "
			"host's server, `wavehaul job add` lets it do the transfer",
			nic->address, user);
	else if (spec->physical && !machine->superuser)
		snprintf(why, why_bytes,
			"%s has no IOMMU that keeps it to its memory, so only root may use it: "
			"sudo wavehaul; for the service: wavehaul nic release %s, and port = "
			"af_packet:INTERFACE",
			nic->address, nic->address);
	else
		return is_whole_group(machine, nic, why, why_bytes) &&
		       may_open(nic, machine->root, why, why_bytes);
	return false;
}

/*
 * A driver beside which DPDK works (mlx5) gives us all packets to the NIC's address, the kernel's,
 * too, as long as the port is open.
 */
static bool spares_system(const struct wh_nic *nic, char *why, size_t why_bytes)
{
	if (nic->session[0] != '\0')
		snprintf(why, why_bytes,
			"%.80s through %s, whose packets would all be wavehaul's: choose another "
			"--port, or share it with af_packet:%s",
			nic->session, nic->interface, nic->interface);
	else if (nic->upper[0] != '\0')
		snprintf(why, why_bytes,
			"%s is part of %s, whose packets would be wavehaul's: choose another "
			"--port, or share it with af_packet:%s",
			nic->interface, nic->upper, nic->upper);
	else
		return true;
	return false;
}

static bool may_have(const struct wh_machine *machine, const struct wh_nic *nic,
	struct wh_port_spec *spec, char *why, size_t why_bytes)
{
	if (nic->default_route)
		return keeps_default_route(spec->target, why, why_bytes);
	switch (nic->holder) {
	case WH_NIC_VFIO:
	case WH_NIC_UIO:
		return is_dpdks(machine, nic, spec, why, why_bytes);
	case WH_NIC_SYSTEM:
	case WH_NIC_KERNEL:
	case WH_NIC_NOBODY:
		snprintf(why, why_bytes,
			"%s has %s%s, not DPDK's: `sudo wavehaul nic bind %s` hands it over",
			nic->address, nic->driver[0] != '\0' ? "the driver " : "no driver",
			nic->driver, nic->address);
		return false;
	case WH_NIC_IN_PLACE:
		return spares_system(nic, why, why_bytes);
	case WH_NIC_FOREIGN: /* DPDK decides: it may have a driver that we do not know */
		break;
	}
	return true;
}

bool wh_host_may_have_nic(
	struct wh_port_spec *spec, const char *root, bool superuser, char *why, size_t why_bytes)
{
	struct wh_machine machine = {.root = root, .superuser = superuser};

	wh_machine_look_for_nics(&machine);

	const struct wh_nic *nic = wh_machine_nic(&machine, spec->target);
	bool may = nic == NULL || may_have(&machine, nic, spec, why, why_bytes);

	if (nic != NULL)
		spec->node = (int)nic->node;
	wh_machine_free(&machine);
	return may;
}

/* An interface of software has no device. */
static void find_node_of_interface(struct wh_port_spec *spec)
{
	int64_t node;

	if (wh_tree_number("", &node, "/sys/class/net/%s/device/numa_node", spec->target))
		spec->node = (int)node;
}

bool wh_host_near_cpus(const struct wh_port_spec *spec, const char *root, cpu_set_t *cpus)
{
	char list[1024];

	if (spec->node < 0 || !wh_tree_line(root, list, sizeof(list),
				      "/sys/devices/system/node/node%d/cpulist", spec->node))
		return false;
	wh_cpus_parse(list, cpus);
	return true;
}

bool wh_host_may_have(struct wh_port_spec *spec, char *why, size_t why_bytes)
{
	if (spec->kind == WH_PORT_PCI)
		return wh_host_may_have_nic(spec, "", geteuid() == 0, why, why_bytes);
	if (spec->verbatim || (spec->kind != WH_PORT_AF_XDP && spec->kind != WH_PORT_AF_PACKET))
		return true;
	find_node_of_interface(spec);
	if (spec->kind == WH_PORT_AF_XDP && wh_interface_has_default_route("", spec->target))
		return keeps_default_route(spec->target, why, why_bytes);
	return true;
}
