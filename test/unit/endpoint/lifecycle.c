/* SPDX-License-Identifier: BSD-3-Clause */

/* A session by itself: what it takes, short chunks, heartbeats and patience. */

#include "../../rig/end.h"
#include "unit.h"

#include <malloc.h>

#include "endpoint/endpoint.h"
#include "endpoint/lifecycle.h"
#include "session/session_internal.h"

const char wh_suite_name[] = "session";

#define HZ      UINT64_C(1000000000)
#define MS      (HZ / 1000)
#define NOW     (10 * HZ)
#define PAYLOAD 1408
#define FIRST   UINT64_C(1000)
#define CID     0x41

static const struct wh_address peer = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};

static struct wh_session_config config_with(
	uint8_t *memory, uint32_t chunk_bytes, uint32_t chunks, uint32_t window_pkts)
{
	struct wh_session_config config;

	wh_rig_session_config(&config, HZ, chunk_bytes, chunks, window_pkts);
	config.chunk_memory = memory;
	return config;
}

static struct wh_open_params params_of(const struct wh_session_config *config)
{
	return (struct wh_open_params){
		.initiator_cid = 5,
		.profile = 1,
		.payload_bytes = PAYLOAD,
		.chunk_bytes = config->chunk_bytes,
		.window_pkts = config->window_pkts,
		.period_us = 10000,
		.first_pn = FIRST,
		.object_bytes = WH_OBJECT_BYTES_UNKNOWN,
	};
}

static struct wh_session *make(enum wh_role role, const struct wh_session_config *config)
{
	struct wh_open_params params = params_of(config);

	return role == WH_TRANSMITTER
		       ? wh_session_open(config, &peer, "stream", WH_OBJECT_BYTES_UNKNOWN)
		       : wh_session_accept(config, NOW, CID, &peer, &params, MS);
}

/* A session of control messages fits into 42 KiB, all of it in use. */
static void test_a_small_session_is_small(void)
{
	for (int role = 0; role < 2; role++) {
		struct wh_session_config config = config_with(NULL, 16384, 4, 64);
		uint64_t bytes = wh_session_table_bytes((enum wh_role)role, &config);

		CU_ASSERT_TRUE(bytes < 42 * 1024);
		CU_ASSERT_TRUE(bytes > 20 * 1024);
	}
}

#ifndef __SANITIZE_ADDRESS__
/* The sum is what malloc gave, but for what malloc itself adds to each of some twenty pieces. */
static void test_table_bytes_are_exact(void)
{
	static const uint32_t windows[] = {64, 1024, 4096, 16384};

	for (uint32_t i = 0; i < 8; i++) {
		struct wh_session_config config =
			config_with(NULL, 16384 << i % 4, 4 + 10 * i, windows[i / 2]);
		enum wh_role role = (enum wh_role)(i % 2);
		uint64_t told = wh_session_table_bytes(role, &config);
		struct mallinfo2 before = mallinfo2();
		struct wh_session *session = make(role, &config);
		struct mallinfo2 after = mallinfo2();
		uint64_t taken = after.uordblks - before.uordblks + after.hblkhd - before.hblkhd;

		CU_ASSERT_TRUE(taken >= told);
		/* Pieces from 128 KiB on are of whole pages. */
		CU_ASSERT_TRUE(taken <= told + 20 * 96 + (told > 65536 ? 4 * 4096 : 0));
		wh_session_destroy(session);
	}
}
#endif

/* A receiver of chunks of 8 KiB (6 packets), and its memory. */
struct rig {
	uint8_t *memory;
	struct wh_session *session;
	uint64_t pn;
	uint64_t transmission;
	uint64_t report_pn;
};

/* Without memory. */
static void rig_open_virtual(struct rig *rig)
{
	struct wh_session_config config = config_with(NULL, 8192, 4, 64);

	config.payload_virtual = true;
	*rig = (struct rig){.pn = FIRST, .session = make(WH_RECEIVER, &config)};
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->session);
}

