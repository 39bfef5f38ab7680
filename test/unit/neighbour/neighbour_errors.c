/* SPDX-License-Identifier: BSD-3-Clause */

/* Errors about packets of ours, and those about packets of others. */

#include "neighbour_rig.h"

const char wh_suite_name[] = "lib/neighbour errors";

#define PORT 5760

/* An ICMP message around the start of a UDP packet of ours to the peer, from the gateway. */
static size_t make4(uint8_t *frame, uint8_t type, uint8_t code, uint16_t mtu)
{
	static const uint8_t quoted[28] = {
		0x45,
		0,
		0x23,
		0x28,
		0,
		0,
		0x40,
		0,
		64,
		17,
		0,
		0, /* IPv4, 9000 bytes */
		10,
		0,
		0,
		1,
		10,
		0,
		0,
		2, /* from us to the peer */
		0x16,
		0x80,
		0x16,
		0x81, /* UDP ports 5760, 5761 */
		0x23,
		0x14,
		0,
		0,
	};
	size_t bytes = rig_echo4(frame, 8, rig_gate, rig_gate4, rig_us4, sizeof(quoted));

	frame[34] = type;
	frame[35] = code;
	memset(frame + 38, 0, 4);
	frame[40] = (uint8_t)(mtu >> 8);
	frame[41] = (uint8_t)mtu;
	memcpy(frame + 42, quoted, sizeof(quoted));
	rig_resum(frame, bytes);
	return bytes;
}

static size_t make6(uint8_t *frame, uint8_t type, uint8_t code, uint16_t mtu)
{
	static const uint8_t head[8] = {0x60, 0, 0, 0, 0x23, 0, 17, 64};
	static const uint8_t ports[8] = {0x16, 0x80, 0x16, 0x80, 0x23, 0, 1, 1};
	size_t bytes = rig_echo6(frame, 128, rig_gate, rig_gate6, rig_us6, 48);

	frame[54] = type;
	frame[55] = code;
	memset(frame + 58, 0, 4);
	frame[60] = (uint8_t)(mtu >> 8);
	frame[61] = (uint8_t)mtu;
	memcpy(frame + 62, head, 8);
	memcpy(frame + 70, rig_us6, 16);
	memcpy(frame + 86, rig_peer6, 16);
	memcpy(frame + 102, ports, 8);
	rig_resum(frame, bytes);
	return bytes;
}

static struct wh_neighbour_watch watch;

static void open_watching(struct rig *rig, bool ipv4)
{
	struct wh_address peer = ipv4 ? rig_ip4(10, 0, 0, 2) : rig_ip6(rig_peer6);

	rig_open_default(rig);
	peer.port = PORT;
	wh_neighbour_watch(&rig->host, &watch, &peer);
}

/* Each kind, and what it is taken for. */
static void kinds(void)
{
	static const struct {
		bool ipv4;
		uint8_t type, code;
		enum wh_neighbour_error error;
		uint32_t mtu;
	} cases[] = {
		{true, 3, 3, WH_NEIGHBOUR_ERROR_PORT, 0},
		{true, 3, 4, WH_NEIGHBOUR_ERROR_TOO_BIG, 1400},
		{true, 3, 0, WH_NEIGHBOUR_ERROR_UNREACHABLE, 0},
		{true, 3, 1, WH_NEIGHBOUR_ERROR_UNREACHABLE, 0},
		{true, 3, 13, WH_NEIGHBOUR_ERROR_PROHIBITED, 0},
		{true, 3, 10, WH_NEIGHBOUR_ERROR_PROHIBITED, 0},
		{false, 1, 4, WH_NEIGHBOUR_ERROR_PORT, 0},
		{false, 1, 1, WH_NEIGHBOUR_ERROR_PROHIBITED, 0},
		{false, 1, 0, WH_NEIGHBOUR_ERROR_UNREACHABLE, 0},
		{false, 2, 0, WH_NEIGHBOUR_ERROR_TOO_BIG, 1400},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig rig;
		uint8_t frame[RIG_BYTES];
		size_t bytes = cases[i].ipv4 ? make4(frame, cases[i].type, cases[i].code, 1400)
					     : make6(frame, cases[i].type, cases[i].code, 1400);

		open_watching(&rig, cases[i].ipv4);
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_OK);
		if (watch.error != cases[i].error)
			printf("case %zu: %u\n", i, watch.error);
		CU_ASSERT_EQUAL(watch.error, cases[i].error);
		CU_ASSERT_EQUAL(watch.mtu_bytes, cases[i].mtu);
		CU_ASSERT_EQUAL(watch.errors, 1);
		CU_ASSERT_EQUAL(memcmp(watch.from.ip, cases[i].ipv4 ? rig_gate4 : rig_gate6,
					cases[i].ipv4 ? 4 : 16),
			0);
		/* It is no more than a hint: no answer, no entry. */
		CU_ASSERT_EQUAL(rig_take(&rig), 0);
		CU_ASSERT_EQUAL(rig.host.entry[0].state, WH_NEIGHBOUR_FREE);
		rig_close(&rig);
	}
}

