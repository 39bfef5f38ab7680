/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Two processes that have never met, each with an endpoint and a handshake server behind it, over a
 * line of a second each round trip, or worse, in virtual time.
 */

#include "../rig/host.h"
#include "../rig/line.h"
#include "base/clock.h"
#include "base/prng.h"
#include "endpoint/lifecycle.h"
#include "endpoint/listen.h"
#include "session/session_internal.h"
#include "unit.h"
#include "wire/versions.h"

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define CHUNK_BYTES 16384
#define CHUNKS      4
#define PARCELS     4096
#define WORD        "what a client has to say"

struct host {
	struct wh_rig_host is;
	uint32_t number; /* 0: the client */
	uint8_t *memory; /* of two sessions */
	struct wh_session *session;
	struct wh_session *before; /* goes on beside it; or of a reply */
	enum wh_authorization authorization;
};

static struct world {
	struct host host[2];
	struct host *twin; /* of the client, at its address; NULL: none */
	bool sealed;
	uint64_t now_tsc;
	uint64_t delay_tsc; /* each way */
	uint32_t lost_percent;
	uint64_t handshakes_late_tsc; /* the handshake core of the server looks so rarely */
	uint64_t hears_late_tsc;      /* the client takes what has come so rarely */
	uint64_t dead_until_tsc;      /* nothing arrives before */
	uint32_t lost_confirms;       /* so many, and more are not */
	uint32_t redirected;          /* OPENs, so many, in another's name; and what answers them */
	struct wh_address outside;    /* the client's, by a translator; family 0: there is none */
	uint32_t outside_pkts; /* the translator takes another port after so many; 0: never */
	bool closed;           /* nobody may come to the server */
	bool foreign;          /* it is of another version */
	struct wh_prng prng;
	struct wh_rig_line line[2]; /* to each host */
	uint64_t sent_bytes[2];     /* likewise */
	uint32_t opens, confirms, unbound;
	struct wh_sa *sa;
	bool heard; /* all of WORD, at the server */
} world;

static inline void prepare(void *context, struct wh_session_config *config)
{
	const struct host *host = context;

	bool second = host->session != NULL || host->before != NULL;

	config->chunk_memory = host->memory + (second ? CHUNKS * CHUNK_BYTES : 0);
	if (host->number == 0)
		config->sa = world.sa;
}

static inline void session_accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct host *host = context;

	(void)config;
	if (host->number == 0) {
		host->before = session;
		return;
	}
	CU_ASSERT_PTR_NULL(host->session);
	host->session = session;
}

static inline void session_gone(void *context, struct wh_session *session)
{
	struct host *host = context;

	CU_ASSERT(session == host->session || session == host->before);
	*(session == host->session ? &host->session : &host->before) = NULL;
	wh_session_destroy(session);
}

static inline bool may_come(void *context, const struct wh_address *peer, const struct wh_sa *sa)
{
	(void)context;
	(void)peer;
	(void)sa;
	return !world.closed;
}

static inline enum wh_authorization authorize(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	const struct host *host = context;

	(void)stranger;
	granted->rights = 7;
	return host->authorization;
}

static inline bool holds(void *context, uint64_t rights)
{
	(void)context;
	return rights == 7;
}

static inline void start_host(struct host *host)
{
	wh_rig_host_start(&host->is, (uint8_t)(1 + host->number));
}

static inline void stop_host(struct host *host)
{
	wh_session_destroy(host->session);
	wh_session_destroy(host->before);
	host->session = host->before = NULL;
	wh_rig_host_stop(&host->is);
}

static inline void make_host(struct host *host, uint32_t number)
{
	struct wh_rig_end *end = &host->is.end;

	*host = (struct host){.number = number, .authorization = WH_AUTHORIZED};
	host->memory = aligned_alloc(WH_CHUNK_ALIGN, 2 * CHUNKS * CHUNK_BYTES);
	host->is.authorizer =
		(struct wh_authorizer){.authorize = authorize, .holds = holds, .context = host};
	wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, 64);
	end->session.rate_bps = UINT64_C(1000000000);
	end->more.with_handshake = world.sealed;
	end->prepare = prepare;
	end->gone = session_gone;
	end->context = host;
	end->accepted = session_accepted;
	end->session.awaits_reply = number == 0;
	if (number == 1)
		end->more.may_come = may_come;
}

