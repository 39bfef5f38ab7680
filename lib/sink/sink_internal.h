/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_SINK_INTERNAL_H
#define WH_SINK_SINK_INTERNAL_H

/*
 * A sink's state, shared by the files of its name only: sink.c opens, closes and polls; intake
 * takes chunks and records; entry makes small files and links; large follows the files whose bytes
 * come in extents, blocks those of which something is there, parts those that come by several
 * lanes; write puts extents down; folders makes folders and remembers what they shall look like in
 * the end; commit gives files their names and ends the job; tell says to the source and the app
 * what became of each entry.
 *
 * Errors are negative in here; records and results have them positive.
 */

#include <limits.h>
#include <sys/stat.h>

#include "bundle/beneath.h"
#include "bundle/pack.h"
#include "file/blocks.h"
#include "file/digest.h"
#include "file/likeness.h"
#include "file/ring.h"
#include "sink/sink.h"
#include "sink/stage.h"

/* What a poll's work is measured in, about a microsecond each on a file system in memory. */
#define WH_SINK_WORK_PER_POLL 64
#define WH_SINK_WORK_FILE     (WH_SINK_WORK_PER_POLL / WH_SINK_FILES_PER_POLL)

/* Room for any answer but REFUSED. */
#define WH_ANSWER_BYTES_MAX 64

/* Large files whose last chunk came and that wait to be put into a batch. */
#define WH_SINK_CLOSING_MAX WH_RING_DEPTH

/* A source may ask for others while those whose FILE_END has come are closing or gathering. */
#define WH_SINK_LARGE_MAX (WH_SOURCE_ASKED + WH_SINK_CLOSING_MAX + WH_SPLITS_MAX)

enum wh_large_state {
	WH_LARGE_NONE = 0,
	WH_LARGE_AWAIT,    /* a part: its head has not decided */
	WH_LARGE_RECALL,   /* whether some of it is there from an earlier job is found out */
	WH_LARGE_LIST,     /* a file is there, to be told by its blocks */
	WH_LARGE_COMPARE,  /* a file of that size is there, to be hashed */
	WH_LARGE_RESERVE,  /* space is to be reserved, then WANT goes */
	WH_LARGE_ANSWERED, /* by WANT or HAVE */
	WH_LARGE_COMING,   /* its extents do */
	WH_LARGE_CLOSING,  /* FILE_END came */
	WH_LARGE_GATHERS,  /* a head: its own part is down, others' may not be */
};

/* What an entry has beside mode and time. */
struct wh_more {
	uint32_t uid;
	uint32_t gid;
	uint32_t xattr_bytes;
	const uint8_t *xattrs;
};

enum wh_basis_step {
	WH_BASIS_LISTS = 0, /* digests are worked out, and told */
	WH_BASIS_WAITS,     /* for what differs */
	WH_BASIS_COPIES,
	WH_BASIS_READY, /* the staged file has what is the same */
	WH_BASIS_ENDS,  /* all has come, which is read again */
	WH_BASIS_OVER,
};

/*
 * What a file that comes by blocks is made of: what has its name until it gets it, or its own part
 * from an earlier job. Nothing is believed of it: the whole is read again in the end.
 */
struct wh_basis {
	int fd; /* of what has the name; -1: it is the file's own part */
	enum wh_basis_step step;
	struct stat status; /* of that, when it was opened */
	uint64_t bytes;     /* that were listed */
	uint32_t count;     /* digests of them, ... */
	uint32_t told;      /* ... and those that were told */
	struct wh_blocks *blocks;
	uint64_t charged; /* for the list */
	struct wh_likeness *likeness;
	uint64_t done;           /* by the errand at hand */
	struct wh_digest whole;  /* of `bytes` */
	struct wh_digest wanted; /* of the whole file, with FILE_END */
	bool ended;              /* FILE_END has come */
};

