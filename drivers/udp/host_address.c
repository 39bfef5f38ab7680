/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/host_address.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "udp/sockaddr.h"
#include "udp/sockets.h"

/* Reserved for documentation (RFC 5737, RFC 3849): in no host's routes but the default one. */
static const struct wh_address beyond4 = {.family = WH_IPV4, .ip = {192, 0, 2, 1}, .port = 9};
static const struct wh_address beyond6 = {
	.family = WH_IPV6, .ip = {0x20, 0x01, 0x0d, 0xb8, [15] = 1}, .port = 9};

/* A descriptor or a negative errno. */
static int connected(const struct wh_address *peer)
{
	union wh_sockaddr to;
	socklen_t bytes = wh_sockaddr_of(peer, &to);
	int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (connect(fd, &to.any, bytes) == 0)
		return fd;

	int error = errno;

	close(fd);
	return -error;
}

int wh_udp_asking_socket(const struct wh_address *peer, uint8_t dscp)
{
	const bool ipv6 = peer->family == WH_IPV6;
	const int probe = ipv6 ? IPV6_PMTUDISC_PROBE : IP_PMTUDISC_PROBE;
	int fd = connected(peer);
	struct wh_udp_sockets sockets = {.fd = {ipv6 ? -1 : fd, ipv6 ? fd : -1}};

	if (fd >= 0 &&
		(fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || wh_udp_sockets_mark(&sockets, dscp) != 0 ||
			setsockopt(fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP,
				ipv6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER, &probe,
				sizeof(probe)) != 0)) {
		int error = errno;

		close(fd);
		fd = -error;
	}
	return fd;
}

static uint16_t bounded_mtu(int mtu)
{
	return (uint16_t)(mtu <= 0 || mtu > WH_UDP_MTU_MAX ? WH_UDP_MTU_MAX : mtu);
}

static uint16_t mtu_of_interface(const char *name)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq request = {0};
	int mtu = 0;

	strncpy(request.ifr_name, name, sizeof(request.ifr_name) - 1);
	if (fd >= 0 && ioctl(fd, SIOCGIFMTU, &request) == 0)
		mtu = request.ifr_mtu;
	if (fd >= 0)
		close(fd);
	return bounded_mtu(mtu);
}

static uint8_t prefix_of(const struct sockaddr *mask, uint8_t family)
{
	struct wh_address as_address;
	uint8_t bits = 0;

	if (mask == NULL ||
		!wh_sockaddr_read((const union wh_sockaddr *)(const void *)mask, &as_address))
		return family == WH_IPV6 ? 128 : 32;
	for (uint32_t i = 0; i < (family == WH_IPV6 ? 16 : 4); i++)
		bits = (uint8_t)(bits + __builtin_popcount(as_address.ip[i]));
	return bits;
}

/* IPv6 also has addresses that are valid on one link only, which a peer elsewhere cannot use. */
static bool is_of_link(const struct wh_address *address)
{
	return address->family == WH_IPV6 && address->ip[0] == 0xfe &&
	       (address->ip[1] & 0xc0) == 0x80;
}

/* Whether this entry is the wanted address; or, without one, usable, on loopback or not. */
static bool suits(const struct ifaddrs *entry, uint8_t family, const struct wh_address *wanted,
	bool loopback, struct wh_udp_own *own)
{
	if (entry->ifa_addr == NULL || (entry->ifa_flags & IFF_UP) == 0 ||
		!wh_sockaddr_read(
			(const union wh_sockaddr *)(const void *)entry->ifa_addr, &own->address) ||
		own->address.family != family)
		return false;
	own->address.port = 0;
	if (wanted != NULL)
		return memcmp(own->address.ip, wanted->ip, sizeof(wanted->ip)) == 0;
	return ((entry->ifa_flags & IFF_LOOPBACK) != 0) == loopback && !is_of_link(&own->address);
}

static int look_for(
	uint8_t family, const struct wh_address *wanted, bool loopback, struct wh_udp_own *own)
{
	struct ifaddrs *all;
	int rc = -EADDRNOTAVAIL;

	if (getifaddrs(&all) != 0)
		return -errno;
	for (const struct ifaddrs *i = all; i != NULL && rc != 0; i = i->ifa_next) {
		if (!suits(i, family, wanted, loopback, own))
			continue;
		own->prefix_bits = prefix_of(i->ifa_netmask, family);
		own->mtu = own->told_mtu = mtu_of_interface(i->ifa_name);
		own->is_loopback = (i->ifa_flags & IFF_LOOPBACK) != 0;
		rc = 0;
	}
	freeifaddrs(all);
	return rc;
}

/*
 * An address of the whole network 127.0.0.0/8 is this host's, though the interface has only one of
 * them.
 */
static bool is_loopback(const struct wh_address *address)
{
	return address->family == WH_IPV4 && address->ip[0] == 127;
}

int wh_udp_own_named(const struct wh_address *address, struct wh_udp_own *own)
{
	int rc;

	*own = (struct wh_udp_own){0};
	if (!is_loopback(address))
		return look_for(address->family, address, false, own);
	rc = look_for(WH_IPV4, NULL, true, own);
	own->address = *address;
	own->address.port = 0;
	return rc;
}

int wh_udp_own_main(uint8_t family, struct wh_udp_own *own)
{
	int rc = wh_udp_own_toward(family == WH_IPV6 ? &beyond6 : &beyond4, own);

	if (rc != 0)
		rc = look_for(family, NULL, false, own);
	return rc != 0 ? look_for(family, NULL, true, own) : 0;
}

int wh_udp_own_toward(const struct wh_address *peer, struct wh_udp_own *own)
{
	struct wh_address to = *peer;
	union wh_sockaddr from;
	socklen_t bytes = sizeof(from);
	bool ipv6 = peer->family == WH_IPV6;
	int mtu = 0;
	socklen_t mtu_bytes = sizeof(mtu);

	if (to.port == 0)
		to.port = beyond4.port;

	int fd = connected(&to);

	if (fd < 0)
		return fd;

	struct wh_address address;
	int rc = getsockname(fd, &from.any, &bytes) == 0 && wh_sockaddr_read(&from, &address)
			 ? 0
			 : -EADDRNOTAVAIL;

	(void)getsockopt(
		fd, ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_MTU : IP_MTU, &mtu, &mtu_bytes);
	close(fd);
	if (rc == 0)
		rc = wh_udp_own_named(&address, own);
	if (rc == 0 && mtu > 0)
		own->told_mtu = (uint16_t)wh_min_u64(own->mtu, bounded_mtu(mtu));
	return rc;
}
