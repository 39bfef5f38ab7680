/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/eal.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "eal/eal_init.h"
#include "guard/capabilities.h"
#include "host/memory_room.h"
#include "host/tsc.h"
#include "machine/tree.h"
#include "port/interrupts.h"

#define ARGUMENTS_MAX  48
#define WORDS_BYTES    8192
#define HUGEPAGE_BYTES (UINT64_C(2) << 20)

/* The argv, into which EAL keeps pointers and whose order it changes. */
struct arguments {
	int count;
	bool too_many;
	size_t used_bytes;
	char words[WORDS_BYTES];
	char *text[ARGUMENTS_MAX + 1];
};

static void append(struct arguments *arguments, const char *text)
{
	size_t bytes = strlen(text) + 1;

	if (arguments->count == ARGUMENTS_MAX || bytes > WORDS_BYTES - arguments->used_bytes) {
		arguments->too_many = true;
		return;
	}
	arguments->text[arguments->count] = &arguments->words[arguments->used_bytes];
	memcpy(arguments->text[arguments->count++], text, bytes);
	arguments->used_bytes += bytes;
	WH_ASSERT(arguments->used_bytes <= WORDS_BYTES && arguments->count <= ARGUMENTS_MAX);
}

static void append_split(struct arguments *arguments, const char *text)
{
	char *copy = strdup(text);
	char *rest = copy;
	char *word;

	WH_ASSERT(copy != NULL);
	while ((word = strtok_r(rest, " ", &rest)) != NULL)
		append(arguments, word);
	free(copy);
}

static uint64_t hugepage_room_bytes(const char *folder)
{
	int64_t pages;

	if (!wh_tree_number("", &pages, "%s/hugepages/hugepages-2048kB/free_hugepages", folder))
		return 0;

	uint64_t bytes = (uint64_t)pages * HUGEPAGE_BYTES;

	return bytes - wh_min_u64(bytes, WH_EAL_OWN_BYTES);
}

uint64_t wh_eal_hugepage_room_bytes(void)
{
	return hugepage_room_bytes("/sys/kernel/mm");
}

/* Whether the NIC's node has room for all; else DPDK takes what any node has. */
static bool node_has(const struct wh_eal_config *config)
{
	char folder[64];

	if (config->node < 0 || config->node >= RTE_MAX_NUMA_NODES)
		return false;
	snprintf(folder, sizeof(folder), "/sys/devices/system/node/node%d", config->node);
	return hugepage_room_bytes(folder) >= config->memory_bytes;
}

uint64_t wh_eal_hugepages_for(uint64_t memory_bytes)
{
	return (memory_bytes + WH_EAL_OWN_BYTES + HUGEPAGE_BYTES - 1) / HUGEPAGE_BYTES;
}

/*
 * "0@2,1@3": lcore 0 on CPU 2, lcore 1 on CPU 3. CPU numbers may exceed the largest lcore number.
 */
static void append_lcores(const struct wh_cpu_list *cpus, struct arguments *arguments)
{
	char text[16 * WH_SETTINGS_CPUS_MAX];
	size_t used = 0;

	WH_ASSERT(cpus->count > 0);
	for (uint32_t i = 0; i < cpus->count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u@%u",
			i == 0 ? "" : ",", i, cpus->cpu[i]);
	WH_ASSERT(used < sizeof(text)); /* a truncated list would name other CPUs */
	append(arguments, "--lcores");
	append(arguments, text);
}

/* As --socket-mem has it: what each node is to give, up to that one. */
static void append_memory_of_node(int node, uint64_t mib, struct arguments *arguments)
{
	char text[128];
	int used = 0;

	for (int i = 0; i < node; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "0,");
	snprintf(text + used, sizeof(text) - (size_t)used, "%llu", (unsigned long long)mib);
	append(arguments, "--socket-mem");
	append(arguments, text);
}

