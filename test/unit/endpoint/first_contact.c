/* SPDX-License-Identifier: BSD-3-Clause */

/* How many round trips go by until what a client has to say is at the server. */

#include "contact_rig.h"

const char wh_suite_name[] = "first contact";

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
	CU_ASSERT_EQUAL(world.host[1].is.end.endpoint.early.senders, 0);
	CU_ASSERT_EQUAL(world.opens, 0);
	close_world();
}

/*
 * CONFIRM comes again, a second word behind it, when the SA is there and nobody has looked at what
 * is kept. Nothing overtakes the first word.
 */
static void repeated_meanwhile(void)
{
	open_world(true, 1);
	confirm_first();
	world.handshakes_late_tsc = UINT64_MAX;
	while (world.host[0].session->next_open_tsc > world.now_tsc)
		step();
	say_word(world.host[0].session, 1);
	go_on(HALF_MS - 1);
	CU_ASSERT(world.confirms >= 2);
	world.handshakes_late_tsc = 0;
	step();
	world.now_tsc += MS; /* both come in one turn */
	CU_ASSERT(contact(10) <= 2 && contact(10) <= 2);
	CU_ASSERT_EQUAL(wh_session_stats(world.host[1].session).received_pkts, 2);
	CU_ASSERT_EQUAL(world.host[1].session->rx.arrival.interval_tsc[0], 10 * MS);
	CU_ASSERT_EQUAL(world.host[1].is.end.endpoint.stats.no_session_pkts, 0);
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

		go_on(9000);
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
	confirm_first();
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
	confirm_first();
	world.dead_until_tsc = UINT64_MAX;
	go_on(29000);
	CU_ASSERT_EQUAL(wh_session_news(world.host[0].session).outcome, WH_STATUS_PENDING);
	go_on(8000);
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
	go_on(8000); /* nobody looks for the server any more */
	stop_host(server);
	start_host(server);

	uint32_t ms = contact(10000);

	CU_ASSERT(ms >= 70 && ms < 2000);
	CU_ASSERT(world.host[0].is.end.endpoint.stats.hints > 0);
	CU_ASSERT_PTR_NOT_EQUAL(wh_session_sa(world.host[0].session), world.sa);
	close_world();
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
	say_word(server->before, 0);
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
	{"repeated meanwhile", repeated_meanwhile},
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
