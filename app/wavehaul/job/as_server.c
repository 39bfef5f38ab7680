/* SPDX-License-Identifier: BSD-3-Clause */

/* The server's side of a job: reads HELLO, and does what it requests. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/fault_text.h"
#include "job/hello.h"
#include "job/jobs.h"
#include "job/paths/awaited.h"
#include "job/paths/paths.h"

/* Time for a client to read its refusal. */
#define PATIENCE_S 10

/* Paths are as operators write them; '/' means the served root. */
static const char *below_root(const char *path)
{
	path += strspn(path, "/");
	return *path == '\0' ? "." : path;
}

/*
 * Copies the texts of HELLO into one array: all of them as received, NULL, then pointers to the
 * same paths, relative to the root.
 */
static int keep_texts(struct wh_job *job, const struct wh_hello *hello)
{
	uint32_t count = hello->paths + hello->terms;
	char **texts = calloc(count + 1 + hello->paths, sizeof(texts[0]));

	job->records.paths = texts;
	if (texts == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		texts[i] = strndup(hello->path[i], hello->path_bytes[i]);
		if (texts[i] == NULL)
			return -ENOMEM;
	}

	const char **below = (const char **)texts + count + 1;

	for (uint32_t i = 0; i < hello->paths; i++)
		below[i] = below_root(texts[i]);
	job->request.here.path = below;
	job->request.here.count = hello->paths;
	return wh_choice_parse(&job->request.choice, hello->wishes,
		(const char *const *)texts + hello->paths, hello->terms);
}

/* 0 or a negative errno. */
static int keep_hello(struct wh_job *job, const struct wh_hello *hello, uint64_t now_tsc)
{
	job->request = wh_hello_request(hello, &job->jobs->service->own);
	job->request.known = wh_peers_known(&job->jobs->peers, job->place.peer_entry,
		&job->place.peer, wh_tsc_to_ns(job->jobs->ctx->hz, now_tsc));
	atomic_store(&job->wishes.rate_bps, job->request.rate_bps);
	job->place.lane = hello->lane;
	job->place.transfer = hello->transfer;
	job->place.reply = hello->reply;
	return keep_texts(job, hello);
}

static void await_refused(struct wh_job *job, uint64_t now_tsc, const char *text)
{
	wh_job_enter(job, WH_JOB_REFUSING);
	snprintf(job->result.why, sizeof(job->result.why), "%s", text);
	job->turn.give_up_tsc = now_tsc + PATIENCE_S * job->jobs->ctx->hz;
	wh_job_say(job, now_tsc, "refused: %s", text);
}

static void refuse(struct wh_job *job, uint64_t now_tsc, int error, const char *text)
{
	struct wh_record record = {
		.type = WH_RECORD_REFUSED,
		.refused = {.error = abs(error),
			.text = text,
			.text_bytes = (uint16_t)strlen(text)},
	};

	wh_job_post(job, &record);
	wh_job_post_end(job);
	await_refused(job, now_tsc, text);
}

/* READY goes before any message of source, sink or pump: they begin after it. */
static void start(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_record ready = {
		.type = WH_RECORD_READY,
		.ready = {.queues = (uint16_t)job->jobs->ctx->settings->queues},
	};
	uint8_t addresses[WH_READY_PORTS_MAX * WH_READY_ADDRESS_BYTES];
	enum wh_doing doing;
	char why[WH_FAULT_TEXT_BYTES];
	char text[400];

	job->records.posted = 1;

	int rc = wh_job_open_end(job, now_tsc, &doing);

	job->records.posted = 0;
	if (rc != 0) {
		snprintf(text, sizeof(text), "%s: %s",
			job->request.here.count > 0 ? job->records.paths[0] : "a stream",
			wh_fault_text(why, doing, rc));
		refuse(job, now_tsc, rc, text);
		return;
	}
	ready.ready.keeps = (uint8_t)((job->request.choice.wishes & WH_CHOICE_KEEPS &
					      job->request.rules.keeps) >>
				      WH_CHOICE_KEEPS_SHIFT);
	if (job->ends.sink != NULL)
		ready.ready.as_name = wh_sink_progress(job->ends.sink)->as_name;
	if (job->ends.source != NULL)
		ready.ready.as_name = wh_source_progress(job->ends.source)->is_as_given;

	ready.ready.addresses = addresses;
	ready.ready.ports = wh_ready_addresses(
		job->jobs->ctx, job->place.shard, job->place.peer.family, addresses);

	bool posted = wh_job_post(job, &ready);

	WH_ASSERT(posted); /* the first chunk of a newly opened stream */
	wh_job_enter(job, WH_JOB_RUNNING);
	if (wh_job_is_striped(job))
		wh_job_await(job);
}

