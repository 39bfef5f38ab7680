/* SPDX-License-Identifier: BSD-3-Clause */
/* What strangers can make a handshake server spend, and what is left then for others. */
#include <malloc.h>

#include "base/clock.h"
#include "rig.h"
#include "seal/seal.h"

const char wh_suite_name[] = "handshake flood";

/* Thousands begin and say no more, as fast as they may: memory is flat, and others get in. */
static void half_open_by_thousands(void)
{
	const struct wh_handshakes_stats *stats;
	struct wh_attempt attempt;
	struct wh_address peer = address_of(1);
	uint64_t before_bytes, most_bytes = 0;
	uint32_t with_sa = 0;

	open_hosts(false, true);
	stats = &hosts[1].handshakes.stats;
	before_bytes = mallinfo2().uordblks;
	for (uint32_t ms = 0; ms < 2500; ms++) {
		crowd_in(2 * ms, 2);
		step();
		CU_ASSERT(hosts[1].handshakes.n_pending <= WH_HANDSHAKES_PENDING);
		most_bytes = wh_max_u64(most_bytes,
			(mallinfo2().uordblks - before_bytes) / hosts[1].handshakes.n_pending);
		/* Somebody honest comes, again and again. */
		wh_handshakes_attempt(&hosts[0].handshakes, now_tsc, &peer, &attempt);
		if (attempt.sa == NULL)
			continue;
		wh_keep_revoke(&hosts[0].handshakes, attempt.sa);
		wh_sa_let_go(attempt.sa);
		with_sa++;
	}
	CU_ASSERT(stats->began > 1500);
	CU_ASSERT(stats->crowded_out > 1000);
	CU_ASSERT_EQUAL(stats->broken, 0);
	CU_ASSERT(with_sa >= 6);
	CU_ASSERT(most_bytes < 112000);
	CU_ASSERT(stats->out_bytes <= WH_HANDSHAKE_GAIN * stats->in_bytes);
	run((WH_HANDSHAKE_S + 1) * 1000);
	CU_ASSERT_EQUAL(hosts[1].handshakes.n_pending, 0);
	/* All is given back. */
	CU_ASSERT(mallinfo2().uordblks < before_bytes + 200000);
	close_hosts();
}

/*
 * 20 handshakes each millisecond from 200 addresses of the client's own subnet, for so long. With a
 * cookie that is old their way looks long.
 */
struct flood {
	uint32_t next;
	uint32_t rtt_us;
};

static void flood_in(struct flood *flood)
{
	for (uint32_t i = 0; i < 20; i++, flood->next++) {
		struct wh_address address = address_of(20 + flood->next % 200);
		struct wh_handshake_datagram datagram = half_open(&address, 1 + flood->next);

		datagram.rtt_us = flood->rtt_us;
		post(1, &datagram);
	}
}

/* Six clients one after the other, each a new process; how long the slowest takes, in ms. */
static uint32_t meet_in_flood(struct flood *flood, bool strange)
{
	struct wh_address peer = address_of(1);
	struct wh_attempt attempt;
	uint32_t worst_ms = 0;

	for (uint32_t client = 0; client < 6; client++) {
		uint32_t ms = 0;

		if (strange)
			memset(hosts[1].handshakes.shares->friend, 0,
				sizeof(hosts[1].handshakes.shares->friend));
		for (attempt.sa = NULL; attempt.sa == NULL && ms < 30000; ms++) {
			wh_handshakes_attempt(&hosts[0].handshakes, now_tsc, &peer, &attempt);
			flood_in(flood);
			step();
		}
		CU_ASSERT_PTR_NOT_NULL_FATAL(attempt.sa);
		for (uint32_t more = 0; more < 350; more++) {
			flood_in(flood);
			step();
		}
		CU_ASSERT_FALSE(wh_sa_is_revoked(attempt.sa));
		wh_keep_revoke(&hosts[0].handshakes, attempt.sa);
		wh_sa_let_go(attempt.sa);
		worst_ms = (uint32_t)wh_max_u64(worst_ms, ms);
	}
	return worst_ms;
}

