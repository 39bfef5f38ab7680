/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/skew.h"

#include <math.h>

#include "base/assert.h"

/* Larger sums come from false reports and start again at 0. */
#define CORRECTED_MOST 1e15

#define LINES_MAX (WH_SKEW_BLOCKS * (WH_SKEW_BLOCKS - 1) / 2)

void wh_skew_init(struct wh_skew *skew, uint64_t hz, uint64_t grain_tsc)
{
	WH_ASSERT(hz >= 1000 && grain_tsc > 0);
	*skew = (struct wh_skew){
		.block_tsc = hz / 1000 * WH_SKEW_BLOCK_MS,
		.grain_tsc = grain_tsc,
	};
}

/* Subtracts integers, since the clocks' offset may leave a double no bits for the delay. */
static double difference(int64_t delay_tsc, int64_t before_tsc)
{
	return (double)(int64_t)((uint64_t)delay_tsc - (uint64_t)before_tsc);
}

/* Negative if packets were reordered. */
static double span(uint64_t at_tsc, uint64_t before_tsc)
{
	return (double)(int64_t)(at_tsc - before_tsc);
}

/* Insertion sort, because qsort may allocate. */
static void insert(double *sorted, uint32_t count, double value)
{
	uint32_t place = count;

	WH_ASSERT(count < LINES_MAX);
	while (place > 0 && sorted[place - 1] > value) {
		sorted[place] = sorted[place - 1];
		place--;
	}
	sorted[place] = value;
}

static double median_slope(const struct wh_skew *skew)
{
	double slope[LINES_MAX];
	uint32_t lines = 0;

	for (uint32_t i = 1; i < skew->blocks; i++)
		for (uint32_t j = 0; j < i; j++) {
			const struct wh_skew_point *a = &skew->block[i];
			const struct wh_skew_point *b = &skew->block[j];

			if (a->at_tsc != b->at_tsc)
				insert(slope, lines++,
					difference(a->delay_tsc, b->delay_tsc) /
						span(a->at_tsc, b->at_tsc));
		}
	if (lines == 0)
		return 0.0;
	return fmin(fmax(slope[lines / 2], -WH_SKEW_MOST_PPM * 1e-6), WH_SKEW_MOST_PPM * 1e-6);
}

static void end_block(struct wh_skew *skew)
{
	WH_ASSERT(skew->cursor < WH_SKEW_BLOCKS);
	skew->block[skew->cursor] = skew->least;
	skew->cursor = (skew->cursor + 1) % WH_SKEW_BLOCKS;
	if (skew->blocks < WH_SKEW_BLOCKS)
		skew->blocks++;
	if (wh_skew_known(skew))
		skew->slope = median_slope(skew);
	WH_ASSERT(fabs(skew->slope) <= WH_SKEW_MOST_PPM * 1e-6);
}

/* Corrects step by step, so that a new slope bends the corrected delays but causes no jump. */
void wh_skew_add(struct wh_skew *skew, uint64_t at_tsc, int64_t delay_tsc)
{
	const struct wh_skew_point point = {.at_tsc = at_tsc, .delay_tsc = delay_tsc};

	WH_ASSERT(skew->block_tsc > 0 && skew->grain_tsc > 0);
	if (skew->samples == 0) {
		skew->samples = 1;
		skew->block_began_tsc = at_tsc;
		skew->least = point;
		skew->latest = point;
		return;
	}
	skew->corrected_tsc += difference(delay_tsc, skew->latest.delay_tsc) -
			       skew->slope * span(at_tsc, skew->latest.at_tsc);
	if (fabs(skew->corrected_tsc) > CORRECTED_MOST)
		skew->corrected_tsc = 0.0;
	skew->latest = point;
	if (span(at_tsc, skew->block_began_tsc) >= (double)skew->block_tsc) {
		end_block(skew);
		skew->block_began_tsc = at_tsc;
		skew->least = point;
	} else if (difference(delay_tsc, skew->least.delay_tsc) < 0.0) {
		skew->least = point;
	}
}

bool wh_skew_known(const struct wh_skew *skew)
{
	return skew->blocks >= WH_SKEW_KNOWN;
}

double wh_skew_slope(const struct wh_skew *skew)
{
	return skew->slope;
}

/*
 * Rounded to whole grains. Fractions of a grain come from rounding and the residual slope; they
 * grow steadily and would look like a trend.
 */
int64_t wh_skew_corrected(const struct wh_skew *skew)
{
	return llround(skew->corrected_tsc / (double)skew->grain_tsc) * (int64_t)skew->grain_tsc;
}
