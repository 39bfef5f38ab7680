/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A sink's state, shared by the files named sink*.c only. Calls go one way: each file below calls
 * those above it, never back.
 *
 *   tell        the outcome of each entry, to the source and the app
 *   break       ends the job with an error
 *   spelling    how existing names are spelled where case is ignored
 *   place, attributes   where an entry goes; what a file or folder gets besides its bytes
 *   large       the table of large files (whose bytes come in extents), promised space, failure
 *   reserve     opens a staged file, and finds space for it
 *   blocks      files made from an existing file
 *   keep        what outlives the job
 *   release     the end of a large file: into the batch, skipped, discarded
 *   parts       files that arrive by several lanes
 *   ask         a large file from its entry to the answer
 *   closing     a large file from its last byte to its end
 *   pipe, write where the bytes of extents go
 *   folders     creates folders, and stores their final attributes
 *   strays      what the source does not have
 *   entry       takes entries: creates small files and links
 *   intake      takes chunks and records
 *   commit      renames files and ends the job
 *   sink        opens, closes and polls
 *
 * Errors are negative in here; records and results have them positive.
 */

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

#include "bundle/beneath.h"
#include "bundle/record_pack.h"
#include "file/blocks.h"
#include "file/digest.h"
#include "file/likeness.h"
#include "file/ring.h"
#include "sink/sink.h"
#include "stage/stage.h"

/* Unit of a poll's work: about a microsecond on a file system in memory. */
#define WH_SINK_WORK_PER_POLL 64
#define WH_SINK_WORK_FILE     (WH_SINK_WORK_PER_POLL / WH_SINK_FILES_PER_POLL)

/* Room for any answer except REFUSED. */
#define WH_ANSWER_BYTES_MAX 72

/* A bundle ends as soon as so many of its files were not begun, because they did not fit. */
#define WH_SINK_UNFIT_MAX 8

/* Large files whose last chunk was received and that wait for a batch. */
#define WH_SINK_CLOSING_MAX WH_RING_DEPTH

/* A source may request further files while those with FILE_END are closing or gathering. */
#define WH_SINK_LARGE_MAX (WH_SOURCE_ASKED + WH_SINK_CLOSING_MAX + WH_SPLITS_MAX)

enum wh_large_state {
	WH_LARGE_NONE = 0,
	WH_LARGE_AWAIT,    /* a segment: waits for the lead lane's decision */
	WH_LARGE_RECALL,   /* looks for data from an earlier job */
	WH_LARGE_LIST,     /* a file exists and is compared by blocks */
	WH_LARGE_COMPARE,  /* a file of that size exists and is hashed */
	WH_LARGE_RESERVE,  /* reserves space, then WANT is sent */
	WH_LARGE_ANSWERED, /* WANT or HAVE was sent */
	WH_LARGE_COMING,   /* extents arrive */
	WH_LARGE_CLOSING,  /* FILE_END was received */
	WH_LARGE_GATHERS,  /* the lead lane has written its own segment, and waits for the others */
};

/* Attributes of an entry besides mode and time. */
struct wh_more {
	uint32_t uid;
	uint32_t gid;
	uint32_t xattr_bytes;
	const uint8_t *xattrs;
};

enum wh_basis_step {
	WH_BASIS_LISTS = 0, /* digests are computed and sent */
	WH_BASIS_WAITS,     /* for blocks that differ */
	WH_BASIS_COPIES,
	WH_BASIS_READY, /* the staged file contains the equal blocks */
	WH_BASIS_ENDS,  /* everything was received and is read again */
	WH_BASIS_OVER,
};

/*
 * What a file transferred by blocks is made of: the existing file of its name, or its own part from
 * an earlier job. It is not trusted: the whole is read again at the end.
 */
struct wh_basis {
	int fd; /* existing file; -1: the file's own part */
	enum wh_basis_step step;
	struct stat status; /* of the existing file, when it was opened */
	uint64_t bytes;     /* length of what is listed */
	uint32_t count;     /* number of digests */
	uint32_t told;      /* digests sent so far */
	struct wh_blocks *blocks;
	uint64_t charged; /* memory charged for the list */
	struct wh_likeness *likeness;
	uint64_t done;           /* bytes done by the present operation */
	struct wh_digest whole;  /* of `bytes` */
	struct wh_digest wanted; /* of the whole file, from FILE_END */
	bool ended;              /* FILE_END was received */
};

