/* SPDX-License-Identifier: BSD-3-Clause */
#include "fibre/fibre.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/clock.h"
#include "fibre/delay_line.h"
#include "fibre/line.h"
#include "fibre/loss_model.h"

/* Sums of a moment and a few of these stay far from WH_TSC_NEVER. */
#define TIME_MAX_TSC (UINT64_C(1) << 60)
static_assert(TIME_MAX_TSC <= WH_TSC_NEVER / 8, "and so do sums of some");

#define REORDER_DELAY_SHARE 10 /* default: this fraction of the delay, or this many packet times */

struct wh_fibre {
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
	struct wh_fibre_stats stats;
	struct wh_delay_line delay_line;
	struct wh_loss_model loss_model;
};

static bool is_share(double value)
{
	return value >= 0.0 && value <= 1.0; /* false for NaN */
}

bool wh_fibre_config_is_sound(const struct wh_fibre_config *config, uint64_t hz)
{
	const struct wh_gilbert_elliott *ge = &config->gilbert_elliott;
	const double shares[] = {config->loss, config->bit_error, config->corrupt,
		config->duplicate, config->reorder, ge->good_to_bad, ge->bad_to_good, ge->loss_good,
		ge->loss_bad};
	const uint64_t times_ns[] = {config->delay_ns, config->jitter_ns, config->reorder_delay_ns};

	for (unsigned int i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		if (!is_share(shares[i]))
			return false;
	}
	for (unsigned int i = 0; i < sizeof(times_ns) / sizeof(times_ns[0]); i++) {
		if (wh_ns_to_tsc(hz, times_ns[i]) > TIME_MAX_TSC)
			return false;
	}
	if ((config->rate_bps != 0 && !wh_line_rate_fits(config->rate_bps, hz)) ||
		(config->ingress_bps != 0 && !wh_line_rate_fits(config->ingress_bps, hz)))
		return false;
	if (config->reorder > 0.0 && config->reorder_delay_ns == 0 && config->rate_bps == 0 &&
		wh_ns_to_tsc(hz, config->delay_ns) < REORDER_DELAY_SHARE)
		return false;
	return config->loss_model <= WH_LOSS_GILBERT_ELLIOTT &&
	       config->n_outages <= WH_FIBRE_OUTAGES_MAX;
}

static void set_travel(struct wh_fibre *fibre, const struct wh_fibre_config *config, uint64_t hz)
{
	fibre->delay_tsc = wh_ns_to_tsc(hz, config->delay_ns);
	fibre->jitter_tsc = wh_ns_to_tsc(hz, config->jitter_ns);
	fibre->reorder_delay_default = config->reorder_delay_ns == 0;
	fibre->reorder_delay_tsc = fibre->reorder_delay_default
					   ? fibre->delay_tsc / REORDER_DELAY_SHARE
					   : wh_ns_to_tsc(hz, config->reorder_delay_ns);
	WH_ASSERT(fibre->delay_tsc <= TIME_MAX_TSC && fibre->jitter_tsc <= TIME_MAX_TSC);
	WH_ASSERT(fibre->reorder_delay_tsc <= TIME_MAX_TSC);
	fibre->corrupt_threshold = wh_chance_threshold(config->corrupt);
	fibre->reorder_threshold = wh_chance_threshold(config->reorder);
	fibre->duplicate_threshold = wh_chance_threshold(config->duplicate);
}

static void fibre_init(
	struct wh_fibre *fibre, const struct wh_fibre_config *config, uint64_t hz, uint64_t now_tsc)
{
	fibre->now_tsc = now_tsc;
	set_travel(fibre, config, hz);
	wh_prng_init(&fibre->prng, config->seed);
	wh_loss_model_init(&fibre->loss_model, config, hz, now_tsc);
}

