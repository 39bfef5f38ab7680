/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Ports and what is behind them: a shard (netif or sockets, with an endpoint) per queue, and the
 * memory of sessions. A process may have several hosts, on one runtime. What is sent is up to jobs:
 * see jobs.h.
 *
 *   wh_host_start  starts DPDK for the ports, and opens a host on them
 *   wh_host_open   opens a host on a started runtime: ports and netifs; runs nothing yet
 *   wh_host_close  closes the ports and frees memory; the sessions must be destroyed before
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/host_ctx.h"
#include "host/host_handshake.h"
#include "host/host_settings.h"
#include "host/link_watch.h"
#include "host/memory_plan.h"
#include "host/runtime.h"
#include "port/netif.h"
#include "port/port.h"
#include "port/spec.h"
#include "udp/udp.h"

struct wh_host;

/* An ethdev, or the sockets of an address, which have no port and no pool. */
struct wh_host_port {
	struct wh_host *host;
	struct rte_mempool *pool;
	struct wh_port *port;
	struct wh_link_watch link;
	bool gone; /* as was reported */
};

struct wh_host {
	struct wh_host_ctx ctx; /* the part that jobs see */
	struct wh_runtime *runtime;
	struct wh_port_spec spec[WH_PORTS_MAX]; /* of one kind */
	struct wh_host_port at[WH_PORTS_MAX];
	uint32_t ports;
	void *memory; /* of the arena */
	uint32_t shards;
	struct wh_netif *netif; /* one per shard; NULL for port udp */
	struct wh_udp *udp;     /* of port udp: one per shard; else NULL */
	uint32_t udps;          /* queues whose sockets are open */
	bool missed_told;
	uint64_t next_missed_tsc;
	struct wh_host_handshake handshake; /* if the settings want one */
	_Atomic bool lost; /* all ports are gone, as was reported; the process ends */
};

/* Capacity of an emulated link's port, in each direction. */
#define WH_HOST_RING_PKTS 2048

/* Adds the memory of a host with these settings and ports; `whose` is put before the names. */
void wh_host_plan_memory(const struct wh_host_settings *settings, const struct wh_port_spec *spec,
	const char *whose, struct wh_memory_plan *memory);

/*
 * Opens a host on settings->ports ports, with room for that many concurrent jobs in each shard, one
 * session per direction each. WH_EXIT_OK, or an exit status after one sentence on stderr.
 */
int wh_host_open(struct wh_host *host, struct wh_runtime *runtime, const struct wh_port_spec *spec,
	const struct wh_host_settings *settings, const struct wh_host_ctx_hooks *hooks,
	uint32_t jobs);

/*
 * Like wh_host_open, with the ports named in the settings; also starts the runtime, which the
 * caller closes.
 */
int wh_host_start(struct wh_host *host, struct wh_runtime *runtime,
	const struct wh_host_settings *settings, const struct wh_host_ctx_hooks *hooks,
	uint32_t jobs);

void wh_host_close(struct wh_host *host);

/* The endpoint of a shard that is open. */
static inline struct wh_endpoint *wh_host_endpoint(const struct wh_host *host, uint32_t shard)
{
	return host->ctx.shard[shard].endpoint;
}

/* The names of a row of ports, as DPDK has them. */
#define WH_HOST_PORTS_BYTES (WH_PORTS_MAX * (WH_PORT_SPEC_NAME_BYTES + 2))
void wh_host_port_names(
	const struct wh_host *host, uint32_t first, uint32_t end, char text[WH_HOST_PORTS_BYTES]);

/* Whether the port of a shard has a link. Sockets have the kernel's. Any core. */
bool wh_host_link_up(const struct wh_host *host, uint32_t port);

/* Counters of one shard's queue, or of all ports with what the devices count. Any core. */
void wh_host_port_stats(const struct wh_host *host, uint32_t shard, struct wh_port_stats *stats);
void wh_host_port_stats_total(const struct wh_host *host, struct wh_port_stats *total);

/* Packets that did not reach a session, by reason; only reasons with a count. */
#define WH_HOST_REASONS_MAX 48

struct wh_reason {
	const char *name;
	uint64_t pkts;
};

/* Returns the number of entries written, at most WH_HOST_REASONS_MAX. */
uint32_t wh_host_reasons(const struct wh_host *host, struct wh_reason *reasons);