/* A file with content ASK, LEAD or SEGMENT. */
struct wh_large {
	uint64_t id;
	uint64_t size_bytes;
	/*
	 * Offsets in the file: this lane's data, the whole file or its segment, are [first, end).
	 * Data before `from` exist.
	 */
	uint64_t first;
	uint64_t from;
	uint64_t end;
	uint64_t offset;              /* next byte to receive */
	uint64_t data_bytes;          /* data bytes to receive, as far as the source knows */
	uint64_t reserved;            /* blocks are reserved up to here; not with holes */
	uint64_t promised;            /* space promised and neither reserved nor written */
	struct wh_assembly *assembly; /* NULL: only one lane */
	bool is_lead;                 /* this lane is the lead lane */
	bool is_stream;               /* its size is not known yet */
	bool is_shared;               /* other jobs bring its other ranges; [first, end) is ours */
	bool is_whole;                /* ... and all of them are there */
	uint64_t ranges;              /* the hash of the notes about them; 0: none */
	uint64_t waits_tsc;           /* since then for other jobs to let go of it ... */
	uint64_t again_tsc;           /* ... and until then to look again; 0: it does not */
	bool let_in;                  /* admitted: there was space for it */
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint16_t mode;
	uint16_t path_bytes;
	struct wh_more more; /* its attributes are allocated copies */
	uint8_t state;       /* enum wh_large_state */
	bool had;            /* HAVE was sent */
	bool staged;         /* under `number` */
	bool direct;         /* its descriptor is O_DIRECT */
	bool padded;         /* perhaps longer than it should be, or shorter by a hole at its end */
	bool dense;          /* its file system has no holes */
	bool failed;         /* further data are dropped */
	bool told;           /* the failure was reported */
	uint8_t doing;       /* enum wh_doing, with error */
	int error;
	int fd;                          /* -1: not open */
	struct wh_journal_source source; /* identity of the file at its source */
	struct wh_digest likeness; /* digest of the existing data by `seed`, if from > first */
	uint64_t seed;
	uint64_t proved;        /* verified against the source's digests up to here */
	uint64_t noted;         /* noted in the journal up to here */
	int64_t row;            /* in the journal, if kept; 0: none yet */
	struct wh_hold hold;    /* held together with `row`; not for a segment */
	int kept_fd;            /* keeps it locked, if the open descriptor does not; -1: none */
	bool kept;              /* it is in the folder of parts */
	bool unkept;            /* the journal could not store it */
	bool yields;            /* failed; what is written is to be noted for the next job */
	bool only_new;          /* must not replace anything */
	bool may_compare;       /* after RECALL: a file of that size exists */
	bool may_list;          /* after RECALL: a file exists that can be compared by blocks */
	struct wh_basis *basis; /* NULL: transferred as a whole */
	bool retracts;          /* existing data differ: retract before writing */
	struct wh_file_identity identity; /* the inode once staged; all of it when complete */
	uint32_t number;                  /* in the staging folder */
	uint32_t in_air;                  /* outstanding writes */
};

struct wh_write_slot {
	struct wh_chunk *chunk;
	struct wh_large *file;
	uint64_t offset; /* of the chunk in the file */
	uint32_t from;   /* bytes before are done; [from, to) is outstanding */
	uint32_t to;
	bool hole;   /* the request punches a hole; else it writes */
	bool direct; /* the outstanding request uses O_DIRECT */
};

/* The current chunk. */
struct wh_intake {
	struct wh_chunk *chunk;
	uint32_t at; /* bytes of the chunk processed */
	bool raw;
	bool finished;        /* FINISH was received */
	bool ended;           /* the end marker was received */
	uint64_t number;      /* of the next chunk */
	uint64_t next_id;     /* all further entries have at least this id */
	uint64_t piped_bytes; /* of the current ENTRY, written to the pipe */
	bool has_piped;       /* a file has taken the pipe */
	uint64_t piped_id;    /* id of that file, whatever its outcome */
	uint64_t files_below; /* the latest entry with data has a lower id */
	uint64_t entries;
	uint64_t extent_bytes; /* left in the extent */
	struct wh_large *file; /* between its first EXTENT and its FILE_END */
};