static void append_memory(
	const struct wh_eal_config *config, bool hugepages, struct arguments *arguments)
{
	uint64_t bytes = hugepages ? config->memory_bytes : config->small_pages_bytes;
	char text[32];

	if (hugepages) {
		append(arguments, "--in-memory");
		if (config->one_file)
			append(arguments, "--single-file-segments");
	} else {
		append(arguments, "--no-huge");
		append(arguments, "--no-shconf");
	}
	if (hugepages && !config->take_now)
		return;

	unsigned long long mib = (bytes + WH_EAL_OWN_BYTES) >> 20;

	if (hugepages && node_has(config)) {
		append_memory_of_node(config->node, mib, arguments);
		return;
	}
	append(arguments, "-m");
	snprintf(text, sizeof(text), "%llu", mib);
	append(arguments, text);
}

static bool has_hardware(const struct wh_eal_config *config)
{
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
		if (config->device[i].option != NULL && strcmp(config->device[i].option, "-a") == 0)
			return true;
	return false;
}

static void append_devices(const struct wh_eal_config *config, struct arguments *arguments)
{
	if (!has_hardware(config))
		append(arguments, "--no-pci");
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++) {
		if (config->device[i].option == NULL)
			continue;
		append(arguments, config->device[i].option);
		append(arguments, config->device[i].device);
	}
}

/*
 * Names the drivers that this process needs; false: they are not known, and EAL opens all that are
 * installed. A NIC may be of any.
 */
static bool append_drivers(const struct wh_eal_config *config, struct arguments *arguments)
{
	const char *needed[1 + WH_PORTS_MAX] = {"mempool_ring"};
	char path[1 + WH_PORTS_MAX][PATH_MAX];
	uint32_t count = 1;

	if (config->extra != NULL)
		return false;
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++) {
		if (config->device[i].option == NULL)
			continue;
		if (config->device[i].driver_file == NULL)
			return false;
		needed[count++] = config->device[i].driver_file;
	}
	for (uint32_t i = 0; i < count; i++)
		if (!wh_eal_driver_path(needed[i], path[i], sizeof(path[i])))
			return false;
	for (uint32_t i = 0; i < count; i++) {
		append(arguments, "-d");
		append(arguments, path[i]);
	}
	return true;
}

/* Whether the drivers are named. */
static bool derive(const struct wh_eal_config *config, bool hugepages, struct arguments *arguments)
{
	append(arguments, "wavehaul");
	append_lcores(&config->cpus, arguments);
	append_memory(config, hugepages, arguments);
	append(arguments, config->physical ? "--iova-mode=pa" : "--iova-mode=va");
	append_devices(config, arguments);
	append(arguments, config->verbose ? "--log-level=notice" : "--log-level=error");
	if (config->extra != NULL)
		append_split(arguments, config->extra);
	return append_drivers(config, arguments);
}

/* EAL prints its usage on stdout, which with --json must contain one object only. */
static int init_with_stdout_on_stderr(struct arguments *arguments, bool drivers_named)
{
	fflush(stdout);

	int kept = dup(STDOUT_FILENO);

	if (kept >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);

	int rc = wh_eal_init(arguments->count, arguments->text, drivers_named);

	fflush(stdout);
	if (kept >= 0) {
		dup2(kept, STDOUT_FILENO);
		close(kept);
	}
	return rc;
}

/*
 * Without root DPDK keeps its sockets below XDG_RUNTIME_DIR, or else in a folder that belongs to
 * the first user who started it on this machine.
 */
static void give_runtime_folder(void)
{
	char folder[64];

	if (geteuid() == 0 || getenv("XDG_RUNTIME_DIR") != NULL)
		return;
	snprintf(folder, sizeof(folder), "/tmp/wavehaul-%u", (unsigned int)geteuid());
	if (mkdir(folder, 0700) == 0 || errno == EEXIST)
		setenv("XDG_RUNTIME_DIR", folder, 0);
}