/* Opens our stream under the SA of the client's, since that client must read our OPEN. */
static bool open_reply(struct wh_job *job)
{
	char name[32];

	WH_ASSERT(job->streams.sa == NULL);
	job->streams.sa = wh_session_sa(wh_job_in(job));
	if (job->streams.sa != NULL) {
		wh_sa_share(job->streams.sa);
		job->sealed.cipher = job->streams.sa->config.cipher;
		memcpy(job->sealed.peer_id, job->streams.sa->config.peer_identity,
			sizeof(job->sealed.peer_id));
	}
	snprintf(name, sizeof(name), WH_REPLY_NAME, job->place.reply);
	return wh_job_open_out(job, wh_job_main(job), name,
		wh_job_sends(job) && !wh_job_is_rpc(job->request.verb));
}

/* Where parts are kept for no time, ranges that nothing ever joins would be there for ever. */
static bool can_join(const struct wh_job *job)
{
	return job->request.choice.join == NULL || job->request.verb != WH_JOB_SEND ||
	       job->jobs->journal != NULL;
}

/* HELLO has arrived: opens our stream, for READY or REFUSED. */
static void reply(struct wh_job *job, uint64_t now_tsc)
{
	const struct wh_sa *sa = wh_session_sa(wh_job_in(job));
	char why[WH_RIGHTS_WHY_BYTES];

	if (sa != NULL)
		job->rights.number = sa->config.rights;

	/* First: what is set up depends on the rights. */
	bool may = wh_job_claim_rights(job, why);

	if (job->request.verb == WH_JOB_IDLE) {
		if (may)
			wh_job_enter(job, WH_JOB_RUNNING);
		else
			wh_job_give_up(job, now_tsc, WH_STATUS_REFUSED, why);
		return;
	}
	if (may && wh_job_join(job) != 0) {
		wh_job_give_up(job, now_tsc, WH_STATUS_REFUSED, "that lane is already open");
		return;
	}
	if (!open_reply(job)) {
		wh_job_give_up(job, now_tsc, WH_STATUS_BUSY, "out of memory for another stream");
		return;
	}
	if (!may)
		refuse(job, now_tsc, EACCES, why);
	else if (!can_join(job))
		refuse(job, now_tsc, ENOTSUP,
			"this server keeps no parts of files, so it cannot join ranges "
			"(--keep-parts, --state)");
	else
		start(job, now_tsc);
}

static bool can_serve(const struct wh_job *job, const struct wh_hello *hello)
{
	const struct wh_peer_bounds bounds =
		wh_host_ctx_bounds(job->jobs->ctx, job->place.peer.family);

	return wh_hello_is_possible(hello, wh_session_params(wh_job_in(job))->chunk_bytes, &bounds,
		&job->jobs->service->own);
}

/*
 * Tells a client of another version so, in the common part of all versions. Nothing else in its
 * HELLO is readable; its chunk size tells the bundle's direction, and ours must match.
 */
static void refuse_version(struct wh_job *job, uint64_t now_tsc)
{
	bool gets = wh_session_params(wh_job_in(job))->chunk_bytes == WH_ANSWER_CHUNK_BYTES;
	const struct wh_hello plain = {
		.verb = gets ? WH_JOB_GET : WH_JOB_SEND,
		.lanes = 1,
		.profile = job->jobs->service->own.profile->number,
		.payload_bytes = WH_PAYLOAD_BYTES_MAX,
		.rate_bps = UINT64_MAX,
		.reply = job->records.their_reply,
	};
	char text[200];

	if (keep_hello(job, &plain, now_tsc) != 0 || !open_reply(job)) {
		wh_job_give_up(job, now_tsc, WH_STATUS_BUSY,
			"no memory to refuse a client of another version");
		return;
	}
	snprintf(text, sizeof(text),
		"this server uses bundle format %u, the client %u: install the same wavehaul at "
		"both ends (`wavehaul --version` shows it)",
		WH_BUNDLE_VERSION, job->records.their_version);
	refuse(job, now_tsc, EPROTONOSUPPORT, text);
}

