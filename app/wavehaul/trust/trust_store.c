/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/trust_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/sha.h>
#include <openssl/x509v3.h>

#include "base/assert.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/moment/system_clock.h"
#include "cli/plain_text.h"
#include "trust/fingerprint.h"

/* Minimum interval of log lines about refusals. */
#define LINE_EVERY_NS INT64_C(200000000)

/* Most files examined in a folder, half of which may be unrelated. */
#define STAMPED_MAX (2 * WH_PEERS_TRUSTED_MAX)

/* Keys of one owner at once: as many as he may have SAs. */
#define ANSWERS_OF_OWNER 64

/* An answer that was withdrawn, or not used for this time, may be replaced. */
#define FORGET_S 3600

static uint64_t mix(uint64_t stamp, const void *bytes, size_t count)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < count; i++)
		stamp = (stamp ^ byte[i]) * UINT64_C(0x100000001b3);
	return stamp;
}

/*
 * A hash of names, sizes and times that changes with any file, but not with the order of the files.
 * At most STAMPED_MAX files are examined, since this is done every second.
 */
static uint64_t stamp_of(const char *folder)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	uint64_t sum = entries != NULL;

	for (uint32_t i = 0; entries != NULL && i < STAMPED_MAX; i++) {
		entry = readdir(entries);
		if (entry == NULL)
			break;

		struct stat facts;
		uint64_t one = UINT64_C(0xcbf29ce484222325);

		if (fstatat(dirfd(entries), entry->d_name, &facts, 0) != 0 ||
			!S_ISREG(facts.st_mode))
			continue;
		one = mix(one, entry->d_name, strlen(entry->d_name));
		one = mix(one, &facts.st_size, sizeof(facts.st_size));
		one = mix(one, &facts.st_mtim, sizeof(facts.st_mtim));
		one = mix(one, &facts.st_ctim, sizeof(facts.st_ctim));
		one = mix(one, &facts.st_ino, sizeof(facts.st_ino));
		sum += one;
	}
	if (entries != NULL)
		closedir(entries);
	return sum;
}

static uint64_t stamp_now(const struct wh_store *store)
{
	uint64_t peers = stamp_of(store->place.peers);
	uint64_t authorities = stamp_of(store->place.authorities);

	return peers ^ (authorities << 1 | authorities >> 63);
}

/* If the new ones are invalid the earlier ones remain, if any. */
static struct wh_authority *read_authorities(const struct wh_store *store)
{
	struct wh_authority *authority;
	char path[PATH_MAX];
	int rc = wh_authority_open(&authority, store->place.authorities, path, sizeof(path));

	if (rc == 0)
		return authority;
	wh_complain("cannot load the certificate authorities in %s, so %s: %s: %s",
		store->place.authorities,
		store->authority != NULL ? "the previous ones stay in use" : "nothing", path,
		rc == -EBADMSG ? "it is not a PEM file of certificates or revocation lists"
		: rc == -EPERM ? "other users may write it, or it belongs to another user; fix "
				 "that with chmod go-w and chown"
		: rc == -E2BIG ? "there are more than 1024 of them, the limit"
			       : strerror(-rc));
	wh_authority_share(store->authority);
	return store->authority;
}

static int64_t day_s(void)
{
	return wh_wall_us() / 1000000;
}

/*
 * The peer whose certificate an authority has signed, valid at that time, and its subject; NULL:
 * not a listed peer, or, with an empty subject, *why the certificate is not accepted. Under the
 * lock.
 */
static const struct wh_peer_file *vouched(const struct wh_store *store, X509 *certificate,
	STACK_OF(X509) * chain, int64_t at_s, char subject[WH_PEER_SUBJECT_BYTES], const char **why)
{
	subject[0] = '\0';
	*why = "there is no authority here";
	if (store->authority == NULL || certificate == NULL ||
		!wh_authority_vouches(store->authority, certificate, chain, at_s, subject,
			WH_PEER_SUBJECT_BYTES, why))
		return NULL;
	for (uint32_t i = 0; i < store->list.peers; i++)
		if (!store->list.peer[i].has_key &&
			wh_subject_is(subject, store->list.peer[i].subject))
			return &store->list.peer[i];
	return NULL;
}