static void rig_open(struct rig *rig)
{
	*rig = (struct rig){.memory = aligned_alloc(WH_CHUNK_ALIGN, 4 * 8192), .pn = FIRST};

	struct wh_session_config config = config_with(rig->memory, 8192, 4, 64);

	rig->session = make(WH_RECEIVER, &config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(rig->session);
}

static void rig_close(struct rig *rig)
{
	wh_session_check(rig->session, true);
	wh_session_destroy(rig->session);
	free(rig->memory);
}

/* One data packet of `bytes` times the chunk's number + 1. */
static void give_data(struct rig *rig, uint32_t chunk, uint16_t index, uint16_t k, uint16_t bytes)
{
	uint8_t payload[PAYLOAD];
	const struct wh_packet packet = {
		.type = WH_PACKET_DATA,
		.cid = CID,
		.pn = rig->pn++,
		.payload = rig->memory == NULL ? NULL : payload,
		.data =
			{
				.chunk = chunk,
				.index = index,
				.k = k,
				.payload_bytes = bytes,
				.transmission = rig->transmission++,
			},
	};

	memset(payload, (int)chunk + 1, sizeof(payload));
	wh_session_input(rig->session, NOW, NOW, &packet);
}

static void test_short_chunks(void)
{
	static const struct {
		uint16_t k;
		uint16_t last_bytes;
	} chunks[] = {{2, 5}, {1, 1}, {6, 1152}, {1, PAYLOAD}, {3, PAYLOAD}, {6, 1}};
	struct rig rig;

	rig_open(&rig);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t bytes = (chunks[i].k - 1) * PAYLOAD + chunks[i].last_bytes;

		for (uint16_t index = 0; index < chunks[i].k; index++)
			give_data(&rig, i, index, chunks[i].k,
				index + 1 == chunks[i].k ? chunks[i].last_bytes : PAYLOAD);
		wh_session_poll(rig.session, NOW);

		struct wh_chunk *chunk = wh_fifo_pop(wh_session_deliver_chunks(rig.session));

		CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
		CU_ASSERT_EQUAL(chunk->number, i);
		CU_ASSERT_EQUAL(chunk->bytes, bytes);
		CU_ASSERT_EQUAL(chunk->data[0], i + 1);
		CU_ASSERT_EQUAL(chunk->data[bytes - 1], i + 1);
		CU_ASSERT_TRUE(wh_fifo_push(wh_session_recycled_chunks(rig.session), chunk));
	}
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_pkts, 0);
	CU_ASSERT_EQUAL(wh_session_moved_bytes(rig.session),
		PAYLOAD + 5 + 1 + 5 * PAYLOAD + 1152 + PAYLOAD + 3 * PAYLOAD + 5 * PAYLOAD + 1);

	/* A chunk is as long as its packets say, but they agree: k, and full ones but the last. */
	give_data(&rig, 6, 0, 2, PAYLOAD);
	give_data(&rig, 6, 1, 3, PAYLOAD);
	give_data(&rig, 7, 0, 2, PAYLOAD - 1);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_place_pkts, 2);
	rig_close(&rig);
}

/* Chunks have sizes and no memory; everything else is told and judged as ever. */
static void test_virtual_payload_is_received(void)
{
	struct rig rig;

	rig_open_virtual(&rig);
	give_data(&rig, 0, 0, 2, PAYLOAD);
	give_data(&rig, 0, 1, 2, 7);
	wh_session_poll(rig.session, NOW);

	struct wh_chunk *chunk = wh_fifo_pop(wh_session_deliver_chunks(rig.session));

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	CU_ASSERT_PTR_NULL(chunk->data);
	CU_ASSERT_EQUAL(chunk->bytes, PAYLOAD + 7);
	CU_ASSERT_EQUAL(wh_session_moved_bytes(rig.session), PAYLOAD + 7);
	rig.pn--;
	give_data(&rig, 0, 1, 2, 7);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).duplicate_pkts, 1);
	give_data(&rig, 1, 0, 2, PAYLOAD - 1);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_place_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_moved_bytes(rig.session), PAYLOAD + 7);
	rig_close(&rig);
}

static void give_trans_report(struct rig *rig, uint64_t now_tsc, uint64_t upper, uint32_t queued)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_TRANS_REPORT,
		.cid = CID,
		.pn = rig->report_pn++,
		.trans_report = {.lower = FIRST, .upper = upper, .queued_pkts = queued},
	};

	wh_session_input(rig->session, now_tsc, now_tsc, &packet);
	wh_session_poll(rig->session, now_tsc);
}

