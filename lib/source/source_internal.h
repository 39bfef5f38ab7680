/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Private to the source. Calls go one way: each file below calls those above it, never back.
 *
 *   put        chunks, records into them, outcomes to the app
 *   asked      large files, from their ENTRY to their last record
 *   run        the file being read, whatever of it is sent
 *   links      files that have several names
 *   left_out   attributes that entries contain, or lack
 *   entry      an ENTRY, and its place in the ledger
 *   blocks     large files of which the sink has listed blocks
 *   stream     the bytes of a pipe
 *   read       large files that the sink has answered: compares them, sends extents
 *   contested  names in the bundle that several given paths have
 *   send       turns items of the walk into records; reads small files
 *   move       removes files that are durable at the sink
 *   answer     answers of the sink
 *   source     opens, polls, closes
 *
 * One chunk suffices, though slowly: a record never waits for a chunk used for reading ahead, since
 * the chunk sent last is returned for it.
 */

#include <assert.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bundle/ledger.h"
#include "bundle/names.h"
#include "bundle/record_pack.h"
#include "bundle/split.h"
#include "file/blocks.h"
#include "file/digest.h"
#include "file/likeness.h"
#include "file/read_ahead.h"
#include "source/source.h"
#include "source/walk.h"

/* A packed chunk is sent at this size even if more records are at hand. */
#define WH_SOURCE_PACK_BYTES (UINT32_C(256) << 10)

/* A poll does about 50 us of work: this many small files, or bytes of them. */
#define WH_SOURCE_FILES_PER_POLL  8
#define WH_SOURCE_BYTES_PER_POLL  (UINT32_C(256) << 10)
#define WH_SOURCE_CHUNKS_PER_POLL 2

/* Most lists of digests from a sink: of the file being read, and of the next one. */
#define WH_SOURCE_LISTS_MAX 2

static_assert(
	WH_SOURCE_ASKED <= WH_LEDGER_NO_ASKED, "each asked file has a place, none is \"none\"");

enum wh_asked_state {
	WH_ASKED_FREE = 0,
	WH_ASKED_OUT,      /* waiting for the answer */
	WH_ASKED_ANSWERED, /* queued, or being read */
};

/* A large file; open from its ENTRY until its last record. */
struct wh_source_asked {
	uint64_t id;
	int fd;
	uint8_t state;
	bool compare;      /* compare it as a whole with the sink's `digest` */
	bool is_cancelled; /* the sink has failed it meanwhile */
	bool is_segment;   /* another lane reports its outcome */
	bool is_stream;
	bool is_ahead;             /* its first WH_INLINE_BYTES_MAX bytes are in its ENTRY */
	bool is_taken;             /* and the sink has taken them */
	int error;                 /* positive errno, if there is no descriptor */
	struct wh_segment segment; /* what is to be sent */
	uint64_t base;             /* byte of the file from which `segment` counts */
	enum wh_resume resume;     /* not OFF: the sink has data up to resume_at */
	uint64_t resume_at;        /* `digest` is of the data before */
	struct wh_digest digest;
	uint64_t seed;          /* of `digest` */
	struct wh_digest *told; /* digests of blocks that the sink has; NULL: none, or no memory */
	uint32_t told_count;    /* number of digests received, even if none are stored */
	uint64_t charged;       /* memory charged for them */
	struct stat status;     /* before it was read */
};

/* A file of which this lane sends a segment, until its outcome is final. */
struct wh_source_split {
	struct wh_split *split;
	uint64_t id; /* of its entry in this lane */
};

enum wh_reading_step {
	WH_READING_NOTHING = 0,
	WH_READING_COMPARES,
	WH_READING_PROVES,    /* verifies data that the sink has */
	WH_READING_DIFFERS,   /* finds the next blocks that differ */
	WH_READING_ANNOUNCES, /* sends the next EXTENT */
	WH_READING_SENDS,     /* its raw chunks */
	WH_READING_STREAMS,   /* a pipe: sends bytes as they arrive */
	WH_READING_ENDS,      /* FILE_END */
};

