/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include "base/clock.h"
#include "seal/seal.h"

#define LINE_LETTERS 4096

struct host hosts[2];
static struct flying *flying;
static uint32_t in_flight;
struct line line;
struct wh_prng prng;
uint64_t now_tsc;
bool busy;
bool thrown_back;
const uint8_t told_to_both[WH_COOKIE_BYTES] = "told by ssh, 16";
static struct wh_handshake_datagram waiting[255];
static uint32_t waiting_datagrams;
static const uint8_t keys[2][WH_SIPHASH_KEY_BYTES] = {{1}, {2}};

struct wh_address address_of(uint32_t host)
{
	return (struct wh_address){.family = WH_IPV4,
		.port = 7000,
		.ip = {10, 0, (uint8_t)(host >> 8), (uint8_t)host}};
}

static enum wh_authorization authorize(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	struct host *host = context;

	host->asked++;
	CU_ASSERT_EQUAL(memcmp(stranger->id, hosts[host == hosts].identity.id, 32), 0);
	CU_ASSERT_PTR_NOT_NULL(stranger->certificate);
	CU_ASSERT_EQUAL(stranger->we_asked, host == hosts);
	granted->rights = 7;
	return host->authorization;
}

static bool holds(void *context, uint64_t rights)
{
	const struct host *host = context;

	return rights == 7 && host->authorization == WH_AUTHORIZED;
}

static bool knows(void *context, const struct wh_address *address)
{
	const struct host *host = context;
	struct wh_address other = address_of(host == hosts);

	return host->knows && wh_address_equal(address, &other);
}

static void tell(void *context, const struct wh_handshakes_news *news)
{
	struct host *host = context;

	host->told++;
	host->told_broken += news->broken_by != NULL;
	host->news = *news;
}

static void open_host(uint32_t number, bool believes, const struct wh_identity *identity,
	struct wh_handshakes_config config)
{
	struct host *host = &hosts[number];

	CU_ASSERT_EQUAL_FATAL(wh_sadb_init(&host->sadb, 1024), 0);
	host->address = address_of(number);
	host->asked = host->told = host->told_broken = 0;
	config.hz = HZ;
	memcpy(config.key, keys[number], sizeof(config.key));
	config.identity = identity;
	if (config.ciphers == 0)
		config.ciphers = 1 << WH_CIPHER_AES_128_GCM | 1 << WH_CIPHER_AES_256_GCM;
	config.version = number == 0 ? "0.1 (a)" : "0.1 (b)";
	config.sadb = &host->sadb;
	if (believes)
		config.authorizer = (struct wh_authorizer){
			.authorize = authorize, .holds = holds, .knows = knows, .context = host};
	config.tell = tell;
	config.context = host;
	CU_ASSERT_EQUAL_FATAL(wh_handshakes_init(&host->handshakes, &config), 0);
}

void open_hosts(bool same_key, bool believe_each_other)
{
	const struct wh_handshakes_config plain = {0};

	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&hosts[0].identity), 0);
	CU_ASSERT_EQUAL_FATAL(wh_identity_make(&hosts[1].identity), 0);
	hosts[0].authorization = hosts[1].authorization = WH_AUTHORIZED;
	hosts[0].knows = hosts[1].knows = false;
	waiting_datagrams = 0;
	busy = false;
	open_host(0, believe_each_other, &hosts[0].identity, plain);
	open_host(1, believe_each_other, &hosts[same_key ? 0 : 1].identity, plain);
	flying = calloc(LINE_LETTERS, sizeof(*flying));
	CU_ASSERT_PTR_NOT_NULL_FATAL(flying);
	in_flight = 0;
	now_tsc = 5 * HZ;
	line = (struct line){.delay_tsc = 10 * MS};
	wh_prng_init(&prng, 4711);
}

void close_hosts(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		wh_handshakes_free(&hosts[i].handshakes);
		wh_sadb_free(&hosts[i].sadb);
		wh_identity_free(&hosts[i].identity);
	}
	free(flying);
}

