/* SPDX-License-Identifier: BSD-3-Clause */

/* Connections that were opened as they should be, by one who then makes the most of them. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "attacker.h"
#include "base/assert.h"
#include "peer.h"

#define PEERS_MAX     256
#define REPORT_GAP_MS 1000
#define HOLES         5
#define TOUCH_STEP    128
#define PAYLOAD_BYTES 1184 /* the least that is taken */
#define ANSWER_BYTES  (1 << 14)
#define CHUNK_PKTS    886 /* of a chunk */
#define TORNADO_PKTS  900 /* of a chunk, at most */
#define GRAPHS_MS     1000

/* As many connections as it gets; returns how many. */
static uint32_t open_many(struct wh_attacker *attacker, struct wh_peer *peers, uint32_t wanted,
	const struct wh_open_params *params)
{
	uint32_t count = 0, refused = 0;

	while (count < wanted && refused == 0) {
		struct wh_peer *peer = &peers[count];
		uint32_t cid;

		wh_peer_init(peer, attacker, 0);
		cid = peer->params.initiator_cid;
		peer->params = *params;
		peer->params.initiator_cid = cid;
		if (wh_peer_open(peer)) {
			count++;
		} else {
			refused++;
			wh_attack_note(attacker, "refused_as", peer->refused);
			wh_peer_free(peer);
		}
	}
	wh_attack_note(attacker, "opened", count);
	return count;
}

/* The same with the first of several wishes that the server bears. */
static uint32_t open_worst(struct wh_attacker *attacker, struct wh_peer *peers, uint32_t most,
	struct wh_open_params *params, uint32_t *wish, const uint32_t *wishes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t opened;

		*wish = wishes[i];
		opened = open_many(attacker, peers, most, params);
		if (opened > 0) {
			wh_attack_note(attacker, "granted", wishes[i]);
			return opened;
		}
	}
	return 0;
}

static void end_many(struct wh_peer *peers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		wh_peer_give_up(&peers[i]);
	free(peers);
}

static struct wh_peer *make_peers(void)
{
	struct wh_peer *peers = aligned_alloc(_Alignof(struct wh_peer), PEERS_MAX * sizeof(*peers));

	WH_ASSERT(peers != NULL);
	return peers;
}

static uint32_t wanted(const struct wh_attacker *attacker, uint32_t otherwise)
{
	uint64_t count = attacker->count > 0 ? attacker->count : otherwise;

	return count < PEERS_MAX ? (uint32_t)count : PEERS_MAX;
}

/* A packet here and there of a chunk: what is between them is missing, and is asked for. */
static void leave_holes(struct wh_peer *peer)
{
	static const uint8_t payload[WH_PAYLOAD_BYTES_MAX];
	uint32_t full = peer->params.payload_bytes;
	struct wh_data_fields fields = {
		.k = (uint16_t)((peer->params.chunk_bytes + full - 1) / full),
		.payload_bytes = (uint16_t)full,
	};

	for (uint16_t i = 0; i < HOLES; i++) {
		fields.index = (uint16_t)(i * (fields.k / HOLES));
		wh_peer_data(peer, peer->next_pn + fields.index, &fields, payload);
	}
}

/* States are wanted every microsecond, or as often as it gets; then not a word more. */
static void period(struct wh_attacker *attacker)
{
	static const uint32_t periods_us[] = {1, 10, 100, 1000, 10000};
	struct wh_open_params params = wh_attack_params(1);
	struct wh_peer *peers = make_peers();
	uint64_t got_bytes = 0, got_pkts = 0;
	uint32_t count;

	count = open_worst(attacker, peers, wanted(attacker, 4), &params, &params.period_us,
		periods_us, RTE_DIM(periods_us));
	for (uint32_t i = 0; i < count; i++)
		leave_holes(&peers[i]);
	wh_attack_note(attacker, "sent_at_first", attacker->sent_bytes);
	/* Not read: answers from here on would be a conversation. */
	while (wh_attack_goes_on(attacker))
		wh_attack_sleep_ms(50);
	wh_attack_note(attacker, "sent_until_end", attacker->sent_bytes);
	for (uint32_t i = 0; i < count; i++) {
		got_bytes += peers[i].got_bytes;
		got_pkts += peers[i].got_pkts;
	}
	wh_attack_note(attacker, "got_bytes", got_bytes);
	wh_attack_note(attacker, "got_pkts", got_pkts);
	end_many(peers, count);
}

/* Connections that live of a state a second and never say what they are for. */
static void places(struct wh_attacker *attacker)
{
	struct wh_open_params params = wh_attack_params(1);
	struct wh_peer *peers = make_peers();
	uint32_t count, alive = 0;

	params.chunk_bytes = ANSWER_BYTES;
	count = open_many(attacker, peers, wanted(attacker, PEERS_MAX), &params);
	while (wh_attack_goes_on(attacker)) {
		for (uint32_t i = 0; i < count; i++) {
			wh_peer_state(&peers[i]);
			wh_peer_pump(&peers[i], 0);
		}
		wh_attack_sleep_ms(REPORT_GAP_MS / 4);
	}
	for (uint32_t i = 0; i < count; i++)
		alive += peers[i].releases == 0;
	wh_attack_note(attacker, "alive", alive);
	end_many(peers, count);
}