/* A NIC without an IOMMU reads and writes where it is told to, and only hugepages stay there. */
static bool has_physical_memory(const struct wh_eal_config *config, bool hugepages)
{
	if (config->physical && !hugepages)
		return wh_fail(false,
			"a NIC without an IOMMU wants hugepages: sysctl -w vm.nr_hugepages=%llu",
			(unsigned long long)wh_eal_hugepages_for(config->memory_bytes));
	if (config->physical)
		wh_say("no IOMMU: memory is addressed physically (--iova-mode=pa), and the NIC "
		       "could write anywhere");
	return true;
}

static void tell_of_small_pages(const struct wh_eal_config *config, bool hugepages)
{
	if (!hugepages && !config->no_huge && has_hardware(config))
		wh_say("%llu hugepages are not free, so packets are in ordinary memory, which "
		       "costs rate: sysctl -w vm.nr_hugepages=%llu",
			(unsigned long long)wh_eal_hugepages_for(config->memory_bytes),
			(unsigned long long)wh_eal_hugepages_for(config->memory_bytes));
}

/* What a NIC reads and writes is locked, and counted against a limit. */
static bool is_limited(const struct wh_eal_config *config)
{
	return has_hardware(config) && (wh_capabilities() & WH_CAPABILITY(CAP_IPC_LOCK)) == 0;
}

static bool may_lock(const struct wh_eal_config *config)
{
	struct rlimit limit;

	return !is_limited(config) || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
	       wh_memory_may_be_locked(limit.rlim_cur, config->memory_bytes + WH_EAL_OWN_BYTES);
}

/* Missing memory would be noticed only when it is touched, too late for an error message. */
static bool has_small_pages(const struct wh_eal_config *config)
{
	const struct wh_memory_room room = wh_memory_room("", is_limited(config));

	return wh_memory_fits(&room, wh_add_u64(config->small_pages_bytes, WH_EAL_OWN_BYTES),
		config->option, config->option_bytes);
}

int wh_eal_start(const struct wh_eal_config *config, struct wh_eal_found *found)
{
	bool hugepages = !config->no_huge && wh_eal_hugepage_room_bytes() >= config->memory_bytes;
	static struct arguments arguments; /* static because EAL keeps pointers into it */
	struct wh_tsc_stamp began = wh_tsc_stamp();

	WH_ASSERT(arguments.count == 0);
	WH_ASSERT(config->small_pages_bytes >= config->memory_bytes);
	if (!has_physical_memory(config, hugepages))
		return -ENOMEM;
	if (hugepages ? !may_lock(config) : !has_small_pages(config))
		return -ENOMEM;
	tell_of_small_pages(config, hugepages);

	bool drivers_named = derive(config, hugepages, &arguments);

	if (arguments.too_many) {
		wh_complain("--eal has too many arguments: the limit is %d", ARGUMENTS_MAX);
		return -E2BIG;
	}
	give_runtime_folder();
	if (config->verbose) {
		fprintf(stderr, "eal:");
		for (int i = 1; i < arguments.count; i++)
			fprintf(stderr, " %s", arguments.text[i]);
		fprintf(stderr, "\n");
	}
	if (init_with_stdout_on_stderr(&arguments, drivers_named) < 0)
		return wh_fail(-ENODEV,
			"DPDK did not start (%s); its messages are above, `--verbose` shows its "
			"arguments%s",
			rte_strerror(rte_errno),
			config->extra != NULL ? ", and --eal may be wrong" : "");

	*found = (struct wh_eal_found){
		.hugepages = hugepages,
		.lcores = config->cpus.count,
		.hz = wh_tsc_measure_hz(&began),
	};
	return 0;
}

/*
 * DPDK 22.11 unmaps memory from the IOMMU after its last NIC has left it, and reports each page as
 * an error. Nothing can be done about any error here.
 */
void wh_eal_stop(void)
{
	(void)rte_log_set_level_pattern("lib.eal", RTE_LOG_CRIT);
	(void)wh_interrupts_park();
	rte_eal_cleanup();
}
