/* SPDX-License-Identifier: BSD-3-Clause */

/* The doctor on NICs, and on the IOMMU and vfio-pci, which give programs access to them. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "doctor/checks.h"
#include "machine/tree.h"

/* Of ENA, the only NIC that Amazon's machines have. */
#define VENDOR_AMAZON 0x1d0f

/* Without an IOMMU, and without vfio's mode for that: what is left. */
static struct wh_finding iommu_missing(const struct wh_machine *machine)
{
	static const char uio[] = "uio_pci_generic";
	const char *why = machine->virtual ? "this guest has none" : "off";

	if (!machine->virtual && strcmp(machine->vendor, "GenuineIntel") == 0)
		return wh_fix("echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX intel_iommu=on "
			      "iommu=pt\"' > /etc/default/grub.d/wavehaul-iommu.cfg && "
			      "update-grub",
			"off, and vfio-pci wants it; for the next boot (VT-d must be on in the "
			"firmware, too):");
	if (wh_machine_module(machine, uio) == WH_MODULE_MISSING) {
		if (wh_tree_exists(machine->root, WH_NOIOMMU_KNOB))
			return wh_fix("echo 1 > " WH_NOIOMMU_KNOB,
				"%s, and vfio-pci wants it; without protection:", why);
		return wh_fix("apt-get install linux-image-amd64",
			"%s, and the running kernel %s has no %s, which does without; for the "
			"next boot:",
			why, machine->kernel, uio);
	}
	if (machine->virtual)
		return wh_info("%s: `wavehaul nic bind` takes %s, and a NIC may then write "
			       "anywhere in memory, and is root's alone; the service takes "
			       "port = af_packet:INTERFACE",
			why, uio);
	return wh_fix("",
		"off: switch it on in the firmware; or do without, as `wavehaul nic bind` does "
		"by %s, and a NIC may write anywhere in memory",
		uio);
}

struct wh_finding wh_check_iommu(const struct wh_machine *machine)
{
	struct wh_tree_list list = wh_tree_list(machine->root, "/sys/class/iommu");
	int count = list.count;

	wh_tree_list_free(&list);
	if (count > 0)
		return wh_good("on (%d unit%s)", count, count == 1 ? "" : "s");
	if (wh_machine_noiommu_mode(machine))
		return wh_info("none; vfio does without (no-IOMMU mode): a NIC may then write "
			       "anywhere in memory");
	if (!wh_machine_needs_vfio(machine))
		return wh_info("none, and no NIC here needs one");
	return iommu_missing(machine);
}

/* Which of the two is needed: as `nic bind` takes it for a NIC here. */
struct wh_finding wh_check_vfio(const struct wh_machine *machine)
{
	bool needed = wh_machine_needs_vfio(machine);

	switch (wh_machine_module(machine, "vfio-pci")) {
	case WH_MODULE_LOADED:
		return wh_good("there");
	case WH_MODULE_BUILT_IN:
		return wh_good("there, built into the kernel");
	case WH_MODULE_THERE:
		return needed ? wh_info("not loaded; `wavehaul nic bind` does, now and at boots")
			      : wh_info("not loaded, and no NIC here needs it");
	case WH_MODULE_MISSING:
		break;
	}
	return needed ? wh_fix("apt-get install linux-image-amd64",
				"the running kernel %s has no module vfio-pci; for the next boot:",
				machine->kernel)
		      : wh_info("not in the running kernel, and no NIC here needs it");
}

/* ", eth0: link, 100 Gb/s, MTU 9000"; "" if the kernel has no interface for it. */
static const char *describe_interface(const struct wh_nic *nic, char *text, size_t room)
{
	char speed[WH_UNITS_MAX] = "unknown speed";
	char mtu[32] = "";

	text[0] = '\0';
	if (nic->interfaces == 0)
		return text;
	if (nic->speed_mbps > 0)
		wh_format_rate(speed, sizeof(speed), (double)nic->speed_mbps * 1e6);
	if (nic->mtu_bytes > 0)
		snprintf(mtu, sizeof(mtu), ", MTU %" PRId64, nic->mtu_bytes);
	snprintf(text, room, ", %s%s: %s, %s%s", nic->interface,
		nic->interfaces > 1 ? " and others" : "", nic->link ? "link" : "no link", speed,
		mtu);
	return text;
}

static const char *describe(const struct wh_nic *nic, char *text, size_t room)
{
	char node[32] = "";
	char interface[120];

	if (nic->node >= 0)
		snprintf(node, sizeof(node), ", node %" PRId64, nic->node);
	snprintf(text, room, "%04x:%04x, %s%s%s", nic->vendor, nic->device,
		nic->driver[0] == '\0' ? "no driver" : nic->driver, node,
		describe_interface(nic, interface, sizeof(interface)));
	return text;
}

