/* SPDX-License-Identifier: BSD-3-Clause */

/* Handshakes that begin as they should, from as many addresses as there are, and go no further. */

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>

#include "attacker.h"
#include "base/assert.h"
#include "trust/handshake.h"
#include "wire/internet.h"

#define ADDRESSES_FIRST 20
#define ADDRESSES       200
#define HELLO_MAX       1024
#define BROKEN_EVERY    8 /* one of so many is no TLS */
#define PACKET_AT       (WH_ETHER_BYTES + WH_IPV4_BYTES + WH_UDP_BYTES)

/* The first flight of TLS: one is as good as another. */
static uint32_t make_hello(uint8_t hello[HELLO_MAX])
{
	struct wh_handshake_ends ends;
	struct wh_identity identity;
	struct wh_handshake handshake;
	uint32_t bytes;
	int rc = wh_identity_make(&identity);

	WH_ASSERT(rc == 0);
	rc = wh_handshake_ends_init(&ends, &identity);
	WH_ASSERT(rc == 0);
	rc = wh_handshake_begin(&handshake, &ends, NULL);
	WH_ASSERT(rc == 0);
	(void)wh_handshake_put(&handshake, NULL, 0);
	bytes = wh_handshake_take(&handshake, hello, HELLO_MAX);
	WH_ASSERT(bytes > 0);
	wh_handshake_end(&handshake);
	wh_handshake_ends_free(&ends);
	wh_identity_free(&identity);
	return bytes;
}

/* All that comes to this station, whatever its address. */
static int open_ear(const struct wh_attacker *attacker)
{
	struct sockaddr_ll here = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(attacker->interface),
	};
	int ear = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_IP));

	WH_ASSERT(ear >= 0);

	int rc = bind(ear, (const struct sockaddr *)&here, sizeof(here));

	WH_ASSERT(rc == 0);
	return ear;
}

static void send_packet(
	struct wh_attacker *attacker, const struct wh_address *from, const struct wh_packet *packet)
{
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];

	wh_attack_to_server(attacker, from, bytes, wh_attack_encode(packet, 0, bytes));
}

struct told {
	uint64_t cookies;
	uint64_t answers; /* pieces of the server's flight */
};

/* A cookie is used at once; what the server says then is never answered. */
static void hear(struct wh_attacker *attacker, int ear, const uint8_t *hello, uint32_t hello_bytes,
	struct told *told)
{
	uint8_t frame[WH_ATTACK_FRAME_BYTES];
	ssize_t got;

	while ((got = recv(ear, frame, sizeof(frame), 0)) > 0) {
		struct wh_address us = attacker->own;
		struct wh_packet packet;

		if (got < PACKET_AT + WH_HEAD_BYTES || frame[PACKET_AT + 1] < WH_PACKET_ASK)
			continue;
		told->answers += frame[PACKET_AT + 1] == WH_PACKET_CRYPTO;
		if (frame[PACKET_AT + 1] != WH_PACKET_COOKIE ||
			wh_packet_decode(frame + PACKET_AT, WH_HEAD_BYTES, &packet) != WH_WIRE_OK)
			continue;
		told->cookies++;

		struct wh_packet answer = {
			.type = WH_PACKET_CRYPTO,
			.crypto = {.handshake = packet.cookie.handshake,
				.bytes = (uint16_t)hello_bytes,
				.padding_bytes = (uint16_t)(WH_CRYPTO_BYTES_MAX - hello_bytes)},
		};

		memcpy(answer.crypto.cookie, packet.cookie.cookie, sizeof(answer.crypto.cookie));
		memcpy(answer.crypto.data, hello, hello_bytes);
		if (told->cookies % BROKEN_EVERY == 0)
			answer.crypto.data[0] ^= 1;
		memcpy(us.ip, frame + WH_ETHER_BYTES + 16, 4);
		send_packet(attacker, &us, &answer);
	}
}

