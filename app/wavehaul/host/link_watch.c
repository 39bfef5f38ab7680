/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/link_watch.h"

#include <sched.h>
#include <string.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "port/interface.h"

/* How often the link is checked; more often while it is awaited. */
#define LINK_WATCH_US 5000
#define LINK_AWAIT_US 200

#define INTERFACE_WATCH_US 200000

void wh_link_watch_init(struct wh_link_watch *watch, struct wh_port *port,
	const struct wh_port_spec *spec, uint64_t hz, bool alone)
{
	bool of_kernel = spec->kind == WH_PORT_AF_PACKET || spec->kind == WH_PORT_AF_XDP ||
			 spec->kind == WH_PORT_TAP;

	*watch = (struct wh_link_watch){.port = port, .spec = spec, .hz = hz, .alone = alone};
	if (!of_kernel || spec->verbatim ||
		wh_interface_number(spec->target, &watch->interface) != 0)
		return;
	strcpy(watch->name, spec->target);
}

/*
 * Drivers do not report that an interface was deleted, and a new one of the same name is another
 * interface: the port ends, and with the last one the process. One that is renamed stays what it
 * is.
 */
static bool interface_is_there(struct wh_link_watch *watch, uint64_t now_tsc)
{
	char name[IF_NAMESIZE];

	if (watch->interface == 0 || now_tsc < watch->next_interface_tsc)
		return true;
	watch->next_interface_tsc = now_tsc + wh_us_to_tsc(watch->hz, INTERFACE_WATCH_US);
	if (wh_interface_name(watch->interface, name) == 0) {
		if (strcmp(name, watch->name) != 0)
			wh_say("%s is called %s now, which --port must say at the next start",
				watch->name, name);
		strcpy(watch->name, name);
		return true;
	}
	watch->interface = 0;
	return wh_fail(false,
		"the interface %s and the port on it no longer exist: create the interface, and "
		"restart",
		watch->name);
}

/* The kernel waits with the removal until the port is closed. */
static bool stays(struct wh_link_watch *watch)
{
	if (!wh_port_is_asked_back(watch->port) || watch->given_back)
		return true;
	watch->given_back = true;
	return wh_fail(false,
		"%s is to be removed, and is given back%s: put it in again, or choose another "
		"--port, and restart",
		watch->spec->ethdev,
		watch->alone ? "" : " when this process, whose other ports go on, has ended");
}

bool wh_link_watch_poll(struct wh_link_watch *watch, uint64_t now_tsc)
{
	/* The driver's thread that brings the link up may have no other CPU than this one. */
	if (!watch->was_up)
		sched_yield();
	if (now_tsc < watch->next_tsc)
		return true;

	bool up = wh_port_watch_link(watch->port);
	bool there = interface_is_there(watch, now_tsc) && stays(watch);

	watch->next_tsc = now_tsc + wh_us_to_tsc(watch->hz, up ? LINK_WATCH_US : LINK_AWAIT_US);
	if (up != watch->was_up && !watch->spec->facts.emulated)
		wh_say("the link of %s is %s", watch->spec->ethdev, up ? "up" : "down");
	watch->was_up = up;
	return there;
}
