/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BUNDLE_RECORD_H
#define WH_BUNDLE_RECORD_H

/*
 * A bundle is a tree of files as one stream of chunks; a job is a bundle one way and a stream of
 * answers the other way. Chunks of a bundle are of two kinds:
 *
 *   packed  records one after the other from the chunk's first byte on; none crosses into
 *           another chunk. Small files travel inside their record. The last 16 bytes are the
 *           chunk's seal: the digest of all records of the stream so far (bundle/pack.h).
 *   raw     bytes of one file. The EXTENT record, always the last of its packed chunk, says how
 *           many bytes follow in raw chunks; each of them but the extent's last is full.
 *
 * Streams of answers have packed chunks only. The first chunk of the client's stream is one HELLO.
 * A stream's end marker (base/chunk.h) carries the digest of the packed chunks that the source or
 * the sink made: what is in raw chunks is covered by FILE_END.
 *
 * A file with content ASK is answered by one WANT or HAVE, or by its OUTCOME. After WANT come its
 * extents, in order and nothing between them, and one FILE_END; after HAVE the same, or SAME. WANT
 * may say that what is before an offset is there from an earlier run, and prove it by a digest of
 * that: the first extent begins there, or, where the source does not agree, as without. Digests
 * of extents and FILE_END are of what was sent since. An
 * OUTCOME that the sink gives meanwhile does not change that: FILE_END comes all the same, early
 * and with an error.
 *
 * By the wish BLOCKS the sink may tell digests of what has the file's name there, block by block
 * from its beginning (file/blocks.h), before WANT: BLOCKS, as often as it takes. Extents are of
 * what differs then, in order of their offsets, and FILE_END has the digest of the whole file.
 *
 * A file with content STREAM is wanted or not, as one with ASK, and never compared; between its
 * extents the source may tell what it waits for. It is as long as what came before FILE_END.
 *
 * A large file may go by all lanes of a transfer (bundle/split.h), each of which has an ENTRY for
 * it: HEAD in one, PART in the others, with one number in all, and the same size. Extents and
 * FILE_END are of the lane's own part then. HEAD is as ASK otherwise; what becomes of the file is
 * told there. A PART is answered by WANT, or by an OUTCOME that says that it is not needed.
 *
 * An errand looks at a tree of the server's, or changes it, and moves no file. Its answers are ITEM
 * and FAULT, in any order, and one TALLY. One that orders says ORDER, as often as it wants to know
 * how that order stands in the server's queue; each is answered by one STANDING.
 *
 * A record is its length (u32, a multiple of 8, header counted), type (u16), zero (u16), then
 * fields by type, little-endian, then texts and content, then zeros up to the length. Fields travel
 * as they begin their struct below, in its order and without gaps. Decoding is strict, as in
 * lib/wire: every field is within its limits, or the record is refused.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chunk.h"
#include "bundle/choice.h"

#define WH_BUNDLE_VERSION 7

/* Files up to this travel inside their ENTRY; larger ones as extents of raw chunks. */
#define WH_INLINE_BYTES_MAX (UINT32_C(256) << 10)

/* Raw bytes that one EXTENT announces, at most: a file that fails meanwhile ends soon. */
#define WH_EXTENT_BYTES_MAX (UINT64_C(64) << 20)

#define WH_PATH_BYTES_MAX 4095

/* Of a file's extended attributes, as they travel; a file with more loses them. */
#define WH_XATTR_BYTES_MAX 7680

/* Digests that one BLOCKS has, at most. */
#define WH_BLOCKS_TOLD_MAX 128

#define WH_OWNER_UNTOLD UINT32_MAX

/* Chunks of a bundle have room for this at least: an ENTRY with the longest texts. */
#define WH_BUNDLE_CHUNK_BYTES_MIN 16384

/* Of an ORDER's texts, at most. */
#define WH_TOKEN_BYTES         16
#define WH_ORDER_HOST_MAX      255
#define WH_ORDER_RATE_MAX      511
#define WH_ORDER_WORDS_MAX     4096
#define WH_STANDING_WHY_MAX    399

