/* SPDX-License-Identifier: BSD-3-Clause */
#include "ssh/lines.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/hex.h"
#include "bundle/record.h"
#include "cli/address_text.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "file/all_bytes.h"
#include "trust/fingerprint.h"

void wh_ssh_line_init(struct wh_ssh_line *line)
{
	*line = (struct wh_ssh_line){.wire = WH_WIRE_VERSION, .bundle = WH_BUNDLE_VERSION};
	snprintf(line->version, sizeof(line->version), "%s", WH_VERSION);
}

static json_t *head_of(const struct wh_ssh_line *line)
{
	char key[WH_ID_TEXT_BYTES];

	return json_pack("{s:s, s:i, s:i, s:s}", "wavehaul", line->version, "wire", (int)line->wire,
		"bundle", (int)line->bundle, "key", wh_id_text(line->id, key));
}

/* Frees the object. */
static char *text_of(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII);
	char *line = NULL;

	json_decref(object);
	if (text == NULL || asprintf(&line, "%s\n", text) < 0)
		line = NULL;
	free(text);
	return line;
}

char *wh_ssh_line_of_client(const struct wh_ssh_line *line)
{
	json_t *object = head_of(line);

	json_object_set_new(
		object, "ports", json_pack("[i, i]", line->first_port, line->last_port));
	json_object_set_new(object, "mtu", json_integer(line->mtu_bytes));
	json_object_set_new(object, "buffers", json_integer((json_int_t)line->buffer_bytes));
	json_object_set_new(object, "jobs", json_integer(line->jobs));
	json_object_set_new(
		object, "peer_timeout_ns", json_integer((json_int_t)line->peer_timeout_ns));
	return text_of(object);
}

char *wh_ssh_line_of_server(const struct wh_ssh_line *line)
{
	json_t *object = head_of(line);
	json_t *addresses = json_array();
	char cookie[2 * sizeof(line->cookie) + 1];
	char text[WH_ADDRESS_TEXT_BYTES];

	if (line->port == 0) {
		json_decref(addresses);
		json_object_set_new(object, "error", wh_text_to_json(line->error));
		json_object_set_new(object, "exit_status", json_integer(line->status));
		return text_of(object);
	}
	for (uint32_t i = 0; i < line->addresses; i++)
		json_array_append_new(
			addresses, json_string(wh_address_text(&line->address[i], text)));
	json_object_set_new(object, "port", json_integer(line->port));
	json_object_set_new(object, "addresses", addresses);
	wh_hex_write(line->cookie, sizeof(line->cookie), cookie);
	json_object_set_new(object, "cookie", json_string(cookie));
	if (line->has_home)
		wh_path_to_json(object, "home", line->home);
	return text_of(object);
}

static json_t *parse(const char *text, struct wh_ssh_line *line)
{
	json_t *object = text[0] == '{' ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	const char *version = wh_json_text(object, "wavehaul");

	*line = (struct wh_ssh_line){.wire = (uint32_t)wh_json_count(object, "wire"),
		.bundle = (uint32_t)wh_json_count(object, "bundle")};
	if (version[0] == '\0' || strlen(version) >= sizeof(line->version) ||
		!wh_id_read(wh_json_text(object, "key"), line->id)) {
		json_decref(object);
		return NULL;
	}
	strcpy(line->version, version);
	return object;
}

/* 0: it is none. */
static uint16_t port_of(const json_t *number)
{
	json_int_t port = json_integer_value(number);

	return port > 0 && port <= UINT16_MAX ? (uint16_t)port : 0;
}

bool wh_ssh_line_from_client(const char *text, struct wh_ssh_line *line)
{
	json_t *object = parse(text, line);
	const json_t *ports = json_object_get(object, "ports");

	line->first_port = port_of(json_array_get(ports, 0));
	line->last_port = port_of(json_array_get(ports, 1));
	line->mtu_bytes = (uint32_t)wh_min_u64(wh_json_count(object, "mtu"), UINT32_MAX);
	line->buffer_bytes = wh_json_count(object, "buffers");
	line->peer_timeout_ns = wh_json_count(object, "peer_timeout_ns");
	line->jobs = (uint32_t)wh_min_u64(wh_json_count(object, "jobs"), UINT32_MAX);

	bool good = object != NULL && json_array_size(ports) == 2 && line->first_port != 0 &&
		    line->first_port <= line->last_port;

	json_decref(object);
	return good;
}

