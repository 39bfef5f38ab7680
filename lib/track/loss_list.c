/* SPDX-License-Identifier: BSD-3-Clause */
#include "track/loss_list.h"

#include <assert.h>
#include <errno.h>

#include "base/assert.h"
#include "base/clock.h"
#include "track/alloc.h"

/* No neighbour or range: the value that the bitset returns for none. */
#define NONE WH_BITSET_NONE

/* A range, at the position of its first packet number; `older` and `newer` link its due list. */
struct wh_loss_node {
	uint64_t first;
	uint64_t reported_tsc;
	uint32_t k : 6;
	uint32_t pkts : 26;
	uint32_t older;
	uint32_t newer;
	uint32_t ahead; /* prefetch hint, perhaps stale: a range some places newer in the list */
};

static_assert(sizeof(struct wh_loss_node) == 32, "two nodes share a cache line, none straddles");
static_assert(WH_LOSS_K_MAX < 1 << 6, "k fits its bits, and `waiting` has a bit for each");
static_assert(WH_LOSS_SIZE_MAX <= 1 << 26, "the packets of a range fit their bits");

int wh_loss_list_init(struct wh_loss_list *list, uint32_t size)
{
	WH_ASSERT(size >= 64 && size <= WH_LOSS_SIZE_MAX);
	WH_ASSERT((size & (size - 1)) == 0);

	*list = (struct wh_loss_list){.size = size, .mask = size - 1};
	for (uint32_t k = 0; k <= WH_LOSS_K_MAX; k++)
		list->head[k] = list->tail[k] = NONE;

	int rc = wh_bitset_init(&list->starts, size);

	if (rc < 0)
		return rc;
	list->node = wh_track_alloc(size, sizeof(*list->node));
	if (list->node == NULL) {
		wh_bitset_free(&list->starts);
		return -ENOMEM;
	}
	return 0;
}

uint64_t wh_loss_list_bytes(uint32_t size)
{
	return wh_track_bytes(size, sizeof(struct wh_loss_node)) + wh_bitset_bytes(size);
}

void wh_loss_list_free(struct wh_loss_list *list)
{
	wh_bitset_free(&list->starts);
	wh_track_free(list->node);
	list->node = NULL;
}

static uint64_t end_of(const struct wh_loss_node *node)
{
	return node->first + node->pkts;
}

static struct wh_loss_range range_of(const struct wh_loss_node *node)
{
	return (struct wh_loss_range){.first = node->first, .end = end_of(node)};
}

static bool holds(const struct wh_loss_node *node, uint64_t pn)
{
	/* Below `first` the difference wraps to more than any range's length. */
	return pn - node->first < node->pkts;
}

/*
 * The range that starts at the packet number's position, or the next one down the circle, or NONE.
 * If any range holds the packet number it is this one. All starts lie within one window, so another
 * start between the holding range's start and the packet number would lie inside that range.
 */
static uint32_t start_before(const struct wh_loss_list *list, uint64_t pn)
{
	uint32_t position = wh_bitset_previous(&list->starts, pn & list->mask);

	return position != NONE ? position : wh_bitset_previous(&list->starts, list->mask);
}

/* The range that starts at the packet number's position, or the next one up the circle, or NONE. */
static uint32_t start_after(const struct wh_loss_list *list, uint64_t pn)
{
	uint32_t position = wh_bitset_next(&list->starts, pn & list->mask);

	return position != NONE ? position : wh_bitset_next(&list->starts, 0);
}

/* The range that holds the packet number, or NONE. */
static uint32_t find(const struct wh_loss_list *list, uint64_t pn)
{
	uint32_t position = start_before(list, pn);

	return position != NONE && holds(&list->node[position], pn) ? position : NONE;
}

