/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_SINK_ASSEMBLY_H
#define WH_SINK_ASSEMBLY_H

/*
 * The sinks' side of bundle/split.h: a large file whose parts come by all lanes of a transfer, each
 * lane's sink possibly on a core of its own. The head's sink compares what is there under the name,
 * stages the file, gives it its name once all parts are down, and tells what became of it. The
 * others wait until the head has decided, write their parts into the head's staged file, and say no
 * more. The first error of any lane fails the file for all.
 *
 * What lanes say of a file need not agree: that is for the job to refuse (NULL of join).
 *
 * Any core: a lock is held for a moment, while a file is opened at the longest.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "bundle/record.h"
#include "bundle/split.h"
#include "sink/recall.h"

enum wh_verdict {
	WH_VERDICT_NONE = 0, /* the head has not decided */
	WH_VERDICT_SEND,     /* the file is staged */
	WH_VERDICT_SKIP,     /* it is there, the same */
	WH_VERDICT_FAILED,
};

struct wh_assembly {
	uint32_t split; /* the number that the lanes know it by; 0: the place is free */
	_Atomic int verdict;
	_Atomic uint64_t down; /* a bit for each lane whose part is */
	uint64_t joined;
	uint64_t left;
	uint64_t head; /* its lane's bit; 0: it has not joined */
	uint64_t size_bytes;
	int folder_fd; /* of the staging folder, with SEND; -1: none */
	uint32_t number;
	uint64_t inode;
	_Atomic int64_t row;              /* of the journal; 0: none yet */
	struct wh_recalled_lane *resumed; /* by lane, what was there; NULL: nothing */
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
void wh_assemblies_free(struct wh_assemblies *all); /* no lane is in any */

/*
 * The lane has a part of that file. NULL: it has joined already, another is the head, another size
 * was said, or more are open than a source has.
 */
struct wh_assembly *wh_assembly_join(struct wh_assemblies *all, uint32_t lane, uint32_t split,
	uint64_t size_bytes, bool is_head);

/* The lane has no more to do with it; once. What lacks its part fails. */
void wh_assembly_leave(struct wh_assemblies *all, struct wh_assembly *assembly, uint32_t lane);

/* The lane has ended, or is about to: what lacks its part, or it as head, fails. */
void wh_assemblies_gone(struct wh_assemblies *all, uint32_t lane);

static inline enum wh_verdict wh_assembly_verdict(const struct wh_assembly *assembly)
{
	return (enum wh_verdict)atomic_load_explicit(&assembly->verdict, memory_order_acquire);
}

/*
 * The head's, once: the file is staged in that folder, whose descriptor is copied; or what is there
 * is kept. 0 or a negative errno.
 */
int wh_assembly_stage(struct wh_assemblies *all, struct wh_assembly *assembly, int folder_fd,
	uint32_t number, uint64_t inode);
void wh_assembly_skip(struct wh_assemblies *all, struct wh_assembly *assembly);

/*
 * The head's, before that: what of the file is there from an earlier job, by lane; and its row in
 * the journal, which it may get later. Where there is no memory for it, all of it comes again.
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

/* The staged file for writing: a descriptor of the caller's, or a negative errno. */
int wh_assembly_open(struct wh_assemblies *all, const struct wh_assembly *assembly);

/* The lane's part is down, and its descriptor closed. */
void wh_assembly_put_down(struct wh_assembly *assembly, uint32_t lane);
bool wh_assembly_is_whole(const struct wh_assemblies *all, const struct wh_assembly *assembly);

/* error < 0. The first one stays; nothing after SKIP. */
void wh_assembly_fail(
	struct wh_assemblies *all, struct wh_assembly *assembly, int error, enum wh_doing doing);

#endif
