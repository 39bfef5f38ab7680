/* SPDX-License-Identifier: BSD-3-Clause */
#include "pcap/pcapng.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

const char wh_suite_name[] = "app/wavehaul/pcap";

#define HZ    UINT64_C(1000000000)
#define SNAP  100
#define ROOM  7
#define FRAME 150

/* In two segments, as packets are sent whose payload lies where it is. */
struct sample {
	struct rte_mbuf head;
	struct rte_mbuf rest;
	uint8_t bytes[FRAME];
};

static void make(struct sample *sample, uint8_t seed)
{
	memset(sample, 0, sizeof(*sample));
	for (uint32_t i = 0; i < FRAME; i++)
		sample->bytes[i] = (uint8_t)(seed + i);
	sample->head = (struct rte_mbuf){.buf_addr = sample->bytes,
		.data_len = 60,
		.pkt_len = FRAME,
		.nb_segs = 2,
		.next = &sample->rest};
	sample->rest = (struct rte_mbuf){
		.buf_addr = sample->bytes + 60, .data_len = FRAME - 60, .nb_segs = 1};
}

static void a_full_ring_costs_the_copy(void)
{
	struct wh_frames frames;
	struct wh_frame frame;
	struct sample sample;

	CU_ASSERT_EQUAL_FATAL(wh_frames_init(&frames, ROOM, SNAP), 0);
	for (uint8_t i = 0; i < ROOM + 3; i++) {
		make(&sample, i);
		wh_frames_put(&frames, &sample.head, i, i % 2 != 0);
	}
	CU_ASSERT_EQUAL(frames.seen_pkts, ROOM + 3);
	CU_ASSERT_EQUAL(frames.missed_pkts, 3);
	for (uint8_t i = 0; i < ROOM; i++) {
		make(&sample, i);
		CU_ASSERT_TRUE_FATAL(wh_frames_peek(&frames, &frame));
		CU_ASSERT_EQUAL(frame.when_tsc, i);
		CU_ASSERT_EQUAL(frame.frame_bytes, FRAME);
		CU_ASSERT_EQUAL(frame.bytes, SNAP);
		CU_ASSERT_EQUAL(frame.leaves, i % 2 != 0);
		CU_ASSERT_EQUAL(memcmp(frame.data, sample.bytes, SNAP), 0);
		wh_frames_drop(&frames);
	}
	CU_ASSERT_FALSE(wh_frames_peek(&frames, &frame));
	wh_frames_free(&frames);
}

/* Of two rings each frame once, by their times. */
static void rings_are_merged(void)
{
	static const uint64_t when[2][3] = {{1, 4, 5}, {2, 3, 6}};
	struct wh_frames frames[2];
	struct wh_frame frame;
	struct sample sample;

	for (uint32_t ring = 0; ring < 2; ring++) {
		CU_ASSERT_EQUAL_FATAL(wh_frames_init(&frames[ring], ROOM, SNAP), 0);
		for (uint32_t i = 0; i < 3; i++) {
			make(&sample, (uint8_t)when[ring][i]);
			wh_frames_put(&frames[ring], &sample.head, when[ring][i], false);
		}
	}
	for (uint64_t i = 1; i <= 6; i++) {
		struct wh_frames *ring = wh_frames_oldest(frames, 2, &frame);

		CU_ASSERT_PTR_NOT_NULL_FATAL(ring);
		CU_ASSERT_EQUAL(frame.when_tsc, i);
		CU_ASSERT_EQUAL(frame.data[0], i);
		wh_frames_drop(ring);
	}
	CU_ASSERT_PTR_NULL(wh_frames_oldest(frames, 2, &frame));
	wh_frames_free(&frames[0]);
	wh_frames_free(&frames[1]);
}

static uint32_t word_at(const uint8_t *bytes, size_t at)
{
	uint32_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

static void a_file_says_what_came(void)
{
	char path[] = "/tmp/wavehaul-pcapng-XXXXXX";
	int fd = mkstemp(path);
	int own_fd = dup(fd);
	struct wh_pcapng file;
	struct sample sample;
	uint8_t bytes[4096];

	make(&sample, 9);
	CU_ASSERT_EQUAL_FATAL(wh_pcapng_open(&file, fd, HZ), 0);
	wh_pcapng_add_interface(&file, "memif:x", SNAP);

	struct wh_frame frame = {file.start_tsc + 5, FRAME, 99, true, sample.bytes};
	uint64_t head_bytes = file.bytes;
	uint64_t when_ns = file.start_ns + 5;

	wh_pcapng_put(&file, 0, &frame);
	/* The clock of its core was behind. */
	frame.when_tsc = file.start_tsc - 5;
	wh_pcapng_put(&file, 0, &frame);
	CU_ASSERT_EQUAL(file.bytes, head_bytes + 2 * wh_pcapng_frame_bytes(&frame));

	uint64_t file_bytes = file.bytes;

	CU_ASSERT_EQUAL(wh_pcapng_close(&file), 0);
	CU_ASSERT_EQUAL(file.flushed_pkts, 2);
	CU_ASSERT_EQUAL(pread(own_fd, bytes, sizeof(bytes), 0), (ssize_t)file_bytes);
	CU_ASSERT_EQUAL(word_at(bytes, 0), 0x0a0d0d0a);
	CU_ASSERT_EQUAL(word_at(bytes, 8), 0x1a2b3c4d);
	CU_ASSERT_EQUAL(word_at(bytes, head_bytes), 6);
	CU_ASSERT_EQUAL(
		(uint64_t)word_at(bytes, head_bytes + 12) << 32 | word_at(bytes, head_bytes + 16),
		when_ns);
	CU_ASSERT_EQUAL(word_at(bytes, head_bytes + 20), 99);
	CU_ASSERT_EQUAL(word_at(bytes, head_bytes + 24), FRAME);
	CU_ASSERT_EQUAL(memcmp(bytes + head_bytes + 28, sample.bytes, 99), 0);
	CU_ASSERT_EQUAL(word_at(bytes, head_bytes + 28 + 100), 4 << 16 | 2);
	CU_ASSERT_EQUAL(word_at(bytes, head_bytes + 28 + 104), 2); /* outbound */
	close(own_fd);
	unlink(path);
}

static void a_full_disk_is_said(void)
{
	struct wh_pcapng file;
	struct sample sample;
	const struct wh_frame frame = {0, FRAME, FRAME, false, sample.bytes};
	int fd = open("/dev/full", O_WRONLY);

	CU_ASSERT_FATAL(fd >= 0);
	make(&sample, 1);
	CU_ASSERT_EQUAL_FATAL(wh_pcapng_open(&file, fd, HZ), 0);
	for (uint32_t i = 0; i < 2000 && file.fd >= 0; i++)
		wh_pcapng_put(&file, 0, &frame);
	CU_ASSERT_EQUAL(file.fd, -1);
	CU_ASSERT_EQUAL(file.flushed_pkts, 0);
	CU_ASSERT_EQUAL(wh_pcapng_close(&file), -ENOSPC);
}

CU_TestInfo wh_tests[] = {
	{"a full ring costs the copy", a_full_ring_costs_the_copy},
	{"rings are merged", rings_are_merged},
	{"a file says what came", a_file_says_what_came},
	{"a full disk is said", a_full_disk_is_said},
	CU_TEST_INFO_NULL,
};
