/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/peer_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/complain.h"

#define SUFFIX ".conf"

/* The peer's name from a file's name; false: not a peer's file. */
static bool name_of(const char *entry, char name[WH_PEER_NAME_BYTES])
{
	size_t chars = strlen(entry);

	if (chars <= strlen(SUFFIX) || chars - strlen(SUFFIX) >= WH_PEER_NAME_BYTES ||
		strcmp(entry + chars - strlen(SUFFIX), SUFFIX) != 0)
		return false;
	memcpy(name, entry, chars - strlen(SUFFIX));
	name[chars - strlen(SUFFIX)] = '\0';
	return wh_peer_name_is_good(name);
}

static bool add(struct wh_peer_list *list, const struct wh_peer_file *peer)
{
	if (list->peers % 64 == 0) {
		void *grown = realloc(list->peer, (list->peers + 64) * sizeof(struct wh_peer_file));

		if (grown == NULL)
			return false;
		list->peer = grown;
	}
	list->peer[list->peers++] = *peer;
	return true;
}

static bool read_one(struct wh_peer_list *list, const char *folder, const char *entry,
	const struct wh_peer_list *before)
{
	char name[WH_PEER_NAME_BYTES];
	char path[PATH_MAX];
	struct wh_peer_file peer;

	if (!name_of(entry, name) || !wh_peer_file_path(folder, name, path))
		return true;
	if (list->peers == WH_PEERS_TRUSTED_MAX)
		return wh_fail(false, "%s has more than %d peers; the rest are not trusted", folder,
			WH_PEERS_TRUSTED_MAX);
	if (wh_peer_file_read(&peer, name, path) == -1)
		return add(list, &peer);
	/* It was removed after the folder was read. */
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return true;
	list->wrong++;

	const struct wh_peer_file *known = before != NULL ? wh_peer_list_named(before, name) : NULL;

	return known == NULL || add(list, known);
}

/* If the folder cannot be read (no descriptor is left, a disk fails), peers keep their rights. */
static void keep(struct wh_peer_list *list, const struct wh_peer_list *before)
{
	for (uint32_t i = 0; before != NULL && i < before->peers; i++)
		if (!add(list, &before->peer[i]))
			break;
	list->wrong++;
}

static int by_name(const void *a, const void *b)
{
	const struct wh_peer_file *one = a;
	const struct wh_peer_file *other = b;

	return strcmp(one->name, other->name);
}

/* A key has only one set of rights: of several files with it the first by name counts. */
static void drop_doubles(struct wh_peer_list *list)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->peers; i++) {
		const struct wh_peer_file *peer = &list->peer[i];
		const struct wh_peer_list before = {.peer = list->peer, .peers = kept};
		const struct wh_peer_file *other =
			peer->has_key ? wh_peer_list_with(&before, peer->id) : NULL;

		if (other == NULL) {
			list->peer[kept++] = *peer;
			continue;
		}
		wh_complain("%s has the same key as %s, and is ignored; remove one of the two",
			peer->name, other->name);
		list->wrong++;
	}
	list->peers = kept;
}

static int by_address(const void *a, const void *b)
{
	const struct wh_address *one = a;
	const struct wh_address *other = b;

	return one->family != other->family ? (int)one->family - (int)other->family
					    : memcmp(one->ip, other->ip, sizeof(one->ip));
}

/* Strangers make a server look here as often as they like. Without memory nobody is known. */
static void index_addresses(struct wh_peer_list *list)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < list->peers; i++)
		count += list->peer[i].addresses;
	list->address = calloc(count + 1, sizeof(*list->address));
	if (list->address == NULL)
		return;
	for (uint32_t i = 0; i < list->peers; i++)
		for (uint32_t k = 0; k < list->peer[i].addresses; k++)
			list->address[list->addresses++] = list->peer[i].address[k];
	qsort(list->address, list->addresses, sizeof(*list->address), by_address);
}

