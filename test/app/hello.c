/* SPDX-License-Identifier: BSD-3-Clause */

/* What a peer may ask for: every number of it goes into the making of a stream. */

#include <CUnit/CUnit.h>

#include <stdlib.h>
#include <string.h>

#include "base/prng.h"
#include "endpoint/lifecycle.h"
#include "fec/fec.h"
#include "job/hello.h"
#include "session/session.h"
#include "unit.h"
#include "wire/encap.h"

const char wh_suite_name[] = "app/hello";

#define HZ UINT64_C(1000000000)

/* Of MTU 1500 over IPv4, with tables as a server has them. */
#define PAYLOAD 1408

static struct wh_peer_bounds bounds_of(uint32_t payload_bytes)
{
	return (struct wh_peer_bounds){
		.payload_bytes = payload_bytes,
		.fec = wh_repair_limits(
			WH_CHUNK_BYTES_DEFAULT, WH_STREAM_PAYLOAD_BYTES_MIN, payload_bytes),
	};
}

static struct wh_request own_request(void)
{
	struct wh_request own = {.lanes = 1, .rate_bps = WH_RATE_MAX};

	wh_repair_options_init(&own.repair);
	return own;
}

static struct wh_hello usual(enum wh_job_verb verb)
{
	return (struct wh_hello){
		.version = WH_BUNDLE_VERSION,
		.verb = (uint8_t)verb,
		.profile = 1,
		.lanes = 1,
		.payload_bytes = PAYLOAD,
		.rate_bps = UINT64_MAX,
		.bench_ns = HZ,
		.transfer = 1,
	};
}

static uint32_t chunk_bytes_of(const struct wh_hello *hello)
{
	return wh_verb_client_sends(hello->verb, hello->reverse) ? WH_CHUNK_BYTES_DEFAULT
								 : WH_ANSWER_CHUNK_BYTES;
}

static bool is_possible(const struct wh_hello *hello)
{
	const struct wh_peer_bounds bounds = bounds_of(PAYLOAD);
	const struct wh_request own = own_request();

	return wh_hello_is_possible(hello, chunk_bytes_of(hello), &bounds, &own);
}

static void test_usual(void)
{
	for (int verb = WH_JOB_SEND; verb <= WH_JOB_IDLE; verb++) {
		struct wh_hello hello = usual((enum wh_job_verb)verb);

		CU_ASSERT_TRUE(is_possible(&hello));
	}
}

/* What a client has set of a profile's options, and nothing else, is what its server sends by. */
static void test_options(void)
{
	const struct wh_profile *udt = wh_profile_find("udt");
	const struct wh_request own = own_request();
	struct wh_request wanted = own_request();

	wanted.verb = WH_JOB_GET;
	wanted.profile = udt;
	wh_profile_options_init(&wanted.options, udt);

	struct wh_hello hello = wh_hello_of_request(&wanted, PAYLOAD);

	CU_ASSERT_EQUAL(hello.options, 0);
	CU_ASSERT_EQUAL(wh_profile_options_set(&wanted.options, udt, "beta", "1e-6"), 0);
	CU_ASSERT_EQUAL(wh_profile_options_set(&wanted.options, udt, "one_way", "on"), 0);
	hello = wh_hello_of_request(&wanted, PAYLOAD);
	CU_ASSERT_EQUAL(__builtin_popcount(hello.options), 2);

	struct wh_request taken = wh_hello_request(&hello, &own);

	CU_ASSERT_PTR_EQUAL(taken.profile, udt);
	CU_ASSERT_EQUAL(memcmp(&taken.options, &wanted.options, sizeof(taken.options)), 0);
}

/* Each of them is possible, both together are not. */
static void test_options_at_odds(void)
{
	struct wh_request wanted = own_request();
	struct wh_hello hello;

	wanted.verb = WH_JOB_BENCH;
	wanted.reverse = true;
	wanted.time_ns = HZ;
	wanted.profile = wh_profile_find("ttp");
	wh_profile_options_init(&wanted.options, wanted.profile);
	CU_ASSERT_EQUAL(
		wh_profile_options_set(&wanted.options, wanted.profile, "max_rate", "1G"), 0);
	hello = wh_hello_of_request(&wanted, PAYLOAD);
	CU_ASSERT_TRUE(is_possible(&hello));
	CU_ASSERT_EQUAL(
		wh_profile_options_set(&wanted.options, wanted.profile, "min_rate", "2G"), 0);
	hello = wh_hello_of_request(&wanted, PAYLOAD);
	CU_ASSERT_FALSE(is_possible(&hello));
}

