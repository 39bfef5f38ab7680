/* SPDX-License-Identifier: BSD-3-Clause */
#include "trust/peer_file.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/units.h"
#include "cli/address_text.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/nearest/nearest.h"
#include "cli/plain_text.h"
#include "cli/whole_file.h"
#include "trust/fingerprint.h"

#define FILE_BYTES_MAX (64 << 10)
#define SESSIONS_MAX   4096

/* NULL, or what is wrong with the value, to follow it in a sentence. */
typedef const char *(*take_fn)(struct wh_peer_file *peer, char *value);

static const char *take_key(struct wh_peer_file *peer, char *value)
{
	peer->has_key = wh_id_read(value, peer->id);
	return peer->has_key ? NULL : "is not sha256: followed by 64 digits 0-9 and a-f";
}

static const char *take_subject(struct wh_peer_file *peer, char *value)
{
	if (strlen(value) >= sizeof(peer->subject))
		return "is longer than 255 characters";
	if (strchr(value, '*') != NULL && strchr(value, '*') != value)
		return "has a * that is not its first character";
	strcpy(peer->subject, value);
	return NULL;
}

static const char *take_address(struct wh_peer_file *peer, char *value)
{
	struct wh_address address;

	if (!wh_address_parse(value, &address))
		return "is not an address";
	if (wh_peer_file_has_address(peer, &address))
		return "is given twice";
	if (peer->addresses == WH_PEER_ADDRESSES_MAX)
		return "exceeds the limit of 16 addresses";
	peer->address[peer->addresses++] = address;
	return NULL;
}

/* Whether it is a relative path without "..". */
static bool is_way_down(const char *path)
{
	while (*path != '\0') {
		size_t chars = strcspn(path, "/");

		if (chars == 0 || (chars == 1 && path[0] == '.') ||
			(chars == 2 && strncmp(path, "..", 2) == 0))
			return false;
		path += chars;
		if (*path == '/' && *++path == '\0')
			return false;
	}
	return true;
}

static const char *take_folder(struct wh_peer_file *peer, char *value)
{
	struct wh_rights *rights = &peer->rights;

	if (strlen(value) >= WH_PEER_FOLDER_BYTES)
		return "is longer than 255 bytes";
	if (!is_way_down(value))
		return "must be a relative path such as a/b, below the served root";
	if (rights->folders == WH_PEER_FOLDERS_MAX)
		return "exceeds the limit of 8 folders";
	strcpy(rights->folder[rights->folders++], value);
	return NULL;
}

static const char *take_from(struct wh_peer_file *peer, char *value)
{
	struct wh_rights *rights = &peer->rights;
	struct wh_subnet subnet = {0};

	if (!wh_subnet_parse(value, 0, &subnet))
		return "is not a subnet";
	if (rights->subnets == WH_PEER_SUBNETS_MAX)
		return "exceeds the limit of 16 subnets";
	rights->from[rights->subnets++] = subnet;
	return NULL;
}

static const char *take_rate(struct wh_peer_file *peer, char *value)
{
	uint64_t bps;

	if (wh_parse_rate(value, &bps) != 0)
		return "is not a rate";
	if (bps < WH_RATE_MIN)
		return "is below 1M";
	peer->rights.rate_bps = bps;
	return NULL;
}

static const char *take_sessions(struct wh_peer_file *peer, char *value)
{
	uint64_t count;

	if (wh_parse_count(value, &count) != 0)
		return "is not a number";
	if (count == 0 || count > SESSIONS_MAX)
		return "is not from 1 to 4096";
	peer->rights.sessions = (uint32_t)count;
	return NULL;
}

static const char *take_bytes(struct wh_peer_file *peer, char *value)
{
	return wh_parse_size(value, &peer->rights.day_bytes) == 0 ? NULL : "is not a size";
}

