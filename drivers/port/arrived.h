/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a port says of a packet that it has received. */

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>

#include "port/port.h"

/* Whether packets say when they arrived. */
static inline bool wh_port_has_stamps(const struct wh_port *port)
{
	return port->tsc_stamps || (port->nic_stamps && wh_nic_clock_is_known(&port->nic_clock));
}

/*
 * When a packet arrived: its arrival stamp, if that counts cycles of the TSC (an emulated link) or
 * ticks of a clock that the port reads (a NIC). Otherwise now_tsc, when the burst was taken.
 * Capture files have clocks of their own, and their stamps are ignored.
 */
static inline uint64_t wh_port_arrived_tsc(
	const struct wh_port *port, const struct rte_mbuf *pkt, uint64_t now_tsc)
{
	if (!wh_port_has_stamps(port) || (pkt->ol_flags & port->stamp_flag) == 0)
		return now_tsc;

	uint64_t stamp = *RTE_MBUF_DYNFIELD(pkt, port->stamp_offset, const rte_mbuf_timestamp_t *);

	return port->tsc_stamps ? stamp : wh_nic_clock_tsc(&port->nic_clock, stamp, now_tsc);
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
