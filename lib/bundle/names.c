/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/names.h"

#include <stdlib.h>
#include <string.h>

#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/vfs.h>

#include <xxhash.h>

#include "base/assert.h"
#include "bundle/folded_table.h"
#include "bundle/record.h"

#define SLOTS_FIRST 1024

/* Slots moved per name: a larger table must not cost its first name a long pause. */
#define MOVES 8

/* A letter may take more bytes after folding. */
#define FOLDED_BYTES_MAX (2 * WH_PATH_BYTES_MAX)

/* Missing in Debian 12's magic.h. */
#define VFAT_MAGIC  0x4d44
#define EXFAT_MAGIC 0x2011bab0
#define NTFS_MAGIC  0x5346544e
#define NTFS3_MAGIC 0x7366746e
#define CIFS_MAGIC  0xff534d42
#define SMB2_MAGIC  0xfe534d42
#define HFS_MAGIC   0x4244
#define HFSP_MAGIC  0x482b

/* Length of a character, and its code in *wide; 1 and the byte if it is not UTF-8. */
static size_t next_character(const uint8_t *text, size_t bytes, uint32_t *wide)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t count = text[0] < 0x80    ? 1
		       : text[0] < 0xc2  ? 0
		       : text[0] < 0xe0  ? 2
		       : text[0] < 0xf0  ? 3
		       : text[0] <= 0xf4 ? 4
					 : 0;

	*wide = text[0];
	if (count <= 1 || count > bytes)
		return 1;

	uint32_t found = text[0] & (0x7fu >> count);

	for (size_t i = 1; i < count; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 1;
		found = found << 6 | (text[i] & 0x3f);
	}
	if (found < least[count] || found > 0x10ffff)
		return 1;
	*wide = found;
	return count;
}

static size_t put_character(uint8_t *to, uint32_t wide)
{
	if (wide < 0x80) {
		to[0] = (uint8_t)wide;
		return 1;
	}

	size_t count = wide < 0x800 ? 2 : wide < 0x10000 ? 3 : 4;

	for (size_t i = count - 1; i > 0; i--, wide >>= 6)
		to[i] = (uint8_t)(0x80 | (wide & 0x3f));
	to[0] = (uint8_t)(0xf00u >> count | wide);
	return count;
}

static uint32_t without_case(uint32_t wide)
{
	size_t low = 0, high = sizeof(wh_case_runs) / sizeof(wh_case_runs[0]);

	if (wide < 0x80)
		return wide >= 'A' && wide <= 'Z' ? wide + 0x20 : wide;
	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct wh_case_run *run = &wh_case_runs[middle];

		if (wide > run->last)
			low = middle + 1;
		else if (wide < run->first)
			high = middle;
		else
			return (wide - run->first) % run->step == 0
				       ? (uint32_t)((int32_t)wide + run->delta)
				       : wide;
	}
	return wide;
}

static size_t fold(const uint8_t *text, size_t bytes, uint8_t *to)
{
	size_t used = 0;

	for (size_t at = 0; at < bytes;) {
		uint32_t wide;
		size_t count = next_character(text + at, bytes - at, &wide);

		if (count == 1 && wide >= 0x80)
			to[used++] = text[at];
		else
			used += put_character(to + used, without_case(wide));
		at += count;
	}
	return used;
}

/* The key's slot, or the free one where it belongs. */
static uint64_t *slot_of(const struct wh_names_table *table, uint64_t key)
{
	uint32_t at = (uint32_t)key & (table->slots - 1);

	while (table->keys[at] != 0 && table->keys[at] != key)
		at = (at + 1) & (table->slots - 1);
	return &table->keys[at];
}

static bool holds(const struct wh_names_table *table, uint64_t key)
{
	return table->slots > 0 && *slot_of(table, key) == key;
}

static uint64_t table_bytes(const struct wh_names_table *table)
{
	return table->slots * sizeof(table->keys[0]);
}

/* The first table is free: a peer whose memory is in use may still replace some files. */
static uint64_t charged_bytes(const struct wh_names_table *table)
{
	return table->slots > SLOTS_FIRST ? table_bytes(table) : 0;
}

static bool charge(struct wh_names *names, const struct wh_blocks_account *account, uint64_t bytes)
{
	if (account->take == NULL || bytes == 0)
		return true;
	if (!account->take(account->context, bytes))
		return false;
	names->charged_bytes += bytes;
	return true;
}

static void repay(struct wh_names *names, const struct wh_blocks_account *account, uint64_t bytes)
{
	if (account->give == NULL || bytes == 0)
		return;
	WH_ASSERT(names->charged_bytes >= bytes);
	names->charged_bytes -= bytes;
	account->give(account->context, bytes);
}

