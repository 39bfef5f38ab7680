/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Port `udp` has the kernel's addresses, MTU and routes; this writes them into the settings, where
 * other ports have --addr. Nothing is sent.
 */

#include <stdbool.h>

#include "cli/settings.h"

/* Whether the port is udp; a port that was not given is. */
bool wh_own_is_udp(const struct wh_settings *settings);

/*
 * The addresses named with the port, or this host's main ones. `serves`: the UDP port named there
 * is that of the server. -1, or the exit status after a complaint.
 */
int wh_own_take(struct wh_settings *settings, bool serves);

/* The port in whose subnet the peer is, by which contact with it is made; else the first, 0. */
uint32_t wh_own_beside(
	const struct wh_own_port *port, uint32_t ports, const struct wh_address *peer);

/*
 * For a client, once the server's address is known: the port beside it becomes the first. One of
 * sockets then has, of the server's family, the address from which the kernel sends there, and an
 * MTU of at most the route's. False after a complaint.
 */
bool wh_own_toward(struct wh_settings *settings, const char *host, const struct wh_address *peer);
