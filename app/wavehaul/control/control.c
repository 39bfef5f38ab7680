/* SPDX-License-Identifier: BSD-3-Clause */
#include "control/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_lcore.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/moment/system_clock.h"
#include "control/control_place.h"

/* Connections waiting to be accepted. */
#define BACKLOG 16

/* Polled descriptors beside those of clients. */
#define FIXED (2 + WH_CONTROL_TURNS_MAX)

/* Lines of one client per turn, so that one with many does not delay others. */
#define LINES_OF_A_TURN 4

/* After this time a client that has sent no request may be disconnected in favour of another. */
#define SILENT_MS 1000

static void clients_init(struct wh_control_socket *control)
{
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++)
		control->client[i].fd = -1;
}

bool wh_control_open(
	struct wh_control_socket *control, const char *option, const char *user, int *status)
{
	*status = WH_EXIT_OK;
	control->fd = -1;
	control->wake_fd = -1;
	clients_init(control);

	int placed = wh_control_place(option, control->path);

	if (placed == -ENOENT)
		return false;
	control->fd = placed == 0 ? wh_control_bind(control->path, user) : placed;
	if (control->fd >= 0 && listen(control->fd, BACKLOG) != 0) {
		close(control->fd);
		control->fd = -errno;
	}
	if (control->fd < 0) {
		int error = -control->fd;

		control->fd = -1;
		wh_say("no control socket %s: %s", control->path,
			error == EADDRINUSE ? "another server has it; --control names another place"
					    : strerror(error));
		*status = option[0] != '\0' ? WH_EXIT_OTHER : WH_EXIT_OK;
		return false;
	}
	control->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return control->wake_fd >= 0;
}

void wh_control_add_turn(
	struct wh_control_socket *control, uint32_t (*take)(void *context), void *context, int fd)
{
	WH_ASSERT(control->turns < WH_CONTROL_TURNS_MAX && !control->runs);
	control->turn[control->turns++] = (struct wh_control_turn){take, context, fd};
}

void wh_control_guard(const struct wh_control_socket *control, struct wh_guard *guard)
{
	char folder[WH_CONTROL_PATH_BYTES];
	char *slash;

	if (control->fd < 0)
		return;
	strcpy(folder, control->path);
	slash = strrchr(folder, '/');
	if (slash != NULL)
		slash[slash == folder ? 1 : 0] = '\0';
	wh_guard_let_path(guard, slash != NULL ? folder : ".", WH_LET_CLEAR);
}

static void let_go(struct wh_control_socket *control, struct wh_control_client *client)
{
	uint64_t number = client->number;

	if (client->fd >= 0)
		close(client->fd);
	free(client->line);
	free(client->waiting);
	*client = (struct wh_control_client){.fd = -1};
	if (control->on_gone != NULL)
		control->on_gone(control->context, number);
}

/* Sends what it can without blocking; false: the client has gone. */
static bool flush(struct wh_control_client *client)
{
	while (client->waiting_bytes > 0) {
		ssize_t sent = send(client->fd, client->waiting, client->waiting_bytes,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0)
			return errno == EAGAIN || errno == EINTR;
		client->waiting_bytes -= (uint32_t)sent;
		memmove(client->waiting, client->waiting + sent, client->waiting_bytes);
	}
	return true;
}

/* Frees the object. */
static void say(struct wh_control_client *client, json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);
	size_t bytes = text != NULL ? strlen(text) + 1 : 0;
	char *larger = NULL;

	json_decref(object);
	if (bytes > 0 && client->waiting_bytes + bytes <= WH_CONTROL_WAITING_BYTES)
		larger = realloc(client->waiting, client->waiting_bytes + bytes);
	if (larger == NULL) {
		client->late = true;
		free(text);
		return;
	}
	text[bytes - 1] = '\n';
	memcpy(larger + client->waiting_bytes, text, bytes);
	client->waiting = larger;
	client->waiting_bytes += (uint32_t)bytes;
	free(text);
}

void wh_control_tell(struct wh_control_socket *control, uint64_t job, json_t *event)
{
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++) {
		struct wh_control_client *client = &control->client[i];

		if (client->fd >= 0 && client->watches &&
			(client->watched == 0 || client->watched == job)) {
			say(client, json_incref(event));
			client->late |= !flush(client);
		}
	}
	json_decref(event);
}

void wh_control_tell_client(struct wh_control_socket *control, uint64_t number, json_t *event)
{
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++) {
		struct wh_control_client *client = &control->client[i];

		if (client->fd < 0 || client->number != number)
			continue;
		say(client, json_incref(event));
		client->late |= !flush(client);
	}
	json_decref(event);
}

bool wh_control_has_room(const struct wh_control_socket *control, uint64_t number)
{
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++)
		if (control->client[i].fd >= 0 && control->client[i].number == number)
			return control->client[i].waiting_bytes < WH_CONTROL_WAITING_BYTES / 4;
	return false;
}

