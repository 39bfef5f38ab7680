/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A command of the operator, such as ssh, as a child process that shares our stderr and terminal.
 * There is no shell: the words are the command's arguments. It gets SIGTERM when this process ends,
 * however that ends.
 */

#include <stdbool.h>
#include <sys/types.h>

struct wh_child {
	pid_t pid;
	int to_fd; /* its standard input; -1: ours */
	int from_fd;
};

/* `own_input`: it has our standard input. 0 or an errno: it cannot be run. */
int wh_child_start(struct wh_child *child, char *const *command, bool own_input);

/* Closes what is open, and waits: an exit status, 128 and a signal's number, or -1. */
int wh_child_wait(struct wh_child *child);
