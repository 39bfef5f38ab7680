/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/address_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/units.h"
#include "bundle/record.h"
#include "cli/complain.h"

const char *wh_address_text(const struct wh_address *address, char text[WH_ADDRESS_TEXT_BYTES])
{
	int family = address->family == WH_IPV4 ? AF_INET : AF_INET6;

	if (inet_ntop(family, address->ip, text, WH_ADDRESS_TEXT_BYTES) == NULL)
		text[0] = '\0';
	return text;
}

bool wh_address_parse(const char *text, struct wh_address *address)
{
	*address = (struct wh_address){.family = strchr(text, ':') != NULL ? WH_IPV6 : WH_IPV4};
	return inet_pton(address->family == WH_IPV6 ? AF_INET6 : AF_INET, text, address->ip) == 1;
}

static bool take(const struct sockaddr *found, bool ipv4, bool ipv6, struct wh_address *address)
{
	*address = (struct wh_address){0};
	if (found->sa_family == AF_INET && ipv4) {
		address->family = WH_IPV4;
		memcpy(address->ip, &((const struct sockaddr_in *)(const void *)found)->sin_addr,
			4);
		return true;
	}
	if (found->sa_family == AF_INET6 && ipv6) {
		address->family = WH_IPV6;
		memcpy(address->ip, &((const struct sockaddr_in6 *)(const void *)found)->sin6_addr,
			16);
		return true;
	}
	return false;
}

const char *wh_host_text(
	const char *host, const struct wh_address *address, char text[WH_HOST_TEXT_BYTES])
{
	char shown[WH_ADDRESS_TEXT_BYTES];
	bool is_name = strcmp(wh_address_text(address, shown), host) != 0;

	snprintf(text, WH_HOST_TEXT_BYTES, "%s%s%s%s", host, is_name ? " (" : "",
		is_name ? shown : "", is_name ? ")" : "");
	return text;
}

int wh_address_resolve(
	const char *host, bool ipv4, bool ipv6, const char *peers, struct wh_address *address)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	struct addrinfo *found;

	WH_ASSERT(ipv4 || ipv6);

	int rc = getaddrinfo(host, NULL, &hints, &found);

	if (rc != 0)
		return wh_fail(-EINVAL,
			"cannot resolve the host name '%s': %s; and no peer of that name has an "
			"address in %s",
			host, gai_strerror(rc), peers);

	bool taken = false;

	for (const struct addrinfo *i = found; i != NULL && !taken; i = i->ai_next)
		taken = take(i->ai_addr, ipv4, ipv6, address);
	freeaddrinfo(found);
	if (taken)
		return 0;
	return wh_fail(-EINVAL,
		"'%s' has no address of this end's address family; add an %s address with --addr",
		host, ipv4 ? "IPv6" : "IPv4");
}

/* Splits HOST:PATH; copies the host, without brackets, and returns the path. NULL: no host. */
static const char *split(const char *text, char host[WH_HOST_BYTES])
{
	const char *name = text + strcspn(text, "@[:/");
	size_t user_bytes = *name == '@' ? (size_t)(name - text) + 1 : 0;

	name = text + user_bytes;

	size_t begin = name[0] == '[' ? 1 : 0;
	const char *end = strchr(name, begin == 1 ? ']' : ':');

	if (end == NULL || end[begin] != ':' || memchr(text, '/', (size_t)(end - text)) != NULL)
		return NULL;

	size_t bytes = (size_t)(end - name) - begin;

	if (bytes == 0 || user_bytes + bytes >= WH_HOST_BYTES)
		return NULL;
	memcpy(host, text, user_bytes);
	memcpy(host + user_bytes, name + begin, bytes);
	host[user_bytes + bytes] = '\0';
	return end + begin + 1;
}

const char *wh_remote_path(const char *text, char host[WH_HOST_BYTES])
{
	char own[WH_HOST_BYTES];
	const char *path = split(text, own);

	if (path == NULL) {
		wh_complain("'%s' has no host part; write HOST:PATH, with an IPv6 address as "
			    "[2001:db8::1]:PATH",
			text);
		return NULL;
	}
	if (host[0] != '\0' && strcmp(host, own) != 0) {
		wh_complain("'%s' and '%s' are different hosts; one command can use only one "
			    "remote host",
			host, own);
		return NULL;
	}
	if (strlen(path) > WH_PATH_BYTES_MAX) {
		wh_complain("a path is longer than %d bytes", WH_PATH_BYTES_MAX);
		return NULL;
	}
	strcpy(host, own);
	return path[0] == '\0' ? "." : path;
}

bool wh_subnet_parse(char *text, uint64_t low_bits, struct wh_subnet *subnet)
{
	char *slash = strchr(text, '/');
	uint64_t bits;

	if (slash == NULL)
		return false;
	*slash = '\0';
	if (!wh_address_parse(text, &subnet->address) || wh_parse_count(slash + 1, &bits) != 0)
		return false;
	if (bits < low_bits || bits > (subnet->address.family == WH_IPV6 ? 128 : 32))
		return false;
	subnet->prefix_bits = (uint8_t)bits;
	return true;
}

bool wh_subnet_has(const struct wh_subnet *subnet, const struct wh_address *address)
{
	uint32_t bytes = subnet->prefix_bits / 8;
	uint32_t bits = subnet->prefix_bits % 8;
	const uint8_t *a = subnet->address.ip;
	const uint8_t *b = address->ip;

	WH_ASSERT(subnet->prefix_bits <= (subnet->address.family == WH_IPV6 ? 128 : 32));
	if (subnet->address.family != address->family || memcmp(a, b, bytes) != 0)
		return false;
	return bits == 0 || (a[bytes] ^ b[bytes]) >> (8 - bits) == 0;
}