/* Errors about what we did not send, cut short, or with a wrong sum. */
static void others(void)
{
	static const struct {
		size_t at;
		uint8_t value;
	} quoted[] = {{42, 0x46}, {51, 6}, {57, 9}, {61, 9}, {62, 0x17}, {64, 0x15}, {51, 1}};
	struct rig rig;
	uint8_t frame[RIG_BYTES];
	size_t bytes;

	open_watching(&rig, true);
	for (size_t i = 0; i < sizeof(quoted) / sizeof(quoted[0]); i++) {
		bytes = make4(frame, 3, 3, 0);
		frame[quoted[i].at] = quoted[i].value;
		rig_resum(frame, bytes);
		if (rig_feed(&rig, frame, bytes) != WH_NEIGHBOUR_NOT_ASKED)
			printf("case %zu\n", i);
	}
	CU_ASSERT_EQUAL(rig.host.stats.input_pkts[WH_NEIGHBOUR_NOT_ASKED], 7);
	/* The quotation ends within the ports. */
	for (size_t left = 0; left < 24; left++) {
		bytes = make4(frame, 3, 3, 0);
		frame[17] = (uint8_t)(28 + left);
		rig_resum(frame, 42 + left);
		CU_ASSERT_EQUAL(rig_feed(&rig, frame, 42 + left), WH_NEIGHBOUR_NOT_ASKED);
	}
	bytes = make4(frame, 3, 3, 0);
	frame[36] ^= 1;
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_ICMP_SUM);
	CU_ASSERT_EQUAL(watch.errors, 0);
	rig_close(&rig);

	/* Nobody is watched. */
	rig_open_default(&rig);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make4(frame, 3, 3, 0)), WH_NEIGHBOUR_NOT_ASKED);
	rig_close(&rig);
}

/* Who has several peers is told of each by itself. */
static void several(void)
{
	struct wh_neighbour_watch other;
	struct wh_address peer = rig_ip4(10, 0, 0, 9);
	struct rig rig;
	uint8_t frame[RIG_BYTES];
	size_t bytes;

	open_watching(&rig, true);
	peer.port = PORT;
	wh_neighbour_watch(&rig.host, &other, &peer);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, make4(frame, 3, 3, 0)), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(watch.errors, 1);
	CU_ASSERT_EQUAL(other.errors, 0);
	bytes = make4(frame, 3, 13, 0);
	frame[61] = 9;
	rig_resum(frame, bytes);
	CU_ASSERT_EQUAL(rig_feed(&rig, frame, bytes), WH_NEIGHBOUR_OK);
	CU_ASSERT_EQUAL(watch.error, WH_NEIGHBOUR_ERROR_PORT);
	CU_ASSERT_EQUAL(other.error, WH_NEIGHBOUR_ERROR_PROHIBITED);
	CU_ASSERT_EQUAL(other.errors, 1);
	rig_close(&rig);
}

CU_TestInfo wh_tests[] = {
	{"every kind of error", kinds},
	{"errors about packets that are not ours", others},
	{"errors about packets to several peers", several},
	CU_TEST_INFO_NULL,
};
