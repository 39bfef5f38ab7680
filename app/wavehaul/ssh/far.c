/* SPDX-License-Identifier: BSD-3-Clause */
#include "ssh/far.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/own/own_addresses.h"
#include "cli/signals.h"
#include "ssh/destination.h"
#include "ssh/resolve.h"

/* So long packets may take to pass there and back. */
#define PASSAGE_NS (UINT64_C(5) * WH_NS_PER_S)

/* How often a signal is looked for while ssh asks the operator, or connects. */
#define LOOK_MS 200

/* The server needs less for its end; ssh to a host that is gone is not waited for. */
#define END_MS 1000

/* What shells say of a command that they do not find. */
#define NOT_FOUND  127
#define SSH_FAILED 255

static struct wh_far the_far;

/* Lets the server go at once, and not when it has missed us. */
static void tell_end(void)
{
	int status = 0;

	if (!wh_ssh_line_put(the_far.ssh.to_fd, "{\"end\":true}\n"))
		return;
	while (status == 0)
		(void)wh_ssh_line_next(&the_far.reader, END_MS, &status);
}

/* The port is the kernel's, whatever a configuration has for others, unless one is named here. */
static int take_port(struct wh_settings *settings, enum wh_verb verb)
{
	if (settings->unsealed)
		return wh_fail(WH_EXIT_USAGE,
			"--unsealed is not for a server that ssh starts: leave it out");
	if (strcmp(settings->daemon, "always") == 0)
		return wh_fail(WH_EXIT_USAGE, "no server of this host starts others by ssh: leave "
					      "out --daemon, or the user and @ of the host");
	if (!wh_settings_given(settings, verb, "port")) {
		wh_settings_forget_ports(settings);
		settings->vlan = 0;
	}
	return -1;
}

static bool read_ports(const char *text, struct wh_ssh_line *line)
{
	uint32_t first, last;
	char rest;

	if (sscanf(text, "%" SCNu32 ":%" SCNu32 "%c", &first, &last, &rest) == 2 && first > 0 &&
		first <= last && last <= UINT16_MAX) {
		line->first_port = (uint16_t)first;
		line->last_port = (uint16_t)last;
		return true;
	}
	return wh_fail(
		false, "--udp-ports '%s' is not FIRST:LAST; write for example 60000:60100", text);
}

static int start_ssh(struct wh_far *far, const struct wh_settings *settings)
{
	static char ssh[WH_SETTINGS_TEXT_BYTES];
	/* For the shell there; no terminal, which would mix both streams. */
	const char *const behind[] = {
		"-T", far->host, settings->remote_command, "serve", "--for-client", NULL};
	char *word[WH_DESTINATION_WORDS_MAX];

	strcpy(ssh, settings->ssh);
	if (!wh_destination_command(ssh, behind, word))
		return wh_fail(WH_EXIT_USAGE,
			"--ssh '%s' is no command: write for example --ssh 'ssh -p 22'",
			settings->ssh);

	int error = wh_child_start(&far->ssh, word, false);

	if (error != 0)
		return wh_fail(WH_EXIT_NO_FILE, "cannot run %s: %s; --ssh names another command",
			word[0], strerror(error));
	far->reader.fd = far->ssh.from_fd;
	return -1;
}

/* ssh has ended, or said too much, before the server has answered. */
static int no_answer(struct wh_far *far, int rc)
{
	const char *host = far->host;
	int ended;

	if (rc == -EINTR)
		return wh_fail(WH_EXIT_INTERRUPTED, "interrupted before anything was sent");
	if (rc != -ENODATA)
		return wh_fail(WH_EXIT_NETWORK,
			"ssh to %s prints what is no answer of wavehaul, and too much of it: what "
			"do the start files of the shell there print?",
			host);
	ended = wh_child_wait(&far->ssh);
	if (wh_signals_count() > 0)
		return no_answer(far, -EINTR);
	if (ended == NOT_FOUND)
		wh_complain("wavehaul is not installed at %s, or not in the PATH that commands of "
			    "ssh have there: install its package, or name the program by "
			    "--remote-command /PATH/TO/wavehaul",
			host);
	else if (ended == SSH_FAILED)
		wh_complain("ssh does not reach %s; its message is above", host);
	else
		wh_complain("ssh to %s ended with exit status %d before the server there answered: "
			    "is the same wavehaul installed at both ends?",
			host, ended);
	return WH_EXIT_NETWORK;
}

