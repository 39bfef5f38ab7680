/* SPDX-License-Identifier: BSD-3-Clause */
#include "foe.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "closed.h"

#define THOUSAND    1000
#define TIRES_MS    2500
#define LATER_MS    1000
#define DELAY_MS    20
#define HEAD_BYTES  48 /* that a tag proves */
#define REACH_BYTES 80 /* head and first fields, where most changes go */

static bool chance(struct wh_foe *foe, uint32_t thousandths)
{
	return wh_prng_below(&foe->prng, THOUSAND) < thousandths;
}

/* Most foes do a little of a thing, some do it to most packets, some never. */
static uint32_t draw_share(struct wh_prng *prng, uint32_t most)
{
	switch (wh_prng_below(prng, 4)) {
	case 0:
		return 0;
	case 1:
		return (uint32_t)wh_prng_below(prng, most + 1);
	default:
		return (uint32_t)wh_prng_below(prng, most / 8 + 1);
	}
}

void wh_foe_open(struct wh_foe *foe, uint64_t seed, uint64_t hz)
{
	struct wh_foe_habits *habits = &foe->habits;

	*foe = (struct wh_foe){.kept = calloc(WH_FOE_KEEPS, sizeof(*foe->kept))};
	WH_ASSERT(foe->kept != NULL);
	wh_prng_init(&foe->prng, seed);
	habits->tires_tsc = hz + wh_prng_below(&foe->prng, TIRES_MS) * hz / 1000;
	habits->delay_tsc = 1 + wh_prng_below(&foe->prng, DELAY_MS * hz / 1000);
	habits->later_tsc = 1 + wh_prng_below(&foe->prng, LATER_MS * hz / 1000);
	habits->drops = draw_share(&foe->prng, 900);
	habits->delays = draw_share(&foe->prng, 900);
	habits->alters = draw_share(&foe->prng, 400);
	/* Together fewer than one for each, or what ends answer would never cease. */
	for (uint32_t i = 0; i < WH_FOE_ACTS; i++)
		habits->adds[i] = draw_share(&foe->prng, 120);
	habits->never_stops = wh_prng_below(&foe->prng, 2) == 0;
}

void wh_foe_close(struct wh_foe *foe)
{
	for (uint32_t i = 0; i < foe->parcels; i++)
		free(foe->heap[i]);
	free(foe->heap);
	free(foe->spare);
	free(foe->kept);
}

static bool before(const struct wh_foe_parcel *a, const struct wh_foe_parcel *b)
{
	return a->due_tsc != b->due_tsc ? a->due_tsc < b->due_tsc : a->number < b->number;
}

static void push(struct wh_foe *foe, struct wh_foe_parcel *parcel)
{
	if (foe->parcels == foe->room) {
		foe->room = foe->room == 0 ? 256 : 2 * foe->room;
		foe->heap = realloc(foe->heap, foe->room * sizeof(*foe->heap));
		WH_ASSERT(foe->heap != NULL);
	}

	uint32_t at = foe->parcels++;

	for (; at > 0 && before(parcel, foe->heap[(at - 1) / 2]); at = (at - 1) / 2)
		foe->heap[at] = foe->heap[(at - 1) / 2];
	foe->heap[at] = parcel;
}

static struct wh_foe_parcel *pop(struct wh_foe *foe)
{
	struct wh_foe_parcel *first = foe->heap[0];
	struct wh_foe_parcel *last = foe->heap[--foe->parcels];
	uint32_t at = 0;

	for (uint32_t child = 1; child < foe->parcels; child = 2 * at + 1) {
		if (child + 1 < foe->parcels && before(foe->heap[child + 1], foe->heap[child]))
			child++;
		if (before(last, foe->heap[child]))
			break;
		foe->heap[at] = foe->heap[child];
		at = child;
	}
	foe->heap[at] = last;
	return first;
}

struct wh_foe_parcel *wh_foe_take(struct wh_foe *foe, uint64_t now_tsc)
{
	if (foe->parcels == 0 || foe->heap[0]->due_tsc > now_tsc)
		return NULL;
	free(foe->spare);
	foe->spare = pop(foe);
	return foe->spare;
}

