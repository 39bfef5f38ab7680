/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a port says of a packet that it has received. */

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "port/port.h"

/*
 * When a packet arrived: its arrival stamp if that counts cycles of the TSC, else fallback_tsc (the
 * time of the burst). Only an emulated link stamps in TSC cycles. NICs and capture files use clocks
 * of their own, and their stamps are ignored.
 */
static inline uint64_t wh_port_arrived_tsc(
	const struct wh_port *port, const struct rte_mbuf *pkt, uint64_t fallback_tsc)
{
	if (port->tsc_stamps && (pkt->ol_flags & port->stamp_flag) != 0)
		return *RTE_MBUF_DYNFIELD(pkt, port->stamp_offset, const rte_mbuf_timestamp_t *);
	return fallback_tsc;
}

/*
 * Whether a packet's UDP checksum must still be verified. Not if the port found it good, nor if it
 * says NONE: checksums that a peer on the same host left to an offload cannot be verified, and need
 * not be.
 */
static inline bool wh_port_udp_sum_unknown(const struct rte_mbuf *pkt)
{
	return (pkt->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN;
}
