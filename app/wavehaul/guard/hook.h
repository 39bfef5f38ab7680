/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Runs the operator's command at the end of a job, for a process that can start no program any
 * more. A child process, made before the guard, knows that one command. What it is told decides
 * nothing but the values of the command's environment.
 *
 *   WAVEHAUL_JOB      number in the queue; 0: none
 *   WAVEHAUL_SIDE     order (of the queue), served (to a peer that asked for it), client
 *   WAVEHAUL_STATE    done, failed or cancelled
 *   WAVEHAUL_STATUS   exit status
 *   WAVEHAUL_VERB     send, get or copy
 *   WAVEHAUL_PEER     name or address
 *   WAVEHAUL_PATH     the first path at this end; "": none
 *   WAVEHAUL_FILES, WAVEHAUL_FAILED, WAVEHAUL_BYTES
 *   WAVEHAUL_ERROR    a sentence; "": none
 *
 * A service's commands run with a limit of time, a few at once, and their output is logged up to a
 * limit. A client's command has none of these: it is waited for, and ends with the client.
 */

#include <stdbool.h>
#include <stdint.h>

#define WH_HOOK_AT_ONCE 4

#define WH_HOOK_PATH_BYTES 4097

struct wh_hook {
	int fd;     /* to the child; -1: none */
	bool waits; /* a client's */
	bool lost;  /* it was reported that there is no room for an event */
};

/* The end of a job. Texts may come from a peer. */
struct wh_hook_event {
	uint64_t job;
	uint64_t files;
	uint64_t failed;
	uint64_t bytes;
	int32_t status;
	char side[8];
	char state[12];
	char verb[8];
	char peer[256];
	char error[400];
	char path[WH_HOOK_PATH_BYTES];
};

/*
 * While the process has one thread. `command`: words between blanks, the first of them a program;
 * "": none. timeout_ns 0: a client's. An exit status, after a complaint if not WH_EXIT_OK.
 */
int wh_hook_start(struct wh_hook *hook, const char *command, uint64_t timeout_ns);

/* Call when the process has entered its guard: commands run as the same user. */
void wh_hook_guard(struct wh_hook *hook);

/* One thread at a time; never blocks. */
void wh_hook_tell(struct wh_hook *hook, const struct wh_hook_event *event);

/*
 * No event follows. For a client: waits for its command, unless the operator interrupts that, and
 * returns the command's exit status; -1: it was not run or did not end by itself. For a service 0.
 */
int wh_hook_end(struct wh_hook *hook);
