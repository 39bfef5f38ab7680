/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A bundle is a tree of files as one stream of chunks; a job is a bundle in one direction and a
 * stream of answers in the other. Chunks of a bundle are of two kinds:
 *
 *   packed  consecutive records from the chunk's first byte on; none crosses into another chunk.
 *           Small files are contained in their record. The last 16 bytes are the chunk's seal: the
 *           digest of all records of the stream so far (bundle/record_pack.h).
 *   raw     bytes of one file. The EXTENT record, always the last of its packed chunk, says how
 *           many bytes follow in raw chunks; each of them but the extent's last is full.
 *
 * Streams of answers have packed chunks only. The first chunk of the client's stream is one HELLO.
 * A stream's end marker (base/chunk.h) contains the digest of the packed chunks made by source or
 * sink. FILE_END covers raw chunks.
 *
 * A file with content ASK is answered by one WANT or HAVE, or by its OUTCOME. After WANT its
 * extents follow, in order and with nothing between them, and one FILE_END. After HAVE follows the
 * same, or SAME. WANT may say that the data before an offset exist from an earlier job, with a
 * digest of them. Then the first extent begins there, or, if the source does not agree, at the
 * beginning. Digests of extents and FILE_END cover what was sent in this job. If the sink sends an
 * OUTCOME meanwhile, FILE_END follows nevertheless, early and with an error.
 *
 * AHEAD is like ASK, with the file's first WH_INLINE_BYTES_MAX bytes in its ENTRY, before anybody
 * has asked for them. A sink that wants the file as a whole may take them: its WANT has that offset
 * and no `resume`, and the first extent begins there. Digests then cover them, too. A WANT without
 * an offset asks for them once more, as any other answer leaves them out.
 *
 * With the wish BLOCKS the sink may send digests of the existing file of that name, block by block
 * from its beginning (file/blocks.h), in any number of BLOCKS records before WANT. Then extents
 * contain what differs, in order of their offsets, and FILE_END has the digest of the whole file.
 *
 * A file with content STREAM is wanted or not, like one with ASK, and never compared. Between its
 * extents the source may send WAITS. Its size is what was sent before FILE_END.
 *
 * With the term =WORD the bundle has of each file only the range of its terms. Sizes are of the
 * whole file, and extents are in the range. The sink keeps it (journal/range_notes.h), and says so
 * by an OUTCOME behind FILE_END; if this was the last range that was missing, the file gets its
 * name.
 *
 * A large file may go by all lanes of a transfer (bundle/split.h). Each lane has an ENTRY for it:
 * LEAD in one, SEGMENT in the others, with the same number and size in all. Extents and FILE_END
 * are then about the lane's own segment. LEAD is otherwise like ASK, and its lane reports the
 * file's outcome. A SEGMENT is answered by WANT, or by an OUTCOME that says that it is not needed.
 *
 * A remote operation looks at a tree of the server, or changes it, and transfers no file. Its
 * answers are ITEM and FAULT, in any order, and one TALLY. An operation that places an order sends
 * ORDER, as often as it wants to know the order's state in the server's queue. Each ORDER is
 * answered by one STATUS.
 *
 * A record is its length (u32, a multiple of 8, including the head), type (u16), zero (u16), then
 * fields by type, little-endian, then texts and content, then zeros up to the length. Fields are
 * the first members of their struct below, in its order and without padding. Decoding is strict, as
 * in lib/wire: a record with a field outside of its limits is refused.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunk.h"
#include "bundle/choice.h"

#define WH_BUNDLE_VERSION 15

/* Files up to this size are contained in their ENTRY; larger ones are sent in extents. */
#define WH_INLINE_BYTES_MAX (UINT32_C(256) << 10)

/* Most raw bytes per EXTENT: bounds what is still sent of a file that fails. */
#define WH_EXTENT_BYTES_MAX (UINT64_C(64) << 20)

#define WH_PATH_BYTES_MAX 4095

/* Extended attributes per file, encoded; a file with more loses them. */
#define WH_XATTR_BYTES_MAX 7680

/* Most digests per BLOCKS. */
#define WH_BLOCKS_TOLD_MAX 128