bool wh_peer_list_knows(const struct wh_peer_list *list, const struct wh_address *address)
{
	return list->addresses > 0 && bsearch(address, list->address, list->addresses,
					      sizeof(*list->address), by_address) != NULL;
}

static bool others_may_write(int folder_fd)
{
	struct stat facts;

	return fstat(folder_fd, &facts) != 0 || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

bool wh_peer_list_read(
	struct wh_peer_list *list, const char *folder, const struct wh_peer_list *before)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	bool good = true;

	*list = (struct wh_peer_list){0};
	if (entries == NULL && errno == ENOENT)
		return true;
	if (entries == NULL) {
		wh_complain(
			"cannot read the folder of trusted peers, %s: %s", folder, strerror(errno));
		keep(list, before);
		index_addresses(list);
		return false;
	}
	if (others_may_write(dirfd(entries))) {
		wh_complain(
			"the folder %s is ignored, and no peer is trusted: other users may write "
			"in it, and could restore removed peers; fix that with chmod go-w",
			folder);
		closedir(entries);
		return false;
	}
	while (good && (errno = 0, entry = readdir(entries)) != NULL)
		good = read_one(list, folder, entry->d_name, before);
	if (good && errno != 0) {
		wh_complain("cannot read the folder of trusted peers, %s, to its end: %s", folder,
			strerror(errno));
		wh_peer_list_free(list);
		keep(list, before);
		good = false;
	}
	closedir(entries);
	if (list->peers > 0)
		qsort(list->peer, list->peers, sizeof(list->peer[0]), by_name);
	drop_doubles(list);
	index_addresses(list);
	return good;
}

bool wh_peer_list_add(
	struct wh_peer_list *list, const char *name, const uint8_t id[WH_IDENTITY_BYTES])
{
	struct wh_peer_file peer = {.has_key = true};

	snprintf(peer.name, sizeof(peer.name), "%s", name);
	memcpy(peer.id, id, sizeof(peer.id));
	wh_rights_init(&peer.rights);
	return add(list, &peer);
}

void wh_peer_list_free(struct wh_peer_list *list)
{
	free(list->peer);
	free(list->address);
	*list = (struct wh_peer_list){0};
}

const struct wh_peer_file *wh_peer_list_named(const struct wh_peer_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->peers; i++)
		if (strcmp(list->peer[i].name, name) == 0)
			return &list->peer[i];
	return NULL;
}

static const struct wh_peer_file *find_at(
	const struct wh_peer_list *list, const struct wh_address *address)
{
	for (uint32_t i = 0; i < list->peers; i++)
		if (wh_peer_file_has_address(&list->peer[i], address))
			return &list->peer[i];
	return NULL;
}

const struct wh_peer_file *wh_peer_list_meant(
	const struct wh_peer_list *list, const char *name, const struct wh_address *address)
{
	const struct wh_peer_file *named = wh_peer_list_named(list, name);

	return named != NULL ? named : find_at(list, address);
}

bool wh_peer_list_meant_key(const struct wh_peer_list *list, const char *name,
	const struct wh_address *address, uint8_t id[WH_IDENTITY_BYTES])
{
	const struct wh_peer_file *meant = wh_peer_list_meant(list, name, address);
	uint32_t there = 0;

	for (uint32_t i = 0; i < list->peers; i++)
		there += wh_peer_file_has_address(&list->peer[i], address);
	if (meant == NULL || !meant->has_key || (name[0] == '\0' && there != 1))
		return false;
	memcpy(id, meant->id, WH_IDENTITY_BYTES);
	return true;
}

const struct wh_peer_file *wh_peer_list_with(
	const struct wh_peer_list *list, const uint8_t id[WH_IDENTITY_BYTES])
{
	for (uint32_t i = 0; i < list->peers; i++)
		if (list->peer[i].has_key && memcmp(list->peer[i].id, id, WH_IDENTITY_BYTES) == 0)
			return &list->peer[i];
	return NULL;
}
