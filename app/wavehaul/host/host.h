/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A port and what is behind it: a shard (netif or sockets, with an endpoint) per queue, and the
 * memory of sessions. A process may have several, on one runtime. What is sent is up to jobs: see
 * jobs.h.
 *
 *   wh_host_start  starts DPDK for one port, and opens a host on it
 *   wh_host_open   opens a host on a started runtime: port and netifs; runs nothing yet
 *   wh_host_close  closes the port and frees memory; the sessions must be destroyed before
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

struct wh_host {
	struct wh_host_ctx ctx; /* the part that jobs see */
	struct wh_runtime *runtime;
	struct wh_port_spec spec;
	void *memory; /* of the arena */
	uint32_t shards;
	/* Of an ethdev; NULL for port udp. */
	struct rte_mempool *pool;
	struct wh_port *port;
	struct wh_netif *netif; /* one per shard */
	/* Of port udp: one per shard; NULL for an ethdev. */
	struct wh_udp *udp;
	uint32_t udps; /* queues whose sockets are open */
	bool missed_told;
	uint64_t next_missed_tsc;
	struct wh_link_watch link;
	struct wh_host_handshake handshake; /* if the settings want one */
	_Atomic bool lost; /* the port is gone, as was reported; the process ends */
};

/* Capacity of an emulated link's port, in each direction. */
#define WH_HOST_RING_PKTS 2048

/* Adds the memory of a host with these settings and this port; `whose` is put before the names. */
void wh_host_plan_memory(const struct wh_host_settings *settings, const struct wh_port_spec *spec,
	const char *whose, struct wh_memory_plan *memory);

/*
 * Opens a host with room for that many concurrent jobs in each shard, one session per direction
 * each. WH_EXIT_OK, or an exit status after one sentence on stderr.
 */
int wh_host_open(struct wh_host *host, struct wh_runtime *runtime, const struct wh_port_spec *spec,
	const struct wh_host_settings *settings, const struct wh_host_ctx_hooks *hooks,
	uint32_t jobs);

/*
 * Like wh_host_open, with the port named in the settings; also starts the runtime, which the caller
 * closes.
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

/* Counters of one queue of the port, or of all with what the device counts. Any core. */
void wh_host_port_stats(const struct wh_host *host, uint32_t queue, struct wh_port_stats *stats);
void wh_host_port_stats_total(const struct wh_host *host, struct wh_port_stats *total);

/* Packets that did not reach a session, by reason; only reasons with a count. */
#define WH_HOST_REASONS_MAX 48

struct wh_reason {
	const char *name;
	uint64_t pkts;
};

/* Returns the number of entries written, at most WH_HOST_REASONS_MAX. */
uint32_t wh_host_reasons(const struct wh_host *host, struct wh_reason *reasons);
