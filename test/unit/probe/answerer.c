/* SPDX-License-Identifier: BSD-3-Clause */
/* What a stranger may make the answerer do, and what he may not. */

#include "base/clock.h"
#include "base/prng.h"
#include "closed.h"
#include "probe/answerer.h"
#include "unit.h"

const char wh_suite_name[] = "answerer";

#define HZ    UINT64_C(1000000000)
#define ROOM  300
#define TOKEN UINT64_C(0x0123456789abcdef)

struct house {
	struct wh_answerer answerer;
	enum wh_release_status welcome;
	bool sealed;
	uint64_t now_tsc;
	uint8_t answer[WH_CONTROL_BYTES_MAX];
	uint32_t answer_bytes;
	enum wh_wire_reason reason;
};

static enum wh_release_status welcome(
	void *context, uint64_t now_tsc, const struct wh_address *peer, const struct wh_sa *sa)
{
	const struct house *house = context;

	CU_ASSERT_EQUAL(now_tsc, house->now_tsc);
	CU_ASSERT_EQUAL(peer->family, WH_IPV4);
	CU_ASSERT_EQUAL(sa != NULL, house->sealed);
	return house->welcome;
}

static void open_house(struct house *house)
{
	const struct wh_answerer_config config = {
		.hz = HZ, .key = {9}, .room_pkts = ROOM, .welcome = welcome, .context = house};

	*house = (struct house){.now_tsc = 5 * HZ};
	CU_ASSERT_EQUAL_FATAL(wh_answerer_init(&house->answerer, &config), 0);
}

static struct wh_address address(uint8_t host, uint16_t port)
{
	return (struct wh_address){.family = WH_IPV4, .ip = {10, 0, 0, host}, .port = port};
}

static void say(struct house *house, const struct wh_address *from, uint8_t flags, uint64_t token,
	struct wh_probe probe)
{
	static uint8_t bytes[WH_HEAD_BYTES + WH_PAYLOAD_BYTES_MAX];
	struct wh_packet packet = {.type = WH_PACKET_PROBE, .flags = flags, .probe = probe};
	uint32_t length = closed_encode(&packet, token, bytes, sizeof(bytes));

	CU_ASSERT_EQUAL_FATAL(wh_packet_peek(bytes, length, &packet), WH_WIRE_OK);
	house->reason = wh_answerer_input(&house->answerer, house->now_tsc, house->now_tsc, bytes,
		length, from, &packet, house->answer, &house->answer_bytes);
	CU_ASSERT(house->answer_bytes <= length);
}

/* The answer, opened with a token; n_words 999: there is none that it opens. */
static struct wh_probe_answer heard(struct house *house, uint64_t token)
{
	struct wh_packet packet;
	struct wh_seal seal;

	wh_seal_begin_checksum(&seal, token);
	if (house->answer_bytes == 0 ||
		wh_seal_open_packet(&seal, house->answer, house->answer_bytes) != WH_WIRE_OK ||
		wh_packet_decode(house->answer, house->answer_bytes, &packet) != WH_WIRE_OK)
		return (struct wh_probe_answer){.n_words = 999};
	return packet.probe_answer;
}

/* Places that somebody has who has not left without a word. */
static uint32_t tenants(const struct house *house)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < WH_ANSWERER_PLACES; i++)
		count += house->answerer.place[i].made_us != 0 &&
			 house->now_tsc - house->answerer.place[i].heard_tsc <=
				 WH_ANSWERER_PATIENCE_S * HZ;
	return count;
}

struct asker {
	struct wh_address address;
	uint64_t made_us;
	uint64_t token;
};

static struct asker ask(struct house *house, struct wh_address from)
{
	say(house, &from, WH_FLAG_ASK, 0,
		(struct wh_probe){.stamp_ns = TOKEN, .count = 1, .padding_bytes = 16});

	const struct wh_probe_answer answer = heard(house, TOKEN);

