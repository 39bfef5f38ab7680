/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/accepted.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "base/hex.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "job/mailbox/mailbox.h"
#include "job/rights/rights.h"
#include "queue/giver.h"
#include "queue/queue_place.h"
#include "queue/runner.h"
#include "transfer/order_words.h"
#include "trust/trust_store.h"

/* Questions answered in a turn, so that other work gets its turn. */
#define ANSWERED_IN_TURN 16

static_assert(WH_ORDER_PEER_BYTES >= WH_PEER_NAME_BYTES, "a row has room for a name");
static_assert(WH_ORDER_WHY_BYTES > WH_ORDER_STATUS_WHY_MAX, "and a peer for what a row says");

static void refuse(struct wh_order_status *order_status, int status, const char *why)
{
	*order_status = (struct wh_order_status){
		.state = WH_ORDER_STATUS_REFUSED, .status = (uint8_t)status, .why = why};
}

/* The order exists, or may: tells the peer not to wait for it now. */
static void put_off(struct wh_order_status *order_status, uint64_t number, const char *why)
{
	*order_status = (struct wh_order_status){.state = WH_ORDER_STATUS_WAITS,
		.number = number,
		.status = WH_EXIT_NETWORK,
		.why = why};
}

static json_t *list_of(char *const *texts, uint32_t count)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < count; i++)
		json_array_append_new(list, json_string(texts[i]));
	/* Invalid UTF-8 was not added. */
	if (json_array_size(list) == count)
		return list;
	json_decref(list);
	return NULL;
}

/* Why the order could not succeed; NULL: nothing is wrong. */
static const char *judge(const struct wh_runner *runner, const struct wh_order *order,
	const struct wh_mailbox_question *asked, const struct wh_rights *rights, const json_t *here,
	const json_t *words)
{
	const struct wh_settings *own = runner->ctx.settings;
	const char *wrong = wh_order_words_wrong(words);
	struct wh_timetable table;
	struct wh_place place;
	uint32_t folder;

	if (wrong == NULL)
		wrong = wh_rights_wrong(rights, WH_JOB_ORDER, wh_giver_removals(words),
			(const char *const *)asked->path, asked->paths, &folder);
	if (wrong != NULL)
		return wrong;
	if (here == NULL || !wh_paths_are_below(here))
		return "its paths are to be UTF-8, and below the folder that is served here";
	if (wh_timetable_parse(order->rate, &table) != NULL)
		return "its rate is none";
	/* An address may belong to any peer that we trust. */
	if (order->peer[0] != '\0' && (wh_address_parse(order->host, &place.address[0]) ||
					      !wh_peer_name_is_good(order->host)))
		return "it goes to a host that is none of our peers: it is to be named as it is "
		       "here";
	if (wh_place_find(own, order->host, &place) != -1)
		return wh_last_complaint();
	return wh_run_judge(&runner->ctx, order) == -1 ? NULL : wh_last_complaint();
}

/* The caller frees its lists. False: out of memory. */
static bool fill_in(struct wh_order *order, const struct wh_mailbox_question *asked,
	const json_t *here, const json_t *words)
{
	json_t *there = json_pack("[s]", asked->order.path);

	order->here = here != NULL ? json_dumps(here, JSON_COMPACT) : strdup("[]");
	order->words = json_dumps(words, JSON_COMPACT);
	order->there = there != NULL ? json_dumps(there, JSON_COMPACT) : NULL;
	json_decref(there);
	snprintf(order->host, sizeof(order->host), "%s", asked->order.host);
	snprintf(order->rate, sizeof(order->rate), "%s", asked->order.rate);
	order->sends = true;
	order->owner = getuid();
	/* A peer may lower its order's priority below that of local orders, but not raise it. */
	order->priority = (uint32_t)wh_min_u64(asked->order.priority, WH_PRIORITY_STANDARD);
	order->wish = asked->order.wish;
	return order->here != NULL && order->there != NULL && order->words != NULL;
}

static void add(struct wh_runner *runner, const struct wh_order *order,
	struct wh_order_status *order_status)
{
	uint64_t live, id;
	int rc = wh_queue_count_accepted(runner->queue, order->peer, WH_ACCEPTED_KEPT, &live);

