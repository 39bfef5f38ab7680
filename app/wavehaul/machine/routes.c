/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine/routes.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "machine/tree.h"

#define TCP_ESTABLISHED 0x01 /* linux net/tcp_states.h */
#define TCP_LISTENS     0x0a

#define SSH_PORT 22

/* IPv4 as ::ffff:192.0.2.1 (RFC 4291 2.5.5.2). */
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

#define MAPPED_BITS 96

/* What /proc writes of an address: words of 32 bits in the order of the network, or bytes. */
static bool read_address(const char *text, bool in_words, uint8_t ip[16])
{
	size_t digits = strcspn(text, ":");
	size_t words = digits / 8;
	size_t first = 4 - words;

	if (digits % 8 != 0 || (words != 1 && words != 4))
		return false;
	memcpy(ip, mapped, sizeof(mapped));
	for (size_t i = 0; i < words; i++) {
		char word[9] = "";
		uint64_t number;

		memcpy(word, text + 8 * i, 8);
		if (wh_scan_hex(word, &number) != word + 8)
			return false;

		uint32_t value = in_words ? (uint32_t)number : htonl((uint32_t)number);

		memcpy(ip + 4 * (first + i), &value, sizeof(value));
	}
	return true;
}

static bool has_prefix(const uint8_t ip[16], const uint8_t to[16], int bits)
{
	int bytes = bits / 8;

	return memcmp(ip, to, (size_t)bytes) == 0 &&
	       (bits % 8 == 0 || (ip[bytes] ^ to[bytes]) >> (8 - bits % 8) == 0);
}

struct route {
	char interface[32];
	uint8_t to[16];
	int bits;
};

/* "eth0 0000A8C0 gateway flags ref use metric 00FFFFFF", or 10 words with prefix and name last. */
static bool next_route(struct wh_tree_lines *lines, bool ipv6, struct route *route)
{
	char *word[10];
	uint64_t number;

	while (wh_tree_words(lines, word, ipv6 ? 10 : 8)) {
		if (!read_address(word[ipv6 ? 0 : 1], !ipv6, route->to) ||
			wh_scan_hex(word[ipv6 ? 1 : 7], &number) == NULL)
			continue; /* the line of names */
		snprintf(route->interface, sizeof(route->interface), "%.31s", word[ipv6 ? 9 : 0]);
		route->bits = ipv6 ? (int)number : MAPPED_BITS + __builtin_popcountll(number);
		if (route->bits <= 128)
			return true;
	}
	return false;
}

#define FOR_ROUTES(root, ipv6, route)                                                              \
	for (struct wh_tree_lines lines =                                                          \
			wh_tree_lines(root, (ipv6) ? "/proc/net/ipv6_route" : "/proc/net/route");  \
		next_route(&lines, ipv6, &(route));)

/* Any interface has some of IPv6 of its own. */
bool wh_interface_has_routes(const char *root, const char *interface)
{
	struct route route;
	bool has = false;

	FOR_ROUTES(root, false, route)
	has |= strcmp(route.interface, interface) == 0;
	return has;
}

bool wh_interface_has_default_route(const char *root, const char *interface)
{
	struct route route;
	bool has = false;

	FOR_ROUTES(root, false, route)
	has |= strcmp(route.interface, interface) == 0 && route.bits == MAPPED_BITS;
	FOR_ROUTES(root, true, route)
	has |= strcmp(route.interface, interface) == 0 && route.bits == 0;
	return has;
}

/* Whether no route to it is more specific than the interface's. */
static bool is_reached_by(const char *root, const uint8_t ip[16], const char *interface)
{
	bool ipv6 = memcmp(ip, mapped, sizeof(mapped)) != 0;
	struct route route;
	int best = -1;
	int own = -1;

	FOR_ROUTES(root, ipv6, route)
	{
		if (!has_prefix(ip, route.to, route.bits))
			continue;
		if (route.bits > best)
			best = route.bits;
		if (route.bits > own && strcmp(route.interface, interface) == 0)
			own = route.bits;
	}
	return own >= 0 && own == best;
}

struct connection {
	uint8_t peer[16];
	uint16_t port; /* of this host */
	uint64_t state;
};

/* "0: local:port remote:port state ..." */
static bool next_connection(struct wh_tree_lines *lines, struct connection *connection)
{
	char *word[4];

	while (wh_tree_words(lines, word, 4)) {
		const char *colon = strchr(word[1], ':');
		uint64_t port;

		if (colon == NULL || wh_scan_hex(colon + 1, &port) == NULL ||
			!read_address(word[2], true, connection->peer) ||
			wh_scan_hex(word[3], &connection->state) == NULL)
			continue;
		connection->port = (uint16_t)port;
		return true;
	}
	return false;
}

#define FOR_CONNECTIONS(root, ipv6, connection)                                                    \
	for (struct wh_tree_lines rows =                                                           \
			wh_tree_lines(root, (ipv6) ? "/proc/net/tcp6" : "/proc/net/tcp");          \
		next_connection(&rows, &(connection));)

static void tell(const struct connection *connection, char text[WH_SESSION_TEXT_MAX])
{
	bool ipv6 = memcmp(connection->peer, mapped, sizeof(mapped)) != 0;
	char peer[INET6_ADDRSTRLEN] = "";

	inet_ntop(ipv6 ? AF_INET6 : AF_INET, connection->peer + (ipv6 ? 0 : sizeof(mapped)), peer,
		sizeof(peer));
	snprintf(text, WH_SESSION_TEXT_MAX, "%s is connected to TCP port %u", peer,
		connection->port);
}

bool wh_interface_session(const char *root, const char *interface, char text[WH_SESSION_TEXT_MAX])
{
	uint8_t listens[(UINT16_MAX + 1) / 8] = {[SSH_PORT / 8] = 1 << SSH_PORT % 8};
	struct connection connection;
	bool found = false;

	for (int ipv6 = 0; ipv6 < 2; ipv6++)
		FOR_CONNECTIONS(root, ipv6, connection)
	if (connection.state == TCP_LISTENS)
		listens[connection.port / 8] |= (uint8_t)(1 << connection.port % 8);
	for (int ipv6 = 0; ipv6 < 2; ipv6++)
		FOR_CONNECTIONS(root, ipv6, connection)
	if (!found && connection.state == TCP_ESTABLISHED &&
		(listens[connection.port / 8] >> connection.port % 8 & 1) != 0 &&
		is_reached_by(root, connection.peer, interface)) {
		found = true;
		tell(&connection, text);
	}
	return found;
}
