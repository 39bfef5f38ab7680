/* SPDX-License-Identifier: BSD-3-Clause */

/* Which process has a NIC of DPDK's: the one that has opened its device. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "machine/tree.h"

void wh_nic_file(const char *root, const struct wh_nic *nic, char path[WH_NIC_FILE_MAX])
{
	struct wh_tree_list list = wh_tree_list(root, "/sys/bus/pci/devices/%s/uio", nic->address);

	path[0] = '\0';
	if (nic->holder == WH_NIC_UIO && list.count > 0)
		snprintf(path, WH_NIC_FILE_MAX, "/dev/%.40s", list.entry[0]->d_name);
	else if (nic->holder == WH_NIC_VFIO && nic->group >= 0)
		snprintf(path, WH_NIC_FILE_MAX, "/dev/vfio/%" PRId64, nic->group);
	wh_tree_list_free(&list);
}

static bool has_open(const char *root, const char *process, const char *path)
{
	struct wh_tree_list list = wh_tree_list(root, "/proc/%s/fd", process);
	bool found = false;

	for (int i = 0; i < list.count && !found; i++)
		found = wh_tree_links_to(
			root, path, "/proc/%s/fd/%s", process, list.entry[i]->d_name);
	wh_tree_list_free(&list);
	return found;
}

bool wh_nic_user(const char *root, const struct wh_nic *nic, char *text, size_t room)
{
	struct wh_tree_list list = wh_tree_list(root, "/proc");
	bool found = false;
	char path[WH_NIC_FILE_MAX];

	wh_nic_file(root, nic, path);
	for (int i = 0; i < list.count && path[0] != '\0' && !found; i++) {
		const char *process = list.entry[i]->d_name;
		char name[32];

		if (!isdigit((unsigned char)process[0]) || !has_open(root, process, path))
			continue;
		found = true;
		wh_tree_line(root, name, sizeof(name), "/proc/%s/comm", process);
		snprintf(text, room, "%s (process %s)", name, process);
	}
	wh_tree_list_free(&list);
	return found;
}
