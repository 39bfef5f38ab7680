/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario/jobs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/signals.h"
#include "sim/memory.h"

#define READ_BYTES 65536

/* A job that runs, or whose turn to be taken has not come. */
struct job {
	pid_t pid;
	int fd; /* -1: it is complete */
	char *text;
	size_t bytes;
	int status; /* as waitpid says */
};

struct crew {
	const struct wh_jobs_plan *plan;
	struct job *jobs;
	uint32_t begun;
	uint32_t ended;
	uint32_t taken;
};

/* Jobs begin and are taken in order; they end in any. */
static void check_crew(const struct crew *crew)
{
	WH_ASSERT(crew->begun <= crew->plan->n_jobs);
	WH_ASSERT(crew->taken <= crew->ended && crew->ended <= crew->begun);
	WH_ASSERT(crew->begun - crew->ended <= crew->plan->at_once);
}

static bool write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t wrote = write(fd, text, left);

		if (wrote < 0 && errno != EINTR)
			return false;
		if (wrote > 0) {
			text += wrote;
			left -= (size_t)wrote;
		}
	}
	return true;
}

/* The job's process: it ends with its parent, and without what the program does at its end. */
__attribute__((noreturn)) static void be_job(
	const struct wh_jobs_plan *plan, uint32_t number, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);

	char *text = plan->work(plan->context, number);
	bool fine = text != NULL && write_all(fd, text);

	free(text);
	_exit(fine ? WH_EXIT_OK : WH_EXIT_OTHER);
}

static bool begin_job(struct crew *crew)
{
	struct job *job = &crew->jobs[crew->begun];
	int ends[2];

	if (pipe(ends) != 0) {
		wh_complain("no pipe for a job: %s", strerror(errno));
		return false;
	}
	fflush(NULL);
	job->pid = fork();
	if (job->pid == 0) {
		close(ends[0]);
		be_job(crew->plan, crew->begun, ends[1]);
	}
	close(ends[1]);
	if (job->pid < 0) {
		wh_complain("no process for a job: %s; fewer --jobs need less", strerror(errno));
		close(ends[0]);
		return false;
	}
	job->fd = ends[0];
	crew->begun++;
	return true;
}

static void end_job(struct crew *crew, struct job *job)
{
	WH_ASSERT(job->fd >= 0);
	close(job->fd);
	job->fd = -1;
	while (waitpid(job->pid, &job->status, 0) < 0 && errno == EINTR)
		;
	crew->ended++;
	if (crew->plan->progress)
		fprintf(stderr, "\r%u of %u runs", crew->ended, crew->plan->n_jobs);
}

static void read_job(struct crew *crew, struct job *job)
{
	job->text = wh_sim_resize(job->text, job->bytes + READ_BYTES + 1);

	ssize_t got = read(job->fd, job->text + job->bytes, READ_BYTES);

	if (got > 0)
		job->bytes += (size_t)got;
	job->text[job->bytes] = '\0';
	if (got == 0 || (got < 0 && errno != EINTR))
		end_job(crew, job);
}

/* Waits until one of those that run says something. */
static void listen_to_jobs(struct crew *crew)
{
	struct pollfd *ends = wh_sim_allocate((crew->begun + 1) * sizeof(*ends));

	for (uint32_t i = crew->taken; i < crew->begun; i++)
		ends[i] = (struct pollfd){.fd = crew->jobs[i].fd, .events = POLLIN};
	if (poll(ends + crew->taken, crew->begun - crew->taken, -1) > 0)
		for (uint32_t i = crew->taken; i < crew->begun; i++)
			if (crew->jobs[i].fd >= 0 && ends[i].revents != 0)
				read_job(crew, &crew->jobs[i]);
	free(ends);
}

/* WH_EXIT_OK, or why the job's text is none. */
static int judge(const struct crew *crew, const struct job *job)
{
	if (wh_signals_count() > 0) {
		wh_complain("interrupted; %u of %u runs were complete", crew->taken,
			crew->plan->n_jobs);
		return WH_EXIT_INTERRUPTED;
	}
	if (!WIFSIGNALED(job->status))
		return WEXITSTATUS(job->status);
	wh_complain("run %u of %u was ended by signal %d", crew->taken + 1, crew->plan->n_jobs,
		WTERMSIG(job->status));
	return WH_EXIT_OTHER;
}

static int take_jobs(struct crew *crew)
{
	while (crew->taken < crew->begun &&
		(crew->jobs[crew->taken].fd < 0 || wh_signals_count() > 0)) {
		struct job *job = &crew->jobs[crew->taken];
		int status = judge(crew, job);

		if (status != WH_EXIT_OK)
			return status;
		if (crew->plan->progress)
			fputs("\r\033[K", stderr);
		if (!crew->plan->take(crew->plan->context, crew->taken, job->text))
			return WH_EXIT_OTHER;
		free(job->text);
		job->text = NULL;
		crew->taken++;
	}
	return WH_EXIT_OK;
}

/* Those that still run are of no use to anybody. */
static void end_all(struct crew *crew)
{
	for (uint32_t i = 0; i < crew->begun; i++) {
		if (crew->jobs[i].fd >= 0) {
			kill(crew->jobs[i].pid, SIGKILL);
			end_job(crew, &crew->jobs[i]);
		}
		free(crew->jobs[i].text);
	}
	free(crew->jobs);
}

int wh_jobs_run(const struct wh_jobs_plan *plan)
{
	struct crew crew = {.plan = plan};
	int status = WH_EXIT_OK;

	WH_ASSERT(plan->at_once > 0);
	wh_signals_catch();
	crew.jobs = wh_sim_allocate((plan->n_jobs + 1) * sizeof(*crew.jobs));
	while (status == WH_EXIT_OK && crew.taken < plan->n_jobs) {
		while (crew.begun < plan->n_jobs && crew.begun - crew.ended < plan->at_once)
			if (!begin_job(&crew)) {
				end_all(&crew);
				return WH_EXIT_OTHER;
			}
		listen_to_jobs(&crew);
		status = take_jobs(&crew);
		check_crew(&crew);
	}
	end_all(&crew);
	return status;
}
