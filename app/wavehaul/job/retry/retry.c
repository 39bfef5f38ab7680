/* SPDX-License-Identifier: BSD-3-Clause */
#include "job/retry/retry.h"

#include "base/clock.h"

/* More doublings change nothing: the longest back-off is shorter. */
#define DOUBLINGS_MAX 16

/* Exponential back-off: `first` for number 1, doubled for each further number, at most `last`. */
static uint64_t doubled(uint64_t first, uint32_t number, uint64_t last)
{
	uint64_t doublings = number > 0 ? wh_min_u64(number - 1, DOUBLINGS_MAX) : 0;

	return wh_min_u64(first << doublings, last);
}

uint64_t wh_retry_patience_ns(uint32_t number)
{
	return doubled(WH_RETRY_PATIENCE_NS, number, WH_RETRY_PATIENCE_MAX_NS);
}

uint64_t wh_retry_order_pause_s(uint32_t tries, uint64_t last_s)
{
	return doubled(WH_RETRY_ORDER_FIRST_S, tries, last_s);
}

void wh_retry_init(struct wh_retry *retry, uint64_t hz, uint64_t wait_ns, uint32_t others,
	uint32_t retries, uint64_t now_tsc)
{
	*retry = (struct wh_retry){
		.hz = hz,
		.until_tsc = wh_add_u64(now_tsc, wh_ns_to_tsc(hz, wait_ns)),
		.others = others,
		.others_left = others,
		.left = retries,
	};
}

static enum wh_retry_step look(struct wh_retry *retry, uint64_t now_tsc)
{
	retry->due_tsc = now_tsc + wh_ns_to_tsc(retry->hz, WH_RETRY_LOOK_NS);
	return WH_RETRY_LOOKS;
}

static enum wh_retry_step use_up(struct wh_retry *retry, uint64_t now_tsc, uint64_t pause_ns)
{
	if (retry->left == 0)
		return WH_RETRY_NOT;
	retry->left--;
	retry->used++;
	retry->others_left = retry->others;
	retry->due_tsc = now_tsc + wh_ns_to_tsc(retry->hz, pause_ns);
	retry->until_tsc = wh_add_u64(
		retry->due_tsc, wh_ns_to_tsc(retry->hz, wh_retry_patience_ns(retry->used)));
	return WH_RETRY_COUNTED;
}

enum wh_retry_step wh_retry_unreached(struct wh_retry *retry, uint64_t now_tsc)
{
	bool has_other = retry->others_left > 0;

	retry->others_left -= has_other;
	return has_other || now_tsc < retry->until_tsc ? look(retry, now_tsc)
						       : use_up(retry, now_tsc, WH_RETRY_LOOK_NS);
}

/* Whether such a failure may be temporary. */
static bool may_pass(enum wh_release_status failed)
{
	switch (failed) {
	case WH_STATUS_PENDING:
	case WH_STATUS_PEER_GONE:
	case WH_STATUS_REPLACED:
	case WH_STATUS_UNHEARD:
	case WH_STATUS_STALLED:
	case WH_STATUS_INTERRUPTED:
	case WH_STATUS_BUSY:
		return true;
	default:
		return false;
	}
}

/*
 * Whether the server has gone. Any lane may tell: the one that failed first has ended the others.
 */
static bool is_gone(const struct wh_lanes *lanes)
{
	for (uint32_t lane = 0; lane < lanes->started; lane++) {
		enum wh_release_status failed = lanes->job[lane]->result.failed;

		if (failed == WH_STATUS_PEER_GONE || failed == WH_STATUS_UNHEARD ||
			failed == WH_STATUS_REPLACED)
			return true;
	}
	return false;
}

bool wh_retry_may_hurry(const struct wh_lanes *lanes)
{
	return lanes->job[0]->ready.began_tsc == 0 || is_gone(lanes);
}

static uint64_t pause_of(uint32_t number)
{
	return doubled(WH_RETRY_PAUSE_NS, number, WH_RETRY_PAUSE_MAX_NS);
}

/* For lanes of which at least one failed. */
static enum wh_retry_step failed_step(
	struct wh_retry *retry, const struct wh_lanes *lanes, uint64_t now_tsc)
{
	uint64_t began_tsc = lanes->job[0]->ready.began_tsc;
	bool over = true;

	/* Bytes of a pipe do not come twice. */
	if (began_tsc != 0 && lanes->job[0]->request.here.is_pipe)
		return WH_RETRY_NOT;
	for (uint32_t lane = 0; lane < lanes->started; lane++) {
		const struct wh_job *job = lanes->job[lane];

		if (wh_job_has_failed(job) && !may_pass(job->result.failed))
			return WH_RETRY_NOT;
		over = over && wh_job_is_over(job);
	}
	if (!wh_lanes_failed(lanes) ||
		(retry->left == 0 && retry->others_left == 0 && now_tsc >= retry->until_tsc))
		return WH_RETRY_NOT;
	if (!over)
		return WH_RETRY_ENDING;

	uint64_t pause_ns = pause_of(retry->pauses + 1);

	if (began_tsc == 0)
		return wh_retry_unreached(retry, now_tsc);
	if (now_tsc - began_tsc > wh_ns_to_tsc(retry->hz, pause_ns))
		retry->pauses = 0;
	pause_ns = pause_of(++retry->pauses);
	return use_up(retry, now_tsc, is_gone(lanes) ? WH_RETRY_LOOK_NS : pause_ns);
}

bool wh_retry_is_due(struct wh_retry *retry, uint64_t now_tsc)
{
	if (retry->due_tsc == 0 || now_tsc < retry->due_tsc)
		return false;
	retry->due_tsc = 0;
	return true;
}

enum wh_retry_step wh_retry_next(
	struct wh_retry *retry, const struct wh_lanes *lanes, uint64_t now_tsc)
{
	if (retry->due_tsc == 0)
		return failed_step(retry, lanes, now_tsc);
	return wh_retry_is_due(retry, now_tsc) ? WH_RETRY_DUE : WH_RETRY_WAITS;
}
