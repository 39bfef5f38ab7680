/* SPDX-License-Identifier: BSD-3-Clause */
#include "stripe/stripe.h"

#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"

int wh_stripe_in_init(struct wh_stripe_in *in, uint64_t first_number)
{
	*in = (struct wh_stripe_in){
		.first_number = first_number,
		.early = calloc(WH_STRIPE_SPAN, sizeof(in->early[0])),
	};
	if (in->early != NULL && wh_fifo_init(&in->deliver, WH_STRIPE_LENT_MAX + 1) == 0 &&
		wh_fifo_init(&in->recycled, WH_STRIPE_LENT_MAX) == 0)
		return 0;
	wh_stripe_in_free(in);
	return -ENOMEM;
}

void wh_stripe_in_free(struct wh_stripe_in *in)
{
	wh_fifo_free(&in->deliver);
	wh_fifo_free(&in->recycled);
	free(in->early);
	*in = (struct wh_stripe_in){0};
}

void wh_stripe_in_add(
	struct wh_stripe_in *in, uint32_t number, struct wh_fifo *deliver, struct wh_fifo *recycled)
{
	WH_ASSERT(number < WH_STRIPE_PATHS_MAX && in->path[number].deliver == NULL);
	in->path[number] = (struct wh_stripe_in_path){.deliver = deliver, .recycled = recycled};
}

static void give_back(struct wh_stripe_in *in, struct wh_chunk *chunk)
{
	struct wh_stripe_in_path *path = &in->path[chunk->path];

	WH_ASSERT(path->held > 0);
	path->held--;
	in->kicks |= 1U << chunk->path;

	bool pushed = wh_fifo_push(path->recycled, chunk);

	WH_ASSERT(pushed); /* a session has a slot for each of its chunks */
}

static int32_t take_recycled(struct wh_stripe_in *in)
{
	struct wh_chunk *chunk;
	int32_t taken = 0;

	while ((chunk = wh_fifo_pop(&in->recycled)) != NULL) {
		in->lent--;
		give_back(in, chunk);
		taken++;
	}
	return taken;
}

/*
 * The order is within WH_STRIPE_SPAN of the one needed: at or behind it, the chunk is new; before
 * it, it has come by another path. Behind the end there is nothing new.
 */
static void take_chunk(struct wh_stripe_in *in, struct wh_chunk *chunk)
{
	uint16_t behind = (uint16_t)(chunk->order - (uint16_t)in->next);
	struct wh_chunk **place = &in->early[(in->next + behind) % WH_STRIPE_SPAN];

	if (behind < WH_STRIPE_SPAN && *place == NULL && !in->end_told) {
		*place = chunk;
		return;
	}
	in->wrong |=
		behind < WH_STRIPE_SPAN ? in->end_told : behind < UINT16_MAX + 1 - WH_STRIPE_SPAN;
	in->twice++;
	give_back(in, chunk);
}

static int32_t take_delivered(struct wh_stripe_in *in, uint32_t number)
{
	struct wh_stripe_in_path *path = &in->path[number];
	struct wh_chunk *chunk;
	int32_t taken = 0;

	while ((chunk = wh_fifo_pop(path->deliver)) != NULL) {
		taken++;
		if (chunk->end) {
			if (!in->ended)
				in->end_marker = *chunk;
			in->ended = true;
			continue;
		}
		chunk->path = (uint8_t)number;
		path->held++;
		take_chunk(in, chunk);
	}
	return taken;
}

static int32_t deliver(struct wh_stripe_in *in)
{
	int32_t delivered = 0;

	while (in->lent < WH_STRIPE_LENT_MAX) {
		struct wh_chunk **place = &in->early[in->next % WH_STRIPE_SPAN];
		struct wh_chunk *chunk = *place;

		if (chunk == NULL)
			break;
		*place = NULL;
		chunk->number = in->first_number + in->next++;
		in->lent++;

		bool pushed = wh_fifo_push(&in->deliver, chunk);

		WH_ASSERT(pushed);
		delivered++;
	}
	return delivered;
}

/* A path ends when all chunks of all paths have arrived: behind them there is nothing. */
static int32_t deliver_end(struct wh_stripe_in *in)
{
	if (!in->ended || in->end_told || in->early[in->next % WH_STRIPE_SPAN] != NULL)
		return 0;
	in->end_marker.number = in->first_number + in->next;
	in->end_told = true;

	bool pushed = wh_fifo_push(&in->deliver, &in->end_marker);

	WH_ASSERT(pushed);
	return 1;
}

int32_t wh_stripe_in_poll(struct wh_stripe_in *in)
{
	int32_t work = 0;

	in->kicks = 0;
	work += take_recycled(in);
	for (uint32_t i = 0; i < WH_STRIPE_PATHS_MAX; i++)
		if (in->path[i].deliver != NULL)
			work += take_delivered(in, i);
	if (in->wrong)
		return work;
	return work + deliver(in) + deliver_end(in);
}

bool wh_stripe_in_drop(struct wh_stripe_in *in, uint32_t number)
{
	struct wh_stripe_in_path *path = &in->path[number];

	if (path->held > 0)
		return false;
	*path = (struct wh_stripe_in_path){0};
	return true;
}
