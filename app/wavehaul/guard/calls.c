/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/calls.h"

#include <dirent.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"

/* clang-format off */
/*
 * Allowed with any arguments; calls with paths are restricted by landlock. They are those that
 * strace showed in the tests (transfers over each kind of port, orders, console, metrics, captures,
 * resumed jobs), those of options that were not tested, and variants that libc may choose instead:
 * a stat by name, a wait with a signal mask, the clock without the vDSO.
 */
static const uint16_t plain[] = {
	/* files, by descriptor */
	SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_pread64, SYS_pwrite64, SYS_close, SYS_fstat,
	SYS_fstatfs, SYS_lseek, SYS_fallocate, SYS_ftruncate, SYS_fsync, SYS_fdatasync, SYS_syncfs,
	SYS_getdents64, SYS_fchmod, SYS_fchown, SYS_flock, SYS_fgetxattr, SYS_flistxattr,
	SYS_fsetxattr, SYS_copy_file_range,
	/* by path, below a folder */
	SYS_openat, SYS_openat2, SYS_newfstatat, SYS_statx, SYS_readlinkat, SYS_faccessat,
	SYS_faccessat2, SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2, SYS_linkat,
	SYS_symlinkat, SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_statfs, SYS_getcwd,
	/* by path, in older calls that libraries still use */
	SYS_open, SYS_stat, SYS_lstat, SYS_access, SYS_readlink, SYS_unlink, SYS_rmdir, SYS_mkdir,
	SYS_rename,
	/* io_uring: existing rings, with the operations registered for them (file/rings.h) */
	SYS_io_uring_enter,
	/* memory; not of other processes */
	SYS_munmap, SYS_mremap, SYS_madvise, SYS_brk, SYS_mlock, SYS_mlock2, SYS_mbind,
	SYS_get_mempolicy, SYS_set_mempolicy, SYS_memfd_create,
	/* threads and waiting; creating threads is below */
	SYS_futex, SYS_nanosleep, SYS_clock_nanosleep, SYS_sched_yield, SYS_sched_setaffinity,
	SYS_sched_getaffinity, SYS_sched_getscheduler, SYS_sched_getparam,
	SYS_sched_get_priority_max, SYS_sched_get_priority_min, SYS_setpriority,
	SYS_set_robust_list, SYS_rseq, SYS_exit, SYS_exit_group, SYS_restart_syscall,
	SYS_epoll_create, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_wait, SYS_epoll_pwait,
	SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_eventfd2, SYS_timerfd_settime, SYS_pause,
	/* signals */
	SYS_rt_sigprocmask, SYS_rt_sigreturn,
	/* open sockets and incoming connections; opening sockets, and sendmsg, is below */
	SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_accept, SYS_accept4, SYS_shutdown,
	SYS_getsockopt, SYS_setsockopt, SYS_getsockname, SYS_getpeername,
	/* information */
	SYS_clock_gettime, SYS_clock_getres, SYS_gettimeofday, SYS_time, SYS_getcpu, SYS_getpid,
	SYS_gettid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_getgroups, SYS_getrusage,
	SYS_prlimit64, SYS_sysinfo, SYS_uname, SYS_getrandom,
};
/* clang-format on */

/* Names of calls that an attacker in control of the process would try first. */
static const struct {
	uint16_t number;
	const char *name;
} known[] = {
	{SYS_execve, "execve"},
	{SYS_execveat, "execveat"},
	{SYS_fork, "fork"},
	{SYS_vfork, "vfork"},
	{SYS_clone, "clone"},
	{SYS_ptrace, "ptrace"},
	{SYS_bind, "bind"},
	{SYS_process_vm_writev, "process_vm_writev"},
	{SYS_process_vm_readv, "process_vm_readv"},
	{SYS_socket, "socket"},
	{SYS_mount, "mount"},
	{SYS_bpf, "bpf"},
	{SYS_kill, "kill"},
	{SYS_tgkill, "tgkill"},
	{SYS_sendmmsg, "sendmmsg"},
	{SYS_setuid, "setuid"},
	{SYS_setresuid, "setresuid"},
	{SYS_mknodat, "mknodat"},
	{SYS_unshare, "unshare"},
	{SYS_setns, "setns"},
	{SYS_chroot, "chroot"},
	{SYS_init_module, "init_module"},
	{SYS_keyctl, "keyctl"},
	{SYS_ioctl, "ioctl"},
	{SYS_perf_event_open, "perf_event_open"},
	{SYS_userfaultfd, "userfaultfd"},
	{SYS_listen, "listen"},
	{SYS_prctl, "prctl"},
	{SYS_io_uring_setup, "io_uring_setup"},
	{SYS_io_uring_register, "io_uring_register"},
};

