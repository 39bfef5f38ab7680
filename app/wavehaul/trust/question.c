/* SPDX-License-Identifier: BSD-3-Clause */

/* Unknown servers: the person at the terminal decides, as with ssh. */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/address_text.h"
#include "cli/complain.h"
#include "trust/fingerprint.h"
#include "trust/own.h"
#include "trust/trust_store.h"

static void ask(const struct wh_question *question)
{
	char where[WH_ADDRESS_TEXT_BYTES];

	wh_say("the peer %s is not known here yet; it presents this key:",
		wh_address_text(&question->address, where));
	wh_id_print(question->id, stderr);
	fprintf(stderr, "On that host `wavehaul trust show` should show the same.\n"
			"Trust it permanently? Type yes, no, or the fingerprint: ");
	fflush(stderr);
}

/* A free name: the one used by the operator, or the address. */
static void name_of(
	struct wh_store *store, const struct wh_address *address, char name[WH_PEER_NAME_BYTES])
{
	char base[WH_ADDRESS_TEXT_BYTES];

	wh_address_text(address, base);
	for (char *c = base; *c != '\0'; c++)
		if (*c == ':')
			*c = '-';
	if (store->expected[0] != '\0')
		strcpy(name, store->expected);
	else
		snprintf(name, WH_PEER_NAME_BYTES, "peer-%.50s", base);
	for (uint32_t i = 2; wh_peer_list_named(&store->list, name) != NULL && i < 100; i++)
		snprintf(name, WH_PEER_NAME_BYTES, "peer-%.50s-%u", base, i);
}

/* A server trusted in this way gets no rights on us. */
static bool trust(struct wh_store *store, const struct wh_question *question)
{
	struct wh_peer_file peer;
	char path[PATH_MAX];

	memset(&peer, 0, sizeof(peer));
	name_of(store, &question->address, peer.name);
	peer.has_key = true;
	memcpy(peer.id, question->id, sizeof(peer.id));
	peer.address[peer.addresses++] = question->address;
	wh_rights_init(&peer.rights);
	peer.rights.read = false;
	peer.rights.write = false;
	peer.rights.measure = false;
	if (!wh_peer_file_path(store->place.peers, peer.name, path) || !wh_trust_place_make(path) ||
		wh_peer_file_write(&peer, path) != -1)
		return false;
	wh_say("now trusted, by %s", path);
	wh_store_reload(store);
	return true;
}

static bool says_yes(const struct wh_question *question)
{
	char shown[WH_FINGERPRINT_BYTES];

	return strcasecmp(question->typed, "yes") == 0 ||
	       strcasecmp(question->typed, wh_fingerprint_text(question->id, shown)) == 0;
}

/* Reads without waiting; a line is complete, or the input has ended; -1: not yet. */
static int hear(struct wh_question *question)
{
	struct pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN};
	ssize_t got;

	if (poll(&terminal, 1, 0) <= 0)
		return -1;
	got = read(STDIN_FILENO, question->typed + question->chars,
		sizeof(question->typed) - 1 - question->chars);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN ? -1 : 0;
	question->chars += (uint32_t)got;
	question->typed[question->chars] = '\0';

	char *end = strpbrk(question->typed, "\r\n");

	if (end == NULL && got > 0 && question->chars < sizeof(question->typed) - 1)
		return -1;
	if (end != NULL)
		*end = '\0';
	question->chars = 0;
	return got > 0;
}

static enum wh_asking answer(struct wh_store *store, struct wh_question *question)
{
	int heard = hear(question);

	if (heard < 0)
		return WH_ASKING_ASKED;
	if (heard > 0 && says_yes(question))
		return trust(store, question) ? WH_ASKING_NONE : WH_ASKING_NO;
	if (heard == 0 || strcasecmp(question->typed, "no") == 0)
		return WH_ASKING_NO;
	fprintf(stderr, "Type yes, no, or the fingerprint: ");
	fflush(stderr);
	return WH_ASKING_ASKED;
}

/*
 * The handshake server's core only starts a question; from then on it belongs to the main thread.
 */
static void go_on(struct wh_store *store)
{
	struct wh_question *question = &store->question;

	wh_spin_lock(&store->lock);

	enum wh_asking state = question->state;

	wh_spin_unlock(&store->lock);
	if (state == WH_ASKING_WANTED) {
		ask(question);
		state = WH_ASKING_ASKED;
	} else if (state == WH_ASKING_ASKED) {
		state = answer(store, question);
	} else {
		return;
	}
	wh_spin_lock(&store->lock);
	question->state = state;
	wh_spin_unlock(&store->lock);
}

void wh_store_look(struct wh_store *store)
{
	go_on(store);
	wh_store_check(store);
}