	if (rc == 0 && live >= WH_ACCEPTED_LIVE_MAX) {
		refuse(order_status, WH_EXIT_OTHER,
			"you have as many orders here as you may at once");
		return;
	}
	if (rc == 0)
		rc = wh_queue_add(runner->queue, order, time(NULL), &id);
	if (rc < 0) {
		put_off(order_status, 0, "the queue's database takes nothing");
		return;
	}
	wh_say("job %llu was ordered by %s: to %s", (unsigned long long)id, wh_giver_name(order),
		order->host);
	*order_status =
		(struct wh_order_status){.state = WH_ORDER_STATUS_WAITS, .number = id, .why = ""};
	runner->look_now = true;
}

/* Begins an order whose token is in no row: it is new, or was forgotten. */
static void begin(struct wh_runner *runner, struct wh_order *order,
	const struct wh_mailbox_question *asked, const struct wh_rights *rights,
	struct wh_order_status *order_status)
{
	json_t *words = json_loads(asked->order.words, 0, NULL);
	json_t *here = list_of(asked->path, asked->paths);
	const char *wrong;

	if (asked->order.number != 0)
		refuse(order_status, WH_EXIT_OTHER, "it is not known here any more");
	else if (asked->order.wish == WH_WISH_CANCEL)
		*order_status =
			(struct wh_order_status){.state = WH_ORDER_STATUS_CANCELLED, .why = ""};
	else if (asked->order.wish == WH_WISH_PAUSE)
		*order_status =
			(struct wh_order_status){.state = WH_ORDER_STATUS_PAUSED, .why = ""};
	else if (atomic_load(&runner->ctx.jobs->draining))
		put_off(order_status, 0, "the server is stopping");
	else if (runner->replaced)
		put_off(order_status, 0,
			"the queue takes no more jobs until its server is restarted");
	else if (!fill_in(order, asked, here, words))
		refuse(order_status, WH_EXIT_OTHER, "the order makes no sense");
	else if ((wrong = judge(runner, order, asked, rights, here, words)) != NULL)
		refuse(order_status, WH_EXIT_USAGE, wrong);
	else
		add(runner, order, order_status);
	json_decref(here);
	json_decref(words);
}

/*
 * Applies a peer's wish only if it differs from that peer's previous one: a repeated wish must not
 * overrule this host's operator.
 */
static void heed(struct wh_runner *runner, const struct wh_order *order, uint32_t wish)
{
	struct wh_run *run = wh_runner_find(runner, order->id);
	uint64_t id = order->id;

	if (wish == order->wish || wh_queue_set_wish(runner->queue, id, wish) < 0)
		return;
	if (wish == WH_WISH_RUN) {
		if (run == NULL)
			(void)wh_queue_resume(runner->queue, id, time(NULL));
	} else if (run != NULL) {
		run->order.wish = wish;
		wh_run_stop(run, wish == WH_WISH_PAUSE ? WH_ORDER_PAUSED : WH_ORDER_CANCELLED,
			rte_rdtsc());
	} else if (wish == WH_WISH_PAUSE) {
		(void)wh_queue_pause(runner->queue, id);
	} else {
		(void)wh_queue_cancel(runner->queue, id, time(NULL));
	}
	runner->look_now = true;
}

static enum wh_order_status_kind state_of(enum wh_order_state state)
{
	switch (state) {
	case WH_ORDER_PAUSED:
		return WH_ORDER_STATUS_PAUSED;
	case WH_ORDER_RUNNING:
		return WH_ORDER_STATUS_RUNS;
	case WH_ORDER_DONE:
		return WH_ORDER_STATUS_DONE;
	case WH_ORDER_FAILED:
		return WH_ORDER_STATUS_FAILED;
	case WH_ORDER_CANCELLED:
		return WH_ORDER_STATUS_CANCELLED;
	default:
		return WH_ORDER_STATUS_WAITS;
	}
}