/* A file with content ASK, HEAD or PART. */
struct wh_large {
	uint64_t id;
	uint64_t size_bytes;
	uint64_t first;      /* of what is this lane's, the file or our part of it; ... */
	uint64_t from;       /* ... of that, what comes, behind what was there; ... */
	uint64_t end;        /* ... and its end */
	uint64_t offset;     /* of the next byte to come */
	uint64_t data_bytes; /* of these that come, as far as the source knows */
	uint64_t reserved;   /* blocks up to here are its own; none where there are holes */
	uint64_t promised;   /* room for what is neither reserved nor written */
	struct wh_assembly *assembly; /* NULL: no other lane has a part */
	bool is_head;                 /* of that */
	bool is_stream;               /* its end is not known yet */
	bool let_in;                  /* there was room for it */
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint16_t mode;
	uint16_t path_bytes;
	struct wh_more more; /* its attributes are ours */
	uint8_t state;       /* enum wh_large_state */
	bool had;            /* the answer was HAVE */
	bool staged;         /* as `number` */
	bool direct;         /* its descriptor is O_DIRECT */
	bool padded;         /* may be longer than it has to be, or shorter by a hole at its end */
	bool dense;          /* holes cannot be made in it */
	bool failed;         /* what still comes is dropped */
	bool told;           /* that it failed */
	uint8_t doing;       /* enum wh_doing, with error */
	int error;
	int fd;                          /* -1: not open */
	struct wh_journal_source source; /* the file, as its source tells */
	struct wh_digest likeness;       /* of what was there; with from > first */
	uint64_t proved;                 /* as at the source up to here */
	uint64_t noted;                  /* as the journal knows it */
	int64_t row;                     /* of the journal, of one that is kept; 0: none yet */
	int kept_fd;            /* locks one that was there, as long as it is not open; -1 */
	bool kept;              /* it is in the folder of parts ... */
	bool unkept;            /* ... but the journal has no room for it */
	bool may_compare;       /* after RECALL: a file of that size is there, ... */
	bool may_list;          /* ... or one that may be told by its blocks */
	struct wh_basis *basis; /* NULL: it comes as a whole */
	bool retracts;          /* what was there is not as at the source: nothing is written before
	                   * the journal knows */
	struct wh_identity identity; /* its inode once it is staged, the rest when it is whole */
	uint32_t number;             /* in the stage */
	uint32_t in_air;             /* writes */
};

struct wh_write_slot {
	struct wh_chunk *chunk;
	struct wh_large *file;
	uint64_t offset; /* of the chunk in the file */
	uint32_t from;   /* bytes before are done; [from, to) is in the air */
	uint32_t to;
	bool hole;   /* the request makes a hole; else it writes */
	bool direct; /* the request in the air was made with O_DIRECT */
};

/* The chunk at hand. */
struct wh_intake {
	struct wh_chunk *chunk;
	uint32_t at; /* bytes of it done */
	bool raw;
	bool finished;        /* FINISH came */
	bool ended;           /* the end marker came */
	uint64_t number;      /* of the next chunk */
	uint64_t next_id;     /* no entry has a lower one from here on */
	uint64_t piped_bytes; /* of the ENTRY at hand that the pipe has taken */
	bool has_piped;       /* a file has the pipe, ... */
	uint64_t piped_id;    /* ... and it is this one, whatever becomes of it */
	uint64_t files_below; /* the last that brought something has a lower one */
	uint64_t entries;
	uint64_t extent_bytes; /* left of the extent */
	struct wh_large *file; /* between its first EXTENT and its FILE_END */
};

struct wh_folder_log {
	uint8_t *bytes;
	size_t room;
	size_t used;
};

/* Where an entry goes, by wh_sink_place. */
struct wh_place {
	size_t bytes;
	size_t parent_bytes;
	const char *name; /* the last */
	char path[WH_PATH_BYTES_MAX + 1];
};