void wh_control_watch(struct wh_control_call *call, uint64_t job)
{
	if (call->client == NULL)
		return;
	call->client->watches = true;
	call->client->watched = job;
}

void wh_control_be_stream(struct wh_control_call *call)
{
	if (call->client == NULL)
		return;
	call->client->is_stream = true;
	call->client->watches = false;
}

int wh_control_take_stream(struct wh_control_socket *control, uint64_t number, uint32_t uid)
{
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++) {
		struct wh_control_client *client = &control->client[i];
		int fd = client->fd;

		if (fd < 0 || client->number != number || !client->is_stream ||
			client->uid != uid || client->waiting_bytes > 0 || client->late)
			continue;
		client->fd = -1;
		let_go(control, client);
		return fd;
	}
	return -ENOENT;
}

static bool is_administrator(uint32_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Disconnects the oldest client that has never sent a request, to make room. */
static struct wh_control_client *let_silent_go(
	struct wh_control_socket *control, bool (*may_go)(uint32_t of, uint32_t uid), uint32_t uid)
{
	uint64_t now = wh_steady_ms();
	struct wh_control_client *silent = NULL;

	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++) {
		struct wh_control_client *client = &control->client[i];

		if (client->fd >= 0 && !client->has_asked && may_go(client->uid, uid) &&
			now - client->since_ms >= SILENT_MS &&
			(silent == NULL || client->since_ms < silent->since_ms))
			silent = client;
	}
	if (silent != NULL)
		let_go(control, silent);
	return silent;
}

static bool is_same_user(uint32_t of, uint32_t uid)
{
	return of == uid;
}

static bool is_no_less(uint32_t of, uint32_t uid)
{
	return is_administrator(uid) || !is_administrator(of);
}

/* Some places are reserved for administrators, and no single user may have all the others. */
static struct wh_control_client *free_place(struct wh_control_socket *control, uint32_t uid)
{
	struct wh_control_client *found = NULL;
	uint32_t same = 0, others = 0;

	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++) {
		struct wh_control_client *client = &control->client[i];

		if (client->fd < 0)
			found = client;
		same += client->fd >= 0 && client->uid == uid;
		others += client->fd >= 0 && !is_administrator(client->uid);
	}
	if (is_administrator(uid))
		return found != NULL ? found : let_silent_go(control, is_no_less, uid);
	if (same >= WH_CONTROL_USER_CLIENTS_MAX)
		return let_silent_go(control, is_same_user, uid);
	if (found == NULL || others >= WH_CONTROL_CLIENTS_MAX - WH_CONTROL_ADMINISTRATORS)
		return let_silent_go(control, is_no_less, uid);
	return found;
}

