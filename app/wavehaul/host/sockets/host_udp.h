/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* The part of a host that differs for port `udp`: sockets instead of an ethdev and netifs. */

#include "host/host.h"

static inline bool wh_host_is_udp(const struct wh_host *host)
{
	return host->spec[0].kind == WH_PORT_UDP;
}

/* Whether that memory is there; if not, one sentence on stderr says what would fit. */
bool wh_host_udp_has_memory(
	const struct wh_memory_plan *plan, const struct wh_host_settings *settings);

/* Zeroed memory of that size, for the life of the process; NULL: there is none. */
void *wh_host_udp_memory(uint64_t bytes);

/*
 * Opens the sockets of all queues, which fixes our UDP ports. 0, or a negative errno after one
 * sentence on stderr.
 */
int wh_host_udp_open(struct wh_host *host);

/* Opens the shards on them, and adds their tasks; the host context exists. */
int wh_host_udp_open_shards(struct wh_host *host, uint32_t places);

/* Does nothing to a host on an ethdev. */
void wh_host_udp_close(struct wh_host *host);

/* Of the sockets of one address. */
void wh_host_udp_stats(const struct wh_host *host, uint32_t port, struct wh_port_stats *stats);
