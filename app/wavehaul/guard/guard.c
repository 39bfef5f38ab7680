/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_eal.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "guard/calls.h"
#include "guard/capabilities.h"
#include "guard/seeker.h"
#include "guard/threads.h"

/* For a process that stays root: it may access all files below the allowed folders. */
#define OF_FILES                                                                                   \
	(WH_CAPABILITY(CAP_DAC_OVERRIDE) | WH_CAPABILITY(CAP_DAC_READ_SEARCH) |                    \
		WH_CAPABILITY(CAP_FOWNER))

/*
 * For a port whose driver removes its program from the interface at its end, and finds it by
 * number.
 */
#define OF_XDP                                                                                     \
	(WH_CAPABILITY(CAP_NET_ADMIN) | WH_CAPABILITY(CAP_NET_RAW) | WH_CAPABILITY(CAP_BPF) |      \
		WH_CAPABILITY(CAP_SYS_ADMIN))

/* What each thread gives up. */
struct loss {
	uint64_t keep; /* capabilities */
	int rules_fd;  /* -1: none */
};

static void tell(struct wh_guard *guard, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void tell(struct wh_guard *guard, const char *format, ...)
{
	size_t used = strlen(guard->told);
	va_list args;

	va_start(args, format);
	vsnprintf(guard->told + used, sizeof(guard->told) - used, format, args);
	va_end(args);
}

void wh_guard_init(struct wh_guard *guard, bool off, const char *user, bool serves,
	const struct wh_port_spec *port, uint32_t ports)
{
	*guard = (struct wh_guard){
		.off = off,
		.user = user[0] != '\0' ? user
			: serves        ? WH_GUARD_USER
					: NULL,
		.user_may_miss = user[0] == '\0',
		.port = port,
		.ports = ports,
		.rules_fd = off ? -1 : wh_folders_open(),
	};
}

void wh_guard_let(struct wh_guard *guard, int fd, enum wh_let let)
{
	if (guard->rules_fd < 0 || fd < 0)
		return;

	int rc = wh_folders_let(guard->rules_fd, fd, let);

	WH_ASSERT(rc == 0 || rc == -ENOMEM || rc == -EBADFD);
}

void wh_guard_let_path(struct wh_guard *guard, const char *path, enum wh_let let)
{
	int fd = guard->rules_fd < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return;
	wh_guard_let(guard, fd, let);
	close(fd);
}

void wh_guard_let_file(struct wh_guard *guard, const char *path)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t bytes = slash == NULL ? 0 : (size_t)(slash - path);

	if (bytes >= sizeof(folder))
		return;
	memcpy(folder, path, bytes);
	folder[bytes] = '\0';
	wh_guard_let_path(guard, slash == NULL ? "." : bytes == 0 ? "/" : folder, WH_LET_WRITE);
}

static bool is_xdp(const struct wh_guard *guard)
{
	return guard->port->kind == WH_PORT_AF_XDP;
}

/* libxdp takes its program from the interface under a lock, and removes what it has pinned. */
static void let_detach(struct wh_guard *guard)
{
	wh_guard_let_path(guard, "/run/xdp", WH_LET_READ);
	wh_guard_let_path(guard, "/sys/fs/bpf", WH_LET_READ);
	wh_guard_let_path(guard, "/sys/fs/bpf", WH_LET_CLEAR);
}

/* What the port removes at its end. */
static void let_port_clear(struct wh_guard *guard, const struct wh_port_spec *port)
{
	const char *slash = strrchr(port->target, '/');
	char folder[sizeof(port->target)];

	if (port->verbatim || slash == NULL || slash == port->target ||
		(port->kind != WH_PORT_MEMIF && port->kind != WH_PORT_VHOST))
		return;
	memcpy(folder, port->target, (size_t)(slash - port->target));
	folder[slash - port->target] = '\0';
	wh_guard_let_path(guard, folder, WH_LET_CLEAR);
}

/* And what DPDK removes. */
static void let_clear(struct wh_guard *guard)
{
	wh_guard_let_path(guard, rte_eal_get_runtime_dir(), WH_LET_CLEAR);
	if (is_xdp(guard))
		let_detach(guard);
	for (uint32_t i = 0; i < guard->ports; i++)
		let_port_clear(guard, &guard->port[i]);
}

/* Runs in each thread: only system calls. */
static int lose(const void *argument)
{
	const struct loss *loss = argument;
	int rc = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -errno;
	/* Fails without CAP_SETPCAP, when there is nothing to drop. */
	for (int i = 0; i <= CAP_LAST_CAP; i++)
		(void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	rc = wh_capabilities_keep(loss->keep);
	return rc == 0 && loss->rules_fd >= 0 ? wh_folders_enter(loss->rules_fd) : rc;
}

/*
 * Gives the socket that the port creates to the user to which the process changes, so that its
 * clients of that name can connect again.
 */
static void give_socket(const struct wh_port_spec *port, const struct passwd *user)
{
	bool makes_socket =
		port->kind == WH_PORT_VHOST || (port->kind == WH_PORT_MEMIF && port->server);
	struct stat status;
	int fd = makes_socket && !port->verbatim
			 ? open(port->target, O_PATH | O_NOFOLLOW | O_CLOEXEC)
			 : -1;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode) &&
		fchownat(fd, "", user->pw_uid, user->pw_gid, AT_EMPTY_PATH) != 0)
		wh_say("the socket %s still belongs to root: %s", port->target, strerror(errno));
	close(fd);
}

