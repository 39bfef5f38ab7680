/* SPDX-License-Identifier: BSD-3-Clause */
/* Two hosts that greet each other over a line that loses, repeats, changes and delays. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/prng.h"
#include "seal/seal.h"
#include "trust/guest.h"
#include "unit.h"

const char wh_suite_name[] = "greeter";

#define HZ           UINT64_C(1000000000)
#define MS           (HZ / 1000)
#define LINE_LETTERS 4096

/* What each end of a line does to what it carries. */
struct line {
	uint64_t delay_tsc;
	uint32_t lost_percent;
	uint32_t twice_percent;
	uint32_t late_percent; /* by as much again, and more */
	uint32_t changed_percent;
};

struct flying {
	uint64_t at_tsc;
	uint32_t to;
	struct wh_letter letter;
};

struct host {
	struct wh_identity identity;
	struct wh_bonds bonds;
	struct wh_greeter greeter;
	struct wh_address address;
	enum wh_belief belief;
	uint32_t asked;
	uint32_t told;
	uint32_t told_broken; /* of these, with a reason why there is no verdict */
	struct wh_greeter_news news;
};

static struct host hosts[2];
static struct flying *flying;
static uint32_t in_flight;
static struct line line;
static struct wh_prng prng;
static uint64_t now_tsc;
static const uint8_t keys[2][WH_SIPHASH_KEY_BYTES] = {{1}, {2}};

static struct wh_address address_of(uint32_t host)
{
	return (struct wh_address){.family = WH_IPV4,
		.port = 7000,
		.ip = {10, 0, (uint8_t)(host >> 8), (uint8_t)host}};
}

static enum wh_belief believe(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	struct host *host = context;

	host->asked++;
	CU_ASSERT_EQUAL(memcmp(stranger->id, hosts[host == hosts].identity.id, 32), 0);
	CU_ASSERT_PTR_NOT_NULL(stranger->certificate);
	CU_ASSERT_EQUAL(stranger->we_asked, host == hosts);
	granted->rights = 7;
	return host->belief;
}

static bool holds(void *context, uint64_t rights)
{
	const struct host *host = context;

	return rights == 7 && host->belief == WH_BELIEVED;
}

static void tell(void *context, const struct wh_greeter_news *news)
{
	struct host *host = context;

	host->told++;
	host->told_broken += news->broken_by != NULL;
	host->news = *news;
}

static void open_host(uint32_t number, bool believes, const struct wh_identity *identity,
	struct wh_greeter_config config)
{
	struct host *host = &hosts[number];

	CU_ASSERT_EQUAL_FATAL(wh_bonds_init(&host->bonds, 1024), 0);
	host->address = address_of(number);
	host->asked = host->told = host->told_broken = 0;
	config.hz = HZ;
	memcpy(config.key, keys[number], sizeof(config.key));
	config.identity = identity;
	if (config.ciphers == 0)
		config.ciphers = 1 << WH_CIPHER_AES_128_GCM | 1 << WH_CIPHER_AES_256_GCM;
	config.version = number == 0 ? "0.1 (a)" : "0.1 (b)";
	config.bonds = &host->bonds;
	if (believes)
		config.believer = (struct wh_believer){believe, holds, host};
	config.tell = tell;
	config.context = host;
	CU_ASSERT_EQUAL_FATAL(wh_greeter_init(&host->greeter, &config), 0);
}

static void open_hosts(bool same_key, bool believe_each_other)
{
	const struct wh_greeter_config plain = {0};

	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&hosts[0].identity), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&hosts[1].identity), 0);
	hosts[0].belief = hosts[1].belief = WH_BELIEVED;
	open_host(0, believe_each_other, &hosts[0].identity, plain);
	open_host(1, believe_each_other, &hosts[same_key ? 0 : 1].identity, plain);
	flying = calloc(LINE_LETTERS, sizeof(*flying));
	CU_ASSERT_PTR_NOT_NULL_FATAL(flying);
	in_flight = 0;
	now_tsc = 5 * HZ;
	line = (struct line){.delay_tsc = 10 * MS};
	wh_prng_init(&prng, 4711);
}

