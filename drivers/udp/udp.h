/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Joins the kernel's UDP sockets of one queue to the endpoint behind them, as port/netif.h joins a
 * queue of an ethdev. Any user account can open them; the kernel does the duties of a host. Its two
 * tasks run on two lcores, or on one in this order:
 *
 *   receive  takes messages (recvmmsg), each of one datagram or of several that the kernel has
 *            joined (UDP_GRO), gives each datagram to the endpoint from the buffer it came in, then
 *            runs receivers that are due
 *   send     runs transmitters that are due, takes packets that sessions may send now, and sends
 *            them as messages (batch.h, sendmmsg)
 *
 * A datagram is hostile until the endpoint has checked it, as on a NIC; here only its length and
 * its sender are known. Its arrival time is the kernel's, in cycles of the TSC (stamps.h). What the
 * kernel had no room for is counted as missed by the device, apart from the path's loss.
 *
 * When the kernel's send buffer is full, messages wait in the batch, and no session sends until
 * they have left. A message that the kernel refuses is lost like any on the way, and counted.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "endpoint/endpoint.h"
#include "neighbour/neighbour.h"
#include "port/port.h"
#include "udp/batch.h"
#include "udp/sockets.h"
#include "udp/stamps.h"

/* Messages in one call, each with room for the longest. */
#define WH_UDP_MESSAGES           8
#define WH_UDP_MESSAGE_ROOM_BYTES 65536

/* Datagrams in one turn of the loop, unless the last message has more. */
#define WH_UDP_RECEIVE_MAX 512

struct wh_udp_config {
	struct wh_udp_sockets sockets; /* become the queue's, also if it cannot be opened */
	uint16_t mtu;
	struct wh_endpoint_config endpoint; /* its meters also count the kernel's time */
	/* The clock, read after receiving and before sending; NULL: the turn's time. */
	uint64_t (*read_tsc)(void);
};

struct wh_udp_receiving; /* messages as recvmmsg(2) has them */

struct wh_udp {
	struct wh_udp_config config;
	struct wh_endpoint endpoint;
	struct wh_port_stats stats; /* each counter is written by one task */
	_Atomic bool errors_due;    /* send -> receive: the error queue has something */

	/* receive, its cache lines apart */
	uint8_t apart_receive[64];
	struct wh_udp_receiving *receiving;
	struct wh_stamps stamps;
	uint32_t missed[WH_UDP_FAMILIES]; /* by the kernel, as it counts them; wraps */
	struct wh_neighbour_watch *watch; /* peers whose ICMP errors are noted; see wh_udp_watch */

	/* send */
	uint8_t apart_send[64];
	struct wh_udp_batch batch;
	uint32_t segments_max; /* 1: the kernel cuts no messages */
	bool cuts;             /* the kernel now cuts packets of IPv6 for any path */
};

/* 0 or -ENOMEM. */
int wh_udp_init(struct wh_udp *udp, const struct wh_udp_config *config);
void wh_udp_free(struct wh_udp *udp);

/* The tasks; `udp` is a struct wh_udp. */
int32_t wh_udp_receive(void *udp, uint64_t now_tsc);
int32_t wh_udp_send(void *udp, uint64_t now_tsc);

/*
 * Notes ICMP errors about packets to that peer in `watch`, if the sockets report any: hints for the
 * operator, which anybody may forge. Call before the tasks run.
 */
void wh_udp_watch(
	struct wh_udp *udp, struct wh_neighbour_watch *watch, const struct wh_address *peer);

/* Counters of the queue, as of a port; may be called on any core. */
void wh_udp_stats(const struct wh_udp *udp, struct wh_port_stats *stats);
