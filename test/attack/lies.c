/* SPDX-License-Identifier: BSD-3-Clause */

/* A peer with rights: what it says is sealed as it should be, and nothing of it need be true. */

#include <stdlib.h>
#include <string.h>

#include "attacker.h"
#include "base/assert.h"
#include "maker.h"
#include "peer.h"
#include "seal/sa.h"
#include "wire/layout.h"

#define TYPE_AT         1
#define CID_AT          4
#define PN_AT           8
#define TRANSMISSION_AT 16
#define LIES            24 /* before an end is looked at */
#define LIES_MOST       400
#define ANY_BYTES       16384
#define FITS_BYTES      1472
#define STALLED         24
#define RECORDS         8
#define RECORD_BYTES    8192
#define CLAIMED_BYTES   (UINT64_C(8) << 20)
#define ANSWER_BYTES    (1 << 14)

static void store(uint8_t *bytes, size_t at, uint64_t value, size_t width)
{
	rte_le64_t wire = rte_cpu_to_le_64(value);

	memcpy(bytes + at, &wire, width);
}

/* Numbers that came before would be dropped for that, mostly these are ahead. */
static void count_on(struct wh_peer *peer, uint8_t *bytes)
{
	uint8_t type = bytes[TYPE_AT];
	struct wh_prng *prng = &peer->attacker->prng;
	bool data = type == WH_PACKET_DATA || type == WH_PACKET_REPAIR;

	if (type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM || type == WH_PACKET_ACCEPT) {
		if (type != WH_PACKET_ACCEPT)
			store(bytes, CID_AT, peer->attacker->sa->config.peer_number, 4);
		store(bytes, PN_AT, wh_sa_next_pn(peer->attacker->sa), 8);
	} else if (type < WH_PACKET_TYPES && !maker_one_in(prng, 64)) {
		uint64_t *next = &peer->pn[data ? WH_PACKET_DATA : type];

		store(bytes, data ? TRANSMISSION_AT : PN_AT, (*next)++, 8);
	}
	/* Of data, near to what is expected as often as anywhere. */
	if (data && maker_one_in(prng, 2))
		store(bytes, PN_AT, peer->next_pn + wh_prng_below(prng, 2048), 8);
}

static void lie(struct wh_peer *peer)
{
	static uint8_t bytes[ANY_BYTES];
	struct wh_prng *prng = &peer->attacker->prng;
	uint32_t cid = peer->in_open && maker_one_in(prng, 2) ? peer->theirs.initiator_cid
							      : peer->acceptor_cid;
	size_t count = maker_packet(prng, cid, 0, bytes, sizeof(bytes));

	/* No key closes data to who sends them. */
	if (bytes[TYPE_AT] == WH_PACKET_DATA || bytes[TYPE_AT] == WH_PACKET_REPAIR)
		store(bytes, CID_AT, peer->acceptor_cid, 4);
	if (count < WH_HEAD_BYTES || count > FITS_BYTES)
		return;
	count_on(peer, bytes);
	wh_peer_send_closed(peer, bytes, (uint32_t)count);
}

/* A job as it should be, as far as that; then lies until the server has enough of it. */
static void lies(struct wh_attacker *attacker)
{
	uint64_t begun = 0, ended = 0, told = 0;

	WH_ASSERT(attacker->sa != NULL);
	while (wh_attack_goes_on(attacker)) {
		struct wh_peer peer;
		struct wh_hello hello;

		wh_peer_init(&peer, attacker, 0);
		peer.params.chunk_bytes = ANSWER_BYTES;
		hello = wh_peer_hello(&peer, WH_JOB_GET, attacker->path);
		begun += wh_peer_begin(&peer, &hello);
		for (uint32_t i = 0; i < LIES_MOST && peer.releases == 0; i += LIES) {
			for (uint32_t j = 0; j < LIES; j++)
				lie(&peer);
			told += LIES;
			wh_peer_pump(&peer, 1);
		}
		ended += peer.releases > 0;
		wh_peer_give_up(&peer);
	}
	wh_attack_note(attacker, "begun", begun);
	wh_attack_note(attacker, "ended", ended);
	wh_attack_note(attacker, "lies", told);
}