/* The file is also read by servers, which cannot look up names once guarded. */
static const char *take_map(char *value, bool groups, struct wh_owner_map *map)
{
	if (strlen(value) >= WH_SETTINGS_TEXT_BYTES)
		return "is longer than 4095 characters";
	if (value[strspn(value, "0123456789=,*")] != '\0')
		return "may contain only numbers, = and commas, and * for everyone else; `wavehaul "
		       "trust add` converts names to numbers";
	return wh_settings_owners(value, groups, map);
}

static_assert(WH_SETTINGS_TEXT_BYTES == 4096, "the sentence says so");

static const char *take_map_owners(struct wh_peer_file *peer, char *value)
{
	return take_map(value, false, &peer->rights.owners.users);
}

static const char *take_map_groups(struct wh_peer_file *peer, char *value)
{
	return take_map(value, true, &peer->rights.owners.groups);
}

static const struct key {
	const char *section;
	const char *word;
	take_fn take; /* NULL: a switch, at that offset of the rights */
	const char *example;
	bool repeats;
	size_t offset;
} keys[] = {
	{"peer", "key", take_key, "sha256: and what `wavehaul trust show` prints there", false, 0},
	{"peer", "subject", take_subject, "CN=dtn2,O=Site", false, 0},
	{"peer", "address", take_address, "192.0.2.2", true, 0},
	{"rights", "read", NULL, "yes", false, offsetof(struct wh_rights, read)},
	{"rights", "write", NULL, "no", false, offsetof(struct wh_rights, write)},
	{"rights", "measure", NULL, "yes", false, offsetof(struct wh_rights, measure)},
	{"rights", "orders", NULL, "no", false, offsetof(struct wh_rights, orders)},
	{"rights", "orders-delete", NULL, "no", false, offsetof(struct wh_rights, orders_delete)},
	{"rights", "folder", take_folder, "incoming/run7", true, 0},
	{"rights", "from", take_from, "192.0.2.0/24", true, 0},
	{"rights", "rate", take_rate, "10G", false, 0},
	{"rights", "sessions", take_sessions, "4", false, 0},
	{"rights", "bytes", take_bytes, "10T", false, 0},
	{"rights", "map-owners", take_map_owners, "1000=1000,*=65534", false, 0},
	{"rights", "map-groups", take_map_groups, "100=100", false, 0},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))

static const struct wh_ini_kind kinds[] = {{"peer", NULL}, {"rights", NULL}};

static const struct key *find_key(const char *section, const char *word)
{
	for (size_t i = 0; i < KEYS; i++)
		if ((section == NULL || strcmp(keys[i].section, section) == 0) &&
			strcmp(keys[i].word, word) == 0)
			return &keys[i];
	return NULL;
}

static bool may_repeat(const char *section, const char *word)
{
	const struct key *key = find_key(section, word);

	return key != NULL && key->repeats;
}

static const struct wh_ini_form form = {
	.what = "peer's file",
	.else_do = "`wavehaul trust add` makes one",
	.kinds = kinds,
	.n_kinds = 2,
	.n_unnamed = 2,
	.utf8 = true,
	.may_repeat = may_repeat,
};

bool wh_peer_name_is_good(const char *name)
{
	size_t chars = strlen(name);

	if (chars == 0 || chars >= WH_PEER_NAME_BYTES || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < chars; i++)
		if (!isalnum((unsigned char)name[i]) && strchr("._-", name[i]) == NULL)
			return false;
	return true;
}

