/* SPDX-License-Identifier: BSD-3-Clause */
/* Handshakes at an endpoint: who gets a cookie, what goes on to the handshake server, and back. */

#include "endpoint/endpoint.h"
#include "seal/seal.h"
#include "unit.h"

const char wh_suite_name[] = "datagrams";

#define HZ UINT64_C(1000000000)

static struct wh_endpoint endpoint;
static const struct wh_address peer = {.family = WH_IPV4, .port = 7000, .ip = {10, 0, 0, 2}};
static const struct wh_address other = {.family = WH_IPV4, .port = 7001, .ip = {10, 0, 0, 2}};

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *from, const struct wh_sa *sa,
	uint32_t *buffer_chunks)
{
	(void)context;
	(void)now_tsc;
	(void)params;
	(void)from;
	(void)buffer_chunks;
	(void)sa;
	return WH_STATUS_REFUSED;
}

static void begin(bool with_handshake, bool listens)
{
	const struct wh_endpoint_config config = {
		.hz = HZ,
		.key = {7},
		.places = 64,
		.with_handshake = with_handshake,
		.queue = 3,
		.welcome = listens ? welcome : NULL,
	};

	CU_ASSERT_EQUAL_FATAL(wh_endpoint_init(&endpoint, &config), 0);
	memcpy(endpoint.via, "\1\2\3\4\5\6", 6);
}

static uint32_t input(uint64_t now_tsc, const struct wh_packet *packet,
	const struct wh_address *from, struct wh_out *out)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	uint32_t length = wh_packet_encode(packet, bytes, sizeof(bytes));

	wh_seal_close_packet(&wh_seal_to_listener, bytes, length);
	wh_endpoint_input(&endpoint, now_tsc, now_tsc, bytes, length, from);
	return wh_endpoint_output(&endpoint, now_tsc, out, 1);
}

/* Returns the cookie that the peer gets for its question. */
static struct wh_cookie ask(uint64_t now_tsc, uint64_t handshake)
{
	const struct wh_packet packet = {.type = WH_PACKET_ASK, .ask = {.handshake = handshake}};
	struct wh_packet answer;
	const uint8_t *via;
	uint8_t head[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = head};

	CU_ASSERT_EQUAL_FATAL(input(now_tsc, &packet, &peer, &out), 1);
	CU_ASSERT_EQUAL(out.head_bytes, 64);
	CU_ASSERT(wh_endpoint_is_reply(&endpoint, out.to, &via));
	CU_ASSERT(wh_address_equal(out.to, &peer));
	CU_ASSERT_EQUAL(memcmp(via, "\1\2\3\4\5\6", 6), 0);
	CU_ASSERT_EQUAL(wh_packet_decode(head, out.head_bytes, &answer), WH_WIRE_OK);
	CU_ASSERT_EQUAL(answer.type, WH_PACKET_COOKIE);
	CU_ASSERT_EQUAL(answer.cookie.handshake, handshake);
	return answer.cookie;
}

static uint32_t handed_over(void)
{
	return wh_slot_fifo_count(&endpoint.datagrams_in);
}

/* A piece whose cookie is no good: its sender hears that, and in fewer bytes than it has said. */
static void is_put_off(
	uint64_t now_tsc, const struct wh_packet *piece, const struct wh_address *from)
{
	uint8_t head[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = head};
	struct wh_packet answer;
	const uint8_t *via;

	CU_ASSERT_EQUAL_FATAL(input(now_tsc, piece, from, &out), 1);
	CU_ASSERT_EQUAL(out.head_bytes, 64);
	CU_ASSERT(wh_endpoint_is_reply(&endpoint, out.to, &via));
	CU_ASSERT(wh_address_equal(out.to, from));
	CU_ASSERT_EQUAL(wh_packet_decode(head, out.head_bytes, &answer), WH_WIRE_OK);
	CU_ASSERT_EQUAL(answer.type, WH_PACKET_COOKIE);
	CU_ASSERT_EQUAL(answer.flags, WH_FLAG_LATER);
	CU_ASSERT_EQUAL(answer.cookie.handshake, piece->crypto.handshake);
	CU_ASSERT_EQUAL(memcmp(answer.cookie.cookie, piece->crypto.cookie, WH_COOKIE_BYTES), 0);
	/* One in a millisecond. */
	CU_ASSERT_EQUAL(input(now_tsc, piece, from, &out), 0);
}

