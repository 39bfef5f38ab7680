/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The receivers of a site, from NAME.conf in the folder of sites: a section [receiver NAME] each,
 * with its address, its weight among the others, the rate of its path, and whether it is under
 * maintenance.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_SITE_RECEIVERS_MAX 256
#define WH_SITE_TEXT_BYTES    256

struct wh_site_receiver {
	char name[WH_SITE_TEXT_BYTES];
	char address[WH_SITE_TEXT_BYTES]; /* as in HOST:PATH */
	double weight;
	double rate_bps; /* what the path to it carries; 0: not known */
	bool maintenance;
};

struct wh_site {
	struct wh_site_receiver receiver[WH_SITE_RECEIVERS_MAX];
	uint32_t receivers;
};

/* -1, or an exit status after a complaint. */
int wh_site_read(struct wh_site *site, const char *folder, const char *name);

/* What those in service take together; 0: the rate of one is not known. */
double wh_site_bps(const struct wh_site *site);

/*
 * The receivers for a shard, the one it prefers first; those under maintenance are not among them.
 * They take turns, by weight: shards that run at one time follow each other, and a hash would give
 * one receiver two of them and another one none. Behind the first they are in an order by hash
 * (rendezvous hashing: Thaler, Ravishankar 1998), so that the shards of one that is gone go to all
 * others. Returns their number.
 */
uint32_t wh_site_order(
	const struct wh_site *site, uint32_t shard, uint16_t order[WH_SITE_RECEIVERS_MAX]);
