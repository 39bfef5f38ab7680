/* SPDX-License-Identifier: BSD-3-Clause */
#include "ssh/passage.h"

#include <errno.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "cli/moment/system_clock.h"
#include "cli/signals.h"
#include "seal/seal.h"
#include "udp/sockaddr.h"
#include "wire/packet.h"

#define ASK_EVERY_NS UINT64_C(200000000)

static int open_to(const struct wh_address *address)
{
	union wh_sockaddr to;
	socklen_t bytes = wh_sockaddr_of(address, &to);
	int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, &to.any, bytes) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void ask(struct wh_passage *passage, uint64_t now_ns)
{
	const struct wh_packet packet = {
		.type = WH_PACKET_ASK,
		.ask = {.handshake = passage->number},
	};
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	uint32_t length = wh_packet_encode(&packet, bytes, sizeof(bytes));

	wh_seal_close_packet(&wh_seal_to_listener, bytes, length);
	for (uint32_t i = 0; i < passage->count; i++)
		if (passage->fd[i] >= 0 && send(passage->fd[i], bytes, length, MSG_NOSIGNAL) < 0)
			passage->refused |= errno == ECONNREFUSED;
	passage->asked_ns = now_ns;
}

void wh_passage_begin(struct wh_passage *passage, const struct wh_address *address, uint32_t count)
{
	uint64_t now_ns = wh_steady_ns();

	WH_ASSERT(count <= WH_PASSAGE_ADDRESSES_MAX);
	*passage = (struct wh_passage){.count = count, .began_ns = now_ns};
	if (getrandom(&passage->number, sizeof(passage->number), 0) < 0)
		passage->number = now_ns;
	passage->number |= 1; /* 0 is none */
	for (uint32_t i = 0; i < count; i++) {
		passage->address[i] = address[i];
		passage->fd[i] = open_to(&address[i]);
	}
	ask(passage, now_ns);
}

/* Whether that socket has our answer; all that it has is read. */
static bool has_answer(struct wh_passage *passage, int fd)
{
	uint8_t bytes[WH_CONTROL_BYTES_MAX];
	struct wh_packet packet;
	ssize_t got;

	while ((got = recv(fd, bytes, sizeof(bytes), 0)) >= 0)
		if (wh_packet_decode(bytes, (size_t)got, &packet) == WH_WIRE_OK &&
			packet.type == WH_PACKET_COOKIE &&
			packet.cookie.handshake == passage->number)
			return true;
	passage->refused |= errno == ECONNREFUSED;
	return false;
}

static int look(struct wh_passage *passage)
{
	for (uint32_t i = 0; i < passage->count; i++)
		if (passage->fd[i] >= 0 && has_answer(passage, passage->fd[i]))
			return (int)i;
	return -EAGAIN;
}

static void close_all(struct wh_passage *passage)
{
	for (uint32_t i = 0; i < passage->count; i++)
		if (passage->fd[i] >= 0)
			close(passage->fd[i]);
	passage->count = 0;
}

int wh_passage_poll(struct wh_passage *passage, uint64_t patience_ns)
{
	uint64_t now_ns = wh_steady_ns();
	int found = look(passage);

	if (found == -EAGAIN && now_ns >= passage->began_ns + patience_ns)
		found = -ETIMEDOUT;
	else if (found == -EAGAIN && now_ns >= passage->asked_ns + ASK_EVERY_NS)
		ask(passage, now_ns);
	if (found != -EAGAIN)
		close_all(passage);
	return found;
}

/* Until something has come, or the next question is due. */
static void wait(const struct wh_passage *passage)
{
	struct pollfd polled[WH_PASSAGE_ADDRESSES_MAX];
	uint64_t due_ns = passage->asked_ns + ASK_EVERY_NS;
	uint64_t now_ns = wh_steady_ns();

	for (uint32_t i = 0; i < passage->count; i++)
		polled[i] = (struct pollfd){.fd = passage->fd[i], .events = POLLIN};
	(void)poll(polled, passage->count,
		now_ns < due_ns ? (int)((due_ns - now_ns) / 1000000) + 1 : 0);
}

int wh_passage_await(struct wh_passage *passage, uint64_t patience_ns)
{
	uint32_t signals = wh_signals_count();
	int found;

	while ((found = wh_passage_poll(passage, patience_ns)) == -EAGAIN) {
		if (wh_signals_count() != signals) {
			close_all(passage);
			return -EINTR;
		}
		wait(passage);
	}
	return found;
}
