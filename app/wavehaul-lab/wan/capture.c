/* SPDX-License-Identifier: BSD-3-Clause */
#include "wan/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"

/* 0.1 s of frames of 1500 bytes at 1 Gb/s, in and out. */
#define RING_PKTS 16383

/* Frames written in one turn, so that other tasks get theirs. */
#define TURN_PKTS 64

/*
 * The file is written at this interval: a program that reads it meanwhile, and the file of a killed
 * process, lack no more than that.
 */
#define FLUSH_US 500000

#define NAME_BYTES 256

uint64_t wh_wan_capture_bytes(uint32_t snap_bytes)
{
	return WH_EMULATOR_ENDS * wh_frames_bytes(RING_PKTS, snap_bytes) + wh_pcapng_memory_bytes();
}

void wh_wan_capture_frame(void *frames, const struct rte_mbuf *pkt, uint64_t now_tsc, bool leaves)
{
	wh_frames_put(frames, pkt, now_tsc, leaves);
}

/* The file has ended: further frames are only counted. */
static void tell_failure(struct wh_wan_capture *capture)
{
	if (capture->file.error == 0 || capture->told_failure)
		return;
	capture->told_failure = true;
	wh_complain("no more is written into %s: %s", capture->config.path,
		strerror(-capture->file.error));
}

static void put(struct wh_wan_capture *capture, uint32_t direction, const struct wh_frame *frame)
{
	struct wh_pcapng *file = &capture->file;

	if (file->fd < 0 || file->bytes + wh_pcapng_frame_bytes(frame) > capture->config.bytes_max)
		return;
	wh_pcapng_put(file, frame->leaves ? WH_EMULATOR_ENDS - 1 - direction : direction, frame);
	tell_failure(capture);
}

int32_t wh_wan_capture_poll(void *state, uint64_t now_tsc)
{
	struct wh_wan_capture *capture = state;
	int32_t taken = 0;

	if (now_tsc >= capture->flush_tsc) {
		capture->flush_tsc = now_tsc + wh_us_to_tsc(capture->config.hz, FLUSH_US);
		wh_pcapng_flush(&capture->file);
		tell_failure(capture);
	}
	for (; taken < TURN_PKTS; taken++) {
		struct wh_frame frame;
		struct wh_frames *direction =
			wh_frames_oldest(capture->direction, WH_EMULATOR_ENDS, &frame);

		if (direction == NULL)
			break;
		put(capture, (uint32_t)(direction - capture->direction), &frame);
		wh_frames_drop(direction);
	}
	return taken;
}

static int open_file(struct wh_wan_capture *capture)
{
	const char *path = capture->config.path;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return wh_fail(-errno, "cannot write %s: %s", path, strerror(errno));
	rc = wh_pcapng_open(&capture->file, fd, capture->config.hz);
	if (rc != 0) {
		wh_complain("no memory for a capture");
		close(fd);
	}
	return rc;
}

int wh_wan_capture_open(struct wh_wan_capture *capture, const struct wh_wan_capture_config *config)
{
	char name[NAME_BYTES];
	int rc = 0;

	*capture = (struct wh_wan_capture){.config = *config, .file = {.fd = -1}};
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && rc == 0; end++)
		rc = wh_frames_init(&capture->direction[end], RING_PKTS, config->snap_bytes);
	if (rc != 0)
		return wh_fail(rc, "no memory for a capture");
	rc = open_file(capture);
	capture->opened = rc == 0;
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && rc == 0; end++) {
		snprintf(name, sizeof(name), "%c %.240s", end == WH_EMULATOR_A ? 'A' : 'B',
			config->port[end]);
		wh_pcapng_add_interface(&capture->file, name, config->snap_bytes);
	}
	return rc;
}

int wh_wan_capture_close(struct wh_wan_capture *capture)
{
	int rc;

	if (!capture->opened)
		return 0;
	while (wh_wan_capture_poll(capture, 0) > 0)
		;
	rc = wh_pcapng_close(&capture->file);
	tell_failure(capture);
	capture->written_pkts = capture->file.flushed_pkts;
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		capture->missed_pkts += capture->direction[end].missed_pkts;
		capture->beyond_pkts += capture->direction[end].seen_pkts;
		wh_frames_free(&capture->direction[end]);
	}
	WH_ASSERT(capture->beyond_pkts >= capture->written_pkts + capture->missed_pkts);
	capture->beyond_pkts -= capture->written_pkts + capture->missed_pkts;
	capture->opened = false;
	return rc;
}