/* Makes the neighbours of a node in its due list point to its present position. */
static void relink(struct wh_loss_list *list, uint32_t position)
{
	const struct wh_loss_node *node = &list->node[position];

	if (node->older == NONE)
		list->head[node->k] = position;
	else
		list->node[node->older].newer = position;
	if (node->newer == NONE)
		list->tail[node->k] = position;
	else
		list->node[node->newer].older = position;
}

/*
 * Stores this range's position in the range that was appended to list k WH_LOSS_AHEAD ranges
 * earlier. Losses are scattered, so walking a long due list link by link would miss the cache at
 * every range; next_due prefetches by these hints. If the earlier range is gone, its hint is not
 * used or wastes one prefetch.
 */
static void leave_hint(struct wh_loss_list *list, uint32_t position, uint32_t k)
{
	uint32_t *earlier = &list->recent[k][list->appended[k]++ % WH_LOSS_AHEAD];

	list->node[*earlier].ahead = position;
	*earlier = position;
}

/* Appends a range to list k: it was reported now, later than all others there. */
static void append(struct wh_loss_list *list, uint32_t position, uint32_t k, uint64_t now_tsc)
{
	struct wh_loss_node *node = &list->node[position];
	uint32_t tail = list->tail[k];

	node->reported_tsc = now_tsc;
	node->older = tail;
	node->newer = NONE;
	list->tail[k] = position;
	if (tail == NONE) {
		list->head[k] = position;
		list->waiting |= UINT64_C(1) << k;
	} else {
		WH_ASSERT(list->node[tail].reported_tsc <= now_tsc);
		list->node[tail].newer = position;
	}
	leave_hint(list, position, k);
}

static void unlink_due(struct wh_loss_list *list, uint32_t position)
{
	const struct wh_loss_node *node = &list->node[position];

	if (node->older == NONE)
		list->head[node->k] = node->newer;
	else
		list->node[node->older].newer = node->newer;
	if (node->newer == NONE)
		list->tail[node->k] = node->older;
	else
		list->node[node->newer].older = node->older;
	if (list->head[node->k] == NONE)
		list->waiting &= ~(UINT64_C(1) << node->k);
}

/* Enters a range that overlaps no other; the due lists do not contain it yet. */
static uint32_t enter(struct wh_loss_list *list, uint64_t first, uint64_t end, uint32_t k)
{
	uint32_t position = first & list->mask;
	struct wh_loss_node *node = &list->node[position];

	WH_ASSERT(!wh_bitset_test(&list->starts, position));
	node->first = first;
	node->pkts = (uint32_t)(end - first);
	node->k = k;
	wh_bitset_set(&list->starts, position);
	list->ranges++;
	return position;
}

/*
 * The end of the range that holds `first`, or `first` if none does. The range that start_before
 * finds starts at or below `first` or, if there is none, is the highest of all. So this also
 * asserts that the window has not grown too wide.
 */
static uint64_t skip_held(const struct wh_loss_list *list, uint64_t first, uint64_t end)
{
	uint32_t position = start_before(list, first);

	if (position == NONE)
		return first;

	const struct wh_loss_node *node = &list->node[position];

	if (node->first <= first)
		WH_ASSERT(end - node->first <= list->size);
	else
		WH_ASSERT(end_of(node) - first <= list->size);
	return holds(node, first) ? end_of(node) : first;
}

/* The lowest range that starts in [first, end), which is within a window; or NONE. */
static uint32_t first_start_in(const struct wh_loss_list *list, uint64_t first, uint64_t end)
{
	uint32_t position = start_after(list, first);

	/* Compares distances up the circle without reading the node, which is usually far away. */
	if (position == NONE || ((position - first) & list->mask) >= end - first)
		return NONE;
	WH_ASSERT(list->node[position].first == first + ((position - first) & list->mask));
	return position;
}