static void close_hosts(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		wh_greeter_free(&hosts[i].greeter);
		wh_bonds_free(&hosts[i].bonds);
		wh_identity_free(&hosts[i].identity);
	}
	free(flying);
}

static bool chance(uint32_t percent)
{
	return wh_prng_below(&prng, 100) < percent;
}

static bool thrown_back; /* each letter comes to its sender, from the address it was for */

static void fly(uint32_t to, const struct wh_letter *letter)
{
	CU_ASSERT_FATAL(in_flight < LINE_LETTERS);

	struct flying *one = &flying[in_flight++];

	one->at_tsc = now_tsc + line.delay_tsc;
	if (chance(line.late_percent))
		one->at_tsc += line.delay_tsc + wh_prng_below(&prng, 4 * line.delay_tsc);
	one->to = to;
	one->letter = *letter;
	if (chance(line.changed_percent))
		one->letter.packet[wh_prng_below(&prng, letter->bytes)] ^=
			(uint8_t)(1u << wh_prng_below(&prng, 8));
}

static void carry(uint32_t from, const struct wh_letter *letter)
{
	if (chance(line.lost_percent))
		return;
	fly(thrown_back ? from : 1 - from, letter);
	if (chance(line.twice_percent))
		fly(thrown_back ? from : 1 - from, letter);
}

/* What an endpoint does: a cookie for who asks, and what has one of ours, or our number. */
static void arrive(uint32_t to, struct wh_letter letter)
{
	struct wh_packet packet;
	uint64_t age_us;

	letter.peer = address_of(1 - to);
	if (wh_seal_open_packet(&wh_seal_to_listener, letter.packet, letter.bytes) != WH_WIRE_OK ||
		wh_packet_decode(letter.packet, letter.bytes, &packet) != WH_WIRE_OK)
		return;
	if (packet.type == WH_PACKET_ASK) {
		struct wh_packet answer = {
			.type = WH_PACKET_COOKIE, .cookie = {.greeting = packet.ask.greeting}};

		wh_greeting_cookie_make(answer.cookie.cookie, keys[to], wh_tsc_to_us(HZ, now_tsc),
			&letter.peer, 0, packet.ask.greeting);
		letter.bytes = wh_packet_encode(&answer, letter.packet, sizeof(letter.packet));
		wh_seal_close_packet(&wh_seal_to_listener, letter.packet, letter.bytes);
		carry(to, &letter);
		return;
	}
	if (packet.type == WH_PACKET_CRYPTO && packet.flags == 0) {
		if (!wh_greeting_cookie_check(packet.crypto.cookie, keys[to],
			    wh_tsc_to_us(HZ, now_tsc), WH_GREETING_COOKIE_S * UINT64_C(1000000),
			    &letter.peer, 0, packet.crypto.greeting, &age_us))
			return;
		letter.rtt_us = (uint32_t)age_us;
	} else if (packet.cookie.greeting != wh_greeting_number(keys[to], &letter.peer)) {
		return;
	}
	wh_greeter_take(&hosts[to].greeter, now_tsc, &letter);
}

static void step(void)
{
	struct wh_letter letter;

	for (uint32_t i = 0; i < in_flight;)
		if (flying[i].at_tsc <= now_tsc) {
			struct flying one = flying[i];

			flying[i] = flying[--in_flight];
			arrive(one.to, one.letter);
		} else {
			i++;
		}
	for (uint32_t i = 0; i < 2; i++) {
		wh_greeter_poll(&hosts[i].greeter, now_tsc);
		while (wh_greeter_give(&hosts[i].greeter, now_tsc, &letter))
			carry(i, &letter);
	}
	now_tsc += MS;
}

/* Host 0 looks for host 1 until it knows how that stands, or so long; how long it took, in ms. */
static uint32_t meet(uint32_t ms, struct wh_meeting *meeting)
{
	struct wh_address peer = address_of(1);
	uint32_t took = 0;

	for (; took < ms; took++) {
		wh_greeter_meet(&hosts[0].greeter, now_tsc, &peer, meeting);
		if (meeting->state >= WH_MEETING_BONDED)
			break;
		step();
	}
	return took;
}

