/* SPDX-License-Identifier: BSD-3-Clause */
#include "store_rig.h"

const char wh_suite_name[] = "memory";

/* splitmix64 from seed 0 and from seed 1234567, as published with the generator. */
static void test_pattern_known(void)
{
	static const uint64_t from_0[] = {UINT64_C(0xe220a8397b1dcdaf),
		UINT64_C(0x6e789e6aa1b965f4), UINT64_C(0x06c45d188009454f)};
	static const uint64_t from_1234567[] = {UINT64_C(6457827717110365317),
		UINT64_C(3203168211198807973), UINT64_C(9817491932198370423)};
	uint8_t bytes[24];

	wh_memory_pattern(bytes, 0, 24, 0);
	CU_ASSERT(memcmp(bytes, from_0, 24) == 0);
	wh_memory_pattern(bytes, 0, 24, 1234567);
	CU_ASSERT(memcmp(bytes, from_1234567, 24) == 0);
	CU_ASSERT(bytes[0] == (uint8_t)from_1234567[0]); /* little-endian */
}

/* Any window is the same bytes, and nothing outside it is written. */
static void test_pattern_windows(void)
{
	static const struct {
		uint64_t offset;
		uint32_t count;
	} cases[] = {{0, 0}, {0, 1}, {8, 7}, {8, 8}, {16, 9}, {4096, 4096}, {65528, 8}, {64, 4097}};
	uint8_t *whole = malloc(65536);
	uint8_t *part = malloc(65536);

	wh_memory_pattern(whole, 0, 65536, 7);
	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		memset(part, 0xee, 65536);
		wh_memory_pattern(part, cases[i].offset, cases[i].count, 7);
		CU_ASSERT(memcmp(part, whole + cases[i].offset, cases[i].count) == 0);
		CU_ASSERT(part[cases[i].count] == 0xee);
	}

	/* Far out, where an index of 32 bits would have wrapped. */
	wh_memory_pattern(part, UINT64_C(1) << 35, 64, 7);
	CU_ASSERT(memcmp(part, whole, 64) != 0);
	wh_memory_pattern(part, 0, 64, 8);
	CU_ASSERT(memcmp(part, whole, 64) != 0);
	free(whole);
	free(part);
}

static void test_reader(void)
{
	for (size_t c = 0; c < RIG_COUNT(rig_chunk_bytes); c++) {
		const uint64_t chunk = rig_chunk_bytes[c];
		const uint64_t sizes[] = RIG_SIZES(chunk);

		for (size_t s = 0; s < RIG_COUNT(sizes); s++) {
			struct rig rig;
			struct wh_reader *reader;
			uint8_t *content = malloc(sizes[s] + 1);
			uint64_t number = 0;
			struct wh_chunk *got = NULL;

			rig_init(&rig, (uint32_t)chunk, 3, 1);
			for (int i = 0; i < 3; i++)
				wh_fifo_push(&rig.in, &rig.chunks[i]);
			wh_memory_pattern(content, 0, (uint32_t)sizes[s], 42);
			CU_ASSERT_FATAL(wh_memory_reader_open(&reader, sizes[s], 42,
						(uint32_t)chunk, &rig.in, &rig.out) == 0);
			CU_ASSERT(reader->object_bytes == sizes[s]);
			for (int i = 0; i < 100; i++) {
				wh_reader_poll(reader, 0);
				got = wh_fifo_pop(&rig.out);
				if (got == NULL || got->end)
					break;
				CU_ASSERT(got->number == number);
				CU_ASSERT_FATAL(number * chunk + got->bytes <= sizes[s]);
				CU_ASSERT(memcmp(got->data, content + number * chunk, got->bytes) ==
					  0);
				number++;
				wh_fifo_push(&rig.in, got);
			}

			struct wh_digest digest = rig_digest(content, sizes[s]);

			CU_ASSERT_FATAL(got != NULL);
			CU_ASSERT(got->end && got->number == number && got->bytes == 0);
			CU_ASSERT(number == (sizes[s] + chunk - 1) / chunk);
			CU_ASSERT(memcmp(&got->digest, &digest, sizeof(digest)) == 0);
			CU_ASSERT(memcmp(&reader->digest, &digest, sizeof(digest)) == 0);
			CU_ASSERT(reader->bytes == sizes[s]);
			CU_ASSERT(atomic_load(&reader->done) == WH_STORE_OK);
			CU_ASSERT(wh_reader_poll(reader, 0) == 0);
			wh_reader_close(reader);
			rig_free(&rig);
			free(content);
		}
	}
}

