/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Hands peers' orders from workers to the thread that keeps this host's queue (the keeper): a
 * worker puts down a peer's question, the keeper answers, and the worker takes the answer. A job
 * has one place from wh_mailbox_enter to wh_mailbox_leave, and one question at a time, at most ten
 * per second.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/spin.h"
#include "bundle/record.h"
#include "seal/sa.h"

/* Concurrent jobs of peers that give or follow an order. */
#define WH_MAILBOX_PLACES 64

/* A question and its sender; the mailbox owns all texts. */
struct wh_mailbox_question {
	uint64_t rights; /* number of the store's answer */
	uint8_t identity[WH_IDENTITY_BYTES];
	char **path; /* relative to the root */
	uint32_t paths;
	struct wh_ordering order;
};

enum wh_mailbox_state {
	WH_MAILBOX_FREE = 0,
	WH_MAILBOX_IDLE, /* assigned, no question */
	WH_MAILBOX_ASKED,
	WH_MAILBOX_TAKEN, /* the keeper is answering */
	WH_MAILBOX_LEFT,  /* the same, but the worker no longer waits */
	WH_MAILBOX_ANSWERED,
};

struct wh_mailbox_place {
	/* Under the lock. The other fields belong to the side whose turn it is. */
	enum wh_mailbox_state state;
	struct wh_mailbox_question question;
	char *texts; /* of the order */
	struct wh_order_status answer;
	char why[WH_ORDER_STATUS_WHY_MAX + 1];
	bool refused; /* final: the keeper is not asked again */
	uint64_t next_tsc;
};

struct wh_mailbox {
	_Atomic bool kept; /* a keeper is present */
	void (*wake)(void *context);
	void *context;
	struct wh_spin lock;
	struct wh_mailbox_place place[WH_MAILBOX_PLACES];
};

void wh_mailbox_init(struct wh_mailbox *mailbox, void (*wake)(void *context), void *context);
void wh_mailbox_free(struct wh_mailbox *mailbox); /* call when no worker or keeper uses it */

/* For workers. NULL: no keeper, all places are taken, or out of memory. */
struct wh_mailbox_place *wh_mailbox_enter(struct wh_mailbox *mailbox, uint64_t rights,
	const uint8_t identity[WH_IDENTITY_BYTES], const char *const *path, uint32_t paths);
void wh_mailbox_leave(struct wh_mailbox *mailbox, struct wh_mailbox_place *place);

/* False: too soon after the previous question, or out of memory. */
bool wh_mailbox_put(struct wh_mailbox *mailbox, struct wh_mailbox_place *place,
	const struct wh_ordering *order, uint64_t now_tsc, uint64_t hz);

/* False: not yet. The text is owned by the place. */
bool wh_mailbox_take(struct wh_mailbox *mailbox, struct wh_mailbox_place *place,
	struct wh_order_status *order_status);

/* For the keeper. NULL: no question. It must not use the place after answering. */
struct wh_mailbox_place *wh_mailbox_next(struct wh_mailbox *mailbox);
void wh_mailbox_answer(struct wh_mailbox *mailbox, struct wh_mailbox_place *place,
	const struct wh_order_status *order_status);
