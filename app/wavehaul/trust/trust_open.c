/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/trust.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/own/own_addresses.h"
#include "trust/own.h"

/* The peer's name, where a key is all that is known of it. */
#define PAIR "ssh"

static bool make_folder(const char *path)
{
	char below[PATH_MAX];

	return snprintf(below, sizeof(below), "%s/.", path) < PATH_MAX &&
	       wh_trust_place_make(below);
}

int wh_trust_open(struct wh_trust *trust, const char *identity, const char *peers, const char *host)
{
	struct wh_trust_place place;

	memset(trust, 0, sizeof(*trust));
	if (!wh_trust_place_find(&place, identity, peers))
		return WH_EXIT_USAGE;

	int status = wh_own_identity(&trust->identity, place.identity);

	if (status != -1)
		return status;
	/* Create it now, so that the guard can allow reading it: peers may be added later. */
	if (!make_folder(place.peers)) {
		wh_identity_free(&trust->identity);
		return WH_EXIT_NO_FILE;
	}
	status = wh_store_open(&trust->store, &place, trust->identity.id);
	if (status != -1) {
		wh_identity_free(&trust->identity);
		return status;
	}
	if (wh_peer_name_is_good(host) && wh_peer_list_named(&trust->store.list, host) != NULL)
		strcpy(trust->store.expected, host);
	trust->store.may_ask =
		host[0] != '\0' && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
	return -1;
}

int wh_trust_open_pair(struct wh_trust *trust, struct wh_identity *own,
	const uint8_t peer[WH_IDENTITY_BYTES], const char *name)
{
	static const struct wh_trust_place nowhere;
	int status;

	memset(trust, 0, sizeof(*trust));
	status = wh_store_open(&trust->store, &nowhere, own->id);
	if (status == -1 && !wh_peer_list_add(&trust->store.list, PAIR, peer)) {
		wh_store_close(&trust->store);
		wh_complain("out of memory for the trusted peer");
		status = WH_EXIT_OTHER;
	}
	if (status != -1) {
		wh_identity_free(own);
		return status;
	}
	strcpy(trust->store.expected, PAIR);
	snprintf(trust->store.pair, sizeof(trust->store.pair), "%s", name);
	trust->identity = *own;
	*own = (struct wh_identity){0};
	return -1;
}

void wh_trust_close(struct wh_trust *trust)
{
	wh_store_close(&trust->store);
	wh_identity_free(&trust->identity);
}

static bool find(const struct wh_settings *settings, const char *host, struct wh_address *address)
{
	struct wh_address reach[WH_PEER_ADDRESSES_MAX];
	struct wh_trust_place place;
	struct wh_peer_file peer;
	char path[PATH_MAX];

	if (!wh_trust_place_find(&place, settings->identity, settings->trust))
		return false;
	if (wh_peer_name_is_good(host) && wh_peer_file_path(place.peers, host, path) &&
		access(path, F_OK) == 0 && wh_peer_file_read(&peer, host, path) == -1 &&
		wh_peer_file_reach(&peer, settings, reach) > 0) {
		*address = reach[0];
		return true;
	}
	return wh_address_resolve(host, wh_settings_has_family(settings, WH_IPV4),
		       wh_settings_has_family(settings, WH_IPV6), place.peers, address) == 0;
}

bool wh_trust_find(struct wh_settings *settings, const char *host, struct wh_address *address)
{
	return find(settings, host, address) && wh_own_toward(settings, host, address);
}
