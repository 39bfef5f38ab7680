/* SPDX-License-Identifier: BSD-3-Clause */

/* The doctor on the kernel, DPDK, rights and limits, and the disk. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>

#include <liburing.h>
#include <rte_version.h>

#include "base/units.h"
#include "cli/temporary/temporary.h"
#include "doctor/checks.h"
#include "machine/tree.h"
#include "udp/sockets.h"

struct wh_finding wh_check_kernel(const struct wh_machine *machine)
{
	return wh_info("Linux %s", machine->kernel[0] == '\0' ? "unknown" : machine->kernel);
}

struct wh_finding wh_check_dpdk(const struct wh_machine *machine)
{
	(void)machine;
	return wh_info("%s, as this program uses it", rte_version());
}

struct wh_finding wh_check_rights(const struct wh_machine *machine)
{
	if (machine->superuser)
		return wh_good("root");
	return wh_info("not root: enough for the demo; a NIC of vfio-pci needs rights on its file "
		       "in /dev/vfio");
}

/* Memory accessed by a NIC is locked. */
struct wh_finding wh_check_memlock(const struct wh_machine *machine)
{
	char text[64];
	char limit[WH_UNITS_MAX];
	char need[WH_UNITS_MAX];
	uint64_t bytes = 0;

	if (machine->may_lock)
		return wh_good("no limit on locked memory (CAP_IPC_LOCK)");
	if (!wh_tree_field(
		    machine->root, text, sizeof(text), "/proc/self/limits", "Max locked memory"))
		return wh_info("/proc/self/limits does not tell the limit on locked memory");
	if (wh_scan_count(text, &bytes) == NULL)
		return wh_good("no limit on locked memory");
	wh_format_size(limit, sizeof(limit), bytes);
	wh_format_size(need, sizeof(need), machine->demo_pool_bytes);
	if (bytes >= machine->demo_pool_bytes)
		return wh_good("%s may be locked, and the demo's pools are %s", limit, need);
	if (!wh_machine_has_ready_nic(machine) && !wh_machine_needs_vfio(machine))
		return wh_info("%s may be locked: little, but no NIC here wants more", limit);
	return wh_fix("sudo prlimit --pid $$ --memlock=unlimited",
		"%s may be locked, and a NIC wants all pools locked, for the demo's defaults %s; "
		"at each login by a line '* - memlock unlimited' in "
		"/etc/security/limits.d/wavehaul.conf",
		limit, need);
}

/* Port udp asks for a buffer of this size, and root gets it whatever the limit is. */
struct wh_finding wh_check_sockets(const struct wh_machine *machine)
{
	char limit[WH_UNITS_MAX];
	int64_t bytes;

	if (!wh_tree_number(machine->root, &bytes, "/proc/sys/net/core/rmem_max"))
		return wh_info("net.core.rmem_max is not told, the limit of a receive buffer");
	wh_format_size(limit, sizeof(limit), (uint64_t)bytes);
	if (bytes >= WH_UDP_RECEIVE_BYTES)
		return wh_good("%s may wait in a receive buffer (net.core.rmem_max)", limit);
	return wh_info("%s may wait in a receive buffer (net.core.rmem_max), and --port udp of a "
		       "user without rights wants more: `sysctl -w net.core.rmem_max=%d`",
		limit, WH_UDP_RECEIVE_BYTES);
}

/* 0 or a negative errno. For a copied tree only the kernel's switch can be checked. */
static int try_ring(const struct wh_machine *machine, int64_t disabled)
{
	struct io_uring ring;

	if (!machine->live)
		return disabled >= 2 || (disabled == 1 && !machine->superuser) ? -EPERM : 0;

	int rc = io_uring_queue_init(8, &ring, 0);

	if (rc == 0)
		io_uring_queue_exit(&ring);
	return rc;
}

struct wh_finding wh_check_io_uring(const struct wh_machine *machine)
{
	int64_t disabled = 0; /* kernels before 6.6 have no such switch */

	wh_tree_number(machine->root, &disabled, "/proc/sys/kernel/io_uring_disabled");

	int rc = try_ring(machine, disabled);

	if (rc == 0)
		return machine->live ? wh_good("works") : wh_good("not switched off");
	if (disabled != 0)
		return wh_fix("sysctl -w kernel.io_uring_disabled=0",
			"switched off (kernel.io_uring_disabled=%" PRId64
			"), and files are read and written by it",
			disabled);
	if (rc == -EPERM)
		return wh_fix("docker run --security-opt seccomp=unconfined IMAGE",
			"refused, and files are read and written by it; where a container's filter "
			"does:");
	return wh_fix(
		"", "does not work (%s), and files are read and written by it", strerror(-rc));
}

static const char *format_free(const char *folder, char *text, size_t room)
{
	struct statvfs fs;

	if (statvfs(folder, &fs) != 0)
		return "no";
	return wh_format_size(text, room, (uint64_t)fs.f_bavail * fs.f_frsize);
}

struct wh_finding wh_check_room(const struct wh_machine *machine)
{
	char need[WH_UNITS_MAX];
	char size[2][WH_UNITS_MAX];

	if (!machine->live)
		return wh_info("room for files shows on the machine only");

	const char *place = wh_temporary_place(machine->demo_file_bytes);
	const char *shm = format_free("/dev/shm", size[1], WH_UNITS_MAX);

	wh_format_size(need, sizeof(need), machine->demo_file_bytes);
	if (place != NULL)
		return wh_good("%s in %s for the demo's %s; %s in /dev/shm",
			format_free(place, size[0], WH_UNITS_MAX), place, need, shm);
	return wh_fix("mount -o remount,size=3G /dev/shm",
		"no folder has room for the demo's %s, neither $TMPDIR, /var/tmp, /tmp nor "
		"/dev/shm (%s); set TMPDIR, or give the last one memory:",
		need, shm);
}