static void take_client(struct wh_control_socket *control)
{
	int fd = accept4(control->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (fd < 0)
		return;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
		close(fd);
		return;
	}

	struct wh_control_client *client = free_place(control, peer.uid);
	char *line = client != NULL ? malloc(WH_CONTROL_PIECE_BYTES) : NULL;

	if (line == NULL) {
		static const char full[] = "{\"ok\":false,\"error\":\"too many clients\"}\n";

		(void)!send(fd, full, sizeof(full) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(fd);
		return;
	}
	*client = (struct wh_control_client){.fd = fd,
		.uid = peer.uid,
		.number = ++control->clients,
		.since_ms = wh_steady_ms(),
		.line = line,
		.line_room = WH_CONTROL_PIECE_BYTES};
	say(client, json_pack("{s:s, s:i}", "wavehaul", WH_VERSION, "control", WH_CONTROL_VERSION));
}

static void answer_line(struct wh_control_socket *control, struct wh_control_client *client,
	const char *line, uint32_t bytes)
{
	struct wh_control_call call = {
		.uid = client->uid,
		.administers = is_administrator(client->uid),
		.client = client,
	};

	client->has_asked = true;
	say(client, wh_control_answer(&control->tables, line, bytes, &call));
}

/* Enlarges the line, for requests with long lists. False: the line exceeds the limit. */
static bool grow_line(struct wh_control_client *client)
{
	uint32_t room = 2 * client->line_room;
	char *larger = room <= WH_CONTROL_LINE_BYTES ? realloc(client->line, room) : NULL;

	if (larger == NULL)
		return false;
	client->line = larger;
	client->line_room = room;
	return true;
}

/* Answers complete lines, up to a turn's limit: then other clients have their turn. */
static void answer_lines(struct wh_control_socket *control, struct wh_control_client *client)
{
	const char *line = client->line;
	const char *end = NULL;

	for (uint32_t i = 0; i < LINES_OF_A_TURN && !client->late && !client->is_stream; i++) {
		end = memchr(line, '\n', client->line_bytes);
		if (end == NULL)
			break;

		uint32_t bytes = (uint32_t)(end - line);

		answer_line(control, client, line, bytes);
		client->line_bytes -= bytes + 1;
		line = end + 1;
	}
	memmove(client->line, line, client->line_bytes);
	/*
	 * A client must await the answer before it sends the stream: bytes before it would be lost.
	 */
	if (client->is_stream && client->line_bytes > 0)
		client->late = true;
	client->lines_wait = end != NULL && memchr(client->line, '\n', client->line_bytes) != NULL;
	if (client->lines_wait || client->line_bytes < client->line_room || grow_line(client))
		return;
	say(client, json_pack("{s:b, s:s, s:i}", "ok", 0, "error", "a line is too long", "status",
			    WH_EXIT_USAGE));
	(void)flush(client);
	client->late = true;
}

/* False: the client has gone. */
static bool hear(struct wh_control_socket *control, struct wh_control_client *client)
{
	ssize_t bytes = recv(client->fd, client->line + client->line_bytes,
		client->line_room - client->line_bytes, MSG_DONTWAIT);

	if (bytes < 0)
		return errno == EAGAIN || errno == EINTR;
	if (bytes == 0)
		return false;
	client->line_bytes += (uint32_t)bytes;
	answer_lines(control, client);
	return true;
}

static void serve_client(
	struct wh_control_socket *control, struct wh_control_client *client, short events)
{
	bool there = true;

	if (client->is_stream)
		there = (events & (POLLHUP | POLLERR)) == 0;
	else if (client->lines_wait)
		answer_lines(control, client);
	else if ((events & (POLLIN | POLLHUP | POLLERR)) != 0)
		there = hear(control, client);
	if (!there || client->late || !flush(client) || client->late)
		let_go(control, client);
}

static void look(struct wh_control_socket *control, uint32_t patience_ms)
{
	struct pollfd polled[FIXED + WH_CONTROL_CLIENTS_MAX] = {
		{.fd = control->wake_fd, .events = POLLIN},
		{.fd = control->fd, .events = POLLIN},
	};
	bool lines_wait = false;
	uint64_t wakes;

	for (uint32_t i = 0; i < WH_CONTROL_TURNS_MAX; i++)
		polled[2 + i] = (struct pollfd){
			.fd = i < control->turns ? control->turn[i].fd : -1, .events = POLLIN};
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++) {
		const struct wh_control_client *client = &control->client[i];

		lines_wait |= client->lines_wait;
		polled[FIXED + i] = (struct pollfd){
			.fd = client->fd,
			.events = (short)((client->lines_wait || client->is_stream ? 0 : POLLIN) |
					  (client->waiting_bytes > 0 ? POLLOUT : 0)),
		};
	}
	if (poll(polled, FIXED + WH_CONTROL_CLIENTS_MAX, lines_wait ? 0 : (int)patience_ms) < 0)
		return;
	if (polled[0].revents != 0 && read(control->wake_fd, &wakes, sizeof(wakes)) < 0)
		WH_ASSERT(errno == EAGAIN);
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++)
		if (polled[FIXED + i].fd >= 0 &&
			(polled[FIXED + i].revents != 0 || control->client[i].lines_wait))
			serve_client(control, &control->client[i], polled[FIXED + i].revents);
	if (polled[1].revents != 0)
		take_client(control);
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++)
		if (control->client[i].fd >= 0 && control->client[i].late)
			let_go(control, &control->client[i]);
}

static void *run(void *argument)
{
	struct wh_control_socket *control = argument;

	while (!atomic_load_explicit(&control->stop, memory_order_acquire)) {
		uint32_t patience_ms = 1000;

		for (uint32_t i = 0; i < control->turns; i++)
			patience_ms = (uint32_t)wh_min_u64(
				patience_ms, control->turn[i].take(control->turn[i].context));
		look(control, patience_ms);
	}
	return NULL;
}

int wh_control_start(struct wh_control_socket *control)
{
	if (control->fd < 0 && control->turns == 0)
		return 0;
	if (control->wake_fd < 0)
		control->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control->wake_fd < 0)
		return -errno;

	/* DPDK's control threads run on CPUs without a loop. Without DPDK there are no lcores. */
	int rc = rte_lcore_count() > 0 ? rte_ctrl_thread_create(
						 &control->thread, "wh-control", NULL, run, control)
				       : -pthread_create(&control->thread, NULL, run, control);

	control->runs = rc == 0;
	return rc;
}

void wh_control_wake(struct wh_control_socket *control)
{
	const uint64_t one = 1;

	if (control->wake_fd >= 0 && write(control->wake_fd, &one, sizeof(one)) < 0)
		WH_ASSERT(errno == EAGAIN);
}

void wh_control_stop(struct wh_control_socket *control)
{
	if (control->runs) {
		atomic_store_explicit(&control->stop, true, memory_order_release);
		wh_control_wake(control);
		pthread_join(control->thread, NULL);
		control->runs = false;
	}
	for (uint32_t i = 0; i < WH_CONTROL_CLIENTS_MAX; i++)
		if (control->client[i].fd >= 0)
			let_go(control, &control->client[i]);
	if (control->fd >= 0) {
		close(control->fd);
		unlink(control->path);
	}
	if (control->wake_fd >= 0)
		close(control->wake_fd);
	control->fd = -1;
	control->wake_fd = -1;
}
