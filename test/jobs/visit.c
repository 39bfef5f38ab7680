/* SPDX-License-Identifier: BSD-3-Clause */
#include "visit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

static uint32_t caller(const struct visit_config *config)
{
	return config->stands_in > 0 ? config->stands_in : config->client;
}

static void on_file(void *context, const struct wh_file_result *result)
{
	struct visit *visit = context;

	visit->files_told += result->error == 0;
	visit->skipped_bytes += result->error == 0 && result->skipped ? result->bytes : 0;
	if (result->error != ENOSPC)
		return;
	visit->files_full++;
	snprintf(visit->full_path, sizeof(visit->full_path), "%s", result->path);
}

static void on_report(void *context, const struct wh_bench_report *report)
{
	struct visit *visit = context;

	(void)report;
	WH_ASSERT(!visit->over);
}

static struct wh_request request_of(struct visit *visit)
{
	const struct visit_config *config = &visit->config;
	struct wh_request request = config->request;
	bool sends = config->verb == WH_JOB_SEND;

	request.verb = config->verb;
	request.lanes = config->lanes;
	request.here.root_fd = request.there.root_fd = -1;
	request.reverse = config->reverse;
	request.size_bytes = config->bench_bytes;
	request.time_ns = 3600 * WH_NS_PER_S;
	if (config->verb == WH_JOB_BENCH)
		return request;
	request.time_ns = 0;
	request.recursive = true;
	snprintf(visit->remote, sizeof(visit->remote), sends ? "/in%u" : "/out%u/tree",
		config->client);
	visit->there = config->remote != NULL ? config->remote : visit->remote;
	visit->here = sends ? visit->source : ".";
	request.there.path = &visit->there;
	request.here.path = &visit->here;
	request.there.count = request.here.count = 1;
	request.here.root_fd = visit->target_fd;
	request.here.into_folder = !sends;
	request.there.as_name = sends && visit->as_name;
	request.asks_first = visit->asks_first;
	request.ports = config->verb <= WH_JOB_GET ? config->settings.ports : 1;
	return request;
}

static void listen_to(struct visit *visit, struct wh_job *job, bool waits)
{
	job->listener = (struct wh_job_listener){
		.gate = waits ? &visit->gate : NULL,
		.on_file = on_file,
		.on_report = on_report,
		.context = visit,
	};
}

static void make_jobs(struct visit *visit, const struct wh_address *server)
{
	struct wh_jobs *jobs = &visit->house->process[caller(&visit->config)].jobs;
	const struct wh_request request = request_of(visit);
	struct wh_request idle = request;
	bool made = wh_lanes_make(&visit->lanes, jobs, server, &request);

	WH_ASSERT(made);
	for (uint32_t lane = 0; lane < request.lanes; lane++)
		listen_to(visit, visit->lanes.job[lane], lane == 0 && request.lanes > 1);
	idle.verb = WH_JOB_IDLE;
	idle.lanes = 1;
	for (uint32_t i = 0; i < visit->config.idles; i++) {
		visit->idle[i] = wh_job_create(jobs, &idle, 0);
		WH_ASSERT(visit->idle[i] != NULL);
		listen_to(visit, visit->idle[i], false);
	}
}

static void take_outcome(struct visit *visit, const struct wh_job *job)
{
	const struct wh_totals totals = wh_job_totals(job);

	for (size_t i = 0; i < sizeof(totals) / sizeof(uint64_t); i++)
		((uint64_t *)&visit->totals)[i] += ((const uint64_t *)&totals)[i];
	visit->bench_bytes +=
		visit->config.reverse ? job->result.final.bytes : job->ends.reported.bytes;
	visit->found_bps += job->result.figures.found.capacity_bps;
	if (job->result.failed == WH_STATUS_PENDING ||
		(visit->status != WH_STATUS_PENDING && visit->status != WH_STATUS_INTERRUPTED))
		return;
	visit->status = job->result.failed;
	snprintf(visit->why, sizeof(visit->why), "%s", job->result.why);
}

