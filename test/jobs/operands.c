/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sources and sinks over random operands and options: `operands --seeds 10000`. Whatever is given,
 * and however often the transfer is cut and tried again: the bytes of each file are at the target,
 * whole, or its original is still there; no name is given twice; and what did not arrive is told.
 *
 * Both directions are the same here, except that the paths of a get are below a root, and may have
 * wildcards.
 */

#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../rig/folding_disk.h"
#include "../rig/remove_tree.h"
#include "../rig/seeds.h"
#include "../unit/await_background.h"
#include "base/assert.h"
#include "base/prng.h"
#include "bundle/choice.h"
#include "operands_lanes.h"
#include "source/given.h"

#define FILES_MAX    48
#define OPERANDS_MAX 6
#define OLD_ID       1000
#define LARGE_BYTES  UINT32_C(70000)
#define SPLIT_BYTES  (UINT32_C(3) << 20)

struct file {
	char path[64]; /* below the source's folder */
	uint32_t id;   /* of its bytes; some files have the same */
	bool is_link;
	bool chosen;
	bool kept;    /* at the end */
	bool arrived; /* at the end: its bytes */
};

struct story {
	struct wh_prng prng;
	const struct wh_rig_seeds *seeds;
	char from[64], to[64];
	struct file file[FILES_MAX];
	uint32_t files;
	char operand[OPERANDS_MAX][128];
	const char *operands[OPERANDS_MAX];
	struct lanes_config config;
	struct lanes_result result;
	bool disk_folds; /* where it arrives, without telling */
	const char *wrong;
	char about[256];
};

struct tally {
	struct wh_rig_tally common;
	uint64_t transfers;
	uint64_t cut;
	uint64_t brought;
	uint64_t refused; /* because of their names */
	uint64_t moved;
	uint64_t contested; /* arrived, and were not removed */
};

static struct story story;
static char folder[] = "/dev/shm/wh_operands_XXXXXX";

static bool chance(uint64_t one_of)
{
	return wh_prng_below(&story.prng, one_of) == 0;
}

static const char *draw(const char *const *words, size_t count)
{
	return words[wh_prng_below(&story.prng, count)];
}

#define DRAW(words) draw(words, sizeof(words) / sizeof(words[0]))

static uint32_t size_of(uint32_t id)
{
	return id % 16 == 7 ? LARGE_BYTES + id : id % 128 == 3 ? SPLIT_BYTES + id : 16 + id % 100;
}

/* The bytes of an id, which begin with it. */
static const uint8_t *content_of(uint32_t id, uint32_t *bytes)
{
	static uint8_t content[SPLIT_BYTES + OLD_ID * 2];
	static uint32_t last = UINT32_MAX;

	*bytes = size_of(id);
	if (last == id)
		return content;
	last = id;
	for (uint32_t i = 0; i < *bytes; i += sizeof(id))
		memcpy(content + i, &id, sizeof(id));
	return content;
}

static void make_folders(const char *root, const char *path)
{
	char above[160];

	snprintf(above, sizeof(above), "%s/%s", root, path);
	for (char *slash = above + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL;
		slash++) {
		*slash = '\0';
		mkdirat(AT_FDCWD, above, 0755);
		*slash = '/';
	}
}