	CU_ASSERT_EQUAL_FATAL(answer.n_words, 2);
	CU_ASSERT_EQUAL(answer.total, ROOM);
	return (struct asker){from, answer.words[0], answer.words[1]};
}

static void train(
	struct house *house, const struct asker *asker, uint16_t number, uint32_t i, uint32_t count)
{
	say(house, &asker->address, 0, asker->token,
		(struct wh_probe){
			.made_us = asker->made_us, .index = i, .count = count, .train = number});
}

static struct wh_probe_answer fetch(struct house *house, const struct asker *asker, uint16_t number,
	uint32_t i, uint16_t padding)
{
	say(house, &asker->address, WH_FLAG_FETCH, asker->token,
		(struct wh_probe){.made_us = asker->made_us,
			.index = i,
			.count = WH_PROBE_PKTS_MAX,
			.padding_bytes = padding,
			.train = number});
	return heard(house, asker->token);
}

static void a_train(void)
{
	struct house house;

	open_house(&house);

	struct asker asker = ask(&house, address(1, 1));
	static const uint32_t order[] = {0, 2, 1, 4, 4};

	for (uint32_t i = 0; i < 5; i++, house.now_tsc += 1500)
		train(&house, &asker, 7, order[i], 6);

	struct wh_probe_answer answer = fetch(&house, &asker, 7, 0, 1024);

	CU_ASSERT_EQUAL(answer.total, 5);
	CU_ASSERT_EQUAL(answer.heard, 5);
	CU_ASSERT_EQUAL_FATAL(answer.n_words, 5);
	for (uint32_t i = 0; i < 5; i++)
		CU_ASSERT_EQUAL(answer.words[i], (uint64_t)i * 1500 << 32 | order[i]);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 7, 3, 1024).n_words, 2);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 7, 5, 1024).n_words, 0);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 7, 6, 1024).total, 0); /* there are no six */
	/* As much as the question has room for. */
	CU_ASSERT_EQUAL(fetch(&house, &asker, 7, 0, 31).n_words, 3);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 7, 0, 0).n_words, 0);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 8, 0, 1024).total, 0);
	wh_answerer_free(&house.answerer);
}

static void trains_follow_each_other(void)
{
	struct house house;

	open_house(&house);

	struct asker asker = ask(&house, address(1, 1));

	train(&house, &asker, 3, 0, 4);
	train(&house, &asker, 5, 1, 2);
	CU_ASSERT_EQUAL(house.answerer.stats.stale_pkts, 0);
	train(&house, &asker, 3, 1, 4); /* late */
	train(&house, &asker, 5, 2, 3); /* of another length */
	CU_ASSERT_EQUAL(house.answerer.stats.stale_pkts, 2);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 5, 0, 1024).total, 1);
	/* More than there is room for is counted, not noted. */
	for (uint32_t i = 0; i < ROOM + 50; i++)
		train(&house, &asker, 6, i % 400, 400);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 6, 0, 1024).total, ROOM);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 6, 0, 1024).heard, ROOM + 50);
	CU_ASSERT_EQUAL(fetch(&house, &asker, 6, 256, 1024).n_words, ROOM - 256);
	wh_answerer_free(&house.answerer);
}

