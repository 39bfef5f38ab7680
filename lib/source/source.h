/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Walks paths and sends what it finds as a bundle: chunks from `free`, filled, go into `ready`;
 * answers of the sink come from `deliver` and return to `recycled`. A task: each poll does a
 * bounded amount of work (about 50 us on a file system in memory).
 *
 * Small files are read in one go. Large ones are announced up to WH_SOURCE_ASKED ahead, and read in
 * pieces when the sink has answered WANT. On HAVE the file's digest is computed here, and SAME is
 * sent if it agrees. Reading uses io_uring and O_DIRECT where that does not block, and is direct on
 * a file system in memory.
 *
 * If the sink has the beginning of a file from an earlier job, only the rest is sent, provided that
 * the existing data are verified: by size, mtime, inode and change time, by samples, or completely.
 *
 * If the sink has sent digests of blocks, only blocks that differ are sent, while the rest of the
 * file is still being compared. Such a file goes by one lane.
 *
 * A file that changes while it is read fails (WH_DOING_CHANGED): size, mtime and inode are compared
 * before and after.
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

/* The outcome of one path, reported once. */
struct wh_file_result {
	const char *path; /* as in the bundle; valid during the call */
	enum wh_entry_kind kind;
	uint64_t bytes;
	bool skipped;
	bool would;    /* would be sent, if this were not a dry run */
	bool kept;     /* a range of the file, which has no name before the others have come */
	bool removed;  /* at the sink, or would be: the source does not have it */
	int error;     /* 0: done; else a positive errno */
	uint8_t doing; /* enum wh_doing */
	bool at_peer;  /* it failed at the peer */
};

/*
 * Largest size of an EXTENT by default. Received data are verified at the next EXTENT, and what
 * came since the last one is lost with the connection. The first EXTENT of a source is a chunk, and
 * each is twice the one before, so that a connection that ends soon keeps half of what it carried.
 * With repair packets its record needs a block of its own, with as many of them as a full block: at
 * 128,4 and 1500 bytes the five of 16 MiB are 25 packets beside 11,900.
 */
#define WH_SOURCE_EXTENT_BYTES (UINT64_C(32) << 20)

struct wh_source_config {
	/*
	 * Paths are resolved below this folder and cannot leave it (openat2, RESOLVE_BENEATH); -1:
	 * they are the operator's own.
	 */
	int root_fd;
	const char *const *paths;
	uint32_t path_count;
	/* Instead of paths: one file with the bytes of pipe_fd, which must be non-blocking. */
	bool is_pipe;
	bool (*is_whole)(int fd); /* asked at its end; NULL: any end is good */
	int pipe_fd;              /* borrowed */
	int64_t pipe_s;           /* its modification time */
	bool recursive;
	struct wh_choice choice; /* what is sent */
	/*
	 * Every file belongs to one lane: given paths in rotation, files in folders by a hash of
	 * their paths, so that lanes agree even if the tree changes meanwhile. Lane 0 sends the
	 * rest. With `splits`, which the lanes share, every lane sends a segment of a large file.
	 */
	uint32_t lane;
	uint32_t lanes;
	struct wh_splits *splits;
	uint64_t split_bytes_min; /* per lane; 0: WH_SPLIT_BYTES_MIN */
	/* If the sink verified less than this, files are sent from their beginning. */
	enum wh_resume resume;
	uint64_t block_seed;              /* of digests of blocks, as at the sink */
	struct wh_blocks_account account; /* charged for lists of digests, names */
	uint64_t extent_bytes_max;        /* 0: WH_SOURCE_EXTENT_BYTES, at least a chunk */
	struct wh_rings *rings;           /* of the process; NULL: it creates its own */
	uint32_t chunk_bytes;
	bool asks_first;      /* nothing of a large file goes ahead of the sink's answer */
	uint64_t first_chunk; /* number of its first chunk: a HELLO may precede */
	/*
	 * Most entries whose outcome is unknown, a power of two, to limit memory; 0:
	 * WH_LEDGER_ENTRIES_MAX.
	 */
	uint32_t entries_max;
	struct wh_fifo *free;
	struct wh_fifo *ready;
	struct wh_fifo *deliver;  /* NULL: see wh_source_hear */
	struct wh_fifo *recycled; /* as deliver */
	/* Folders' attributes and FINISH wait until it is true (for other lanes); NULL: no wait. */
	const _Atomic bool *gate;
	void (*on_file)(void *context, const struct wh_file_result *result);
	void *context;
};

struct wh_source;

/*
 * 0 or a negative errno. The config's strings must outlive it. Chunks that it holds when closed
 * stay in their pool: close it before that memory is freed. Opens up to WH_SOURCE_ASKED +
 * WH_WALK_OPEN descriptors (source/walk.h).
 */
int wh_source_open(struct wh_source **source, const struct wh_source_config *config);
/* For a source that was opened before the sink's stream: its answers come from there. Once. */
void wh_source_hear(struct wh_source *source, struct wh_fifo *deliver, struct wh_fifo *recycled);
int32_t wh_source_poll(void *source, uint64_t now_tsc);
void wh_source_close(struct wh_source *source); /* NULL is allowed */

enum wh_source_state {
	WH_SOURCE_RUNNING = 0,
	WH_SOURCE_SENT,   /* the end marker was sent; waits for answers */
	WH_SOURCE_DONE,   /* TOTALS was received and the answers ended correctly */
	WH_SOURCE_BROKEN, /* invalid answers, or no memory: see error */
};

/* What another task of the same core may read. */
struct wh_source_progress {
	enum wh_source_state state;
	int error;         /* negative errno */
	char refusal[256]; /* BROKEN by the peer's REFUSED: its text; else "" */
	uint64_t files_found;
	uint64_t bytes_found; /* grows during the walk */
	bool walked;          /* the two are final */
	/* The only path has a wildcard, but is the very name of something; set by open. */
	bool is_as_given;
	uint64_t bytes_read;
	bool went_ahead;   /* bytes of a large file, whether they are wanted or not */
	bool digest_known; /* of the large file sent last, from its beginning */
	struct wh_digest digest;
	struct wh_totals totals; /* known so far: committed, skipped, failed (here or there) */
	uint64_t waits_told;     /* how often the sink has reported its waits */
	struct wh_waits_told peer;
};

/* False: no chunk is free, or no record may be inserted now; nothing was sent. */
bool wh_source_tell_waits(struct wh_source *source, const struct wh_waits_told *told);

const struct wh_source_progress *wh_source_progress(const struct wh_source *source);

/* What it was waiting for in its last poll. Only its own task may ask. */
enum wh_waits wh_source_waits(const struct wh_source *source);
