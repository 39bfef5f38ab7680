/* SPDX-License-Identifier: BSD-3-Clause */

/* Lines that come by ssh: whole, with something else around them, cut, and wrong. */

#include "ssh/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle/record.h"
#include "unit.h"
#include "wire/packet.h"

const char wh_suite_name[] = "app/ssh_lines";

#define KEY "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static struct wh_ssh_line line_of_client(void)
{
	struct wh_ssh_line line;

	wh_ssh_line_init(&line);
	memset(line.id, 0x5a, sizeof(line.id));
	line.first_port = 60000;
	line.last_port = 65535;
	line.mtu_bytes = 9000;
	line.buffer_bytes = UINT64_C(1) << 40;
	line.jobs = 128;
	line.peer_timeout_ns = UINT64_C(3600000000000);
	return line;
}

static struct wh_ssh_line line_of_server(void)
{
	struct wh_ssh_line line;

	wh_ssh_line_init(&line);
	line.port = 60001;
	line.addresses = 2;
	line.address[0] = (struct wh_address){.family = WH_IPV4, .ip = {192, 0, 2, 1}};
	line.address[1] = (struct wh_address){.family = WH_IPV6, .ip = {0x20, 1, [15] = 9}};
	memset(line.cookie, 0xc5, sizeof(line.cookie));
	line.has_home = true;
	strcpy(line.home, "home/\xff ann");
	return line;
}

static void test_there_and_back(void)
{
	struct wh_ssh_line client = line_of_client(), server = line_of_server(), read;
	char *text = wh_ssh_line_of_client(&client);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_EQUAL(text[strlen(text) - 1], '\n');
	CU_ASSERT_TRUE(wh_ssh_line_from_client(text, &read));
	CU_ASSERT_EQUAL(read.wire, WH_WIRE_VERSION);
	CU_ASSERT_EQUAL(read.bundle, WH_BUNDLE_VERSION);
	CU_ASSERT_STRING_EQUAL(read.version, client.version);
	CU_ASSERT_EQUAL(memcmp(read.id, client.id, sizeof(read.id)), 0);
	CU_ASSERT_EQUAL(read.first_port, 60000);
	CU_ASSERT_EQUAL(read.last_port, 65535);
	CU_ASSERT_EQUAL(read.mtu_bytes, 9000);
	CU_ASSERT_EQUAL(read.buffer_bytes, UINT64_C(1) << 40);
	CU_ASSERT_EQUAL(read.jobs, 128);
	CU_ASSERT_EQUAL(read.peer_timeout_ns, client.peer_timeout_ns);
	free(text);
	text = wh_ssh_line_of_server(&server);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_TRUE(wh_ssh_line_from_server(text, &read));
	CU_ASSERT_EQUAL(read.port, 60001);
	CU_ASSERT_EQUAL(read.addresses, 2);
	CU_ASSERT_EQUAL(read.address[0].port, 60001);
	CU_ASSERT_EQUAL(memcmp(read.address[1].ip, server.address[1].ip, 16), 0);
	CU_ASSERT_EQUAL(memcmp(read.cookie, server.cookie, sizeof(read.cookie)), 0);
	CU_ASSERT_TRUE(read.has_home);
	CU_ASSERT_STRING_EQUAL(read.home, "home/\xff ann");
	free(text);
	server.port = 0;
	server.status = 7;
	strcpy(server.error, "no port\nis free");
	text = wh_ssh_line_of_server(&server);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
	CU_ASSERT_TRUE(wh_ssh_line_from_server(text, &read));
	CU_ASSERT_EQUAL(read.port, 0);
	CU_ASSERT_EQUAL(read.status, 7);
	CU_ASSERT_STRING_EQUAL(read.error, "no port\nis free");
	free(text);
}

#define HEAD "\"wavehaul\":\"1\",\"wire\":1,\"bundle\":1,\"key\":\"" KEY "\""

static void test_wrong(void)
{
	static const char *const wrong[] = {"", "{", "[]", "Welcome", "{}", "{" HEAD "}",
		"{\"key\":\"" KEY "\",\"port\":1,\"addresses\":[\"192.0.2.1\"]}",
		"{\"wavehaul\":\"\",\"key\":\"" KEY "\",\"port\":1,\"addresses\":[\"192.0.2.1\"]}",
		"{\"wavehaul\":\"1\",\"key\":\"sha256:00\",\"port\":1,\"addresses\":[\"192.0.2.1\"]"
		"}",
		"{" HEAD ",\"port\":1}", "{" HEAD ",\"port\":1,\"addresses\":[]}",
		"{" HEAD ",\"port\":1,\"addresses\":[1]}",
		"{" HEAD ",\"port\":1,\"addresses\":[\"dtn2\"]}",
		"{" HEAD ",\"port\":65536,\"addresses\":[\"192.0.2.1\"]}",
		"{" HEAD ",\"port\":-1,\"addresses\":[\"192.0.2.1\"]}",
		"{" HEAD ",\"port\":1,\"port\":2,\"addresses\":[\"192.0.2.1\"]}",
		"{" HEAD ",\"error\":\"\"}", "{" HEAD ",\"error\":[]}",
		"{" HEAD ",\"ports\":[0,1]}", "{" HEAD ",\"ports\":[2,1]}",
		"{" HEAD ",\"ports\":[1]}", "{" HEAD ",\"ports\":[1,2,3]}",
		"{" HEAD ",\"ports\":[1,65536]}", "{" HEAD ",\"ports\":{}}"};
	struct wh_ssh_line line;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT_FALSE(wh_ssh_line_from_server(wrong[i], &line));
		CU_ASSERT_FALSE(wh_ssh_line_from_client(wrong[i], &line));
	}
	/* What one end writes is none of the other's, as where a terminal echoes. */
	CU_ASSERT_FALSE(wh_ssh_line_from_server("{" HEAD ",\"ports\":[1,2]}", &line));
	CU_ASSERT_TRUE(wh_ssh_line_is("{\"end\":true}", "end"));
	CU_ASSERT_FALSE(wh_ssh_line_is("{\"end\":1}", "end"));
	CU_ASSERT_FALSE(wh_ssh_line_is("end", "end"));
}