static void empty_outbox(struct rig *rig, uint64_t now_tsc)
{
	uint8_t room[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = room};

	while (wh_session_output(rig->session, now_tsc, &out, 1) > 0)
		;
}

/* Ten seconds more than it has patience for, of states 100 ms apart; how long it took, in ms. */
static uint64_t chatter(struct rig *rig, uint64_t upper, uint32_t queued, uint64_t ms)
{
	for (uint64_t at = 0; at < ms; at += 100) {
		give_trans_report(rig, NOW + at * MS, upper, queued);
		empty_outbox(rig, NOW + at * MS);
		if (wh_session_outcome(rig->session) != WH_STATUS_PENDING)
			return at;
	}
	return ms;
}

/* The peer talks and talks, and owes what it does not send. */
static void test_receiver_stalls(void)
{
	static const struct {
		uint64_t upper; /* sent, it says */
		uint32_t queued;
		bool writer_hangs;
		uint64_t ends_ms;
	} cases[] = {
		{FIRST, 0, false, 3600000}, {FIRST, 1, false, 30100}, {FIRST + 1, 0, false, 30100},
		{FIRST + 9, 7, false, 30100},
		{FIRST + 4, 7, true, 3600000}, /* all four buffers wait for our own writer */
	};

	for (uint32_t i = 0; i < 5; i++) {
		struct rig rig;

		rig_open(&rig);
		for (uint32_t n = 0; cases[i].writer_hangs && n < 4; n++)
			give_data(&rig, n, 0, 1, 7);
		CU_ASSERT_EQUAL(
			chatter(&rig, cases[i].upper, cases[i].queued, 3600000), cases[i].ends_ms);
		CU_ASSERT_EQUAL(wh_session_outcome(rig.session),
			cases[i].ends_ms < 3600000 ? WH_STATUS_STALLED : WH_STATUS_PENDING);
		rig_close(&rig);
	}
}

/* Each new packet is a reason to go on waiting; the same one again is none. */
static void test_data_is_progress(void)
{
	struct rig rig;

	rig_open(&rig);
	for (uint64_t s = 0; s < 50; s += 25) {
		for (uint64_t ms = 0; ms < 25000; ms += 100) {
			give_trans_report(&rig, NOW + s * HZ + ms * MS, FIRST + 9, 1);
			empty_outbox(&rig, NOW + s * HZ + ms * MS);
		}
		if (s == 0) {
			struct wh_packet packet = {
				.type = WH_PACKET_DATA,
				.cid = CID,
				.pn = FIRST,
				.payload = rig.memory,
				.data = {.k = 2, .payload_bytes = PAYLOAD},
			};
			wh_session_input(rig.session, NOW + 25 * HZ, NOW + 25 * HZ, &packet);
		}
	}
	CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_PENDING);
	give_trans_report(&rig, NOW + 54 * HZ, FIRST + 9, 1);
	CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_PENDING);
	give_trans_report(&rig, NOW + 55 * HZ + 1, FIRST + 9, 1);
	CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_STALLED);
	rig_close(&rig);
}

/* Silence ends it to the cycle, though nothing else is due. */
static void test_silence(void)
{
	struct rig rig;
	uint64_t now_tsc = NOW;

	rig_open(&rig);
	while (wh_session_outcome(rig.session) == WH_STATUS_PENDING) {
		wh_session_poll(rig.session, now_tsc);
		empty_outbox(&rig, now_tsc);
		if (wh_session_outcome(rig.session) == WH_STATUS_PENDING)
			now_tsc = wh_session_deadline(rig.session);
	}
	CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_PEER_GONE);
	CU_ASSERT_EQUAL(now_tsc, NOW + 30 * HZ + 1);
	rig_close(&rig);
}

/* An endpoint with one transmitter in it, whose peer has accepted. */
struct sender {
	struct wh_endpoint endpoint;
	uint8_t *memory;
	struct wh_session *session;
	uint64_t now_tsc;
};

