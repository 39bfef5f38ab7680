/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A process that others may meet: an end, a handshake server behind it, and the SAs that they
 * share. Its identity outlives a restart.
 */

#include <stdbool.h>
#include <stdint.h>

#include "end.h"
#include "trust/handshakes.h"

struct wh_rig_host {
	struct wh_rig_end
		end; /* as for wh_rig_end_open, but for SAs; more.with_handshake: they are used */
	struct wh_authorizer authorizer;
	struct wh_identity identity;
	struct wh_sadb sadb;
	struct wh_handshakes handshakes;
	uint8_t lives; /* how often it was started */
	bool up;
};

/* Draws the identity. */
void wh_rig_host_make(struct wh_rig_host *host);
void wh_rig_host_free(struct wh_rig_host *host);

/* Each of its lives has a secret of its own. The address is that of the end. */
void wh_rig_host_start(struct wh_rig_host *host, uint8_t number);

/* As a kill does: nothing is said. Sessions are the caller's to destroy, before. */
void wh_rig_host_stop(struct wh_rig_host *host);

/*
 * A turn of the handshake server: takes the datagrams that the end has received, and gives it those
 * to send.
 */
void wh_rig_host_handshake(struct wh_rig_host *host, uint64_t now_tsc);
