/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * One end of connections, a real endpoint: it welcomes whoever asks, and the sessions that begin
 * here, opened or accepted, are of one configuration.
 */

#include <stdint.h>

#include "endpoint/endpoint.h"

/* The caller fills in all but the first two, and leaves the end where it is while it is open. */
struct wh_rig_end {
	struct wh_endpoint endpoint;
	struct wh_address address;
	/*
	 * What the rig does not set: makes handshakes, queue, may_come; welcome, if it is not
	 * to take whoever asks; and all of the key but its first byte. The callbacks' context is
	 * this end.
	 */
	struct wh_endpoint_config more;
	struct wh_session_config session; /* may change: of those that begin from then on */
	struct wh_sadb *sadb;             /* NULL: none; what comes is not sealed */
	/* A last word on the configuration of one session; NULL: there is none. */
	void (*prepare)(void *context, struct wh_session_config *config);
	/* Made of that configuration, and not in its place yet; NULL: this end only opens. */
	void (*accepted)(
		void *context, struct wh_session *session, const struct wh_session_config *config);
	void (*gone)(void *context, struct wh_session *session);
	void *context;
};

/* `fixed`, of full packets of an MTU of 1500; chunks have no memory, and there is no rate. */
void wh_rig_session_config(struct wh_session_config *config, uint64_t hz, uint32_t chunk_bytes,
	uint32_t chunks, uint32_t window_pkts);

/* What a peer of that configuration asks for, whose connection ID is 5. */
struct wh_open_params wh_rig_open_params(const struct wh_session_config *config, uint64_t first_pn);

/* Packets of this MTU to peers of that family. */
void wh_rig_session_mtu(
	struct wh_session_config *config, enum wh_family family, uint32_t mtu_bytes);

struct wh_address wh_rig_address(uint8_t number);

/* At the address of that number. */
void wh_rig_end_open(struct wh_rig_end *end, uint8_t number, uint32_t places);
void wh_rig_end_close(struct wh_rig_end *end);

/* A session to another end; *config, unless NULL, becomes what it was opened with. */
struct wh_session *wh_rig_end_connect(struct wh_rig_end *end, const struct wh_address *to,
	const char *name, uint64_t object_bytes, struct wh_session_config *config);
