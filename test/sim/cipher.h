/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What the adversary's sessions are sealed with: AES-GCM under an SA, every nonce noted. */

#include "seal/sa.h"

/* An SA between two ends, each of which has its own table. */
void wh_cipher_bind(struct wh_sadb sadb[2], struct wh_sa *sa[2], uint64_t seed);

/* All keys and nonces, for another run. */
void wh_cipher_forget(void);
