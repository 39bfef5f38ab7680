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

/* Packets to our own address would never be answered. */
static int judge(const struct wh_settings *settings, const char *host, const struct wh_place *place)
{
	for (uint32_t i = 0; i < settings->ports * place->addresses; i++) {
		const struct wh_own_port *port = &settings->port[i / place->addresses];
		const struct wh_address *address = &place->address[i % place->addresses];
		const struct wh_address *own =
			&(address->family == WH_IPV6 ? &port->ipv6 : &port->ipv4)->address;

		if (memcmp(own->ip, address->ip, sizeof(own->ip)) == 0)
			return wh_fail(WH_EXIT_USAGE,
				"'%s' is this host itself; a job needs another host", host);
	}
	return -1;
}

static int take_peer(
	const struct wh_settings *settings, const struct wh_peer_file *peer, struct wh_place *place)
{
	place->addresses = wh_peer_file_reach(peer, settings, place->address);
	if (place->addresses == 0)
		return wh_fail(WH_EXIT_NETWORK, "%s has no address of this server's address family",
			peer->name);
	place->has_key = peer->has_key;
	memcpy(place->id, peer->id, sizeof(place->id));
	return judge(settings, peer->name, place);
}

int wh_place_find(const struct wh_settings *settings, const char *host, struct wh_place *place)
{
	struct wh_trust_place trust;
	struct wh_peer_file peer;
	char path[PATH_MAX];

	*place = (struct wh_place){0};
	if (wh_address_parse(host, &place->address[0])) {
		place->addresses = 1;
		if (wh_settings_has_family(settings, place->address[0].family))
			return judge(settings, host, place);
		return wh_fail(
			WH_EXIT_NETWORK, "this server has no address of the family of %s", host);
	}
	if (wh_peer_name_is_good(host) &&
		wh_trust_place_find(&trust, settings->identity, settings->trust) &&
		wh_peer_file_path(trust.peers, host, path) && access(path, F_OK) == 0) {
		int status = wh_peer_file_read(&peer, host, path);

		return status == -1 ? take_peer(settings, &peer, place) : status;
	}
	return wh_fail(WH_EXIT_NETWORK,
		"the server knows no peer '%s': name one of `wavehaul trust list`, with an "
		"address, or an address",
		host);
}
