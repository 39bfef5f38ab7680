/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * `wavehaul demo`: a file crosses an emulated lambda from one port of this process to another.
 *
 * Two loops at most. The packet loop is the sender's station, the lambda and the receiver's
 * station; the store loop is the reader, the coder of repair packets, the writer and the progress
 * line. With one CPU, one loop runs all. Between the loops are the sessions' FIFOs of chunks and
 * the few atomics of struct demo.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <rte_cycles.h>
#include <rte_launch.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/fault_text.h"
#include "cli/signals.h"
#include "demo/files.h"
#include "demo/link.h"
#include "demo/options.h"
#include "demo/plan.h"
#include "demo/report.h"
#include "host/cores.h"
#include "host/eal.h"
#include "host/loop.h"
#include "store/store.h"
#include "verbs.h"

/* How long a demo that has failed waits for the other end to hear of it. */
#define LAST_WORDS_S 2

struct demo {
	struct wh_demo_options options;
	struct wh_plan plan;
	struct wh_demo_files files;
	struct wh_demo_link link;
	struct wh_eal_found eal;
	uint64_t hz;
	uint64_t started_tsc;
	_Atomic bool over; /* packet loop -> all loops */

	/* packet loop */
	struct wh_session *sender;
	_Atomic(struct wh_session *) receiver; /* store loop opens its writer */
	bool sink_told;
	uint64_t give_up_tsc;

	/* store loop */
	struct wh_reader *reader;
	struct wh_writer *writer;
	struct wh_fec *fec; /* NULL: without repair packets */
	_Atomic int sink;   /* enum wh_release_status; PENDING: at work */
	int sink_error;     /* errno behind it, and what was being done */
	const char *sink_doing;
	struct wh_demo_progress progress;
};

static struct wh_session_config session_config(const struct demo *demo, enum wh_lambda_end end)
{
	const struct wh_plan *plan = &demo->plan;
	struct wh_session_config config;

	wh_session_config_init(&config);
	config.hz = demo->hz;
	wh_session_config_profile(&config, demo->options.profile);
	config.payload_bytes = plan->payload_bytes;
	config.packet_bytes = demo->options.mtu_bytes;
	config.wire_bytes = plan->wire_bytes;
	config.chunks = end == WH_DEMO_SENDER ? plan->sender_chunks : plan->receiver_chunks;
	config.chunk_memory = demo->link.chunk_memory[end];
	config.window_pkts = plan->window_pkts;
	/* The operator of a dedicated lambda names its rate; of all, UDT finds it by itself. */
	if (config.profile == wh_profile_find("udt"))
		config.options = demo->options.udt_options;
	else
		config.rate_bps = demo->options.forward.rate_bps;
	config.burst_pkts = demo->options.burst_pkts;
	config.repair = plan->repair;
	config.stall_timeout_ns = demo->options.stall_timeout_ns;
	config.peer_timeout_ns = demo->options.peer_timeout_ns;
	config.seed = demo->options.seed;
	return config;
}

static enum wh_release_status welcome(void *context, uint64_t now_tsc,
	const struct wh_open_params *params, const struct wh_address *peer, uint32_t *buffer_chunks)
{
	const struct demo *demo = context;

	(void)now_tsc;
	(void)peer;
	*buffer_chunks = demo->plan.receiver_chunks;
	/* Both ends are this process: anything but its own proposal is not from it. */
	if (wh_profile_by_number(params->profile) != demo->options.profile ||
		params->payload_bytes != demo->plan.payload_bytes ||
		params->chunk_bytes != WH_CHUNK_BYTES_DEFAULT ||
		params->window_pkts != demo->plan.window_pkts ||
		params->recovery != demo->plan.repair.recovery ||
		params->repair_pkts != demo->plan.repair.repair_pkts)
		return WH_STATUS_REFUSED;
	return WH_STATUS_PENDING;
}

static struct wh_session *accept_session(void *context, uint64_t now_tsc, uint32_t lci,
	const struct wh_address *peer, const struct wh_open_params *params, uint64_t rtt_tsc)
{
	struct demo *demo = context;
	struct wh_session_config config = session_config(demo, WH_DEMO_RECEIVER);

	if (atomic_load(&demo->receiver) != NULL)
		return NULL;

	struct wh_session *session =
		wh_session_accept(&config, now_tsc, lci, peer, params, rtt_tsc);

	atomic_store_explicit(&demo->receiver, session, memory_order_release);
	return session;
}

