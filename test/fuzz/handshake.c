/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: handshakes. Two hosts look for each other while somebody between them loses,
 * repeats, changes and invents their datagrams, and knows all numbers and cookies. Nobody has an SA
 * with whom he did not make handshakes, none is sent more than he may be, and when it is calm again
 * they have an SA. In some worlds one of the hosts lies, on the auth messages that it writes within
 * TLS: the other one then has an SA with that host's key, or none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "closed.h"
#include "fuzz.h"
#include "script.h"
#include "trust/handshakes.h"

#define HZ        UINT64_C(1000000000)
#define MS        (HZ / 1000)
#define FLYING    512
#define ROUGH_MS  1500
#define CALM_S    60
#define DELAY_MS  5
#define LAST_KEPT 32

struct flying {
	uint64_t at_tsc;
	uint32_t to;
	struct wh_handshake_datagram datagram;
};

static struct host {
	struct wh_identity identity;
	struct wh_sadb sadb;
	struct wh_handshakes handshakes;
	struct wh_attempt attempt; /* with the other one */
} hosts[2];

static struct world {
	struct wh_script *script; /* NULL: it is calm */
	uint64_t now_tsc;
	uint32_t in_flight;
	struct flying flying[FLYING];
	struct flying kept[LAST_KEPT]; /* of what was sent: to be repeated, or changed */
	uint64_t sent;
	uint32_t lost, twice, late, changed, invented; /* one in so many; 0: none */
	uint32_t lies;                                 /* likewise, of auth messages ... */
	uint32_t liar;                                 /* ... of that host */
} world;

/* What the linker makes of OpenSSL's names in whoever calls them (test/meson.build). */
int __real_SSL_write(SSL *ssl, const void *bytes, int count);
int __wrap_SSL_write(SSL *ssl, const void *bytes, int count);
int __real_SSL_write_early_data(SSL *ssl, const void *bytes, size_t count, size_t *written);
int __wrap_SSL_write_early_data(SSL *ssl, const void *bytes, size_t count, size_t *written);

static uint64_t with_sa, broken, turned_away, bad, refused_sums, auths;
static const uint8_t keys[2][WH_SIPHASH_KEY_BYTES] = {{1}, {2}};

static struct wh_address address_of(uint32_t host)
{
	return (struct wh_address){
		.family = WH_IPV4, .port = 7000, .ip = {10, 0, 0, (uint8_t)(1 + host)}};
}

/* Each is welcome to the other, and nobody else is. */
static enum wh_authorization authorize(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	const struct host *other = &hosts[context == &hosts[0]];

	granted->rights = 7;
	return memcmp(stranger->id, other->identity.id, WH_IDENTITY_BYTES) == 0 ? WH_AUTHORIZED
										: WH_UNAUTHORIZED;
}

static bool holds(void *context, uint64_t rights)
{
	(void)context;
	return rights == 7;
}

static void open_hosts(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct wh_handshakes_config config = {
			.hz = HZ,
			.identity = &hosts[i].identity,
			.ciphers = 1 << WH_CIPHER_AES_128_GCM,
			.version = "1",
			.sadb = &hosts[i].sadb,
			.n_pending = 8,
			.authorizer = {.authorize = authorize,
				.holds = holds,
				.context = &hosts[i]},
		};

		memcpy(config.key, keys[i], sizeof(config.key));
		WH_ASSERT(wh_sadb_init(&hosts[i].sadb, WH_SA_PLACES_MIN) == 0);
		WH_ASSERT(wh_handshakes_init(&hosts[i].handshakes, &config) == 0);
		hosts[i].attempt = (struct wh_attempt){0};
	}
}

static void close_hosts(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		broken += hosts[i].handshakes.stats.broken;
		bad += hosts[i].handshakes.stats.bad_datagrams;
		turned_away += hosts[i].handshakes.stats.turned_away;
		wh_handshakes_free(&hosts[i].handshakes);
		wh_sadb_free(&hosts[i].sadb);
	}
}

/* Fields of an auth message at their edges, or any of its bytes. */
static void lie(struct wh_auth *auth)
{
	static const uint8_t edges[] = {0, 1, 2, 3, 4, 5, 0x7f, 0x80, 0xff};
	uint8_t *fields[] = {&auth->format, &auth->verdict, &auth->ciphers, &auth->reserved};

	auths++;
	for (uint64_t left = 1 + wh_script_below(world.script, 3); left > 0; left--)
		switch (wh_script_below(world.script, 6)) {
		case 0:
		case 1:
			*fields[wh_script_below(world.script, 4)] =
				edges[wh_script_below(world.script, sizeof(edges))];
			break;
		case 2:
			auth->number = (uint32_t)wh_script_u64(world.script) &
				       (wh_script_one_in(world.script, 2) ? 0 : UINT32_MAX);
			break;
		case 3:
			memset(auth->version, (int)wh_script_below(world.script, 256),
				sizeof(auth->version));
			break;
		case 4:
			memset(&auth->offered, (int)wh_script_below(world.script, 256),
				sizeof(auth->offered));
			break;
		default:
			((uint8_t *)auth)[wh_script_below(world.script, sizeof(*auth))] ^=
				(uint8_t)wh_script_u64(world.script);
		}
}