/* The beginning of one large file, which came with its ENTRY; bundle/record.h: AHEAD. */
struct wh_sink_ahead {
	struct wh_large *file; /* NULL: none */
	uint8_t *bytes;        /* WH_INLINE_BYTES_MAX of them; NULL: written */
	struct wh_hasher hasher;
};

struct wh_folder_log {
	uint8_t *bytes;
	size_t room;
	size_t used;
};

/* Where an entry goes, from wh_sink_place. */
struct wh_sink_place {
	size_t bytes;
	size_t parent_bytes;
	const char *name; /* its last component */
	char path[WH_PATH_BYTES_MAX + 1];
};

/* Requests to the journal: at most one of each kind at a time. */
struct wh_sink_keep {
	bool on;
	struct wh_recall *recall; /* for `recalling`; NULL: it could not be started */
	int recall_error;         /* if it could not: 0, no memory, or a negative errno */
	struct wh_large *recalling;
	uint64_t recalled_bytes;
	uint64_t recall_tsc; /* time of the first attempt */
	uint64_t again_tsc;  /* time of the next attempt, since the part was in use; 0: none */
	bool waited;         /* the part was in use */
	struct wh_noting *noting;
	struct wh_large *file; /* being noted or retracted; NULL: none, or it is gone */
	uint64_t noted_to;
	uint64_t now_tsc; /* of this poll */
	uint64_t noted_tsc;
	uint64_t looked_tsc; /* when requests for parts were last looked for */
	bool lets_go;        /* a failed file may still be open */
	bool dropped;        /* the noted file is gone; its row must be removed */
	uint32_t over_count;
	int64_t over[WH_NOTE_ROWS_MAX]; /* rows of files that were renamed, or are gone */
	char place[WH_JOURNAL_PLACE_BYTES];
};

struct wh_open_stray {
	uint64_t index; /* of its path */
	size_t bytes;   /* of its path */
};

/*
 * Files that exist here but not at the source (sink_strays.c). Received names are stored as 63-bit
 * hashes: if two collide, a stray file is not removed.
 */
struct wh_strays {
	int error; /* 0; else why received or existing names are not completely known */
	uint64_t *known;
	size_t known_count;
	size_t known_room;
	bool is_sorted;
	char **top; /* folders of the bundle that are in no other; they are searched */
	uint32_t tops;
	size_t top_room;
	char first[NAME_MAX + 1]; /* first component of entries, if the target replaces it */
	struct wh_walk *walk;
	/* Strays found. A folder's path ends with '/' and precedes those of its contents. */
	char **path;
	uint64_t count;
	size_t room;
	bool is_gone;     /* the last one is removed, and not yet told */
	uint64_t staying; /* folders among them that stay, since something in them is not stray */
	/* Stray folders being searched, each in the one before; the first ones stay. */
	struct wh_open_stray *open;
	size_t opens;
	size_t opens_staying;
	size_t open_room;
	struct wh_blocks_memory memory; /* of all but `known`, which has a limit of its own */
};

/* Phases of a sink until its end. */
enum wh_sink_step {
	WH_STEP_TAKING = 0,
	WH_STEP_EMPTYING, /* everything received; large files and batches are finishing */
	WH_STEP_WAITING,  /* for the gate */
	WH_STEP_FOLDERS,  /* attributes */
	WH_STEP_SYNCING,  /* names and folders */
	WH_STEP_CLEARING, /* removes what the source does not have */
	WH_STEP_TELLING,  /* COMMITTED and TOTALS */
	WH_STEP_ENDING,   /* the answers' end marker */
	WH_STEP_OVER,
};

