/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A host whose sessions are sealed, unless the operator disables that. */

#include "cli/settings.h"
#include "guard/guard.h"
#include "host/host_handshake.h"
#include "job/on_host.h"
#include "trust/trust.h"

struct wh_sealed {
	bool on;
	struct wh_trust trust;
	struct wh_handshake_settings handshake;
	struct wh_far *far; /* as in the settings */
	struct wh_on_host *at;
	uint64_t next_tsc;
	int (*run)(void *context);
	void *context;
};

/*
 * wh_on_host with the identity and the trusted peers of the settings, which are added to those of
 * the host. `server`: a client's server as the operator wrote it, "" for a server. Warns if nothing
 * is sealed.
 */
int wh_on_sealed_host(struct wh_sealed *sealed, const struct wh_settings *settings,
	const char *server, struct wh_on_host *on, int (*run)(void *context), void *context);

/* The same for a verb that opens one session and moves little. */
int wh_on_small_host(struct wh_sealed *sealed, const struct wh_settings *settings,
	const char *server, struct wh_on_host *on, int (*run)(void *context), void *context);

/* If the operator means exactly one key at that server, the request is for that key only. */
void wh_sealed_name(
	struct wh_sealed *sealed, const struct wh_address *server, struct wh_request *request);

/* Lets a guarded process continue to read the files of trusted peers. */
void wh_sealed_guard(const struct wh_sealed *sealed, struct wh_guard *guard);

/* The ciphers allowed by --cipher, as in struct wh_handshake_settings. */
uint8_t wh_sealed_ciphers(const struct wh_settings *settings);
