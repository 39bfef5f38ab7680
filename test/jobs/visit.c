/* SPDX-License-Identifier: BSD-3-Clause */
#include "visit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"

static void on_file(void *context, const struct wh_file_result *result)
{
	struct visit *visit = context;

	visit->files_told += result->error == 0;
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
	visit->there = visit->remote;
	visit->here = sends ? visit->source : ".";
	request.there.path = &visit->there;
	request.here.path = &visit->here;
	request.there.count = request.here.count = 1;
	request.here.root_fd = visit->target_fd;
	request.here.into_folder = !sends;
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
	struct wh_jobs *jobs = &visit->house->process[visit->config.client].jobs;
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

static void end(struct visit *visit)
{
	struct process *process = &visit->house->process[visit->config.client];

	visit->over = true;
	visit->ended_ns = visit->house->now_ns;
	for (uint32_t i = 0; i < visit->lanes.started; i++)
		take_outcome(visit, visit->lanes.job[i]);
	for (uint32_t i = 0; i < visit->idles_started; i++)
		if (visit->idle[i]->result.failed != WH_STATUS_INTERRUPTED)
			take_outcome(visit, visit->idle[i]);
	house_end(visit->house, process->number, false);
	free_jobs(visit);
}

void visit_kill(struct visit *visit)
{
	WH_ASSERT(!visit->over);
	visit->over = true;
	visit->killed = true;
	visit->ended_ns = visit->house->now_ns;
	visit->status = WH_STATUS_INTERRUPTED;
	house_end(visit->house, visit->config.client, true);
	free_jobs(visit);
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

static int32_t watch(void *state, uint64_t now_ns)
{
	struct visit *visit = state;
	struct wh_lanes *lanes = &visit->lanes;

	if (lanes->started == 0) {
		start(visit, now_ns);
		return 1;
	}
	if (wh_lanes_failed(lanes) || an_idle_failed(visit) ||
		(visit->config.idles > 0 && wh_lanes_over(lanes, 0)))
		hurry(visit, now_ns);
	else
		wh_lanes_start_others(lanes, now_ns);
	if (wh_lanes_over(lanes, 1))
		atomic_store(&visit->gate, true);
	if (!wh_lanes_gone(lanes, now_ns) || !idles_are_gone(visit, now_ns))
		return 0;
	end(visit);
	return 1;
}

static void name_folders(struct visit *visit, const char *folder)
{
	uint32_t client = visit->config.client;
	bool sends = visit->config.verb == WH_JOB_SEND;

	snprintf(visit->source, sizeof(visit->source), "%.80s/%s%u/tree", folder,
		sends ? "client" : "root/out", client);
	snprintf(visit->target, sizeof(visit->target), "%.80s/%s%u", folder,
		sends ? "root/in" : "client", client);
	snprintf(visit->result, sizeof(visit->result), "%s/tree", visit->target);
}

void visit_begin(struct visit *visit, struct house *house, const struct visit_config *config,
	const char *folder)
{
	struct process *process = &house->process[config->client];
	const struct wh_address server = {.family = WH_IPV4, .ip = {10, 0, 0, 1}};

	*visit = (struct visit){.config = *config, .house = house, .began_ns = house->now_ns};
	name_folders(visit, folder);
	visit->target_fd = config->verb == WH_JOB_GET
				   ? open(visit->target, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				   : -1;
	process->settings = config->settings;
	house_start(house, config->client, NULL, config->request.repair.on);
	make_jobs(visit, &server);
	process->poll = watch;
	process->state = visit;
}

bool visit_went_well(const struct visit *visit)
{
	return visit->over && visit->status == WH_STATUS_PENDING && visit->totals.failed == 0;
}
