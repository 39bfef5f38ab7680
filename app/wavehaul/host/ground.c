/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/ground.h"

#include <string.h>

#include "base/assert.h"
#include "cli/repair.h"
#include "host/host_handshake.h"
#include "wire/cookie.h"

uint64_t wh_ground_draw(struct wh_ground *ground)
{
	uint64_t number = atomic_fetch_add(&ground->draws, 1);

	return wh_siphash24(ground->draw_key, &number, sizeof(number));
}

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct wh_ground_shard *shard = context;
	const struct wh_ground_hooks *hooks = &shard->ground->hooks;
	const struct wh_peer_bounds bounds = wh_ground_bounds(shard->ground, peer->family);

	if (!wh_open_is_possible(params, &bounds))
		return WH_STATUS_REFUSED;
	return hooks->welcome(hooks->owner, now_tsc, params, peer, sa, buffer_chunks);
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t lci,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	const struct wh_ground_shard *shard = context;
	struct wh_ground *ground = shard->ground;
	struct wh_session_config config;

	wh_ground_session_config(ground, &config);
	wh_session_config_profile(&config, wh_profile_by_number(params->profile));
	config.payload_bytes = params->payload_bytes;
	config.packet_bytes = WH_HEAD_BYTES + params->payload_bytes +
			      wh_encap_ip_udp_bytes((enum wh_family)peer->family);
	config.wire_bytes = wh_ground_wire_bytes(ground, peer->family, params->payload_bytes);
	config.chunk_bytes = params->chunk_bytes;
	config.window_pkts = params->window_pkts;
	wh_repair_follow(params, &config);
	return ground->hooks.accept(ground->hooks.owner, shard->number, &config, now_tsc, lci, peer,
		sa, params, rtt_tsc);
}

static bool may_come(void *context, const struct wh_address *peer)
{
	const struct wh_ground_shard *shard = context;

	return shard->ground->hooks.may_come(shard->ground->hooks.owner, peer);
}

static void session_gone(void *context, struct wh_session *session)
{
	const struct wh_ground_shard *shard = context;

	shard->ground->hooks.gone(shard->ground->hooks.owner, session);
}

static enum wh_release_status may_probe(
	void *context, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	const struct wh_ground_shard *shard = context;

	return shard->ground->hooks.may_probe(shard->ground->hooks.owner, now_tsc, peer, sa);
}

struct wh_endpoint_config wh_ground_endpoint_config(
	struct wh_ground *ground, uint32_t shard, uint32_t places)
{
	struct wh_endpoint_config config = {
		.hz = ground->hz,
		.places = places,
		.welcome = welcome,
		.accept = accept_session,
		.gone = session_gone,
		.context = &ground->shard[shard],
		.with_handshake = ground->handshake != NULL,
		.sadb = ground->handshake != NULL ? &ground->handshake->sadb : NULL,
		.queue = shard,
	};

	WH_ASSERT(shard < ground->settings->queues && ground->shard[shard].ground == ground);
	memcpy(config.key, ground->cookie_key, sizeof(config.key));
	if (ground->hooks.may_come != NULL)
		config.may_come = may_come;
	config.own[0] = wh_ground_address(ground, WH_IPV4, shard);
	config.own[1] = wh_ground_address(ground, WH_IPV6, shard);
	/* A prober uses one queue, and is answered by the first one. */
	if (shard == 0 && ground->hooks.may_probe != NULL) {
		config.may_probe = may_probe;
		config.probe_room_pkts = WH_ANSWERER_ROOM_PKTS;
	}
	return config;
}

void wh_ground_session_config(struct wh_ground *ground, struct wh_session_config *config)
{
	WH_ASSERT(ground->hz > 0 && ground->burst_pkts > 0);
	wh_session_config_init(config);
	config->hz = ground->hz;
	config->attach_bytes = ground->attach_bytes;
	config->burst_pkts = ground->burst_pkts;
	config->line_bps = ground->line_bps;
	config->seed = wh_ground_draw(ground);
}

struct wh_address wh_ground_address(const struct wh_ground *ground, uint8_t family, uint32_t shard)
{
	const struct wh_host_settings *settings = ground->settings;
	struct wh_address address =
		family == WH_IPV4 ? settings->ipv4.address : settings->ipv6.address;

	WH_ASSERT(shard < settings->queues && settings->udp_port + shard <= UINT16_MAX);
	address.port = (uint16_t)(settings->udp_port + shard);
	return address;
}

uint32_t wh_ground_payload_bytes(const struct wh_ground *ground, uint8_t family)
{
	return wh_encap_payload_bytes((enum wh_family)family, ground->settings->mtu_bytes);
}

struct wh_peer_bounds wh_ground_bounds(const struct wh_ground *ground, uint8_t family)
{
	return (struct wh_peer_bounds){
		.payload_bytes = wh_ground_payload_bytes(ground, family),
		.fec = ground->fec,
	};
}

uint32_t wh_ground_wire_bytes(
	const struct wh_ground *ground, uint8_t family, uint32_t payload_bytes)
{
	return wh_encap_wire_bytes((enum wh_family)family, payload_bytes) +
	       (ground->settings->vlan != 0 ? WH_VLAN_BYTES : 0);
}