static bool chance(uint32_t percent)
{
	return wh_prng_below(&prng, 100) < percent;
}

static void fly(uint32_t to, const struct wh_handshake_datagram *datagram)
{
	CU_ASSERT_FATAL(in_flight < LINE_LETTERS);

	struct flying *one = &flying[in_flight++];

	one->at_tsc = now_tsc + line.delay_tsc;
	if (chance(line.late_percent))
		one->at_tsc += line.delay_tsc + wh_prng_below(&prng, 4 * line.delay_tsc);
	one->to = to;
	one->datagram = *datagram;
	if (chance(line.changed_percent))
		one->datagram.packet[wh_prng_below(&prng, datagram->bytes)] ^=
			(uint8_t)(1u << wh_prng_below(&prng, 8));
}

static void carry(uint32_t from, const struct wh_handshake_datagram *datagram)
{
	if (chance(line.lost_percent))
		return;
	fly(thrown_back ? from : 1 - from, datagram);
	if (chance(line.twice_percent))
		fly(thrown_back ? from : 1 - from, datagram);
}

void post(uint32_t to, const struct wh_handshake_datagram *datagram)
{
	if (!busy || to == 0)
		wh_handshakes_take(&hosts[to].handshakes, now_tsc, datagram);
	else if (waiting_datagrams < sizeof(waiting) / sizeof(waiting[0]))
		waiting[waiting_datagrams++] = *datagram;
}

/* In a millisecond four steps of TLS, and as many datagrams as there are that lead to none. */
static void work_off(void)
{
	uint32_t taken = 0;

	for (uint32_t steps = 0; taken < waiting_datagrams && steps < 4; taken++)
		steps += wh_handshakes_take(&hosts[1].handshakes, now_tsc, &waiting[taken]);
	waiting_datagrams -= taken;
	memmove(waiting, waiting + taken, waiting_datagrams * sizeof(waiting[0]));
}

/* What an endpoint does: a cookie for who asks, and what has one of ours, or our number. */
static void arrive(uint32_t to, struct wh_handshake_datagram datagram)
{
	struct wh_packet packet;
	uint64_t age_us;

	datagram.peer = address_of(1 - to);
	if (wh_seal_open_packet(&wh_seal_to_listener, datagram.packet, datagram.bytes) !=
			WH_WIRE_OK ||
		wh_packet_decode(datagram.packet, datagram.bytes, &packet) != WH_WIRE_OK)
		return;
	if (packet.type == WH_PACKET_ASK) {
		struct wh_packet answer = {
			.type = WH_PACKET_COOKIE, .cookie = {.handshake = packet.ask.handshake}};

		wh_stranger_cookie_make(answer.cookie.cookie, keys[to], WH_COOKIE_PEERS_HANDSHAKE,
			wh_tsc_to_us(HZ, now_tsc), &datagram.peer, 0, packet.ask.handshake);
		datagram.bytes =
			wh_packet_encode(&answer, datagram.packet, sizeof(datagram.packet));
		wh_seal_close_packet(&wh_seal_to_listener, datagram.packet, datagram.bytes);
		carry(to, &datagram);
		return;
	}
	if (packet.type == WH_PACKET_CRYPTO && packet.flags == 0) {
		age_us = 0;
		if (memcmp(packet.crypto.cookie, told_to_both, sizeof(told_to_both)) != 0 &&
			!wh_stranger_cookie_check(packet.crypto.cookie, keys[to],
				WH_COOKIE_PEERS_HANDSHAKE, wh_tsc_to_us(HZ, now_tsc),
				WH_HANDSHAKE_COOKIE_S * UINT64_C(1000000), &datagram.peer, 0,
				packet.crypto.handshake, &age_us))
			return;
		datagram.rtt_us = (uint32_t)age_us;
	} else if (packet.cookie.handshake != wh_handshake_number(keys[to], &datagram.peer)) {
		return;
	}
	post(to, &datagram);
}