#define WH_HELLO_PATHS_MAX   1024
#define WH_HELLO_OPTIONS_MAX 16
#define WH_HELLO_TEXTS_MAX   (WH_HELLO_PATHS_MAX + WH_TERMS_MAX)

enum wh_record_type {
	/* source to sink */
	WH_RECORD_ENTRY = 1,
	WH_RECORD_EXTENT = 2,
	WH_RECORD_FILE_END = 3, /* of a file that came in extents */
	WH_RECORD_SAME = 4,     /* answer to HAVE: yes, skip it */
	WH_RECORD_FAULT = 5,    /* a path that the source cannot send; no entry */
	WH_RECORD_FINISH = 6,   /* the last */
	WH_RECORD_FOUND = 7,    /* once, when the walk is over: what there is */
	/* sink to source */
	WH_RECORD_WANT = 16,
	WH_RECORD_HAVE = 17,    /* a file of that size is there, with this digest */
	WH_RECORD_OUTCOME = 18, /* of one entry: skipped or failed */
	WH_RECORD_COMMITTED =
		19, /* entries below are durable, under their names, or have an OUTCOME */
	WH_RECORD_TOTALS = 20, /* the last */
	WH_RECORD_BLOCKS = 21, /* of a file that is asked for: digests of blocks that are there */
	/* both, jobs */
	WH_RECORD_HELLO = 32,
	WH_RECORD_REFUSED = 33, /* the job as a whole */
	WH_RECORD_READY = 34,   /* the server's first answer */
	WH_RECORD_REPORT = 35,  /* bench: counters of the receiving side */
	/* of source and sink, between any two others but a file's extents: for the peer's watch */
	WH_RECORD_WAITS = 36,
	/* errands (errand/errand.h); to ping is to say PING, which comes back as it is */
	WH_RECORD_ITEM = 40,
	WH_RECORD_TALLY = 41, /* the last */
	WH_RECORD_PING = 42,
	WH_RECORD_ORDER = 43,
	WH_RECORD_STANDING = 44,
};

enum wh_entry_kind {
	WH_ENTRY_FILE = 1,
	WH_ENTRY_FOLDER = 2,
	WH_ENTRY_LINK = 3, /* symbolic */
	WH_ENTRY_HARD = 4, /* another name of a file of the bundle, which is whole there */
};

/* How a file's bytes come. */
enum wh_entry_content {
	WH_CONTENT_NONE = 0,   /* folder, link, empty file */
	WH_CONTENT_INLINE = 1, /* in the record */
	WH_CONTENT_ASK = 2,    /* extents, once the sink has answered WANT */
	WH_CONTENT_HEAD = 3,   /* the same, of a part; the others come by the other lanes */
	WH_CONTENT_PART = 4,   /* one of these */
	WH_CONTENT_STREAM = 5, /* as ASK, of a size that nobody knows: 0, until FILE_END */
};

static inline bool wh_content_is_split(uint8_t content)
{
	return content == WH_CONTENT_HEAD || content == WH_CONTENT_PART;
}

/* What was being done when it failed; names in wh_doing_name(). */
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
	WH_DOING_DIGEST,     /* what arrived is not what was read */
	WH_DOING_PATH,       /* a path that is not allowed there */
	WH_DOING_KIND,       /* neither file, folder nor link; or a folder without -r */
	WH_DOING_COUNTING,   /* what a job may bring there: entries, ... */
	WH_DOING_ADDING,     /* ... bytes, ... */
	WH_DOING_DESCENDING, /* ... folders in folders, ... */
	WH_DOING_NAMING,     /* ... names, ... */
	WH_DOING_LINKING,    /* ... where links lead */
	WH_DOING_FOLDING,    /* ... names that differ by case alone */
	WH_DOING_SPARING,    /* what the source does not have: it would be too much to remove */
	WH_DOING_REMOVING,
	WH_DOING_PASSING, /* of a tree's FAULT only: no failure, its kind is not taken */
	WH_DOINGS,
};