static int32_t await_hello(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_record record;
	int found = wh_job_read(job, &record);

	if (found == 0) {
		uint64_t hz = job->jobs->ctx->hz;

		if (wh_job_hears_nothing(wh_job_in(job), hz, now_tsc))
			job->turn.give_up_tsc = now_tsc + WH_HELLO_PATIENCE_S * hz;
		if (wh_session_news(wh_job_in(job)).phase == WH_PHASE_CLOSED ||
			now_tsc > job->turn.give_up_tsc) {
			wh_job_give_up(
				job, now_tsc, WH_STATUS_STALLED, "the client sent no request");
		}
		return 0;
	}

	if (found == -EPROTONOSUPPORT) {
		refuse_version(job, now_tsc);
		return 1;
	}

	bool possible =
		found > 0 && record.type == WH_RECORD_HELLO && can_serve(job, &record.hello);
	int rc = possible ? keep_hello(job, &record.hello, now_tsc) : -EINVAL;

	if (found > 0)
		wh_job_read_done(job);
	if (rc == 0) {
		reply(job, now_tsc);
	} else {
		wh_job_give_up(job, now_tsc, rc == -ENOMEM ? WH_STATUS_BUSY : WH_STATUS_REFUSED,
			"the request (HELLO) is invalid, or this host cannot serve it");
	}
	return 1;
}

/* The receiving end of a bench counts, and reports once a second and at the end. */
static int32_t report(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_record record = {.type = WH_RECORD_REPORT};

	if (job->request.reverse || job->ends.reports_ended ||
		(job->view.flow_began_tsc == 0 && !job->ends.pump.ended))
		return 0;
	if (job->ends.next_report_tsc == 0)
		job->ends.next_report_tsc = job->view.flow_began_tsc + job->jobs->ctx->hz;
	if (now_tsc < job->ends.next_report_tsc && !job->ends.pump.ended)
		return 0;
	wh_bench_count(job, now_tsc, &record.report);
	if (!wh_job_post(job, &record))
		return 0;
	job->ends.next_report_tsc += job->jobs->ctx->hz;
	if (job->ends.pump.ended) {
		wh_job_post_end(job);
		job->ends.reports_ended = true;
	}
	return 1;
}

/* Reverse: the client's stream has nothing but its end. */
static int32_t await_end(struct wh_job *job)
{
	struct wh_record record;

	if (!job->request.reverse || job->ends.sink_told)
		return 0;

	int found = wh_job_read(job, &record);

	if (found == -ENODATA) {
		wh_job_tell_sink_done(job);
		return 1;
	}
	if (found > 0)
		wh_job_read_done(job);
	if (found != 0)
		wh_job_fail(
			job, WH_STATUS_REFUSED, "the client sent data after its request (HELLO)");
	return 0;
}

/* The sink no longer accepts data, and tells the client itself while it is polled. */
static void see_broken_sink(struct wh_job *job, uint64_t now_tsc)
{
	const struct wh_sink_progress *progress = wh_sink_progress(job->ends.sink);
	char text[WH_FAULT_TEXT_BYTES];

	if (progress->state != WH_SINK_BROKEN)
		return;
	await_refused(job, now_tsc, wh_fault_text(text, progress->doing, progress->error));
}

static int32_t run(struct wh_job *job, uint64_t now_tsc)
{
	int32_t work = 0;

	if (job->request.verb == WH_JOB_BENCH)
		work += report(job, now_tsc) + await_end(job);
	work += wh_job_run(job, now_tsc);
	if (job->ends.sink != NULL && job->view.state == WH_JOB_RUNNING)
		see_broken_sink(job, now_tsc);
	return work;
}

static int32_t await_refused_client(struct wh_job *job, uint64_t now_tsc)
{
	int32_t work = 0;

	if (job->ends.sink != NULL) {
		work = wh_sink_poll(job->ends.sink, now_tsc) + wh_paths_poll(job, now_tsc);
		if (work > 0) {
			wh_session_kick(wh_job_in(job));
			wh_session_kick(wh_job_main(job)->out);
		}
	}
	if (wh_session_news(wh_job_in(job)).phase == WH_PHASE_CLOSED ||
		now_tsc > job->turn.give_up_tsc) {
		job->result.failed = WH_STATUS_REFUSED; /* `why` is what the client was told */
		wh_job_end(job, now_tsc);
	}
	return work;
}

int32_t wh_job_server_step(struct wh_job *job, uint64_t now_tsc)
{
	switch (job->view.state) {
	case WH_JOB_OPENING:
		return await_hello(job, now_tsc);
	case WH_JOB_REFUSING:
		return await_refused_client(job, now_tsc);
	default:
		return run(job, now_tsc);
	}
}
