/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "rpc/rpc_internal.h"

/* Most names, and records of the peer, per poll, because other jobs must have turns. */
#define STEPS_PER_POLL 32

int wh_rpc_open(struct wh_rpc **rpc, const struct wh_rpc_config *config)
{
	struct wh_rpc *made = aligned_alloc(WH_HASHER_ALIGN, sizeof(*made));

	WH_ASSERT(wh_job_is_rpc(config->verb) && config->root_fd >= 0);
	WH_ASSERT(config->chunk_bytes >= WH_BUNDLE_CHUNK_BYTES_MIN);
	if (made == NULL)
		return -ENOMEM;
	memset(made, 0, sizeof(*made));
	made->config = *config;
	made->base_fd = -1;
	wh_pack_init(
		&made->pack, config->first_chunk, config->chunk_bytes, config->free, config->ready);
	wh_inflow_init(&made->inflow, config->deliver, config->recycled);
	*rpc = made;
	return 0;
}

void wh_rpc_close(struct wh_rpc *rpc)
{
	if (rpc == NULL)
		return;
	wh_descent_close(rpc);
	for (uint32_t i = 0; i < WH_RPC_DEPTH_MAX && rpc->level[i] != NULL; i++) {
		free(rpc->level[i]->piece);
		free(rpc->level[i]);
	}
	free(rpc);
}

const struct wh_rpc_progress *wh_rpc_progress(const struct wh_rpc *rpc)
{
	return &rpc->progress;
}

/* Texts of waiting records belong to the remote operation, or to the step that has found them. */
static bool put_told(struct wh_rpc *rpc)
{
	if (!wh_pack_has_room(&rpc->pack, wh_record_bytes(&rpc->told[0])))
		return false;
	wh_pack_put(&rpc->pack, &rpc->told[0]);
	rpc->told[0] = rpc->told[1];
	rpc->pending--;
	return true;
}

static bool is_last(const struct wh_rpc *rpc)
{
	uint32_t count = rpc->config.path_count;

	return rpc->given == (rpc->config.verb == WH_JOB_MOVE ? count - 1 : count);
}

/* The client sends records that say what to do. */
static bool is_asked(const struct wh_rpc *rpc)
{
	return rpc->config.verb == WH_JOB_PING || rpc->config.verb == WH_JOB_ORDER;
}

static bool tell_status(struct wh_rpc *rpc)
{
	struct wh_order_status order_status;

	if (!rpc->config.mailbox.take(rpc->config.mailbox.context, &order_status))
		return false;
	rpc->ordering = false;
	wh_rpc_begin(rpc, WH_RECORD_STATUS)->order_status = order_status;
	return true;
}

/* One step of the work; false: none now. */
static bool step(struct wh_rpc *rpc)
{
	if (rpc->pending > 0)
		return put_told(rpc);
	if (rpc->depth > 0) {
		wh_descent_step(rpc);
		return true;
	}
	if (rpc->ordering)
		return tell_status(rpc);
	if (is_asked(rpc) || is_last(rpc))
		return false;
	rpc->given++;
	if (rpc->config.verb == WH_JOB_MAKE)
		wh_rpc_make(rpc);
	else if (rpc->config.verb == WH_JOB_MOVE)
		wh_rpc_move(rpc);
	else
		wh_descent_begin(rpc);
	return true;
}

static void answer_ping(struct wh_rpc *rpc)
{
	if (rpc->config.verb != WH_JOB_PING) {
		rpc->progress.error = -EPROTO;
		return;
	}
	wh_rpc_begin(rpc, WH_RECORD_PING)->ping.sequence = rpc->heard.ping.sequence;
}

static bool may_order(struct wh_rpc *rpc)
{
	const struct wh_ordering *order = &rpc->heard.order;

	if (rpc->config.verb != WH_JOB_ORDER)
		return false;
	if (rpc->ordered)
		return memcmp(rpc->token, order->token, sizeof(rpc->token)) == 0;
	memcpy(rpc->token, order->token, sizeof(rpc->token));
	rpc->ordered = true;
	return true;
}

