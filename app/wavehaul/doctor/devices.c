/* SPDX-License-Identifier: BSD-3-Clause */

/* The doctor on NICs, and on the IOMMU and vfio-pci, which give programs access to them. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "doctor/checks.h"
#include "machine/tree.h"

#define NOIOMMU_KNOB "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"

/* vfio works without an IOMMU if told to accept that this is unsafe. */
static bool is_noiommu_mode(const struct wh_machine *machine)
{
	char text[8];

	wh_tree_line(machine->root, text, sizeof(text), NOIOMMU_KNOB);
	return strcmp(text, "Y") == 0 || strcmp(text, "1") == 0;
}

static struct wh_finding iommu_missing(const struct wh_machine *machine)
{
	if (!machine->virtual && strcmp(machine->vendor, "GenuineIntel") == 0)
		return wh_fix("echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX intel_iommu=on "
			      "iommu=pt\"' > /etc/default/grub.d/wavehaul-iommu.cfg && "
			      "update-grub",
			"off, and vfio-pci wants it; for the next boot (VT-d must be on in the "
			"firmware, too):");

	const char
		*why = machine->virtual
			       ? "this guest has none, and vfio-pci wants it; without protection:"
			       : "off, and vfio-pci wants it: switch it on in the firmware, or do "
				 "without its protection:";

	if (wh_tree_exists(machine->root, NOIOMMU_KNOB))
		return wh_fix("echo 1 > " NOIOMMU_KNOB, "%s", why);
	return wh_fix("modprobe vfio enable_unsafe_noiommu_mode=1", "%s", why);
}

struct wh_finding wh_check_iommu(const struct wh_machine *machine)
{
	struct wh_tree_list list = wh_tree_list(machine->root, "/sys/class/iommu");
	int count = list.count;

	wh_tree_list_free(&list);
	if (count > 0)
		return wh_good("on (%d unit%s)", count, count == 1 ? "" : "s");
	if (is_noiommu_mode(machine))
		return wh_info("none; vfio does without (no-IOMMU mode): a NIC may then write "
			       "anywhere in memory");
	if (!wh_machine_needs_vfio(machine))
		return wh_info("none, and no NIC here needs one");
	return iommu_missing(machine);
}

struct wh_finding wh_check_vfio(const struct wh_machine *machine)
{
	static const char module[] = "/vfio-pci.ko";
	bool needed = wh_machine_needs_vfio(machine);

	if (wh_tree_exists(machine->root, "/sys/module/vfio_pci"))
		return wh_good("there");
	if (wh_tree_contains(
		    machine->root, module, "/lib/modules/%s/modules.builtin", machine->kernel))
		return wh_good("there, built into the kernel");
	if (wh_tree_contains(machine->root, module, "/lib/modules/%s/modules.dep", machine->kernel))
		return needed ? wh_fix("modprobe vfio-pci", "not loaded; over a reboot by a line "
							    "vfio-pci in "
							    "/etc/modules-load.d/wavehaul.conf")
			      : wh_info("not loaded, and no NIC here needs it");
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
		return wh_good("%s: DPDK works beside it", text);
	return wh_fix(strcmp(nic->driver, "mlx4_core") == 0 ? "modprobe -a ib_uverbs mlx4_ib"
							    : "modprobe -a ib_uverbs mlx5_ib",
		"%s: DPDK works beside it, by InfiniBand verbs that are not loaded", text);
}

/* devbind does not touch an interface that has routes, unless forced. */
static struct wh_finding check_kernel_nic(
	const struct wh_machine *machine, const struct wh_nic *nic, const char *text)
{
	char repair[100];

	snprintf(repair, sizeof(repair), "dpdk-devbind.py %s--bind=vfio-pci %s",
		nic->routes ? "--force " : "", nic->address);
	if (wh_machine_has_ready_nic(machine))
		return wh_info("%s: not DPDK's; to hand it over: %s", text, repair);
	if (nic->routes)
		return wh_fix(
			repair, "%s: the kernel's, and in use; its addresses and routes go", text);
	return wh_fix(repair, "%s: %s", text,
		nic->holder == WH_NIC_NOBODY ? "nobody's yet" : "the kernel's");
}

struct wh_finding wh_check_nic(const struct wh_machine *machine, const struct wh_nic *nic)
{
	char text[250];

	describe(nic, text, sizeof(text));
	switch (nic->holder) {
	case WH_NIC_VFIO:
		return wh_good("%s: DPDK's", text);
	case WH_NIC_UIO:
		return wh_info("%s: DPDK's, but no IOMMU keeps it to its memory", text);
	case WH_NIC_IN_PLACE:
		return check_in_place(nic, text);
	case WH_NIC_SYSTEM:
		return nic->default_route
			       ? wh_info("%s: has the default route, so it stays the system's",
					 text)
			       : wh_info("%s: part of %s, so it stays the system's", text,
					 nic->upper);
	case WH_NIC_KERNEL:
	case WH_NIC_NOBODY:
		return check_kernel_nic(machine, nic, text);
	case WH_NIC_FOREIGN:
		break;
	}
	return wh_info("%s: nothing for DPDK 22.11", text);
}