const char *wh_doing_name(enum wh_doing doing);

/* What of a rule that forbids it is said in place of an error's words; NULL: it is none. */
const char *wh_doing_forbidden(enum wh_doing doing);

struct wh_entry {
	uint64_t id; /* ascending in a bundle, not necessarily by one */
	int64_t mtime_s;
	uint64_t size_bytes; /* of the file, all parts counted */
	uint64_t hole_bytes; /* of these, about, take no room at the source; of ASK, HEAD, PART */
	uint32_t mtime_ns;
	uint16_t mode; /* permission bits, 07777 at most */
	uint16_t path_bytes;
	uint16_t link_bytes;
	uint8_t kind;
	uint8_t content;
	uint32_t split; /* HEAD and PART: the file's number in the transfer; else 0 */
	uint32_t uid;   /* WH_OWNER_UNTOLD, as of gid: nobody asked */
	uint32_t gid;
	uint32_t xattr_bytes;
	/* What changes at the source with the file; all 0: not told. */
	uint32_t ctime_ns;
	uint64_t inode;
	int64_t ctime_s;
	/* Relative, '/' between names, no empty name, no "." or "..", no NUL. */
	const char *path;
	const char *link;            /* the link's text; HARD: the path that it is a name of */
	const uint8_t *xattrs;       /* bundle/xattrs.h */
	const uint8_t *inline_bytes; /* size_bytes of them */
};

/* What is asked of the part of a file that is there from an earlier run, before the rest goes. */
enum wh_resume {
	WH_RESUME_OFF = 0,    /* files begin again */
	WH_RESUME_ATTRIBUTES, /* the source's size, mtime, inode and change time are as they were */
	WH_RESUME_SPARSE,     /* and samples are the same at both ends (file/likeness.h) */
	WH_RESUME_FULL,       /* and so are all its bytes */
	WH_RESUMES,
};

/* Of two wishes the one that believes less. */
static inline enum wh_resume wh_resume_stricter(enum wh_resume one, enum wh_resume other)
{
	if (one == WH_RESUME_OFF || other == WH_RESUME_OFF)
		return WH_RESUME_OFF;
	return one > other ? one : other;
}

enum wh_outcome_status {
	WH_OUTCOME_SKIPPED = 1, /* there already, the same bytes; of a PART: not needed */
	WH_OUTCOME_FAILED = 2,
	WH_OUTCOME_WOULD = 3, /* it would be asked for, by another run than a dry one */
};

enum wh_job_verb {
	WH_JOB_SEND = 1,  /* the client is the source */
	WH_JOB_GET = 2,   /* the server is */
	WH_JOB_BENCH = 3, /* no files; see reverse */
	WH_JOB_IDLE = 4,  /* nothing at all until the client goes */
	/* errands, whose paths are all the server's */
	WH_JOB_LIST = 5,
	WH_JOB_USAGE = 6,
	WH_JOB_REMOVE = 7,
	WH_JOB_MAKE = 8, /* folders; recursive: those above them, too */
	WH_JOB_MOVE = 9, /* the last path is where to */
	WH_JOB_PING = 10,
	WH_JOB_ORDER = 11, /* of the server's queue: its paths go on to a third host */
};

/* As operators call it; "" for what is none. */
const char *wh_job_verb_name(uint32_t verb);

static inline bool wh_job_is_errand(uint32_t verb)
{
	return verb >= WH_JOB_LIST && verb <= WH_JOB_ORDER;
}

