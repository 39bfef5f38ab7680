/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The control socket of a process that serves: a thread of its own, which sleeps in poll(2) and
 * never runs on a polling core, with its clients, each a stream of lines (line.h).
 *
 *   wh_control_open   binds the socket; before the guard, which forbids that
 *   wh_control_start  its thread answers
 *   wh_control_stop   no more answers; the socket is removed
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "control/control_line.h"
#include "guard/guard.h"

#define WH_CONTROL_CLIENTS_MAX 64

/* Clients of one user, so that others, and root, can still connect. */
#define WH_CONTROL_USER_CLIENTS_MAX 48

/* Places reserved for root and the server's user. */
#define WH_CONTROL_ADMINISTRATORS 8

/* A client is disconnected if more than this waits to be sent to it. */
#define WH_CONTROL_WAITING_BYTES (UINT32_C(1) << 20)

#define WH_CONTROL_PATH_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)

struct wh_control_client {
	int fd; /* -1: unused */
	uint32_t uid;
	uint64_t since_ms;
	bool has_asked;   /* at least one line */
	bool watches;     /* receives events */
	uint64_t watched; /* the job whose events it receives; 0: all */
	uint64_t number;  /* unique for each client */
	char *line;
	uint32_t line_room;  /* grows up to WH_CONTROL_LINE_BYTES */
	uint32_t line_bytes; /* used of that */
	bool lines_wait;     /* complete lines wait for the next turn */
	bool is_stream;      /* sends no more lines: a job takes its bytes */
	char *waiting;       /* not sent yet */
	uint32_t waiting_bytes;
	bool late; /* too much is waiting */
};

/* Further work of the thread, done between two polls of the socket. */
struct wh_control_turn {
	/* Returns the milliseconds until its next call. */
	uint32_t (*take)(void *context);
	void *context;
	int fd; /* also called when this is readable; -1: none */
};

#define WH_CONTROL_TURNS_MAX 5

struct wh_control_socket {
	int fd;      /* -1: no socket */
	int wake_fd; /* an eventfd */
	char path[WH_CONTROL_PATH_BYTES];
	struct wh_control_tables tables;
	struct wh_control_client client[WH_CONTROL_CLIENTS_MAX];
	uint64_t clients; /* total so far */

	/* Further turns of the thread: */
	struct wh_control_turn turn[WH_CONTROL_TURNS_MAX];
	uint32_t turns;
	/* Called when a client has gone; may be NULL. */
	void (*on_gone)(void *context, uint64_t number);
	void *context;

	pthread_t thread;
	bool runs;
	_Atomic bool stop;
};

/*
 * The socket's path by --control: a path, "off", or "" for WAVEHAUL_CONTROL or the default, which
 * is below /run/wavehaul for root and for a service. 0, -ENOENT for "off", or -ENAMETOOLONG with a
 * truncated path.
 */
int wh_control_place(const char *option, char path[WH_CONTROL_PATH_BYTES]);

/*
 * `user` determines the group that may connect. False: no socket, as was reported; *status is an
 * exit status if the operator has asked for that socket.
 */
bool wh_control_open(
	struct wh_control_socket *control, const char *option, const char *user, int *status);

/* Call before the thread starts. If there are turns the thread starts even without a socket. */
void wh_control_add_turn(
	struct wh_control_socket *control, uint32_t (*take)(void *context), void *context, int fd);

/* Lets the guard permit removing the socket at the end. */
void wh_control_guard(const struct wh_control_socket *control, struct wh_guard *guard);

/* 0 or a negative errno. */
int wh_control_start(struct wh_control_socket *control);
void wh_control_stop(struct wh_control_socket *control);

/* Any thread: makes the thread take its turns at once. */
void wh_control_wake(struct wh_control_socket *control);

/* On the control's thread: sends an event of that job to all clients that watch it. Frees it. */
void wh_control_tell(struct wh_control_socket *control, uint64_t job, json_t *event);

/*
 * On the control's thread: sends an event to that client only, if it is still connected. Frees it.
 */
void wh_control_tell_client(struct wh_control_socket *control, uint64_t number, json_t *event);

/* On the control's thread: whether so little waits for that client that it may be sent more. */
bool wh_control_has_room(const struct wh_control_socket *control, uint64_t number);

/* In a command: its client will receive events of that job, 0 for all. */
void wh_control_watch(struct wh_control_call *call, uint64_t job);

/*
 * In a command: its client sends no more lines, but bytes for a job. Until a job takes the
 * connection it keeps its place, and ends with its client.
 */
void wh_control_be_stream(struct wh_control_call *call);

/*
 * On the control's thread: takes over the connection of such a client of that user. The descriptor
 * is non-blocking, and from now on the caller's. Nobody else has it, so nobody can make it block.
 * -ENOENT: there is no such client.
 */
int wh_control_take_stream(struct wh_control_socket *control, uint64_t number, uint32_t uid);