#define WH_OWNER_UNTOLD UINT32_MAX

/* Least chunk size of a bundle: an ENTRY with the longest texts fits. */
#define WH_BUNDLE_CHUNK_BYTES_MIN 16384

/* Limits of an ORDER's texts. */
#define WH_TOKEN_BYTES          16
#define WH_ORDER_HOST_MAX       255
#define WH_ORDER_RATE_MAX       511
#define WH_ORDER_WORDS_MAX      4096
#define WH_ORDER_STATUS_WHY_MAX 399

#define WH_HELLO_PATHS_MAX   1024
#define WH_HELLO_OPTIONS_MAX 16
#define WH_HELLO_TEXTS_MAX   (WH_HELLO_PATHS_MAX + WH_TERMS_MAX)

enum wh_record_type {
	/* source to sink */
	WH_RECORD_ENTRY = 1,
	WH_RECORD_EXTENT = 2,
	WH_RECORD_FILE_END = 3, /* of a file sent in extents */
	WH_RECORD_SAME = 4,     /* answer to HAVE: equal, skip it */
	WH_RECORD_FAULT = 5,    /* a path that the source cannot send; not an entry */
	WH_RECORD_FINISH = 6,   /* the last */
	WH_RECORD_FOUND = 7,    /* once, after the walk: totals */
	/* sink to source */
	WH_RECORD_WANT = 16,
	WH_RECORD_HAVE = 17,    /* a file of that size exists, with this digest */
	WH_RECORD_OUTCOME = 18, /* of one entry: skipped, failed or kept */
	WH_RECORD_COMMITTED =
		19, /* entries below this id are durable under their names, or have an OUTCOME */
	WH_RECORD_TOTALS = 20, /* the last */
	WH_RECORD_BLOCKS = 21, /* digests of blocks of an existing file */
	/* in both directions, for jobs */
	WH_RECORD_HELLO = 32,
	WH_RECORD_REFUSED = 33, /* the job as a whole */
	WH_RECORD_READY = 34,   /* the server's first answer */
	WH_RECORD_REPORT = 35,  /* bench: counters of the receiving side */
	/* from source and sink, between any two records outside of extents: for the peer's watch */
	WH_RECORD_WAITS = 36,
	/* remote operations (rpc/rpc.h); a PING is returned unchanged */
	WH_RECORD_ITEM = 40,
	WH_RECORD_TALLY = 41, /* the last */
	WH_RECORD_PING = 42,
	WH_RECORD_ORDER = 43,
	WH_RECORD_STATUS = 44,
};

enum wh_entry_kind {
	WH_ENTRY_FILE = 1,
	WH_ENTRY_FOLDER = 2,
	WH_ENTRY_LINK = 3,   /* symbolic */
	WH_ENTRY_HARD = 4,   /* another name of a file of the bundle that is complete there */
	WH_ENTRY_PREFIX = 5, /* a folder on the way to others, of which not all is sent */
};

/* How a file's content is sent. */
enum wh_entry_content {
	WH_CONTENT_NONE = 0,    /* folder, link, empty file */
	WH_CONTENT_INLINE = 1,  /* in the record */
	WH_CONTENT_ASK = 2,     /* extents, once the sink has answered WANT */
	WH_CONTENT_LEAD = 3,    /* like ASK, for one segment; the others go by the other lanes */
	WH_CONTENT_SEGMENT = 4, /* one of the other segments */
	WH_CONTENT_STREAM = 5,  /* like ASK, of unknown size: 0, until FILE_END */
	WH_CONTENT_AHEAD = 6,   /* like ASK, of a file whose beginning is in the record */
};

static inline bool wh_entry_is_folder(uint8_t kind)
{
	return kind == WH_ENTRY_FOLDER || kind == WH_ENTRY_PREFIX;
}

static inline bool wh_content_is_split(uint8_t content)
{
	return content == WH_CONTENT_LEAD || content == WH_CONTENT_SEGMENT;
}

