/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A receiver of a stream with repair packets, packet by packet: chunks of 6 data packets and 2
 * repair packets, what it asks for, and what it tells.
 */

#include "../../rig/end.h"
#include "endpoint/lifecycle.h"
#include "fec/fec.h"
#include "session/session.h"
#include "unit.h"

const char wh_suite_name[] = "settle";

#define HZ          UINT64_C(1000000000)
#define MS          (HZ / 1000)
#define PAYLOAD     1408
#define CHUNK_BYTES 8192
#define LAST_BYTES  (CHUNK_BYTES - 5 * PAYLOAD)
#define K           6
#define R           2
#define CHUNKS      4
#define FIRST       UINT64_C(1000)
#define CID         0x41
#define RTT         (20 * MS)

struct rig {
	struct wh_session *session;
	struct wh_fec *fec;
	struct wh_fec_shape shape;
	uint8_t *memory;
	uint8_t *data; /* of every chunk the same */
	uint8_t *repair;
	uint64_t now_tsc;
	uint64_t transmission;
	uint64_t trans_pn;

	/* What the receiver has said since the rig was asked last. */
	uint32_t naks;
	struct wh_nak nak; /* the latest */
	struct wh_rcv_report report;
};

static void rig_open(struct rig *rig, enum wh_recovery recovery)
{
	static const struct wh_address peer = {
		.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 1000};
	struct wh_session_config config;

	*rig = (struct rig){
		.now_tsc = 10 * HZ,
		.shape = {WH_FEC_RS, K, R, 1, PAYLOAD, LAST_BYTES},
		.data = aligned_alloc(4096, 4 * 4096),
		.repair = aligned_alloc(4096, 4096),
	};
	wh_rig_session_config(&config, HZ, CHUNK_BYTES, CHUNKS, 64);
	config.repair.recovery = recovery;
	config.repair.repair_pkts = R;
	CU_ASSERT_EQUAL(wh_session_chunk_stride(&config), 3 * 4096); /* 8192 + 2 * 1408 */
	rig->memory = aligned_alloc(4096, CHUNKS * wh_session_chunk_stride(&config));
	config.chunk_memory = rig->memory;

	struct wh_fec_limits limits = wh_session_fec_limits(&config);
	const struct wh_open_params params = wh_rig_open_params(&config, FIRST);

	CU_ASSERT_EQUAL(limits.k, K);
	CU_ASSERT_EQUAL(limits.r, R);
	rig->fec = wh_fec_create(&limits);
	rig->session = wh_session_accept(&config, rig->now_tsc, CID, &peer, &params, RTT);
	CU_ASSERT_TRUE_FATAL(rig->fec != NULL && rig->session != NULL);
	for (uint32_t i = 0; i < CHUNK_BYTES; i++)
		rig->data[i] = (uint8_t)(i * 31 + (i >> 8));
	wh_fec_encode(rig->fec, &rig->shape, rig->data, 0, K, rig->repair);
}

static void rig_close(struct rig *rig)
{
	wh_session_check(rig->session, true);
	CU_ASSERT_EQUAL(wh_session_stats(rig->session).bad_pkts, 0);
	wh_session_destroy(rig->session);
	wh_fec_destroy(rig->fec);
	free(rig->memory);
	free(rig->data);
	free(rig->repair);
}

/* Packet `index` of a chunk, all of which have eight. */
static struct wh_packet packet_of(struct rig *rig, uint32_t chunk, uint16_t index)
{
	bool is_data = index < K;

	return (struct wh_packet){
		.type = is_data ? WH_PACKET_DATA : WH_PACKET_REPAIR,
		.cid = CID,
		.pn = FIRST + chunk * (K + R) + index,
		.payload =
			is_data ? rig->data + index * PAYLOAD : rig->repair + (index - K) * PAYLOAD,
		.data =
			{
				.chunk = chunk,
				.index = index,
				.k = K,
				.r = R,
				.code = WH_FEC_RS,
				.blocks = (uint16_t)rig->shape.blocks,
				.last_bytes = LAST_BYTES,
				.payload_bytes = index + 1 == K ? LAST_BYTES : PAYLOAD,
				.transmission = rig->transmission++,
			},
	};
}