#define PLAIN (sizeof(plain) / sizeof(plain[0]))
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* Including calls that depend on their arguments, three of them on the descriptor. */
#define PROGRAM_MAX                                                                                \
	(PLAIN * 2 + 128 + 3 * (2 * WH_CALLS_MUTE_MAX + 3) + 2 * WH_CALLS_SENDER_MAX + 3)

/* The port's own sockets. */
static uint32_t sender[WH_CALLS_SENDER_MAX];
static uint8_t senders;

void wh_calls_let_send(int fd)
{
	WH_ASSERT(senders < WH_CALLS_SENDER_MAX && fd >= 0);
	sender[senders++] = (uint32_t)fd;
}

struct program {
	uint32_t count;
	struct sock_filter step[PROGRAM_MAX];
};

static void add(struct program *program, struct sock_filter step)
{
	WH_ASSERT(program->count < PROGRAM_MAX);
	program->step[program->count++] = step;
}

static void load(struct program *program, uint32_t offset)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
}

static void answer(struct program *program, uint32_t what)
{
	add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

/* The next `skipped` instructions apply to that value only. */
static void unless_equal(struct program *program, uint32_t value, uint8_t skipped)
{
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skipped));
}

static void allow(struct program *program, uint16_t number)
{
	unless_equal(program, number, 1);
	answer(program, SECCOMP_RET_ALLOW);
}

#define NUMBER        offsetof(struct seccomp_data, nr)
#define ARGUMENT(i)   (offsetof(struct seccomp_data, args) + 8 * (i)) /* its lower half */
#define REFUSED       SECCOMP_RET_TRAP
#define HAS_NOT(what) (SECCOMP_RET_ERRNO | (what))

/* Allows the call with one of these values as its argument; any other results in `refusal`. */
static void allow_or(struct program *program, uint16_t number, uint32_t argument,
	const uint32_t *values, uint8_t count, uint32_t refusal)
{
	unless_equal(program, number, (uint8_t)(2 * count + 2));
	load(program, (uint32_t)ARGUMENT(argument));
	for (uint8_t i = 0; i < count; i++) {
		unless_equal(program, values[i], 1);
		answer(program, SECCOMP_RET_ALLOW);
	}
	answer(program, refusal);
}

static void allow_if(struct program *program, uint16_t number, uint32_t argument,
	const uint32_t *values, uint8_t count)
{
	allow_or(program, number, argument, values, count, REFUSED);
}

/* Allows the call except with these values of its argument, which result in `refusal`. */
static void allow_but(struct program *program, uint16_t number, uint32_t argument, uint32_t one,
	uint32_t other, uint32_t refusal)
{
	unless_equal(program, number, 5);
	load(program, (uint32_t)ARGUMENT(argument));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 1, 0));
	unless_equal(program, other, 1);
	answer(program, refusal);
	answer(program, SECCOMP_RET_ALLOW);
}

/* Allows the call if none of these bits is in its argument, otherwise returns EPERM. */
static void allow_without(
	struct program *program, uint16_t number, uint32_t argument, uint32_t bits)
{
	unless_equal(program, number, 4);
	load(program, (uint32_t)ARGUMENT(argument));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
	answer(program, HAS_NOT(EPERM));
	answer(program, SECCOMP_RET_ALLOW);
}

/* Fails the call, but lets the process continue: libraries may try it (a log, names). */
static void deny(struct program *program, uint16_t number)
{
	unless_equal(program, number, 1);
	answer(program, HAS_NOT(EACCES));
}

/* Allows one address family; denies any other. */
static void allow_socket(struct program *program, uint32_t family)
{
	unless_equal(program, SYS_socket, 4);
	load(program, (uint32_t)ARGUMENT(0));
	unless_equal(program, family, 1);
	answer(program, SECCOMP_RET_ALLOW);
	answer(program, HAS_NOT(EACCES));
}

