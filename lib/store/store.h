/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_STORE_STORE_H
#define WH_STORE_STORE_H

/*
 * Files as chunks. A reader is a process that fills chunks in order; a writer is one that takes
 * chunks in order. Both hash every byte on the way (XXH3-128). Each is polled with the time of
 * its loop and never waits: io_uring has the requests in the air.
 *
 *   reader  free -> [file or memory] -> ready, closed by an end marker with the digest
 *   writer  deliver -> [file or memory] -> recycled; the end marker's digest must agree
 *
 * Members of struct wh_reader and struct wh_writer are written by their process only. Another
 * core may read `done` (release order) and, when it is true, everything else.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/chunk.h"
#include "base/fifo.h"

enum wh_store_done {
	WH_STORE_RUNNING = 0,
	WH_STORE_OK,
	WH_STORE_FAILED,   /* see error, a negative errno, and doing */
	WH_STORE_MISMATCH, /* writer: size or digest does not agree */
};

struct wh_reader {
	const struct wh_reader_ops *ops;
	struct wh_fifo *free;
	struct wh_fifo *ready;
	uint32_t chunk_bytes;
	uint64_t object_bytes;   /* known at open */
	uint64_t bytes;          /* read so far */
	struct wh_digest digest; /* when done */
	_Atomic int done;        /* enum wh_store_done; set after the end marker went out */
	int error;
	const char *doing; /* "reading", ...: for one clear sentence */
};

struct wh_writer {
	const struct wh_writer_ops *ops;
	struct wh_fifo *deliver;
	struct wh_fifo *recycled;
	uint32_t chunk_bytes;
	_Atomic uint64_t bytes; /* on their way to the file or there */
	struct wh_digest digest;
	_Atomic int done;
	int error;
	const char *doing;
};

struct wh_reader_ops {
	int32_t (*poll)(struct wh_reader *reader, uint64_t now_tsc);
	void (*close)(struct wh_reader *reader);
};

struct wh_writer_ops {
	int32_t (*poll)(struct wh_writer *writer, uint64_t now_tsc);
	/* Undoes what is not finished: no temporary file stays, no half file under the name. */
	void (*close)(struct wh_writer *writer);
};

static inline int32_t wh_reader_poll(void *reader, uint64_t now_tsc)
{
	return ((struct wh_reader *)reader)->ops->poll(reader, now_tsc);
}

static inline int32_t wh_writer_poll(void *writer, uint64_t now_tsc)
{
	return ((struct wh_writer *)writer)->ops->poll(writer, now_tsc);
}

static inline void wh_reader_close(struct wh_reader *reader) /* NULL is allowed */
{
	if (reader != NULL)
		reader->ops->close(reader);
}

static inline void wh_writer_close(struct wh_writer *writer) /* NULL is allowed */
{
	if (writer != NULL)
		writer->ops->close(writer);
}

/*
 * Of all four kinds:
 *  - chunk_bytes is a multiple of WH_CHUNK_ALIGN, object_bytes at most INT64_MAX (else -EFBIG).
 *  - A poll hashes at most two chunks, so that it can share a core with the packet path.
 *  - Chunks that a reader or writer holds when it is closed stay in the session's pool. Close
 *    before that memory goes: closing cancels or waits for requests in the air (milliseconds;
 *    10 s each at worst, with a disk that does not answer).
 *  - A reader that fails sends nothing more, no end marker either, and keeps what it holds.
 *  - A writer that fails goes on giving back whatever arrives, so that nobody waits for chunks.
 */

/*
 * Reads a regular file. O_DIRECT where the file system has it; the tail that O_DIRECT cannot read
 * by whole blocks is read past its end. A file that shrinks meanwhile is -EIO; one that grows is
 * read to the size it had. Chunks that lie in a hole are zeros without touching the disk
 * (SEEK_DATA). 0, or a negative errno with nothing left open (-EISDIR for a folder, -EINVAL for
 * a device or a pipe).
 */
int wh_file_reader_open(struct wh_reader **reader, const char *path, uint32_t chunk_bytes,
	struct wh_fifo *free, struct wh_fifo *ready);

/*
 * Writes `folder`/`name`, by way of a temporary file in the same folder that carries no final
 * name (".NAME.XXXXXX.part", NAME cut where it would be too long). First of all, before a chunk
 * is taken, the whole size is reserved (fallocate; skipped where unsupported), so that a full
 * disk is known early: WH_STORE_FAILED, -ENOSPC, "reserving space". An object has to fit in full
 * length therefore, even one with holes. Runs of 64 KiB of zeros are given back to the disk as
 * holes as they come. At the end marker: size and digest compared, fsync of the file, rename,
 * fsync of the folder: then WH_STORE_OK.
 * 0, or a negative errno with nothing left behind: -EINVAL for a name that is empty, ".", ".."
 * or has '/' in it, -EISDIR where a folder has the name. An existing file of that name is
 * replaced by the rename, and not before.
 * Beyond RLIMIT_FSIZE the kernel sends SIGXFSZ, deadly unless ignored; then it is -EFBIG.
 */
int wh_file_writer_open(struct wh_writer **writer, const char *folder, const char *name,
	uint64_t object_bytes, uint32_t chunk_bytes, struct wh_fifo *deliver,
	struct wh_fifo *recycled);

/*
 * Memory: a reader of object_bytes of a repeatable pattern (wh_memory_pattern), a writer that
 * hashes, compares with the pattern and forgets. For benchmarks and tests.
 */
int wh_memory_reader_open(struct wh_reader **reader, uint64_t object_bytes, uint64_t seed,
	uint32_t chunk_bytes, struct wh_fifo *free, struct wh_fifo *ready);
int wh_memory_writer_open(struct wh_writer **writer, uint64_t object_bytes, uint64_t seed,
	uint32_t chunk_bytes, struct wh_fifo *deliver, struct wh_fifo *recycled);

/*
 * Bytes [offset, offset + count) of the pattern, offset a multiple of 8: little-endian words, the
 * one of index i = offset / 8 being output i of splitmix64 from `seed`.
 */
void wh_memory_pattern(uint8_t *bytes, uint64_t offset, uint32_t count, uint64_t seed);

/* 32 hexadecimal digits and a NUL. */
void wh_digest_text(const struct wh_digest *digest, char text[2 * WH_DIGEST_BYTES + 1]);

#endif