/* The one large file being read. */
struct wh_reading {
	struct wh_hasher hasher;
	struct wh_read_ahead ahead;
	struct wh_likeness *likeness; /* for WH_READING_PROVES */
	uint64_t likened;             /* bytes read for that */
	struct wh_blocks *blocks;     /* for WH_READING_DIFFERS */
	uint32_t block;               /* the next block */
	enum wh_reading_step step;
	struct wh_source_asked *file;
	uint64_t from;        /* in the file: first byte to send */
	uint64_t offset;      /* of the next byte */
	uint64_t end;         /* of the data to send, or of a run */
	uint64_t extent_left; /* bytes announced and not sent */
	bool is_announced;    /* the EXTENT was sent, not only packed */
	int error;            /* positive errno */
	enum wh_doing doing;
};

/* Most whole chunks of a pipe's bytes per extent. */
#define WH_STREAM_FULL_MAX 4

struct wh_source_stream {
	struct wh_chunk *filling; /* NULL: none */
	struct wh_chunk *full[WH_STREAM_FULL_MAX];
	uint32_t full_count;
	uint32_t sent; /* of these, once their extent was sent */
	bool is_sending;
	bool is_over; /* end of the pipe */
	bool is_idle; /* the last read returned nothing */
};

struct wh_source {
	struct wh_pack pack;
	struct wh_reading reading;
	struct wh_source_stream stream;
	struct wh_hasher answer_hasher;
	struct wh_source_config config;
	struct wh_source_progress progress;
	struct wh_record record; /* the current one: too large for the stack of a poll */
	uint64_t extent_bytes;   /* of the next EXTENT, if as much is left of its file */

	struct wh_walk *scout; /* a walk before `walk` (source_contested.c); NULL: it is over */
	struct wh_names given_names, contested_names;
	struct wh_walk *walk;
	uint64_t entry_inode;     /* of the current ENTRY */
	struct wh_walk_item item; /* not sent yet, unless NOTHING */
	int item_fd;              /* of an open FILE, or -1 */
	uint32_t item_tries;
	struct stat item_status;
	uint64_t item_base;          /* the first byte of it that is sent */
	struct wh_split *item_split; /* the item is a segment of that file */
	bool is_blocked;             /* the item waits for the sink or for chunks */
	bool ledger_is_full;         /* true when there was no room for the last ENTRY */
	bool finish_is_put;
	bool found_is_put;
	uint64_t entries;
	uid_t own_uid;
	struct wh_left_out leaves_out; /* of the current ENTRY */
	uint8_t xattrs[WH_XATTR_BYTES_MAX];
	struct wh_source_links *links; /* NULL: none found */
	uint64_t inline_bytes_max;
	uint32_t packed_bytes;  /* since the last large file */
	struct wh_hasher ahead; /* of the bytes that went ahead */

	struct wh_ledger ledger;
	uint64_t ids_out; /* entries below this were sent */
	struct wh_source_asked asked[WH_SOURCE_ASKED];
	uint32_t asked_count;
	uint32_t lists;                               /* number of asked files with digests */
	struct wh_source_split splits[WH_SPLITS_MAX]; /* a queue, by id */
	uint32_t splits_first, splits_count;
	uint32_t splits_seen;               /* number of the last one taken, or considered */
	uint16_t answered[WH_SOURCE_ASKED]; /* queue of indices of `asked`, in order of answers */
	uint32_t answered_first, answered_count;

	struct wh_chunk *answers; /* being read, or NULL */
	uint32_t answers_at;
	bool has_answers;      /* some chunk of answers was received */
	uint64_t next_answers; /* number of the next chunk of answers, with has_answers */
	uint64_t committed;    /* by the latest COMMITTED; the ledger follows */
	bool has_totals;

	struct io_uring *ring; /* NULL: not available, or not wanted */
	bool ring_tried;
	struct wh_chunk *spare[WH_RING_DEPTH + 1];
	uint32_t spare_count;
};

static inline bool wh_source_has_range(const struct wh_source *source)
{
	return source->config.choice.has_range && !source->config.is_pipe;
}

/* The range goes into the file that the sink makes of all ranges, not into one of its own. */
static inline bool wh_source_joins(const struct wh_source *source)
{
	return source->config.choice.join != NULL;
}

/* source_put.c: chunks, records into them, outcomes to the app. */
void wh_source_fail(struct wh_source *source, int error);
bool wh_source_has_room(struct wh_source *source, uint32_t bytes);
void wh_source_put(struct wh_source *source); /* puts source->record; there must be room */
bool wh_source_flush(struct wh_source *source);
struct wh_chunk *wh_source_take_chunk(struct wh_source *source); /* to read into; NULL: none */
void wh_source_keep_chunk(struct wh_source *source, struct wh_chunk *chunk);
void wh_source_tell(struct wh_source *source, const struct wh_file_result *result);

