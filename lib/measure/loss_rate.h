/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The loss rates of ttp.txt II B and C, all as shares of packets sent:
 *
 *   short term  "perceived": over the last WH_LOSS_SHORT_PKTS packets
 *   long term   "link": over all packets of the connection
 *   estimate    their weighted mean, for choosing the amount of repair
 *
 * The paper's perceived rate divides by the packets received. Here it divides by all packets, since
 * only a share can be compared and averaged with the link rate. Here the paper's window is an
 * exponential average, so that feedback of any size can be added without storing bits.
 */

#include <stdint.h>

#include "measure/constants.h"

struct wh_loss_rate {
	double short_term;
	uint64_t total_pkts;
	uint64_t lost_pkts;
};

void wh_loss_rate_init(struct wh_loss_rate *loss);

/* Of `total` further packets, `lost` were lost (lost <= total). */
void wh_loss_rate_add(struct wh_loss_rate *loss, uint64_t total, uint64_t lost);

/* All are 0 before packets are added: callers with a projected rate use that until then. */
double wh_loss_rate_short(const struct wh_loss_rate *loss);
double wh_loss_rate_long(const struct wh_loss_rate *loss);

/* The weighted mean. */
double wh_loss_rate_get(const struct wh_loss_rate *loss);