static int judge(const struct wh_far *far)
{
	const struct wh_ssh_line *line = &far->line;

	if (line->wire != WH_WIRE_VERSION || line->bundle != WH_BUNDLE_VERSION)
		return wh_fail(WH_EXIT_HARDWARE,
			"%s has wavehaul %s with packet format %u and bundle format %u, this end "
			"%s with %u and %u: install the same version at both ends",
			far->host, line->version, line->wire, line->bundle, WH_VERSION,
			WH_WIRE_VERSION, WH_BUNDLE_VERSION);
	if (line->port == 0) {
		wh_complain("%s says: %s", far->host, line->error);
		return line->status;
	}
	return -1;
}

/* ssh may ask the operator, and banners may come first. */
static int hear_answer(struct wh_far *far)
{
	int rc = 0;

	while (rc == 0 || ((rc == -ETIMEDOUT || rc == -EINTR) && wh_signals_count() == 0)) {
		const char *text = wh_ssh_line_next(&far->reader, LOOK_MS, &rc);

		if (text != NULL && wh_ssh_line_from_server(text, &far->line))
			return judge(far);
	}
	return no_answer(far, wh_signals_count() > 0 ? -EINTR : rc);
}

static int meet(struct wh_far *far, const struct wh_settings *settings, enum wh_verb verb)
{
	bool moves = (verb & (WH_VERB_SEND | WH_VERB_GET | WH_VERB_BENCH)) != 0;
	struct wh_ssh_line line;
	char *text;
	int status;

	wh_ssh_line_init(&line);
	if (!read_ports(settings->udp_ports, &line))
		return WH_EXIT_USAGE;
	if (wh_identity_make(&far->own) != 0)
		return wh_fail(WH_EXIT_OTHER, "cannot create a key");
	memcpy(line.id, far->own.id, sizeof(line.id));
	line.mtu_bytes = settings->mtu_bytes;
	line.peer_timeout_ns = settings->peer_timeout_ns;
	line.buffer_bytes = moves ? settings->buffer_bytes : 0;
	/* Those before a retry may still be ending there. */
	line.jobs = 2 * (settings->parallel + settings->idle_sessions);
	text = wh_ssh_line_of_client(&line);
	if (text == NULL)
		return WH_EXIT_OTHER;
	status = start_ssh(far, settings);
	if (status == -1) {
		(void)atexit(tell_end);
		(void)wh_ssh_line_put(far->ssh.to_fd, text); /* what ssh says comes next */
		status = hear_answer(far);
	}
	free(text);
	return status;
}

static bool has(const struct wh_address *list, uint32_t count, const struct wh_address *address)
{
	for (uint32_t i = 0; i < count; i++)
		if (wh_address_equal(&list[i], address))
			return true;
	return false;
}

/*
 * The server knows at which of its addresses ssh arrived. If the name has that address here, it is
 * the one. Else there is a translator or another host on the way, and either may be right.
 */
static uint32_t candidates(const struct wh_far *far, const struct wh_settings *settings,
	struct wh_address address[WH_PASSAGE_ADDRESSES_MAX])
{
	const struct wh_ssh_line *line = &far->line;
	uint32_t room = WH_PASSAGE_ADDRESSES_MAX - WH_SSH_LINE_ADDRESSES_MAX;
	uint32_t count = wh_ssh_resolve(settings->ssh, far->host, far->line.port, address, room);

	for (uint32_t i = 0; i < line->addresses; i++) {
		if (has(address, count, &line->address[i])) {
			address[0] = line->address[i];
			return 1;
		}
	}
	for (uint32_t i = 0; i < line->addresses; i++)
		address[count++] = line->address[i];
	return count;
}

/* Whether the server says that a packet has come. */
static bool was_heard(struct wh_far *far)
{
	const char *text;
	int status;

	while ((text = wh_ssh_line_next(&far->reader, LOOK_MS, &status)) != NULL)
		if (wh_ssh_line_is(text, "heard"))
			return true;
	return false;
}

