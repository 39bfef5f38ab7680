/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Watches a port's link and tells the operator when it changes or is gone. */

#include <net/if.h>
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
	unsigned int interface; /* the kernel's index of the one below the port; 0: none, or gone */
	char name[IF_NAMESIZE]; /* of it */
	uint64_t next_interface_tsc;
	bool alone;      /* without it the process ends */
	bool given_back; /* the device is to be removed, as was told */
};

/* `spec` must outlive the watch. */
void wh_link_watch_init(struct wh_link_watch *watch, struct wh_port *port,
	const struct wh_port_spec *spec, uint64_t hz, bool alone);

/* Call on one lcore, each round. False, once: the port is gone for good, as reported on stderr. */
bool wh_link_watch_poll(struct wh_link_watch *watch, uint64_t now_tsc);