static void free_table(struct wh_names *names, const struct wh_blocks_account *account,
	struct wh_names_table *table)
{
	repay(names, account, charged_bytes(table));
	free(table->keys);
	*table = (struct wh_names_table){.slots = 0};
}

static bool draw_seed(struct wh_names *names)
{
	return getrandom(&names->seed, sizeof(names->seed), 0) == (ssize_t)sizeof(names->seed);
}

/* Begins a table of twice the size, to which the keys move little by little. */
static bool grow(struct wh_names *names, const struct wh_blocks_account *account)
{
	struct wh_names_table more = {
		.slots = names->now.slots == 0 ? SLOTS_FIRST : 2 * names->now.slots};
	uint64_t charged = charged_bytes(&more);

	WH_ASSERT(names->before.slots == 0); /* all moved: half of the slots were free */
	if (table_bytes(&more) > WH_NAMES_BYTES_MAX || !charge(names, account, charged))
		return false;
	if (names->now.slots > 0 || draw_seed(names))
		more.keys = calloc(more.slots, sizeof(more.keys[0]));
	if (more.keys == NULL) {
		repay(names, account, charged);
		return false;
	}
	names->before = names->now;
	names->now = more;
	names->moved = 0;
	return true;
}

/* Keys stay in the previous table, too, until all have moved. */
static void move_some(struct wh_names *names, const struct wh_blocks_account *account)
{
	struct wh_names_table *before = &names->before;

	if (before->slots == 0)
		return;
	for (uint32_t i = 0; i < MOVES && names->moved < before->slots; i++, names->moved++) {
		uint64_t key = before->keys[names->moved];

		if (key != 0)
			*slot_of(&names->now, key) = key;
	}
	if (names->moved == before->slots)
		free_table(names, account, before);
}

/* Keeps a quarter of the slots free, so that searches are short. */
static bool make_room(struct wh_names *names, const struct wh_blocks_account *account)
{
	if (names->is_full)
		return false;
	move_some(names, account);
	if (names->count < names->now.slots / 4 * 3)
		return true;
	/* Once full, it stays full, because names were not stored. */
	names->is_full = !grow(names, account);
	return !names->is_full;
}

static bool has(const struct wh_names *names, uint64_t key)
{
	return holds(&names->now, key) || holds(&names->before, key);
}

enum step {
	ADDED,
	FOUND,
	NO_ROOM,
};

static enum step add(struct wh_names *names, const struct wh_blocks_account *account, uint64_t key)
{
	if (has(names, key))
		return FOUND;
	if (!make_room(names, account))
		return NO_ROOM;
	*slot_of(&names->now, key) = key;
	names->count++;
	return ADDED;
}

/* Never 0, which marks a free slot. */
static uint64_t key_of(
	const struct wh_names *names, const uint8_t *bytes, size_t count, bool folded)
{
	return XXH3_64bits_withSeed(bytes, count, names->seed + folded) | UINT64_C(1) << 63;
}

static enum wh_name_verdict add_folding(struct wh_names *names,
	const struct wh_blocks_account *account, uint64_t exact, uint64_t folded)
{
	if (has(names, exact))
		return WH_NAME_TAKEN;
	if (has(names, folded))
		return WH_NAME_CLASH;
	return add(names, account, exact) == ADDED && add(names, account, folded) == ADDED
		       ? WH_NAME_NEW
		       : WH_NAME_UNKNOWN;
}

/* Claims the folders on the path, too, which may be there already. */
static enum wh_name_verdict claim_folding(struct wh_names *names,
	const struct wh_blocks_account *account, const uint8_t *path, size_t bytes, bool is_folder)
{
	uint8_t without[FOLDED_BYTES_MAX];
	enum wh_name_verdict verdict = WH_NAME_NEW;
	size_t used = 0;

	for (size_t at = 0; at < bytes && verdict != WH_NAME_CLASH;) {
		const uint8_t *slash = memchr(path + at, '/', bytes - at);
		size_t end = slash == NULL ? bytes : (size_t)(slash - path);

		used += fold(path + at, end - at, without + used);
		verdict = add_folding(names, account, key_of(names, path, end, false),
			key_of(names, without, used, true));
		if (verdict == WH_NAME_TAKEN && (end < bytes || is_folder))
			verdict = WH_NAME_NEW;
		without[used++] = '/';
		at = end + 1;
	}
	return verdict;
}

static enum wh_name_verdict claim_exact(struct wh_names *names,
	const struct wh_blocks_account *account, const uint8_t *path, size_t bytes)
{
	enum step step = add(names, account, key_of(names, path, bytes, false));

	return step == ADDED ? WH_NAME_NEW : step == FOUND ? WH_NAME_TAKEN : WH_NAME_UNKNOWN;
}