static void run(uint32_t ms)
{
	for (uint32_t i = 0; i < ms; i++)
		step();
}

static struct wh_bond *kept(uint32_t host)
{
	for (uint32_t i = 0; i < hosts[host].bonds.places; i++)
		if (hosts[host].greeter.kept[i].bond != NULL)
			return hosts[host].greeter.kept[i].bond;
	return NULL;
}

static void assert_bonded(const struct wh_meeting *meeting)
{
	CU_ASSERT_EQUAL_FATAL(meeting->state, WH_MEETING_BONDED);

	struct wh_bond *ours = meeting->bond;
	struct wh_bond *theirs = NULL;

	for (uint32_t ms = 0; ms < 60000 && theirs == NULL; ms++) {
		step();
		theirs = wh_bonds_hold(&hosts[1].bonds, ours->config.peer_number);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(theirs);
	CU_ASSERT_EQUAL(memcmp(ours->config.secret, theirs->config.secret, WH_SECRET_BYTES), 0);
	CU_ASSERT_EQUAL(ours->config.peer_number, wh_bond_number(theirs));
	CU_ASSERT_EQUAL(theirs->config.peer_number, wh_bond_number(ours));
	CU_ASSERT_EQUAL(ours->config.cipher, theirs->config.cipher);
	CU_ASSERT(ours->config.asked && !theirs->config.asked);
	CU_ASSERT_EQUAL(memcmp(ours->config.peer_identity, theirs->config.own_identity, 32), 0);
	wh_bond_let_go(ours);
	wh_bond_let_go(theirs);
}

/* A cookie, and the server's flight with its card: two round trips, and a half until it knows. */
static void bond_in_two_round_trips(void)
{
	struct wh_meeting meeting;

	open_hosts(false, true);

	uint32_t took = meet(1000, &meeting);

	CU_ASSERT(took >= 40 && took <= 44);
	CU_ASSERT_EQUAL(hosts[0].asked, 1);
	CU_ASSERT_EQUAL(hosts[1].asked, 0);
	CU_ASSERT_PTR_NULL(kept(1));
	run(12);
	CU_ASSERT_PTR_NOT_NULL(kept(1));
	CU_ASSERT_EQUAL(hosts[1].asked, 1);
	assert_bonded(&meeting);
	CU_ASSERT_EQUAL(meeting.bond->config.rights, 7);
	CU_ASSERT_EQUAL(memcmp(meeting.bond->config.owner, meeting.bond->config.peer_identity,
				WH_IDENTITY_BYTES),
		0);
	CU_ASSERT_EQUAL(meeting.bond->config.cipher, WH_CIPHER_AES_128_GCM);
	run(12);
	CU_ASSERT_STRING_EQUAL(hosts[1].news.version, "0.1 (a)");
	CU_ASSERT_STRING_EQUAL(hosts[0].news.version, "0.1 (b)");
	/* Nothing is left of the greeting, and who asks again has his bond at once. */
	run(4000);
	CU_ASSERT_EQUAL(hosts[0].greeter.guests + hosts[1].greeter.guests, 0);
	CU_ASSERT_EQUAL(meet(1, &meeting), 0);
	wh_bond_let_go(meeting.bond);
	CU_ASSERT_EQUAL(wh_bond_holders(kept(0)), 1);
	close_hosts();
}

static void own_key_needs_nobody(void)
{
	struct wh_meeting meeting;

	open_hosts(true, false);
	meet(1000, &meeting);
	assert_bonded(&meeting);
	close_hosts();
}

/* Who needs no key: he sends back what a host says, which would then greet itself. */
static void reflected(void)
{
	struct wh_meeting meeting;

	open_hosts(true, false);
	thrown_back = true;
	CU_ASSERT(meet(1000, &meeting) <= 44);
	thrown_back = false;
	CU_ASSERT_EQUAL(meeting.state, WH_MEETING_REFUSED);
	CU_ASSERT_EQUAL(meeting.verdict, WH_RECEPTION_SELF);
	CU_ASSERT_FALSE(meeting.by_peer);
	CU_ASSERT_PTR_NULL(kept(0));
	CU_ASSERT_EQUAL(hosts[0].greeter.stats.bonds, 0);
	close_hosts();
}

static void refusals(void)
{
	static const struct {
		enum wh_belief client, server;
		bool by_peer;
	} cases[] = {
		{WH_BELIEVED, WH_DISBELIEVED, true},
		{WH_DISBELIEVED, WH_BELIEVED, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_meeting meeting;

		open_hosts(false, true);
		hosts[0].belief = cases[i].client;
		hosts[1].belief = cases[i].server;
		CU_ASSERT(meet(1000, &meeting) <= 44);
		/* What the server thinks comes later, and ends what has begun. */
		CU_ASSERT_EQUAL(meeting.bond != NULL, cases[i].by_peer);
		if (meeting.bond != NULL) {
			run(25);
			CU_ASSERT(wh_bond_is_revoked(meeting.bond));
			wh_bond_let_go(meeting.bond);
			CU_ASSERT_EQUAL(meet(1, &meeting), 0);
		}
		CU_ASSERT_EQUAL(meeting.state, WH_MEETING_REFUSED);
		CU_ASSERT_EQUAL(meeting.verdict, WH_RECEPTION_UNKNOWN);
		CU_ASSERT_EQUAL(meeting.by_peer, cases[i].by_peer);
		CU_ASSERT_EQUAL(memcmp(meeting.peer_id, hosts[1].identity.id, 32), 0);
		run(100);
		CU_ASSERT_EQUAL(hosts[1].told, 1);
		CU_ASSERT_EQUAL(hosts[1].news.by_peer, !cases[i].by_peer);
		CU_ASSERT_PTR_NULL(kept(0));
		CU_ASSERT_PTR_NULL(kept(1));
		close_hosts();
	}
}

/* Without a word of who is to decide a greeting waits; then it goes on, or it was too late. */
static void decided_later(void)
{
	struct wh_meeting meeting;

	open_hosts(false, true);
	hosts[0].belief = WH_BELIEF_PENDING;
	CU_ASSERT_EQUAL(meet(5000, &meeting), 5000);
	CU_ASSERT_EQUAL(meeting.state, WH_MEETING_JUDGED);
	CU_ASSERT_EQUAL(memcmp(meeting.peer_id, hosts[1].identity.id, 32), 0);
	CU_ASSERT(hosts[0].asked > 200 && hosts[0].asked < 260);
	hosts[0].belief = WH_BELIEVED;
	CU_ASSERT(meet(1000, &meeting) < 100);
	assert_bonded(&meeting);
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
		struct wh_meeting meeting;

		open_hosts(false, true);
		hosts[0].greeter.config.ciphers = cases[i].client;
		hosts[1].greeter.config.ciphers = cases[i].server;
		meet(1000, &meeting);
		if (cases[i].cipher != 0) {
			CU_ASSERT_EQUAL((int)meeting.bond->config.cipher, cases[i].cipher);
			assert_bonded(&meeting);
		} else {
			CU_ASSERT_EQUAL(meeting.state, WH_MEETING_REFUSED);
			CU_ASSERT_EQUAL(meeting.verdict, WH_RECEPTION_CIPHER);
			CU_ASSERT(!meeting.by_peer);
		}
		close_hosts();
	}
}

/* Whatever the line does, short of taking all, there is a bond, and it is the right one. */
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
			struct wh_meeting meeting;

			open_hosts(false, true);
			line = lines[i];
			wh_prng_init(&prng, seed);
			CU_ASSERT(meet(60000, &meeting) < 60000);
			assert_bonded(&meeting);
			close_hosts();
		}
}

