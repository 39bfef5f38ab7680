/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The kernel's sockets of a queue: one for each family of which this end has an address. A server's
 * are bound to that address alone, so that every packet leaves from the address at which its peer
 * knows us; a client's to any, so that it may change.
 *
 * Packets have a length that passes whole, as far as the server was asked (cli/own/path_size.h). If
 * the path becomes narrower under way, routers cut those of IPv4, which are sent without DF, and
 * sessions go on. Routers do not cut those of IPv6: the kernel does if a session wants it (`cut` of
 * struct wh_out). Else it cuts for its own interface alone (IP_PMTUDISC_OMIT), and not as ICMP
 * tells: anybody may forge that, and fragments cost several times as much. Only sockets that report
 * errors hear of ICMP at all; see errors.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/encap.h"

#define WH_UDP_FAMILIES 2

/* What sockets ask for: 5 ms of 10 Gb/s while the core is away; and a few messages to send. */
#define WH_UDP_RECEIVE_BYTES (8 << 20)
#define WH_UDP_SEND_BYTES    (2 << 20)

struct wh_udp_sockets {
	int fd[WH_UDP_FAMILIES]; /* of IPv4 and IPv6; -1: none */
	uint16_t port;           /* of both */
	uint32_t receive_bytes;  /* the smaller of their receive buffers */
	bool receives_segments;  /* the kernel joins packets (UDP_GRO) */
	bool sends_segments;     /* the kernel cuts messages (UDP_SEGMENT) */
	bool reports_errors;
};

static inline uint32_t wh_udp_place_of(uint8_t family)
{
	return family == WH_IPV6;
}

/*
 * Opens them for those addresses (family 0: none), with that port; 0: any that is free.
 * reports_errors: ICMP errors come by the error queue, and make the next call fail once. 0; or a
 * negative errno, and in `why` one sentence that says what to do.
 */
int wh_udp_sockets_open(const struct wh_address own[WH_UDP_FAMILIES], uint16_t port,
	bool reports_errors, struct wh_udp_sockets *sockets, char *why, size_t why_bytes);

void wh_udp_sockets_close(struct wh_udp_sockets *sockets);

/* Packets that are sent get that DSCP. 0 or a negative errno. */
int wh_udp_sockets_mark(const struct wh_udp_sockets *sockets, uint8_t dscp);

/* Whether the kernel cuts packets of a socket of IPv6 to the length that routers tell. */
void wh_udp_sockets_cut(int fd, bool cut);

/* What the kernel cannot do, and what that costs, as one sentence; false: it can do all. */
bool wh_udp_old_kernel_text(const struct wh_udp_sockets *sockets, char *text, size_t bytes);

/* The sentence that names the remedy for a receive buffer that is smaller than asked for. */
void wh_udp_small_buffer_text(uint32_t receive_bytes, char *text, size_t bytes);
