/* SPDX-License-Identifier: BSD-3-Clause */

/* What a server says of its peers, within bounds: whoever can make it speak can fill a disk. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "job/jobs.h"

void wh_job_say(const struct wh_job *job, uint64_t now_tsc, const char *format, ...)
{
	struct wh_jobs *jobs = job->jobs;
	char peer[WH_ADDRESS_TEXT_BYTES];
	char line[512];
	va_list args;

	if (!wh_peers_may_log(&jobs->peers, &job->peer, wh_tsc_to_ns(jobs->ground->hz, now_tsc)))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	wh_say("%s: %s", wh_address_text(&job->peer, peer), line);
}

void wh_jobs_tell_untold(struct wh_jobs *jobs, uint64_t now_tsc)
{
	char text[WH_ADDRESS_TEXT_BYTES];
	struct wh_address address;
	uint64_t lines;

	if (!wh_peers_next_untold(
		    &jobs->peers, wh_tsc_to_ns(jobs->ground->hz, now_tsc), &address, &lines))
		return;
	wh_say("%s: %" PRIu64 " more lines are suppressed",
		address.family != 0 ? wh_address_text(&address, text) : "other peers", lines);
}