static enum wh_release_status status_of_error(int error)
{
	return error == -ENOSPC || error == -EDQUOT ? WH_STATUS_NO_SPACE : WH_STATUS_IO_ERROR;
}

static void sink_failed(struct demo *demo, int error, const char *doing)
{
	demo->sink_error = error;
	demo->sink_doing = doing;
	atomic_store_explicit(&demo->sink, status_of_error(error), memory_order_release);
}

/* Store loop: the reader, and word of what it has read. */
static int32_t poll_reader(void *state, uint64_t now_tsc)
{
	struct demo *demo = state;
	int32_t work = wh_reader_poll(demo->reader, now_tsc);

	if (work > 0)
		wh_session_kick(demo->sender);
	return work;
}

/* Store loop: the writer, from the moment there is a session to write for. */
static int32_t poll_writer(void *state, uint64_t now_tsc)
{
	struct demo *demo = state;
	struct wh_session *receiver = atomic_load_explicit(&demo->receiver, memory_order_acquire);

	if (receiver == NULL || atomic_load(&demo->sink) != WH_STATUS_PENDING)
		return 0;
	if (demo->writer == NULL) {
		const struct wh_open_params *params = wh_session_params(receiver);
		int rc = wh_file_writer_open(&demo->writer, demo->files.out, params->name,
			params->object_bytes, params->chunk_bytes,
			wh_session_deliver_chunks(receiver), wh_session_recycled_chunks(receiver));

		if (rc != 0)
			sink_failed(demo, rc, "opening");
		return 1;
	}

	int32_t work = wh_writer_poll(demo->writer, now_tsc);

	if (work > 0)
		wh_session_kick(receiver);

	int done = atomic_load_explicit(&demo->writer->done, memory_order_acquire);

	if (done == WH_STORE_FAILED)
		sink_failed(demo, demo->writer->error, demo->writer->doing);
	else if (done != WH_STORE_RUNNING)
		atomic_store_explicit(&demo->sink,
			done == WH_STORE_OK ? WH_STATUS_VERIFIED : WH_STATUS_MISMATCH,
			memory_order_release);
	return work;
}

/* Store loop: repair packets of what was read, and by them what is missing of what came. */
static int32_t poll_coder(void *state, uint64_t now_tsc)
{
	struct demo *demo = state;
	struct wh_session *receiver = atomic_load_explicit(&demo->receiver, memory_order_acquire);
	int32_t work = wh_session_encode(demo->sender, demo->fec);

	(void)now_tsc;
	if (receiver != NULL)
		work += wh_session_decode(receiver, demo->fec);
	return work;
}

static int32_t poll_progress(void *state, uint64_t now_tsc)
{
	struct demo *demo = state;

	return wh_demo_progress_poll(&demo->progress, now_tsc, demo->sender,
		atomic_load_explicit(&demo->receiver, memory_order_acquire));
}

/* Packet loop: carries news between the stores and the sessions, and sees the end. */
static int32_t poll_watch(void *state, uint64_t now_tsc)
{
	struct demo *demo = state;
	struct wh_session *receiver = atomic_load(&demo->receiver);
	int sink = atomic_load_explicit(&demo->sink, memory_order_acquire);

	/* Too late for a file that is whole and has its name already. */
	if (wh_signals_count() > 0 && sink != WH_STATUS_VERIFIED)
		wh_session_abort(demo->sender, now_tsc, WH_STATUS_INTERRUPTED);
	if (atomic_load_explicit(&demo->reader->done, memory_order_acquire) == WH_STORE_FAILED)
		wh_session_abort(demo->sender, now_tsc, WH_STATUS_IO_ERROR);
	if (receiver != NULL && sink != WH_STATUS_PENDING && !demo->sink_told) {
		demo->sink_told = true;
		wh_session_sink_done(receiver, now_tsc, (enum wh_release_status)sink);
	}

	if (wh_session_outcome(demo->sender) == WH_STATUS_PENDING)
		return 0;
	if (demo->give_up_tsc == 0)
		demo->give_up_tsc = now_tsc + LAST_WORDS_S * demo->hz;
	if (receiver == NULL || wh_session_outcome(receiver) != WH_STATUS_PENDING ||
		now_tsc >= demo->give_up_tsc)
		atomic_store_explicit(&demo->over, true, memory_order_release);
	return 0;
}

