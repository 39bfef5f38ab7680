/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Receives a bundle and writes its files: chunks come from `deliver` and return to `recycled`;
 * answers go in chunks from `free` into `ready`. A task: each poll does a bounded amount of work
 * (about 50 us on a file system in memory).
 *
 * Everything is written below `root_fd`: paths are checked, then opened by openat2 with
 * RESOLVE_BENEATH and without magic links. An incomplete file never has its final name. Files are
 * written in a staging folder on the target's own file system (".wavehaul-X.part"), locked by flock
 * while in use; the next sink there removes one that a dead process left. A batch of files is made
 * durable by one syncfs, on a thread of its own: nothing else blocks. Then the files are renamed,
 * then COMMITTED is sent.
 *
 * One exception: in memory a sync does nothing. If the kernel also allows linking an unnamed file,
 * a small file with a free name gets that name as soon as it is complete, with its mode and time.
 * So a sink that is closed or breaks before COMMITTED may leave such files.
 *
 * A large file is admitted if the free space suffices for its data and for the files that any sink
 * of the process admitted before it; holes need no space. On disk its blocks are reserved somewhat
 * ahead of its bytes.
 *
 * A disk that turns out to be full breaks the bundle, since all further files would fail. Before
 * that, complete files get their names, and the journal notes what is written of large ones. A
 * large file that is not admitted fails alone, for smaller ones may fit; the eighth of them breaks
 * the bundle, too.
 *
 * Runs of 64 KiB of zeros in a large file become holes.
 *
 * A later job may resume a large file that is incomplete when its job ends, for whatever reason
 * (sink/recall.h). While the file arrives it is synced from time to time, and the offset is noted
 * in a journal. Only data up to that offset, verified by digest, are not requested again.
 *
 * With the wish BLOCKS a large file is made from the existing file of that name and from blocks
 * that differ. The sink sends digests of the existing blocks. It copies the file only if something
 * differs, and replaces it only after the whole copy has been read again and its digest agrees.
 *
 * A large file's segments may arrive by several lanes (sink/assembly.h): every sink writes into the
 * file staged by the lead lane's sink, which alone renames it and reports its outcome.
 *
 * Links are never followed below the target, whatever made them: a folder of the bundle fails if it
 * is a link there. On the way to the target they are followed, as long as they stay below the root.
 *
 * The target (stage/target.h) is as in scp. If it is an existing folder (or with into_folder, or
 * with a '/' at its end) entries go into it under their own paths, and its last component is
 * created if it is missing. Otherwise the first component of every path is replaced by the target's
 * last one, or by that of the file which a link of that name leads to. A second sink of the same
 * job (another lane) may find the folder that the first has created: it gets the first one's
 * progress.as_name as its as_name.
 *
 * Modes and times are those of the source, regardless of the umask, but set-user-ID and
 * set-group-ID are dropped. Missing folders on the way to a file are created, and keep mode 0700
 * unless they have an entry. A folder owned by somebody else keeps its mode and times.
 *
 * A name that looks like a staging folder's fails (EPERM), and so does a file where a folder has
 * the name, or the reverse. An existing file with the same bytes is skipped, and gets the mode and
 * time wanted; other files and links are replaced. A pipe, socket or device is never replaced: the
 * entry fails (EEXIST).
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
#include "sink/rules.h"
#include "source/source.h"
#include "stage/room.h"

/* Approximate work of a poll: files created, and bytes hashed and written. */
#define WH_SINK_FILES_PER_POLL 4
#define WH_SINK_PIECE_BYTES    (UINT32_C(256) << 10)

