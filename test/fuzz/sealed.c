/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: what strangers say to sealed sessions. Two ends with an SA are in the middle of a
 * transfer; whatever comes without its keys, from anywhere, about their sessions or their SA,
 * changes nothing of a session. Nor does what a peer with the SA says of new ones that no cookie
 * of ours has proved.
 */
#include <stdlib.h>
#include <string.h>

#include "../rig/end.h"
#include "base/assert.h"
#include "base/clock.h"
#include "closed.h"
#include "fuzz.h"
#include "maker.h"
#include "tally.h"

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define CHUNK_BYTES 16384
#define CHUNKS      4
#define BURST       32
#define ROOM        2048
#define ANY_BYTES   16384
#define TURNS       200
#define CALM        64 /* inputs between two turns of the ends */

/* The first bytes of an input say how the rest of it comes. */
enum {
	AT_HOW = 0, /* bits: to which end, from the peer or a stranger, whose connection ID, closed
		    * by what */
	AT_KEY = 1,
	AT_PACKET = 2,
};

static struct world {
	struct wh_rig_end end[2];
	struct wh_sadb sadb[2];
	struct wh_sa *sa[2];
	struct wh_session *session[2];
	uint8_t *memory[2];
	uint64_t now_tsc;
	uint64_t inputs;
} world;

static uint64_t refused[WH_WIRE_REASONS], unknown, others, unbound;

static void accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	(void)context;
	(void)config;
	WH_ASSERT(world.session[1] == NULL); /* by the ends themselves, and nobody else */
	world.session[1] = session;
}

static void gone(void *context, struct wh_session *session)
{
	(void)context;
	(void)session;
	abort();
}

static void prepare(void *context, struct wh_session_config *config)
{
	uint32_t which = context == &world.end[1];

	config->chunk_memory = world.memory[which];
	config->sa = which == 0 ? world.sa[0] : NULL;
}

static void bind(void)
{
	uint32_t number[2];

	for (uint32_t i = 0; i < 2; i++) {
		int rc = wh_sadb_init(&world.sadb[i], WH_SA_PLACES_MIN);

		WH_ASSERT(rc == 0);
		number[i] = wh_sadb_reserve(&world.sadb[i], 0x7700 + (i << 16));
	}
	for (uint32_t i = 0; i < 2; i++) {
		const struct wh_sa_config config = {
			.secret = {7},
			.own_identity = {(uint8_t)(1 + i)},
			.peer_identity = {(uint8_t)(2 - i)},
			.peer_number = number[!i],
			.cipher = WH_CIPHER_AES_128_GCM,
			.asked = i == 0,
		};

		world.sa[i] = wh_sadb_fill(&world.sadb[i], number[i], &config);
		WH_ASSERT(world.sa[i] != NULL);
	}
}

/* What the ends say to each other now; or, with nobody to hear it, to strangers. */
static void turn(bool heard)
{
	static uint8_t room[BURST][ROOM];
	struct wh_out out[BURST];

	for (uint32_t i = 0; i < BURST; i++)
		out[i].head = room[i];
	for (uint32_t from = 0; from < 2; from++) {
		struct wh_rig_end *end = &world.end[from], *to = &world.end[!from];

		wh_endpoint_receive_poll(&end->endpoint, world.now_tsc);
		wh_endpoint_send_poll(&end->endpoint, world.now_tsc);

		uint32_t count = wh_endpoint_output(&end->endpoint, world.now_tsc, out, BURST);

		for (uint32_t i = 0; i < count && heard; i++) {
			if (out[i].payload_bytes > 0)
				memcpy(out[i].head + out[i].head_bytes, out[i].payload,
					out[i].payload_bytes);
			wh_endpoint_input(&to->endpoint, world.now_tsc, world.now_tsc, out[i].head,
				out[i].head_bytes + out[i].payload_bytes, &end->address);
		}
	}
}