static int open_transfer(struct demo *demo)
{
	struct wh_session_config config = session_config(demo, WH_DEMO_SENDER);
	struct wh_endpoint *endpoint = &demo->link.station[WH_DEMO_SENDER].endpoint;

	if (demo->plan.fec.r > 0 && (demo->fec = wh_fec_create(&demo->plan.fec)) == NULL) {
		wh_complain("no memory for the tables of the erasure code");
		return WH_EXIT_HARDWARE;
	}
	demo->started_tsc = rte_rdtsc();
	demo->sender = wh_session_open(&config, &demo->link.address[WH_DEMO_RECEIVER],
		demo->files.name, demo->files.bytes);
	if (demo->sender == NULL) {
		wh_complain("no memory for a session's tables");
		return WH_EXIT_HARDWARE;
	}

	int rc = wh_endpoint_open(endpoint, demo->sender);

	WH_ASSERT(rc == 0); /* the endpoint is new */
	rc = wh_file_reader_open(&demo->reader, demo->files.source, WH_CHUNK_BYTES_DEFAULT,
		wh_session_free_chunks(demo->sender), wh_session_ready_chunks(demo->sender));

	if (rc == 0)
		return WH_EXIT_OK;
	wh_complain("cannot read %s: %s", demo->files.source, strerror(-rc));
	return rc == -ENOENT || rc == -EACCES ? WH_EXIT_NO_FILE : WH_EXIT_OTHER;
}

/* The way of a packet, in the order in which it is walked. */
static void fill_packet_loop(struct demo *demo, struct wh_loop *loop)
{
	struct wh_station *sender = &demo->link.station[WH_DEMO_SENDER];
	struct wh_station *receiver = &demo->link.station[WH_DEMO_RECEIVER];

	wh_loop_add(loop, "sender receives", wh_station_receive, sender);
	wh_loop_add(loop, "sender sends", wh_station_send, sender);
	wh_loop_add(loop, "lambda", wh_lambda_poll, demo->link.lambda);
	wh_loop_add(loop, "receiver receives", wh_station_receive, receiver);
	wh_loop_add(loop, "receiver sends", wh_station_send, receiver);
	wh_loop_add(loop, "watch", poll_watch, demo);
}

static void fill_store_loop(struct demo *demo, struct wh_loop *loop)
{
	wh_loop_add(loop, "reader", poll_reader, demo);
	if (demo->fec != NULL)
		wh_loop_add(loop, "coder", poll_coder, demo);
	wh_loop_add(loop, "writer", poll_writer, demo);
	wh_loop_add(loop, "progress", poll_progress, demo);
}

static void run_loops(struct demo *demo)
{
	struct wh_loop main_loop = {.stop = &demo->over};
	struct wh_loop packet_loop = {.stop = &demo->over};

	wh_demo_progress_init(&demo->progress, demo->hz, demo->files.bytes);
	fill_packet_loop(demo, demo->eal.lcores > 1 ? &packet_loop : &main_loop);
	fill_store_loop(demo, &main_loop);
	if (demo->options.verbose) {
		wh_loop_print(&main_loop, "main lcore", stderr);
		wh_loop_print(&packet_loop, "second lcore", stderr);
	}
	if (demo->eal.lcores > 1) {
		int rc = rte_eal_remote_launch(wh_loop_run, &packet_loop, 1);

		WH_ASSERT(rc == 0); /* it has waited for work since EAL started */
	}
	wh_loop_run(&main_loop);
	if (demo->eal.lcores > 1)
		rte_eal_wait_lcore(1);
	wh_demo_progress_end(&demo->progress);
}

