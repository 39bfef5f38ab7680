/* SPDX-License-Identifier: BSD-3-Clause */
/* A source and a sink, chunk by chunk: what arrives is what was there. */
#include <sys/xattr.h>

#include "bundle_job.h"

const char wh_suite_name[] = "bundle_pair";

#define SMALL 300

/* Small and large files, folders in folders, links: how many bytes. */
static uint64_t plant(const struct tree *tree, uint64_t seed)
{
	static const uint32_t large[] = {
		WH_INLINE_BYTES_MAX + 1, CHUNK_BYTES * 7, CHUNK_BYTES * 9 + 4097, 1500001};
	static uint8_t content[1500016];
	struct wh_prng prng;
	uint64_t bytes = 0;
	char name[64];

	wh_prng_init(&prng, seed);
	for (size_t at = 0; at < sizeof(content); at++)
		content[at] = (uint8_t)wh_prng_u64(&prng);
	tree_folder(tree, "from");
	tree_folder(tree, "from/empty");
	for (int i = 0; i < SMALL; i++) {
		uint32_t count = (uint32_t)wh_prng_below(&prng, i % 10 == 0 ? 70000 : 5000);

		if (i % 100 == 0) {
			snprintf(name, sizeof(name), "from/%d", i / 100);
			tree_folder(tree, name);
		}
		snprintf(name, sizeof(name), "from/%d/%d", i / 100, i);
		tree_file(tree, name, content + wh_prng_below(&prng, 1000), count);
		bytes += count;
	}
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "from/large %d", i);
		tree_file(tree, name, content + i, large[i]);
		bytes += large[i];
	}
	tree_link(tree, "from/link", "../../nowhere");
	CU_ASSERT_FATAL(fchmodat(tree->fd, "from/2", 0555, 0) == 0);
	return bytes;
}

static bool look_alike(const struct tree *from, const struct tree *to, const char *name)
{
	struct stat one, other;
	char from_name[64], to_name[64];

	snprintf(from_name, sizeof(from_name), "from%s", name);
	snprintf(to_name, sizeof(to_name), "copy%s", name);
	return fstatat(from->fd, from_name, &one, AT_SYMLINK_NOFOLLOW) == 0 &&
	       fstatat(to->fd, to_name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
	       one.st_mode == other.st_mode && one.st_size == other.st_size &&
	       one.st_mtim.tv_sec == other.st_mtim.tv_sec &&
	       one.st_mtim.tv_nsec == other.st_mtim.tv_nsec;
}

static void copy_tree(const char *base, uint32_t lanes)
{
	static struct job job;
	static const char *const names[] = {"/large 0", "/large 3", "/0/7", "/2/299"};
	struct tree from, to;
	char path[96], copy[96];
	const char *paths[] = {path};

	tree_init(&from, base);
	tree_init(&to, base);

	uint64_t bytes = plant(&from, lanes);

	snprintf(path, sizeof(path), "%s/from", from.root);
	snprintf(copy, sizeof(copy), "%s/copy", to.root);
	open_job(&job, lanes, paths, &to);
	run(&job);
	CU_ASSERT(totals(&job).files == SMALL + 4 && totals(&job).bytes == bytes);
	CU_ASSERT(totals(&job).failed == 0 && totals(&job).skipped == 0);
	close_job(&job);
	CU_ASSERT(agree(path, copy));
	CU_ASSERT(look_alike(&from, &to, "") && look_alike(&from, &to, "/2"));
	CU_ASSERT(look_alike(&from, &to, "/empty"));
	for (size_t i = 0; i < 4; i++)
		CU_ASSERT(look_alike(&from, &to, names[i]));
	CU_ASSERT(names_in(&to) == 1); /* no staging folder */

	/* Again, by name, one small and one large file being other than they were. */
	tree_file(&from, "from/1/150", "news", 4);
	tree_file(&from, "from/large 2", path, sizeof(path));
	open_job(&job, 1, paths, &to);
	close_job(&job); /* nothing was sent, nothing changes */
	snprintf(path, sizeof(path), "%s/from/.", from.root);
	open_job(&job, lanes, paths, &to);
	run(&job);
	CU_ASSERT(totals(&job).files == 2 && totals(&job).skipped == SMALL + 2);
	CU_ASSERT(totals(&job).bytes == 4 + sizeof(path) && totals(&job).failed == 0);
	close_job(&job);
	CU_ASSERT(agree(path, copy));
	tree_free(&from);
	tree_free(&to);
}

static void test_one_lane(void)
{
	for (size_t i = 0; i < 2; i++)
		copy_tree(bases[i], 1);
}

static void test_three_lanes(void)
{
	for (size_t i = 0; i < 2; i++)
		copy_tree(bases[i], 3);
}

static bool make_xattr(const struct tree *tree, const char *path)
{
	return setxattr(tree_path(tree, path), "user.note", "x", 1, 0) == 0;
}

/* What a bundle does not carry is counted at both ends, each file by one lane. */
static void leave_out(uint32_t lanes)
{
	static struct job job;
	struct tree from, to;
	char path[96], name[32];
	const char *paths[] = {path};
	bool is_root = geteuid() == 0;

	tree_init(&from, "/tmp");
	tree_init(&to, "/tmp");
	tree_folder(&from, "from");
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "from/%d", i);
		tree_file(&from, name, "x", 1);
	}
	tree_file(&from, "from/large", "x", 1);
	CU_ASSERT_FATAL(truncate(tree_path(&from, "from/large"), 1 << 20) == 0);
	CU_ASSERT_FATAL(linkat(from.fd, "from/0", from.fd, "from/other 0", 0) == 0);
	CU_ASSERT_FATAL(linkat(from.fd, "from/large", from.fd, "from/other large", 0) == 0);
	CU_ASSERT_FATAL(mkfifoat(from.fd, "from/pipe", 0600) == 0);
	CU_ASSERT_FATAL(!is_root || fchownat(from.fd, "from/3", 1, 1, 0) == 0);
	CU_ASSERT_FATAL(fchmodat(from.fd, "from/1", 04755, 0) == 0);
	CU_ASSERT_FATAL(fchmodat(from.fd, "from/2", 02755, 0) == 0);

	uint64_t xattrs = make_xattr(&from, "from/4") && make_xattr(&from, "from/large") ? 3 : 0;

	snprintf(path, sizeof(path), "%s/from", from.root);
	open_job(&job, lanes, paths, &to);
	run(&job);

	const struct wh_totals sum = totals(&job);

	CU_ASSERT(sum.files == 11 && sum.failed == 0 && sum.passed_over == 1);
	CU_ASSERT(sum.left_out.owners == is_root && sum.left_out.set_ids == 2);
	CU_ASSERT(sum.left_out.hard_links == 4 && sum.left_out.xattrs == xattrs);
	close_job(&job);
	tree_free(&from);
	tree_free(&to);
}