/* The operation that failed; names in wh_doing_name(). */
enum wh_doing {
	WH_DOING_NOTHING = 0,
	WH_DOING_OPENING,
	WH_DOING_READING,
	WH_DOING_LISTING,
	WH_DOING_CREATING,
	WH_DOING_RESERVING, /* space */
	WH_DOING_WRITING,
	WH_DOING_RENAMING,
	WH_DOING_SYNCING,
	WH_DOING_ATTRIBUTES, /* setting mode and times */
	WH_DOING_CHANGED,    /* the file changed while it was read */
	WH_DOING_DIGEST,     /* received data differ from the source's */
	WH_DOING_PATH,       /* a forbidden path */
	WH_DOING_KIND,       /* neither file, folder nor link; or a folder without -r */
	WH_DOING_COUNTING,   /* limit of a job: entries */
	WH_DOING_ADDING,     /* limit of a job: bytes */
	WH_DOING_DESCENDING, /* limit of a job: folders in folders */
	WH_DOING_NAMING,     /* limit of a job: names */
	WH_DOING_LINKING,    /* limit of a job: targets of links */
	WH_DOING_FOLDING,    /* limit of a job: names that differ by case only */
	WH_DOING_YIELDING,   /* gives its part to a newer job of the same peer */
	WH_DOING_SHARING,    /* another file of the job has the name */
	WH_DOING_CROWDED,    /* another file may have the name: too many to remember */
	WH_DOING_SPARING,    /* too many files to remove that the source does not have */
	WH_DOING_REMOVING,
	WH_DOING_PASSING, /* only in FAULT: no failure, a kind of file that is skipped */
	WH_DOINGS,
};

const char *wh_doing_name(enum wh_doing doing);

/* Words for a rule that forbids it, instead of an error's; NULL: not a rule. */
const char *wh_doing_forbidden(enum wh_doing doing);

struct wh_entry {
	uint64_t id; /* ascending in a bundle, perhaps with gaps */
	int64_t mtime_s;
	uint64_t size_bytes; /* of the whole file, including other segments */
	uint64_t hole_bytes; /* approximate size of holes at the source; ASK, LEAD, SEGMENT */
	uint32_t mtime_ns;
	uint16_t mode; /* permission bits, 07777 at most */
	uint16_t path_bytes;
	uint16_t link_bytes;
	uint8_t kind;
	uint8_t content;
	uint32_t split; /* LEAD and SEGMENT: the file's number in the transfer; else 0 */
	uint32_t uid;   /* WH_OWNER_UNTOLD, like gid: not requested */
	uint32_t gid;
	uint32_t xattr_bytes;
	/* Identify the version of the file at the source; all 0: unknown. */
	uint32_t ctime_ns;
	uint64_t inode;
	int64_t ctime_s;
	/* Relative, '/' between names, no empty name, no "." or "..", no NUL. */
	const char *path;
	const char *link;            /* the link's text; HARD: the path of the file */
	const uint8_t *xattrs;       /* bundle/xattrs.h */
	const uint8_t *inline_bytes; /* wh_entry_inline_bytes() of them */
};

/*
 * What must hold of existing data before the rest is sent. They came from the same peer, agreed
 * with its digest then, and were synced (sink/recall.h).
 */
enum wh_resume {
	WH_RESUME_OFF = 0,    /* not used: files are sent from the beginning */
	WH_RESUME_ATTRIBUTES, /* the source's size, mtime, inode and change time are unchanged */
	WH_RESUME_SPARSE,     /* and samples are equal at both ends (file/likeness.h) */
	WH_RESUME_FULL,       /* size and mtime are unchanged, and all bytes are equal */
	WH_RESUMES,
};

/* The stricter of two wishes. */
static inline enum wh_resume wh_resume_stricter(enum wh_resume one, enum wh_resume other)
{
	if (one == WH_RESUME_OFF || other == WH_RESUME_OFF)
		return WH_RESUME_OFF;
	return one > other ? one : other;
}

enum wh_outcome_status {
	WH_OUTCOME_SKIPPED = 1, /* exists with the same bytes; of a SEGMENT: not needed */
	WH_OUTCOME_FAILED = 2,
	WH_OUTCOME_WOULD = 3, /* would be requested, if this were not a dry run */
	WH_OUTCOME_KEPT = 4,  /* its range is durable, and others that belong to it are not there */
};