struct wh_sink {
	struct wh_pack answers;
	struct wh_hasher packed;   /* of all packed chunks */
	struct wh_hasher content;  /* of intake.file */
	struct wh_hasher existing; /* of the file in `comparing` */
	struct wh_sink_config config;
	struct wh_rules_used used; /* if not shared */
	struct wh_sink_progress progress;
	enum wh_sink_step step;
	/* Negative errno: the disk is full; nothing more is taken, and the sink will break. */
	int full;
	enum wh_doing full_doing;
	uint32_t unfit;  /* files that did not fit */
	int anchor_fd;   /* the target's folder */
	size_t as_bytes; /* `as` replaces the first component of entries; 0: it stays */
	char as[NAME_MAX + 1];
	bool in_memory;
	bool nothing_there; /* dry run: the target does not exist yet */
	uint32_t keeps;     /* enum wh_wish: requested, and allowed */
	dev_t device;
	ino_t anchor_inode;
	struct wh_sink_keep keep;
	struct wh_room_device *room; /* of the file system */
	struct wh_room_device own_room;
	bool has_folders;         /* attributes of folders were set */
	uint64_t committed_below; /* in the last COMMITTED */
	uint64_t settled_tsc;     /* when COMMITTED was last sent without a batch */
	struct wh_beneath beneath;
	struct wh_stage *stage;
	struct wh_intake intake;
	struct wh_folder_log folders;
	struct wh_sink_place place;
	bool place_is_unknown; /* perhaps another file of the job has that name */
	struct wh_strays strays;
	struct wh_record record; /* the current one */
	struct wh_record answer;
	char told_path[WH_PATH_BYTES_MAX + 1];

	struct wh_large large[WH_SINK_LARGE_MAX];
	char (*large_paths)[WH_PATH_BYTES_MAX];
	uint32_t large_count;
	struct wh_sink_ahead ahead;
	struct wh_large *split_file[WH_SPLITS_MAX]; /* files with an assembly */
	uint32_t split_files;
	uint32_t gathering; /* files that this lane leads and that wait for other segments */
	uint32_t untold;    /* failures to report */
	struct wh_large *comparing; /* its existing file is open as existing_fd */
	struct wh_large *reserving;
	struct wh_large *listing; /* its blocks are being listed, or listed and data awaited */
	int existing_fd;
	uint64_t existing_offset;
	struct wh_large *closing[WH_SINK_CLOSING_MAX];
	uint32_t closing_count;

	struct io_uring *ring; /* NULL: not available, or not wanted */
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

/* Its files come range by range, each by a job of its own. */
static inline bool wh_sink_joins(const struct wh_sink *sink)
{
	return sink->config.choice.join != NULL;
}

static inline bool wh_sink_is_running(const struct wh_sink *sink)
{
	return sink->progress.state == WH_SINK_RUNNING;
}

/* Kernel errors that say that the disk, or the server's quota on it, is full. */
static inline bool wh_is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT;
}

/* sink_tell.c. Each sends at most one answer; there must be room for it. */
bool wh_sink_can_answer(struct wh_sink *sink);
void wh_sink_answer_id(struct wh_sink *sink, enum wh_record_type type, uint64_t id);
void wh_sink_answer_want(struct wh_sink *sink, const struct wh_large *file);
/* Some more of the digests. False: no room. */
bool wh_sink_answer_blocks(struct wh_sink *sink, struct wh_large *file);
void wh_sink_answer_have(struct wh_sink *sink, uint64_t id, const struct wh_digest *digest);
void wh_sink_answer_totals(struct wh_sink *sink);
void wh_sink_tell_failed(
	struct wh_sink *sink, const struct wh_staged *file, int error, enum wh_doing doing);
void wh_sink_tell_skipped(struct wh_sink *sink, const struct wh_staged *file);
void wh_sink_tell_would(struct wh_sink *sink, const struct wh_staged *file);
/* Our range of a shared part is there, and others are not. */
void wh_sink_tell_kept(struct wh_sink *sink, const struct wh_staged *file);
/* False: no room. */
bool wh_sink_tell_removed(struct wh_sink *sink, const char *path, enum wh_entry_kind kind);
void wh_sink_answer_needless(struct wh_sink *sink, uint64_t id); /* for a segment */
/* Without an answer: the source knows already. */
void wh_sink_note_failed(struct wh_sink *sink, const struct wh_staged *file, int error,
	enum wh_doing doing, bool at_peer);
void wh_sink_note_written(struct wh_sink *sink, const struct wh_staged *file);

/* sink_break.c */
/* Ends the job with an error; removes everything that is not durable. */
void wh_sink_break(struct wh_sink *sink, int error, enum wh_doing doing);
/* Whether a staging folder exists; if not, the sink is broken. */
bool wh_sink_prepare(struct wh_sink *sink);
/* Whether the error of one staged file affects all others; then the sink is broken. */
bool wh_sink_stage_failed(struct wh_sink *sink, int error);
/* Other lanes need not wait for this one's segments. */
void wh_sink_end_segments(struct wh_sink *sink);