static void test_left_out(void)
{
	leave_out(1);
	leave_out(3);
}

#define PIECE_BYTES UINT64_C(65536) /* the smallest run of zeros that is a hole */

/* Files of holes; `at` are pieces with a byte in them. */
static const struct sparse {
	const char *name;
	uint64_t bytes;
	uint32_t at[3];
	uint32_t data;
} sparse[] = {
	{"nothing", 8 * PIECE_BYTES, {0}, 0},
	{"odd nothing", 8 * PIECE_BYTES + 5, {0}, 0},
	{"some", 40 * PIECE_BYTES + 4097, {3, 10, 21}, 3}, /* of chunks of two pieces */
	{"whole chunk", 20 * PIECE_BYTES, {4, 5, 6}, 3},
	{"at its end", 30 * PIECE_BYTES + 1, {30}, 1},
};

static uint64_t blocks_bytes(const struct tree *tree, const char *folder, const char *name)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	CU_ASSERT_FATAL(fstatat(tree->fd, path, &status, 0) == 0);
	return (uint64_t)status.st_blocks * 512;
}

static void plant_sparse(const struct tree *tree)
{
	char path[64];

	tree_folder(tree, "from");
	for (size_t i = 0; i < sizeof(sparse) / sizeof(sparse[0]); i++) {
		snprintf(path, sizeof(path), "from/%s", sparse[i].name);
		tree_file(tree, path, "", 0);
		CU_ASSERT_FATAL(truncate(tree_path(tree, path), (off_t)sparse[i].bytes) == 0);

		int fd = openat(tree->fd, path, O_WRONLY);

		for (uint32_t k = 0; k < sparse[i].data; k++)
			CU_ASSERT_FATAL(
				pwrite(fd, "x", 1, (off_t)(sparse[i].at[k] * PIECE_BYTES)) == 1);
		CU_ASSERT_FATAL(close(fd) == 0);
	}
}

