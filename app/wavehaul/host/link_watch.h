/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_LINK_WATCH_H
#define WH_APP_LINK_WATCH_H

/* Asks for the state of a port's link, tells the operator when it changes, and when it is gone. */

#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"
#include "port/spec.h"

struct wh_link_watch {
	struct wh_port *port;
	const struct wh_port_spec *spec;
	uint64_t hz;
	uint64_t next_tsc;
	bool was_up;
	unsigned int interface; /* of the kernel, below the port; 0: none, or gone */
	uint64_t next_interface_tsc;
};

/* The spec lives as long. */
void wh_link_watch_init(struct wh_link_watch *watch, struct wh_port *port,
	const struct wh_port_spec *spec, uint64_t hz);

/* By one lcore, each round. False, once: the port is gone for good, as was said on stderr. */
bool wh_link_watch_poll(struct wh_link_watch *watch, uint64_t now_tsc);

#endif
