/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_METRICS_HTTP_H
#define WH_METRICS_HTTP_H

/*
 * A few pages by HTTP, for whoever reaches the socket: GET and HEAD, one answer to a connection.
 * No thread of its own: its owner polls `fd` and calls serve. Bounded in connections, in what a
 * request may hold, and in time from the first byte to the last; where there are many, the oldest
 * makes room for who comes.
 */

#include <stdbool.h>
#include <stdint.h>

#include <microhttpd.h>

#define WH_HTTP_CLIENTS_MAX  32
#define WH_HTTP_CLIENT_BYTES (16 << 10) /* of a request, and of headers of its answer */
#define WH_HTTP_CLIENT_MS    10000
#define WH_HTTP_TYPE_BYTES   96

struct wh_http_page {
	char type[WH_HTTP_TYPE_BYTES];
	char *text; /* of malloc; freed by who serves it */
	size_t bytes;
};

struct wh_http {
	struct MHD_Daemon *daemon; /* NULL: there is none */
	int fd;
	/* For this host alone: by its name or address. A name that somebody else has pointed here
	 * would have a browser read it to that somebody's page. */
	bool of_this_host;
	/* The page of that path for whoever accepts those types; false: there is none. */
	bool (*page_of)(
		void *context, const char *path, const char *accept, struct wh_http_page *page);
	void *context;
	struct wh_http_client {
		struct MHD_Connection *connection; /* NULL: a free place */
		uint64_t since_ms;
		bool shut;
	} client[WH_HTTP_CLIENTS_MAX];
};

/* Takes the listening socket, even when it fails: 0 or a negative errno. page_of is set before. */
int wh_http_open(struct wh_http *http, int listen_fd);

/* What can be done now; milliseconds until there is something again without anybody's word. */
uint32_t wh_http_serve(struct wh_http *http);

/* Nobody is answered any more. */
void wh_http_close(struct wh_http *http);

#endif
