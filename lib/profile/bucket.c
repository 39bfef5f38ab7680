/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile/bucket.h"

#include <math.h>

#include "base/assert.h"

/* A larger bucket has no effect. */
#define CAPACITY_MAX 0x1p40

/*
 * V B asks for adaptive weights and specifies none. Here round trips that keep changing in the same
 * direction shift weight towards the latest one, since the network has changed. Changes back and
 * forth, as from single odd round trips, shift it towards the past. The weights change by a tenth
 * at a time, within those that section IV has tried, 1:9 and 9:1.
 */
#define HISTORY_STEP  0.1
#define HISTORY_LEAST 0.1
#define HISTORY_MOST  0.9

/* Rounding error that may be missing from a whole token. */
#define NEARLY_NOTHING 1e-9

void wh_bucket_init(struct wh_bucket *bucket, const struct wh_bucket_rules *rules)
{
	WH_ASSERT(rules->history >= 0.0 && rules->history <= 1.0);
	WH_ASSERT(rules->threshold >= 0.0);
	*bucket = (struct wh_bucket){.rules = *rules, .history = rules->history};
}

static void check(const struct wh_bucket *bucket)
{
	WH_ASSERT(bucket->capacity >= 1.0 && bucket->capacity <= CAPACITY_MAX);
	WH_ASSERT(bucket->feed >= 0.0 && bucket->feed <= CAPACITY_MAX);
	WH_ASSERT(bucket->tokens >= 0.0 && bucket->tokens <= bucket->capacity);
}

/* With a capacity below one token nothing could ever be sent. */
static void bound(struct wh_bucket *bucket)
{
	bucket->capacity = fmin(fmax(bucket->capacity, 1.0), CAPACITY_MAX);
	bucket->feed = fmin(fmax(bucket->feed, 0.0), CAPACITY_MAX);
	bucket->tokens = fmin(fmax(bucket->tokens, 0.0), bucket->capacity);
	check(bucket);
}

void wh_bucket_fill(
	struct wh_bucket *bucket, double capacity, double feed, double tokens, double rtt)
{
	WH_ASSERT(rtt > 0.0);
	bucket->capacity = capacity;
	bucket->feed = feed;
	bucket->tokens = tokens;
	bucket->last_rtt = rtt;
	bucket->least_rtt = rtt;
	bound(bucket);
}

void wh_bucket_feed(struct wh_bucket *bucket, double times)
{
	WH_ASSERT(times >= 0.0);
	wh_bucket_add(bucket, bucket->feed * times);
}

/* A sum of fractions that should be whole may differ from it in the last bit. */
void wh_bucket_add(struct wh_bucket *bucket, double tokens)
{
	double sum = bucket->tokens + tokens;
	double whole = round(sum);

	bucket->tokens = fabs(sum - whole) < NEARLY_NOTHING ? whole : sum;
	bound(bucket);
}

void wh_bucket_take(struct wh_bucket *bucket, double tokens)
{
	bucket->tokens -= tokens;
	bound(bucket);
}

double wh_bucket_scale(const struct wh_bucket_rules *rules, double history, double value,
	double last_rtt, double new_rtt)
{
	double ratio = last_rtt / new_rtt;

	WH_ASSERT(last_rtt > 0.0 && new_rtt > 0.0);
	if (rules->growth_by_share && new_rtt < last_rtt)
		ratio = 1.0 + (last_rtt - new_rtt) / last_rtt;
	return history * value + (1.0 - history) * (value * ratio);
}

static double scaled(const struct wh_bucket *bucket, double value, double last, double rtt)
{
	return wh_bucket_scale(&bucket->rules, bucket->history, value, last, rtt);
}

static void adapt(struct wh_bucket *bucket, int32_t change)
{
	double step = change == bucket->last_change ? -HISTORY_STEP : HISTORY_STEP;

	if (bucket->last_change != 0)
		bucket->history = fmin(fmax(bucket->history + step, HISTORY_LEAST), HISTORY_MOST);
	bucket->last_change = change;
}

static bool is_significant(const struct wh_bucket *bucket, double last, double rtt)
{
	return fabs(rtt - last) > bucket->rules.threshold * last;
}

/* sigma is whole: "calculated to 3 decimal places for clarity, which yields [...] 15" (III B.3). */
bool wh_bucket_measure(struct wh_bucket *bucket, double rtt)
{
	double last = bucket->last_rtt;

	WH_ASSERT(rtt > 0.0 && last > 0.0);
	bucket->last_rtt = rtt;
	bucket->least_rtt = fmin(bucket->least_rtt, rtt);
	if (!is_significant(bucket, last, rtt))
		return false;
	if (bucket->rules.adaptive)
		adapt(bucket, rtt > last ? 1 : -1);
	bucket->capacity = round(scaled(bucket, bucket->capacity, last, rtt));
	if (bucket->rules.feed_scales)
		bucket->feed = scaled(bucket, bucket->feed, last, rtt);
	bucket->tokens = scaled(bucket, bucket->tokens, last, rtt);
	bucket->scalings++;
	bound(bucket);
	return true;
}

bool wh_bucket_path_is_clear(const struct wh_bucket *bucket)
{
	return bucket->last_rtt <= bucket->least_rtt * (1.0 + bucket->rules.threshold);
}

void wh_bucket_hear(struct wh_bucket *bucket, double acks, double rtt)
{
	double last = bucket->last_rtt;

	if (!bucket->rules.twice) {
		wh_bucket_feed(bucket, acks);
		if (rtt > 0.0)
			wh_bucket_measure(bucket, rtt);
		return;
	}

	bool changed = rtt > 0.0 && wh_bucket_measure(bucket, rtt);

	wh_bucket_feed(bucket, acks);
	if (changed)
		bucket->tokens = scaled(bucket, bucket->tokens, last, rtt);
	bound(bucket);
}
