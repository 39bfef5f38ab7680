/* SPDX-License-Identifier: BSD-3-Clause */
#include "ssh/resolve.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "cli/address_text.h"
#include "cli/child/child.h"
#include "cli/settings.h"
#include "ssh/destination.h"
#include "ssh/lines.h"
#include "udp/sockaddr.h"

/* ssh only reads its files for it. */
#define ALIAS_MS 2000

static uint32_t resolve(const char *name, uint16_t port, struct wh_address *address, uint32_t room)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	struct addrinfo *found = NULL;
	uint32_t count = 0;

	if (getaddrinfo(name, NULL, &hints, &found) != 0)
		return 0;
	for (const struct addrinfo *i = found; i != NULL && count < room; i = i->ai_next) {
		if (!wh_sockaddr_read(
			    (const union wh_sockaddr *)(const void *)i->ai_addr, &address[count]))
			continue;
		address[count++].port = port;
	}
	freeaddrinfo(found);
	return count;
}

/* What ssh would connect to. False: it does not say. */
static bool ask_ssh(const char *ssh, const char *host, char name[WH_HOST_BYTES])
{
	static struct wh_ssh_reader reader;
	const char *const behind[] = {"-T", "-G", host, NULL};
	char words[WH_SETTINGS_TEXT_BYTES];
	char *word[WH_DESTINATION_WORDS_MAX];
	struct wh_child child;
	const char *line;
	bool said = false;
	int status;

	strcpy(words, ssh);
	if (!wh_destination_command(words, behind, word) ||
		wh_child_start(&child, word, false) != 0)
		return false;
	reader = (struct wh_ssh_reader){.fd = child.from_fd};
	while (!said && (line = wh_ssh_line_next(&reader, ALIAS_MS, &status)) != NULL)
		said = sscanf(line, "hostname %255s", name) == 1;
	(void)wh_child_wait(&child);
	return said;
}

uint32_t wh_ssh_resolve(
	const char *ssh, const char *host, uint16_t port, struct wh_address *address, uint32_t room)
{
	char name[WH_HOST_BYTES];
	uint32_t count = resolve(wh_destination_name(host), port, address, room);

	if (count == 0 && ask_ssh(ssh, host, name))
		count = resolve(name, port, address, room);
	return count;
}
