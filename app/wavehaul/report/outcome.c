/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/outcome.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/fault_text.h"
#include "cli/signals.h"
#include "wire/packet.h"

/*
 * Share of the time waiting for buffers, from which on the operator is told that more of them would
 * help.
 */
#define MEMORY_TELL_PERCENT 5

static int conclude_versions(const struct wh_job *job, const char *host)
{
	char formats[32];

	snprintf(formats, sizeof(formats),
		job->result.peer_least == job->result.peer_most ? "format %u" : "formats %u to %u",
		job->result.peer_least, job->result.peer_most);
	return wh_fail(WH_EXIT_HARDWARE,
		"%s uses packet %s, this end format %u: install the same wavehaul version at both "
		"ends (`wavehaul --version` shows it)",
		host, formats, WH_WIRE_VERSION);
}

static int conclude_refused(const struct wh_job *job, const char *host)
{
	if (job->result.refused_error != 0) {
		wh_complain("%s refuses: %s", host, job->result.why);
		if (job->result.refused_error == EPROTONOSUPPORT)
			return WH_EXIT_HARDWARE;
		return job->result.refused_error == ENOENT || job->result.refused_error == ENOLINK
			       ? WH_EXIT_NO_FILE
			       : WH_EXIT_OTHER;
	}
	if (job->result.peer_least != 0)
		return conclude_versions(job, host);
	if (job->result.why[0] != '\0')
		wh_complain("no transfer with %s: %s", host, job->result.why);
	else if (job->ready.began_tsc != 0)
		wh_complain(
			"%s ended the transfer: this end has used its byte quota there for today",
			host);
	else
		wh_complain("%s refuses the connection: its --allow may exclude this address, or "
			    "it does not accept MTU %u (--mtu)",
			host, job->jobs->ctx->settings->mtu_bytes);
	return WH_EXIT_NETWORK;
}

static int conclude_peer_gone(const struct wh_job *job, const char *host)
{
	uint64_t timeout_s = job->request.peer_timeout_ns / WH_NS_PER_S;

	if (job->ready.began_tsc == 0)
		wh_complain("%s did not answer on UDP port %u within %llu s; is `wavehaul serve` "
			    "running there, does its --allow include this host, and does `ping` "
			    "reach it?",
			host, job->place.peer.port, (unsigned long long)timeout_s);
	else
		wh_complain("nothing received from %s for %llu s: the path or its server is down; "
			    "--peer-timeout sets a longer wait",
			host, (unsigned long long)timeout_s);
	return WH_EXIT_NETWORK;
}

static int conclude_stalled(const struct wh_job *job)
{
	bool began = job->ready.began_tsc != 0;
	bool sent = began && wh_job_sends(job);
	const char *why = job->result.stalled ? job->result.why
			  : !began            ? "the transfer did not begin, although the other "
						"end had accepted it; is its process stopped?"
			  : sent              ? wh_stall_text(job->result.figures.limited_by)
					      : "";

	return wh_fail(WH_EXIT_STALLED,
		"stalled: no progress for %llu s%s%s; --stall-timeout sets a longer wait",
		(unsigned long long)(job->request.stall_timeout_ns / WH_NS_PER_S),
		why[0] != '\0' ? ": " : "", why);
}

/* What a later job can continue with: parts of large files, at the end that receives them. */
static bool keeps_parts(const struct wh_job *job)
{
	const struct wh_request *request = &job->request;

	return request->resume != WH_RESUME_OFF && !request->here.is_pipe &&
	       (wh_job_sends(job) || job->jobs->journal != NULL);
}

static int conclude_interrupted(const struct wh_job *job, const char *host)
{
	bool moves_files = wh_job_moves_files(job->request.verb);

	if (wh_signals_count() == 0)
		return wh_fail(WH_EXIT_NETWORK,
			"%s ended the transfer: its server was stopped, or its operator ended the "
			"job",
			host);
	if (!moves_files)
		wh_complain("interrupted");
	else if (keeps_parts(job))
		wh_complain("interrupted; the same command continues with what has arrived of "
			    "large files");
	else
		wh_complain("interrupted; nothing of incomplete files was kept");
	return WH_EXIT_INTERRUPTED;
}

