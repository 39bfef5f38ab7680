/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two processes that have never met, each with an endpoint and a handshake server behind it, over a
 * line of a second each round trip, or worse: how many round trips go by until what a client has to
 * say is at the server.
 */

#include "../../rig/host.h"
#include "../../rig/line.h"
#include "base/clock.h"
#include "base/prng.h"
#include "endpoint/lifecycle.h"
#include "endpoint/listen.h"
#include "session/session_internal.h"
#include "unit.h"
#include "wire/versions.h"

const char wh_suite_name[] = "first contact";

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

static void prepare(void *context, struct wh_session_config *config)
{
	const struct host *host = context;

	bool second = host->session != NULL || host->before != NULL;

	config->chunk_memory = host->memory + (second ? CHUNKS * CHUNK_BYTES : 0);
	if (host->number == 0)
		config->sa = world.sa;
}

static void session_accepted(
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

static void session_gone(void *context, struct wh_session *session)
{
	struct host *host = context;

	CU_ASSERT(session == host->session || session == host->before);
	*(session == host->session ? &host->session : &host->before) = NULL;
	wh_session_destroy(session);
}

static bool may_come(void *context, const struct wh_address *peer, const struct wh_sa *sa)
{
	(void)context;
	(void)peer;
	(void)sa;
	return !world.closed;
}

static enum wh_authorization authorize(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	const struct host *host = context;

	(void)stranger;
	granted->rights = 7;
	return host->authorization;
}

static bool holds(void *context, uint64_t rights)
{
	(void)context;
	return rights == 7;
}

static void start_host(struct host *host)
{
	wh_rig_host_start(&host->is, (uint8_t)(1 + host->number));
}

static void stop_host(struct host *host)
{
	wh_session_destroy(host->session);
	wh_session_destroy(host->before);
	host->session = host->before = NULL;
	wh_rig_host_stop(&host->is);
}

static void make_host(struct host *host, uint32_t number)
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

static void open_world(bool sealed, uint64_t seed)
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

static void close_world(void)
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

static bool is_lost(const uint8_t *packet)
{
	if (packet[1] == WH_PACKET_CONFIRM && world.lost_confirms > 0) {
		world.lost_confirms--;
		return true;
	}
	return wh_prng_below(&world.prng, 100) < world.lost_percent;
}

/* Whether the translator, if any, has an entry for it. */
static bool is_inside(const struct wh_address *to)
{
	return world.outside.family == 0 || wh_address_equal(to, &world.outside);
}

static void send_all(struct host *from)
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
static const struct wh_address *name_of(const struct host *to, const struct wh_rig_packet *packet)
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
static void translate(uint8_t *packet, uint32_t to)
{
	if (to == 1) {
		packet[0] = WH_WIRE_VERSION + 1;
	} else if (packet[0] == 0) {
		packet[2] = 8;
		packet[3] = 9;
		packet[8] = WH_WIRE_VERSION;
	}
}

static void receive_all(struct host *to)
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

static void say_word(struct wh_session *session)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	chunk->number = 0;
	chunk->end = false;
	chunk->bytes = sizeof(WORD);
	memcpy(chunk->data, WORD, sizeof(WORD));
	wh_fifo_push(wh_session_ready_chunks(session), chunk);
	wh_session_kick(session);
}

static void listen(struct wh_session *session)
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
static void seek(struct host *client)
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
	say_word(client->session);
}

/* At the server it may be late. */
static void handshake(struct host *host)
{
	if (world.sealed && (host->number == 0 || world.handshakes_late_tsc == 0 ||
				    world.now_tsc % world.handshakes_late_tsc == 0))
		wh_rig_host_handshake(&host->is, world.now_tsc);
}

static void work(struct host *host)
{
	wh_endpoint_receive_poll(&host->is.end.endpoint, world.now_tsc);
	handshake(host);
	wh_endpoint_send_poll(&host->is.end.endpoint, world.now_tsc);
	send_all(host);
}

/* Nothing takes time but the way: within a moment all that follows from what came is done. */
static void step(void)
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
static uint32_t contact(uint32_t most_ms)
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

