/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/delegated.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hex.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "queue/queue_place.h"
#include "queue/run.h"
#include "report/outcome.h"
#include "transfer/order_words.h"
#include "transfer/wanted.h"

#define ASK_EVERY_S 1

/* Time to tell the other host of a cancel or pause. */
#define PATIENCE_S 10

bool wh_token_draw(char text[WH_TOKEN_TEXT_BYTES])
{
	uint8_t token[WH_TOKEN_BYTES];

	if (getrandom(token, sizeof(token), 0) != (ssize_t)sizeof(token))
		return false;
	wh_hex_write(token, sizeof(token), text);
	return true;
}

/* On a worker's core, like the following functions up to "On the control's thread". */
static bool next_order(void *context, struct wh_ordering *order)
{
	struct wh_run *run = context;
	struct wh_delegated *delegated = &run->delegated;

	if (atomic_load(&delegated->enough))
		return false;
	atomic_store(&delegated->said, true);
	if (atomic_exchange(&delegated->rate_is_new, false)) {
		pthread_mutex_lock(&run->lock);
		strcpy(delegated->rate, run->order.rate);
		pthread_mutex_unlock(&run->lock);
	}
	*order = (struct wh_ordering){
		.number = delegated->last.number,
		.host_bytes = (uint16_t)strlen(delegated->host),
		.path_bytes = (uint16_t)strlen(delegated->path),
		.rate_bytes = (uint16_t)strlen(delegated->rate),
		.words_bytes = (uint16_t)strlen(run->order.words),
		.wish = (uint8_t)atomic_load(&delegated->wish),
		.priority = (uint8_t)run->order.priority,
		.host = delegated->host,
		.path = delegated->path,
		.rate = delegated->rate,
		.words = run->order.words,
	};
	memcpy(order->token, delegated->token, sizeof(order->token));
	return true;
}

/* Whether nothing more needs to be asked; under the lock. */
static bool is_enough(const struct wh_delegated *delegated)
{
	const struct wh_order_status *last = &delegated->last;

	if (wh_order_status_is_over(last))
		return true;
	/* The other host has it, but gives a reason not to wait for it now. */
	if (last->status != 0)
		return true;
	return last->state == WH_ORDER_STATUS_PAUSED &&
	       atomic_load(&delegated->wish) == WH_WISH_PAUSE;
}

static void on_order_status(void *context, const struct wh_order_status *order_status)
{
	struct wh_run *run = context;
	struct wh_delegated *delegated = &run->delegated;

	pthread_mutex_lock(&run->lock);
	delegated->last = *order_status;
	snprintf(delegated->why, sizeof(delegated->why), "%.*s", (int)order_status->why_bytes,
		order_status->why);
	delegated->last.why = delegated->why;
	delegated->heard = true;
	atomic_store(&delegated->enough, is_enough(delegated));
	pthread_mutex_unlock(&run->lock);
}

static bool may_take(void *context)
{
	(void)context;
	return true;
}

static void on_fault(
	void *context, int error, enum wh_doing doing, const char *path, uint32_t path_bytes)
{
	struct wh_run *run = context;

	(void)error;
	(void)doing;
	(void)path;
	(void)path_bytes;
	atomic_store(&run->delegated.enough, true);
}

/* On the control's thread. */
struct wh_order_status wh_delegated_status(struct wh_run *run)
{
	struct wh_order_status last;

	pthread_mutex_lock(&run->lock);
	last = run->delegated.last;
	pthread_mutex_unlock(&run->lock);
	return last;
}

static struct wh_request request_of(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	struct wh_request request = wh_wanted_request(&run->transfer.wanted.settings, WH_JOB_ORDER);

	request.memory_bytes = ctx->memory_bytes;
	request.there.path = run->paths;
	request.there.count =
		wh_texts_of(run->here, run->paths, (uint32_t)json_array_size(run->here));
	wh_place_aim(&run->place, &request);
	return request;
}

