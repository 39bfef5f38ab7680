/* SPDX-License-Identifier: BSD-3-Clause */
#include "wan/claim.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/complain.h"

#define NO_CLAIM -1

/* Other ports are refused to a second process by the system or the driver. */
static bool is_interface(const struct wh_port_spec *spec)
{
	return !spec->verbatim &&
	       (spec->kind == WH_PORT_AF_PACKET || spec->kind == WH_PORT_AF_XDP ||
		       spec->kind == WH_PORT_TAP);
}

/*
 * Abstract names (unix(7)) belong to the network namespace, and disappear with the process. The
 * socket is of a kind that can send nothing, since nobody connects it.
 */
int wh_wan_claim(const struct wh_port_spec *spec)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int name_bytes = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
		"wavehaul-wan %.64s", spec->target);
	socklen_t bytes =
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)name_bytes);

	if (!is_interface(spec))
		return NO_CLAIM;

	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, bytes) == 0)
		return fd; /* without a socket nothing can be claimed, which does no harm */

	bool taken = errno == EADDRINUSE;

	close(fd);
	if (!taken)
		return NO_CLAIM;
	wh_complain("another wan already uses the interface %s, and two would forward its frames "
		    "twice, or a part each: stop the other one, or choose another interface",
		spec->target);
	return WH_WAN_TAKEN;
}
