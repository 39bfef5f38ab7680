/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/moment/system_clock.h"
#include "cli/plain_text.h"
#include "cli/signals.h"

#define WORDS_MAX     64
#define GROUPS_MAX    64
#define LOOK_MS       100
#define COMMANDS_NICE 10
#define LINE_BYTES    256
#define OUTPUT_BYTES  4096 /* logged of each command */

struct hook_question {
	bool guard; /* else an event */
	uid_t user;
	gid_t group;
	int others;
	gid_t other[GROUPS_MAX];
	struct wh_hook_event event;
};

/* A command that runs. */
struct running {
	pid_t pid;  /* 0: none */
	int pid_fd; /* wakes the child at the end of the command; -1: the child looks regularly */
	int out_fd; /* -1: none, or over */
	uint64_t job;
	uint64_t until_ns; /* 0: for ever */
	uint32_t logged_bytes;
	uint32_t line_bytes;
	char line[LINE_BYTES];
};

struct child {
	int fd; /* to the parent */
	char *word[WORDS_MAX + 1];
	uint64_t timeout_ns; /* 0: a client's command */
	struct running running[WH_HOOK_AT_ONCE];
	bool over; /* no event follows */
};

static void set(const char *name, const char *value)
{
	char plain[4 * sizeof(((struct wh_hook_event *)0)->error)];

	wh_plain_text(value, true, plain, sizeof(plain));
	setenv(name, plain, 1);
}

static void set_number(const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	setenv(name, text, 1);
}

static void set_environment(const struct wh_hook_event *event)
{
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_PID");
	unsetenv("WATCHDOG_USEC");
	set_number("WAVEHAUL_JOB", event->job);
	set_number("WAVEHAUL_STATUS", (uint64_t)event->status);
	set_number("WAVEHAUL_FILES", event->files);
	set_number("WAVEHAUL_FAILED", event->failed);
	set_number("WAVEHAUL_BYTES", event->bytes);
	set("WAVEHAUL_SIDE", event->side);
	set("WAVEHAUL_STATE", event->state);
	set("WAVEHAUL_VERB", event->verb);
	set("WAVEHAUL_PEER", event->peer);
	set("WAVEHAUL_ERROR", event->error);
	setenv("WAVEHAUL_PATH", event->path, 1); /* unescaped, so that it can be opened */
}

/* Becomes the command, in its process. Nothing of ours stays open there. */
static _Noreturn void be_command(
	const struct child *child, const struct wh_hook_event *event, int out_fd)
{
	int none = open("/dev/null", O_RDONLY);

	setsid();
	/* A service's packet loops have priority. */
	if (child->timeout_ns > 0)
		(void)setpriority(PRIO_PROCESS, 0, COMMANDS_NICE);
	dup2(none, STDIN_FILENO);
	dup2(out_fd, STDOUT_FILENO);
	dup2(out_fd, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, ~0U, 0);
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	set_environment(event);
	execvp(child->word[0], child->word);
	fprintf(stderr, "cannot run %s: %s\n", child->word[0], strerror(errno));
	_exit(127);
}