/*
 * Beside 20,000 handshakes a second that never go on each honest client has its SA: at once where
 * it is known, by its address or since it had one before; soon where it is one of the strangers.
 */
static void flooded(void)
{
	for (uint32_t old = 0; old < 2; old++) {
		const struct wh_handshakes_stats *stats = &hosts[1].handshakes.stats;
		struct flood flood = {.rtt_us = old == 1 ? 20000000 : 1000};

		open_hosts(false, true);
		busy = true;
		for (uint32_t ms = 0; ms < 1000; ms++) {
			flood_in(&flood);
			step();
		}
		CU_ASSERT(stats->began <= 500 + 64);
		CU_ASSERT(stats->put_off <= 200 * 8);

		uint32_t strange_ms = meet_in_flood(&flood, true);

		/* By chance: each has one fresh handshake in a second, beside 200 others. */
		CU_ASSERT(strange_ms < 10000);
		memset(hosts[1].handshakes.shares->friend, 0,
			sizeof(hosts[1].handshakes.shares->friend));
		hosts[1].knows = true;
		CU_ASSERT(meet_in_flood(&flood, true) < 100);
		hosts[1].knows = false;
		CU_ASSERT(meet_in_flood(&flood, false) < 100);
		CU_ASSERT(stats->out_bytes <= WH_HANDSHAKE_GAIN * stats->in_bytes);
		close_hosts();
	}
}

/* A client whose handshake lost its place to others begins the next one within a second. */
static void evicted(void)
{
	struct wh_attempt attempt;
	uint32_t at_ms;

	open_hosts(false, true);
	hosts[1].handshakes.config.pending_of_address = 0;
	CU_ASSERT_EQUAL(meet(3000, &attempt), 3000);
	CU_ASSERT_EQUAL(attempt.sa, NULL);
	CU_ASSERT_TRUE(attempt.put_off);
	CU_ASSERT(hosts[0].handshakes.n_pending <= 1);
	hosts[1].handshakes.config.pending_of_address = 16;
	at_ms = meet(3000, &attempt);
	CU_ASSERT(at_ms <= WH_PUT_OFF_MS + 44);
	assert_has_sa(&attempt);
	/* It is told what happens, not how often others try. */
	CU_ASSERT(
		hosts[1].handshakes.stats.put_off >= 3 && hosts[1].handshakes.stats.put_off <= 20);
	close_hosts();
}

/* By address, by the /64 of IPv6, and by their rate. */
static void counted(void)
{
	struct wh_address v6 = {.family = WH_IPV6, .port = 1, .ip = {0x20, 1}};
	const struct wh_handshakes_stats *stats;

	open_hosts(false, true);
	stats = &hosts[1].handshakes.stats;
	for (uint32_t i = 0; i < 50; i++) {
		struct wh_address address = stranger(1);
		struct wh_handshake_datagram datagram;

		address.port = (uint16_t)(9000 + i);
		datagram = half_open(&address, i + 1);
		wh_handshakes_take(&hosts[1].handshakes, now_tsc, &datagram);
		v6.ip[15] = (uint8_t)i;
		datagram = half_open(&v6, i + 1);
		wh_handshakes_take(&hosts[1].handshakes, now_tsc, &datagram);
	}
	CU_ASSERT_EQUAL(hosts[1].handshakes.n_pending, 2 * WH_HANDSHAKES_OF_ADDRESS);
	CU_ASSERT_EQUAL(stats->turned_away, 100 - 2 * WH_HANDSHAKES_OF_ADDRESS);
	close_hosts();

	/* At once a burst, then one in two milliseconds for a subnet, and two in one for all. */
	open_hosts(false, true);
	crowd_in(0, 200);
	CU_ASSERT_EQUAL(hosts[1].handshakes.n_pending, 49);
	now_tsc += 10 * MS;
	crowd_in(200, 56);
	CU_ASSERT_EQUAL(hosts[1].handshakes.n_pending, 54);
	for (uint32_t i = 1; i < 100; i++)
		crowd_in(256 * i, 1);
	CU_ASSERT_EQUAL(hosts[1].handshakes.n_pending, 69);

	/* The rest is for those that are known: who had an SA, say. */
	struct wh_address friend = stranger(256 * 1000);

	wh_shares_befriend(hosts[1].handshakes.shares, &friend);
	crowd_in(256 * 999, 2);
	CU_ASSERT_EQUAL(hosts[1].handshakes.n_pending, 69);
	crowd_in(256 * 1000, 1);
	CU_ASSERT_EQUAL(hosts[1].handshakes.n_pending, 70);
	close_hosts();
}

