/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/tasks.h"

#include <stdio.h>
#include <string.h>

#include "base/arith.h"
#include "base/assert.h"
#include "base/clock.h"

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
	for (uint32_t i = 0; i < tasks->config.cores; i++)
		wh_sim_event_cancel(tasks->events, &tasks->core[i].done);
}

static bool is_data(const struct wh_sim_packet *packet)
{
	return packet->datagram.payload_bytes > 0;
}

/* "The first one with high priority is used for control packets which is emptied first." */
static struct wh_sim_packet *next_of_trans(struct wh_tasks *tasks, uint64_t now_ps)
{
	struct wh_sim_packet *packet;

	if (!tasks->config.real && tasks->control_out.count_pkts > 0)
		return wh_sim_fifo_pop(&tasks->control_out);
	while ((packet = tasks->ops->next(tasks->context, now_ps)) != NULL && !is_data(packet))
		wh_sim_fifo_push(&tasks->to_say, packet);
	return packet;
}

/* Packets leave the sealing cores in the order in which these began them. */
static struct wh_sim_packet *begin_seal(struct wh_tasks *tasks)
{
	struct wh_sim_packet *packet = wh_sim_fifo_pop(&tasks->to_seal);

	if (packet != NULL) {
		packet->moment_ps = WH_SIM_NEVER_PS;
		wh_sim_fifo_push(&tasks->sealed, packet);
	}
	return packet;
}

static struct wh_sim_packet *pop_sealed(struct wh_tasks *tasks)
{
	const struct wh_sim_packet *first = tasks->sealed.first;
	bool done = first != NULL && first->moment_ps != WH_SIM_NEVER_PS;

	return done ? wh_sim_fifo_pop(&tasks->sealed) : NULL;
}

static struct wh_sim_packet *next_of(struct wh_tasks *tasks, uint32_t task, uint64_t now_ps)
{
	switch (task) {
	case WH_TASK_TAKE_CONTROL:
		return wh_sim_fifo_pop(&tasks->control_in);
	case WH_TASK_SAY_CONTROL:
		return wh_sim_fifo_pop(&tasks->to_say);
	case WH_TASK_SEAL:
		return begin_seal(tasks);
	case WH_TASK_NETWORK:
		if (tasks->sends)
			return next_of_trans(tasks, now_ps);
		return tasks->config.real ? pop_sealed(tasks) : wh_sim_fifo_pop(&tasks->data_in);
	default: /* the port */
		if (!tasks->sends)
			return wh_sim_fifo_pop(&tasks->data_in);
		return tasks->control_out.count_pkts > 0 ? wh_sim_fifo_pop(&tasks->control_out)
							 : pop_sealed(tasks);
	}
}

static bool begin_host(struct wh_tasks *tasks)
{
	bool begins =
		(!tasks->sends || tasks->host_pkts > 0) && tasks->ops->begin_host(tasks->context);

	tasks->host_pkts -= begins && tasks->sends;
	return begins;
}

/* How long the core's task is at work; 0: there is nothing for it. */
static uint64_t begin(struct wh_task_core *core, uint64_t now_ps)
{
	struct wh_tasks *tasks = core->tasks;
	uint32_t task = core->task;
	uint64_t pkts = 1;

	if (task == WH_TASK_HOST)
		return begin_host(tasks) ? tasks->cost_ps[task] : 0;
	core->packet = next_of(tasks, task, now_ps);
	if (core->packet == NULL)
		return 0;
	if (tasks->config.real && task <= WH_TASK_SAY_CONTROL) {
		pkts = wh_max_u64(tasks->data_pkts[task], 1);
		tasks->data_pkts[task] = 0;
	}
	return pkts * tasks->cost_ps[task];
}

/* NULL: to the network. */
static void pass(struct wh_tasks *tasks, struct wh_sim_fifo *fifo, struct wh_sim_packet *packet)
{
	if (fifo == NULL)
		tasks->ops->send(tasks->context, packet);
	else
		wh_sim_fifo_push(fifo, packet);
}

/* A core does one job at a time. Its tasks take turns: the next one is asked first. */
static void ask_core(struct wh_task_core *core, uint64_t now_ps)
{
	for (uint32_t i = 0; i < WH_TASKS && !core->busy; i++) {
		uint64_t job_ps = core->does >> core->task & 1 ? begin(core, now_ps) : 0;

		if (job_ps == 0) {
			core->task = (core->task + 1) % WH_TASKS;
			continue;
		}
		core->busy = true;
		core->busy_ps += job_ps;
		if (core->busy_ps > core->tasks->stats->busiest_ps) {
			core->tasks->stats->busiest_ps = core->busy_ps;
			core->tasks->stats->busiest = core->names;
		}
		wh_sim_event_at(core->tasks->events, &core->done, now_ps + job_ps);
	}
}

