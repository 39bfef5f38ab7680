/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/rejoin.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_log.h>

#include "port/calm.h"
#include "port/port.h"

/*
 * LOOK_MS: the time between two attempts while nobody listens. MEET_MS: the time that both ends get
 * for the dozen steps from a connection to a link.
 */
#define LOOK_MS 250
#define MEET_MS 2000

#define DRIVERS_LOG "pmd.net.memif"

static int (*connects)(void);
static _Thread_local bool hurries;

/* Returns a connected socket, for the driver. */
static int get_connected(void)
{
	int fd = connects();

	if (fd < 0) {
		errno = -fd;
		return -1;
	}
	(void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* Replaces libc's function, also for libraries. */
__attribute__((visibility("default"), externally_visible)) int socket(
	int domain, int type, int protocol)
{
	return hurries && connects != NULL ? get_connected()
					   : (int)syscall(SYS_socket, domain, type, protocol);
}

/*
 * Replaces libc's function, also for libraries. A server that listens but does not accept (it is
 * stopped, or slow to begin) has room for two connections in its queue; a third would block our
 * loop.
 */
__attribute__((visibility("default"), externally_visible)) int connect(
	int fd, const struct sockaddr *address, socklen_t bytes)
{
	if (hurries && connects != NULL)
		return 0; /* it has been connected since it was created */

	int flags = hurries ? fcntl(fd, F_GETFL) : -1;

	if (flags >= 0)
		(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);

	int rc = (int)syscall(SYS_connect, fd, address, bytes);

	if (flags >= 0 && rc == 0)
		(void)fcntl(fd, F_SETFL, flags);
	return rc;
}

void wh_rejoin_by(int (*connects_now)(void))
{
	connects = connects_now;
}

static void leave(struct wh_port *port)
{
	(void)rte_eth_dev_stop(port->ethdev); /* nothing can be done about an error */
	port->joined = false;
}

/* It is no error if nobody listens yet. */
static void join(struct wh_port *port)
{
	int log = rte_log_register(DRIVERS_LOG); /* exists already: returns its number */
	int level = log >= 0 ? rte_log_get_level((uint32_t)log) : -1;

	if (level >= 0)
		rte_log_set_level((uint32_t)log, RTE_LOG_CRIT);
	hurries = true;
	port->joined = rte_eth_dev_start(port->ethdev) == 0;
	hurries = false;
	if (level >= 0)
		rte_log_set_level((uint32_t)log, (uint32_t)level);
}

static uint64_t after_ms(uint64_t now_tsc, uint32_t ms)
{
	return now_tsc + rte_get_timer_hz() / 1000 * ms;
}

void wh_rejoin_begin(struct wh_port *port, uint64_t now_tsc)
{
	port->rejoins = port->joined = true;
	port->rejoin_tsc = after_ms(now_tsc, MEET_MS);
}

/*
 * The driver's thread notices the end of a connection only after it has handled its other
 * descriptors: only then may a new connection reuse the descriptor's number.
 */
void wh_rejoin_watch(struct wh_port *port, bool link_is_up, uint64_t now_tsc)
{
	if (link_is_up) {
		port->rejoin_tsc = 0;
		return;
	}
	if (now_tsc < port->rejoin_tsc)
		return;
	if (port->joined) {
		wh_calm_act(leave, port);
		port->rejoin_tsc = now_tsc + 1;
		return;
	}
	wh_calm_act(join, port);
	port->rejoin_tsc = after_ms(now_tsc, port->joined ? MEET_MS : LOOK_MS);
}