static inline void open_world(bool sealed, uint64_t seed)
{
	memset(&world, 0, sizeof(world));
	world.sealed = sealed;
	world.now_tsc = 5 * HZ;
	world.delay_tsc = 500 * MS;
	wh_prng_init(&world.prng, seed);
	for (uint32_t i = 0; i < 2; i++) {
		make_host(&world.host[i], i);
		wh_rig_host_make(&world.host[i].is);
		start_host(&world.host[i]);
		wh_rig_line_open(&world.line[i], PARCELS);
	}
}

static inline void close_world(void)
{
	wh_sa_let_go(world.sa);
	for (uint32_t i = 0; i < 2; i++) {
		struct host *host = &world.host[i];

		stop_host(host);
		wh_rig_host_free(&host->is);
		free(host->memory);
		wh_rig_line_close(&world.line[i]);
	}
}

static inline bool is_lost(const uint8_t *packet)
{
	if (packet[1] == WH_PACKET_CONFIRM && world.lost_confirms > 0) {
		world.lost_confirms--;
		return true;
	}
	return wh_prng_below(&world.prng, 100) < world.lost_percent;
}

/* Whether the translator, if any, has an entry for it. */
static inline bool is_inside(const struct wh_address *to)
{
	return world.outside.family == 0 || wh_address_equal(to, &world.outside);
}

static inline void send_all(struct host *from)
{
	uint32_t to = !from->number;
	uint8_t room[WH_RIG_PACKET_BYTES];
	struct wh_out out = {.head = room};

	while (wh_endpoint_output(&from->is.end.endpoint, world.now_tsc, &out, 1) == 1) {
		world.sent_bytes[to] += out.head_bytes + out.payload_bytes;
		world.opens += room[1] == WH_PACKET_OPEN;
		world.confirms += room[1] == WH_PACKET_CONFIRM;
		if (!is_lost(room) && (to == 1 || is_inside(out.to)))
			wh_rig_line_put(&world.line[to], &out, world.now_tsc + world.delay_tsc);
	}
}

static const struct wh_address elsewhere = {.family = WH_IPV4, .ip = {10, 0, 0, 77}, .port = 7000};

/* Who owns the path lets an OPEN come from elsewhere, and its answer to who has sent it. */
static inline const struct wh_address *name_of(
	const struct host *to, const struct wh_rig_packet *packet)
{
	const struct wh_address *name = &world.host[!to->number].is.end.address;

	if (to->number == 1 && world.outside.family != 0) {
		if (world.outside_pkts > 0 && --world.outside_pkts == 0)
			world.outside.port++;
		name = &world.outside;
	}
	if (to->number == 1 && packet->data[1] == WH_PACKET_OPEN && world.redirected > 0) {
		world.redirected--;
		name = &elsewhere;
	}
	return name;
}

/* A packet between an end of this version and one that speaks 8 and 9. */
static inline void translate(uint8_t *packet, uint32_t to)
{
	if (to == 1) {
		packet[0] = WH_WIRE_VERSION + 1;
	} else if (packet[0] == 0) {
		packet[2] = 8;
		packet[3] = 9;
		packet[8] = WH_WIRE_VERSION;
	}
}

static inline void receive_all(struct host *to)
{
	struct wh_rig_packet *packet;

	if (to->number == 0 && world.hears_late_tsc > 0 &&
		world.now_tsc % world.hears_late_tsc != 0)
		return;
	while ((packet = wh_rig_line_take(&world.line[to->number], world.now_tsc)) != NULL) {
		if (world.foreign)
			translate(packet->data, to->number);
		if (world.now_tsc < world.dead_until_tsc)
			continue;
		if (to->number == 0 && world.twin != NULL) {
			struct wh_rig_packet same = *packet; /* it is opened where it lies */

			wh_endpoint_input(&world.twin->is.end.endpoint, world.now_tsc,
				world.now_tsc, same.data, same.bytes, name_of(to, packet));
		}
		wh_endpoint_input(&to->is.end.endpoint, world.now_tsc, world.now_tsc, packet->data,
			packet->bytes, name_of(to, packet));
	}
}

