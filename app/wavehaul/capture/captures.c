/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/captures.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "telemetry/live.h"

#define FOLDER WH_CAPTURE_FOLDER

/*
 * Milliseconds between two turns, with and without a capture. A ring has room for the frames of as
 * long as a disk may block the control's thread.
 */
#define RUNNING_MS 2
#define RESTING_MS 1000

/* Frames written in one turn, so that clients get their turns, too. */
#define TURN_PKTS 4096

/* Checks of the session and the disk per second, each after the stored frames were written. */
#define LOOKS_PER_S 5

#define RING_PKTS_MIN 31

static void see(void *context, struct rte_mbuf *const *pkts, uint16_t count)
{
	struct wh_capture_direction *direction = context;
	uint64_t now_tsc = rte_rdtsc();

	for (uint32_t i = 0; i < WH_CAPTURES_MAX; i++) {
		struct wh_capture_seat *seat = &direction->seat[i];
		struct wh_frames *frames =
			atomic_load_explicit(&seat->frames, memory_order_acquire);

		if (frames == NULL)
			continue;
		for (uint16_t p = 0; p < count; p++) {
			uint32_t head_bytes = RTE_MIN(pkts[p]->pkt_len, WH_CAPTURE_HEAD_BYTES);

			if (pkts[p]->data_len >= head_bytes &&
				wh_capture_filter_takes(seat->filter,
					rte_pktmbuf_mtod(pkts[p], const uint8_t *),
					pkts[p]->pkt_len, direction->leaves))
				wh_frames_put(frames, pkts[p], now_tsc, direction->leaves);
		}
	}
}

void wh_captures_init(struct wh_captures *captures)
{
	for (uint32_t queue = 0; queue < WH_PORT_QUEUES_MAX; queue++)
		for (uint32_t leaves = 0; leaves < 2; leaves++) {
			struct wh_capture_direction *direction =
				&captures->direction[queue][leaves];

			*direction = (struct wh_capture_direction){
				.tap = {see, direction}, .leaves = leaves != 0};
		}
}

struct wh_capture *wh_capture_find(struct wh_captures *captures, uint64_t number)
{
	for (uint32_t i = 0; i < WH_CAPTURES_KEPT; i++)
		if (number != 0 && captures->kept[i].number == number)
			return &captures->kept[i];
	return NULL;
}

/* The queue and direction of a ring. */
static struct wh_capture_direction *direction_of(
	struct wh_captures *captures, const struct wh_capture *capture, uint32_t ring)
{
	return &captures->direction[capture->first_queue + ring / 2][ring % 2];
}

static bool is_watched(const struct wh_capture_direction *direction)
{
	for (uint32_t i = 0; i < WH_CAPTURES_MAX; i++)
		if (atomic_load_explicit(&direction->seat[i].frames, memory_order_relaxed) != NULL)
			return true;
	return false;
}

static void seat(
	struct wh_captures *captures, struct wh_capture *capture, uint32_t place, bool sits)
{
	uint32_t queues = captures->host->ctx.settings->queues;

	for (uint32_t ring = 0; ring < capture->rings; ring++) {
		struct wh_capture_direction *direction = direction_of(captures, capture, ring);
		uint32_t shard = capture->first_queue + ring / 2;

		if (sits)
			direction->seat[place].filter = &capture->filter;
		atomic_store_explicit(&direction->seat[place].frames,
			sits ? &capture->frames[ring] : NULL, memory_order_release);
		wh_port_set_tap(captures->host->at[shard / queues].port, (uint16_t)(shard % queues),
			direction->leaves, is_watched(direction) ? &direction->tap : NULL);
	}
}

static uint32_t whole_frame_bytes(const struct wh_captures *captures)
{
	return (uint32_t)captures->host->at[0].port->mtu + WH_ETHER_BYTES + WH_VLAN_BYTES;
}

/* Capacity of a ring, 2^n - 1 frames. */
static uint32_t ring_pkts(uint32_t rings, uint32_t snap_bytes)
{
	uint32_t pkts = RING_PKTS_MIN;

	while (rings * wh_frames_bytes(2 * pkts + 1, snap_bytes) <= WH_CAPTURE_MEMORY_BYTES)
		pkts = 2 * pkts + 1;
	return pkts;
}

static void free_rings(struct wh_capture *capture)
{
	for (uint32_t i = 0; capture->frames != NULL && i < capture->rings; i++)
		wh_frames_free(&capture->frames[i]);
	free(capture->frames);
	free(capture->turns);
	capture->frames = NULL;
	capture->turns = NULL;
}