enum wh_name_verdict wh_names_claim(
	struct wh_names *names, const struct wh_blocks_account *account, const struct wh_name *name)
{
	const uint8_t *path = (const uint8_t *)name->path;
	enum wh_name_verdict verdict = WH_NAME_NEW;

	WH_ASSERT(name->bytes > 0 && name->bytes <= WH_PATH_BYTES_MAX);
	WH_HOLD(&names->lock);
	if (names->now.slots == 0)
		make_room(names, account); /* draws the seed */
	if (name->folds)
		verdict = claim_folding(names, account, path, name->bytes, name->is_folder);
	else if (!name->is_folder)
		verdict = claim_exact(names, account, path, name->bytes);
	return verdict;
}

bool wh_names_has(struct wh_names *names, const char *path, size_t bytes)
{
	WH_ASSERT(bytes > 0 && bytes <= WH_PATH_BYTES_MAX + 1);
	WH_HOLD(&names->lock);
	return has(names, key_of(names, (const uint8_t *)path, bytes, false));
}

bool wh_names_may_have(struct wh_names *names, const char *path, size_t bytes, bool folds)
{
	const uint8_t *exact = (const uint8_t *)path;
	uint8_t without[FOLDED_BYTES_MAX];
	size_t used = folds ? fold(exact, bytes, without) : 0;

	WH_ASSERT(bytes > 0 && bytes <= WH_PATH_BYTES_MAX);
	WH_HOLD(&names->lock);
	return names->is_full || has(names, key_of(names, exact, bytes, false)) ||
	       (folds && has(names, key_of(names, without, used, true)));
}

void wh_names_join(struct wh_names *names)
{
	WH_HOLD(&names->lock);
	names->users++;
}

void wh_names_leave(struct wh_names *names, const struct wh_blocks_account *account)
{
	WH_HOLD(&names->lock);
	WH_ASSERT(names->users > 0);
	if (--names->users == 0) {
		free_table(names, account, &names->now);
		free_table(names, account, &names->before);
		WH_ASSERT(names->charged_bytes == 0);
		names->count = 0;
		names->is_full = false;
	}
}

/* A letter that is folded to this one; 0: none is. */
static uint32_t with_case(uint32_t wide)
{
	if (wide < 0x80)
		return wide >= 'a' && wide <= 'z' ? wide - 0x20 : 0;
	for (size_t i = 0; i < sizeof(wh_case_runs) / sizeof(wh_case_runs[0]); i++) {
		const struct wh_case_run *run = &wh_case_runs[i];
		uint32_t from = (uint32_t)((int32_t)wide - run->delta);

		if (from >= run->first && from <= run->last && (from - run->first) % run->step == 0)
			return from;
	}
	return 0;
}

static uint32_t in_other_case(uint32_t wide)
{
	uint32_t folded = without_case(wide);

	return folded != wide ? folded : with_case(wide);
}

/* Letters of ASCII first: some file systems ignore the case of no others. */
static bool change_case(const char *name, size_t bytes, bool ascii_only, char other[NAME_MAX + 1])
{
	const uint8_t *text = (const uint8_t *)name;
	uint8_t changed[4];

	for (size_t at = 0; at < bytes;) {
		uint32_t wide;
		size_t count = next_character(text + at, bytes - at, &wide);
		bool is_letter = count > 1 ? !ascii_only : wide < 0x80;
		uint32_t with = is_letter ? in_other_case(wide) : 0;
		size_t used = with == 0 ? 0 : put_character(changed, with);

		if (used > 0 && bytes - count + used <= NAME_MAX) {
			memcpy(other, name, at);
			memcpy(other + at, changed, used);
			memcpy(other + at + used, name + at + count, bytes - at - count);
			other[bytes - count + used] = '\0';
			return true;
		}
		at += count;
	}
	return false;
}

bool wh_name_in_other_case(const char *name, char other[NAME_MAX + 1])
{
	size_t bytes = strlen(name);

	WH_ASSERT(bytes <= NAME_MAX);
	return change_case(name, bytes, true, other) || change_case(name, bytes, false, other);
}

bool wh_folds_case(int folder_fd)
{
	static const uint32_t foldings[] = {VFAT_MAGIC, EXFAT_MAGIC, NTFS_MAGIC, NTFS3_MAGIC,
		CIFS_MAGIC, SMB2_MAGIC, HFS_MAGIC, HFSP_MAGIC};
	struct statfs status;
	int flags = 0;

	/* ext4 and f2fs set it per folder. */
	if (ioctl(folder_fd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL) != 0)
		return true;
	if (fstatfs(folder_fd, &status) != 0)
		return false;
	for (size_t i = 0; i < sizeof(foldings) / sizeof(foldings[0]); i++)
		if ((uint32_t)status.f_type == foldings[i])
			return true;
	return false;
}