/* sink_attributes.c */
/* set-user-ID and set-group-ID are dropped: on this host they would refer to another user. */
#define WH_MODE_MASK 01777
int wh_set_mtime(int fd, int64_t mtime_s, uint32_t mtime_ns);
int wh_set_attributes(int fd, uint16_t mode, int64_t mtime_s, uint32_t mtime_ns);
/* Sets owner, set-user-ID and attributes, as far as they are kept; call after mode and time. */
int wh_sink_set_more(const struct wh_sink *sink, int fd, uint16_t mode, const struct wh_more *more);
/* Sets wanted attributes of an existing file; *status is its present status. */
int wh_settle_attributes(
	int fd, const struct stat *status, uint16_t mode, int64_t mtime_s, uint32_t mtime_ns);

static inline struct wh_more wh_more_of(const struct wh_entry *entry)
{
	return (struct wh_more){entry->uid, entry->gid, entry->xattr_bytes, entry->xattrs};
}

/*
 * sink_spelling.c: whether an existing name in the folder of sink->place is spelled like `name`. 0,
 * or -EEXIST: it differs by case, and was found because the file system ignores case. check_folder
 * does the same for the path of the folder that was opened last. note_made: the job has created a
 * folder of that path.
 */
int wh_sink_check_name(struct wh_sink *sink, int folder_fd, const char *name,
	const struct stat *status, enum wh_doing *doing);
int wh_sink_check_folder(struct wh_sink *sink, int folder_fd, enum wh_doing *doing);
void wh_sink_note_made(struct wh_sink *sink, const char *path, size_t bytes);

/*
 * sink_place.c: where an entry goes. Each function resolves a path of the bundle into sink->place
 * and returns a negative errno, and what failed, if it cannot.
 */
/* Returns the descriptor of the entry's folder (borrowed). */
int wh_sink_place(struct wh_sink *sink, const char *path, size_t path_bytes, enum wh_doing *doing);
/* As wh_sink_place, for a new entry, which claims the name. */
int wh_sink_enter(struct wh_sink *sink, const struct wh_entry *entry, enum wh_doing *doing);
/* For a dry run: claims the name, creates no folder; *status as by wh_sink_look. */
int wh_sink_look_only(struct wh_sink *sink, const struct wh_entry *entry, struct stat *status,
	enum wh_doing *doing);
/* Whether some file of the job may have been given that name. */
bool wh_sink_may_have_brought(const struct wh_sink *sink, const char *path, size_t bytes);
/*
 * Status of what has sink->place's name; zeros if nothing has. -EEXIST: a pipe, socket or device,
 * which is never replaced. The first variant skips the lookup in a folder that was empty.
 */
int wh_sink_look(const struct wh_sink *sink, int folder_fd, struct stat *status);
int wh_sink_look_again(const struct wh_sink *sink, int folder_fd, struct stat *status);
/* Opens it for reading, if it is a regular file. */
int wh_sink_open_existing(const struct wh_sink *sink, int folder_fd, struct stat *status);

/* sink_large.c: the table of large files, and one as such; nothing here moves a file on. */
struct wh_large *wh_sink_find_large(struct wh_sink *sink, uint64_t id);
/* With the lowest id, not failed. */
struct wh_large *wh_sink_first_large(struct wh_sink *sink, enum wh_large_state state);
uint64_t wh_sink_least_large_id(const struct wh_sink *sink);
struct wh_staged wh_large_entry(const struct wh_sink *sink, const struct wh_large *file);
/* Whether its data are to be kept beyond the job. */
bool wh_sink_keeps(const struct wh_sink *sink, const struct wh_large *file);
/* Its row in the journal; a split file's is its lead lane's. 0: none. */
int64_t wh_large_row(const struct wh_large *file);
/* End of its verified data of which nothing is in a slot. */
uint64_t wh_large_below_slots(const struct wh_sink *sink, const struct wh_large *file);
/* Kept although it failed, because only the job ended. */
bool wh_large_stays(const struct wh_large *file);
/* The first error counts. What is down when the disk is full is to be noted for the next job. */
void wh_large_fail(struct wh_sink *sink, struct wh_large *file, int error, enum wh_doing doing);
/* Opens the existing file for reading; or a negative errno. */
int wh_large_open_existing(struct wh_sink *sink, const struct wh_large *file, struct stat *status);
/* Promised space for so many bytes is not needed any more, or for none at all. */
void wh_large_take_back(struct wh_sink *sink, struct wh_large *file, uint64_t bytes);
void wh_large_give_up_room(struct wh_sink *sink, struct wh_large *file);
/* `bytes` more are written and counted by the file system. */
void wh_large_wrote(struct wh_sink *sink, struct wh_large *file, uint32_t bytes);
/*
 * What came with an ENTRY. _note: the first extent will follow it. _drop: the file is gone, or its
 * beginning is of no use.
 */
