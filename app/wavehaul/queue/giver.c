/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/giver.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include "base/clock.h"
#include "base/hex.h"
#include "bundle/beneath.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "job/rights/rights.h"
#include "queue/run.h"
#include "transfer/order_words.h"
#include "trust/trust_store.h"

/* Moved bytes are charged to the peer in steps of this. */
#define CHARGE_BYTES (UINT64_C(4) << 20)

struct wh_store *wh_giver_store(const struct wh_run_host_ctx *ctx)
{
	return ctx->jobs->service != NULL ? ctx->jobs->service->store : NULL;
}

const char *wh_giver_name(const struct wh_order *order)
{
	return order->peer[0] != '\0' ? order->peer : "the peer with our own key";
}

uint32_t wh_giver_removals(const json_t *words)
{
	uint32_t wishes = 0;

	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));

		if (strcmp(word, "--move") == 0)
			wishes |= WH_CHOICE_MOVE;
		else if (strcmp(word, "--delete") == 0)
			wishes |= WH_CHOICE_DELETE;
	}
	return wishes;
}

/* Makes the row's paths relative to that folder. */
static void go_below(struct wh_run *run, const char *folder)
{
	json_t *below = json_array();

	for (size_t i = 0; i < json_array_size(run->here); i++)
		json_array_append_new(
			below, json_string(wh_rights_below(
				       folder, json_string_value(json_array_get(run->here, i)))));
	json_decref(run->here);
	run->here = below;
}

/* The order shares the rate of all that its peer moves here. */
static bool share_rate(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	const struct wh_service *service = ctx->jobs->service;
	uint64_t now_ns = wh_tsc_to_ns(ctx->jobs->ctx->hz, rte_rdtsc());
	uint64_t bps = wh_min_u64(service->own.rate_bps, run->rights.rate_bps);

	run->peers = &ctx->jobs->peers;
	run->orderer = wh_peers_hold(run->peers, run->owner, now_ns);
	if (run->orderer == NULL)
		return false;
	wh_shared_rate_set(&run->orderer->rate, wh_rate_is_paced(bps) ? bps : 0);
	return true;
}

static const char *claim(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	struct wh_store *store = wh_giver_store(ctx);
	uint32_t count = (uint32_t)json_array_size(run->here);
	uint32_t folder;
	const char *wrong;

	if (store == NULL)
		return "is not known as long as nothing is sealed here";
	if (!wh_hex_read(run->order.key, run->owner, WH_IDENTITY_BYTES) ||
		!wh_store_rights_of(store, run->order.peer, run->owner, &run->rights))
		return "is not trusted here any more";
	if (!run->rights.orders)
		return "may not give orders here any more";
	wh_texts_of(run->here, run->paths, count);
	wrong = wh_rights_wrong(&run->rights, WH_JOB_ORDER, wh_giver_removals(run->words),
		run->paths, count, &folder);
	if (wrong != NULL)
		return "may not have that any more";
	if (!wh_store_charge(store, run->owner, &run->rights, 0))
		return "has moved what it may in a day";
	if (!share_rate(run, ctx))
		return "has to wait for other peers";
	if (folder == UINT32_MAX)
		return NULL;
	run->folder_fd = wh_beneath_resolve(
		ctx->root_fd, run->rights.folder[folder], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (run->folder_fd < 0)
		return "may use a folder here that is not there";
	run->root_fd = run->folder_fd;
	go_below(run, run->rights.folder[folder]);
	return NULL;
}

int wh_giver_claim(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	const char *wrong = claim(run, ctx);

	if (wrong == NULL)
		return -1;
	return wh_fail(
		WH_EXIT_USAGE, "%s, who gave this order, %s", wh_giver_name(&run->order), wrong);
}

static bool charge(struct wh_run *run, struct wh_store *store, uint64_t least_bytes)
{
	uint64_t moved_bytes = wh_lanes_moved_bytes(&run->transfer.running.lanes);
	uint64_t more_bytes = moved_bytes - run->charged_bytes;

	if (more_bytes < least_bytes)
		return true;
	run->charged_bytes = moved_bytes;
	return wh_store_charge(store, run->owner, &run->rights, more_bytes);
}

/* Whether the peer still has the rights with which this began; checked once a second. */
static const char *see_changes(struct wh_run *run, struct wh_store *store, int64_t now_s)
{
	struct wh_rights rights;

	if (now_s == run->rights_s)
		return NULL;
	run->rights_s = now_s;
	if (!wh_store_rights_of(store, run->order.peer, run->owner, &rights))
		return "is not trusted here any more";
	return wh_rights_equal(&rights, &run->rights) ? NULL
						      : "has other rights here than when it began";
}

bool wh_giver_look(struct wh_run *run, const struct wh_run_host_ctx *ctx, int64_t now_s)
{
	struct wh_store *store = wh_giver_store(ctx);
	const char *wrong = see_changes(run, store, now_s);

	if (wrong == NULL && !charge(run, store, CHARGE_BYTES))
		wrong = "has moved what it may in a day";
	if (wrong != NULL && run->unwanted[0] == '\0')
		snprintf(run->unwanted, sizeof(run->unwanted), "%s, who gave this order, %s",
			wh_giver_name(&run->order), wrong);
	return wrong == NULL;
}

void wh_giver_end(struct wh_run *run, const struct wh_run_host_ctx *ctx)
{
	struct wh_store *store = wh_giver_store(ctx);

	if (store != NULL)
		(void)charge(run, store, 1);
}
