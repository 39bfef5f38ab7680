/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Location of our identity and the trusted peers: /etc/wavehaul for root, ~/.config/wavehaul for
 * others, or the folder named by WAVEHAUL_CONFIG_DIR.
 *
 *   identity.pem       our key and certificate
 *   trust.d/NAME.conf  a peer, and its rights (peer_file.h)
 *   trust.d/ca/        certificates of authorities, and their revocation lists
 */

#include <limits.h>
#include <stdbool.h>

struct wh_trust_place {
	char identity[PATH_MAX];
	char peers[PATH_MAX];
	char authorities[PATH_MAX];
};

/* `identity` and `peers`: paths given by an operator instead, "": none. False after a complaint. */
bool wh_trust_place_find(struct wh_trust_place *place, const char *identity, const char *peers);

/*
 * Creates the missing folders of a path: accessible only to their owner, but root's are readable by
 * others. False after a complaint.
 */
bool wh_trust_place_make(const char *path);
