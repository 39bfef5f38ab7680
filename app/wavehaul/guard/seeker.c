/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/seeker.h"

#include <string.h>
#include <sys/socket.h>

#include "cli/complain.h"
#include "guard/caller.h"
#include "port/rejoin.h"

static struct wh_caller caller = {.fd = -1};

static int find(void)
{
	return wh_caller_call(&caller);
}

void wh_seeker_start(const struct wh_port_spec *port)
{
	int rc = wh_port_rejoins(port) ? wh_caller_start(&caller, port->target, SOCK_SEQPACKET) : 0;

	if (rc < 0)
		wh_say("cannot reconnect to the server of %s after it restarts: %s", port->target,
			strerror(-rc));
}

void wh_seeker_guard(void)
{
	if (caller.fd < 0)
		return;
	wh_caller_guard(&caller);
	wh_rejoin_by(find);
}

void wh_seeker_end(void)
{
	wh_rejoin_by(NULL);
	wh_caller_end(&caller);
}
