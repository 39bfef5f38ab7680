/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_TAKEN_H
#define WH_QUEUE_TAKEN_H

/*
 * Orders given to this host by peers: to send files that they may get to a peer known to this host
 * by name, as this host. They arrive at the desk (job/desk/desk.h), are rows of the queue like
 * others, and are visible to and changed by the owner of their token. The peer's rights are checked
 * when they arrive, when they begin, and while they run.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_run;
struct wh_run_ground;
struct wh_runner;

/* Of one peer: orders that are not over; and ended ones that are kept. */
#define WH_TAKEN_LIVE_MAX 64
#define WH_TAKEN_KEPT     256

/* On the control's thread: answers questions at the desk. */
void wh_taken_answer(struct wh_runner *runner);

/*
 * When its turn has come: sets the run's root to what its peer may read. -1, or an exit status
 * after a complaint.
 */
int wh_taken_claim(struct wh_run *run, const struct wh_run_ground *ground);

/* While it runs. False: its peer has lost the right, see run->unwanted. */
bool wh_taken_look(struct wh_run *run, const struct wh_run_ground *ground, int64_t now_s);

/* Charges its peer for the bytes moved since. */
void wh_taken_end(struct wh_run *run, const struct wh_run_ground *ground);

#endif