/* source_asked.c: large files, from their ENTRY to their last record. */
/* A sent entry whose outcome the sink has not reported. */
struct wh_ledger_entry *wh_source_find_open(struct wh_source *source, uint64_t id);
void wh_source_forget_blocks(struct wh_source *source, struct wh_source_asked *file);
void wh_source_release(struct wh_source *source, struct wh_source_asked *file);

/* source_run.c: the file being read, whatever of it is sent. */
bool wh_source_is_in_extents(const struct wh_source *source); /* no other record is allowed */
/* Begins to read that segment ahead. */
void wh_source_read_segment(struct wh_source *source, const struct wh_segment *segment);
/* Begins to read ahead the run [offset, end), which is sent next. */
void wh_source_read_run(struct wh_source *source, uint64_t offset, uint64_t end);
void wh_source_push_raw(struct wh_source *source, struct wh_chunk *chunk);
void wh_source_end_reading(struct wh_reading *reading, int error, enum wh_doing doing);

/*
 * source_links.c: further names of files. defer: true if the current file is another name of a sent
 * one; otherwise stores it as the first name. next: a name to be sent, and the first one of its
 * file; false: none.
 */
bool wh_source_knows_link(const struct wh_source *source, const struct stat *status);
bool wh_source_defer_link(struct wh_source *source, const struct stat *status);
bool wh_source_has_links(const struct wh_source *source);
bool wh_source_next_link(const struct wh_source *source, const char **path, const char **of);
void wh_source_drop_link(struct wh_source *source);
void wh_source_free_links(struct wh_source *source);

/* source_left_out.c: adds attributes to an entry, and counts those left out; fd: -1 for a link */
void wh_source_see_more(
	struct wh_source *source, const struct stat *status, int fd, struct wh_entry *entry);
void wh_source_add_left_out(struct wh_source *source); /* its ENTRY was put */

/* source_entry.c */
struct wh_entry *wh_source_begin_entry(struct wh_source *source, const struct stat *status);
bool wh_source_entry_has_room(struct wh_source *source);
struct wh_ledger_entry *wh_source_put_entry(struct wh_source *source);
void wh_source_put_asking(struct wh_source *source, struct wh_split *split, int fd);

/*
 * source_blocks.c: the steps of wh_source_read for blocks. take_blocks: false: the received blocks
 * are invalid.
 */
bool wh_source_take_blocks(struct wh_source *source, const struct wh_record *record);
void wh_source_begin_blocks(struct wh_source *source);
int32_t wh_source_differ(struct wh_source *source);

/* source_stream.c: the bytes of a pipe */
void wh_source_begin_stream(struct wh_source *source);
bool wh_source_put_stream(struct wh_source *source);
int32_t wh_source_stream(struct wh_source *source);
/* Returns chunks that are not needed any more. */
void wh_source_end_stream(struct wh_source *source);

/* source_read.c */
int32_t wh_source_read(struct wh_source *source);
/* Ends what precedes the sending of a large file, finished or not. */
void wh_source_stop_proof(struct wh_source *source);

/* source_contested.c: whether something is to be found out first; a step; the result. */
bool wh_source_scouts(const struct wh_source_config *config);
int32_t wh_source_scout(struct wh_source *source);
bool wh_source_is_contested(struct wh_source *source, const char *path);

/* source_send.c: walks and sends while records may be put; returns the work done */
int32_t wh_source_send(struct wh_source *source);
/* Further names of files, once all files are complete at the sink. */
int32_t wh_source_send_links(struct wh_source *source);
/* Whether no other lane can announce a file any more. */
bool wh_source_is_walked(const struct wh_source *source);

/* source_move.c: removes a file that is durable at the sink, if it is unchanged here. */
void wh_source_remove(struct wh_source *source, const struct wh_ledger_entry *entry);

/* source_answer.c: processes answers, reports outcomes */
int32_t wh_source_take_answers(struct wh_source *source);

/* Whether the file is unchanged, by its size and time. */
static inline bool wh_is_unchanged(const struct stat *before, const struct stat *after)
{
	return before->st_size == after->st_size &&
	       before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
	       before->st_mtim.tv_nsec == after->st_mtim.tv_nsec;
}
