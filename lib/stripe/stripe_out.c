/* SPDX-License-Identifier: BSD-3-Clause */
#include "stripe/stripe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"

/* A path with chunks under way is suspended after this silence, and two round trips. */
#define SILENT_MS 500

/* The same without progress, and eight round trips: a second retransmission takes four. */
#define STUCK_MS 2000

/* Of a longer pause between polls this much counts: while this core was away, nothing is known. */
#define AWAY_MS 100

/*
 * A path has as many chunks ahead of its session as it sends in this time, at least two. Fewer
 * would leave a gap while the reader reads; with more the writer would wait for a slow path.
 */
#define AHEAD_MS  10
#define AHEAD_MIN 2
#define AHEAD_MAX 32

/* Copies of a poll, which take some 100 us each. */
#define COPIES_PER_POLL 2

int wh_stripe_out_init(struct wh_stripe_out *out, uint64_t hz)
{
	*out = (struct wh_stripe_out){
		.hz = hz,
		.place = calloc(WH_STRIPE_SPAN, sizeof(*out->place)),
	};
	if (out->place != NULL && wh_fifo_init(&out->free, WH_STRIPE_LENT_MAX) == 0 &&
		wh_fifo_init(&out->ready, WH_STRIPE_LENT_MAX + 1) == 0)
		return 0;
	wh_stripe_out_free(out);
	return -ENOMEM;
}

static void forget(struct wh_stripe_out_path *path)
{
	free(path->spare);
	free(path->sent);
	free(path->queue);
	*path = (struct wh_stripe_out_path){0};
}

void wh_stripe_out_free(struct wh_stripe_out *out)
{
	for (uint32_t i = 0; i < WH_STRIPE_PATHS_MAX; i++)
		forget(&out->path[i]);
	wh_fifo_free(&out->free);
	wh_fifo_free(&out->ready);
	free(out->place);
	*out = (struct wh_stripe_out){0};
}

int wh_stripe_out_add(struct wh_stripe_out *out, uint32_t number, struct wh_fifo *session_free,
	struct wh_fifo *session_ready, uint32_t chunks, uint64_t first_number)
{
	struct wh_stripe_out_path *path = &out->path[number];

	WH_ASSERT(number < WH_STRIPE_PATHS_MAX && path->free == NULL && chunks > 0);
	*path = (struct wh_stripe_out_path){
		.free = session_free,
		.ready = session_ready,
		.chunks = chunks,
		.next_number = first_number,
		.spare = calloc(chunks, sizeof(path->spare[0])),
		.sent = calloc(chunks, sizeof(path->sent[0])),
		.queue = calloc(chunks, sizeof(path->queue[0])),
	};
	if (path->spare != NULL && path->sent != NULL && path->queue != NULL)
		return 0;
	forget(path);
	return -ENOMEM;
}

static struct wh_stripe_place *place_of(const struct wh_stripe_out *out, uint64_t order)
{
	return &out->place[order % WH_STRIPE_SPAN];
}

static struct wh_stripe_sent *sent_at(const struct wh_stripe_out_path *path, uint32_t i)
{
	return &path->sent[path->queue[(path->first_sent + i) % path->chunks]];
}

bool wh_stripe_out_uses(const struct wh_stripe_out *out, uint32_t number)
{
	const struct wh_stripe_out_path *path = &out->path[number];

	return path->free != NULL && path->view.alive && !path->suspended && !path->ended;
}

/* Takes the session's free chunks: new ones, and those that are acknowledged, in any order. */
static int32_t take_back(struct wh_stripe_out_path *path)
{
	struct wh_chunk *chunk;
	int32_t taken = 0;

	while ((chunk = wh_fifo_pop(path->free)) != NULL) {
		struct wh_stripe_sent *sent = &path->sent[chunk->slot];

		WH_ASSERT(chunk->slot < path->chunks && !sent->back);
		if (sent->chunk != NULL)
			sent->back = true;
		else
			path->spare[path->spares++] = chunk;
		taken++;
	}
	return taken;
}

/* The first chunks of the path that are back have arrived there. */
static int32_t arrive(struct wh_stripe_out *out, uint32_t number)
{
	struct wh_stripe_out_path *path = &out->path[number];
	int32_t arrived = 0;

	while (path->sents > 0 && sent_at(path, 0)->back) {
		struct wh_stripe_sent *sent = sent_at(path, 0);
		struct wh_stripe_place *place = place_of(out, sent->order);

		if (sent->order >= out->first && !place->arrived) {
			*place = (struct wh_stripe_place){.path = (uint8_t)number, .arrived = true};
			path->waiting++;
		}
		path->spare[path->spares++] = sent->chunk;
		*sent = (struct wh_stripe_sent){0};
		path->first_sent = (path->first_sent + 1) % path->chunks;
		path->sents--;
		arrived++;
	}
	return arrived;
}

static void advance(struct wh_stripe_out *out)
{
	while (out->first < out->next && place_of(out, out->first)->arrived) {
		struct wh_stripe_out_path *path = &out->path[place_of(out, out->first)->path];

		WH_ASSERT(path->waiting > 0);
		path->waiting--;
		out->first++;
	}
}

