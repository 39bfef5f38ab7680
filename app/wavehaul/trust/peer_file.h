/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A trusted peer: NAME.conf. It is applied exactly or not at all: an unknown key, an invalid value,
 * or a file writable by others is a complaint with file and line, and the file then trusts nobody.
 *
 *   [peer]
 *   key = sha256:...            its identity; or, of a site with a CA:
 *   subject = CN=dtn2,O=Site    of its certificate; a final * matches any rest
 *   address = 192.0.2.2         where it answers; repeatable
 *
 *   [rights]
 *   read = yes                  it may get files (yes)
 *   write = yes                 it may send files (yes)
 *   measure = yes               it may send to memory, get from there, and probe (yes)
 *   orders = yes                it may let this host's queue send files that it may get to
 *                               other peers of this host (no)
 *   orders-delete = yes         these orders may remove there what is not here: --delete (no)
 *   folder = incoming           a folder below the root, with its contents; repeatable (all)
 *   from = 192.0.2.0/24         addresses that it may use; repeatable (any)
 *   rate = 10G                  limit of all that it moves, both ways (the server's)
 *   sessions = 4                concurrent jobs (the server's)
 *   bytes = 10T                 that it may get and send in a day (unlimited)
 *   map-owners = 7=1000,*=99    owners of files that it sends; only numbers, because a guarded
 *                               server cannot look up names (the server's)
 *   map-groups = 100=100        the same for groups
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/ini.h"
#include "cli/settings.h"
#include "trust/identity.h"

#define WH_PEER_NAME_BYTES    64
#define WH_PEER_SUBJECT_BYTES 256
#define WH_PEER_ADDRESSES_MAX 16
#define WH_PEER_SUBNETS_MAX   16
#define WH_PEER_FOLDERS_MAX   8
#define WH_PEER_FOLDER_BYTES  256

struct wh_rights {
	bool read;
	bool write;
	bool measure;
	bool orders;
	bool orders_delete;
	uint32_t sessions;  /* 0: the default for all */
	uint64_t rate_bps;  /* WH_RATE_MAX: the default for all */
	uint64_t day_bytes; /* UINT64_MAX: unlimited */
	uint32_t folders;   /* 0: all */
	uint32_t subnets;   /* 0: from anywhere */
	char folder[WH_PEER_FOLDERS_MAX][WH_PEER_FOLDER_BYTES]; /* as a/b */
	struct wh_subnet from[WH_PEER_SUBNETS_MAX];
	struct wh_owners owners; /* without rules for users or groups: the default for all */
};

/* For rights read from files, in which every byte is initialised, and copies of them. */
static inline bool wh_rights_equal(const struct wh_rights *a, const struct wh_rights *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Every byte is initialised, so that equal files can be compared as memory. */
struct wh_peer_file {
	char name[WH_PEER_NAME_BYTES];
	bool has_key;
	uint8_t id[WH_IDENTITY_BYTES];
	char subject[WH_PEER_SUBJECT_BYTES]; /* "": identified by its key */
	uint32_t addresses;
	struct wh_address address[WH_PEER_ADDRESSES_MAX];
	struct wh_rights rights;
};

/* Letters, digits, dots, _ and -; begins with a letter or digit. */
bool wh_peer_name_is_good(const char *name);

/* The file's path; false: too long. */
bool wh_peer_file_path(const char *folder, const char *name, char path[PATH_MAX]);

/* Sets the default rights. */
void wh_rights_init(struct wh_rights *rights);
/* Whether a peer with these rights may have that address. */
bool wh_rights_reach(const struct wh_rights *rights, const struct wh_address *address);

/* -1, or the exit status after a complaint, like the following functions. */
int wh_peer_file_parse(struct wh_peer_file *peer, const char *name, const char *path,
	const char *text, size_t bytes);
int wh_peer_file_read(struct wh_peer_file *peer, const char *name, const char *path);

/* Adds `text` (KEY=VALUE), in which owners may be given by name. */
int wh_peer_file_set(struct wh_peer_file *peer, const char *text);

/* Prints an equivalent file. */
void wh_peer_file_print(const struct wh_peer_file *peer, FILE *to);

/* Replaces the file atomically. */
int wh_peer_file_write(const struct wh_peer_file *peer, const char *path);

/* Those of its addresses of which this host has the family, in their order; how many. */
uint32_t wh_peer_file_reach(const struct wh_peer_file *peer, const struct wh_settings *settings,
	struct wh_address reach[WH_PEER_ADDRESSES_MAX]);

bool wh_peer_file_has_address(const struct wh_peer_file *peer, const struct wh_address *address);

/*
 * A peer's rights for a person: "read, write below incoming; 10 Gb/s at most". Owner maps are only
 * mentioned.
 */
#define WH_RIGHTS_TEXT_BYTES 1024
const char *wh_rights_text(const struct wh_rights *rights, char text[WH_RIGHTS_TEXT_BYTES]);
