/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A client has several sessions under one SA when its server is killed and started again, at any
 * moment, and again. Each session that the old server has not answered opens at the next one, also
 * those that begin under the old SA long after it was lost.
 */

#include "../../rig/host.h"
#include "../../rig/line.h"
#include "base/clock.h"
#include "base/prng.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"
#include "unit.h"

const char wh_suite_name[] = "successors";

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define DELAY_MS    5
#define CHUNK_BYTES 16384
#define SESSIONS    6
#define PARCELS     4096

struct host {
	struct wh_rig_host is;
	uint32_t number; /* 0: the client */
	uint8_t *memory;
	struct wh_session *session[2 * SESSIONS];
	uint32_t sessions;
};

static struct world {
	struct host host[2];
	uint64_t now_tsc;
	struct wh_prng prng;
	uint32_t lost_percent;
	struct wh_sa *sa;                /* of the client */
	struct wh_rig_line line[2];      /* to each host */
	bool heard[SESSIONS];            /* by the server that is there, ... */
	uint64_t began_tsc;              /* ... since then */
	uint64_t answered_tsc[SESSIONS]; /* by whichever was there; 0: not yet */
} world;

static void prepare(void *context, struct wh_session_config *config)
{
	const struct host *host = context;

	WH_ASSERT(host->sessions < 2 * SESSIONS);
	config->chunk_memory = host->memory + CHUNK_BYTES * host->sessions;
	if (host->number == 0)
		config->sa = world.sa;
}

static void session_accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct host *host = context;

	(void)config;
	host->session[host->sessions++] = session;
}

static void session_gone(void *context, struct wh_session *session)
{
	(void)context;
	(void)session;
	CU_FAIL("nobody closes a session");
}

static enum wh_authorization authorize(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	(void)context;
	(void)stranger;
	granted->rights = 7;
	return WH_AUTHORIZED;
}

static void start_host(struct host *host)
{
	wh_rig_host_start(&host->is, (uint8_t)(1 + host->number));
}

static void stop_host(struct host *host)
{
	for (uint32_t i = 0; i < host->sessions; i++)
		wh_session_destroy(host->session[i]);
	host->sessions = 0;
	wh_rig_host_stop(&host->is);
}

static void make_host(struct host *host, uint32_t number)
{
	struct wh_rig_end *end = &host->is.end;

	host->number = number;
	host->memory = aligned_alloc(WH_CHUNK_ALIGN, 2 * SESSIONS * CHUNK_BYTES);
	host->is.authorizer.authorize = authorize;
	wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, 1, 64);
	end->session.rate_bps = UINT64_C(1000000000);
	end->more.with_handshake = true;
	end->prepare = prepare;
	end->accepted = number == 1 ? session_accepted : NULL;
	end->gone = session_gone;
	end->context = host;
	wh_rig_host_make(&host->is);
}

static void open_world(uint64_t seed)
{
	memset(&world, 0, sizeof(world));
	world.now_tsc = 5 * HZ;
	wh_prng_init(&world.prng, seed);
	for (uint32_t i = 0; i < 2; i++) {
		make_host(&world.host[i], i);
		start_host(&world.host[i]);
		wh_rig_line_open(&world.line[i], PARCELS);
	}
}

static void close_world(void)
{
	wh_sa_let_go(world.sa);
	for (uint32_t i = 0; i < 2; i++) {
		stop_host(&world.host[i]);
		wh_rig_host_free(&world.host[i].is);
		free(world.host[i].memory);
		wh_rig_line_close(&world.line[i]);
	}
}

static void send_all(struct host *from)
{
	uint8_t room[WH_RIG_PACKET_BYTES];
	struct wh_out out = {.head = room};

	while (wh_endpoint_output(&from->is.end.endpoint, world.now_tsc, &out, 1) == 1)
		if (wh_prng_below(&world.prng, 100) >= world.lost_percent)
			wh_rig_line_put(
				&world.line[!from->number], &out, world.now_tsc + DELAY_MS * MS);
}

static void receive_all(struct host *to)
{
	struct wh_rig_packet *packet;

	while ((packet = wh_rig_line_take(&world.line[to->number], world.now_tsc)) != NULL)
		if (to->is.up)
			wh_endpoint_input(&to->is.end.endpoint, world.now_tsc, world.now_tsc,
				packet->data, packet->bytes,
				&world.host[!to->number].is.end.address);
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
		if (world.answered_tsc[i] == 0 && world.host[0].session[i]->tx.report_seen)
			world.answered_tsc[i] = world.now_tsc;
}

