/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/cores.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

#include <rte_common.h>

#include "base/assert.h"

_Static_assert(WH_PORT_QUEUES_MAX <= 16, "a bit per queue");
_Static_assert(WH_PORT_QUEUES_MAX <= WH_SETTINGS_CPUS_MAX, "a list holds a CPU per queue");

static void add_set(struct wh_cpu_list *list, const cpu_set_t *set)
{
	for (uint16_t cpu = 0; cpu < CPU_SETSIZE && list->count < WH_SETTINGS_CPUS_MAX; cpu++)
		if (CPU_ISSET(cpu, set))
			list->cpu[list->count++] = cpu;
}

void wh_cores_allowed(const cpu_set_t *near, struct wh_cores_allowed *allowed)
{
	cpu_set_t first;
	cpu_set_t others;

	*allowed = (struct wh_cores_allowed){0};
	if (sched_getaffinity(0, sizeof(allowed->set), &allowed->set) != 0)
		return;
	CPU_ZERO(&first);
	if (near != NULL)
		CPU_AND(&first, near, &allowed->set);
	add_set(&allowed->cpus, &first);
	allowed->near = allowed->cpus.count;
	CPU_XOR(&others, &allowed->set, &first);
	add_set(&allowed->cpus, &others);
}

static bool has(const struct wh_cpu_list *list, uint16_t cpu)
{
	for (uint32_t i = 0; i < list->count; i++)
		if (list->cpu[i] == cpu)
			return true;
	return false;
}

static struct wh_core *core_of(struct wh_cores *cores, uint16_t cpu)
{
	for (uint32_t i = 0; i < cores->count; i++)
		if (cores->core[i].cpu == cpu)
			return &cores->core[i];
	WH_ASSERT(cores->count < WH_SETTINGS_CPUS_MAX);
	cores->core[cores->count] = (struct wh_core){.cpu = cpu};
	return &cores->core[cores->count++];
}

/* The allowed CPUs that are in neither list. */
static struct wh_cpu_list rest(
	const struct wh_cpu_list *allowed, const struct wh_cpu_list *a, const struct wh_cpu_list *b)
{
	struct wh_cpu_list result = {0};

	for (uint32_t i = 0; i < allowed->count; i++)
		if (!has(a, allowed->cpu[i]) && !has(b, allowed->cpu[i]))
			result.cpu[result.count++] = allowed->cpu[i];
	return result;
}

/* The rules of cores.h; `cpus` may move packets. */
static void deal_queues(const struct wh_cpu_list *cpus, uint32_t queues, struct wh_cpu_list *rx,
	struct wh_cpu_list *tx)
{
	WH_ASSERT(cpus->count > 0 && rx->count == 0 && tx->count == 0);
	for (uint32_t queue = 0; queue < queues; queue++) {
		uint16_t receives = cpus->cpu[queue % cpus->count];
		bool has_own_sender = queues + queue < cpus->count;

		rx->cpu[rx->count++] = receives;
		tx->cpu[tx->count++] = has_own_sender ? cpus->cpu[queues + queue] : receives;
	}
}

/* Chooses the receiving and sending CPUs if the operator named neither. */
static void choose_packet_cpus(const struct wh_cpu_list *allowed, const struct wh_cpu_list *worker,
	uint32_t queues, struct wh_cpu_list *rx, struct wh_cpu_list *tx)
{
	static const struct wh_cpu_list none;
	const struct wh_cpu_list first = {.count = 1, .cpu = {allowed->cpu[0]}};
	struct wh_cpu_list others = rest(allowed, worker->count > 0 ? worker : &first, &none);

	if (others.count == 0)
		others = *allowed;
	deal_queues(&others, queues, rx, tx);
}

/* Fills in the lists that were not given. */
static void choose(const struct wh_cpu_list *allowed, uint32_t queues, struct wh_cpu_list *rx,
	struct wh_cpu_list *tx, struct wh_cpu_list *worker)
{
	if (rx->count == 0 && tx->count == 0)
		choose_packet_cpus(allowed, worker, queues, rx, tx);
	else if (rx->count == 0)
		*rx = *tx;
	else if (tx->count == 0)
		*tx = *rx;
	if (worker->count == 0) {
		*worker = rest(allowed, rx, tx);
		worker->count = RTE_MIN(worker->count, WH_CORES_WORKERS * queues);
	}
	if (worker->count == 0)
		*worker = (struct wh_cpu_list){.count = 1, .cpu = {rx->cpu[0]}};
}

