/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/host_ctx.h"

#include <string.h>

#include "base/assert.h"
#include "cli/cli_repair.h"
#include "host/host_handshake.h"
#include "wire/cookie.h"

uint64_t wh_host_ctx_draw(struct wh_host_ctx *ctx)
{
	uint64_t number = atomic_fetch_add(&ctx->draws, 1);

	return wh_siphash24(ctx->draw_key, &number, sizeof(number));
}

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct wh_host_ctx_shard *shard = context;
	const struct wh_host_ctx_hooks *hooks = &shard->ctx->hooks;
	const struct wh_peer_bounds bounds = wh_host_ctx_bounds(shard->ctx, peer->family);

	if (!wh_open_is_possible(params, &bounds))
		return WH_STATUS_REFUSED;
	return hooks->welcome(hooks->owner, now_tsc, params, peer, sa, buffer_chunks);
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	const struct wh_host_ctx_shard *shard = context;
	struct wh_host_ctx *ctx = shard->ctx;
	struct wh_session_config config;

	wh_host_ctx_session_config(ctx, shard->number, &config);
	wh_session_config_profile(&config, wh_profile_by_number(params->profile));
	config.payload_bytes = params->payload_bytes;
	config.packet_bytes = WH_HEAD_BYTES + params->payload_bytes +
			      wh_encap_ip_udp_bytes((enum wh_family)peer->family);
	config.wire_bytes = wh_host_ctx_wire_bytes(ctx, peer->family, params->payload_bytes);
	config.chunk_bytes = params->chunk_bytes;
	config.window_pkts = params->window_pkts;
	wh_repair_follow(params, &config);
	return ctx->hooks.accept(
		ctx->hooks.owner, shard->number, &config, now_tsc, cid, peer, sa, params, rtt_tsc);
}

static bool may_come(void *context, const struct wh_address *peer, const struct wh_sa *sa)
{
	const struct wh_host_ctx_shard *shard = context;

	return shard->ctx->hooks.may_come(shard->ctx->hooks.owner, peer, sa);
}

static void session_gone(void *context, struct wh_session *session)
{
	const struct wh_host_ctx_shard *shard = context;

	shard->ctx->hooks.gone(shard->ctx->hooks.owner, session);
}

static enum wh_release_status may_probe(
	void *context, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	const struct wh_host_ctx_shard *shard = context;

	return shard->ctx->hooks.may_probe(shard->ctx->hooks.owner, now_tsc, peer, sa);
}

struct wh_endpoint_config wh_host_ctx_endpoint_config(
	struct wh_host_ctx *ctx, uint32_t shard, uint32_t places)
{
	struct wh_endpoint_config config = {
		.hz = ctx->hz,
		.places = places,
		.welcome = welcome,
		.accept = accept_session,
		.gone = session_gone,
		.context = &ctx->shard[shard],
		.with_handshake = ctx->handshake != NULL,
		.sadb = ctx->handshake != NULL ? &ctx->handshake->sadb : NULL,
		.queue = shard,
		.books_apart = ctx->settings->books_cpus.count > 0,
	};

	WH_ASSERT(shard < wh_host_settings_shards(ctx->settings) && ctx->shard[shard].ctx == ctx);
	memcpy(config.key, ctx->cookie_key, sizeof(config.key));
	if (ctx->handshake != NULL && ctx->settings->handshake->told.peer.family == 0)
		memcpy(config.told_cookie, ctx->settings->handshake->told.cookie,
			sizeof(config.told_cookie));
	if (ctx->hooks.may_come != NULL)
		config.may_come = may_come;
	/* A prober uses one queue, and is answered by a port's first one. */
	if (shard % ctx->settings->queues == 0 && ctx->hooks.may_probe != NULL) {
		config.may_probe = may_probe;
		config.probe_room_pkts = WH_ANSWERER_ROOM_PKTS;
	}
	return config;
}

static int32_t poll_books(void *endpoint, uint64_t now_tsc)
{
	return wh_endpoint_books_poll(endpoint, now_tsc);
}

void wh_host_ctx_keep_books(struct wh_loop *loop, struct wh_endpoint *endpoint)
{
	loop->nap_us = WH_LOOP_PACKET_NAP_US;
	wh_loop_add(loop, "books", poll_books, endpoint);
}

void wh_host_ctx_session_config(
	struct wh_host_ctx *ctx, uint32_t shard, struct wh_session_config *config)
{
	WH_ASSERT(ctx->hz > 0 && ctx->burst_pkts > 0);
	wh_session_config_init(config);
	config->hz = ctx->hz;
	config->attach_bytes = ctx->attach_bytes;
	config->burst_pkts = ctx->burst_pkts;
	config->line_bps = ctx->line_bps[shard / ctx->settings->queues];
	config->seed = wh_host_ctx_draw(ctx);
	config->books_apart = ctx->settings->books_cpus.count > 0;
}

struct wh_address wh_host_ctx_address(const struct wh_host_ctx *ctx, uint8_t family, uint32_t shard)
{
	const struct wh_host_settings *settings = ctx->settings;
	const struct wh_own_port *port = wh_host_settings_port(settings, shard);
	struct wh_address address = family == WH_IPV4 ? port->ipv4.address : port->ipv6.address;
	uint32_t own_port = ctx->own_port[shard / settings->queues];
	uint32_t number =
		(own_port != 0 ? own_port : settings->udp_port) + shard % settings->queues;

	WH_ASSERT(shard < wh_host_settings_shards(settings) && number <= UINT16_MAX);
	address.port = (uint16_t)number;
	return address;
}

uint32_t wh_host_ctx_payload_bytes(const struct wh_host_ctx *ctx, uint8_t family)
{
	return wh_encap_payload_bytes((enum wh_family)family, ctx->settings->mtu_bytes);
}

struct wh_peer_bounds wh_host_ctx_bounds(const struct wh_host_ctx *ctx, uint8_t family)
{
	return (struct wh_peer_bounds){
		.payload_bytes = wh_host_ctx_payload_bytes(ctx, family),
		.fec = ctx->fec,
	};
}

uint32_t wh_host_ctx_wire_bytes(
	const struct wh_host_ctx *ctx, uint8_t family, uint32_t payload_bytes)
{
	return wh_encap_wire_bytes((enum wh_family)family, payload_bytes) +
	       (ctx->settings->vlan != 0 ? WH_VLAN_BYTES : 0);
}