void wh_ahead_note(struct wh_sink *sink, struct wh_large *file, const uint8_t *bytes);
void wh_ahead_drop(struct wh_sink *sink, const struct wh_large *file);
/* The current raw chunk is written or given to a slot, or dropped. */
void wh_sink_raw_done(struct wh_sink *sink, uint32_t bytes);

static inline bool wh_large_is_segment(const struct wh_large *file)
{
	return file->assembly != NULL && !file->is_lead;
}

/* The descriptor by which a kept file is locked, or -1. */
static inline int wh_large_lock_fd(const struct wh_large *file)
{
	return file->kept_fd >= 0 ? file->kept_fd : file->kept ? file->fd : -1;
}

static inline bool wh_basis_is_busy(const struct wh_large *file)
{
	return file->basis != NULL && file->basis->step < WH_BASIS_READY;
}

static inline bool wh_basis_is_over(const struct wh_large *file)
{
	return file->basis == NULL || file->basis->step == WH_BASIS_OVER;
}

/* sink_reserve.c: opens the staged file, for a segment its lead lane's, and finds space. */
/* 1: it is open, with space up to this byte; 0: not yet, or it failed. */
int wh_large_reserve(struct wh_sink *sink, struct wh_large *file, uint64_t end);
bool wh_large_is_ready(const struct wh_sink *sink, const struct wh_large *file, uint64_t end);

/*
 * sink_blocks.c: a file made from an existing one.
 *
 *   may_list  decides by its entry and the existing file
 *   is_busy   nothing may be written yet
 *   begin     the first block that differs was received, or all are equal
 *   end       FILE_END was received; true: the existing file is equal
 *   is_over   nothing is left to do
 *   stop      the file failed: nothing more is done
 */
bool wh_sink_may_list(const struct wh_sink *sink, const struct wh_large *file,
	const struct wh_entry *entry, const struct stat *status);
int32_t wh_sink_poll_blocks(struct wh_sink *sink);
void wh_basis_begin(struct wh_sink *sink, struct wh_large *file);
bool wh_basis_end(struct wh_sink *sink, struct wh_large *file, const struct wh_digest *wanted);
void wh_basis_stop(struct wh_sink *sink, struct wh_large *file);
void wh_basis_free(struct wh_sink *sink, struct wh_large *file);

/*
 * sink_keep.c: data kept beyond the job. unkeep: the file is finished, in whatever way. resume:
 * existing data are used; begin_again: they are not.
 */
void wh_sink_keep_init(struct wh_sink *sink);
int32_t wh_sink_poll_keep(struct wh_sink *sink, uint64_t now_tsc);
void wh_sink_end_keep(struct wh_sink *sink);
void wh_sink_row_is_over(struct wh_sink *sink, int64_t row);
void wh_sink_unkeep(struct wh_sink *sink, struct wh_large *file);
/* Whether a note is being written, or is still to be. */
bool wh_sink_keeps_notes(const struct wh_sink *sink);
void wh_large_resume(
	struct wh_sink *sink, struct wh_large *file, const struct wh_recalled_lane *lane);
void wh_large_begin_again(struct wh_sink *sink, struct wh_large *file);

/* Whether the file's row is being written; then the file must wait. */
static inline bool wh_sink_notes(const struct wh_sink *sink, const struct wh_large *file)
{
	return sink->keep.file == file;
}

/* sink_release.c: a large file's end. */
/* Releases the file; no write is outstanding, and nothing further is reported. */
void wh_large_forget(struct wh_sink *sink, struct wh_large *file);
/* Releases a failed file. */
void wh_large_discard(struct wh_sink *sink, struct wh_large *file);
/* All bytes are written: adds it to the batch, or fails it. */
void wh_large_add(struct wh_sink *sink, struct wh_large *file, uint64_t now_tsc);
/* The existing file stays. */
void wh_large_same(struct wh_sink *sink, struct wh_large *file);
/* This lane has nothing to do with the file of several lanes any more. */
void wh_large_leave(struct wh_sink *sink, struct wh_large *file);

