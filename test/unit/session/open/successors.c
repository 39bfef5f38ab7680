/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A client has several sessions under one bond when its server is killed and started again, at any
 * moment, and again. Each session that the old server has not answered opens at the next one, also
 * those that begin under the old bond long after it was lost.
 */

#include <stdlib.h>
#include <string.h>

#include "../../../rig/end.h"
#include "base/clock.h"
#include "base/prng.h"
#include "session/internal.h"
#include "trust/greeter.h"
#include "unit.h"

const char wh_suite_name[] = "successors";

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define DELAY_MS    5
#define CHUNK_BYTES 16384
#define SESSIONS    6
#define PARCELS     4096
#define ROOM        1500

struct parcel {
	uint64_t due_tsc;
	uint32_t bytes;
	uint8_t data[ROOM];
};

struct host {
	uint32_t number; /* 0: the client */
	bool up;
	struct wh_identity identity;
	struct wh_bonds bonds;
	struct wh_greeter greeter;
	struct wh_endpoint endpoint;
	struct wh_address address;
	uint8_t *memory;
	struct wh_session *session[2 * SESSIONS];
	uint32_t sessions;
};

static struct world {
	struct host host[2];
	uint32_t lives; /* of the server */
	uint64_t now_tsc;
	struct wh_prng prng;
	uint32_t lost_percent;
	struct parcel parcel[2][PARCELS];
	uint64_t head[2], tail[2];
	bool heard[SESSIONS];            /* by the server that is there, ... */
	uint64_t began_tsc;              /* ... since then */
	uint64_t answered_tsc[SESSIONS]; /* by whichever was there; 0: not yet */
} world;

static struct wh_session_config session_config(struct host *host)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, CHUNK_BYTES, 1, 64);
	config.chunk_memory = host->memory + CHUNK_BYTES * host->sessions;
	config.rate_bps = UINT64_C(1000000000);
	return config;
}

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer,
	const struct wh_bond *bond, uint32_t *buffer_chunks)
{
	const struct host *host = context;

	(void)now_tsc;
	(void)params;
	(void)peer;
	(void)bond;
	*buffer_chunks = 1;
	return host->sessions < 2 * SESSIONS ? WH_STATUS_PENDING : WH_STATUS_BUSY;
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t lci,
	const struct wh_address *peer, const struct wh_bond *bond,
	const struct wh_open_params *params, uint64_t rtt_tsc)
{
	struct host *host = context;
	struct wh_session_config config = session_config(host);

	(void)bond;
	return host->session[host->sessions++] =
		       wh_session_accept(&config, now_tsc, lci, peer, params, rtt_tsc);
}

static void session_gone(void *context, struct wh_session *session)
{
	(void)context;
	(void)session;
	CU_FAIL("nobody closes a session");
}

static enum wh_belief believe(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	(void)context;
	(void)stranger;
	granted->rights = 7;
	return WH_BELIEVED;
}

static void start_host(struct host *host)
{
	const struct wh_endpoint_config endpoint = {
		.hz = HZ,
		.key = {(uint8_t)(host->number + 1), (uint8_t)world.lives},
		.places = WH_ENDPOINT_PLACES_MIN,
		.welcome = host->number == 1 ? welcome : NULL,
		.accept = host->number == 1 ? accept_session : NULL,
		.gone = session_gone,
		.bonds = &host->bonds,
		.greets = true,
		.context = host,
		.own = {host->address},
	};
	struct wh_greeter_config greeter = {
		.hz = HZ,
		.identity = &host->identity,
		.ciphers = 1 << WH_CIPHER_AES_128_GCM,
		.version = "0.1",
		.bonds = &host->bonds,
		.believer = {.believe = believe},
	};

	memcpy(greeter.key, endpoint.key, sizeof(greeter.key));
	CU_ASSERT_EQUAL_FATAL(wh_bonds_init(&host->bonds, 64), 0);
	CU_ASSERT_EQUAL_FATAL(wh_greeter_init(&host->greeter, &greeter), 0);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&host->endpoint, &endpoint), 0);
	host->up = true;
	world.lives += host->number;
}

/* As a kill does: nothing is said. */
static void stop_host(struct host *host)
{
	for (uint32_t i = 0; i < host->sessions; i++)
		wh_session_destroy(host->session[i]);
	host->sessions = 0;
	wh_endpoint_free(&host->endpoint);
	wh_greeter_free(&host->greeter);
	wh_bonds_free(&host->bonds);
	host->up = false;
}

static void open_world(uint64_t seed)
{
	memset(&world, 0, sizeof(world));
	world.now_tsc = 5 * HZ;
	wh_prng_init(&world.prng, seed);
	for (uint32_t i = 0; i < 2; i++) {
		struct host *host = &world.host[i];

		host->number = i;
		host->address = (struct wh_address){
			.family = WH_IPV4, .ip = {10, 0, 0, (uint8_t)(1 + i)}, .port = 7000};
		host->memory = aligned_alloc(WH_CHUNK_ALIGN, 2 * SESSIONS * CHUNK_BYTES);
		CU_ASSERT_EQUAL_FATAL(wh_identity_make(&host->identity), 0);
		start_host(host);
	}
}

