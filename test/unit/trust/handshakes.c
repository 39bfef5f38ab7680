/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts that make a handshake over a line that loses, repeats, changes and delays. */

#include "rig.h"
#include "seal/seal.h"

const char wh_suite_name[] = "handshakes";

/*
 * A cookie, and the server's flight with its auth message: two round trips, and a half until it
 * knows.
 */
static void sa_in_two_round_trips(void)
{
	struct wh_attempt attempt;

	open_hosts(false, true);

	uint32_t took = meet(1000, &attempt);

	CU_ASSERT(took >= 40 && took <= 44);
	CU_ASSERT_EQUAL(hosts[0].asked, 1);
	CU_ASSERT_EQUAL(hosts[1].asked, 0);
	CU_ASSERT_PTR_NULL(kept(1));
	run(12);
	CU_ASSERT_PTR_NOT_NULL(kept(1));
	CU_ASSERT_EQUAL(hosts[1].asked, 1);
	assert_has_sa(&attempt);
	CU_ASSERT_EQUAL(attempt.sa->config.rights, 7);
	CU_ASSERT_EQUAL(memcmp(attempt.sa->config.owner, attempt.sa->config.peer_identity,
				WH_IDENTITY_BYTES),
		0);
	CU_ASSERT_EQUAL(attempt.sa->config.cipher, WH_CIPHER_AES_128_GCM);
	run(12);
	CU_ASSERT_STRING_EQUAL(hosts[1].news.version, "0.1 (a)");
	CU_ASSERT_STRING_EQUAL(hosts[0].news.version, "0.1 (b)");
	/* Nothing is left of the handshake, and who asks again has his SA at once. */
	run(4000);
	CU_ASSERT_EQUAL(hosts[0].handshakes.n_pending + hosts[1].handshakes.n_pending, 0);
	CU_ASSERT_EQUAL(meet(1, &attempt), 0);
	wh_sa_let_go(attempt.sa);
	CU_ASSERT_EQUAL(wh_sa_holders(kept(0)), 1);
	close_hosts();
}

/* The first handshake needs no question if the cookie was told. What was lost is asked for. */
static void told_cookie(void)
{
	struct wh_attempt attempt;

	for (uint32_t i = 0; i < 2; i++) {
		struct wh_told_cookie *told;

		open_hosts(false, true);
		told = &hosts[0].handshakes.config.told;
		told->peer = address_of(1);
		memcpy(told->cookie, told_to_both, WH_COOKIE_BYTES);
		told->cookie[0] ^= (uint8_t)i;

		uint32_t took = meet(3000, &attempt);

		CU_ASSERT(i == 0 ? took >= 20 && took <= 24 : took >= 1040 && took <= 1300);
		CU_ASSERT_EQUAL(attempt.sa->config.offer.rtt_us / 1000, 20);
		assert_has_sa(&attempt);
		CU_ASSERT_TRUE(hosts[0].handshakes.told_used);
		/* The next one asks as ever. */
		CU_ASSERT_EQUAL(hosts[1].handshakes.stats.began, 1);
		close_hosts();
	}
}

static void own_key_needs_nobody(void)
{
	struct wh_attempt attempt;

	open_hosts(true, false);
	meet(1000, &attempt);
	assert_has_sa(&attempt);
	close_hosts();
}

/*
 * Who needs no key: he sends back what a host says, which would then make a handshake with itself.
 */
static void reflected(void)
{
	struct wh_attempt attempt;

	open_hosts(true, false);
	thrown_back = true;
	CU_ASSERT(meet(1000, &attempt) <= 44);
	thrown_back = false;
	CU_ASSERT_EQUAL(attempt.state, WH_ATTEMPT_REFUSED);
	CU_ASSERT_EQUAL(attempt.verdict, WH_AUTH_SELF);
	CU_ASSERT_FALSE(attempt.by_peer);
	CU_ASSERT_PTR_NULL(kept(0));
	CU_ASSERT_EQUAL(hosts[0].handshakes.stats.sas, 0);
	close_hosts();
}

