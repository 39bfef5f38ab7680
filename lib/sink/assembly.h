/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The sinks' side of bundle/split.h: a large file whose segments arrive by all lanes of a transfer.
 * Each lane's sink may run on another core.
 *
 * The lead lane's sink compares the existing file, stages the new one, renames it once all segments
 * are written, and reports the outcome. The other sinks wait for its decision, write their segments
 * into the staged file, and report nothing. The first error in any lane fails the file for all.
 *
 * If lanes contradict each other about a file, join returns NULL and the job refuses it.
 *
 * Any core: a lock is held for a moment, at most while a file is opened.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "bundle/record.h"
#include "bundle/split.h"
#include "sink/recall.h"

enum wh_verdict {
	WH_VERDICT_NONE = 0, /* the lead lane has not decided */
	WH_VERDICT_SEND,     /* the file is staged */
	WH_VERDICT_SKIP,     /* an identical file exists */
	WH_VERDICT_FAILED,
};

struct wh_assembly {
	uint32_t split; /* the number of the file in all lanes; 0: free */
	_Atomic int verdict;
	_Atomic uint64_t down; /* a bit for each lane whose segment is written */
	uint64_t joined;
	uint64_t left;
	uint64_t lead; /* the lead lane's bit; 0: it has not joined */
	uint64_t size_bytes;
	int folder_fd; /* of the staging folder, with SEND; -1: none */
	int lock_fd;   /* keeps the file locked, with SEND; -1: it is not */
	uint32_t number;
	uint64_t inode;
	_Atomic int64_t row;              /* in the journal; 0: none yet */
	struct wh_recalled_lane *resumed; /* by lane, data from an earlier job; NULL: none */
	int error;                        /* with FAILED */
	enum wh_doing doing;
};

struct wh_assemblies {
	struct wh_spin lock;
	uint32_t lanes;
	uint64_t gone; /* a bit for each lane that has ended */
	struct wh_assembly place[WH_SPLITS_MAX];
};

void wh_assemblies_init(struct wh_assemblies *all, uint32_t lanes);
void wh_assemblies_free(struct wh_assemblies *all); /* no lane has joined any */

/*
 * Adds a lane that has a segment of that file. NULL: the lane has joined already, another lane
 * leads, the sizes differ, or more files are open than a source may have.
 */
struct wh_assembly *wh_assembly_join(struct wh_assemblies *all, uint32_t lane, uint32_t split,
	uint64_t size_bytes, bool is_lead);

/* The lane is done with the file; called once. If its segment is missing the file fails. */
void wh_assembly_leave(struct wh_assemblies *all, struct wh_assembly *assembly, uint32_t lane);

/* The lane has ended, or is about to. Files that it leads, or that lack its segment, fail. */
void wh_assemblies_gone(struct wh_assemblies *all, uint32_t lane);

static inline enum wh_verdict wh_assembly_verdict(const struct wh_assembly *assembly)
{
	return (enum wh_verdict)atomic_load_explicit(&assembly->verdict, memory_order_acquire);
}

/* A file that the lead lane has staged. */
struct wh_assembly_staged {
	int folder_fd;
	int lock_fd; /* -1: it is not locked */
	uint32_t number;
	uint64_t inode;
};

/*
 * The lead lane calls one of these, once. stage: the file is staged, and its descriptors are
 * duplicated. skip: the existing file is kept. 0 or a negative errno.
 */
int wh_assembly_stage(struct wh_assemblies *all, struct wh_assembly *assembly,
	const struct wh_assembly_staged *staged);
void wh_assembly_skip(struct wh_assemblies *all, struct wh_assembly *assembly);

/*
 * The lead lane calls these before stage: data from an earlier job, by lane, and the file's row in
 * the journal, which may also be set later. Without memory for the data everything is sent again.
 */
void wh_assembly_resume(
	struct wh_assembly *assembly, int64_t row, const struct wh_recalled_lane *lanes);

static inline void wh_assembly_set_row(struct wh_assembly *assembly, int64_t row)
{
	atomic_store(&assembly->row, row);
}

static inline int64_t wh_assembly_row(const struct wh_assembly *assembly)
{
	return atomic_load(&assembly->row);
}

/*
 * Opens the staged file for writing: a descriptor of the caller's, or a negative errno. *lock_fd is
 * another descriptor of the caller's, which keeps the file locked, or -1.
 */
int wh_assembly_open(struct wh_assemblies *all, const struct wh_assembly *assembly, int *lock_fd);

/* The lane's segment is written, and its descriptor closed. */
void wh_assembly_put_down(struct wh_assembly *assembly, uint32_t lane);
bool wh_assembly_is_whole(const struct wh_assemblies *all, const struct wh_assembly *assembly);

/* error < 0. The first error remains; no effect after SKIP. */
void wh_assembly_fail(
	struct wh_assemblies *all, struct wh_assembly *assembly, int error, enum wh_doing doing);
