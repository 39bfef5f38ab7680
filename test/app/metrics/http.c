/* SPDX-License-Identifier: BSD-3-Clause */

/* Pages by HTTP over the loopback, served by the test's own thread. */

#include "metrics/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"
#include "metrics/metrics_listen.h"
#include "unit.h"

const char wh_suite_name[] = "http";

static struct wh_http http;
static struct sockaddr_in server;

static bool page_of(void *context, const char *path, const char *accept, struct wh_http_page *page)
{
	(void)context;
	if (strcmp(path, "/page") != 0)
		return false;
	strcpy(page->type, strstr(accept, "x/y") != NULL ? "x/y" : "text/plain");
	page->text = strdup("what is asked for");
	page->bytes = strlen(page->text);
	return true;
}

static void open_server(void)
{
	char told[WH_LISTEN_TEXT_BYTES];
	int fd = wh_listen_open("0", told);

	WH_ASSERT(fd >= 0);
	http = (struct wh_http){.page_of = page_of};
	WH_ASSERT(wh_http_open(&http, fd) == 0);
	server = (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(strrchr(told, ':') + 1)),
		.sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static int client(const char *said)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	WH_ASSERT(fd >= 0);
	WH_ASSERT(connect(fd, (const struct sockaddr *)&server, sizeof(server)) == 0);
	(void)!send(fd, said, strlen(said), MSG_NOSIGNAL);
	return fd;
}

/* Serves until the connection ends, or for two seconds; what has come. */
static const char *heard(int fd)
{
	static char text[4096];
	size_t used = 0;

	for (int i = 0; i < 200; i++) {
		struct pollfd polled[] = {{.fd = http.fd, .events = POLLIN}};
		ssize_t bytes;

		(void)poll(polled, 1, 10);
		(void)wh_http_serve(&http);
		while ((bytes = recv(fd, text + used, sizeof(text) - 1 - used, MSG_DONTWAIT)) > 0)
			used += (size_t)bytes;
		if (bytes == 0)
			break;
	}
	text[used] = '\0';
	return text;
}

static void expect_heard(const char *said, const char *first, const char *part)
{
	int fd = client(said);
	const char *text = heard(fd);

	CU_ASSERT(strncmp(text, first, strlen(first)) == 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
	close(fd);
}

static void test_answers(void)
{
	open_server();
	expect_heard("GET /page HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ",
		"\r\n\r\nwhat is asked for");
	expect_heard("GET /page HTTP/1.1\r\nHost: x\r\nAccept: x/y\r\n\r\n", "HTTP/1.1 200 ",
		"Content-Type: x/y\r\n");
	expect_heard("HEAD /page HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ", "\r\n\r\n");
	expect_heard("GET /other HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 404 ", "nosniff");
	expect_heard("PUT /page HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 405 ", "Allow: GET, HEAD");
	expect_heard("\r\n\x01\x02 nonsense\r\n\r\n", "HTTP/1.", " 400 ");
	wh_http_close(&http);
}

/* A name that somebody has given this host's address leads nowhere. */
static void test_names(void)
{
	static const char *const own[] = {
		"localhost", "LocalHost:9480", "127.0.0.1:9480", "[::1]:9480", "10.0.0.1"};
	static const char *const others[] = {"evil.example", "localhost.evil.example:9480",
		"127.0.0.1.evil.example", "1e.example", "localhos"};
	char said[200];

	open_server();
	http.of_this_host = true;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		snprintf(said, sizeof(said), "GET /page HTTP/1.1\r\nHost: %s\r\n\r\n", own[i]);
		expect_heard(said, "HTTP/1.1 200 ", "asked for");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		snprintf(said, sizeof(said), "GET /page HTTP/1.1\r\nHost: %s\r\n\r\n", others[i]);
		expect_heard(said, "HTTP/1.1 403 ", "localhost");
	}
	wh_http_close(&http);
}

/* More than there are places for, and none of them says all it has to say. */
static void test_many(void)
{
	int slow[3 * WH_HTTP_CLIENTS_MAX];
	uint32_t ended = 0;
	char byte;

	open_server();
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		slow[i] = client("GET /page HTTP/1.1\r\n");
		for (int j = 0; j < 4; j++)
			(void)wh_http_serve(&http);
	}
	expect_heard("GET /page HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ", "asked for");
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++)
		ended += recv(slow[i], &byte, 1, MSG_DONTWAIT) == 0;
	/* The oldest have made room. */
	CU_ASSERT(ended >= 2 * WH_HTTP_CLIENTS_MAX);
	CU_ASSERT_EQUAL(recv(slow[0], &byte, 1, MSG_DONTWAIT), 0);
	wh_http_close(&http);
	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		CU_ASSERT_EQUAL(recv(slow[i], &byte, 1, 0), 0);
		close(slow[i]);
	}
}

static void test_places(void)
{
	static const char *const wrong[] = {"", "x", "-1", "65536", ":1", "127.0.0.1",
		"127.0.0.1:", "1.2.3.4.5:1", "[::1]", "[::1:1", "::1:1:", "localhost:1"};
	char told[WH_LISTEN_TEXT_BYTES];
	int fd = wh_listen_open("0", told);

	CU_ASSERT(fd >= 0 && strncmp(told, "127.0.0.1:", 10) == 0 && atoi(told + 10) > 0);
	CU_ASSERT_EQUAL(wh_listen_open(told, told), -EADDRINUSE);
	close(fd);
	fd = wh_listen_open("[::1]:0", told);
	CU_ASSERT(fd < 0 || strncmp(told, "[::1]:", 6) == 0);
	close(fd);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		CU_ASSERT_EQUAL(wh_listen_open(wrong[i], told), -EINVAL);
	CU_ASSERT_EQUAL(wh_listen_open("192.0.2.77:0", told), -EADDRNOTAVAIL);
}

CU_TestInfo wh_tests[] = {
	{"answers", test_answers},
	{"names of this host", test_names},
	{"many slow clients", test_many},
	{"places", test_places},
	CU_TEST_INFO_NULL,
};
