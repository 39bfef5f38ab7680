/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SOURCE_SOURCE_H
#define WH_SOURCE_SOURCE_H

/*
 * Walks paths and turns what it finds into a bundle: chunks from `free`, filled, into `ready`;
 * answers of the sink from `deliver`, given back to `recycled`. A process: polled, it does a
 * bounded piece of work (about 50 us on a file system in memory) and returns.
 *
 * Small files are read in one go. Large ones are announced up to WH_SOURCE_ASKED ahead, and read
 * in pieces when the sink has answered WANT; on HAVE the file's digest is computed here, and SAME
 * sent when it agrees. Reading is by io_uring and O_DIRECT where that does not block, and directly
 * where the file system is memory.
 *
 * Where the sink has the beginning of a file from an earlier run, only the rest goes, if what is
 * there is proved to be as here: by size, mtime, inode and change time, samples, or all of it.
 *
 * Where the sink has told digests of blocks of what it has, only blocks that differ go; they are
 * sent while the rest of the file is still being compared. Such a file goes by one lane.
 *
 * A file is compared with itself: size, mtime and inode before and after; one that changed
 * meanwhile is failed (WH_DOING_CHANGED), never sent as if it were whole.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"
#include "bundle/record.h"
#include "bundle/split.h"
#include "bundle/waits.h"
#include "file/blocks.h"
#include "file/rings.h"

#define WH_SOURCE_ASKED 256

/* What became of one path, told once. */
struct wh_file_result {
	const char *path; /* as in the bundle; valid during the call */
	enum wh_entry_kind kind;
	uint64_t bytes;
	bool skipped;
	bool would;    /* go, but that this is a dry run */
	int error;     /* 0: done; else a positive errno */
	uint8_t doing; /* enum wh_doing */
	bool at_peer;  /* that it failed there */
};

/*
 * Raw bytes that an EXTENT announces where nobody says otherwise: what came of it is proved when
 * the next one comes, and on a slow way that is to be soon. Where repair packets go, its record is
 * a block of its own with as many as a full one: at 128,4 they are half a percent more.
 */
#define WH_SOURCE_EXTENT_BYTES (UINT64_C(32) << 20)

struct wh_source_config {
	/* Paths are looked up below this folder and do not leave it (openat2, RESOLVE_BENEATH); -1:
	 * they are the operator's own. */
	int root_fd;
	const char *const *paths;
	uint32_t path_count;
	/* In place of paths: one file of the bytes that come from there, which never waits. */
	bool is_pipe;
	int pipe_fd;    /* borrowed */
	int64_t pipe_s; /* its time */
	bool recursive;
	struct wh_choice choice; /* what of it is sent */
	/* Every file is one lane's: given paths by turns, files in folders by their paths, so that
	 * lanes agree even when the tree changes meanwhile. Lane 0 sends the rest. Of a large file
	 * every lane sends a part, if `splits` is there, which is the lanes' together. */
	uint32_t lane;
	uint32_t lanes;
	struct wh_splits *splits;
	uint64_t split_bytes_min; /* for each lane; 0: WH_SPLIT_BYTES_MIN */
	/* A sink that believes more of what it has gets files from their beginning. */
	enum wh_resume resume;
	uint64_t block_seed;       /* of digests of blocks, as the sink has it; and their memory: */
	struct wh_blocks_account account;
	uint64_t extent_bytes_max; /* 0: WH_SOURCE_EXTENT_BYTES, or a chunk */
	struct wh_rings *rings;    /* of the process; NULL: one is made */
	uint32_t chunk_bytes;
	uint64_t first_chunk; /* number of its first: a HELLO may have gone before */
	/* Entries that may be out before the sink has told what became of them, a power of two: for
	 * little memory; 0: WH_LEDGER_ENTRIES_MAX. */
	uint32_t entries_max;
	struct wh_fifo *free;
	struct wh_fifo *ready;
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	/* Folders' attributes and FINISH wait until it is true (other lanes); NULL: at once. */
	const _Atomic bool *gate;
	void (*on_file)(void *context, const struct wh_file_result *result);
	void *context;
};

struct wh_source;

/*
 * 0 or a negative errno. The config's strings must outlive it. Chunks that it holds when it is
 * closed stay in their pool: close it before that memory goes. Up to WH_SOURCE_ASKED +
 * WH_WALK_OPEN descriptors are open at once (source/walk.h).
 */
int wh_source_open(struct wh_source **source, const struct wh_source_config *config);
int32_t wh_source_poll(void *source, uint64_t now_tsc);
void wh_source_close(struct wh_source *source); /* NULL is allowed */

enum wh_source_state {
	WH_SOURCE_RUNNING = 0,
	WH_SOURCE_SENT,   /* the end marker is out; answers are awaited */
	WH_SOURCE_DONE,   /* TOTALS came and the answers ended as they should */
	WH_SOURCE_BROKEN, /* the answers make no sense, or no memory: see error */
};

/* What another process of the same core may read. */
struct wh_source_progress {
	enum wh_source_state state;
	int error;         /* negative errno */
	char refusal[256]; /* BROKEN by the peer's REFUSED: its sentence; else "" */
	uint64_t files_found;
	uint64_t bytes_found; /* grows while the walk goes on */
	bool walked;          /* the two are final */
	uint64_t bytes_read;
	bool digest_known; /* of a large file: the last that went, and from its beginning */
	struct wh_digest digest;
	struct wh_totals totals; /* known so far: committed, skipped, failed (here or there) */
	uint64_t waits_told;     /* how often the sink has told its own */
	struct wh_waits_told peer;
};

/* False: there is no chunk for it, or no place between two records; nothing was told. */
bool wh_source_tell_waits(struct wh_source *source, const struct wh_waits_told *told);

const struct wh_source_progress *wh_source_progress(const struct wh_source *source);

/* Whom it waits for that had nothing to do when it was polled last; told by its process only. */
enum wh_waits wh_source_waits(const struct wh_source *source);

#endif
