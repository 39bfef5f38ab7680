/* SPDX-License-Identifier: BSD-3-Clause */
#include "errand/errand.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "errand/errand_internal.h"

/* Most names, and records of the peer, per poll, because other jobs must have turns. */
#define STEPS_PER_POLL 32

int wh_errand_open(struct wh_errand **errand, const struct wh_errand_config *config)
{
	struct wh_errand *made = aligned_alloc(WH_HASHER_ALIGN, sizeof(*made));

	WH_ASSERT(wh_job_is_errand(config->verb) && config->root_fd >= 0);
	WH_ASSERT(config->chunk_bytes >= WH_BUNDLE_CHUNK_BYTES_MIN);
	if (made == NULL)
		return -ENOMEM;
	memset(made, 0, sizeof(*made));
	made->config = *config;
	made->base_fd = -1;
	wh_pack_init(
		&made->pack, config->first_chunk, config->chunk_bytes, config->free, config->ready);
	wh_inflow_init(&made->inflow, config->deliver, config->recycled);
	*errand = made;
	return 0;
}

void wh_errand_close(struct wh_errand *errand)
{
	if (errand == NULL)
		return;
	wh_descent_close(errand);
	for (uint32_t i = 0; i < WH_ERRAND_DEPTH_MAX && errand->level[i] != NULL; i++) {
		free(errand->level[i]->piece);
		free(errand->level[i]);
	}
	free(errand);
}

const struct wh_errand_progress *wh_errand_progress(const struct wh_errand *errand)
{
	return &errand->progress;
}

/* Texts of waiting records belong to the errand, or to the step that has found them. */
static bool put_told(struct wh_errand *errand)
{
	if (!wh_pack_has_room(&errand->pack, wh_record_bytes(&errand->told[0])))
		return false;
	wh_pack_put(&errand->pack, &errand->told[0]);
	errand->told[0] = errand->told[1];
	errand->pending--;
	return true;
}

static bool is_last(const struct wh_errand *errand)
{
	uint32_t count = errand->config.path_count;

	return errand->given == (errand->config.verb == WH_JOB_MOVE ? count - 1 : count);
}

/* The client sends records that say what to do. */
static bool is_asked(const struct wh_errand *errand)
{
	return errand->config.verb == WH_JOB_PING || errand->config.verb == WH_JOB_ORDER;
}

static bool tell_standing(struct wh_errand *errand)
{
	struct wh_standing standing;

	if (!errand->config.mailbox.take(errand->config.mailbox.context, &standing))
		return false;
	errand->ordering = false;
	wh_errand_begin(errand, WH_RECORD_STANDING)->standing = standing;
	return true;
}

/* One step of the work; false: none now. */
static bool step(struct wh_errand *errand)
{
	if (errand->pending > 0)
		return put_told(errand);
	if (errand->depth > 0) {
		wh_descent_step(errand);
		return true;
	}
	if (errand->ordering)
		return tell_standing(errand);
	if (is_asked(errand) || is_last(errand))
		return false;
	errand->given++;
	if (errand->config.verb == WH_JOB_MAKE)
		wh_errand_make(errand);
	else if (errand->config.verb == WH_JOB_MOVE)
		wh_errand_move(errand);
	else
		wh_descent_begin(errand);
	return true;
}

static void answer_ping(struct wh_errand *errand)
{
	if (errand->config.verb != WH_JOB_PING) {
		errand->progress.error = -EPROTO;
		return;
	}
	wh_errand_begin(errand, WH_RECORD_PING)->ping.serial = errand->heard.ping.serial;
}

static bool may_order(struct wh_errand *errand)
{
	const struct wh_ordering *order = &errand->heard.order;

	if (errand->config.verb != WH_JOB_ORDER)
		return false;
	if (errand->ordered)
		return memcmp(errand->token, order->token, sizeof(errand->token)) == 0;
	memcpy(errand->token, order->token, sizeof(errand->token));
	errand->ordered = true;
	return true;
}

/* False: the mailbox has no room now; try again. */
static bool ask_mailbox(struct wh_errand *errand)
{
	if (!may_order(errand))
		errand->progress.error = -EPROTO;
	else if (!errand->config.mailbox.put(errand->config.mailbox.context, &errand->heard.order))
		return false;
	else
		errand->ordering = true;
	return true;
}

/* Reads a record of the peer: its waits, a question, or its end. */
static bool hear(struct wh_errand *errand)
{
	if (errand->inflow.ended || (is_asked(errand) && (errand->pending > 0 || errand->ordering)))
		return false;
	if (errand->waits_for_mailbox) {
		errand->waits_for_mailbox = !ask_mailbox(errand);
		return !errand->waits_for_mailbox;
	}

	int rc = wh_inflow_next(&errand->inflow, &errand->heard);

	if (rc < 0)
		errand->progress.error = rc;
	if (rc <= 0)
		return errand->inflow.ended;
	switch (errand->heard.type) {
	case WH_RECORD_WAITS:
		errand->progress.waits_told++;
		errand->progress.peer = errand->heard.waits;
		break;
	case WH_RECORD_PING:
		answer_ping(errand);
		break;
	case WH_RECORD_ORDER:
		errand->waits_for_mailbox = !ask_mailbox(errand);
		break;
	default:
		errand->progress.error = -EPROTO;
	}
	return true;
}

static bool has_done_all(const struct wh_errand *errand)
{
	if (errand->pending > 0 || errand->depth > 0 || errand->ordering)
		return false;
	return is_asked(errand) ? errand->inflow.ended : is_last(errand);
}

static bool finish(struct wh_errand *errand)
{
	if (!errand->tallied) {
		errand->tallied = true;
		wh_errand_begin(errand, WH_RECORD_TALLY)->tally = errand->tally;
		return true;
	}
	if (errand->ended || !wh_pack_end(&errand->pack))
		return false;
	errand->ended = true;
	return true;
}

int32_t wh_errand_poll(struct wh_errand *errand)
{
	int32_t work = 0;

	if (errand->progress.error != 0 || errand->progress.done)
		return 0;
	for (uint32_t i = 0; i < STEPS_PER_POLL && errand->progress.error == 0; i++) {
		int32_t done = hear(errand);

		done += step(errand);
		if (done == 0 && has_done_all(errand))
			done += finish(errand);
		work += done;
		if (done == 0)
			break;
	}
	/* Single answers are sent at once; lists fill their chunks. */
	if (is_asked(errand))
		wh_pack_flush(&errand->pack);
	errand->progress.done = errand->ended && errand->inflow.ended;
	return work;
}

enum wh_waits wh_errand_waits(const struct wh_errand *errand)
{
	if (errand->pending > 0 || (errand->tallied && !errand->ended))
		return WH_WAITS_SESSION;
	if (errand->ordering || errand->waits_for_mailbox)
		return WH_WAITS_DISK;
	return has_done_all(errand) || is_asked(errand) ? WH_WAITS_ENTRIES : WH_WAITS_DISK;
}

bool wh_errand_tell_waits(struct wh_errand *errand, const struct wh_waits_told *told)
{
	const struct wh_record record = {.type = WH_RECORD_WAITS, .waits = *told};

	if (errand->tallied || !wh_pack_has_room(&errand->pack, wh_record_bytes(&record)))
		return false;
	wh_pack_put(&errand->pack, &record);
	return wh_pack_flush(&errand->pack);
}
