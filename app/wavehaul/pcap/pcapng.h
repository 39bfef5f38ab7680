/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_PCAP_PCAPNG_H
#define WH_PCAP_PCAPNG_H

/*
 * Frames as a pcapng file (draft-ietf-opsawg-pcapng), with nanoseconds, and of each frame whether
 * it came in or left. It is written in large pieces of whole blocks; what cannot be written is the
 * file's end, and cut off in front of its first block.
 */

#include <stdint.h>

#include "pcap/frames.h"

struct wh_pcapng {
	int fd;    /* -1: there is none, or it has failed */
	int error; /* a negative errno that it failed by */
	uint8_t *buffer;
	uint32_t buffered_bytes;
	uint32_t buffered_pkts;
	uint64_t bytes;         /* of the file, with what is buffered */
	uint64_t flushed_bytes; /* without */
	uint64_t flushed_pkts;  /* in the file */
	uint64_t hz;
	uint64_t start_tsc;
	uint64_t start_ns; /* since 1970 */
};

/* The buffer's memory. */
uint64_t wh_pcapng_memory_bytes(void);

/*
 * An empty file becomes one of frames whose times are of a clock of so many cycles a second; fd is
 * the file's from then on. 0, or -ENOMEM: fd stays the caller's.
 */
int wh_pcapng_open(struct wh_pcapng *file, int fd, uint64_t hz);

/* Frames name it by its number, counted from 0. */
void wh_pcapng_add_interface(struct wh_pcapng *file, const char *name, uint32_t snap_bytes);

/* What a frame takes of the file. */
uint64_t wh_pcapng_frame_bytes(const struct wh_frame *frame);

void wh_pcapng_put(struct wh_pcapng *file, uint32_t interface, const struct wh_frame *frame);
void wh_pcapng_flush(struct wh_pcapng *file);

/* With what is buffered. 0, or the negative errno that a write has failed by, at any time. */
int wh_pcapng_close(struct wh_pcapng *file);

#endif