/* Its errands to the journal: one of either kind at a time. */
struct wh_sink_keep {
	bool on;
	struct wh_recall *recall; /* of `recalling`; NULL: it could not be begun */
	struct wh_large *recalling;
	uint64_t recalled_bytes;
	uint64_t recall_tsc; /* when it was asked for first, ... */
	uint64_t again_tsc;  /* ... and when it is again, since it was busy */
	struct wh_noting *noting;
	struct wh_large *file; /* that is noted, or retracted; NULL: none, or it is gone */
	uint64_t noted_to;
	uint64_t noted_tsc;
	bool dropped; /* the file that was noted is gone, and its row is to go */
	uint32_t over_count;
	int64_t over[WH_NOTE_ROWS_MAX]; /* rows of files that have their names, or are gone */
	char place[WH_JOURNAL_PLACE_BYTES];
};

/*
 * What is there and the source does not have (sink_strays.c). Names that came are known by a number
 * of 63 bits each: two that share one spare what would go.
 */
struct wh_strays {
	int error; /* not all that came is known, or not all that is there: why */
	uint64_t *known;
	size_t known_count;
	size_t known_room;
	bool is_sorted;
	char **top; /* folders of the bundle in the target itself; then what is looked through */
	uint32_t tops;
	char first[NAME_MAX + 1]; /* the first name of entries, where the target gives another */
	struct wh_walk *walk;
	char **path; /* those found, what is in a folder behind it */
	uint64_t count;
	size_t room;
	size_t below_bytes; /* of the path of the stray folder that is looked through; 0: none */
};

/* What a sink does besides taking chunks: steps to its end. */
enum wh_sink_step {
	WH_STEP_TAKING = 0,
	WH_STEP_EMPTYING, /* all came; large files and batches are being finished */
	WH_STEP_WAITING,  /* for the gate */
	WH_STEP_FOLDERS,  /* attributes */
	WH_STEP_SYNCING,  /* names and folders */
	WH_STEP_CLEARING, /* what the source does not have */
	WH_STEP_TELLING,  /* COMMITTED and TOTALS */
	WH_STEP_ENDING,   /* the answers' end marker */
	WH_STEP_OVER,
};

struct wh_sink {
	struct wh_pack answers;
	struct wh_hasher packed;   /* of all packed chunks */
	struct wh_hasher content;  /* of intake.file */
	struct wh_hasher existing; /* of comparing */
	struct wh_sink_config config;
	struct wh_rules_used used; /* where nobody else has it */
	struct wh_sink_progress progress;
	enum wh_sink_step step;
	int anchor_fd;   /* the target's folder */
	size_t as_bytes; /* the entries' first name becomes `as`; 0: stays */
	char as[NAME_MAX + 1];
	bool in_memory;
	bool nothing_there; /* of a dry run: the target is still to be made */
	uint32_t keeps;     /* enum wh_wish: wished for, and allowed */
	dev_t device;
	ino_t anchor_inode;
	struct wh_sink_keep keep;
	struct wh_room_device *room; /* of the file system */
	struct wh_room_device own_room;
	bool has_folders;         /* that were given their attributes */
	uint64_t committed_below; /* said last */
	uint64_t settled_tsc;     /* when it was said without a batch */
	struct wh_beneath beneath;
	struct wh_stage *stage;
	struct wh_intake intake;
	struct wh_folder_log folders;
	struct wh_place place;
	struct wh_strays strays;
	struct wh_record record; /* at hand */
	struct wh_record answer;
	char told_path[WH_PATH_BYTES_MAX + 1];

	struct wh_large large[WH_SINK_LARGE_MAX];
	char (*large_paths)[WH_PATH_BYTES_MAX];
	uint32_t large_count;
	struct wh_large *parted[WH_SPLITS_MAX]; /* those that have an assembly */
	uint32_t parted_count;
	uint32_t gathering;         /* heads that do */
	uint32_t untold;            /* failed ones */
	struct wh_large *comparing; /* its file is open as existing_fd */
	struct wh_large *reserving;
	struct wh_large *listing; /* its blocks are, or its source has not begun to send */
	int existing_fd;
	uint64_t existing_offset;
	struct wh_large *closing[WH_SINK_CLOSING_MAX];
	uint32_t closing_count;

