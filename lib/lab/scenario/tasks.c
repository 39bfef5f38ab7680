/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/tasks.h"

#include "base/arith.h"
#include "base/assert.h"

static void arrive(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	tasks->host_pkts++;
	wh_tasks_start(tasks, now_ps);
	wh_tasks_ask(tasks, now_ps);
}

void wh_tasks_start(struct wh_tasks *tasks, uint64_t now_ps)
{
	double pause_ps =
		-wh_log(1.0 - wh_prng_unit(&tasks->prng)) * (double)tasks->config.arrival_ps;

	wh_sim_event_at(tasks->events, &tasks->arrival, now_ps + (uint64_t)pause_ps);
}

void wh_tasks_stop(struct wh_tasks *tasks)
{
	wh_sim_event_cancel(tasks->events, &tasks->arrival);
	for (uint32_t i = 0; i < tasks->servers; i++)
		wh_sim_server_stop(&tasks->server[i]);
}

static bool is_data(const struct wh_sim_packet *packet)
{
	return packet->datagram.payload_bytes > 0;
}

static bool take_first(struct wh_tasks *tasks, enum wh_task task, struct wh_sim_fifo *fifo)
{
	tasks->in_hand[task] = wh_sim_fifo_pop(fifo);
	return tasks->in_hand[task] != NULL;
}

static struct wh_sim_packet *put_down(struct wh_tasks *tasks, enum wh_task task)
{
	struct wh_sim_packet *packet = tasks->in_hand[task];

	WH_ASSERT(packet != NULL);
	tasks->in_hand[task] = NULL;
	return packet;
}

static bool begin_take_control(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	(void)now_ps;
	return take_first(tasks, WH_TASK_TAKE_CONTROL, &tasks->control_in);
}

static void end_take_control(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	tasks->ops->take(tasks->context, now_ps, put_down(tasks, WH_TASK_TAKE_CONTROL));
}

static bool begin_say_control(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	(void)now_ps;
	return take_first(tasks, WH_TASK_SAY_CONTROL, &tasks->to_say);
}

/* A receiver's control packet goes to the network, a sender's through trans. */
static void end_say_control(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;
	struct wh_sim_packet *packet = put_down(tasks, WH_TASK_SAY_CONTROL);

	if (tasks->sends)
		wh_sim_fifo_push(&tasks->control_out, packet);
	else
		tasks->ops->send(tasks->context, packet);
	wh_tasks_ask(tasks, now_ps);
}

/* "The first one with high priority is used for control packets which is emptied first." */
static bool begin_trans(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;
	struct wh_sim_packet *packet;

	if (take_first(tasks, WH_TASK_NETWORK, &tasks->control_out))
		return true;
	while ((packet = tasks->ops->next(tasks->context, now_ps)) != NULL) {
		if (is_data(packet)) {
			tasks->in_hand[WH_TASK_NETWORK] = packet;
			return true;
		}
		wh_sim_fifo_push(&tasks->to_say, packet);
	}
	return false;
}

static void end_trans(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	tasks->ops->send(tasks->context, put_down(tasks, WH_TASK_NETWORK));
	tasks->ops->turn(tasks->context, now_ps);
}

static bool begin_rcv(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	(void)now_ps;
	return take_first(tasks, WH_TASK_NETWORK, &tasks->data_in);
}

static void end_rcv(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	tasks->ops->take(tasks->context, now_ps, put_down(tasks, WH_TASK_NETWORK));
}

static bool begin_host(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	(void)now_ps;
	if (tasks->sends && tasks->host_pkts == 0)
		return false;
	if (!tasks->ops->begin_host(tasks->context))
		return false;
	tasks->host_pkts -= tasks->sends;
	return true;
}

static void end_host(void *context, uint64_t now_ps)
{
	struct wh_tasks *tasks = context;

	tasks->ops->end_host(tasks->context);
	tasks->ops->turn(tasks->context, now_ps);
}

static void add_duty(struct wh_tasks *tasks, enum wh_task task)
{
	static const struct wh_sim_duty duties[WH_TASKS] = {
		[WH_TASK_TAKE_CONTROL] = {begin_take_control, end_take_control, 0},
		[WH_TASK_SAY_CONTROL] = {begin_say_control, end_say_control, 0},
		[WH_TASK_NETWORK] = {begin_rcv, end_rcv, 0},
		[WH_TASK_HOST] = {begin_host, end_host, 0},
	};
	const struct wh_tasks_config *config = &tasks->config;
	struct wh_sim_duty duty = duties[task];

	if (tasks->sends && task == WH_TASK_NETWORK) {
		duty.begin = begin_trans;
		duty.end = end_trans;
	}
	duty.job_ps = tasks->sends ? config->task_ps : config->receiver_task_ps;
	wh_sim_server_add(&tasks->server[config->single ? 0 : task], &duty);
}

void wh_tasks_init(struct wh_tasks *tasks, const struct wh_tasks_config *config,
	const struct wh_tasks_ops *ops, struct wh_sim_events *events, bool sends, uint64_t seed,
	void *context)
{
	WH_ASSERT(config->arrival_ps > 0 && config->task_ps > 0);
	WH_ASSERT(config->receiver_task_ps > 0);
	*tasks = (struct wh_tasks){
		.ops = ops,
		.context = context,
		.config = *config,
		.events = events,
		.sends = sends,
		.servers = config->single ? 1 : WH_TASKS,
	};
	wh_prng_init(&tasks->prng, seed);
	wh_sim_event_init(&tasks->arrival, arrive, tasks);
	for (uint32_t i = 0; i < tasks->servers; i++)
		wh_sim_server_init(&tasks->server[i], events, tasks);
	for (uint32_t i = 0; i < WH_TASKS; i++)
		add_duty(tasks, (enum wh_task)i);
}

void wh_tasks_arrive(struct wh_tasks *tasks, uint64_t now_ps, struct wh_sim_packet *packet)
{
	wh_sim_fifo_push(is_data(packet) ? &tasks->data_in : &tasks->control_in, packet);
	wh_tasks_ask(tasks, now_ps);
}

void wh_tasks_ask(struct wh_tasks *tasks, uint64_t now_ps)
{
	struct wh_sim_packet *packet;

	if (!tasks->sends)
		while ((packet = tasks->ops->next(tasks->context, now_ps)) != NULL)
			wh_sim_fifo_push(&tasks->to_say, packet);
	for (uint32_t i = 0; i < tasks->servers; i++)
		wh_sim_server_ask(&tasks->server[i], now_ps);
}