static void open_world(void)
{
	world.now_tsc = HZ;
	bind();
	for (uint8_t i = 0; i < 2; i++) {
		struct wh_rig_end *end = &world.end[i];

		world.memory[i] = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES);
		WH_ASSERT(world.memory[i] != NULL);
		wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, 64);
		end->sadb = &world.sadb[i];
		end->prepare = prepare;
		end->accepted = accepted;
		end->gone = gone;
		end->context = end;
		wh_rig_end_open(end, (uint8_t)(i + 1), WH_ENDPOINT_PLACES_MIN);
	}
	world.session[0] = wh_rig_end_connect(
		&world.end[0], &world.end[1].address, "sealed", WH_OBJECT_BYTES_UNKNOWN, NULL);
	for (uint32_t i = 0; i < TURNS; i++, world.now_tsc += MS)
		turn(true);
	WH_ASSERT(world.session[1] != NULL);
	WH_ASSERT(wh_session_news(world.session[0]).phase == WH_PHASE_RUNNING);
}

static void close_by(const struct wh_sa *sa, uint8_t *packet, uint32_t bytes, uint32_t what)
{
	uint8_t type = packet[1];

	if (what == 1)
		wh_seal_close_packet(&wh_seal_to_listener, packet, bytes);
	else if (what == 2 && (type == WH_PACKET_OPEN || type == WH_PACKET_CONFIRM))
		wh_sa_close(sa, 0, packet, bytes);
}

static void summarise(struct wh_session_stats stats[2])
{
	for (uint32_t i = 0; i < 2; i++) {
		stats[i] = wh_session_stats(world.session[i]);
		WH_ASSERT(wh_session_news(world.session[i]).outcome == WH_STATUS_PENDING);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static uint8_t packet[ANY_BYTES];
	struct wh_session_stats before[2], after[2];

	if (world.session[0] == NULL)
		open_world();
	if (length < AT_PACKET + WH_HEAD_BYTES || length - AT_PACKET > sizeof(packet))
		return 0;

	uint32_t bytes_now = (uint32_t)length - AT_PACKET, how = bytes[AT_HOW], to = how & 1;
	struct wh_rig_end *end = &world.end[to];
	struct wh_address from = world.end[!to].address;
	const uint32_t cids[4] = {0, wh_session_cid(world.session[to]), wh_sa_number(world.sa[to]),
		wh_session_cid(world.session[!to])};

	memcpy(packet, bytes + AT_PACKET, bytes_now);
	if (how >> 2 & 3)
		memcpy(packet + 4, &cids[how >> 2 & 3], 4);
	if (bytes[AT_KEY] < 8)
		packet[WH_KEY_OFFSET] = bytes[AT_KEY];
	if (how & 2)
		from.port = 2;
	close_by(world.sa[!to], packet, bytes_now, how >> 4 & 3);
	summarise(before);
	wh_endpoint_input(&end->endpoint, world.now_tsc, world.now_tsc, packet, bytes_now, &from);
	summarise(after);
	WH_ASSERT(memcmp(before, after, sizeof(before)) == 0);
	if (++world.inputs % CALM == 0) {
		turn(false);
		world.now_tsc += world.inputs % (1024 * CALM) == 0 ? MS : 1;
	}
	return 0;
}

size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	size_t length = maker_packet(prng, (uint32_t)wh_prng_u64(prng), 0, bytes + AT_PACKET,
		room < ANY_BYTES ? room - AT_PACKET : ANY_BYTES - AT_PACKET);

	bytes[AT_HOW] = (uint8_t)wh_prng_u64(prng);
	bytes[AT_KEY] = (uint8_t)wh_prng_below(prng, 16);
	return length == 0 ? 0 : AT_PACKET + length;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	struct wh_prng prng;
	size_t length = 0;

	if (number >= 64)
		return 0;
	wh_prng_init(&prng, number);
	while (length == 0)
		length = wh_fuzz_make(&prng, bytes, room);
	return length;
}

void wh_fuzz_report(void)
{
	for (uint32_t i = 0; i < 2; i++) {
		const struct wh_endpoint_stats *stats = &world.end[i].endpoint.stats;

		for (uint32_t reason = 0; reason < WH_WIRE_REASONS; reason++)
			refused[reason] += stats->bad[reason];
		unknown += stats->no_session_pkts;
		others += stats->wrong_peer_pkts;
		unbound += stats->no_sa_pkts;
	}
	printf("refused:");
	for (uint32_t i = 1; i < WH_WIRE_REASONS; i++)
		printf(" %s %" PRIu64, wh_wire_reason_name((enum wh_wire_reason)i), refused[i]);
	printf("; of no session %" PRIu64 ", from others %" PRIu64 ", of no SA %" PRIu64 "\n",
		unknown, others, unbound);
}