/*
 * sink_segments.c: files that arrive by several lanes. join: false if lanes contradict each other.
 * spoil: the lead lane's entry failed on arrival. close_segment: our segment is written; the lead
 * lane waits for the others.
 */
bool wh_sink_can_join(const struct wh_sink *sink, const struct wh_entry *entry);
bool wh_large_join(struct wh_sink *sink, struct wh_large *file, const struct wh_entry *entry);
bool wh_sink_spoil(
	struct wh_sink *sink, const struct wh_entry *entry, int error, enum wh_doing doing);
/* The existing file stays, by decision of the lead lane: others need not send their segments. */
bool wh_sink_pass_over(struct wh_sink *sink, const struct wh_entry *entry);
void wh_large_close_segment(struct wh_sink *sink, struct wh_large *file);
int32_t wh_sink_poll_segments(struct wh_sink *sink, uint64_t now_tsc);
bool wh_sink_awaits_lanes(const struct wh_sink *sink);

/* sink_ask.c: a large file from its entry to the answer. */
/* False: the source requests too many. *status: of the existing file. */
bool wh_sink_ask(struct wh_sink *sink, const struct wh_entry *entry, const struct stat *status);
/* Compares the existing file, or reserves space; there is room for an answer. */
int32_t wh_sink_poll_asked(struct wh_sink *sink);

/* sink_closing.c: all bytes of the file came. */
void wh_large_close(struct wh_sink *sink, struct wh_large *file);
int32_t wh_sink_poll_large(struct wh_sink *sink, uint64_t now_tsc);

/* sink_pipe.c: a sink that is a pipe accepts one file, as it arrives. */
void wh_sink_take_piped(struct wh_sink *sink, const struct wh_entry *entry);
/* Writes the data inside an ENTRY first. > 0: work done; 0: waits; -1: all is written. */
int32_t wh_sink_pipe_inline(struct wh_sink *sink, const struct wh_entry *entry);
int32_t wh_sink_pipe_raw(struct wh_sink *sink);
void wh_sink_pipe_end(struct wh_sink *sink, struct wh_large *file);

/* sink_write.c: writes from the current chunk; returns the work done, 0: it must wait. */
int32_t wh_sink_write(struct wh_sink *sink);
int32_t wh_sink_reap(struct wh_sink *sink);
void wh_sink_submit(struct wh_sink *sink);
void wh_sink_close_ring(struct wh_sink *sink);

/* sink_folders.c */
int wh_folder_log_init(struct wh_folder_log *log, uint32_t max_bytes);
void wh_folder_log_free(struct wh_folder_log *log);
void wh_sink_take_folder(struct wh_sink *sink, const struct wh_entry *entry, int folder_fd);
/* Sets the attributes of the folder stored last, and removes it. False: none left. */
bool wh_sink_finish_folder(struct wh_sink *sink);

/*
 * sink_strays.c, which does nothing without the wish. note_name: a name that was received, or that
 * the source has but does not send. clear: takes some steps of finding and removing all others; 0:
 * finished.
 */
void wh_sink_note_name(
	struct wh_sink *sink, const char *path, size_t path_bytes, enum wh_entry_kind kind);
int32_t wh_sink_clear(struct wh_sink *sink);
void wh_strays_init(struct wh_strays *strays, const struct wh_blocks_account *account);
void wh_strays_free(struct wh_strays *strays);

/* sink_entry.c */
void wh_sink_take_entry(struct wh_sink *sink, const struct wh_entry *entry, uint64_t now_tsc);
/* Whether some received file does not have its name yet. */
bool wh_sink_awaits_files(const struct wh_sink *sink);

/* sink_intake.c: both return the work done. */
int32_t wh_sink_take(struct wh_sink *sink, uint64_t now_tsc);
int32_t wh_sink_give_back_all(struct wh_sink *sink); /* broken: input is discarded */

/* sink_commit.c */
int32_t wh_sink_commit(struct wh_sink *sink, uint64_t now_tsc, bool quiet);
int32_t wh_sink_finish(struct wh_sink *sink);
