/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/sim/queue.h"

#include <assert.h>

#include "base/assert.h"
#include "lab/sim/queue_discipline.h"

/* Whether the packet would bring the queue to its limit; an empty queue accepts any. */
static bool is_beyond(const struct wh_sim_queue *queue, const struct wh_sim_packet *packet)
{
	const struct wh_sim_queue_config *config = &queue->config;
	const struct wh_sim_fifo *fifo = &queue->fifo;

	if (fifo->count_pkts == 0)
		return false;
	return (config->limit_pkts != 0 && fifo->count_pkts + 1 >= config->limit_pkts) ||
	       (config->limit_bytes != 0 &&
		       fifo->count_bytes + packet->bytes >= config->limit_bytes);
}

void wh_sim_queue_put_tail(struct wh_sim_queue *queue, const struct wh_sim_queue_call *call,
	struct wh_sim_packet *packet)
{
	if (is_beyond(queue, packet))
		call->drop(call->context, packet, false);
	else
		wh_sim_fifo_push(&queue->fifo, packet);
}

static struct wh_sim_packet *take_head(
	struct wh_sim_queue *queue, const struct wh_sim_queue_call *call)
{
	(void)call;
	return wh_sim_fifo_pop(&queue->fifo);
}

static const struct wh_sim_queue_discipline droptail = {
	"droptail", NULL, wh_sim_queue_put_tail, take_head};

static const struct wh_sim_queue_discipline *const disciplines[WH_SIM_DISCIPLINES] = {
	[WH_SIM_DROPTAIL] = &droptail,
	[WH_SIM_RED] = &wh_sim_queue_red,
	[WH_SIM_CODEL] = &wh_sim_queue_codel,
};

static_assert(sizeof(disciplines) / sizeof(disciplines[0]) == WH_SIM_DISCIPLINES,
	"each discipline has its functions");

const char *wh_sim_discipline_name(enum wh_sim_discipline discipline)
{
	WH_ASSERT(discipline < WH_SIM_DISCIPLINES);

	return disciplines[discipline]->name;
}

void wh_sim_queue_init(struct wh_sim_queue *queue, const struct wh_sim_queue_config *config,
	uint64_t rate_bps, uint64_t delay_ps)
{
	WH_ASSERT(config->discipline < WH_SIM_DISCIPLINES);
	WH_ASSERT(rate_bps > 0);

	*queue = (struct wh_sim_queue){
		.discipline = disciplines[config->discipline], .config = *config};
	if (queue->discipline->init != NULL)
		queue->discipline->init(queue, rate_bps, delay_ps);
}

void wh_sim_queue_put(struct wh_sim_queue *queue, uint64_t now_ps, struct wh_sim_packet *packet,
	struct wh_prng *prng, wh_sim_dropper drop, void *context)
{
	WH_DEBUG_ASSERT(packet->next == NULL);

	packet->moment_ps = now_ps;
	queue->discipline->put(
		queue, &(struct wh_sim_queue_call){now_ps, prng, drop, context}, packet);
}

struct wh_sim_packet *wh_sim_queue_take(
	struct wh_sim_queue *queue, uint64_t now_ps, wh_sim_dropper drop, void *context)
{
	return queue->discipline->take(
		queue, &(struct wh_sim_queue_call){now_ps, NULL, drop, context});
}
