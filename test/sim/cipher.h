/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_TEST_SIM_CIPHER_H
#define WH_TEST_SIM_CIPHER_H

/* What the adversary's sessions are sealed with: a cipher of the test's own, its nonces noted. */

#include "session/session.h"

/* OPEN, ACCEPT and CONFIRM are not. */
#define WH_CIPHER_SPARES_OPENING true

void wh_cipher_put(struct wh_session_config *config);

#endif