/*
 * Whether the same answer would be given again: the same peer with the same rights. A clock that
 * was set back makes no certificate invalid. *why: NULL, or why no authority accepts it any more.
 */
static bool still_stands(
	const struct wh_store *store, const struct wh_answer *answer, const char **why)
{
	char subject[WH_PEER_SUBJECT_BYTES] = "";
	int64_t now = day_s();
	int64_t at_s = now > answer->authorized_s ? now : answer->authorized_s;
	const struct wh_peer_file *peer =
		answer->certificate != NULL
			? vouched(store, answer->certificate, answer->chain, at_s, subject, why)
			: wh_peer_list_with(&store->list, answer->id);

	if (answer->certificate == NULL || subject[0] != '\0')
		*why = NULL;
	return peer != NULL && strcmp(peer->name, answer->peer.name) == 0 &&
	       wh_rights_equal(&peer->rights, &answer->peer.rights);
}

static STACK_OF(X509) * share_chain(STACK_OF(X509) * chain)
{
	return chain == NULL ? NULL : X509_chain_up_ref(chain);
}

/*
 * Withdraws an answer that would not be given again; true: done. Verifies chains without the lock,
 * for that takes long; only the main thread changes what is read here.
 */
static bool review_one(struct wh_store *store, struct wh_answer *answer)
{
	struct wh_answer seen;

	wh_spin_lock(&store->lock);
	if (answer->number <= WH_RIGHTS_OWN || answer->withdrawn) {
		wh_spin_unlock(&store->lock);
		return false;
	}
	seen = *answer;
	if (seen.certificate != NULL) {
		X509_up_ref(seen.certificate);
		seen.chain = share_chain(seen.chain);
	}
	wh_spin_unlock(&store->lock);

	const char *why;
	bool stands = still_stands(store, &seen, &why);

	X509_free(seen.certificate);
	sk_X509_pop_free(seen.chain, X509_free);
	if (stands)
		return false;
	wh_spin_lock(&store->lock);
	if (answer->number == seen.number) {
		answer->withdrawn = true;
		answer->disowned = why != NULL;
	}
	wh_spin_unlock(&store->lock);
	if (why != NULL)
		wh_say("%s: its certificate is no longer valid: %s", seen.peer.name, why);
	return true;
}

static void review(struct wh_store *store)
{
	bool changed = false;

	for (uint32_t i = 0; i < WH_ANSWERS_MAX; i++)
		changed |= review_one(store, &store->answer[i]);
	if (changed)
		atomic_fetch_add(&store->changes, 1);
}

void wh_store_reload(struct wh_store *store)
{
	struct wh_peer_list list;
	struct wh_authority *authority = read_authorities(store);

	store->stamp = stamp_now(store);
	(void)wh_peer_list_read(&list, store->place.peers, &store->list);
	wh_spin_lock(&store->lock);

	struct wh_peer_list list_before = store->list;
	struct wh_authority *authority_before = store->authority;

	store->list = list;
	store->authority = authority;
	wh_spin_unlock(&store->lock);
	review(store);
	wh_peer_list_free(&list_before);
	wh_authority_let_go(authority_before);
}

void wh_store_reload_told(struct wh_store *store)
{
	wh_store_reload(store);
	if (store->list.wrong > 0)
		wh_say("trusted peers reloaded: %u peer%s in %s; files with errors, reported "
		       "above, keep their previous content, if any: %u",
			store->list.peers, wh_plural(store->list.peers), store->place.peers,
			store->list.wrong);
	else
		wh_say("trusted peers reloaded: %u peer%s in %s", store->list.peers,
			wh_plural(store->list.peers), store->place.peers);
}

