/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * What a client and the server that it has started by ssh tell each other there, a line of JSON
 * each. All members are checked like a stranger's: a shell's start files print on the same stream.
 *
 *   to the server    {"wavehaul":"0.1.0", "wire":3, "bundle":11, "key":"sha256:...",
 *                     "ports":[60000, 60999], "mtu":1500, "buffers":536870912,
 *                     "jobs":3, "peer_timeout_ns":30000000000}
 *   to the client    {"wavehaul":..., "wire":..., "bundle":..., "key":..., "port":60000,
 *                     "addresses":["192.0.2.2"], "cookie":"0f...", "home":"home/ann"}; without
 *                    "home" there is none, without "cookie" the client asks for one
 *                    or, with no "port", {..., "error":"...", "exit_status":7}
 *   to the client    {"heard":true}, once a packet has arrived
 *   to the server    {"end":true}: the client has all it wanted
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/record.h"
#include "trust/identity.h"
#include "wire/encap.h"
#include "wire/packet.h"

#define WH_SSH_LINE_BYTES_MAX     32768
#define WH_SSH_LINE_TEXT_BYTES    1024
#define WH_SSH_LINE_VERSION_BYTES 64
#define WH_SSH_LINE_ADDRESSES_MAX 4

struct wh_ssh_line {
	char version[WH_SSH_LINE_VERSION_BYTES];
	uint32_t wire, bundle;
	uint8_t id[WH_IDENTITY_BYTES];
	/* The client's. */
	uint16_t first_port, last_port;
	uint32_t mtu_bytes;
	uint64_t buffer_bytes;
	uint32_t jobs; /* at once, at most */
	uint64_t peer_timeout_ns;
	/* The server's. */
	uint16_t port; /* 0: it has failed */
	uint32_t addresses;
	struct wh_address address[WH_SSH_LINE_ADDRESSES_MAX]; /* with that port */
	uint8_t cookie[WH_COOKIE_BYTES];                      /* of its handshake; zeros: none */
	bool has_home;
	char home[WH_PATH_BYTES_MAX + 1]; /* below its root, "": the root itself */
	char error[WH_SSH_LINE_TEXT_BYTES];
	int status;
};

/* Version and formats of this program. */
void wh_ssh_line_init(struct wh_ssh_line *line);

/* With its newline, to be freed; NULL: no memory. */
char *wh_ssh_line_of_client(const struct wh_ssh_line *line);
char *wh_ssh_line_of_server(const struct wh_ssh_line *line);

/* False: it is not such a line, or has a member that is wrong. */
bool wh_ssh_line_from_client(const char *text, struct wh_ssh_line *line);
bool wh_ssh_line_from_server(const char *text, struct wh_ssh_line *line);

/* Whether it is an object with that member true. */
bool wh_ssh_line_is(const char *text, const char *member);

/* Lines from a descriptor, as they come. */
struct wh_ssh_reader {
	int fd;
	size_t bytes;
	size_t taken; /* of them, by the line that was returned last */
	char text[WH_SSH_LINE_BYTES_MAX];
};

/*
 * The next line, without its newline, valid until the next call; NULL: none within the time.
 * *status: 0, -ETIMEDOUT, -EINTR (a signal), -ENODATA (the end), -EMSGSIZE (a line is too long), or
 * that of a read.
 */
char *wh_ssh_line_next(struct wh_ssh_reader *reader, int timeout_ms, int *status);

/* Writes all of it; false: nobody reads. */
bool wh_ssh_line_put(int fd, const char *text);
