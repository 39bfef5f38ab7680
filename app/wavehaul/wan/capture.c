/* SPDX-License-Identifier: BSD-3-Clause */
#include "wan/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"

/* A tenth of a second of frames of 1500 bytes at 1 Gb/s, in and out. */
#define RING_PKTS 16383

#define BUFFER_BYTES (UINT32_C(256) << 10)

/* Taken in one turn, so that others get theirs. */
#define TURN_PKTS 64

#define ETHERNET   1 /* LINKTYPE_ETHERNET */
#define NAME_BYTES 256

/* draft-ietf-opsawg-pcapng: blocks. */
#define BLOCK_SECTION   UINT32_C(0x0a0d0d0a)
#define BLOCK_INTERFACE UINT32_C(1)
#define BLOCK_PACKET    UINT32_C(6)
#define BYTE_ORDER_MARK UINT32_C(0x1a2b3c4d)

/* Its options. */
#define OPTION_END     0
#define OPTION_NAME    2 /* of an interface */
#define OPTION_TSRESOL 9
#define OPTION_FLAGS   2 /* of a packet */
#define INBOUND        1
#define OUTBOUND       2

/* Before a frame's bytes in a slot. */
struct note {
	uint32_t frame_bytes;
	uint32_t leaves;
};

struct packet_head {
	uint32_t type;
	uint32_t block_bytes;
	uint32_t interface;
	uint32_t time_high;
	uint32_t time_low;
	uint32_t captured_bytes;
	uint32_t frame_bytes;
};

struct packet_tail {
	uint16_t flags_code;
	uint16_t flags_bytes;
	uint32_t flags;
	uint16_t end_code;
	uint16_t end_bytes;
	uint32_t block_bytes;
};

static uint32_t padded(uint32_t bytes)
{
	return (bytes + 3) & ~UINT32_C(3);
}

uint64_t wh_wan_capture_bytes(uint32_t snap_bytes)
{
	return WH_LAMBDA_ENDS *
		       wh_slot_fifo_bytes(RING_PKTS, padded(snap_bytes) + sizeof(struct note)) +
	       BUFFER_BYTES;
}

void wh_wan_capture_frame(void *state, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves)
{
	struct wh_wan_capture_ring *ring = state;
	struct wh_slot *slot = wh_slot_fifo_reserve(&ring->fifo);
	struct note note = {pkt->pkt_len, leaves};

	ring->seen_pkts++;
	if (slot == NULL) {
		ring->missed_pkts++;
		return;
	}

	uint32_t bytes = RTE_MIN(pkt->pkt_len, ring->snap_bytes);
	uint8_t *to = slot->data + sizeof(note);
	const uint8_t *from = rte_pktmbuf_read(pkt, 0, bytes, to);

	if (from != to)
		memcpy(to, from, bytes);
	memcpy(slot->data, &note, sizeof(note));
	slot->when_tsc = now_tsc;
	slot->bytes = bytes;
	wh_slot_fifo_commit(&ring->fifo);
}

/* The file is at its end as far as we go: what is to come is counted only. */
static void fail(struct wh_wan_capture *capture)
{
	wh_complain("no more is written into %s: %s", capture->config.path, strerror(errno));
	close(capture->fd);
	capture->fd = -1;
}

static void flush(struct wh_wan_capture *capture)
{
	uint32_t done = 0;

	while (capture->fd >= 0 && done < capture->buffered_bytes) {
		ssize_t bytes =
			write(capture->fd, capture->buffer + done, capture->buffered_bytes - done);

		if (bytes > 0)
			done += (uint32_t)bytes;
		else if (bytes == 0 || errno != EINTR)
			fail(capture);
	}
	capture->buffered_bytes = 0;
}

static void put(struct wh_wan_capture *capture, const void *data, uint32_t bytes)
{
	WH_ASSERT(capture->buffered_bytes + bytes <= BUFFER_BYTES);
	memcpy(capture->buffer + capture->buffered_bytes, data, bytes);
	capture->buffered_bytes += bytes;
	capture->bytes += bytes;
}

static void put_zeros(struct wh_wan_capture *capture, uint32_t bytes)
{
	static const uint8_t zeros[4];

	put(capture, zeros, bytes);
}

static void put_option(
	struct wh_wan_capture *capture, uint16_t code, const void *data, uint16_t bytes)
{
	const uint16_t head[2] = {code, bytes};

	put(capture, head, sizeof(head));
	put(capture, data, bytes);
	put_zeros(capture, padded(bytes) - bytes);
}

static void put_section(struct wh_wan_capture *capture)
{
	const struct {
		uint32_t type;
		uint32_t block_bytes;
		uint32_t mark;
		uint16_t version[2];
		uint32_t section_bytes[2]; /* -1: not said */
		uint32_t block_bytes_again;
	} block = {BLOCK_SECTION, sizeof(block), BYTE_ORDER_MARK, {1, 0}, {UINT32_MAX, UINT32_MAX},
		sizeof(block)};

	put(capture, &block, sizeof(block));
}

