/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Frames as a pcapng file (draft-ietf-opsawg-pcapng), with nanoseconds and each frame's direction.
 * It is written in large pieces of whole blocks; if a write fails the file ends, truncated before
 * its first incomplete block.
 */

#include <stdint.h>

#include "pcap/frames.h"

struct wh_pcapng {
	int fd;    /* -1: none, or it has failed */
	int error; /* a negative errno if it has failed */
	uint8_t *buffer;
	uint32_t buffered_bytes;
	uint32_t buffered_pkts;
	uint64_t bytes;         /* of the file, including those buffered */
	uint64_t flushed_bytes; /* without those */
	uint64_t flushed_pkts;  /* in the file */
	uint64_t hz;
	uint64_t start_tsc;
	uint64_t start_ns; /* since 1970 */
};

/* Size of the buffer. */
uint64_t wh_pcapng_memory_bytes(void);

/*
 * Begins a file in the empty `fd`, which it owns from then on; frames have times of a clock of
 * `hz`. 0, or -ENOMEM: fd stays the caller's.
 */
int wh_pcapng_open(struct wh_pcapng *file, int fd, uint64_t hz);

/* Frames refer to it by its number, counted from 0. */
void wh_pcapng_add_interface(struct wh_pcapng *file, const char *name, uint32_t snap_bytes);

/* The size of a frame in the file. */
uint64_t wh_pcapng_frame_bytes(const struct wh_frame *frame);

void wh_pcapng_put(struct wh_pcapng *file, uint32_t interface, const struct wh_frame *frame);
void wh_pcapng_flush(struct wh_pcapng *file);

/*
 * Also writes what is buffered. 0, or the negative errno of the write that failed, whenever it was.
 */
int wh_pcapng_close(struct wh_pcapng *file);