static inline void say_word(struct wh_session *session, uint64_t number)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	chunk->number = number;
	chunk->end = false;
	chunk->bytes = sizeof(WORD);
	memcpy(chunk->data, WORD, sizeof(WORD));
	wh_fifo_push(wh_session_ready_chunks(session), chunk);
	wh_session_kick(session);
}

static inline void listen(struct wh_session *session)
{
	struct wh_chunk *chunk =
		session != NULL ? wh_fifo_pop(wh_session_deliver_chunks(session)) : NULL;

	if (chunk == NULL)
		return;
	CU_ASSERT_EQUAL(chunk->bytes, sizeof(WORD));
	CU_ASSERT_EQUAL(memcmp(chunk->data, WORD, sizeof(WORD)), 0);
	wh_fifo_push(wh_session_recycled_chunks(session), chunk);
	world.heard = true;
}

/* As a client does: with an SA, if there are any, it opens its session. */
static inline void seek(struct host *client)
{
	const struct wh_address *server = &world.host[1].is.end.address;
	struct wh_attempt attempt;

	if (client->session != NULL)
		return;
	if (world.sealed && world.sa == NULL) {
		wh_handshakes_attempt(&client->is.handshakes, world.now_tsc, server, &attempt);
		world.sa = attempt.sa;
		if (world.sa == NULL)
			return;
	}
	client->session =
		wh_rig_end_connect(&client->is.end, server, "x", WH_OBJECT_BYTES_UNKNOWN, NULL);
	say_word(client->session, 0);
}

/* At the server it may be late. */
static inline void handshake(struct host *host)
{
	if (world.sealed && (host->number == 0 || world.handshakes_late_tsc == 0 ||
				    world.now_tsc % world.handshakes_late_tsc == 0))
		wh_rig_host_handshake(&host->is, world.now_tsc);
}

static inline void work(struct host *host)
{
	wh_endpoint_receive_poll(&host->is.end.endpoint, world.now_tsc);
	handshake(host);
	wh_endpoint_send_poll(&host->is.end.endpoint, world.now_tsc);
	send_all(host);
}

/* Nothing takes time but the way: within a moment all that follows from what came is done. */
static inline void step(void)
{
	for (uint32_t turns = 0; turns < 6; turns++) {
		for (uint32_t i = 0; i < 2; i++) {
			receive_all(&world.host[i]);
			work(&world.host[i]);
		}
		if (world.twin != NULL)
			work(world.twin);
	}
	listen(world.host[1].session);
	world.now_tsc += MS;
}

/* Until the server has heard the client's first word; how long that took, in ms. */
static inline uint32_t contact(uint32_t most_ms)
{
	uint32_t ms = 0;

	world.heard = false;
	for (; ms < most_ms && !world.heard; ms++) {
		seek(&world.host[0]);
		step();
	}
	CU_ASSERT(world.heard);
	CU_ASSERT_EQUAL(wh_session_sa(world.host[1].session) != NULL, world.sealed);
	return ms;
}

static inline void go_on(uint32_t ms)
{
	while (ms-- > 0)
		step();
}

static inline void confirm_first(void)
{
	for (; world.confirms == 0; step())
		seek(&world.host[0]);
}

/* Both ends let go, and all is said. */
static inline void part(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(world.host[0].session);
	CU_ASSERT_PTR_NOT_NULL_FATAL(world.host[1].session);
	for (uint32_t i = 0; i < 2; i++)
		wh_session_ask(world.host[i].session, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
	for (uint32_t i = 0; i < 2; i++)
		wh_session_ask(world.host[i].session, WH_WISH_CLOSE, WH_STATUS_PENDING);
	go_on(5000);
	CU_ASSERT_PTR_NULL(world.host[0].session);
	CU_ASSERT_PTR_NULL(world.host[1].session);
}
