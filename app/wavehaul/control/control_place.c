/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control_place.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "guard/guard.h"

#define OF_THE_SYSTEM "/run/wavehaul"
#define NAME          "control"

/* A server stopped by SIGSTOP neither accepts nor refuses, so connecting needs a timeout. */
#define CONNECT_S 5

static int fits(int bytes)
{
	return bytes < (int)WH_CONTROL_PATH_BYTES ? 0 : -ENAMETOOLONG;
}

static int join(char path[WH_CONTROL_PATH_BYTES], const char *folder, const char *below)
{
	return fits(snprintf(path, WH_CONTROL_PATH_BYTES, "%s%s/" NAME, folder, below));
}

static int usual(char path[WH_CONTROL_PATH_BYTES])
{
	const char *service = getenv("RUNTIME_DIRECTORY");
	const char *session = getenv("XDG_RUNTIME_DIR");

	if (service != NULL && service[0] == '/')
		return join(path, service, "");
	if (geteuid() == 0 || access(OF_THE_SYSTEM "/" NAME, F_OK) == 0 || session == NULL ||
		session[0] != '/')
		return join(path, OF_THE_SYSTEM, "");
	return join(path, session, "/wavehaul");
}

int wh_control_place(const char *option, char path[WH_CONTROL_PATH_BYTES])
{
	const char *told = getenv("WAVEHAUL_CONTROL");

	if (option[0] == '\0' && told != NULL)
		option = told;
	if (strcmp(option, "off") == 0)
		return -ENOENT;
	if (option[0] == '\0')
		return usual(path);
	return fits(snprintf(path, WH_CONTROL_PATH_BYTES, "%s", option));
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	WH_ASSERT(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	return address;
}

int wh_control_connect(const char *path)
{
	const struct sockaddr_un address = address_of(path);
	const struct timeval longest = {.tv_sec = CONNECT_S};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest)) == 0 &&
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;

	int error = errno == EAGAIN ? ETIMEDOUT : errno;

	close(fd);
	return -error;
}

/* The folder of the default paths may be missing. */
static void make_folder(const char *path)
{
	char folder[WH_CONTROL_PATH_BYTES];
	char *slash;

	strcpy(folder, path);
	slash = strrchr(folder, '/');
	if (slash == NULL || slash == folder)
		return;
	*slash = '\0';
	/* If it exists, or cannot be created, binding the socket shows that. */
	(void)!mkdir(folder, 0755);
}

static gid_t group_of(const char *user)
{
	const struct passwd *found = getpwnam(user[0] != '\0' ? user : WH_GUARD_USER);

	return found != NULL ? found->pw_gid : (gid_t)-1;
}

int wh_control_bind(const char *path, const char *user)
{
	const struct sockaddr_un address = address_of(path);
	int other = wh_control_connect(path);

	if (other >= 0) {
		close(other);
		return -EADDRINUSE;
	}
	make_folder(path);
	if (other == -ECONNREFUSED && unlink(path) != 0)
		return -errno;

	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mode_t before = umask(0117);
	int error = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof(address)) == 0
			    ? 0
			    : errno;

	umask(before);
	if (error != 0) {
		if (fd >= 0)
			close(fd);
		return -error;
	}
	/* Without the right to give it to the group, it stays with its owner. */
	if (geteuid() == 0)
		(void)!chown(path, (uid_t)-1, group_of(user));
	return fd;
}