static void give(struct rig *rig, uint32_t chunk, uint16_t index)
{
	const struct wh_packet packet = packet_of(rig, chunk, index);

	wh_session_input(rig->session, rig->now_tsc, rig->now_tsc, &packet);
}

/* All packets of a chunk but those whose bits are set. */
static void give_chunk(struct rig *rig, uint32_t chunk, uint32_t lost)
{
	for (uint16_t i = 0; i < K + R; i++)
		if (!(lost >> i & 1))
			give(rig, chunk, i);
}

static void listen(struct rig *rig)
{
	uint8_t head[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = head};
	struct wh_packet packet;

	while (wh_session_output(rig->session, rig->now_tsc, &out, 1) == 1) {
		CU_ASSERT_EQUAL_FATAL(wh_packet_decode(head, out.head_bytes, &packet), WH_WIRE_OK);
		if (packet.type == WH_PACKET_NAK) {
			rig->naks++;
			rig->nak = packet.nak;
		} else if (packet.type == WH_PACKET_RCV_REPORT) {
			rig->report = packet.rcv_report;
		}
	}
}

/* A turn of both cores, a period later: reports are sent. */
static void turn(struct rig *rig)
{
	rig->now_tsc += 10 * MS;
	rig->naks = 0;
	wh_session_poll(rig->session, rig->now_tsc);
	while (wh_session_decode(rig->session, rig->fec) > 0)
		continue;
	wh_session_poll(rig->session, rig->now_tsc);
	listen(rig);
}

/* The next chunk is delivered, with every byte right, and its buffer goes back. */
static void expect_chunk(struct rig *rig, uint32_t number)
{
	struct wh_chunk *chunk = wh_fifo_pop(wh_session_deliver_chunks(rig->session));

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	CU_ASSERT_EQUAL(chunk->number, number);
	CU_ASSERT_EQUAL(chunk->bytes, CHUNK_BYTES);
	CU_ASSERT_EQUAL(memcmp(chunk->data, rig->data, CHUNK_BYTES), 0);
	CU_ASSERT_TRUE(wh_fifo_push(wh_session_recycled_chunks(rig->session), chunk));
}

static bool nothing_delivered(struct rig *rig)
{
	return wh_fifo_count(wh_session_deliver_chunks(rig->session)) == 0;
}

/* The receiver tells that all packet numbers below the end of so many chunks have come. */
static void expect_all_told(struct rig *rig, uint32_t chunks)
{
	CU_ASSERT_EQUAL(rig->report.lower, FIRST + chunks * (K + R));
	CU_ASSERT_EQUAL(rig->report.highest_end, FIRST + chunks * (K + R));
	CU_ASSERT_EQUAL(rig->report.n_holes, 0);
}

/* Every pattern that two repair packets bear: nothing is asked for, and all counts as come. */
static void test_what_repair_brings_back_has_come(void)
{
	for (uint32_t lost = 0; lost < 1 << (K + R); lost++) {
		struct rig rig;
		uint32_t lost_data = (uint32_t)__builtin_popcount(lost & ((1 << K) - 1));

		if (__builtin_popcount(lost) > R || lost == 0)
			continue;
		rig_open(&rig, WH_RECOVERY_HYBRID);
		give_chunk(&rig, 0, lost);
		give_chunk(&rig, 1, 0); /* by which the first chunk's packets are past */
		turn(&rig);
		CU_ASSERT_EQUAL(rig.naks, 0);
		expect_chunk(&rig, 0);
		expect_chunk(&rig, 1);
		CU_ASSERT_EQUAL(wh_session_moved_bytes(rig.session), 2 * CHUNK_BYTES);
		turn(&rig);
		CU_ASSERT_EQUAL(rig.naks, 0);
		expect_all_told(&rig, 2);
		CU_ASSERT_EQUAL(rig.report.lost_pkts, (uint64_t)__builtin_popcount(lost));
		CU_ASSERT_EQUAL(rig.report.repaired_pkts, lost_data);
		CU_ASSERT_EQUAL(rig.report.undecodable_blocks, 0);
		rig_close(&rig);
	}
}