struct wh_sink_config {
	int root_fd;        /* borrowed */
	const char *target; /* below it; "" or ".": the root itself */
	bool into_folder;
	bool as_name; /* the target is a name, even if it is an existing folder */
	bool anew;    /* existing files are replaced even if they have the same bytes */
	/*
	 * The source may not learn what is here. No answer depends on the files, links and folders
	 * that exist, unless something of another kind has the name, and files replace files:
	 * implies `anew`. The choice must have nothing of WH_CHOICES_TELL.
	 */
	bool blind;
	/*
	 * Instead of files: the bundle's only file is written to pipe_fd, which must be
	 * non-blocking; the target is an empty folder that has been unlinked.
	 */
	bool is_pipe;
	int pipe_fd;
	struct wh_choice choice;          /* what to do with existing files */
	uint64_t block_seed;              /* of digests of blocks, as at the source */
	struct wh_blocks_account account; /* charged for lists of digests, names */
	uint64_t hz;                      /* frequency of now_tsc */
	uint32_t chunk_bytes;             /* of the bundle */
	uint64_t first_chunk;             /* number of the bundle's first chunk */
	uint32_t answer_bytes;            /* chunk size of the answers */
	uint64_t first_answer;            /* number of the answers' first chunk */
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	struct wh_fifo *free;
	struct wh_fifo *ready;
	/* Folders' attributes and TOTALS wait until it is true (for other lanes); NULL: no wait. */
	const _Atomic bool *gate;
	/* Shared by the sinks of lanes that split large files; NULL: none are split. */
	struct wh_assemblies *assemblies;
	uint32_t lane;
	uint32_t lanes;
	struct wh_keeping keeping; /* of files that are incomplete when the sink closes */
	struct wh_rules rules;
	struct wh_rules_used *used; /* shared by its lanes; NULL: only one lane */
	struct wh_rings *rings;     /* of the process; NULL: it creates its own */
	struct wh_room *room;       /* of the process: promises of all its sinks */
	/*
	 * Limit of the space promised to announced files of one owner; NULL: none. Beyond it a file
	 * is admitted if there is space now; that space may be gone when its bytes arrive.
	 */
	struct wh_room_share *share;
	uint32_t folder_log_max_bytes; /* for folders' attributes until the end; 0: 256 MiB */
	void (*on_file)(void *context, const struct wh_file_result *result);
	/* Nothing is removed by DELETE as long as this is false; NULL: it may be. */
	bool (*may_remove)(void *context);
	void *context;
};

struct wh_sink;

/* 0 or a negative errno; *doing says what failed. */
int wh_sink_open(struct wh_sink **sink, const struct wh_sink_config *config, enum wh_doing *doing);
int32_t wh_sink_poll(void *sink, uint64_t now_tsc);
/* Removes what is neither committed nor named; NULL is allowed. */
void wh_sink_close(struct wh_sink *sink);

enum wh_sink_state {
	WH_SINK_RUNNING = 0,
	/* Everything received is durable or has an OUTCOME; TOTALS and end marker were sent. */
	WH_SINK_DONE,
	/* The bundle is invalid (EPROTO), or the disk unusable: see error. */
	WH_SINK_BROKEN,
};

struct wh_sink_progress {
	enum wh_sink_state state;
	int error; /* negative errno */
	enum wh_doing doing;
	bool as_name;      /* how the target was interpreted; set by open */
	uint64_t bytes;    /* written so far */
	bool digest_known; /* of the large file received last, from its beginning */
	struct wh_digest digest;
	uint64_t files_found; /* announced so far, or the final number once it is known */
	uint64_t bytes_found;
	bool all_found; /* it is final */
	struct wh_totals totals;
	uint64_t waits_told; /* how often the source has reported its waits */
	struct wh_waits_told peer;
};

/* False: no chunk is free, or the answers have ended; nothing was sent. */
bool wh_sink_tell_waits(struct wh_sink *sink, const struct wh_waits_told *told);

const struct wh_sink_progress *wh_sink_progress(const struct wh_sink *sink);

/* What it was waiting for in its last poll. Only its own task may ask. */
enum wh_waits wh_sink_waits(const struct wh_sink *sink);
