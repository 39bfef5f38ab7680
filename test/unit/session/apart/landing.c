/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A receiver whose bookkeeping is done elsewhere: what the core that takes packets decides alone,
 * what the notes make of it, and what becomes of packets for whose notes there is no room.
 */

#include "session/apart/landing.h"

#include "../../../rig/end.h"
#include "unit.h"

#include <string.h>

#include "endpoint/lifecycle.h"

const char wh_suite_name[] = "landing";

#define HZ          UINT64_C(1000000000)
#define NOW         (10 * HZ)
#define PAYLOAD     1408
#define CHUNK_BYTES 8192
#define CHUNKS      32
#define WINDOW      64
#define K           3 /* packets of a chunk */
#define NOTES       (WINDOW - 1)
#define FIRST       UINT64_C(1000)
#define CID         0x41

static _Alignas(WH_CHUNK_ALIGN) uint8_t memory[CHUNKS * CHUNK_BYTES];
static struct wh_session *session;

void wh_set_up(void)
{
	const struct wh_address peer = wh_rig_address(1);
	struct wh_session_config config;
	struct wh_open_params params;

	wh_rig_session_config(&config, HZ, CHUNK_BYTES, CHUNKS, WINDOW);
	wh_session_config_profile(&config, wh_profile_find("udt"));
	config.books_apart = true;
	config.chunk_memory = memory;
	params = wh_rig_open_params(&config, FIRST);
	session = wh_session_accept(&config, NOW, CID, &peer, &params, HZ / 1000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
}

void wh_take_down(void)
{
	wh_session_check(session, true);
	wh_session_destroy(session);
}

/* The RX core takes a packet; what it was, and where its payload went. */
static enum wh_rx_slot_kind arrive_as(
	uint64_t pn, uint32_t chunk, uint16_t index, uint16_t k, uint8_t **to)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_DATA,
		.data = {.payload_bytes = PAYLOAD, .k = k, .index = index, .chunk = chunk},
		.pn = pn,
		.cid = CID,
	};
	struct wh_rx_slot rx_slot;

	wh_session_place(session, &packet, &rx_slot);
	CU_ASSERT_EQUAL(rx_slot.to != NULL, rx_slot.kind == WH_RX_SLOT_FITS);
	if (rx_slot.to != NULL)
		memset(rx_slot.to, (uint8_t)pn, PAYLOAD);
	wh_session_take(&rx_slot, NOW, NOW);
	if (to != NULL)
		*to = rx_slot.to;
	return rx_slot.kind;
}

/* The i-th packet of an honest stream. */
static enum wh_rx_slot_kind arrive(uint32_t i)
{
	return arrive_as(FIRST + i, i / K, i % K, K, NULL);
}

static struct wh_session_stats stats(void)
{
	return wh_session_stats(session);
}

static uint32_t delivered(void)
{
	return wh_fifo_count(wh_session_deliver_chunks(session));
}

/* Nothing counts before the bookkeeping has looked, and nothing is taken twice even so. */
static void test_counted_later(void)
{
	uint8_t *first, *second;

	CU_ASSERT_EQUAL(arrive_as(FIRST, 0, 0, K, &first), WH_RX_SLOT_FITS);
	CU_ASSERT_EQUAL(arrive(0), WH_RX_SLOT_DUPLICATE);
	CU_ASSERT_EQUAL(arrive_as(FIRST + 1, 0, 1, K, &second), WH_RX_SLOT_FITS);
	CU_ASSERT_PTR_EQUAL(second, first + PAYLOAD);
	CU_ASSERT_EQUAL(arrive(2), WH_RX_SLOT_FITS);
	CU_ASSERT_EQUAL(stats().received_pkts + stats().duplicate_pkts, 0);
	CU_ASSERT_EQUAL(delivered(), 0);
	wh_session_poll(session, NOW);
	CU_ASSERT_EQUAL(stats().received_pkts, 3);
	CU_ASSERT_EQUAL(stats().received_bytes, 3 * PAYLOAD);
	CU_ASSERT_EQUAL(stats().duplicate_pkts, 1);
	CU_ASSERT_EQUAL(delivered(), 1);
	CU_ASSERT_EQUAL(first[0], (uint8_t)FIRST);
	CU_ASSERT_EQUAL(second[0], (uint8_t)(FIRST + 1));
	CU_ASSERT_EQUAL(arrive(1), WH_RX_SLOT_DUPLICATE);
}

/* Heads that an honest stream does not have. */
static void test_refused(void)
{
	CU_ASSERT_EQUAL(arrive(0), WH_RX_SLOT_FITS);
	CU_ASSERT_EQUAL(arrive_as(FIRST + WINDOW, 1, 0, K, NULL), WH_RX_SLOT_BEYOND);
	CU_ASSERT_EQUAL(arrive_as(FIRST + 3, CHUNKS, 0, K, NULL), WH_RX_SLOT_BEYOND);
	CU_ASSERT_EQUAL(arrive_as(FIRST + 1, 0, 1, K - 1, NULL), WH_RX_SLOT_CONTRADICTS);
	CU_ASSERT_EQUAL(arrive_as(FIRST + 2, 0, 1, K, NULL), WH_RX_SLOT_CONTRADICTS);
	CU_ASSERT_EQUAL(arrive_as(FIRST + 3, 1, 0, 7, NULL), WH_RX_SLOT_CONTRADICTS);
	CU_ASSERT_EQUAL(arrive_as(FIRST + 1, 1, 2, K, NULL), WH_RX_SLOT_CONTRADICTS);
	wh_session_poll(session, NOW);
	CU_ASSERT_EQUAL(stats().received_pkts, 1);
	CU_ASSERT_EQUAL(stats().bad_window_pkts, 2);
	CU_ASSERT_EQUAL(stats().bad_place_pkts, 4);

	/* One packet number in two chunks: only the bookkeeping can tell. */
	CU_ASSERT_EQUAL(arrive_as(FIRST, 1, 0, K, NULL), WH_RX_SLOT_FITS);
	wh_session_poll(session, NOW);
	CU_ASSERT_EQUAL(stats().received_pkts, 1);
	CU_ASSERT_EQUAL(stats().bad_place_pkts, 5);
}