/* Four data packets lost, two repair packets here: two are asked for, and bring all four. */
static void test_only_the_shortfall_is_asked_for(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	give_chunk(&rig, 0, 0x1e);
	give(&rig, 1, 0);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 1);
	CU_ASSERT_EQUAL(rig.nak.n_losses, 1);
	CU_ASSERT_EQUAL(rig.nak.base, FIRST + 1);
	CU_ASSERT_EQUAL(rig.nak.losses[0].count, 2);
	CU_ASSERT_TRUE(nothing_delivered(&rig));
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).undecodable_blocks, 1);

	give(&rig, 0, 1);
	turn(&rig);
	CU_ASSERT_TRUE(nothing_delivered(&rig));
	give(&rig, 0, 2);
	turn(&rig);
	expect_chunk(&rig, 0);
	CU_ASSERT_EQUAL(rig.naks, 0);
	CU_ASSERT_EQUAL(wh_session_moved_bytes(rig.session), CHUNK_BYTES + PAYLOAD);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.report.lower, FIRST + 9);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).repaired_pkts, 2);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).undecodable_blocks, 1);

	/* What was not asked for and comes all the same is a duplicate. */
	give(&rig, 0, 3);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).duplicate_pkts, 1);
	rig_close(&rig);
}

/* Nothing has come of the second chunk: it is asked for whole when the third is seen. */
static void test_a_chunk_of_which_nothing_came(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	give_chunk(&rig, 0, 0);
	give(&rig, 2, 3);
	turn(&rig);
	expect_chunk(&rig, 0);
	CU_ASSERT_EQUAL(rig.naks, 1);
	CU_ASSERT_EQUAL(rig.nak.base, FIRST + 8);
	CU_ASSERT_EQUAL(rig.nak.n_losses, 1);
	CU_ASSERT_EQUAL(rig.nak.losses[0].count, 8); /* not the three of the chunk after it */

	/* Any six of the eight are enough, repair packets as well as data. */
	give_chunk(&rig, 1, 0x03);
	turn(&rig);
	expect_chunk(&rig, 1);
	give_chunk(&rig, 2, 0x08);
	turn(&rig);
	expect_chunk(&rig, 2);
	turn(&rig);
	expect_all_told(&rig, 3);
	rig_close(&rig);
}

/* A chunk is delivered as soon as its data is here; its repair packets come after it. */
static void test_repair_packets_after_delivery(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	for (uint16_t i = 0; i < K; i++)
		give(&rig, 0, i);
	turn(&rig);
	expect_chunk(&rig, 0);
	turn(&rig);
	give(&rig, 0, 7);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 0);
	expect_all_told(&rig, 1); /* the other one is lost, and nobody wants it */
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).repair_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).duplicate_pkts, 0);
	give(&rig, 0, 6);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).repair_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).duplicate_pkts, 1);
	rig_close(&rig);
}

/* While a chunk is worked on, what comes of it again and again is taken for nothing new. */
static void test_repair_packets_meanwhile(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	give_chunk(&rig, 0, 0x81);
	give(&rig, 1, 0);
	rig.now_tsc += 10 * MS;
	wh_session_poll(rig.session, rig.now_tsc); /* hands it over, and nobody has worked yet */
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).repair_pkts, 1);
	for (uint32_t i = 0; i < 3; i++)
		give(&rig, 0, 7);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).repair_pkts, 1);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).duplicate_pkts, 3);
	turn(&rig);
	expect_chunk(&rig, 0);
	rig_close(&rig);
}

