/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Addresses as the kernel has them. */

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include <rte_byteorder.h>

#include "wire/encap.h"

union wh_sockaddr {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
};

/* Returns its length. */
static inline socklen_t wh_sockaddr_of(const struct wh_address *address, union wh_sockaddr *to)
{
	*to = (union wh_sockaddr){.ipv6 = {.sin6_family = AF_UNSPEC}};
	if (address->family == WH_IPV6) {
		to->ipv6.sin6_family = AF_INET6;
		to->ipv6.sin6_port = rte_cpu_to_be_16(address->port);
		memcpy(&to->ipv6.sin6_addr, address->ip, 16);
		return sizeof(to->ipv6);
	}
	to->ipv4.sin_family = AF_INET;
	to->ipv4.sin_port = rte_cpu_to_be_16(address->port);
	memcpy(&to->ipv4.sin_addr, address->ip, 4);
	return sizeof(to->ipv4);
}

/* False: neither IPv4 nor IPv6. */
static inline bool wh_sockaddr_read(const union wh_sockaddr *from, struct wh_address *address)
{
	*address = (struct wh_address){0};
	if (from->any.sa_family == AF_INET) {
		address->family = WH_IPV4;
		address->port = rte_be_to_cpu_16(from->ipv4.sin_port);
		memcpy(address->ip, &from->ipv4.sin_addr, 4);
		return true;
	}
	if (from->any.sa_family != AF_INET6)
		return false;
	address->family = WH_IPV6;
	address->port = rte_be_to_cpu_16(from->ipv6.sin6_port);
	memcpy(address->ip, &from->ipv6.sin6_addr, 16);
	return true;
}
