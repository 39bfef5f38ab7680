/* SPDX-License-Identifier: BSD-3-Clause */
#include "queue/queue_place.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "trust/peer_file.h"
#include "trust/trust_place.h"

static bool has_family(const struct wh_settings *settings, uint8_t family)
{
	for (uint32_t i = 0; i < settings->ports; i++)
		if (settings->port[i].ipv4.address.family == family ||
			settings->port[i].ipv6.address.family == family)
			return true;
	return false;
}

static int take_peer(
	const struct wh_settings *settings, const struct wh_peer_file *peer, struct wh_place *place)
{
	for (uint32_t i = 0; i < peer->addresses; i++) {
		if (!has_family(settings, peer->address[i].family))
			continue;
		place->address = peer->address[i];
		place->has_key = peer->has_key;
		memcpy(place->id, peer->id, sizeof(place->id));
		return -1;
	}
	return wh_fail(
		WH_EXIT_NETWORK, "%s has no address of this server's address family", peer->name);
}

/* Packets to our own address would never be answered. */
static int judge(const struct wh_settings *settings, const char *host, const struct wh_place *place)
{
	for (uint32_t i = 0; i < settings->ports; i++) {
		const struct wh_own_port *port = &settings->port[i];
		const struct wh_address *own =
			&(place->address.family == WH_IPV6 ? &port->ipv6 : &port->ipv4)->address;

		if (memcmp(own->ip, place->address.ip, sizeof(own->ip)) == 0)
			return wh_fail(WH_EXIT_USAGE,
				"'%s' is this host itself; a job needs another host", host);
	}
	return -1;
}

int wh_place_find(const struct wh_settings *settings, const char *host, struct wh_place *place)
{
	struct wh_trust_place trust;
	struct wh_peer_file peer;
	char path[PATH_MAX];

	*place = (struct wh_place){0};
	if (wh_address_parse(host, &place->address)) {
		if (has_family(settings, place->address.family))
			return judge(settings, host, place);
		return wh_fail(
			WH_EXIT_NETWORK, "this server has no address of the family of %s", host);
	}
	if (wh_peer_name_is_good(host) &&
		wh_trust_place_find(&trust, settings->identity, settings->trust) &&
		wh_peer_file_path(trust.peers, host, path) && access(path, F_OK) == 0) {
		int status = wh_peer_file_read(&peer, host, path);

		if (status == -1)
			status = take_peer(settings, &peer, place);
		return status == -1 ? judge(settings, host, place) : status;
	}
	return wh_fail(WH_EXIT_NETWORK,
		"the server knows no peer '%s': name one of `wavehaul trust list`, with an "
		"address, or an address",
		host);
}
