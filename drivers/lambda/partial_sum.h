/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_LAMBDA_PARTIAL_SUM_H
#define WH_LAMBDA_PARTIAL_SUM_H

/*
 * A kernel whose NIC computes sums writes that of the pseudo header alone, and leaves the rest to
 * it. Where there is no NIC, as behind a veth, such frames arrive, and whoever they are for drops
 * them.
 */

#include <stdbool.h>

#include <rte_mbuf.h>

/*
 * Whether a frame is TCP or UDP with such a sum: over IPv4 without fragments, or over IPv6 without
 * extension headers, with up to two tags, all headers in the first segment. Of frames whose sum is
 * whole one in 65536 looks so, too.
 */
bool wh_has_partial_sum(const struct rte_mbuf *pkt);

#endif