static void test_strange_options(void)
{
	static const struct {
		const char *profile;
		uint16_t options;
		double value; /* of each */
		bool possible;
	} cases[] = {
		{"fixed", 0, 1.0, true},
		{"fixed", 1, 0.0, false},
		{"udt", 1, 0.0, true},
		{"udt", 1, 0.5, false},
		{"udt", 1U << 4, 1.0, true},
		{"udt", 1U << 4, 1.5, false},
		{"udt", 1U << 4, 0.0 / 0.0, false},
		{"udt", 1U << 6, 1.0, true},
		{"udt", 1U << 8, 0.0, false},
		{"udt", 1U << 15, 0.0, false},
		{"udt", UINT16_MAX, 1.0, false},
		{"ttp", 1U << 6, 1024.0, true},
		{"ttp", 1U << 6, 1025.0, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_hello hello = usual(WH_JOB_SEND);

		hello.profile = wh_profile_find(cases[i].profile)->number;
		hello.options = cases[i].options;
		for (uint32_t o = 0; o < WH_HELLO_OPTIONS_MAX; o++)
			memcpy(&hello.option[o], &cases[i].value, sizeof(double));
		CU_ASSERT_EQUAL(is_possible(&hello), cases[i].possible);
	}
}

/* A member of a struct, and what it may be beside a usual peer's other ones. */
struct bound {
	const char *name;
	size_t at;
	size_t bytes;
	uint64_t low;
	uint64_t high;
};

#define BOUND(of, member, low, high)                                                               \
	{                                                                                          \
#member, offsetof(struct of, member), sizeof(((struct of *)NULL)->member), low,    \
			high                                                                       \
	}

static void put(void *record, const struct bound *bound, uint64_t value)
{
	memcpy((uint8_t *)record + bound->at, &value, bound->bytes);
}

static bool holds(const struct bound *bound, uint64_t value)
{
	return bound->bytes == sizeof(value) || value >> 8 * bound->bytes == 0;
}

/* At each bound, one below it and one above it: bit i of the answer is what was thought of it. */
static void meet_bounds(const struct bound *bound, bool (*judge)(const struct bound *, uint64_t))
{
	const struct {
		uint64_t value;
		bool exists;
		bool possible;
	} cases[] = {
		{bound->low - 1, bound->low > 0, false},
		{bound->low, true, true},
		{bound->low + 1, true, bound->high > bound->low},
		{bound->high - 1, bound->high > 0, bound->high > bound->low},
		{bound->high, true, true},
		{bound->high + 1, bound->high < UINT64_MAX, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (cases[i].exists && holds(bound, cases[i].value) &&
			judge(bound, cases[i].value) != cases[i].possible) {
			fprintf(stderr, "%s %llu\n", bound->name,
				(unsigned long long)cases[i].value);
			CU_FAIL("another bound");
		}
}

static bool judge_hello(const struct bound *bound, uint64_t value)
{
	struct wh_hello hello = usual(WH_JOB_BENCH);

	hello.reverse = true;
	put(&hello, bound, value);
	return is_possible(&hello);
}

static bool judge_lane(const struct bound *bound, uint64_t value)
{
	struct wh_hello hello = usual(WH_JOB_BENCH);

	hello.lanes = WH_LANES_MAX;
	put(&hello, bound, value);
	return is_possible(&hello);
}

static bool judge_open(const struct bound *bound, uint64_t value)
{
	const struct wh_peer_bounds bounds = bounds_of(PAYLOAD);
	struct wh_open_params params = {
		.profile = 1,
		.payload_bytes = PAYLOAD,
		.chunk_bytes = WH_CHUNK_BYTES_DEFAULT,
		.window_pkts = 1024,
		.period_us = wh_profile_by_number(1)->feedback.period_us,
		.object_bytes = WH_OBJECT_BYTES_UNKNOWN,
	};

	put(&params, bound, value);
	return wh_open_is_possible(&params, &bounds);
}

/* Lanes must be able to know each other. */
static void test_transfer(void)
{
	struct wh_hello hello = usual(WH_JOB_BENCH);

	hello.transfer = 0;
	CU_ASSERT_TRUE(is_possible(&hello));
	hello.lanes = 2;
	CU_ASSERT_FALSE(is_possible(&hello));
	hello.transfer = UINT64_MAX;
	CU_ASSERT_TRUE(is_possible(&hello));
}

/* What a session's makers assert, and what costs memory, is decided here: to the last one. */
static void test_bounds_of_hello(void)
{
	static const struct bound bounds[] = {
		BOUND(wh_hello, profile, 1, 8), /* that many there are */
		BOUND(wh_hello, lanes, 1, WH_LANES_MAX),
		BOUND(wh_hello, rate_bps, WH_RATE_MIN, UINT64_MAX),
		BOUND(wh_hello, bench_ns, 0, UINT64_C(86400) * HZ),
		BOUND(wh_hello, bench_bytes, 0, UINT64_C(1) << 50),
		BOUND(wh_hello, fec_code, 0, 2),
		BOUND(wh_hello, fec_k, 0, 0), /* without a code there are no blocks */
		BOUND(wh_hello, fec_r, 0, 0),
	};
	static const struct bound lane = BOUND(wh_hello, lane, 0, WH_LANES_MAX - 1);

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		meet_bounds(&bounds[i], judge_hello);
	meet_bounds(&lane, judge_lane);
}

static void test_bounds_of_open(void)
{
	const uint32_t period_us = wh_profile_by_number(1)->feedback.period_us;
	const struct bound bounds[] = {
		BOUND(wh_open_params, profile, 1, 3),
		BOUND(wh_open_params, period_us, period_us, period_us),
		BOUND(wh_open_params, window_pkts, 0, WH_STREAM_WINDOW_PKTS_MAX),
		BOUND(wh_open_params, chunk_bytes, WH_CHUNK_BYTES_DEFAULT, WH_CHUNK_BYTES_DEFAULT),
		BOUND(wh_open_params, object_bytes, UINT64_MAX, UINT64_MAX),
		BOUND(wh_open_params, repair_pkts, 0, 0), /* without recovery by them */
	};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		meet_bounds(&bounds[i], judge_open);
}

/* Answers are small chunks, and no others are to be had; a server cannot say it of its HELLO. */
static void test_chunks(void)
{
	static const struct bound chunk = BOUND(wh_open_params, chunk_bytes, 0, 0);
	const struct wh_peer_bounds bounds = bounds_of(PAYLOAD);
	const struct wh_request own = own_request();

	CU_ASSERT_TRUE(judge_open(&chunk, WH_ANSWER_CHUNK_BYTES));
	CU_ASSERT_FALSE(judge_open(&chunk, WH_CHUNK_BYTES_MIN));
	CU_ASSERT_FALSE(judge_open(&chunk, WH_CHUNK_BYTES_MAX));
	for (int verb = WH_JOB_SEND; verb <= WH_JOB_IDLE; verb++) {
		struct wh_hello hello = usual((enum wh_job_verb)verb);
		uint32_t other = WH_CHUNK_BYTES_DEFAULT + WH_ANSWER_CHUNK_BYTES;

		CU_ASSERT_FALSE(wh_hello_is_possible(
			&hello, other - chunk_bytes_of(&hello), &bounds, &own));
	}
}

/* Packets are divided into chunks by it, and OPEN carries no other. */
static void test_payload(void)
{
	static const struct bound payload = BOUND(wh_open_params, payload_bytes, 0, 0);
	static const uint32_t bytes[] = {
		0,
		1,
		31,
		32,
		33,
		1088,
		1119,
		1120,
		1121,
		1152,
		1407,
		1408,
		1409,
		1440,
		9184,
		9216,
		9217,
		9248,
	};

	CU_ASSERT_EQUAL(WH_STREAM_PAYLOAD_BYTES_MIN, 1120);
	CU_ASSERT_EQUAL(WH_STREAM_PAYLOAD_BYTES_MIN, wh_encap_payload_bytes(WH_IPV4, WH_MTU_MIN));
	CU_ASSERT_TRUE(wh_encap_payload_bytes(WH_IPV6, 1280) >= WH_STREAM_PAYLOAD_BYTES_MIN);
	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		bool aligned = bytes[i] % 32 == 0;

		CU_ASSERT_EQUAL(judge_open(&payload, bytes[i]),
			aligned && bytes[i] >= 1120 && bytes[i] <= PAYLOAD);
		for (int verb = WH_JOB_SEND; verb <= WH_JOB_BENCH; verb++) {
			struct wh_hello hello = usual((enum wh_job_verb)verb);

			/* Longer ones than ours it may take, and gets none. */
			hello.payload_bytes = bytes[i];
			CU_ASSERT_EQUAL(is_possible(&hello),
				aligned && bytes[i] >= 1120 && bytes[i] <= 9216);
			hello.payload_bytes = UINT32_C(1) << 16 | bytes[i];
			CU_ASSERT_FALSE(is_possible(&hello));
		}
	}
}

/* A block holds 255 packets, no more of them repair than data. */
static void test_repair(void)
{
	static const struct {
		uint8_t code;
		uint8_t k;
		uint8_t r;
		bool possible;
	} cases[] = {
		{0, 0, 0, true},
		{0, 128, 4, false},
		{1, 0, 0, true},
		{1, 128, 4, true},
		{2, 128, 4, true},
		{2, 0, 0, true},
		{3, 0, 0, false},
		{255, 128, 4, false},
		{1, 0, 4, false},
		{1, 128, 0, false},
		{1, 1, 1, true},
		{1, 1, 2, false},
		{1, 127, 127, true},
		{1, 128, 127, true},
		{1, 128, 128, false},
		{1, 254, 1, true},
		{1, 254, 2, false},
		{1, 255, 1, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int verb = WH_JOB_SEND; verb <= WH_JOB_BENCH; verb++) {
			struct wh_hello hello = usual((enum wh_job_verb)verb);

			hello.fec_code = cases[i].code;
			hello.fec_k = cases[i].k;
			hello.fec_r = cases[i].r;
			CU_ASSERT_EQUAL(is_possible(&hello), cases[i].possible);
		}
}

/* Tables for longer chunks than ours would be: whoever asks for them gets nothing. */
static void test_tables(void)
{
	const struct wh_request own = own_request();
	struct wh_hello hello = usual(WH_JOB_GET);
	struct wh_peer_bounds bounds = bounds_of(PAYLOAD);
	uint32_t *const limits[] = {&bounds.fec.k, &bounds.fec.r, &bounds.fec.symbol_bytes};

	hello.fec_code = WH_FEC_RS;
	hello.fec_k = 1;
	hello.fec_r = 1;
	/* 745 packets of data and as many of repair. */
	bounds.fec = (struct wh_fec_limits){.k = 745, .r = 745, .symbol_bytes = PAYLOAD};
	CU_ASSERT_TRUE(wh_hello_is_possible(&hello, WH_ANSWER_CHUNK_BYTES, &bounds, &own));
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		(*limits[i])--;
		CU_ASSERT_FALSE(wh_hello_is_possible(&hello, WH_ANSWER_CHUNK_BYTES, &bounds, &own));
		(*limits[i])++;
	}
	bounds.fec = (struct wh_fec_limits){0};
	CU_ASSERT_FALSE(wh_hello_is_possible(&hello, WH_ANSWER_CHUNK_BYTES, &bounds, &own));
}

/* A server keeps the names: as many as a chunk of answers holds. */
static void test_paths(void)
{
	struct wh_hello hello = usual(WH_JOB_GET);

	hello.paths = 4;
	for (uint32_t i = 0; i < 4; i++)
		hello.path_bytes[i] = 4080;
	CU_ASSERT_TRUE(is_possible(&hello));
	hello.path_bytes[2]++;
	CU_ASSERT_FALSE(is_possible(&hello));
	hello.path_bytes[3]--;
	CU_ASSERT_TRUE(is_possible(&hello));
}

/* One of no bytes is the server's root: it is told, and taken. */
static void test_empty_path(void)
{
	static const char *const paths[] = {"", "a"};
	struct wh_request wanted = own_request();
	uint8_t bytes[512];
	struct wh_record taken;

	wanted.verb = WH_JOB_GET;
	wanted.profile = wh_profile_find("fixed");
	wh_profile_options_init(&wanted.options, wanted.profile);
	wanted.there.path = paths;
	wanted.there.count = 2;
	CU_ASSERT_TRUE(wh_hello_fits(&wanted));

	const struct wh_record told = {
		.type = WH_RECORD_HELLO, .hello = wh_hello_of_request(&wanted, PAYLOAD)};
	uint32_t length = wh_record_encode(&told, bytes, sizeof(bytes));

	CU_ASSERT_EQUAL(wh_record_decode(bytes, length, &taken), length);
	CU_ASSERT_TRUE(is_possible(&taken.hello));
	CU_ASSERT_EQUAL(taken.hello.path_bytes[0], 0);
	CU_ASSERT_EQUAL(taken.hello.path_bytes[1], 1);
	CU_ASSERT_PTR_EQUAL(taken.hello.path[0], taken.hello.path[1]);
	CU_ASSERT_EQUAL(taken.hello.path[1][0], 'a');
}

static struct wh_hello random_hello(struct wh_prng *prng)
{
	static const uint64_t rates[] = {0, 1, WH_RATE_MIN, 10 * WH_RATE_MIN, UINT64_MAX};
	struct wh_hello hello = {
		.verb = (uint8_t)(WH_JOB_SEND + wh_prng_below(prng, 3)),
		.reverse = wh_prng_below(prng, 2),
		.profile = (uint8_t)wh_prng_below(prng, 5),
		.lanes = (uint16_t)wh_prng_below(prng, 70),
		.transfer = 1,
		.payload_bytes = (uint32_t)wh_prng_below(prng, 9300),
		.fec_code = (uint8_t)wh_prng_below(prng, 4),
		.rate_bps = rates[wh_prng_below(prng, 5)],
	};

	if (wh_prng_below(prng, 8) > 0)
		hello.payload_bytes -= hello.payload_bytes % 32;
	if (wh_prng_below(prng, 2) > 0) {
		hello.fec_k = (uint8_t)wh_prng_below(prng, 256);
		hello.fec_r = (uint8_t)wh_prng_below(prng, hello.fec_k + UINT64_C(2));
	}
	return hello;
}

/* A chunk of each length that is special goes through the codes. */
static void encode_chunks(struct wh_session *session, struct wh_fec *fec, uint32_t payload_bytes)
{
	const uint32_t bytes[] = {1, payload_bytes, payload_bytes + 1, WH_CHUNK_BYTES_DEFAULT};

	for (uint32_t i = 0; i < 4; i++) {
		struct wh_chunk *chunk = wh_fifo_pop(wh_session_free_chunks(session));

		chunk->number = i;
		chunk->bytes = bytes[i];
		memset(chunk->data, 0x5a, bytes[i]);
		CU_ASSERT_TRUE(wh_fifo_push(wh_session_ready_chunks(session), chunk));
		CU_ASSERT_EQUAL(wh_session_encode(session, fec), 1);
	}
}

static void open_stream(const struct wh_hello *hello, bool bundle,
	const struct wh_peer_bounds *bounds, struct wh_fec *fec)
{
	static const struct wh_address peer = {.family = WH_IPV4, .port = 5760};
	const struct wh_request own = own_request();
	const struct wh_request request = wh_hello_request(hello, &own);
	struct wh_session_config config;

	wh_session_config_init(&config);
	config.hz = HZ;
	wh_request_configure(&request, bundle, bounds, &config);
	config.packet_bytes = config.payload_bytes + 92;
	config.wire_bytes = config.payload_bytes + 130;
	config.chunks = 4;
	config.window_pkts = wh_stream_window(&config);
	config.rate_bps = hello->rate_bps / hello->lanes;
	config.chunk_memory =
		aligned_alloc(WH_CHUNK_ALIGN, config.chunks * wh_session_chunk_stride(&config));
	CU_ASSERT_PTR_NOT_NULL_FATAL(config.chunk_memory);

	struct wh_session *session =
		wh_session_open(&config, &peer, "reply", WH_OBJECT_BYTES_UNKNOWN);

	CU_ASSERT_PTR_NOT_NULL_FATAL(session);
	CU_ASSERT_TRUE(wh_open_is_possible(wh_session_params(session), bounds));
	if (config.repair.recovery != WH_RECOVERY_NAK)
		encode_chunks(session, fec, config.payload_bytes);
	wh_session_destroy(session);
	free(config.chunk_memory);
}

/* Whatever is possible opens, and its chunks are encoded; no assertion on the way. */
static void test_possible_ones_open(void)
{
	const struct wh_peer_bounds bounds = bounds_of(PAYLOAD);
	struct wh_fec *fec = wh_fec_create(&bounds.fec);
	uint32_t with_repair = 0;
	struct wh_prng prng;

	wh_prng_init(&prng, 4711);
	for (uint32_t i = 0; i < 4000 && with_repair < 40; i++) {
		struct wh_hello hello = random_hello(&prng);

		if (!is_possible(&hello))
			continue;
		with_repair += hello.fec_code != WH_FEC_NONE;
		open_stream(&hello, true, &bounds, fec);
		open_stream(&hello, false, &bounds, fec);
	}
	CU_ASSERT_EQUAL(with_repair, 40);
	wh_fec_destroy(fec);
}

/* A server's words at the client: what was never sent cannot have come, nor be taken back. */
static void test_answers(void)
{
	const struct wh_bench_report before = {.elapsed_ns = HZ, .bytes = 1000};
	static const struct {
		uint64_t elapsed_ns;
		uint64_t bytes;
		bool possible;
	} cases[] = {
		{2 * HZ, 2000, true},
		{HZ, 1000, true},
		{HZ - 1, 1000, false},
		{HZ, 999, false},
		{2 * HZ, 4000, true},
		{2 * HZ, 4001, false},
		{4 * HZ, 2000, true},
		{4 * HZ + 1, 2000, false},
		{UINT64_MAX, 2000, false},
		{0, 0, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_bench_report report = {
			.elapsed_ns = cases[i].elapsed_ns, .bytes = cases[i].bytes};

		CU_ASSERT_EQUAL(
			wh_report_is_possible(&report, &before, 3 * HZ, 4000), cases[i].possible);
	}
}

static void test_ready(void)
{
	uint8_t addresses[WH_READY_PORTS_MAX * WH_READY_ADDRESS_BYTES] = {
		4, 192, 0, 2, 1, [WH_READY_ADDRESS_BYTES] = 4, 192, 0, 2, 9};
	struct wh_record ready = {
		.type = WH_RECORD_READY, .ready = {.ports = 2, .addresses = addresses}};
	static const uint8_t nowhere[] = {0, 127, 224, 239, 255};
	struct wh_address peers[WH_READY_PORTS_MAX];

	for (uint32_t queues = 0; queues <= UINT16_MAX; queues++) {
		ready.ready.queues = (uint16_t)queues;
		CU_ASSERT_EQUAL(wh_ready_is_possible(&ready, WH_IPV4), queues >= 1 && queues <= 16);
	}
	ready.ready.queues = 1;
	CU_ASSERT_EQUAL(wh_ready_peers(&ready, peers), 2);
	CU_ASSERT_EQUAL(peers[0].family, WH_IPV4);
	CU_ASSERT_EQUAL(memcmp(peers[1].ip, (uint8_t[16]){192, 0, 2, 9}, 16), 0);
	for (uint32_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++) {
		addresses[WH_READY_ADDRESS_BYTES + 1] = nowhere[i];
		CU_ASSERT_EQUAL(wh_ready_peers(&ready, peers), 1);
	}
	CU_ASSERT_FALSE(wh_ready_is_possible(&ready, WH_IPV6));
	addresses[WH_READY_ADDRESS_BYTES] = WH_IPV6;
	CU_ASSERT_FALSE(wh_ready_is_possible(&ready, WH_IPV4));
}

/* The client's wish, and of the planner's constants what our operator told, or its profile says. */
static void test_repair_of_client(void)
{
	static const struct {
		uint8_t profile;
		uint8_t code;
		uint8_t k;
		uint8_t r;
		double own_ceiling;
		bool on;
		double ceiling;
	} cases[] = {
		{1, WH_FEC_NONE, 0, 0, 0, false, 0.25},
		{1, WH_FEC_RS, 0, 0, 0, true, 0.25},
		{1, WH_FEC_TORNADO, 128, 4, 0.1, true, 0.1},
		{2, WH_FEC_RS, 0, 0, 0, true, 0.25},
		{3, WH_FEC_TORNADO, 0, 0, 0, true, 0.5},
		{3, WH_FEC_RS, 0, 0, 0.25, true, 0.25},
		{3, WH_FEC_NONE, 0, 0, 0, false, 0.5},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wh_hello hello = usual(WH_JOB_GET);
		struct wh_request own = own_request();

		hello.profile = cases[i].profile;
		hello.fec_code = cases[i].code;
		hello.fec_k = cases[i].k;
		hello.fec_r = cases[i].r;
		own.repair.ceiling = cases[i].own_ceiling;
		own.repair.target = 1e-3;

		const struct wh_repair_options options = wh_hello_request(&hello, &own).repair;

		CU_ASSERT_EQUAL(options.on, cases[i].on);
		CU_ASSERT_EQUAL(options.k, cases[i].k);
		CU_ASSERT_EQUAL(options.r, cases[i].r);
		CU_ASSERT_FALSE(options.strict);
		WH_ASSERT_NEAR(options.target, 1e-3, 1e-15);
		WH_ASSERT_NEAR(options.ceiling, cases[i].ceiling, 1e-12);
		if (options.on)
			CU_ASSERT_EQUAL(options.code, cases[i].code);
	}
}

/* What a client wants is what a server understands, but for what is each end's own. */
static void test_both_ends(void)
{
	static const char *const paths[] = {"/a", "b/c"};
	struct wh_request own = own_request();
	struct wh_request wanted = {
		.verb = WH_JOB_BENCH,
		.lanes = 3,
		.profile = wh_profile_by_number(2),
		.rate_bps = 5000000000,
		.payload_bytes = 1120,
		.memory_bytes = 1 << 20,
		.peer_timeout_ns = 1,
		.stall_timeout_ns = 2,
		.recursive = true,
		.there = {.path = paths, .count = 2, .into_folder = true},
		.reverse = true,
		.time_ns = 3,
		.size_bytes = 4,
	};
	wh_profile_options_init(&wanted.options, wanted.profile);

	struct wh_hello hello = wh_hello_of_request(&wanted, PAYLOAD);

	own.here.root_fd = 7;
	own.rate_bps = 1000000000;
	own.memory_bytes = 5;
	own.peer_timeout_ns = 6;
	own.stall_timeout_ns = 8;
	CU_ASSERT_EQUAL(hello.paths, 2);
	CU_ASSERT_EQUAL(hello.path_bytes[1], 3);
	CU_ASSERT_STRING_EQUAL(hello.path[0], "/a");

	struct wh_request request = wh_hello_request(&hello, &own);

	CU_ASSERT_EQUAL(request.verb, WH_JOB_BENCH);
	CU_ASSERT_EQUAL(request.lanes, 3);
	CU_ASSERT_PTR_EQUAL(request.profile, wanted.profile);
	CU_ASSERT_EQUAL(request.rate_bps, 1000000000);
	CU_ASSERT_EQUAL(request.payload_bytes, PAYLOAD);
	CU_ASSERT_EQUAL(request.memory_bytes, 5);
	CU_ASSERT_EQUAL(request.peer_timeout_ns, 6);
	CU_ASSERT_EQUAL(request.stall_timeout_ns, 8);
	CU_ASSERT_TRUE(request.recursive);
	CU_ASSERT_EQUAL(request.here.root_fd, 7);
	CU_ASSERT_TRUE(request.here.into_folder);
	CU_ASSERT_TRUE(request.reverse);
	CU_ASSERT_EQUAL(request.time_ns, 3);
	CU_ASSERT_EQUAL(request.size_bytes, 4);
	hello.rate_bps = 2000000;
	hello.as_name = true;
	request = wh_hello_request(&hello, &own);
	CU_ASSERT_EQUAL(request.rate_bps, 2000000);
	CU_ASSERT_TRUE(request.here.as_name);
	CU_ASSERT_FALSE(request.here.into_folder);
}

/* The parts of all lanes are the whole. */
static void test_lanes(void)
{
	struct wh_request request = {.lanes = 3, .size_bytes = 11, .rate_bps = 2};

	CU_ASSERT_EQUAL(wh_request_lane_bytes(&request, 0), 4);
	CU_ASSERT_EQUAL(wh_request_lane_bytes(&request, 1), 4);
	CU_ASSERT_EQUAL(wh_request_lane_bytes(&request, 2), 3);
	CU_ASSERT_EQUAL(wh_request_lane_bps(&request), 1);
	request.rate_bps = 31;
	CU_ASSERT_EQUAL(wh_request_lane_bps(&request), 10);
	request.rate_bps = WH_RATE_MAX;
	CU_ASSERT_EQUAL(wh_request_lane_bps(&request), WH_RATE_MAX);
}

/* Each lane begins with its part of what the way bears, and with the whole round trip. */
static void test_known_by_lanes(void)
{
	struct wh_request request = {.lanes = 3};
	struct wh_known_path known = wh_request_lane_known(&request);

	CU_ASSERT_EQUAL(known.capacity_bps, 0);
	CU_ASSERT_TRUE(wh_known_path_valid(&known));
	request.known = (struct wh_known_path){
		.capacity_bps = 9000000001, .rtt_ns = 100000000, .burst_pkts = 2, .age_s = 60};
	known = wh_request_lane_known(&request);
	CU_ASSERT_EQUAL(known.capacity_bps, 3000000000);
	CU_ASSERT_EQUAL(known.rtt_ns, 100000000);
	CU_ASSERT_EQUAL(known.burst_pkts, 1);
	CU_ASSERT_EQUAL(known.age_s, 60);
	request.known.capacity_bps = 2;
	request.known.burst_pkts = 0;
	known = wh_request_lane_known(&request);
	CU_ASSERT_EQUAL(known.capacity_bps, 1);
	CU_ASSERT_EQUAL(known.burst_pkts, 0);
}

/* A lane without a byte of its own would go by time, for as long as nobody said. */
static void test_bytes_of_lanes(void)
{
	struct wh_hello hello = usual(WH_JOB_BENCH);

	hello.lanes = 4;
	hello.bench_bytes = 3;
	CU_ASSERT_FALSE(is_possible(&hello));
	hello.bench_bytes = 4;
	CU_ASSERT_TRUE(is_possible(&hello));
	hello.bench_bytes = 0;
	CU_ASSERT_TRUE(is_possible(&hello));
}

/* Nothing is sent to it, so that nothing of that matters. */
static void test_idle(void)
{
	struct wh_hello hello = {.verb = WH_JOB_IDLE, .lanes = 1};

	CU_ASSERT_TRUE(is_possible(&hello));
}

CU_TestInfo wh_tests[] = {
	{"options", test_options},
	{"options at odds", test_options_at_odds},
	{"strange options", test_strange_options},
	{"what clients say", test_usual},
	{"transfer", test_transfer},
	{"bounds of HELLO", test_bounds_of_hello},
	{"bounds of OPEN", test_bounds_of_open},
	{"chunks", test_chunks},
	{"payload", test_payload},
	{"repair", test_repair},
	{"tables", test_tables},
	{"paths", test_paths},
	{"an empty path", test_empty_path},
	{"repair of a client", test_repair_of_client},
	{"possible ones open", test_possible_ones_open},
	{"answers", test_answers},
	{"READY", test_ready},
	{"idle", test_idle},
	{"a request at both ends", test_both_ends},
	{"lanes of a request", test_lanes},
	{"what lanes know of their way", test_known_by_lanes},
	{"bytes of lanes", test_bytes_of_lanes},
	CU_TEST_INFO_NULL,
};