static void bonds_end(void)
{
	struct wh_meeting meeting;

	open_hosts(false, true);
	meet(1000, &meeting);
	run(100);

	struct wh_bond *held = meeting.bond;
	uint32_t number = wh_bond_number(held);

	/* As long as somebody has it, it stays; and then for a while. */
	now_tsc += (WH_BOND_IDLE_S + 1) * HZ;
	run(2);
	CU_ASSERT(wh_bond_is_alive(held));
	wh_bond_let_go(held);
	now_tsc += (WH_BOND_IDLE_S - 2) * HZ;
	run(2);
	CU_ASSERT_PTR_EQUAL(kept(0), held);
	now_tsc += 4 * HZ;
	run(2);
	CU_ASSERT_PTR_NULL(kept(0));
	CU_ASSERT_PTR_NULL(wh_bonds_hold(&hosts[0].bonds, number));

	/* The next one is another, and goes with the identity. */
	CU_ASSERT(meet(1000, &meeting) >= 40);
	CU_ASSERT_NOT_EQUAL(wh_bond_number(meeting.bond), number);
	CU_ASSERT_FALSE(wh_bond_is_revoked(meeting.bond));
	wh_keep_revoke(&hosts[0].greeter, meeting.bond);
	CU_ASSERT(wh_bond_is_revoked(meeting.bond));
	wh_bond_let_go(meeting.bond);

	/* It goes as soon as whoever trusts does so no more. */
	CU_ASSERT(meet(3000, &meeting) < 3000);
	CU_ASSERT_FALSE(wh_bond_is_revoked(meeting.bond));
	hosts[0].belief = WH_DISBELIEVED;
	run(1001);
	CU_ASSERT(wh_bond_is_revoked(meeting.bond));
	wh_bond_let_go(meeting.bond);
	close_hosts();
}

