/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_CONVOY_H
#define WH_APP_CONVOY_H

/*
 * What the lanes of one transfer have in common in this process, at either end: the rate that they
 * share, and the large files that they split. They know each other by the number in HELLO, which is
 * random, and by the peer's address and key, so that nobody else's lane can join; and by how many
 * they are.
 */

#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/spin.h"
#include "bundle/split.h"
#include "job/peers.h"
#include "job/share.h"
#include "sink/assembly.h"
#include "sink/rules.h"
#include "wire/encap.h"

struct wh_convoy {
	LIST_ENTRY(wh_convoy) next;
	uint64_t number;
	struct wh_address peer;              /* port 0: lanes may have several */
	uint8_t identity[WH_IDENTITY_BYTES]; /* zeros: of who asked us, or whom we do not know */
	uint32_t lanes;
	uint64_t joined; /* a bit for each lane that has come; none comes twice */
	uint64_t left;
	_Atomic uint64_t moved_tsc; /* when a lane got on last */
	struct wh_share share;
	struct wh_splits splits;         /* of sources here */
	struct wh_assemblies assemblies; /* of sinks */
	struct wh_rules_used used;       /* likewise */
};

struct wh_convoys {
	struct wh_spin lock;
	LIST_HEAD(, wh_convoy) list;
};

void wh_convoys_init(struct wh_convoys *convoys);

/* 0, -ENOMEM, or -EEXIST: that lane is there already, or was. Any core. */
int wh_convoy_join(struct wh_convoys *convoys, uint64_t number, const struct wh_who *who,
	uint32_t lane, uint32_t lanes, struct wh_convoy **convoy);

/* With its last lane it is gone. */
void wh_convoy_leave(struct wh_convoys *convoys, struct wh_convoy *convoy, uint32_t lane);

#endif