/* The sender may be waiting for what waits here: after a round trip of silence it is asked for. */
static void test_what_is_overdue_is_asked_for(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	give(&rig, 0, 0);
	give(&rig, 0, 3);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 0);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 1);
	CU_ASSERT_EQUAL(rig.nak.base, FIRST + 1);
	CU_ASSERT_EQUAL(rig.nak.losses[0].count, 2);
	CU_ASSERT_EQUAL(rig.nak.n_losses, 1);

	/* The rest of the chunk is not lost for that; of it, too, as much as is needed is asked. */
	give(&rig, 0, 1);
	give(&rig, 0, 7);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 1);
	CU_ASSERT_EQUAL(rig.nak.base, FIRST + 4);
	CU_ASSERT_EQUAL(rig.nak.losses[0].count, 1);
	give(&rig, 0, 2);
	turn(&rig);
	CU_ASSERT_TRUE(nothing_delivered(&rig));
	give(&rig, 0, 4);
	turn(&rig);
	expect_chunk(&rig, 0);
	rig_close(&rig);
}

/* The transmitter says that it has sent more: what no later packet shows is past all the same. */
static void test_losses_at_the_end(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	give_chunk(&rig, 0, 0xa0); /* a data packet, and the last of all */
	for (uint32_t i = 0; i < 2; i++) {
		const struct wh_packet packet = {
			.type = WH_PACKET_TRANS_REPORT,
			.cid = CID,
			.pn = i,
			.trans_report = {.lower = FIRST, .upper = FIRST + 8},
		};

		CU_ASSERT_TRUE(nothing_delivered(&rig));
		wh_session_input(rig.session, rig.now_tsc, rig.now_tsc, &packet);
		wh_session_poll(rig.session, rig.now_tsc);
	}
	while (wh_session_decode(rig.session, rig.fec) > 0)
		continue;
	wh_session_poll(rig.session, rig.now_tsc);
	expect_chunk(&rig, 0);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 0);
	expect_all_told(&rig, 1);
	rig_close(&rig);
}

/* Where nothing may be asked for, the connection says so and ends. */
static void test_without_asking(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_FEC);
	give_chunk(&rig, 0, 0x30);
	give_chunk(&rig, 1, 0x0e);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 0);
	expect_chunk(&rig, 0);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 0);
	CU_ASSERT_EQUAL(wh_session_outcome(rig.session), WH_STATUS_UNREPAIRED);
	rig_close(&rig);
}

/* What contradicts the chunk's first packet, or makes no code, is bad and changes nothing. */
static void test_contradictions(void)
{
	struct rig rig;
	struct wh_packet packet;
	uint64_t bad = 0;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	give(&rig, 1, 2);
	for (uint32_t i = 0; i < 8; i++) {
		packet = packet_of(&rig, i == 7 ? 2 : 1, i == 6 ? 7 : 3);
		switch (i) {
		case 0:
			packet.pn++;
			break;
		case 1:
			packet.data.r = 1;
			break;
		case 2:
			packet.data.code = WH_FEC_TORNADO;
			break;
		case 3:
			packet.data.blocks = 2;
			break;
		case 4:
			packet.data.last_bytes++;
			break;
		case 5:
			packet.data.r = 3; /* more than there is room for */
			break;
		case 6:
			packet.data.payload_bytes--;
			break;
		case 7:
			packet.data.blocks = 3; /* more than repair packets */
			break;
		}
		wh_session_input(rig.session, rig.now_tsc, rig.now_tsc, &packet);
		CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_place_pkts, ++bad);
	}
	/* The last data packet is as long as all say. */
	packet = packet_of(&rig, 1, 5);
	packet.data.payload_bytes--;
	wh_session_input(rig.session, rig.now_tsc, rig.now_tsc, &packet);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).bad_place_pkts, ++bad);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).received_pkts, 1);

	give_chunk(&rig, 0, 0);
	give_chunk(&rig, 1, 0x14);
	give(&rig, 2, 0);
	turn(&rig);
	expect_chunk(&rig, 0);
	expect_chunk(&rig, 1);
	wh_session_destroy(rig.session);
	wh_fec_destroy(rig.fec);
	free(rig.memory);
	free(rig.data);
	free(rig.repair);
}