/* False: the mailbox has no room now; try again. */
static bool ask_mailbox(struct wh_rpc *rpc)
{
	if (!may_order(rpc))
		rpc->progress.error = -EPROTO;
	else if (!rpc->config.mailbox.put(rpc->config.mailbox.context, &rpc->heard.order))
		return false;
	else
		rpc->ordering = true;
	return true;
}

/* Reads a record of the peer: its waits, a question, or its end. */
static bool hear(struct wh_rpc *rpc)
{
	if (rpc->inflow.ended || (is_asked(rpc) && (rpc->pending > 0 || rpc->ordering)))
		return false;
	if (rpc->waits_for_mailbox) {
		rpc->waits_for_mailbox = !ask_mailbox(rpc);
		return !rpc->waits_for_mailbox;
	}

	int rc = wh_inflow_next(&rpc->inflow, &rpc->heard);

	if (rc < 0)
		rpc->progress.error = rc;
	if (rc <= 0)
		return rpc->inflow.ended;
	switch (rpc->heard.type) {
	case WH_RECORD_WAITS:
		rpc->progress.waits_told++;
		rpc->progress.peer = rpc->heard.waits;
		break;
	case WH_RECORD_PING:
		answer_ping(rpc);
		break;
	case WH_RECORD_ORDER:
		rpc->waits_for_mailbox = !ask_mailbox(rpc);
		break;
	default:
		rpc->progress.error = -EPROTO;
	}
	return true;
}

static bool has_done_all(const struct wh_rpc *rpc)
{
	if (rpc->pending > 0 || rpc->depth > 0 || rpc->ordering)
		return false;
	return is_asked(rpc) ? rpc->inflow.ended : is_last(rpc);
}

static bool finish(struct wh_rpc *rpc)
{
	if (!rpc->tallied) {
		rpc->tallied = true;
		wh_rpc_begin(rpc, WH_RECORD_TALLY)->tally = rpc->tally;
		return true;
	}
	if (rpc->ended || !wh_pack_end(&rpc->pack))
		return false;
	rpc->ended = true;
	return true;
}

int32_t wh_rpc_poll(struct wh_rpc *rpc)
{
	int32_t work = 0;

	if (rpc->progress.error != 0 || rpc->progress.done)
		return 0;
	for (uint32_t i = 0; i < STEPS_PER_POLL && rpc->progress.error == 0; i++) {
		int32_t done = hear(rpc);

		done += step(rpc);
		if (done == 0 && has_done_all(rpc))
			done += finish(rpc);
		work += done;
		if (done == 0)
			break;
	}
	/* Single answers are sent at once; lists fill their chunks. */
	if (is_asked(rpc))
		wh_pack_flush(&rpc->pack);
	rpc->progress.done = rpc->ended && rpc->inflow.ended;
	return work;
}

enum wh_waits wh_rpc_waits(const struct wh_rpc *rpc)
{
	if (rpc->pending > 0 || (rpc->tallied && !rpc->ended))
		return WH_WAITS_SESSION;
	if (rpc->ordering || rpc->waits_for_mailbox)
		return WH_WAITS_DISK;
	return has_done_all(rpc) || is_asked(rpc) ? WH_WAITS_ENTRIES : WH_WAITS_DISK;
}

bool wh_rpc_tell_waits(struct wh_rpc *rpc, const struct wh_waits_told *told)
{
	const struct wh_record record = {.type = WH_RECORD_WAITS, .waits = *told};

	if (rpc->tallied || !wh_pack_has_room(&rpc->pack, wh_record_bytes(&record)))
		return false;
	wh_pack_put(&rpc->pack, &record);
	return wh_pack_flush(&rpc->pack);
}
