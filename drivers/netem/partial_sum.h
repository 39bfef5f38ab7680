/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A kernel that offloads checksums to its NIC writes the pseudo header's sum only and leaves the
 * rest to the NIC. Where there is no NIC, as behind a veth, such frames arrive as they are, and
 * their receiver drops them.
 */

#include <stdbool.h>

#include <rte_mbuf.h>

/*
 * Whether a frame is TCP or UDP with such a partial checksum: over IPv4 without fragments, or over
 * IPv6 without extension headers, with up to two tags, all headers in the first segment. One in
 * 65536 frames with a complete checksum is mistaken for one.
 */
bool wh_has_partial_sum(const struct rte_mbuf *pkt);
