/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_PEER_FILE_H
#define WH_APP_TRUST_PEER_FILE_H

/*
 * A peer that is trusted: NAME.conf. Whoever reads one has exactly what it says: a key that is not
 * known, a value that is none, a file that others may write are complaints with file and line, and
 * nobody is trusted by such a file.
 *
 *   [peer]
 *   key = sha256:...            its identity; or, of a site with a CA:
 *   subject = CN=dtn2,O=Site    of its certificate; a * for what it begins with
 *   address = 192.0.2.2         where it answers; as often as there are such
 *
 *   [rights]
 *   read = yes                  it may get files (yes)
 *   write = yes                 it may send files (yes)
 *   measure = yes               it may send to memory, get from there, and probe (yes)
 *   orders = yes                it may have this host's queue send what it may get to other
 *                               peers of this host (no)
 *   folder = incoming           below the root, it and what is in it; again for another (all)
 *   from = 192.0.2.0/24         where it may come from; again for another (anywhere)
 *   rate = 10G                  of what it gets (the server's)
 *   sessions = 4                jobs at once (the server's)
 *   bytes = 10T                 that it may get and send in a day (any)
 *   map-owners = 7=1000,*=99    whose files become that it sends; numbers alone, for a server that
 *                               is guarded asks for no names (as the server's)
 *   map-groups = 100=100        the same of groups
 */

#include <stdbool.h>
#include <stddef.h>
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
	uint32_t sessions;  /* 0: as many as anybody */
	uint64_t rate_bps;  /* WH_RATE_MAX: as fast as anybody */
	uint64_t day_bytes; /* UINT64_MAX: any */
	uint32_t folders;   /* 0: all */
	uint32_t subnets;   /* 0: from anywhere */
	char folder[WH_PEER_FOLDERS_MAX][WH_PEER_FOLDER_BYTES]; /* as a/b */
	struct wh_subnet from[WH_PEER_SUBNETS_MAX];
	struct wh_owners owners; /* users, or groups, without rules: as of anybody */
};

/* As files say them, of which every byte is set, and as copies of these, whole. */
static inline bool wh_rights_equal(const struct wh_rights *a, const struct wh_rights *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/* Every byte of it is set: two that say the same are the same bytes. */
struct wh_peer_file {
	char name[WH_PEER_NAME_BYTES];
	bool has_key;
	uint8_t id[WH_IDENTITY_BYTES];
	char subject[WH_PEER_SUBJECT_BYTES]; /* "": known by its key */
	uint32_t addresses;
	struct wh_address address[WH_PEER_ADDRESSES_MAX];
	struct wh_rights rights;
};

/* Letters, digits, dots, _ and -, and of these only the first two to begin with. */
bool wh_peer_name_is_good(const char *name);

/* Of a name; false: too long. */
bool wh_peer_file_path(const char *folder, const char *name, char path[PATH_MAX]);

/* All that it may do if nothing else is said. */
void wh_rights_init(struct wh_rights *rights);

/* -1, or the exit status after a complaint, as are those that follow. */
int wh_peer_file_parse(struct wh_peer_file *peer, const char *name, const char *path,
	const char *text, size_t bytes);
int wh_peer_file_read(struct wh_peer_file *peer, const char *name, const char *path);

/* `text` (KEY=VALUE) beside what is there, where owners may have names; `where` for complaints. */
int wh_peer_file_set(struct wh_peer_file *peer, const char *text);

/* As a file that says the same. */
void wh_peer_file_print(const struct wh_peer_file *peer, FILE *to);

/* Whole, or as it was before. */
int wh_peer_file_write(const struct wh_peer_file *peer, const char *path);

bool wh_peer_file_has_address(const struct wh_peer_file *peer, const struct wh_address *address);

/*
 * What a peer may do, for a person: "read, write below incoming; 10 Gb/s at most". Of owners, that
 * there are rules.
 */
#define WH_RIGHTS_TEXT_BYTES 1024
const char *wh_rights_text(const struct wh_rights *rights, char text[WH_RIGHTS_TEXT_BYTES]);

#endif
