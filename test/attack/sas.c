/* SPDX-License-Identifier: BSD-3-Clause */

/* Handshakes by a key of the attacker's own, on lines that are honest or are not. */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "attacker.h"
#include "base/assert.h"
#include "seal/seal.h"
#include "trust/handshakes.h"

#define NS_PER_MS    UINT64_C(1000000)
#define HANDSHAKE_MS 5000
#define LAST_MS      20 /* so that the last letter is acknowledged */
#define HELD         64

/* Datagrams that are held back, and go in any order. */
struct held {
	bool to_server;
	struct wh_handshake_datagram datagram;
};

struct line {
	struct wh_attacker *attacker;
	struct wh_handshakes handshakes;
	int socket;
	uint32_t lost_percent;
	uint32_t twice_percent;
	uint32_t held_percent; /* that stay for another turn, each time they are looked at */
	struct held held[HELD];
	uint32_t holds;
	uint64_t lost;
	uint64_t late;
};

static struct wh_identity identity;
static struct wh_sadb sadb;

static enum wh_authorization authorize(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	(void)context;
	(void)stranger;
	granted->rights = 1;
	return WH_AUTHORIZED;
}

static void open_line(struct line *line, struct wh_attacker *attacker)
{
	struct sockaddr_in there = {
		.sin_family = AF_INET, .sin_port = htons(attacker->server.port)};
	const struct wh_handshakes_config config = {
		.hz = 1000 * NS_PER_MS,
		.identity = &identity,
		.ciphers = 1 << WH_CIPHER_AES_128_GCM,
		.version = "attack",
		.sadb = &sadb,
		.authorizer = {.authorize = authorize},
	};
	int rc = wh_handshakes_init(&line->handshakes, &config);

	WH_ASSERT(rc == 0);
	line->attacker = attacker;
	line->socket = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	memcpy(&there.sin_addr, attacker->server.ip, 4);
	setsockopt(line->socket, SOL_SOCKET, SO_NO_CHECK, &(int){1}, sizeof(int));
	if (connect(line->socket, (const struct sockaddr *)&there, sizeof(there)) != 0) {
		perror("attacker: a socket");
		exit(1);
	}
}

static bool chance(struct line *line, uint32_t percent)
{
	return percent > 0 && wh_prng_below(&line->attacker->prng, 100) < percent;
}

static void deliver(struct line *line, const struct held *held)
{
	if (!held->to_server) {
		wh_handshakes_take(&line->handshakes, wh_attack_now_ns(), &held->datagram);
		return;
	}
	line->attacker->sent_pkts++;
	line->attacker->sent_bytes += held->datagram.bytes;
	/* What is not taken is lost, and comes again. */
	(void)!send(line->socket, held->datagram.packet, held->datagram.bytes, 0);
}

static void carry(struct line *line, const struct held *one)
{
	if (chance(line, line->lost_percent)) {
		line->lost++;
		return;
	}
	if (line->held_percent == 0 || line->holds == HELD) {
		deliver(line, one);
		return;
	}
	line->held[line->holds++] = *one;
}

/* In any order, and some of them again. */
static void let_go(struct line *line)
{
	for (uint32_t looks = line->holds; looks > 0 && line->holds > 0; looks--) {
		uint32_t i = (uint32_t)wh_prng_below(&line->attacker->prng, line->holds);
		struct held one = line->held[i];

		if (chance(line, line->held_percent)) {
			line->late++;
			continue;
		}
		deliver(line, &one);
		if (!chance(line, line->twice_percent))
			line->held[i] = line->held[--line->holds];
	}
}

static void hear(struct line *line)
{
	struct held one = {.datagram.peer = line->attacker->server};
	struct wh_handshake_datagram *datagram = &one.datagram;
	ssize_t count;

	while ((count = recv(line->socket, datagram->packet, sizeof(datagram->packet), 0)) > 0) {
		datagram->bytes = (uint32_t)count;
		if (count >= WH_HEAD_BYTES &&
			wh_seal_open_packet(&wh_seal_to_listener, datagram->packet,
				datagram->bytes) == WH_WIRE_OK)
			carry(line, &one);
	}
}

static void turn(struct line *line)
{
	struct held one = {.to_server = true};

	hear(line);
	wh_handshakes_poll(&line->handshakes, wh_attack_now_ns());
	while (wh_handshakes_give(&line->handshakes, wh_attack_now_ns(), &one.datagram))
		carry(line, &one);
	let_go(line);
	usleep(200);
}

/* The SA with the server, held, or NULL. */
static struct wh_sa *meet(struct line *line, enum wh_auth_verdict *verdict)
{
	struct wh_attempt attempt = {0};
	uint64_t end_ns = wh_attack_now_ns() + HANDSHAKE_MS * NS_PER_MS;

	while (attempt.state != WH_ATTEMPT_HAS_SA && attempt.state != WH_ATTEMPT_REFUSED &&
		wh_attack_now_ns() < end_ns) {
		wh_handshakes_attempt(
			&line->handshakes, wh_attack_now_ns(), &line->attacker->server, &attempt);
		turn(line);
	}
	*verdict = attempt.verdict;
	for (end_ns = wh_attack_now_ns() + LAST_MS * NS_PER_MS; wh_attack_now_ns() < end_ns;)
		turn(line);
	return attempt.sa;
}