static void copy_sparse(const char *base)
{
	static struct job job;
	struct tree from, to;
	char path[96], copy[96];
	const char *paths[] = {path};

	tree_init(&from, base);
	tree_init(&to, base);
	plant_sparse(&from);
	snprintf(path, sizeof(path), "%s/from", from.root);
	snprintf(copy, sizeof(copy), "%s/copy", to.root);
	open_job(&job, 1, paths, &to);
	run(&job);
	CU_ASSERT(totals(&job).files == 5 && totals(&job).failed == 0);
	CU_ASSERT(totals(&job).bytes == 106 * PIECE_BYTES + 4103);
	close_job(&job);
	CU_ASSERT(agree(path, copy));
	/* A file system may take another block to know the pieces by. */
	for (size_t i = 0; i < sizeof(sparse) / sizeof(sparse[0]); i++)
		CU_ASSERT(blocks_bytes(&to, "copy", sparse[i].name) <=
			  sparse[i].data * PIECE_BYTES + 4096);
	/* Where what was planted has no holes, nothing has. */
	CU_ASSERT(blocks_bytes(&from, "from", "nothing") == 0);
	tree_free(&from);
	tree_free(&to);
}

static void test_sparse(void)
{
	for (size_t i = 0; i < 2; i++)
		copy_sparse(bases[i]);
}

/* Of what a source remembers at most; a tree has some times as many. */
#define FEW     UINT32_C(256)
#define ENTRIES 900

enum plan { EMPTY, SMALL_FILE, LARGE_FILE, FOLDER, LINK, IN_THE_WAY, PLANS };

/* Entries of all kinds in one folder; for IN_THE_WAY `to` has a folder of the name. */
static void plant_mixture(const struct tree *from, const struct tree *to, struct wh_prng *prng)
{
	static uint8_t content[WH_INLINE_BYTES_MAX + 1];
	char name[64];

	tree_folder(from, "from");
	tree_folder(to, "copy");
	for (int i = 0; i < ENTRIES; i++) {
		/* Runs of one kind, since a run of one is what has filled ledgers. */
		static enum plan plan;

		if (i == 0 || wh_prng_below(prng, 150) == 0)
			plan = (enum plan)wh_prng_below(prng, PLANS);
		snprintf(name, sizeof(name), "from/%04d", i);
		if (plan == FOLDER)
			tree_folder(from, name);
		else if (plan == LINK)
			tree_link(from, name, "nowhere");
		else if (plan == LARGE_FILE && i % 16 == 0)
			tree_file(from, name, content, sizeof(content));
		else
			tree_file(from, name, content, plan == EMPTY ? 0 : 5);
		snprintf(name, sizeof(name), "copy/%04d", i);
		if (plan == IN_THE_WAY)
			tree_folder(to, name);
	}
}

/* Some of what is there goes, so that the rest is skipped and this is not. */
static void thin_out(const struct tree *to, struct wh_prng *prng)
{
	uint64_t in = wh_prng_below(prng, 3) == 0 ? 7 : 300;
	char name[64];

	for (int i = 0; i < ENTRIES; i++) {
		snprintf(name, sizeof(name), "copy/%04d", i);
		if (wh_prng_below(prng, in) == 0)
			unlinkat(to->fd, name, 0);
	}
}

static void pass_mixture(const char *base, uint64_t seed)
{
	static struct job job;
	struct tree from, to;
	struct wh_prng prng;
	char path[96];
	const char *paths[] = {path};
	uint64_t skipped[3];

	tree_init(&from, base);
	tree_init(&to, base);
	wh_prng_init(&prng, seed);
	plant_mixture(&from, &to, &prng);
	snprintf(path, sizeof(path), "%s/from/.", from.root);
	for (int i = 0; i < 3; i++) {
		if (i == 2)
			thin_out(&to, &prng);
		open_bounded(&job, 1, paths, &to, FEW);
		run(&job);
		skipped[i] = totals(&job).skipped;
		close_job(&job);
	}
	CU_ASSERT(skipped[0] == 0 && skipped[1] >= skipped[2]);
	tree_free(&from);
	tree_free(&to);
}

/* Whatever there is more of than a source remembers, it goes on. */
static void test_few_remembered(void)
{
	for (uint64_t seed = 0; seed < 8; seed++)
		pass_mixture(bases[seed == 7], seed);
}

CU_TestInfo wh_tests[] = {
	{"left out", test_left_out},
	{"a source that remembers little goes on, whatever it finds", test_few_remembered},
	{"one lane", test_one_lane},
	{"three lanes", test_three_lanes},
	{"holes stay holes, on disk and in memory", test_sparse},
	CU_TEST_INFO_NULL,
};