/* The bookkeeping stands still: what it has no room for has not arrived, and is asked for. */
static void test_notes_full(void)
{
	uint8_t *lost, *again;
	uint32_t i;

	for (i = 0; i + 2 < NOTES; i++)
		CU_ASSERT_EQUAL(arrive(i), WH_RX_SLOT_FITS);
	for (uint32_t j = 0; j < 2; j++)
		CU_ASSERT_EQUAL(arrive(0), WH_RX_SLOT_DUPLICATE);
	CU_ASSERT_EQUAL(stats().notes_full_pkts, 0);
	CU_ASSERT_EQUAL(arrive(0), WH_RX_SLOT_DUPLICATE);
	CU_ASSERT_EQUAL(stats().notes_full_pkts, 1);
	CU_ASSERT_EQUAL(arrive_as(FIRST + i, i / K, (uint16_t)(i % K), K, &lost), WH_RX_SLOT_FITS);
	CU_ASSERT_EQUAL(stats().notes_full_pkts, 2);

	wh_session_poll(session, NOW);
	CU_ASSERT_EQUAL(stats().received_pkts, i);
	CU_ASSERT_EQUAL(stats().losses_detected_pkts, 0);
	CU_ASSERT_EQUAL(delivered(), i / K);

	/* The next one shows the gap. */
	CU_ASSERT_EQUAL(arrive(i + 1), WH_RX_SLOT_FITS);
	wh_session_poll(session, NOW);
	CU_ASSERT_EQUAL(stats().losses_detected_pkts, 1);
	CU_ASSERT_EQUAL(stats().naks, 1);
	CU_ASSERT_EQUAL(arrive_as(FIRST + i, i / K, (uint16_t)(i % K), K, &again), WH_RX_SLOT_FITS);
	CU_ASSERT_PTR_EQUAL(again, lost);
	CU_ASSERT_EQUAL(arrive(i + 2), WH_RX_SLOT_FITS);
	wh_session_poll(session, NOW);
	CU_ASSERT_EQUAL(stats().received_pkts, i + 3);
	CU_ASSERT_EQUAL(delivered(), i / K + 1);
}

/* Buffers come back, and chunks of other numbers land in them. */
static void test_buffers_go_round(void)
{
	struct wh_fifo *deliver = wh_session_deliver_chunks(session);
	struct wh_fifo *recycled = wh_session_recycled_chunks(session);

	for (uint32_t i = 0; i < 5 * CHUNKS * K; i++) {
		struct wh_chunk *chunk;

		CU_ASSERT_EQUAL(arrive(i), WH_RX_SLOT_FITS);
		if (i % K != K - 1)
			continue;
		CU_ASSERT_EQUAL(arrive_as(FIRST + i, i / K + CHUNKS, K - 1, K, NULL),
			WH_RX_SLOT_BEYOND); /* its buffer is not free yet */
		wh_session_poll(session, NOW);
		chunk = wh_fifo_pop(deliver);
		CU_ASSERT_PTR_NOT_NULL_FATAL(chunk);
		CU_ASSERT_EQUAL(chunk->number, i / K);
		CU_ASSERT_EQUAL(chunk->bytes, K * PAYLOAD);
		CU_ASSERT_EQUAL(chunk->data[K * PAYLOAD - 1], (uint8_t)(FIRST + i));
		wh_fifo_push(recycled, chunk);
		wh_session_poll(session, NOW);
	}
	CU_ASSERT_EQUAL(arrive(0), WH_RX_SLOT_DUPLICATE); /* long ago */
}

/* It ends while notes are under way: they count for nothing, and nothing else comes. */
static void test_ends_with_notes(void)
{
	CU_ASSERT_EQUAL(arrive(0), WH_RX_SLOT_FITS);
	wh_session_ask(session, WH_WISH_ABORT, WH_STATUS_INTERRUPTED);
	wh_session_poll(session, NOW);
	CU_ASSERT_EQUAL(arrive(1), WH_RX_SLOT_DUPLICATE);
	CU_ASSERT_EQUAL(wh_session_news(session).outcome, WH_STATUS_INTERRUPTED);
	CU_ASSERT_EQUAL(delivered(), 0);
}

CU_TestInfo wh_tests[] = {
	{"counted later", test_counted_later},
	{"refused", test_refused},
	{"notes full", test_notes_full},
	{"buffers go round", test_buffers_go_round},
	{"ends with notes", test_ends_with_notes},
	CU_TEST_INFO_NULL,
};
