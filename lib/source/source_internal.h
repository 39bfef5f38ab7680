/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SOURCE_SOURCE_INTERNAL_H
#define WH_SOURCE_SOURCE_INTERNAL_H

/*
 * Private to the source, whose parts each have a file:
 *
 *   source.c         opens, polls, closes; what the parts share
 *   source_send.c    what the walk finds becomes records; small files are read here
 *   source_read.c    large files that the sink has answered: compared, sent in extents
 *   source_blocks.c  large files of which the sink has told blocks
 *   source_answer.c  what the sink says
 *   source_left_out.c
 *                    what else entries carry, and what they do not
 *   source_links.c   files that have several names
 *
 * One chunk is enough, though slow: nothing is read ahead of a record that needs it, since the
 * chunk sent last before a record is put comes back for it.
 */

#include <assert.h>
#include <liburing.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bundle/ledger.h"
#include "bundle/pack.h"
#include "bundle/split.h"
#include "file/blocks.h"
#include "file/digest.h"
#include "file/likeness.h"
#include "file/read_ahead.h"
#include "source/source.h"
#include "source/walk.h"

/* A packed chunk goes when it holds so much, even if more is at hand. */
#define WH_SOURCE_PACK_BYTES (UINT32_C(256) << 10)

/* A poll does about 50 us of work: so many small files, or so many bytes of them. */
#define WH_SOURCE_FILES_PER_POLL  8
#define WH_SOURCE_BYTES_PER_POLL  (UINT32_C(256) << 10)
#define WH_SOURCE_CHUNKS_PER_POLL 2

/* Lists of digests that a sink may have told: of the file that is read, and of the next one. */
#define WH_SOURCE_LISTS_MAX 2

static_assert(
	WH_SOURCE_ASKED <= WH_LEDGER_NO_ASKED, "each asked file has a place, none is \"none\"");

enum wh_asked_state {
	WH_ASKED_FREE = 0,
	WH_ASKED_OUT,      /* the answer is awaited */
	WH_ASKED_ANSWERED, /* in the queue, or being read */
};

/* A large file; open from its ENTRY until its last record. */
struct wh_asked {
	uint64_t id;
	int fd;
	uint8_t state;
	bool compare;      /* as a whole with `digest`, the sink's */
	bool is_cancelled; /* the sink has failed it meanwhile */
	bool is_part;      /* which another lane tells of */
	bool is_stream;
	int error;             /* there is no descriptor: a positive errno */
	struct wh_part part;   /* that is sent */
	enum wh_resume resume; /* not OFF: the sink has it up to ... */
	uint64_t resume_at;    /* ... there, and says so by the digest */
	struct wh_digest digest;
	struct wh_digest *told; /* of blocks that the sink has; NULL: none are kept, ... */
	uint32_t told_count;    /* ... even if some were told: there is no memory for them */
	uint64_t charged;       /* for them */
	struct stat status; /* before it was read */
};

/* One that this lane has a part of, until nothing can be said of it any more. */
struct wh_source_split {
	struct wh_split *split;
	uint64_t id; /* of its entry here */
};

enum wh_reading_step {
	WH_READING_NOTHING = 0,
	WH_READING_COMPARES,
	WH_READING_PROVES,    /* what the sink has from before */
	WH_READING_DIFFERS,   /* the next blocks that it has not */
	WH_READING_ANNOUNCES, /* the next EXTENT */
	WH_READING_SENDS,     /* its raw chunks */
	WH_READING_STREAMS,   /* a pipe: as its bytes come */
	WH_READING_ENDS,      /* FILE_END */
};

/* The one large file being read. */
struct wh_reading {
	struct wh_hasher hasher;
	struct wh_read_ahead ahead;
	struct wh_likeness *likeness; /* what it PROVES by */
	uint64_t likened;             /* bytes of that */
	struct wh_blocks *blocks;     /* what DIFFERS, instead */
	uint32_t block;               /* the next of these */
	enum wh_reading_step step;
	struct wh_asked *file;
	uint64_t from;        /* in the file, of the first byte that is sent */
	uint64_t offset;      /* of the next one */
	uint64_t end;         /* of what is sent, or of a run of it */
	uint64_t extent_left; /* bytes announced and not sent */
	bool is_announced;    /* the EXTENT is out, not only in the pack */
	int error;            /* positive errno */
	enum wh_doing doing;
};

/* Whole chunks of a pipe's bytes that go as one extent, at most. */
#define WH_STREAM_FULL_MAX 4

struct wh_source_stream {
	struct wh_chunk *filling; /* NULL: none */
	struct wh_chunk *full[WH_STREAM_FULL_MAX];
	uint32_t full_count;
	uint32_t sent; /* of these, once their extent is out */
	bool is_sending;
	bool is_over; /* the pipe's end has come */
	bool is_idle; /* nothing came from it last */
};

struct wh_source {
	struct wh_pack pack;
	struct wh_reading reading;
	struct wh_source_stream stream;
	struct wh_hasher answer_hasher;
	struct wh_source_config config;
	struct wh_source_progress progress;
	struct wh_record record; /* the one at hand: too large for the stack of a poll */