static bool make(const char *root, const char *path, uint32_t id, bool is_link)
{
	char whole[160], text[32];
	uint32_t bytes;
	const uint8_t *content = content_of(id, &bytes);
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 1000 + id % 2}};
	struct stat status;

	make_folders(root, path);
	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	snprintf(text, sizeof(text), "link-%u", id);
	if (fstatat(AT_FDCWD, whole, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return false;
	if (is_link)
		return symlink(text, whole) == 0;

	int fd = openat(AT_FDCWD, whole, O_WRONLY | O_CREAT | O_EXCL, 0644);

	if (fd < 0)
		return false; /* a file has the name of a folder above it */
	WH_ASSERT(write(fd, content, bytes) == (ssize_t)bytes);
	WH_ASSERT(futimens(fd, times) == 0 && close(fd) == 0);
	return true;
}

/* Few names, so that many are alike. */
static void draw_path(char path[64])
{
	static const char *const folders[] = {"a/", "b/", "c/", "a/r/", "b/r/", "c/r/", "a/R/"};
	static const char *const names[] = {"x", "X", "y", "x~", "r", "z"};

	snprintf(path, 64, "%s%s%s", DRAW(folders), chance(4) ? "s/" : "", DRAW(names));
}

static void plant(void)
{
	uint32_t wanted = 1 + (uint32_t)wh_prng_below(&story.prng, 20);

	for (uint32_t i = 0; i < wanted; i++) {
		struct file *file = &story.file[story.files];

		*file = (struct file){.id = (uint32_t)wh_prng_below(&story.prng, 300)};
		if (story.files > 0 && chance(6))
			file->id = story.file[0].id;
		file->is_link = chance(8);
		draw_path(file->path);
		story.files += make(story.from, file->path, file->id, file->is_link);
	}
	for (uint64_t i = wh_prng_below(&story.prng, 6); i > 0; i--) {
		uint32_t id = chance(3) ? story.file[0].id
					: OLD_ID + (uint32_t)wh_prng_below(&story.prng, 99);
		char path[64];

		draw_path(path);
		make(story.to, chance(2) ? path + 2 : path, id, false);
	}
}

static void draw_operand(char operand[128])
{
	static const char *const globs[] = {"*/x", "*/r", "?/*", "*/r/x", "a/*", "*/r/*", "[ab]/y"};
	const struct file file = story.file[wh_prng_below(&story.prng, story.files)];
	int above = (int)(strrchr(file.path, '/') - file.path);

	switch (wh_prng_below(&story.prng, story.config.below_root ? 8 : 6)) {
	case 0:
		snprintf(operand, 128, "%.1s", file.path);
		break;
	case 1:
		snprintf(operand, 128, "%.*s/.", above, file.path);
		break;
	case 2:
		snprintf(operand, 128, "%.*s%s", above, file.path, chance(2) ? "/" : "");
		break;
	case 3:
		snprintf(operand, 128, "%.1s/.%s", file.path, file.path + 1); /* "a/./r/x" */
		break;
	case 6:
	case 7:
		snprintf(operand, 128, "%s", DRAW(globs));
		break;
	default:
		snprintf(operand, 128, "%s%s", chance(3) ? "./" : "", file.path);
		break;
	}
}

static uint32_t draw_wishes(void)
{
	static const uint32_t wishes[] = {
		WH_CHOICE_UPDATE, WH_CHOICE_ABSENT, WH_CHOICE_QUICK, WH_CHOICE_BLOCKS};
	uint32_t drawn = chance(3) ? 0 : WH_CHOICE_MOVE;

	if (chance(4))
		drawn |= wishes[wh_prng_below(&story.prng, 4)];
	if (chance(3))
		drawn |= WH_CHOICE_RELATIVE;
	if (chance(10))
		drawn |= WH_CHOICE_DRY;
	if ((drawn & WH_CHOICE_MOVE) == 0 && chance(4))
		drawn |= WH_CHOICE_DELETE;
	return drawn;
}

static void draw_config(void)
{
	struct lanes_config *config = &story.config;

	*config = (struct lanes_config){
		.from_fd = open(story.from, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.to_fd = open(story.to, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.below_root = chance(2),
		.paths = story.operands,
		.count = 1 + (uint32_t)wh_prng_below(&story.prng, OPERANDS_MAX),
		.recursive = !chance(4),
		.wishes = draw_wishes(),
		.delete_max = 1000,
		.backup = chance(5) ? "~" : NULL,
		.folds = chance(4),
		.crowded = chance(8),
		.prng = &story.prng,
	};
	WH_ASSERT(config->from_fd >= 0 && config->to_fd >= 0);
	config->lanes = 1;
	if ((config->wishes & (WH_CHOICE_DELETE | WH_CHOICE_DRY)) == 0)
		config->lanes += (uint32_t)wh_prng_below(&story.prng, 3);
	for (uint32_t i = 0; i < config->count; i++) {
		draw_operand(story.operand[i]);
		if (i > 0 && chance(8))
			strcpy(story.operand[i], story.operand[i - 1]);
		story.operands[i] = story.operand[i];
	}
}

/* What a shell or a person would say that an operand is: independent of the walk. */
static bool chooses(const char *operand, const char *path)
{
	char plain[128];
	size_t used = 0;

	for (const char *at = operand; *at != '\0'; at++) {
		if (at[0] == '.' && (at[1] == '/' || at[1] == '\0')) {
			at += at[1] == '/';
			continue;
		}
		plain[used++] = *at;
	}
	while (used > 0 && plain[used - 1] == '/')
		used--;
	plain[used] = '\0';
	if (fnmatch(plain, path, FNM_PATHNAME) == 0)
		return true;
	return story.config.recursive && fnmatch(plain, path, FNM_PATHNAME | FNM_LEADING_DIR) == 0;
}

static void choose(void)
{
	for (uint32_t i = 0; i < story.files; i++)
		for (uint32_t o = 0; o < story.config.count; o++)
			story.file[i].chosen |= chooses(story.operand[o], story.file[i].path);
}

static void is_wrong(const char *what, const char *about)
{
	if (story.wrong != NULL)
		return;
	story.wrong = what;
	snprintf(story.about, sizeof(story.about), "%s", about);
}

/* The id of a file's bytes, if it has all of them and no others; or UINT32_MAX. */
static uint32_t id_of(const char *path)
{
	static uint8_t bytes[SPLIT_BYTES + OLD_ID * 2];
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t count = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));
	uint32_t id = UINT32_MAX, wanted;

	if (fd >= 0)
		close(fd);
	if (count < (ssize_t)sizeof(id))
		return UINT32_MAX;
	memcpy(&id, bytes, sizeof(id));
	if (id >= OLD_ID + 100 || size_of(id) != (uint32_t)count)
		return UINT32_MAX;
	return memcmp(content_of(id, &wanted), bytes, (size_t)count) == 0 ? id : UINT32_MAX;
}

static void see_arrived(uint32_t id, bool is_link)
{
	for (uint32_t i = 0; i < story.files; i++)
		story.file[i].arrived |= story.file[i].id == id && story.file[i].is_link == is_link;
}

static int see_there(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	char text[32] = "";
	uint32_t id;

	(void)ftw;
	if (strstr(path, ".wavehaul") != NULL)
		is_wrong("a staging folder is left", path);
	if (type == FTW_SL && readlink(path, text, sizeof(text) - 1) > 0 &&
		sscanf(text, "link-%" SCNu32, &id) == 1)
		see_arrived(id, true);
	if (!S_ISREG(status->st_mode))
		return 0;
	id = id_of(path);
	if (id == UINT32_MAX)
		is_wrong("a file is not whole", path);
	else
		see_arrived(id, false);
	return 0;
}

static void see_here(void)
{
	for (uint32_t i = 0; i < story.files; i++) {
		struct file *file = &story.file[i];
		char path[160];
		struct stat status;

		snprintf(path, sizeof(path), "%s/%s", story.from, file->path);
		file->kept = lstat(path, &status) == 0;
		if (file->kept && !file->is_link && id_of(path) != file->id)
			is_wrong("a file at the source has changed", path);
	}
}

/* Believing what is there is no transfer of these bytes, and a dry run none at all. */
static bool is_judged(void)
{
	const uint32_t others =
		WH_CHOICE_UPDATE | WH_CHOICE_ABSENT | WH_CHOICE_QUICK | WH_CHOICE_DRY;

	return (story.config.wishes & others) == 0 && story.result.done && story.result.failed == 0;
}

static void check(struct tally *tally)
{
	bool moves = (story.config.wishes & WH_CHOICE_MOVE) != 0;

	nftw(story.to, see_there, 16, FTW_PHYS);
	see_here();
	for (uint32_t i = 0; i < story.files; i++) {
		const struct file *file = &story.file[i];

		if (!file->kept && !file->arrived)
			is_wrong("its bytes are gone", file->path);
		if (!file->kept && !moves)
			is_wrong("it was removed without --move", file->path);
		if (!file->kept && !file->chosen)
			is_wrong("it was removed without being given", file->path);
		if (is_judged() && file->chosen && !file->arrived)
			is_wrong("it did not arrive, and this was not told", file->path);
		if (is_judged() && file->chosen && moves && file->kept)
			is_wrong("it was not removed, and this was not told", file->path);
		tally->brought += file->chosen && file->arrived;
		tally->moved += !file->kept;
		tally->contested += moves && file->chosen && file->arrived && file->kept;
	}
	if (story.result.twice[0] != '\0')
		is_wrong("a name was given twice", story.result.twice);
	tally->refused += story.result.refused;
}

static void tell(uint64_t seed)
{
	const struct lanes_config *config = &story.config;

	printf("seed %" PRIu64 ": %s, wishes 0x%x, %u lanes%s%s%s%s%s%s:", seed,
		config->below_root ? "get" : "send", config->wishes, config->lanes,
		config->recursive ? ", -r" : "", config->folds ? ", folds" : "",
		config->crowded ? ", crowded" : "", config->backup != NULL ? ", backup" : "",
		config->target[0] != '\0' ? ", new" : "",
		story.disk_folds ? ", onto a disk that folds" : "");
	for (uint32_t i = 0; i < config->count; i++)
		printf(" %s", story.operand[i]);
	printf("\n");
	for (uint32_t i = 0; i < story.files; i++)
		printf("  %s: %u%s%s%s%s\n", story.file[i].path, story.file[i].id,
			story.file[i].is_link ? ", a link" : "",
			story.file[i].chosen ? ", given" : "",
			story.file[i].arrived ? ", arrived" : "",
			story.file[i].kept ? ", kept" : "");
}

static void begin(const struct wh_rig_seeds *seeds, uint64_t seed)
{
	memset(&story, 0, sizeof(story));
	story.seeds = seeds;
	wh_prng_init(&story.prng, seed);
	snprintf(story.from, sizeof(story.from), "%s/from", folder);
	snprintf(story.to, sizeof(story.to), "%s/to", folder);
	WH_ASSERT(mkdir(story.from, 0755) == 0 && mkdir(story.to, 0755) == 0);
	story.disk_folds = seed % 3 == 1;
	if (story.disk_folds && seed % 2 == 0) {
		/* Only this folder there. */
		snprintf(folding_root, sizeof(folding_root), "%s/r", story.to);
		WH_ASSERT(mkdir(folding_root, 0755) == 0);
	} else if (story.disk_folds) {
		strcpy(folding_root, story.to);
	}
	do
		plant();
	while (story.files == 0);
	WH_ASSERT(chdir(story.from) == 0);
	draw_config();
	/* As wh_request_names_folder: contents and wildcards go into a folder. */
	const char *last;
	bool may_be_name = story.config.count == 1 &&
			   (story.config.wishes & WH_CHOICE_RELATIVE) == 0 &&
			   wh_path_last_name(story.operand[0], &last) > 0 &&
			   !wh_path_has_wildcard(story.operand[0]);

	story.config.target = may_be_name && chance(3) ? "new" : "";
	choose();
}

static void end(void)
{
	close(story.config.from_fd);
	close(story.config.to_fd);
	WH_ASSERT(chdir("/") == 0);
	await_background();
	folding_root[0] = '\0';
	remove_tree(story.from);
	remove_tree(story.to);
}

static bool run_seed(const struct wh_rig_seeds *seeds, uint64_t seed, void *state)
{
	struct tally *tally = state;

	begin(seeds, seed);
	for (uint64_t cuts = wh_prng_below(&story.prng, 3); cuts > 0; cuts--) {
		lanes_run(&story.config, wh_prng_below(&story.prng, 60), &story.result);
		tally->transfers++;
		tally->cut += !story.result.done;
	}
	lanes_run(&story.config, UINT64_MAX, &story.result);
	tally->transfers++;
	await_background();
	if (!story.result.done && !story.result.broken)
		is_wrong("it does not end", "");
	check(tally);
	if (seeds->verbose || story.wrong != NULL)
		tell(seed);
	if (story.wrong != NULL) {
		printf("FAILED: seed %" PRIu64 ": %s: %s\n", seed, story.wrong, story.about);
		wh_rig_seeds_tell(seeds, seed);
	}
	end();
	return story.wrong == NULL;
}

int main(int argc, char **argv)
{
	static const struct wh_rig_share share = {.folder = folder, .run = run_seed};
	struct wh_rig_seeds seeds;
	struct tally sum = {0};

	if (!wh_rig_seeds_read(&seeds, 1000, argc, argv))
		return 2;

	int failures = wh_rig_seeds_run(&seeds, &share, &sum.common, sizeof(sum));

	printf("%" PRIu64 " passed, %" PRIu64 " failed; %" PRIu64 " transfers, %" PRIu64
	       " of them cut; %" PRIu64 " files arrived, %" PRIu64 " were refused for their "
	       "names, %" PRIu64 " were moved, %" PRIu64 " only copied\n",
		sum.common.passed, sum.common.failed, sum.transfers, sum.cut, sum.brought,
		sum.refused, sum.moved, sum.contested);
	return failures > 0 || sum.common.failed > 0 ? 1 : 0;
}