static bool one_in(uint32_t n)
{
	return world.script != NULL && n > 0 && wh_script_one_in(world.script, n);
}

/* Host 0 is the client. */
static bool is_lie(const SSL *ssl, size_t count)
{
	return count == sizeof(struct wh_auth) && (SSL_is_server(ssl) == 1) == (world.liar == 1) &&
	       one_in(world.lies);
}

/* Less than an auth message, an auth message that is none, and bytes behind it. */
int __wrap_SSL_write(SSL *ssl, const void *bytes, int count)
{
	struct wh_auth auth;

	if (!is_lie(ssl, (size_t)count))
		return __real_SSL_write(ssl, bytes, count);
	memcpy(&auth, bytes, sizeof(auth));
	lie(&auth);
	if (one_in(4))
		return __real_SSL_write(ssl, &auth, 1 + (int)wh_script_below(world.script, 8)) > 0
			       ? count
			       : -1;
	for (int i = 0; i < 2 && one_in(4); i++)
		(void)__real_SSL_write(ssl, &auth, count);
	return __real_SSL_write(ssl, &auth, count);
}

int __wrap_SSL_write_early_data(SSL *ssl, const void *bytes, size_t count, size_t *written)
{
	struct wh_auth auth;

	if (!is_lie(ssl, count))
		return __real_SSL_write_early_data(ssl, bytes, count, written);
	memcpy(&auth, bytes, sizeof(auth));
	lie(&auth);
	return __real_SSL_write_early_data(ssl, &auth, count, written);
}

static void fly(uint32_t to, const struct wh_handshake_datagram *datagram)
{
	if (world.in_flight == FLYING)
		return;

	struct flying *one = &world.flying[world.in_flight++];

	one->at_tsc = world.now_tsc + DELAY_MS * MS;
	if (one_in(world.late))
		one->at_tsc += wh_script_below(world.script, 400 * MS);
	one->to = to;
	one->datagram = *datagram;
}

/* A sum that is right again hides nothing from who reads the rest. */
static void close_again(struct wh_handshake_datagram *datagram)
{
	if (datagram->bytes >= WH_HEAD_BYTES && !wh_script_one_in(world.script, 8))
		closed_tag(datagram->packet, datagram->bytes, 0);
}

static void change(struct wh_handshake_datagram *datagram)
{
	for (uint64_t left = 1 + wh_script_below(world.script, 3); left > 0; left--)
		datagram->packet[wh_script_below(world.script, datagram->bytes)] ^=
			(uint8_t)(1u << wh_script_below(world.script, 8));
	close_again(datagram);
}

/* A handshake that goes on has no place, or is over, or has begun anew: all lies. */
static void put_off(struct wh_handshake_datagram *datagram, const struct wh_crypto *crypto)
{
	struct wh_packet packet = {
		.type = WH_PACKET_COOKIE,
		.flags = WH_FLAG_LATER,
		.cookie = {.handshake = crypto->handshake},
	};

	memcpy(packet.cookie.cookie, crypto->cookie, sizeof(packet.cookie.cookie));
	datagram->bytes = wh_packet_encode(&packet, datagram->packet, sizeof(datagram->packet));
	close_again(datagram);
}

/* A piece at another place, with another number of bytes, or that acknowledges more. */
static void invent(struct wh_handshake_datagram *datagram)
{
	struct wh_packet packet;

	if (wh_packet_decode(datagram->packet, datagram->bytes, &packet) != WH_WIRE_OK ||
		packet.type != WH_PACKET_CRYPTO) {
		change(datagram);
		return;
	}
	if (wh_script_one_in(world.script, 4)) {
		put_off(datagram, &packet.crypto);
		return;
	}

	struct wh_crypto *crypto = &packet.crypto;

	if (wh_script_one_in(world.script, 2))
		crypto->offset = (uint32_t)wh_script_below(world.script, WH_CRYPTO_STREAM_MAX);
	if (wh_script_one_in(world.script, 2))
		crypto->acked = (uint32_t)wh_script_below(world.script, WH_CRYPTO_STREAM_MAX + 1);
	if (wh_script_one_in(world.script, 4))
		packet.flags ^= WH_FLAG_ANSWER;
	if (wh_script_one_in(world.script, 8))
		crypto->handshake++;
	for (uint32_t i = 0; i < crypto->bytes && wh_script_one_in(world.script, 2); i++)
		crypto->data[wh_script_below(world.script, crypto->bytes)] ^=
			(uint8_t)wh_script_u64(world.script);
	if (crypto->offset + crypto->bytes > WH_CRYPTO_STREAM_MAX)
		crypto->offset = WH_CRYPTO_STREAM_MAX - crypto->bytes;
	datagram->bytes = wh_packet_encode(&packet, datagram->packet, sizeof(datagram->packet));
	close_again(datagram);
}

