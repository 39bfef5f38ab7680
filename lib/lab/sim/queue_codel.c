/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/queue_discipline.h"

#include <math.h>

#include "base/assert.h"

/* RFC 8289, section 5: drops at the head when the delay has been above target for an interval. */

#define TARGET_PS   (5 * WH_PS_PER_S / 1000)
#define INTERVAL_PS (100 * WH_PS_PER_S / 1000)

/* When dropping resumes within this many intervals, it continues near the previous drop rate. */
#define INTERVALS_REMEMBERED 16

static void put(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call,
	struct wh_sim_packet *packet)
{
	if (packet->bytes > queue->codel.largest_bytes)
		queue->codel.largest_bytes = packet->bytes;
	wh_sim_queue_put_tail(queue, call, packet);
}

/* Removes the head; *may_drop: the delay has been above target for an interval. */
static struct wh_sim_packet *take_one(struct wh_sim_queue *queue, uint64_t now_ps, bool *may_drop)
{
	struct wh_sim_codel *codel = &queue->codel;
	struct wh_sim_packet *packet = wh_sim_fifo_pop(&queue->fifo);

	WH_ASSERT(packet == NULL || now_ps >= packet->moment_ps);
	*may_drop = false;
	if (packet == NULL || now_ps - packet->moment_ps < TARGET_PS ||
		queue->fifo.count_bytes <= codel->largest_bytes)
		codel->first_above_ps = 0;
	else if (codel->first_above_ps == 0)
		codel->first_above_ps = now_ps + INTERVAL_PS;
	else
		*may_drop = now_ps >= codel->first_above_ps;
	return packet;
}

static uint64_t next_drop(const struct wh_sim_codel *codel, uint64_t from_ps)
{
	WH_ASSERT(codel->drops > 0);
	return from_ps + (uint64_t)((double)INTERVAL_PS / sqrt(codel->drops));
}

static void begin_dropping(struct wh_sim_codel *codel, uint64_t now_ps)
{
	uint32_t latest = codel->drops - codel->last_drops;
	uint64_t remembered_ps = codel->drop_next_ps + INTERVALS_REMEMBERED * INTERVAL_PS;

	WH_ASSERT(!codel->dropping && codel->drops >= codel->last_drops);
	codel->dropping = true;
	codel->drops = latest > 1 && now_ps < remembered_ps ? latest : 1;
	codel->last_drops = codel->drops;
	codel->drop_next_ps = next_drop(codel, now_ps);
}

static struct wh_sim_packet *take(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call)
{
	struct wh_sim_codel *codel = &queue->codel;
	uint64_t now_ps = call->now_ps;
	bool may_drop;
	struct wh_sim_packet *packet = take_one(queue, now_ps, &may_drop);

	if (!codel->dropping && may_drop) {
		call->drop(call->context, packet, true);
		packet = take_one(queue, now_ps, &may_drop);
		begin_dropping(codel, now_ps);
		return packet;
	}
	codel->dropping = codel->dropping && may_drop;
	while (codel->dropping && now_ps >= codel->drop_next_ps) {
		WH_ASSERT(packet != NULL);
		call->drop(call->context, packet, true);
		codel->drops++;
		packet = take_one(queue, now_ps, &codel->dropping);
		if (codel->dropping)
			codel->drop_next_ps = next_drop(codel, codel->drop_next_ps);
	}
	return packet;
}

const struct wh_sim_queue_discipline wh_sim_queue_codel = {"codel", NULL, put, take};