static void have_identity(const struct wh_attacker *attacker)
{
	int rc = attacker->key != NULL ? wh_identity_load(&identity, attacker->key)
				       : wh_identity_make(&identity);

	if (rc == 0)
		rc = wh_sadb_init(&sadb, 1024);
	if (rc != 0) {
		fprintf(stderr, "attacker: %s: %s\n", attacker->key, strerror(-rc));
		exit(1);
	}
}

void wh_attack_handshake(struct wh_attacker *attacker)
{
	static struct line line;
	enum wh_auth_verdict verdict;

	have_identity(attacker);
	open_line(&line, attacker);
	attacker->sa = meet(&line, &verdict);
	if (attacker->sa == NULL) {
		fprintf(stderr, "attacker: no SA: %s\n", wh_auth_verdict_name(verdict));
		exit(1);
	}
}

/*
 * Once more from the beginning each time, by datagrams that are lost, late, twice and in disorder.
 */
static void disorder(struct wh_attacker *attacker)
{
	uint64_t n_handshakes = 0, met = 0, lost = 0, late = 0;

	while (wh_attack_goes_on(attacker)) {
		struct line *line = calloc(1, sizeof(*line));
		enum wh_auth_verdict verdict;

		WH_ASSERT(line != NULL);
		open_line(line, attacker);
		line->lost_percent = (uint32_t)wh_prng_below(&attacker->prng, 30);
		line->twice_percent = (uint32_t)wh_prng_below(&attacker->prng, 60);
		line->held_percent = (uint32_t)wh_prng_below(&attacker->prng, 95);

		struct wh_sa *sa = meet(line, &verdict);

		n_handshakes++;
		met += sa != NULL;
		wh_sa_let_go(sa);
		lost += line->lost;
		late += line->late;
		wh_handshakes_free(&line->handshakes);
		close(line->socket);
		free(line);
	}
	wh_attack_note(attacker, "handshakes", n_handshakes);
	wh_attack_note(attacker, "met", met);
	wh_attack_note(attacker, "lost", lost);
	wh_attack_note(attacker, "late", late);
}

/* As many addresses again as an endpoint keeps early packets of (lib/endpoint/early.h). */
#define EARLY_FIRST 20
#define EARLY_FROM  64
#define EARLY_DATA  16 /* of each behind a CONFIRM, before it is the next one's turn */
#define EARLY_MS    500
#define KEY_SEALED  1

/* Up to where the server has told the number of the SA that it would make; 0: not in time. */
static uint32_t learn_number(struct line *line)
{
	uint64_t end_ns = wh_attack_now_ns() + HANDSHAKE_MS * NS_PER_MS;
	struct held one = {.to_server = true};

	while (wh_attack_now_ns() < end_ns) {
		struct wh_attempt attempt = {0};
		uint32_t number;

		hear(line);
		wh_handshakes_poll(&line->handshakes, wh_attack_now_ns());
		wh_handshakes_attempt(
			&line->handshakes, wh_attack_now_ns(), &line->attacker->server, &attempt);
		if (attempt.state == WH_ATTEMPT_HAS_SA) {
			number = attempt.sa->config.peer_number;
			wh_sa_let_go(attempt.sa);
			return number;
		}
		while (wh_handshakes_give(&line->handshakes, wh_attack_now_ns(), &one.datagram))
			deliver(line, &one);
		usleep(200);
	}
	return 0;
}

/* CONFIRMs under that number, and data behind them, from each address in turn. */
static void crowd(struct wh_attacker *attacker, uint32_t number)
{
	uint64_t end_ns = wh_attack_now_ns() + EARLY_MS * NS_PER_MS;
	struct wh_packet packet = wh_attack_example(WH_PACKET_CONFIRM, 0);
	uint8_t confirm[WH_ATTACK_FRAME_BYTES], data[WH_ATTACK_FRAME_BYTES];
	uint32_t confirm_bytes, data_bytes;

	packet.cid = number;
	confirm_bytes = wh_attack_encode(&packet, 0, confirm);
	confirm[WH_KEY_OFFSET] = KEY_SEALED;
	packet = wh_attack_example(WH_PACKET_DATA, UINT32_MAX); /* of no session */
	data_bytes = wh_attack_encode(&packet, 0, data);
	for (uint32_t i = 0; wh_attack_now_ns() < end_ns && wh_attack_goes_on(attacker); i++) {
		struct wh_address from =
			wh_attack_beside(&attacker->own, (uint8_t)(EARLY_FIRST + i % EARLY_FROM));

		wh_attack_to_server(attacker, &from, confirm, confirm_bytes);
		for (uint32_t k = 0; k < EARLY_DATA; k++)
			wh_attack_to_server(attacker, &from, data, data_bytes);
	}
}

/*
 * One handshake at a time that ends where the server waits for a proof of the key. Until then what
 * comes under its number is kept, from whatever address.
 */
static void early(struct wh_attacker *attacker)
{
	uint64_t n_numbers = 0;

	have_identity(attacker);
	while (wh_attack_goes_on(attacker)) {
		struct line *line = calloc(1, sizeof(*line));
		uint32_t number;

		WH_ASSERT(line != NULL);
		open_line(line, attacker);
		number = learn_number(line);
		n_numbers += number != 0;
		if (number != 0)
			crowd(attacker, number);
		wh_handshakes_free(&line->handshakes);
		close(line->socket);
		free(line);
	}
	wh_attack_note(attacker, "numbers", n_numbers);
}

const struct wh_attack wh_attacks_sas[] = {
	{"early", 15, "what follows handshakes that have not ended, from many addresses", early},
	{"disorder", 15, "handshakes whose pieces are lost, late, twice and in disorder", disorder},
	{0},
};