/* Allows sending without an address, i.e. to the connected peer. */
static void allow_sendto(struct program *program)
{
	unless_equal(program, SYS_sendto, 6);
	load(program, (uint32_t)ARGUMENT(4));
	unless_equal(program, 0, 3);
	load(program, (uint32_t)ARGUMENT(4) + 4);
	unless_equal(program, 0, 1);
	answer(program, SECCOMP_RET_ALLOW);
	answer(program, HAS_NOT(EACCES));
}

/* Denies the call for these descriptors, its first argument, and allows it for others. */
static void allow_beside(struct program *program, uint16_t number, const struct wh_calls_mute *mute)
{
	unless_equal(program, number, (uint8_t)(2 * mute->count + 2));
	load(program, (uint32_t)ARGUMENT(0));
	for (uint32_t i = 0; i < mute->count; i++) {
		unless_equal(program, (uint32_t)mute->fd[i], 1);
		answer(program, HAS_NOT(EACCES));
	}
	answer(program, SECCOMP_RET_ALLOW);
}

/*
 * The address of sendmsg is behind a pointer. Drivers that pass descriptors need the call, but only
 * on connected streams, which ignore an address or refuse it. So it is denied for any socket that
 * would use the address, and such a socket gets no second descriptor.
 */
static void judge_messages(
	struct program *program, enum wh_calls_port port, const struct wh_calls_mute *mute)
{
	static const struct wh_calls_mute none;

	if (port != WH_CALLS_PASSES)
		mute = &none;
	allow_beside(program, SYS_dup, mute);
	allow_beside(program, SYS_fcntl, mute);
	if (port == WH_CALLS_PASSES || port == WH_CALLS_DEVICE)
		allow_beside(program, SYS_sendmsg, mute);
	else
		deny(program, SYS_sendmsg);
}

/*
 * Sending to an address that comes with the packet is for the sockets of the port alone. Anything
 * that tries another one is not this program.
 */
static void judge_senders(struct program *program)
{
	if (senders > 0)
		allow_if(program, SYS_sendmmsg, 0, sender, senders);
}

/*
 * A connect reaches any listener of this host, and a datagram socket can send to any; the filter
 * cannot see the address. So no sockets can be created any more. Each of those made before is
 * connected, or cannot send before it is, or is the port's own. When a memif client must connect
 * again, a child does that (seeker.h).
 */
static void judge_sockets(struct program *program, enum wh_calls_port port)
{
	static const uint32_t families[] = {AF_UNIX, AF_INET, AF_NETLINK};
	/*
	 * Only for programs and maps that exist: a new program could read all of the kernel's
	 * memory.
	 */
	static const uint32_t of_existing[] = {BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM,
		BPF_MAP_DELETE_ELEM, BPF_OBJ_GET, BPF_PROG_GET_FD_BY_ID, BPF_MAP_GET_FD_BY_ID,
		BPF_OBJ_GET_INFO_BY_FD, BPF_BTF_GET_FD_BY_ID};

	if (port == WH_CALLS_DEVICE) {
		allow(program, SYS_connect);
		allow(program, SYS_sendto);
		allow_if(program, SYS_socket, 0, families, 3);
		return;
	}
	if (port == WH_CALLS_XDP) {
		allow_socket(program, AF_NETLINK);
		allow_or(program, SYS_bpf, 0, of_existing, sizeof(of_existing) / sizeof(uint32_t),
			HAS_NOT(EPERM));
		allow(program, SYS_bind);
	}
	deny(program, SYS_connect);
	deny(program, SYS_socket);
	allow_sendto(program);
}

