/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A kind of seal that the library does not know: a stream cipher with a proof of its own, and a key
 * for each connection and direction. It is no cipher to trust, but it has the shape of one. Two
 * endpoints talk through it in virtual time, over a line that damages, reflects and repeats.
 */

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "closed.h"
#include "session/endpoint.h"
#include "unit.h"
#include "wire/cookie.h"

const char wh_suite_name[] = "sealed";

#define HZ          WH_NS_PER_S
#define MS          (HZ / 1000)
#define DELAY_TSC   (5 * MS)
#define KEY         7
#define PAYLOAD     1408
#define CHUNK_BYTES 16384
#define CHUNKS      4
#define STREAM      (6 * CHUNK_BYTES)
#define PARCELS     1024
#define BURST       32
#define ROOM        (WH_HEAD_BYTES + PAYLOAD)
#define NONCES      8192

/* Of one direction. */
struct state {
	uint8_t cipher[WH_SIPHASH_KEY_BYTES];
	uint8_t proof[WH_SIPHASH_KEY_BYTES];
};

static_assert(sizeof(struct state) <= WH_SEAL_STATE_BYTES, "it has room");

/* What has been closed, ever: none of them comes twice. */
static struct nonce {
	uint64_t key;
	uint64_t type;
	uint64_t number;
} nonces[NONCES];
static uint32_t nonce_count;

static void derive(uint8_t key[WH_SIPHASH_KEY_BYTES], const struct wh_seal_way *way,
	const void *secret, uint64_t use)
{
	for (uint64_t half = 0; half < 2; half++) {
		const uint64_t message[] = {way->token, way->lci, way->to_acceptor, use, half};
		uint64_t value = wh_siphash24(secret, message, sizeof(message));

		memcpy(key + half * sizeof(value), &value, sizeof(value));
	}
}

static bool cipher_begin(struct wh_seal *seal, const struct wh_seal_way *way, const void *secret,
	void *memory)
{
	struct state *state = (struct state *)seal->state;

	(void)memory;
	seal->key = KEY;
	seal->keys = 1;
	derive(state->cipher, way, secret, 'c');
	derive(state->proof, way, secret, 'p');
	return true;
}

/* As seal.h says: the type, and the number that never repeats. */
static struct nonce nonce_of(const struct state *state, const uint8_t *head)
{
	bool data = head[1] == WH_PACKET_DATA || head[1] == WH_PACKET_REPAIR;
	struct nonce nonce = {.type = data ? WH_PACKET_DATA : head[1]};

	memcpy(&nonce.key, state->cipher, sizeof(nonce.key));
	memcpy(&nonce.number, head + (data ? 16 : 8), sizeof(nonce.number));
	return nonce;
}

static void apply(const struct state *state, const uint8_t *head, const uint8_t *from, size_t bytes,
	uint8_t *to)
{
	struct nonce nonce = nonce_of(state, head);

	for (size_t i = 0; i < bytes; i++) {
		uint64_t block[] = {nonce.type, nonce.number, i / 8};
		uint64_t stream = wh_siphash24(state->cipher, block, sizeof(block));

		to[i] = from[i] ^ (uint8_t)(stream >> i % 8 * 8);
	}
}

/* Of the head, and of the body as it is on the wire. */
static void prove(const struct state *state, const uint8_t *head, const uint8_t *body, size_t bytes,
	uint64_t tag[2])
{
	uint64_t of_body = wh_siphash24(state->proof, body, bytes);

	for (uint64_t half = 0; half < 2; half++) {
		uint8_t message[WH_TAG_OFFSET + 2 * sizeof(uint64_t)];

		memcpy(message, head, WH_TAG_OFFSET);
		memcpy(message + WH_TAG_OFFSET, &of_body, sizeof(of_body));
		memcpy(message + WH_TAG_OFFSET + sizeof(of_body), &half, sizeof(half));
		tag[half] = wh_siphash24(state->proof, message, sizeof(message));
	}
}

static void cipher_close(const struct wh_seal *seal, uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	const struct state *state = (const struct state *)seal->state;
	struct nonce nonce = nonce_of(state, head);
	uint64_t tag[2];

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	head[WH_KEY_OFFSET] = KEY;
	for (uint32_t i = 0; i < nonce_count; i++)
		CU_ASSERT_FATAL(memcmp(&nonces[i], &nonce, sizeof(nonce)) != 0);
	CU_ASSERT_FATAL(nonce_count < NONCES);
	nonces[nonce_count++] = nonce;
	apply(state, head, body, body_bytes, to);
	prove(state, head, to, body_bytes, tag);
	memcpy(head + WH_TAG_OFFSET, tag, sizeof(tag));
}