static void sender_open(struct sender *sender, const char *profile, uint64_t seed)
{
	const struct wh_endpoint_config endpoint = {.hz = HZ, .places = 64};

	*sender =
		(struct sender){.memory = aligned_alloc(WH_CHUNK_ALIGN, 32 * 4096), .now_tsc = NOW};

	struct wh_session_config config = config_with(sender->memory, 4096, 32, 64);

	wh_session_config_profile(&config, wh_profile_find(profile));
	config.seed = seed;
	sender->session = make(WH_TRANSMITTER, &config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sender->session);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&sender->endpoint, &endpoint), 0);
	CU_ASSERT_EQUAL_FATAL(wh_endpoint_open(&sender->endpoint, sender->session), 0);
	wh_endpoint_send_poll(&sender->endpoint, NOW);

	const struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.cid = wh_session_cid(sender->session),
		.accept = {.acceptor_cid = 9, .stamp_us = NOW / 1000, .buffer_chunks = 32},
	};

	wh_session_input(sender->session, NOW, NOW, &accept);
	wh_session_poll(sender->session, NOW);
	CU_ASSERT_EQUAL_FATAL(wh_session_phase(sender->session), WH_PHASE_RUNNING);
}

static void sender_close(struct sender *sender)
{
	wh_session_destroy(sender->session);
	wh_endpoint_free(&sender->endpoint);
	free(sender->memory);
}

/* Sends chunks of so many bytes; returns how many packets were the first of a pair. */
static uint32_t count_pairs(struct sender *sender, const uint32_t *bytes, uint32_t chunks)
{
	static uint8_t room[32][WH_CONTROL_BYTES_MAX];
	struct wh_out out[32];
	uint32_t pairs = 0;
	uint32_t count;

	for (uint32_t i = 0; i < chunks; i++) {
		struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(sender->session));

		CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
		chunk->number = i;
		chunk->bytes = bytes[i];
		chunk->end = false;
		wh_fifo_push(wh_session_ready_chunks(sender->session), chunk);
	}
	for (uint32_t i = 0; i < 32; i++)
		out[i].head = room[i];
	for (uint32_t turn = 0; turn < 4; turn++) {
		wh_session_poll(sender->session, NOW);
		while ((count = wh_session_output(sender->session, NOW, out, 32)) > 0)
			for (uint32_t i = 0; i < count; i++)
				pairs += out[i].payload_bytes > 0 &&
					 (out[i].head[2] & WH_FLAG_PAIR_FIRST) != 0;
	}
	return pairs;
}

/*
 * The receiver has all below `lower`, and of the next `cover` packet numbers all but the first
 * `hole`.
 */
static void give_rcv_report(
	struct sender *sender, uint64_t lower, uint32_t cover, uint32_t hole, uint64_t pn)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.cid = wh_session_cid(sender->session),
		.pn = pn,
		.rcv_report =
			{
				.lower = lower,
				.upper = lower + 64,
				.highest_end = lower + cover,
				.cover_first = lower,
				.cover_end = lower + cover,
				.chunk_upper = 32,
				.buffer_chunks = 32,
				.n_holes = hole > 0,
				.holes = {{.offset = 0, .count = hole}},
			},
	};

	wh_session_input(sender->session, NOW, NOW, &packet);
	wh_session_poll(sender->session, NOW);
}

/* Payload bytes, once each: of a chunk of three packets, whose last is short, and of another. */
static void test_acked_bytes(void)
{
	static const uint32_t chunks[] = {2 * PAYLOAD + 9, 1};
	static const struct {
		uint32_t lower, cover, hole;
		uint64_t acked_bytes;
	} states[] = {
		{0, 0, 0, 0},
		{1, 0, 0, PAYLOAD},
		{1, 2, 1, PAYLOAD + 9},         /* the third, without the second */
		{1, 2, 1, PAYLOAD + 9},         /* said again */
		{1, 3, 1, PAYLOAD + 9 + 1},     /* and the second chunk's only one */
		{4, 0, 0, 2 * PAYLOAD + 9 + 1}, /* all */
		{4, 0, 0, 2 * PAYLOAD + 9 + 1},
	};
	struct sender sender;

	sender_open(&sender, "fixed", 1);
	count_pairs(&sender, chunks, 2);
	CU_ASSERT_EQUAL_FATAL(wh_session_stats(sender.session).sent_pkts, 4);

	uint64_t first = wh_session_params(sender.session)->first_pn;

	for (uint32_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
		give_rcv_report(
			&sender, first + states[i].lower, states[i].cover, states[i].hole, i + 1);
		CU_ASSERT_EQUAL(
			wh_session_stats(sender.session).acked_bytes, states[i].acked_bytes);
		CU_ASSERT_EQUAL(wh_session_moved_bytes(sender.session), states[i].acked_bytes);
	}
	CU_ASSERT_EQUAL(wh_session_stats(sender.session).received_bytes, 0);
	sender_close(&sender);
}

