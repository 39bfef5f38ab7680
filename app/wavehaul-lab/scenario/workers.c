/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/workers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"
#include "lab/sim/sim_memory.h"

struct worker_run {
	pid_t pid;  /* 0: it has ended */
	int fd;     /* of an unnamed file for its text */
	int status; /* as waitpid says */
	char *text;
};

/* Runs are started and taken in order; they may end in any order. */
struct workers_state {
	const struct wh_workers *workers;
	struct worker_run *run;
	uint32_t begun;
	uint32_t ended;
	uint32_t taken;
};

/* The run's process: it ends with its parent, and without the program's exit handlers. */
__attribute__((noreturn)) static void work(
	const struct wh_workers *workers, uint32_t number, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);

	char *text = workers->work(workers->context, number);
	bool fine = text != NULL && dprintf(fd, "%s", text) >= 0;

	free(text);
	_exit(fine ? WH_EXIT_OK : WH_EXIT_OTHER);
}

static bool begin(struct workers_state *state)
{
	struct worker_run *run = &state->run[state->begun];

	run->fd = memfd_create("run", MFD_CLOEXEC);
	fflush(NULL);
	run->pid = run->fd < 0 ? -1 : fork();
	if (run->pid == 0)
		work(state->workers, state->begun, run->fd);
	if (run->pid > 0) {
		state->begun++;
		return true;
	}
	wh_complain("no process for a run: %s; fewer --jobs need less", strerror(errno));
	if (run->fd >= 0)
		close(run->fd);
	return false;
}

static void end(struct workers_state *state, struct worker_run *run)
{
	struct stat facts;

	/* An incomplete text is detected by `take`. */
	if (fstat(run->fd, &facts) == 0) {
		run->text = wh_sim_allocate((size_t)facts.st_size + 1);
		run->text[0] = '\0';
		if (pread(run->fd, run->text, (size_t)facts.st_size, 0) != facts.st_size)
			run->text[0] = '\0';
	}
	close(run->fd);
	run->pid = 0;
	state->ended++;
	if (state->workers->progress)
		fprintf(stderr, "\r%u of %u runs", state->ended, state->workers->runs);
}

/* Waits until one ends, or a signal arrives. */
static void await(struct workers_state *state)
{
	int status;
	pid_t pid = wait(&status);

	for (uint32_t i = state->taken; i < state->begun && pid > 0; i++) {
		if (state->run[i].pid != pid)
			continue;
		state->run[i].status = status;
		end(state, &state->run[i]);
	}
}

/* WH_EXIT_OK, or why the run has no text. */
static int judge(const struct workers_state *state, const struct worker_run *run)
{
	if (!WIFSIGNALED(run->status))
		return WEXITSTATUS(run->status);
	return wh_fail(WH_EXIT_OTHER, "run %u of %u was ended by signal %d", state->taken + 1,
		state->workers->runs, WTERMSIG(run->status));
}

static int take_ended(struct workers_state *state)
{
	const struct wh_workers *workers = state->workers;

	if (wh_signals_count() > 0)
		return wh_fail(WH_EXIT_INTERRUPTED, "interrupted; %u of %u runs were complete",
			state->taken, workers->runs);
	for (; state->taken < state->begun && state->run[state->taken].pid == 0; state->taken++) {
		struct worker_run *run = &state->run[state->taken];
		int status = judge(state, run);

		if (status != WH_EXIT_OK)
			return status;
		if (workers->progress)
			fputs("\r\033[K", stderr);
		if (!workers->take(workers->context, state->taken, run->text))
			return WH_EXIT_OTHER;
		free(run->text);
		run->text = NULL;
	}
	return WH_EXIT_OK;
}

/* Kills the remaining runs. */
static void end_all(struct workers_state *state)
{
	for (uint32_t i = 0; i < state->begun; i++) {
		struct worker_run *run = &state->run[i];

		if (run->pid != 0) {
			kill(run->pid, SIGKILL);
			waitpid(run->pid, NULL, 0);
			close(run->fd);
		}
		free(run->text);
	}
	free(state->run);
}

int wh_workers_run(const struct wh_workers *workers)
{
	struct workers_state state = {.workers = workers};
	int status = WH_EXIT_OK;

	WH_ASSERT(workers->at_once > 0);
	wh_signals_catch();
	state.run = wh_sim_allocate((workers->runs + 1) * sizeof(*state.run));
	while (status == WH_EXIT_OK && state.taken < workers->runs) {
		while (status == WH_EXIT_OK && state.begun < workers->runs &&
			state.begun - state.ended < workers->at_once)
			status = begin(&state) ? WH_EXIT_OK : WH_EXIT_OTHER;
		if (status != WH_EXIT_OK)
			break;
		await(&state);
		status = take_ended(&state);
		WH_ASSERT(state.taken <= state.ended && state.ended <= state.begun);
		WH_ASSERT(state.begun - state.ended <= workers->at_once);
	}
	end_all(&state);
	return status;
}