static int become(struct wh_guard *guard, const struct passwd *user)
{
	for (uint32_t i = 0; i < guard->ports; i++)
		give_socket(&guard->port[i], user);
	if (initgroups(user->pw_name, user->pw_gid) != 0 ||
		setresgid(user->pw_gid, user->pw_gid, user->pw_gid) != 0 ||
		setresuid(user->pw_uid, user->pw_uid, user->pw_uid) != 0) {
		int error = errno;

		wh_complain("cannot become the user %s: %s", user->pw_name, strerror(error));
		return -error;
	}
	tell(guard, "user %s", user->pw_name);
	return 0;
}

static enum wh_calls_port calls_of_port(const struct wh_port_spec *port)
{
	if (port->verbatim)
		return WH_CALLS_DEVICE;
	switch (port->kind) {
	case WH_PORT_AF_XDP:
		return WH_CALLS_XDP;
	case WH_PORT_MEMIF: /* a server's messages have no descriptors, and go by send(2) */
		return port->server ? WH_CALLS_NO_SOCKET : WH_CALLS_PASSES;
	case WH_PORT_PCI: /* mlx5: by netlink */
	case WH_PORT_VHOST:
	case WH_PORT_VIRTIO_USER:
		return WH_CALLS_PASSES;
	default:
		return WH_CALLS_NO_SOCKET;
	}
}

/* Of ports of one kind: what one needs includes what another needs. */
static enum wh_calls_port calls_of(const struct wh_guard *guard)
{
	enum wh_calls_port calls = WH_CALLS_NO_SOCKET;

	for (uint32_t i = 0; i < guard->ports; i++)
		calls = RTE_MAX(calls, calls_of_port(&guard->port[i]));
	return calls;
}

static const char *why_root(const struct wh_guard *guard, bool found)
{
	if (guard->user == NULL)
		return "user root, as asked for";
	if (!found)
		return "user root, because there is no user " WH_GUARD_USER;
	return is_xdp(guard) ? "user root, because af_xdp removes its program at the end"
			     : "user root";
}

/* libc changes all threads. */
static int change_user(struct wh_guard *guard)
{
	const struct passwd *user = guard->user != NULL ? getpwnam(guard->user) : NULL;

	if (guard->user != NULL && user == NULL && !guard->user_may_miss)
		return wh_fail(-ENOENT, "there is no user %s on this machine; --user names one",
			guard->user);
	if (geteuid() != 0) {
		if (user != NULL && !guard->user_may_miss && user->pw_uid != geteuid())
			return wh_fail(-EPERM, "only root can become the user %s", guard->user);
		tell(guard, "user %u, as started", (unsigned int)geteuid());
		return 0;
	}
	if (user != NULL && user->pw_uid != 0 && !is_xdp(guard))
		return become(guard, user);
	tell(guard, "%s", why_root(guard, user != NULL));
	return 0;
}

static int lose_rights(struct wh_guard *guard)
{
	uint64_t keep = OF_FILES | (is_xdp(guard) ? OF_XDP : 0) |
			(guard->owners ? WH_CAPABILITY(CAP_CHOWN) : 0) |
			(guard->set_ids ? WH_CAPABILITY(CAP_FSETID) : 0);
	const struct loss loss = {
		.keep = geteuid() == 0 ? wh_capabilities() & keep : 0,
		.rules_fd = guard->rules_fd,
	};
	int rc = wh_threads_all(lose, &loss);

	if (rc < 0)
		return wh_fail(rc,
			"the guard cannot drop this process's privileges: %s; --no-guard runs "
			"without the guard",
			strerror(-rc));
	tell(guard, loss.keep == 0  ? "; no capabilities"
		    : is_xdp(guard) ? "; only the capabilities for files and af_xdp"
				    : "; only the capabilities for files");
	tell(guard, "; no new privileges");
	if (guard->rules_fd < 0) {
		tell(guard, "; all files of its user, because this kernel has no landlock");
		return 0;
	}
	close(guard->rules_fd);
	guard->rules_fd = -1;
	tell(guard, "; only the files that it was given");
	return 0;
}

/* Loads what libraries would read later: the time zone, and the library for ending threads. */
static void read_ahead(void)
{
	tzset();
	(void)dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_GLOBAL);
}

/* Finds the datagram sockets that are open now; see calls.h. */
static int find_mute(struct wh_calls_mute *mute)
{
	int rc = wh_calls_mute_all(mute);

	if (rc == -EMFILE)
		wh_complain("the guard can watch %d sockets of datagrams: whoever starts this "
			    "process must leave it fewer; --no-guard goes without",
			WH_CALLS_MUTE_MAX);
	else if (rc < 0)
		wh_complain("the guard cannot see which files are open: %s; --no-guard goes "
			    "without",
			strerror(-rc));
	return rc;
}

int wh_guard_enter(struct wh_guard *guard)
{
	struct wh_calls_mute mute = {.count = 0};
	int rc = 0;

	if (guard->off) {
		tell(guard,
			"none, because of --no-guard: the process keeps all rights of its user");
		wh_seeker_end();
		return 0;
	}
	read_ahead();
	let_clear(guard);
	if (calls_of(guard) == WH_CALLS_PASSES)
		rc = find_mute(&mute);
	if (rc == 0)
		rc = change_user(guard);
	if (rc == 0)
		rc = lose_rights(guard);
	if (rc < 0)
		return rc;
	wh_seeker_guard();
	rc = wh_calls_enter(calls_of(guard), &mute);
	if (rc == 0)
		tell(guard, "; only the system calls that it needs");
	else
		tell(guard, "; any system call, because there is no filter here (%s)",
			strerror(-rc));
	return 0;
}