/* UDT's window opens with two packets; of a packet number of 16 and the next it makes a pair. */
static void test_pairs_are_of_full_packets(void)
{
	static const uint32_t full[] = {2 * PAYLOAD};
	static const uint32_t short_last[] = {PAYLOAD + 1};
	uint32_t tried[2][2] = {{0}};

	for (uint64_t seed = 0; seed < 100; seed++) {
		bool is_full = seed % 2 == 0;
		struct sender sender;

		sender_open(&sender, "udt", seed);

		bool in_turn = wh_session_params(sender.session)->first_pn % 16 == 0;

		CU_ASSERT_EQUAL(
			count_pairs(&sender, is_full ? full : short_last, 1), is_full && in_turn);
		tried[is_full][in_turn]++;
		sender_close(&sender);
	}
	CU_ASSERT_TRUE(tried[0][0] > 0 && tried[0][1] > 0);
	CU_ASSERT_TRUE(tried[1][0] > 0 && tried[1][1] > 0);
}

/*
 * A session of its own, without an endpoint: its peer is there, with room for 4 chunks. *out is its
 * first data packet.
 */
static void send_chunk(struct wh_session *session, struct wh_chunk *chunk, struct wh_out *out)
{
	const struct wh_packet accept = {
		.type = WH_PACKET_ACCEPT,
		.cid = 5,
		.accept = {.acceptor_cid = 9, .stamp_us = NOW / 1000, .buffer_chunks = 4},
	};

	wh_connect_begin(session, NOW, 5, 7);
	wh_fifo_push(wh_session_ready_chunks(session), chunk);
	wh_session_input(session, NOW, NOW, &accept);
	wh_session_poll(session, NOW);
	while (wh_session_output(session, NOW, out, 1) > 0 && out->payload_bytes == 0)
		; /* CONFIRM and the first state */
}

/* Three packets, of which the last is short. */
static void test_virtual_payload_is_sent(void)
{
	struct wh_session_config config = config_with(NULL, 4096, 4, 64);
	uint8_t room[4][WH_CONTROL_BYTES_MAX];
	struct wh_out out[4];

	config.payload_virtual = true;

	struct wh_session *session = make(WH_TRANSMITTER, &config);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	for (uint32_t i = 0; i < 4; i++)
		out[i].head = room[i];

	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));
	const struct wh_chunk *second = wh_fifo_pop(wh_session_free_chunks(session));

	CU_ASSERT_PTR_NULL(chunk->data);
	CU_ASSERT_PTR_NULL(second->data);
	chunk->bytes = 2 * PAYLOAD + 9;
	send_chunk(session, chunk, out);
	CU_ASSERT_EQUAL_FATAL(wh_session_output(session, NOW, &out[1], 3), 2);
	for (uint32_t i = 0; i < 3; i++) {
		struct wh_packet packet;

		CU_ASSERT_EQUAL(out[i].head_bytes, WH_HEAD_BYTES);
		CU_ASSERT_EQUAL(out[i].payload_bytes, i < 2 ? PAYLOAD : 9);
		CU_ASSERT_PTR_NULL(out[i].payload);
		CU_ASSERT_EQUAL(wh_packet_decode_virtual(room[i], out[i].payload_bytes, &packet),
			WH_WIRE_OK);
		CU_ASSERT_EQUAL(packet.cid, 9);
		CU_ASSERT_EQUAL(packet.data.index, i);
	}
	wh_session_check(session, true);
	wh_session_destroy(session);
}

/* The peer's token is that of an ACCEPT whose cookie is all zero. */
static bool opens(const uint8_t *head, const uint8_t *body, size_t body_bytes)
{
	static const uint8_t cookie[WH_COOKIE_BYTES];
	uint8_t opened[PAYLOAD];
	struct wh_seal seal;

	wh_seal_begin_checksum(&seal, wh_cookie_token(cookie));
	return seal.ops->open(&seal, head, body, body_bytes, opened);
}

