/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/folded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>

#include <xxhash.h>

#include "base/assert.h"
#include "bundle/folded_table.h"
#include "bundle/record.h"

#define SLOTS_FIRST 1024

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

struct wh_folded_name {
	uint64_t folded; /* 0: free */
	uint64_t exact;
};

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

static uint64_t hash_of(const uint8_t *bytes, size_t count)
{
	uint64_t hash = XXH3_64bits(bytes, count);

	return hash != 0 ? hash : 1;
}

static struct wh_folded_name *find(struct wh_folded_name *name, uint32_t slots, uint64_t folded)
{
	uint32_t at = (uint32_t)folded & (slots - 1);

	while (name[at].folded != 0 && name[at].folded != folded)
		at = (at + 1) & (slots - 1);
	return &name[at];
}

/* Keeps a quarter of the slots free, so that searches are short. */
static bool make_room(struct wh_folded *folded)
{
	uint32_t slots = folded->slots == 0 ? SLOTS_FIRST : 2 * folded->slots;
	struct wh_folded_name *name;

	if (folded->slots != 0 && folded->names < folded->slots / 4 * 3)
		return true;
	if (folded->names >= WH_FOLDED_MAX)
		return false;
	name = calloc(slots, sizeof(*name));
	if (name == NULL)
		return false;
	for (uint32_t i = 0; i < folded->slots; i++)
		if (folded->name[i].folded != 0)
			*find(name, slots, folded->name[i].folded) = folded->name[i];
	free(folded->name);
	folded->name = name;
	folded->slots = slots;
	return true;
}

/* With the lock held. */
static enum wh_folded_verdict add(struct wh_folded *folded, uint64_t without, uint64_t exact)
{
	if (!make_room(folded))
		return WH_FOLDED_FULL;

	struct wh_folded_name *name = find(folded->name, folded->slots, without);

	if (name->folded != 0)
		return name->exact == exact ? WH_FOLDED_NEW : WH_FOLDED_CLASH;
	*name = (struct wh_folded_name){without, exact};
	folded->names++;
	return WH_FOLDED_NEW;
}

/* With the lock held: adds the name that ends at `end`, and the folders above it. */
static enum wh_folded_verdict add_all(struct wh_folded *folded, const uint8_t *path, size_t bytes)
{
	uint8_t without[FOLDED_BYTES_MAX];
	enum wh_folded_verdict verdict = WH_FOLDED_NEW;
	size_t used = 0;

	for (size_t at = 0; at < bytes && verdict == WH_FOLDED_NEW;) {
		const uint8_t *slash = memchr(path + at, '/', bytes - at);
		size_t end = slash == NULL ? bytes : (size_t)(slash - path);

		used += fold(path + at, end - at, without + used);
		verdict = add(folded, hash_of(without, used), hash_of(path, end));
		without[used++] = '/';
		at = end + 1;
	}
	return verdict;
}

enum wh_folded_verdict wh_folded_add(struct wh_folded *folded, const char *path, size_t bytes)
{
	enum wh_folded_verdict verdict;

	WH_ASSERT(bytes > 0 && bytes <= WH_PATH_BYTES_MAX);
	wh_spin_lock(&folded->lock);
	verdict = add_all(folded, (const uint8_t *)path, bytes);
	wh_spin_unlock(&folded->lock);
	return verdict;
}

void wh_folded_free(struct wh_folded *folded)
{
	free(folded->name);
	*folded = (struct wh_folded){.slots = 0};
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
