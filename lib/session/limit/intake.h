/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Flow control for a port that drops packets because its core does not read them in time: the CPU
 * was taken away, or is too slow. No path has lost these packets, so no rate would be right for
 * them. Instead the receivers of the endpoint offer less: a share of their tables, so that what is
 * under way finds room in the port's buffer.
 *
 * Each overflow halves the share, at most once in WH_INTAKE_PAUSE_MS, since what was offered before
 * still arrives. Then it grows by the halved share in each WH_INTAKE_GROWS_MS, until it is the
 * whole. All of it belongs to the core that does the receivers' bookkeeping.
 */

#include <stdint.h>

#define WH_INTAKE_PAUSE_MS UINT64_C(20)
#define WH_INTAKE_GROWS_MS UINT64_C(1000)

/* Each receiver offers at least so many packets. */
#define WH_INTAKE_PKTS_MIN 8

/* All zeros: nothing was dropped. */
struct wh_intake_share {
	uint64_t cut_tsc; /* of the latest cut; 0: none */
	double share;     /* after the latest cut */
};

/* The port has dropped packets. */
void wh_intake_overflowed(struct wh_intake_share *intake, uint64_t hz, uint64_t now_tsc);

/* How many packets beyond its first missing one a receiver with such a table offers. */
uint64_t wh_intake_pkts(
	const struct wh_intake_share *intake, uint64_t hz, uint64_t now_tsc, uint64_t table_pkts);