static void handshakes(struct wh_attacker *attacker)
{
	uint8_t hello[HELLO_MAX];
	uint32_t hello_bytes = make_hello(hello);
	int ear = open_ear(attacker);
	struct told told = {0};

	for (uint32_t i = 0; wh_attack_goes_on(attacker); i++) {
		struct wh_address from = wh_attack_beside(
			&attacker->own, (uint8_t)(ADDRESSES_FIRST + i % ADDRESSES));
		struct wh_packet packet = {.type = WH_PACKET_ASK, .ask = {.handshake = 1 + i}};

		send_packet(attacker, &from, &packet);
		hear(attacker, ear, hello, hello_bytes, &told);
	}
	wh_attack_note(attacker, "cookies", told.cookies);
	wh_attack_note(attacker, "answers", told.answers);
}

/* Cookies first, of each address many; then first flights with them, again and again. */
#define STORED_MAX 3200
#define COLLECT_NS UINT64_C(3000000000)

struct stored {
	struct wh_address us;
	uint8_t bytes[WH_ATTACK_FRAME_BYTES];
	uint32_t count;
};

static void store(struct wh_attacker *attacker, int ear, const uint8_t *hello, uint32_t hello_bytes,
	struct stored *stored, uint32_t *have)
{
	uint8_t frame[WH_ATTACK_FRAME_BYTES];
	ssize_t got;

	while ((got = recv(ear, frame, sizeof(frame), 0)) > 0) {
		struct wh_packet packet;

		if (got < PACKET_AT + WH_HEAD_BYTES || *have == STORED_MAX ||
			frame[PACKET_AT + 1] != WH_PACKET_COOKIE ||
			wh_packet_decode(frame + PACKET_AT, WH_HEAD_BYTES, &packet) != WH_WIRE_OK)
			continue;

		struct wh_packet answer = {
			.type = WH_PACKET_CRYPTO,
			.crypto = {.handshake = packet.cookie.handshake,
				.bytes = (uint16_t)hello_bytes,
				.padding_bytes = (uint16_t)(WH_CRYPTO_BYTES_MAX - hello_bytes)},
		};
		struct stored *one = &stored[(*have)++];

		one->us = attacker->own;
		memcpy(one->us.ip, frame + WH_ETHER_BYTES + 16, 4);
		memcpy(answer.crypto.cookie, packet.cookie.cookie, sizeof(answer.crypto.cookie));
		memcpy(answer.crypto.data, hello, hello_bytes);
		one->count = wh_attack_encode(&answer, 0, one->bytes);
	}
}

static void handshakes_stored(struct wh_attacker *attacker)
{
	static struct stored stored[STORED_MAX];
	uint8_t hello[HELLO_MAX];
	uint32_t hello_bytes = make_hello(hello), have = 0;
	int ear = open_ear(attacker);
	uint64_t pps = attacker->pps, end_ns = wh_attack_now_ns() + COLLECT_NS;

	attacker->pps = 4000;
	for (uint32_t i = 0; have < STORED_MAX && wh_attack_now_ns() < end_ns; i++) {
		struct wh_address from = wh_attack_beside(
			&attacker->own, (uint8_t)(ADDRESSES_FIRST + i % ADDRESSES));
		struct wh_packet packet = {.type = WH_PACKET_ASK, .ask = {.handshake = 1 + i}};

		send_packet(attacker, &from, &packet);
		store(attacker, ear, hello, hello_bytes, stored, &have);
	}
	attacker->pps = pps;
	attacker->sent_pkts = attacker->sent_bytes = 0;
	attacker->began_ns = wh_attack_now_ns();
	for (uint32_t i = 0; have > 0 && wh_attack_goes_on(attacker); i++)
		wh_attack_to_server(attacker, &stored[i % have].us, stored[i % have].bytes,
			stored[i % have].count);
	wh_attack_note(attacker, "cookies", have);
}

const struct wh_attack wh_attacks_handshakes[] = {
	{"handshakes-stored", 15, "first flights with cookies that were collected before",
		handshakes_stored},
	{"handshakes", 15, "handshakes by the thousand that never go on", handshakes},
	{0},
};