struct wh_fibre *wh_fibre_create(
	const struct wh_fibre_config *config, uint64_t hz, uint64_t now_tsc, uint32_t items_max)
{
	WH_ASSERT(hz > 0 && hz < UINT64_C(1) << 40);
	WH_ASSERT(items_max > 0);

	int rc = -EINVAL;
	struct wh_fibre *fibre = NULL;

	if (!wh_fibre_config_is_sound(config, hz))
		goto fail;
	rc = -ENOMEM;
	fibre = calloc(1, sizeof(*fibre));
	if (fibre == NULL)
		goto fail;
	rc = wh_line_init(
		&fibre->ingress, &(struct wh_fibre_config){.rate_bps = config->ingress_bps}, hz);
	if (rc != 0)
		goto fail_fibre;
	rc = wh_line_init(&fibre->line, config, hz);
	if (rc != 0)
		goto fail_ingress;
	rc = wh_delay_line_init(&fibre->delay_line, items_max);
	if (rc != 0)
		goto fail_line;
	fibre_init(fibre, config, hz, now_tsc);
	return fibre;

fail_line:
	wh_line_free(&fibre->line);
fail_ingress:
	wh_line_free(&fibre->ingress);
fail_fibre:
	free(fibre);
fail:
	errno = -rc;
	return NULL;
}

void wh_fibre_destroy(struct wh_fibre *fibre)
{
	if (fibre == NULL)
		return;
	WH_ASSERT(wh_delay_line_held(&fibre->delay_line) == 0);
	wh_delay_line_free(&fibre->delay_line);
	wh_line_free(&fibre->line);
	wh_line_free(&fibre->ingress);
	free(fibre);
}

/*
 * Most items that reordering and duplication add to those within one delay. When a packet is held
 * for n of its own packet times, n packets of equal size are held at once; of growing sizes, each
 * at least 1/n of the sum of the later ones, n + ln(largest / smallest) / ln(1 + 1/n). From 64
 * bytes to 64 KiB that is 83 for the n = 10 of reordering and 11 for the second copy; the rest is
 * for rounding.
 */
#define ITEMS_BESIDE 100

uint32_t wh_fibre_items_needed(const struct wh_fibre_config *config, uint32_t wire_bytes_min)
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
static enum wh_fibre_drop pass_line(
	struct wh_fibre *fibre, uint64_t now_tsc, uint32_t wire_bytes, uint64_t *leave_tsc)
{
	uint64_t came_tsc = now_tsc;
	bool came = wh_line_enter(&fibre->ingress, now_tsc, wire_bytes, &came_tsc);

	WH_ASSERT(came && came_tsc >= now_tsc); /* the ingress has no limit */
	if (wh_loss_model_outage(&fibre->loss_model, came_tsc))
		return WH_FIBRE_DROP_OUTAGE;
	if (!wh_line_enter(&fibre->line, came_tsc, wire_bytes, leave_tsc))
		return WH_FIBRE_DROP_QUEUE;
	fibre->stats.queue_bytes_max = fibre->line.queue_bytes_max;
	return wh_loss_model_draw(&fibre->loss_model, &fibre->prng, wire_bytes);
}

/* The due time of the first copy. */
static uint64_t draw_due(struct wh_fibre *fibre, uint64_t leave_tsc, uint32_t wire_bytes)
{
	uint64_t due_tsc = leave_tsc + fibre->delay_tsc;

	if (fibre->jitter_tsc > 0)
		due_tsc += wh_prng_below(&fibre->prng, fibre->jitter_tsc + 1);
	due_tsc = wh_max_u64(due_tsc, fibre->in_order_tsc);
	WH_DEBUG_ASSERT(due_tsc != WH_TSC_NEVER);
	if (!wh_prng_chance(&fibre->prng, fibre->reorder_threshold)) {
		fibre->in_order_tsc = due_tsc;
		return due_tsc;
	}
	fibre->stats.reordered_pkts++;
	if (!fibre->reorder_delay_default)
		return due_tsc + fibre->reorder_delay_tsc;
	return due_tsc +
	       wh_max_u64(fibre->reorder_delay_tsc,
		       REORDER_DELAY_SHARE * wh_line_packet_tsc(&fibre->line, wire_bytes));
}

void wh_fibre_admit(
	struct wh_fibre *fibre, uint64_t now_tsc, uint32_t wire_bytes, struct wh_fibre_fate *fate)
{
	WH_ASSERT(wire_bytes > 0);
	WH_ASSERT(now_tsc >= fibre->now_tsc);

	uint64_t leave_tsc = 0;

