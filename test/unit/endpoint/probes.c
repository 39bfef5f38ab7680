/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes at an endpoint: of those who may, of those who may not, and none of a session's. */
#include "endpoint_rig.h"

const char wh_suite_name[] = "probes";

#define TOKEN UINT64_C(0x1122334455667788)

static enum wh_release_status may_probe(
	void *context, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	(void)sa;
	(void)context;
	(void)now_tsc;
	return wh_address_equal(peer, &alice) ? WH_STATUS_PENDING : WH_STATUS_REFUSED;
}

static void open_probed(struct wh_endpoint *endpoint)
{
	const struct wh_endpoint_config config = {.hz = HZ,
		.places = PLACES,
		.key = {7},
		.may_probe = may_probe,
		.probe_room_pkts = 64};

	CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(endpoint, &config), 0);
}

static void say(struct wh_endpoint *endpoint, const struct wh_packet *packet, uint64_t token,
	const struct wh_address *from)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	uint32_t length = closed_encode(packet, token, bytes, sizeof(bytes));

	wh_endpoint_input(endpoint, NOW, NOW, bytes, length, from);
}

/* What it sends next, to whom; bytes 0: nothing. */
static uint32_t hear(struct wh_endpoint *endpoint, uint8_t *bytes, struct wh_address *to)
{
	struct wh_out out = {.head = bytes};

	if (wh_endpoint_output(endpoint, NOW, &out, 1) == 0)
		return 0;
	*to = *out.to;
	return out.head_bytes;
}

static const struct wh_packet ask = {.type = WH_PACKET_PROBE,
	.flags = WH_FLAG_ASK,
	.probe = {.stamp_ns = TOKEN, .count = 1, .padding_bytes = 16}};

static void who_may_is_answered(void)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	struct wh_endpoint endpoint;
	struct wh_packet packet;
	struct wh_address to;

	open_probed(&endpoint);
	say(&endpoint, &ask, 0, &alice);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&endpoint), 0);

	uint32_t length = hear(&endpoint, bytes, &to);

	CU_ASSERT_EQUAL(length, 80);
	CU_ASSERT(wh_address_equal(&to, &alice));
	CU_ASSERT_EQUAL_FATAL(wh_packet_decode(bytes, length, &packet), WH_WIRE_OK);
	CU_ASSERT_EQUAL(packet.probe_answer.n_words, 2);

	struct wh_packet echo = {.type = WH_PACKET_PROBE,
		.flags = WH_FLAG_ECHO,
		.probe = {.made_us = packet.probe_answer.words[0], .count = 1}};

	say(&endpoint, &echo, packet.probe_answer.words[1], &alice);
	CU_ASSERT_EQUAL(hear(&endpoint, bytes, &to), 64);
	/* From elsewhere his cookie is worth nothing. */
	say(&endpoint, &echo, packet.probe_answer.words[1], &bob);
	CU_ASSERT_EQUAL(hear(&endpoint, bytes, &to), 0);
	CU_ASSERT_EQUAL(endpoint.stats.bad[WH_WIRE_TAG], 1);
	/* Nor with an identifier: that is a session's, and there is none. */
	echo.cid = 64;
	say(&endpoint, &echo, packet.probe_answer.words[1], &alice);
	CU_ASSERT_EQUAL(hear(&endpoint, bytes, &to), 0);
	CU_ASSERT_EQUAL(endpoint.stats.no_session_pkts, 1);
	say(&endpoint, &ask, 0, &bob);
	CU_ASSERT_EQUAL(hear(&endpoint, bytes, &to), 64);
	CU_ASSERT_EQUAL(endpoint.answerer.stats.refused_asks, 1);
	wh_endpoint_free(&endpoint);
}

static void nobody_may(void)
{
	const struct wh_packet answer = {.type = WH_PACKET_PROBE_ANSWER, .flags = WH_FLAG_ECHO};
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	struct wh_address to;
	struct house house;

	house_open(&house);
	say(&house.endpoint, &ask, 0, &alice);
	say(&house.endpoint, &answer, 0, &alice); /* to no question of ours */
	CU_ASSERT_EQUAL(house.endpoint.stats.no_session_pkts, 2);
	CU_ASSERT_EQUAL(hear(&house.endpoint, bytes, &to), 0);
	house_close(&house);
}

CU_TestInfo wh_tests[] = {
	{"who may is answered", who_may_is_answered},
	{"nobody may", nobody_may},
	CU_TEST_INFO_NULL,
};