static void step(uint32_t ms)
{
	for (; ms > 0; ms--, note_answers(), world.now_tsc += MS)
		for (uint32_t turn = 0; turn < 8; turn++) {
			struct host *host = &world.host[turn % 2];

			receive_all(host);
			if (!host->is.up)
				continue;
			wh_endpoint_receive_poll(&host->is.end.endpoint, world.now_tsc);
			wh_rig_host_handshake(&host->is, world.now_tsc);
			wh_endpoint_send_poll(&host->is.end.endpoint, world.now_tsc);
			send_all(host);
			if (host->number == 1)
				listen(host);
		}
}

static void seek_sa(void)
{
	struct wh_attempt attempt = {.sa = NULL};

	for (uint32_t ms = 0; ms < 60000 && attempt.sa == NULL; ms++) {
		wh_handshakes_attempt(&world.host[0].is.handshakes, world.now_tsc,
			&world.host[1].is.end.address, &attempt);
		step(1);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(attempt.sa);
	world.sa = attempt.sa;
}

static void open_session(void)
{
	struct host *client = &world.host[0];
	struct wh_session *session = wh_rig_end_connect(
		&client->is.end, &world.host[1].is.end.address, "x", WH_OBJECT_BYTES_UNKNOWN, NULL);
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));

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

/* The SA was made long ago, and all sessions begin at once. */
static void at_once(void)
{
	open_world(1);
	seek_sa();
	step(8000);
	restart(500);
	for (uint32_t i = 0; i < SESSIONS; i++)
		open_session();
	CU_ASSERT(await_all(30000) < 300);
	CU_ASSERT_EQUAL(count_waiting(), 0);
	CU_ASSERT_EQUAL(world.host[1].is.handshakes.stats.sas, 1);
	close_world();
}

/* Each begins a while after the one before: those that come later find what the first has found. */
static void one_after_the_other(void)
{
	open_world(2);
	seek_sa();
	step(8000);
	restart(0);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		open_session();
		step(2500 * (i + 1));
		CU_ASSERT(world.heard[i]);
	}
	CU_ASSERT_EQUAL(world.host[1].is.handshakes.stats.sas, 1);
	close_world();
}

/* What took the lost SA's place has ended, and nobody looks for the peer any more. */
static void successor_ended(void)
{
	struct host *client = &world.host[0];
	struct wh_sa *next;

	open_world(3);
	seek_sa();
	step(8000);
	restart(0);
	open_session();
	step(2500);
	CU_ASSERT(world.heard[0]);
	next = wh_sadb_hold(&client->is.sadb, wh_sa_successor(world.sa));
	CU_ASSERT_PTR_NOT_NULL_FATAL(next);
	wh_sa_revoke(next);
	wh_sa_let_go(next);
	step(8000);
	for (uint32_t i = 1; i < SESSIONS; i++)
		open_session();
	CU_ASSERT(await_all(30000) < 6000);
	CU_ASSERT_EQUAL(count_waiting(), 0);
	close_world();
}

/* Up to three restarts, at any moment and for any time up to two seconds, on a line that loses. */
static void any_moment(void)
{
	uint32_t worst_ms = 0;

	for (uint64_t seed = 1; seed <= 150; seed++) {
		open_world(seed);
		world.lost_percent = seed % 3 == 0 ? 10 : 0;
		seek_sa();
		for (uint32_t lives = 1 + seed % 3; lives > 0; lives--) {
			step(wh_prng_below(&world.prng, lives % 2 == 0 ? 40 : 3000));
			while (world.host[0].sessions < SESSIONS &&
				wh_prng_below(&world.prng, 4) > 0) {
				open_session();
				step(wh_prng_below(&world.prng, 12));
			}
			restart(wh_prng_below(&world.prng, 2000));
		}
		while (world.host[0].sessions < SESSIONS)
			open_session();
		worst_ms = (uint32_t)wh_max_u64(worst_ms, await_all(30000));
		CU_ASSERT_EQUAL(count_waiting(), 0);
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
