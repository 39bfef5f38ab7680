/* SPDX-License-Identifier: BSD-3-Clause */

/* What HELLO may ask for, and what is said of those who ask nonsense. */

#include <string.h>

#include "attacker.h"
#include "peer.h"
#include "profile/profile.h"

#define REFUSED_PEERS 8

struct wishes {
	uint32_t payload_bytes;
	uint8_t code;
	uint8_t k;
	uint8_t r;
};

/* One job with these wishes, given up as soon as it has been heard. */
static void wish(struct wh_attacker *attacker, enum wh_job_verb verb, const struct wishes *wishes,
	uint8_t profile)
{
	struct wh_peer peer;
	struct wh_hello hello;

	wh_peer_init(&peer, attacker, 0);
	peer.params.chunk_bytes = 1 << 14;
	hello = wh_peer_hello(&peer, verb, verb == WH_JOB_GET ? attacker->path : NULL);
	hello.reverse = verb == WH_JOB_BENCH;
	hello.bench_bytes = 1 << 20;
	hello.payload_bytes = wishes->payload_bytes;
	hello.fec_code = wishes->code;
	hello.fec_k = wishes->k;
	hello.fec_r = wishes->r;
	hello.profile = profile;

	struct wh_record record = {.type = WH_RECORD_HELLO, .hello = hello};

	if (wh_peer_open(&peer) && wh_peer_say(&peer, &record)) {
		wh_attack_note(attacker, "heard", ++attacker->count);
		for (int ms = 0; ms < 40 && !peer.in_open && peer.releases == 0; ms++)
			wh_peer_pump(&peer, 1);
		wh_peer_pump(&peer, peer.in_open ? 10 : 0);
	}
	wh_peer_give_up(&peer);
}

static void hellos(struct wh_attacker *attacker)
{
	static const uint32_t payloads[] = {
		0, 31, 32, 64, 96, 512, 1408, 1440, 1472, 8928, 9216, UINT16_MAX, UINT32_MAX};
	static const struct wishes codes[] = {{.code = 0}, {.code = 1, .k = 32, .r = 4},
		{.code = 1, .k = 1, .r = 255}, {.code = 1, .k = 255, .r = 1}, {.code = 1},
		{.code = 2}, {.code = 2, .k = 200, .r = 50}, {.code = 2, .k = 1, .r = 1},
		{.code = 0, .k = 9, .r = 9}, {.code = 3, .k = 1, .r = 1},
		{.code = 255, .k = 255, .r = 255}};
	uint8_t profiles[] = {wh_profile_find("fixed")->number, wh_profile_find("ttp")->number};

	attacker->count = 0;
	for (size_t p = 0; p < sizeof(payloads) / sizeof(payloads[0]); p++) {
		for (size_t c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
			struct wishes wishes = codes[c];

			if (!wh_attack_goes_on(attacker))
				return;
			wishes.payload_bytes = payloads[p];
			wish(attacker, (p + c) % 2 == 0 ? WH_JOB_GET : WH_JOB_BENCH, &wishes,
				profiles[(p + c) / 2 % 2]);
		}
	}
	wh_attack_note(attacker, "complete", 1);
}

/* C0, C1 as UTF-8 and as bytes, marks of direction: what would rule a terminal. */
static const char nasty[] = "nowhere/\033[31m\302\2331;1mRED\302\2332J\302\235title\a\2332J"
			    "\342\200\256gnp.exe\342\201\246x\342\200\213y\177/x";

/* Jobs that are refused, each with a line that somebody reads. */
static void complaints(struct wh_attacker *attacker)
{
	uint64_t heard = 0;

	while (wh_attack_goes_on(attacker)) {
		struct wh_peer peers[REFUSED_PEERS];

		for (int i = 0; i < REFUSED_PEERS; i++) {
			struct wh_peer *peer = &peers[i];
			struct wh_hello hello;
			struct wh_record record = {.type = WH_RECORD_HELLO};

			wh_peer_init(peer, attacker, 0);
			hello = wh_peer_hello(peer, WH_JOB_SEND, nasty);
			record.hello = hello;
			if (!wh_peer_open(peer))
				continue;
			wh_peer_say(peer, &record);
			heard++;
		}
		for (int i = 0; i < REFUSED_PEERS; i++) {
			wh_peer_pump(&peers[i], 2);
			wh_peer_give_up(&peers[i]);
		}
	}
	wh_attack_note(attacker, "heard", heard);
}

const struct wh_attack wh_attacks_jobs[] = {
	{"hellos", 2, "HELLO with every kind of repair and payload", hellos},
	{"complaints", 11, "refused jobs whose paths would rule a terminal", complaints},
	{0},
};