	struct io_uring *ring; /* NULL: none was to be had, or wanted */
	bool ring_tried;
	uint32_t in_air;
	uint32_t idle;    /* slots without a chunk, one bit each */
	uint32_t written; /* slots whose chunk waits for room in `recycled` */
	struct wh_write_slot slots[WH_RING_DEPTH];

	uint8_t piece[WH_SINK_PIECE_BYTES];
};

static inline bool wh_sink_is_dry(const struct wh_sink *sink)
{
	return wh_choice_has(&sink->config.choice, WH_CHOICE_DRY);
}

static inline bool wh_sink_is_running(const struct wh_sink *sink)
{
	return sink->progress.state == WH_SINK_RUNNING;
}

/* sink.c: the job as a whole is over; nothing that is not durable stays. */
void wh_sink_break(struct wh_sink *sink, int error, enum wh_doing doing);

/* sink_tell.c. Each says at most one answer, for which there has to be room. */
bool wh_sink_can_answer(struct wh_sink *sink);
void wh_sink_answer_id(struct wh_sink *sink, enum wh_record_type type, uint64_t id);
void wh_sink_answer_want(struct wh_sink *sink, const struct wh_large *file);
/* Some of the digests that are not told yet. False: there was no room. */
bool wh_sink_answer_blocks(struct wh_sink *sink, struct wh_large *file);
void wh_sink_answer_have(struct wh_sink *sink, uint64_t id, const struct wh_digest *digest);
void wh_sink_answer_totals(struct wh_sink *sink);
void wh_sink_tell_failed(
	struct wh_sink *sink, const struct wh_staged *file, int error, enum wh_doing doing);
void wh_sink_tell_skipped(struct wh_sink *sink, const struct wh_staged *file);
void wh_sink_tell_would(struct wh_sink *sink, const struct wh_staged *file);
void wh_sink_answer_needless(struct wh_sink *sink, uint64_t id); /* of a part */
/* Without an answer: the source knows. */
void wh_sink_note_failed(struct wh_sink *sink, const struct wh_staged *file, int error,
	enum wh_doing doing, bool at_peer);
void wh_sink_note_written(struct wh_sink *sink, const struct wh_staged *file);

/* sink_intake.c: both return the work done. */
int32_t wh_sink_take(struct wh_sink *sink, uint64_t now_tsc);
/* The chunk at hand, raw, is written or given to a slot. */
void wh_sink_raw_done(struct wh_sink *sink, uint32_t bytes);
int32_t wh_sink_give_back_all(struct wh_sink *sink); /* broken: what comes is of no use */

/* sink_entry.c */
void wh_sink_take_entry(struct wh_sink *sink, const struct wh_entry *entry, uint64_t now_tsc);
/* Whether a file that came is not whole yet under its name. */
bool wh_sink_awaits_files(const struct wh_sink *sink);
/*
 * Where a path of the bundle goes: into sink->place. The descriptor of its folder (borrowed), or a
 * negative errno and what failed.
 */
int wh_sink_place(struct wh_sink *sink, const char *path, size_t path_bytes, enum wh_doing *doing);
/*
 * What has sink->place's name now; nothing has: *status is zeros. -EEXIST: a pipe, a socket or a
 * device, which is never replaced. A folder that was empty is not looked into but by the second.
 */
int wh_sink_look(const struct wh_sink *sink, int folder_fd, struct stat *status);
int wh_sink_look_again(const struct wh_sink *sink, int folder_fd, struct stat *status);
/* It, when it is a regular file, for reading. */
int wh_sink_open_existing(const struct wh_sink *sink, int folder_fd, struct stat *status);
int wh_set_attributes(int fd, uint16_t mode, int64_t mtime_s, uint32_t mtime_ns);
/* Owner, set-user-ID and attributes, as far as they are kept; after mode and time. */
int wh_sink_set_more(const struct wh_sink *sink, int fd, uint16_t mode, const struct wh_more *more);
static inline struct wh_more wh_more_of(const struct wh_entry *entry)
{
	return (struct wh_more){entry->uid, entry->gid, entry->xattr_bytes, entry->xattrs};
}
/* Brings a file that is there to what is wanted of it; *status is how it is. */
int wh_settle_attributes(
	int fd, const struct stat *status, uint16_t mode, int64_t mtime_s, uint32_t mtime_ns);
