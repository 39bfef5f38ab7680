/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Orders given to this host by peers: to send files that they may get to a peer known to this host
 * by name, as this host. They arrive in the mailbox (job/mailbox/mailbox.h), are rows of the queue
 * like others, and are visible to and changed by the owner of their token. The peer's rights are
 * checked when they arrive, when they begin, and while they run (queue/giver.h).
 */

struct wh_runner;

/* Limits for one peer: orders that are not over, and ended ones that are kept. */
#define WH_ACCEPTED_LIVE_MAX 64
#define WH_ACCEPTED_KEPT     256

/* On the control's thread: answers questions in the mailbox. */
void wh_accepted_answer(struct wh_runner *runner);
