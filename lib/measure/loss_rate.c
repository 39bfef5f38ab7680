/* SPDX-License-Identifier: BSD-3-Clause */
#include "measure/loss_rate.h"

#include "base/assert.h"

/* The weight that older packets keep after `total` more: (1 - 1/n)^total, by squaring. */
static double share_kept(uint64_t total)
{
	double factor = 1.0 - 1.0 / WH_LOSS_SHORT_PKTS;
	double kept = 1.0;

	for (; total > 0; total >>= 1) {
		if (total & 1)
			kept *= factor;
		factor *= factor;
	}
	return kept;
}

void wh_loss_rate_init(struct wh_loss_rate *loss)
{
	*loss = (struct wh_loss_rate){0};
}

void wh_loss_rate_add(struct wh_loss_rate *loss, uint64_t total, uint64_t lost)
{
	WH_ASSERT(lost <= total);
	if (total == 0)
		return;
	loss->total_pkts += total;
	loss->lost_pkts += lost;
	WH_ASSERT(loss->lost_pkts <= loss->total_pkts);

	/*
	 * The first n packets have equal weights: an average that starts from 0 would be too low.
	 */
	double weight = 1.0 - share_kept(total);
	double equal_weight = (double)total / (double)loss->total_pkts;

	if (weight < equal_weight)
		weight = equal_weight;
	WH_ASSERT(weight > 0.0 && weight <= 1.0);
	loss->short_term += weight * ((double)lost / (double)total - loss->short_term);
	WH_ASSERT(loss->short_term >= 0.0 && loss->short_term <= 1.0);
}

double wh_loss_rate_short(const struct wh_loss_rate *loss)
{
	return loss->short_term;
}

double wh_loss_rate_long(const struct wh_loss_rate *loss)
{
	if (loss->total_pkts == 0)
		return 0.0;
	return (double)loss->lost_pkts / (double)loss->total_pkts;
}

double wh_loss_rate_get(const struct wh_loss_rate *loss)
{
	return WH_LOSS_SHORT_WEIGHT * wh_loss_rate_short(loss) +
	       (1.0 - WH_LOSS_SHORT_WEIGHT) * wh_loss_rate_long(loss);
}