static bool cipher_open(const struct wh_seal *seal, const uint8_t *head, const uint8_t *body,
	size_t body_bytes, uint8_t *to)
{
	const struct state *state = (const struct state *)seal->state;
	uint64_t tag[2];

	prove(state, head, body, body_bytes, tag);
	if (memcmp(head + WH_TAG_OFFSET, tag, sizeof(tag)) == 0) {
		apply(state, head, body, body_bytes, to);
		return true;
	}
	/* As a cipher in one pass leaves it. */
	memset(to, 0xee, body_bytes);
	return false;
}

static const struct wh_seal_ops cipher = {
	.name = "cipher",
	.encrypts = true,
	.begin = cipher_begin,
	.close = cipher_close,
	.open = cipher_open,
};

struct parcel {
	uint64_t due_tsc;
	uint32_t bytes;
	uint8_t data[ROOM];
};

/* A direction: `passed` packets ever, the last PARCELS of which are kept. */
struct line {
	struct parcel parcel[PARCELS];
	uint64_t head;
	uint64_t tail;
};

struct pair {
	struct wh_endpoint end[2]; /* by the role of the session there */
	struct line line[2];       /* to that end */
	struct wh_address address[2];
	uint8_t *memory[2];
	uint8_t secret[2][WH_SIPHASH_KEY_BYTES];
	struct wh_session *session[2];
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

static struct wh_session_config session_config(const struct pair *pair, enum wh_role role)
{
	struct wh_session_config config;

	wh_session_config_init(&config);
	config.hz = HZ;
	wh_session_config_profile(&config, wh_profile_find("fixed"));
	config.payload_bytes = PAYLOAD;
	config.packet_bytes = 1500;
	config.wire_bytes = 1538;
	config.chunk_bytes = CHUNK_BYTES;
	config.chunks = CHUNKS;
	config.chunk_memory = pair->memory[role];
	config.window_pkts = 64;
	config.rate_bps = UINT64_C(1000000000);
	config.seal = &cipher;
	config.seal_secret = pair->secret[role];
	return config;
}

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, uint32_t *buffer_chunks)
{
	(void)context;
	(void)now_tsc;
	(void)params;
	(void)peer;
	*buffer_chunks = CHUNKS;
	return WH_STATUS_PENDING;
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t lci,
	const struct wh_address *peer, const struct wh_open_params *params, uint64_t rtt_tsc)
{
	struct pair *pair = context;
	struct wh_session_config config = session_config(pair, WH_RECEIVER);

	CU_ASSERT_PTR_NULL_FATAL(pair->session[WH_RECEIVER]);
	pair->session[WH_RECEIVER] =
		wh_session_accept(&config, now_tsc, lci, peer, params, rtt_tsc);
	return pair->session[WH_RECEIVER];
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
		const struct wh_endpoint_config config = {
			.hz = HZ,
			.key = {(uint8_t)role},
			.places = WH_ENDPOINT_PLACES_MIN,
			.welcome = welcome,
			.accept = accept_session,
			.gone = session_gone,
			.context = pair,
		};

		CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&pair->end[role], &config), 0);
		pair->address[role] = (struct wh_address){
			.family = WH_IPV4, .ip = {10, 0, 0, (uint8_t)role}, .port = 1};
		pair->memory[role] = aligned_alloc(WH_CHUNK_ALIGN, CHUNKS * CHUNK_BYTES);
	}
}

static struct pair *pair_open(uint8_t other_secret)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	CU_ASSERT_PTR_NOT_NULL_FATAL(pair);
	nonce_count = 0;
	pair->now_tsc = HZ;
	pair->secret[WH_RECEIVER][0] = other_secret;
	open_ends(pair);

	struct wh_session_config config = session_config(pair, WH_TRANSMITTER);

	pair->session[WH_TRANSMITTER] =
		wh_session_open(&config, &pair->address[WH_RECEIVER], "sealed", STREAM);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pair->session[WH_TRANSMITTER]);
	CU_ASSERT_EQUAL_FATAL(
		wh_endpoint_open(&pair->end[WH_TRANSMITTER], pair->session[WH_TRANSMITTER]), 0);
	return pair;
}

static void pair_close(struct pair *pair)
{
	for (uint32_t role = 0; role < 2; role++) {
		wh_session_destroy(pair->session[role]);
		wh_endpoint_free(&pair->end[role]);
		free(pair->memory[role]);
	}
	free(pair);
}

/* A packet comes to an end, from its peer's address. */
static void give(struct pair *pair, enum wh_role to, const struct parcel *parcel)
{
	uint8_t copy[ROOM];

	memcpy(copy, parcel->data, parcel->bytes);
	wh_endpoint_input(&pair->end[to], pair->now_tsc, pair->now_tsc, copy, parcel->bytes,
		&pair->address[!to]);
}

