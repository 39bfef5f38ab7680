/* SPDX-License-Identifier: BSD-3-Clause */

/* The doctor on CPUs and on the clock used for pacing. */

#include <stdio.h>
#include <string.h>

#include "doctor/checks.h"
#include "machine/tree.h"

#define CPU_FOLDER   "/sys/devices/system/cpu"
#define CLOCK_FOLDER "/sys/devices/system/clocksource/clocksource0"

struct wh_finding wh_check_cpu(const struct wh_machine *machine)
{
	const char *model = machine->model[0] == '\0' ? "unknown model" : machine->model;

	if (wh_machine_flag(machine, "sse4_2"))
		return wh_good("%s, with SSE4.2", model);
	if (machine->virtual)
		return wh_fix("virt-xml GUEST --edit --cpu host-passthrough",
			"%s, without the SSE4.2 that DPDK needs; on the host of this guest:",
			model);
	return wh_fix("", "%s, without the SSE4.2 that DPDK needs: take another machine", model);
}

struct wh_finding wh_check_vectors(const struct wh_machine *machine)
{
	return wh_info("AVX2 %s, AVX-512 %s", wh_machine_flag(machine, "avx2") ? "yes" : "no",
		wh_machine_flag(machine, "avx512f") ? "yes" : "no");
}

struct wh_finding wh_check_cpus(const struct wh_machine *machine)
{
	char list[WH_CPUS_TEXT_MAX];
	int count = CPU_COUNT(&machine->cpus);

	wh_cpus_format(list, sizeof(list), &machine->cpus);
	if (count == 0)
		return wh_info("/proc/self/status does not tell which CPUs may be used");
	if (count == 1)
		return wh_info("1 may be used (%s): packets and files take turns on it", list);
	return wh_good("%d may be used: %s", count, list);
}

/* A kernel without the feature has no such file, or writes "(null)". */
static void read_cpus(const struct wh_machine *machine, const char *name, cpu_set_t *cpus)
{
	char text[1024];

	wh_tree_line(machine->root, text, sizeof(text), CPU_FOLDER "/%s", name);
	wh_cpus_parse(text, cpus);
}

struct wh_finding wh_check_isolation(const struct wh_machine *machine)
{
	cpu_set_t isolated;
	cpu_set_t tickless;
	cpu_set_t usable;
	char list[2][WH_CPUS_TEXT_MAX];

	read_cpus(machine, "isolated", &isolated);
	read_cpus(machine, "nohz_full", &tickless);
	wh_cpus_format(list[0], sizeof(list[0]), &isolated);
	wh_cpus_format(list[1], sizeof(list[1]), &tickless);
	if (CPU_COUNT(&tickless) == 0)
		strcpy(list[1], "none");
	if (CPU_COUNT(&isolated) == 0)
		return wh_info("isolated (isolcpus=): none, without timer tick (nohz_full=): %s; "
			       "other work may take a CPU from packets",
			list[1]);
	CPU_AND(&usable, &isolated, &machine->cpus);
	if (CPU_COUNT(&usable) == 0)
		return wh_info("isolated: %s, without timer tick: %s; to run there: "
			       "taskset -c %s wavehaul ...",
			list[0], list[1], list[0]);
	return wh_good("isolated: %s, without timer tick: %s", list[0], list[1]);
}

struct wh_finding wh_check_governor(const struct wh_machine *machine)
{
	cpu_set_t slow;
	char other[32] = "";
	char list[WH_CPUS_TEXT_MAX];
	int governed = 0;

	CPU_ZERO(&slow);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		char governor[32];

