/* SPDX-License-Identifier: BSD-3-Clause */
#include "transfer/hand.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/moment/system_clock.h"
#include "cli/own/own_addresses.h"
#include "cli/signals.h"
#include "source/given.h"
#include "transfer/order_words.h"

/* How often a missing server is looked for. */
#define LOOK_MS 100

/*
 * wh_path_below for --relative: /./ marks the part of the path that is kept as a name, because the
 * server's path to the file is a different one.
 */
static char *kept_below(const char *root, const char *path)
{
	char name[WH_PATH_BYTES_MAX + 1];
	char above[PATH_MAX];
	size_t above_bytes;
	int bytes = wh_path_in_bundle(path, true, name, &above_bytes);
	char *below = NULL, *kept = NULL;

	if (bytes < 0 || above_bytes + 2 > sizeof(above))
		return NULL;
	memcpy(above, path, above_bytes);
	strcpy(above + above_bytes, above_bytes > 0 ? "/" : "./");
	below = wh_path_below(root, above);
	if (below != NULL && asprintf(&kept, "%s./%s", below, name) < 0)
		kept = NULL;
	free(below);
	return kept;
}

static json_t *paths_below(
	const char *root, const char *const *paths, uint32_t count, bool relative)
{
	json_t *list = json_array();
	bool good = true;

	for (uint32_t i = 0; good && i < count; i++) {
		char *below = relative ? kept_below(root, paths[i]) : wh_path_below(root, paths[i]);

		good = below != NULL ? wh_list_add(list, json_string(below), paths[i])
				     : wh_fail(false,
					       "%s is not below %s, the server's root: the server "
					       "may read and write only there",
					       paths[i], root);
		free(below);
	}
	if (good)
		return list;
	json_decref(list);
	return NULL;
}

json_t *wh_order_request(const struct wh_wanted *wanted, const char *root)
{
	bool relative = wh_wanted_sends(wanted) && wanted->settings.relative;
	json_t *here = wanted->is_piped
			       ? json_pack("[s]", "-")
			       : paths_below(root, wanted->local, wanted->locals, relative);
	json_t *words = here != NULL ? wh_order_words(&wanted->settings, root) : NULL;
	json_t *there = json_array();
	bool good = words != NULL;

	for (uint32_t i = 0; good && i < wanted->remotes; i++)
		good = wh_list_add(there, json_string(wanted->remote[i]), wanted->remote[i]);
	if (good)
		return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "do", "job.add", "verb",
			wh_wanted_sends(wanted) ? "send" : "get", "host",
			wh_word_to_json(wanted->server), "here", here, "there", there, "options",
			words);
	json_decref(here);
	json_decref(there);
	json_decref(words);
	return NULL;
}

static bool is_always(const struct wh_settings *settings)
{
	return strcmp(settings->daemon, "always") == 0;
}

/*
 * Options that the request carries in another way, or that say what this process prints and reads
 * itself. A server reaches no host by ssh.
 */
