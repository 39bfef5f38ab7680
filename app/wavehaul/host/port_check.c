/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/port_check.h"

#include <stdio.h>
#include <string.h>

#include "machine/machine.h"

static bool nic_has_default_route(const char *address)
{
	struct wh_machine machine = {.root = "", .live = true};
	bool has = false;

	wh_machine_look_for_nics(&machine);
	for (uint32_t i = 0; i < machine.nics; i++)
		has = has || (machine.nic[i].default_route &&
				     strcmp(machine.nic[i].address, address) == 0);
	wh_machine_free(&machine);
	return has;
}

bool wh_port_is_systems(const struct wh_port_spec *spec, char *why, size_t why_bytes)
{
	bool taken = spec->kind == WH_PORT_PCI ? nic_has_default_route(spec->target)
		     : spec->kind == WH_PORT_AF_XDP && !spec->verbatim
			     ? wh_interface_has_default_route("", spec->target)
			     : false;

	if (taken)
		snprintf(why, why_bytes,
			"%.40s has the default route, so it stays the system's: give --port "
			"another, or share the interface by af_packet:IFACE",
			spec->target);
	return taken;
}
