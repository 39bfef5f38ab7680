/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_TRUST_PLACE_H
#define WH_APP_TRUST_PLACE_H

/*
 * Where who we are and whom we trust is kept: /etc/wavehaul for root, ~/.config/wavehaul for
 * others, or the folder that WAVEHAUL_CONFIG_DIR names.
 *
 *   identity.pem       our key and certificate
 *   trust.d/NAME.conf  a peer, and what it may do (peer_file.h)
 *   trust.d/ca/        certificates of authorities, and their revocation lists
 */

#include <limits.h>
#include <stdbool.h>

struct wh_trust_place {
	char identity[PATH_MAX];
	char peers[PATH_MAX];
	char authorities[PATH_MAX];
};

/* `identity` and `peers`: what an operator names in their place, "" for nothing. Complains. */
bool wh_trust_place_find(struct wh_trust_place *place, const char *identity, const char *peers);

/*
 * The folders that a path lies in, where they are missing: for their owner alone, but for root's,
 * which others may read. Complains.
 */
bool wh_trust_place_make(const char *path);

#endif