/* What is sent to who has not proved a key: three bytes for each of his, however long he waits. */
static void no_amplifier(void)
{
	const struct wh_handshakes_stats *stats;

	open_hosts(false, true);
	stats = &hosts[1].handshakes.stats;
	crowd_in(0, 1);
	run(9000);
	CU_ASSERT(stats->in_bytes < 500);
	CU_ASSERT(stats->out_bytes > 0);
	CU_ASSERT(stats->out_bytes <= WH_HANDSHAKE_GAIN * stats->in_bytes);
	close_hosts();
}

/* Bytes that are no TLS, and datagrams that are nothing, cost a place for a moment. */
static void nonsense(void)
{
	struct wh_address address = stranger(1);
	struct wh_handshake_datagram datagram = half_open(&address, 1);
	struct wh_packet packet;

	open_hosts(false, true);
	CU_ASSERT_EQUAL(wh_packet_decode(datagram.packet, datagram.bytes, &packet), WH_WIRE_OK);
	for (uint32_t seed = 1; seed <= 300; seed++) {
		struct wh_packet wrong = packet;

		datagram.peer = stranger(seed);
		wrong.crypto.handshake = seed;
		wh_prng_init(&prng, seed);
		for (uint32_t i = 0; i < 1 + seed % 5; i++)
			wrong.crypto.data[wh_prng_below(&prng, wrong.crypto.bytes)] ^=
				(uint8_t)(1 + wh_prng_below(&prng, 255));
		datagram.bytes = wh_packet_encode(&wrong, datagram.packet, sizeof(datagram.packet));
		wh_handshakes_take(&hosts[1].handshakes, now_tsc, &datagram);
		run(20);
	}
	CU_ASSERT(hosts[1].handshakes.stats.broken > 100);
	/* Each is told once, with a reason; so are, later, those that only stopped. */
	CU_ASSERT_EQUAL(hosts[1].told_broken, hosts[1].handshakes.stats.broken);
	CU_ASSERT_EQUAL(hosts[1].told, hosts[1].told_broken);
	CU_ASSERT_EQUAL(hosts[1].news.verdict, WH_AUTH_NONE);
	CU_ASSERT(hosts[1].news.came && hosts[1].news.peer.ip[0] == 192);
	run((WH_HANDSHAKE_S + 1) * 1000);
	CU_ASSERT(hosts[1].handshakes.stats.late > 0);
	CU_ASSERT_EQUAL(hosts[1].told_broken,
		hosts[1].handshakes.stats.broken + hosts[1].handshakes.stats.late);
	CU_ASSERT_STRING_EQUAL(hosts[1].news.broken_by, "it took too long");
	CU_ASSERT_EQUAL(hosts[1].handshakes.stats.sas, 0);
	CU_ASSERT(hosts[1].handshakes.stats.out_bytes <= 3 * hosts[1].handshakes.stats.in_bytes);
	close_hosts();
}

CU_TestInfo wh_tests[] = {
	{"half-open by thousands", half_open_by_thousands},
	{"counted", counted},
	{"flooded", flooded},
	{"evicted", evicted},
	{"no amplifier", no_amplifier},
	{"nonsense", nonsense},
	CU_TEST_INFO_NULL,
};