/* Below attach_bytes a payload stands behind its head, from there on it stays where it is. */
static void test_payload_is_copied(void)
{
	uint8_t *memory = aligned_alloc(WH_CHUNK_ALIGN, 4 * 4096);
	struct wh_session_config config = config_with(memory, 4096, 4, 64);
	uint8_t room[4][WH_HEAD_BYTES + PAYLOAD];
	struct wh_out out[4];

	config.attach_bytes = PAYLOAD;

	struct wh_session *session = make(WH_TRANSMITTER, &config);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	for (uint32_t i = 0; i < 4; i++)
		out[i].head = room[i];

	struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));

	for (uint32_t i = 0; i < 2 * PAYLOAD; i++)
		chunk->data[i] = (uint8_t)(i * 7 + 1);
	chunk->bytes = 2 * PAYLOAD - 1;
	send_chunk(session, chunk, out);
	CU_ASSERT_EQUAL_FATAL(wh_session_output(session, NOW, &out[1], 3), 1);
	CU_ASSERT_PTR_EQUAL(out[0].payload, chunk->data);
	CU_ASSERT_EQUAL(out[0].payload_bytes, PAYLOAD);
	CU_ASSERT(opens(room[0], chunk->data, PAYLOAD));
	CU_ASSERT_PTR_EQUAL(out[1].payload, room[1] + WH_HEAD_BYTES);
	CU_ASSERT_EQUAL(out[1].head_bytes, WH_HEAD_BYTES);
	CU_ASSERT_EQUAL(out[1].payload_bytes, PAYLOAD - 1);
	CU_ASSERT_EQUAL(memcmp(out[1].payload, chunk->data + PAYLOAD, PAYLOAD - 1), 0);
	CU_ASSERT(opens(room[1], out[1].payload, PAYLOAD - 1));
	wh_session_check(session, true);
	wh_session_destroy(session);
	free(memory);
}

/* What the other core counts is in the sum, and in its place. */
static void test_counters_of_both_cores(void)
{
	struct sender sender;
	struct rig rig;
	const struct wh_packet data = {
		.type = WH_PACKET_DATA,
		.data = {.k = 1, .payload_bytes = 1},
	};
	struct wh_packet stray = data;

	sender_open(&sender, "fixed", 1);
	stray.cid = wh_session_cid(sender.session);
	wh_session_input(sender.session, NOW, NOW, &stray);
	CU_ASSERT_EQUAL(wh_session_stats(sender.session).control_received_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(sender.session).bad_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(sender.session).bad_unexpected_pkts, 1);
	/* Seven wait in the inbox of the smallest window, and no more. */
	for (uint64_t i = 0; i < 9; i++) {
		const struct wh_packet warning = {
			.type = WH_PACKET_DELAY_WARNING, .cid = stray.cid, .pn = i};

		wh_session_input(sender.session, NOW, NOW, &warning);
	}
	CU_ASSERT_EQUAL(wh_session_stats(sender.session).control_received_pkts, 8);
	CU_ASSERT_EQUAL(wh_session_stats(sender.session).control_full_pkts, 2);
	sender_close(&sender);

	rig_open(&rig);
	wh_session_poll(rig.session, NOW);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).control_sent_pkts, 0);
	empty_outbox(&rig, NOW);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).control_sent_pkts, 1);
	rig_close(&rig);
}

/* The clock of the core that brought a packet may be ahead of the one that takes it. */
static void test_clocks_of_two_cores(void)
{
	struct sender sender;
	struct wh_packet warning = {.type = WH_PACKET_DELAY_WARNING};

	sender_open(&sender, "fixed", 1);
	warning.cid = wh_session_cid(sender.session);
	wh_session_input(sender.session, NOW + 5000, NOW + 5000, &warning);
	wh_session_poll(sender.session, NOW + 1000);
	CU_ASSERT_EQUAL(wh_session_news(sender.session).outcome, WH_STATUS_PENDING);
	/* Heard at NOW + 1000, by the clock that counts. */
	wh_session_poll(sender.session, NOW + 1000 + 30 * HZ);
	CU_ASSERT_EQUAL(wh_session_news(sender.session).outcome, WH_STATUS_PENDING);
	wh_session_poll(sender.session, NOW + 1001 + 30 * HZ);
	CU_ASSERT_EQUAL(wh_session_news(sender.session).outcome, WH_STATUS_PEER_GONE);
	sender_close(&sender);
}