static void add_some(void)
{
	uint64_t many = wh_min_u64(world.sent, LAST_KEPT);
	struct flying one;

	if (many == 0 || !one_in(world.invented))
		return;
	one = world.kept[wh_script_below(world.script, many)];
	if (wh_script_one_in(world.script, 2))
		change(&one.datagram);
	else
		invent(&one.datagram);
	fly(wh_script_one_in(world.script, 8) ? 1 - one.to : one.to, &one.datagram);
}

static void carry(uint32_t from, const struct wh_handshake_datagram *datagram)
{
	struct wh_handshake_datagram copy = *datagram;

	world.kept[world.sent++ % LAST_KEPT] =
		(struct flying){.to = 1 - from, .datagram = *datagram};
	if (one_in(world.lost))
		return;
	if (one_in(world.twice))
		fly(1 - from, datagram);
	if (one_in(world.changed))
		change(&copy);
	fly(1 - from, &copy);
}

static void answer_ask(uint32_t to, struct wh_handshake_datagram *datagram, uint64_t handshake)
{
	struct wh_packet answer = {.type = WH_PACKET_COOKIE, .cookie = {.handshake = handshake}};

	wh_stranger_cookie_make(answer.cookie.cookie, keys[to], WH_COOKIE_PEERS_HANDSHAKE,
		wh_tsc_to_us(HZ, world.now_tsc), &datagram->peer, 0, handshake);
	datagram->bytes = wh_packet_encode(&answer, datagram->packet, sizeof(datagram->packet));
	closed_tag(datagram->packet, datagram->bytes, 0);
	carry(to, datagram);
}

/* As an endpoint does: a cookie for who asks, and what has one of ours, or our number, goes in. */
static void arrive(uint32_t to, struct wh_handshake_datagram datagram)
{
	struct wh_packet packet;
	uint64_t age_us;

	datagram.peer = address_of(1 - to);
	if (datagram.bytes < WH_HEAD_BYTES ||
		wh_seal_open_packet(&wh_seal_to_listener, datagram.packet, datagram.bytes) !=
			WH_WIRE_OK ||
		wh_packet_decode(datagram.packet, datagram.bytes, &packet) != WH_WIRE_OK) {
		refused_sums++;
		return;
	}
	if (packet.type == WH_PACKET_ASK) {
		answer_ask(to, &datagram, packet.ask.handshake);
		return;
	}
	if (packet.type == WH_PACKET_CRYPTO && packet.flags == 0) {
		if (!wh_stranger_cookie_check(packet.crypto.cookie, keys[to],
			    WH_COOKIE_PEERS_HANDSHAKE, wh_tsc_to_us(HZ, world.now_tsc),
			    WH_HANDSHAKE_COOKIE_S * WH_US_PER_S, &datagram.peer, 0,
			    packet.crypto.handshake, &age_us))
			return;
		datagram.rtt_us = (uint32_t)age_us;
	} else if ((packet.type != WH_PACKET_CRYPTO && packet.type != WH_PACKET_COOKIE) ||
		   packet.cookie.handshake != wh_handshake_number(keys[to], &datagram.peer)) {
		return;
	}
	wh_handshakes_take(&hosts[to].handshakes, world.now_tsc, &datagram);
}

static void check_host(const struct host *host)
{
	const struct wh_handshakes_stats *stats = &host->handshakes.stats;

	/* Host 0 asks, host 1 is asked and owes nothing to anybody. */
	if (host == &hosts[1] && stats->met == 0)
		WH_ASSERT(stats->out_bytes <= WH_HANDSHAKE_GAIN * stats->in_bytes);
	WH_ASSERT(host->handshakes.n_pending <= host->handshakes.config.n_pending);
}