static void refusals(void)
{
	static const struct {
		enum wh_authorization client, server;
		bool by_peer;
	} cases[] = {
		{WH_AUTHORIZED, WH_UNAUTHORIZED, true},
		{WH_UNAUTHORIZED, WH_AUTHORIZED, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_attempt attempt;

		open_hosts(false, true);
		hosts[0].authorization = cases[i].client;
		hosts[1].authorization = cases[i].server;
		CU_ASSERT(meet(1000, &attempt) <= 44);
		/* What the server thinks comes later, and ends what has begun. */
		CU_ASSERT_EQUAL(attempt.sa != NULL, cases[i].by_peer);
		if (attempt.sa != NULL) {
			run(25);
			CU_ASSERT(wh_sa_is_revoked(attempt.sa));
			wh_sa_let_go(attempt.sa);
			CU_ASSERT_EQUAL(meet(1, &attempt), 0);
		}
		CU_ASSERT_EQUAL(attempt.state, WH_ATTEMPT_REFUSED);
		CU_ASSERT_EQUAL(attempt.verdict, WH_AUTH_UNKNOWN);
		CU_ASSERT_EQUAL(attempt.by_peer, cases[i].by_peer);
		CU_ASSERT_EQUAL(memcmp(attempt.peer_id, hosts[1].identity.id, 32), 0);
		run(100);
		CU_ASSERT_EQUAL(hosts[1].told, 1);
		CU_ASSERT_EQUAL(hosts[1].news.by_peer, !cases[i].by_peer);
		CU_ASSERT_PTR_NULL(kept(0));
		CU_ASSERT_PTR_NULL(kept(1));
		close_hosts();
	}
}

/* Without a word of who is to decide a handshake waits; then it goes on, or it was too late. */
static void decided_later(void)
{
	struct wh_attempt attempt;

	open_hosts(false, true);
	hosts[0].authorization = WH_AUTHORIZATION_PENDING;
	CU_ASSERT_EQUAL(meet(5000, &attempt), 5000);
	CU_ASSERT_EQUAL(attempt.state, WH_ATTEMPT_JUDGED);
	CU_ASSERT_EQUAL(memcmp(attempt.peer_id, hosts[1].identity.id, 32), 0);
	CU_ASSERT(hosts[0].asked > 200 && hosts[0].asked < 260);
	hosts[0].authorization = WH_AUTHORIZED;
	CU_ASSERT(meet(1000, &attempt) < 100);
	assert_has_sa(&attempt);
	close_hosts();
}

static void ciphers(void)
{
	static const uint8_t both = 1 << WH_CIPHER_AES_128_GCM | 1 << WH_CIPHER_AES_256_GCM;
	static const struct {
		uint8_t client, server;
		int cipher;
	} cases[] = {
		{both, both, WH_CIPHER_AES_128_GCM},
		{1 << WH_CIPHER_AES_256_GCM, both, WH_CIPHER_AES_256_GCM},
		{both, 1 << WH_CIPHER_AES_256_GCM, WH_CIPHER_AES_256_GCM},
		{1 << WH_CIPHER_AES_256_GCM, 1 << WH_CIPHER_AES_128_GCM, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_attempt attempt;

		open_hosts(false, true);
		hosts[0].handshakes.config.ciphers = cases[i].client;
		hosts[1].handshakes.config.ciphers = cases[i].server;
		meet(1000, &attempt);
		if (cases[i].cipher != 0) {
			CU_ASSERT_EQUAL((int)attempt.sa->config.cipher, cases[i].cipher);
			assert_has_sa(&attempt);
		} else {
			CU_ASSERT_EQUAL(attempt.state, WH_ATTEMPT_REFUSED);
			CU_ASSERT_EQUAL(attempt.verdict, WH_AUTH_CIPHER);
			CU_ASSERT(!attempt.by_peer);
		}
		close_hosts();
	}
}

/* Whatever the line does, short of taking all, there is an SA, and it is the right one. */
static void troubled_lines(void)
{
	static const struct line lines[] = {
		{10 * MS, 30, 0, 0, 0},
		{10 * MS, 0, 50, 50, 0},
		{10 * MS, 0, 0, 0, 30},
		{1 * MS, 20, 20, 20, 20},
		{300 * MS, 20, 20, 20, 5},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct wh_attempt attempt;

			open_hosts(false, true);
			line = lines[i];
			wh_prng_init(&prng, seed);
			CU_ASSERT(meet(60000, &attempt) < 60000);
			assert_has_sa(&attempt);
			close_hosts();
		}
}

static void sas_end(void)
{
	struct wh_attempt attempt;

	open_hosts(false, true);
	meet(1000, &attempt);
	run(100);

	struct wh_sa *held = attempt.sa;
	uint32_t number = wh_sa_number(held);

	/* As long as somebody has it, it stays; and then for a while. */
	now_tsc += (WH_SA_IDLE_S + 1) * HZ;
	run(2);
	CU_ASSERT(wh_sa_is_alive(held));
	wh_sa_let_go(held);
	now_tsc += (WH_SA_IDLE_S - 2) * HZ;
	run(2);
	CU_ASSERT_PTR_EQUAL(kept(0), held);
	now_tsc += 4 * HZ;
	run(2);
	CU_ASSERT_PTR_NULL(kept(0));
	CU_ASSERT_PTR_NULL(wh_sadb_hold(&hosts[0].sadb, number));

	/* The next one is another, and goes with the identity. */
	CU_ASSERT(meet(1000, &attempt) >= 40);
	CU_ASSERT_NOT_EQUAL(wh_sa_number(attempt.sa), number);
	CU_ASSERT_FALSE(wh_sa_is_revoked(attempt.sa));
	wh_keep_revoke(&hosts[0].handshakes, attempt.sa);
	CU_ASSERT(wh_sa_is_revoked(attempt.sa));
	wh_sa_let_go(attempt.sa);

	/* It goes as soon as whoever trusts does so no more. */
	CU_ASSERT(meet(3000, &attempt) < 3000);
	CU_ASSERT_FALSE(wh_sa_is_revoked(attempt.sa));
	hosts[0].authorization = WH_UNAUTHORIZED;
	run(1001);
	CU_ASSERT(wh_sa_is_revoked(attempt.sa));
	wh_sa_let_go(attempt.sa);
	close_hosts();
}

/* Of an owner who gives himself a key for each handshake, as proxies of a site's may have. */
static struct wh_sa *keep_one(uint32_t i, uint8_t owner)
{
	struct wh_sadb *sadb = &hosts[1].sadb;
	struct wh_sa_config config = {
		.peer_identity = {(uint8_t)i, (uint8_t)(i >> 8), 1},
		.owner = {owner},
		.peer_number = 1 + i,
		.cipher = WH_CIPHER_AES_128_GCM,
	};
	struct wh_sa *sa = wh_sadb_fill(sadb, wh_sadb_reserve(sadb, i << 12), &config);

	CU_ASSERT_TRUE(wh_keep_sa(&hosts[1].handshakes, sa, ++now_tsc));
	return sa;
}

/* Whoever he is, he has so many SAs that nobody uses, and others keep theirs. */
static void one_owner(void)
{
	struct wh_sa *other, *last;
	uint32_t count = 0;

	open_hosts(false, true);
	other = keep_one(0, 7);
	for (uint32_t i = 1; i < 3000; i++)
		last = keep_one(i, 9);
	for (uint32_t i = 0; i < hosts[1].sadb.places; i++)
		count += hosts[1].handshakes.kept[i].sa != NULL;
	CU_ASSERT_EQUAL(count, 1 + 64);
	CU_ASSERT_TRUE(wh_sa_is_alive(other) && wh_sa_is_alive(last));
	close_hosts();
}

/* A hint that the peer has forgotten ends nothing: beside the SA there is a new one. */
static void doubted(void)
{
	struct wh_address peer = address_of(1);
	struct wh_attempt first, second;

	open_hosts(false, true);
	meet(1000, &first);
	run(100);
	atomic_store(&first.sa->hinted, true);
	meet(1, &second);
	CU_ASSERT_PTR_EQUAL(first.sa, second.sa);
	wh_sa_let_go(second.sa);
	/* Anybody may have sent it: once a second is enough. */
	for (uint32_t ms = 0; ms < 1100; ms++) {
		wh_handshakes_attempt(&hosts[0].handshakes, now_tsc, &peer, &second);
		wh_sa_let_go(second.sa);
		step();
	}
	CU_ASSERT_PTR_NOT_EQUAL(first.sa, second.sa);
	CU_ASSERT(wh_sa_is_alive(first.sa));
	CU_ASSERT_EQUAL(hosts[0].handshakes.stats.sas, 2);
	wh_sa_let_go(first.sa);
	close_hosts();
}

CU_TestInfo wh_tests[] = {
	{"an SA in two round trips", sa_in_two_round_trips},
	{"told cookie", told_cookie},
	{"our own key needs nobody", own_key_needs_nobody},
	{"reflected", reflected},
	{"refusals", refusals},
	{"decided later", decided_later},
	{"ciphers", ciphers},
	{"troubled lines", troubled_lines},
	{"SAs end", sas_end},
	{"one owner", one_owner},
	{"doubted", doubted},
	CU_TEST_INFO_NULL,
};