void wh_store_keep_days(struct wh_store *store, const char *path)
{
	WH_ASSERT(store->keeper == NULL && store->days != NULL);
	store->keeper = wh_keeper_open(path, store->days);
}

/* Hands changed days to the keeper, on the main thread. */
static void keep_days(struct wh_store *store)
{
	if (store->keeper == NULL || !wh_keeper_is_due(store->keeper))
		return;
	WH_HOLD(&store->lock);

	bool changed = store->days->changed;

	if (changed)
		wh_keeper_take(store->keeper, store->days);
	store->days->changed = false;
}

int wh_store_open(struct wh_store *store, const struct wh_trust_place *place,
	const uint8_t own[WH_IDENTITY_BYTES])
{
	memset(store, 0, sizeof(*store));
	store->place = *place;
	memcpy(store->own_id, own, sizeof(store->own_id));
	wh_spin_init(&store->lock);
	store->next_number = WH_RIGHTS_OWN + 1;
	store->answer = calloc(WH_ANSWERS_MAX, sizeof(store->answer[0]));
	store->days = calloc(1, sizeof(*store->days));
	if (store->answer == NULL || store->days == NULL) {
		free(store->answer);
		free(store->days);
		return wh_fail(WH_EXIT_OTHER, "out of memory for the trusted peers");
	}
	wh_store_reload(store);
	store->looked_s = wh_steady_s();
	return -1;
}

static void forget(struct wh_answer *answer)
{
	X509_free(answer->certificate);
	sk_X509_pop_free(answer->chain, X509_free);
	memset(answer, 0, sizeof(*answer));
}

void wh_store_close(struct wh_store *store)
{
	for (uint32_t i = 0; store->answer != NULL && i < WH_ANSWERS_MAX; i++)
		forget(&store->answer[i]);
	free(store->answer);
	if (store->keeper != NULL)
		wh_keeper_close(store->keeper, store->days);
	free(store->days);
	wh_peer_list_free(&store->list);
	wh_authority_let_go(store->authority);
	memset(store, 0, sizeof(*store));
}

/* Whether the file lacks that address, and has room for one. Another client may have added it. */
static bool may_add(const char *name, const char *path, const struct wh_address *address)
{
	struct wh_peer_file peer;

	return wh_peer_file_read(&peer, name, path) == -1 &&
	       !wh_peer_file_has_address(&peer, address) && peer.addresses < WH_PEER_ADDRESSES_MAX;
}

/* Adds the address at which a known peer was newly met to its file. */
static void bind_address(struct wh_store *store)
{
	char text[WH_ADDRESS_TEXT_BYTES];
	char path[PATH_MAX];

	wh_spin_lock(&store->lock);

	struct wh_address address = store->bind;
	char name[WH_PEER_NAME_BYTES];

	strcpy(name, store->bind_name);
	store->bind.family = 0;
	wh_spin_unlock(&store->lock);
	if (address.family == 0 || !wh_peer_file_path(store->place.peers, name, path))
		return;
	wh_address_text(&address, text);

	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && may_add(name, path, &address) &&
		dprintf(fd, "\n[peer]\naddress = %s\n", text) > 0)
		wh_say("%s is now known at %s", name, text);
	close(fd);
	wh_store_reload(store);
}

void wh_store_check(struct wh_store *store)
{
	int64_t second = wh_steady_s();

	if (second == store->looked_s || store->pair[0] != '\0')
		return;
	store->looked_s = second;
	bind_address(store);
	keep_days(store);
	if (stamp_now(store) != store->stamp) {
		wh_store_reload(store);
		return;
	}
	/* Certificates and revocation lists expire. */
	if (store->authority != NULL)
		review(store);
}