static void step(uint64_t span_tsc)
{
	struct wh_address peer = address_of(1);
	struct wh_handshake_datagram datagram;

	for (uint32_t i = 0; i < world.in_flight;)
		if (world.flying[i].at_tsc <= world.now_tsc) {
			struct flying one = world.flying[i];

			world.flying[i] = world.flying[--world.in_flight];
			arrive(one.to, one.datagram);
		} else {
			i++;
		}
	wh_sa_let_go(hosts[0].attempt.sa);
	wh_handshakes_attempt(&hosts[0].handshakes, world.now_tsc, &peer, &hosts[0].attempt);
	for (uint32_t i = 0; i < 2; i++) {
		wh_handshakes_poll(&hosts[i].handshakes, world.now_tsc);
		while (wh_handshakes_give(&hosts[i].handshakes, world.now_tsc, &datagram))
			carry(i, &datagram);
		check_host(&hosts[i]);
	}
	if (world.script != NULL)
		add_some();
	world.now_tsc += span_tsc;
}

/* The SA at the other end, too, held; NULL: it is not there, or not yet. */
static struct wh_sa *find_theirs(void)
{
	const struct wh_sa *ours = hosts[0].attempt.sa;

	return ours != NULL ? wh_sadb_hold(&hosts[1].sadb, ours->config.peer_number) : NULL;
}

static bool is_with_sa(void)
{
	struct wh_sa *theirs = find_theirs();

	wh_sa_let_go(theirs);
	return theirs != NULL;
}

/* Both ends have the same secret, and know who the other one is. */
static void check_sa(void)
{
	struct wh_sa *ours = hosts[0].attempt.sa;
	struct wh_sa *theirs = find_theirs();

	WH_ASSERT(hosts[0].attempt.state == WH_ATTEMPT_HAS_SA && theirs != NULL);
	WH_ASSERT(memcmp(ours->config.secret, theirs->config.secret, WH_SECRET_BYTES) == 0);
	WH_ASSERT(memcmp(ours->config.peer_identity, hosts[1].identity.id, WH_IDENTITY_BYTES) == 0);
	WH_ASSERT(
		memcmp(theirs->config.peer_identity, hosts[0].identity.id, WH_IDENTITY_BYTES) == 0);
	wh_sa_let_go(theirs);
}

/* Whatever the liar has said, his key is his, and an SA has what an SA needs. */
static void check_honest(void)
{
	const struct host *honest = &hosts[1 - world.liar];
	const struct wh_sa *ours = hosts[0].attempt.sa;

	WH_ASSERT(honest->handshakes.n_pending <= honest->handshakes.config.n_pending);
	if (world.liar == 0 || ours == NULL)
		return;
	WH_ASSERT(memcmp(ours->config.peer_identity, hosts[1].identity.id, WH_IDENTITY_BYTES) == 0);
	WH_ASSERT(ours->config.peer_number != 0 && ours->config.cipher == WH_CIPHER_AES_128_GCM);
}

static void draw_habits(struct wh_script *script)
{
	uint32_t *habits[] = {
		&world.lost, &world.twice, &world.late, &world.changed, &world.invented};

	memset(&world, 0, sizeof(world));
	world.script = script;
	world.now_tsc = 5 * HZ;
	for (uint32_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		*habits[i] =
			wh_script_one_in(script, 3) ? 0 : 2 + (uint32_t)wh_script_below(script, 30);
	world.lies = wh_script_one_in(script, 2) ? 1 + (uint32_t)wh_script_below(script, 3) : 0;
	world.liar = (uint32_t)wh_script_below(script, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	struct wh_script script;
	uint32_t calm_ms;

	if (hosts[0].identity.key == NULL)
		for (uint32_t i = 0; i < 2; i++)
			WH_ASSERT(wh_identity_make(&hosts[i].identity) == 0);
	wh_script_init(&script, bytes, length);
	draw_habits(&script);
	open_hosts();
	for (uint32_t ms = 0; ms < ROUGH_MS && !is_with_sa(); ms += 2)
		step(2 * MS);
	world.script = NULL;
	/* Who goes by a number that was a lie learns it by opening a session, which nobody does. */
	calm_ms = world.lies > 0 ? 100 : CALM_S * 1000;
	for (uint32_t ms = 0; ms < calm_ms && !is_with_sa(); ms += 20)
		step(20 * MS);
	if (world.lies > 0)
		check_honest();
	else
		check_sa();
	with_sa += is_with_sa();
	wh_sa_let_go(hosts[0].attempt.sa);
	close_hosts();
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	const uint64_t seed = number;

	if (number >= 4 || room < sizeof(seed))
		return 0;
	memcpy(bytes, &seed, sizeof(seed));
	return sizeof(seed);
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	const uint64_t seed = wh_prng_u64(prng);

	(void)room;
	memcpy(bytes, &seed, sizeof(seed));
	return sizeof(seed);
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " SAs; %" PRIu64 " auth messages that lie; %" PRIu64
	       " handshakes broken, %" PRIu64 " turned away; datagrams: %" PRIu64
	       " no use, %" PRIu64 " damaged\n",
		with_sa, auths, broken, turned_away, bad, refused_sums);
}
