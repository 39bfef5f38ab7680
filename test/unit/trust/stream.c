/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/prng.h"
#include "trust/stream.h"
#include "unit.h"

const char wh_suite_name[] = "stream";

#define HZ UINT64_C(1000000000)
#define MS (HZ / 1000)

static struct wh_stream a, b;
static uint8_t text[WH_CRYPTO_STREAM_MAX];

static void begin(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 1);
	for (uint32_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)wh_prng_u64(&prng);
	wh_stream_init(&a, HZ, 20 * MS, true);
	wh_stream_init(&b, HZ, 0, false);
}

static void cut_and_acked(void)
{
	struct wh_crypto packet;
	const uint8_t *bytes;

	begin();
	CU_ASSERT_FALSE(wh_stream_output(&a, 0, 1132, &packet));
	CU_ASSERT(wh_stream_write(&a, text, 1500));
	CU_ASSERT(wh_stream_output(&a, 5, 1132, &packet));
	CU_ASSERT_EQUAL(packet.offset, 0);
	CU_ASSERT_EQUAL(packet.bytes, 1132);
	CU_ASSERT(wh_stream_input(&b, 6, &packet));
	CU_ASSERT(wh_stream_output(&a, 7, 1132, &packet));
	CU_ASSERT_EQUAL(packet.offset, 1132);
	CU_ASSERT_EQUAL(packet.bytes, 368);
	CU_ASSERT_FALSE(wh_stream_output(&a, 8, 1132, &packet));
	CU_ASSERT(wh_stream_input(&b, 9, &packet));
	CU_ASSERT_EQUAL(wh_stream_read(&b, &bytes), 1500);
	CU_ASSERT_EQUAL(memcmp(bytes, text, 1500), 0);
	CU_ASSERT_EQUAL(wh_stream_read(&b, &bytes), 0);
	CU_ASSERT(wh_stream_output(&b, 10, 1132, &packet));
	CU_ASSERT_EQUAL(packet.acked, 1500);
	CU_ASSERT_EQUAL(packet.bytes, 0);
	CU_ASSERT_FALSE(wh_stream_output(&b, 10, 1132, &packet));
	CU_ASSERT_FALSE(wh_stream_is_acked(&a));
	CU_ASSERT(wh_stream_input(&a, 11, &packet));
	CU_ASSERT(wh_stream_is_acked(&a));
	/* An acknowledgement is not answered. */
	CU_ASSERT_FALSE(wh_stream_output(&a, 12, 1132, &packet));
}

/* Of 20 ms there and back, after 60 ms, and then after twice as long each time, up to 2 s. */
static void again_and_again(void)
{
	static const uint32_t at_ms[] = {60, 180, 420, 900, 1860, 3780, 5780, 7780};
	struct wh_crypto packet;

	begin();
	wh_stream_write(&a, text, 100);
	CU_ASSERT(wh_stream_output(&a, 0, 1132, &packet));
	for (size_t i = 0; i < sizeof(at_ms) / sizeof(at_ms[0]); i++) {
		CU_ASSERT_FALSE(wh_stream_output(&a, at_ms[i] * MS - 1, 1132, &packet));
		CU_ASSERT(wh_stream_output(&a, at_ms[i] * MS, 1132, &packet));
		CU_ASSERT_EQUAL(packet.offset, 0);
		CU_ASSERT_EQUAL(packet.bytes, 100);
	}
}

/* Who asks goes on asking, though all that he said is known; the other end does not. */
static void goes_on_asking(void)
{
	struct wh_crypto packet = {.acked = 0};

	begin();
	wh_stream_write(&a, text, 100);
	wh_stream_output(&a, 0, 1132, &packet);
	wh_stream_input(&b, 0, &packet);
	wh_stream_output(&b, 0, 1132, &packet);
	wh_stream_input(&a, 20 * MS, &packet);
	CU_ASSERT(wh_stream_is_acked(&a));
	CU_ASSERT(wh_stream_output(&a, 80 * MS, 1132, &packet));
	CU_ASSERT_EQUAL(packet.bytes, 0);
	CU_ASSERT_EQUAL(packet.offset, 100);
	a.asks = false;
}

