/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "guard/calls.h"
#include "guard/capabilities.h"
#include "guard/folders.h"

#define GROUPS_MAX 64

/* The child's work is short; if it was stopped, do not wait for it. */
#define ANSWER_S 1

struct caller_question {
	bool guard; /* else: connect */
	uid_t user;
	gid_t group;
	int others;
	gid_t other[GROUPS_MAX];
};

/* The child's answer. A descriptor is attached if the error is 0 and a connection was requested. */
struct caller_answer {
	int error;
	struct msghdr message;
	struct iovec bytes;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} beside;
};

static void lay_out(struct caller_answer *answer)
{
	memset(answer, 0, sizeof(*answer));
	answer->bytes = (struct iovec){.iov_base = &answer->error, .iov_len = sizeof(int)};
	answer->message = (struct msghdr){
		.msg_iov = &answer->bytes,
		.msg_iovlen = 1,
		.msg_control = answer->beside.room,
		.msg_controllen = sizeof(answer->beside.room),
	};
}

static void reply(int to, int error, int fd)
{
	struct caller_answer answer;

	lay_out(&answer);
	answer.error = error;
	if (fd < 0) {
		answer.message.msg_controllen = 0;
	} else {
		answer.beside.head = (struct cmsghdr){
			.cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)),
		};
		memcpy(CMSG_DATA(&answer.beside.head), &fd, sizeof(fd));
	}
	if (sendmsg(to, &answer.message, MSG_NOSIGNAL) < 0)
		_exit(0);
}

/*
 * A datagram socket is passed once, and then both processes have it. So connecting it again here
 * connects it there, and the parent never gets a second descriptor.
 */
static int connect_again(int kept, const struct sockaddr_un *address)
{
	return connect(kept, (const struct sockaddr *)address, sizeof(*address)) == 0 ? 0 : errno;
}

static int connect_to(const struct sockaddr_un *address, int kind)
{
	int fd = socket(AF_UNIX, kind | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

/* Features that the kernel lacks are skipped, as in the guard itself. */
static int give_up(const struct caller_question *question)
{
	int rules_fd = wh_folders_open();

	if (geteuid() == 0 &&
		(setgroups((size_t)question->others, question->other) != 0 ||
			setresgid(question->group, question->group, question->group) != 0 ||
			setresuid(question->user, question->user, question->user) != 0))
		return errno;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return errno;

	int rc = wh_capabilities_keep(0);

	if (rc == 0 && rules_fd >= 0)
		rc = wh_folders_enter(rules_fd);
	if (rules_fd >= 0)
		close(rules_fd);
	(void)wh_calls_enter(WH_CALLS_DEVICE, NULL);
	return -rc;
}

/* Closes all inherited descriptors: no port, no pipe whose reader waits for its end. */
static int keep_nothing_but(int fd)
{
	enum { OWN = STDERR_FILENO + 1 };
	int none = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int i = 0; i < OWN; i++)
		dup2(none, i);
	if (fd != OWN)
		dup2(fd, OWN);
	close_range(OWN + 1, ~0U, 0);
	return OWN;
}

/* The child ends only with its parent, so it ignores signals that ask to end. */
static _Noreturn void be_caller(int fd, const struct sockaddr_un *address, int kind)
{
	static const int not_for_it[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
	struct caller_question question;
	int kept = -1;

	for (size_t i = 0; i < sizeof(not_for_it) / sizeof(not_for_it[0]); i++)
		signal(not_for_it[i], SIG_IGN);
	prctl(PR_SET_NAME, "wavehaul-caller", 0, 0, 0);
	fd = keep_nothing_but(fd);
	for (;;) {
		ssize_t bytes = recv(fd, &question, sizeof(question), 0);

		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes != sizeof(question))
			_exit(0);
		if (question.guard) {
			int error = give_up(&question);

			reply(fd, error, -1);
			if (error != 0)
				_exit(1);
			continue;
		}

		if (kept >= 0) {
			reply(fd, connect_again(kept, address), -1);
			continue;
		}

		int made = connect_to(address, kind);

		reply(fd, made < 0 ? errno : 0, made);
		if (kind == SOCK_DGRAM)
			kept = made;
		else if (made >= 0)
			close(made);
	}
}

int wh_caller_start(struct wh_caller *caller, const char *path, int kind)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct timeval patience = {.tv_sec = ANSWER_S};
	int ends[2];

	caller->fd = -1;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));

	pid_t child = fork();
	int error = errno;

	if (child == 0)
		be_caller(ends[1], &address, kind);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return -error;
	}
	caller->fd = ends[0];
	return 0;
}

/* Receives the answer: 0 and a descriptor, or -1 for none; or a negative errno. */
static int take_answer(int from, int *fd)
{
	struct caller_answer answer;
	ssize_t bytes;

	*fd = -1;
	lay_out(&answer);
	do
		bytes = recvmsg(from, &answer.message, MSG_CMSG_CLOEXEC);
	while (bytes < 0 && errno == EINTR);
	if (bytes != sizeof(answer.error))
		return bytes < 0 ? -errno : -ECONNRESET;
	if (answer.error == 0 && CMSG_FIRSTHDR(&answer.message) != NULL)
		memcpy(fd, CMSG_DATA(CMSG_FIRSTHDR(&answer.message)), sizeof(*fd));
	return 0 - answer.error;
}

/* After a timeout the child is not asked again: a late answer would belong to another question. */
static int ask(struct wh_caller *caller, const struct caller_question *question)
{
	int fd = -1;
	int rc = caller->fd < 0 ? -ENOTCONN : 0;

	if (rc == 0 && send(caller->fd, question, sizeof(*question), MSG_NOSIGNAL) < 0)
		rc = -EPIPE;
	if (rc == 0)
		rc = take_answer(caller->fd, &fd);
	if (rc == -EPIPE || rc == -EAGAIN || rc == -ECONNRESET)
		wh_caller_end(caller);
	return rc < 0 ? rc : fd;
}

void wh_caller_guard(struct wh_caller *caller)
{
	struct caller_question question = {.guard = true, .user = geteuid(), .group = getegid()};

	question.others = getgroups(GROUPS_MAX, question.other);
	if (question.others < 0)
		question.others = 0;
	if (ask(caller, &question) != -1)
		wh_caller_end(caller);
}

int wh_caller_call(struct wh_caller *caller)
{
	const struct caller_question question = {.guard = false};
	int fd = ask(caller, &question);

	return fd == -1 ? -EPROTO : fd;
}

int wh_caller_again(struct wh_caller *caller)
{
	const struct caller_question question = {.guard = false};
	int fd = ask(caller, &question);

	if (fd >= 0)
		close(fd);
	return fd == -1 ? 0 : fd < 0 ? fd : -EPROTO;
}

void wh_caller_end(struct wh_caller *caller)
{
	if (caller->fd >= 0)
		close(caller->fd);
	caller->fd = -1;
}
