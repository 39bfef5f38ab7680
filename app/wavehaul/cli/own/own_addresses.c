/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/own/own_addresses.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/own/path_size.h"
#include "port/spec.h"
#include "udp/host_address.h"

static bool is_udp(const struct wh_own_port *port)
{
	return strcmp(port->name, "udp") == 0 || strncmp(port->name, "udp:", 4) == 0;
}

bool wh_own_is_udp(const struct wh_settings *settings)
{
	return settings->ports == 0 || is_udp(&settings->port[0]);
}

static uint32_t bounded_mtu(uint32_t mtu_bytes, uint32_t most_bytes)
{
	return (uint32_t)wh_max_u64(WH_MTU_MIN, wh_min_u64(mtu_bytes, most_bytes));
}

static void bound_mtu(struct wh_settings *settings, const struct wh_udp_own *own)
{
	settings->mtu_bytes = bounded_mtu(settings->mtu_bytes, own->mtu);
}

/*
 * An ICMP error that anybody may forge can have told the kernel any MTU of a route: what passes is
 * asked of the server. Packets of the least size are sent in any case: sockets do not heed such
 * errors (udp/sockets.h).
 */
static void ask_path(const struct wh_settings *settings, const struct wh_address *peer,
	const struct wh_udp_own *own)
{
	struct wh_address server = *peer;

	server.port = (uint16_t)settings->udp_port;
	if (!own->is_loopback && settings->mtu_bytes > WH_MTU_MIN)
		wh_path_size_begin(&server, WH_MTU_MIN, settings->mtu_bytes,
			bounded_mtu(settings->mtu_bytes, own->told_mtu), (uint8_t)settings->dscp);
}

static void put(
	struct wh_settings *settings, struct wh_own_port *port, const struct wh_udp_own *own)
{
	struct wh_subnet *subnet = own->address.family == WH_IPV6 ? &port->ipv6 : &port->ipv4;

	*subnet = (struct wh_subnet){.address = own->address, .prefix_bits = own->prefix_bits};
	bound_mtu(settings, own);
}

/* What the kernel decides cannot be given. */
static bool is_free_of_ethernet(const struct wh_settings *settings)
{
	const char *wrong =
		settings->port[0].ipv4.address.family != 0 ||
				settings->port[0].ipv6.address.family != 0
			? "--addr"
		: settings->port[0].gateway4.family != 0 || settings->port[0].gateway6.family != 0
			? "--gateway"
		: settings->vlan != 0 ? "--vlan"
				      : NULL;

	if (settings->eal[0] != '\0')
		return wh_fail(
			false, "--eal is for ports of DPDK; --port udp starts none: leave it out");

	if (wrong == NULL)
		return true;
	return wh_fail(false,
		"%s is for ports with an address of their own; --port udp has this host's: leave "
		"it out, or name a port such as 0000:3b:00.0 or af_packet:eth1",
		wrong);
}

static int take_named(
	struct wh_settings *settings, struct wh_own_port *port, const struct wh_address *address)
{
	struct wh_udp_own own;

	if (wh_udp_own_named(address, &own) == 0) {
		put(settings, port, &own);
		return -1;
	}
	return wh_fail(WH_EXIT_HARDWARE,
		"%s: this host has no such address; `ip addr` shows those that it has", port->name);
}

static int take_main(struct wh_settings *settings)
{
	static const uint8_t families[] = {WH_IPV4, WH_IPV6};
	struct wh_udp_own own[2];
	bool has[2];

	for (uint32_t i = 0; i < 2; i++)
		has[i] = wh_udp_own_main(families[i], &own[i]) == 0;
	for (uint32_t i = 0; i < 2; i++)
		if (has[i] && (!own[i].is_loopback || !has[1 - i] || own[1 - i].is_loopback))
			put(settings, &settings->port[0], &own[i]);
	if (settings->port[0].ipv4.address.family != 0 ||
		settings->port[0].ipv6.address.family != 0)
		return -1;
	return wh_fail(
		WH_EXIT_HARDWARE, "this host has no address: `ip addr` shows its interfaces");
}

static int take_port(struct wh_settings *settings, struct wh_own_port *port, bool serves)
{
	struct wh_port_spec spec;
	char why[WH_PORT_WHY_BYTES];

	if (wh_port_spec_read(port->name, 0, &spec, why, sizeof(why)) != 0)
		return wh_fail(WH_EXIT_USAGE, "%s", why);
	if (settings->ports > 1 && (!is_udp(port) || spec.local.family == 0))
		return wh_fail(WH_EXIT_USAGE,
			"%s is not beside other ports of sockets, each of which has an address of "
			"this host's: --port udp:192.0.2.1 --port udp:198.51.100.1",
			port->name);
	if (serves && spec.local.port != 0)
		settings->udp_port = spec.local.port;
	return spec.local.family != 0 ? take_named(settings, port, &spec.local)
				      : take_main(settings);
}

int wh_own_take(struct wh_settings *settings, bool serves)
{
	int status = -1;

	if (settings->own_taken)
		return -1;
	if (settings->ports == 0)
		strcpy(settings->port[settings->ports++].name, "udp");
	if (!is_free_of_ethernet(settings))
		return WH_EXIT_USAGE;
	for (uint32_t i = 0; status == -1 && i < settings->ports; i++)
		status = take_port(settings, &settings->port[i], serves);
	settings->own_taken = true;
	return status;
}

uint32_t wh_own_beside(
	const struct wh_own_port *port, uint32_t ports, const struct wh_address *peer)
{
	for (uint32_t i = 0; i < ports; i++)
		if (wh_subnet_has(&port[i].ipv4, peer) || wh_subnet_has(&port[i].ipv6, peer))
			return i;
	return 0;
}

/* The others follow in turn, as the server names its own from there on (job/paths/paths.h). */
static void put_first(struct wh_settings *settings, uint32_t first)
{
	struct wh_own_port turned[WH_PORTS_MAX];

	for (uint32_t i = 0; i < settings->ports; i++)
		turned[i] = settings->port[(first + i) % settings->ports];
	memcpy(settings->port, turned, settings->ports * sizeof(turned[0]));
}

bool wh_own_toward(struct wh_settings *settings, const char *host, const struct wh_address *peer)
{
	struct wh_port_spec spec;
	char why[WH_PORT_WHY_BYTES];
	char text[WH_HOST_TEXT_BYTES];
	struct wh_udp_own own;

	put_first(settings, wh_own_beside(settings->port, settings->ports, peer));
	if (!wh_own_is_udp(settings) ||
		wh_port_spec_read(settings->port[0].name, 0, &spec, why, sizeof(why)) != 0)
		return true;

	int rc = wh_udp_own_toward(peer, &own);

	if (rc != 0)
		return wh_fail(false, "no route to %s: %s; `ip route` shows this host's routes",
			wh_host_text(host, peer, text), strerror(-rc));
	if (spec.local.family != 0)
		bound_mtu(settings, &own);
	else
		put(settings, &settings->port[0], &own);
	ask_path(settings, peer, &own);
	return true;
}