static int conclude(const struct wh_job *job, const char *host)
{
	const char *why = job->result.why[0] != '\0' ? job->result.why
						     : wh_release_status_name(job->result.failed);

	switch (job->result.failed) {
	case WH_STATUS_PENDING:
		return WH_EXIT_OK;
	case WH_STATUS_INTERRUPTED:
		return conclude_interrupted(job, host);
	case WH_STATUS_REFUSED:
		return conclude_refused(job, host);
	case WH_STATUS_BUSY:
		return wh_fail(WH_EXIT_NETWORK,
			"%s has no room for another session, or this end is out of memory: %s",
			host, why);
	case WH_STATUS_UNSEALED:
		return wh_fail(WH_EXIT_NETWORK,
			"%s accepts only sealed sessions: leave out --unsealed", host);
	case WH_STATUS_STALLED:
		return conclude_stalled(job);
	case WH_STATUS_PEER_GONE:
		return conclude_peer_gone(job, host);
	case WH_STATUS_UNHEARD:
		return wh_fail(WH_EXIT_NETWORK,
			"%s ended the transfer, since nothing from here arrived there for longer "
			"than a peer timeout: the path was down, or this program was stopped",
			host);
	case WH_STATUS_REPLACED:
		return wh_fail(WH_EXIT_NETWORK,
			"the server at %s no longer has this transfer: it was restarted, or the "
			"path was down for too long; --retries retries automatically",
			host);
	case WH_STATUS_UNREPAIRED:
		return wh_fail(WH_EXIT_NETWORK,
			"the repair packets could not restore all losses, and --strict-paper "
			"forbids retransmission; leave it out, or send more repair packets: --fec "
			"K,R with a larger R, or auto with a higher --fec-ceiling");
	case WH_STATUS_REVOKED:
		return wh_fail(WH_EXIT_NETWORK,
			"%s revoked or changed our rights while the transfer ran; ask its operator "
			"(`wavehaul trust list` there)",
			host);
	case WH_STATUS_MISMATCH:
		return wh_fail(WH_EXIT_VERIFY,
			"the data received differs from the data sent (%s); none of it was kept",
			why);
	case WH_STATUS_NO_SPACE:
		return wh_fail(WH_EXIT_OTHER,
			"the disk is full (%s); make room, and the same command transfers the rest",
			why);
	default:
		return wh_fail(WH_EXIT_OTHER, "the transfer failed: %s", why);
	}
}

void wh_jobs_tell_memory(struct wh_job *const *jobs, uint32_t count)
{
	uint64_t memory_tsc = 0;
	uint64_t all_tsc = 0;

	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *limit_tsc = jobs[i]->result.figures.stats.limit_tsc;

		memory_tsc += limit_tsc[WH_LIMIT_MEMORY];
		for (uint32_t limit = 0; limit < WH_LIMITS; limit++)
			all_tsc += limit_tsc[limit];
	}
	if (memory_tsc > all_tsc / 100 * MEMORY_TELL_PERCENT)
		wh_say("buffers limited the rate for %u %% of the time: they were full of data "
		       "waiting for lost packets or acknowledgements; set a larger --buffers at "
		       "both ends",
			(unsigned)wh_muldiv_u64(memory_tsc, 100, all_tsc));
}

int wh_jobs_conclude(struct wh_job *const *jobs, uint32_t count, const char *host)
{
	const struct wh_job *speaker = NULL;

	for (uint32_t i = 0; i < count; i++)
		if (jobs[i]->result.failed != WH_STATUS_PENDING &&
			(speaker == NULL || speaker->result.failed == WH_STATUS_INTERRUPTED))
			speaker = jobs[i];
	return speaker != NULL ? conclude(speaker, host) : WH_EXIT_OK;
}
