/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * All that jobs need and may use of a host: its clock's rate, its settings, memory, an endpoint per
 * queue, and loops to run on. wh_host_open fills it from a port; a test fills it by hand and polls
 * the loops in virtual time, without EAL.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "endpoint/endpoint.h"
#include "host/arena.h"
#include "host/bounds.h"
#include "host/host_settings.h"
#include "host/loop.h"

struct wh_host_ctx;
struct wh_host_handshake;

/* Callbacks to the owner of sessions, on the core that receives a shard's packets. */
struct wh_host_ctx_hooks {
	enum wh_release_status (*welcome)(void *owner, uint64_t now_tsc,
		const struct wh_open_params *params, const struct wh_address *peer,
		const struct wh_sa *sa, uint32_t *buffer_chunks);
	struct wh_session *(*accept)(void *owner, uint32_t shard,
		const struct wh_session_config *config, uint64_t now_tsc, uint32_t cid,
		const struct wh_address *peer, const struct wh_sa *sa,
		const struct wh_open_params *params, uint64_t rtt_tsc);
	void (*gone)(void *owner, struct wh_session *session);
	/* As in struct wh_endpoint_config; NULL: any host. */
	bool (*may_come)(void *owner, const struct wh_address *peer, const struct wh_sa *sa);
	/* Whether that peer may probe the path to this host now; NULL: never. */
	enum wh_release_status (*may_probe)(void *owner, uint64_t now_tsc,
		const struct wh_address *peer, const struct wh_sa *sa);
	void *owner;
};

/* A host's counters beside those of its sessions. */
struct wh_host_ctx_counts {
	uint64_t bad_pkts;     /* of one shard: packets of no session */
	uint64_t dropped_pkts; /* by the port */
	bool port_is_full;     /* about every second burst or more was not taken whole */
	bool nic_holds;        /* a thousandth or more of what was sent, as its counters tell */
	uint64_t cycles[WH_METER_TASKS];
};

/* The endpoint of a queue, and the context of its callbacks. */
struct wh_host_ctx_shard {
	struct wh_host_ctx *ctx;
	uint32_t number;
	struct wh_endpoint *endpoint;
};

struct wh_host_ctx {
	uint64_t hz;
	const struct wh_host_settings *settings;
	uint16_t own_port[WH_PORTS_MAX]; /* UDP, of its first queue; 0: as in the settings */
	struct wh_host_ctx_hooks hooks;
	struct wh_arena arena;
	struct wh_fec_limits fec; /* of its workers' tables; r 0: none */
	/* As in wh_session_config; line_bps of a port is known only of a NIC's link. */
	uint32_t attach_bytes;
	uint32_t burst_pkts;
	uint64_t line_bps[WH_PORTS_MAX];
	struct wh_host_handshake *handshake; /* source of jobs' SAs; NULL: nothing is sealed */
	struct wh_host_ctx_shard shard[WH_QUEUES_MAX]; /* wh_host_settings_shards of them */
	uint32_t workers;
	struct wh_loop *worker[WH_SETTINGS_CPUS_MAX]; /* the workers' loops */
	/* Both keys come from the system, or from a seed. */
	uint8_t cookie_key[WH_SIPHASH_KEY_BYTES];
	uint8_t draw_key[WH_SIPHASH_KEY_BYTES];
	_Atomic uint64_t draws;
	void (*count)(
		const struct wh_host_ctx *ctx, uint32_t shard, struct wh_host_ctx_counts *counts);
};

/* A number that cannot be guessed without draw_key, different each time. Any core. */
uint64_t wh_host_ctx_draw(struct wh_host_ctx *ctx);

/* An endpoint's configuration for that shard, except its meters: streams to it go to the hooks. */
struct wh_endpoint_config wh_host_ctx_endpoint_config(
	struct wh_host_ctx *ctx, uint32_t shard, uint32_t places);

/* Adds the bookkeeping of that endpoint's receivers to the loop of another core. */
void wh_host_ctx_keep_books(struct wh_loop *loop, struct wh_endpoint *endpoint);

/*
 * A session's configuration on that shard, except profile, sizes, memory, rate and patience, which
 * the caller or the peer's OPEN decide.
 */
void wh_host_ctx_session_config(
	struct wh_host_ctx *ctx, uint32_t shard, struct wh_session_config *config);

/* Our address of the given family as that shard's peers see it; family 0: none. */
struct wh_address wh_host_ctx_address(
	const struct wh_host_ctx *ctx, uint8_t family, uint32_t shard);

/* Bytes on the wire of a full data packet to a peer of that family, including a VLAN tag. */
uint32_t wh_host_ctx_wire_bytes(
	const struct wh_host_ctx *ctx, uint8_t family, uint32_t payload_bytes);

/* Largest payload of a data packet to a peer of that family. */
uint32_t wh_host_ctx_payload_bytes(const struct wh_host_ctx *ctx, uint8_t family);

/* The limits for a peer of that family. */
struct wh_peer_bounds wh_host_ctx_bounds(const struct wh_host_ctx *ctx, uint8_t family);
