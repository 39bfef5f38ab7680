/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_CONTROL_CONTROL_H
#define WH_CONTROL_CONTROL_H

/*
 * The control socket of a process that serves: a thread of its own, which sleeps in poll(2) and
 * never on a core that polls, with its clients, each a stream of lines (line.h).
 *
 *   wh_control_open   the socket is there; before the guard, which lets nobody bind one
 *   wh_control_start  its thread answers
 *   wh_control_stop   nobody is answered any more, and the socket is gone
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "control/line.h"
#include "guard/guard.h"

#define WH_CONTROL_CLIENTS_MAX 64

/* Of one user, so that others, and root, get in. */
#define WH_CONTROL_USER_CLIENTS_MAX 48

/* Places that only root, and whom the server runs as, have. */
#define WH_CONTROL_ADMINISTRATORS 8

/* Who lets more than that wait is let go of. */
#define WH_CONTROL_WAITING_BYTES (UINT32_C(1) << 20)

#define WH_CONTROL_PATH_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)

struct wh_control_client {
	int fd; /* -1: a free place */
	uint32_t uid;
	uint64_t since_ms;
	bool has_asked;   /* one line at least */
	bool watches;     /* wants events ... */
	uint64_t watched; /* ... of this job; 0: of all */
	uint64_t number;  /* another of each client */
	char *line;
	uint32_t line_room; /* grows up to WH_CONTROL_LINE_BYTES; used so far: */
	uint32_t line_bytes;
	bool lines_wait; /* whole ones, for the next turn */
	char *waiting;   /* not taken yet */
	uint32_t waiting_bytes;
	bool late; /* too much waits */
};

/* What else the thread does, between two looks at the socket. */
struct wh_control_turn {
	/* Returns milliseconds until it wants to be called again. */
	uint32_t (*take)(void *context);
	void *context;
	int fd; /* when there is something to read from it, too; -1: none */
};

#define WH_CONTROL_TURNS_MAX 5

struct wh_control_socket {
	int fd;      /* -1: there is none */
	int wake_fd; /* an eventfd */
	char path[WH_CONTROL_PATH_BYTES];
	struct wh_control_tables tables;
	struct wh_control_client client[WH_CONTROL_CLIENTS_MAX];
	uint64_t clients; /* so far */

	/* Others of the thread: */
	struct wh_control_turn turn[WH_CONTROL_TURNS_MAX];
	uint32_t turns;
	/* A client is gone; NULL: nobody minds. */
	void (*on_gone)(void *context, uint64_t number);
	void *context;

	pthread_t thread;
	bool runs;
	_Atomic bool stop;
};

/*
 * Where it is, by --control: a path, "off", or "" for WAVEHAUL_CONTROL or the usual place, which is
 * below /run/wavehaul for root and for a service. 0, -ENOENT for "off", or -ENAMETOOLONG with the
 * path's beginning.
 */
int wh_control_place(const char *option, char path[WH_CONTROL_PATH_BYTES]);

/*
 * `user` decides on the group that may connect. False: it was said why there is none; *status
 * is an exit status if that was asked for by name.
 */
bool wh_control_open(
	struct wh_control_socket *control, const char *option, const char *user, int *status);

/* Before the thread starts; it does then, socket or not. */
void wh_control_add_turn(
	struct wh_control_socket *control, uint32_t (*take)(void *context), void *context, int fd);

/* Lets it be removed at the end. */
void wh_control_guard(const struct wh_control_socket *control, struct wh_guard *guard);

/* 0 or a negative errno. */
int wh_control_start(struct wh_control_socket *control);
void wh_control_stop(struct wh_control_socket *control);

/* Any thread: its turn is to come at once. */
void wh_control_wake(struct wh_control_socket *control);

/* The control's own thread: an event of that job, to all that watch. It is freed. */
void wh_control_tell(struct wh_control_socket *control, uint64_t job, json_t *event);

/* Likewise: an event to that client alone, if it is still there. It is freed. */
void wh_control_tell_client(struct wh_control_socket *control, uint64_t number, json_t *event);

/* Likewise: whether so little waits for that client that it may be told more. */
bool wh_control_has_room(const struct wh_control_socket *control, uint64_t number);

/* In a command: its client is told of events of that job, 0 for all. */
void wh_control_watch(struct wh_control_call *call, uint64_t job);

#endif