/* Connections that come and go, until each place has had one. */
static void fills(struct wh_attacker *attacker)
{
	uint64_t opened = 0;

	for (uint64_t i = 0; i < attacker->count; i++) {
		struct wh_peer peer;

		wh_peer_init(&peer, attacker, 0);
		peer.params.chunk_bytes = ANSWER_BYTES;
		if (wh_peer_open(&peer)) {
			opened++;
			wh_peer_pump(&peer, 1);
			wh_peer_release(&peer, WH_RELEASE_ABORT, WH_STATUS_INTERRUPTED);
		}
		wh_peer_free(&peer);
	}
	wh_attack_note(attacker, "opened", opened);
}

/* The largest window with the least payload, and a packet here and there in it. */
static void windows(struct wh_attacker *attacker)
{
	static const uint32_t windows_pkts[] = {
		1 << 24, 1 << 20, 1 << 18, 1 << 16, 1 << 14, 1 << 12};
	static const uint8_t payload[PAYLOAD_BYTES];
	struct wh_open_params params = wh_attack_params(1);
	struct wh_peer *peers = make_peers();
	struct wh_data_fields fields = {.k = CHUNK_PKTS, .payload_bytes = sizeof(payload)};
	uint32_t count;

	params.payload_bytes = sizeof(payload);
	count = open_worst(attacker, peers, wanted(attacker, 8), &params, &params.window_pkts,
		windows_pkts, RTE_DIM(windows_pkts));
	for (uint32_t i = 0; i < count; i++) {
		for (uint64_t j = 0; j < params.window_pkts / TOUCH_STEP; j++) {
			fields.chunk = (uint32_t)(TOUCH_STEP * j / fields.k);
			fields.index = (uint16_t)(TOUCH_STEP * j % fields.k);
			wh_peer_data(&peers[i], params.first_pn + TOUCH_STEP * j, &fields, payload);
			if (j % 128 == 127)
				wh_attack_sleep_ms(1);
		}
	}
	while (wh_attack_goes_on(attacker))
		wh_attack_sleep_ms(20);
	end_many(peers, count);
}

/* The first packet of a chunk of another shape each time. */
static void send_shapes(struct wh_peer *peer, uint32_t *shape)
{
	static const uint8_t payload[PAYLOAD_BYTES];
	uint64_t pn = peer->params.first_pn;

	for (uint32_t chunk = 0; chunk < peer->params.window_pkts / TORNADO_PKTS; chunk++) {
		struct wh_data_fields fields = {
			.chunk = chunk,
			.k = (uint16_t)(880 + *shape % 7),
			.r = (uint16_t)(4 + *shape / 7 % 6),
			.code = WH_FEC_TORNADO,
			.blocks = 1,
			.last_bytes = 100,
			.payload_bytes = PAYLOAD_BYTES,
		};

		(*shape)++;
		wh_peer_data(peer, pn, &fields, payload);
		pn += fields.k + fields.r;
	}
}

/* Codes that would have to be drawn anew for every packet. */
static void graphs(struct wh_attacker *attacker)
{
	static const uint32_t windows_pkts[] = {1 << 17, 1 << 15, 1 << 14, 1 << 13, 1 << 12};
	uint32_t shape = 0;

	while (wh_attack_goes_on(attacker)) {
		struct wh_open_params params = wh_attack_params(1);
		struct wh_peer *peers = make_peers();
		uint32_t count;

		params.payload_bytes = PAYLOAD_BYTES;
		params.recovery = WH_RECOVERY_HYBRID;
		params.repair_pkts = 12;
		count = open_worst(attacker, peers, wanted(attacker, 8), &params,
			&params.window_pkts, windows_pkts, RTE_DIM(windows_pkts));
		for (uint32_t i = 0; i < count; i++)
			send_shapes(&peers[i], &shape);
		for (uint32_t ms = 0; ms < GRAPHS_MS && wh_attack_goes_on(attacker); ms += 50) {
			for (uint32_t i = 0; i < count; i++) {
				wh_peer_state(&peers[i]);
				wh_peer_pump(&peers[i], 0);
			}
			wh_attack_sleep_ms(50);
		}
		end_many(peers, count);
	}
	wh_attack_note(attacker, "shapes", shape);
}

const struct wh_attack wh_attacks_sessions[] = {
	{"period", 6, "reports as often as they are to be had, and silence", period},
	{"places", 9, "as many connections as it gets, that never ask for anything", places},
	{"fills", 5, "connections that come and go, so that each place has had one", fills},
	{"windows", 9, "the largest windows, touched here and there", windows},
	{"graphs", 10, "a new tornado graph with every packet", graphs},
	{0},
};
