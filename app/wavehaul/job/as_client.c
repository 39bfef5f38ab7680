/* SPDX-License-Identifier: BSD-3-Clause */

/* The client's side of a job: sends HELLO, receives READY, then does the request. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/fault_text.h"
#include "host/host_handshake.h"
#include "job/jobs.h"
#include "job/paths/paths.h"

static void say_hello(struct wh_job *job)
{
	struct wh_record record = {
		.type = WH_RECORD_HELLO,
		.hello = wh_hello_of_request(&job->request,
			wh_host_ctx_payload_bytes(job->jobs->ctx, job->place.peer.family)),
	};

	record.hello.lane = (uint16_t)job->place.lane;
	record.hello.transfer = job->place.transfer;
	record.hello.reply = job->place.reply;

	bool posted = wh_job_post(job, &record);

	WH_ASSERT(posted); /* checked by wh_hello_fits before */
}

/* The address at which the server answers handshakes, for all its queues. */
static struct wh_address door_of(const struct wh_job *job)
{
	struct wh_address door = job->place.peer;

	door.port = (uint16_t)job->jobs->ctx->settings->udp_port;
	return door;
}

/*
 * Whether the server refused us. Its verdict comes after its SA, and ends the streams under that
 * SA.
 */
static bool was_refused(struct wh_job *job, uint64_t now_tsc, struct wh_attempt *attempt)
{
	struct wh_host_handshake *handshake = job->jobs->ctx->handshake;
	const struct wh_address door = door_of(job);

	if (handshake == NULL)
		return false;
	wh_handshakes_attempt(&handshake->handshakes, now_tsc, &door, attempt);
	wh_sa_let_go(attempt->sa);
	return attempt->state == WH_ATTEMPT_REFUSED;
}

/*
 * Whether the SA is with another peer than the one that the request names. Any trusted peer may
 * answer at an address.
 */
static bool is_another(const struct wh_request *request, const struct wh_sa *sa)
{
	return request->peer_known &&
	       memcmp(request->peer_id, sa->config.peer_identity, WH_IDENTITY_BYTES) != 0;
}

static void take_sa(struct wh_job *job, struct wh_sa *sa)
{
	job->streams.sa = sa;
	job->sealed.cipher = sa->config.cipher;
	memcpy(job->sealed.peer_id, sa->config.peer_identity, sizeof(job->sealed.peer_id));
}

/* All streams to a peer are sealed under one SA. False: there is none yet, or never will be. */
static bool has_sa(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_host_handshake *handshake = job->jobs->ctx->handshake;
	const struct wh_address door = door_of(job);
	struct wh_sought sought;

	if (handshake == NULL || job->streams.sa != NULL)
		return true;
	wh_host_handshake_seek(handshake, now_tsc, &door, job->request.peer_timeout_ns,
		&job->turn.came_tsc, &sought);
	if (sought.sa != NULL)
		take_sa(job, sought.sa);
	if (sought.sa != NULL && is_another(&job->request, sought.sa)) {
		wh_job_give_up(job, now_tsc, WH_STATUS_REFUSED,
			"the server at that address does not have the key of the named peer");
	} else if (sought.status != WH_STATUS_PENDING) {
		job->result.peer_least = sought.least;
		job->result.peer_most = sought.most;
		wh_job_give_up(job, now_tsc, sought.status, sought.why);
	}
	return job->streams.sa != NULL && job->result.failed == WH_STATUS_PENDING;
}

/* The server has this much time to answer. */
static void grow_patient(struct wh_job *job, uint64_t now_tsc)
{
	job->turn.give_up_tsc =
		now_tsc + wh_ns_to_tsc(job->jobs->ctx->hz, job->request.stall_timeout_ns);
}

static int32_t open_job(struct wh_job *job, uint64_t now_tsc)
{
	if (!has_sa(job, now_tsc))
		return 0;
	if (wh_job_join(job) != 0 ||
		!wh_job_open_out(job, wh_job_main(job), WH_JOB_NAME, wh_job_sends(job))) {
		wh_job_give_up(job, now_tsc, WH_STATUS_BUSY,
			"out of memory for a stream; set a larger --buffers");
		return 1;
	}
	say_hello(job);
	/* The stream may be open before the job's next step. */
	grow_patient(job, now_tsc);
	wh_job_enter(job, job->request.verb == WH_JOB_IDLE ? WH_JOB_RUNNING : WH_JOB_TOLD);
	return 1;
}

