/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul serve`: accepts jobs until told to stop, and then lets the running ones end. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/captures.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "control/control.h"
#include "control/served.h"
#include "guard/guard.h"
#include "guard/hook.h"
#include "history/writer.h"
#include "host/host.h"
#include "job/jobs.h"
#include "job/mailbox/mailbox.h"
#include "job/on_host.h"
#include "metrics/metrics.h"
#include "queue/runner.h"
#include "report/kept.h"
#include "reread.h"
#include "ssh/for_client.h"
#include "stage/stale.h"
#include "system/notify.h"
#include "telemetry/telemetry.h"
#include "transfer/recollect.h"
#include "transfer/sealed.h"
#include "transfer/wanted.h"
#include "trust/fingerprint.h"
#include "verbs.h"

/* After the second request to stop, sessions have this long to inform their peers. */
#define LAST_WORDS_S 2

#define LOOKS_A_SECOND 100

/* Rings for an order's lanes: usually at most this many run at once. */
#define RINGS_PER_ORDER 4

struct serve {
	struct wh_settings settings;
	struct wh_on_host on;
	struct wh_sealed sealed;
	struct wh_service service;
	struct wh_notify notify;
	struct wh_history_writer writer;
	struct wh_hook hook;
	struct wh_control_socket control;
	struct wh_served served;
	struct wh_runner runner;
	struct wh_mailbox mailbox;
	struct wh_captures captures;
	struct wh_reread reread;
	struct wh_metrics metrics;
	struct wh_for_client client; /* --for-client */
	uint64_t next_tsc;
	uint64_t give_up_tsc;
	bool drain_told;
	struct wh_recollect recollect;
	int state_fd; /* of the state folder, locked against other servers; or negative */
};

/* "memif:/run/a.sock, 192.0.2.1 and 2001:db8::1", behind those before. */
static void add_port(const struct wh_own_port *port, char where[WH_SETTINGS_TEXT_BYTES])
{
	const struct wh_subnet *const own[] = {&port->ipv4, &port->ipv6};
	char address[WH_ADDRESS_TEXT_BYTES];
	const char *between = ", ";

	wh_text_add(where, WH_SETTINGS_TEXT_BYTES, where[0] != '\0' ? ", " : "", port->name);
	for (uint32_t i = 0; i < RTE_DIM(own); i++) {
		if (own[i]->address.family == 0)
			continue;
		wh_text_add(where, WH_SETTINGS_TEXT_BYTES, between,
			wh_address_text(&own[i]->address, address));
		between = " and ";
	}
}

static void say_what_is_served(const struct serve *serve)
{
	const struct wh_settings *settings = &serve->settings;
	char shown[WH_FINGERPRINT_BYTES];
	char where[WH_SETTINGS_TEXT_BYTES] = "";
	bool has_many = settings->ports > 1;

	for (uint32_t i = 0; i < settings->ports; i++)
		add_port(&settings->port[i], where);
	fprintf(stderr, "wavehaul: serving %s on %s UDP %u, MTU %u, to %s\n", settings->root, where,
		settings->udp_port, settings->mtu_bytes,
		settings->allows > 0 ? "the subnets of --allow"
		: has_many           ? "its own subnets"
				     : "its own subnet");
	if (serve->sealed.on)
		wh_say("sessions are sealed; accepted are peers with this end's own key (%s) and "
		       "those in %s (%u now)",
			wh_fingerprint_text(serve->sealed.trust.identity.id, shown),
			serve->sealed.trust.store.place.peers,
			serve->sealed.trust.store.list.peers);
	else
		wh_say("sessions are neither sealed nor authenticated: use this only if every host "
		       "that reaches this port is trusted");
}

/* Requests to stop, by signals, the control socket and --for-client. */
static uint32_t ends_asked_for(struct serve *serve)
{
	uint32_t ends = wh_signals_count() + atomic_load(&serve->served.drained);
	struct wh_port_stats stats;

	if (serve->settings.client == NULL)
		return ends;
	wh_host_port_stats_total(&serve->on.host, &stats);
	return ends + wh_for_client_look(
			      &serve->client, atomic_load(&serve->on.jobs.live), stats.rx_pkts > 0);
}

/*
 * Reads the trusted peers again here, and the configuration on the control's thread if that runs.
 */
static void read_again(struct serve *serve)
{
	if (serve->sealed.on)
		wh_store_reload_told(&serve->sealed.trust.store);
	if (!serve->control.runs) {
		wh_reread_now(&serve->reread);
		return;
	}
	atomic_store(&serve->reread.due, true);
	wh_control_wake(&serve->control);
}

/* A question was put in the mailbox. */
static void wake_control(void *context)
{
	struct serve *serve = context;

	wh_control_wake(&serve->control);
}

/* Many times a second: checks whether to stop, and then whether all jobs have ended. */
static int32_t watch(void *state, uint64_t now_tsc)
{
	struct serve *serve = state;

	if (now_tsc < serve->next_tsc)
		return 0;
	serve->next_tsc = now_tsc + serve->on.host.ctx.hz / LOOKS_A_SECOND;
	wh_jobs_tell_untold(&serve->on.jobs, now_tsc);
	if (wh_signals_reload())
		read_again(serve);

	uint32_t ends = ends_asked_for(serve);

	if (ends == 0)
		return 0;
	atomic_store(&serve->on.jobs.draining, true);

	uint32_t live = atomic_load(&serve->on.jobs.live);

	if (!serve->drain_told) {
		wh_notify_stopping(&serve->notify, live);
		if (live > 0)
			wh_say("stopping: %u job%s may finish; a second signal ends %s at once",
				live, wh_plural(live), live == 1 ? "it" : "them");
	}
	serve->drain_told = true;
	if (ends > 1 && !atomic_load(&serve->on.jobs.hurry)) {
		atomic_store(&serve->on.jobs.hurry, true);
		serve->give_up_tsc = now_tsc + LAST_WORDS_S * serve->on.host.ctx.hz;
	}
	if (live == 0 || (serve->give_up_tsc != 0 && now_tsc > serve->give_up_tsc))
		wh_runtime_stop(&serve->on.runtime);
	return 0;
}

/*
 * Lets the guard write the state that outlives this process: the queue, and today's totals of
 * peers.
 */
static void keep_state(struct serve *serve, struct wh_guard *guard)
{
	int fd = serve->settings.client == NULL ? wh_kept_folder(serve->settings.state) : -1;
	char path[PATH_MAX];

	if (fd < 0)
		return;
	wh_guard_let(guard, fd, WH_LET_WRITE);
	close(fd);
	if (serve->sealed.on && wh_kept_file(serve->settings.state, "days", path))
		wh_store_keep_days(&serve->sealed.trust.store, path);
}

/* Before a peer's first packet is read. */
static int enter_guard(struct serve *serve)
{
	struct wh_guard guard;

	wh_guard_init(&guard, serve->settings.no_guard, serve->settings.user, true,
		serve->on.host.spec, serve->on.host.ports);
	guard.owners = serve->settings.owners;
	guard.set_ids = serve->settings.set_ids;
	wh_guard_let(&guard, serve->service.own.here.root_fd, WH_LET_WRITE);
	wh_sealed_guard(&serve->sealed, &guard);
	wh_control_guard(&serve->control, &guard);
	wh_reread_guard(&serve->reread, &guard);
	keep_state(serve, &guard);
	wh_recollect_init(&serve->recollect, &serve->settings, &guard);
	wh_jobs_open_rings(&serve->on.jobs,
		serve->settings.sessions + RINGS_PER_ORDER * serve->settings.queue_jobs);
	if (wh_guard_enter(&guard) != 0)
		return -1;
	wh_hook_guard(&serve->hook);
	if (!guard.off)
		wh_audit_guard(&serve->writer.audit);
	wh_say("guard: %s", guard.told);
	return 0;
}

/*
 * For a copy run by another host's queue: the counters are those of the files, not of the remote
 * operation.
 */
static void note_delegated(struct wh_history_record *record, const struct wh_order_result *result)
{
	snprintf(record->verb, sizeof(record->verb), "copy");
	record->files = result->files;
	record->skipped = result->skipped;
	record->failed = result->failed;
	record->bytes = result->bytes;
	record->moved_bytes = 0;
	record->pkts = record->lost_pkts = record->retransmitted_pkts = record->repair_pkts = 0;
}

/* Notes one try of an order in the history. */
static void note_order(
	void *context, const struct wh_run *run, const struct wh_order_result *result)
{
	static struct wh_history_record record; /* used by one thread at a time */
	struct serve *serve = context;

	wh_history_of_lanes(&record, &run->transfer.running.lanes, run->transfer.wanted.server);
	record.side = WH_HISTORY_ORDER;
	record.order = run->order.id;
	record.uid = run->order.owner;
	record.status = result->status;
	if (run->delegated.on)
		note_delegated(&record, result);
	snprintf(record.name, sizeof(record.name), "%s", run->order.host);
	snprintf(record.outcome, sizeof(record.outcome), "%s",
		run->wanted == WH_ORDER_DONE        ? "ok"
		: run->wanted == WH_ORDER_FAILED    ? "failed"
		: run->wanted == WH_ORDER_CANCELLED ? "cancelled"
						    : "stopped");
	if (wh_order_is_accepted(&run->order))
		snprintf(record.why, sizeof(record.why), "ordered by %s%s%.300s",
			run->order.peer[0] != '\0' ? run->order.peer : "the peer with our own key",
			result->why[0] != '\0' ? ": " : "", result->why);
	else
		snprintf(record.why, sizeof(record.why), "%s", result->why);
	wh_history_writer_order(&serve->writer, &record);
}

/* Reports an order that is over to the operator's command. */
static void tell_over(void *context, const struct wh_order *order,
	const struct wh_order_result *result, enum wh_order_state state)
{
	static struct wh_hook_event event; /* used by one thread at a time */
	struct serve *serve = context;
	json_t *here = json_loads(order->here, 0, NULL);
	const char *path = json_string_value(json_array_get(here, 0));

	event = (struct wh_hook_event){
		.job = order->id,
		.files = order->result.files,
		.failed = result->failed,
		.bytes = order->result.bytes,
		.status = result->status,
	};
	snprintf(event.side, sizeof(event.side), "order");
	snprintf(event.state, sizeof(event.state), "%s", wh_order_state_name(state));
	snprintf(event.verb, sizeof(event.verb), "%s",
		order->copies  ? "copy"
		: order->sends ? "send"
			       : "get");
	snprintf(event.peer, sizeof(event.peer), "%s", order->host);
	snprintf(event.error, sizeof(event.error), "%s", result->why);
	snprintf(event.path, sizeof(event.path), "%s", path != NULL ? path : "");
	json_decref(here);
	wh_hook_tell(&serve->hook, &event);
}

/* Orders come by the control socket; without it there is no queue. */
static void open_queue(struct serve *serve)
{
	const struct wh_settings *settings = &serve->settings;
	struct wh_runner *runner = &serve->runner;
	int folder_fd = wh_kept_folder(settings->state);
	char folder[PATH_MAX];

	*runner = (struct wh_runner){
		.ctx = {.settings = settings,
			.jobs = &serve->on.jobs,
			.host = &serve->on.host,
			.root_fd = serve->service.own.here.root_fd,
			.memory_bytes = settings->buffer_bytes / 2 / settings->queue_jobs},
		.control = &serve->control,
		.on_end = note_order,
		.on_over = tell_over,
		.context = serve,
		.at_once = settings->queue_jobs,
		.at_once_host = settings->queue_peer_jobs,
	};
	runner->rpcs = (struct wh_rpcs){.ctx = &runner->ctx, .control = &serve->control};
	wh_runner_add(&serve->control.tables, runner);
	wh_control_add_turn(&serve->control, wh_runner_turn, runner, -1);
	serve->control.on_gone = wh_runner_on_gone;
	serve->control.context = runner;
	if (folder_fd < 0)
		return;
	close(folder_fd);
	if (wh_kept_where(settings->state, folder))
		wh_runner_open(runner, folder);
	/* Peers may give orders if there is a queue, or will be. */
	atomic_store(&serve->mailbox.kept, runner->path[0] != '\0');
}

/* Call when it is known where state is stored, and whether there is a queue. */
static void open_captures(struct serve *serve)
{
	struct wh_captures *captures = &serve->captures;

	captures->host = &serve->on.host;
	captures->owns = wh_runner_owns;
	captures->context = &serve->runner;
	snprintf(captures->state, sizeof(captures->state), "%s", serve->served.state);
	wh_captures_init(captures);
	wh_captures_add(&serve->control.tables, captures);
	wh_control_add_turn(&serve->control, wh_captures_turn, captures, -1);
}

/* Before the guard. An exit status. */
static int open_control(struct serve *serve)
{
	const struct wh_settings *settings = &serve->settings;
	int status;

	serve->served = (struct wh_served){
		.settings = settings,
		.host = &serve->on.host,
		.jobs = &serve->on.jobs,
		.began_s = time(NULL),
	};
	if (settings->client != NULL || !wh_kept_where(settings->state, serve->served.state))
		serve->served.state[0] = '\0';
	if (realpath(settings->root, serve->served.root) == NULL)
		snprintf(serve->served.root, sizeof(serve->served.root), "%s", settings->root);
	wh_control_add_turn(&serve->control, wh_reread_turn, &serve->reread, -1);
	wh_served_add(&serve->control.tables, &serve->served);
	wh_history_writer_add(&serve->control.tables, &serve->writer);
	if (wh_control_open(&serve->control, settings->control, settings->user, &status)) {
		open_queue(serve);
		open_captures(serve);
	}
	return status == WH_EXIT_OK
		       ? wh_metrics_open(&serve->metrics, settings->metrics, &serve->control)
		       : status;
}

static void start_control(struct serve *serve)
{
	int rc = wh_control_start(&serve->control);

	if (rc != 0)
		wh_say("control socket, queue and metrics are not available: %s", strerror(-rc));
}

static int run_guarded(struct serve *serve)
{
	char ports[WH_SETTINGS_TEXT_BYTES];

	wh_runtime_add(&serve->on.runtime, 0, "watch", watch, serve);
	if (enter_guard(serve) != 0)
		return WH_EXIT_HARDWARE;
	wh_recollect_open(&serve->recollect, &serve->settings);
	serve->on.jobs.journal = serve->recollect.journal;
	wh_telemetry_start(&serve->on.host, &serve->on.jobs);
	if (serve->settings.client == NULL) {
		say_what_is_served(serve);
		wh_stale_remove_below(serve->service.own.here.root_fd,
			wh_journal_since_s(serve->on.jobs.journal));
	}
	serve->writer.shares_file = serve->runner.path[0] != '\0';
	wh_history_writer_open(&serve->writer, serve->served.state, serve->settings.keep_records_ns,
		&serve->control);
	start_control(serve);
	wh_settings_ports_text(&serve->settings, ", ", ports);
	if (wh_notify_ready(
		    &serve->notify, serve->settings.root, ports, serve->settings.udp_port) != 0)
		wh_say("no thread watches the cores: a watchdog will end this");
	if (serve->settings.client != NULL)
		wh_for_client_answer(&serve->client, &serve->settings,
			wh_host_ctx_address(&serve->on.host.ctx, WH_IPV4, 0).port);
	wh_runtime_begin_quiet(&serve->on.runtime, &serve->on.jobs.live);
	wh_runtime_run(&serve->on.runtime);
	wh_control_stop(&serve->control);
	wh_captures_close(&serve->captures);
	wh_stale_stop();
	wh_telemetry_stop();
	wh_jobs_end(&serve->on.jobs);
	wh_recollect_close(&serve->recollect);
	wh_say("stopped");
	return atomic_load(&serve->on.host.lost) ? WH_EXIT_NETWORK : WH_EXIT_OK;
}

static int run(void *context)
{
	struct serve *serve = context;
	int status;

	if (wh_notify_init(&serve->notify, &serve->on.runtime) != 0)
		return wh_fail(WH_EXIT_OTHER, "out of memory for watching the cores");
	status = open_control(serve);
	if (status == WH_EXIT_OK)
		status = run_guarded(serve);
	wh_control_stop(&serve->control);
	wh_metrics_close(&serve->metrics);
	wh_runner_close(&serve->runner);
	wh_history_writer_close(&serve->writer);
	wh_notify_free(&serve->notify);
	return status;
}

static int open_and_run(struct serve *serve)
{
	serve->on.settings = wh_host_settings_of(&serve->settings);
	serve->on.settings.listens = true;
	/* A peer may come by several paths to one of our ports. */
	serve->on.places = (wh_service_places(&serve->service) + WH_RUN_LANES_MAX + WH_RPCS_MAX) *
			   WH_JOB_PATHS_MAX / serve->settings.ports;
	serve->on.service = &serve->service;
	serve->on.repair = true;
	serve->on.may_be_probed = true;

	serve->service.store = serve->settings.unsealed ? NULL : &serve->sealed.trust.store;
	return wh_on_sealed_host(&serve->sealed, &serve->settings, "", &serve->on, run, serve);
}

/* An exit status. A folder that is not available is reported by its users. */
static int hold_state(struct serve *serve)
{
	char folder[PATH_MAX];

	if (serve->settings.client != NULL) /* it keeps what a client does, beside others */
		return WH_EXIT_OK;
	serve->state_fd = wh_kept_hold(serve->settings.state);
	if (serve->state_fd != -EBUSY || !wh_kept_where(serve->settings.state, folder))
		return WH_EXIT_OK;
	return wh_fail(WH_EXIT_OTHER,
		"another server uses %s for its state, and would run the same jobs: choose another "
		"folder with --state, or none",
		folder);
}

static int serve_root(struct serve *serve)
{
	int root_fd = open(serve->settings.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return wh_fail(WH_EXIT_NO_FILE, "cannot serve %s: %s", serve->settings.root,
			strerror(errno));
	serve->state_fd = -1;

	int status = wh_hook_start(
		&serve->hook, serve->settings.on_end, serve->settings.on_end_timeout_ns);

	serve->writer.hook = &serve->hook;
	if (status == WH_EXIT_OK)
		status = wh_audit_open(&serve->writer.audit, serve->settings.audit);
	if (status == WH_EXIT_OK)
		status = hold_state(serve);
	if (status == WH_EXIT_OK && wh_history_writer_init(&serve->writer, &serve->on.jobs) != 0)
		status = WH_EXIT_OTHER;
	if (status == WH_EXIT_OK) {
		wh_signals_catch();
		wh_signals_catch_reload();
		serve->service = wh_wanted_service(&serve->settings, root_fd);
		serve->service.on_over = wh_history_writer_job;
		serve->service.on_removed = wh_history_writer_removed;
		serve->service.may_remove = wh_history_writer_may_remove;
		serve->service.context = &serve->writer;
		serve->service.mailbox = &serve->mailbox;
		wh_mailbox_init(&serve->mailbox, wake_control, serve);
		status = open_and_run(serve);
	}
	wh_mailbox_free(&serve->mailbox);
	wh_history_writer_close(&serve->writer);
	wh_audit_close(&serve->writer.audit);
	(void)wh_hook_end(&serve->hook);
	if (serve->state_fd >= 0)
		close(serve->state_fd);
	close(root_fd);
	return status;
}

int wh_verb_serve(int argc, char **argv)
{
	struct serve *serve = calloc(1, sizeof(*serve));

	if (serve == NULL)
		return WH_EXIT_OTHER;

	int status = wh_settings_read(&serve->settings, WH_VERB_SERVE, argc, argv);

	if (status < 0 && serve->settings.operand_count > 0) {
		wh_complain("'%s' is not an option of serve; --root names the folder",
			serve->settings.operands[0]);
		status = WH_EXIT_USAGE;
	}
	serve->reread = (struct wh_reread){
		.argc = argc,
		.argv = argv,
		.settings = &serve->settings,
		.service = &serve->service,
		.runner = &serve->runner,
	};
	if (status < 0 && serve->settings.for_client) {
		serve->settings.client = &serve->client;
		status = wh_for_client_begin(&serve->client, &serve->settings);
	}
	if (status < 0)
		status = serve_root(serve);
	if (serve->settings.client != NULL)
		wh_for_client_end(&serve->client, status);
	free(serve);
	return status;
}