struct wh_hello {
	uint8_t version;
	uint8_t verb;
	bool recursive;
	bool into_folder; /* send: the path is a folder, whatever is there now */
	bool reverse;     /* bench: the server sends */
	uint8_t profile;  /* get, reverse bench: of the server's stream */
	uint16_t paths;   /* send: 1, the target; get: what is wanted */
	uint64_t reply;   /* the server's stream to us says this in its name */
	uint16_t lane;    /* of `lanes`, for --parallel */
	uint16_t lanes;
	uint32_t payload_bytes; /* get, reverse bench */
	bool as_name;     /* send: it is a name, even if a folder has it: lanes agree by READY */
	uint8_t fec_code; /* get, reverse bench: enum wh_fec_code of the server's stream; 0: none */
	uint8_t fec_k;    /* of so many data packets so many repair packets; 0, 0: as planned */
	uint8_t fec_r;
	/* Of the profile: bit i says that option i is set, to the bits of a double. */
	uint16_t options;
	uint16_t resume;   /* enum wh_resume: the client's wish */
	uint64_t rate_bps; /* get, reverse bench: UINT64_MAX: no pacing */
	uint64_t transfer; /* the same of all its lanes, and nobody's guess */
	uint64_t bench_ns;
	uint64_t bench_bytes; /* of all lanes together; 0: by time */
	uint64_t option[WH_HELLO_OPTIONS_MAX];
	uint32_t wishes; /* send, get: enum wh_wish */
	uint32_t terms;  /* of them, as texts behind the paths (bundle/choice.h) */
	uint16_t path_bytes[WH_HELLO_TEXTS_MAX];
	const char *path[WH_HELLO_TEXTS_MAX];
};

/* How it stands with an end that may have nothing else to say for long. */
struct wh_waits_told {
	uint64_t worked;   /* counts what it has done, of anything: more of it is progress */
	uint64_t rate_bps; /* that the receiver wishes for from now on; 0: as HELLO has it */
	uint8_t waits;     /* enum wh_waits (bundle/waits.h) */
};

/* What entries have at the source that no bundle carries; each counts entries. */
struct wh_left_out {
	uint64_t owners;     /* not the source's own */
	uint64_t set_ids;    /* set-user-ID, set-group-ID */
	uint64_t xattrs;     /* files with extended attributes of a user's, ACLs or capabilities */
	uint64_t hard_links; /* files that have other names, too */
};

struct wh_totals {
	uint64_t files; /* written, links and folders not counted */
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes; /* of the files written */
	/* Of large files: from an earlier run, or in blocks that are the same. */
	uint64_t resumed_bytes;
	uint64_t began_again; /* large files of which something was there, and of no use */
	uint64_t removed;     /* that the source does not have */
	/* Not in TOTALS: the source knows them, and the sink by FAULT and FINISH. */
	uint64_t passed_over; /* pipes, sockets and devices of trees */
	struct wh_left_out left_out;
};

struct wh_bench_report {
	uint64_t elapsed_ns;
	uint64_t bytes;
	uint64_t pkts;
	uint64_t duplicate_pkts;
	uint64_t bad_pkts;
	uint64_t lost_pkts;    /* losses detected */
	uint64_t dropped_pkts; /* by the port and its queues */
	uint64_t cycles;       /* of its cores, in rounds with work */
};

enum wh_item_kind {
	WH_ITEM_FILE = 1,
	WH_ITEM_FOLDER = 2,
	WH_ITEM_LINK = 3,
	WH_ITEM_OTHER = 4, /* a pipe, a socket, a device */
};

/* What is somewhere; of USAGE with all that is in it. */
struct wh_item {
	uint64_t bytes;
	uint64_t used_bytes; /* on the disk */
	uint64_t entries;    /* in it, and in folders in it; of LIST 0 */
	int64_t mtime_s;
	uint32_t mtime_ns;
	uint32_t uid;
	uint32_t gid;
	uint16_t mode;  /* permission bits, 07777 at most */
	uint16_t given; /* below which of HELLO's paths */
	uint16_t path_bytes;
	uint16_t link_bytes;
	uint8_t kind;
	const char *path; /* from there; ".": it is that path itself */
	const char *link; /* the link's text */
};

/* What an errand has come to. */
struct wh_tally {
	uint64_t items;  /* ITEMs told */
	uint64_t faults; /* FAULTs told */
	uint64_t done;   /* removed, made or moved */
};

enum wh_order_wish {
	WH_WISH_RUN = 0,
	WH_WISH_PAUSE,
	WH_WISH_CANCEL,
	WH_WISHES,
};