/* Both ends let go, and all is said. */
static void part(void)
{
	CU_ASSERT_PTR_NOT_NULL_FATAL(world.host[0].session);
	CU_ASSERT_PTR_NOT_NULL_FATAL(world.host[1].session);
	for (uint32_t i = 0; i < 2; i++)
		wh_session_ask(world.host[i].session, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
	for (uint32_t i = 0; i < 2; i++)
		wh_session_ask(world.host[i].session, WH_WISH_CLOSE, WH_STATUS_PENDING);
	for (uint32_t ms = 0; ms < 5000; ms++)
		step();
	CU_ASSERT_PTR_NULL(world.host[0].session);
	CU_ASSERT_PTR_NULL(world.host[1].session);
}

#define HALF_MS 500

/* In halves of round trips, with a few milliseconds for the ends; 0: it took some of the next. */
static uint32_t halves(void)
{
	uint32_t ms = contact(10000);

	return ms % HALF_MS <= 6 ? ms / HALF_MS : 0;
}

/* A round trip to ask, and half of one for the word: three halves. */
static void unsealed(void)
{
	open_world(false, 1);
	CU_ASSERT_EQUAL(halves(), 3);
	part();
	CU_ASSERT_EQUAL(halves(), 3);
	close_world();
}

/* One round trip more where nobody knows the other, and none once they do. */
static void sealed(void)
{
	open_world(true, 1);
	CU_ASSERT_EQUAL(halves(), 5);
	CU_ASSERT_EQUAL(world.opens, 0);
	CU_ASSERT_EQUAL(world.host[1].is.end.endpoint.stats.bad_cookie_pkts, 0);
	CU_ASSERT_EQUAL(world.host[1].is.end.endpoint.stats.no_sa_pkts, 0);
	part();
	CU_ASSERT_EQUAL(halves(), 3);
	CU_ASSERT(world.opens > 0);
	part();
	CU_ASSERT_EQUAL(halves(), 3);
	CU_ASSERT_EQUAL(world.host[1].is.handshakes.stats.sas, 1);
	close_world();
}

/* A server that takes a while to check a signature keeps what comes right behind it. */
static void kept_meanwhile(void)
{
	open_world(true, 1);
	world.handshakes_late_tsc = 37 * MS;

	uint32_t ms = contact(10000);

	CU_ASSERT(ms >= 2500 && ms <= 2590);
	CU_ASSERT(world.host[1].is.end.endpoint.stats.early_pkts >= 2);
	CU_ASSERT_EQUAL(world.host[1].is.end.endpoint.early.pkts, 0);
	CU_ASSERT_EQUAL(world.opens, 0);
	close_world();
}

/* How long it takes until both ends are there, in ms. */
static uint32_t open_both(uint32_t most_ms)
{
	uint32_t ms = 0;

	for (; ms < most_ms && world.host[1].session == NULL; ms++) {
		seek(&world.host[0]);
		step();
	}
	CU_ASSERT_PTR_NOT_NULL(world.host[1].session);
	return ms;
}

/* Whatever is lost goes again, though the way is long: no cookie has to live for longer. */
static void long_and_lossy(void)
{
	uint32_t worst_ms[2][2] = {0};

	for (uint32_t sealed = 0; sealed < 2; sealed++)
		for (uint64_t seed = 1; seed <= 25; seed++) {
			open_world(sealed == 1, seed);
			for (uint32_t time = 0; time < 2; time++) {
				uint32_t *worst = &worst_ms[sealed][time];

				world.lost_percent = 30;
				*worst = (uint32_t)wh_max_u64(*worst, open_both(60000));
				world.lost_percent = 0;
				part();
			}
			close_world();
		}
	/* Where nothing is lost it takes 1.5 s, and 2.5 s at first contact. */
	CU_ASSERT(worst_ms[0][0] < 6000 && worst_ms[0][1] < 6000);
	CU_ASSERT(worst_ms[1][0] < 20000 && worst_ms[1][1] < 14000);
}

/*
 * A cookie that grew old on the way, since no CONFIRM came through, is followed by another: the
 * listener answers, and nobody has the session. A round trip takes a second here: six of them pass
 * before the peer counts as silent, and four more before that is proved.
 */
static void anew(void)
{
	for (uint32_t sealed = 0; sealed < 2; sealed++) {
		open_world(sealed == 1, 1);
		contact(10000);
		part();
		world.opens = world.confirms = 0;
		world.lost_confirms = UINT32_MAX;
		for (uint32_t ms = 0; ms < (WH_COOKIE_LIFETIME_S - 1) * 1000; ms++) {
			seek(&world.host[0]);
			step();
		}
		CU_ASSERT(world.confirms > 5);

		uint32_t opens = world.opens;
		uint64_t cid = world.host[0].session->local_cid;

		for (uint32_t ms = 0; ms < 9000; ms++)
			step();
		CU_ASSERT(world.opens > opens);
		CU_ASSERT_NOT_EQUAL(world.host[0].session->local_cid, cid);
		world.lost_confirms = 0;
		CU_ASSERT(contact(10000) < 6000);
		part();
		close_world();
	}
}

/*
 * The place that was offered is another's by now. Each CONFIRM is refused, and several refusals
 * come at once: the first has us begin anew, and the others are about what is over.
 */
static void taken_since(void)
{
	struct wh_endpoint *server = &world.host[1].is.end.endpoint;

	open_world(true, 1);
	world.hears_late_tsc = 200 * MS;
	while (world.confirms == 0) {
		seek(&world.host[0]);
		step();
	}
	CU_ASSERT_EQUAL(world.opens, 0);
	server->spent_us[wh_place_of(server, world.host[0].session->peer_cid)] = UINT64_MAX;
	for (uint32_t ms = 0; ms < 2000 && world.opens == 0; ms++)
		step();
	CU_ASSERT(world.opens > 0);
	world.hears_late_tsc = 0;
	CU_ASSERT(contact(10000) < 4000);
	part();
	close_world();
}

/* Nobody is there any more: that is said after the peer timeout, whatever was offered. */
static void gone(void)
{
	open_world(true, 1);
	while (world.confirms == 0) {
		seek(&world.host[0]);
		step();
	}
	world.dead_until_tsc = UINT64_MAX;
	for (uint32_t ms = 0; ms < 29000; ms++)
		step();
	CU_ASSERT_EQUAL(wh_session_news(world.host[0].session).outcome, WH_STATUS_PENDING);
	for (uint32_t ms = 0; ms < 8000; ms++)
		step();
	CU_ASSERT_EQUAL(wh_session_news(world.host[0].session).outcome, WH_STATUS_PEER_GONE);
	close_world();
}

/* An answer to somebody else opens nothing and stops nothing: it costs three round trips. */
static void redirected(void)
{
	const struct wh_endpoint *server = &world.host[1].is.end.endpoint;

	open_world(true, 1);
	contact(10000);
	part();
	world.redirected = 1;

	/* The server says that the cookie is not for this client. Its data were sent in vain. */
	uint32_t ms = contact(10000);

	CU_ASSERT(ms >= 4600 && ms <= 4610);
	CU_ASSERT(server->stats.bad_cookie_pkts > 0);
	CU_ASSERT(wh_address_equal(
		wh_session_peer(world.host[1].session), &world.host[0].is.end.address));
	close_world();
}

/* Neither end of a translator knows the client's other address. */
static void translated(void)
{
	open_world(true, 1);
	world.outside = elsewhere;
	contact(10000);
	CU_ASSERT(wh_address_equal(wh_session_peer(world.host[1].session), &elsewhere));
	part();

	/* Under the SA that there is, one by one at any moment of the opening, by another port. */
	for (uint32_t pkts = 1; pkts < 5; pkts++) {
		world.outside_pkts = pkts;
		CU_ASSERT(contact(10000) < 5000);
		part();
	}
	close_world();
}

/* A server that began anew says so; what is under way goes on under the next SA. */
static void restarted(void)
{
	struct host *server = &world.host[1];

	open_world(true, 1);
	world.delay_tsc = 10 * MS;
	contact(10000);
	part();
	for (uint32_t ms = 0; ms < 8000; ms++)
		step(); /* nobody looks for the server any more */
	stop_host(server);
	start_host(server);

	uint32_t ms = contact(10000);

	CU_ASSERT(ms >= 70 && ms < 2000);
	CU_ASSERT(world.host[0].is.end.endpoint.stats.hints > 0);
	CU_ASSERT_PTR_NOT_EQUAL(wh_session_sa(world.host[0].session), world.sa);
	close_world();
}

static void go_on(uint32_t ms)
{
	while (ms-- > 0)
		step();
}

static enum wh_release_status outcome(struct wh_session *session)
{
	return wh_session_news(session).outcome;
}

/* What it has goes on, and it may have another one. */
static void step_aside(struct host *host)
{
	host->before = host->session;
	host->session = NULL;
}

/* A client that was killed comes again: what is left of the one before ends, and nothing else. */
static void killed_client(void)
{
	struct host *client = &world.host[0], *server = &world.host[1];

	open_world(true, 1);
	world.delay_tsc = 10 * MS;
	contact(10000);
	go_on(10000);
	step_aside(server);
	wh_sa_let_go(world.sa);
	world.sa = NULL;
	stop_host(client);
	start_host(client);
	contact(1000);
	CU_ASSERT(world.heard);
	CU_ASSERT_EQUAL(outcome(server->before), WH_STATUS_PENDING);
	go_on(3600);
	CU_ASSERT_EQUAL(outcome(server->before), WH_STATUS_REPLACED);
	go_on(10000);
	CU_ASSERT_EQUAL(outcome(server->session), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(outcome(client->session), WH_STATUS_PENDING);
	close_world();
}

/* Who sends asks, and knows within a second. */
static void killed_server(void)
{
	struct host *client = &world.host[0], *server = &world.host[1];

	open_world(true, 1);
	world.delay_tsc = 10 * MS;
	contact(10000);
	go_on(10000);
	stop_host(server);
	start_host(server);
	step_aside(client);
	contact(5000);
	CU_ASSERT(world.heard);
	CU_ASSERT_EQUAL(outcome(client->before), WH_STATUS_PENDING);
	go_on(1100);
	CU_ASSERT_EQUAL(outcome(client->before), WH_STATUS_REPLACED);
	go_on(10000);
	CU_ASSERT_EQUAL(outcome(client->session), WH_STATUS_PENDING);
	close_world();
}

/* Two processes of one user share an interface: neither is the end of the other. */
static void twins(void)
{
	struct host *client = &world.host[0], *server = &world.host[1];
	static struct host twin;

	open_world(true, 1);
	world.delay_tsc = 10 * MS;
	contact(10000);
	go_on(10000);
	step_aside(server);

	make_host(&twin, 0);
	twin.is.identity = client->is.identity;
	start_host(&twin);
	wh_sa_let_go(world.sa);
	world.sa = NULL;
	world.twin = &twin;
	world.heard = false;
	for (uint32_t ms = 0; ms < 1000 && !world.heard; ms++) {
		seek(&twin);
		step();
	}
	CU_ASSERT(world.heard);
	CU_ASSERT(wh_sa_doubted_tsc(wh_session_sa(server->before)) != 0);
	go_on(20000);
	CU_ASSERT_EQUAL(wh_sa_doubted_tsc(wh_session_sa(server->before)), 0);
	CU_ASSERT_EQUAL(outcome(server->before), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(outcome(server->session), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(outcome(client->session), WH_STATUS_PENDING);
	CU_ASSERT_EQUAL(outcome(twin.session), WH_STATUS_PENDING);
	wh_sa_let_go(world.sa);
	world.sa = NULL;
	stop_host(&twin);
	free(twin.memory);
	close_world();
}

/* Who may not come is not answered, and nothing begins for him. */
static void turned_away(void)
{
	open_world(true, 1);
	world.closed = true;
	for (uint32_t ms = 0; ms < 5000; ms++) {
		seek(&world.host[0]);
		step();
	}
	CU_ASSERT(world.host[1].is.end.endpoint.stats.turned_away_pkts >= 3);
	CU_ASSERT_EQUAL(world.sent_bytes[0], 0);
	CU_ASSERT_EQUAL(world.host[1].is.handshakes.stats.began, 0);
	world.closed = false;
	contact(10000);
	close_world();
}

/* The server's word in reply, after that pause; how long it takes to the client, in ms. */
static uint32_t reply_ms(bool seals, uint32_t pause_ms, bool liar, bool taken)
{
	struct wh_endpoint *client = &world.host[0].is.end.endpoint;
	struct host *server = &world.host[1];
	struct wh_session_config config;
	struct wh_session *to;
	uint32_t ms = 0;

	open_world(seals, 1);
	contact(10000);
	while (ms++ < pause_ms)
		step();
	to = server->session;
	CU_ASSERT_EQUAL(to->params.reply_cid != 0, seals);
	if (taken)
		client->spent_us[wh_place_of(client, to->params.reply_cid)] = UINT64_MAX;
	to->params.reply_cookie[WH_COOKIE_BYTES - 1] ^= liar;
	config = server->is.end.session;
	prepare(server, &config);
	config.sa = to->sa;
	server->before =
		wh_session_open(&config, wh_session_peer(to), "y", WH_OBJECT_BYTES_UNKNOWN);
	wh_session_reply_to(server->before, to);
	CU_ASSERT_EQUAL(wh_endpoint_open(&server->is.end.endpoint, server->before), 0);
	say_word(server->before);
	world.heard = false;
	for (ms = 0; ms < 10000 && !world.heard; ms++, listen(world.host[0].before))
		step();
	close_world();
	return ms;
}

/* It goes at once; by OPEN and ACCEPT if the offer is too old, or of no use, or there is none. */
static void replies(void)
{
	CU_ASSERT(reply_ms(true, 0, false, false) <= HALF_MS + 6);
	CU_ASSERT_EQUAL(world.opens, 0);
	CU_ASSERT(reply_ms(true, 3000, false, false) <= 3 * HALF_MS + 6);
	CU_ASSERT(reply_ms(true, 0, true, false) < 4000);
	CU_ASSERT(reply_ms(true, 0, false, true) < 4000);
	CU_ASSERT(reply_ms(false, 0, false, false) <= 3 * HALF_MS + 6);
}

/* Who wants a handshake with a server of another version hears which ones it speaks. */
static void foreign(void)
{
	struct wh_attempt attempt;

	open_world(true, 1);
	world.foreign = true;
	for (uint32_t ms = 0; ms < 1100; ms++) {
		seek(&world.host[0]);
		step();
	}
	wh_handshakes_attempt(&world.host[0].is.handshakes, world.now_tsc,
		&world.host[1].is.end.address, &attempt);
	CU_ASSERT_EQUAL(attempt.state, WH_ATTEMPT_ASKS);
	CU_ASSERT_EQUAL(attempt.least, 8);
	CU_ASSERT_EQUAL(attempt.most, 9);
	CU_ASSERT_EQUAL(world.sent_bytes[0] % WH_VERSIONS_BYTES, 0);
	/* Anybody on the way may have said so: it ends nothing. */
	world.foreign = false;
	contact(10000);
	close_world();
}

CU_TestInfo wh_tests[] = {
	{"unsealed", unsealed},
	{"sealed", sealed},
	{"kept meanwhile", kept_meanwhile},
	{"long and lossy", long_and_lossy},
	{"anew", anew},
	{"the place that was offered is taken", taken_since},
	{"gone", gone},
	{"redirected", redirected},
	{"translated", translated},
	{"restarted", restarted},
	{"killed client", killed_client},
	{"killed server", killed_server},
	{"twins", twins},
	{"turned away", turned_away},
	{"foreign", foreign},
	{"replies", replies},
	CU_TEST_INFO_NULL,
};
