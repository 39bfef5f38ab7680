/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul doctor`: whether this machine is suitable as a data transfer node, and how to repair
 * it.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/settings.h"
#include "doctor/checks.h"
#include "verbs.h"

static int check_root(const char *root)
{
	struct stat status;

	if (stat(root, &status) != 0)
		return wh_fail(WH_EXIT_NO_FILE,
			"cannot look below '%s': %s; name the folder that holds the copied proc "
			"and sys",
			root, strerror(errno));
	if (!S_ISDIR(status.st_mode))
		return wh_fail(WH_EXIT_NO_FILE,
			"%s is no folder; name the one that holds the copied proc and sys", root);
	return -1;
}

struct check {
	const char *name;
	struct wh_finding (*look)(const struct wh_machine *machine);
};

static void add_each(struct wh_doctor_findings *findings, const struct wh_machine *machine,
	const struct check *checks)
{
	for (; checks->name != NULL; checks++)
		wh_findings_add(findings, checks->look(machine), "%s", checks->name);
}

static void add_nics(struct wh_doctor_findings *findings, const struct wh_machine *machine)
{
	for (uint32_t i = 0; i < machine->nics; i++) {
		const struct wh_nic *nic = &machine->nic[i];

		wh_findings_add(findings, wh_check_nic(machine, nic), "nic %s", nic->address);
	}
	if (machine->nics == 0)
		wh_findings_add(findings,
			wh_info("none on the PCI bus: the demo and virtual ports work without"),
			"nic");
}

/* In the order in which repairs should be made: vfio-pci before NICs are bound to it. */
static void examine(const struct wh_machine *machine, struct wh_doctor_findings *findings)
{
	static const struct check machine_checks[] = {
		{"kernel", wh_check_kernel},
		{"dpdk", wh_check_dpdk},
		{"rights", wh_check_rights},
		{"cpu", wh_check_cpu},
		{"vectors", wh_check_vectors},
		{"cpus", wh_check_cpus},
		{"isolation", wh_check_isolation},
		{"governor", wh_check_governor},
		{"smt", wh_check_smt},
		{"clock", wh_check_clock},
		{"tsc", wh_check_tsc},
		{"hugepages", wh_check_hugepages},
		{"placement", wh_check_placement},
		{NULL, NULL},
	};
	static const struct check device_checks[] = {
		{"memlock", wh_check_memlock},
		{"sockets", wh_check_sockets},
		{"iommu", wh_check_iommu},
		{"vfio-pci", wh_check_vfio},
		{NULL, NULL},
	};
	static const struct check file_checks[] = {
		{"io_uring", wh_check_io_uring},
		{"room", wh_check_room},
		{NULL, NULL},
	};

	add_each(findings, machine, machine_checks);
	for (int node = 0; node < CPU_SETSIZE; node++)
		if (CPU_ISSET(node, &machine->nodes))
			wh_findings_add(findings, wh_check_node(machine, node), "node %d", node);
	add_each(findings, machine, device_checks);
	add_nics(findings, machine);
	add_each(findings, machine, file_checks);
}

static int report(const struct wh_doctor_findings *findings, bool json)
{
	uint32_t to_fix = wh_findings_to_fix(findings);

	if (json)
		wh_findings_print_json(findings);
	else
		wh_findings_print_text(findings);
	fflush(stdout); /* before the words below on stderr */
	if (to_fix == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_HARDWARE,
		"%u of %u checks ask for a repair: see the lines FIX, and run the commands below "
		"them from top to bottom",
		to_fix, findings->count);
}

/* What the demo needs with its defaults; it is a program of its own. */
static void plan_demo(struct wh_machine *machine)
{
	char verb[] = "demo";
	char *argv[] = {verb, NULL};
	struct wh_settings settings;
	int status = wh_settings_read(&settings, WH_VERB_DEMO, 1, argv);

	WH_ASSERT(status < 0);
	machine->demo_pool_bytes = WH_DOCTOR_DEMO_POOL_BYTES;
	/* The file that is sent, and the one that arrives. */
	machine->demo_file_bytes = 2 * settings.size_bytes;
}

static int look(const char *root, bool json)
{
	struct wh_machine machine;
	struct wh_doctor_findings findings = {0};
	int status;

	wh_machine_look(&machine, root);
	plan_demo(&machine);
	examine(&machine, &findings);
	status = report(&findings, json);
	wh_findings_free(&findings);
	wh_machine_free(&machine);
	return status;
}

int wh_verb_doctor(int argc, char **argv)
{
	struct wh_settings settings;
	int status = wh_settings_read(&settings, WH_VERB_DOCTOR, argc, argv);
	const char *root = settings.root;

	if (status == -1 && settings.operand_count > 0)
		return wh_fail(WH_EXIT_USAGE,
			"unexpected argument '%s'; name a copied tree with --root %s",
			settings.operands[0], settings.operands[0]);
	if (status == -1 && root[0] != '\0')
		status = check_root(root);
	return status == -1 ? look(root, settings.json) : status;
}