/* A receiver's control packet goes to the network, a sender's through trans, or the port. */
static void end(void *context, uint64_t now_ps)
{
	struct wh_task_core *core = context;
	struct wh_tasks *tasks = core->tasks;
	struct wh_sim_packet *packet = core->packet;
	uint32_t task = core->task;

	core->busy = false;
	core->task = (task + 1) % WH_TASKS;
	for (uint32_t i = 0; i <= WH_TASK_SAY_CONTROL; i++)
		tasks->data_pkts[i] += task == WH_TASK_NETWORK;
	if (task == WH_TASK_HOST)
		tasks->ops->end_host(tasks->context);
	else if (task == WH_TASK_NETWORK && tasks->sends)
		pass(tasks, tasks->config.real ? &tasks->to_seal : NULL, packet);
	else if (task == WH_TASK_NETWORK || task == WH_TASK_TAKE_CONTROL)
		tasks->ops->take(tasks->context, now_ps, packet);
	else if (task == WH_TASK_SAY_CONTROL)
		pass(tasks, tasks->sends ? &tasks->control_out : NULL, packet);
	else if (task == WH_TASK_SEAL)
		packet->moment_ps = now_ps;
	else
		pass(tasks, tasks->sends ? NULL : &tasks->to_seal, packet);
	if (task == WH_TASK_HOST || (task == WH_TASK_NETWORK && tasks->sends))
		tasks->ops->turn(tasks->context, now_ps);
	else if (task >= WH_TASK_SEAL || task == WH_TASK_SAY_CONTROL)
		wh_tasks_ask(tasks, now_ps);
	ask_core(core, now_ps);
}

/*
 * A real end's: sealing, the largest, has the cores that the others leave it. The paper's tasks are
 * alike, and go round the cores.
 */
static void place(struct wh_tasks *tasks)
{
	enum {
		SEAL = 1 << WH_TASK_SEAL,
		PORT = 1 << WH_TASK_PORT,
		REST = PORT - 1 - SEAL,
	};
	static const uint32_t first[][2] = {
		{REST | SEAL | PORT}, {REST, SEAL | PORT}, {REST | PORT, SEAL}, {REST, PORT}};
	const struct wh_tasks_config *config = &tasks->config;
	uint32_t few = (uint32_t)wh_min_u64(config->cores, 4);

	for (uint32_t i = 0; i < WH_TASKS_PAPER && !config->real; i++)
		tasks->core[i % config->cores].does |= 1U << i;
	for (uint32_t i = 0, sealing = 0; i < config->cores && config->real; i++) {
		uint32_t does = i < 2 ? first[few - 1][i] : SEAL;

		sealing += (does & SEAL) != 0;
		if (sealing <= config->sealing)
			tasks->core[i].does = does;
	}
}

static void name(struct wh_task_core *core)
{
	static const char *const names[2][WH_TASKS] = {
		{"get_trans_stat", "send_rcv_stat", "rcv", "host_rcv", "open", "port"},
		{"get_rcv_stat", "send_trans_stat", "trans", "host_trans", "seal", "port"},
	};
	size_t at = 0;

	for (uint32_t i = 0; i < WH_TASKS; i++)
		if (core->does >> i & 1)
			at += (size_t)snprintf(core->names + at, sizeof(core->names) - at, "%s%s",
				at > 0 ? "+" : "", names[core->tasks->sends][i]);
}

static bool share_core(const struct wh_tasks *tasks, enum wh_task one, enum wh_task other)
{
	for (uint32_t i = 0; i < WH_TASK_CORES_MAX; i++)
		if (tasks->core[i].does >> one & tasks->core[i].does >> other & 1)
			return true;
	return false;
}

/* With each packet its data, or its entry in a table, pass from task to task. */
static void add_handing(struct wh_tasks *tasks)
{
	static const enum wh_task ways[][2] = {
		{WH_TASK_TAKE_CONTROL, WH_TASK_NETWORK},
		{WH_TASK_SAY_CONTROL, WH_TASK_NETWORK},
		{WH_TASK_HOST, WH_TASK_NETWORK},
		{WH_TASK_NETWORK, WH_TASK_SEAL},
		{WH_TASK_SEAL, WH_TASK_PORT},
	};

	for (uint32_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		for (uint32_t k = 0; k < 2 && !share_core(tasks, ways[i][0], ways[i][1]); k++)
			tasks->cost_ps[ways[i][k]] += tasks->config.handing_ps;
}

void wh_tasks_init(struct wh_tasks *tasks, const struct wh_tasks_config *config,
	const struct wh_tasks_ops *ops, struct wh_sim_events *events, bool sends, uint64_t seed,
	struct wh_sim_flow_stats *stats, void *context)
{
	WH_ASSERT(config->arrival_ps > 0 && config->cores > 0 && config->sealing > 0);
	WH_ASSERT(config->cores <= WH_TASK_CORES_MAX);
	*tasks = (struct wh_tasks){
		.ops = ops,
		.context = context,
		.config = *config,
		.events = events,
		.sends = sends,
		.stats = stats,
	};
	memcpy(tasks->cost_ps, sends ? config->task_ps : config->receiver_task_ps,
		sizeof(tasks->cost_ps));
	wh_prng_init(&tasks->prng, seed);
	wh_sim_event_init(&tasks->arrival, arrive, tasks);
	place(tasks);
	for (uint32_t i = 0; i < config->cores; i++) {
		tasks->core[i].tasks = tasks;
		wh_sim_event_init(&tasks->core[i].done, end, &tasks->core[i]);
		name(&tasks->core[i]);
	}
	add_handing(tasks);
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
	for (uint32_t i = 0; i < tasks->config.cores; i++)
		ask_core(&tasks->core[i], now_ps);
}