static void begin(
	const struct child *child, struct running *running, const struct wh_hook_event *event)
{
	int ends[2] = {-1, STDERR_FILENO};

	if (child->timeout_ns > 0 && pipe2(ends, O_CLOEXEC) != 0)
		return;

	pid_t pid = fork();

	if (pid == 0)
		be_command(child, event, ends[1]);
	if (child->timeout_ns > 0)
		close(ends[1]);
	if (pid < 0) {
		wh_say("on_end: job %" PRIu64 ": %s", event->job, strerror(errno));
		if (ends[0] >= 0)
			close(ends[0]);
		return;
	}
	*running = (struct running){
		.pid = pid,
		.pid_fd = (int)syscall(SYS_pidfd_open, pid, 0),
		.out_fd = ends[0],
		.job = event->job,
		.until_ns = child->timeout_ns > 0 ? wh_steady_ns() + child->timeout_ns : 0,
	};
	if (ends[0] >= 0)
		fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static void log_line(struct running *running)
{
	char plain[4 * LINE_BYTES];

	running->line[running->line_bytes] = '\0';
	if (running->line_bytes > 0 && running->logged_bytes <= OUTPUT_BYTES)
		wh_say("on_end: job %" PRIu64 ": %s", running->job,
			wh_plain_text(running->line, true, plain, sizeof(plain)));
	running->line_bytes = 0;
}

/* Output beyond the limit is read but not logged, so that the command can go on. */
static void take_output(struct running *running)
{
	char piece[1024];
	ssize_t bytes = read(running->out_fd, piece, sizeof(piece));

	if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (bytes <= 0) {
		log_line(running);
		close(running->out_fd);
		running->out_fd = -1;
		return;
	}
	for (ssize_t i = 0; i < bytes; i++) {
		if (piece[i] == '\n' || running->line_bytes == LINE_BYTES - 1)
			log_line(running);
		if (piece[i] != '\n' && piece[i] != '\0')
			running->line[running->line_bytes++] = piece[i];
		if (running->logged_bytes++ == OUTPUT_BYTES)
			wh_say("on_end: job %" PRIu64 ": more output is left out", running->job);
	}
}

/* The command has ended, with that status of waitpid(2). */
static void end_command(const struct child *child, struct running *running, int status, bool forced)
{
	int32_t told = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	if (running->out_fd >= 0)
		take_output(running);
	if (running->out_fd >= 0) {
		log_line(running);
		close(running->out_fd);
	}
	if (running->pid_fd >= 0)
		close(running->pid_fd);
	if (child->timeout_ns > 0 && told != 0 && !forced)
		wh_say("on_end: job %" PRIu64 ": the command ended with %s %d", running->job,
			told > 0 ? "exit status" : "signal", told > 0 ? told : WTERMSIG(status));
	if (child->timeout_ns == 0 && send(child->fd, &told, sizeof(told), MSG_NOSIGNAL) < 0)
		_exit(0);
	*running = (struct running){0};
}

/* Kills the command with everything that it has started. */
static void kill_command(const struct child *child, struct running *running)
{
	int status = 0;

	kill(-running->pid, SIGKILL);
	while (waitpid(running->pid, &status, 0) < 0 && errno == EINTR)
		;
	end_command(child, running, status, true);
}

static void look_at(const struct child *child, struct running *running)
{
	struct pollfd polled = {.fd = running->out_fd, .events = POLLIN};
	int status = 0;

	if (poll(&polled, 1, 0) > 0)
		take_output(running);
	if (waitpid(running->pid, &status, WNOHANG) == running->pid) {
		end_command(child, running, status, false);
	} else if (running->until_ns != 0 && wh_steady_ns() > running->until_ns) {
		wh_say("on_end: job %" PRIu64 ": the command is killed, for it takes too long",
			running->job);
		kill_command(child, running);
	}
}

/* Features that the kernel lacks are skipped, as in the guard itself. */
static void become(const struct hook_question *question)
{
	if (geteuid() == 0 &&
		(setgroups((size_t)question->others, question->other) != 0 ||
			setresgid(question->group, question->group, question->group) != 0 ||
			setresuid(question->user, question->user, question->user) != 0))
		_exit(1);
}

static void hear(struct child *child, struct running *free_one)
{
	static struct hook_question question;
	ssize_t bytes = recv(child->fd, &question, sizeof(question), MSG_DONTWAIT);

	if (bytes < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (bytes != sizeof(question))
		child->over = true;
	else if (question.guard)
		become(&question);
	else
		begin(child, free_one, &question.event);
}

static struct running *free_one(struct child *child)
{
	for (uint32_t i = 0; i < WH_HOOK_AT_ONCE; i++)
		if (child->running[i].pid == 0)
			return &child->running[i];
	return NULL;
}

/* Waits until there is something to do. */
static void await(struct child *child, bool has_room)
{
	struct pollfd polled[2 * WH_HOOK_AT_ONCE + 1];
	bool any = false;

	for (uint32_t i = 0; i < WH_HOOK_AT_ONCE; i++) {
		const struct running *running = &child->running[i];
		bool runs = running->pid != 0;

		any |= runs;
		polled[2 * i] = (struct pollfd){runs ? running->out_fd : -1, POLLIN, 0};
		polled[2 * i + 1] = (struct pollfd){runs ? running->pid_fd : -1, POLLIN, 0};
	}
	polled[2 * WH_HOOK_AT_ONCE] =
		(struct pollfd){has_room && !child->over ? child->fd : -1, POLLIN, 0};
	if (child->over && !any)
		_exit(0);
	(void)poll(polled, 2 * WH_HOOK_AT_ONCE + 1, any ? LOOK_MS : -1);
}

static bool parent_is_gone(const struct child *child)
{
	struct pollfd polled = {.fd = child->fd};

	return poll(&polled, 1, 0) > 0;
}

/* The child. It ends after its parent, and ignores signals that ask to end. */
static _Noreturn void be_hook(struct child *child)
{
	static const int not_for_it[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	enum { OWN = STDERR_FILENO + 1 };

	for (size_t i = 0; i < sizeof(not_for_it) / sizeof(not_for_it[0]); i++)
		signal(not_for_it[i], SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "wavehaul-hook", 0, 0, 0);
	/* Keep no port open, and no pipe whose reader waits for its end. */
	if (child->fd != OWN)
		dup2(child->fd, OWN);
	child->fd = OWN;
	close_range(OWN + 1, ~0U, 0);
	fcntl(OWN, F_SETFD, FD_CLOEXEC);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	for (;;) {
		struct running *room = free_one(child);

		await(child, room != NULL);
		if (room != NULL && !child->over)
			hear(child, room);
		for (uint32_t i = 0; i < WH_HOOK_AT_ONCE; i++) {
			struct running *running = &child->running[i];

			if (running->pid != 0 && child->timeout_ns == 0 && parent_is_gone(child))
				kill_command(child, running);
			else if (running->pid != 0)
				look_at(child, running);
		}
	}
}

/* Splits it at blanks, in place: there is no shell, and nothing is quoted. */
static uint32_t split(char *command, char *word[WORDS_MAX + 1])
{
	uint32_t count = 0;
	char *rest = NULL;

	for (char *one = strtok_r(command, " \t", &rest); one != NULL && count < WORDS_MAX;
		one = strtok_r(NULL, " \t", &rest))
		word[count++] = one;
	word[count] = NULL;
	return count;
}

/* A service's command must be a path, so that no search of its environment decides what it runs. */
static int judge(const char *program, uint64_t timeout_ns)
{
	if (timeout_ns > 0 && program[0] != '/')
		wh_complain("--on-end begins with the whole path of a program, not %s", program);
	else if (strchr(program, '/') != NULL && access(program, X_OK) != 0)
		wh_complain("cannot run %s at the end of a job: %s", program, strerror(errno));
	else
		return WH_EXIT_OK;
	return WH_EXIT_USAGE;
}

int wh_hook_start(struct wh_hook *hook, const char *command, uint64_t timeout_ns)
{
	static struct child child;
	char *words = strdup(command);
	int ends[2], status;

	*hook = (struct wh_hook){.fd = -1, .waits = timeout_ns == 0};
	child.timeout_ns = timeout_ns;
	if (words == NULL || split(words, child.word) == 0) {
		free(words);
		return WH_EXIT_OK;
	}
	status = judge(child.word[0], timeout_ns);
	if (status == WH_EXIT_OK &&
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
		pid_t pid = fork();

		child.fd = ends[1];
		if (pid == 0)
			be_hook(&child);
		close(ends[1]);
		hook->fd = ends[0];
	} else if (status == WH_EXIT_OK) {
		wh_complain("no child process for the command of a job's end: %s", strerror(errno));
		status = WH_EXIT_OTHER;
	}
	free(words);
	return status;
}

void wh_hook_guard(struct wh_hook *hook)
{
	static struct hook_question question;

	if (hook->fd < 0)
		return;
	question = (struct hook_question){.guard = true, .user = geteuid(), .group = getegid()};
	question.others = getgroups(GROUPS_MAX, question.other);
	if (question.others < 0)
		question.others = 0;
	if (send(hook->fd, &question, sizeof(question), MSG_NOSIGNAL) < 0)
		wh_say("on_end: no command will be run: %s", strerror(errno));
}

void wh_hook_tell(struct wh_hook *hook, const struct wh_hook_event *event)
{
	static struct hook_question question;

	if (hook->fd < 0)
		return;
	question = (struct hook_question){.event = *event};
	if (send(hook->fd, &question, sizeof(question), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
		hook->lost = false;
		return;
	}
	if (!hook->lost)
		wh_say("on_end: not run for job %" PRIu64 " and maybe others: %s", event->job,
			errno == EAGAIN ? "too many commands wait" : strerror(errno));
	hook->lost = true;
}

int wh_hook_end(struct wh_hook *hook)
{
	const struct timeval patience = {.tv_usec = LOOK_MS * 1000};
	uint32_t signals = wh_signals_count();
	int32_t status = -1;
	ssize_t bytes = -1;

	if (hook->fd < 0 || !hook->waits) {
		if (hook->fd >= 0)
			close(hook->fd);
		hook->fd = -1;
		return 0;
	}
	(void)shutdown(hook->fd, SHUT_WR);
	setsockopt(hook->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	while (bytes != 0 && wh_signals_count() == signals) {
		bytes = recv(hook->fd, &status, sizeof(status), 0);
		if (bytes < 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
	close(hook->fd);
	hook->fd = -1;
	return status;
}
