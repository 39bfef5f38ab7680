/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Addresses of this host, which the kernel has and port `udp` uses. Nothing here sends a packet:
 * the kernel is asked for its route by connecting a datagram socket.
 */

#include <stdbool.h>
#include <stdint.h>

#include "wire/encap.h"

/* The MTU that is used at most: larger packets carry no larger payload. */
#define WH_UDP_MTU_MAX 9300

struct wh_udp_own {
	struct wh_address address; /* port 0 */
	uint8_t prefix_bits;       /* of its subnet on its interface */
	uint16_t mtu;              /* of its interface; at most WH_UDP_MTU_MAX */
	uint16_t told_mtu;         /* of the route, as far as the kernel was told; at most mtu */
	bool is_loopback;          /* of no use to other hosts */
};

/*
 * The address of that family by which this host is known: the source towards the default route;
 * else the first one of an interface that is up; else loopback's. 0, or -EADDRNOTAVAIL: none.
 */
int wh_udp_own_main(uint8_t family, struct wh_udp_own *own);

/* That address, which must be this host's: 0, or -EADDRNOTAVAIL. */
int wh_udp_own_named(const struct wh_address *address, struct wh_udp_own *own);

/*
 * The address from which the kernel sends to that peer, and the MTU of the route as far as the
 * kernel knows it. 0, or a negative errno: -ENETUNREACH and the like, no route.
 */
int wh_udp_own_toward(const struct wh_address *peer, struct wh_udp_own *own);

/*
 * A socket connected to that peer, for questions before there is a port; it sends what its
 * interface takes, and never waits. A descriptor, or a negative errno.
 */
int wh_udp_asking_socket(const struct wh_address *peer, uint8_t dscp);