/* Of an owner who gives himself a key for each greeting, as proxies of a site's may have. */
static struct wh_bond *keep_one(uint32_t i, uint8_t owner)
{
	struct wh_bonds *bonds = &hosts[1].bonds;
	struct wh_bond_config config = {
		.peer_identity = {(uint8_t)i, (uint8_t)(i >> 8), 1},
		.owner = {owner},
		.peer_number = 1 + i,
		.cipher = WH_CIPHER_AES_128_GCM,
	};
	struct wh_bond *bond = wh_bonds_fill(bonds, wh_bonds_reserve(bonds, i << 12), &config);

	CU_ASSERT_TRUE(wh_keep_bond(&hosts[1].greeter, bond, ++now_tsc));
	return bond;
}

/* Whoever he is, he has so many bonds that nobody uses, and others keep theirs. */
static void one_owner(void)
{
	struct wh_bond *other, *last;
	uint32_t count = 0;

	open_hosts(false, true);
	other = keep_one(0, 7);
	for (uint32_t i = 1; i < 3000; i++)
		last = keep_one(i, 9);
	for (uint32_t i = 0; i < hosts[1].bonds.places; i++)
		count += hosts[1].greeter.kept[i].bond != NULL;
	CU_ASSERT_EQUAL(count, 1 + 64);
	CU_ASSERT_TRUE(wh_bond_is_alive(other) && wh_bond_is_alive(last));
	close_hosts();
}

/* A hint that the peer has forgotten ends nothing: beside the bond there is a new one. */
static void doubted(void)
{
	struct wh_address peer = address_of(1);
	struct wh_meeting first, second;

	open_hosts(false, true);
	meet(1000, &first);
	run(100);
	atomic_store(&first.bond->hinted, true);
	meet(1, &second);
	CU_ASSERT_PTR_EQUAL(first.bond, second.bond);
	wh_bond_let_go(second.bond);
	/* Anybody may have sent it: once a second is enough. */
	for (uint32_t ms = 0; ms < 1100; ms++) {
		wh_greeter_meet(&hosts[0].greeter, now_tsc, &peer, &second);
		wh_bond_let_go(second.bond);
		step();
	}
	CU_ASSERT_PTR_NOT_EQUAL(first.bond, second.bond);
	CU_ASSERT(wh_bond_is_alive(first.bond));
	CU_ASSERT_EQUAL(hosts[0].greeter.stats.bonds, 2);
	wh_bond_let_go(first.bond);
	close_hosts();
}

/* The first bytes of a greeting, by somebody at `address` who says no more. */
static struct wh_letter half_open(const struct wh_address *address, uint64_t number)
{
	static struct wh_packet packet;
	struct wh_letter letter = {.peer = *address};