static bool read_target(struct wh_run *run)
{
	const char *target = json_string_value(json_array_get(run->there, 0));

	run->delegated.path = target != NULL ? wh_remote_path(target, run->delegated.host) : NULL;
	return run->delegated.path != NULL && strlen(run->delegated.host) <= WH_ORDER_HOST_MAX &&
	       strlen(run->order.words) <= WH_ORDER_WORDS_MAX && run->order.rate[0] != '\0';
}

int wh_delegated_begin(struct wh_run *run, const struct wh_run_host_ctx *ctx, uint64_t now_tsc)
{
	struct wh_transfer *transfer = &run->transfer;
	struct wh_delegated *delegated = &run->delegated;

	delegated->on = true;
	delegated->last.number = delegated->told_number = run->order.delegated;
	atomic_store(&delegated->said, run->order.said);
	atomic_store(&delegated->wish, (int)run->order.wish);
	strcpy(delegated->rate, run->order.rate);
	if (!wh_hex_read(run->order.token, delegated->token, WH_TOKEN_BYTES) || !read_target(run))
		return wh_fail(WH_EXIT_OTHER, "the order is damaged");

	transfer->running.request = request_of(run, ctx);
	if (!wh_hello_fits(&transfer->running.request))
		return wh_fail(WH_EXIT_USAGE, "too many paths for one request");
	delegated->listener = (struct wh_rpc_listener){
		.may_take = may_take,
		.on_fault = on_fault,
		.next_order = next_order,
		.on_order_status = on_order_status,
		.context = run,
		.interval_tsc = ASK_EVERY_S * transfer->told.progress.hz,
	};
	transfer->running.rpc = &delegated->listener;
	if (!wh_transfer_make_lanes(transfer))
		return WH_EXIT_OTHER;
	if (run->order.wish != WH_WISH_RUN) {
		run->wanted =
			run->order.wish == WH_WISH_PAUSE ? WH_ORDER_PAUSED : WH_ORDER_CANCELLED;
		delegated->give_up_tsc = now_tsc + PATIENCE_S * transfer->told.progress.hz;
	}
	wh_lanes_start_first(&transfer->running.lanes, now_tsc);
	return -1;
}

void wh_delegated_look(struct wh_run *run, uint64_t now_tsc)
{
	struct wh_lanes *lanes = &run->transfer.running.lanes;
	const struct wh_delegated *delegated = &run->delegated;

	if (wh_lanes_failed(lanes) ||
		(delegated->give_up_tsc != 0 && now_tsc > delegated->give_up_tsc))
		wh_lanes_hurry(lanes, now_tsc);
}

/* If READY is wanted, the order continues at the other host, and we no longer follow it. */
void wh_delegated_stop(struct wh_run *run, uint64_t now_tsc)
{
	struct wh_delegated *delegated = &run->delegated;

	if (run->wanted == WH_ORDER_READY) {
		wh_lanes_hurry(&run->transfer.running.lanes, now_tsc);
		return;
	}
	atomic_store(
		&delegated->wish, run->wanted == WH_ORDER_PAUSED ? WH_WISH_PAUSE : WH_WISH_CANCEL);
	delegated->give_up_tsc = now_tsc + PATIENCE_S * run->transfer.told.progress.hz;
}

void wh_delegated_set_rate(struct wh_run *run, const char *rate)
{
	pthread_mutex_lock(&run->lock);
	snprintf(run->order.rate, sizeof(run->order.rate), "%s", rate);
	pthread_mutex_unlock(&run->lock);
	atomic_store(&run->delegated.rate_is_new, true);
}

uint64_t wh_delegated_found_number(struct wh_run *run)
{
	uint64_t number = wh_delegated_status(run).number;

	if (!run->delegated.on || number == 0 || number == run->delegated.told_number)
		return 0;
	run->delegated.told_number = number;
	return number;
}

static void say(struct wh_order_result *result, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct wh_order_result *result, int status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(result->why, sizeof(result->why), format, args);
	va_end(args);
	result->status = status;
}