/* What is under way there goes by another path, too. */
static void send_again(struct wh_stripe_out *out, uint32_t number)
{
	const struct wh_stripe_out_path *path = &out->path[number];

	for (uint32_t i = 0; i < path->sents; i++) {
		const struct wh_stripe_sent *sent = sent_at(path, i);
		struct wh_stripe_place *place = place_of(out, sent->order);

		if (sent->order >= out->first && !place->arrived && place->path == number)
			place->again = true;
	}
}

/* Whether a path has been without what it should have for `ms` and some round trips. */
static bool lacks(const struct wh_stripe_out *out, const struct wh_stripe_view *view,
	uint64_t since_tsc, uint64_t ms, uint32_t round_trips)
{
	return out->awake_tsc - since_tsc >
	       wh_us_to_tsc(out->hz, ms * 1000) + round_trips * view->rtt_tsc;
}

static void judge(struct wh_stripe_out *out, uint32_t number)
{
	struct wh_stripe_out_path *path = &out->path[number];
	const struct wh_stripe_view *view = &path->view;

	if (path->sents == 0 || view->heard_tsc != path->heard_tsc) {
		path->news_tsc = out->awake_tsc;
		path->heard_tsc = view->heard_tsc;
	}
	if (path->sents == 0 || view->moved_bytes != path->moved_bytes) {
		path->progress_tsc = out->awake_tsc;
		path->moved_bytes = view->moved_bytes;
		path->suspended = false;
	} else if (lacks(out, view, path->news_tsc, SILENT_MS, 2) ||
		   lacks(out, view, path->progress_tsc, STUCK_MS, 8)) {
		path->suspended = true;
	}
	if (path->suspended || !view->alive)
		send_again(out, number);
}

/*
 * The path with the fewest chunks ahead that takes another one; NULL: none does. The peer's last
 * buffer for a path is for the chunk that all others wait for.
 */
static struct wh_stripe_out_path *path_for_copy(
	struct wh_stripe_out *out, uint64_t order, uint32_t *number)
{
	uint32_t left = order > out->first;
	struct wh_stripe_out_path *best = NULL;

	for (uint32_t i = 0; i < WH_STRIPE_PATHS_MAX; i++) {
		struct wh_stripe_out_path *path = &out->path[i];

		if (!wh_stripe_out_uses(out, i) || path->spares == 0 ||
			path->sents + path->waiting + left >= path->view.peer_chunks)
			continue;
		if (best == NULL || wh_fifo_count(path->ready) < wh_fifo_count(best->ready)) {
			best = path;
			*number = i;
		}
	}
	return best;
}

static void push(struct wh_stripe_out *out, uint32_t number, struct wh_chunk *chunk, uint64_t order)
{
	struct wh_stripe_out_path *path = &out->path[number];

	WH_ASSERT(path->sents < path->chunks);
	chunk->number = path->next_number++;
	chunk->path = (uint8_t)number;
	chunk->order = (uint16_t)order;
	chunk->end = false;
	path->queue[(path->first_sent + path->sents++) % path->chunks] = chunk->slot;
	path->sent[chunk->slot] = (struct wh_stripe_sent){.order = order, .chunk = chunk};
	*place_of(out, order) =
		(struct wh_stripe_place){.path = (uint8_t)number, .slot = chunk->slot};

	bool pushed = wh_fifo_push(path->ready, chunk);

	WH_ASSERT(pushed); /* a session has a slot for each of its chunks */
	out->kicks |= 1U << number;
}

/* The one that all wait for comes first. */
static int32_t resend(struct wh_stripe_out *out)
{
	int32_t copies = 0;

	for (uint64_t order = out->first; order < out->next && copies < COPIES_PER_POLL; order++) {
		struct wh_stripe_place *place = place_of(out, order);
		struct wh_stripe_out_path *path;
		struct wh_chunk *chunk;
		uint32_t number;

		if (!place->again)
			continue;
		path = path_for_copy(out, order, &number);
		if (path == NULL)
			break;

		const struct wh_chunk *from = out->path[place->path].sent[place->slot].chunk;

		chunk = path->spare[--path->spares];
		memcpy(chunk->data, from->data, from->bytes);
		chunk->bytes = from->bytes;
		push(out, number, chunk, order);
		out->resent++;
		copies++;
	}
	return copies;
}

/* What the reader has filled. */
static int32_t take_ready(struct wh_stripe_out *out)
{
	struct wh_chunk *chunk;
	int32_t taken = 0;

	out->lent_beyond &= wh_fifo_count(&out->ready) == 0;
	while (out->end == NULL && out->next - out->first < WH_STRIPE_SPAN &&
		(chunk = wh_fifo_pop(&out->ready)) != NULL) {
		taken++;
		if (chunk->end) {
			out->end = chunk;
			break;
		}
		WH_ASSERT(out->path[chunk->path].lent > 0);
		out->path[chunk->path].lent--;
		out->lent--;
		push(out, chunk->path, chunk, out->next);
		out->next++;
	}
	return taken;
}

