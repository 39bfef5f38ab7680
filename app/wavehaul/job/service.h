/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_SERVICE_H
#define WH_APP_SERVICE_H

/* What a server does for whoever may come: a folder, and bounds for its peers. */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "job/peers.h"
#include "job/request.h"
#include "source/source.h"
#include "wire/encap.h"

struct wh_desk;
struct wh_job;
struct wh_store;

struct wh_service {
	/*
	 * What its operator says for all jobs, which HELLO makes a request of: the folder
	 * (here.root_fd), the rate that a peer gets at most, patience, how repair is planned.
	 */
	struct wh_request own;
	struct wh_peer_limits limits;
	struct wh_subnet allow[WH_SETTINGS_ALLOWS_MAX]; /* who may come */
	uint32_t allows;
	struct wh_store *store; /* what peers may do that have proved who they are; NULL: all */
	struct wh_desk *desk;   /* for peers' orders; NULL: none are taken */
	bool anew;              /* nothing that is there already is skipped */

	/* Told on the job's crew; NULL: nobody is. What became of a file that came; and that a
	 * job is over, before it goes. */
	void (*on_file)(void *context, const struct wh_file_result *result);
	void (*on_over)(void *context, const struct wh_job *job);
	void *context;
};

/* Places for jobs at once, those that are kept for peers that have none counted. */
static inline uint32_t wh_service_places(const struct wh_service *service)
{
	return service->limits.places + service->limits.spare_places;
}

#endif