static void take_figures(const struct wh_order_status *last, struct wh_order_result *result)
{
	result->files = wh_min_u64(last->files, INT64_MAX);
	result->skipped = wh_min_u64(last->skipped, INT64_MAX);
	result->failed = wh_min_u64(last->failed, INT64_MAX);
	result->bytes = wh_min_u64(last->bytes, INT64_MAX);
	result->moved_bytes = wh_min_u64(last->moved_bytes, INT64_MAX);
	result->run_ns = wh_min_u64(last->run_ns, INT64_MAX);
}

/* The order has ended at the other host. */
static void take_end(
	struct wh_run *run, const struct wh_order_status *last, struct wh_order_result *result)
{
	bool wanted = run->wanted == WH_ORDER_CANCELLED || run->wanted == WH_ORDER_PAUSED;
	int status = last->status != 0 ? last->status : WH_EXIT_OTHER;

	take_figures(last, result);
	if (last->state == WH_ORDER_STATUS_DONE)
		run->wanted = WH_ORDER_DONE;
	else if (wanted)
		say(result, WH_EXIT_INTERRUPTED, "stopped");
	else if (last->state == WH_ORDER_STATUS_CANCELLED)
		say(result, WH_EXIT_INTERRUPTED, "%s: its job %" PRIu64 " was cancelled there",
			run->order.host, last->number);
	else if (last->number == 0)
		say(result, status, "%s: %s", run->order.host, last->why);
	else
		say(result, status, "%s, its job %" PRIu64 ": %s", run->order.host, last->number,
			last->why);
	if (run->wanted == WH_ORDER_READY)
		run->wanted = WH_ORDER_FAILED;
}

/* The order's state at the other host is unknown. */
static void take_silence(
	struct wh_run *run, const struct wh_order_status *last, struct wh_order_result *result)
{
	const struct wh_lanes *lanes = &run->transfer.running.lanes;
	bool says = run->delegated.heard && last->status != 0;
	int status =
		says ? last->status : wh_jobs_conclude(lanes->job, lanes->started, run->order.host);
	char goes_on[96] = "";

	if (last->number != 0)
		snprintf(goes_on, sizeof(goes_on),
			"; its job %" PRIu64 " may continue there, and a retry follows it",
			last->number);
	if (!says)
		wh_run_await_room(run, result);
	result->soon = !says && wh_retry_may_hurry(lanes);
	say(result, status != WH_EXIT_OK ? status : WH_EXIT_OTHER, "%s%s%s%s",
		says ? run->order.host : "", says ? ": " : "",
		says ? last->why : wh_last_complaint(), goes_on);
}

/*
 * The other host has not heard of the pause or cancel. The request is repeated as long as that host
 * may have the order.
 */
static void take_unheard(struct wh_run *run, struct wh_order_result *result)
{
	bool cancelled = run->wanted == WH_ORDER_CANCELLED;

	run->wanted = WH_ORDER_WAITING;
	say(result, WH_EXIT_NETWORK,
		"%s does not know yet that the job is %s, and will be told when it can be "
		"reached%s",
		run->order.host, cancelled ? "cancelled" : "paused",
		cancelled ? "; cancel it again to give it up here; it may then continue there"
			  : "");
}

void wh_delegated_conclude(struct wh_run *run, struct wh_order_result *result)
{
	const struct wh_order_status last = wh_delegated_status(run);
	bool wished = run->wanted == WH_ORDER_PAUSED || run->wanted == WH_ORDER_CANCELLED;
	bool said = atomic_load(&run->delegated.said);

	*result = (struct wh_order_result){0};
	run->delegated.over = run->delegated.heard && wh_order_status_is_over(&last);
	if (run->delegated.over)
		take_end(run, &last, result);
	else if (run->wanted == WH_ORDER_READY || (wished && !said) ||
		 (run->wanted == WH_ORDER_PAUSED && last.state == WH_ORDER_STATUS_PAUSED &&
			 run->delegated.heard))
		say(result, WH_EXIT_INTERRUPTED, "stopped");
	else if (wished)
		take_unheard(run, result);
	else
		take_silence(run, &last, result);
}