static void nobody_without_a_cookie(void)
{
	struct house house;

	open_house(&house);

	struct asker asker = ask(&house, address(1, 1));
	struct asker forged = asker, moved = asker, shifted = asker;

	CU_ASSERT_EQUAL(tenants(&house), 0);
	forged.token++;
	moved.address = address(2, 1);
	shifted.address = address(1, 2);
	train(&house, &forged, 1, 0, 1);
	CU_ASSERT_EQUAL(house.reason, WH_WIRE_TAG);
	train(&house, &moved, 1, 0, 1);
	CU_ASSERT_EQUAL(house.reason, WH_WIRE_TAG);
	train(&house, &shifted, 1, 0, 1);
	CU_ASSERT_EQUAL(house.reason, WH_WIRE_TAG);
	forged = asker;
	forged.made_us += 10 * WH_US_PER_S; /* not made yet */
	train(&house, &forged, 1, 0, 1);
	forged.made_us = 0;
	train(&house, &forged, 1, 0, 1);
	CU_ASSERT_EQUAL(house.answerer.stats.bad_cookie_pkts, 2);
	CU_ASSERT_EQUAL(house.answerer.stats.probes, 0);
	CU_ASSERT_EQUAL(house.answerer.stats.train_pkts, 0);
	CU_ASSERT_EQUAL(tenants(&house), 0);
	/* For so long, and no longer. */
	house.now_tsc += WH_ANSWERER_LIFETIME_S * HZ;
	train(&house, &asker, 1, 0, 1);
	CU_ASSERT_EQUAL(house.answerer.stats.probes, 1);
	house.now_tsc += HZ / 1000;
	train(&house, &asker, 1, 0, 1);
	CU_ASSERT_EQUAL(house.answerer.stats.bad_cookie_pkts, 3);
	wh_answerer_free(&house.answerer);
}

static void no_answer_without_a_question_as_long(void)
{
	struct house house;
	struct wh_address from = address(1, 1);

	open_house(&house);
	for (uint16_t padding = 0; padding < 16; padding++) {
		say(&house, &from, WH_FLAG_ASK, 0,
			(struct wh_probe){.count = 1, .padding_bytes = padding});
		CU_ASSERT_EQUAL(house.reason, WH_WIRE_SHORT);
		CU_ASSERT_EQUAL(house.answer_bytes, 0);
	}

	struct asker asker = ask(&house, from);

	CU_ASSERT_EQUAL(house.answer_bytes, 80);
	train(&house, &asker, 1, 0, 1);
	CU_ASSERT_EQUAL(house.answer_bytes, 0);
	say(&house, &from, WH_FLAG_ECHO, asker.token,
		(struct wh_probe){.made_us = asker.made_us, .count = 1, .padding_bytes = 9000});
	CU_ASSERT_EQUAL(house.answer_bytes, 64);
	CU_ASSERT_EQUAL(heard(&house, asker.token).heard, 1);
	wh_answerer_free(&house.answerer);
}

static void places(void)
{
	struct house house;

	open_house(&house);

	struct asker first = ask(&house, address(1, 1));
	struct asker second = ask(&house, address(2, 1));
	struct asker third = ask(&house, address(3, 1));

	train(&house, &first, 1, 0, 1);
	train(&house, &second, 1, 0, 1);
	train(&house, &third, 1, 0, 1);
	CU_ASSERT_EQUAL(house.answerer.stats.no_place_pkts, 1);
	CU_ASSERT_EQUAL(tenants(&house), 2);
	say(&house, &third.address, WH_FLAG_ASK, 0,
		(struct wh_probe){.stamp_ns = TOKEN, .count = 1, .padding_bytes = 16});
	CU_ASSERT_EQUAL(heard(&house, TOKEN).status, WH_STATUS_BUSY);
	/* A host has one place: whom it proves next takes that, and no other. */
	house.now_tsc += HZ;

	struct asker again = ask(&house, address(1, 2));

	train(&house, &again, 1, 0, 1);
	CU_ASSERT_EQUAL(house.answerer.stats.probes, 3);
	CU_ASSERT_EQUAL(tenants(&house), 2);
	train(&house, &first, 1, 0, 1); /* of before */
	CU_ASSERT_EQUAL(house.answerer.stats.no_place_pkts, 2);
	/* Who is silent has left. */
	house.now_tsc += WH_ANSWERER_PATIENCE_S * HZ + 1;
	CU_ASSERT_EQUAL(tenants(&house), 0);
	train(&house, &third, 1, 0, 1);
	CU_ASSERT_EQUAL(house.answerer.stats.probes, 4);
	wh_answerer_free(&house.answerer);
}