enum wh_job_verb {
	WH_JOB_SEND = 1,  /* the client is the source */
	WH_JOB_GET = 2,   /* the server is the source */
	WH_JOB_BENCH = 3, /* no files; see reverse */
	WH_JOB_IDLE = 4,  /* nothing, until the client leaves */
	/* remote operations, whose paths are all on the server */
	WH_JOB_LIST = 5,
	WH_JOB_USAGE = 6,
	WH_JOB_REMOVE = 7,
	WH_JOB_MAKE = 8, /* folders; recursive: with missing parents */
	WH_JOB_MOVE = 9, /* the last path is the destination */
	WH_JOB_PING = 10,
	WH_JOB_ORDER = 11, /* for the server's queue: its paths are copied to a third host */
	WH_JOB_VERBS,
};

/* The name for operators; "" if there is none. */
const char *wh_job_verb_name(uint32_t verb);

static inline bool wh_job_moves_files(uint32_t verb)
{
	return verb == WH_JOB_SEND || verb == WH_JOB_GET;
}

static inline bool wh_job_is_rpc(uint32_t verb)
{
	return verb >= WH_JOB_LIST && verb <= WH_JOB_ORDER;
}

struct wh_hello {
	uint8_t version;
	uint8_t verb;
	bool recursive;
	bool into_folder; /* send: the path is a folder, even if it does not exist */
	bool reverse;     /* bench: the server sends */
	uint8_t profile;  /* get, reverse bench: for the server's stream */
	uint16_t paths;   /* send: 1, the target; get: what to send */
	uint64_t reply;   /* number in the name of the server's stream to us */
	uint16_t lane;    /* of `lanes`, for --parallel */
	uint16_t lanes;
	uint32_t payload_bytes; /* get, reverse bench */
	bool as_name;           /* send: a name, even if a folder has it: lanes agree by READY */
	uint8_t fec_code;       /* get, reverse bench: enum wh_fec_code, server's stream; 0: none */
	uint8_t fec_k;          /* repair packets per data packets, r per k; 0, 0: as planned */
	uint8_t fec_r;
	/* Options of the profile: bit i: option i is set, to the bits of a double. */
	uint16_t options;
	uint8_t resume;    /* enum wh_resume: the client's wish */
	uint8_t ports;     /* send, get: of the client, by all of which it sends and receives */
	uint64_t rate_bps; /* get, reverse bench: UINT64_MAX: no pacing */
	uint64_t transfer; /* the same in all its lanes, and random */
	uint64_t bench_ns;
	uint64_t bench_bytes; /* for all lanes together; 0: limited by time */
	uint64_t option[WH_HELLO_OPTIONS_MAX];
	uint32_t wishes; /* send, get: enum wh_wish */
	uint32_t terms;  /* number of terms, stored behind the paths (bundle/choice.h) */
	uint16_t path_bytes[WH_HELLO_TEXTS_MAX];
	const char *path[WH_HELLO_TEXTS_MAX];
};

/* Progress of an end that may have nothing else to send for long. */
struct wh_waits_told {
	uint64_t worked;   /* counts its work of any kind: an increase is progress */
	uint64_t rate_bps; /* new rate that the receiver wishes; 0: as in HELLO */
	uint8_t waits;     /* enum wh_waits (bundle/waits.h) */
};

/* Attributes at the source that the bundle does not contain; each counts entries. */
struct wh_left_out {
	uint64_t owners;     /* other than the source's user */
	uint64_t set_ids;    /* set-user-ID, set-group-ID */
	uint64_t xattrs;     /* files with user attributes, ACLs or capabilities */
	uint64_t hard_links; /* files that have further names */
};

struct wh_totals {
	uint64_t files; /* written, without links and folders */
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes; /* of the files written */
	/* Of large files: from an earlier job, or in equal blocks. */
	uint64_t resumed_bytes;
	uint64_t sampled_bytes; /* of these: compared now by samples only */
	uint64_t began_again;   /* large files whose existing data could not be used */
	uint64_t removed;       /* that the source does not have */
	/* Not sent in TOTALS: the source knows them, and the sink counts FAULT and FINISH. */
	uint64_t passed_over; /* pipes, sockets and devices in trees */
	struct wh_left_out left_out;
};

