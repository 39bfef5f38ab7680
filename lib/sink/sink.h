/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_SINK_H
#define WH_SINK_SINK_H

/*
 * Makes files of a bundle: chunks from `deliver`, given back to `recycled`; answers in chunks from
 * `free` into `ready`. A process: polled, it does a bounded piece of work (about 50 us on a file
 * system in memory) and returns.
 *
 * Everything goes below `root_fd` and nothing leaves it: paths are checked, then opened by
 * openat2 with RESOLVE_BENEATH and without magic links. What is not whole has no final name: files
 * are written in a staging folder of the target's own file system (".wavehaul-X.part", locked
 * by flock while in use; one that a dead process left behind is removed by the next sink there).
 * A batch of files becomes durable by one syncfs (on a thread of its own: nothing else blocks),
 * then they are renamed to their names, then the answer COMMITTED goes. In memory, where a sync
 * does nothing, and where the kernel lets us link what has no name, a small file whose name is free
 * has it as soon as it is whole, with its mode and time: what is closed or breaks before COMMITTED
 * may leave such files.
 *
 * A large file is let in if what is free is enough for its data and for those let in before it, of
 * any sink of the process; holes need no room. On disk its blocks are reserved as its bytes come,
 * some ahead.
 *
 * Runs of 64 KiB of zeros in a large file become holes.
 *
 * A large file that is not whole when its job ends, however that is, may go on in a later one
 * (sink/recall.h): while it comes it is synced now and then, and a journal told up to where; only
 * what is known from there, and is proved, is not asked for again.
 *
 * By the wish BLOCKS a large file is made of what is there under its name and of blocks that
 * differ: that is told by digests of its blocks, copied beside itself once something differs, and
 * is not touched before the whole has been read again and its digest agrees.
 *
 * A large file's parts may come by several lanes (sink/assembly.h): any sink writes into the one
 * that the head's has staged, and only that one gives it its name and tells of it.
 *
 * Links are never followed below the target, wherever they come from: a folder of the bundle that
 * is a link there fails. On the way to the target they are, as long as they stay below the root.
 *
 * The target (sink/target.h), as scp does it: into an existing folder (or into_folder, or with a
 * '/' at its end) go the entries under their own paths, and its last name is made if it is missing;
 * else the first name of every path becomes the target's last name, or that of the file which a
 * link of that name leads to. A second sink of the same job (another lane)
 * may find the folder that the first has made: progress.as_name of the first is its as_name.
 *
 * Modes and times are the source's, without regard to the umask, but set-user-ID and set-group-ID
 * are dropped. Folders that are missing on the way to a file are made, and keep mode 0700 unless
 * they have an entry. A folder that somebody else owns keeps its mode and times.
 *
 * A name of the form of a staging folder's fails (EPERM), and so does a file where a folder has the
 * name, or the reverse. A file that is there with the same bytes is skipped, and gets the mode and
 * time wanted; other files and links are replaced. A pipe, a socket or a device never is: what
 * should go there fails (EEXIST).
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"
#include "bundle/record.h"
#include "bundle/waits.h"
#include "file/blocks.h"
#include "file/rings.h"
#include "sink/assembly.h"
#include "sink/recall.h"
#include "sink/room.h"
#include "sink/rules.h"
#include "source/source.h"

/* In a poll, in round numbers: files put in place, and bytes hashed and written. */
#define WH_SINK_FILES_PER_POLL 4
#define WH_SINK_PIECE_BYTES    (UINT32_C(256) << 10)

struct wh_sink_config {
	int root_fd;        /* borrowed */
	const char *target; /* below it; "" or ".": the root itself */
	bool into_folder;
	bool as_name; /* the target is a name, even if a folder has it */
	bool anew;    /* what is there already is replaced by the same bytes */
	/* In place of files: what the bundle's one file has goes there, which never waits; the
	 * target is an empty folder that has lost its name. */
	bool is_pipe;
	int pipe_fd;
	struct wh_choice choice; /* what becomes of files that are there */
	uint64_t block_seed;     /* of digests of blocks, as the source has it; and their memory: */
	struct wh_blocks_account account;
	uint64_t hz;             /* of now_tsc */
	uint32_t chunk_bytes;    /* of the bundle */
	uint64_t first_chunk;    /* number of the bundle's first */
	uint32_t answer_bytes;   /* chunk size of the answers */
	uint64_t first_answer;   /* number of the answers' first chunk */
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	struct wh_fifo *free;
	struct wh_fifo *ready;
	/* Folders' attributes and TOTALS wait until it is true (other lanes); NULL: at once. */
	const _Atomic bool *gate;
	/* Of lanes that split large files: what their sinks have together; NULL: none does. */
	struct wh_assemblies *assemblies;
	uint32_t lane;
	uint32_t lanes;
	struct wh_keeping keeping; /* of what is not whole when the sink goes */
	struct wh_rules rules;
	struct wh_rules_used *used; /* of its lanes; NULL: this is the only one */
	struct wh_rings *rings;     /* of the process; NULL: one is made */
	struct wh_room *room;       /* of the process: what its sinks promise together */
	/* Room that files announced and not written yet may hold together; NULL: any. More of them
	 * are let in while there is room, and find it or not when their bytes come. */
	struct wh_room_share *share;
	uint32_t folder_log_max_bytes; /* for folders' attributes until the end; 0: 256 MiB */
	void (*on_file)(void *context, const struct wh_file_result *result);
	void *context;
};

struct wh_sink;

/* 0 or a negative errno; *doing says what failed. */
int wh_sink_open(struct wh_sink **sink, const struct wh_sink_config *config, enum wh_doing *doing);
int32_t wh_sink_poll(void *sink, uint64_t now_tsc);
/* Undoes what is neither committed nor named; NULL is allowed. */
void wh_sink_close(struct wh_sink *sink);

enum wh_sink_state {
	WH_SINK_RUNNING = 0,
	/* All that came is durable or has an OUTCOME; TOTALS and end marker are out. */
	WH_SINK_DONE,
	/* The bundle makes no sense (EPROTO), or the disk is of no use: see error. */
	WH_SINK_BROKEN,
};

struct wh_sink_progress {
	enum wh_sink_state state;
	int error; /* negative errno */
	enum wh_doing doing;
	bool as_name;      /* how the target was understood; known at open */
	uint64_t bytes;    /* written so far */
	bool digest_known; /* of a large file: the last that came, and from its beginning */
	struct wh_digest digest;
	uint64_t files_found; /* announced so far, or that there are, once it is known */
	uint64_t bytes_found;
	bool all_found; /* it is */
	struct wh_totals totals;
	uint64_t waits_told; /* how often the source has told its own */
	struct wh_waits_told peer;
};

/* False: there is no chunk for it, or it is the answers' end; nothing was told. */
bool wh_sink_tell_waits(struct wh_sink *sink, const struct wh_waits_told *told);

const struct wh_sink_progress *wh_sink_progress(const struct wh_sink *sink);

/* Whom it waits for that had nothing to do when it was polled last; told by its process only. */
enum wh_waits wh_sink_waits(const struct wh_sink *sink);

#endif
