/* SPDX-License-Identifier: BSD-3-Clause */
#include "pcap/pcapng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/assert.h"
#include "base/clock.h"
#include "file/all_bytes.h"

#define BUFFER_BYTES (UINT32_C(256) << 10)

#define ETHERNET   1 /* LINKTYPE_ETHERNET */
#define NAME_BYTES 256

/* Block types. */
#define BLOCK_SECTION   UINT32_C(0x0a0d0d0a)
#define BLOCK_INTERFACE UINT32_C(1)
#define BLOCK_PACKET    UINT32_C(6)
#define BYTE_ORDER_MARK UINT32_C(0x1a2b3c4d)

/* Options. */
#define OPTION_NAME    2 /* of an interface */
#define OPTION_TSRESOL 9
#define OPTION_FLAGS   2 /* of a packet */
#define INBOUND        1
#define OUTBOUND       2

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

uint64_t wh_pcapng_memory_bytes(void)
{
	return BUFFER_BYTES;
}

static void fail(struct wh_pcapng *file, int error)
{
	/*
	 * A partial block would make the file appear damaged; it remains only if truncating fails.
	 */
	(void)!ftruncate(file->fd, (off_t)file->flushed_bytes);
	close(file->fd);
	file->fd = -1;
	file->error = -error;
}

void wh_pcapng_flush(struct wh_pcapng *file)
{
	int rc = file->fd >= 0 ? wh_write_all(file->fd, file->buffer, file->buffered_bytes) : 0;

	if (rc != 0)
		fail(file, -rc);
	if (file->fd >= 0) {
		file->flushed_bytes += file->buffered_bytes;
		file->flushed_pkts += file->buffered_pkts;
	}
	file->buffered_bytes = 0;
	file->buffered_pkts = 0;
}

static void put(struct wh_pcapng *file, const void *data, uint32_t bytes)
{
	WH_ASSERT(file->buffered_bytes + bytes <= BUFFER_BYTES);
	memcpy(file->buffer + file->buffered_bytes, data, bytes);
	file->buffered_bytes += bytes;
	file->bytes += bytes;
}

static void put_zeros(struct wh_pcapng *file, uint32_t bytes)
{
	static const uint8_t zeros[4];

	put(file, zeros, bytes);
}

static void put_option(struct wh_pcapng *file, uint16_t code, const void *data, uint16_t bytes)
{
	const uint16_t head[2] = {code, bytes};

	put(file, head, sizeof(head));
	put(file, data, bytes);
	put_zeros(file, padded(bytes) - bytes);
}

static void put_section(struct wh_pcapng *file)
{
	const struct {
		uint32_t type;
		uint32_t block_bytes;
		uint32_t mark;
		uint16_t version[2];
		uint32_t section_bytes[2]; /* -1: unspecified */
		uint32_t block_bytes_again;
	} block = {BLOCK_SECTION, sizeof(block), BYTE_ORDER_MARK, {1, 0}, {UINT32_MAX, UINT32_MAX},
		sizeof(block)};

	put(file, &block, sizeof(block));
}

void wh_pcapng_add_interface(struct wh_pcapng *file, const char *name, uint32_t snap_bytes)
{
	static const uint8_t nanoseconds = 9;
	uint16_t name_bytes = (uint16_t)strnlen(name, NAME_BYTES);
	uint32_t block_bytes = 20 + 4 + padded(name_bytes) + 4 + 4 + 4;
	const struct {
		uint32_t type;
		uint32_t block_bytes;
		uint16_t link;
		uint16_t reserved;
		uint32_t snap_bytes;
	} head = {BLOCK_INTERFACE, block_bytes, ETHERNET, 0, snap_bytes};

	put(file, &head, sizeof(head));
	put_option(file, OPTION_NAME, name, name_bytes);
	put_option(file, OPTION_TSRESOL, &nanoseconds, 1);
	put_zeros(file, 4); /* the end of options */
	put(file, &block_bytes, sizeof(block_bytes));
}

uint64_t wh_pcapng_frame_bytes(const struct wh_frame *frame)
{
	return sizeof(struct packet_head) + padded(frame->bytes) + sizeof(struct packet_tail);
}

void wh_pcapng_put(struct wh_pcapng *file, uint32_t interface, const struct wh_frame *frame)
{
	/* The cores' clocks may differ by some cycles. */
	uint64_t since_tsc = frame->when_tsc - wh_min_u64(frame->when_tsc, file->start_tsc);
	uint64_t when_ns = file->start_ns + wh_tsc_to_ns(file->hz, since_tsc);
	uint32_t block_bytes = (uint32_t)wh_pcapng_frame_bytes(frame);
	const struct packet_head head = {
		.type = BLOCK_PACKET,
		.block_bytes = block_bytes,
		.interface = interface,
		.time_high = (uint32_t)(when_ns >> 32),
		.time_low = (uint32_t)when_ns,
		.captured_bytes = frame->bytes,
		.frame_bytes = frame->frame_bytes,
	};
	const struct packet_tail tail = {
		.flags_code = OPTION_FLAGS,
		.flags_bytes = sizeof(tail.flags),
		.flags = frame->leaves ? OUTBOUND : INBOUND,
		.block_bytes = block_bytes,
	};

	if (file->buffered_bytes + block_bytes > BUFFER_BYTES)
		wh_pcapng_flush(file);
	put(file, &head, sizeof(head));
	put(file, frame->data, frame->bytes);
	put_zeros(file, padded(frame->bytes) - frame->bytes);
	put(file, &tail, sizeof(tail));
	file->buffered_pkts++;
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * WH_NS_PER_S + (uint64_t)now.tv_nsec;
}

int wh_pcapng_open(struct wh_pcapng *file, int fd, uint64_t hz)
{
	WH_ASSERT(fd >= 0 && hz > 0);
	*file = (struct wh_pcapng){.fd = -1, .hz = hz, .buffer = malloc(BUFFER_BYTES)};
	if (file->buffer == NULL)
		return -ENOMEM;
	file->fd = fd;
	file->start_tsc = rte_rdtsc();
	file->start_ns = wall_ns();
	put_section(file);
	return 0;
}

int wh_pcapng_close(struct wh_pcapng *file)
{
	wh_pcapng_flush(file);
	if (file->fd >= 0 && close(file->fd) != 0)
		file->error = -errno;
	file->fd = -1;
	free(file->buffer);
	file->buffer = NULL;
	return file->error;
}