/*
 * Of the two blocks one has lost all three data packets and has one repair packet: two are asked
 * for and come together. With the first there are as many packets as the chunk has data, and still
 * too few of that block.
 */
static void test_not_worked_out_too_soon(void)
{
	struct rig rig;

	rig_open(&rig, WH_RECOVERY_HYBRID);
	rig.shape.blocks = 2;
	wh_fec_encode(rig.fec, &rig.shape, rig.data, 0, K, rig.repair);
	give_chunk(&rig, 0, 0x15);
	give(&rig, 1, 0);
	turn(&rig);
	CU_ASSERT_EQUAL(rig.naks, 1);
	CU_ASSERT_EQUAL(rig.nak.n_losses, 2);
	give(&rig, 0, 0);
	CU_ASSERT_EQUAL(wh_session_decode(rig.session, rig.fec), 0);
	give(&rig, 0, 2);
	turn(&rig);
	expect_chunk(&rig, 0);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).duplicate_pkts, 0);
	CU_ASSERT_EQUAL(wh_session_stats(rig.session).repaired_pkts, 1);
	rig_close(&rig);
}

/* Blocks with too few repair packets, each once; block 0 has the even packets, 1 the odd ones. */
static void test_blocks_that_repair_does_not_reach(void)
{
	static const struct {
		uint32_t lost;
		uint32_t blocks;
	} cases[] = {
		{0x05, 1}, /* two of block 0 */
		{0x0a, 1}, /* two of block 1 */
		{0x0f, 2},
		{0x07, 1}, /* two of block 0, and one of 1, which is brought back */
		{0x41, 1}, /* one of block 0, and its repair packet */
		{0xc3, 2},
		{0x03, 0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;

		rig_open(&rig, WH_RECOVERY_HYBRID);
		rig.shape.blocks = 2;
		wh_fec_encode(rig.fec, &rig.shape, rig.data, 0, K, rig.repair);
		give_chunk(&rig, 0, cases[i].lost);
		give(&rig, 1, 0);
		turn(&rig);
		CU_ASSERT_EQUAL(wh_session_stats(rig.session).undecodable_blocks, cases[i].blocks);
		turn(&rig);
		CU_ASSERT_EQUAL(rig.report.undecodable_blocks, cases[i].blocks);
		give_chunk(&rig, 0, ~cases[i].lost);
		turn(&rig);
		expect_chunk(&rig, 0);
		CU_ASSERT_EQUAL(wh_session_stats(rig.session).undecodable_blocks, cases[i].blocks);
		rig_close(&rig);
	}
}

CU_TestInfo wh_tests[] = {
	{"what repair brings back has come", test_what_repair_brings_back_has_come},
	{"only the shortfall is asked for", test_only_the_shortfall_is_asked_for},
	{"not worked out too soon", test_not_worked_out_too_soon},
	{"blocks that repair does not reach", test_blocks_that_repair_does_not_reach},
	{"a chunk of which nothing came", test_a_chunk_of_which_nothing_came},
	{"repair packets after delivery", test_repair_packets_after_delivery},
	{"repair packets meanwhile", test_repair_packets_meanwhile},
	{"what is overdue is asked for", test_what_is_overdue_is_asked_for},
	{"losses at the end", test_losses_at_the_end},
	{"without asking", test_without_asking},
	{"contradictions", test_contradictions},
	CU_TEST_INFO_NULL,
};
