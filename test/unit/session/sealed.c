/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two endpoints with an SA talk in virtual time, over a line that damages, reflects and repeats;
 * and strangers say things to them. No nonce comes twice but with the same packet.
 */

#include "../../rig/end.h"
#include "../../rig/line.h"
#include "base/clock.h"
#include "closed.h"
#include "unit.h"

const char wh_suite_name[] = "sealed";

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define DELAY_TSC   (5 * MS)
#define PAYLOAD     1408
#define CHUNK_BYTES 16384
#define CHUNKS      4
#define STREAM      (6 * CHUNK_BYTES)
#define PARCELS     1024
#define BURST       32
#define NONCES      8192

/* Of what a packet was closed with. */
struct nonce {
	uint32_t to;
	uint8_t key;
	uint8_t type;
	uint64_t about; /* whose key it is */
	uint64_t number;
	uint8_t tag[WH_TAG_BYTES];
};

struct pair {
	struct wh_rig_end end[2];   /* by the role of the session there */
	struct wh_rig_line line[2]; /* to that end; what arrived is kept */
	struct wh_sadb sadb[2];
	struct wh_sa *sa[2];
	struct wh_session *session[2];
	struct nonce nonce[NONCES];
	uint32_t nonces;
	struct wh_session *earlier; /* that the peer opened before */
	uint32_t gone;
	uint64_t now_tsc;

	uint64_t fed_bytes;
	uint64_t fed_chunks;
	struct wh_chunk end_marker;
	uint64_t got_bytes;
	uint64_t in_clear; /* data packets on the line with their payload as it is */

	/* Of data packets on the line: each so many-th, counted from the first; 0: none. */
	uint32_t damage_one_in;
	uint64_t data_pkts;
	uint64_t damaged_pkts;
	bool lose_done;
};

static uint8_t content(uint64_t at)
{
	return (uint8_t)(at * 7 + at / 251);
}

static void session_accepted(
	void *context, struct wh_session *session, const struct wh_session_config *config)
{
	struct pair *pair = context;

	(void)config;
	wh_session_destroy(pair->earlier);
	pair->earlier = pair->session[WH_RECEIVER];
	pair->session[WH_RECEIVER] = session;
}

static void session_gone(void *context, struct wh_session *session)
{
	struct pair *pair = context;

	pair->gone++;
	for (uint32_t role = 0; role < 2; role++)
		if (pair->session[role] == session)
			pair->session[role] = NULL;
	wh_session_destroy(session);
}

static void open_ends(struct pair *pair)
{
	for (uint32_t role = 0; role < 2; role++) {
		struct wh_rig_end *end = &pair->end[role];

		end->sadb = &pair->sadb[role];
		end->accepted = session_accepted;
		end->gone = session_gone;
		end->context = pair;
		wh_rig_session_config(&end->session, HZ, CHUNK_BYTES, CHUNKS, 64);
		end->session.rate_bps = UINT64_C(1000000000);
		end->session.chunk_memory = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES);
		wh_rig_end_open(end, (uint8_t)role, WH_ENDPOINT_PLACES_MIN);
		wh_rig_line_open(&pair->line[role], PARCELS);
	}
}

static void bind(struct pair *pair, uint8_t other_secret)
{
	uint32_t number[2];

	for (uint32_t role = 0; role < 2; role++) {
		CU_ASSERT_EQUAL_FATAL(wh_sadb_init(&pair->sadb[role], WH_SA_PLACES_MIN), 0);
		number[role] = wh_sadb_reserve(&pair->sadb[role], 0x7700 + (role << 16));
	}
	for (uint32_t role = 0; role < 2; role++) {
		struct wh_sa_config config = {
			.secret = {7},
			.own_identity = {(uint8_t)role},
			.peer_identity = {(uint8_t)!role},
			.peer_number = number[!role],
			.cipher = WH_CIPHER_AES_128_GCM,
			.asked = role == WH_TRANSMITTER,
		};

		config.secret[1] = role == WH_RECEIVER ? other_secret : 0;
		pair->sa[role] = wh_sadb_fill(&pair->sadb[role], number[role], &config);
	}
}

