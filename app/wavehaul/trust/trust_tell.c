/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/trust_tell.h"

#include <stdio.h>

#include "cli/address_text.h"
#include "cli/json.h"
#include "trust/fingerprint.h"
#include "trust/own.h"

json_t *wh_id_json(const uint8_t id[WH_IDENTITY_BYTES])
{
	char key[WH_ID_TEXT_BYTES];
	char fingerprint[WH_FINGERPRINT_BYTES];

	return json_pack("{s:s, s:s}", "key", wh_id_text(id, key), "fingerprint",
		wh_fingerprint_text(id, fingerprint));
}

static json_t *map_json(const struct wh_owner_map *map)
{
	char text[WH_OWNER_MAP_TEXT_BYTES];

	return wh_owner_map_changes(map) ? json_string(wh_owner_map_text(map, text)) : json_null();
}

static json_t *rights_json(const struct wh_rights *rights)
{
	json_t *folders = json_array();
	json_t *from = json_array();

	for (uint32_t i = 0; i < rights->folders; i++)
		json_array_append_new(folders, wh_word_to_json(rights->folder[i]));
	for (uint32_t i = 0; i < rights->subnets; i++) {
		char text[WH_ADDRESS_TEXT_BYTES];

		json_array_append_new(
			from, json_sprintf("%s/%u", wh_address_text(&rights->from[i].address, text),
				      rights->from[i].prefix_bits));
	}

	json_t *object = json_pack("{s:b, s:b, s:b, s:b, s:b, s:o, s:o}", "read", rights->read,
		"write", rights->write, "measure", rights->measure, "orders", rights->orders,
		"orders_delete", rights->orders_delete, "folder", folders, "from", from);

	json_object_set_new(object, "rate_bps",
		rights->rate_bps == WH_RATE_MAX ? json_null()
						: json_integer((json_int_t)rights->rate_bps));
	json_object_set_new(object, "sessions",
		rights->sessions == 0 ? json_null() : json_integer(rights->sessions));
	json_object_set_new(object, "day_bytes",
		rights->day_bytes > INT64_MAX ? json_null()
					      : json_integer((json_int_t)rights->day_bytes));
	json_object_set_new(object, "map_owners", map_json(&rights->owners.users));
	json_object_set_new(object, "map_groups", map_json(&rights->owners.groups));
	return object;
}

json_t *wh_peer_json(const struct wh_peer_file *peer)
{
	json_t *object = json_pack("{s:s}", "name", peer->name);
	json_t *addresses = json_array();

	for (uint32_t i = 0; i < peer->addresses; i++) {
		char text[WH_ADDRESS_TEXT_BYTES];

		json_array_append_new(
			addresses, json_string(wh_address_text(&peer->address[i], text)));
	}
	if (peer->has_key)
		wh_json_add(object, wh_id_json(peer->id));
	else
		json_object_set_new(object, "subject", wh_word_to_json(peer->subject));
	json_object_set_new(object, "address", addresses);
	json_object_set_new(object, "rights", rights_json(&peer->rights));
	return object;
}

static void print_map(const char *whose, const struct wh_owner_map *map)
{
	char text[WH_OWNER_MAP_TEXT_BYTES];

	if (wh_owner_map_changes(map))
		printf("  %s become %s\n", whose, wh_owner_map_text(map, text));
}

void wh_peer_print(const struct wh_peer_file *peer, const char *path)
{
	char text[WH_RIGHTS_TEXT_BYTES];

	printf("%s, by %s\n", peer->name, path);
	if (peer->has_key)
		wh_id_print(peer->id, stdout);
	else
		printf("  %s, as an authority in ca/ says\n", peer->subject);
	for (uint32_t i = 0; i < peer->addresses; i++) {
		char address[WH_ADDRESS_TEXT_BYTES];

		printf("  at %s\n", wh_address_text(&peer->address[i], address));
	}
	printf("  may %s\n", wh_rights_text(&peer->rights, text));
	print_map("users", &peer->rights.owners.users);
	print_map("groups", &peer->rights.owners.groups);
}

void wh_peer_list_print(const struct wh_peer_list *list)
{
	for (uint32_t i = 0; i < list->peers; i++) {
		const struct wh_peer_file *peer = &list->peer[i];
		char fingerprint[WH_FINGERPRINT_BYTES];
		char text[WH_RIGHTS_TEXT_BYTES];

		printf("%-16s %-24s %s\n", peer->name,
			peer->has_key ? wh_fingerprint_text(peer->id, fingerprint) : peer->subject,
			wh_rights_text(&peer->rights, text));
	}
	if (list->peers == 0)
		printf("no peer is trusted yet; add one with `wavehaul trust add`\n");
}
