/* SPDX-License-Identifier: BSD-3-Clause */

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUFFER_BYTES (256 << 10)
#define SAID_BYTES   (64 << 10)
#define BEAT_MS      200
#define END_US       (5 * G_USEC_PER_SEC) /* for the peer to be told */

struct child {
	pid_t pid;
	int in, out, err; /* -1: closed */
	char *fed;        /* of BUFFER_BYTES */
	size_t fed_at, fed_bytes;
};

/* What it reads by is a socket: its end is said by shutdown(), and not by whoever dies. */
static bool open_ends(int in[2], int out[2], int err[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0)
		return false;
	if (pipe2(out, O_CLOEXEC) != 0)
		return false;
	return pipe2(err, O_CLOEXEC) == 0;
}

/* In the child before exec(). Ctrl-C is for the program that has loaded us: it cancels. */
static void set_up(void *parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (getppid() != *(const pid_t *)parent)
		_exit(EXIT_FAILURE);
}

/*
 * The child ends with this process, and holds our end of its standard input, too: if this process
 * is killed, its input has no end, and half a file is not taken for a whole one.
 */
static bool spawn(pid_t *pid, char **words, const int in[2], int out, int err, GError **why)
{
	const int held = STDERR_FILENO + 1;
	pid_t parent = getpid();

	return g_spawn_async_with_pipes_and_fds(NULL, (const char *const *)words, NULL,
		G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, set_up, &parent, in[1], out, err,
		&in[0], &held, 1, pid, NULL, NULL, NULL, why);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool start(struct child *child, char **words, GError **err)
{
	int in[2] = {-1, -1}, out[2] = {-1, -1}, said[2] = {-1, -1};
	GError *why = NULL;
	bool is_open = open_ends(in, out, said), runs;

	if (!is_open)
		gfal2_set_error(err, plugin_quark(), errno, __func__, "no descriptors: %s",
			g_strerror(errno));
	runs = is_open && spawn(&child->pid, words, in, out[1], said[1], &why);
	close_one(&in[1]);
	close_one(&out[1]);
	close_one(&said[1]);
	child->in = in[0];
	child->out = out[0];
	child->err = said[0];
	child->fed = g_malloc(BUFFER_BYTES);
	if (why != NULL) {
		gfal2_set_error(err, plugin_quark(), EPROTONOSUPPORT, __func__,
			"%s; is the package wavehaul installed?", why->message);
		g_error_free(why);
	}
	return runs;
}

/* Tells it to end, and kills it if it does not. */
static void stop(struct child *child)
{
	gint64 until = g_get_monotonic_time() + END_US;

	kill(child->pid, SIGTERM);
	close_one(&child->out);
	close_one(&child->err);
	while (waitpid(child->pid, NULL, WNOHANG) == 0) {
		if (g_get_monotonic_time() > until)
			kill(child->pid, SIGKILL);
		g_usleep(10000);
	}
}

/* Fills the buffer if it is empty, and passes on what the child takes. */
static bool feed(struct child *child, const struct flow *flow, GError **err)
{
	ssize_t count;

	if (child->fed_at == child->fed_bytes) {
		count = flow->feed(flow->context, child->fed, BUFFER_BYTES, err);
		if (count < 0)
			return false;
		if (count == 0) {
			shutdown(child->in, SHUT_WR);
			close_one(&child->in);
			return true;
		}
		child->fed_at = 0;
		child->fed_bytes = (size_t)count;
	}
	count = send(child->in, child->fed + child->fed_at, child->fed_bytes - child->fed_at,
		MSG_NOSIGNAL | MSG_DONTWAIT);
	if (count > 0)
		child->fed_at += (size_t)count;
	/* It has closed its end: what it says at its own end is why. */
	else if (count < 0 && errno != EAGAIN && errno != EINTR)
		close_one(&child->in);
	return true;
}

/* What has come on a descriptor, which is closed at its end. */
static ssize_t hear(int *fd, char *buffer)
{
	ssize_t count = read(*fd, buffer, BUFFER_BYTES);

	if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
		close_one(fd);
	return count;
}

static bool is_wanted(
	const struct plugin *plugin, gint64 until, const struct flow *flow, GError **err)
{
	if (!plugin->is_deaf && gfal2_is_canceled(plugin->context)) {
		gfal2_set_error(err, plugin_quark(), ECANCELED, __func__, "cancelled");
		return false;
	}
	if (until != 0 && g_get_monotonic_time() > until) {
		gfal2_set_error(err, plugin_quark(), ETIMEDOUT, __func__,
			"not over within the time that was given for it");
		return false;
	}
	return flow == NULL || flow->beat == NULL || flow->beat(flow->context, err);
}

static bool attend(
	struct child *child, const struct flow *flow, GString *said, char *buffer, GError **err)
{
	bool feeds = flow != NULL && flow->feed != NULL;
	struct pollfd ends[] = {
		{.fd = child->out, .events = POLLIN},
		{.fd = child->err, .events = POLLIN},
		{.fd = feeds ? child->in : -1, .events = POLLOUT},
	};
	ssize_t count;

	if (poll(ends, G_N_ELEMENTS(ends), BEAT_MS) <= 0)
		return true;
	if (ends[0].revents != 0 && (count = hear(&child->out, buffer)) > 0 && flow != NULL &&
		flow->take != NULL && !flow->take(flow->context, buffer, (size_t)count, err))
		return false;
	if (ends[1].revents != 0 && (count = hear(&child->err, buffer)) > 0 &&
		said->len < SAID_BYTES)
		g_string_append_len(said, buffer, count);
	return ends[2].revents == 0 || feed(child, flow, err);
}

/* Until it has closed both ends by which it speaks. */
static bool go_on(const struct plugin *plugin, struct child *child, gint64 until,
	const struct flow *flow, GString *said, GError **err)
{
	char *buffer = g_malloc(BUFFER_BYTES);
	gint64 next = 0;
	bool goes_on = true;

	while (goes_on && (child->out >= 0 || child->err >= 0)) {
		if (g_get_monotonic_time() >= next) {
			next = g_get_monotonic_time() + BEAT_MS * 1000;
			goes_on = is_wanted(plugin, until, flow, err);
		}
		goes_on = goes_on && attend(child, flow, said, buffer, err);
	}
	g_free(buffer);
	return goes_on;
}

static int status_of(pid_t pid, const char *name, GError **err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			gfal2_set_error(err, plugin_quark(), errno, __func__,
				"how %s ended is not known: %s", name, g_strerror(errno));
			return -1;
		}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	gfal2_set_error(err, plugin_quark(), EIO, __func__, "%s was ended by signal %d", name,
		WTERMSIG(status));
	return -1;
}

int child_run(const struct plugin *plugin, char **words, guint64 timeout_s, const struct flow *flow,
	GString *said, GError **err)
{
	struct child child = {};
	gint64 until =
		timeout_s > 0 ? g_get_monotonic_time() + (gint64)timeout_s * G_USEC_PER_SEC : 0;
	int status = -1;

	if (start(&child, words, err)) {
		if (flow == NULL || flow->feed == NULL)
			shutdown(child.in, SHUT_WR);
		if (go_on(plugin, &child, until, flow, said, err))
			status = status_of(child.pid, words[0], err);
		else
			stop(&child);
	}
	close_one(&child.in);
	close_one(&child.out);
	close_one(&child.err);
	g_free(child.fed);
	return status;
}