static struct wh_session *connect_ends(struct pair *pair, struct wh_sa *sa)
{
	struct wh_rig_end *end = &pair->end[WH_TRANSMITTER];

	end->session.sa = sa;

	struct wh_session *session =
		wh_rig_end_connect(end, &pair->end[WH_RECEIVER].address, "sealed", STREAM, NULL);

	end->session.sa = NULL;
	return session;
}

static void open_session(struct pair *pair)
{
	pair->session[WH_TRANSMITTER] = connect_ends(pair, pair->sa[WH_TRANSMITTER]);
}

static struct pair *pair_open(uint8_t other_secret)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	CU_ASSERT_PTR_NOT_NULL_FATAL(pair);
	pair->now_tsc = HZ;
	bind(pair, other_secret);
	open_ends(pair);
	open_session(pair);
	return pair;
}

static void pair_close(struct pair *pair)
{
	wh_session_destroy(pair->earlier);
	for (uint32_t role = 0; role < 2; role++) {
		wh_session_destroy(pair->session[role]);
		wh_rig_end_close(&pair->end[role]);
		wh_sadb_free(&pair->sadb[role]);
		wh_rig_line_close(&pair->line[role]);
		free(pair->end[role].session.chunk_memory);
	}
	free(pair);
}

/* A packet comes to an end, from its peer's address. */
static void give(struct pair *pair, enum wh_role to, const struct wh_rig_packet *packet)
{
	struct wh_rig_packet copy = *packet;

	wh_endpoint_input(&pair->end[to].endpoint, pair->now_tsc, pair->now_tsc, copy.data,
		copy.bytes, &pair->end[!to].address);
}

static void look_at_data(struct pair *pair, struct wh_rig_packet *packet)
{
	struct wh_packet read;

	CU_ASSERT_EQUAL_FATAL(wh_packet_decode(packet->data, packet->bytes, &read), WH_WIRE_OK);

	uint64_t at = (uint64_t)read.data.chunk * CHUNK_BYTES + read.data.index * PAYLOAD;

	pair->in_clear += read.payload[0] == content(at) && read.payload[1] == content(at + 1);
	if (pair->damage_one_in == 0 || pair->data_pkts++ % pair->damage_one_in != 0)
		return;
	packet->data[WH_HEAD_BYTES + pair->damaged_pkts % read.data.payload_bytes] ^= 1;
	pair->damaged_pkts++;
}

/* The same nonce and key twice are the same packet, said again. */
static void note_nonce(struct pair *pair, enum wh_role to, const uint8_t *head)
{
	bool data = head[1] == WH_PACKET_DATA || head[1] == WH_PACKET_REPAIR;
	struct nonce nonce = {.to = to, .key = head[3], .type = data ? WH_PACKET_DATA : head[1]};
	uint32_t about;

	if (head[3] == 0 || head[0] != WH_WIRE_VERSION)
		return;
	memcpy(&about, head + 4, sizeof(about));
	nonce.about = about;
	memcpy(&nonce.number, head + (data ? 16 : 8), sizeof(nonce.number));
	memcpy(nonce.tag, head + WH_TAG_OFFSET, sizeof(nonce.tag));
	CU_ASSERT_FATAL(pair->nonces < NONCES);
	for (uint32_t i = 0; i < pair->nonces; i++)
		if (memcmp(&pair->nonce[i], &nonce, offsetof(struct nonce, tag)) == 0)
			CU_ASSERT_EQUAL_FATAL(
				memcmp(pair->nonce[i].tag, nonce.tag, sizeof(nonce.tag)), 0);
	pair->nonce[pair->nonces++] = nonce;
}

/* Without it the receiver goes on asking. */
static bool is_lost(const struct pair *pair, enum wh_role from, const uint8_t *packet)
{
	return pair->lose_done && from == WH_TRANSMITTER && packet[1] == WH_PACKET_RELEASE &&
	       packet[16 + 24] == WH_RELEASE_DONE;
}

