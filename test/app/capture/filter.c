/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/filter.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "wire/internet.h"

const char wh_suite_name[] = "app/wavehaul/capture/filter";

#define IN  UINT32_C(0x01020304)
#define OUT UINT32_C(0xa1a2a3a4)

static const struct wh_address here4 = {WH_IPV4, {192, 0, 2, 1}, 5760};
static const struct wh_address peer4 = {WH_IPV4, {192, 0, 2, 2}, 5761};
static const struct wh_address here6 = {WH_IPV6, {0x20, 1, 0xd, 0xb8, [15] = 1}, 5760};
static const struct wh_address peer6 = {WH_IPV6, {0x20, 1, 0xd, 0xb8, [15] = 2}, 5761};

/* Of a packet of so many bytes between the two. */
static size_t write_frame(uint8_t *frame, const struct wh_address *source,
	const struct wh_address *target, uint16_t vlan, uint32_t cid, size_t bytes)
{
	const struct wh_flow flow = {.vlan = vlan, .source = *source, .target = *target};
	uint8_t packet[256] = {0};
	struct wh_encap encap;

	cid = rte_cpu_to_le_32(cid);
	memcpy(packet + 4, &cid, sizeof(cid));
	wh_encap_init(&encap, &flow);
	wh_encap_write(&encap, frame, packet, bytes, packet + bytes, 0);
	memcpy(frame + encap.bytes, packet, bytes);
	return encap.bytes + bytes;
}

static void expect_session(
	const struct wh_address *here, const struct wh_address *peer, uint16_t vlan)
{
	struct wh_capture_filter filter = {.peer = *peer, .cid_in = IN, .cid_out = OUT};
	struct wh_address other = *peer;
	uint8_t frame[512];
	size_t in = write_frame(frame, peer, here, vlan, IN, 64);

	CU_ASSERT_TRUE(wh_capture_filter_takes(&filter, frame, in, false));
	CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, frame, in, true));
	in = write_frame(frame, peer, here, vlan, OUT, 64);
	CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, frame, in, false));
	size_t out = write_frame(frame, here, peer, vlan, OUT, 64);
	CU_ASSERT_TRUE(wh_capture_filter_takes(&filter, frame, out, true));
	atomic_store(&filter.cid_out, 0);
	CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, frame, out, true));
	out = write_frame(frame, here, peer, vlan, 0, 64);
	CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, frame, out, true));
	other.port++;
	in = write_frame(frame, &other, here, vlan, IN, 64);
	CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, frame, in, false));
	other = *peer;
	other.ip[3] ^= 1;
	in = write_frame(frame, &other, here, vlan, IN, 64);
	CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, frame, in, false));
}

static void a_session_is_known_each_way(void)
{
	expect_session(&here4, &peer4, 0);
	expect_session(&here4, &peer4, 7);
	expect_session(&here6, &peer6, 0);
	expect_session(&here6, &peer6, 7);
}

/* Each length, and each byte changed: some are taken, no read goes beyond. */
static void any_bytes_are_borne(void)
{
	const struct wh_capture_filter filter = {.peer = peer4, .cid_in = IN};
	const struct wh_capture_filter all = {.all = true};
	uint8_t frame[512];
	size_t bytes = write_frame(frame, &peer4, &here4, 0, IN, 8);

	for (size_t short_bytes = 0; short_bytes < bytes; short_bytes++) {
		uint8_t *copy = malloc(short_bytes + 1);

		CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
		memcpy(copy, frame, short_bytes);
		CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, copy, short_bytes, false));
		CU_ASSERT_TRUE(wh_capture_filter_takes(&all, copy, short_bytes, false));
		free(copy);
	}
	CU_ASSERT_TRUE(wh_capture_filter_takes(&filter, frame, bytes, false));
	for (size_t i = bytes - 4; i < bytes; i++) {
		frame[i] ^= 0x80;
		CU_ASSERT_FALSE(wh_capture_filter_takes(&filter, frame, bytes, false));
		frame[i] ^= 0x80;
	}
}

CU_TestInfo wh_tests[] = {
	{"a session is known each way", a_session_is_known_each_way},
	{"any bytes are borne", any_bytes_are_borne},
	CU_TEST_INFO_NULL,
};
