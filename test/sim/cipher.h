/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_SIM_CIPHER_H
#define WH_TEST_SIM_CIPHER_H

/* What the adversary's sessions are sealed with: AES-GCM under a bond, every nonce noted. */

#include "seal/bond.h"

/* A bond between two ends, each of which has its own table. */
void wh_cipher_bind(struct wh_bonds bonds[2], struct wh_bond *bond[2], uint64_t seed);

/* All keys and nonces, for another run. */
void wh_cipher_forget(void);

#endif
