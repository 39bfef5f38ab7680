/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul demo`: transfers a file over an emulated link inside this process, from one host to
 * another, by the same job as `send` to a `serve`. Both hosts and the link share the loops of one
 * runtime, on at most two cores: one moves packets, the other works on files.
 */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/fault_text.h"
#include "cli/json.h"
#include "cli/signals.h"
#include "demo/demo_plan.h"
#include "demo/demo_report.h"
#include "demo/files.h"
#include "job/lanes.h"
#include "lab_verbs.h"
#include "report/flow_plot.h"
#include "report/outcome.h"
#include "report/progress.h"
#include "transfer/sealed.h"
#include "transfer/wanted.h"
#include "trust/keylog.h"

#define CORES_MAX UINT32_C(2)

#define WATCH_US 100

/* Time for the receiver to learn that the transfer is over. */
#define LAST_WORDS_S 2

/* In sentences shared with transfers to another machine. */
#define PEER "the receiver"

/* A host at an end of the link. */
struct demo_end {
	struct wh_host host;
	struct wh_jobs jobs;
	bool host_is_open;
};

struct demo {
	struct wh_demo_options options;
	struct wh_demo_plan plan;
	struct wh_demo_files files;
	struct wh_identity identity; /* generated for this run */
	struct wh_handshake_settings handshake;
	struct wh_runtime runtime;
	struct rte_mempool *pool;                   /* for the link's packets */
	struct wh_emulator *emulator[WH_PORTS_MAX]; /* one for each path; NULL: none */
	struct demo_end end[WH_EMULATOR_ENDS];
	struct wh_service service; /* of the receiver */
	struct wh_lanes lanes;
	const char *source; /* files.source, as a list of one */
	uint64_t next_tsc;
	uint64_t give_up_tsc;
	uint64_t began_tsc; /* of the handshake */
	struct wh_progress progress;
	bool progress_shown;
	struct wh_flow_plot plot;

	/* The file's result, from jobs whose workers are on the same core as the watch. */
	struct wh_file_result told; /* from the sender; without its path */
	bool is_told;
	uint64_t came_tsc;    /* when its first bytes were taken there; 0: never */
	uint64_t arrived_tsc; /* when it got its name at the receiver; 0: not yet */
	struct wh_session_stats received;
};

/* At the receiver: the file is complete, and durable. */
static void on_arrived(void *context, const struct wh_file_result *result)
{
	struct demo *demo = context;

	if (result->error == 0)
		demo->arrived_tsc = rte_rdtsc();
}

/* At the receiver: the job is freed afterwards. */
static void on_over(void *context, const struct wh_job *job)
{
	struct demo *demo = context;

	demo->received = job->result.figures.stats;
	demo->came_tsc = job->view.flow_began_tsc;
}

static void on_file(void *context, const struct wh_file_result *result)
{
	struct demo *demo = context;

	demo->told = *result;
	demo->told.path = NULL;
	demo->is_told = true;
}

static void show_progress(struct demo *demo, uint64_t now_tsc)
{
	const struct wh_job *job = demo->lanes.job[0];
	char words[80];

	if (!demo->progress_shown || atomic_load(&job->view.state) < WH_JOB_RUNNING ||
		!wh_progress_is_due(&demo->progress, now_tsc, WH_PROGRESS_MS))
		return;

	uint64_t bytes = atomic_load(&job->view.moved_bytes);
	bool stands = demo->progress.last_tsc < now_tsc && demo->progress.last_bytes == bytes;

	snprintf(words, sizeof(words), "retransmitted %" PRIu64 "%s%s",
		atomic_load(&job->view.retransmitted_pkts), stands ? "  stalled by " : "",
		stands ? wh_limit_name((enum wh_limit)atomic_load(&job->view.limit_now)) : "");
	wh_progress_show(&demo->progress, now_tsc, bytes, 0, demo->files.bytes, words);
	wh_progress_told(&demo->progress, now_tsc, bytes);
}

static bool is_over(struct demo *demo, uint64_t now_tsc)
{
	if (!wh_lanes_gone(&demo->lanes, now_tsc))
		return false;
	if (demo->give_up_tsc == 0)
		demo->give_up_tsc = now_tsc + LAST_WORDS_S * demo->runtime.hz;
	return atomic_load(&demo->end[WH_DEMO_RECEIVER].jobs.live) == 0 ||
	       now_tsc > demo->give_up_tsc;
}

static int32_t watch(void *state, uint64_t now_tsc)
{
	struct demo *demo = state;
	struct wh_lanes *lanes = &demo->lanes;

	if (now_tsc < demo->next_tsc)
		return 0;
	demo->next_tsc = now_tsc + wh_us_to_tsc(demo->runtime.hz, WATCH_US);
	if (lanes->started == 0) {
		demo->began_tsc = now_tsc;
		if (wh_signals_count() > 0)
			wh_runtime_stop(&demo->runtime);
		else
			wh_lanes_start_first(lanes, now_tsc);
		return 0;
	}
	show_progress(demo, now_tsc);
	wh_flow_plot_look(&demo->plot, lanes, now_tsc);
	/* Not if the file is complete and has its name already. */
	if (wh_lanes_failed(lanes) || (wh_signals_count() > 0 && demo->arrived_tsc == 0))
		wh_lanes_hurry(lanes, now_tsc);
	if (is_over(demo, now_tsc))
		wh_runtime_stop(&demo->runtime);
	return 0;
}

static int make_job(struct demo *demo)
{
	static const char *const target = ".";
	struct demo_end *sender = &demo->end[WH_DEMO_SENDER];
	const struct wh_settings *settings = &demo->plan.settings[WH_DEMO_SENDER];
	const struct wh_address peer =
		wh_host_ctx_address(&demo->end[WH_DEMO_RECEIVER].host.ctx, WH_IPV4, 0);
	struct wh_request request = wh_wanted_request(settings, WH_JOB_SEND);

	demo->source = demo->files.source;
	request.here.path = &demo->source;
	request.here.count = 1;
	request.there.path = &target;
	request.there.count = 1;
	request.there.into_folder = true;

	if (!wh_lanes_make(&demo->lanes, &sender->jobs, &peer, &request))
		return wh_fail(WH_EXIT_OTHER, "no memory for the job");
	demo->lanes.job[0]->listener =
		(struct wh_job_listener){.on_file = on_file, .context = demo};
	return WH_EXIT_OK;
}

static int open_end(struct demo *demo, enum wh_emulator_end which, const struct wh_service *service)
{
	struct demo_end *end = &demo->end[which];
	const struct wh_settings *settings = &demo->plan.settings[which];
	struct wh_port_spec ports[WH_PORTS_MAX];
	struct wh_host_ctx_hooks hooks = wh_jobs_hooks;

	wh_demo_ports(which, ports);
	hooks.owner = &end->jobs;

	int status =
		wh_host_open(&end->host, &demo->runtime, ports, &demo->plan.host[which], &hooks, 1);

	if (status != WH_EXIT_OK)
		return status;
	end->host_is_open = true;
	if (wh_jobs_init(&end->jobs, &end->host.ctx, service, settings->repair.on) == 0)
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_OTHER, "no memory for the jobs");
}

/* The sender's end is A. 0, or a negative errno after one sentence on stderr. */
static int open_link(struct demo *demo, uint32_t number)
{
	const struct wh_settings *settings = &demo->options.settings;
	char why[WH_EMULATOR_WHY_BYTES];
	struct wh_emulator_config config = {
		.name = wh_demo_link[number],
		.netem = {[WH_DEMO_SENDER] = settings->link,
			[WH_DEMO_RECEIVER] = demo->plan.reverse},
		.ring_pkts = WH_HOST_RING_PKTS,
		.mtu = (uint16_t)settings->mtu_bytes,
		.pool = demo->pool,
		.hz = demo->runtime.hz,
		.read_tsc = wh_loop_read_tsc,
		.socket = SOCKET_ID_ANY,
	};

	/* Each has its own chance. */
	for (uint32_t end = 0; end < WH_EMULATOR_ENDS; end++)
		config.netem[end].seed += number * WH_EMULATOR_ENDS;

	int rc =
		wh_emulator_create(&config, rte_rdtsc(), &demo->emulator[number], why, sizeof(why));

	if (rc != 0)
		wh_complain("%s", why);
	return rc;
}

static int open_links(struct demo *demo)
{
	const struct wh_settings *settings = &demo->options.settings;
	int rc = 0;

	demo->pool = rte_pktmbuf_pool_create("link", demo->plan.link_mbufs, WH_EMULATOR_POOL_CACHE,
		0, wh_port_room_bytes((uint16_t)settings->mtu_bytes), SOCKET_ID_ANY);
	if (demo->pool == NULL)
		return wh_fail(-ENOMEM,
			"out of memory for the link's packets, although the plan allowed "
			"for them; reserve more hugepages, or set a smaller --memory");
	for (uint32_t i = 0; rc == 0 && i < settings->ports; i++)
		rc = open_link(demo, i);
	return rc;
}

/* In the order of a packet's path: the sender, the link, the receiver. */
static int open_all(struct demo *demo)
{
	int status = open_end(demo, WH_DEMO_SENDER, NULL);

	if (status != WH_EXIT_OK)
		return status;
	for (uint32_t i = 0; i < demo->options.settings.ports; i++)
		wh_loop_add(wh_runtime_loop_of(&demo->runtime, i, true), "link", wh_emulator_poll,
			demo->emulator[i]);
	status = open_end(demo, WH_DEMO_RECEIVER, &demo->service);
	if (status != WH_EXIT_OK)
		return status;
	wh_runtime_add(&demo->runtime, 0, "watch", watch, demo);
	return make_job(demo);
}

static void close_all(struct demo *demo)
{
	/* The link's packets are in its own pool; the hosts' packets are freed with their pools. */
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
		while (demo->emulator[i] != NULL &&
			wh_emulator_poll(demo->emulator[i], rte_rdtsc()) > 0)
			;
	for (uint32_t i = 0; i < WH_EMULATOR_ENDS; i++) {
		struct demo_end *end = &demo->end[i];

		if (!end->host_is_open)
			continue;
		wh_jobs_free(&end->jobs);
		wh_host_close(&end->host);
	}
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
		wh_emulator_close(demo->emulator[i]);
	rte_mempool_free(demo->pool);
}

/* One peer, one job, which may use everything. */
static void fill_service(struct demo *demo, int out_fd)
{
	const struct wh_settings *settings = &demo->plan.settings[WH_DEMO_RECEIVER];

	demo->service = (struct wh_service){
		.own = wh_wanted_request(settings, WH_JOB_IDLE),
		.limits = {.places = 1,
			.peer_places = 1,
			.peer_bytes = settings->buffer_bytes,
			.peer_room_bytes = UINT64_MAX,
			.peer_openings_s = 1,
			.peer_lines_s = 1,
			.lines_s = 1},
		.anew = true,
		.on_file = on_arrived,
		.on_over = on_over,
		.context = demo,
	};
	for (uint32_t i = 0; i < settings->ports; i++)
		demo->service.allow[demo->service.allows++] = settings->port[i].ipv4;
	demo->service.own.here.root_fd = out_fd;
	/* --rate is that of the line and of its sender, and no bound of a peer. */
	demo->service.own.rate_bps = WH_RATE_MAX;
}

/* For the single file: it failed here, or at the receiver. */
static int conclude_file(const struct demo *demo, const char *target)
{
	const struct wh_file_result *told = &demo->told;
	char text[WH_FAULT_TEXT_BYTES];

	wh_fault_text(text, (enum wh_doing)told->doing, told->error);
	if (!demo->is_told)
		return wh_fail(WH_EXIT_OTHER, "%s was not sent", demo->files.source);
	if (told->doing == WH_DOING_DIGEST || told->doing == WH_DOING_CHANGED)
		return wh_fail(WH_EXIT_VERIFY,
			"%s did not arrive as it was sent: %s; nothing was kept. If it was changed "
			"meanwhile, send it again",
			demo->files.source, text);
	if (!told->at_peer)
		wh_complain("%s failed: %s", demo->files.source, text);
	else if (told->error == ENOSPC || told->error == EDQUOT)
		wh_complain("the disk is full (%s: %s); make room there, or choose another folder "
			    "with --out",
			target, text);
	else
		wh_complain("%s failed: %s", target, text);
	return WH_EXIT_OTHER;
}

/* The sentence and the exit status for the transfer's result. */
static int conclude(const struct demo *demo)
{
	const struct wh_job *job = demo->lanes.job[0];
	char target[WH_DEMO_PATH_MAX + 300];

	snprintf(target, sizeof(target), "%s/%s", demo->files.out, demo->files.name);
	if (demo->lanes.started == 0)
		return wh_fail(WH_EXIT_INTERRUPTED, "interrupted before anything was sent");
	switch (job->result.failed) {
	case WH_STATUS_PENDING:
		return demo->is_told && demo->told.error == 0 ? WH_EXIT_OK
							      : conclude_file(demo, target);
	case WH_STATUS_INTERRUPTED:
		return wh_fail(WH_EXIT_INTERRUPTED,
			demo->arrived_tsc != 0 ? "interrupted, when %s was whole already: it stays"
					       : "interrupted; nothing was kept under the name %s",
			target);
	case WH_STATUS_PEER_GONE:
		return wh_fail(WH_EXIT_NETWORK,
			"nothing received from the peer for %" PRIu64
			" s: the path is down, or loses everything; --peer-timeout waits longer",
			demo->options.settings.peer_timeout_ns / WH_NS_PER_S);
	default:
		return wh_jobs_conclude(demo->lanes.job, 1, PEER);
	}
}

/* From the first byte sent (for an empty file: none) until the file is durable. */
static double seconds_of(const struct demo *demo)
{
	const struct wh_job *job = demo->lanes.job[0];
	uint64_t from_tsc = atomic_load(&job->view.flow_began_tsc);
	uint64_t to_tsc = demo->arrived_tsc != 0 ? demo->arrived_tsc : job->result.ended_tsc;

	if (from_tsc == 0)
		from_tsc = job->ready.began_tsc;
	return wh_progress_s(&demo->progress, from_tsc, to_tsc);
}

static void add_counters(void *sum, const void *counters, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)sum)[i] += ((const uint64_t *)counters)[i];
}

static void gather_links(const struct demo *demo, struct wh_demo_result *result)
{
	for (uint32_t i = 0; i < demo->options.settings.ports; i++) {
		const struct wh_emulator *link = demo->emulator[i];

		add_counters(&result->forward, wh_emulator_path_stats(link, WH_DEMO_SENDER),
			sizeof(result->forward));
		add_counters(&result->reverse, wh_emulator_path_stats(link, WH_DEMO_RECEIVER),
			sizeof(result->reverse));
		add_counters(&result->forward_emulator, wh_emulator_stats(link, WH_DEMO_SENDER),
			sizeof(result->forward_emulator));
	}
}

static void gather(struct demo *demo, struct wh_demo_result *result)
{
	const struct wh_job *job = demo->lanes.job[0];

	result->sender = job->result.figures;
	result->sealed = job->sealed;
	result->receiver = demo->received;
	result->verified =
		job->result.failed == WH_STATUS_PENDING && demo->is_told && demo->told.error == 0;
	result->bytes = result->verified ? demo->files.bytes : result->receiver.received_bytes;
	result->seconds = seconds_of(demo);
	result->first_sent_s = wh_progress_s(
		&demo->progress, demo->began_tsc, atomic_load(&job->view.flow_began_tsc));
	result->first_received_s = wh_progress_s(&demo->progress, demo->began_tsc, demo->came_tsc);
	/* A small file is sent in a pack, which has a digest as a whole. */
	result->digest = job->result.figures.digest;
	result->digest_known =
		result->verified && (job->result.figures.digest_known ||
					    wh_demo_files_digest(&demo->files, &result->digest));
	gather_links(demo, result);
	result->bad_pkts = result->sender.stats.bad_pkts + result->receiver.bad_pkts;
	for (uint32_t i = 0; i < WH_EMULATOR_ENDS; i++) {
		const struct wh_host *host = &demo->end[i].host;

		/* Packets for a closed session are late, but not bad. */
		for (uint32_t shard = 0; shard < host->shards; shard++)
			result->bad_pkts += wh_netif_bad_pkts(&host->netif[shard]) -
					    host->netif[shard].endpoint.stats.no_session_pkts;
	}
}

static int draw(struct demo *demo, int status)
{
	const struct wh_settings *settings = &demo->options.settings;
	char rate[WH_UNITS_MAX], rtt[WH_UNITS_MAX], link[2 * WH_UNITS_MAX + 32];

	snprintf(link, sizeof(link), "%s, round trip %s, loss %g",
		wh_format_rate(rate, sizeof(rate), (double)settings->link.rate_bps),
		wh_format_time(rtt, sizeof(rtt), settings->rtt_ns), demo->options.loss);
	return wh_flow_plot_write(
		&demo->plot, &demo->lanes, settings->profile, "demo:", link, status);
}

static int transfer(struct demo *demo, struct wh_demo_result *result)
{
	int status = WH_EXIT_HARDWARE;

	if (open_links(demo) == 0)
		status = open_all(demo);
	if (status == WH_EXIT_OK) {
		demo->progress.hz = demo->runtime.hz;
		demo->progress_shown = wh_progress_has_terminal();
		wh_runtime_run(&demo->runtime);
		wh_progress_clear(&demo->progress);
		for (uint32_t i = 0; i < WH_EMULATOR_ENDS; i++)
			wh_jobs_end(&demo->end[i].jobs);
		gather(demo, result);
		status = draw(demo, conclude(demo));
	}
	wh_lanes_free(&demo->lanes);
	close_all(demo);
	return status;
}

/* Everything that can be refused before DPDK starts. */
static int prepare(struct demo *demo)
{
	struct wh_demo_plan *plan = &demo->plan;
	char need[WH_UNITS_MAX];
	char have[WH_UNITS_MAX];

	if (wh_demo_plan_make(&demo->options, plan) != 0)
		return wh_fail(WH_EXIT_HARDWARE,
			"this path needs at least %s of memory and there are %s; choose a smaller "
			"--rate, --rtt or --queue",
			wh_format_size(need, sizeof(need), plan->memory.bytes),
			wh_format_size(have, sizeof(have), plan->budget_bytes));
	if (demo->options.settings.verbose)
		wh_memory_plan_print(&plan->memory, stderr);
	if (plan->limited)
		fprintf(stderr,
			"wavehaul: fewer buffers than this path needs (%u and %u chunks of "
			"1 MiB): the window will limit the flow\n",
			plan->chunks[WH_DEMO_SENDER], plan->chunks[WH_DEMO_RECEIVER]);
	return wh_demo_files_prepare(&demo->options, &demo->files);
}

static int start_runtime(struct demo *demo)
{
	const struct wh_settings *settings = &demo->plan.settings[WH_DEMO_SENDER];
	const struct wh_memory_plan *memory = &demo->plan.memory;
	struct wh_eal_config eal = {
		.memory_bytes = memory->bytes,
		.small_pages_bytes = memory->small_pages_bytes,
		.node = -1,
		.option = "--memory",
		.option_bytes = memory->bytes,
		.no_huge = settings->no_huge,
		.extra = settings->eal[0] != '\0' ? settings->eal : NULL,
		.verbose = settings->verbose,
	};
	struct wh_cores_allowed allowed;
	struct wh_cores cores;
	char why[WH_PORT_WHY_BYTES];

	wh_cores_allowed(NULL, &allowed);
	allowed.cpus.count = RTE_MIN(allowed.cpus.count, CORES_MAX);

	int rc = wh_cores_place(
		&demo->plan.host[WH_DEMO_SENDER], &allowed, &cores, why, sizeof(why));

	WH_ASSERT(rc == 0); /* it needs no names */
	return wh_runtime_start(&demo->runtime, &cores, eal.verbose, &eal);
}

/* A key in memory, which both ends have: each trusts who has its own. */
static int introduce(struct demo *demo)
{
	const struct wh_settings *settings = &demo->options.settings;
	int status = wh_keylog_open(settings->keylog);

	if (status != WH_EXIT_OK || settings->unsealed)
		return status;
	if (wh_identity_make(&demo->identity) != 0)
		return wh_fail(WH_EXIT_OTHER, "no memory for a key");
	demo->handshake.identity = &demo->identity;
	demo->handshake.ciphers = wh_sealed_ciphers(settings);
	for (uint32_t i = 0; i < WH_EMULATOR_ENDS; i++)
		demo->plan.host[i].handshake = &demo->handshake;
	return WH_EXIT_OK;
}

static int run(struct demo *demo, struct wh_demo_result *result)
{
	int status = prepare(demo);

	if (status == WH_EXIT_OK)
		status = introduce(demo);

	if (status != WH_EXIT_OK)
		return status;

	int out_fd = open(demo->files.out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (out_fd < 0)
		return wh_fail(WH_EXIT_OTHER, "cannot write into %s: %s", demo->files.out,
			strerror(errno));
	fill_service(demo, out_fd);
	status = WH_EXIT_HARDWARE;
	if (start_runtime(demo) == 0) {
		result->hugepages = demo->runtime.eal.hugepages;
		result->memory_bytes = result->hugepages ? demo->plan.memory.bytes
							 : demo->plan.memory.small_pages_bytes;
		result->lcores = demo->runtime.cores.count;
		status = transfer(demo, result);
	}
	wh_runtime_close(&demo->runtime);
	close(out_fd);
	return status;
}

int wh_verb_demo(int argc, char **argv)
{
	struct demo *demo = calloc(1, sizeof(*demo));
	struct wh_demo_result result = {0};

	if (demo == NULL)
		return WH_EXIT_OTHER;

	int status = wh_demo_options_parse(argc, argv, &demo->options);

	if (status < 0 && !wh_flow_plot_init(&demo->plot, demo->options.settings.plot))
		status = WH_EXIT_OTHER;
	if (status < 0) {
		wh_signals_catch();
		result.options = &demo->options;
		result.plan = &demo->plan;
		status = draw(demo, run(demo, &result));
		wh_demo_files_clean(&demo->files);
		if (status == WH_EXIT_INTERRUPTED && wh_last_complaint()[0] == '\0')
			wh_complain("interrupted");
		result.exit_status = status;
		if (demo->options.settings.json)
			wh_demo_print_json(&result);
		else if (result.lcores > 0)
			wh_demo_print_table(&result);
	} else if (status != WH_EXIT_OK && wh_words_contain(argc, argv, "--json")) {
		wh_json_print(wh_head_json("demo", status), JSON_COMPACT);
	}
	wh_identity_free(&demo->identity);
	free(demo);
	return status;
}