static void open_end(struct wh_job *job, uint64_t now_tsc)
{
	enum wh_doing doing;
	char text[WH_FAULT_TEXT_BYTES];
	int rc = wh_job_open_end(job, now_tsc, &doing);

	if (rc != 0)
		wh_job_fail(job, WH_STATUS_IO_ERROR, "%s", wh_fault_text(text, doing, rc));
}

/*
 * Files follow HELLO at once, unless READY says what is sent of them: it comes a round trip later,
 * or two. A pipe can be read only once, so a server is waited for that will write it.
 */
static bool may_lead(const struct wh_job *job)
{
	return job->request.verb == WH_JOB_SEND && !job->request.here.is_pipe &&
	       (job->request.choice.wishes & WH_CHOICE_KEEPS) == 0;
}

/* Until READY comes. */
static int32_t lead(struct wh_job *job, uint64_t now_tsc)
{
	int32_t work;

	if (!may_lead(job))
		return 0;
	if (job->ends.source == NULL) {
		open_end(job, now_tsc);
		if (job->ends.source == NULL)
			return 0;
		job->turn.led_tsc = now_tsc;
	}
	work = wh_job_run_source(job, now_tsc) + wh_paths_poll(job, now_tsc);
	if (work > 0)
		wh_session_kick(wh_job_main(job)->out);
	return work;
}

/* When data began to flow, which may be before READY; a tree of no bytes, when its source began. */
static uint64_t began(const struct wh_job *job, uint64_t now_tsc)
{
	bool is_empty = job->turn.led_tsc != 0 && wh_source_progress(job->ends.source)->walked &&
			wh_source_progress(job->ends.source)->bytes_found == 0;

	if (job->view.flow_began_tsc != 0)
		return job->view.flow_began_tsc;
	return is_empty ? job->turn.led_tsc : now_tsc;
}

static void start(struct wh_job *job, uint64_t now_tsc)
{
	if (job->ends.source == NULL)
		open_end(job, now_tsc);
	if (job->ends.source != NULL)
		wh_source_hear(job->ends.source, wh_paths_deliver(job), wh_paths_recycled(job));
	if (job->request.verb == WH_JOB_BENCH && job->request.reverse)
		wh_job_post_end(job); /* the client has nothing more to send */
	job->ready.began_tsc = began(job, now_tsc);
	wh_job_enter(job, WH_JOB_RUNNING);
}

static void take_answer(struct wh_job *job, uint64_t now_tsc, const struct wh_record *record)
{
	if (record->type == WH_RECORD_REFUSED) {
		job->result.refused_error = record->refused.error;
		wh_job_fail(job, WH_STATUS_REFUSED, "%.*s", (int)record->refused.text_bytes,
			record->refused.text);
	} else if (record->type == WH_RECORD_READY &&
		   wh_ready_is_possible(record, job->place.peer.family)) {
		job->ready.queues = record->ready.queues;
		job->ready.peers = wh_ready_peers(record, job->ready.peer);
		job->ready.as_name = record->ready.as_name;
		if (job->request.here.by_match && record->ready.as_name) {
			job->request.here.into_folder = false;
			job->request.here.as_name = true;
		}
		if (wh_job_sends(job))
			job->request.choice.wishes &=
				~WH_CHOICE_KEEPS | (uint32_t)record->ready.keeps
							   << WH_CHOICE_KEEPS_SHIFT;
		wh_job_read_done(job);
		start(job, now_tsc);
	} else {
		wh_job_fail(job, WH_STATUS_MISMATCH, "the server's first answer is invalid");
	}
}

/* A server that keeps the connection alive but never answers counts as stalled. */
static void see_patience(struct wh_job *job, uint64_t now_tsc, enum wh_phase phase)
{
	if (phase == WH_PHASE_OPENING ||
		wh_job_hears_nothing(wh_job_main(job)->out, job->jobs->ctx->hz, now_tsc)) {
		grow_patient(job, now_tsc);
	} else if (job->view.state == WH_JOB_TOLD && now_tsc > job->turn.give_up_tsc) {
		job->result.stalled = true;
		wh_job_fail(job, WH_STATUS_STALLED,
			"the server keeps the connection open, but does not answer");
	}
}

