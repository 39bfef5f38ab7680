/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/netem/line.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"

#define FRACTION_BITS 64
#define WHOLE_CYCLE   ((unsigned __int128)1 << FRACTION_BITS)

/* The longest span; used for a queue without a limit in bytes. */
#define SPAN_MAX ((unsigned __int128)1 << (62 + FRACTION_BITS))

/*
 * Limits of a byte's span: short enough that a packet of any 32-bit size stays below SPAN_MAX, long
 * enough that truncation to 2^-64 cycles errs by less than one part in 10^6.
 */
#define BYTE_SPAN_MAX (SPAN_MAX >> 32)
#define BYTE_SPAN_MIN ((unsigned __int128)1 << 20)

static_assert(BYTE_SPAN_MIN < BYTE_SPAN_MAX, "there are rates that fit the clock");
static_assert(UINT32_MAX * BYTE_SPAN_MAX < SPAN_MAX, "so does a packet of any size");

static uint64_t whole_cycles(unsigned __int128 span)
{
	return (uint64_t)((span + WHOLE_CYCLE - 1) >> FRACTION_BITS);
}

bool wh_line_rate_fits(uint64_t rate_bps, uint64_t hz)
{
	unsigned __int128 byte_span = ((unsigned __int128)(8 * hz) << FRACTION_BITS) / rate_bps;

	return byte_span >= BYTE_SPAN_MIN && byte_span <= BYTE_SPAN_MAX;
}

static void set_rate(struct wh_line *line, const struct wh_link_model *config, uint64_t hz)
{
	line->byte_span = ((unsigned __int128)(8 * hz) << FRACTION_BITS) / config->rate_bps;

	bool limited = config->queue_bytes > 0 && config->queue_bytes < SPAN_MAX / line->byte_span;

	line->queue_span = limited ? config->queue_bytes * line->byte_span : SPAN_MAX;
	line->queue_pkts = config->queue_pkts;
	WH_ASSERT(line->queue_span > 0 && line->queue_span <= SPAN_MAX);
}

int wh_line_init(struct wh_line *line, const struct wh_link_model *config, uint64_t hz)
{
	WH_ASSERT(hz > 0 && hz < UINT64_C(1) << 40);

	*line = (struct wh_line){.queue_pkts = 0};
	if (config->rate_bps == 0)
		return 0;
	if (!wh_line_rate_fits(config->rate_bps, hz))
		return -EINVAL;
	set_rate(line, config, hz);
	line->ring_pkts = (uint32_t)wh_max_u64(config->queue_pkts, config->queue_pkts_max);
	if (line->ring_pkts == 0)
		return 0;
	line->leave_tsc = calloc(line->ring_pkts, sizeof(line->leave_tsc[0]));
	return line->leave_tsc == NULL ? -ENOMEM : 0;
}

struct wh_line_pace wh_line_change(
	struct wh_line *line, const struct wh_link_model *config, uint64_t hz, uint64_t now_tsc)
{
	unsigned __int128 now = (unsigned __int128)now_tsc << FRACTION_BITS;
	unsigned __int128 waiting = line->busy_until > now ? line->busy_until - now : 0;
	struct wh_line_pace pace = {now_tsc, whole_cycles(now + waiting), 0};

	WH_ASSERT(line->byte_span > 0 && wh_line_rate_fits(config->rate_bps, hz));
	WH_ASSERT(config->queue_pkts <= line->ring_pkts);

	unsigned __int128 bytes = waiting / line->byte_span;
	double begun = (double)(waiting % line->byte_span) / (double)line->byte_span;

	set_rate(line, config, hz);
	/* Bounds the queue's span: what 1 Tb/s sends at once would take years at 10 kb/s. */
	if (bytes > (SPAN_MAX >> 8) / line->byte_span)
		bytes = (SPAN_MAX >> 8) / line->byte_span;
	if (waiting > 0)
		line->busy_until = now + bytes * line->byte_span +
				   (unsigned __int128)(begun * (double)line->byte_span);
	pace.after_tsc = waiting > 0 ? whole_cycles(line->busy_until) : now_tsc;
	for (uint32_t i = 0; i < line->waiting_pkts; i++) {
		uint64_t slot = (uint64_t)line->oldest + i;
		uint64_t *leave_tsc =
			&line->leave_tsc[slot < line->ring_pkts ? slot : slot - line->ring_pkts];

		*leave_tsc = wh_line_pace(&pace, *leave_tsc);
	}
	if (line->queue_pkts == 0)
		line->waiting_pkts = 0;
	return pace;
}

void wh_line_free(struct wh_line *line)
{
	free(line->leave_tsc);
	line->leave_tsc = NULL;
}

/* Whether the limit in packets admits one more; drops the entries of those that have left. */
static bool packet_has_room(struct wh_line *line, uint64_t now_tsc)
{
	WH_DEBUG_ASSERT(line->oldest < line->ring_pkts && line->waiting_pkts <= line->ring_pkts);
	while (line->waiting_pkts > 0 && line->leave_tsc[line->oldest] <= now_tsc) {
		line->oldest = line->oldest + 1 == line->ring_pkts ? 0 : line->oldest + 1;
		line->waiting_pkts--;
	}
	return line->waiting_pkts < line->queue_pkts;
}

static void note_leaving(struct wh_line *line, uint64_t leave_tsc)
{
	WH_DEBUG_ASSERT(line->waiting_pkts < line->queue_pkts);

	uint64_t slot = (uint64_t)line->oldest + line->waiting_pkts++;

	line->leave_tsc[slot < line->ring_pkts ? slot : slot - line->ring_pkts] = leave_tsc;
}

static uint64_t span_bytes(const struct wh_line *line, unsigned __int128 span)
{
	WH_DEBUG_ASSERT(line->byte_span > 0); /* at an infinite rate nothing is queued */
	return (uint64_t)((span + line->byte_span - 1) / line->byte_span);
}

bool wh_line_enter(struct wh_line *line, uint64_t now_tsc, uint32_t wire_bytes, uint64_t *leave_tsc)
{
	WH_ASSERT(wire_bytes > 0);

	unsigned __int128 now = (unsigned __int128)now_tsc << FRACTION_BITS;
	bool empty = line->busy_until <= now;
	unsigned __int128 end = (empty ? now : line->busy_until) + wire_bytes * line->byte_span;

	if (!empty && end - now > line->queue_span)
		return false;
	if (line->queue_pkts > 0 && !packet_has_room(line, now_tsc))
		return false;
	line->busy_until = end;
	*leave_tsc = whole_cycles(end);
	WH_DEBUG_ASSERT(*leave_tsc >= now_tsc);
	if (line->queue_pkts > 0)
		note_leaving(line, *leave_tsc);

	/* Conversion is a 128-bit division: only for a new maximum. */
	if (end - now > line->queue_span_max) {
		line->queue_span_max = end - now;
		line->queue_bytes_max = span_bytes(line, end - now);
	}
	return true;
}

uint64_t wh_line_queue_bytes(const struct wh_line *line, uint64_t now_tsc)
{
	unsigned __int128 now = (unsigned __int128)now_tsc << FRACTION_BITS;

	return line->busy_until <= now ? 0 : span_bytes(line, line->busy_until - now);
}

uint64_t wh_line_free_tsc(const struct wh_line *line)
{
	return line->byte_span == 0 ? 0 : whole_cycles(line->busy_until);
}

uint64_t wh_line_packet_tsc(const struct wh_line *line, uint32_t wire_bytes)
{
	return whole_cycles(wire_bytes * line->byte_span);
}