bool wh_peer_file_path(const char *folder, const char *name, char path[PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/%s.conf", folder, name);

	return length > 0 && length < PATH_MAX;
}

bool wh_rights_reach(const struct wh_rights *rights, const struct wh_address *address)
{
	for (uint32_t i = 0; i < rights->subnets; i++)
		if (wh_subnet_has(&rights->from[i], address))
			return true;
	return rights->subnets == 0;
}

void wh_rights_init(struct wh_rights *rights)
{
	memset(rights, 0, sizeof(*rights));
	rights->read = true;
	rights->write = true;
	rights->measure = true;
	rights->rate_bps = WH_RATE_MAX;
	rights->day_bytes = UINT64_MAX;
}

static int refuse_key(const char *where, const char *section, const char *word)
{
	struct wh_nearest nearest = {.typed = word};
	char text[WH_NEAREST_TEXT_BYTES];
	char known[256] = "its keys are";
	uint32_t count = 0;

	for (size_t i = 0; i < KEYS; i++) {
		if (section != NULL && strcmp(keys[i].section, section) != 0)
			continue;
		wh_nearest_try(&nearest, keys[i].word);
		wh_text_add(known, sizeof(known), count++ > 0 ? ", " : " ", keys[i].word);
	}
	if (section != NULL)
		wh_complain("%s: [%s] has no key '%s'; %s", where, section, word,
			wh_nearest_text(&nearest, "", known, text));
	else
		wh_complain("%s: a peer has no key '%s'; %s", where, word,
			wh_nearest_text(&nearest, "", known, text));
	return WH_EXIT_USAGE;
}

/* A control character in a value could add lines to the file. */
static bool is_plain(const char *value)
{
	for (; *value != '\0'; value++)
		if (iscntrl((unsigned char)*value))
			return false;
	return true;
}

static const char *take_switch(const char *value, bool *on)
{
	*on = strcmp(value, "yes") == 0;
	return *on || strcmp(value, "no") == 0 ? NULL : "is not yes or no";
}

/* NULL, or what is wrong. Modifies the value. */
static const char *take_value(struct wh_peer_file *peer, const struct key *key, char *value)
{
	if (!is_plain(value))
		return "has a control character";
	if (key->take != NULL)
		return key->take(peer, value);
	return take_switch(value, (bool *)((char *)&peer->rights + key->offset));
}

static int take(struct wh_peer_file *peer, const char *where, const char *section, const char *word,
	const char *value)
{
	const struct key *key = find_key(section, word);
	char *copy;

	if (key == NULL)
		return refuse_key(where, section, word);
	copy = strdup(value);
	if (copy == NULL)
		return WH_EXIT_OTHER;

	const char *wrong = take_value(peer, key, copy);

	free(copy);
	if (wrong == NULL)
		return -1;
	return wh_fail(WH_EXIT_USAGE, "%s: %s = '%s' %s; write for example %s = %s", where, word,
		value, wrong, word, key->example);
}

static int take_all(struct wh_peer_file *peer, const struct wh_ini *ini)
{
	int status = -1;

	for (uint32_t i = 0; i < ini->n_sections; i++)
		for (uint32_t k = 0; status == -1 && k < ini->sections[i].n_entries; k++)
			status = take(peer, ini->sections[i].entries[k].where,
				ini->sections[i].word, ini->sections[i].entries[k].key,
				ini->sections[i].entries[k].value);
	if (status != -1 || peer->has_key != (peer->subject[0] != '\0'))
		return status;
	return wh_fail(WH_EXIT_USAGE,
		"%s: a peer needs either a key or the subject of its certificate; put one of the "
		"two into [peer]",
		ini->path);
}

int wh_peer_file_parse(struct wh_peer_file *peer, const char *name, const char *path,
	const char *text, size_t bytes)
{
	struct wh_ini ini;

	WH_ASSERT(wh_peer_name_is_good(name));
	memset(peer, 0, sizeof(*peer));
	strcpy(peer->name, name);
	wh_rights_init(&peer->rights);

	int status = wh_ini_parse(&ini, &form, path, text, bytes);

	if (status == -1)
		status = take_all(peer, &ini);
	wh_ini_free(&ini);
	return status;
}

static int cannot_read(const char *path, const char *why)
{
	return wh_fail(WH_EXIT_NO_FILE, "cannot use the peer file %s: %s", path, why);
}

/* Whoever may write the file could trust anybody in our name. */
static const char *wrong_with(const struct stat *facts)
{
	if (!S_ISREG(facts->st_mode))
		return "it is not a regular file";
	if (facts->st_size > FILE_BYTES_MAX)
		return "it is larger than 64 KiB";
	if ((facts->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return "other users may write it; fix that with chmod go-w";
	if (facts->st_uid != geteuid() && facts->st_uid != 0)
		return "it belongs to another user; fix that with chown";
	return NULL;
}

int wh_peer_file_read(struct wh_peer_file *peer, const char *name, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat facts;

	if (fd < 0)
		return cannot_read(path, strerror(errno));

	const char *wrong = fstat(fd, &facts) != 0 ? strerror(errno) : wrong_with(&facts);

	if (wrong != NULL) {
		close(fd);
		return cannot_read(path, wrong);
	}

	char *text = malloc((size_t)facts.st_size + 1);
	ssize_t got = text == NULL ? -1 : read(fd, text, (size_t)facts.st_size);
	int status = got < 0 ? cannot_read(path, "it cannot be read")
			     : wh_peer_file_parse(peer, name, path, text, (size_t)got);

	close(fd);
	free(text);
	return status;
}

/* Replaces names in owner maps by numbers; other values are unchanged. NULL: complained. */
static const char *with_numbers(
	const char *word, const char *value, char numbers[WH_OWNER_MAP_TEXT_BYTES])
{
	bool groups = strcmp(word, "map-groups") == 0;
	struct wh_owner_map map;

	if ((!groups && strcmp(word, "map-owners") != 0) || strlen(value) >= WH_SETTINGS_TEXT_BYTES)
		return value;

	const char *wrong = wh_settings_owners(value, groups, &map);

	if (wrong == NULL)
		return wh_owner_map_text(&map, numbers);
	wh_complain(
		"%s = '%s' %s; write for example %s=7=alice,*=nobody", word, value, wrong, word);
	return NULL;
}

int wh_peer_file_set(struct wh_peer_file *peer, const char *text)
{
	const char *value = strchr(text, '=');
	char numbers[WH_OWNER_MAP_TEXT_BYTES];
	char word[32];

	if (value == NULL || value == text || value[1] == '\0' ||
		(size_t)(value - text) >= sizeof(word))
		return wh_fail(WH_EXIT_USAGE,
			"'%s': write KEY=VALUE, for example write=no or folder=incoming", text);
	snprintf(word, sizeof(word), "%.*s", (int)(value - text), text);
	value = with_numbers(word, value + 1, numbers);
	return value != NULL ? take(peer, text, NULL, word, value) : WH_EXIT_USAGE;
}

static void write_value(FILE *to, const char *word, const char *value)
{
	fprintf(to, "%s = ", word);
	for (; *value != '\0'; value++)
		fprintf(to, *value == '#' ? "\\#" : "%c", *value);
	fputc('\n', to);
}

static void write_map(FILE *to, const char *word, const struct wh_owner_map *map)
{
	char text[WH_OWNER_MAP_TEXT_BYTES];

	if (wh_owner_map_changes(map))
		fprintf(to, "%s = %s\n", word, wh_owner_map_text(map, text));
}

static void write_rights(FILE *to, const struct wh_rights *rights)
{
	char text[WH_ADDRESS_TEXT_BYTES];

	fprintf(to, "\n[rights]\nread = %s\nwrite = %s\nmeasure = %s\n",
		rights->read ? "yes" : "no", rights->write ? "yes" : "no",
		rights->measure ? "yes" : "no");
	if (rights->orders)
		fprintf(to, "orders = yes\n");
	if (rights->orders_delete)
		fprintf(to, "orders-delete = yes\n");
	for (uint32_t i = 0; i < rights->folders; i++)
		write_value(to, "folder", rights->folder[i]);
	for (uint32_t i = 0; i < rights->subnets; i++)
		fprintf(to, "from = %s/%u\n", wh_address_text(&rights->from[i].address, text),
			rights->from[i].prefix_bits);
	if (rights->rate_bps != WH_RATE_MAX)
		fprintf(to, "rate = %" PRIu64 "\n", rights->rate_bps);
	if (rights->sessions > 0)
		fprintf(to, "sessions = %u\n", rights->sessions);
	if (rights->day_bytes != UINT64_MAX)
		fprintf(to, "bytes = %" PRIu64 "\n", rights->day_bytes);
	write_map(to, "map-owners", &rights->owners.users);
	write_map(to, "map-groups", &rights->owners.groups);
}

void wh_peer_file_print(const struct wh_peer_file *peer, FILE *to)
{
	char id[WH_ID_TEXT_BYTES];
	char fingerprint[WH_FINGERPRINT_BYTES];
	char text[WH_ADDRESS_TEXT_BYTES];

	fprintf(to, "# A peer of wavehaul: see wavehaul-trust(1).\n[peer]\n");
	if (peer->has_key)
		fprintf(to, "# %s\nkey = %s\n", wh_fingerprint_text(peer->id, fingerprint),
			wh_id_text(peer->id, id));
	else
		write_value(to, "subject", peer->subject);
	for (uint32_t i = 0; i < peer->addresses; i++)
		fprintf(to, "address = %s\n", wh_address_text(&peer->address[i], text));
	write_rights(to, &peer->rights);
}

int wh_peer_file_write(const struct wh_peer_file *peer, const char *path)
{
	struct wh_whole_file whole;
	int rc = wh_whole_file_open(&whole, path);

	if (rc == 0) {
		(void)fchmod(fileno(whole.file), S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);
		wh_peer_file_print(peer, whole.file);
		rc = wh_whole_file_close(&whole, true);
	}
	if (rc == 0)
		return -1;
	wh_complain("cannot write %s: %s", path, strerror(-rc));
	return rc == -ENOSPC ? WH_EXIT_OTHER : WH_EXIT_NO_FILE;
}

uint32_t wh_peer_file_reach(const struct wh_peer_file *peer, const struct wh_settings *settings,
	struct wh_address reach[WH_PEER_ADDRESSES_MAX])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < peer->addresses; i++)
		if (wh_settings_has_family(settings, peer->address[i].family))
			reach[count++] = peer->address[i];
	return count;
}

bool wh_peer_file_has_address(const struct wh_peer_file *peer, const struct wh_address *address)
{
	for (uint32_t i = 0; i < peer->addresses; i++)
		if (peer->address[i].family == address->family &&
			memcmp(peer->address[i].ip, address->ip, sizeof(address->ip)) == 0)
			return true;
	return false;
}

const char *wh_rights_text(const struct wh_rights *rights, char text[WH_RIGHTS_TEXT_BYTES])
{
	char value[WH_ADDRESS_TEXT_BYTES + 8];

	text[0] = '\0';
	if (rights->read)
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, ", ", "read");
	if (rights->write)
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, ", ", "write");
	if (rights->measure)
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, ", ", "measure");
	if (rights->orders)
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, ", ",
			rights->orders_delete ? "orders that may delete" : "orders");
	if (text[0] == '\0')
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, "", "nothing");
	for (uint32_t i = 0; i < rights->folders; i++)
		wh_text_add(
			text, WH_RIGHTS_TEXT_BYTES, i == 0 ? " below " : ", ", rights->folder[i]);
	for (uint32_t i = 0; i < rights->subnets; i++) {
		int used;

		wh_address_text(&rights->from[i].address, value);
		used = (int)strlen(value);
		snprintf(value + used, sizeof(value) - (size_t)used, "/%u",
			rights->from[i].prefix_bits);
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, i == 0 ? "; from " : ", ", value);
	}
	if (rights->rate_bps != WH_RATE_MAX)
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, "; at most ",
			wh_format_rate(value, sizeof(value), (double)rights->rate_bps));
	if (rights->day_bytes != UINT64_MAX) {
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, "; at most ",
			wh_format_size(value, sizeof(value), rights->day_bytes));
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, "", " a day");
	}
	if (rights->sessions > 0) {
		snprintf(value, sizeof(value), "%u job%s at once", rights->sessions,
			wh_plural(rights->sessions));
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, "; ", value);
	}
	if (wh_owners_change(&rights->owners))
		wh_text_add(text, WH_RIGHTS_TEXT_BYTES, "; ", "owners by rule");
	return text;
}