	if (packet.crypto.bytes == 0) {
		struct wh_greeting greeting;

		CU_ASSERT_EQUAL_FATAL(
			wh_greeting_begin(&greeting, &hosts[0].greeter.ends, NULL), 0);
		wh_greeting_put(&greeting, NULL, 0);
		packet.type = WH_PACKET_CRYPTO;
		packet.crypto.bytes = (uint16_t)wh_greeting_take(
			&greeting, packet.crypto.data, sizeof(packet.crypto.data));
		wh_greeting_end(&greeting);
	}
	packet.crypto.greeting = number;
	memcpy(packet.crypto.cookie, &number, sizeof(number));
	letter.bytes = wh_packet_encode(&packet, letter.packet, sizeof(letter.packet));
	wh_seal_close_packet(&wh_seal_to_listener, letter.packet, letter.bytes);
	return letter;
}

static struct wh_address stranger(uint32_t number)
{
	return (struct wh_address){.family = WH_IPV4,
		.port = 9000,
		.ip = {192, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number}};
}

/* So many at once in the eyes of the server; its answers go nowhere. */
static void crowd_in(uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < from + count; i++) {
		struct wh_address address = stranger(i);
		struct wh_letter letter = half_open(&address, i + 1);

		wh_greeter_take(&hosts[1].greeter, now_tsc, &letter);
	}
}

/* Thousands begin and say no more, as fast as they may: memory is flat, and others get in. */
static void half_open_by_thousands(void)
{
	const struct wh_greeter_stats *stats;
	struct wh_meeting meeting;
	struct wh_address peer = address_of(1);
	uint64_t before_bytes, most_bytes = 0;
	uint32_t bonded = 0;

	open_hosts(false, true);
	stats = &hosts[1].greeter.stats;
	before_bytes = mallinfo2().uordblks;
	for (uint32_t ms = 0; ms < 2500; ms++) {
		crowd_in(2 * ms, 2);
		step();
		CU_ASSERT(hosts[1].greeter.guests <= WH_GREETER_GUESTS);
		most_bytes = wh_max_u64(most_bytes,
			(mallinfo2().uordblks - before_bytes) / hosts[1].greeter.guests);
		/* Somebody honest comes, again and again. */
		wh_greeter_meet(&hosts[0].greeter, now_tsc, &peer, &meeting);
		if (meeting.bond == NULL)
			continue;
		wh_keep_revoke(&hosts[0].greeter, meeting.bond);
		wh_bond_let_go(meeting.bond);
		bonded++;
	}
	CU_ASSERT(stats->began > 1500);
	CU_ASSERT(stats->crowded_out > 1000);
	CU_ASSERT_EQUAL(stats->broken, 0);
	CU_ASSERT(bonded >= 6);
	CU_ASSERT(most_bytes < 112000);
	CU_ASSERT(stats->out_bytes <= WH_GREETING_GAIN * stats->in_bytes);
	run((WH_GREETING_S + 1) * 1000);
	CU_ASSERT_EQUAL(hosts[1].greeter.guests, 0);
	/* All is given back. */
	CU_ASSERT(mallinfo2().uordblks < before_bytes + 200000);
	close_hosts();
}

/* By address, by the /64 of IPv6, and by their rate. */
static void counted(void)
{
	struct wh_address v6 = {.family = WH_IPV6, .port = 1, .ip = {0x20, 1}};
	const struct wh_greeter_stats *stats;

	open_hosts(false, true);
	stats = &hosts[1].greeter.stats;
	for (uint32_t i = 0; i < 50; i++) {
		struct wh_address address = stranger(1);
		struct wh_letter letter;

		address.port = (uint16_t)(9000 + i);
		letter = half_open(&address, i + 1);
		wh_greeter_take(&hosts[1].greeter, now_tsc, &letter);
		v6.ip[15] = (uint8_t)i;
		letter = half_open(&v6, i + 1);
		wh_greeter_take(&hosts[1].greeter, now_tsc, &letter);
	}
	CU_ASSERT_EQUAL(hosts[1].greeter.guests, 2 * WH_GREETER_OF_ADDRESS);
	CU_ASSERT_EQUAL(stats->turned_away, 100 - 2 * WH_GREETER_OF_ADDRESS);
	close_hosts();

	/* At once a burst, and then two in a millisecond. */
	open_hosts(false, true);
	crowd_in(0, 200);
	CU_ASSERT_EQUAL(hosts[1].greeter.guests, 65);
	now_tsc += 10 * MS;
	crowd_in(200, 200);
	CU_ASSERT_EQUAL(hosts[1].greeter.guests, 85);
	close_hosts();
}