void wh_loss_list_insert(struct wh_loss_list *list, uint64_t first, uint64_t end, uint64_t now_tsc)
{
	WH_ASSERT(first < end);
	WH_ASSERT(end - first <= list->size);

	uint64_t pn = skip_held(list, first, end);

	while (pn < end) {
		uint32_t held = first_start_in(list, pn, end);
		uint64_t gap_end = held == NONE ? end : list->node[held].first;

		if (gap_end > pn) {
			append(list, enter(list, pn, gap_end, WH_LOSS_FIRST_K), WH_LOSS_FIRST_K,
				now_tsc);
			list->lost_pkts += gap_end - pn;
		}
		pn = held == NONE ? end : end_of(&list->node[held]);
	}
	WH_DEBUG_ASSERT(list->ranges > 0 && list->ranges <= list->lost_pkts);
}

/* Removes the first packet number of a range of several; the range moves to the next entry. */
static void drop_first(struct wh_loss_list *list, uint32_t position)
{
	uint32_t above = (position + 1) & list->mask;

	list->node[above] = list->node[position];
	list->node[above].first++;
	list->node[above].pkts--;
	relink(list, above);
	wh_bitset_clear(&list->starts, position);
	wh_bitset_set(&list->starts, above);
}

/* Cuts a range before `pn`, which it holds and does not start with; returns the upper part. */
static uint32_t split(struct wh_loss_list *list, uint32_t position, uint64_t pn)
{
	struct wh_loss_node *lower = &list->node[position];
	uint32_t above = enter(list, pn, end_of(lower), lower->k);
	struct wh_loss_node *upper = &list->node[above];

	lower->pkts -= upper->pkts;
	upper->reported_tsc = lower->reported_tsc;
	upper->older = position;
	upper->newer = lower->newer;
	upper->ahead = lower->ahead;
	relink(list, above);
	return above;
}

bool wh_loss_list_remove(struct wh_loss_list *list, uint64_t pn)
{
	uint32_t position = find(list, pn);

	if (position == NONE)
		return false;
	if (pn != list->node[position].first)
		position = split(list, position, pn);
	if (list->node[position].pkts > 1) {
		drop_first(list, position);
	} else {
		unlink_due(list, position);
		wh_bitset_clear(&list->starts, position);
		list->ranges--;
	}
	list->lost_pkts--;
	WH_DEBUG_ASSERT(list->ranges <= list->lost_pkts);
	WH_DEBUG_ASSERT((list->ranges == 0) == (list->lost_pkts == 0));
	return true;
}

bool wh_loss_list_contains(const struct wh_loss_list *list, uint64_t pn)
{
	return find(list, pn) != NONE;
}

bool wh_loss_list_next(
	const struct wh_loss_list *list, uint64_t from, uint64_t pn, struct wh_loss_range *range)
{
	/* Outside of the window, positions have no meaning. */
	pn = wh_max_u64(pn, from);
	if (pn - from >= list->size)
		return false;

	uint32_t position = find(list, pn);

	if (position == NONE)
		position = first_start_in(list, pn, from + list->size);
	if (position == NONE)
		return false;
	*range = range_of(&list->node[position]);
	WH_ASSERT(range->first >= from);
	return true;
}

/* The k whose oldest range is due first; there must be a range. */
static uint32_t first_due_k(const struct wh_loss_list *list, uint64_t rtt_tsc, uint64_t *due_tsc)
{
	uint32_t first_k = 0;

	WH_ASSERT(list->waiting != 0);
	WH_ASSERT(rtt_tsc < UINT64_MAX / 2 / WH_LOSS_K_MAX);

	*due_tsc = WH_TSC_NEVER;
	for (uint64_t left = list->waiting; left != 0; left &= left - 1) {
		uint32_t k = (uint32_t)__builtin_ctzll(left);
		uint64_t k_due_tsc = list->node[list->head[k]].reported_tsc + k * rtt_tsc;

		if (k_due_tsc < *due_tsc) {
			*due_tsc = k_due_tsc;
			first_k = k;
		}
	}
	return first_k;
}