static void look_at_data(struct pair *pair, struct parcel *parcel)
{
	struct wh_packet packet;

	CU_ASSERT_EQUAL_FATAL(wh_packet_decode(parcel->data, parcel->bytes, &packet), WH_WIRE_OK);

	uint64_t at = (uint64_t)packet.data.chunk * CHUNK_BYTES + packet.data.index * PAYLOAD;

	pair->in_clear += packet.payload[0] == content(at) && packet.payload[1] == content(at + 1);
	if (pair->damage_one_in == 0 || pair->data_pkts++ % pair->damage_one_in != 0)
		return;
	parcel->data[WH_HEAD_BYTES + pair->damaged_pkts % packet.data.payload_bytes] ^= 1;
	pair->damaged_pkts++;
}

static void send_all(struct pair *pair, enum wh_role from)
{
	uint8_t room[BURST][ROOM];
	struct wh_out out[BURST];

	for (uint32_t i = 0; i < BURST; i++)
		out[i].head = room[i];

	uint32_t count = wh_endpoint_output(&pair->end[from], pair->now_tsc, out, BURST);

	for (uint32_t i = 0; i < count; i++) {
		struct line *line = &pair->line[!from];
		struct parcel *parcel = &line->parcel[line->tail % PARCELS];

		/* What is encrypted stands behind its head, whatever attach_bytes says. */
		if (out[i].payload_bytes > 0)
			CU_ASSERT_PTR_EQUAL(out[i].payload, out[i].head + WH_HEAD_BYTES);
		parcel->due_tsc = pair->now_tsc + DELAY_TSC;
		parcel->bytes = out[i].head_bytes + out[i].payload_bytes;
		memcpy(parcel->data, out[i].head, parcel->bytes);
		if (parcel->data[1] == WH_PACKET_DATA)
			look_at_data(pair, parcel);
		/* Without it the receiver goes on asking. */
		if (pair->lose_done && from == WH_TRANSMITTER &&
			parcel->data[1] == WH_PACKET_RELEASE &&
			parcel->data[16 + 24] == WH_RELEASE_DONE)
			continue;
		line->tail++;
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
			struct line *line = &pair->line[role];

			for (; line->head < line->tail; line->head++) {
				struct parcel *parcel = &line->parcel[line->head % PARCELS];

				if (parcel->due_tsc > pair->now_tsc)
					break;
				give(pair, (enum wh_role)role, parcel);
			}
			wh_endpoint_receive_poll(&pair->end[role], pair->now_tsc);
			wh_endpoint_send_poll(&pair->end[role], pair->now_tsc);
			send_all(pair, (enum wh_role)role);
		}
		feed(pair);
		drain(pair);
	}
}

static uint64_t refused(const struct pair *pair, enum wh_role role, enum wh_wire_reason reason)
{
	return pair->end[role].stats.bad[reason];
}

static enum wh_release_status outcome(const struct pair *pair, enum wh_role role)
{
	return wh_session_news(pair->session[role]).outcome;
}

/* The latest packet of a type that went to an end. */
static struct parcel *latest(struct pair *pair, enum wh_role to, enum wh_packet_type type)
{
	struct line *line = &pair->line[to];

	for (uint64_t i = line->tail; i > 0 && line->tail - i < PARCELS - 1; i--)
		if (line->parcel[(i - 1) % PARCELS].data[1] == type)
			return &line->parcel[(i - 1) % PARCELS];
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
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&pair->end[WH_TRANSMITTER]), 0);
	CU_ASSERT_EQUAL(wh_endpoint_bad_pkts(&pair->end[WH_RECEIVER]), 0);
	CU_ASSERT(nonce_count > STREAM / PAYLOAD);
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
		struct parcel parcel = *latest(pair, (enum wh_role) !to,
			role == WH_TRANSMITTER ? WH_PACKET_TRANS_STATE : WH_PACKET_RCV_STATE);
		uint32_t lci = wh_session_lci(pair->session[role]);
		uint64_t heard = wh_session_stats(pair->session[role]).control_received_pkts;

		give(pair, role, &parcel);
		CU_ASSERT_EQUAL(pair->end[role].stats.no_session_pkts, 1);
		memcpy(parcel.data + 4, &lci, sizeof(lci));
		give(pair, role, &parcel);
		CU_ASSERT_EQUAL(refused(pair, role, WH_WIRE_TAG), 1);
		CU_ASSERT_EQUAL(wh_session_stats(pair->session[role]).control_received_pkts, heard);
	}
	run(pair, 500);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	pair_close(pair);
}