/* Reader to writer directly; `spoil` sees each element before the writer does. */
static int through(uint64_t bytes, uint64_t promised, uint64_t writer_seed,
	void (*spoil)(struct wh_chunk *chunk))
{
	struct rig rig;
	struct wh_reader *reader;
	struct wh_writer *writer;
	struct wh_fifo ready;
	struct wh_digest digest;
	int done;

	rig_init(&rig, 65536, 4, 4);
	CU_ASSERT_FATAL(wh_fifo_init(&ready, 1) == 0);
	for (int i = 0; i < 4; i++)
		wh_fifo_push(&rig.out, &rig.chunks[i]);
	CU_ASSERT_FATAL(wh_memory_reader_open(&reader, bytes, 42, 65536, &rig.out, &ready) == 0);
	CU_ASSERT_FATAL(wh_memory_writer_open(
				&writer, promised, writer_seed, 65536, &rig.in, &rig.out) == 0);
	for (int i = 0; i < 100; i++) {
		wh_reader_poll(reader, 0);

		struct wh_chunk *chunk = wh_fifo_pop(&ready);

		if (chunk != NULL) {
			spoil(chunk);
			wh_fifo_push(&rig.in, chunk);
		}
		wh_writer_poll(writer, 0);
	}
	done = atomic_load(&writer->done);
	digest = reader->digest;
	CU_ASSERT(atomic_load(&reader->done) == WH_STORE_OK);
	CU_ASSERT(wh_fifo_count(&rig.out) == 4); /* all came back, whatever the verdict */
	if (done == WH_STORE_OK) {
		CU_ASSERT(memcmp(&writer->digest, &digest, sizeof(digest)) == 0);
		CU_ASSERT(atomic_load(&writer->bytes) == bytes);
	}
	wh_reader_close(reader);
	wh_writer_close(writer);
	wh_fifo_free(&ready);
	rig_free(&rig);
	return done;
}

static void spoil_nothing(struct wh_chunk *chunk)
{
	(void)chunk;
}

static void spoil_first_byte(struct wh_chunk *chunk)
{
	if (!chunk->end && chunk->number == 0)
		chunk->data[0] ^= 0x80;
}

static void spoil_last_byte(struct wh_chunk *chunk)
{
	if (!chunk->end && chunk->bytes < 65536)
		chunk->data[chunk->bytes - 1] ^= 1;
}

static void spoil_digest(struct wh_chunk *chunk)
{
	chunk->digest.bytes[15] ^= 1;
}

static void spoil_number(struct wh_chunk *chunk)
{
	if (chunk->end)
		chunk->number++;
}

static void test_writer(void)
{
	static const struct {
		uint64_t bytes;
		uint64_t promised;
		uint64_t seed;
		void (*spoil)(struct wh_chunk *chunk);
		int done;
	} cases[] = {
		{0, 0, 42, spoil_nothing, WH_STORE_OK},
		{1, 1, 42, spoil_nothing, WH_STORE_OK},
		{65536, 65536, 42, spoil_nothing, WH_STORE_OK},
		{655483, 655483, 42, spoil_nothing, WH_STORE_OK},
		{655483, 655483, 42, spoil_first_byte, WH_STORE_MISMATCH},
		{655483, 655483, 42, spoil_last_byte, WH_STORE_MISMATCH},
		{655483, 655483, 42, spoil_digest, WH_STORE_MISMATCH},
		{0, 0, 42, spoil_digest, WH_STORE_MISMATCH},
		{655483, 655483, 42, spoil_number, WH_STORE_MISMATCH},
		{655483, 655484, 42, spoil_nothing, WH_STORE_MISMATCH},
		{655483, 655482, 42, spoil_nothing, WH_STORE_MISMATCH},
		{65536, 131072, 42, spoil_nothing, WH_STORE_MISMATCH},
		{131072, 65536, 42, spoil_nothing, WH_STORE_MISMATCH},
		/* The digest agrees, the bytes are not what they should be. */
		{655480, 655480, 43, spoil_nothing, WH_STORE_MISMATCH},
		{3, 3, 43, spoil_nothing, WH_STORE_MISMATCH},
	};

	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		int done =
			through(cases[i].bytes, cases[i].promised, cases[i].seed, cases[i].spoil);

		CU_ASSERT(done == cases[i].done);
	}
}

static void test_bounded_polls(void)
{
	struct rig rig;
	struct wh_reader *reader;

	rig_init(&rig, 65536, 16, 16);
	for (int i = 0; i < 16; i++)
		wh_fifo_push(&rig.in, &rig.chunks[i]);
	CU_ASSERT_FATAL(wh_memory_reader_open(&reader, 1 << 20, 1, 65536, &rig.in, &rig.out) == 0);
	CU_ASSERT(wh_reader_poll(reader, 0) == 2);
	CU_ASSERT(wh_fifo_count(&rig.out) == 2);
	wh_reader_close(reader);
	rig_free(&rig);
}

static void test_too_big(void)
{
	struct rig rig;
	struct wh_reader *reader = NULL;
	struct wh_writer *writer = NULL;

	rig_init(&rig, 65536, 1, 1);
	CU_ASSERT(
		wh_memory_reader_open(&reader, UINT64_MAX, 1, 65536, &rig.in, &rig.out) == -EFBIG);
	CU_ASSERT(wh_memory_writer_open(&writer, UINT64_C(1) << 63, 1, 65536, &rig.in, &rig.out) ==
		  -EFBIG);
	CU_ASSERT(reader == NULL && writer == NULL);
	rig_free(&rig);
}

CU_TestInfo wh_tests[] = {
	{"pattern: known words", test_pattern_known},
	{"pattern: windows", test_pattern_windows},
	{"reader", test_reader},
	{"writer", test_writer},
	{"bounded polls", test_bounded_polls},
	{"too big", test_too_big},
	CU_TEST_INFO_NULL,
};
