/* SPDX-License-Identifier: BSD-3-Clause */
#include "port/calm.h"

#include <errno.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/assert.h"
#include "port/interrupts.h"

rte_rwlock_t wh_calm_bursts = RTE_RWLOCK_INITIALIZER;
bool wh_calm_holds;

static uint32_t ports;   /* under the lock */
static int call_fd = -1; /* readable: the interrupt thread is to wait */
static sem_t waiting;    /* posted by the interrupt thread when it begins to wait, or is let go */
static sem_t turn;       /* posted to let it continue */
static bool lets_go;     /* with `turn`: it does not wait again */

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		WH_ASSERT(errno == EINTR);
}

static void call_to_wait(void)
{
	int rc = eventfd_write(call_fd, 1);

	WH_ASSERT(rc == 0); /* it was 0 */
}

/* The thread handles its other events between two such calls, never during one. */
static void wait_on_interrupt_thread(void *unused)
{
	eventfd_t calls;
	int rc = eventfd_read(call_fd, &calls);

	(void)unused;
	WH_ASSERT(rc == 0 && calls == 1);
	sem_post(&waiting);
	wait_for(&turn);
	if (lets_go)
		sem_post(&waiting);
	else
		call_to_wait();
}

static void hold(void)
{
	lets_go = false;
	call_to_wait();
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

/*
 * Lets the interrupt thread run until it waits again. Within two turns it has handled all events
 * that its sockets had: epoll tells it of them and of the next call together.
 */
static void give_turn(void)
{
	sem_post(&turn);
	wait_for(&waiting);
}

int wh_calm_join(void)
{
	rte_rwlock_write_lock(&wh_calm_bursts);
	if (call_fd < 0)
		call_fd = wh_interrupts_add(wait_on_interrupt_thread);
	if (call_fd >= 0 && ports++ == 0) {
		sem_init(&waiting, 0, 0);
		sem_init(&turn, 0, 0);
	}
	rte_rwlock_write_unlock(&wh_calm_bursts);
	return call_fd >= 0 ? 0 : -ENOMEM;
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
		up = link_is_up(port); /* it stays in this state until the next turn */
	}
	/* Connecting takes a dozen events: let them be handled without waiting for turns. */
	if (!up && wh_calm_holds)
		let_go();
	rte_rwlock_write_unlock(&wh_calm_bursts);
	return up;
}

void wh_calm_act(void (*act)(struct wh_port *port), struct wh_port *port)
{
	rte_rwlock_write_lock(&wh_calm_bursts);
	WH_ASSERT(ports > 0);

	bool held = wh_calm_holds; /* because of another port */

	if (!held)
		hold();
	act(port);
	if (!held)
		let_go();
	rte_rwlock_write_unlock(&wh_calm_bursts);
}

/*
 * Whether this is a Unix socket of type SEQPACKET: memif uses it to connect, and nothing else here
 * does.
 */
static bool is_memif_control(int fd)
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
 * Whether send(2) can replace sendmsg: the message has bytes only, in one piece or on a stream,
 * where borders between pieces do not matter.
 */
static bool is_plain(int fd, const struct msghdr *message)
{
	int type = 0;
	socklen_t bytes = sizeof(type);

	if (message->msg_name != NULL || message->msg_controllen > 0 || message->msg_iovlen == 0)
		return false;
	return message->msg_iovlen == 1 ||
	       (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_STREAM);
}

static ssize_t send_plainly(int fd, const struct msghdr *message, int flags)
{
	size_t sent = 0;

	for (size_t i = 0; i < message->msg_iovlen; i++) {
		const struct iovec *part = &message->msg_iov[i];
		int more = i + 1 < message->msg_iovlen ? MSG_MORE : 0;
		ssize_t rc = send(fd, part->iov_base, part->iov_len, flags | more);

		if (rc < 0 && sent == 0)
			return rc;
		sent += rc < 0 ? 0 : (size_t)rc;
		if (rc < 0 || (size_t)rc < part->iov_len)
			break;
	}
	return (ssize_t)sent;
}

/*
 * Replaces libc's function, also for libraries, for two reasons.
 *
 * A guarded process then needs the system call sendmsg for descriptors only: bytes alone go by
 * send(2).
 *
 * A program that connects to a memif socket and leaves before the server's first message makes
 * sending fail. The driver (DPDK 22.11) then frees the channel and closes its descriptor, but
 * leaves both in EAL's interrupt thread, which panics: any local program that may connect could
 * crash the server. So the driver is told that its message was sent. It notices the end of the
 * connection when it reads, and handles that.
 */
__attribute__((visibility("default"), externally_visible)) ssize_t sendmsg(
	int fd, const struct msghdr *message, int flags)
{
	flags |= MSG_NOSIGNAL;

	ssize_t sent = is_plain(fd, message) ? send_plainly(fd, message, flags)
					     : syscall(SYS_sendmsg, fd, message, flags);

	if (sent >= 0 || (errno != EPIPE && errno != ECONNRESET))
		return sent;

	int error = errno;

	if (is_memif_control(fd))
		return (ssize_t)bytes_of(message);
	errno = error;
	return sent;
}