static void cookies(void)
{
	struct wh_packet piece = {.type = WH_PACKET_CRYPTO, .crypto = {.bytes = 5}};
	uint8_t head[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = head};
	struct wh_cookie cookie;

	begin(true, true);
	cookie = ask(5 * HZ, 4711);
	piece.crypto.handshake = 4711;
	is_put_off(6 * HZ - 1, &piece, &peer);
	CU_ASSERT_EQUAL(handed_over(), 0);
	memcpy(piece.crypto.cookie, cookie.cookie, sizeof(cookie.cookie));
	CU_ASSERT_EQUAL(input(6 * HZ, &piece, &other, &out), 0);
	CU_ASSERT_EQUAL(handed_over(), 0);
	CU_ASSERT_EQUAL(endpoint.stats.bad_cookie_pkts, 3);
	CU_ASSERT_EQUAL(input(6 * HZ, &piece, &peer, &out), 0);
	CU_ASSERT_EQUAL_FATAL(handed_over(), 1);

	const struct wh_handshake_datagram *datagram =
		(const struct wh_handshake_datagram *)wh_slot_fifo_peek(&endpoint.datagrams_in)
			->data;

	CU_ASSERT(wh_address_equal(&datagram->peer, &peer));
	CU_ASSERT_EQUAL(datagram->queue, 3);
	CU_ASSERT_EQUAL(datagram->rtt_us, 1000000);
	CU_ASSERT_EQUAL(datagram->bytes, 64 + 4 + 5);
	CU_ASSERT_EQUAL(memcmp(datagram->via, "\1\2\3\4\5\6", 6), 0);

	/* Until it is too old. */
	CU_ASSERT_EQUAL(input(30 * HZ, &piece, &peer, &out), 0);
	CU_ASSERT_EQUAL(handed_over(), 2);
	is_put_off(30 * HZ + 1000, &piece, &peer);
	CU_ASSERT_EQUAL(handed_over(), 2);
	wh_endpoint_free(&endpoint);
}

/* A cookie that was told is of who comes with it first, and of one handshake. */
static void told_cookie(void)
{
	struct wh_packet piece = {.type = WH_PACKET_CRYPTO, .crypto = {.bytes = 5}};
	uint8_t head[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = head};
	const struct wh_handshake_datagram *datagram;

	begin(true, true);
	memset(endpoint.config.told_cookie, 9, WH_COOKIE_BYTES);
	memset(piece.crypto.cookie, 9, WH_COOKIE_BYTES);
	piece.crypto.cookie[WH_COOKIE_BYTES - 1] = 8;
	piece.crypto.handshake = 4711;
	is_put_off(HZ, &piece, &other);
	piece.crypto.cookie[WH_COOKIE_BYTES - 1] = 9;
	for (uint32_t i = 1; i <= 2; i++) {
		CU_ASSERT_EQUAL(input(2 * HZ, &piece, &peer, &out), 0);
		CU_ASSERT_EQUAL_FATAL(handed_over(), i);
	}
	datagram = (const struct wh_handshake_datagram *)wh_slot_fifo_peek(&endpoint.datagrams_in)
			   ->data;
	CU_ASSERT_EQUAL(datagram->rtt_us, 0);
	is_put_off(3 * HZ, &piece, &other);
	piece.crypto.handshake = 4712;
	is_put_off(4 * HZ, &piece, &peer);
	CU_ASSERT_EQUAL(handed_over(), 2);
	wh_endpoint_free(&endpoint);

	/* Zeros are none. */
	begin(true, true);
	memset(piece.crypto.cookie, 0, WH_COOKIE_BYTES);
	is_put_off(HZ, &piece, &peer);
	CU_ASSERT_EQUAL(handed_over(), 0);
	wh_endpoint_free(&endpoint);
}

/* Answers to handshakes of ours: whoever does not know the number is not heard. */
static void answers(void)
{
	struct wh_packet answer = {.type = WH_PACKET_COOKIE};
	uint8_t head[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = head};
	uint64_t number;

	begin(true, false);
	number = wh_handshake_number(endpoint.listener.key, &peer);
	answer.cookie.handshake = number ^ 1;
	CU_ASSERT_EQUAL(input(HZ, &answer, &peer, &out), 0);
	answer.cookie.handshake = number;
	CU_ASSERT_EQUAL(input(HZ, &answer, &other, &out), 0);
	CU_ASSERT_EQUAL(handed_over(), 0);
	CU_ASSERT_EQUAL(input(HZ, &answer, &peer, &out), 0);
	CU_ASSERT_EQUAL(handed_over(), 1);
	answer = (struct wh_packet){
		.type = WH_PACKET_CRYPTO, .flags = WH_FLAG_ANSWER, .crypto = {.handshake = number}};
	CU_ASSERT_EQUAL(input(HZ, &answer, &peer, &out), 0);
	CU_ASSERT_EQUAL(handed_over(), 2);

	/* Who listens to nobody gives no cookies. */
	const struct wh_packet question = {.type = WH_PACKET_ASK};

	CU_ASSERT_EQUAL(input(HZ, &question, &peer, &out), 0);
	wh_endpoint_free(&endpoint);
}