static void free_jobs(struct visit *visit)
{
	for (uint32_t i = 0; i < visit->config.idles; i++)
		wh_job_free(visit->idle[i]);
	wh_lanes_free(&visit->lanes);
	if (visit->target_fd >= 0)
		close(visit->target_fd);
	visit->target_fd = -1;
}

static void take_outcomes(struct visit *visit)
{
	visit->over = true;
	for (uint32_t i = 0; i < visit->lanes.started; i++)
		take_outcome(visit, visit->lanes.job[i]);
	for (uint32_t i = 0; i < visit->idles_started; i++)
		if (visit->idle[i]->result.failed != WH_STATUS_INTERRUPTED)
			take_outcome(visit, visit->idle[i]);
}

static void free_all(struct visit *const visit[], uint32_t visits)
{
	for (uint32_t i = 0; i < visits; i++)
		free_jobs(visit[i]);
}

/* Jobs that are over are freed before it is asked what is owed, others once no worker has them. */
static void end_task(struct process *process, enum house_death death)
{
	struct visit *visit[HOUSE_VERBS_MAX] = {NULL};
	uint32_t visits = process->verbs;
	bool all_over = process->jobs.live == 0;

	for (uint32_t i = 0; i < visits; i++) {
		visit[i] = process->verb[i].state;
		if (death != HOUSE_ENDED) {
			visit[i]->over = visit[i]->killed = true;
			visit[i]->ended_ns = process->house->now_ns;
			visit[i]->status = WH_STATUS_INTERRUPTED;
		} else {
			take_outcomes(visit[i]);
		}
	}
	if (all_over)
		free_all(visit, visits);
	for (uint32_t i = 0; i < visits; i++)
		visit[i]->owed = house_owes(process->house, process->number);
	house_end(process->house, process->number, death);
	if (!all_over)
		free_all(visit, visits);
}

static void end(struct visit *visit)
{
	struct process *process = &visit->house->process[caller(&visit->config)];

	visit->gone = true;
	visit->ended_ns = visit->house->now_ns;
	for (uint32_t i = 0; i < process->verbs; i++)
		if (!((const struct visit *)process->verb[i].state)->gone)
			return;
	end_task(process, HOUSE_ENDED);
}

void visit_kill(struct visit *visit, enum house_death death)
{
	WH_ASSERT(!visit->over);
	end_task(&visit->house->process[caller(&visit->config)], death);
}

static bool an_idle_failed(const struct visit *visit)
{
	for (uint32_t i = 0; i < visit->idles_started; i++)
		if (wh_job_has_failed(visit->idle[i]))
			return true;
	return false;
}

static void start(struct visit *visit, uint64_t now_ns)
{
	while (visit->idles_started < visit->config.idles) {
		struct wh_job *job = visit->idle[visit->idles_started++];

		wh_lanes_place(&visit->lanes, 1, job);
		wh_job_start(job, now_ns);
	}
	wh_lanes_start_first(&visit->lanes, now_ns);
}

static void hurry(struct visit *visit, uint64_t now_ns)
{
	wh_lanes_hurry(&visit->lanes, now_ns);
	for (uint32_t i = 0; i < visit->idles_started; i++)
		wh_job_hurry(visit->idle[i]);
}

static bool idles_are_gone(const struct visit *visit, uint64_t now_ns)
{
	for (uint32_t i = 0; i < visit->idles_started; i++)
		if (!wh_job_is_over(visit->idle[i]))
			return visit->lanes.give_up_tsc != 0 && now_ns > visit->lanes.give_up_tsc;
	return true;
}

/* As wh_transfer_restart. */
static void begin_again(struct visit *visit, uint64_t now_ns)
{
	const struct wh_address server = visit->lanes.peer;

	visit->as_name |= visit->lanes.job[0]->ready.as_name;
	visit->asks_first |= wh_lanes_flowed(&visit->lanes);
	wh_lanes_free(&visit->lanes);
	atomic_store(&visit->gate, false);
	visit->files_told = visit->files_full = visit->skipped_bytes = 0;
	make_jobs(visit, &server);
	wh_lanes_start_first(&visit->lanes, now_ns);
}

