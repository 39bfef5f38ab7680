/* SPDX-License-Identifier: BSD-3-Clause */
#include "eal.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/assert.h"
#include "base/clock.h"
#include "complain.h"

#define ARGUMENTS_MAX  48
#define HUGEPAGE_BYTES (UINT64_C(2) << 20)

/* The argv that EAL keeps pointers into. */
struct arguments {
	int count;
	bool too_many;
	char *text[ARGUMENTS_MAX + 1];
};

static void append(struct arguments *arguments, const char *text)
{
	if (arguments->count == ARGUMENTS_MAX) {
		arguments->too_many = true;
		return;
	}
	arguments->text[arguments->count] = strdup(text);
	WH_ASSERT(arguments->text[arguments->count] != NULL);
	arguments->count++;
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

uint64_t wh_eal_hugepage_room_bytes(void)
{
	FILE *file = fopen("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "r");
	unsigned long long pages = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * HUGEPAGE_BYTES > WH_EAL_OWN_BYTES ? pages * HUGEPAGE_BYTES - WH_EAL_OWN_BYTES
							 : 0;
}

/* "0,1": the first CPUs that this process may run on. */
static uint32_t list_cpus(uint32_t wanted, char *list, size_t room)
{
	cpu_set_t allowed;
	uint32_t found = 0;
	size_t used = 0;

	list[0] = '\0';
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	for (int cpu = 0; cpu < CPU_SETSIZE && found < wanted; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		used += (size_t)snprintf(
			list + used, room - used, "%s%d", found == 0 ? "" : ",", cpu);
		found++;
	}
	return found;
}

static void derive(const struct wh_eal_config *config, bool hugepages, struct arguments *arguments)
{
	char text[64];
	uint64_t memory_mib = (config->small_pages_bytes + WH_EAL_OWN_BYTES) >> 20;

	append(arguments, "wavehaul");
	if (list_cpus(config->cpus_max, text, sizeof(text)) > 0) {
		append(arguments, "-l");
		append(arguments, text);
	}
	if (hugepages) {
		append(arguments, "--in-memory");
	} else {
		append(arguments, "--no-huge");
		append(arguments, "--no-shconf");
		append(arguments, "-m");
		snprintf(text, sizeof(text), "%llu", (unsigned long long)memory_mib);
		append(arguments, text);
	}
	append(arguments, "--iova-mode=va");
	append(arguments, "--no-pci");
	append(arguments, config->verbose ? "--log-level=notice" : "--log-level=error");
	if (config->extra != NULL)
		append_split(arguments, config->extra);
}

/* EAL prints its usage on stdout, which with --json is for one object alone. */
static int init_with_stdout_on_stderr(struct arguments *arguments)
{
	fflush(stdout);

	int kept = dup(STDOUT_FILENO);

	if (kept >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);

	int rc = rte_eal_init(arguments->count, arguments->text);

	fflush(stdout);
	if (kept >= 0) {
		dup2(kept, STDOUT_FILENO);
		close(kept);
	}
	return rc;
}

/*
 * Without root DPDK keeps its sockets below XDG_RUNTIME_DIR, or else in a folder that belongs to
 * whoever was first on this machine.
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

int wh_eal_start(const struct wh_eal_config *config, struct wh_eal_found *found)
{
	bool hugepages = !config->no_huge && wh_eal_hugepage_room_bytes() >= config->memory_bytes;
	struct arguments arguments = {0};

	WH_ASSERT(config->cpus_max >= 1 && config->cpus_max <= WH_EAL_CPUS_MAX);
	derive(config, hugepages, &arguments);
	if (arguments.too_many) {
		wh_complain("--eal has too many words: DPDK takes %d here", ARGUMENTS_MAX);
		return -E2BIG;
	}
	give_runtime_folder();
	if (config->verbose) {
		fprintf(stderr, "eal:");
		for (int i = 1; i < arguments.count; i++)
			fprintf(stderr, " %s", arguments.text[i]);
		fprintf(stderr, "\n");
	}
	if (init_with_stdout_on_stderr(&arguments) < 0) {
		wh_complain("DPDK does not start (%s); its own words are above, `--verbose` "
			    "shows its arguments%s",
			rte_strerror(rte_errno),
			config->extra != NULL ? ", and --eal may be wrong" : "");
		return -ENODEV;
	}

	*found = (struct wh_eal_found){.hugepages = hugepages};
	found->lcore[found->lcores++] = rte_get_main_lcore();

	unsigned int lcore;

	RTE_LCORE_FOREACH_WORKER(lcore)
	if (found->lcores < WH_EAL_CPUS_MAX)
		found->lcore[found->lcores++] = lcore;
	return 0;
}

void wh_eal_stop(void)
{
	rte_eal_cleanup();
}