static void send_all(struct pair *pair, enum wh_role from)
{
	uint8_t room[BURST][WH_RIG_PACKET_BYTES];
	struct wh_out out[BURST];

	for (uint32_t i = 0; i < BURST; i++)
		out[i].head = room[i];

	uint32_t count = wh_endpoint_output(&pair->end[from].endpoint, pair->now_tsc, out, BURST);

	for (uint32_t i = 0; i < count; i++) {
		/* What is encrypted stands behind its head, whatever attach_bytes says. */
		if (out[i].payload_bytes > 0)
			CU_ASSERT_PTR_EQUAL(out[i].payload, out[i].head + WH_HEAD_BYTES);
		note_nonce(pair, (enum wh_role) !from, room[i]);
		if (is_lost(pair, from, room[i]))
			continue;

		struct wh_rig_packet *packet =
			wh_rig_line_put(&pair->line[!from], &out[i], pair->now_tsc + DELAY_TSC);

		if (packet->data[0] == WH_WIRE_VERSION && packet->data[1] == WH_PACKET_DATA)
			look_at_data(pair, packet);
	}
}

static void feed(struct pair *pair)
{
	struct wh_session *session = pair->session[WH_TRANSMITTER];
	struct wh_chunk *chunk;

	while (session != NULL && pair->fed_bytes < STREAM &&
		(chunk = wh_fifo_pop(wh_session_free_chunks(session))) != NULL) {
		chunk->number = pair->fed_chunks++;
		chunk->bytes = CHUNK_BYTES;
		chunk->end = false;
		for (uint32_t i = 0; i < CHUNK_BYTES; i++)
			chunk->data[i] = content(pair->fed_bytes++);
		wh_fifo_push(wh_session_ready_chunks(session), chunk);
		if (pair->fed_bytes == STREAM) {
			pair->end_marker =
				(struct wh_chunk){.number = pair->fed_chunks, .end = true};
			wh_fifo_push(wh_session_ready_chunks(session), &pair->end_marker);
		}
		wh_session_kick(session);
	}
}

static void drain(struct pair *pair)
{
	struct wh_session *session = pair->session[WH_RECEIVER];
	struct wh_chunk *chunk;

	while (session != NULL &&
		(chunk = wh_fifo_pop(wh_session_deliver_chunks(session))) != NULL) {
		if (chunk->end) {
			wh_session_ask(session, WH_WISH_SINK_DONE, WH_STATUS_VERIFIED);
			continue;
		}
		for (uint32_t i = 0; i < chunk->bytes; i++)
			CU_ASSERT_EQUAL_FATAL(chunk->data[i], content(pair->got_bytes++));
		wh_fifo_push(wh_session_recycled_chunks(session), chunk);
		wh_session_kick(session);
	}
}

static void run(struct pair *pair, uint64_t span_ms)
{
	for (uint64_t until_tsc = pair->now_tsc + span_ms * MS; pair->now_tsc < until_tsc;
		pair->now_tsc += MS / 10) {
		for (uint32_t role = 0; role < 2; role++) {
			struct wh_rig_packet *packet;

			while ((packet = wh_rig_line_take(&pair->line[role], pair->now_tsc)) !=
				NULL)
				give(pair, (enum wh_role)role, packet);
			wh_endpoint_receive_poll(&pair->end[role].endpoint, pair->now_tsc);
			wh_endpoint_send_poll(&pair->end[role].endpoint, pair->now_tsc);
			send_all(pair, (enum wh_role)role);
		}
		feed(pair);
		drain(pair);
	}
}

static uint64_t refused(const struct pair *pair, enum wh_role role, enum wh_wire_reason reason)
{
	return pair->end[role].endpoint.stats.bad[reason];
}

static enum wh_release_status outcome(const struct pair *pair, enum wh_role role)
{
	return wh_session_news(pair->session[role]).outcome;
}

/* The latest packet of a type that went to an end. */
static struct wh_rig_packet *latest(struct pair *pair, enum wh_role to, enum wh_packet_type type)
{
	struct wh_rig_line *line = &pair->line[to];

