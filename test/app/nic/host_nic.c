/* SPDX-License-Identifier: BSD-3-Clause */

/* Whose a NIC is, on machines made of files. */

#include "host/nic/host_nic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../rig/remove_tree.h"
#include "unit.h"

const char wh_suite_name[] = "app/host_nic";

#define PCI  "/sys/bus/pci/devices/"
#define NIC  "0000:3b:00.0"
#define MATE "0000:3b:00.1"

static char root[32];

static void make_room(char whole[512], const char *path)
{
	snprintf(whole, 512, "%s%s", root, path);
	for (char *slash = whole; (slash = strchr(slash + 1, '/')) != NULL;) {
		*slash = '\0';
		mkdir(whole, 0700);
		*slash = '/';
	}
}

static void put(const char *path, const char *text)
{
	char whole[512];

	make_room(whole, path);

	FILE *file = fopen(whole, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

static void point(const char *path, const char *target)
{
	char whole[512];

	make_room(whole, path);
	unlink(whole);
	CU_ASSERT_EQUAL_FATAL(symlink(target, whole), 0);
}

/* A NIC with that driver in IOMMU group 7, whose device anybody may open. */
static void begin(const char *driver)
{
	char target[64];

	strcpy(root, "/tmp/wavehaul-nic-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(root));
	put(PCI NIC "/class", "0x020000\n");
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	point(PCI NIC "/driver", target);
	point(PCI NIC "/iommu_group", "../../../kernel/iommu_groups/7");
	put("/sys/kernel/iommu_groups/7/devices/" NIC, "");
	put("/dev/vfio/7", "");
}

static void expect(bool superuser, bool physical, const char *said)
{
	struct wh_port_spec spec;
	char why[WH_PORT_WHY_BYTES] = "";

	CU_ASSERT_EQUAL_FATAL(wh_port_spec_read("3b:00.0", 0, &spec, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(
		wh_host_may_have_nic(&spec, root, superuser, why, sizeof(why)), said[0] == '\0');
	if (strstr(why, said) == NULL)
		fprintf(stderr, "said: %s\n", why);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, said));
	CU_ASSERT_EQUAL(spec.physical, physical);
}

static void the_kernels(void)
{
	begin("ixgbe");
	expect(true, false,
		NIC " has the driver ixgbe, not DPDK's: `sudo wavehaul nic bind " NIC "`");
	put(PCI NIC "/net/ens1f0/mtu", "9000\n");
	put("/proc/net/route", "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\n"
			       "ens1f0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\n");
	expect(true, false, NIC " carries the default route");
	remove_tree(root);
}

static void dpdks(void)
{
	begin("vfio-pci");
	expect(false, false, "");
	expect(true, false, "");
	remove_tree(root);
}

/* While mlx5's port is open the kernel gets no packets of its interface. */
static void beside_the_kernel(void)
{
	begin("mlx5_core");
	put(PCI NIC "/net/ens1f0/mtu", "9000\n");
	expect(true, false, "");
	point(PCI NIC "/net/ens1f0/upper_bond0", "../bond0");
	expect(true, false, "ens1f0 is part of bond0, whose packets would be wavehaul's");
	remove_tree(root);
}

static void of_another_process(void)
{
	begin("vfio-pci");
	put("/proc/812/comm", "wavehaul\n");
	point("/proc/812/fd/9", "/dev/vfio/7");
	expect(true, false, NIC " is in use by wavehaul (process 812)");
	point("/proc/812/fd/9", "/dev/vfio/77");
	expect(true, false, "");
	remove_tree(root);
}

static void of_a_group(void)
{
	begin("vfio-pci");
	put(PCI MATE "/class", "0x020000\n");
	point(PCI MATE "/iommu_group", "../../../kernel/iommu_groups/7");
	point(PCI MATE "/driver", "../../../bus/pci/drivers/ixgbe");
	expect(true, false,
		"shares IOMMU group 7 with " MATE ", and a group has one owner: `wavehaul");
	point(PCI MATE "/driver", "../../../bus/pci/drivers/vfio-pci");
	expect(true, false, "");
	remove_tree(root);
}

/* Its node, and the CPUs there; a machine of one node says -1. */
static void where_it_is(void)
{
	struct wh_port_spec spec;
	char why[WH_PORT_WHY_BYTES];
	cpu_set_t cpus;

	begin("vfio-pci");
	CU_ASSERT_EQUAL_FATAL(wh_port_spec_read("3b:00.0", 0, &spec, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(spec.node, -1);
	put("/sys/devices/system/node/node1/cpulist", "4-6,100\n");
	CU_ASSERT_TRUE(wh_host_may_have_nic(&spec, root, true, why, sizeof(why)));
	CU_ASSERT_FALSE(wh_host_near_cpus(&spec, root, &cpus));
	put(PCI NIC "/numa_node", "1\n");
	CU_ASSERT_TRUE(wh_host_may_have_nic(&spec, root, true, why, sizeof(why)));
	CU_ASSERT_EQUAL(spec.node, 1);
	CU_ASSERT_TRUE_FATAL(wh_host_near_cpus(&spec, root, &cpus));
	CU_ASSERT_EQUAL(CPU_COUNT(&cpus), 4);
	CU_ASSERT_TRUE(CPU_ISSET(4, &cpus) && CPU_ISSET(6, &cpus) && CPU_ISSET(100, &cpus));
	remove_tree(root);
}

/* Root may open anything. */
static void of_another_user(void)
{
	begin("vfio-pci");

	char path[64];

	snprintf(path, sizeof(path), "%s/dev/vfio/7", root);
	unlink(path);
	expect(false, false, "may not open /dev/vfio/7 of " NIC " (No such file or directory)");
	remove_tree(root);
}

static void without_iommu(void)
{
	begin("uio_pci_generic");
	expect(true, true, "");
	expect(false, true,
		NIC " has no IOMMU that keeps it to its memory, so only root may "
		    "use it: sudo wavehaul; for the service: wavehaul nic release " NIC);
	put(PCI NIC "/uio/uio3/name", "x\n");
	put("/dev/uio3", "");
	put("/proc/9/comm", "testpmd\n");
	point("/proc/9/fd/12", "/dev/uio3");
	expect(true, true, NIC " is in use by testpmd (process 9)");
	remove_tree(root);
}

CU_TestInfo wh_tests[] = {
	{"the kernel's", the_kernels},
	{"beside the kernel", beside_the_kernel},
	{"DPDK's", dpdks},
	{"of another process", of_another_process},
	{"of a group", of_a_group},
	{"where it is", where_it_is},
	{"of another user", of_another_user},
	{"without an IOMMU", without_iommu},
	CU_TEST_INFO_NULL,
};
