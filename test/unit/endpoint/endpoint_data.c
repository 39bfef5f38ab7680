/* SPDX-License-Identifier: BSD-3-Clause */

/* Payload that goes to its chunk while its tag is checked. */

#include "unit.h"

#include "endpoint_rig.h"

const char wh_suite_name[] = "endpoint_data";

/* A data packet of the first chunk, of 4096 bytes; `damage` is done to its last byte. */
static void give_data(struct house *house, uint32_t cid, uint64_t pn, uint16_t index,
	uint8_t content, uint8_t damage, const struct wh_address *from)
{
	static uint8_t bytes[WH_HEAD_BYTES + 1408];
	uint8_t payload[1408];
	struct wh_packet packet = {
		.type = WH_PACKET_DATA,
		.cid = cid,
		.pn = pn,
		.payload = payload,
		.data = {.index = index, .k = 3, .payload_bytes = index < 2 ? 1408 : 1280},
	};
	size_t length = WH_HEAD_BYTES + packet.data.payload_bytes;

	memset(payload, content, sizeof(payload));
	closed_encode(&packet, token_of(house, cid), bytes, sizeof(bytes));
	bytes[length - 1] ^= damage;
	give_bytes(house, bytes, length, from);
}

/* The payload is in its chunk before its tag is known: what is wrong leaves nothing that counts. */
static void test_data_in_place(void)
{
	struct house house;
	struct wh_session_stats stats;

	house_open(&house);

	struct wh_session *session = open_to(&house, 5);
	uint32_t cid = wh_session_cid(session);

	give_data(&house, cid, 1000, 0, 0x10, 0, &alice);
	give_data(&house, cid, 1001, 1, 0x11, 1, &alice); /* damaged */
	CU_ASSERT_EQUAL(house.endpoint.stats.bad[WH_WIRE_TAG], 1);
	CU_ASSERT_EQUAL(wh_session_stats(session).received_pkts, 1);
	give_data(&house, cid, 1002, 2, 0x12, 0, &alice);
	give_data(&house, cid, 1002, 2, 0x22, 0, &alice); /* twice, with other bytes */
	give_data(&house, cid, 1000, 0, 0x20, 1, &alice); /* twice, and damaged */
	give_data(&house, cid, 1003, 0, 0x30, 0, &alice); /* for a place that is taken */
	give_data(&house, cid, 1001, 1, 0x41, 0, &bob);
	give_data(&house, cid + 64, 1001, 1, 0x51, 0, &alice);
	CU_ASSERT_EQUAL(house.endpoint.stats.wrong_peer_pkts, 1);
	CU_ASSERT_EQUAL(house.endpoint.stats.no_session_pkts, 1);
	CU_ASSERT_EQUAL(house.endpoint.stats.bad[WH_WIRE_TAG], 2);
	turn(&house, NOW);
	CU_ASSERT_PTR_NULL(wh_fifo_pop(wh_session_deliver_chunks(session)));

	give_data(&house, cid, 1001, 1, 0x11, 0, &alice); /* again, and right */
	turn(&house, NOW);

	const struct wh_chunk *chunk = wh_fifo_pop(wh_session_deliver_chunks(session));

	CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
	CU_ASSERT_EQUAL(chunk->bytes, 4096);
	for (uint32_t i = 0; i < 4096; i++)
		CU_ASSERT_EQUAL_FATAL(chunk->data[i], 0x10 + i / 1408);
	stats = wh_session_stats(session);
	CU_ASSERT_EQUAL(stats.received_pkts, 3);
	CU_ASSERT_EQUAL(stats.received_bytes, 4096);
	CU_ASSERT_EQUAL(stats.duplicate_pkts, 1);
	CU_ASSERT_EQUAL(stats.bad_place_pkts, 1);
	/* OPEN, CONFIRM and those above, whichever way they went. */
	CU_ASSERT_EQUAL(house.endpoint.stats.packets, 2 + 9);
	close_out(&house, session);
	house_close(&house);
}

CU_TestInfo wh_tests[] = {
	{"data in place", test_data_in_place},
	CU_TEST_INFO_NULL,
};
