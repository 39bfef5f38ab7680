/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIGNALLED 128 /* as shells say it */

static void close_both(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

/* In the child: all descriptors but the standard ones are closed by exec. */
static _Noreturn void become(
	char *const *command, pid_t parent, int input_fd, int output_fd, int error_fd)
{
	int error;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(0);
	if (input_fd >= 0)
		dup2(input_fd, STDIN_FILENO);
	dup2(output_fd, STDOUT_FILENO);
	execvp(command[0], command);
	error = errno;
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(1);
	_exit(1);
}

/* 0 once the command runs, or why it does not. */
static int await_exec(int error_fd)
{
	int error = 0;
	ssize_t got;

	do
		got = read(error_fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	return got == sizeof(error) ? error : 0;
}

int wh_child_start(struct wh_child *child, char *const *command, bool own_input)
{
	int to[2] = {-1, -1}, from[2] = {-1, -1}, failed[2] = {-1, -1};
	pid_t parent = getpid();
	int error = 0;

	*child = (struct wh_child){.to_fd = -1, .from_fd = -1};
	if ((!own_input && pipe2(to, O_CLOEXEC) != 0) || pipe2(from, O_CLOEXEC) != 0 ||
		pipe2(failed, O_CLOEXEC) != 0)
		error = errno;
	if (error == 0)
		child->pid = fork();
	if (error == 0 && child->pid < 0)
		error = errno;
	if (error == 0 && child->pid == 0)
		become(command, parent, to[0], from[1], failed[1]);
	if (error == 0) {
		close(failed[1]);
		failed[1] = -1;
		error = await_exec(failed[0]);
		if (error != 0)
			(void)waitpid(child->pid, NULL, 0);
	}
	close_both(failed);
	if (error != 0) {
		close_both(to);
		close_both(from);
		return error;
	}
	if (!own_input)
		close(to[0]);
	close(from[1]);
	child->to_fd = to[1];
	child->from_fd = from[0];
	return 0;
}

int wh_child_wait(struct wh_child *child)
{
	int status = 0;
	pid_t ended;

	if (child->to_fd >= 0)
		close(child->to_fd);
	if (child->from_fd >= 0)
		close(child->from_fd);
	child->to_fd = child->from_fd = -1;
	do
		ended = waitpid(child->pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	if (ended < 0)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
}
