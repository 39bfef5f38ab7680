/* SPDX-License-Identifier: BSD-3-Clause */

/* The answers of /wavehaul/cores. */

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "telemetry/answer.h"

/* A core's state at one moment. */
struct core_look {
	uint64_t busy_tsc;
	uint64_t total_tsc;
};

static bool look_at_cores(struct core_look look[WH_SETTINGS_CPUS_MAX])
{
	const struct wh_host *host = wh_tel_enter();

	if (host == NULL)
		return false;
	WH_ASSERT(host->runtime->cores.count <= WH_SETTINGS_CPUS_MAX);
	for (uint32_t i = 0; i < host->runtime->cores.count; i++)
		look[i] = (struct core_look){
			.busy_tsc = wh_tel_load(&host->runtime->loop[i].busy_tsc),
			.total_tsc = wh_tel_load(&host->runtime->loop[i].total_tsc),
		};
	wh_tel_leave();
	return true;
}

/* "receive x2, send x2, jobs": the tasks of a loop, each name once. */
static void name_tasks(const struct wh_loop *loop, char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < loop->tasks && used < room; i++) {
		const char *name = loop->task[i].name;
		uint32_t before = 0;
		uint32_t count = 0;

		for (uint32_t j = 0; j < loop->tasks; j++) {
			bool same = strcmp(loop->task[j].name, name) == 0;

			before += same && j < i;
			count += same;
		}
		if (before > 0)
			continue;
		used += (size_t)snprintf(
			text + used, room - used, "%s%s", used == 0 ? "" : ", ", name);
		if (count > 1 && used < room)
			used += (size_t)snprintf(text + used, room - used, " x%u", count);
	}
}

static uint64_t busy_permille(const struct core_look *before, const struct wh_loop *loop)
{
	uint64_t total_tsc = wh_tel_load(&loop->total_tsc) - before->total_tsc;
	uint64_t busy_tsc = wh_tel_load(&loop->busy_tsc) - before->busy_tsc;

	/* A round in progress may be counted in one and not yet in the other. */
	return total_tsc == 0 ? 0 : wh_min_u64(wh_muldiv_u64(busy_tsc, 1000, total_tsc), 1000);
}

/* `before`: each core's earlier state; NULL: no busy shares are wanted. */
static void put_core(
	json_t *data, const struct wh_host *host, uint32_t i, const struct core_look *before)
{
	const struct wh_loop *loop = &host->runtime->loop[i];
	char tasks[WH_TEL_TEXT_BYTES];

	name_tasks(loop, tasks, sizeof(tasks));
	wh_tel_put_text(data, "tasks", tasks);
	if (before != NULL)
		wh_tel_put(data, "busy_permille", busy_permille(&before[i], loop));
	wh_tel_put(data, "busy_us", wh_tsc_to_us(host->ctx.hz, wh_tel_load(&loop->busy_tsc)));
	wh_tel_put(data, "total_us", wh_tsc_to_us(host->ctx.hz, wh_tel_load(&loop->total_tsc)));
	wh_tel_put(data, "turns", wh_tel_load(&loop->turns));
	wh_tel_put(data, "naps", wh_tel_load(&loop->naps));
}

/* Packets that the core has received, or sent. */
static uint64_t pkts_of(const struct wh_host *host, const struct wh_core *core, bool sent)
{
	uint64_t pkts = 0;

	for (uint32_t queue = 0; queue < host->shards; queue++) {
		struct wh_port_stats stats;

		if (((sent ? core->sends : core->receives) & 1U << queue) == 0)
			continue;
		wh_host_port_stats(host, queue, &stats);
		pkts += sent ? stats.tx_pkts : stats.rx_pkts;
	}
	return pkts;
}

/* A transmitter's tasks are counted per packet sent, a receiver's per packet received. */
static uint64_t pkts_for(enum wh_meter_task task, uint64_t received_pkts, uint64_t sent_pkts)
{
	switch (task) {
	case WH_METER_PORT_RECEIVE:
	case WH_METER_DECODE:
	case WH_METER_RCV:
	case WH_METER_HOST_RCV:
	case WH_METER_SEND_RCV_STAT:
	case WH_METER_GET_TRANS_STAT:
		return received_pkts;
	case WH_METER_HOST_TRANS:
	case WH_METER_TRANS:
	case WH_METER_GET_RCV_STAT:
	case WH_METER_SEND_TRANS_STAT:
	case WH_METER_FRAME:
	case WH_METER_PORT_SEND:
		return sent_pkts;
	default:
		return 0;
	}
}

static void put_cycles(json_t *data, const struct wh_host *host, uint32_t i)
{
	uint64_t received_pkts = pkts_of(host, &host->runtime->cores.core[i], false);
	uint64_t sent_pkts = pkts_of(host, &host->runtime->cores.core[i], true);

	wh_tel_put(data, "received_pkts", received_pkts);
	wh_tel_put(data, "sent_pkts", sent_pkts);
	for (uint32_t p = 0; p < WH_METER_TASKS; p++) {
		enum wh_meter_task task = (enum wh_meter_task)p;
		uint64_t cycles =
			wh_tel_load(&host->runtime->loop[i].meter.cycles[p]) * WH_METER_EVERY;
		uint64_t pkts = pkts_for(task, received_pkts, sent_pkts);
		const char *name = wh_meter_task_name(task);

		wh_tel_put_about(data, name, "_cycles", "", cycles);
		if (pkts > 0)
			wh_tel_put_about(data, name, "_cycles_per_pkt", "", cycles / pkts);
	}
}

static bool put_one(
	json_t *data, const struct wh_host *host, uint64_t cpu, const struct core_look *before)
{
	for (uint32_t i = 0; i < host->runtime->cores.count; i++) {
		if (host->runtime->cores.core[i].cpu != cpu)
			continue;
		put_core(data, host, i, before);
		put_cycles(data, host, i);
		return true;
	}
	return false;
}

static void put_all(json_t *data, const struct wh_host *host, const struct core_look *before)
{
	for (uint32_t i = 0; i < host->runtime->cores.count; i++) {
		json_t *core = json_object();
		char name[16];

		put_core(core, host, i, before);
		snprintf(name, sizeof(name), "cpu_%u", host->runtime->cores.core[i].cpu);
		json_object_set_new(data, name, core);
	}
}

json_t *wh_tel_cores(const char *params, bool at_once)
{
	struct core_look before[WH_SETTINGS_CPUS_MAX];
	bool known = true;
	uint64_t cpu = 0;

	if ((params != NULL && !wh_tel_number(params, &cpu)) || !look_at_cores(before))
		return NULL;
	if (!at_once)
		wh_tel_wait();

	const struct wh_host *host = wh_tel_enter();

	if (host == NULL)
		return NULL;

	json_t *data = json_object();

	if (params != NULL)
		known = put_one(data, host, cpu, at_once ? NULL : before);
	else
		put_all(data, host, at_once ? NULL : before);
	wh_tel_leave();
	if (known)
		return data;
	json_decref(data);
	return NULL;
}