	for (uint64_t i = line->tail; i > 0 && line->tail - i < PARCELS - 1; i--)
		if (line->packet[(i - 1) % PARCELS].data[1] == type)
			return &line->packet[(i - 1) % PARCELS];
	CU_FAIL_FATAL("no such packet");
	return NULL;
}

static void test_transfer(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 500);
	CU_ASSERT_EQUAL(pair->got_bytes, STREAM);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	CU_ASSERT_EQUAL(outcome(pair, WH_RECEIVER), WH_STATUS_VERIFIED);
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&pair->end[WH_TRANSMITTER].endpoint), 0);
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&pair->end[WH_RECEIVER].endpoint), 0);
	CU_ASSERT(pair->nonces > STREAM / PAYLOAD);
	for (uint32_t i = 0; i < pair->nonces; i++)
		CU_ASSERT_NOT_EQUAL(pair->nonce[i].key, 0);
	CU_ASSERT(pair->in_clear < 3); /* by chance: two bytes */
	pair_close(pair);
}

/* What does not open leaves nothing that counts, and is sent again: under another nonce. */
static void test_damage(void)
{
	struct pair *pair = pair_open(0);

	pair->damage_one_in = 7;
	run(pair, 1500);
	CU_ASSERT_EQUAL(pair->got_bytes, STREAM);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	CU_ASSERT(pair->damaged_pkts > 10);
	CU_ASSERT_EQUAL(refused(pair, WH_RECEIVER, WH_WIRE_TAG), pair->damaged_pkts);
	pair_close(pair);
}

/* Each end's packets come back to it, with its own address on them or as they are. */
static void test_reflected(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 25); /* in the middle */
	for (int to = 0; to < 2; to++) {
		enum wh_role role = (enum wh_role)to;
		struct wh_rig_packet packet = *latest(pair, (enum wh_role) !to,
			role == WH_TRANSMITTER ? WH_PACKET_TRANS_REPORT : WH_PACKET_RCV_REPORT);
		uint32_t cid = wh_session_cid(pair->session[role]);
		uint64_t heard = wh_session_stats(pair->session[role]).control_received_pkts;

		give(pair, role, &packet);
		CU_ASSERT_EQUAL(pair->end[role].endpoint.stats.no_session_pkts, 1);
		memcpy(packet.data + 4, &cid, sizeof(cid));
		give(pair, role, &packet);
		CU_ASSERT_EQUAL(refused(pair, role, WH_WIRE_TAG), 1);
		CU_ASSERT_EQUAL(wh_session_stats(pair->session[role]).control_received_pkts, heard);
	}
	run(pair, 500);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	pair_close(pair);
}

