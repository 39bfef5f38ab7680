/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Names distributed over shards, each a file of names for send --files-from --null: balanced by
 * bytes and by files at once, while neither sum is known yet. Names that follow each other stay
 * together in runs, so that a shard has few folders.
 *
 * Files of twice the grain or more wait until all names are known: the largest, as many as there
 * may be shards. Then each that is larger than the mean shard is divided, and its ranges go to the
 * shards that have least. Memory: one run, and those files.
 */

#include <stdbool.h>
#include <stdint.h>

/* The most names that send takes from one list (transfer/operand_list.c). */
#define WH_SHARD_FILES_MAX 100000

/* Smaller ranges are not worth a transfer each. */
#define WH_RANGE_BYTES_MIN (UINT64_C(64) << 20)

/* What tells that a file is still what was planned; without a folder only its size. */
struct wh_version {
	uint64_t bytes;
	uint64_t inode;
	int64_t mtime_ns;
	int64_t ctime_ns;
};

/* A large file. If it is divided, its k-th range begins at k * range_bytes. */
struct wh_divided {
	char *name;
	struct wh_version version;
	uint64_t range_bytes; /* 0: it is whole */
	uint32_t *shard;      /* of each range */
	uint32_t ranges;
};

struct wh_shard {
	int fd;
	uint64_t files; /* names, of whatever kind */
	uint64_t bytes;
	uint32_t ranges; /* of divided files; their bytes are in `bytes` */
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
	struct wh_shard in_run;
	char *run; /* names, each with its NUL */
	uint32_t run_chars;
	struct wh_divided *large; /* that wait; in the end those that are divided */
	uint32_t larges;
};

/* The settings above are filled in. -1, or an exit status after a complaint. */
int wh_shards_open(struct wh_shards *shards);

/* The version of a file here, by which its ranges go together. 0 or a negative errno. */
int wh_version_look(const char *name, struct wh_version *version);

/* False after a complaint. */
bool wh_shards_add(struct wh_shards *shards, const char *name, uint64_t bytes);

/* Writes what is left, and the name of each divided file, as fN. False after a complaint. */
bool wh_shards_finish(struct wh_shards *shards);

/* The largest shard against the mean: of bytes or of names. 1: no shard has any. */
double wh_shards_balance(const struct wh_shards *shards, bool of_bytes);

void wh_shards_free(struct wh_shards *shards);