/* When a transmitter gives up whose peer says that so many of its 32 chunks wait for the disk. */
static uint64_t stalled_after_s(uint32_t queued_chunks)
{
	static const uint32_t bytes = 1;
	struct sender sender;
	uint64_t second = 0;

	sender_open(&sender, "fixed", 1);
	count_pairs(&sender, &bytes, 1);

	uint64_t first = wh_session_params(sender.session)->first_pn;
	struct wh_packet packet = {
		.type = WH_PACKET_RCV_REPORT,
		.cid = wh_session_cid(sender.session),
		.rcv_report =
			{
				.lower = first,
				.upper = first + 64,
				.highest_end = first,
				.cover_first = first,
				.cover_end = first,
				.chunk_upper = 32,
				.queued_chunks = queued_chunks,
				.buffer_chunks = 32,
			},
	};

	while (wh_session_outcome(sender.session) == WH_STATUS_PENDING && ++second < 10000) {
		uint64_t now_tsc = NOW + second * HZ;

		packet.pn = second;
		wh_session_input(sender.session, now_tsc, now_tsc, &packet);
		wh_session_poll(sender.session, now_tsc);
	}
	CU_ASSERT_EQUAL(wh_session_outcome(sender.session), WH_STATUS_STALLED);
	sender_close(&sender);
	return second;
}

static void test_slow_disk_of_the_peer(void)
{
	CU_ASSERT_EQUAL(stalled_after_s(0), 31);
	CU_ASSERT_EQUAL(stalled_after_s(16), 31);
	CU_ASSERT_EQUAL(stalled_after_s(17), WH_DISK_PATIENCE * 30 + 1);
}

/* What users wish of an option is the controller's at the next turn, and not before. */
static void test_options_change(void)
{
	struct sender sender;
	const double *has;

	sender_open(&sender, "udt", 1);
	has = sender.session->tx.control.config.options.value;

	const struct wh_profile *profile = wh_profile_find("udt");
	uint32_t beta = (uint32_t)(wh_profile_option(profile, "beta") - profile->options);
	double preset = has[beta];

	CU_ASSERT_EQUAL(wh_session_options(sender.session).value[beta], preset);
	wh_session_set_option(sender.session, beta, 2 * preset);
	CU_ASSERT_EQUAL(wh_session_options(sender.session).value[beta], 2 * preset);
	CU_ASSERT_EQUAL(has[beta], preset);
	wh_session_poll(sender.session, NOW + MS);
	CU_ASSERT_EQUAL(has[beta], 2 * preset);
	wh_session_set_option(sender.session, beta, 3 * preset);
	wh_session_set_option(sender.session, beta, 4 * preset);
	wh_session_poll(sender.session, NOW + 2 * MS);
	CU_ASSERT_EQUAL(has[beta], 4 * preset);
	sender_close(&sender);
}

CU_TestInfo wh_tests[] = {
	{"a small session is small", test_a_small_session_is_small},
#ifndef __SANITIZE_ADDRESS__
	{"table bytes are exact", test_table_bytes_are_exact},
#endif
	{"short chunks", test_short_chunks},
	{"virtual payload is received", test_virtual_payload_is_received},
	{"virtual payload is sent", test_virtual_payload_is_sent},
	{"payload is copied", test_payload_is_copied},
	{"a receiver stalls", test_receiver_stalls},
	{"data is progress", test_data_is_progress},
	{"silence", test_silence},
	{"slow disk of the peer", test_slow_disk_of_the_peer},
	{"pairs are of full packets", test_pairs_are_of_full_packets},
	{"acknowledged bytes", test_acked_bytes},
	{"counters of both cores", test_counters_of_both_cores},
	{"clocks of two cores", test_clocks_of_two_cores},
	{"options change", test_options_change},
	CU_TEST_INFO_NULL,
};
