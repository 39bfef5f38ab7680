/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a process may not any more, asked by children that enter what a guard consists of: landlock
 * and the filter of system calls, each by itself. A child's exit status is the line of what it has
 * found wrong.
 */

#include "guard/calls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/landlock.h>

#include "guard/folders.h"
#include "unit.h"

const char wh_suite_name[] = "guard";

#define NONE 99 /* nothing here to be entered */

/* In a child: it ends there, and where is told. */
#define SEE(condition)                                                                             \
	do                                                                                         \
		if (!(condition))                                                                  \
			child_ends(__LINE__, #condition);                                          \
	while (0)

static void child_ends(int line, const char *condition)
{
	fprintf(stderr, "guard_calls.c:%d: %s: errno %d\n", line, condition, errno);
	_exit(1);
}

/* The child's status as waitpid has it. */
static int in_child(void (*see)(int fd), int fd)
{
	pid_t child = fork();
	int status = -1;

	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		see(fd);
		_exit(0);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	return status;
}

static void expect_well(void (*see)(int fd), int fd)
{
	int status = in_child(see, fd);

	if (WIFEXITED(status) && WEXITSTATUS(status) == NONE)
		printf("skipped: this build or this kernel has none\n");
	else
		CU_ASSERT_EQUAL(status, 0);
}

static bool is_denied(long rc, int error)
{
	return rc == -1 && errno == error;
}

static void enter(enum wh_calls_port port)
{
	SEE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);

	struct wh_calls_mute mute;

	SEE(wh_calls_mute_all(&mute) == 0);

	int rc = wh_calls_enter(port, &mute);

	if (rc == -ENOSYS)
		_exit(NONE);
	SEE(rc == 0);
}

static struct sockaddr_in somewhere(void)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
}

/* Of every family and type; the socket that was there before sends to nobody by an address. */
static void no_socket(int fd)
{
	static const int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET};
	static const int types[] = {
		SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW, SOCK_DGRAM | SOCK_CLOEXEC};
	const struct sockaddr_in to = somewhere();

	SEE(sendto(fd, "1", 1, 0, (const struct sockaddr *)&to, sizeof(to)) == 1);
	enter(WH_CALLS_NO_SOCKET);
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (size_t j = 0; j < sizeof(types) / sizeof(types[0]); j++)
			SEE(is_denied(socket(families[i], types[j], 0), EACCES));
	SEE(is_denied(connect(fd, (const struct sockaddr *)&to, sizeof(to)), EACCES));
	SEE(is_denied(sendto(fd, "2", 1, 0, (const struct sockaddr *)&to, sizeof(to)), EACCES));
	SEE(is_denied(syscall(SYS_sendto, fd, "3", 1, 0, UINT64_C(1) << 32, 16), EACCES));
	SEE(is_denied(send(fd, "4", 1, 0), EDESTADDRREQ)); /* let through: nobody is connected */
}

/* Who asks the kernel for interfaces does it by its own, and brings no program into the kernel. */
static void xdp_socket(int fd)
{
	const struct sockaddr_in to = somewhere();

	enter(WH_CALLS_XDP);
	SEE(is_denied(syscall(SYS_bpf, BPF_PROG_LOAD, NULL, UINT32_MAX), EPERM));
	SEE(is_denied(syscall(SYS_bpf, BPF_MAP_CREATE, NULL, UINT32_MAX), EPERM));
	SEE(is_denied(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, NULL, UINT32_MAX),
		geteuid() == 0 ? E2BIG : EPERM));
	SEE(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) > 2);
	SEE(is_denied(socket(AF_UNIX, SOCK_SEQPACKET, 0), EACCES));
	SEE(is_denied(socket(AF_INET, SOCK_DGRAM, 0), EACCES));
	SEE(is_denied(connect(fd, (const struct sockaddr *)&to, sizeof(to)), EACCES));
	SEE(is_denied(sendto(fd, "6", 1, 0, (const struct sockaddr *)&to, sizeof(to)), EACCES));
}

static void test_sockets(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_FATAL(fd >= 0);
	expect_well(no_socket, fd);
	expect_well(xdp_socket, fd);
	close(fd);
}

static long message(int fd, struct sockaddr_in *to)
{
	char seven = '7';
	struct iovec bytes = {.iov_base = &seven, .iov_len = 1};
	struct msghdr message = {
		.msg_name = to,
		.msg_namelen = to != NULL ? sizeof(*to) : 0,
		.msg_iov = &bytes,
		.msg_iovlen = 1,
	};

	return syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL);
}