static void build(
	struct program *program, enum wh_calls_port port, const struct wh_calls_mute *mute)
{
	program->count = 0;
	load(program, offsetof(struct seccomp_data, arch));
	unless_equal(program, AUDIT_ARCH_X86_64, 1);
	add(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
	answer(program, SECCOMP_RET_KILL_PROCESS);
	load(program, NUMBER);
	for (size_t i = 0; i < PLAIN; i++)
		allow(program, plain[i]);
	/* Code that a peer may have brought here must not be executable. */
	allow_without(program, SYS_mmap, 2, PROT_EXEC);
	allow_without(program, SYS_mprotect, 2, PROT_EXEC);
	/* Arguments behind a pointer cannot be checked: libc then uses the older call. */
	unless_equal(program, SYS_clone3, 1);
	answer(program, HAS_NOT(ENOSYS));
	/* Threads as libc creates them, but no processes. */
	unless_equal(program, SYS_clone, 4);
	load(program, (uint32_t)ARGUMENT(0));
	add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1));
	answer(program, SECCOMP_RET_ALLOW);
	answer(program, REFUSED);
	judge_sockets(program, port);
	judge_messages(program, port, mute);
	judge_senders(program);
	/* Only signals to our own threads. */
	allow_if(program, SYS_tgkill, 0, (const uint32_t[]){(uint32_t)getpid()}, 1);
	/* Nothing may inject input into the operator's terminal. */
	allow_but(program, SYS_ioctl, 1, TIOCSTI, TIOCLINUX, HAS_NOT(EPERM));
	allow_if(program, SYS_io_uring_register, 1, (const uint32_t[]){IORING_REGISTER_SYNC_CANCEL},
		1);
	/* The handler below must stay. */
	allow_but(program, SYS_rt_sigaction, 0, SIGSYS, SIGSYS, SECCOMP_RET_KILL_PROCESS);
	allow_if(program, SYS_prctl, 0,
		(const uint32_t[]){PR_SET_NAME, PR_SET_VMA, PR_SET_TIMERSLACK}, 3);
	answer(program, REFUSED);
}

static size_t put_number(char *text, unsigned int number)
{
	char digits[12];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	for (size_t i = 0; i < count; i++)
		text[i] = digits[count - 1 - i];
	return count;
}

/* The call was not made. SIGSYS is blocked here, so that another refused call kills the process. */
static void on_refused(int signal, siginfo_t *info, void *context)
{
	static const char begin[] = "\n"
				    "wavehaul: stopped by its guard: forbidden system call ";
	static const char end[] = ". This may be an attack: check the log for peers before you "
				  "restart; --no-guard runs without the guard, for diagnosis\n";
	char text[sizeof(begin) + sizeof(end) + 64];
	size_t used = sizeof(begin) - 1;

	(void)signal;
	(void)context;
	memcpy(text, begin, used);
	used += put_number(text + used, (unsigned int)info->si_syscall);
	for (size_t i = 0; i < KNOWN; i++) {
		if (known[i].number != info->si_syscall)
			continue;
		memcpy(text + used, ", ", 2);
		memcpy(text + used + 2, known[i].name, strlen(known[i].name));
		used += 2 + strlen(known[i].name);
	}
	memcpy(text + used, end, sizeof(end) - 1);
	used += sizeof(end) - 1;
	if (write(STDERR_FILENO, text, used) < 0)
		_exit(1);
	syscall(SYS_execve, NULL, NULL, NULL);
	_exit(1);
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define POSSIBLE 1
#else
#define POSSIBLE 0
#endif

/* Whether sendmsg on that socket goes to the address that is given with the message. */
static bool takes_address(int fd)
{
	int type = 0;
	socklen_t bytes = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type != SOCK_STREAM &&
	       type != SOCK_SEQPACKET;
}

static bool is_netlink(int fd)
{
	int domain = 0;
	socklen_t bytes = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_NETLINK;
}

int wh_calls_mute_all(struct wh_calls_mute *mute)
{
	DIR *open_now = opendir("/proc/self/fd");
	const struct dirent *entry;
	int rc = 0;

	mute->count = 0;
	if (open_now == NULL)
		return -errno;
	while (rc == 0 && (entry = readdir(open_now)) != NULL) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] == '.' || !takes_address(fd) || is_netlink(fd))
			continue;
		if (mute->count == WH_CALLS_MUTE_MAX)
			rc = -EMFILE;
		else
			mute->fd[mute->count++] = fd;
	}
	closedir(open_now);
	return rc;
}

int wh_calls_enter(enum wh_calls_port port, const struct wh_calls_mute *mute)
{
	struct sigaction tell = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};
	static struct program program;
	struct sock_fprog filter = {.filter = program.step};

	if (!POSSIBLE)
		return -ENOSYS;
	build(&program, port, mute);
	filter.len = (unsigned short)program.count;
	if (sigaction(SIGSYS, &tell, NULL) != 0)
		return -errno;

	/* For all threads, and without new privileges through programs that they execute. */
	long rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);

	return rc < 0 ? -errno : rc > 0 ? -EBUSY : 0;
}
