/* SPDX-License-Identifier: BSD-3-Clause */
#include "ssh/for_client.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/moment/system_clock.h"
#include "cli/own/own_addresses.h"
#include "udp/host_address.h"

/* Its line comes at once, or the client is gone. */
#define HELLO_MS 60000

/* What still runs once the client has said that it has all it wanted. */
#define LAST_JOBS_NS (UINT64_C(1) * WH_NS_PER_S)

/* So that a server is gone within a minute of its client. */
#define SILENCE_MAX_S (UINT64_C(60) - WH_FOR_CLIENT_IDLE_S)

static const struct wh_subnet everywhere[] = {
	{.address = {.family = WH_IPV4}}, {.address = {.family = WH_IPV6}}};

static int hear(struct wh_for_client *client)
{
	int rc = 0;
	const char *text =
		isatty(STDIN_FILENO) ? NULL : wh_ssh_line_next(&client->reader, HELLO_MS, &rc);

	if (text != NULL && wh_ssh_line_from_client(text, &client->line))
		return -1;
	return wh_fail(WH_EXIT_USAGE,
		"serve --for-client is started by another wavehaul, by ssh, whose line was "
		"expected on standard input: write wavehaul send FILE... USER@HOST:PATH there");
}

/*
 * ssh says at which of this host's addresses the client arrived: "client port server port". An
 * address that is not this host's, or none: the main ones.
 */
static void take_address(struct wh_settings *settings)
{
	const char *connection = getenv("SSH_CONNECTION");
	char server[WH_ADDRESS_TEXT_BYTES];
	struct wh_address address;
	struct wh_udp_own own;

	if (connection != NULL && sscanf(connection, "%*s %*s %63s", server) == 1 &&
		wh_address_parse(server, &address) && wh_udp_own_named(&address, &own) == 0)
		settings->ports =
			(uint32_t)(snprintf(settings->port[0].name, sizeof(settings->port[0].name),
					   "udp:%s", server) > 0);
}

static int take_port(struct wh_settings *settings, const struct wh_ssh_line *line)
{
	if (!wh_settings_given(settings, WH_VERB_SERVE, "port")) {
		wh_settings_forget_ports(settings);
		take_address(settings);
	}
	settings->udp_port = line->first_port;
	settings->udp_port_last = line->last_port;
	if (!wh_settings_given(settings, WH_VERB_SERVE, "mtu"))
		settings->mtu_bytes =
			(uint32_t)wh_max_u64(WH_MTU_MIN, wh_min_u64(line->mtu_bytes, WH_MTU_MAX));
	return wh_own_take(settings, true);
}

/* The user's home, as the root "/" has it; or nothing of it, if the root is another. */
static void take_root(struct wh_settings *settings, struct wh_ssh_line *line)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];
	struct stat status;

	line->has_home = true;
	line->home[0] = '\0';
	if (wh_settings_given(settings, WH_VERB_SERVE, "root"))
		return;
	strcpy(settings->root, "/");
	line->has_home = home != NULL && home[0] == '/' && realpath(home, path) != NULL &&
			 stat(path, &status) == 0 && S_ISDIR(status.st_mode);
	if (line->has_home)
		snprintf(line->home, sizeof(line->home), "%s", path + 1);
}

/* Rights are those of ssh's user, root's too, and nobody else wants a part of anything. */
static void take_rights(struct wh_settings *settings, const struct wh_ssh_line *line)
{
	bool is_root = geteuid() == 0;

	if (!wh_settings_given(settings, WH_VERB_SERVE, "buffers"))
		settings->buffer_bytes = wh_max_u64(
			WH_BUFFERS_MIN_BYTES, wh_min_u64(line->buffer_bytes, WH_BUFFERS_MAX_BYTES));
	settings->peer_reserve_bytes = UINT64_MAX;
	settings->peer_memory_bytes = settings->buffer_bytes;
	if (!wh_settings_given(settings, WH_VERB_SERVE, "sessions"))
		settings->sessions =
			(uint32_t)wh_max_u64(1, wh_min_u64(line->jobs, WH_SESSIONS_MAX));
	settings->peer_jobs = settings->sessions;
	settings->peer_timeout_ns = wh_max_u64(
		WH_NS_PER_S, wh_min_u64(line->peer_timeout_ns, SILENCE_MAX_S * WH_NS_PER_S));
	settings->queue_jobs = 0;

	if (is_root && settings->user[0] == '\0')
		strcpy(settings->user, "root");
	settings->owners |= is_root;
	settings->set_ids = true;
	if (settings->allows > 0)
		return;
	memcpy(settings->allow, everywhere, sizeof(everywhere));
	settings->allows = 2;
}

