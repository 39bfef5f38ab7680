/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_DESK_H
#define WH_APP_DESK_H

/*
 * Where peers' orders for this host's queue wait for whoever keeps it: crews put what a peer asks
 * down here, the keeper's thread answers, and crews take the answer. A job has one place from
 * wh_desk_enter to wh_desk_leave, and one question at a time, ten in a second at most.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "bundle/record.h"
#include "seal/bond.h"

/* Jobs of peers that order or follow an order, at once. */
#define WH_DESK_PLACES 64

/* Who asks, and what; all texts are the desk's. */
struct wh_desk_question {
	uint64_t rights; /* of the store's answer */
	uint8_t identity[WH_IDENTITY_BYTES];
	char **path; /* below the root */
	uint32_t paths;
	struct wh_ordering order;
};

enum wh_desk_state {
	WH_DESK_FREE = 0,
	WH_DESK_IDLE, /* it is somebody's */
	WH_DESK_ASKED,
	WH_DESK_TAKEN, /* the keeper is at it */
	WH_DESK_LEFT,  /* likewise, and nobody waits for it any more */
	WH_DESK_ANSWERED,
};

struct wh_desk_place {
	enum wh_desk_state state; /* under the lock; what follows is whose turn it is */
	struct wh_desk_question question;
	char *texts; /* of the order */
	struct wh_standing answer;
	char why[WH_STANDING_WHY_MAX + 1];
	bool refused; /* for good: the keeper is not asked again */
	uint64_t next_tsc;
};

struct wh_desk {
	_Atomic bool kept; /* somebody answers */
	void (*wake)(void *context);
	void *context;
	struct wh_spin lock;
	struct wh_desk_place place[WH_DESK_PLACES];
};

void wh_desk_init(struct wh_desk *desk, void (*wake)(void *context), void *context);
void wh_desk_free(struct wh_desk *desk); /* nobody is there any more */

/* Crews. NULL: nobody keeps orders, all places are taken, or there is no memory. */
struct wh_desk_place *wh_desk_enter(struct wh_desk *desk, uint64_t rights,
	const uint8_t identity[WH_IDENTITY_BYTES], const char *const *path, uint32_t paths);
void wh_desk_leave(struct wh_desk *desk, struct wh_desk_place *place);

/* False: it is too soon to ask again, or there is no memory. */
bool wh_desk_put(struct wh_desk *desk, struct wh_desk_place *place,
	const struct wh_ordering *order, uint64_t now_tsc, uint64_t hz);

/* False: not yet. The text is the place's. */
bool wh_desk_take(
	struct wh_desk *desk, struct wh_desk_place *place, struct wh_standing *standing);

/* The keeper. NULL: nobody asks. What is answered is not its any more. */
struct wh_desk_place *wh_desk_next(struct wh_desk *desk);
void wh_desk_answer(
	struct wh_desk *desk, struct wh_desk_place *place, const struct wh_standing *standing);

#endif
