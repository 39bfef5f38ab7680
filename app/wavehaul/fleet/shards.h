/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Names distributed over shards, each a file of names for send --files-from --null: balanced by
 * bytes and by files at once, while neither sum is known yet. Names that follow each other stay
 * together in runs, so that a shard has few folders. Memory: one run.
 *
 * A file that is much larger than a shard is divided into ranges, shards of their own that follow
 * each other. At most half of all shards are ranges; files beyond that stay whole.
 */

#include <stdbool.h>
#include <stdint.h>

/* The most names that send takes from one list (transfer/operand_list.c). */
#define WH_SHARD_FILES_MAX 100000

/* A file is divided from twice this size on. */
#define WH_SHARD_RANGE_BYTES_MIN (UINT64_C(64) << 20)

/* Ranges per file, at most. */
#define WH_SHARD_RANGES_MAX 64

/* What tells that a file is still what was planned; all 0 without a folder. */
struct wh_shard_version {
	uint64_t inode;
	int64_t mtime_ns;
	int64_t ctime_ns;
	uint64_t bytes;
};

struct wh_shard {
	int fd;
	uint64_t files; /* names, of whatever kind */
	uint64_t bytes;
	/* Only this range of its only name; end 0: all of its names. */
	uint64_t from;
	uint64_t end;
	struct wh_shard_version version; /* of the file, if it is a range */
};

struct wh_shards {
	const char *folder; /* they are in, under their numbers; NULL: no names are kept */
	uint32_t max;
	bool divides; /* large files */
	/* Another shard is opened whenever the mean of those that are open reaches one of these. */
	uint64_t grain_bytes;
	uint64_t grain_files;

	struct wh_shard *shard;
	uint32_t count;
	struct wh_shard sum;
	uint32_t ranges;        /* shards that are ranges */
	struct wh_shard ranged; /* what these have together */
	uint64_t undivided;     /* files that are whole although they are large enough */
	struct wh_shard in_run;
	char *run; /* names, each with its NUL */
	uint32_t run_chars;
};

/* The settings above are filled in. -1, or an exit status after a complaint. */
int wh_shards_open(struct wh_shards *shards);

/* The version of a file here, by which its ranges go together. 0 or a negative errno. */
int wh_shard_look(const char *name, struct wh_shard_version *version);

/* False after a complaint. */
bool wh_shards_add(struct wh_shards *shards, const char *name, uint64_t bytes);

/* Writes what is left. False after a complaint. */
bool wh_shards_finish(struct wh_shards *shards);

/* The largest shard against the mean: of bytes or of names. 1: no shard has any. */
double wh_shards_balance(const struct wh_shards *shards, bool of_bytes);

void wh_shards_free(struct wh_shards *shards);
