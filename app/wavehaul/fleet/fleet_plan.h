/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The folder of a plan, which the nodes share:
 *
 *   plan.json   what is moved where, the sizes of the shards, the jobs of Slurm
 *   shards/N    names of shard N, each with a NUL; shards/fN: the name of the N-th divided file
 *   state/N.log what became of it: a JSON object a line (shard_log.h)
 *   state/N.now the last second of a running transfer
 *   state/N.sums  checksums of what has arrived, as by md5sum
 *   state/N.part  of a `get`: the names that it asks for now, and N.got, their checksums
 *   state/fN-K.sums  the checksum of its K-th range, and fN.sums, of the whole once it is verified
 *   tasks/N     what its tasks said
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "fleet/shards.h"

struct wh_plan {
	char folder[PATH_MAX]; /* absolute */
	json_t *json;
};

/* A new folder, with those in it. -1, or an exit status after a complaint. */
int wh_plan_make(struct wh_plan *plan, const char *folder);

/* -1, or an exit status after a complaint. */
int wh_plan_read(struct wh_plan *plan, const char *folder);

/* Writes plan.json. -1, or an exit status after a complaint. */
int wh_plan_write(const struct wh_plan *plan);

/* Whether it gets trees from its site; else it sends them there. */
bool wh_plan_gets(const struct wh_plan *plan);

/* The options behind --, of get or send. */
const json_t *wh_plan_options(const struct wh_plan *plan);

/*
 * A plan for several sites has its shards once for each: those of the first site, then those of the
 * second, in the same order. A site gets its shards from the one before it.
 */
uint32_t wh_plan_sites(const struct wh_plan *plan);

/* "site" and "path" of a shard's target. */
const json_t *wh_plan_target(const struct wh_plan *plan, uint32_t shard);

/* How many shards each site has. */
uint32_t wh_plan_site_shards(const struct wh_plan *plan);

uint32_t wh_plan_shards(const struct wh_plan *plan);

/* Names and bytes that a shard has. */
const json_t *wh_plan_shard(const struct wh_plan *plan, uint32_t shard);

/* "divided" and "shards" of the plan: what they have, those of each site. */
json_t *wh_plan_divided_json(const struct wh_shards *shards);
json_t *wh_plan_shards_json(const struct wh_shards *shards, uint32_t sites);

/* Files of which several shards have ranges. */
uint32_t wh_plan_divided(const struct wh_plan *plan);

/* A range of one of them: the k-th of `ranges`. */
struct wh_file_range {
	uint32_t file;
	uint32_t k;
	uint32_t ranges;
	uint32_t shard;
	uint64_t from;
	uint64_t end;
	struct wh_version version; /* of the file */
};

/* False: it has no such range. */
bool wh_plan_file_range(
	const struct wh_plan *plan, uint32_t file, uint32_t k, struct wh_file_range *range);

/* Whether all of its ranges have arrived, if these shards are done. */
bool wh_plan_file_is_done(const struct wh_plan *plan, uint32_t file, const bool *is_done);

/* The i-th range of a shard. False: it has no more. */
bool wh_plan_range(
	const struct wh_plan *plan, uint32_t shard, uint32_t i, struct wh_file_range *range);

/* The path of the file's list ("shards"), or of the range's checksum ("state", ".sums"). */
void wh_plan_range_path(const struct wh_plan *plan, const struct wh_file_range *range,
	const char *room, char path[PATH_MAX]);

/* The path of the checksum of a whole divided file, which a second pass has calculated. */
void wh_plan_whole_path(const struct wh_plan *plan, uint32_t file, char path[PATH_MAX]);

/* A path in the folder: "state/7.log". Lists of names are there once for all sites. */
void wh_plan_path(const struct wh_plan *plan, uint32_t shard, const char *room, const char *end,
	char path[PATH_MAX]);

void wh_plan_free(struct wh_plan *plan);
