/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* All peers of a folder, sorted by name. */

#include <stdbool.h>
#include <stdint.h>

#include "trust/peer_file.h"

#define WH_PEERS_TRUSTED_MAX 4096

struct wh_peer_list {
	struct wh_peer_file *peer;
	uint32_t peers;
	uint32_t wrong;             /* files with errors, as complained */
	struct wh_address *address; /* of all peers, in order */
	uint32_t addresses;
};

/*
 * A missing folder means no peers. An invalid file trusts nobody, or, if its peer is in `before`,
 * keeps that peer's rights; NULL: no earlier list. False: out of memory, too many, or the folder is
 * not readable; the earlier list remains valid; complained.
 */
bool wh_peer_list_read(
	struct wh_peer_list *list, const char *folder, const struct wh_peer_list *before);
void wh_peer_list_free(struct wh_peer_list *list);

/* Adds a peer without a file, with the default rights. False: no memory. */
bool wh_peer_list_add(
	struct wh_peer_list *list, const char *name, const uint8_t id[WH_IDENTITY_BYTES]);

/* NULL: none. */
const struct wh_peer_file *wh_peer_list_named(const struct wh_peer_list *list, const char *name);

/* Whether any peer has that address. A binary search, since strangers may cause many of these. */
bool wh_peer_list_knows(const struct wh_peer_list *list, const struct wh_address *address);

const struct wh_peer_file *wh_peer_list_with(
	const struct wh_peer_list *list, const uint8_t id[WH_IDENTITY_BYTES]);

/* Whom an operator means by a name ("": none), or else by an address; NULL: nobody known here. */
const struct wh_peer_file *wh_peer_list_meant(
	const struct wh_peer_list *list, const char *name, const struct wh_address *address);

/* The same, if that is one key. */
bool wh_peer_list_meant_key(const struct wh_peer_list *list, const char *name,
	const struct wh_address *address, uint8_t id[WH_IDENTITY_BYTES]);
