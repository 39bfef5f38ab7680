/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/sockets.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "udp/sockaddr.h"

/* The kernel doubles what is asked for, to keep its own books in (socket(7)). */
#define KERNELS_FACTOR 2

/* With any free port the second family may find that of the first one taken. */
#define ATTEMPTS 16

static int set(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

/* With the right to do so beyond the system's limit. */
static void set_buffers(int fd, struct wh_udp_sockets *sockets)
{
	int got = 0;
	socklen_t bytes = sizeof(got);

	if (set(fd, SOL_SOCKET, SO_RCVBUFFORCE, WH_UDP_RECEIVE_BYTES) != 0)
		(void)set(fd, SOL_SOCKET, SO_RCVBUF, WH_UDP_RECEIVE_BYTES);
	if (set(fd, SOL_SOCKET, SO_SNDBUFFORCE, WH_UDP_SEND_BYTES) != 0)
		(void)set(fd, SOL_SOCKET, SO_SNDBUF, WH_UDP_SEND_BYTES);
	(void)getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &got, &bytes);
	sockets->receive_bytes =
		(uint32_t)wh_min_u64(sockets->receive_bytes, (uint64_t)got / KERNELS_FACTOR);
}

/* Packets also pass without: arrival times and drops are then unknown, or a packet costs more. */
static void set_wishes(int fd, struct wh_udp_sockets *sockets)
{
	(void)set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
	(void)set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
	if (set(fd, IPPROTO_UDP, UDP_GRO, 1) != 0)
		sockets->receives_segments = false;
	if (set(fd, IPPROTO_UDP, UDP_SEGMENT, 0) != 0) /* off: each message has its own length */
		sockets->sends_segments = false;
	set_buffers(fd, sockets);
}

static int set_needs(int fd, bool ipv6, bool reports_errors)
{
	int rc = ipv6 ? set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) : 0;

	if (rc == 0)
		rc = ipv6 ? set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_OMIT)
			  : set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT);
	if (rc == 0 && reports_errors)
		rc = ipv6 ? set(fd, IPPROTO_IPV6, IPV6_RECVERR, 1)
			  : set(fd, IPPROTO_IP, IP_RECVERR, 1);
	return rc;
}

/* A descriptor or a negative errno; sets the port if it was any. */
static int open_one(const struct wh_address *own, struct wh_udp_sockets *sockets)
{
	bool ipv6 = own->family == WH_IPV6;
	struct wh_address local = *own;
	union wh_sockaddr name;

	local.port = sockets->port;

	socklen_t bytes = wh_sockaddr_of(&local, &name);
	int fd = socket(name.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;

	int rc = set_needs(fd, ipv6, sockets->reports_errors);

	if (rc == 0 && (bind(fd, &name.any, bytes) != 0 || getsockname(fd, &name.any, &bytes) != 0))
		rc = -errno;
	if (rc != 0) {
		close(fd);
		return rc;
	}
	set_wishes(fd, sockets);
	(void)wh_sockaddr_read(&name, &local);
	sockets->port = local.port;
	return fd;
}

static void explain(const struct wh_address *own, uint16_t port, int error, char *why, size_t bytes)
{
	char text[INET6_ADDRSTRLEN] = "";

	(void)inet_ntop(own->family == WH_IPV6 ? AF_INET6 : AF_INET, own->ip, text, sizeof(text));
	if (error == EADDRINUSE)
		snprintf(why, bytes,
			"UDP port %u of %s is in use, perhaps by another server: stop that, or "
			"choose another --udp-port",
			port, text);
	else if (error == EADDRNOTAVAIL)
		snprintf(why, bytes,
			"%s is no address of this host: `ip addr` shows those that it has", text);
	else if (error == EACCES)
		snprintf(
			why, bytes, "only root may use UDP port %u: choose one from 1024 on", port);
	else
		snprintf(why, bytes, "the kernel does not open a UDP socket at %s, port %u: %s",
			text, port, strerror(error));
}

static int open_all(const struct wh_address own[WH_UDP_FAMILIES], struct wh_udp_sockets *sockets,
	char *why, size_t why_bytes)
{
	for (uint32_t i = 0; i < WH_UDP_FAMILIES; i++) {
		if (own[i].family == 0)
			continue;

		int fd = open_one(&own[i], sockets);

		if (fd < 0) {
			explain(&own[i], sockets->port, -fd, why, why_bytes);
			wh_udp_sockets_close(sockets);
			return fd;
		}
		sockets->fd[i] = fd;
	}
	return 0;
}

int wh_udp_sockets_open(const struct wh_address own[WH_UDP_FAMILIES], uint16_t port,
	bool reports_errors, struct wh_udp_sockets *sockets, char *why, size_t why_bytes)
{
	int rc = -EADDRINUSE;

	WH_ASSERT(own[0].family != 0 || own[1].family != 0);
	for (uint32_t i = 0; rc == -EADDRINUSE && i < (port == 0 ? ATTEMPTS : 1); i++) {
		*sockets = (struct wh_udp_sockets){
			.fd = {-1, -1},
			.port = port,
			.receive_bytes = UINT32_MAX,
			.receives_segments = true,
			.sends_segments = true,
			.reports_errors = reports_errors,
		};
		rc = open_all(own, sockets, why, why_bytes);
	}
	return rc;
}

void wh_udp_sockets_close(struct wh_udp_sockets *sockets)
{
	for (uint32_t i = 0; i < WH_UDP_FAMILIES; i++) {
		if (sockets->fd[i] >= 0)
			close(sockets->fd[i]);
		sockets->fd[i] = -1;
	}
}

int wh_udp_sockets_mark(const struct wh_udp_sockets *sockets, uint8_t dscp)
{
	const int field = dscp << 2; /* its lower bits are ECN's */
	int ipv4 = sockets->fd[0];
	int ipv6 = sockets->fd[1];
	int rc = ipv4 >= 0 ? set(ipv4, IPPROTO_IP, IP_TOS, field) : 0;

	return rc == 0 && ipv6 >= 0 ? set(ipv6, IPPROTO_IPV6, IPV6_TCLASS, field) : rc;
}

void wh_udp_sockets_cut(int fd, bool cut)
{
	int rc = set(
		fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, cut ? IPV6_PMTUDISC_WANT : IPV6_PMTUDISC_OMIT);

	WH_ASSERT(rc == 0);
}

bool wh_udp_old_kernel_text(const struct wh_udp_sockets *sockets, char *text, size_t bytes)
{
	const char *lacks = sockets->receives_segments ? "cut messages into packets (UDP_SEGMENT)"
			    : sockets->sends_segments  ? "join packets that arrive (UDP_GRO)"
						       : "cut messages into packets (UDP_SEGMENT) "
							 "or join those that arrive (UDP_GRO)";

	if (sockets->receives_segments && sockets->sends_segments)
		return false;
	snprintf(text, bytes,
		"this kernel does not %s, so a packet costs several times the CPU time: Linux 5.0 "
		"and later do",
		lacks);
	return true;
}

void wh_udp_small_buffer_text(uint32_t receive_bytes, char *text, size_t bytes)
{
	char size[WH_UNITS_MAX];

	snprintf(text, bytes,
		"the kernel dropped packets that had arrived, since it keeps only %s of them for "
		"us: `sysctl -w net.core.rmem_max=%d` as root allows more",
		wh_format_size(size, sizeof(size), receive_bytes), WH_UDP_RECEIVE_BYTES);
}