static struct wh_finding check_in_place(const struct wh_nic *nic, const char *text)
{
	if (nic->verbs)
		return wh_good("%s: DPDK works beside it, and has all packets to its address while "
			       "wavehaul runs on it",
			text);
	return wh_fix(strcmp(nic->driver, "mlx4_core") == 0 ? "modprobe -a ib_uverbs mlx4_ib"
							    : "modprobe -a ib_uverbs mlx5_ib",
		"%s: DPDK works beside it, by InfiniBand verbs that are not loaded", text);
}

/* " 0000:3b:00.0 0000:3b:00.1": its mates in the IOMMU group, behind its own address or not. */
static void list_group(
	const struct wh_machine *machine, const struct wh_nic *nic, bool own, char text[100])
{
	const struct wh_nic *mate = NULL;

	snprintf(text, 100, "%s%s", own ? " " : "", own ? nic->address : "");
	while ((mate = wh_nic_mate(machine, nic, mate)) != NULL) {
		size_t used = strlen(text);

		snprintf(text + used, 100 - used, " %s", mate->address);
	}
}

/* Another NIC that the kernel would give up, and that carries nothing. */
static bool is_another_free(const struct wh_machine *machine, const struct wh_nic *nic)
{
	for (uint32_t i = 0; i < machine->nics; i++) {
		const struct wh_nic *other = &machine->nic[i];

		if (other != nic && !other->routes && other->mates[0] == '\0' &&
			(other->holder == WH_NIC_KERNEL || other->holder == WH_NIC_NOBODY))
			return true;
	}
	return false;
}

static struct wh_finding check_kernel_nic(
	const struct wh_machine *machine, const struct wh_nic *nic, const char *text)
{
	char repair[150];
	char group[100];

	list_group(machine, nic, true, group);
	snprintf(repair, sizeof(repair), "wavehaul nic bind%s", group);
	if (nic->mates[0] != '\0')
		return wh_info("%s: shares IOMMU group %" PRId64 " with %s, so it cannot be "
			       "DPDK's alone: put it into another slot",
			text, nic->group, nic->mates);
	if (wh_machine_has_ready_nic(machine))
		return wh_info("%s: not DPDK's; to hand it over: %s", text, repair);
	if (nic->routes && is_another_free(machine, nic))
		return wh_info("%s: the kernel's, and in use; to hand it over, and its addresses "
			       "and routes go: %s",
			text, repair);
	if (nic->routes)
		return wh_fix(
			repair, "%s: the kernel's, and in use; its addresses and routes go", text);
	return wh_fix(repair, "%s: %s", text,
		nic->holder == WH_NIC_NOBODY ? "nobody's yet" : "the kernel's");
}

static struct wh_finding check_vfio_nic(
	const struct wh_machine *machine, const struct wh_nic *nic, const char *text)
{
	char repair[150];
	char group[100];

	list_group(machine, nic, false, group);
	snprintf(repair, sizeof(repair), "wavehaul nic bind%s", group);
	if (nic->mates[0] != '\0')
		return wh_fix("",
			"%s: DPDK's, but shares IOMMU group %" PRId64 " with %s, and cannot be "
			"opened: put it into another slot",
			text, nic->group, nic->mates);
	if (group[0] != '\0')
		return wh_fix(repair,
			"%s: DPDK's, but shares IOMMU group %" PRId64 " with%s, and cannot be "
			"opened before all are",
			text, nic->group, group);
	return wh_good("%s: DPDK's%s", text,
		nic->vendor == VENDOR_AMAZON
			? "; it carries 10 Gb/s a flow at most: give both ends "
			  "--queues, one for each 10 Gb/s"
			: "");
}

static struct wh_finding check_system_nic(const struct wh_nic *nic, const char *text)
{
	if (nic->default_route)
		return wh_info("%s: has the default route, so it stays the system's", text);
	if (nic->upper[0] != '\0')
		return wh_info("%s: part of %s, so it stays the system's", text, nic->upper);
	return wh_info("%s: %s through it, so it stays the system's", text, nic->session);
}

struct wh_finding wh_check_nic(const struct wh_machine *machine, const struct wh_nic *nic)
{
	char text[250];

	describe(nic, text, sizeof(text));
	switch (nic->holder) {
	case WH_NIC_VFIO:
		return check_vfio_nic(machine, nic, text);
	case WH_NIC_UIO:
		return wh_info("%s: DPDK's, but no IOMMU keeps it to its memory, so only root can "
			       "use it (sudo wavehaul serve); for the service: wavehaul nic "
			       "release %s, and port = af_packet:INTERFACE",
			text, nic->address);
	case WH_NIC_IN_PLACE:
		return check_in_place(nic, text);
	case WH_NIC_SYSTEM:
		return check_system_nic(nic, text);
	case WH_NIC_KERNEL:
	case WH_NIC_NOBODY:
		return check_kernel_nic(machine, nic, text);
	case WH_NIC_FOREIGN:
		break;
	}
	return wh_info("%s: nothing for DPDK 22.11", text);
}