/* One connection's two directions have different keys, be all else the same. */
static void test_directions(void)
{
	static const uint8_t secret[WH_SIPHASH_KEY_BYTES];
	struct wh_seal_way way = {.token = 1, .lci = 2};
	uint8_t packet[WH_HEAD_BYTES + 9] = {2, WH_PACKET_NAK};
	struct wh_seal there, back;

	nonce_count = 0;
	wh_seal_begin(&there, &cipher, &way, secret, NULL);
	way.to_acceptor = true;
	wh_seal_begin(&back, &cipher, &way, secret, NULL);
	wh_seal_close_packet(&there, packet, sizeof(packet));
	CU_ASSERT_EQUAL(wh_seal_open_packet(&there, packet, sizeof(packet)), WH_WIRE_OK);
	packet[8] = 1; /* another number */
	wh_seal_close_packet(&there, packet, sizeof(packet));
	CU_ASSERT_EQUAL(wh_seal_open_packet(&back, packet, sizeof(packet)), WH_WIRE_TAG);
}

/* Everything that is repeated opens, and none of it counts twice, however late it comes. */
static void test_replayed(void)
{
	struct pair *pair = pair_open(0);
	struct wh_session_stats before, after;

	run(pair, 15);

	struct parcel data = *latest(pair, WH_RECEIVER, WH_PACKET_DATA);
	struct parcel old = *latest(pair, WH_RECEIVER, WH_PACKET_TRANS_STATE);

	run(pair, 15);
	CU_ASSERT_EQUAL_FATAL(outcome(pair, WH_RECEIVER), WH_STATUS_PENDING);
	before = wh_session_stats(pair->session[WH_RECEIVER]);
	give(pair, WH_RECEIVER, &data);
	after = wh_session_stats(pair->session[WH_RECEIVER]);
	CU_ASSERT_EQUAL(after.duplicate_pkts, before.duplicate_pkts + 1);
	CU_ASSERT_EQUAL(after.received_pkts, before.received_pkts);
	CU_ASSERT_EQUAL(pair->end[WH_RECEIVER].stats.bad[WH_WIRE_TAG], 0);
	give(pair, WH_RECEIVER, &old);
	wh_endpoint_receive_poll(&pair->end[WH_RECEIVER], pair->now_tsc + 3 * HZ);
	CU_ASSERT_EQUAL(wh_session_stats(pair->session[WH_RECEIVER]).control_stale_pkts,
		before.control_stale_pkts + 1);
	run(pair, 500);
	CU_ASSERT_EQUAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	pair_close(pair);
}

/* Not the same secret: a connection is opened, and nothing that is said in it is heard. */
static void test_other_secret(void)
{
	struct pair *pair = pair_open(1);

	run(pair, 200);
	CU_ASSERT_PTR_NOT_NULL_FATAL(pair->session[WH_RECEIVER]);

	const struct wh_session_stats stats = wh_session_stats(pair->session[WH_RECEIVER]);

	CU_ASSERT_EQUAL(stats.received_pkts + stats.control_received_pkts + stats.bad_pkts, 0);
	CU_ASSERT(refused(pair, WH_RECEIVER, WH_WIRE_TAG) > 40);
	CU_ASSERT(refused(pair, WH_TRANSMITTER, WH_WIRE_TAG) > 0);
	pair_close(pair);
}

/* Who knows the token, but not the key: a checksum is no seal of this connection. */
static void test_other_kind(void)
{
	struct pair *pair = pair_open(0);

	run(pair, 25);

	struct parcel parcel = *latest(pair, WH_RECEIVER, WH_PACKET_TRANS_STATE);

	closed_tag(parcel.data, parcel.bytes, 0);
	give(pair, WH_RECEIVER, &parcel);
	CU_ASSERT_EQUAL(refused(pair, WH_RECEIVER, WH_WIRE_KEY), 1);
	pair_close(pair);
}

/* A session that has left says its last word again by the seal that it had. */
static void test_farewell(void)
{
	struct pair *pair = pair_open(0);

	pair->lose_done = true;
	run(pair, 100);
	CU_ASSERT_EQUAL_FATAL(outcome(pair, WH_TRANSMITTER), WH_STATUS_VERIFIED);
	wh_session_ask(pair->session[WH_TRANSMITTER], WH_WISH_CLOSE, WH_STATUS_PENDING);
	wh_session_ask(pair->session[WH_RECEIVER], WH_WISH_CLOSE, WH_STATUS_PENDING);
	run(pair, 1000);
	CU_ASSERT_EQUAL(pair->gone, 1); /* the receiver goes on asking */
	CU_ASSERT(pair->end[WH_TRANSMITTER].stats.repeated_farewells > 0);
	CU_ASSERT_EQUAL(pair->end[WH_TRANSMITTER].stats.no_session_pkts, 0);
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
	{"directions", test_directions},
	{"replayed packets", test_replayed},
	{"another secret", test_other_secret},
	{"another kind", test_other_kind},
	{"farewell", test_farewell},
	CU_TEST_INFO_NULL,
};