bool wh_loss_list_next_due(
	struct wh_loss_list *list, uint64_t now_tsc, uint64_t rtt_tsc, struct wh_loss_range *range)
{
	if (list->waiting == 0)
		return false;

	uint64_t due_tsc;
	uint32_t k = first_due_k(list, rtt_tsc, &due_tsc);

	if (due_tsc > now_tsc)
		return false;

	uint32_t position = list->head[k];
	struct wh_loss_node *node = &list->node[position];

	__builtin_prefetch(&list->node[node->ahead], 1);
	*range = range_of(node);
	unlink_due(list, position);
	k = k < WH_LOSS_K_MAX ? k + 1 : k;
	node->k = k;
	append(list, position, k, now_tsc);
	return true;
}

uint64_t wh_loss_list_due_tsc(const struct wh_loss_list *list, uint64_t rtt_tsc)
{
	if (list->waiting == 0)
		return WH_TSC_NEVER;

	uint64_t due_tsc;

	first_due_k(list, rtt_tsc, &due_tsc);
	return due_tsc;
}

static uint32_t lowest_range(const struct wh_loss_list *list)
{
	uint32_t lowest = NONE;

	for (uint32_t position = wh_bitset_next(&list->starts, 0); position != NONE;) {
		if (lowest == NONE || list->node[position].first < list->node[lowest].first)
			lowest = position;
		position =
			position == list->mask ? NONE : wh_bitset_next(&list->starts, position + 1);
	}
	return lowest;
}

/* Walks once around from the lowest range: order, positions, sums. */
static void check_ranges(const struct wh_loss_list *list)
{
	uint32_t lowest = lowest_range(list);
	uint32_t position = lowest;
	uint64_t lost_pkts = 0;

	for (uint32_t seen = 0; seen < list->ranges; seen++) {
		WH_ASSERT(position != NONE && wh_bitset_test(&list->starts, position));

		const struct wh_loss_node *node = &list->node[position];

		WH_ASSERT((node->first & list->mask) == position);
		WH_ASSERT(node->pkts > 0 && node->pkts <= list->size);
		WH_ASSERT(end_of(node) - list->node[lowest].first <= list->size);
		lost_pkts += node->pkts;

		uint32_t above = start_after(list, node->first + 1);

		WH_ASSERT(seen + 1 == list->ranges ? above == lowest
						   : list->node[above].first >= end_of(node));
		position = above;
	}
	WH_ASSERT(list->ranges > 0 || lowest == NONE);
	WH_ASSERT(lost_pkts == list->lost_pkts);
}

/* Checks links and order of reports; returns the number of ranges in list k. */
static uint32_t check_due_list(const struct wh_loss_list *list, uint32_t k)
{
	uint32_t ranges = 0;
	uint32_t older = NONE;

	WH_ASSERT((list->waiting >> k & 1) == (list->head[k] != NONE));
	WH_ASSERT(k >= WH_LOSS_FIRST_K || list->head[k] == NONE);

	for (uint32_t position = list->head[k]; position != NONE;
		position = list->node[position].newer) {
		const struct wh_loss_node *node = &list->node[position];

		WH_ASSERT(wh_bitset_test(&list->starts, position));
		WH_ASSERT(node->k == k && node->older == older && node->ahead < list->size);
		WH_ASSERT(older == NONE || list->node[older].reported_tsc <= node->reported_tsc);
		older = position;
		ranges++;
		WH_ASSERT(ranges <= list->ranges);
	}
	WH_ASSERT(list->tail[k] == older);
	return ranges;
}

void wh_loss_list_check(const struct wh_loss_list *list)
{
	uint32_t ranges = 0;

	wh_bitset_check(&list->starts);
	check_ranges(list);
	for (uint32_t k = 0; k <= WH_LOSS_K_MAX; k++)
		ranges += check_due_list(list, k);
	WH_ASSERT(ranges == list->ranges);
}
