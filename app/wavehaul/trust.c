/* SPDX-License-Identifier: BSD-3-Clause */

/* `wavehaul trust`: who is trusted here, with which rights. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "cli/nearest/nearest.h"
#include "cli/settings.h"
#include "trust/own.h"
#include "trust/peer_list.h"
#include "trust/swap.h"
#include "trust/trust_place.h"
#include "trust/trust_tell.h"
#include "verbs.h"

struct trust {
	struct wh_settings settings;
	struct wh_trust_place place;
	struct wh_identity own;
	char **words; /* operands after the command */
	uint32_t n_words;
	char **via; /* the command after --via */
	uint32_t n_via;
	bool told; /* a report was printed */
};

static void print_json(struct trust *trust, int status, json_t *more)
{
	json_t *object = wh_head_json("trust", status);

	trust->told = true;
	wh_json_add(object, more);
	wh_json_print(object, JSON_INDENT(2));
}

/* Takes a valid name, and the path of its file; false: complained. */
static bool take_name(const struct trust *trust, const char *command, char path[PATH_MAX])
{
	const char *name = trust->n_words > 0 ? trust->words[0] : "";

	if (wh_peer_name_is_good(name) && wh_peer_file_path(trust->place.peers, name, path))
		return true;
	return wh_fail(false,
		"`wavehaul trust %s` needs the name of a peer: letters, digits, '.', '_' and '-', "
		"beginning with a letter or a digit",
		command);
}

static int list_peers(struct trust *trust)
{
	struct wh_peer_list list;

	if (trust->n_words > 0)
		return wh_fail(WH_EXIT_USAGE, "`wavehaul trust list` takes no arguments; `wavehaul "
					      "trust show NAME` shows one peer");

	bool good = wh_peer_list_read(&list, trust->place.peers, NULL) && list.wrong == 0;
	int status = good ? WH_EXIT_OK : WH_EXIT_NO_FILE;

	if (trust->settings.json) {
		json_t *peers = json_array();

		for (uint32_t i = 0; i < list.peers; i++)
			json_array_append_new(peers, wh_peer_json(&list.peer[i]));
		print_json(trust, status,
			json_pack("{s:o, s:i}", "peers", peers, "wrong_files", list.wrong));
	} else {
		wh_peer_list_print(&list);
	}
	wh_peer_list_free(&list);
	return status;
}

static int show_own(struct trust *trust)
{
	int status = wh_own_identity(&trust->own, trust->place.identity);

	if (status != -1)
		return status;
	if (trust->settings.json) {
		print_json(trust, WH_EXIT_OK, json_pack("{s:o}", "own", wh_id_json(trust->own.id)));
		return WH_EXIT_OK;
	}

	json_t *own = wh_id_json(trust->own.id);

	printf("this end, by %s\n", trust->place.identity);
	wh_id_print(trust->own.id, stdout);
	printf("  %s\n", json_string_value(json_object_get(own, "key")));
	json_decref(own);
	return WH_EXIT_OK;
}

static int show(struct trust *trust)
{
	struct wh_peer_file peer;
	char path[PATH_MAX];

	if (trust->n_words == 0)
		return show_own(trust);
	if (trust->n_words > 1 || !take_name(trust, "show", path))
		return WH_EXIT_USAGE;

	int status = wh_peer_file_read(&peer, trust->words[0], path);

	if (status != -1)
		return status;
	if (trust->settings.json)
		print_json(trust, WH_EXIT_OK, json_pack("{s:o}", "peer", wh_peer_json(&peer)));
	else
		wh_peer_print(&peer, path);
	return WH_EXIT_OK;
}

static int remove_peer(struct trust *trust)
{
	char path[PATH_MAX];

	if (trust->n_words != 1 || !take_name(trust, "remove", path))
		return WH_EXIT_USAGE;
	if (unlink(path) != 0)
		return wh_fail(WH_EXIT_NO_FILE, "cannot remove %s: %s", path, strerror(errno));
	if (trust->settings.json)
		print_json(trust, WH_EXIT_OK, json_pack("{s:s}", "removed", trust->words[0]));
	else
		printf("%s is no longer trusted; its running jobs end within a second\n",
			trust->words[0]);
	return WH_EXIT_OK;
}

/* Reads the operands: sha256:... or subject=..., and rights. -1: go on. */
static int take_words(const struct trust *trust, struct wh_peer_file *peer)
{
	int status = -1;

	for (uint32_t i = 1; status == -1 && i < trust->n_words; i++) {
		char set[PATH_MAX];
		const char *word = trust->words[i];

		if (strncmp(word, "sha256:", 7) == 0) {
			snprintf(set, sizeof(set), "key=%s", word);
			word = set;
		}
		status = wh_peer_file_set(peer, word);
	}
	return status;
}

/* Our name at the other host; by default this host's. */
static const char *own_name(const struct trust *trust, char name[WH_PEER_NAME_BYTES])
{
	const char *as = trust->settings.known_as;

	if (as[0] != '\0')
		return as;
	if (gethostname(name, WH_PEER_NAME_BYTES - 1) != 0)
		name[0] = '\0';
	name[WH_PEER_NAME_BYTES - 1] = '\0';
	return name;
}

static int swap(struct trust *trust, struct wh_peer_file *peer)
{
	char name[WH_PEER_NAME_BYTES];
	const struct wh_swap swapped = {
		.via = trust->via,
		.words = trust->n_via,
		.as = own_name(trust, name),
		.own_id = trust->own.id,
		.replace = trust->settings.replace,
	};

	if (!wh_peer_name_is_good(swapped.as))
		return wh_fail(WH_EXIT_USAGE,
			"'%s' cannot be this end's name there; choose another one with --as",
			swapped.as);
	peer->has_key = true;
	return wh_swap_run(&swapped, peer->id);
}