/* Whether there is a staging folder; without it the sink is broken. */
bool wh_sink_prepare(struct wh_sink *sink);
/* Whether the error of one file in the stage means that no other can be staged, either: the sink
 * is broken then. */
bool wh_sink_stage_failed(struct wh_sink *sink, int error);

/*
 * sink_keep.c: what outlives the job. keeps: whether a file is to. notes: its row is being written,
 * and it has to wait. stays: though it failed, since that is only the end of a job. unkeep: it is
 * over, whatever became of it. resume, begin_again: what was there counts, or does not.
 */
void wh_sink_keep_init(struct wh_sink *sink);
int32_t wh_sink_poll_keep(struct wh_sink *sink, uint64_t now_tsc);
void wh_sink_end_keep(struct wh_sink *sink);
bool wh_sink_keeps(const struct wh_sink *sink, const struct wh_large *file);
bool wh_sink_notes(const struct wh_sink *sink, const struct wh_large *file);
void wh_sink_row_is_over(struct wh_sink *sink, int64_t row);
void wh_sink_unkeep(struct wh_sink *sink, struct wh_large *file);
bool wh_large_stays(const struct wh_large *file);
void wh_large_resume(
	struct wh_sink *sink, struct wh_large *file, const struct wh_recalled_lane *lane);
void wh_large_begin_again(struct wh_sink *sink, struct wh_large *file);

/*
 * sink_blocks.c: a file of which something is there. may: by its entry, and what has its name.
 * is_busy: nothing may be written yet. begin: the first of what differs, or all is the same. end:
 * FILE_END came; true: what is there is the file. is_whole: nothing is left to be done for it.
 */
bool wh_sink_may_list(const struct wh_sink *sink, const struct wh_large *file,
	const struct wh_entry *entry, const struct stat *status);
int32_t wh_sink_poll_blocks(struct wh_sink *sink);
void wh_basis_begin(struct wh_sink *sink, struct wh_large *file);
bool wh_basis_end(struct wh_sink *sink, struct wh_large *file, const struct wh_digest *wanted);
void wh_basis_free(struct wh_sink *sink, struct wh_large *file);

static inline bool wh_basis_is_busy(const struct wh_large *file)
{
	return file->basis != NULL && file->basis->step < WH_BASIS_READY;
}

static inline bool wh_basis_is_over(const struct wh_large *file)
{
	return file->basis == NULL || file->basis->step == WH_BASIS_OVER;
}

/* sink_large.c */
struct wh_large *wh_sink_first_large(struct wh_sink *sink, enum wh_large_state state);
/* False: the source asks too many. *status: what has the name now. */
bool wh_sink_ask(struct wh_sink *sink, const struct wh_entry *entry, const struct stat *status);
/* No part is in the air, and nothing of it is told any more. */
void wh_large_forget(struct wh_sink *sink, struct wh_large *file);
/* The same of one that failed. */
void wh_large_discard(struct wh_sink *sink, struct wh_large *file);
/* All bytes are down: into the batch, or it fails. */
void wh_large_add(struct wh_sink *sink, struct wh_large *file, uint64_t now_tsc);
struct wh_large *wh_sink_find_large(struct wh_sink *sink, uint64_t id);
struct wh_staged wh_large_entry(const struct wh_sink *sink, const struct wh_large *file);
void wh_large_fail(struct wh_sink *sink, struct wh_large *file, int error, enum wh_doing doing);
/* 1: there is room for it up to this byte, and it is open; 0: not yet, or it failed. */
int wh_large_reserve(struct wh_sink *sink, struct wh_large *file, uint64_t end);
/* What has its name: it, for reading, or a negative errno. */
int wh_large_open_existing(struct wh_sink *sink, const struct wh_large *file, struct stat *status);
bool wh_large_is_ready(const struct wh_sink *sink, const struct wh_large *file, uint64_t end);
/* So many more bytes are written: the file system counts them now. */
void wh_large_wrote(struct wh_sink *sink, struct wh_large *file, uint32_t bytes);
/* So many bytes of its content are written, or dropped. */
void wh_large_went_on(struct wh_sink *sink, struct wh_large *file, uint32_t bytes);
/* Nothing of it will be written any more: its room is anybody's. */
void wh_large_give_up_room(struct wh_sink *sink, struct wh_large *file);
void wh_large_same(struct wh_sink *sink, struct wh_large *file);
void wh_large_close(struct wh_sink *sink, struct wh_large *file);
int32_t wh_sink_poll_large(struct wh_sink *sink, uint64_t now_tsc);
uint64_t wh_sink_least_large_id(const struct wh_sink *sink);

