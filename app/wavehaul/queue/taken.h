/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_TAKEN_H
#define WH_QUEUE_TAKEN_H

/*
 * Orders that peers give this host: to send what they may get from here to a peer that this host
 * knows by name, as this host. They come by the desk (job/desk/desk.h), are rows of the queue like
 * any other, and are seen and changed by whoever has the token that they came with. What their peer
 * may do is asked when they come, when their turn comes, and while they run.
 */

#include <stdbool.h>
#include <stdint.h>

struct wh_run;
struct wh_run_ground;
struct wh_runner;

/* Of one peer: that are not over; and that are, until the oldest of them are forgotten. */
#define WH_TAKEN_LIVE_MAX 64
#define WH_TAKEN_KEPT     256

/* The control's thread: answers what is asked at the desk. */
void wh_taken_answer(struct wh_runner *runner);

/*
 * Its turn has come: what its peer may read is the run's root. -1, or an exit status after a
 * complaint.
 */
int wh_taken_claim(struct wh_run *run, const struct wh_run_ground *ground);

/* As it runs. False: its peer may not have that any more, as run->unwanted says. */
bool wh_taken_look(struct wh_run *run, const struct wh_run_ground *ground, int64_t now_s);

/* Its peer is charged what moved since. */
void wh_taken_end(struct wh_run *run, const struct wh_run_ground *ground);

#endif
