/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/plan_formula.h"

#include <math.h>

#include "base/assert.h"

/* RFC 6298 (2.4) rounds up to a second; what runs today, ns-2 too, takes 200 ms. */
#define RTO_MIN_S 0.2

/* RFC 9438, 5: C and beta_cubic. */
#define CUBIC_C    0.4
#define CUBIC_BETA 0.7

/* RFC 3649, 5: what it does up to Low_Window, 38 packets, is Reno's. */
#define HIGHSPEED_LOW_P 1e-3

/* RFC 3649, 3: the line through (38, 1e-3) and (83000, 1e-7) is 0.12 / p^0.835. */
#define HIGHSPEED_FACTOR   0.12
#define HIGHSPEED_EXPONENT 0.835

/*
 * A window that grows by a packet a round trip and falls by a share b of itself (RFC 5348's
 * "AIMD(a, b)"): sqrt((2 - b) / (2 b p)), which is Mathis's sqrt(3 / 2p) for half.
 */
static double additive(double fall, double loss)
{
	return sqrt((2.0 - fall) / (2.0 * fall * loss));
}

/* Padhye, Firoiu, Towsley, Kurose: "Modeling TCP throughput", 1998, (30), with b = 1. */
static double padhye(double loss, double rtt_s)
{
	double rto_s = fmax(RTO_MIN_S, 2.0 * rtt_s);
	double timeouts =
		rto_s * fmin(1.0, 3.0 * sqrt(3.0 * loss / 8.0)) * loss * (1.0 + 32.0 * loss * loss);

	return rtt_s / (rtt_s * sqrt(2.0 * loss / 3.0) + timeouts);
}

/* RFC 9438, 5.1, and 4.3 where Reno would be faster. */
static double cubic(double loss, double rtt_s)
{
	double alone = pow(CUBIC_C * (3.0 + CUBIC_BETA) / (4.0 * (1.0 - CUBIC_BETA)), 0.25) *
		       pow(rtt_s / loss, 0.75);

	return fmax(alone, additive(0.5, loss));
}

static double highspeed(double loss)
{
	return loss < HIGHSPEED_LOW_P ? HIGHSPEED_FACTOR / pow(loss, HIGHSPEED_EXPONENT)
				      : additive(0.5, loss);
}

struct wh_formula wh_formula_tcp(enum wh_sim_tcp_variety variety, double loss, double rtt_s)
{
	WH_ASSERT(loss > 0.0 && loss <= 1.0);
	WH_ASSERT(rtt_s > 0.0);
	switch (variety) {
	case WH_SIM_TCP_RENO:
	case WH_SIM_TCP_NEWRENO:
		return (struct wh_formula){"Padhye et al. 1998", padhye(loss, rtt_s)};
	case WH_SIM_TCP_SACK:
		return (struct wh_formula){"Mathis et al. 1997", additive(0.5, loss)};
	case WH_SIM_TCP_VEGAS:
		return (struct wh_formula){"AIMD by 1/4", additive(0.25, loss)};
	case WH_SIM_TCP_HIGHSPEED:
		return (struct wh_formula){"RFC 3649", highspeed(loss)};
	case WH_SIM_TCP_CUBIC:
		return (struct wh_formula){"RFC 9438", cubic(loss, rtt_s)};
	case WH_SIM_TCP_VARIETIES:
		break;
	}
	WH_ASSERT(variety < WH_SIM_TCP_VARIETIES);
	return (struct wh_formula){0};
}