static bool make_rings(const struct wh_captures *captures, struct wh_capture *capture)
{
	uint32_t snap_bytes = capture->wanted.snap_bytes;
	size_t bytes = capture->rings * sizeof(capture->frames[0]);
	int rc = 0;

	capture->frames = aligned_alloc(RTE_CACHE_LINE_SIZE, bytes);
	capture->turns = calloc(captures->host->runtime->cores.count, sizeof(capture->turns[0]));
	if (capture->frames == NULL || capture->turns == NULL)
		return false;
	memset(capture->frames, 0, bytes);
	for (uint32_t i = 0; i < capture->rings && rc == 0; i++)
		rc = wh_frames_init(
			&capture->frames[i], ring_pkts(capture->rings, snap_bytes), snap_bytes);
	return rc == 0;
}

/* Creates a file that must not exist yet; a descriptor or a negative errno. */
static int make_file(const struct wh_captures *captures, const char *name)
{
	int state_fd = open(captures->state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int folder_fd = -1;
	int fd = -1;
	int error = 0;

	/* Whether it exists or could not be made shows when it is opened. */
	if (state_fd >= 0) {
		(void)!mkdirat(state_fd, FOLDER, 0750);
		folder_fd =
			openat(state_fd, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	if (folder_fd >= 0)
		fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0640);
	if (fd < 0)
		error = errno;
	if (folder_fd >= 0)
		close(folder_fd);
	if (state_fd >= 0)
		close(state_fd);
	return fd >= 0 ? fd : -error;
}

static bool open_file(
	struct wh_captures *captures, struct wh_capture *capture, struct wh_control_call *call)
{
	const char *name = capture->wanted.name;
	uint32_t port = capture->first_queue / captures->host->ctx.settings->queues;
	int fd = make_file(captures, name);

	if (fd == -EEXIST)
		wh_control_fail(call, WH_EXIT_OTHER,
			"the file %s already exists and is not overwritten: choose another name, "
			"or remove it from %s/" FOLDER,
			name, captures->state);
	else if (fd < 0)
		wh_control_fail(call, WH_EXIT_OTHER, "cannot write %s/" FOLDER "/%s: %s",
			captures->state, name, strerror(-fd));
	if (fd < 0)
		return false;
	if (wh_pcapng_open(&capture->file, fd, captures->host->ctx.hz) != 0) {
		wh_control_fail(call, WH_EXIT_OTHER, "no memory for a capture");
		close(fd);
		return false;
	}
	wh_pcapng_add_interface(
		&capture->file, captures->host->spec[port].target, capture->wanted.snap_bytes);
	return true;
}

/* Sets the filter; false: the session or queue does not exist. */
static bool aim(
	struct wh_captures *captures, struct wh_capture *capture, struct wh_control_call *call)
{
	const struct wh_capture_wanted *wanted = &capture->wanted;
	struct wh_tel_locator locator;

	capture->rings = 2;
	capture->filter.all = wanted->of != WH_CAPTURE_SESSION;
	if (wanted->of == WH_CAPTURE_PORT) {
		capture->rings = 2 * captures->host->shards;
	} else if (wanted->of == WH_CAPTURE_QUEUE) {
		capture->first_queue = (uint32_t)wh_min_u64(wanted->number, UINT32_MAX);
		if (capture->first_queue >= captures->host->shards)
			wh_control_fail(
				call, WH_EXIT_OTHER, "there is no queue %" PRIu64, wanted->number);
	} else if (!wh_tel_session_locator(wanted->number, &locator)) {
		wh_control_fail(
			call, WH_EXIT_OTHER, "there is no session %" PRIu64, wanted->number);
	} else {
		capture->first_queue = locator.queue;
		capture->filter.peer = locator.peer;
		capture->filter.cid_in = locator.cid;
		atomic_store(&capture->filter.cid_out, locator.peer_cid);
		if (!call->administers &&
			!captures->owns(captures->context, call->uid, locator.job))
			wh_control_fail(call, WH_EXIT_OTHER,
				"session %" PRIu64 " belongs to no job of yours: only root and "
				"the server's user may capture it",
				wanted->number);
	}
	return call->status == WH_EXIT_OK;
}

static void tell_log(const struct wh_capture *capture, const char *what)
{
	static const char *const names[] = {
		[WH_CAPTURE_SESSION] = "session ",
		[WH_CAPTURE_QUEUE] = "queue ",
		[WH_CAPTURE_PORT] = "the port",
	};
	char number[24] = "";

	if (capture->wanted.of != WH_CAPTURE_PORT)
		snprintf(number, sizeof(number), "%" PRIu64, capture->wanted.number);
	wh_say("capture %" PRIu64 " of %s%s into %s, for user %u: %s", capture->number,
		names[capture->wanted.of], number, capture->wanted.name, capture->wanted.uid, what);
}

static uint32_t free_place(const struct wh_captures *captures)
{
	for (uint32_t i = 0; i < WH_CAPTURES_MAX; i++)
		if (captures->running[i] == NULL)
			return i;
	return WH_CAPTURES_MAX;
}

/* Replaces the oldest ended capture; there always is one, since fewer can run than are kept. */
static struct wh_capture *forget_oldest(struct wh_captures *captures)
{
	struct wh_capture *oldest = NULL;

	for (uint32_t i = 0; i < WH_CAPTURES_KEPT; i++) {
		struct wh_capture *capture = &captures->kept[i];

		if (capture->frames == NULL && (oldest == NULL || capture->number < oldest->number))
			oldest = capture;
	}
	WH_ASSERT(oldest != NULL);
	return oldest;
}

/* False after a refusal, which leaves nothing behind. */
static bool prepare(struct wh_captures *captures, struct wh_capture *capture,
	const struct wh_capture_wanted *wanted, struct wh_control_call *call)
{
	if (captures->host->at[0].port == NULL) {
		wh_control_fail(call, WH_EXIT_OTHER,
			"the kernel has the frames of port udp: capture them with `tcpdump udp "
			"port %u`",
			captures->host->ctx.settings->udp_port);
		return false;
	}

	uint32_t whole_bytes = whole_frame_bytes(captures);

	*capture = (struct wh_capture){.wanted = *wanted, .began_tsc = rte_rdtsc()};
	if (wanted->snap_bytes == 0 || wanted->snap_bytes > whole_bytes)
		capture->wanted.snap_bytes = whole_bytes;
	if (!aim(captures, capture, call))
		return false;
	if (!make_rings(captures, capture))
		wh_control_fail(call, WH_EXIT_OTHER, "no memory for a capture");
	if (call->status == WH_EXIT_OK && open_file(captures, capture, call))
		return true;
	free_rings(capture);
	return false;
}

const struct wh_capture *wh_capture_start(struct wh_captures *captures,
	const struct wh_capture_wanted *wanted, struct wh_control_call *call)
{
	uint32_t place = free_place(captures);
	struct wh_capture *capture;
	struct wh_capture before;

	if (place == WH_CAPTURES_MAX) {
		wh_control_fail(call, WH_EXIT_OTHER,
			"%u captures run, and no more do at once: `show captures` lists them",
			WH_CAPTURES_MAX);
		return NULL;
	}
	capture = forget_oldest(captures);
	before = *capture;
	if (!prepare(captures, capture, wanted, call)) {
		*capture = before; /* a refused request must not erase a remembered capture */
		return NULL;
	}
	capture->number = ++captures->count;
	captures->running[place] = capture;
	seat(captures, capture, place, true);
	tell_log(capture, "begins");
	return capture;
}

static uint32_t place_of(const struct wh_captures *captures, const struct wh_capture *capture)
{
	uint32_t place = 0;

	while (captures->running[place] != capture)
		place++;
	WH_ASSERT(place < WH_CAPTURES_MAX);
	return place;
}

static uint64_t turns_of(const struct wh_captures *captures, uint32_t core)
{
	return __atomic_load_n(&captures->host->runtime->loop[core].turns, __ATOMIC_ACQUIRE);
}

void wh_capture_stop(struct wh_captures *captures, struct wh_capture *capture, const char *why)
{
	const struct wh_runtime *runtime = captures->host->runtime;

	if (capture->state != WH_CAPTURE_RUNS)
		return;
	snprintf(capture->why, sizeof(capture->why), "%s", why);
	capture->state = WH_CAPTURE_LEAVES;
	capture->ended_tsc = rte_rdtsc();
	seat(captures, capture, place_of(captures, capture), false);
	for (uint32_t core = 0; core < runtime->cores.count; core++)
		capture->turns[core] = turns_of(captures, core);
}

/* A core that has begun two turns since the tap was removed has left it. */
static bool have_left(const struct wh_captures *captures, const struct wh_capture *capture)
{
	for (uint32_t core = 0; core < captures->host->runtime->cores.count; core++)
		if (turns_of(captures, core) - capture->turns[core] < 2)
			return false;
	return true;
}

void wh_capture_count(const struct wh_capture *capture, uint64_t *seen_pkts, uint64_t *missed_pkts)
{
	*seen_pkts = capture->seen_pkts;
	*missed_pkts = capture->missed_pkts;
	for (uint32_t i = 0; capture->frames != NULL && i < capture->rings; i++) {
		*seen_pkts += __atomic_load_n(&capture->frames[i].seen_pkts, __ATOMIC_RELAXED);
		*missed_pkts += __atomic_load_n(&capture->frames[i].missed_pkts, __ATOMIC_RELAXED);
	}
}

/* Writes a frame within the limits; otherwise returns why the capture ends. */
static const char *put(struct wh_capture *capture, const struct wh_frame *frame)
{
	struct wh_pcapng *file = &capture->file;
	const struct wh_capture_wanted *wanted = &capture->wanted;

	if (file->fd < 0)
		return strerror(-file->error);
	if (wh_capture_written_pkts(capture) == wanted->pkts_max)
		return "as many packets as were wanted";
	if (file->bytes + wh_pcapng_frame_bytes(frame) > wanted->bytes_max)
		return "as many bytes as were wanted";
	wh_pcapng_put(file, 0, frame);
	return NULL;
}

/* Returns the number of frames taken. */
static uint32_t write_frames(
	struct wh_captures *captures, struct wh_capture *capture, uint32_t most)
{
	struct wh_frame frame;
	uint32_t taken = 0;

	for (; taken < most; taken++) {
		struct wh_frames *ring = wh_frames_oldest(capture->frames, capture->rings, &frame);
		const char *ends;

		if (ring == NULL)
			break;
		ends = put(capture, &frame);
		wh_frames_drop(ring);
		if (ends != NULL)
			wh_capture_stop(captures, capture, ends);
	}
	return taken;
}

static void finish(struct wh_captures *captures, struct wh_capture *capture)
{
	int rc;

	while (write_frames(captures, capture, TURN_PKTS) > 0)
		;
	rc = wh_pcapng_close(&capture->file);
	if (rc != 0)
		snprintf(capture->why, sizeof(capture->why), "%s", strerror(-rc));
	wh_capture_count(capture, &capture->seen_pkts, &capture->missed_pkts);
	free_rings(capture);
	capture->state = WH_CAPTURE_OVER;
	captures->running[place_of(captures, capture)] = NULL;
	tell_log(capture, capture->why);
}

/* Called a few times a second. */
static void look(struct wh_captures *captures, struct wh_capture *capture)
{
	struct wh_capture_filter *filter = &capture->filter;
	struct statvfs disk;
	struct wh_tel_locator locator;

	wh_pcapng_flush(&capture->file);
	if (capture->file.fd < 0) {
		wh_capture_stop(captures, capture, strerror(-capture->file.error));
	} else if (fstatvfs(capture->file.fd, &disk) == 0 &&
		   disk.f_bavail * disk.f_frsize < WH_CAPTURE_LEAVES_BYTES) {
		wh_capture_stop(captures, capture,
			"the disk is nearly full: the rest is reserved for the queue and for "
			"parts");
	} else if (capture->wanted.of == WH_CAPTURE_SESSION) {
		if (wh_tel_session_locator(capture->wanted.number, &locator))
			atomic_store_explicit(
				&filter->cid_out, locator.peer_cid, memory_order_relaxed);
		else
			wh_capture_stop(captures, capture, "the session is over");
	}
}

static void take_turn(struct wh_captures *captures, struct wh_capture *capture, uint64_t now_tsc)
{
	uint64_t hz = captures->host->ctx.hz;

	(void)write_frames(captures, capture, TURN_PKTS);
	if (capture->state == WH_CAPTURE_RUNS && now_tsc >= capture->look_tsc) {
		capture->look_tsc = now_tsc + hz / LOOKS_PER_S;
		look(captures, capture);
	}
	if (capture->state == WH_CAPTURE_RUNS &&
		(now_tsc - capture->began_tsc) / hz >= capture->wanted.seconds_max)
		wh_capture_stop(captures, capture, "as many seconds as were wanted");
	if (capture->state == WH_CAPTURE_LEAVES && have_left(captures, capture))
		finish(captures, capture);
}

uint32_t wh_captures_turn(void *context)
{
	struct wh_captures *captures = context;
	uint64_t now_tsc = rte_rdtsc();
	uint32_t patience_ms = RESTING_MS;

	for (uint32_t i = 0; i < WH_CAPTURES_MAX; i++)
		if (captures->running[i] != NULL) {
			take_turn(captures, captures->running[i], now_tsc);
			patience_ms = RUNNING_MS;
		}
	return patience_ms;
}

void wh_captures_close(struct wh_captures *captures)
{
	for (uint32_t i = 0; i < WH_CAPTURES_MAX; i++)
		if (captures->running[i] != NULL) {
			wh_capture_stop(captures, captures->running[i], "the server has ended");
			finish(captures, captures->running[i]);
		}
}
