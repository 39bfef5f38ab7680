/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a server offers to permitted peers: a folder, with limits. */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "job/peers.h"
#include "job/request.h"
#include "source/source.h"
#include "wire/encap.h"

struct wh_mailbox;
struct wh_job;
struct wh_sa;
struct wh_store;

struct wh_service {
	/*
	 * The operator's settings for all jobs: the folder (here.root_fd), a peer's highest rate,
	 * patience, repair planning. A job's request is made from them and from HELLO.
	 */
	struct wh_request own;
	struct wh_peer_limits limits;
	struct wh_subnet allow[WH_SETTINGS_ALLOWS_MAX]; /* peers that may connect */
	uint32_t allows;
	struct wh_store *store;     /* rights of identified peers; NULL: all */
	struct wh_mailbox *mailbox; /* for peers' orders; NULL: not accepted */
	bool anew;                  /* existing files are never skipped */

	/*
	 * Callbacks on the job's worker; may be NULL. on_file: the result of a received file.
	 * on_removed: what --delete has removed from a job's target. may_remove: whether there is
	 * room to report another removal. on_over: the end of a job, before it is freed.
	 */
	void (*on_file)(void *context, const struct wh_file_result *result);
	void (*on_removed)(void *context, const struct wh_job *job, const char *file);
	bool (*may_remove)(void *context);
	void (*on_over)(void *context, const struct wh_job *job);
	void *context;
};

/* Whether a host of that address may connect. */
bool wh_service_may_come(const struct wh_service *service, const struct wh_address *peer);

/* What its SA allowed it at the address of its handshake holds for another one, if it may come. */
bool wh_service_may_be_at(
	const struct wh_service *service, const struct wh_address *peer, const struct wh_sa *sa);

/* The most concurrent jobs, including places reserved for peers that have none. */
static inline uint32_t wh_service_places(const struct wh_service *service)
{
	return service->limits.places + service->limits.spare_places;
}
