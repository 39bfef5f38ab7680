/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A few pages by HTTP, for any client that reaches the socket: GET and HEAD, one answer per
 * connection. It has no thread: its owner polls `fd` and calls serve. The number of connections,
 * the size of a request, and the time from its first byte to the last are limited. When there are
 * many connections, a new one replaces the oldest.
 */

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#define WH_HTTP_CLIENTS_MAX  32
#define WH_HTTP_CLIENT_BYTES (16 << 10) /* of a request, and of its answer's headers */
#define WH_HTTP_CLIENT_MS    10000
#define WH_HTTP_TYPE_BYTES   96

struct wh_http_page {
	char type[WH_HTTP_TYPE_BYTES];
	char *text; /* from malloc; freed by the server */
	size_t bytes;
};

struct wh_http {
	struct MHD_Daemon *daemon; /* NULL: not open */
	int fd;
	/*
	 * Answer only requests that name this host by "localhost" or an address: with a foreign
	 * name that an attacker resolves to this host, a browser would let the attacker's page read
	 * the answer.
	 */
	bool of_this_host;
	/* The page of that path in one of the accepted types; false: there is none. */
	bool (*page_of)(
		void *context, const char *path, const char *accept, struct wh_http_page *page);
	void *context;
	struct wh_http_client {
		struct MHD_Connection *connection; /* NULL: unused */
		uint64_t since_ms;
		bool shut;
	} client[WH_HTTP_CLIENTS_MAX];
};

/* Takes over the listening socket, even if it fails: 0 or a negative errno. Set page_of before. */
int wh_http_open(struct wh_http *http, int listen_fd);

/*
 * Does what can be done now; returns the milliseconds until the next call, unless `fd` is ready
 * earlier.
 */
uint32_t wh_http_serve(struct wh_http *http);

/* Closes all connections. */
void wh_http_close(struct wh_http *http);