static void tell(const struct wh_runner *runner, const struct wh_order *order,
	const struct wh_run *run, struct wh_order_status *order_status)
{
	const struct wh_order_result *result = &order->result;
	bool waits = !wh_order_is_over(order->state) && order->state != WH_ORDER_RUNNING;

	if (waits && atomic_load(&runner->ctx.jobs->draining)) {
		put_off(order_status, order->id, "the server is stopping");
		return;
	}
	*order_status = (struct wh_order_status){
		.number = order->id,
		.state = (uint8_t)state_of(order->state),
		.files = result->files,
		.skipped = result->skipped,
		.failed = result->failed,
		.bytes = result->bytes,
		.moved_bytes = result->moved_bytes,
		.run_ns = result->run_ns,
		.status = (uint8_t)(wh_order_is_over(order->state) ? result->status : 0),
		.why = wh_order_is_over(order->state) ? result->why : "",
	};
	if (run != NULL)
		order_status->moved_bytes += wh_lanes_moved_bytes(&run->transfer.running.lanes);
}

/*
 * Applies a peer's rate, also only if it differs from the previous one. Returns what is wrong with
 * it; NULL: nothing.
 */
static const char *heed_rate(
	struct wh_runner *runner, const struct wh_order *order, const char *rate)
{
	struct wh_run *run = wh_runner_find(runner, order->id);
	struct wh_timetable table;

	if (strcmp(rate, order->asked_rate) == 0)
		return NULL;
	if (wh_timetable_parse(rate, &table) != NULL)
		return "the rate that it is to have now is none, and it keeps its own";
	if (wh_queue_rate_asked(runner->queue, order->id, rate) == 0 && run != NULL)
		(void)wh_run_change(run, rate, time(NULL));
	return NULL;
}

/* `order` owns the texts of the answer. */
static void answer(struct wh_runner *runner, const struct wh_mailbox_question *asked,
	struct wh_order *order, struct wh_order_status *order_status)
{
	struct wh_store *store = wh_giver_store(&runner->ctx);
	char token[WH_TOKEN_TEXT_BYTES];
	uint8_t owner[WH_IDENTITY_BYTES];
	struct wh_rights rights;
	int rc;

	if (runner->queue == NULL) {
		put_off(order_status, asked->order.number, "there is no queue here");
		return;
	}
	if (store == NULL || !wh_store_rights(store, asked->rights, &rights, order->peer) ||
		!wh_store_owner(store, asked->rights, owner) || !rights.orders) {
		refuse(order_status, WH_EXIT_NETWORK, "you may not give orders to the queue here");
		return;
	}
	wh_hex_write(owner, sizeof(owner), order->key);
	wh_hex_write(asked->order.token, WH_TOKEN_BYTES, token);
	strcpy(order->token, token);

	struct wh_order found;

	rc = wh_queue_find_accepted(runner->queue, order->peer, token, &found);
	if (rc == -ENOENT) {
		begin(runner, order, asked, &rights, order_status);
		return;
	}
	if (rc < 0) {
		put_off(order_status, asked->order.number, "the queue's database is not read");
		return;
	}
	heed(runner, &found, asked->order.wish);

	const char *wrong = heed_rate(runner, &found, asked->order.rate);

	wh_order_free(&found);
	if (wrong != NULL) {
		put_off(order_status, found.id, wrong);
		return;
	}
	/* Its present STATUS. */
	rc = wh_queue_find(runner->queue, found.id, order);
	if (rc < 0)
		put_off(order_status, asked->order.number, "the queue's database is not read");
	else
		tell(runner, order, wh_runner_find(runner, order->id), order_status);
}

void wh_accepted_answer(struct wh_runner *runner)
{
	const struct wh_service *service = runner->ctx.jobs->service;
	struct wh_mailbox *mailbox = service != NULL ? service->mailbox : NULL;

	for (uint32_t i = 0; mailbox != NULL && i < ANSWERED_IN_TURN; i++) {
		struct wh_mailbox_place *place = wh_mailbox_next(mailbox);
		struct wh_order order = {.id = 0};
		struct wh_order_status order_status;

		if (place == NULL)
			return;
		answer(runner, &place->question, &order, &order_status);
		wh_mailbox_answer(mailbox, place, &order_status);
		wh_order_free(&order);
	}
}