	fibre->now_tsc = now_tsc;
	fibre->stats.entered_pkts++;
	*fate = (struct wh_fibre_fate){.drop = pass_line(fibre, now_tsc, wire_bytes, &leave_tsc)};
	if (fate->drop != WH_FIBRE_DELIVERED) {
		fibre->stats.dropped_pkts[fate->drop]++;
		return;
	}
	WH_DEBUG_ASSERT(leave_tsc >= now_tsc);
	if (wh_prng_chance(&fibre->prng, fibre->corrupt_threshold)) {
		fate->corrupt = true;
		fate->corrupt_bit = wh_prng_u64(&fibre->prng);
		fibre->stats.corrupted_pkts++;
	}
	fate->due_tsc[0] = draw_due(fibre, leave_tsc, wire_bytes);
	WH_DEBUG_ASSERT(fate->due_tsc[0] >= leave_tsc + fibre->delay_tsc);
	fate->copies = 1;
	if (wh_prng_chance(&fibre->prng, fibre->duplicate_threshold)) {
		fate->due_tsc[1] = fate->due_tsc[0] + wh_line_packet_tsc(&fibre->line, wire_bytes);
		fate->copies = 2;
		fibre->stats.duplicated_pkts++;
	}
}

uint64_t wh_fibre_queue_bytes(const struct wh_fibre *fibre, uint64_t now_tsc)
{
	return wh_line_queue_bytes(&fibre->line, now_tsc);
}

uint64_t wh_fibre_ingress_free(const struct wh_fibre *fibre)
{
	return wh_line_free_tsc(&fibre->ingress);
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

void wh_fibre_change(
	struct wh_fibre *fibre, const struct wh_fibre_config *config, uint64_t hz, uint64_t now_tsc)
{
	struct change change = {.old_delay_tsc = fibre->delay_tsc};
	bool had_ingress = fibre->ingress.byte_span > 0;

	WH_ASSERT(now_tsc >= fibre->now_tsc && wh_fibre_config_is_sound(config, hz));
	WH_ASSERT((config->ingress_bps != 0) == had_ingress);
	fibre->now_tsc = now_tsc;
	change.pace = wh_line_change(&fibre->line, config, hz, now_tsc);
	if (had_ingress)
		(void)wh_line_change(&fibre->ingress,
			&(struct wh_fibre_config){.rate_bps = config->ingress_bps}, hz, now_tsc);
	set_travel(fibre, config, hz);
	wh_loss_model_change(&fibre->loss_model, config, hz, now_tsc);
	change.new_delay_tsc = fibre->delay_tsc;
	wh_delay_line_change(&fibre->delay_line, changed_due, &change);
	/* Packets that have left the line do not delay those that follow on a shorter path. */
	if (fibre->in_order_tsc > now_tsc + change.old_delay_tsc)
		fibre->in_order_tsc = changed_due(&change, fibre->in_order_tsc);
	else if (change.new_delay_tsc < change.old_delay_tsc)
		fibre->in_order_tsc = 0;
}

bool wh_fibre_hold(struct wh_fibre *fibre, uint64_t due_tsc, void *item)
{
	WH_ASSERT(item != NULL);

	bool late = due_tsc > fibre->in_order_tsc;

	return wh_delay_line_hold(&fibre->delay_line, due_tsc, late, item);
}

void wh_fibre_count_queue_drop(struct wh_fibre *fibre)
{
	fibre->stats.dropped_pkts[WH_FIBRE_DROP_QUEUE]++;
}

uint32_t wh_fibre_take(
	struct wh_fibre *fibre, uint64_t now_tsc, struct wh_fibre_item *items, uint32_t count)
{
	uint32_t taken = wh_delay_line_take(&fibre->delay_line, now_tsc, items, count);

	fibre->stats.left_pkts += taken;
	return taken;
}

void *wh_fibre_take_any(struct wh_fibre *fibre)
{
	void *item = wh_delay_line_take_any(&fibre->delay_line);

	if (item != NULL)
		fibre->stats.left_pkts++;
	return item;
}

uint64_t wh_fibre_deadline(const struct wh_fibre *fibre)
{
	return wh_delay_line_deadline(&fibre->delay_line);
}

uint32_t wh_fibre_held(const struct wh_fibre *fibre)
{
	return wh_delay_line_held(&fibre->delay_line);
}

const struct wh_fibre_stats *wh_fibre_stats(const struct wh_fibre *fibre)
{
	return &fibre->stats;
}