/* Every cut and every changed byte of a line is read or refused, and nothing else. */
static void test_damaged(void)
{
	struct wh_ssh_line server = line_of_server(), read;
	char *text = wh_ssh_line_of_server(&server);
	size_t bytes = strlen(text);

	for (size_t i = 0; i < bytes - 1; i++) {
		char *cut = strndup(text, i);

		CU_ASSERT_FALSE(wh_ssh_line_from_server(cut, &read));
		free(cut);
		for (int byte = 1; byte < 256; byte += 2) {
			char kept = text[i];

			text[i] = (char)byte;
			if (wh_ssh_line_from_server(text, &read))
				CU_ASSERT(read.addresses <= WH_SSH_LINE_ADDRESSES_MAX &&
					  strlen(read.home) <= WH_PATH_BYTES_MAX);
			text[i] = kept;
		}
	}
	free(text);
}

/* Many addresses, and texts longer than there is room for. */
static void test_long(void)
{
	static char text[3 * WH_PATH_BYTES_MAX + 1024];
	struct wh_ssh_line line;
	int used = snprintf(text, sizeof(text), "{" HEAD ",\"port\":1,\"addresses\":[\"::1\"");

	for (int i = 0; i < 20; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, ",\"::%d\"", i);
	used += snprintf(text + used, sizeof(text) - (size_t)used, "],\"home\":\"");
	memset(text + used, 'x', 2 * WH_PATH_BYTES_MAX);
	strcpy(text + used + 2 * WH_PATH_BYTES_MAX, "\"}");
	CU_ASSERT_TRUE(wh_ssh_line_from_server(text, &line));
	CU_ASSERT_EQUAL(line.addresses, WH_SSH_LINE_ADDRESSES_MAX);
	CU_ASSERT_EQUAL(strlen(line.home), WH_PATH_BYTES_MAX);
}

static void expect_line(struct wh_ssh_reader *reader, const char *text, int status)
{
	int got;
	const char *line = wh_ssh_line_next(reader, 0, &got);

	CU_ASSERT_EQUAL(got, status);
	CU_ASSERT_EQUAL(line == NULL, text == NULL);
	CU_ASSERT(line == NULL || text == NULL || strcmp(line, text) == 0);
}

static void test_reader(void)
{
	static struct wh_ssh_reader reader;
	static char noise[WH_SSH_LINE_BYTES_MAX + 1];
	int ends[2];

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	reader = (struct wh_ssh_reader){.fd = ends[0]};
	expect_line(&reader, NULL, -ETIMEDOUT);
	CU_ASSERT_TRUE(wh_ssh_line_put(ends[1], "one\n\ntw"));
	expect_line(&reader, "one", 0);
	expect_line(&reader, "", 0);
	expect_line(&reader, NULL, -ETIMEDOUT);
	CU_ASSERT_TRUE(wh_ssh_line_put(ends[1], "o\nthree"));
	expect_line(&reader, "two", 0);
	CU_ASSERT_EQUAL(write(ends[1], "\0\n", 2), 2);
	expect_line(&reader, "three", 0);
	memset(noise, 'x', sizeof(noise) - 1);
	CU_ASSERT_TRUE(wh_ssh_line_put(ends[1], noise));
	expect_line(&reader, NULL, -EMSGSIZE);
	expect_line(&reader, NULL, -EMSGSIZE);
	reader = (struct wh_ssh_reader){.fd = ends[0]};
	CU_ASSERT_TRUE(wh_ssh_line_put(ends[1], "last\nrest"));
	close(ends[1]);
	expect_line(&reader, "last", 0);
	expect_line(&reader, NULL, -ENODATA);
	close(ends[0]);
}

CU_TestInfo wh_tests[] = {
	{"there and back", test_there_and_back},
	{"wrong", test_wrong},
	{"damaged", test_damaged},
	{"long", test_long},
	{"reader", test_reader},
	CU_TEST_INFO_NULL,
};