/*
 * An order for the server's queue: HELLO's paths go to a path of a host that the server knows. The
 * same token is the same order, however often it is said.
 */
struct wh_ordering {
	uint8_t token[WH_TOKEN_BYTES]; /* nobody's guess */
	uint64_t number;               /* in the server's queue, once it has said it; 0: not yet */
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

/* Of an order in a server's queue. REFUSED: there is none. */
enum wh_standing_state {
	WH_STANDING_REFUSED = 0,
	WH_STANDING_WAITS,
	WH_STANDING_PAUSED,
	WH_STANDING_RUNS,
	WH_STANDING_DONE,
	WH_STANDING_FAILED,
	WH_STANDING_CANCELLED,
	WH_STANDINGS,
};

struct wh_standing {
	uint64_t number; /* in the server's queue; 0: it is not there */
	uint64_t files;
	uint64_t skipped;
	uint64_t failed;
	uint64_t bytes;
	uint64_t moved_bytes;
	uint64_t run_ns;
	uint16_t why_bytes;
	uint8_t state;  /* enum wh_standing_state */
	uint8_t status; /* exit status */
	const char *why;
};

static inline bool wh_standing_is_over(const struct wh_standing *standing)
{
	return standing->state == WH_STANDING_REFUSED || standing->state >= WH_STANDING_DONE;
}

struct wh_record {
	enum wh_record_type type;
	union {
		struct wh_entry entry;
		struct {
			uint64_t id;
			uint64_t offset;
			uint64_t bytes;
			struct wh_digest
				digest; /* of the file's extents before; of the first nothing */
		} extent;
		struct {
			uint64_t id;
			struct wh_digest digest;
			int32_t error; /* 0: whole; else a positive errno, or EPROTO */
			uint8_t doing;
		} file_end;
		struct {
			uint64_t id;
		} id; /* SAME */
		struct {
			uint64_t id;
			uint64_t offset; /* of the file; what is before is there; 0: nothing is */
			struct wh_digest digest; /* of that, as `resume` says */
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
			const uint8_t *digests; /* so many */
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
			uint64_t files; /* that this stream announces, ... */
			uint64_t bytes; /* ... and their sizes */
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
			bool as_name;    /* send: how the path was taken; for the other lanes */
			uint8_t keeps;   /* send: of the wishes, those that hold there */
		} ready;
		struct wh_bench_report report;
		struct wh_waits_told waits;
		struct wh_item item;
		struct wh_tally tally;
		struct {
			uint64_t serial;
		} ping;
		struct wh_ordering order;
		struct wh_standing standing;
	};
};

/* What the record will take, header and padding counted. */
uint32_t wh_record_bytes(const struct wh_record *record);

/* Where an entry's content will be in its record: it may be written there before it is encoded. */
uint32_t wh_entry_content_at(const struct wh_entry *entry);

/*
 * Writes it where `room` bytes are free; returns its length, 0: does not fit. To encode what
 * decoding would refuse is a mistake of the caller.
 */
uint32_t wh_record_encode(const struct wh_record *record, uint8_t *bytes, size_t room);

/*
 * The record at the start of `bytes`; texts and content point into them. Returns its length, or
 * 0: no record, or not within its limits.
 */
uint32_t wh_record_decode(const uint8_t *bytes, size_t length, struct wh_record *record);

/*
 * Of a HELLO of whatever version: that, and what the answer's stream is to be called. These two,
 * the record's head and all of REFUSED are the same for ever, so that a server can say no to a
 * client that it does not understand. False: it is no HELLO.
 */
bool wh_hello_peek(const uint8_t *bytes, size_t length, uint8_t *version, uint64_t *reply);

/* Whether a path from the wire may be used below a root. */
bool wh_path_is_safe(const char *path, size_t path_bytes);

/* Whether it has no control characters: C0, DEL, and C1 as UTF-8, which terminals obey likewise. */
bool wh_text_is_plain(const char *text, size_t bytes);

#endif