static int check(const struct wh_cpu_list *list, const char *name, const cpu_set_t *allowed,
	char *why, size_t why_bytes)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (CPU_ISSET(list->cpu[i], allowed))
			continue;
		snprintf(why, why_bytes,
			"this process may not use CPU %u of --%s-cpus; `taskset -p $$` shows the "
			"CPUs that it may use",
			list->cpu[i], name);
		return -EINVAL;
	}
	return 0;
}

/* Books that are kept where packets are received need no CPU of their own. */
static int check_apart(
	const struct wh_cpu_list *rx, const struct wh_cpu_list *books, char *why, size_t why_bytes)
{
	for (uint32_t i = 0; i < books->count; i++) {
		if (!has(rx, books->cpu[i]))
			continue;
		snprintf(why, why_bytes,
			"CPU %u of --books-cpus receives packets; name another one there, or name "
			"it not in --rx-cpus",
			books->cpu[i]);
		return -EINVAL;
	}
	return 0;
}

/* Asserts what cores.h promises of the first core and of every queue. */
static void check_cores(const struct wh_cores *cores, uint32_t queues)
{
	uint32_t received = 0;
	uint32_t sent = 0;

	WH_ASSERT(cores->count > 0 && cores->core[0].works);
	for (uint32_t i = 0; i < cores->count; i++) {
		const struct wh_core *core = &cores->core[i];

		WH_ASSERT(core->works || (core->receives | core->sends | core->books) != 0);
		WH_ASSERT((received & core->receives) == 0 && (sent & core->sends) == 0);
		received |= core->receives;
		sent |= core->sends;
	}
	WH_ASSERT(received == (1U << queues) - 1 && sent == received);
}

/* Those from which roles are chosen. */
static struct wh_cpu_list preferred(const struct wh_cores_allowed *allowed, uint32_t queues)
{
	struct wh_cpu_list cpus = allowed->cpus;

	if (allowed->near >= 1 + 2 * queues)
		cpus.count = allowed->near;
	return cpus;
}

int wh_cores_place(const struct wh_host_settings *settings, const struct wh_cores_allowed *allowed,
	struct wh_cores *cores, char *why, size_t why_bytes)
{
	uint32_t queues = wh_host_settings_shards(settings);
	const struct wh_cpu_list near = preferred(allowed, queues);
	const struct wh_cpu_list apart = rest(&near, &settings->books_cpus, &settings->books_cpus);
	const struct wh_cpu_list cpus = apart.count > 0 ? apart : near;
	struct wh_cpu_list rx = settings->rx_cpus;
	struct wh_cpu_list tx = settings->tx_cpus;
	struct wh_cpu_list worker = settings->worker_cpus;
	const struct wh_cpu_list *books = &settings->books_cpus;

	WH_ASSERT(cpus.count > 0 && queues > 0);
	if (check(&rx, "rx", &allowed->set, why, why_bytes) != 0 ||
		check(&tx, "tx", &allowed->set, why, why_bytes) != 0 ||
		check(&worker, "worker", &allowed->set, why, why_bytes) != 0 ||
		check(&settings->books_cpus, "books", &allowed->set, why, why_bytes) != 0)
		return -EINVAL;
	choose(&cpus, queues, &rx, &tx, &worker);
	if (check_apart(&rx, &settings->books_cpus, why, why_bytes) != 0)
		return -EINVAL;

	*cores = (struct wh_cores){0};
	for (uint32_t i = 0; i < worker.count; i++)
		core_of(cores, worker.cpu[i])->works = true;
	for (uint32_t queue = 0; queue < queues; queue++) {
		core_of(cores, rx.cpu[queue % rx.count])->receives |= (uint16_t)(1U << queue);
		core_of(cores, tx.cpu[queue % tx.count])->sends |= (uint16_t)(1U << queue);
		if (books->count > 0)
			core_of(cores, books->cpu[queue % books->count])->books |=
				(uint16_t)(1U << queue);
	}
	check_cores(cores, queues);
	return 0;
}

bool wh_cores_sends_alone(const struct wh_cores *cores, uint32_t queue)
{
	for (uint32_t i = 0; i < cores->count; i++) {
		const struct wh_core *core = &cores->core[i];

		if (core->sends & 1U << queue)
			return !core->works && core->receives == 0 && core->books == 0 &&
			       core->sends == 1U << queue;
	}
	return false;
}