static uint32_t ahead_of(const struct wh_stripe_out_path *path)
{
	uint64_t bytes = wh_muldiv_u64(path->view.rate_bps, AHEAD_MS, 8000);

	return (uint32_t)wh_min_u64(
		wh_max_u64(bytes / WH_CHUNK_BYTES_DEFAULT, AHEAD_MIN), AHEAD_MAX);
}

/* Whether that path may have another chunk, apart from how many it should have. */
static bool may_lend(const struct wh_stripe_out *out, uint32_t number)
{
	return wh_stripe_out_uses(out, number) && out->path[number].spares > 0 &&
	       out->lent < WH_STRIPE_LENT_MAX &&
	       out->next + out->lent - out->first < WH_STRIPE_SPAN;
}

static void lend(struct wh_stripe_out *out, uint32_t number)
{
	struct wh_stripe_out_path *path = &out->path[number];
	struct wh_chunk *chunk = path->spare[--path->spares];

	chunk->path = (uint8_t)number;
	path->lent++;
	out->lent++;

	bool pushed = wh_fifo_push(&out->free, chunk);

	WH_ASSERT(pushed);
}

/* One chunk of a path to the reader, if the path may have more. */
static bool lend_ahead(struct wh_stripe_out *out, uint32_t number)
{
	const struct wh_stripe_out_path *path = &out->path[number];
	uint32_t under_way = path->sents + path->lent + path->waiting;

	if (!may_lend(out, number) || path->lent + wh_fifo_count(path->ready) >= ahead_of(path) ||
		under_way + 1 >= path->view.peer_chunks)
		return false;
	lend(out, number);
	return true;
}

static int32_t lend_in_turn(struct wh_stripe_out *out)
{
	int32_t lent = 0;
	uint32_t refused = 0;

	while (refused < WH_STRIPE_PATHS_MAX) {
		if (lend_ahead(out, out->turn)) {
			lent++;
			refused = 0;
		} else {
			refused++;
		}
		out->turn = (out->turn + 1) % WH_STRIPE_PATHS_MAX;
	}
	return lent;
}

/*
 * A reader may hold all that it was lent, read ahead, and need another chunk for the record before
 * it. It relies on the return of what it sent last. Where nothing is under way that would return,
 * and its paths should have fewer than before, it gets one all the same.
 */
static int32_t lend_beyond(struct wh_stripe_out *out)
{
	if (out->lent_beyond || out->lent == 0 || out->first < out->next ||
		wh_fifo_count(&out->free) > 0)
		return 0;
	for (uint32_t i = 0; i < WH_STRIPE_PATHS_MAX; i++) {
		if (!may_lend(out, i) || out->path[i].view.peer_chunks == 0)
			continue;
		lend(out, i);
		out->lent_beyond = true;
		return 1;
	}
	return 0;
}

/* Once all has arrived, every path ends; the peer needs the end of one. */
static int32_t end(struct wh_stripe_out *out)
{
	int32_t ended = 0;

	if (out->end == NULL || out->first < out->next)
		return 0;
	for (uint32_t i = 0; i < WH_STRIPE_PATHS_MAX; i++) {
		struct wh_stripe_out_path *path = &out->path[i];

		if (!wh_stripe_out_uses(out, i) || path->sents > 0)
			continue;
		path->end_marker = *out->end;
		path->end_marker.number = path->next_number;
		path->ended = true;

		bool pushed = wh_fifo_push(path->ready, &path->end_marker);

		WH_ASSERT(pushed);
		out->kicks |= 1U << i;
		ended++;
	}
	return ended;
}

int32_t wh_stripe_out_poll(struct wh_stripe_out *out, uint64_t now_tsc)
{
	int32_t work = 0;

	if (out->polled_tsc != 0 && now_tsc > out->polled_tsc)
		out->awake_tsc += wh_min_u64(
			now_tsc - out->polled_tsc, wh_us_to_tsc(out->hz, AWAY_MS * 1000));
	out->polled_tsc = now_tsc;
	out->kicks = 0;
	for (uint32_t i = 0; i < WH_STRIPE_PATHS_MAX; i++)
		if (out->path[i].free != NULL)
			work += take_back(&out->path[i]) + arrive(out, i);
	advance(out);
	for (uint32_t i = 0; i < WH_STRIPE_PATHS_MAX; i++)
		if (out->path[i].free != NULL)
			judge(out, i);
	work += take_ready(out);
	work += resend(out);
	work += lend_in_turn(out) + lend_beyond(out);
	return work + end(out);
}

bool wh_stripe_out_drop(struct wh_stripe_out *out, uint32_t number)
{
	struct wh_stripe_out_path *path = &out->path[number];

	if (path->free == NULL)
		return true;
	if (path->view.alive || path->lent > 0 || path->waiting > 0)
		return false;
	for (uint32_t i = 0; i < path->sents; i++) {
		const struct wh_stripe_sent *sent = sent_at(path, i);
		const struct wh_stripe_place *place = place_of(out, sent->order);

		if (sent->order >= out->first && !place->arrived && place->path == number)
			return false;
	}
	forget(path);
	return true;
}
