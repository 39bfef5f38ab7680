/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A listening endpoint, and what its peers say to it. */

#include "../rig/end.h"
#include "closed.h"
#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"
#include "unit.h"

#define HZ     UINT64_C(1000000000)
#define NOW    (10 * HZ)
#define CHUNKS 2

/* Of the places the lower half is for connections opened to us. */
#define PLACES 64
#define HALF   32

#define TOLD 256

static const struct wh_address alice = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};
static const struct wh_address bob = {.family = WH_IPV4, .ip = {192, 0, 2, 2}, .port = 2000};

/* A listening endpoint and what its callbacks do and saw. */
struct house {
	struct wh_endpoint endpoint;
	enum wh_release_status welcome;
	bool no_memory;
	uint32_t accepted;
	uint32_t gone;
	struct wh_session *session[HALF + 1];
	struct wh_session *last_gone;
	uint8_t *memory;
	uint64_t later_tsc; /* than NOW */

	/* The latest tokens that it told, by connection ID. */
	struct {
		uint32_t cid;
		uint64_t token;
	} told[TOLD];
	uint32_t tellings;
};

static inline struct wh_session_config session_config(const struct house *house)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, 4096, CHUNKS, 64);
	config.rate_bps = 1000000000;
	config.chunk_memory = house->memory;
	return config;
}

static inline enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	const struct house *house = context;

	(void)now_tsc;
	(void)params;
	(void)peer;
	(void)sa;
	*buffer_chunks = CHUNKS;
	return house->welcome;
}

static inline struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t cid,
	const struct wh_address *peer, const struct wh_sa *sa, const struct wh_open_params *params,
	uint64_t rtt_tsc)
{
	struct house *house = context;
	struct wh_session_config config = session_config(house);

	(void)sa;
	if (house->no_memory)
		return NULL;

	struct wh_session *session =
		wh_session_accept(&config, now_tsc, cid, peer, params, rtt_tsc);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	CU_ASSERT_TRUE_FATAL(house->accepted <= HALF);
	house->session[house->accepted++] = session;
	return session;
}

static inline void session_gone(void *context, struct wh_session *session)
{
	struct house *house = context;

	house->gone++;
	house->last_gone = session;
}

static inline void house_open(struct house *house)
{
	struct wh_endpoint_config config = {
		.hz = HZ,
		.key = {7},
		.places = PLACES,
		.welcome = welcome,
		.accept = accept_session,
		.gone = session_gone,
		.context = house,
	};

	*house = (struct house){.memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * 4096)};
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&house->endpoint, &config), 0);
}

static inline void house_close(struct house *house)
{
	for (uint32_t i = 0; i < house->accepted; i++)
		wh_session_destroy(house->session[i]);
	wh_endpoint_free(&house->endpoint);
	free(house->memory);
}

static inline struct wh_open_params params_of(uint32_t initiator_cid)
{
	return (struct wh_open_params){
		.initiator_cid = initiator_cid,
		.profile = 1,
		.payload_bytes = 1408,
		.chunk_bytes = 4096,
		.window_pkts = 64,
		.period_us = 10000,
		.first_pn = 1000,
		.object_bytes = 5,
		.name_bytes = 1,
		.name = "f",
	};
}

static inline void note_token(struct house *house, uint32_t cid, uint64_t token)
{
	uint32_t i = house->tellings++ % TOLD;

	house->told[i].cid = cid;
	house->told[i].token = token;
}

/* Of a connection ID that the house told; 0 if it did not. */
static inline uint64_t token_of(const struct house *house, uint32_t cid)
{
	for (uint32_t i = 0; i < TOLD; i++)
		if (house->told[i].cid == cid)
			return house->told[i].token;
	return 0;
}

static inline void give_bytes(
	struct house *house, const uint8_t *bytes, size_t length, const struct wh_address *from)
{
	uint64_t now_tsc = NOW + house->later_tsc;

	uint8_t *copy = malloc(length); /* the endpoint's to write to, and no longer than that */

	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	memcpy(copy, bytes, length);
	wh_endpoint_input(&house->endpoint, now_tsc, now_tsc, copy, length, from);
	free(copy);
}

static inline void give_with(struct house *house, const struct wh_packet *packet, uint64_t token,
	const struct wh_address *from)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];

	give_bytes(house, bytes, closed_encode(packet, token, bytes, sizeof(bytes)), from);
}

static inline void give(
	struct house *house, const struct wh_packet *packet, const struct wh_address *from)
{
	give_with(house, packet, token_of(house, packet->cid), from);
}

static inline void give_open(
	struct house *house, uint32_t initiator_cid, const struct wh_address *from)
{
	struct wh_packet open = {
		.type = WH_PACKET_OPEN,
		.open = {.params = params_of(initiator_cid), .stamp_us = 1},
	};

	give(house, &open, from);
}

/* The next packet that the endpoint sends; its type is 0 when there is none. */
static inline struct wh_packet take(struct house *house, struct wh_address *to)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};
	struct wh_packet packet = {0};

	if (wh_endpoint_output(&house->endpoint, NOW + house->later_tsc, &out, 1) == 0)
		return packet;
	CU_ASSERT_EQUAL_FATAL(wh_packet_decode(room, out.head_bytes, &packet), WH_WIRE_OK);
	*to = *out.to;
	if (packet.type == WH_PACKET_ACCEPT && packet.accept.refused == WH_STATUS_PENDING)
		note_token(
			house, packet.accept.acceptor_cid, wh_cookie_token(packet.accept.cookie));
	if (packet.type == WH_PACKET_OPEN)
		note_token(house, packet.open.params.initiator_cid,
			packet.open.params.initiator_token);
	return packet;
}

static inline void give_confirm(struct house *house, const struct wh_packet *accept,
	uint32_t initiator_cid, const struct wh_address *from)
{
	struct wh_packet confirm = {
		.type = WH_PACKET_CONFIRM,
		.confirm =
			{
				.params = params_of(initiator_cid),
				.acceptor_cid = accept->accept.acceptor_cid,
			},
	};

	memcpy(confirm.confirm.cookie, accept->accept.cookie, WH_COOKIE_BYTES);
	give(house, &confirm, from);
}

/* A turn of each core. */
static inline void turn(struct house *house, uint64_t now_tsc)
{
	wh_endpoint_receive_poll(&house->endpoint, now_tsc);
	wh_endpoint_send_poll(&house->endpoint, now_tsc);
}

/* Opens a connection to the house and returns the session there. */
static inline struct wh_session *open_to(struct house *house, uint32_t initiator_cid)
{
	struct wh_address to;

	give_open(house, initiator_cid, &alice);

	struct wh_packet accept = take(house, &to);

	CU_ASSERT_EQUAL_FATAL(accept.accept.refused, WH_STATUS_PENDING);
	give_confirm(house, &accept, initiator_cid, &alice);
	return house->session[house->accepted - 1];
}

/* Closes it from outside; what it says on its way out is thrown away. */
static inline void close_out(struct house *house, struct wh_session *session)
{
	struct wh_address to;
	uint32_t gone = house->gone;

	wh_session_ask(session, WH_WISH_CLOSE, WH_STATUS_PENDING);
	for (uint64_t ms = 0; house->gone == gone && ms < 100; ms++) {
		turn(house, NOW + ms * 10 * HZ / 1000);
		while (take(house, &to).type != 0)
			;
	}
	CU_ASSERT_EQUAL(house->gone, gone + 1);
	CU_ASSERT_PTR_EQUAL(house->last_gone, session);
	/* What is offered now is younger than what it came by. */
	house->later_tsc += HZ / 1000;
}