uint64_t wh_foe_deadline(const struct wh_foe *foe)
{
	return foe->parcels == 0 ? WH_TSC_NEVER : foe->heap[0]->due_tsc;
}

static void deliver(
	struct wh_foe *foe, uint64_t now_tsc, const struct wh_foe_parcel *made, bool late)
{
	struct wh_foe_parcel *parcel = malloc(sizeof(*parcel));

	WH_ASSERT(parcel != NULL && made->bytes <= WH_FOE_ROOM);
	memcpy(parcel, made, offsetof(struct wh_foe_parcel, data) + made->bytes);
	parcel->due_tsc = now_tsc + foe->habits.delay_tsc;
	if (late)
		parcel->due_tsc += wh_prng_below(&foe->prng, foe->habits.later_tsc);
	parcel->number = foe->number++;
	push(foe, parcel);
}

static const struct wh_foe_parcel *any_kept(struct wh_foe *foe)
{
	uint64_t many = wh_min_u64(foe->seen, WH_FOE_KEEPS);

	return &foe->kept[wh_prng_below(&foe->prng, many)];
}

static void copy_parcel(struct wh_foe_parcel *to, const struct wh_foe_parcel *from)
{
	memcpy(to, from, offsetof(struct wh_foe_parcel, data) + from->bytes);
}

/* A field of the head changed for a value that means something. */
static void change_field(struct wh_foe *foe, struct wh_foe_parcel *parcel)
{
	const struct wh_foe_parcel *other = any_kept(foe);
	uint64_t value;

	switch (wh_prng_below(&foe->prng, 5)) {
	case 0: /* to another connection */
		memcpy(parcel->data + 4, other->data + 4, 4);
		break;
	case 1:
		parcel->data[1] = (uint8_t)(1 + wh_prng_below(&foe->prng, WH_PACKET_TYPES));
		break;
	case 2: /* younger, or older */
		memcpy(&value, parcel->data + 8, sizeof(value));
		value += wh_prng_below(&foe->prng, 64) - 16;
		memcpy(parcel->data + 8, &value, sizeof(value));
		break;
	case 3:
		memcpy(&value, parcel->data + 16, sizeof(value));
		value += UINT64_C(1) << wh_prng_below(&foe->prng, 40);
		memcpy(parcel->data + 16, &value, sizeof(value));
		break;
	default:
		parcel->data[WH_KEY_OFFSET] = (uint8_t)wh_prng_below(&foe->prng, 9);
		break;
	}
}

static void alter(struct wh_foe *foe, struct wh_foe_parcel *parcel)
{
	uint64_t reach = parcel->bytes;

	if (reach > REACH_BYTES && wh_prng_below(&foe->prng, 2) == 0)
		reach = REACH_BYTES;
	switch (wh_prng_below(&foe->prng, 4)) {
	case 0:
		parcel->data[wh_prng_below(&foe->prng, reach)] ^=
			(uint8_t)(1 << wh_prng_below(&foe->prng, 8));
		break;
	case 1:
		parcel->data[wh_prng_below(&foe->prng, reach)] = (uint8_t)wh_prng_u64(&foe->prng);
		break;
	case 2: {
		uint32_t bytes = (uint32_t)wh_prng_below(&foe->prng, 2 * parcel->bytes);

		bytes = bytes > WH_FOE_ROOM ? WH_FOE_ROOM : bytes;
		if (bytes > parcel->bytes)
			memset(parcel->data + parcel->bytes, 0, bytes - parcel->bytes);
		parcel->bytes = bytes;
		break;
	}
	default:
		change_field(foe, parcel);
		break;
	}
	/* A checksum that is right again, with a token that may have been overheard. */
	if (parcel->bytes >= WH_HEAD_BYTES && wh_prng_below(&foe->prng, 4) == 0) {
		uint64_t token;

		memcpy(&token, any_kept(foe)->data + WH_TAG_OFFSET + 8, sizeof(token));
		closed_tag(parcel->data, parcel->bytes, token);
	}
}