/* The owner's oldest answer without jobs, if he has as many as allowed, one a key; or NULL. */
static struct wh_answer *find_own(
	const struct wh_store *store, const uint8_t owner[WH_IDENTITY_BYTES])
{
	struct wh_answer *oldest = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < WH_ANSWERS_MAX; i++) {
		struct wh_answer *answer = &store->answer[i];

		if (answer->number == 0 || memcmp(answer->owner, owner, WH_IDENTITY_BYTES) != 0)
			continue;
		count++;
		if (answer->jobs == 0 && (oldest == NULL || answer->number < oldest->number))
			oldest = answer;
	}
	return count >= ANSWERS_OF_OWNER ? oldest : NULL;
}

static bool may_be_forgotten(const struct wh_answer *answer)
{
	return answer->jobs == 0 &&
	       (answer->withdrawn || answer->used_s + FORGET_S < wh_steady_s());
}

/* A place for an answer about that owner; NULL: all are in use. */
static struct wh_answer *find_place(struct wh_store *store, const uint8_t owner[WH_IDENTITY_BYTES])
{
	struct wh_answer *place = find_own(store, owner);

	for (uint32_t i = 0; place == NULL && i < WH_ANSWERS_MAX; i++)
		if (store->answer[i].number == 0)
			place = &store->answer[i];
	for (uint32_t i = 0; place == NULL && i < WH_ANSWERS_MAX; i++)
		if (may_be_forgotten(&store->answer[i]))
			place = &store->answer[i];
	if (place != NULL)
		forget(place);
	return place;
}

static bool same_chain(STACK_OF(X509) * one, STACK_OF(X509) * other)
{
	int count = sk_X509_num(one);
	bool same = count == sk_X509_num(other);

	for (int i = 0; same && i < count; i++)
		same = X509_cmp(sk_X509_value(one, i), sk_X509_value(other, i)) == 0;
	return same;
}

/*
 * Whether the answer is about that stranger as that peer. A key may have several certificates: one
 * that was renewed outlives the earlier one, and one with another subject has other rights.
 */
static bool is_about(const struct wh_answer *answer, const struct wh_stranger *stranger,
	const struct wh_peer_file *peer)
{
	if (answer->number == 0 || answer->withdrawn ||
		memcmp(answer->id, stranger->id, WH_IDENTITY_BYTES) != 0)
		return false;
	if (peer->has_key || answer->certificate == NULL)
		return peer->has_key && answer->certificate == NULL;
	return strcmp(answer->peer.name, peer->name) == 0 &&
	       X509_cmp(answer->certificate, stranger->certificate) == 0 &&
	       same_chain(answer->chain, stranger->chain);
}

/* NULL: too many. `subject`: the certificate's, if the peer has none. */
static const struct wh_answer *remember(struct wh_store *store, const struct wh_stranger *stranger,
	const struct wh_peer_file *peer, const char *subject)
{
	for (uint32_t i = 0; i < WH_ANSWERS_MAX; i++) {
		struct wh_answer *answer = &store->answer[i];

		if (is_about(answer, stranger, peer)) {
			answer->used_s = wh_steady_s();
			return answer;
		}
	}

	uint8_t owner[WH_IDENTITY_BYTES];

	if (store->pair[0] != '\0')
		SHA256((const uint8_t *)store->pair, strlen(store->pair), owner);
	else if (peer->has_key)
		memcpy(owner, stranger->id, sizeof(owner));
	else
		SHA256((const uint8_t *)subject, strlen(subject), owner);

	struct wh_answer *answer = find_place(store, owner);

	if (answer == NULL)
		return NULL;
	answer->number = store->next_number++;
	answer->used_s = wh_steady_s();
	answer->authorized_s = day_s();
	answer->peer = *peer;
	memcpy(answer->id, stranger->id, WH_IDENTITY_BYTES);
	memcpy(answer->owner, owner, sizeof(answer->owner));
	if (!peer->has_key) {
		X509_up_ref(stranger->certificate);
		answer->certificate = stranger->certificate;
		answer->chain = share_chain(stranger->chain);
	}
	return answer;
}

