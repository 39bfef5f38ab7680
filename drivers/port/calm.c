/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/calm.h"

#include <errno.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rte_alarm.h>

#include "base/assert.h"

rte_rwlock_t wh_calm_bursts = RTE_RWLOCK_INITIALIZER;
bool wh_calm_holds;

static uint32_t ports; /* under the lock */
static sem_t waiting;  /* posted by the interrupt thread as it begins to wait, or has gone */
static sem_t turn;     /* posted for it to go on */
static bool lets_go;   /* with `turn`: it need not come back */

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		WH_ASSERT(errno == EINTR);
}

static void wait_on_interrupt_thread(void *unused);

static void set_alarm(void)
{
	int rc = rte_eal_alarm_set(1, wait_on_interrupt_thread, NULL);

	WH_ASSERT(rc == 0); /* the EAL runs as long as there are ports */
}

/* Other events of the thread come between two calls, never during one. */
static void wait_on_interrupt_thread(void *unused)
{
	(void)unused;
	sem_post(&waiting);
	wait_for(&turn);
	if (lets_go)
		sem_post(&waiting);
	else
		set_alarm();
}

static void hold(void)
{
	lets_go = false;
	set_alarm();
	wait_for(&waiting);
	wh_calm_holds = true;
}

static void let_go(void)
{
	wh_calm_holds = false;
	lets_go = true;
	sem_post(&turn);
	wait_for(&waiting);
}

/* All that has happened to sockets is seen to when it waits again. */
static void give_turn(void)
{
	sem_post(&turn);
	wait_for(&waiting);
}

void wh_calm_join(void)
{
	rte_rwlock_write_lock(&wh_calm_bursts);
	if (ports++ == 0) {
		sem_init(&waiting, 0, 0);
		sem_init(&turn, 0, 0);
	}
	rte_rwlock_write_unlock(&wh_calm_bursts);
}

void wh_calm_leave(void)
{
	rte_rwlock_write_lock(&wh_calm_bursts);
	WH_ASSERT(ports > 0);
	if (--ports == 0 && wh_calm_holds)
		let_go();
	rte_rwlock_write_unlock(&wh_calm_bursts);
}

bool wh_calm_turn(bool (*link_is_up)(const struct wh_port *port), const struct wh_port *port)
{
	bool up;

	rte_rwlock_write_lock(&wh_calm_bursts);
	WH_ASSERT(ports > 0);
	if (wh_calm_holds)
		give_turn();
	up = link_is_up(port);
	if (up && !wh_calm_holds) {
		hold();
		up = link_is_up(port); /* what it is now it stays */
	}
	/* A connection is made in a dozen steps: they need not wait for our turns. */
	if (!up && wh_calm_holds)
		let_go();
	rte_rwlock_write_unlock(&wh_calm_bursts);
	return up;
}

void wh_calm_act(void (*act)(struct wh_port *port), struct wh_port *port)
{
	rte_rwlock_write_lock(&wh_calm_bursts);
	WH_ASSERT(ports > 0);

	bool held = wh_calm_holds; /* for another port */

	if (!held)
		hold();
	act(port);
	if (!held)
		let_go();
	rte_rwlock_write_unlock(&wh_calm_bursts);
}

/* A socket of the kind that memif's peers meet at, and nobody else here uses. */
static bool is_meeting(int fd)
{
	int domain = 0, type = 0;
	socklen_t bytes = sizeof(domain);

	return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &bytes) == 0 && domain == AF_UNIX &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET;
}

static size_t bytes_of(const struct msghdr *message)
{
	size_t bytes = 0;

	for (size_t i = 0; i < message->msg_iovlen; i++)
		bytes += message->msg_iov[i].iov_len;
	return bytes;
}

/*
 * In the place of libc's, for libraries, too. Who connects to a memif socket and leaves before the
 * server's first word makes that fail, and the driver (DPDK 22.11) then frees the channel and
 * closes its descriptor without taking them from EAL's interrupt thread, which panics: any local
 * program that may connect could end the server so. Told that its words went, the driver meets the
 * end of the connection where it expects it, as it reads.
 */
__attribute__((visibility("default"), externally_visible)) ssize_t sendmsg(
	int fd, const struct msghdr *message, int flags)
{
	ssize_t sent = syscall(SYS_sendmsg, fd, message, flags | MSG_NOSIGNAL);

	if (sent >= 0 || (errno != EPIPE && errno != ECONNRESET))
		return sent;

	int error = errno;

	if (is_meeting(fd))
		return (ssize_t)bytes_of(message);
	errno = error;
	return sent;
}