/* Head of one, body of another, tag of a third. */
static void join(struct wh_foe *foe, struct wh_foe_parcel *parcel)
{
	const struct wh_foe_parcel *head = any_kept(foe);
	const struct wh_foe_parcel *tag = any_kept(foe);

	memcpy(parcel->data, head->data, HEAD_BYTES);
	if (wh_prng_below(&foe->prng, 2) == 0)
		memcpy(parcel->data + WH_TAG_OFFSET, tag->data + WH_TAG_OFFSET, WH_TAG_BYTES);
	if (wh_prng_below(&foe->prng, 2) == 0)
		memcpy(parcel->data + 4, tag->data + 4, 4);
}

static void invent(struct wh_foe *foe, struct wh_foe_parcel *parcel)
{
	uint64_t word;

	parcel->bytes = (uint32_t)wh_prng_below(&foe->prng, 1500);
	for (uint32_t i = 0; i < parcel->bytes; i += 8) {
		word = wh_prng_u64(&foe->prng);
		memcpy(parcel->data + i, &word, sizeof(word));
	}
	if (parcel->bytes < WH_HEAD_BYTES)
		return;
	/* Version, type and connection of a true one: only the tag is wrong. */
	memcpy(parcel->data, any_kept(foe)->data, wh_prng_below(&foe->prng, HEAD_BYTES));
}

static void add(
	struct wh_foe *foe, uint64_t now_tsc, const struct wh_foe_parcel *met, enum wh_foe_act act)
{
	struct wh_foe_parcel made;

	copy_parcel(&made, met);
	switch (act) {
	case WH_FOE_REPEATS:
		break;
	case WH_FOE_REFLECTS:
		made.to = !made.to;
		break;
	case WH_FOE_REPLAYS:
		copy_parcel(&made, any_kept(foe));
		made.to ^= wh_prng_below(&foe->prng, 4) == 0;
		break;
	case WH_FOE_ALTERS:
		alter(foe, &made);
		break;
	case WH_FOE_JOINS:
		join(foe, &made);
		break;
	default:
		invent(foe, &made);
		break;
	}
	/* Mostly from whom it ought to be. */
	if (act != WH_FOE_REPEATS)
		made.from =
			(uint8_t)(wh_prng_below(&foe->prng, 4) == 0 ? wh_prng_below(&foe->prng, 3)
								    : !made.to);
	/* From elsewhere it is answered there, and all that is sent goes to the other end. */
	if (made.bytes > 1 && made.data[1] == WH_PACKET_OPEN)
		made.from = !made.to;
	foe->done[act]++;
	deliver(foe, now_tsc, &made, true);
}

void wh_foe_meet(struct wh_foe *foe, uint64_t now_tsc, uint8_t to, const uint8_t *head,
	uint32_t head_bytes, const uint8_t *payload, uint32_t payload_bytes)
{
	struct wh_foe_parcel *met = &foe->kept[foe->seen++ % WH_FOE_KEEPS];
	bool tired = now_tsc >= foe->habits.tires_tsc;

	WH_ASSERT(head_bytes + payload_bytes <= WH_FOE_ROOM && head_bytes >= WH_HEAD_BYTES);
	met->to = to;
	met->from = !to;
	met->bytes = head_bytes + payload_bytes;
	memcpy(met->data, head, head_bytes);
	if (payload_bytes > 0)
		memcpy(met->data + head_bytes, payload, payload_bytes);
	for (enum wh_foe_act act = 0; act < WH_FOE_ACTS; act++)
		if ((!tired || foe->habits.never_stops) && chance(foe, foe->habits.adds[act]))
			add(foe, now_tsc, met, act);
	if (!tired && chance(foe, foe->habits.drops)) {
		foe->dropped++;
		return;
	}
	if (!tired && chance(foe, foe->habits.alters)) {
		struct wh_foe_parcel made;

		copy_parcel(&made, met);
		alter(foe, &made);
		foe->altered++;
		deliver(foe, now_tsc, &made, false);
		return;
	}
	deliver(foe, now_tsc, met, !tired && chance(foe, foe->habits.delays));
}