/*
 * sink_parts.c: files that come by several lanes. join: false, the lanes do not agree. spoil: a
 * head that failed where it arrived. staged: 0 or a negative errno. close: our part is down, or, of
 * a head, it gathers from now on.
 */
bool wh_sink_can_join(const struct wh_sink *sink, const struct wh_entry *entry);
bool wh_large_join(struct wh_sink *sink, struct wh_large *file, const struct wh_entry *entry);
bool wh_sink_spoil(
	struct wh_sink *sink, const struct wh_entry *entry, int error, enum wh_doing doing);
/* What is there stays in place of that head, whose parts the other lanes need not send. */
bool wh_sink_pass_over(struct wh_sink *sink, const struct wh_entry *entry);
int wh_large_open_part(struct wh_sink *sink, const struct wh_large *file);
int wh_large_is_staged(struct wh_sink *sink, const struct wh_large *file);
void wh_large_close_part(struct wh_sink *sink, struct wh_large *file);
void wh_large_leave(struct wh_sink *sink, struct wh_large *file);
int32_t wh_sink_poll_parts(struct wh_sink *sink, uint64_t now_tsc);
bool wh_sink_awaits_lanes(const struct wh_sink *sink);
void wh_sink_end_parts(struct wh_sink *sink);

static inline bool wh_large_is_part(const struct wh_large *file)
{
	return file->assembly != NULL && !file->is_head;
}

/* sink_pipe.c: a sink that is a pipe takes one file, as it comes */
void wh_sink_take_piped(struct wh_sink *sink, const struct wh_entry *entry);
/* What of an ENTRY is in it goes first. > 0: that was done; 0: it waits; -1: all is through. */
int32_t wh_sink_pipe_inline(struct wh_sink *sink, const struct wh_entry *entry);
int32_t wh_sink_pipe_raw(struct wh_sink *sink);
void wh_sink_pipe_end(struct wh_sink *sink, struct wh_large *file);

/* sink_write.c: of the chunk at hand; returns the work done, 0: it has to wait. */
int32_t wh_sink_write(struct wh_sink *sink);
int32_t wh_sink_reap(struct wh_sink *sink);
void wh_sink_submit(struct wh_sink *sink);
void wh_sink_close_ring(struct wh_sink *sink);

/* sink_folders.c */
int wh_folder_log_init(struct wh_folder_log *log, uint32_t max_bytes);
void wh_folder_log_free(struct wh_folder_log *log);
void wh_sink_take_folder(struct wh_sink *sink, const struct wh_entry *entry, int folder_fd);
/* Attributes of the folder entered last, which is forgotten. False: there is none. */
bool wh_sink_finish_folder(struct wh_sink *sink);

/*
 * sink_strays.c: notes what came, an entry or what the source has and does not send. Then some
 * steps of finding and removing the others: 0: that is over. Without the wish there is nothing.
 */
void wh_sink_note_name(struct wh_sink *sink, const char *path, size_t path_bytes, bool is_folder);
int32_t wh_sink_clear(struct wh_sink *sink);
void wh_strays_free(struct wh_strays *strays);

/* sink_commit.c */
int32_t wh_sink_commit(struct wh_sink *sink, uint64_t now_tsc, bool quiet);
int32_t wh_sink_finish(struct wh_sink *sink);

#endif