	struct wh_walk *walk;
	uint64_t entry_inode;     /* of the ENTRY at hand */
	struct wh_walk_item item; /* not sent yet, unless NOTHING */
	int item_fd;              /* of a FILE that is open, or -1 */
	uint32_t item_tries;
	struct stat item_status;
	struct wh_split *item_split; /* the item is a part of that */
	bool is_blocked;             /* the item waits for the sink or for chunks */
	bool ledger_is_full;         /* when an ENTRY was to be put last */
	bool finish_is_put;
	bool found_is_put;
	uint64_t entries;
	uid_t own_uid;
	struct wh_left_out leaves_out; /* of the ENTRY at hand */
	uint8_t xattrs[WH_XATTR_BYTES_MAX];
	struct wh_source_links *links; /* NULL: none were seen */
	uint64_t inline_bytes_max;
	uint32_t packed_bytes; /* since a large file was read last */

	struct wh_ledger ledger;
	uint64_t ids_out; /* entries below this have left the pack */
	struct wh_asked asked[WH_SOURCE_ASKED];
	uint32_t asked_count;
	uint32_t lists;                               /* of digests, that asked files have */
	struct wh_source_split splits[WH_SPLITS_MAX]; /* a queue, by id */
	uint32_t splits_first, splits_count;
	uint32_t splits_seen;               /* number of the last that was taken, or looked at */
	uint16_t answered[WH_SOURCE_ASKED]; /* a queue of places in `asked`, in order of answers */
	uint32_t answered_first, answered_count;

	struct wh_chunk *answers; /* being read, or NULL */
	uint32_t answers_at;
	bool has_answers;      /* any chunk so far: */
	uint64_t next_answers; /* its number, and this the next one's */
	uint64_t committed;    /* as the sink said; the ledger follows */
	bool has_totals;

	struct io_uring *ring; /* NULL: none was to be had, or wanted */
	bool ring_tried;
	struct wh_chunk *spare[WH_RING_DEPTH + 1];
	uint32_t spare_count;
};

/* source.c */
void wh_source_fail(struct wh_source *source, int error);
bool wh_source_has_room(struct wh_source *source, uint32_t bytes);
void wh_source_put(struct wh_source *source); /* source->record, where there is room */
bool wh_source_flush(struct wh_source *source);
struct wh_chunk *wh_source_take_chunk(struct wh_source *source); /* to read into; NULL: none */
void wh_source_keep_chunk(struct wh_source *source, struct wh_chunk *chunk);
void wh_source_tell(struct wh_source *source, const struct wh_file_result *result);

/* source_send.c: walks and sends, as long as records may be put; how much was done */
int32_t wh_source_send(struct wh_source *source);

bool wh_source_entry_has_room(struct wh_source *source);
struct wh_ledger_entry *wh_source_put_entry(struct wh_source *source);

/* source_left_out.c: what else of an entry goes, and what does not; fd: a link's is -1 */
void wh_source_see_more(
	struct wh_source *source, const struct stat *status, int fd, struct wh_entry *entry);
void wh_source_add_left_out(struct wh_source *source); /* its ENTRY is put */

/* source_links.c: other names of files that have gone, for the end */
bool wh_source_knows_link(const struct wh_source *source, const struct stat *status);
/* Whether the file at hand is a name of one that has gone; else it is remembered as the first. */
bool wh_source_defer_link(struct wh_source *source, const struct stat *status);
/* Sends them once all files are whole there. False: there are others, or it waits. */
int32_t wh_source_send_links(struct wh_source *source);
bool wh_source_has_links(const struct wh_source *source);
void wh_source_free_links(struct wh_source *source);

/* source_stream.c: the bytes of a pipe */
void wh_source_begin_stream(struct wh_source *source);
bool wh_source_put_stream(struct wh_source *source);
int32_t wh_source_stream(struct wh_source *source);
/* Gives back what is not sent any more. */
void wh_source_end_stream(struct wh_source *source);

struct wh_ledger_entry *wh_source_find_open(struct wh_source *source, uint64_t id);
void wh_source_push_raw(struct wh_source *source, struct wh_chunk *chunk);
void wh_source_end_reading(struct wh_reading *reading, int error, enum wh_doing doing);
struct wh_entry *wh_source_begin_entry(struct wh_source *source, const struct stat *status);
void wh_source_put_asking(struct wh_source *source, struct wh_split *split, int fd);

/* source_blocks.c: false: what was told makes no sense. The other parts of wh_source_read. */
bool wh_source_take_blocks(struct wh_source *source, const struct wh_record *record);
void wh_source_forget_blocks(struct wh_source *source, struct wh_asked *file);
void wh_source_begin_blocks(struct wh_source *source);
int32_t wh_source_differ(struct wh_source *source);

/* source_read.c */
int32_t wh_source_read(struct wh_source *source);
/* The run [offset, end) of the file is next. */
void wh_source_read_run(struct wh_source *source, uint64_t offset, uint64_t end);
/* What is done for a large file before it is sent is over, done or not. */
void wh_source_stop_proof(struct wh_source *source);
bool wh_source_is_in_extents(const struct wh_source *source); /* no other record may be put */
void wh_source_release(struct wh_source *source, struct wh_asked *file);

/* Whether no part of a file can come from another lane any more. */
bool wh_source_is_walked(const struct wh_source *source);

/* source_answer.c: takes answers, tells their news */
int32_t wh_source_take_answers(struct wh_source *source);

/* Whether the file is as it was, as far as size and time tell. */
static inline bool wh_is_unchanged(const struct stat *before, const struct stat *after)
{
	return before->st_size == after->st_size &&
	       before->st_mtim.tv_sec == after->st_mtim.tv_sec &&
	       before->st_mtim.tv_nsec == after->st_mtim.tv_nsec;
}

/* source_move.c: what the sink has for good goes here, if it is still the same. */
void wh_source_remove(struct wh_source *source, const struct wh_ledger_entry *entry);

#endif
