/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul wan`: two ports joined by an emulated link. Each direction is a task of a loop; the
 * main core's loop also has a watch, which checks links, time and signals.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/signals.h"
#include "host/link_watch.h"
#include "host/runtime.h"
#include "lab_verbs.h"
#include "netem/join.h"
#include "port/interface.h"
#include "report/progress.h"
#include "wan/capture.h"
#include "wan/claim.h"
#include "wan/wan_live.h"
#include "wan/wan_plan.h"
#include "wan/wan_report.h"

#define WATCH_US 1000
#define ROW_MS   1000
#define LOOK_US  10000

/* A direction with changes of its path, applied by the direction's core. */
struct changing_direction {
	struct wh_join_direction join;
	uint64_t hz;
	uint64_t start_tsc;
	const struct wh_wan_schedule *schedule;
	enum wh_emulator_end end;
	uint32_t step; /* index of the next one */
	uint64_t step_tsc;
	uint64_t look_tsc;            /* when the queue is measured next, for the watch */
	_Atomic uint64_t queue_bytes; /* last measured */
};

struct wan {
	struct wh_wan_plan plan;
	struct wh_runtime runtime;
	struct rte_mempool *pool[WH_EMULATOR_ENDS]; /* into which the port receives */
	struct wh_port *port[WH_EMULATOR_ENDS];
	struct changing_direction direction[WH_EMULATOR_ENDS]; /* indexed by the sending end */
	struct wh_link_watch link[WH_EMULATOR_ENDS];
	uint64_t start_tsc;
	uint64_t end_tsc; /* WH_TSC_NEVER: until told to end */
	uint64_t next_tsc;
	uint64_t row_tsc;
	struct wh_wan_live live;
	struct wh_wan_capture capture;
	uint32_t told_steps;
	bool told_oversize[WH_EMULATOR_ENDS];
	bool told_sums[WH_EMULATOR_ENDS];
	bool lost; /* a port is gone */
};

/* One complete checksum may look partial by chance; several do not. */
#define PARTIAL_SUMS_TOLD 3

/*
 * Oversize frames are large segments of the sender's kernel, which leaves their division, and
 * checksums, to a NIC; there is none here.
 */
static void tell_offload(struct wan *wan, uint32_t end)
{
	const struct wh_join_stats *stats = &wan->direction[end].join.stats;

	if (!wan->told_oversize[end] && stats->dropped_pkts[WH_JOIN_DROP_OVERSIZE] > 0) {
		wan->told_oversize[end] = true;
		wh_say("frames larger than the MTU of %u arrive from %s and are dropped: raise "
		       "--mtu; or, if the kernel behind it leaves segmentation to its NIC, run "
		       "'ethtool -K IFACE tx off' at that end",
			wan->plan.mtu, wan->plan.settings.port[end].name);
	}
	if (!wan->told_sums[end] && stats->partial_sums >= PARTIAL_SUMS_TOLD) {
		wan->told_sums[end] = true;
		wh_say("TCP and UDP frames from %s have incomplete checksums, and their receivers "
		       "will drop them: the kernel behind it leaves checksums to its NIC; run "
		       "'ethtool -K IFACE tx off' at that end",
			wan->plan.settings.port[end].name);
	}
}

static uint64_t step_tsc(const struct changing_direction *direction, uint32_t step)
{
	return step == direction->schedule->count
		       ? WH_TSC_NEVER
		       : direction->start_tsc +
				 wh_ns_to_tsc(direction->hz, direction->schedule->step[step].at_ns);
}

static void change(struct changing_direction *direction)
{
	const struct wh_wan_step *step = &direction->schedule->step[direction->step];

	if (step->changes[direction->end])
		wh_netem_change(direction->join.netem, &step->netem[direction->end], direction->hz,
			direction->join.clock());
	direction->step_tsc = step_tsc(direction, ++direction->step);
}

static int32_t poll_direction(void *state, uint64_t now_tsc)
{
	struct changing_direction *direction = state;

	while (unlikely(now_tsc >= direction->step_tsc))
		change(direction);
	if (unlikely(now_tsc >= direction->look_tsc)) {
		direction->look_tsc = now_tsc + wh_us_to_tsc(direction->hz, LOOK_US);
		atomic_store_explicit(&direction->queue_bytes,
			wh_netem_queue_bytes(direction->join.netem, now_tsc), memory_order_relaxed);
	}
	return wh_join_direction_poll(&direction->join, now_tsc);
}

/* Also called while it runs: another core's counters may then be of slightly different moments. */
static void count(struct wan *wan, struct wh_wan_result *result)
{
	result->seconds = (double)(rte_rdtsc() - wan->start_tsc) / (double)wan->runtime.hz;
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		struct wh_wan_figures *direction = &result->direction[end];

		const struct wh_join_direction *join = &wan->direction[end].join;

		direction->join = join->stats;
		direction->late_ns_max = wh_tsc_to_ns(wan->runtime.hz, join->stats.late_tsc_max);
		direction->path = *wh_netem_stats(join->netem);
		direction->held_pkts = wh_netem_held(join->netem);
		direction->queue_bytes = atomic_load_explicit(
			&wan->direction[end].queue_bytes, memory_order_relaxed);
		wh_port_stats_total(wan->port[end], &direction->from);
		wh_port_stats_total(wan->port[WH_EMULATOR_ENDS - 1 - end], &direction->to);
	}
}

static void tell_second(struct wan *wan, uint64_t now_tsc)
{
	struct wh_wan_result now;

	if (now_tsc < wan->row_tsc || !(wan->live.rows || wan->live.stream))
		return;
	wan->row_tsc += wh_us_to_tsc(wan->runtime.hz, ROW_MS * UINT64_C(1000));
	count(wan, &now);
	wh_wan_live_tell(&wan->live, &now);
}

static void tell_steps(struct wan *wan, uint64_t now_tsc)
{
	const struct wh_wan_schedule *schedule = &wan->plan.schedule;

	for (; now_tsc >= step_tsc(&wan->direction[WH_EMULATOR_A], wan->told_steps);
		wan->told_steps++)
		wh_wan_live_change(&wan->live, (double)schedule->step[wan->told_steps].at_ns / 1e9,
			schedule->step[wan->told_steps].head, wan->plan.settings.then);
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct wan *wan = state;

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		wan->lost = !wh_link_watch_poll(&wan->link[end], now_tsc) || wan->lost;
	if (now_tsc < wan->next_tsc)
		return 0;
	wan->next_tsc = now_tsc + wh_us_to_tsc(wan->runtime.hz, WATCH_US);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		tell_offload(wan, end);
	tell_steps(wan, now_tsc);
	tell_second(wan, now_tsc);
	if (wan->lost || now_tsc >= wan->end_tsc || wh_signals_count() > 0)
		wh_runtime_stop(&wan->runtime);
	return 0;
}

/* A CPU that moves no packets, and may nap; if there is none, the first that moves some. */
static uint16_t choose_worker(const struct wh_cpu_list *allowed, const struct wh_cpu_list *cpus)
{
	for (uint32_t i = 0; i < allowed->count; i++)
		if (!wh_cpu_list_has(cpus, allowed->cpu[i]))
			return allowed->cpu[i];
	return cpus->cpu[0];
}

/*
 * One core for both directions, or one for each. Without a list the last CPU: the first one does
 * most of the system's own work.
 */
static int place_cores(const struct wh_wan_plan *plan, struct wh_cores *cores)
{
	struct wh_cpu_list cpus = plan->settings.rx_cpus;
	struct wh_host_settings settings = {.ports = 1, .queues = 1};
	struct wh_cores_allowed allowed;
	char why[WH_PORT_WHY_BYTES];

	wh_cores_allowed(NULL, &allowed);
	if (cpus.count == 0)
		cpus.cpu[cpus.count++] = allowed.cpus.cpu[allowed.cpus.count - 1];
	for (uint32_t i = 0; i < cpus.count; i++) {
		if (CPU_ISSET(cpus.cpu[i], &allowed.set))
			continue;
		return wh_fail(WH_EXIT_HARDWARE,
			"this process may not use CPU %u of --cpus; `taskset -p $$` shows the CPUs "
			"that it may use",
			cpus.cpu[i]);
	}
	settings.rx_cpus = (struct wh_cpu_list){.count = 1, .cpu = {cpus.cpu[0]}};
	settings.tx_cpus = (struct wh_cpu_list){.count = 1, .cpu = {cpus.cpu[cpus.count - 1]}};
	settings.worker_cpus =
		(struct wh_cpu_list){.count = 1, .cpu = {choose_worker(&allowed.cpus, &cpus)}};

	int rc = wh_cores_place(&settings, &allowed, cores, why, sizeof(why));

	WH_ASSERT(rc == 0); /* all are allowed */
	return WH_EXIT_OK;
}

static int start_runtime(struct wan *wan)
{
	const struct wh_wan_plan *plan = &wan->plan;
	struct wh_eal_config eal = {
		.memory_bytes = plan->memory.bytes,
		.small_pages_bytes = plan->memory.small_pages_bytes,
		.node = -1,
		.option = "--memory",
		.option_bytes = plan->memory.bytes,
		.no_huge = plan->settings.no_huge,
		.take_now = true,
		.one_file = plan->spec[WH_EMULATOR_A].single_file_segments ||
			    plan->spec[WH_EMULATOR_B].single_file_segments,
		.physical =
			plan->spec[WH_EMULATOR_A].physical || plan->spec[WH_EMULATOR_B].physical,
		.device = {plan->device[WH_EMULATOR_A], plan->device[WH_EMULATOR_B]},
		.extra = plan->settings.eal[0] != '\0' ? plan->settings.eal : NULL,
		.verbose = plan->settings.verbose,
	};
	struct wh_cores cores;
	int status = place_cores(plan, &cores);

	if (status != WH_EXIT_OK)
		return status;
	if (plan->settings.verbose)
		wh_memory_plan_print(&plan->memory, stderr);
	if (wh_runtime_start(&wan->runtime, &cores, eal.verbose, &eal) != 0)
		return WH_EXIT_HARDWARE;
	for (uint32_t i = 0; i < cores.count; i++) {
		bool moves = (cores.core[i].receives | cores.core[i].sends) != 0;

		/* A nap would exceed the permitted error of the delay. */
		if (moves)
			wan->runtime.loop[i].hz = wan->runtime.loop[i].away_tsc = 0;
		else
			wan->runtime.loop[i].quiet_s = WH_LOOP_QUIET_S;
		/*
		 * Another process's time slice takes milliseconds. On a machine of several CPUs it
		 * can have another one.
		 */
		wan->runtime.loop[i].urgent = moves && sysconf(_SC_NPROCESSORS_ONLN) > 1;
	}
	return WH_EXIT_OK;
}

static int open_port(struct wan *wan, uint32_t end)
{
	static const char *const names[WH_EMULATOR_ENDS] = {"packets A", "packets B"};
	const struct wh_wan_plan *plan = &wan->plan;
	struct wh_port_config config = {
		.queues = 1,
		.mtu = plan->mtu,
		.socket = SOCKET_ID_ANY,
		.transparent = true,
		.rejoins = wh_port_rejoins(&plan->spec[end]),
	};
	char why[WH_PORT_WHY_BYTES];

	if (wh_port_find(plan->spec[end].ethdev, &config.ethdev) != 0)
		return wh_fail(WH_EXIT_HARDWARE,
			"DPDK did not create port %s from %s; `wavehaul doctor` tells what a NIC "
			"needs, --verbose shows DPDK's messages",
			plan->spec[end].ethdev, plan->spec[end].target);
	wan->pool[end] = rte_pktmbuf_pool_create(names[end], plan->mbufs[end], WH_JOIN_POOL_CACHE,
		0, wh_port_room_bytes(plan->mtu), SOCKET_ID_ANY);
	if (wan->pool[end] == NULL)
		return wh_fail(WH_EXIT_HARDWARE,
			"out of memory for packets, although the plan allowed for them; reserve "
			"more hugepages, or set a smaller --memory");
	config.pool = wan->pool[end];
	if (wh_port_open(&config, &wan->port[end], why, sizeof(why)) == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_HARDWARE, "%s", why);
}

/* Frames merged by the kernel below are longer than those on the line, and do not fit the path. */
static void tell_merging(const struct wh_port_spec *spec)
{
	bool merges = false;

	if (spec->kind != WH_PORT_AF_PACKET || spec->verbatim ||
		wh_interface_merges(spec->target, &merges) != 0 || !merges)
		return;
	wh_say("%s merges incoming frames (GRO, LRO) into frames longer than the path's MTU: run "
	       "'ethtool -K %s gro off lro off'",
		spec->target, spec->target);
}

static bool captures(const struct wan *wan)
{
	return wan->plan.settings.pcap[0] != '\0';
}

static int open_capture(struct wan *wan)
{
	const struct wh_settings *settings = &wan->plan.settings;
	const struct wh_wan_capture_config config = {
		.path = settings->pcap,
		.bytes_max = settings->pcap_bytes,
		.snap_bytes = settings->pcap_snap_bytes,
		.port = {settings->port[WH_EMULATOR_A].name, settings->port[WH_EMULATOR_B].name},
		.hz = wan->runtime.hz,
	};

	if (!captures(wan))
		return WH_EXIT_OK;
	if (wh_wan_capture_open(&wan->capture, &config) != 0)
		return WH_EXIT_OTHER;
	wh_runtime_add(&wan->runtime, 0, "pcap", wh_wan_capture_poll, &wan->capture);
	return WH_EXIT_OK;
}

static int open_direction(struct wan *wan, uint32_t end)
{
	const struct wh_join_direction_config config = {
		.from = wan->port[end],
		.to = wan->port[WH_EMULATOR_ENDS - 1 - end],
		.pool = wan->pool[end],
		.netem = wan->plan.netem[end],
		.items_max = wan->plan.items_max[end],
		.hz = wan->runtime.hz,
		.clock = wh_loop_read_tsc,
		.tap = captures(wan) ? (struct wh_join_tap){wh_wan_capture_frame,
					       &wan->capture.direction[end]}
				     : (struct wh_join_tap){NULL, NULL},
	};
	int rc = wh_join_direction_init(&wan->direction[end].join, &config);

	if (rc == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_USAGE, rc == -ENOMEM
					      ? "out of memory for the packets in flight"
					      : "invalid path: --reorder needs --reorder-delay, or "
						"a delay, of which it uses a tenth");
}

static int open_all(struct wan *wan)
{
	/* A process that may connect to a port's socket reads our memory: allow only the owner. */
	mode_t before = umask(S_IRWXG | S_IRWXO);
	int status = WH_EXIT_OK;

	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && status == WH_EXIT_OK; end++)
		status = open_port(wan, end);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		tell_merging(&wan->plan.spec[end]);
	umask(before);
	if (status == WH_EXIT_OK)
		status = open_capture(wan);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && status == WH_EXIT_OK; end++)
		status = open_direction(wan, end);
	if (status != WH_EXIT_OK)
		return status;
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		wh_link_watch_init(&wan->link[end], wan->port[end], &wan->plan.spec[end],
			wan->runtime.hz, true);
		wh_loop_add(wh_runtime_loop_of(&wan->runtime, 0, end == WH_EMULATOR_B),
			end == WH_EMULATOR_A ? "A to B" : "B to A", poll_direction,
			&wan->direction[end]);
	}
	wh_runtime_add(&wan->runtime, 0, "watch", watch, wan);
	return WH_EXIT_OK;
}

static void close_all(struct wan *wan)
{
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		wh_join_direction_free(&wan->direction[end].join);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		wh_port_close(wan->port[end]);
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		rte_mempool_free(wan->pool[end]);
}

static void start(struct wan *wan)
{
	wan->start_tsc = rte_rdtsc();
	wan->row_tsc = wan->start_tsc + wh_us_to_tsc(wan->runtime.hz, ROW_MS * UINT64_C(1000));
	wan->live.stream = wan->plan.settings.json_stream;
	wan->live.rows = wh_progress_has_terminal() && !wan->live.stream;
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++) {
		struct changing_direction *direction = &wan->direction[end];

		direction->hz = wan->runtime.hz;
		direction->end = (enum wh_emulator_end)end;
		direction->start_tsc = wan->start_tsc;
		direction->schedule = &wan->plan.schedule;
		direction->step_tsc = step_tsc(direction, 0);
	}
}

/* 0, or a negative errno: the file is incomplete, as was reported. */
static int end_capture(struct wan *wan, struct wh_wan_result *result)
{
	const struct wh_wan_capture *capture = &wan->capture;
	int rc = wh_wan_capture_close(&wan->capture);

	result->captured = captures(wan);
	result->pcap_written_pkts = capture->written_pkts;
	result->pcap_beyond_pkts = capture->beyond_pkts;
	result->pcap_missed_pkts = capture->missed_pkts;
	return rc;
}

static int carry(struct wan *wan, struct wh_wan_result *result)
{
	int status = open_all(wan);

	if (status == WH_EXIT_OK) {
		uint64_t time_ns = wan->plan.settings.time_ns;

		start(wan);
		wan->end_tsc = time_ns == 0
				       ? WH_TSC_NEVER
				       : wan->start_tsc + wh_ns_to_tsc(wan->runtime.hz, time_ns);
		wh_runtime_run(&wan->runtime);
		for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
			WH_ASSERT(wh_join_direction_adds_up(&wan->direction[end].join));
		count(wan, result);
		status = wan->lost ? WH_EXIT_HARDWARE : WH_EXIT_OK;
		if (end_capture(wan, result) != 0 && status == WH_EXIT_OK)
			status = WH_EXIT_OTHER;
	}
	close_all(wan);
	return status;
}

static int run(struct wan *wan, struct wh_wan_result *result)
{
	int status = wh_wan_plan_make(&wan->plan);

	/* Kept until the process ends. */
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS && status == WH_EXIT_OK; end++)
		if (wh_wan_claim(&wan->plan.spec[end]) == WH_WAN_TAKEN)
			status = WH_EXIT_HARDWARE;
	if (status == WH_EXIT_OK)
		status = start_runtime(wan);
	if (status != WH_EXIT_OK)
		return status;
	status = carry(wan, result);
	wh_runtime_close(&wan->runtime);
	return status;
}

int wh_verb_wan(int argc, char **argv)
{
	struct wan *wan = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*wan));
	struct wh_wan_result result = {0};

	if (wan == NULL)
		return WH_EXIT_OTHER;
	memset(wan, 0, sizeof(*wan));

	int status = wh_wan_plan_read(&wan->plan, argc, argv);

	if (status < 0) {
		wh_signals_catch();
		status = run(wan, &result);
		result.exit_status = status;
		for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
			result.port[end] = wan->plan.settings.port[end].name;
		if (wan->plan.settings.json || wan->plan.settings.json_stream)
			wh_wan_print_json(&result, wan->plan.settings.json_stream);
		else if (result.seconds > 0)
			wh_wan_print_table(&result);
	} else if (status != WH_EXIT_OK && (wh_words_contain(argc, argv, "--json") ||
						   wh_words_contain(argc, argv, "--json-stream"))) {
		wh_json_print(wh_head_json("wan", status), JSON_COMPACT);
	}
	wh_wan_plan_free(&wan->plan);
	free(wan);
	return status;
}