/* Descriptors go by streams alone; a socket of datagrams sends no message, under no number. */
static void passes_on_streams(int fd)
{
	struct sockaddr_in to = somewhere();
	int stream[2], packets[2];

	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, stream) == 0);
	SEE(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets) == 0);
	SEE(message(fd, &to) == 1);
	enter(WH_CALLS_PASSES);
	SEE(message(stream[0], NULL) == 1 && message(packets[0], NULL) == 1);
	SEE(message(stream[0], &to) == -1);
	SEE(is_denied(message(fd, &to), EACCES));
	SEE(is_denied(message(fd, NULL), EACCES));
	SEE(is_denied(syscall(SYS_sendmsg, fd | INT64_C(1) << 32, NULL, 0), EACCES));
	SEE(is_denied(dup(fd), EACCES));
	SEE(is_denied(fcntl(fd, F_DUPFD_CLOEXEC, 0), EACCES));
	SEE(dup(stream[0]) > fd && fcntl(stream[0], F_DUPFD_CLOEXEC, 0) > fd);
	SEE(is_denied(sendto(fd, "8", 1, 0, (struct sockaddr *)&to, sizeof(to)), EACCES));
}

static void passes_nothing(int fd)
{
	struct sockaddr_in to = somewhere();
	int stream[2];

	SEE(socketpair(AF_UNIX, SOCK_STREAM, 0, stream) == 0);
	enter(WH_CALLS_NO_SOCKET);
	SEE(is_denied(message(fd, &to), EACCES));
	SEE(is_denied(message(stream[0], NULL), EACCES));
	SEE(send(stream[0], "9", 1, 0) == 1 && dup(fd) > fd);
}

static void test_messages(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_FATAL(fd >= 0);
	expect_well(passes_on_streams, fd);
	expect_well(passes_nothing, fd);
	close(fd);
}

static void signal_itself(int unused)
{
	(void)unused;
	enter(WH_CALLS_NO_SOCKET);
	SEE(syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), 0) == 0);
}

static void signal_its_parent(int unused)
{
	(void)unused;
	dup2(open("/dev/null", O_WRONLY), STDERR_FILENO); /* what it says is no failure */
	enter(WH_CALLS_NO_SOCKET);
	syscall(SYS_tgkill, getppid(), getppid(), 0);
}

static void test_signals(void)
{
	expect_well(signal_itself, 0);

	int status = in_child(signal_its_parent, 0);

	if (!WIFEXITED(status) || WEXITSTATUS(status) != NONE)
		CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS);
}

static long landlock_says(unsigned int question)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, question);
}

/* `fd`: a socket that listens by a name that the kernel chose, beside all files. */
static void beyond_folders(int fd)
{
	struct sockaddr_un name;
	socklen_t bytes = sizeof(name);
	const struct sockaddr_in to = somewhere();
	long version = landlock_says(LANDLOCK_CREATE_RULESET_VERSION);
	long mended = landlock_says(2);
	int rules_fd = wh_folders_open();
	int unix_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	int tcp_fd = socket(AF_INET, SOCK_STREAM, 0);

	if (rules_fd < 0)
		_exit(NONE);
	SEE(getsockname(fd, (struct sockaddr *)&name, &bytes) == 0);
	SEE(kill(getppid(), 0) == 0);
	SEE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	SEE(wh_folders_enter(rules_fd) == 0);
	SEE(is_denied(open("/etc/passwd", O_RDONLY), EACCES));
	if (version >= 4)
		SEE(is_denied(connect(tcp_fd, (const struct sockaddr *)&to, sizeof(to)), EACCES));
	if (version >= 6)
		SEE(is_denied(connect(unix_fd, (struct sockaddr *)&name, bytes), EPERM));
	if (version >= 6 && mended > 0 && (mended & 2) != 0)
		SEE(is_denied(kill(getppid(), 0), EPERM));
	SEE(kill(getpid(), 0) == 0);
}

static void test_beyond_folders(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	expect_well(beyond_folders, fd);
	close(fd);
}

CU_TestInfo wh_tests[] = {
	{"sockets", test_sockets},
	{"messages", test_messages},
	{"signals", test_signals},
	{"beyond folders", test_beyond_folders},
	CU_TEST_INFO_NULL,
};