static bool take_addresses(const json_t *addresses, struct wh_ssh_line *line)
{
	size_t count = json_array_size(addresses);

	for (size_t i = 0; i < count && i < WH_SSH_LINE_ADDRESSES_MAX; i++) {
		const char *text = json_string_value(json_array_get(addresses, i));
		struct wh_address *address = &line->address[line->addresses];

		if (text == NULL || !wh_address_parse(text, address))
			return false;
		address->port = line->port;
		line->addresses++;
	}
	return count > 0;
}

bool wh_ssh_line_from_server(const char *text, struct wh_ssh_line *line)
{
	json_t *object = parse(text, line);
	json_int_t status = json_integer_value(json_object_get(object, "exit_status"));
	bool good;

	line->port = port_of(json_object_get(object, "port"));
	line->has_home = json_is_string(json_object_get(object, "home")) ||
			 json_is_string(json_object_get(object, "home_hex"));
	if (line->port != 0) {
		(void)wh_path_from_json(object, "home", line->home);
		if (!wh_hex_read(
			    wh_json_text(object, "cookie"), line->cookie, sizeof(line->cookie)))
			memset(line->cookie, 0, sizeof(line->cookie));
		good = take_addresses(json_object_get(object, "addresses"), line);
	} else {
		snprintf(line->error, sizeof(line->error), "%s", wh_json_text(object, "error"));
		line->status = status > 0 && status < 128 ? (int)status : WH_EXIT_OTHER;
		good = line->error[0] != '\0';
	}
	json_decref(object);
	return good;
}

bool wh_ssh_line_is(const char *text, const char *member)
{
	json_t *object = text[0] == '{' ? json_loads(text, 0, NULL) : NULL;
	bool is = json_is_true(json_object_get(object, member));

	json_decref(object);
	return is;
}

/* The next whole line of what has been read; NULL: there is none. */
static char *cut(struct wh_ssh_reader *reader)
{
	reader->bytes -= reader->taken;
	memmove(reader->text, reader->text + reader->taken, reader->bytes);
	reader->taken = 0;

	char *end = memchr(reader->text, '\n', reader->bytes);

	if (end == NULL)
		return NULL;
	reader->taken = (size_t)(end - reader->text) + 1;
	*end = '\0';
	return reader->text;
}

char *wh_ssh_line_next(struct wh_ssh_reader *reader, int timeout_ms, int *status)
{
	uint64_t until_ns = wh_steady_ns() + (uint64_t)timeout_ms * 1000000;
	char *line;

	*status = 0;
	while ((line = cut(reader)) == NULL) {
		struct pollfd polled = {.fd = reader->fd, .events = POLLIN};
		uint64_t now_ns = wh_steady_ns();
		int left_ms = now_ns < until_ns ? (int)((until_ns - now_ns + 999999) / 1000000) : 0;
		int ready = reader->bytes < sizeof(reader->text) ? poll(&polled, 1, left_ms) : 0;
		ssize_t got = ready > 0 ? read(reader->fd, reader->text + reader->bytes,
						  sizeof(reader->text) - reader->bytes)
					: 0;

		if (reader->bytes == sizeof(reader->text))
			*status = -EMSGSIZE;
		else if (ready < 0 || got < 0)
			*status = -errno;
		else if (ready == 0)
			*status = -ETIMEDOUT;
		else if (got == 0)
			*status = -ENODATA;
		if (*status != 0)
			return NULL;
		reader->bytes += (size_t)got;
	}
	return line;
}

bool wh_ssh_line_put(int fd, const char *text)
{
	return wh_write_all(fd, text, strlen(text)) == 0;
}
