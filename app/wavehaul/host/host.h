/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_HOST_H
#define WH_APP_HOST_H

/*
 * A port and what is behind it: a shard (station and endpoint) per queue, and the memory of
 * sessions. A process may have several, on one runtime. What is sent and why is not its business:
 * see jobs.h.
 *
 *   wh_host_start  DPDK for one port, and a host on it
 *   wh_host_open   a host on a runtime that has started: port open, stations ready, nothing runs
 *   wh_host_close  port closed, memory back; the sessions' owner has destroyed them before
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "host/arena.h"
#include "host/bounds.h"
#include "host/memory_plan.h"
#include "host/runtime.h"
#include "port/port.h"
#include "port/spec.h"
#include "port/station.h"

struct wh_host;

/* What the owner of sessions answers, on the core that receives a shard's packets. */
struct wh_host_hooks {
	enum wh_release_status (*welcome)(void *owner, const struct wh_open_params *params,
		const struct wh_address *peer, uint32_t *buffer_chunks);
	struct wh_session *(*accept)(void *owner, uint32_t shard,
		const struct wh_session_config *config, uint64_t now_tsc, uint32_t lci,
		const struct wh_address *peer, const struct wh_open_params *params,
		uint64_t rtt_tsc);
	void (*gone)(void *owner, struct wh_session *session);
	void *owner;
};

/* One queue of the port and what is behind it. */
struct wh_shard {
	struct wh_host *host;
	uint32_t number;
	struct wh_station station;
};

struct wh_host {
	const struct wh_settings *settings;
	struct wh_host_hooks hooks;
	struct wh_runtime *runtime;
	uint64_t hz; /* the runtime's */
	struct wh_port_spec spec;
	struct rte_mempool *pool;
	struct wh_port *port;
	struct wh_arena arena;
	struct wh_fec_limits fec; /* of its working cores' tables; r 0: there are none */
	uint32_t shards;
	struct wh_shard *shard;
	uint64_t next_link_tsc;
	bool link_was_up;
	unsigned int interface; /* of the kernel, below the port; 0: none */
	uint64_t next_interface_tsc;
	_Atomic bool lost; /* the port is gone, as was said: nothing goes on */
};

/* Adds what a host with such settings takes. */
void wh_host_plan_memory(const struct wh_settings *settings, struct wh_memory_plan *memory);

/*
 * With room for that many jobs at once in each shard, a session each way. WH_EXIT_OK, or an exit
 * status after one sentence on stderr.
 */
int wh_host_open(struct wh_host *host, struct wh_runtime *runtime, const struct wh_port_spec *spec,
	const struct wh_settings *settings, const struct wh_host_hooks *hooks, uint32_t jobs);

/* Likewise, the port that the settings name; starts the runtime, which is the caller's to close. */
int wh_host_start(struct wh_host *host, struct wh_runtime *runtime,
	const struct wh_settings *settings, const struct wh_host_hooks *hooks, uint32_t jobs);

void wh_host_close(struct wh_host *host);

/* Packets that no session got to see, by reason; those that there were. */
#define WH_HOST_REASONS_MAX 48

struct wh_reason {
	const char *name;
	uint64_t pkts;
};

/* Returns how many of WH_HOST_REASONS_MAX were written. */
uint32_t wh_host_reasons(const struct wh_host *host, struct wh_reason *reasons);

/*
 * A session's configuration on this host: all but profile, sizes, memory and rate, which the
 * caller or the peer's OPEN decide.
 */
void wh_host_session_config(const struct wh_host *host, struct wh_session_config *config);

/* Our address of the peer's family as the peers of that shard see it; family 0: we have none. */
struct wh_address wh_host_address(const struct wh_host *host, uint8_t family, uint32_t shard);

/* What a full data packet to a peer of that family takes of the wire, VLAN tag and all. */
uint32_t wh_host_wire_bytes(const struct wh_host *host, uint8_t family, uint32_t payload_bytes);

/* Largest payload of a data packet to a peer of that family. */
uint32_t wh_host_payload_bytes(const struct wh_host *host, uint8_t family);

/* What it can bear of a peer of that family. */
struct wh_peer_bounds wh_host_bounds(const struct wh_host *host, uint8_t family);

#endif