/*
 * A server that was restarted may have made a new handshake with us. It then answers under the SA
 * that our stream has now.
 */
static void follow_sa(struct wh_job *job)
{
	struct wh_sa *sa = wh_session_sa(wh_job_main(job)->out);

	/* A different key means a different server. */
	if (sa == job->streams.sa ||
		memcmp(sa->config.peer_identity, job->sealed.peer_id, WH_IDENTITY_BYTES) != 0)
		return;
	wh_sa_share(sa);
	wh_sa_let_go(job->streams.sa);
	take_sa(job, sa);
}

static int32_t await_ready(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_session_news news = wh_session_news(wh_job_main(job)->out);
	char why[WH_SOUGHT_WHY_BYTES];
	struct wh_attempt attempt;
	struct wh_record record;
	int32_t work = 0;

	if (news.outcome == WH_STATUS_REFUSED)
		wh_session_peer_versions(
			wh_job_main(job)->out, &job->result.peer_least, &job->result.peer_most);
	if (news.outcome == WH_STATUS_REVOKED && was_refused(job, now_tsc, &attempt)) {
		wh_host_handshake_refusal(job->jobs->ctx->handshake, &attempt, why);
		wh_job_fail(job,
			attempt.verdict == WH_AUTH_BUSY ? WH_STATUS_BUSY : WH_STATUS_REFUSED, "%s",
			why);
	}
	if (news.outcome != WH_STATUS_PENDING && news.outcome != WH_STATUS_VERIFIED)
		wh_job_fail(job, news.outcome, "%s", "");
	if (wh_job_in(job) != NULL) {
		int found = wh_job_read(job, &record);

		if (found > 0)
			follow_sa(job);
		/*
		 * Only the first packet of the server's stream shows under which SA it is sealed.
		 */
		if (found > 0 && wh_session_sa(wh_job_in(job)) != job->streams.sa) {
			wh_job_read_done(job);
			wh_job_fail(job, WH_STATUS_MISMATCH,
				"a host other than the server answered in its place");
		} else if (found > 0) {
			take_answer(job, now_tsc, &record);
			if (job->records.reading != NULL)
				wh_job_read_done(job);
			work = 1;
		} else if (found < 0) {
			wh_job_fail(
				job, WH_STATUS_MISMATCH, "the server's first answer is invalid");
		}
	}
	see_patience(job, now_tsc, news.phase);
	if (job->view.state == WH_JOB_TOLD && news.phase == WH_PHASE_RUNNING)
		work += lead(job, now_tsc);
	if (job->result.failed != WH_STATUS_PENDING)
		wh_job_end(job, now_tsc);
	return work;
}

/* bench: the receiving server's reports, until its stream ends. */
static int32_t take_reports(struct wh_job *job, uint64_t now_tsc)
{
	struct wh_record record;

	if (job->request.verb != WH_JOB_BENCH || job->request.reverse || job->ends.sink_told)
		return 0;

	int found = wh_job_read(job, &record);

	if (found == -ENODATA) {
		wh_job_tell_sink_done(job);
		return 1;
	}
	bool is_report = found > 0 && record.type == WH_RECORD_REPORT &&
			 wh_report_is_possible(&record.report, &job->ends.reported,
				 wh_tsc_to_ns(job->jobs->ctx->hz, now_tsc - job->ready.began_tsc),
				 job->ends.pump.bytes);

	if (is_report) {
		job->ends.reported = record.report;
		job->listener.on_report(job->listener.context, &record.report);
	}
	if (found > 0)
		wh_job_read_done(job);
	if (found != 0 && !is_report)
		wh_job_fail(job, WH_STATUS_MISMATCH, "the server sent an invalid report");
	return found != 0;
}

int32_t wh_job_client_step(struct wh_job *job, uint64_t now_tsc)
{
	switch (job->view.state) {
	case WH_JOB_OPENING:
		return open_job(job, now_tsc);
	case WH_JOB_TOLD:
		return await_ready(job, now_tsc);
	default:
		return take_reports(job, now_tsc) + wh_job_run(job, now_tsc);
	}
}