/* The command that would trust that key. */
static const char *trust_command(const uint8_t id[WH_IDENTITY_BYTES],
	const struct wh_address *address, bool at, char text[WH_REFUSAL_BYTES])
{
	char key[WH_ID_TEXT_BYTES];
	char where[WH_ADDRESS_TEXT_BYTES];
	char name[WH_ADDRESS_TEXT_BYTES];

	wh_address_text(address, where);
	strcpy(name, where);
	for (char *c = name; *c != '\0'; c++)
		if (*c == ':')
			*c = '-';
	snprintf(text, WH_REFUSAL_BYTES, "wavehaul trust add peer-%s %s%s%s", name,
		wh_id_text(id, key), at ? " address=" : "", at ? where : "");
	return text;
}

/*
 * If the stranger is a server, keeps the reason for the client's verb; if it is a client, writes a
 * log line, unless too frequent.
 */
static enum wh_authorization refuse(
	struct wh_store *store, const struct wh_stranger *stranger, const char *what, bool advise)
{
	char command[WH_REFUSAL_BYTES];
	char where[WH_ADDRESS_TEXT_BYTES];
	char shown[WH_FINGERPRINT_BYTES];
	int64_t now_ns = (int64_t)wh_steady_ns();

	if (advise)
		trust_command(stranger->id, &stranger->address, stranger->we_asked, command);
	wh_address_text(&stranger->address, where);
	wh_fingerprint_text(stranger->id, shown);
	memcpy(store->refused_id, stranger->id, sizeof(store->refused_id));
	snprintf(store->refused_why, sizeof(store->refused_why), "%s", what);
	if (stranger->we_asked)
		snprintf(store->refusal, sizeof(store->refusal),
			"%.64s presents the key %s: %.500s%s%.300s", where, shown, what,
			advise ? "; if this is the right host, run: " : "", advise ? command : "");
	else if (now_ns - store->told_ns >= LINE_EVERY_NS || store->told_ns == 0) {
		store->told_ns = now_ns;
		wh_say("%s: refused the key %s: %s%s%s", where, shown, what,
			advise ? "; to allow it, run: " : "", advise ? command : "");
	}
	return WH_UNAUTHORIZED;
}

/* Whether a server's key is not that of the peer we mean, even if it is ours: a person checks. */
static bool is_another(struct wh_store *store, const struct wh_stranger *stranger,
	const struct wh_peer_file *peer, char what[WH_WHY_BYTES])
{
	const struct wh_peer_file *meant =
		wh_peer_list_meant(&store->list, store->expected, &stranger->address);
	char shown[WH_FINGERPRINT_BYTES];

	if (meant == NULL || meant == peer ||
		(store->expected[0] == '\0' && peer != NULL &&
			wh_peer_file_has_address(peer, &stranger->address)))
		return false;
	if (store->pair[0] != '\0') {
		snprintf(what, WH_WHY_BYTES,
			"NOT THE KEY that came by ssh: ANOTHER HOST ANSWERS IN ITS PLACE");
		return true;
	}
	snprintf(what, WH_WHY_BYTES,
		"NOT THE KEY of %s, which is %s. Either the host was reinstalled: run `wavehaul "
		"trust remove %s`, then trust it again; or ANOTHER HOST IS IMPERSONATING IT",
		meant->name,
		meant->has_key ? wh_fingerprint_text(meant->id, shown) : meant->subject,
		meant->name);
	return true;
}

/* Asks the person at the terminal, once. */
static enum wh_authorization ask(struct wh_store *store, const struct wh_stranger *stranger)
{
	struct wh_question *question = &store->question;
	bool same = memcmp(question->id, stranger->id, WH_IDENTITY_BYTES) == 0;