static void close_world(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		if (world.host[i].up)
			stop_host(&world.host[i]);
		wh_identity_free(&world.host[i].identity);
		free(world.host[i].memory);
	}
}

static void send_all(struct host *from)
{
	uint32_t to = !from->number;
	uint8_t room[ROOM];
	struct wh_out out = {.head = room};

	while (wh_endpoint_output(&from->endpoint, world.now_tsc, &out, 1) == 1) {
		struct parcel *parcel = &world.parcel[to][world.tail[to] % PARCELS];

		if (wh_prng_below(&world.prng, 100) < world.lost_percent)
			continue;
		CU_ASSERT_FATAL(++world.tail[to] - world.head[to] < PARCELS);
		parcel->due_tsc = world.now_tsc + DELAY_MS * MS;
		parcel->bytes = out.head_bytes + out.payload_bytes;
		memcpy(parcel->data, room, out.head_bytes);
		if (out.payload_bytes > 0)
			memcpy(parcel->data + out.head_bytes, out.payload, out.payload_bytes);
	}
}

static void receive_all(struct host *to)
{
	uint64_t *head = &world.head[to->number];

	for (; *head < world.tail[to->number]; (*head)++) {
		struct parcel *parcel = &world.parcel[to->number][*head % PARCELS];

		if (parcel->due_tsc > world.now_tsc)
			return;
		if (to->up)
			wh_endpoint_input(&to->endpoint, world.now_tsc, world.now_tsc, parcel->data,
				parcel->bytes, &world.host[!to->number].address);
	}
}

static void greet(struct host *host)
{
	struct wh_letter letter;
	struct wh_slot *slot;

	while ((slot = wh_slot_fifo_peek(&host->endpoint.letters_in)) != NULL) {
		wh_greeter_take(
			&host->greeter, world.now_tsc, (const struct wh_letter *)slot->data);
		wh_slot_fifo_release(&host->endpoint.letters_in);
	}
	wh_greeter_poll(&host->greeter, world.now_tsc);
	while (wh_greeter_give(&host->greeter, world.now_tsc, &letter)) {
		slot = wh_slot_fifo_reserve(&host->endpoint.letters_out);
		if (slot == NULL)
			abort();
		memcpy(slot->data, &letter, sizeof(letter));
		slot->bytes = sizeof(letter);
		wh_slot_fifo_commit(&host->endpoint.letters_out);
	}
}

/* Each says which one it is. */
static void listen(struct host *host)
{
	for (uint32_t i = 0; i < host->sessions; i++) {
		struct wh_chunk *chunk = wh_fifo_pop(wh_session_deliver_chunks(host->session[i]));

		if (chunk == NULL)
			continue;
		CU_ASSERT_FATAL(chunk->bytes == 1 && *(uint8_t *)chunk->data < SESSIONS);
		world.heard[*(uint8_t *)chunk->data] = true;
		wh_fifo_push(wh_session_recycled_chunks(host->session[i]), chunk);
	}
}

static void note_answers(void)
{
	for (uint32_t i = 0; i < world.host[0].sessions; i++)
		if (world.answered_tsc[i] == 0 && world.host[0].session[i]->tx.state_seen)
			world.answered_tsc[i] = world.now_tsc;
}

static void step(uint32_t ms)
{
	for (; ms > 0; ms--, note_answers(), world.now_tsc += MS)
		for (uint32_t turn = 0; turn < 8; turn++) {
			struct host *host = &world.host[turn % 2];

			receive_all(host);
			if (!host->up)
				continue;
			wh_endpoint_receive_poll(&host->endpoint, world.now_tsc);
			greet(host);
			wh_endpoint_send_poll(&host->endpoint, world.now_tsc);
			send_all(host);
			if (host->number == 1)
				listen(host);
		}
}

static struct wh_bond *seek_bond(void)
{
	struct wh_meeting meeting = {.bond = NULL};

	for (uint32_t ms = 0; ms < 60000 && meeting.bond == NULL; ms++) {
		wh_greeter_meet(
			&world.host[0].greeter, world.now_tsc, &world.host[1].address, &meeting);
		step(1);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(meeting.bond);
	return meeting.bond;
}

static void open_session(struct wh_bond *bond)
{
	struct host *client = &world.host[0];
	struct wh_session_config config = session_config(client);
	struct wh_session *session;
	struct wh_chunk *chunk;

	config.bond = bond;
	session = wh_session_open(&config, &world.host[1].address, "x", WH_OBJECT_BYTES_UNKNOWN);
	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(&client->endpoint, session), 0);
	chunk = wh_fifo_pop(wh_session_free_chunks(session));
	chunk->number = 0;
	chunk->end = false;
	chunk->bytes = 1;
	*(uint8_t *)chunk->data = (uint8_t)client->sessions;
	wh_fifo_push(wh_session_ready_chunks(session), chunk);
	wh_session_kick(session);
	client->session[client->sessions++] = session;
}

