/* SPDX-License-Identifier: BSD-3-Clause */
#include "end.h"

#include "base/assert.h"

#define MTU_BYTES 1500

void wh_rig_session_mtu(struct wh_session_config *config, enum wh_family family, uint32_t mtu_bytes)
{
	config->payload_bytes = wh_encap_payload_bytes(family, mtu_bytes);
	config->packet_bytes = mtu_bytes;
	config->wire_bytes = wh_encap_wire_bytes(family, config->payload_bytes);
}

void wh_rig_session_config(struct wh_session_config *config, uint64_t hz, uint32_t chunk_bytes,
	uint32_t chunks, uint32_t window_pkts)
{
	wh_session_config_init(config);
	config->hz = hz;
	wh_session_config_profile(config, wh_profile_find("fixed"));
	wh_rig_session_mtu(config, WH_IPV4, MTU_BYTES);
	config->chunk_bytes = chunk_bytes;
	config->chunks = chunks;
	config->window_pkts = window_pkts;
}

struct wh_open_params wh_rig_open_params(const struct wh_session_config *config, uint64_t first_pn)
{
	return (struct wh_open_params){
		.initiator_cid = 5,
		.profile = config->profile->number,
		.payload_bytes = config->payload_bytes,
		.chunk_bytes = config->chunk_bytes,
		.window_pkts = config->window_pkts,
		.period_us = config->profile->feedback.period_us,
		.first_pn = first_pn,
		.object_bytes = WH_OBJECT_BYTES_UNKNOWN,
		.recovery = (uint8_t)config->repair.recovery,
		.repair_pkts = config->repair.repair_pkts,
	};
}

static struct wh_session_config prepared(const struct wh_rig_end *end)
{
	struct wh_session_config config = end->session;

	if (end->prepare != NULL)
		end->prepare(end->context, &config);
	return config;
}

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct wh_rig_end *end = context;

	(void)now_tsc;
	(void)params;
	(void)peer;
	(void)sa;
	*buffer_chunks = end->session.chunks;
	return WH_STATUS_PENDING;
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct wh_rig_end *end = context;
	struct wh_session_config config = prepared(end);
	struct wh_session *session =
		wh_session_accept(&config, now_tsc, cid, peer, params, rtt_tsc);

	(void)sa;
	WH_ASSERT(session != NULL);
	end->accepted(end->context, session, &config);
	return session;
}

static void session_gone(void *context, struct wh_session *session)
{
	struct wh_rig_end *end = context;

	end->gone(end->context, session);
}

struct wh_address wh_rig_address(uint8_t number)
{
	return (struct wh_address){.family = WH_IPV4, .ip = {10, 0, 0, number}, .port = 1};
}

void wh_rig_end_open(struct wh_rig_end *end, uint8_t number, uint32_t places)
{
	struct wh_endpoint_config config = end->more;

	WH_ASSERT(end->gone != NULL);
	end->address = wh_rig_address(number);
	config.hz = end->session.hz;
	config.key[0] = number;
	config.places = places;
	config.sadb = end->sadb;
	if (end->accepted != NULL) {
		config.welcome = config.welcome != NULL ? config.welcome : welcome;
		config.accept = accept_session;
	}
	config.gone = session_gone;
	config.context = end;

	int rc = wh_endpoint_init(&end->endpoint, &config);

	WH_ASSERT(rc == 0);
}

void wh_rig_end_close(struct wh_rig_end *end)
{
	wh_endpoint_free(&end->endpoint);
}

struct wh_session *wh_rig_end_connect(struct wh_rig_end *end, const struct wh_address *to,
	const char *name, uint64_t object_bytes, struct wh_session_config *config)
{
	struct wh_session_config own = prepared(end);
	struct wh_session *session = wh_session_open(&own, to, name, object_bytes);

	WH_ASSERT(session != NULL);

	int rc = wh_endpoint_open(&end->endpoint, session);

	WH_ASSERT(rc == 0);
	if (config != NULL)
		*config = own;
	return session;
}