	if (!store->may_ask || (question->state == WH_ASKING_NO && same))
		return refuse(store, stranger, "it is not known here", true);
	if (question->state == WH_ASKING_NONE) {
		question->state = WH_ASKING_WANTED;
		question->address = stranger->address;
		memcpy(question->id, stranger->id, WH_IDENTITY_BYTES);
	}
	return WH_AUTHORIZATION_PENDING;
}

/* Refuses a client in no file; a certificate that is not self-issued may be the reason. */
static enum wh_authorization refuse_unknown(struct wh_store *store,
	const struct wh_stranger *stranger, const char *subject, const char *why)
{
	bool by_other = stranger->certificate != NULL &&
			(X509_get_extension_flags(stranger->certificate) & EXFLAG_SI) == 0;
	char what[WH_WHY_BYTES];

	if (!by_other)
		return refuse(store, stranger, "it is not known here", true);
	if (subject[0] != '\0')
		snprintf(what, sizeof(what), "no peer file here has its subject, %s", subject);
	else
		snprintf(what, sizeof(what), "its certificate is not valid: %s", why);
	return refuse(store, stranger, what, false);
}

/* Under the lock. */
static enum wh_authorization judge(
	struct wh_store *store, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	bool own = memcmp(stranger->id, store->own_id, WH_IDENTITY_BYTES) == 0;
	const struct wh_peer_file *peer = wh_peer_list_with(&store->list, stranger->id);
	char subject[WH_PEER_SUBJECT_BYTES] = "";
	char what[WH_WHY_BYTES];
	const char *why = "";

	if (peer == NULL && !own)
		peer = vouched(
			store, stranger->certificate, stranger->chain, day_s(), subject, &why);
	if (stranger->we_asked && is_another(store, stranger, peer, what))
		return refuse(store, stranger, what, false);
	if (own) {
		granted->rights = WH_RIGHTS_OWN;
		memcpy(granted->owner, stranger->id, sizeof(granted->owner));
		return WH_AUTHORIZED;
	}
	if (peer == NULL)
		return stranger->we_asked ? ask(store, stranger)
					  : refuse_unknown(store, stranger, subject, why);
	if (!stranger->we_asked && !wh_rights_reach(&peer->rights, &stranger->address)) {
		snprintf(what, sizeof(what), "%s may not connect from that address", peer->name);
		return refuse(store, stranger, what, false);
	}
	if (stranger->we_asked && !wh_peer_file_has_address(peer, &stranger->address) &&
		peer->addresses < WH_PEER_ADDRESSES_MAX) {
		store->bind = stranger->address;
		strcpy(store->bind_name, peer->name);
	}

	const struct wh_answer *answer = remember(store, stranger, peer, subject);

	if (answer == NULL)
		return refuse(store, stranger, "too many peers are already connected", false);
	granted->rights = answer->number;
	memcpy(granted->owner, answer->owner, sizeof(granted->owner));
	return WH_AUTHORIZED;
}

bool wh_store_meant(
	struct wh_store *store, const struct wh_address *address, uint8_t id[WH_IDENTITY_BYTES])
{
	WH_HOLD(&store->lock);
	return wh_peer_list_meant_key(&store->list, store->expected, address, id);
}

static enum wh_authorization authorize(
	void *context, const struct wh_stranger *stranger, struct wh_granted *granted)
{
	struct wh_store *store = context;

	WH_HOLD(&store->lock);
	return judge(store, stranger, granted);
}

/* Under the lock; NULL: withdrawn. */
static struct wh_answer *find_answer(struct wh_store *store, uint64_t number)
{
	for (uint32_t i = 0; i < WH_ANSWERS_MAX; i++)
		if (store->answer[i].number == number && number != 0)
			return store->answer[i].withdrawn ? NULL : &store->answer[i];
	return NULL;
}