void step(void)
{
	struct wh_handshake_datagram datagram;

	for (uint32_t i = 0; i < in_flight;)
		if (flying[i].at_tsc <= now_tsc) {
			struct flying one = flying[i];

			flying[i] = flying[--in_flight];
			arrive(one.to, one.datagram);
		} else {
			i++;
		}
	work_off();
	for (uint32_t i = 0; i < 2; i++) {
		wh_handshakes_poll(&hosts[i].handshakes, now_tsc);
		while (wh_handshakes_give(&hosts[i].handshakes, now_tsc, &datagram))
			carry(i, &datagram);
	}
	now_tsc += MS;
}

uint32_t meet(uint32_t ms, struct wh_attempt *attempt)
{
	struct wh_address peer = address_of(1);
	uint32_t took = 0;

	for (; took < ms; took++) {
		wh_handshakes_attempt(&hosts[0].handshakes, now_tsc, &peer, attempt);
		if (attempt->state >= WH_ATTEMPT_HAS_SA)
			break;
		step();
	}
	return took;
}

void run(uint32_t ms)
{
	for (uint32_t i = 0; i < ms; i++)
		step();
}

struct wh_sa *kept(uint32_t host)
{
	for (uint32_t i = 0; i < hosts[host].sadb.places; i++)
		if (hosts[host].handshakes.kept[i].sa != NULL)
			return hosts[host].handshakes.kept[i].sa;
	return NULL;
}

void assert_has_sa(const struct wh_attempt *attempt)
{
	CU_ASSERT_EQUAL_FATAL(attempt->state, WH_ATTEMPT_HAS_SA);

	struct wh_sa *ours = attempt->sa;
	struct wh_sa *theirs = NULL;

	for (uint32_t ms = 0; ms < 60000 && theirs == NULL; ms++) {
		step();
		theirs = wh_sadb_hold(&hosts[1].sadb, ours->config.peer_number);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(theirs);
	CU_ASSERT_EQUAL(memcmp(ours->config.secret, theirs->config.secret, WH_SECRET_BYTES), 0);
	CU_ASSERT_EQUAL(ours->config.peer_number, wh_sa_number(theirs));
	CU_ASSERT_EQUAL(theirs->config.peer_number, wh_sa_number(ours));
	CU_ASSERT_EQUAL(ours->config.cipher, theirs->config.cipher);
	CU_ASSERT(ours->config.asked && !theirs->config.asked);
	CU_ASSERT_EQUAL(memcmp(ours->config.peer_identity, theirs->config.own_identity, 32), 0);
	wh_sa_let_go(ours);
	wh_sa_let_go(theirs);
}

struct wh_handshake_datagram half_open(const struct wh_address *address, uint64_t number)
{
	static struct wh_packet packet;
	struct wh_handshake_datagram datagram = {.peer = *address};

	if (packet.crypto.bytes == 0) {
		struct wh_handshake handshake;

		CU_ASSERT_EQUAL_FATAL(
			wh_handshake_begin(&handshake, &hosts[0].handshakes.ends, NULL), 0);
		wh_handshake_put(&handshake, NULL, 0);
		packet.type = WH_PACKET_CRYPTO;
		packet.crypto.bytes = (uint16_t)wh_handshake_take(
			&handshake, packet.crypto.data, sizeof(packet.crypto.data));
		wh_handshake_end(&handshake);
	}
	packet.crypto.handshake = number;
	memcpy(packet.crypto.cookie, &number, sizeof(number));
	datagram.bytes = wh_packet_encode(&packet, datagram.packet, sizeof(datagram.packet));
	wh_seal_close_packet(&wh_seal_to_listener, datagram.packet, datagram.bytes);
	return datagram;
}

struct wh_address stranger(uint32_t number)
{
	return (struct wh_address){.family = WH_IPV4,
		.port = 9000,
		.ip = {192, (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number}};
}

void crowd_in(uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < from + count; i++) {
		struct wh_address address = stranger(i);
		struct wh_handshake_datagram datagram = half_open(&address, i + 1);

		wh_handshakes_take(&hosts[1].handshakes, now_tsc, &datagram);
	}
}