static void limits(void)
{
	struct wh_crypto packet = {.acked = 1};

	begin();
	CU_ASSERT_FALSE(wh_stream_input(&a, 0, &packet)); /* nothing was sent */
	CU_ASSERT(wh_stream_write(&a, text, WH_CRYPTO_STREAM_MAX - 1));
	CU_ASSERT_FALSE(wh_stream_write(&a, text, 2));
	CU_ASSERT(wh_stream_write(&a, text, 1));
	CU_ASSERT_FALSE(wh_stream_write(&a, text, 1));
	CU_ASSERT(wh_stream_input(&a, 0, &packet));
	packet.acked = WH_CRYPTO_STREAM_MAX;
	CU_ASSERT(wh_stream_input(&a, 0, &packet));
	CU_ASSERT(wh_stream_is_acked(&a));
	packet.offset = WH_CRYPTO_STREAM_MAX - WH_CRYPTO_BYTES_MAX;
	packet.bytes = WH_CRYPTO_BYTES_MAX;
	CU_ASSERT(wh_stream_input(&a, 0, &packet));
	CU_ASSERT_EQUAL(a.in_whole, 0);
}

/* Overlaps that do not agree: what came first stays. */
static void overlaps(void)
{
	struct wh_crypto packet = {.bytes = 10, .offset = 5};
	const uint8_t *bytes;

	begin();
	memset(packet.data, 1, 10);
	CU_ASSERT(wh_stream_input(&a, 0, &packet));
	CU_ASSERT_EQUAL(wh_stream_read(&a, &bytes), 0);
	packet.offset = 0;
	memset(packet.data, 2, 10);
	CU_ASSERT(wh_stream_input(&a, 0, &packet));
	CU_ASSERT_EQUAL(wh_stream_read(&a, &bytes), 15);
	for (uint32_t i = 0; i < 15; i++)
		CU_ASSERT_EQUAL(bytes[i], i < 5 ? 2 : 1);
}

/* Both ways at once, lost, repeated, and in any order: all bytes come, in their order. */
static void troubled(void)
{
	struct flying {
		uint64_t at_tsc;
		bool to_a;
		struct wh_crypto packet;
	};
	static struct flying flying[512];

	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct wh_prng prng;
		uint32_t got[2] = {0}, count = 0;
		uint64_t now_tsc = 0;

		begin();
		wh_prng_init(&prng, seed);
		wh_stream_write(&a, text, 9000);
		wh_stream_write(&b, text, 7000);
		for (; got[0] < 7000 || got[1] < 9000; now_tsc += MS) {
			CU_ASSERT_FATAL(now_tsc < 300 * HZ);
			for (uint32_t way = 0; way < 2; way++) {
				struct wh_crypto packet;

				if (count == 512 ||
					!wh_stream_output(way ? &b : &a, now_tsc, 500, &packet))
					continue;
				for (uint64_t n = wh_prng_below(&prng, 3); n > 0 && count < 512;
					n--)
					flying[count++] = (struct flying){
						now_tsc + wh_prng_below(&prng, 100) * MS, way,
						packet};
			}
			for (uint32_t i = 0; i < count;) {
				struct flying one = flying[i];
				const uint8_t *bytes;

				if (one.at_tsc > now_tsc) {
					i++;
					continue;
				}
				flying[i] = flying[--count];
				CU_ASSERT(
					wh_stream_input(one.to_a ? &a : &b, now_tsc, &one.packet));

				uint32_t end = one.to_a ? 0 : 1;
				uint32_t came = wh_stream_read(one.to_a ? &a : &b, &bytes);

				CU_ASSERT_EQUAL(memcmp(bytes, text + got[end], came), 0);
				got[end] += came;
			}
		}
	}
}

CU_TestInfo wh_tests[] = {
	{"cut and acknowledged", cut_and_acked},
	{"again and again", again_and_again},
	{"goes on asking", goes_on_asking},
	{"limits", limits},
	{"overlaps", overlaps},
	{"troubled", troubled},
	CU_TEST_INFO_NULL,
};