		if (!CPU_ISSET(cpu, &machine->cpus) ||
			!wh_tree_line(machine->root, governor, sizeof(governor),
				CPU_FOLDER "/cpu%d/cpufreq/scaling_governor", cpu))
			continue;
		governed++;
		if (strcmp(governor, "performance") == 0)
			continue;
		CPU_SET(cpu, &slow);
		if (other[0] == '\0')
			strcpy(other, governor);
	}
	if (governed == 0)
		return wh_good("none: the frequency is not this system's to choose, as in a VM");
	if (CPU_COUNT(&slow) == 0)
		return wh_good("performance on all that may be used");
	return wh_fix("echo performance | tee " CPU_FOLDER "/cpu*/cpufreq/scaling_governor",
		"%s, not performance, on CPU %s", other, wh_cpus_format(list, sizeof(list), &slow));
}

struct wh_finding wh_check_smt(const struct wh_machine *machine)
{
	char groups[200] = "";
	cpu_set_t seen;
	int count = 0;

	CPU_ZERO(&seen);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		char text[64];
		cpu_set_t siblings;

		if (!CPU_ISSET(cpu, &machine->cpus) || CPU_ISSET(cpu, &seen))
			continue;
		wh_tree_line(machine->root, text, sizeof(text),
			CPU_FOLDER "/cpu%d/topology/thread_siblings_list", cpu);
		wh_cpus_parse(text, &siblings);
		CPU_OR(&seen, &seen, &siblings);
		if (CPU_COUNT(&siblings) < 2)
			continue;

		size_t used = strlen(groups);

		if (++count <= 8)
			snprintf(groups + used, sizeof(groups) - used, " %.20s", text);
	}
	if (count == 0)
		return wh_info("none: no two CPUs share a core");
	return wh_info("CPUs that share a core slow each other:%s%s", groups,
		count > 8 ? " and so on" : "");
}

/* These clocks are derived from the TSC, and exist only if the hypervisor guarantees it. */
static bool is_tsc_of_host(const char *source)
{
	return strcmp(source, "kvm-clock") == 0 ||
	       strcmp(source, "hyperv_clocksource_tsc_page") == 0 || strcmp(source, "xen") == 0;
}

static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

struct wh_finding wh_check_clock(const struct wh_machine *machine)
{
	char source[64];
	char available[256];

	if (!wh_tree_line(
		    machine->root, source, sizeof(source), CLOCK_FOLDER "/current_clocksource"))
		return wh_info("the kernel does not tell its clock source");
	if (strcmp(source, "tsc") == 0)
		return wh_good("the kernel's clock is the TSC, as is the pacer's");
	if (is_tsc_of_host(source))
		return wh_info(
			"the kernel's clock is %s, which the host makes from the TSC", source);
	wh_tree_line(
		machine->root, available, sizeof(available), CLOCK_FOLDER "/available_clocksource");
	if (has_word(available, "tsc"))
		return wh_fix("echo tsc > " CLOCK_FOLDER "/current_clocksource",
			"the kernel's clock is %s, not the TSC that packets are paced by", source);
	return wh_fix("echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX tsc=reliable\"' "
		      "> /etc/default/grub.d/wavehaul-tsc.cfg && update-grub",
		"the kernel's clock is %s: it found the TSC, by which packets are paced, unsteady; "
		"where `dmesg` shows that it erred, for the next boot:",
		source);
}

struct wh_finding wh_check_tsc(const struct wh_machine *machine)
{
	bool constant = wh_machine_flag(machine, "constant_tsc");
	bool nonstop = wh_machine_flag(machine, "nonstop_tsc");

	if (constant && nonstop)
		return wh_good("invariant (constant_tsc, nonstop_tsc)");
	if (machine->virtual)
		return wh_fix("virt-xml GUEST --edit --cpu host-passthrough,require=invtsc",
			"not called invariant (constant_tsc %s, nonstop_tsc %s), so the pacer's "
			"clock may change its rate; on the host of this guest:",
			constant ? "yes" : "no", nonstop ? "yes" : "no");
	return wh_fix("",
		"not invariant (constant_tsc %s, nonstop_tsc %s): the pacer's clock changes its "
		"rate; take another machine",
		constant ? "yes" : "no", nonstop ? "yes" : "no");
}