/* A server's life ends: the next one is to hear what it had not answered. */
static void restart(uint32_t absent_ms)
{
	stop_host(&world.host[1]);
	memset(world.heard, 0, sizeof(world.heard));
	step(absent_ms);
	start_host(&world.host[1]);
	world.began_tsc = world.now_tsc;
}

/* What an earlier life of the server had answered has ended with it. */
static bool is_waiting(uint32_t i)
{
	return !world.heard[i] && (world.answered_tsc[i] == 0 ||
					  world.answered_tsc[i] > world.began_tsc + DELAY_MS * MS);
}

static uint32_t count_waiting(void)
{
	uint32_t waiting = 0;

	for (uint32_t i = 0; i < world.host[0].sessions; i++)
		waiting += is_waiting(i);
	return waiting;
}

/* How long it takes until none waits, in ms. */
static uint32_t await_all(uint32_t most_ms)
{
	uint32_t ms = 0;

	for (; ms < most_ms && count_waiting() > 0; ms++)
		step(1);
	return ms;
}

/* The bond was made long ago, and all sessions begin at once. */
static void at_once(void)
{
	struct wh_bond *bond;

	open_world(1);
	bond = seek_bond();
	step(8000);
	restart(500);
	for (uint32_t i = 0; i < SESSIONS; i++)
		open_session(bond);
	CU_ASSERT(await_all(30000) < 300);
	CU_ASSERT_EQUAL(count_waiting(), 0);
	CU_ASSERT_EQUAL(world.host[1].greeter.stats.bonds, 1);
	wh_bond_let_go(bond);
	close_world();
}

/* Each begins a while after the one before: those that come later find what the first has found. */
static void one_after_the_other(void)
{
	struct wh_bond *bond;

	open_world(2);
	bond = seek_bond();
	step(8000);
	restart(0);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		open_session(bond);
		step(2500 * (i + 1));
		CU_ASSERT(world.heard[i]);
	}
	CU_ASSERT_EQUAL(world.host[1].greeter.stats.bonds, 1);
	wh_bond_let_go(bond);
	close_world();
}

/* What took the lost bond's place has ended, and nobody looks for the peer any more. */
static void successor_ended(void)
{
	struct host *client = &world.host[0];
	struct wh_bond *bond, *next;

	open_world(3);
	bond = seek_bond();
	step(8000);
	restart(0);
	open_session(bond);
	step(2500);
	CU_ASSERT(world.heard[0]);
	next = wh_bonds_hold(&client->bonds, wh_bond_successor(bond));
	CU_ASSERT_PTR_NOT_NULL_FATAL(next);
	wh_bond_revoke(next);
	wh_bond_let_go(next);
	step(8000);
	for (uint32_t i = 1; i < SESSIONS; i++)
		open_session(bond);
	CU_ASSERT(await_all(30000) < 6000);
	CU_ASSERT_EQUAL(count_waiting(), 0);
	wh_bond_let_go(bond);
	close_world();
}

/* Up to three restarts, at any moment and for any time up to two seconds, on a line that loses. */
static void any_moment(void)
{
	uint32_t worst_ms = 0;

	for (uint64_t seed = 1; seed <= 150; seed++) {
		struct wh_bond *bond;

		open_world(seed);
		world.lost_percent = seed % 3 == 0 ? 10 : 0;
		bond = seek_bond();
		for (uint32_t lives = 1 + seed % 3; lives > 0; lives--) {
			step(wh_prng_below(&world.prng, lives % 2 == 0 ? 40 : 3000));
			while (world.host[0].sessions < SESSIONS &&
				wh_prng_below(&world.prng, 4) > 0) {
				open_session(bond);
				step(wh_prng_below(&world.prng, 12));
			}
			restart(wh_prng_below(&world.prng, 2000));
		}
		while (world.host[0].sessions < SESSIONS)
			open_session(bond);
		worst_ms = (uint32_t)wh_max_u64(worst_ms, await_all(30000));
		CU_ASSERT_EQUAL(count_waiting(), 0);
		wh_bond_let_go(bond);
		close_world();
	}
	/* A CONFIRM that finds no server is given up after 5 s. */
	CU_ASSERT(worst_ms < 6000);
}

CU_TestInfo wh_tests[] = {
	{"at once", at_once},
	{"one after the other", one_after_the_other},
	{"the successor has ended", successor_ended},
	{"any moment", any_moment},
	CU_TEST_INFO_NULL,
};