/* Whether a failed visit is not over yet. */
static bool goes_on(struct visit *visit, uint64_t now_ns)
{
	enum wh_retry_step step = wh_retry_next(&visit->retry, &visit->lanes, now_ns);

	if (step == WH_RETRY_COUNTED && visit->config.on_retry != NULL)
		visit->config.on_retry(visit);
	if (step == WH_RETRY_DUE)
		begin_again(visit, now_ns);
	return step != WH_RETRY_NOT;
}

static int32_t watch(void *state, uint64_t now_ns)
{
	struct visit *visit = state;
	struct wh_lanes *lanes = &visit->lanes;

	if (visit->gone)
		return 0;
	if (lanes->started == 0) {
		start(visit, now_ns);
		return 1;
	}
	if (wh_lanes_failed(lanes) || an_idle_failed(visit) ||
		(visit->config.idles > 0 && wh_lanes_ended(lanes, 0)))
		hurry(visit, now_ns);
	else
		wh_lanes_start_others(lanes, now_ns);
	if (wh_lanes_ended(lanes, 1))
		atomic_store(&visit->gate, true);
	if (!wh_lanes_gone(lanes, now_ns) || !idles_are_gone(visit, now_ns) ||
		goes_on(visit, now_ns))
		return 0;
	end(visit);
	return 1;
}

static void make_folder(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void make_folder(const char *format, ...)
{
	char path[200];
	va_list args;

	va_start(args, format);
	vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	WH_ASSERT(mkdir(path, 0755) == 0);
}

static void name_folders(struct visit *visit, const char *folder)
{
	const struct visit_config *config = &visit->config;
	bool sends = config->verb == WH_JOB_SEND;
	char own[120];
	char servers[120];

	snprintf(own, sizeof(own), "%.80s/client%u.%u", folder, config->client, config->server);
	snprintf(servers, sizeof(servers), "%.80s/root%u/%s%u", folder, config->server,
		sends ? "in" : "out", config->client);
	snprintf(visit->source, sizeof(visit->source), "%s/tree", sends ? own : servers);
	snprintf(visit->target, sizeof(visit->target), "%s", sends ? servers : own);
	snprintf(visit->result, sizeof(visit->result), "%s/tree", visit->target);
}

void visit_prepare(const struct visit_config *config, const char *folder)
{
	struct visit named = {.config = *config};

	name_folders(&named, folder);
	make_folder("%s/client%u.%u", folder, config->client, config->server);
	make_folder("%s/root%u/in%u", folder, config->server, config->client);
	make_folder("%s/root%u/out%u", folder, config->server, config->client);
	if (config->tree == NULL)
		return;
	make_folder("%s", named.source);
	tree_make(config->tree, named.source);
	if (config->before == NULL)
		return;
	make_folder("%s", named.result);
	tree_make(config->before, named.result);
}

void visit_begin(struct visit *visit, struct house *house, const struct visit_config *config,
	const char *folder)
{
	struct process *process = &house->process[caller(config)];
	const struct wh_address server = house_address(config->server);

	*visit = (struct visit){.config = *config, .house = house, .began_ns = house->now_ns};
	name_folders(visit, folder);
	visit->target_fd = config->verb == WH_JOB_GET
				   ? open(visit->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				   : -1;
	if (!process->alive) {
		process->settings = config->settings;
		house_start(house, caller(config), NULL, config->request.repair.on);
	}
	make_jobs(visit, &server);
	wh_retry_init(&visit->retry, HOUSE_HZ, 0, 0, config->retries, house->now_ns);
	WH_ASSERT(process->verbs < HOUSE_VERBS_MAX);
	process->verb[process->verbs].poll = watch;
	process->verb[process->verbs++].state = visit;
}

bool visit_went_well(const struct visit *visit)
{
	return visit->over && visit->status == WH_STATUS_PENDING && visit->totals.failed == 0;
}
