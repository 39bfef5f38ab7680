/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/metrics_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/units.h"

#define BACKLOG 64

union address {
	struct sockaddr any;
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
};

/* "" is this host; an IPv6 address is in brackets. */
static bool parse_host(char *host, uint16_t port, union address *address)
{
	size_t chars = strlen(host);

	*address = (union address){.ipv4 = {.sin_family = AF_INET, .sin_port = htons(port)}};
	if (chars == 0)
		address->ipv4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (chars == 0 || inet_pton(AF_INET, host, &address->ipv4.sin_addr) == 1)
		return true;
	if (host[0] != '[' || host[chars - 1] != ']')
		return false;
	host[chars - 1] = '\0';
	*address = (union address){.ipv6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)}};
	return inet_pton(AF_INET6, host + 1, &address->ipv6.sin6_addr) == 1;
}

static bool parse(const char *text, union address *address)
{
	const char *colon = strrchr(text, ':');
	char host[WH_LISTEN_TEXT_BYTES] = "";
	uint64_t port;

	if (colon != NULL && (colon == text || (size_t)(colon - text) >= sizeof(host)))
		return false;
	if (colon != NULL)
		memcpy(host, text, (size_t)(colon - text));
	if (wh_parse_count(colon != NULL ? colon + 1 : text, &port) != 0 || port > UINT16_MAX)
		return false;
	return parse_host(host, (uint16_t)port, address);
}

static void tell(int fd, char told[WH_LISTEN_TEXT_BYTES])
{
	union address own = {.any = {.sa_family = AF_UNSPEC}};
	socklen_t bytes = sizeof(own);
	char host[INET6_ADDRSTRLEN] = "";

	getsockname(fd, &own.any, &bytes);
	if (own.any.sa_family == AF_INET6)
		snprintf(told, WH_LISTEN_TEXT_BYTES, "[%s]:%u",
			inet_ntop(AF_INET6, &own.ipv6.sin6_addr, host, sizeof(host)),
			ntohs(own.ipv6.sin6_port));
	else
		snprintf(told, WH_LISTEN_TEXT_BYTES, "%s:%u",
			inet_ntop(AF_INET, &own.ipv4.sin_addr, host, sizeof(host)),
			ntohs(own.ipv4.sin_port));
}

int wh_listen_open(const char *text, char told[WH_LISTEN_TEXT_BYTES])
{
	union address address;
	const int yes = 1;

	if (!parse(text, &address))
		return -EINVAL;

	int fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, &address.any,
		    address.any.sa_family == AF_INET6 ? sizeof(address.ipv6)
						      : sizeof(address.ipv4)) != 0 ||
		listen(fd, BACKLOG) != 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	tell(fd, told);
	return fd;
}
