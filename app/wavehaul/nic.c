/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul nic`: gives NICs to DPDK, or back to the kernel. */

#include <string.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/settings.h"
#include "machine/machine.h"
#include "nic/hand_over.h"
#include "verbs.h"

/* The devices of an IOMMU group have one owner: all of them are named, or none. */
static const struct wh_nic *unnamed_mate(const struct wh_machine *machine, const struct wh_nic *nic,
	const struct wh_settings *settings)
{
	const struct wh_nic *mate = NULL;

	while ((mate = wh_nic_mate(machine, nic, mate)) != NULL) {
		bool named = false;

		for (int i = 1; i < settings->operand_count; i++)
			named |= wh_machine_nic(machine, settings->operands[i]) == mate;
		if (!named)
			break;
	}
	return mate;
}

static bool may_bind(const struct wh_machine *machine, const struct wh_nic *nic,
	const struct wh_settings *settings)
{
	const struct wh_nic *mate = unnamed_mate(machine, nic, settings);
	const char *why = nic->default_route        ? "it has the default route"
			  : nic->session[0] != '\0' ? nic->session
						    : nic->upper;

	if (nic->holder == WH_NIC_SYSTEM)
		wh_complain("%s (%s) stays the system's: %s%s%s", nic->address, nic->interface,
			why == nic->upper ? "it is part of " : "", why,
			why == nic->session ? " through it" : "");
	else if (nic->holder == WH_NIC_IN_PLACE)
		wh_complain("%s needs no other driver: DPDK works beside %s", nic->address,
			nic->driver);
	else if (nic->holder == WH_NIC_FOREIGN)
		wh_complain("DPDK 22.11 has no driver for %s", nic->address);
	else if (nic->mates[0] != '\0')
		wh_complain("%s shares IOMMU group %d with %s, and a group has one owner: put it "
			    "into another slot",
			nic->address, (int)nic->group, nic->mates);
	else if (mate != NULL)
		wh_complain("%s shares IOMMU group %d with %s, and a group has one owner: name "
			    "both, or none",
			nic->address, (int)nic->group, mate->address);
	else
		return true;
	return false;
}

static bool may_release(const struct wh_machine *machine, const struct wh_nic *nic)
{
	char user[64];

	if (!wh_nic_user(machine->root, nic, user, sizeof(user)))
		return true;
	return wh_fail(false, "%s is in use by %s: stop that first", nic->address, user);
}

/* All are checked before the first one changes hands. */
static int change(const struct wh_machine *machine, const struct wh_settings *settings)
{
	bool binds = strcmp(settings->operands[0], "bind") == 0;
	int status = WH_EXIT_OK;

	for (int i = 1; i < settings->operand_count; i++) {
		const struct wh_nic *nic = wh_machine_nic(machine, settings->operands[i]);

		if (nic == NULL)
			return wh_fail(WH_EXIT_NO_FILE,
				"there is no NIC %s on the PCI bus; `wavehaul doctor` lists them",
				settings->operands[i]);
		if (!(binds ? may_bind(machine, nic, settings) : may_release(machine, nic)))
			return WH_EXIT_HARDWARE;
	}
	for (int i = 1; status == WH_EXIT_OK && i < settings->operand_count; i++) {
		const struct wh_nic *nic = wh_machine_nic(machine, settings->operands[i]);

		if (!(binds ? wh_nic_hand_over(machine, nic) : wh_nic_take_back(machine, nic)))
			status = WH_EXIT_HARDWARE;
	}
	return status;
}

int wh_verb_nic(int argc, char **argv)
{
	struct wh_settings settings;
	struct wh_machine machine;
	int status = wh_settings_read(&settings, WH_VERB_NIC, argc, argv);

	if (status != -1)
		return status;

	const char *act = settings.operand_count > 1 ? settings.operands[0] : "";

	if (strcmp(act, "bind") != 0 && strcmp(act, "release") != 0)
		return wh_fail(WH_EXIT_USAGE, "nic takes bind NIC... or release NIC..., by PCI "
					      "address, as in `wavehaul nic bind 0000:3b:00.0`");
	wh_machine_look(&machine, settings.root);
	if (machine.live && !machine.superuser) {
		wh_complain("only root may change a NIC's driver: sudo wavehaul nic %s %s", act,
			settings.operands[1]);
		status = WH_EXIT_HARDWARE;
	} else {
		status = change(&machine, &settings);
	}
	wh_machine_free(&machine);
	return status;
}