/* If the name exists: the same key is left unchanged, a different one needs --replace. */
static int check_before(const struct trust *trust, const char *path, struct wh_peer_file *peer)
{
	struct wh_peer_file before;

	if (access(path, F_OK) != 0 || trust->settings.replace)
		return -1;

	int status = wh_peer_file_read(&before, trust->words[0], path);

	if (status != -1)
		return status;
	if (before.has_key == peer->has_key && memcmp(before.id, peer->id, sizeof(peer->id)) == 0 &&
		strcmp(before.subject, peer->subject) == 0) {
		if (trust->n_words <= 2)
			*peer = before;
		return -1;
	}
	return wh_fail(WH_EXIT_USAGE,
		"%s is already known, with a DIFFERENT KEY: if it was reinstalled, add --replace; "
		"if not, another host may be impersonating it",
		before.name);
}

/* A key has only one name, and one set of rights. */
static int check_others(const struct trust *trust, const struct wh_peer_file *peer)
{
	struct wh_peer_list list;
	const struct wh_peer_file *other = NULL;
	bool good = wh_peer_list_read(&list, trust->place.peers, NULL);

	if (good && peer->has_key)
		other = wh_peer_list_with(&list, peer->id);
	if (other != NULL && strcmp(other->name, peer->name) != 0) {
		wh_complain("that key already belongs to %s; `wavehaul trust remove %s` frees it",
			other->name, other->name);
		good = false;
	}
	wh_peer_list_free(&list);
	return good ? -1 : WH_EXIT_USAGE;
}

static void tell_added(struct trust *trust, const struct wh_peer_file *peer, const char *path)
{
	if (trust->settings.json) {
		print_json(trust, WH_EXIT_OK,
			json_pack("{s:o, s:o}", "peer", wh_peer_json(peer), "own",
				wh_id_json(trust->own.id)));
		return;
	}
	wh_peer_print(peer, path);
}

static int save(struct trust *trust, struct wh_peer_file *peer, const char *path)
{
	if (peer->has_key == (peer->subject[0] != '\0'))
		return wh_fail(WH_EXIT_USAGE,
			"%s needs a key: add sha256: and 64 digits, which `wavehaul trust show` "
			"prints there; or --via ssh and the host; or subject=",
			peer->name);

	int status = check_before(trust, path, peer);

	if (status == -1)
		status = check_others(trust, peer);
	if (status == -1 && !wh_trust_place_make(path))
		status = WH_EXIT_NO_FILE;
	if (status == -1)
		status = wh_peer_file_write(peer, path);
	if (status == -1)
		tell_added(trust, peer, path);
	return status == -1 ? WH_EXIT_OK : status;
}

static int add_peer(struct trust *trust)
{
	struct wh_peer_file peer = {0};
	char path[PATH_MAX];

	if (!take_name(trust, "add", path))
		return WH_EXIT_USAGE;
	strcpy(peer.name, trust->words[0]);
	wh_rights_init(&peer.rights);

	int status = take_words(trust, &peer);

	if (status == -1)
		status = wh_own_identity(&trust->own, trust->place.identity);
	if (status == -1 && trust->n_via > 0)
		status = swap(trust, &peer);
	return status == -1 ? save(trust, &peer, path) : status;
}

static const struct {
	const char *word;
	int (*run)(struct trust *trust);
} commands[] = {
	{"list", list_peers},
	{"show", show},
	{"add", add_peer},
	{"remove", remove_peer},
};

static int run(struct trust *trust)
{
	const char *word = trust->settings.operand_count > 0 ? trust->settings.operands[0] : "";

	struct wh_nearest nearest = {.typed = word};
	char text[WH_NEAREST_TEXT_BYTES];

	if (!wh_trust_place_find(&trust->place, trust->settings.identity, trust->settings.trust))
		return WH_EXIT_USAGE;
	trust->words = trust->settings.operands + 1;
	trust->n_words = (uint32_t)trust->settings.operand_count - 1;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].word, word) == 0)
			return commands[i].run(trust);
		wh_nearest_try(&nearest, commands[i].word);
	}
	return wh_fail(WH_EXIT_USAGE, "`wavehaul trust` needs list, show, add or remove; %s",
		wh_nearest_text(&nearest, "", "`wavehaul trust --help` explains", text));
}

/* The command that reaches another host has options of its own, so it comes last. */
static int cut_via(struct trust *trust, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--via") != 0)
			continue;
		trust->via = argv + i + 1;
		trust->n_via = (uint32_t)(argc - i - 1);
		return i;
	}
	return argc;
}

int wh_verb_trust(int argc, char **argv)
{
	struct trust trust = {0};
	int kept = cut_via(&trust, argc, argv);

	if (kept < argc && trust.n_via == 0)
		return wh_fail(WH_EXIT_USAGE, "--via needs a command that reaches the host; write "
					      "for example --via ssh admin@dtn2");

	int status = wh_settings_read(&trust.settings, WH_VERB_TRUST, kept, argv);

	if (status == -1)
		status = run(&trust);
	if (status > WH_EXIT_OK && trust.settings.json && !trust.told)
		wh_json_print(wh_head_json("trust", status), JSON_INDENT(2));
	wh_identity_free(&trust.own);
	return status;
}