/* What is too much is lost, and counted; the rest waits. */
static void bounded(void)
{
	struct wh_packet answer = {.type = WH_PACKET_COOKIE};
	uint8_t head[WH_CONTROL_BYTES_MAX];
	struct wh_out out = {.head = head};

	begin(true, true);
	answer.cookie.handshake = wh_handshake_number(endpoint.listener.key, &peer);
	for (uint32_t i = 0; i < 300; i++)
		input(HZ, &answer, &peer, &out);
	CU_ASSERT_EQUAL(handed_over(), 255);
	CU_ASSERT_EQUAL(endpoint.stats.datagrams_dropped_pkts, 45);
	wh_endpoint_free(&endpoint);

	/* Without a handshake server they are of no session. */
	begin(false, true);
	CU_ASSERT_EQUAL(input(HZ, &answer, &peer, &out), 0);
	CU_ASSERT_EQUAL(endpoint.stats.no_session_pkts, 1);
	/* Who asks is told so, by a cookie of zeros. */
	static const uint8_t zeros[WH_COOKIE_BYTES];
	struct wh_cookie none = ask(HZ, 4711);

	CU_ASSERT_EQUAL(memcmp(none.cookie, zeros, sizeof(zeros)), 0);
	wh_endpoint_free(&endpoint);
}

static void post(bool is_answer, uint8_t byte)
{
	struct wh_slot *slot = wh_slot_fifo_reserve(&endpoint.datagrams_out);
	struct wh_handshake_datagram *datagram;

	CU_ASSERT_PTR_NOT_NULL_FATAL(slot);
	datagram = (struct wh_handshake_datagram *)slot->data;
	*datagram = (struct wh_handshake_datagram){
		.peer = is_answer ? peer : other,
		.bytes = 70,
		.is_answer = is_answer,
		.via = {9},
	};
	memset(datagram->packet, byte, datagram->bytes);
	slot->bytes = sizeof(*datagram);
	wh_slot_fifo_commit(&endpoint.datagrams_out);
}

/* Those to strangers go back by where they came from, others as neighbours are found. */
static void out_again(void)
{
	uint8_t heads[2][WH_CONTROL_BYTES_MAX];
	struct wh_out out[2] = {{.head = heads[0]}, {.head = heads[1]}};
	const uint8_t *via;

	begin(true, true);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&endpoint), UINT64_MAX);
	post(true, 1);
	post(false, 2);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&endpoint), 0);
	CU_ASSERT_EQUAL(wh_endpoint_output(&endpoint, HZ, out, 0), 0);
	CU_ASSERT_EQUAL(wh_endpoint_output(&endpoint, HZ, out, 2), 2);
	CU_ASSERT_EQUAL(out[0].head_bytes, 70);
	CU_ASSERT_EQUAL(heads[0][69], 1);
	CU_ASSERT(wh_endpoint_is_reply(&endpoint, out[0].to, &via));
	CU_ASSERT_EQUAL(via[0], 9);
	CU_ASSERT(wh_address_equal(out[0].to, &peer));
	CU_ASSERT_EQUAL(heads[1][69], 2);
	CU_ASSERT_FALSE(wh_endpoint_is_reply(&endpoint, out[1].to, &via));
	CU_ASSERT(wh_address_equal(out[1].to, &other));
	CU_ASSERT_EQUAL(wh_endpoint_output(&endpoint, HZ, out, 2), 0);
	CU_ASSERT_EQUAL(wh_endpoint_send_deadline(&endpoint), UINT64_MAX);
	wh_endpoint_free(&endpoint);
}

/* Questions by the hundred: handshakes that go on have every second place. */
static void in_turns(void)
{
	uint8_t heads[WH_ENDPOINT_DATAGRAMS + 2][WH_CONTROL_BYTES_MAX];
	struct wh_out out[WH_ENDPOINT_DATAGRAMS + 2];
	const struct wh_packet packet = {.type = WH_PACKET_ASK, .ask = {.handshake = 1}};
	uint32_t datagrams = 0;

	for (uint32_t i = 0; i < WH_ENDPOINT_DATAGRAMS + 2; i++)
		out[i].head = heads[i];
	begin(true, true);
	for (uint32_t i = 0; i < 100; i++) {
		uint8_t bytes[WH_CONTROL_BYTES_MAX];
		uint32_t length = wh_packet_encode(&packet, bytes, sizeof(bytes));

		wh_seal_close_packet(&wh_seal_to_listener, bytes, length);
		wh_endpoint_input(&endpoint, HZ, HZ, bytes, length, &other);
		post(true, 1);
	}
	CU_ASSERT_EQUAL(wh_endpoint_output(&endpoint, HZ, out, WH_ENDPOINT_DATAGRAMS + 2),
		WH_ENDPOINT_DATAGRAMS);
	for (uint32_t i = 0; i < WH_ENDPOINT_DATAGRAMS; i++)
		datagrams += wh_address_equal(out[i].to, &peer);
	CU_ASSERT_EQUAL(datagrams, WH_ENDPOINT_DATAGRAMS / 2);
	wh_endpoint_free(&endpoint);
}

CU_TestInfo wh_tests[] = {
	{"in turns", in_turns},
	{"cookies", cookies},
	{"told cookie", told_cookie},
	{"answers", answers},
	{"bounded", bounded},
	{"out again", out_again},
	CU_TEST_INFO_NULL,
};