static bool holds(void *context, uint64_t number)
{
	struct wh_store *store = context;

	if (number == WH_RIGHTS_OWN)
		return true;
	WH_HOLD(&store->lock);

	struct wh_answer *answer = find_answer(store, number);

	if (answer != NULL)
		answer->used_s = wh_steady_s();
	return answer != NULL;
}

static bool knows(void *context, const struct wh_address *address)
{
	struct wh_store *store = context;

	WH_HOLD(&store->lock);
	return wh_peer_list_knows(&store->list, address);
}

struct wh_authorizer wh_store_authorizer(struct wh_store *store)
{
	return (struct wh_authorizer){
		.authorize = authorize, .holds = holds, .knows = knows, .context = store};
}

bool wh_store_rights(struct wh_store *store, uint64_t number, struct wh_rights *rights,
	char name[WH_PEER_NAME_BYTES])
{
	name[0] = '\0';
	wh_rights_init(rights);
	if (number == WH_RIGHTS_OWN) {
		rights->orders = true;
		rights->orders_delete = true;
		return true;
	}
	WH_HOLD(&store->lock);

	const struct wh_answer *answer = find_answer(store, number);

	if (answer != NULL) {
		*rights = answer->peer.rights;
		strcpy(name, answer->peer.name);
	}
	return answer != NULL;
}

/* Under the lock, even if withdrawn. */
static struct wh_answer *find_any(struct wh_store *store, uint64_t number)
{
	for (uint32_t i = 0; i < WH_ANSWERS_MAX; i++)
		if (store->answer[i].number == number)
			return &store->answer[i];
	return NULL;
}

/* The running jobs of the owner, by all his answers. Under the lock. */
static uint32_t jobs_of(const struct wh_store *store, const struct wh_answer *asked)
{
	uint32_t jobs = 0;

	for (uint32_t i = 0; i < WH_ANSWERS_MAX; i++)
		if (memcmp(store->answer[i].owner, asked->owner, WH_IDENTITY_BYTES) == 0)
			jobs += store->answer[i].jobs;
	return jobs;
}

int wh_store_enter(struct wh_store *store, uint64_t number)
{
	int rc = 0;

	WH_ASSERT(number != 0);
	if (number == WH_RIGHTS_OWN)
		return 0;
	WH_HOLD(&store->lock);

	struct wh_answer *answer = find_answer(store, number);

	if (answer == NULL)
		rc = -ENOENT;
	else if (answer->peer.rights.sessions > 0 &&
		 jobs_of(store, answer) >= answer->peer.rights.sessions)
		rc = -EBUSY;
	else
		answer->jobs++;
	return rc;
}

void wh_store_leave(struct wh_store *store, uint64_t number)
{
	if (number == WH_RIGHTS_OWN)
		return;
	WH_HOLD(&store->lock);

	struct wh_answer *answer = find_any(store, number);

	WH_ASSERT(answer != NULL && answer->jobs > 0);
	answer->jobs--;
	answer->used_s = wh_steady_s();
}

bool wh_store_spend(struct wh_store *store, uint64_t number, uint64_t bytes)
{
	bool may = true;

	if (number == WH_RIGHTS_OWN)
		return true;
	WH_HOLD(&store->lock);

	struct wh_answer *answer = find_any(store, number);

	if (answer != NULL)
		may = wh_days_add(store->days, answer->owner, bytes, wh_days_clock_s()) <
		      answer->peer.rights.day_bytes;
	return may;
}

void wh_store_why(
	struct wh_store *store, const uint8_t id[WH_IDENTITY_BYTES], char why[WH_WHY_BYTES])
{
	why[0] = '\0';
	WH_HOLD(&store->lock);
	if (memcmp(store->refused_id, id, WH_IDENTITY_BYTES) == 0)
		strcpy(why, store->refused_why);
}

void wh_store_refusal(struct wh_store *store, char text[WH_REFUSAL_BYTES])
{
	WH_HOLD(&store->lock);
	strcpy(text, store->refusal);
}
