/* SPDX-License-Identifier: BSD-3-Clause */
#include "lab/netem/netem.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "lab/netem/delay_line.h"
#include "lab/netem/line.h"
#include "lab/netem/loss_model.h"

/* Sums of a moment and a few of these stay far from WH_TSC_NEVER. */
#define TIME_MAX_TSC (UINT64_C(1) << 60)
static_assert(TIME_MAX_TSC <= WH_TSC_NEVER / 8, "and so do sums of some");

#define REORDER_DELAY_SHARE 10 /* default: this fraction of the delay, or this many packet times */

struct wh_netem {
	struct wh_line ingress;
	struct wh_line line;
	struct wh_prng prng;
	uint64_t now_tsc;
	uint64_t delay_tsc;
	uint64_t jitter_tsc;
	uint64_t reorder_delay_tsc;
	bool reorder_delay_default;
	uint64_t corrupt_threshold;
	uint64_t reorder_threshold;
	uint64_t duplicate_threshold;
	uint64_t in_order_tsc; /* the latest due time of packets that keep order */
	struct wh_netem_stats stats;
	struct wh_delay_line delay_line;
	struct wh_loss_model loss_model;
};

bool wh_netem_is_sound(const struct wh_link_model *config, uint64_t hz)
{
	const struct wh_gilbert_elliott *ge = &config->gilbert_elliott;
	const double shares[] = {config->loss, config->bit_error, config->corrupt,
		config->duplicate, config->reorder, ge->good_to_bad, ge->bad_to_good, ge->loss_good,
		ge->loss_bad};
	const uint64_t times_ns[] = {config->delay_ns, config->jitter_ns, config->reorder_delay_ns};

	for (unsigned int i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		if (!(shares[i] >= 0.0 && shares[i] <= 1.0)) /* or NaN */
			return false;
	for (unsigned int i = 0; i < sizeof(times_ns) / sizeof(times_ns[0]); i++)
		if (wh_ns_to_tsc(hz, times_ns[i]) > TIME_MAX_TSC)
			return false;
	if ((config->rate_bps != 0 && !wh_line_rate_fits(config->rate_bps, hz)) ||
		(config->ingress_bps != 0 && !wh_line_rate_fits(config->ingress_bps, hz)))
		return false;
	if (config->reorder > 0.0 && config->reorder_delay_ns == 0 && config->rate_bps == 0 &&
		wh_ns_to_tsc(hz, config->delay_ns) < REORDER_DELAY_SHARE)
		return false;
	return config->loss_model <= WH_LOSS_GILBERT_ELLIOTT &&
	       config->n_outages <= WH_LINK_OUTAGES_MAX;
}

static void set_travel(struct wh_netem *netem, const struct wh_link_model *config, uint64_t hz)
{
	netem->delay_tsc = wh_ns_to_tsc(hz, config->delay_ns);
	netem->jitter_tsc = wh_ns_to_tsc(hz, config->jitter_ns);
	netem->reorder_delay_default = config->reorder_delay_ns == 0;
	netem->reorder_delay_tsc = netem->reorder_delay_default
					   ? netem->delay_tsc / REORDER_DELAY_SHARE
					   : wh_ns_to_tsc(hz, config->reorder_delay_ns);
	WH_ASSERT(netem->delay_tsc <= TIME_MAX_TSC && netem->jitter_tsc <= TIME_MAX_TSC);
	WH_ASSERT(netem->reorder_delay_tsc <= TIME_MAX_TSC);
	netem->corrupt_threshold = wh_chance_threshold(config->corrupt);
	netem->reorder_threshold = wh_chance_threshold(config->reorder);
	netem->duplicate_threshold = wh_chance_threshold(config->duplicate);
}

struct wh_netem *wh_netem_create(
	const struct wh_link_model *config, uint64_t hz, uint64_t now_tsc, uint32_t items_max)
{
	WH_ASSERT(hz > 0 && hz < UINT64_C(1) << 40);
	WH_ASSERT(items_max > 0);

	struct wh_netem *netem = calloc(1, sizeof(*netem));
	int rc = netem == NULL ? -ENOMEM : wh_netem_is_sound(config, hz) ? 0 : -EINVAL;

	if (rc == 0)
		rc = wh_line_init(&netem->ingress,
			&(struct wh_link_model){.rate_bps = config->ingress_bps}, hz);
	if (rc == 0)
		rc = wh_line_init(&netem->line, config, hz);
	if (rc == 0)
		rc = wh_delay_line_init(&netem->delay_line, items_max);
	if (rc != 0) {
		wh_netem_destroy(netem);
		errno = -rc;
		return NULL;
	}
	netem->now_tsc = now_tsc;
	set_travel(netem, config, hz);
	wh_prng_init(&netem->prng, config->seed);
	wh_loss_model_init(&netem->loss_model, config, hz, now_tsc);
	return netem;
}

void wh_netem_destroy(struct wh_netem *netem)
{
	if (netem == NULL)
		return;
	WH_ASSERT(wh_delay_line_held(&netem->delay_line) == 0);
	wh_delay_line_free(&netem->delay_line);
	wh_line_free(&netem->line);
	wh_line_free(&netem->ingress);
	free(netem);
}

/*
 * Most items that reordering and duplication add to those within one delay. When a packet is held
 * for n of its own packet times, n packets of equal size are held at once; of growing sizes, each
 * at least 1/n of the sum of the later ones, n + ln(largest / smallest) / ln(1 + 1/n). From 64
 * bytes to 64 KiB that is 83 for the n = 10 of reordering and 11 for the second copy; the rest is
 * for rounding.
 */
#define ITEMS_BESIDE 100

uint32_t wh_netem_items_needed(const struct wh_link_model *config, uint32_t wire_bytes_min)
{
	WH_ASSERT(wire_bytes_min > 0);

	uint64_t waiting = UINT64_MAX;
	uint64_t span_ns = wh_add_u64(config->delay_ns, config->jitter_ns);

	if (config->rate_bps == 0)
		return UINT32_MAX;
	if (config->queue_bytes > 0) /* and the one that is sent in part */
		waiting = config->queue_bytes / wire_bytes_min + 1;
	if (config->queue_pkts > 0)
		waiting = wh_min_u64(waiting, config->queue_pkts);
	if (config->reorder > 0.0 && config->reorder_delay_ns > 0)
		span_ns = wh_add_u64(span_ns, config->reorder_delay_ns);
	else if (config->reorder > 0.0)
		span_ns = wh_add_u64(span_ns, config->delay_ns / REORDER_DELAY_SHARE);

	uint64_t travelling =
		wh_muldiv_u64(span_ns, config->rate_bps, 8 * WH_NS_PER_S) / wire_bytes_min;
	uint64_t items = wh_add_u64(wh_add_u64(waiting, travelling), ITEMS_BESIDE);

	if (config->duplicate > 0.0)
		items = wh_add_u64(items, items);
	return (uint32_t)wh_min_u64(items, UINT32_MAX);
}

/* The stages from ingress to loss: those that drop packets. */
static enum wh_netem_drop pass_line(
	struct wh_netem *netem, uint64_t now_tsc, uint32_t wire_bytes, uint64_t *leave_tsc)
{
	uint64_t came_tsc = now_tsc;
	bool came = wh_line_enter(&netem->ingress, now_tsc, wire_bytes, &came_tsc);

	WH_ASSERT(came && came_tsc >= now_tsc); /* the ingress has no limit */
	if (wh_loss_model_outage(&netem->loss_model, came_tsc))
		return WH_NETEM_DROP_OUTAGE;
	if (!wh_line_enter(&netem->line, came_tsc, wire_bytes, leave_tsc))
		return WH_NETEM_DROP_QUEUE;
	netem->stats.queue_bytes_max = netem->line.queue_bytes_max;
	return wh_loss_model_draw(&netem->loss_model, &netem->prng, wire_bytes);
}

/* The due time of the first copy. */
static uint64_t draw_due(struct wh_netem *netem, uint64_t leave_tsc, uint32_t wire_bytes)
{
	uint64_t due_tsc = leave_tsc + netem->delay_tsc;

	if (netem->jitter_tsc > 0)
		due_tsc += wh_prng_below(&netem->prng, netem->jitter_tsc + 1);
	due_tsc = wh_max_u64(due_tsc, netem->in_order_tsc);
	WH_DEBUG_ASSERT(due_tsc != WH_TSC_NEVER);
	if (!wh_prng_chance(&netem->prng, netem->reorder_threshold)) {
		netem->in_order_tsc = due_tsc;
		return due_tsc;
	}
	netem->stats.reordered_pkts++;
	if (!netem->reorder_delay_default)
		return due_tsc + netem->reorder_delay_tsc;
	return due_tsc +
	       wh_max_u64(netem->reorder_delay_tsc,
		       REORDER_DELAY_SHARE * wh_line_packet_tsc(&netem->line, wire_bytes));
}

void wh_netem_admit(
	struct wh_netem *netem, uint64_t now_tsc, uint32_t wire_bytes, struct wh_netem_fate *fate)
{
	WH_ASSERT(wire_bytes > 0);
	WH_ASSERT(now_tsc >= netem->now_tsc);

	uint64_t leave_tsc = 0;

	netem->now_tsc = now_tsc;
	netem->stats.entered_pkts++;
	*fate = (struct wh_netem_fate){.drop = pass_line(netem, now_tsc, wire_bytes, &leave_tsc)};
	if (fate->drop != WH_NETEM_DELIVERED) {
		netem->stats.dropped_pkts[fate->drop]++;
		return;
	}
	WH_DEBUG_ASSERT(leave_tsc >= now_tsc);
	if (wh_prng_chance(&netem->prng, netem->corrupt_threshold)) {
		fate->corrupt = true;
		fate->corrupt_bit = wh_prng_u64(&netem->prng);
		netem->stats.corrupted_pkts++;
	}
	fate->due_tsc[0] = draw_due(netem, leave_tsc, wire_bytes);
	WH_DEBUG_ASSERT(fate->due_tsc[0] >= leave_tsc + netem->delay_tsc);
	fate->copies = 1;
	if (wh_prng_chance(&netem->prng, netem->duplicate_threshold)) {
		fate->due_tsc[1] = fate->due_tsc[0] + wh_line_packet_tsc(&netem->line, wire_bytes);
		fate->copies = 2;
		netem->stats.duplicated_pkts++;
	}
}

uint64_t wh_netem_queue_bytes(const struct wh_netem *netem, uint64_t now_tsc)
{
	return wh_line_queue_bytes(&netem->line, now_tsc);
}

uint64_t wh_netem_ingress_free(const struct wh_netem *netem)
{
	return wh_line_free_tsc(&netem->ingress);
}

/* Parameters of the new due times. */
struct change {
	struct wh_line_pace pace;
	uint64_t old_delay_tsc;
	uint64_t new_delay_tsc;
};

static uint64_t changed_due(void *state, uint64_t due_tsc)
{
	const struct change *change = state;
	uint64_t leave_tsc = due_tsc - wh_min_u64(due_tsc, change->old_delay_tsc);

	if (leave_tsc <= change->pace.now_tsc)
		return due_tsc;
	return wh_line_pace(&change->pace, leave_tsc) + change->new_delay_tsc;
}

void wh_netem_change(
	struct wh_netem *netem, const struct wh_link_model *config, uint64_t hz, uint64_t now_tsc)
{
	struct change change = {.old_delay_tsc = netem->delay_tsc};
	bool had_ingress = netem->ingress.byte_span > 0;

	WH_ASSERT(now_tsc >= netem->now_tsc && wh_netem_is_sound(config, hz));
	WH_ASSERT((config->ingress_bps != 0) == had_ingress);
	netem->now_tsc = now_tsc;
	change.pace = wh_line_change(&netem->line, config, hz, now_tsc);
	if (had_ingress)
		(void)wh_line_change(&netem->ingress,
			&(struct wh_link_model){.rate_bps = config->ingress_bps}, hz, now_tsc);
	set_travel(netem, config, hz);
	wh_loss_model_change(&netem->loss_model, config, hz, now_tsc);
	change.new_delay_tsc = netem->delay_tsc;
	wh_delay_line_change(&netem->delay_line, changed_due, &change);
	/* Packets that have left the line do not delay those that follow on a shorter path. */
	if (netem->in_order_tsc > now_tsc + change.old_delay_tsc)
		netem->in_order_tsc = changed_due(&change, netem->in_order_tsc);
	else if (change.new_delay_tsc < change.old_delay_tsc)
		netem->in_order_tsc = 0;
}

bool wh_netem_hold(struct wh_netem *netem, uint64_t due_tsc, void *item)
{
	WH_ASSERT(item != NULL);

	bool late = due_tsc > netem->in_order_tsc;

	return wh_delay_line_hold(&netem->delay_line, due_tsc, late, item);
}

void wh_netem_count_queue_drop(struct wh_netem *netem)
{
	netem->stats.dropped_pkts[WH_NETEM_DROP_QUEUE]++;
}

uint32_t wh_netem_take(
	struct wh_netem *netem, uint64_t now_tsc, struct wh_netem_item *items, uint32_t count)
{
	uint32_t taken = wh_delay_line_take(&netem->delay_line, now_tsc, items, count);

	netem->stats.left_pkts += taken;
	return taken;
}

void *wh_netem_take_any(struct wh_netem *netem)
{
	void *item = wh_delay_line_take_any(&netem->delay_line);

	if (item != NULL)
		netem->stats.left_pkts++;
	return item;
}

uint64_t wh_netem_deadline(const struct wh_netem *netem)
{
	return wh_delay_line_deadline(&netem->delay_line);
}

uint32_t wh_netem_held(const struct wh_netem *netem)
{
	return wh_delay_line_held(&netem->delay_line);
}

const struct wh_netem_stats *wh_netem_stats(const struct wh_netem *netem)
{
	return &netem->stats;
}

uint64_t wh_netem_dropped_pkts(const struct wh_netem_stats *stats)
{
	uint64_t sum = 0;

	for (uint32_t i = WH_NETEM_DELIVERED + 1; i < WH_NETEM_DROPS; i++)
		sum += stats->dropped_pkts[i];
	return sum;
}
