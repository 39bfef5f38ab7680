/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/moment/system_clock.h"

/* From this many connections on, the oldest is closed. */
#define CROWDED (WH_HTTP_CLIENTS_MAX * 3 / 4)

#define IDLE_MS    1000
#define CROWDED_MS 2

static void shut(struct wh_http_client *client)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(client->connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	if (info != NULL && !client->shut)
		(void)shutdown(info->connect_fd, SHUT_RDWR);
	client->shut = true;
}

static uint32_t count_open(const struct wh_http *http)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < WH_HTTP_CLIENTS_MAX; i++)
		count += http->client[i].connection != NULL;
	return count;
}

static void make_room(struct wh_http *http)
{
	struct wh_http_client *oldest = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < WH_HTTP_CLIENTS_MAX; i++) {
		struct wh_http_client *client = &http->client[i];

		if (client->connection == NULL || client->shut)
			continue;
		count++;
		if (oldest == NULL || client->since_ms < oldest->since_ms)
			oldest = client;
	}
	if (count >= CROWDED)
		shut(oldest);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **of_client,
	enum MHD_ConnectionNotificationCode code)
{
	struct wh_http *http = context;
	struct wh_http_client *client = *of_client;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (client != NULL)
			client->connection = NULL;
		return;
	}
	make_room(http);
	for (uint32_t i = 0; i < WH_HTTP_CLIENTS_MAX; i++) {
		if (http->client[i].connection != NULL)
			continue;
		http->client[i] = (struct wh_http_client){connection, wh_steady_ms(), false};
		*of_client = &http->client[i];
		return;
	}
}

static enum MHD_Result reply(
	struct MHD_Connection *connection, unsigned int status, struct wh_http_page *page)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(page->bytes, page->text, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result queued;

	if (response == NULL) {
		free(page->text);
		return MHD_NO;
	}
	MHD_add_response_header(response, "Content-Type", page->type);
	MHD_add_response_header(response, "Connection", "close");
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(response, "Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	queued = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return queued;
}

static enum MHD_Result refuse(
	struct MHD_Connection *connection, unsigned int status, const char *text)
{
	struct wh_http_page page = {.type = "text/plain", .text = strdup(text)};

	if (page.text == NULL)
		return MHD_NO;
	page.bytes = strlen(page.text);
	return reply(connection, status, &page);
}

/* Whether the Host header is localhost or a numeric address. */
static bool names_this_host(struct MHD_Connection *connection)
{
	const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
	size_t chars = host != NULL ? strcspn(host, ":") : 0;

	if (host == NULL || host[0] == '[')
		return true;
	return (chars == 9 && strncasecmp(host, "localhost", 9) == 0) ||
	       strspn(host, "0123456789.") == chars;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
	const char *path, const char *method, const char *version, const char *body,
	size_t *body_bytes, void **of_request)
{
	struct wh_http *http = context;
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
	struct wh_http_page page;

	(void)version;
	(void)body;
	(void)of_request;
	if (*body_bytes > 0)
		return MHD_NO;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD\n");
	if (http->of_this_host && !names_this_host(connection))
		return refuse(connection, MHD_HTTP_FORBIDDEN,
			"ask for localhost, or by an address: this port is its own host's\n");
	if (!http->page_of(http->context, path, accept != NULL ? accept : "", &page))
		return refuse(connection, MHD_HTTP_NOT_FOUND, "/ and /metrics are all there is\n");
	return reply(connection, MHD_HTTP_OK, &page);
}

int wh_http_open(struct wh_http *http, int listen_fd)
{
	const union MHD_DaemonInfo *info;

	WH_ASSERT(http->page_of != NULL);
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, http,
		MHD_OPTION_LISTEN_SOCKET, listen_fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)WH_HTTP_CLIENTS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)WH_HTTP_CLIENT_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)(WH_HTTP_CLIENT_MS / 1000), MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, http, MHD_OPTION_END);
	if (http->daemon == NULL) {
		close(listen_fd);
		return -ENOMEM;
	}
	info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	WH_ASSERT(info != NULL);
	http->fd = info->epoll_fd;
	return 0;
}

/* Closes connections that take too long; returns the milliseconds until the next one does. */
static uint32_t shut_late(struct wh_http *http)
{
	uint64_t now = wh_steady_ms();
	uint64_t next_ms = IDLE_MS;

	for (uint32_t i = 0; i < WH_HTTP_CLIENTS_MAX; i++) {
		struct wh_http_client *client = &http->client[i];
		uint64_t age_ms = now - client->since_ms;

		if (client->connection == NULL || client->shut)
			continue;
		if (age_ms >= WH_HTTP_CLIENT_MS)
			shut(client);
		else
			next_ms = wh_min_u64(next_ms, WH_HTTP_CLIENT_MS - age_ms);
	}
	return (uint32_t)next_ms;
}

uint32_t wh_http_serve(struct wh_http *http)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;
	uint32_t next_ms;

	/*
	 * If all places were taken, the first run closes some connections, and only a second one
	 * accepts others.
	 */
	if (MHD_run(http->daemon) != MHD_YES || MHD_run(http->daemon) != MHD_YES)
		return IDLE_MS;
	next_ms = shut_late(http);
	if (count_open(http) >= CROWDED)
		next_ms = CROWDED_MS;
	if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES)
		next_ms = (uint32_t)wh_min_u64(next_ms, timeout_ms);
	return next_ms;
}

void wh_http_close(struct wh_http *http)
{
	if (http->daemon != NULL)
		MHD_stop_daemon(http->daemon);
	http->daemon = NULL;
}