struct wh_bench_report {
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t pkts;
	uint64_t duplicate_pkts;
	uint64_t bad_pkts;
	uint64_t lost_pkts;     /* detected losses */
	uint64_t dropped_pkts;  /* by the port and its queues */
	uint64_t cycles;        /* of its cores, in rounds with work */
	uint64_t worker_cycles; /* of these, for files, jobs and repair packets */
};

enum wh_item_kind {
	WH_ITEM_FILE = 1,
	WH_ITEM_FOLDER = 2,
	WH_ITEM_LINK = 3,
	WH_ITEM_OTHER = 4, /* a pipe, a socket, a device */
};

/*
 * An existing file or folder; for USAGE with everything in it. In a sink's answers: one that it
 * has removed, or in a dry run would remove, because the source does not have it.
 */
struct wh_item {
	uint64_t bytes;
	uint64_t used_bytes; /* on the disk */
	uint64_t entries;    /* in it, recursively; 0 for LIST */
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t uid;
	uint32_t gid;
	uint16_t mode;  /* permission bits, 07777 at most */
	uint16_t given; /* index of HELLO's path that it is below */
	uint16_t path_bytes;
	uint16_t link_bytes;
	uint8_t kind;
	uint8_t matched;  /* 1: that path stands for what matches it (bundle/choice.h) */
	const char *path; /* relative to that path; ".": the path itself; matched: relative to the
			   * path before its first name with a wildcard */
	const char *link; /* the link's text */
};

/* Result of a remote operation. */
struct wh_tally {
	uint64_t items;  /* ITEMs sent */
	uint64_t faults; /* FAULTs sent */
	uint64_t done;   /* removed, made or moved */
};

enum wh_order_wish {
	WH_WISH_RUN = 0,
	WH_WISH_PAUSE,
	WH_WISH_CANCEL,
	WH_WISHES,
};

/*
 * An order for the server's queue: HELLO's paths are copied to a path of a host that the server
 * knows. Repeating a token refers to the same order.
 */
struct wh_ordering {
	uint8_t token[WH_TOKEN_BYTES]; /* random */
	uint64_t number;               /* in the server's queue, as it has answered; 0: unknown */
	uint16_t host_bytes;
	uint16_t path_bytes;
	uint16_t rate_bytes;
	uint16_t words_bytes;
	uint8_t wish; /* enum wh_order_wish */
	uint8_t priority;
	const char *host;
	const char *path;
	const char *rate;  /* a timetable */
	const char *words; /* options, as a JSON list */
};

/* State of an order in the server's queue. REFUSED: not accepted. */
enum wh_order_status_kind {
	WH_ORDER_STATUS_REFUSED = 0,
	WH_ORDER_STATUS_WAITS,
	WH_ORDER_STATUS_PAUSED,
	WH_ORDER_STATUS_RUNS,
	WH_ORDER_STATUS_DONE,
	WH_ORDER_STATUS_FAILED,
	WH_ORDER_STATUS_CANCELLED,
	WH_ORDER_STATUSES,
};

struct wh_order_status {
	uint64_t number; /* in the server's queue; 0: not in it */
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes;
	uint64_t moved_bytes;
	uint64_t run_ns;
	uint16_t why_bytes;
	uint8_t state;  /* enum wh_order_status_kind */
	uint8_t status; /* exit status */
	const char *why;
};

static inline bool wh_order_status_is_over(const struct wh_order_status *order_status)
{
	return order_status->state == WH_ORDER_STATUS_REFUSED ||
	       order_status->state >= WH_ORDER_STATUS_DONE;
}

/* Ports of a server that READY names, and the bytes of each there. */
#define WH_READY_PORTS_MAX     4
#define WH_READY_ADDRESS_BYTES 17

