/* SPDX-License-Identifier: BSD-3-Clause */
#include "endpoint/early.h"

#include "../contact_rig.h"

const char wh_suite_name[] = "early";

#define JUMBO_BYTES (WH_HEAD_BYTES + 8928)
#define ARENA_BYTES (WH_EARLY_BLOCKS * WH_EARLY_BLOCK_BYTES)

/* The server's, before whose SA exists all comes here. */
static struct wh_endpoint *end;
static uint32_t sa;
static uint64_t began_tsc;

static void begin(void)
{
	open_world(true, 1);
	began_tsc = world.now_tsc;
	end = &world.host[1].is.end.endpoint;
	sa = wh_sadb_reserve(end->config.sadb, 7);
	CU_ASSERT_FATAL(sa != 0);
}

static struct wh_address address(uint16_t port)
{
	return (struct wh_address){.family = WH_IPV4, .ip = {10, 0, 0, 9}, .port = port};
}

/* Each packet tells by its bytes and its way back who has sent it, and as which. */
static bool send(uint16_t port, uint32_t number, size_t length, bool confirm)
{
	const struct wh_address from = address(port);
	uint8_t bytes[65536];

	memset(bytes, port, sizeof(bytes));
	memcpy(bytes, &number, sizeof(number));
	memset(end->via, (int)number, sizeof(end->via));
	return confirm ? wh_early_confirm(end, began_tsc + number, bytes, length, &from, sa)
		       : wh_early_follow(end, began_tsc + number, bytes, length, &from);
}

/* How many packets of a sender come back, each as it was, in order. */
static uint32_t take(uint16_t port, size_t length)
{
	const struct wh_address from = address(port);
	struct wh_early_pkt *pkt;
	uint32_t count = 0, number;

	CU_ASSERT_TRUE_FATAL(wh_early_begin(end, world.now_tsc));
	CU_ASSERT(wh_address_equal(&end->early.replayed.address, &from));
	for (; (pkt = wh_early_next(end)) != NULL; count++) {
		memcpy(&number, pkt->packet, sizeof(number));
		CU_ASSERT_EQUAL(number, count);
		CU_ASSERT_EQUAL(pkt->bytes, length);
		CU_ASSERT_EQUAL(pkt->packet[length - 1], (uint8_t)port);
		CU_ASSERT_EQUAL(pkt->arrived_tsc, began_tsc + count);
		CU_ASSERT_EQUAL(end->via[5], (uint8_t)count);
		CU_ASSERT_FALSE(send(port, count, length, false));
		CU_ASSERT_FALSE(send(port + 1, count, length, true));
	}
	return count;
}

/* As many as one may have kept, of that length; the sender that is not there yet confirms first. */
static uint32_t fill(uint16_t port, size_t length)
{
	uint32_t count = 0;

	while (send(port, count, length, count == 0))
		count++;
	return count;
}

/* 256 KiB that go ahead of a file find room, whatever the MTU; a byte is kept for one sent. */
static void sender(void)
{
	static const size_t payload[] = {256, 512, 1392, 4096, 8928, WH_PAYLOAD_BYTES_MAX};

	begin();
	for (uint32_t i = 0; i < sizeof(payload) / sizeof(payload[0]); i++) {
		size_t length = WH_HEAD_BYTES + payload[i];
		uint32_t count = fill(1, length);

		CU_ASSERT(count * payload[i] > (256 + 8) * 1024);
		CU_ASSERT(count * length <= WH_EARLY_BLOCKS_OF_SENDER * WH_EARLY_BLOCK_BYTES);
		CU_ASSERT_FALSE(wh_early_begin(end, world.now_tsc));
		wh_sadb_cancel(end->config.sadb, sa);
		world.now_tsc += MS;
		CU_ASSERT_EQUAL(take(1, length), count);
		CU_ASSERT_EQUAL(end->early.frees, WH_EARLY_BLOCKS);
		CU_ASSERT_EQUAL(end->early.senders, 0);
		CU_ASSERT_FALSE(send(1, 0, length, false));
		sa = wh_sadb_reserve(end->config.sadb, i);
	}
	close_world();
}

/* Whoever they are, they have 4 MiB; then all of it is free again, one sender a turn. */
static void all_senders(void)
{
	uint32_t count[WH_EARLY_SENDERS + 1] = {0}, pkts = 0, senders = 0;

	begin();
	for (uint16_t port = 1; port <= WH_EARLY_SENDERS; port++)
		pkts += count[port] = fill(port, JUMBO_BYTES);
	CU_ASSERT_EQUAL(end->early.frees, 0);
	CU_ASSERT(pkts * JUMBO_BYTES > ARENA_BYTES / 100 * 80 && pkts * JUMBO_BYTES < ARENA_BYTES);
	CU_ASSERT_EQUAL(end->stats.early_pkts, pkts);

	wh_sadb_cancel(end->config.sadb, sa);
	for (uint16_t port = 1; port <= WH_EARLY_SENDERS && count[port] > 0; port++, senders++)
		CU_ASSERT_EQUAL(take(port, JUMBO_BYTES), count[port]);
	CU_ASSERT_EQUAL(senders,
		(WH_EARLY_BLOCKS + WH_EARLY_BLOCKS_OF_SENDER - 1) / WH_EARLY_BLOCKS_OF_SENDER);
	CU_ASSERT_FALSE(wh_early_begin(end, world.now_tsc));
	CU_ASSERT_EQUAL(end->early.frees, WH_EARLY_BLOCKS);
	close_world();
}

/* A CONFIRM takes a block, and there are more blocks than senders. */
static void many_senders(void)
{
	begin();
	for (uint16_t port = 1; port <= WH_EARLY_SENDERS; port++)
		CU_ASSERT_TRUE(send(port, 0, 132, true));
	CU_ASSERT_FALSE(send(WH_EARLY_SENDERS + 1, 0, 132, true));
	CU_ASSERT_FALSE(send(WH_EARLY_SENDERS + 1, 0, 132, false));
	CU_ASSERT_TRUE(send(WH_EARLY_SENDERS, 1, JUMBO_BYTES, false));
	CU_ASSERT_FALSE(send(1, 1, WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX + 1, false));
	CU_ASSERT_FALSE(send(1, 1, 65535, false));

	/* The SA does not come: who waited is due, and has what is his. */
	world.now_tsc += (WH_EARLY_MS - 1) * MS;
	CU_ASSERT_FALSE(wh_early_begin(end, world.now_tsc));
	world.now_tsc += 2 * MS;
	for (uint16_t port = 1; port <= WH_EARLY_SENDERS; port++) {
		uint32_t count = 0;

		CU_ASSERT_TRUE_FATAL(wh_early_begin(end, world.now_tsc));
		while (wh_early_next(end) != NULL)
			count++;
		CU_ASSERT_EQUAL(count, port == WH_EARLY_SENDERS ? 2 : 1);
	}
	CU_ASSERT_EQUAL(end->early.frees, WH_EARLY_BLOCKS);
	close_world();
}

CU_TestInfo wh_tests[] = {
	{"what one sender may have kept", sender},
	{"what all senders may have kept", all_senders},
	{"many senders", many_senders},
	CU_TEST_INFO_NULL,
};