/* The sentence and the exit status for what became of the transfer. */
static int conclude(struct demo *demo)
{
	enum wh_release_status outcome = wh_session_outcome(demo->sender);
	char target[WH_DEMO_PATH_MAX + 300];

	snprintf(target, sizeof(target), "%s/%s", demo->files.out, demo->files.name);
	switch (outcome) {
	case WH_STATUS_VERIFIED:
		return WH_EXIT_OK;
	case WH_STATUS_MISMATCH:
		wh_complain("%s did not arrive as it was sent: the digests differ; nothing was "
			    "kept. If it was changed meanwhile, send it again",
			demo->files.source);
		return WH_EXIT_VERIFY;
	case WH_STATUS_NO_SPACE:
		wh_complain("the disk is full (%s %s: %s); make room there, or choose another "
			    "folder with --out",
			demo->sink_doing, target, strerror(-demo->sink_error));
		return WH_EXIT_OTHER;
	case WH_STATUS_IO_ERROR:
		if (demo->reader->error != 0)
			wh_complain("%s %s failed: %s", demo->reader->doing, demo->files.source,
				strerror(-demo->reader->error));
		else
			wh_complain("%s %s failed: %s", demo->sink_doing, target,
				strerror(-demo->sink_error));
		return WH_EXIT_OTHER;
	case WH_STATUS_INTERRUPTED:
		wh_complain(atomic_load(&demo->sink) == WH_STATUS_VERIFIED
				    ? "interrupted, when %s was whole already: it stays"
				    : "interrupted; nothing was kept under the name %s",
			target);
		return WH_EXIT_INTERRUPTED;
	case WH_STATUS_STALLED:
		wh_complain("stalled: no progress for %" PRIu64 " s: %s; --stall-timeout waits "
			    "longer",
			demo->options.stall_timeout_ns / WH_NS_PER_S,
			wh_stall_text(wh_session_limit_now(demo->sender)));
		return WH_EXIT_STALLED;
	case WH_STATUS_PEER_GONE:
		wh_complain("no word from the peer for %" PRIu64 " s: the path is down, or loses "
			    "everything; --peer-timeout waits longer",
			demo->options.peer_timeout_ns / WH_NS_PER_S);
		return WH_EXIT_NETWORK;
	case WH_STATUS_UNREPAIRED:
		wh_complain("repair packets did not suffice, and --strict-paper lets nothing be "
			    "asked for; leave it away, or send more of them: --fec K,R with a "
			    "larger R, or "
			    "auto with a higher --fec-ceiling");
		return WH_EXIT_NETWORK;
	default:
		wh_complain("the connection failed: %s", wh_release_status_name(outcome));
		return WH_EXIT_NETWORK;
	}
}

static void gather(struct demo *demo, struct wh_demo_result *result)
{
	struct wh_session *receiver = atomic_load(&demo->receiver);
	const struct wh_lambda *lambda = demo->link.lambda;

	result->verified = wh_session_outcome(demo->sender) == WH_STATUS_VERIFIED;
	result->bytes = result->verified ? demo->files.bytes : 0;
	result->digest_known = result->verified;
	result->digest = *wh_session_digest(demo->sender);
	result->limited_by = wh_session_limited_by(demo->sender);
	result->rtt_tsc = wh_session_rtt_tsc(demo->sender);
	result->sender = wh_session_stats(demo->sender);
	result->pacer = *wh_session_pacer(demo->sender);
	result->forward = *wh_lambda_path_stats(lambda, WH_DEMO_SENDER);
	result->reverse = *wh_lambda_path_stats(lambda, WH_DEMO_RECEIVER);
	result->forward_lambda = *wh_lambda_stats(lambda, WH_DEMO_SENDER);
	result->bad_pkts = wh_station_bad_pkts(&demo->link.station[WH_DEMO_SENDER]) +
			   wh_station_bad_pkts(&demo->link.station[WH_DEMO_RECEIVER]) +
			   result->sender.bad_pkts;
	for (uint32_t end = 0; end < WH_LAMBDA_ENDS; end++) {
		result->endpoint[end] = demo->link.station[end].endpoint.stats;
		result->station[end] = wh_station_stats(&demo->link.station[end]);
	}
	if (receiver == NULL)
		return;
	result->receiver = wh_session_stats(receiver);
	result->bad_pkts += result->receiver.bad_pkts;
	if (!result->verified)
		result->bytes = result->receiver.received_bytes;

	/* From the first data packet sent (an empty file has none) to the last byte verified. */
	uint64_t from_tsc = result->sender.first_sent_tsc != 0 ? result->sender.first_sent_tsc
							       : demo->started_tsc;

	if (result->receiver.outcome_tsc > from_tsc)
		result->seconds =
			(double)(result->receiver.outcome_tsc - from_tsc) / (double)demo->hz;
}