/* A repeated packet is proved once more, and neither counts nor keeps a dead peer alive. */
static void test_replayed(void)
{
	struct pair *pair = pair_open(0);
	struct wh_session_stats before, after;

	run(pair, 15);

	struct wh_rig_packet data = *latest(pair, WH_RECEIVER, WH_PACKET_DATA);
	struct wh_rig_packet control[2] = {*latest(pair, WH_RECEIVER, WH_PACKET_TRANS_REPORT),
		*latest(pair, WH_TRANSMITTER, WH_PACKET_ACCEPT)};

	run(pair, 15);
	CU_ASSERT_EQUAL_FATAL(outcome(pair, WH_RECEIVER), WH_STATUS_PENDING);
	before = wh_session_stats(pair->session[WH_RECEIVER]);
	give(pair, WH_RECEIVER, &data);
	give(pair, WH_RECEIVER, &control[0]);
	after = wh_session_stats(pair->session[WH_RECEIVER]);
	CU_ASSERT_EQUAL(after.replayed_pkts, before.replayed_pkts + 2);
	before.replayed_pkts += 2;
	CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof(after)), 0);
	CU_ASSERT_EQUAL(pair->end[WH_RECEIVER].endpoint.stats.bad[WH_WIRE_TAG], 0);
	/* One of a type that only the other end may hear. */
	control[0].data[1] = WH_PACKET_ACCEPT;
	give(pair, WH_RECEIVER, &control[0]);
	CU_ASSERT_EQUAL(refused(pair, WH_RECEIVER, WH_WIRE_KEY), 1);
	before = wh_session_stats(pair->session[WH_TRANSMITTER]);
	give(pair, WH_TRANSMITTER, &control[1]);
	control[1].data[WH_TAG_OFFSET] ^= 1;
	give(pair, WH_TRANSMITTER, &control[1]);
	after = wh_session_stats(pair->session[WH_TRANSMITTER]);
	CU_ASSERT_EQUAL(after.control_received_pkts, before.control_received_pkts);
	CU_ASSERT_EQUAL(after.replayed_pkts, before.replayed_pkts + 1);
	CU_ASSERT_EQUAL(refused(pair, WH_TRANSMITTER, WH_WIRE_TAG), 1);
	/* The peer is gone, and all that it ever said is said again: its session ends in time. */
	for (uint32_t second = 0; second < 40; second++) {
		struct wh_rig_line *line = &pair->line[WH_RECEIVER];

		for (uint64_t i = line->tail > PARCELS ? line->tail - PARCELS : 0; i < line->head;
			i++)
			give(pair, WH_RECEIVER, &line->packet[i % PARCELS]);
		pair->now_tsc += HZ;
		wh_endpoint_receive_poll(&pair->end[WH_RECEIVER].endpoint, pair->now_tsc);
	}
	CU_ASSERT_EQUAL(outcome(pair, WH_RECEIVER), WH_STATUS_PEER_GONE);
	pair_close(pair);
}

/* Not the same secret: nothing that is said is heard. */
static void test_other_secret(void)
{
	struct pair *pair = pair_open(1);

	run(pair, 200);
	CU_ASSERT_PTR_NULL(pair->session[WH_RECEIVER]);
	CU_ASSERT(refused(pair, WH_RECEIVER, WH_WIRE_TAG) > 0);
	CU_ASSERT_EQUAL(pair->line[WH_TRANSMITTER].tail, 0); /* nor answered */
	pair_close(pair);
}

/* One session's packets are nothing to the next under the same SA, were it addressed likewise. */
static void test_other_session(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 25);

	struct wh_rig_packet packet[3] = {*latest(pair, WH_RECEIVER, WH_PACKET_DATA),
		*latest(pair, WH_RECEIVER, WH_PACKET_TRANS_REPORT),
		*latest(pair, WH_RECEIVER, WH_PACKET_CONFIRM)};
	struct wh_session *first = pair->session[WH_TRANSMITTER];

	pair->fed_bytes = STREAM; /* nothing more for the reader to do */
	open_session(pair);
	run(pair, 25);

	uint32_t cid = wh_session_cid(pair->session[WH_RECEIVER]);
	struct wh_session_stats before = wh_session_stats(pair->session[WH_RECEIVER]);

	for (uint32_t i = 0; i < 2; i++) {
		memcpy(packet[i].data + 4, &cid, sizeof(cid));
		give(pair, WH_RECEIVER, &packet[i]);
	}
	CU_ASSERT_EQUAL(refused(pair, WH_RECEIVER, WH_WIRE_TAG), 2);
	give(pair, WH_RECEIVER, &packet[2]); /* opens nothing anew */
	CU_ASSERT_EQUAL(wh_session_cid(pair->session[WH_RECEIVER]), cid);

	struct wh_session_stats after = wh_session_stats(pair->session[WH_RECEIVER]);

	CU_ASSERT_EQUAL(memcmp(&before, &after, sizeof(after)), 0);
	wh_session_destroy(pair->session[WH_TRANSMITTER]);
	pair->session[WH_TRANSMITTER] = first;
	pair_close(pair);
}