struct wh_record {
	enum wh_record_type type;
	union {
		struct wh_entry entry;
		struct {
			uint64_t id;
			uint64_t offset;
			uint64_t bytes;
			struct wh_digest
				digest; /* of earlier extents of the file; none in the first */
		} extent;
		struct {
			uint64_t id;
			struct wh_digest digest;
			int32_t error; /* 0: complete; else a positive errno, or EPROTO */
			uint8_t doing;
		} file_end;
		struct {
			uint64_t id;
		} id; /* SAME */
		struct {
			uint64_t id;
			uint64_t offset;         /* in the file; data before it exist; 0: none */
			struct wh_digest digest; /* of these data, by `seed`, as `resume` says */
			uint64_t seed;           /* drawn by the sink (file/likeness.h) */
			uint8_t resume;          /* enum wh_resume; OFF without an offset */
		} want;
		struct {
			uint64_t id;
			struct wh_digest digest;
		} have;
		struct {
			uint64_t id;
			uint32_t first; /* of the file's blocks */
			uint32_t count;
			const uint8_t *digests; /* `count` of them */
		} blocks;
		struct {
			int32_t error;
			uint16_t path_bytes;
			uint8_t doing;
			const char *path;
		} fault;
		struct {
			uint64_t entries;
			struct wh_left_out left_out;
		} finish;
		struct {
			uint64_t files; /* number of files announced in this stream */
			uint64_t bytes; /* their total size */
		} found;
		struct {
			uint64_t id;
			int32_t error;
			uint8_t status;
			uint8_t doing;
		} outcome;
		struct {
			uint64_t below; /* id */
		} committed;
		struct wh_totals totals;
		struct wh_hello hello;
		struct {
			int32_t error;
			uint16_t text_bytes;
			const char *text; /* a sentence */
		} refused;
		struct {
			uint16_t queues; /* that the server listens on */
			/*
			 * send: how the path was taken, for the other lanes. get: the only path has
			 * a wildcard, but is the very name of something.
			 */
			bool as_name;
			uint8_t keeps; /* send: the wishes that are granted there */
			/*
			 * Its ports, as the client's family of addresses reaches them: first the
			 * one of this job. Each is that number, 4 or 6, and an IP address.
			 */
			uint8_t ports;
			const uint8_t *addresses;
		} ready;
		struct wh_bench_report report;
		struct wh_waits_told waits;
		struct wh_item item;
		struct wh_tally tally;
		struct {
			uint64_t sequence;
		} ping;
		struct wh_ordering order;
		struct wh_order_status order_status;
	};
};

/* Length of the encoded record, with head and padding. */
uint32_t wh_record_bytes(const struct wh_record *record);

/* How many bytes of the file its ENTRY contains. */
static inline uint32_t wh_entry_inline_bytes(const struct wh_entry *entry)
{
	if (entry->content == WH_CONTENT_AHEAD)
		return WH_INLINE_BYTES_MAX;
	return entry->content == WH_CONTENT_INLINE ? (uint32_t)entry->size_bytes : 0;
}

/* Where an entry's content will be in its record, so that it may be written there in advance. */
uint32_t wh_entry_content_at(const struct wh_entry *entry);

/*
 * Encodes into `room` bytes; returns the length, 0: does not fit. Encoding what decoding would
 * refuse is an error of the caller.
 */
uint32_t wh_record_encode(const struct wh_record *record, uint8_t *bytes, size_t room);

/*
 * Decodes the record at the start of `bytes`; texts and content point into them. Returns its
 * length, or 0: not a record, or outside of its limits.
 */
uint32_t wh_record_decode(const uint8_t *bytes, size_t length, struct wh_record *record);

/*
 * Version and stream name of a HELLO of any version. These two, the record's head and all of
 * REFUSED never change, so that a server can refuse a client of another version. False: not a
 * HELLO.
 */
bool wh_hello_peek(const uint8_t *bytes, size_t length, uint8_t *version, uint64_t *reply);

/* Whether a received path may be used below a root. */
bool wh_path_is_safe(const char *path, size_t path_bytes);

/* Whether it has no control characters: C0, DEL, and C1 as UTF-8, which terminals obey as well. */
bool wh_text_is_plain(const char *text, size_t bytes);