static int transfer(struct demo *demo, struct wh_demo_result *result)
{
	struct wh_endpoint_config receiver = {
		.hz = demo->hz,
		.places = WH_ENDPOINT_PLACES_MIN,
		.welcome = welcome,
		.accept = accept_session,
		.context = demo,
	};

	if (getrandom(receiver.key, sizeof(receiver.key), 0) != sizeof(receiver.key)) {
		wh_complain("the system has no random numbers for a secret: %s", strerror(errno));
		return WH_EXIT_HARDWARE;
	}

	int status =
		wh_demo_link_up(&demo->options, &demo->plan, &receiver, rte_rdtsc(), &demo->link);

	status = status != 0 ? WH_EXIT_HARDWARE : open_transfer(demo);
	if (status == WH_EXIT_OK) {
		run_loops(demo);
		gather(demo, result);
		status = conclude(demo);
	}
	wh_reader_close(demo->reader);
	wh_writer_close(demo->writer);
	wh_session_destroy(demo->sender);
	wh_session_destroy(atomic_load(&demo->receiver));
	wh_fec_destroy(demo->fec);
	wh_demo_link_down(&demo->link);
	return status;
}

/* Everything that can be refused before DPDK starts. */
static int prepare(struct demo *demo)
{
	char need[WH_UNITS_MAX];
	char have[WH_UNITS_MAX];

	if (wh_plan_make(&demo->options, &demo->plan) != 0) {
		wh_complain("this path needs at least %s of memory and there are %s; choose a "
			    "smaller --rate, --rtt or --queue",
			wh_format_size(need, sizeof(need), demo->plan.total_bytes),
			wh_format_size(have, sizeof(have), demo->plan.budget_bytes));
		return WH_EXIT_HARDWARE;
	}
	if (demo->options.verbose)
		wh_plan_print(&demo->plan, stderr);
	if (demo->plan.limited)
		fprintf(stderr,
			"wavehaul: fewer buffers than this path needs (%u and %u chunks of "
			"1 MiB): the window will limit the flow\n",
			demo->plan.sender_chunks, demo->plan.receiver_chunks);
	return wh_demo_files_prepare(&demo->options, &demo->files);
}

static int run(struct demo *demo, struct wh_demo_result *result)
{
	int status = prepare(demo);

	if (status != WH_EXIT_OK)
		return status;

	struct wh_eal_config eal = {
		.memory_bytes = demo->plan.total_bytes,
		.small_pages_bytes = demo->plan.small_pages_bytes,
		.option = "--memory",
		.option_bytes = demo->plan.total_bytes,
		.no_huge = demo->options.no_huge,
		.extra = demo->options.eal,
		.verbose = demo->options.verbose,
	};

	wh_cores_allowed(&eal.cpus);
	eal.cpus.count = RTE_MIN(eal.cpus.count, UINT32_C(2));
	if (wh_eal_start(&eal, &demo->eal) != 0)
		return WH_EXIT_HARDWARE;
	demo->hz = demo->eal.hz;
	result->hz = demo->hz;
	result->hugepages = demo->eal.hugepages;
	result->memory_bytes =
		demo->eal.hugepages ? demo->plan.total_bytes : demo->plan.small_pages_bytes;
	result->lcores = demo->eal.lcores;
	status = transfer(demo, result);
	wh_eal_stop();
	return status;
}

int wh_verb_demo(int argc, char **argv)
{
	struct demo *demo = calloc(1, sizeof(*demo));
	struct wh_demo_result result = {.hz = 1};

	if (demo == NULL)
		return WH_EXIT_OTHER;

	int status = wh_demo_options_parse(argc, argv, &demo->options);

	if (status < 0) {
		wh_signals_catch();
		result.options = &demo->options;
		result.plan = &demo->plan;
		status = run(demo, &result);
		wh_demo_files_clean(&demo->files);
		if (status == WH_EXIT_INTERRUPTED && wh_last_complaint()[0] == '\0')
			wh_complain("interrupted");
		result.exit_status = status;
		snprintf(result.error, sizeof(result.error), "%s", wh_last_complaint());
		if (demo->options.json)
			wh_demo_print_json(&result);
		else if (result.lcores > 0)
			wh_demo_print_table(&result);
	} else if (status != WH_EXIT_OK && wh_words_contain(argc, argv, "--json")) {
		wh_demo_print_refusal(status);
	}
	free(demo);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		wh_complain("the report could not be written: %s", strerror(errno));
		if (status == WH_EXIT_OK)
			status = WH_EXIT_OTHER;
	}
	return status;
}
