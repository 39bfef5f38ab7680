/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: what somebody says to the port of figures, from the first byte on: lines, heads and
 * bodies, in one piece or in several. Each is answered by a page, or refused, or let go of; a page
 * goes to nobody but who asked for it by GET or HEAD, of this host by its name, and no place is
 * kept.
 */

#include "metrics/http.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/prng.h"
#include "fuzz.h"
#include "text_seed.h"

#define PAGE "what is asked for"

/* Of statuses that there are. */
#define STATUSES 600

static struct wh_http http;
static struct sockaddr_un server = {.sun_family = AF_UNIX};
static socklen_t server_bytes;
static uint64_t statuses[STATUSES], unanswered, pages_asked;

static const char *const seeds[] = {
	"GET /metrics HTTP/1.1\r\nHost: localhost:9480\r\nAccept: "
	"application/openmetrics-text;version=1.0.0,*/*\r\n\r\n",
	"HEAD / HTTP/1.0\r\n\r\n",
	"GET /metrics?x=%2e&y HTTP/1.1\r\nHost: [::1]:9480\r\nConnection: close\r\n\r\n",
	"POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n\r\nhello",
	"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
	"GET / HTTP/1.1\r\nHost: evil.example\r\nCookie: a=b; c=\"d\"\r\n\r\n",
	"GET /%00metrics HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n\r\n",
};

static bool page_of(void *context, const char *path, const char *accept, struct wh_http_page *page)
{
	(void)context;
	WH_ASSERT(path != NULL && accept != NULL);
	pages_asked++;
	if (strcmp(path, "/") != 0 && strcmp(path, "/metrics") != 0)
		return false;
	strcpy(page->type, strstr(accept, "openmetrics") != NULL ? "x/y" : "text/plain");
	page->text = strdup(PAGE);
	page->bytes = strlen(PAGE);
	return true;
}

static void open_server(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	/* An abstract name, which leaves no file. */
	server_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				   (size_t)snprintf(server.sun_path + 1, 60, "wh_fuzz_http_%d",
					   (int)getpid()));
	WH_ASSERT(fd >= 0 && bind(fd, (struct sockaddr *)&server, server_bytes) == 0);
	WH_ASSERT(listen(fd, 4) == 0);
	http = (struct wh_http){.page_of = page_of, .of_this_host = true};
	WH_ASSERT(wh_http_open(&http, fd) == 0);
}

static uint32_t clients(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < WH_HTTP_CLIENTS_MAX; i++)
		count += http.client[i].connection != NULL;
	return count;
}

/* Whether its one line of that kind names another host. */
static bool names_another(const char *said, size_t length)
{
	static const char line[] = "\r\nHost: evil.example\r\n";
	const char *head_end = memmem(said, length, "\r\n\r\n", 4);
	size_t head = head_end != NULL ? (size_t)(head_end - said) + 2 : length;
	const char *found = memmem(said, head, line, sizeof(line) - 1);
	uint32_t count = 0;

	for (size_t i = 0; i + 4 <= head; i++)
		count += strncasecmp(said + i, "host", 4) == 0;
	return found != NULL && count == 1 && memmem(said, head, "\n\n", 2) == NULL;
}

static void judge(const char *answer, size_t bytes, const char *said, size_t length)
{
	int status = bytes > 12 ? atoi(answer + 9) : 0;
	const char *page = memmem(answer, bytes, PAGE, sizeof(PAGE) - 1);

	if (bytes == 0) {
		unanswered++;
		return;
	}
	WH_ASSERT(strncmp(answer, "HTTP/1.", 7) == 0 && status >= 100 && status < STATUSES);
	WH_ASSERT(page == NULL || memmem(answer, bytes, " 200 OK\r\n", 9) != NULL);
	WH_ASSERT(page == NULL || !names_another(said, length));
	statuses[status]++;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static char answer[8192];
	size_t first = length > 0 && bytes[length - 1] % 2 == 0 ? length / 2 : length;
	size_t used = 0;
	ssize_t got;
	int fd;

	if (http.daemon == NULL)
		open_server();
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	WH_ASSERT(fd >= 0 && connect(fd, (struct sockaddr *)&server, server_bytes) == 0);
	if (send(fd, bytes, first, MSG_NOSIGNAL) == (ssize_t)first && first < length) {
		(void)wh_http_serve(&http);
		(void)!send(fd, bytes + first, length - first, MSG_NOSIGNAL);
	}
	(void)shutdown(fd, SHUT_WR);
	for (uint32_t turns = 0; turns < 8 && (turns == 0 || clients() > 0); turns++) {
		(void)wh_http_serve(&http);
		while (used < sizeof(answer) &&
			(got = recv(fd, answer + used, sizeof(answer) - used, MSG_DONTWAIT)) > 0)
			used += (size_t)got;
	}
	close(fd);
	for (uint32_t turns = 0; turns < 4 && clients() > 0; turns++)
		(void)wh_http_serve(&http);
	WH_ASSERT(clients() == 0 && used < sizeof(answer));
	judge(answer, used, (const char *)bytes, length);
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	return wh_fuzz_text_seed(seeds, sizeof(seeds) / sizeof(seeds[0]), number, bytes, room);
}

/* Lines of words that are near to good ones; sometimes one that is too long. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char *const methods[] = {"GET", "HEAD", "POST", "OPTIONS", "get", "G\x01T"};
	static const char *const paths[] = {"/", "/metrics", "//", "/metrics/", "/../metrics", "*",
		"http://localhost/metrics", "/?a", "/%", "/%zz", "/metrics%00", "", "/metrics#"};
	static const char *const heads[] = {"Host: localhost", "Host: evil.example",
		"Host:", "Host: 1.2.3.4", "Accept: application/openmetrics-text",
		"Content-Length: 3", "Content-Length: -1", "Content-Length: 18446744073709551616",
		"Transfer-Encoding: chunked", "Connection: close", "Connection: upgrade",
		"Expect: 100-continue", "Authorization: Basic \xff\xff", " folded", ":", "a:b:c",
		"Upgrade: websocket"};
	size_t used = (size_t)snprintf((char *)bytes, room, "%s %s HTTP/%s\r\n",
		methods[wh_prng_below(prng, 6)], paths[wh_prng_below(prng, 13)],
		wh_prng_below(prng, 8) > 0 ? "1.1" : "9.9");

	for (uint64_t lines = wh_prng_below(prng, 8); lines > 0; lines--)
		used += (size_t)snprintf((char *)bytes + used, room - used, "%s\r\n",
			heads[wh_prng_below(prng, sizeof(heads) / sizeof(heads[0]))]);
	if (wh_prng_below(prng, 64) == 0 && used + 9000 < room) {
		memset(bytes + used, 'x', 9000);
		used += 9000;
	}
	return used + (size_t)snprintf((char *)bytes + used, room - used, "\r\nabc");
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " pages asked for, %" PRIu64 " unanswered;", pages_asked, unanswered);
	for (uint32_t i = 0; i < STATUSES; i++)
		if (statuses[i] > 0)
			printf(" %u: %" PRIu64, i, statuses[i]);
	printf("\n");
}