static void not_welcome(void)
{
	struct house house;
	struct wh_address from = address(1, 1);

	open_house(&house);

	struct asker asker = ask(&house, from);

	train(&house, &asker, 1, 0, 1);
	house.welcome = WH_STATUS_BUSY;
	CU_ASSERT_EQUAL(fetch(&house, &asker, 1, 0, 1024).status, WH_STATUS_BUSY);
	house.welcome = WH_STATUS_REFUSED;
	say(&house, &from, WH_FLAG_ASK, 0,
		(struct wh_probe){.stamp_ns = TOKEN, .count = 1, .padding_bytes = 16});

	const struct wh_probe_answer answer = heard(&house, TOKEN);

	CU_ASSERT_EQUAL(answer.status, WH_STATUS_REFUSED);
	CU_ASSERT_EQUAL(answer.n_words, 0); /* no cookie */
	CU_ASSERT_EQUAL(house.answerer.stats.refused_asks, 1);
	wh_answerer_free(&house.answerer);
}

/* Of a good cookie, with any fields, and some with a byte changed before they are closed. */
static void any_packets(void)
{
	static const uint32_t edges[] = {0, 1, 2, ROOM - 1, ROOM, WH_PROBE_PKTS_MAX - 1};
	static const uint8_t flags[] = {0, WH_FLAG_ASK, WH_FLAG_ECHO, WH_FLAG_FETCH};
	static uint8_t bytes[WH_HEAD_BYTES + 1400];
	uint32_t answered = 0;
	struct wh_prng prng;
	struct house house;

	open_house(&house);
	wh_prng_init(&prng, 11);

	struct asker asker = ask(&house, address(1, 1));

	for (uint32_t i = 0; i < 100000; i++) {
		struct wh_packet packet = {.type = WH_PACKET_PROBE,
			.flags = flags[wh_prng_below(&prng, 4)],
			.probe = {.made_us = asker.made_us,
				.index = edges[wh_prng_below(&prng, 6)],
				.count = WH_PROBE_PKTS_MAX,
				.train = (uint16_t)(i / 600),
				.padding_bytes = (uint16_t)wh_prng_below(&prng, 1400)}};
		uint64_t token = packet.flags == WH_FLAG_ASK ? 0 : asker.token;
		uint32_t length = closed_encode(&packet, token, bytes, sizeof(bytes));

		if (wh_prng_below(&prng, 4) == 0) {
			bytes[16 + wh_prng_below(&prng, 32)] = (uint8_t)wh_prng_u64(&prng);
			closed_tag(bytes, length, token);
		}
		CU_ASSERT_EQUAL_FATAL(wh_packet_peek(bytes, length, &packet), WH_WIRE_OK);
		house.now_tsc += wh_prng_below(&prng, 1000);
		wh_answerer_input(&house.answerer, house.now_tsc, house.now_tsc, bytes, length,
			&asker.address, &packet, house.answer, &house.answer_bytes);
		CU_ASSERT_FATAL(house.answer_bytes <= length);
		answered += house.answer_bytes > 0;
	}
	CU_ASSERT(answered > 10000);
	/* A number far ahead ends all trains before it. */
	CU_ASSERT(house.answerer.stats.train_pkts > 0);
	CU_ASSERT(house.answerer.stats.stale_pkts > 1000);
	wh_answerer_free(&house.answerer);
}

CU_TestInfo wh_tests[] = {
	{"a train", a_train},
	{"trains follow each other", trains_follow_each_other},
	{"nobody without a cookie", nobody_without_a_cookie},
	{"no answer without a question as long", no_answer_without_a_question_as_long},
	{"places", places},
	{"not welcome", not_welcome},
	{"any packets", any_packets},
	CU_TEST_INFO_NULL,
};
