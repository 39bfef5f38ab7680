/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/again.h"

#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"
#include "report/outcome.h"

void wh_again_init(
	struct wh_again *again, uint64_t hz, uint64_t wait_ns, uint32_t retries, uint64_t now_tsc)
{
	*again = (struct wh_again){
		.hz = hz,
		.began_tsc = now_tsc,
		.until_tsc = wait_ns > 0 ? now_tsc + wh_ns_to_tsc(hz, wait_ns) : 0,
		.retries = retries,
		.pause_ns = WH_AGAIN_FIRST_NS,
	};
}

static const char *time_of(uint64_t ns, char text[WH_UNITS_MAX])
{
	return wh_format_time(text, WH_UNITS_MAX, ns);
}

bool wh_again_waits(struct wh_again *again, const char *server, uint64_t now_tsc)
{
	char text[WH_UNITS_MAX];

	if (now_tsc >= again->until_tsc)
		return false;
	if (!again->told)
		wh_say("waiting for the server at %s, which does not answer yet, for at most %s",
			server, time_of(wh_tsc_to_ns(again->hz, again->until_tsc - now_tsc), text));
	again->told = true;
	return true;
}

void wh_again_tell(struct wh_again *again, const char *server, uint64_t now_tsc)
{
	if (!again->told && now_tsc - again->began_tsc > again->hz)
		(void)wh_again_waits(again, server, now_tsc);
}

/* Whether every failure may be temporary. */
static bool may_pass(const struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < lanes->started; lane++) {
		const struct wh_job *job = lanes->job[lane];

		if (!wh_job_is_over(job))
			return false;
		switch (job->result.failed) {
		case WH_STATUS_PENDING:
		case WH_STATUS_PEER_GONE:
		case WH_STATUS_REPLACED:
		case WH_STATUS_STALLED:
		case WH_STATUS_INTERRUPTED:
		case WH_STATUS_BUSY:
			break;
		default:
			return false;
		}
	}
	return wh_lanes_failed(lanes);
}

bool wh_again_pauses(
	struct wh_again *again, const struct wh_lanes *lanes, const char *server, uint64_t now_tsc)
{
	bool was_up = lanes->started > 0 && lanes->job[0]->ready.began_tsc != 0;
	char text[WH_UNITS_MAX];

	/* Bytes of a pipe do not come twice. */
	if (!may_pass(lanes) || (was_up && lanes->job[0]->request.here.is_pipe))
		return false;
	if (!was_up && wh_again_waits(again, server, now_tsc)) {
		again->due_tsc = now_tsc + wh_ns_to_tsc(again->hz, WH_AGAIN_WAIT_NS);
		return true;
	}
	if (again->retries == 0)
		return false;
	(void)wh_jobs_conclude(lanes->job, lanes->started, server);
	wh_say("retrying in %s; %u more attempts if that fails", time_of(again->pause_ns, text),
		again->retries - 1);
	again->retries--;
	again->tries++;
	again->due_tsc = now_tsc + wh_ns_to_tsc(again->hz, again->pause_ns);
	again->pause_ns = wh_min_u64(2 * again->pause_ns, WH_AGAIN_LAST_NS);
	return true;
}

bool wh_again_is_due(struct wh_again *again, uint64_t now_tsc)
{
	if (again->due_tsc == 0 || now_tsc < again->due_tsc)
		return false;
	again->due_tsc = 0;
	return true;
}