static void put_interface(struct wh_wan_capture *capture, uint32_t end)
{
	static const uint8_t nanoseconds = 9;
	char name[NAME_BYTES];
	uint16_t name_bytes = (uint16_t)snprintf(name, sizeof(name), "%c %.240s",
		end == WH_LAMBDA_A ? 'A' : 'B', capture->config.port[end]);
	uint32_t block_bytes = 20 + 4 + padded(name_bytes) + 4 + 4 + 4;
	const struct {
		uint32_t type;
		uint32_t block_bytes;
		uint16_t link;
		uint16_t reserved;
		uint32_t snap_bytes;
	} head = {BLOCK_INTERFACE, block_bytes, ETHERNET, 0, capture->config.snap_bytes};

	put(capture, &head, sizeof(head));
	put_option(capture, OPTION_NAME, name, name_bytes);
	put_option(capture, OPTION_TSRESOL, &nanoseconds, 1);
	put_option(capture, OPTION_END, NULL, 0);
	put(capture, &block_bytes, sizeof(block_bytes));
}

static void put_packet(struct wh_wan_capture *capture, enum wh_lambda_end way,
	const struct wh_slot *slot, const struct note *note)
{
	uint64_t when_ns = capture->start_ns +
			   wh_tsc_to_ns(capture->config.hz, slot->when_tsc - capture->start_tsc);
	uint32_t block_bytes = (uint32_t)sizeof(struct packet_head) + padded(slot->bytes) +
			       (uint32_t)sizeof(struct packet_tail);
	const struct packet_head head = {
		.type = BLOCK_PACKET,
		.block_bytes = block_bytes,
		.interface = note->leaves ? WH_LAMBDA_ENDS - 1 - way : way,
		.time_high = (uint32_t)(when_ns >> 32),
		.time_low = (uint32_t)when_ns,
		.captured_bytes = slot->bytes,
		.frame_bytes = note->frame_bytes,
	};
	const struct packet_tail tail = {
		.flags_code = OPTION_FLAGS,
		.flags_bytes = sizeof(tail.flags),
		.flags = note->leaves ? OUTBOUND : INBOUND,
		.block_bytes = block_bytes,
	};

	if (capture->fd < 0 || capture->bytes + block_bytes > capture->config.bytes_max) {
		capture->beyond_pkts++;
		return;
	}
	if (capture->buffered_bytes + block_bytes > BUFFER_BYTES)
		flush(capture);
	put(capture, &head, sizeof(head));
	put(capture, slot->data + sizeof(*note), slot->bytes);
	put_zeros(capture, padded(slot->bytes) - slot->bytes);
	put(capture, &tail, sizeof(tail));
	capture->written_pkts++;
}

/* Readers want the two rings' frames in the order of their times, as far as both have some. */
static struct wh_wan_capture_ring *older(struct wh_wan_capture *capture, struct wh_slot **slot)
{
	struct wh_slot *first[WH_LAMBDA_ENDS];

	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		first[end] = wh_slot_fifo_peek(&capture->ring[end].fifo);

	uint32_t end = first[WH_LAMBDA_A] == NULL ||
		       (first[WH_LAMBDA_B] != NULL &&
			       first[WH_LAMBDA_B]->when_tsc < first[WH_LAMBDA_A]->when_tsc);

	*slot = first[end];
	return &capture->ring[end];
}

int32_t wh_wan_capture_poll(void *state, uint64_t now_tsc)
{
	struct wh_wan_capture *capture = state;
	int32_t taken = 0;

	(void)now_tsc;
	for (; taken < TURN_PKTS; taken++) {
		struct wh_slot *slot;
		struct wh_wan_capture_ring *ring = older(capture, &slot);
		struct note note;

		if (slot == NULL)
			break;
		memcpy(&note, slot->data, sizeof(note));
		put_packet(capture, ring->end, slot, &note);
		wh_slot_fifo_release(&ring->fifo);
	}
	return taken;
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

int wh_wan_capture_open(struct wh_wan_capture *capture, const struct wh_wan_capture_config *config)
{
	uint32_t slot_bytes = padded(config->snap_bytes) + (uint32_t)sizeof(struct note);
	int rc = 0;

	*capture = (struct wh_wan_capture){.config = *config, .fd = -1};
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS && rc == 0; end++) {
		capture->ring[end].snap_bytes = config->snap_bytes;
		capture->ring[end].end = (enum wh_lambda_end)end;
		rc = wh_slot_fifo_init(&capture->ring[end].fifo, RING_PKTS, slot_bytes);
	}
	capture->buffer = malloc(BUFFER_BYTES);
	if (rc != 0 || capture->buffer == NULL) {
		wh_complain("no memory for a capture");
		return -ENOMEM;
	}
	capture->fd = open(config->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (capture->fd < 0) {
		rc = -errno;
		wh_complain("cannot write %s: %s", config->path, strerror(errno));
		return rc;
	}
	capture->start_tsc = rte_rdtsc();
	capture->start_ns = wall_ns();
	put_section(capture);
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		put_interface(capture, end);
	return 0;
}

int wh_wan_capture_close(struct wh_wan_capture *capture)
{
	if (capture->buffer == NULL)
		return 0;
	while (wh_wan_capture_poll(capture, 0) > 0)
		;
	flush(capture);

	bool good = capture->fd >= 0 && close(capture->fd) == 0;

	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++)
		wh_slot_fifo_free(&capture->ring[end].fifo);
	free(capture->buffer);
	capture->buffer = NULL;
	return good ? 0 : -EIO;
}