static int no_passage(struct wh_far *far, int rc)
{
	uint16_t port = far->line.port;
	char at[WH_ADDRESS_TEXT_BYTES];

	if (rc == -EINTR)
		return wh_fail(WH_EXIT_INTERRUPTED, "interrupted before anything was sent");
	wh_address_text(&far->peer, at);
	if (was_heard(far))
		wh_complain("UDP from here arrives at %s port %u, but the answers do not come "
			    "back: a firewall here or on the way drops UDP from that port; open "
			    "it, or choose others with --udp-ports",
			at, port);
	else
		wh_complain("UDP from here does not arrive at %s port %u%s: a firewall there or on "
			    "the way drops it; open that port, or choose others with --udp-ports",
			at, port, far->passage.refused ? " (an ICMP error comes back)" : "");
	return WH_EXIT_NETWORK;
}

int wh_far_passes(struct wh_far *far)
{
	int rc = far->passage.count > 0 ? wh_passage_poll(&far->passage, PASSAGE_NS) : 0;

	return rc >= 0 ? 0 : rc;
}

int wh_far_conclude(struct wh_far *far)
{
	return no_passage(far, -ETIMEDOUT);
}

/* With one address the question is on its way while a port is opened and the handshake begins. */
static int choose_address(struct wh_far *far, const struct wh_settings *settings)
{
	struct wh_address address[WH_PASSAGE_ADDRESSES_MAX];
	uint32_t count = candidates(far, settings, address);
	int found = 0;

	far->peer = address[0];
	wh_passage_begin(&far->passage, address, count);
	if (count > 1)
		found = wh_passage_await(&far->passage, PASSAGE_NS);
	if (found < 0)
		return no_passage(far, found);
	far->peer = address[found];
	return -1;
}

static int find_by_ssh(struct wh_far *far, struct wh_settings *settings, enum wh_verb verb)
{
	const char *wrong = wh_destination_wrong(far->host);
	char at[WH_ADDRESS_TEXT_BYTES];
	int status;

	if (wrong != NULL)
		return wh_fail(WH_EXIT_USAGE, "'%s' %s", far->host, wrong);
	status = take_port(settings, verb);
	if (status == -1)
		status = meet(far, settings, verb);
	if (status == -1)
		status = choose_address(far, settings);
	if (status == -1)
		status = wh_settings_check_own(settings);
	if (status != -1)
		return status;
	settings->udp_port = far->line.port;
	settings->far = far;
	wh_say("ssh has started a server at %s for this command: %s, UDP port %u", far->host,
		wh_address_text(&far->peer, at), far->line.port);
	return wh_own_toward(settings, far->host, &far->peer) ? 0 : WH_EXIT_NETWORK;
}

int wh_far_find(
	struct wh_settings *settings, enum wh_verb verb, const char *host, struct wh_address *peer)
{
	struct wh_far *far = &the_far;
	int status;

	if (!wh_destination_has_user(host)) {
		status = wh_settings_check_own(settings);
		if (status != -1)
			return status;
		return wh_trust_find(settings, host, peer) ? 0 : WH_EXIT_NETWORK;
	}
	WH_ASSERT(far->host[0] == '\0');
	if (strlen(host) >= sizeof(far->host))
		return wh_fail(WH_EXIT_USAGE, "the host's name is longer than %zu bytes",
			sizeof(far->host) - 1);
	snprintf(far->host, sizeof(far->host), "%s", host);
	status = find_by_ssh(far, settings, verb);
	*peer = far->peer;
	peer->port = 0;
	return status;
}

int wh_far_trust(struct wh_far *far, struct wh_trust *trust)
{
	return wh_trust_open_pair(trust, &far->own, far->line.id, far->host);
}

char *wh_far_path(const struct wh_far *far, const char *path, bool relative)
{
	const char *between = relative ? "/./" : "/";
	char *whole = NULL;

	if (far == NULL)
		return strdup(path);
	if (path[0] == '/') {
		path += strspn(path, "/");
		return strdup(path[0] == '\0' ? "." : path);
	}
	if (path[0] == '~' && path[1] == '/')
		path += 2;
	if (!far->line.has_home)
		wh_complain("the user has no home folder at %s: write a path that begins with /",
			far->host);
	else if (asprintf(&whole, "%s%s%s", far->line.home,
			 far->line.home[0] == '\0' ? "" : between, path) < 0)
		whole = NULL;
	return whole;
}