static bool is_said_otherwise(const struct wh_setting *setting, enum wh_verb verb)
{
	static const char *const flags[] = {"control", "daemon", "files-from", "json",
		"json-stream", "null", "plot", "port", "quiet", "rate", "retries", "then-run",
		"wait"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (strcmp(setting->flag, flags[i]) == 0)
			return true;
	if (setting->offset == offsetof(struct wh_settings, names) ||
		strcmp(setting->section, "ssh") == 0 || strcmp(setting->section, "config") == 0)
		return true;
	return (verb & WH_VERBS_RPCS) != 0 && strcmp(setting->section, "transfer") == 0;
}

static bool has_address(const json_t *server, const struct wh_address *address)
{
	const json_t *list = json_object_get(server, "addresses");
	char text[WH_ADDRESS_TEXT_BYTES];

	if (address->family == 0)
		return true;
	wh_address_text(address, text);
	for (size_t i = 0; i < json_array_size(list); i++)
		if (strcmp(json_string_value(json_array_get(list, i)), text) == 0)
			return true;
	return false;
}

/* Whether the option says what the server has anyway. */
static bool is_as_there(
	const struct wh_setting *setting, const struct wh_settings *settings, const json_t *server)
{
	if (strcmp(setting->flag, "udp-port") == 0)
		return wh_json_count(server, "udp_port") == settings->udp_port;
	if (strcmp(setting->flag, "mtu") == 0)
		return wh_json_count(server, "mtu_bytes") == settings->mtu_bytes;
	if (strcmp(setting->flag, "addr") != 0)
		return false;
	for (uint32_t i = 0; i < WH_PORTS_MAX; i++)
		if (!has_address(server, &settings->port[i].ipv4.address) ||
			!has_address(server, &settings->port[i].ipv6.address))
			return false;
	return true;
}

/* An option that only a port of our own can fulfil; NULL: none was given. */
static const char *own_option(
	const struct wh_settings *settings, enum wh_verb verb, const json_t *server)
{
	for (uint32_t i = 0; i < wh_settings_count; i++) {
		const struct wh_setting *setting = &wh_settings_table[i];

		if (settings->given[i] && (setting->verbs & verb) != 0 &&
			!wh_order_knows(setting) && !is_said_otherwise(setting, verb) &&
			!is_as_there(setting, settings, server))
			return setting->flag;
	}
	return NULL;
}

/* Whether the connected server has the requested port. */
static bool is_meant(const struct wh_settings *settings, const json_t *server)
{
	char ports[WH_SETTINGS_TEXT_BYTES];

	wh_settings_ports_text(settings, ", ", ports);
	return json_is_true(json_object_get(server, "ok")) &&
	       (ports[0] == '\0' ||
		       strcmp(ports, json_string_value(json_object_get(server, "port"))) == 0);
}

/* The local server may start while we wait for it, like a remote one. */
static int open_asker(struct wh_asker *asker, const struct wh_settings *settings)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
	uint64_t until_ns = wh_steady_ns() + settings->wait_ns;
	bool told = false;
	int rc;

	while ((rc = wh_asker_open(asker, settings->control)) != 0 && is_always(settings) &&
		wh_steady_ns() < until_ns && wh_signals_count() == 0) {
		if (!told)
			wh_say("waiting for this host's server, which does not answer yet");
		told = true;
		nanosleep(&pause, NULL);
	}
	return rc;
}

/* NULL: none answers that is meant. *rc says why. */
static json_t *find_server(struct wh_asker *asker, const struct wh_settings *settings, int *rc)
{
	json_t *server;

	*rc = open_asker(asker, settings);
	if (*rc != 0)
		return NULL;
	server = wh_asker_ask(asker, json_pack("{s:s}", "do", "status"));
	if (is_meant(settings, server))
		return server;
	json_decref(server);
	return NULL;
}

json_t *wh_hand_to(
	struct wh_asker *asker, const struct wh_settings *settings, enum wh_verb verb, int *status)
{
	int rc = 0;
	json_t *server =
		strcmp(settings->daemon, "never") != 0 ? find_server(asker, settings, &rc) : NULL;
	const char *own = server != NULL ? own_option(settings, verb, server) : NULL;

	*status = -1;
	if (server != NULL && own == NULL)
		return server;
	json_decref(server);
	wh_asker_close(asker);
	/* Beside a server there is room for sockets, and not for a port that it has. */
	if (!is_always(settings) && (server == NULL || wh_own_is_udp(settings)))
		return NULL;
	*status = WH_EXIT_NETWORK;
	if (own != NULL)
		wh_complain("the server of this host has the port, and does not take --%s: leave "
			    "that out, or choose another --port and --daemon never",
			own);
	else
		wh_complain("no server of this host answers for %s%s%s; --control names its socket",
			settings->ports > 0 ? settings->port[0].name : "us", rc != 0 ? ": " : "",
			rc != 0 ? strerror(-rc) : "");
	return NULL;
}
