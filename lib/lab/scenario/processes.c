/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/scenario/processes.h"

#include "base/arith.h"
#include "base/assert.h"

static void arrive(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	processes->host_pkts++;
	wh_processes_start(processes, now_ps);
	wh_processes_ask(processes, now_ps);
}

void wh_processes_start(struct wh_processes *processes, uint64_t now_ps)
{
	double pause_ps = -wh_log(1.0 - wh_prng_unit(&processes->prng)) *
			  (double)processes->config.arrival_ps;

	wh_sim_event_at(processes->events, &processes->arrival, now_ps + (uint64_t)pause_ps);
}

void wh_processes_stop(struct wh_processes *processes)
{
	wh_sim_event_cancel(processes->events, &processes->arrival);
	for (uint32_t i = 0; i < processes->servers; i++)
		wh_sim_server_stop(&processes->server[i]);
}

static bool is_data(const struct wh_sim_packet *packet)
{
	return packet->datagram.payload_bytes > 0;
}

static bool take_first(
	struct wh_processes *processes, enum wh_process process, struct wh_sim_fifo *fifo)
{
	processes->in_hand[process] = wh_sim_fifo_pop(fifo);
	return processes->in_hand[process] != NULL;
}

static struct wh_sim_packet *put_down(struct wh_processes *processes, enum wh_process process)
{
	struct wh_sim_packet *packet = processes->in_hand[process];

	WH_ASSERT(packet != NULL);
	processes->in_hand[process] = NULL;
	return packet;
}

static bool begin_take_control(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	(void)now_ps;
	return take_first(processes, WH_PROCESS_TAKE_CONTROL, &processes->control_in);
}

static void end_take_control(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	processes->ops->take(
		processes->context, now_ps, put_down(processes, WH_PROCESS_TAKE_CONTROL));
}

static bool begin_say_control(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	(void)now_ps;
	return take_first(processes, WH_PROCESS_SAY_CONTROL, &processes->to_say);
}

/* A receiver's control packet goes to the network, a sender's through trans. */
static void end_say_control(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;
	struct wh_sim_packet *packet = put_down(processes, WH_PROCESS_SAY_CONTROL);

	if (processes->sends)
		wh_sim_fifo_push(&processes->control_out, packet);
	else
		processes->ops->send(processes->context, packet);
	wh_processes_ask(processes, now_ps);
}

/* "The first one with high priority is used for control packets which is emptied first." */
static bool begin_trans(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;
	struct wh_sim_packet *packet;

	if (take_first(processes, WH_PROCESS_NETWORK, &processes->control_out))
		return true;
	while ((packet = processes->ops->next(processes->context, now_ps)) != NULL) {
		if (is_data(packet)) {
			processes->in_hand[WH_PROCESS_NETWORK] = packet;
			return true;
		}
		wh_sim_fifo_push(&processes->to_say, packet);
	}
	return false;
}

static void end_trans(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	processes->ops->send(processes->context, put_down(processes, WH_PROCESS_NETWORK));
	processes->ops->turn(processes->context, now_ps);
}

static bool begin_rcv(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	(void)now_ps;
	return take_first(processes, WH_PROCESS_NETWORK, &processes->data_in);
}

static void end_rcv(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	processes->ops->take(processes->context, now_ps, put_down(processes, WH_PROCESS_NETWORK));
}

static bool begin_host(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	(void)now_ps;
	if (processes->sends && processes->host_pkts == 0)
		return false;
	if (!processes->ops->begin_host(processes->context))
		return false;
	processes->host_pkts -= processes->sends;
	return true;
}

static void end_host(void *context, uint64_t now_ps)
{
	struct wh_processes *processes = context;

	processes->ops->end_host(processes->context);
	processes->ops->turn(processes->context, now_ps);
}

static void add_duty(struct wh_processes *processes, enum wh_process process)
{
	static const struct wh_sim_duty duties[WH_PROCESSES] = {
		[WH_PROCESS_TAKE_CONTROL] = {begin_take_control, end_take_control, 0},
		[WH_PROCESS_SAY_CONTROL] = {begin_say_control, end_say_control, 0},
		[WH_PROCESS_NETWORK] = {begin_rcv, end_rcv, 0},
		[WH_PROCESS_HOST] = {begin_host, end_host, 0},
	};
	const struct wh_processes_config *config = &processes->config;
	struct wh_sim_duty duty = duties[process];

	if (processes->sends && process == WH_PROCESS_NETWORK) {
		duty.begin = begin_trans;
		duty.end = end_trans;
	}
	duty.job_ps = processes->sends ? config->process_ps : config->receiver_process_ps;
	wh_sim_server_add(&processes->server[config->single ? 0 : process], &duty);
}

void wh_processes_init(struct wh_processes *processes, const struct wh_processes_config *config,
	const struct wh_processes_ops *ops, struct wh_sim_events *events, bool sends, uint64_t seed,
	void *context)
{
	WH_ASSERT(config->arrival_ps > 0 && config->process_ps > 0);
	WH_ASSERT(config->receiver_process_ps > 0);
	*processes = (struct wh_processes){
		.ops = ops,
		.context = context,
		.config = *config,
		.events = events,
		.sends = sends,
		.servers = config->single ? 1 : WH_PROCESSES,
	};
	wh_prng_init(&processes->prng, seed);
	wh_sim_event_init(&processes->arrival, arrive, processes);
	for (uint32_t i = 0; i < processes->servers; i++)
		wh_sim_server_init(&processes->server[i], events, processes);
	for (uint32_t i = 0; i < WH_PROCESSES; i++)
		add_duty(processes, (enum wh_process)i);
}

void wh_processes_arrive(
	struct wh_processes *processes, uint64_t now_ps, struct wh_sim_packet *packet)
{
	wh_sim_fifo_push(is_data(packet) ? &processes->data_in : &processes->control_in, packet);
	wh_processes_ask(processes, now_ps);
}

void wh_processes_ask(struct wh_processes *processes, uint64_t now_ps)
{
	struct wh_sim_packet *packet;

	if (!processes->sends)
		while ((packet = processes->ops->next(processes->context, now_ps)) != NULL)
			wh_sim_fifo_push(&processes->to_say, packet);
	for (uint32_t i = 0; i < processes->servers; i++)
		wh_sim_server_ask(&processes->server[i], now_ps);
}