/* What a source says of a tree, as it should be. */
static uint32_t some_record(struct wh_prng *prng, uint64_t id, uint8_t *bytes)
{
	struct wh_record record = {.type = WH_RECORD_ENTRY,
		.entry = {.id = id, .mode = 0644, .path = "lie", .path_bytes = 3}};
	struct wh_entry *entry = &record.entry;

	switch (wh_prng_below(prng, 7)) {
	case 0:
		entry->kind = WH_ENTRY_FOLDER;
		break;
	case 1:
		entry->kind = WH_ENTRY_LINK;
		entry->link = "../out";
		entry->link_bytes = 6;
		break;
	case 2:
		entry->kind = WH_ENTRY_FILE;
		entry->content = WH_CONTENT_ASK;
		entry->size_bytes = CLAIMED_BYTES;
		break;
	case 3:
		record = (struct wh_record){.type = WH_RECORD_EXTENT,
			.extent = {.id = id, .bytes = wh_prng_below(prng, CLAIMED_BYTES)}};
		break;
	case 4:
		record = (struct wh_record){.type = WH_RECORD_FILE_END, .file_end.id = id};
		break;
	case 5:
		record = (struct wh_record){.type = WH_RECORD_FINISH, .finish.entries = id};
		break;
	default:
		entry->kind = WH_ENTRY_FILE;
		entry->content = WH_CONTENT_INLINE;
		entry->size_bytes = 3;
		entry->inline_bytes = (const uint8_t *)"lie";
	}
	return wh_record_encode(&record, bytes, RECORD_BYTES);
}

/* Records of which a few bytes are others, in a pack whose digest is right. */
static uint32_t some_records(struct wh_prng *prng, uint8_t *bytes)
{
	static const uint8_t edges[] = {0, 1, '/', '.', 0x7f, 0x80, 0xff};
	uint32_t used = 0;

	for (uint64_t id = 0; id < RECORDS; id++) {
		uint8_t *record = bytes + used;
		uint32_t count = some_record(prng, id, record);

		for (uint64_t left = wh_prng_below(prng, 3); left > 0 && count > 0; left--)
			record[wh_prng_below(prng, count)] =
				maker_one_in(prng, 2) ? edges[wh_prng_below(prng, sizeof(edges))]
						      : (uint8_t)wh_prng_u64(prng);
		used += count;
	}
	return used;
}

static void records(struct wh_attacker *attacker)
{
	static uint8_t bytes[RECORDS * RECORD_BYTES + WH_SEAL_BYTES];
	uint64_t begun = 0, ended = 0;

	while (wh_attack_goes_on(attacker)) {
		struct wh_peer peer;
		struct wh_hello hello;

		wh_peer_init(&peer, attacker, 0);
		hello = wh_peer_hello(&peer, WH_JOB_SEND, attacker->path);
		hello.into_folder = true;
		if (wh_peer_begin(&peer, &hello)) {
			begun++;
			for (uint32_t i = 0; i < 4 && peer.releases == 0; i++)
				if (!wh_peer_pack(
					    &peer, bytes, some_records(&attacker->prng, bytes)))
					break;
		}
		wh_peer_pump(&peer, 2);
		ended += peer.releases > 0;
		wh_peer_give_up(&peer);
	}
	wh_attack_note(attacker, "begun", begun);
	wh_attack_note(attacker, "ended", ended);
}

/* Every second one gets and has never room, the others send and never do. */
static bool begin_to_stall(struct wh_peer *peer, struct wh_attacker *attacker, bool gets)
{
	struct wh_record record = {.type = WH_RECORD_ENTRY,
		.entry = {.kind = WH_ENTRY_FILE,
			.content = WH_CONTENT_ASK,
			.mode = 0644,
			.size_bytes = CLAIMED_BYTES,
			.path = "never",
			.path_bytes = 5}};
	struct wh_hello hello;

	wh_peer_init(peer, attacker, 0);
	peer->params.chunk_bytes = ANSWER_BYTES;
	peer->full = gets;
	hello = wh_peer_hello(peer, gets ? WH_JOB_GET : WH_JOB_SEND, gets ? attacker->path : ".");
	hello.into_folder = !gets;
	return wh_peer_begin(peer, &hello) && (gets || wh_peer_say(peer, &record));
}

static void stalls(struct wh_attacker *attacker)
{
	uint32_t most = attacker->count > 0 && attacker->count < STALLED ? (uint32_t)attacker->count
									 : STALLED;
	uint64_t begun = 0, alive = 0;
	struct wh_peer *peers = aligned_alloc(_Alignof(struct wh_peer), most * sizeof(*peers));

	WH_ASSERT(peers != NULL);
	for (uint32_t i = 0; i < most; i++)
		begun += begin_to_stall(&peers[i], attacker, i % 2 == 0);
	while (wh_attack_goes_on(attacker)) {
		for (uint32_t i = 0; i < most; i++) {
			if (peers[i].open && peers[i].releases == 0)
				wh_peer_state(&peers[i]);
			wh_peer_pump(&peers[i], 0);
		}
		wh_attack_sleep_ms(20);
	}
	for (uint32_t i = 0; i < most; i++) {
		alive += peers[i].open && peers[i].releases == 0;
		wh_peer_free(&peers[i]);
	}
	wh_attack_note(attacker, "begun", begun);
	wh_attack_note(attacker, "alive", alive);
	free(peers);
}

const struct wh_attack wh_attacks_lies[] = {
	{"lies", 16, "a sealed peer that lies in every field of every packet", lies},
	{"records", 16, "a sealed peer whose records are damaged, and well sealed", records},
	{"stalls", 16, "jobs that live for ever and never get on", stalls},
	{0},
};