int wh_for_client_begin(struct wh_for_client *client, struct wh_settings *settings)
{
	int status;

	*client = (struct wh_for_client){.reader = {.fd = STDIN_FILENO}};
	status = hear(client);
	if (status != -1) {
		client->answered = true; /* nobody waits for it */
		return status;
	}
	/* The client tells the operator what is worth it; only it knows his wishes. */
	wh_say_nothing();
	wh_complain_to_nobody();
	strcpy(settings->control, "off");
	take_rights(settings, &client->line);
	take_root(settings, &client->line);
	status = take_port(settings, &client->line);
	if (status == -1 && settings->unsealed) {
		wh_complain("--unsealed is not for a server that ssh starts: leave it out");
		status = WH_EXIT_USAGE;
	}
	if (status == -1 && (getrandom(client->line.cookie, sizeof(client->line.cookie), 0) !=
					    (ssize_t)sizeof(client->line.cookie) ||
				    wh_identity_make(&client->own) != 0)) {
		wh_complain("cannot create a key");
		status = WH_EXIT_OTHER;
	}
	return status;
}

int wh_for_client_trust(struct wh_for_client *client, struct wh_trust *trust)
{
	uint8_t own[WH_IDENTITY_BYTES];
	int status;

	memcpy(own, client->own.id, sizeof(own));
	status = wh_trust_open_pair(trust, &client->own, client->line.id, "a client");
	memcpy(client->line.id, own, sizeof(own));
	return status;
}

/* The answer has what the client's line had, where both say the same of themselves. */
static void say(struct wh_for_client *client)
{
	struct wh_ssh_line *line = &client->line;
	struct wh_ssh_line own;
	char *text;

	wh_ssh_line_init(&own);
	strcpy(line->version, own.version);
	line->wire = own.wire;
	line->bundle = own.bundle;
	text = wh_ssh_line_of_server(line);
	if (text != NULL)
		(void)wh_ssh_line_put(STDOUT_FILENO, text);
	free(text);
	client->answered = true;
}

void wh_for_client_answer(
	struct wh_for_client *client, const struct wh_settings *settings, uint16_t port)
{
	struct wh_ssh_line *line = &client->line;

	line->port = port;
	if (settings->port[0].ipv4.address.family != 0)
		line->address[line->addresses++] = settings->port[0].ipv4.address;
	if (settings->port[0].ipv6.address.family != 0)
		line->address[line->addresses++] = settings->port[0].ipv6.address;
	client->since_ns = wh_steady_ns();
	say(client);
}

void wh_for_client_end(struct wh_for_client *client, int status)
{
	if (client->answered)
		return;
	client->line.port = 0;
	client->line.status = status;
	snprintf(client->line.error, sizeof(client->line.error), "%s", wh_last_complaint());
	if (client->line.error[0] == '\0')
		snprintf(client->line.error, sizeof(client->line.error), "out of memory");
	say(client);
}

/* What the client has to say since, which is at most its last line. */
static void listen(struct wh_for_client *client, uint64_t now_ns)
{
	int rc = 0;

	while (!client->is_gone && rc == 0) {
		const char *text = wh_ssh_line_next(&client->reader, 0, &rc);

		if (text != NULL && wh_ssh_line_is(text, "end")) {
			client->ended = true;
			client->ended_ns = now_ns;
			close(STDOUT_FILENO); /* heard */
			return;
		}
	}
	client->is_gone |= rc != 0 && rc != -ETIMEDOUT && rc != -EINTR;
}

uint32_t wh_for_client_look(struct wh_for_client *client, uint32_t jobs, bool heard)
{
	uint64_t now_ns = wh_steady_ns();
	uint64_t most_s = client->is_gone   ? WH_FOR_CLIENT_GONE_S
			  : client->had_job ? WH_FOR_CLIENT_IDLE_S
					    : WH_FOR_CLIENT_LOST_S;

	if (heard && !client->heard)
		(void)wh_ssh_line_put(STDOUT_FILENO, "{\"heard\":true}\n");
	client->heard |= heard;
	if (!client->ended)
		listen(client, now_ns);
	if (client->ended)
		return now_ns - client->ended_ns > LAST_JOBS_NS ? 2 : 1;
	if (jobs > 0)
		client->since_ns = now_ns;
	client->had_job |= jobs > 0;
	return now_ns - client->since_ns > most_s * WH_NS_PER_S;
}
