/* SPDX-License-Identifier: BSD-3-Clause */

/* The doctor on memory: NUMA nodes and hugepages. */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <numa.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "doctor/checks.h"
#include "machine/tree.h"

#define NODE_FOLDER   "/sys/devices/system/node"
#define POOL_2M       "hugepages/hugepages-2048kB"
#define POOL_1G       "hugepages/hugepages-1048576kB"
#define PAGE_2M_BYTES (UINT64_C(2) << 20)

/* As tools/setup reserves: enough for the demo with its defaults, and for some longer paths. */
#define PAGES_WANTED 800

#define PAGES_MAX (INT64_C(1) << 40)

struct pool {
	bool there;
	int64_t total;
	int64_t free;
};

static struct pool read_pool(const struct wh_machine *machine, const char *folder)
{
	struct pool pool = {0};

	pool.there = wh_tree_number(machine->root, &pool.total, "%s/nr_hugepages", folder) &&
		     wh_tree_number(machine->root, &pool.free, "%s/free_hugepages", folder);
	/* A copied tree may contain any number. */
	if (pool.total < 0 || pool.total > PAGES_MAX || pool.free < 0 || pool.free > pool.total)
		pool = (struct pool){0};
	return pool;
}

static uint64_t read_meminfo_kib(const struct wh_machine *machine, int node, const char *what)
{
	char path[80];
	char key[40];
	char value[40];
	uint64_t kib = 0;

	snprintf(path, sizeof(path), NODE_FOLDER "/node%d/meminfo", node);
	snprintf(key, sizeof(key), "Node %d %s", node, what);
	wh_tree_field(machine->root, value, sizeof(value), path, key);
	return wh_scan_count(value, &kib) != NULL ? kib : 0;
}

static const struct wh_nic *ready_nic_of(const struct wh_machine *machine, int node)
{
	for (uint32_t i = 0; i < machine->nics; i++)
		if (machine->nic[i].node == node && wh_nic_ready(&machine->nic[i]))
			return &machine->nic[i];
	return NULL;
}

struct wh_finding wh_check_node(const struct wh_machine *machine, int node)
{
	char folder[100];
	char size[2][WH_UNITS_MAX];
	char text[200];
	const struct wh_nic *nic = ready_nic_of(machine, node);

	snprintf(folder, sizeof(folder), NODE_FOLDER "/node%d/" POOL_2M, node);

	struct pool small = read_pool(machine, folder);

	snprintf(folder, sizeof(folder), NODE_FOLDER "/node%d/" POOL_1G, node);

	struct pool large = read_pool(machine, folder);

	wh_format_size(size[0], WH_UNITS_MAX, read_meminfo_kib(machine, node, "MemTotal") << 10);
	wh_format_size(size[1], WH_UNITS_MAX, read_meminfo_kib(machine, node, "MemFree") << 10);
	snprintf(text, sizeof(text),
		"%s, %s free; hugepages of 2 MiB: %" PRId64 ", %" PRId64 " free; of 1 GiB: %" PRId64
		", %" PRId64 " free",
		size[0], size[1], small.total, small.free, large.total, large.free);
	if (nic == NULL || !small.there || small.total > 0)
		return wh_info("%s", text);
	snprintf(folder, sizeof(folder),
		"echo %d > " NODE_FOLDER "/node%d/" POOL_2M "/nr_hugepages", PAGES_WANTED, node);
	return wh_fix(
		folder, "%s; NIC %s is here, and its packets want to be, too", text, nic->address);
}

struct wh_finding wh_check_placement(const struct wh_machine *machine)
{
	int nodes = CPU_COUNT(&machine->nodes);

	if (nodes < 2)
		return wh_good("one node: all memory is equally near");
	if (!machine->live)
		return wh_info(
			"%d nodes; whether memory can be placed shows on the machine only", nodes);
	if (numa_available() == 0)
		return wh_good("%d nodes, and libnuma can place memory on each", nodes);
	return wh_fix("docker run --cap-add SYS_NICE IMAGE",
		"%d nodes, and the system refuses to place memory on one of them; where a "
		"container does:",
		nodes);
}

struct users {
	uint32_t programs;
	uint64_t pages;
};

static void add_user(const struct wh_machine *machine, const char *pid, struct users *users)
{
	char path[64];
	char value[40];
	uint64_t kib = 0;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	if (!wh_tree_field(machine->root, value, sizeof(value), path, "Name") ||
		strcmp(value, "wavehaul") != 0 ||
		!wh_tree_field(machine->root, value, sizeof(value), path, "HugetlbPages") ||
		wh_scan_count(value, &kib) == NULL || kib == 0)
		return;
	users->programs++;
	users->pages += kib * 1024 / PAGE_2M_BYTES;
}

/*
 * Pages held by running servers and clients count as used, not as missing; at most all used pages.
 */
static struct users find_users(const struct wh_machine *machine, const struct pool *pool)
{
	struct wh_tree_list list = wh_tree_list(machine->root, "/proc");
	struct users users = {0};

	for (int i = 0; i < list.count; i++)
		if (isdigit((unsigned char)list.entry[i]->d_name[0]))
			add_user(machine, list.entry[i]->d_name, &users);
	wh_tree_list_free(&list);
	users.pages = wh_min_u64(users.pages, (uint64_t)(pool->total - pool->free));
	return users;
}

struct wh_finding wh_check_hugepages(const struct wh_machine *machine)
{
	struct pool pool = read_pool(machine, "/sys/kernel/mm/" POOL_2M);
	uint64_t need = (machine->demo_pool_bytes + PAGE_2M_BYTES - 1) / PAGE_2M_BYTES;
	char size[WH_UNITS_MAX];
	char repair[80];

	WH_ASSERT(need <= PAGES_WANTED);
	wh_format_size(size, sizeof(size), need * PAGE_2M_BYTES);
	if (!pool.there)
		return wh_info("this kernel has no pages of 2 MiB: all works, slower, without");
	if (pool.free >= (int64_t)need)
		return wh_good("%" PRId64 " of 2 MiB are free, and the demo takes %" PRIu64 " (%s)",
			pool.free, need, size);

	struct users users = find_users(machine, &pool);
	char used[80] = "";

	if (users.programs > 0)
		snprintf(used, sizeof(used), ", %" PRIu64 " in use by %" PRIu32 " running wavehaul",
			users.pages, users.programs);
	if ((uint64_t)pool.free + users.pages >= need)
		return wh_good("%" PRId64 " of 2 MiB, %" PRId64 " free%s; the demo takes %" PRIu64
			       " (%s), beside it in ordinary memory",
			pool.total, pool.free, used, need, size);

	int64_t pages = PAGES_WANTED + pool.total - pool.free - (int64_t)users.pages;

	snprintf(repair, sizeof(repair), "sysctl -w vm.nr_hugepages=%" PRId64, pages);
	return wh_fix(repair,
		"%" PRId64 " of 2 MiB, %" PRId64 " free%s, and the demo takes %" PRIu64
		" (%s); over a reboot by a line vm.nr_hugepages=%" PRId64
		" in /etc/sysctl.d/wavehaul.conf",
		pool.total, pool.free, used, need, size, pages);
}