/* What is sent to who has not proved a key: three bytes for each of his, however long he waits. */
static void no_amplifier(void)
{
	const struct wh_greeter_stats *stats;

	open_hosts(false, true);
	stats = &hosts[1].greeter.stats;
	crowd_in(0, 1);
	run(9000);
	CU_ASSERT(stats->in_bytes < 500);
	CU_ASSERT(stats->out_bytes > 0);
	CU_ASSERT(stats->out_bytes <= WH_GREETING_GAIN * stats->in_bytes);
	close_hosts();
}

/* Bytes that are no TLS, and letters that are nothing, cost a place for a moment. */
static void nonsense(void)
{
	struct wh_address address = stranger(1);
	struct wh_letter letter = half_open(&address, 1);
	struct wh_packet packet;

	open_hosts(false, true);
	CU_ASSERT_EQUAL(wh_packet_decode(letter.packet, letter.bytes, &packet), WH_WIRE_OK);
	for (uint32_t seed = 1; seed <= 300; seed++) {
		struct wh_packet wrong = packet;

		letter.peer = stranger(seed);
		wrong.crypto.greeting = seed;
		wh_prng_init(&prng, seed);
		for (uint32_t i = 0; i < 1 + seed % 5; i++)
			wrong.crypto.data[wh_prng_below(&prng, wrong.crypto.bytes)] ^=
				(uint8_t)(1 + wh_prng_below(&prng, 255));
		letter.bytes = wh_packet_encode(&wrong, letter.packet, sizeof(letter.packet));
		wh_greeter_take(&hosts[1].greeter, now_tsc, &letter);
		run(20);
	}
	CU_ASSERT(hosts[1].greeter.stats.broken > 100);
	/* Each is told once, with a reason; so are, later, those that only stopped. */
	CU_ASSERT_EQUAL(hosts[1].told_broken, hosts[1].greeter.stats.broken);
	CU_ASSERT_EQUAL(hosts[1].told, hosts[1].told_broken);
	CU_ASSERT_EQUAL(hosts[1].news.verdict, WH_RECEPTION_NONE);
	CU_ASSERT(hosts[1].news.came && hosts[1].news.peer.ip[0] == 192);
	run((WH_GREETING_S + 1) * 1000);
	CU_ASSERT(hosts[1].greeter.stats.late > 0);
	CU_ASSERT_EQUAL(
		hosts[1].told_broken, hosts[1].greeter.stats.broken + hosts[1].greeter.stats.late);
	CU_ASSERT_STRING_EQUAL(hosts[1].news.broken_by, "it took too long");
	CU_ASSERT_EQUAL(hosts[1].greeter.stats.bonds, 0);
	CU_ASSERT(hosts[1].greeter.stats.out_bytes <= 3 * hosts[1].greeter.stats.in_bytes);
	close_hosts();
}

CU_TestInfo wh_tests[] = {
	{"a bond in two round trips", bond_in_two_round_trips},
	{"our own key needs nobody", own_key_needs_nobody},
	{"reflected", reflected},
	{"refusals", refusals},
	{"decided later", decided_later},
	{"ciphers", ciphers},
	{"troubled lines", troubled_lines},
	{"bonds end", bonds_end},
	{"one owner", one_owner},
	{"doubted", doubted},
	{"half-open by thousands", half_open_by_thousands},
	{"counted", counted},
	{"no amplifier", no_amplifier},
	{"nonsense", nonsense},
	CU_TEST_INFO_NULL,
};