/* What a pair of ends knows of its sessions, and has said. */
static void summarise(const struct pair *pair, struct wh_session_stats stats[2], uint64_t *sent)
{
	for (uint32_t role = 0; role < 2; role++)
		stats[role] = wh_session_stats(pair->session[role]);
	*sent = pair->end[0].endpoint.stats.replies_dropped_pkts +
		pair->end[1].endpoint.stats.replies_dropped_pkts +
		wh_slot_fifo_count(&pair->end[0].endpoint.replies) +
		wh_slot_fifo_count(&pair->end[1].endpoint.replies) +
		pair->end[0].endpoint.stats.hints;
}

/*
 * Each bit of the latest packet of each type, in the middle of a transfer: nothing of a session
 * changes. Nor is there an answer but to a version, to another type or to an SA that is not known.
 */
static void test_bits(void)
{
	struct pair *pair = pair_open(0);
	uint32_t types = 0;

	pair->damage_one_in = 9; /* so that there are NAKs */
	run(pair, 27);
	for (int to = 0; to < 2; to++)
		for (int type = 1; type < WH_PACKET_TYPES; type++) {
			const struct wh_rig_line *line = &pair->line[to];
			uint64_t i = line->tail;

			while (i > 0 && line->packet[(i - 1) % PARCELS].data[1] != type)
				i--;
			if (i == 0)
				continue;

			struct wh_rig_packet packet = line->packet[(i - 1) % PARCELS];

			types++;
			for (uint32_t bit = 0; bit < 8 * packet.bytes; bit++) {
				struct wh_session_stats before[2], after[2];
				uint64_t said[2];

				summarise(pair, before, &said[0]);
				packet.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
				give(pair, (enum wh_role)to, &packet);
				packet.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
				summarise(pair, after, &said[1]);
				CU_ASSERT_EQUAL_FATAL(memcmp(before, after, sizeof(before)), 0);
				if (bit >= 64) /* version, type, flags, key, connection ID */
					CU_ASSERT_EQUAL_FATAL(said[0], said[1]);
			}
		}
	CU_ASSERT(types >= 8);
	pair->damage_one_in = 0;
	run(pair, 1000);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	CU_ASSERT_EQUAL(pair->got_bytes, STREAM);
	pair_close(pair);
}

/* An end with SAs takes no session without one, and says so. */
static void test_unsealed(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 25);

	struct wh_session *plain = connect_ends(pair, NULL);
	struct wh_session *sealed = pair->session[WH_RECEIVER];

	run(pair, 25);
	CU_ASSERT_EQUAL(wh_session_news(plain).outcome, WH_STATUS_UNSEALED);
	CU_ASSERT_PTR_EQUAL(pair->session[WH_RECEIVER], sealed);

	/* Said to those who come one after the other, and to few of a flood. */
	struct wh_rig_packet open = *latest(pair, WH_RECEIVER, WH_PACKET_OPEN);
	uint64_t told = pair->end[WH_RECEIVER].endpoint.stats.refused_opens;

	CU_ASSERT_EQUAL_FATAL(open.data[WH_KEY_OFFSET], 0);
	for (uint32_t i = 0; i < 1000; i++) {
		give(pair, WH_RECEIVER, &open);
		pair->now_tsc += MS / 100;
		wh_endpoint_receive_poll(&pair->end[WH_RECEIVER].endpoint, pair->now_tsc);
	}
	CU_ASSERT_EQUAL(pair->end[WH_RECEIVER].endpoint.stats.refused_opens, told + 10);
	CU_ASSERT_EQUAL(pair->end[WH_RECEIVER].endpoint.stats.unhinted_pkts, 990);
	run(pair, 500);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	wh_session_destroy(plain);
	pair_close(pair);
}

/* The place that was offered went to another before CONFIRM came: that is told, and heard. */
static void test_taken(void)
{
	struct pair *pair = pair_open(0);

	while (pair->line[WH_RECEIVER].tail < 2 && pair->now_tsc < 2 * HZ)
		run(pair, 1);
	memset(pair->end[WH_RECEIVER].endpoint.spent_us, 0xff,
		WH_ENDPOINT_PLACES_MIN / 2 * sizeof(*pair->end[WH_RECEIVER].endpoint.spent_us));
	run(pair, 25);
	CU_ASSERT_PTR_NULL(pair->session[WH_RECEIVER]);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_BUSY);
	pair_close(pair);
}

/* The peer began anew: it says that it knows no such SA, and that ends nothing. */
static void test_unbound(void)
{
	struct pair *pair = pair_open(0);

	wh_sa_end(pair->sa[WH_RECEIVER]);
	run(pair, 200);
	CU_ASSERT(pair->end[WH_RECEIVER].endpoint.stats.no_sa_pkts >= 2);
	CU_ASSERT(pair->end[WH_TRANSMITTER].endpoint.stats.hints >= 2);
	CU_ASSERT(atomic_load(&pair->sa[WH_TRANSMITTER]->hinted));
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_PENDING);
	pair_close(pair);
}

/* Who is not trusted any more: what goes on ends, and both ends know why. */
static void test_revoked(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 25);
	wh_sa_revoke(pair->sa[WH_RECEIVER]);
	run(pair, 25);
	CU_ASSERT_EQUAL(outcome(pair, WH_RECEIVER), WH_STATUS_REVOKED);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_REVOKED);
	pair_close(pair);
}

/* A session holds its SA as long as it is there. */
static void test_holds(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 25);
	CU_ASSERT_PTR_EQUAL(wh_session_sa(pair->session[WH_RECEIVER]), pair->sa[WH_RECEIVER]);
	for (uint32_t role = 0; role < 2; role++) {
		CU_ASSERT_EQUAL(wh_sa_holders(pair->sa[role]), 2);
		wh_session_destroy(pair->session[role]);
		pair->session[role] = NULL;
		CU_ASSERT_EQUAL(wh_sa_holders(pair->sa[role]), 1);
	}
	pair_close(pair);
}

/* Who knows the token, but not the key: a checksum is no seal of this connection. */
static void test_other_kind(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 25);

	struct wh_rig_packet packet = *latest(pair, WH_RECEIVER, WH_PACKET_TRANS_REPORT);

	closed_tag(packet.data, packet.bytes, 0);
	give(pair, WH_RECEIVER, &packet);
	CU_ASSERT_EQUAL(refused(pair, WH_RECEIVER, WH_WIRE_KEY), 1);
	pair_close(pair);
}

/* A session that has left says its last word again by the seal that it had. */
static void test_closing(void)
{
	struct pair *pair = pair_open(0);

	pair->lose_done = true;
	run(pair, 100);
	CU_ASSERT_EQUAL_FATAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	wh_session_ask(pair->session[WH_TRANSMITTER], WH_WISH_CLOSE, WH_STATUS_PENDING);
	wh_session_ask(pair->session[WH_RECEIVER], WH_WISH_CLOSE, WH_STATUS_PENDING);
	run(pair, 1000);
	CU_ASSERT_EQUAL(pair->gone, 1); /* the receiver goes on asking */
	CU_ASSERT(pair->end[WH_TRANSMITTER].endpoint.stats.repeated_closings > 0);
	CU_ASSERT_EQUAL(pair->end[WH_TRANSMITTER].endpoint.stats.no_session_pkts, 0);
	pair->lose_done = false;
	run(pair, 3000);
	CU_ASSERT_EQUAL(pair->gone, 2);
	CU_ASSERT_EQUAL(refused(pair, WH_RECEIVER, WH_WIRE_TAG), 0);
	pair_close(pair);
}

CU_TestInfo wh_tests[] = {
	{"a whole transfer", test_transfer},
	{"damage", test_damage},
	{"reflected packets", test_reflected},
	{"replayed packets", test_replayed},
	{"another secret", test_other_secret},
	{"another session", test_other_session},
	{"each bit", test_bits},
	{"another kind", test_other_kind},
	{"unsealed", test_unsealed},
	{"taken", test_taken},
	{"unbound", test_unbound},
	{"revoked", test_revoked},
	{"holds its SA", test_holds},
	{"closing_packet", test_closing},
	CU_TEST_INFO_NULL,
};
