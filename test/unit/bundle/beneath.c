/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/beneath.h"

#include "folder_rig.h"

const char wh_suite_name[] = "beneath";

static bool is_same(int fd, const struct folder *folder, const char *name)
{
	struct stat one, other;

	return fstat(fd, &one) == 0 && fstatat(folder->fd, name, &other, 0) == 0 &&
	       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static int get(struct wh_beneath *beneath, const char *path)
{
	return wh_beneath_folder(beneath, path, strlen(path));
}

/* below: a/b, a file, links to a, to a's parent by .., to the outside, and to themselves. */
static struct folder new_tree(struct folder *below)
{
	struct folder top = folder_new("/tmp");

	CU_ASSERT_FATAL(mkdirat(top.fd, "below", 0755) == 0);
	CU_ASSERT_FATAL(mkdirat(top.fd, "outside", 0755) == 0);
	CU_ASSERT_FATAL(mkdirat(top.fd, "below/a", 0755) == 0);
	CU_ASSERT_FATAL(mkdirat(top.fd, "below/a/b", 0755) == 0);
	CU_ASSERT_FATAL(symlinkat("a", top.fd, "below/to_a") == 0);
	CU_ASSERT_FATAL(symlinkat("../a", top.fd, "below/a/up") == 0);
	CU_ASSERT_FATAL(symlinkat("../outside", top.fd, "below/out") == 0);
	CU_ASSERT_FATAL(symlinkat("/tmp", top.fd, "below/absolute") == 0);
	CU_ASSERT_FATAL(symlinkat("/proc/self/root", top.fd, "below/magic") == 0);
	CU_ASSERT_FATAL(symlinkat("loop", top.fd, "below/loop") == 0);
	CU_ASSERT_FATAL(mkdirat(top.fd, "below/.wavehaul-x.part", 0700) == 0);
	CU_ASSERT_FATAL(mkdirat(top.fd, "below/.wavehaul-x.part/in", 0700) == 0);
	CU_ASSERT_FATAL(symlinkat(".wavehaul-x.part", top.fd, "below/to_stage") == 0);
	CU_ASSERT_FATAL(symlinkat("../to_stage/in", top.fd, "below/a/to_in") == 0);
	*below = (struct folder){.fd = openat(top.fd, "below", O_PATH | O_DIRECTORY)};
	folder_put(below, "file", "x");
	return top;
}

static void test_lookups(void)
{
	static const struct {
		const char *path;
		int resolved; /* as a target: 0 or a negative errno */
		int opened;   /* as a bundle's */
	} cases[] = {
		{"a", 0, 0},
		{"a/b", 0, 0},
		{"file", 0, 0},
		{".", 0, 0},
		{"a/../file", 0, 0},
		{"to_a", 0, -ELOOP},
		{"to_a/b", 0, -ELOOP},
		{"a/up/b", 0, -ELOOP},
		{"none", -ENOENT, -ENOENT},
		{"file/x", -ENOTDIR, -ENOTDIR},
		{"..", -EXDEV, -EXDEV},
		{"a/../..", -EXDEV, -EXDEV},
		{"../below/a", -EXDEV, -EXDEV},
		{"/", -EXDEV, -EXDEV},
		{"/tmp", -EXDEV, -EXDEV},
		{"out", -EXDEV, -ELOOP},
		{"out/x", -EXDEV, -ELOOP},
		{"absolute", -EXDEV, -ELOOP},
		{"magic", -EXDEV, -ELOOP},
		{"loop", -ELOOP, -ELOOP},
		{".wavehaul-x.part", -ENOENT, -ENOENT},
		{".wavehaul-x.part/in", -ENOENT, -ENOENT},
		{"a/../.wavehaul-x.part", -ENOENT, -ENOENT},
		{"to_stage", -ENOENT, -ELOOP},
		{"to_stage/in", -ENOENT, -ELOOP},
		{"a/to_in", -ENOENT, -ELOOP},
	};
	struct folder below, top = new_tree(&below);
	static struct wh_beneath beneath;

	wh_beneath_init(&beneath, below.fd);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int resolved = wh_beneath_resolve(below.fd, cases[i].path, O_RDONLY);
		int opened = wh_beneath_open(&beneath, cases[i].path, O_RDONLY);

		CU_ASSERT((resolved < 0 ? resolved : 0) == cases[i].resolved);
		CU_ASSERT((opened < 0 ? opened : 0) == cases[i].opened);
		if (resolved >= 0) {
			CU_ASSERT(is_same(resolved, &below, cases[i].path));
			CU_ASSERT((fcntl(resolved, F_GETFD) & FD_CLOEXEC) != 0);
			close(resolved);
		}
		if (opened >= 0)
			close(opened);
	}
	wh_beneath_free(&beneath);
	close(below.fd);
	folder_free(&top);
}

static void test_folders_are_made(void)
{
	struct folder below, top = new_tree(&below);
	static struct wh_beneath beneath;
	struct stat status;

	wh_beneath_init(&beneath, below.fd);
	CU_ASSERT(get(&beneath, "") == below.fd);
	CU_ASSERT(is_same(get(&beneath, "a"), &below, "a"));
	CU_ASSERT(get(&beneath, "a") == get(&beneath, "a"));
	CU_ASSERT(is_same(get(&beneath, "a/b/c/d/e"), &below, "a/b/c/d/e"));
	CU_ASSERT(fstatat(below.fd, "a/b/c", &status, 0) == 0);
	CU_ASSERT((status.st_mode & 07777) == 0700);
	/* Only as much of the path as was said. */
	CU_ASSERT(is_same(wh_beneath_folder(&beneath, "x/y/z", 3), &below, "x/y"));
	CU_ASSERT(!folder_has(&below, "x/y/z"));
	CU_ASSERT(get(&beneath, "file") == -ENOTDIR);
	CU_ASSERT(get(&beneath, "file/x") == -ENOTDIR);
	CU_ASSERT(get(&beneath, "out") == -ELOOP);
	CU_ASSERT(get(&beneath, "out/x/y") == -ELOOP);
	CU_ASSERT(get(&beneath, "to_a/x") == -ELOOP);
	CU_ASSERT(get(&beneath, "a/b/up") >= 0);
	CU_ASSERT(get(&beneath, "a/up/x") == -ELOOP);
	CU_ASSERT(get(&beneath, "loop") == -ELOOP);
	CU_ASSERT(faccessat(top.fd, "outside/x", F_OK, 0) != 0);
	CU_ASSERT(!folder_has(&below, "a/x"));
	/* What failed is looked up again. */
	CU_ASSERT(unlinkat(below.fd, "file", 0) == 0);
	CU_ASSERT(is_same(get(&beneath, "file"), &below, "file"));
	wh_beneath_free(&beneath);
	close(below.fd);
	folder_free(&top);
}

static void test_cache(void)
{
	struct folder below, top = new_tree(&below);
	static struct wh_beneath beneath;
	int before = folder_descriptors();
	char name[16];

	wh_beneath_init(&beneath, below.fd);
	for (int i = 0; i < 3 * WH_BENEATH_FOLDERS; i++) {
		snprintf(name, sizeof(name), "%d", i);
		CU_ASSERT(is_same(get(&beneath, name), &below, name));
		CU_ASSERT(is_same(get(&beneath, "a"), &below, "a"));
	}
	CU_ASSERT(folder_descriptors() == before + WH_BENEATH_FOLDERS);

	/* Used all the time, "a" has stayed open: its name is not looked up. */
	CU_ASSERT(renameat(below.fd, "a", below.fd, "was_a") == 0);
	CU_ASSERT(is_same(get(&beneath, "a"), &below, "was_a"));
	wh_beneath_forget(&beneath, "a", 1);
	CU_ASSERT(is_same(get(&beneath, "a"), &below, "a"));
	CU_ASSERT(!is_same(get(&beneath, "a"), &below, "was_a"));
	wh_beneath_forget(&beneath, "never there", 11);

	/* Of two names that begin alike, each is itself. */
	CU_ASSERT(is_same(get(&beneath, "aa"), &below, "aa"));
	CU_ASSERT(is_same(get(&beneath, "a"), &below, "a"));
	CU_ASSERT(is_same(get(&beneath, "ab"), &below, "ab"));
	wh_beneath_free(&beneath);
	CU_ASSERT(folder_descriptors() == before);
	close(below.fd);
	folder_free(&top);
}

static void test_longest(void)
{
	struct folder top = folder_new("/tmp");
	static struct wh_beneath beneath;
	int before = folder_descriptors();
	char path[WH_PATH_BYTES_MAX + 1];

	memset(path, '/', sizeof(path));
	for (int i = 0; i < WH_PATH_BYTES_MAX; i += 2)
		path[i] = 'a';
	path[WH_PATH_BYTES_MAX] = '\0';
	wh_beneath_init(&beneath, top.fd);
	CU_ASSERT(get(&beneath, path) >= 0);
	CU_ASSERT(is_same(get(&beneath, path), &top, path));
	wh_beneath_free(&beneath);
	CU_ASSERT(folder_descriptors() == before);
	folder_free(&top);
}

static void test_parent(void)
{
	CU_ASSERT(wh_beneath_parent_bytes("a", 1) == 0);
	CU_ASSERT(wh_beneath_parent_bytes("a/b", 3) == 1);
	CU_ASSERT(wh_beneath_parent_bytes("ab/cd/e", 7) == 5);
	CU_ASSERT(wh_beneath_parent_bytes("ab/cd/e", 5) == 2);
}

static void test_memory(void)
{
	struct folder disk = folder_new("/tmp"), memory = folder_new("/dev/shm");
	struct stat root, tmp;

	CU_ASSERT(wh_beneath_in_memory(memory.fd));
	/* Unless /tmp is a file system in memory, too. */
	if (stat("/", &root) == 0 && stat("/tmp", &tmp) == 0 && root.st_dev == tmp.st_dev)
		CU_ASSERT(!wh_beneath_in_memory(disk.fd));
	CU_ASSERT(!wh_beneath_in_memory(-1));
	folder_free(&disk);
	folder_free(&memory);
}

/* What was there when it was opened; what came since came with the bundle. */
static void test_was_empty(void)
{
	struct folder folder = folder_new("/tmp");
	struct wh_beneath beneath;
	char longest[256] = {0};
	int fd;

	memset(longest, 'n', 255);
	CU_ASSERT_FATAL(mkdirat(folder.fd, "empty", 0755) == 0);
	CU_ASSERT_FATAL(mkdirat(folder.fd, "full", 0755) == 0);
	CU_ASSERT_FATAL(mkdirat(folder.fd, "full/empty", 0755) == 0);

	struct folder full = {.fd = openat(folder.fd, "full/empty", O_PATH | O_DIRECTORY)};

	folder_put(&full, longest, "x");
	close(full.fd);
	wh_beneath_init(&beneath, folder.fd);
	CU_ASSERT(!wh_beneath_was_empty(&beneath, folder.fd));
	fd = get(&beneath, "empty");
	CU_ASSERT(wh_beneath_was_empty(&beneath, fd) && !wh_beneath_was_empty(&beneath, fd + 1));
	CU_ASSERT_FATAL(mkdirat(fd, "come since", 0755) == 0);
	CU_ASSERT(wh_beneath_was_empty(&beneath, get(&beneath, "empty")));
	CU_ASSERT(!wh_beneath_was_empty(&beneath, get(&beneath, "full")));
	CU_ASSERT(!wh_beneath_was_empty(&beneath, fd)); /* not the last any more */
	CU_ASSERT(!wh_beneath_was_empty(&beneath, get(&beneath, "full/empty")));
	CU_ASSERT(wh_beneath_was_empty(&beneath, get(&beneath, "made/now")));
	CU_ASSERT(!wh_beneath_was_empty(&beneath, get(&beneath, "")));
	wh_beneath_forget(&beneath, "empty", 5);
	CU_ASSERT(!wh_beneath_was_empty(&beneath, get(&beneath, "empty")));
	wh_beneath_free(&beneath);
	folder_free(&folder);
}

/* Links lead out of a folder, but nowhere out of the system. */
static void test_system(void)
{
	struct folder below, top = new_tree(&below);
	int system = open("/", O_PATH | O_DIRECTORY);
	char path[PATH_MAX], name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", below.fd);

	ssize_t bytes = readlink(name, path, sizeof(path) - 16);

	CU_ASSERT_FATAL(bytes > 0 && system >= 0);
	strcpy(path + bytes, "/absolute");
	CU_ASSERT_EQUAL(wh_beneath_resolve(below.fd, "absolute", O_PATH), -EXDEV);

	int found = wh_beneath_resolve(system, path + 1, O_PATH);
	struct stat one, tmp;

	CU_ASSERT_FATAL(found >= 0);
	CU_ASSERT(fstat(found, &one) == 0 && stat("/tmp", &tmp) == 0);
	CU_ASSERT_EQUAL(one.st_ino, tmp.st_ino);
	close(found);
	found = wh_beneath_resolve(system, "/tmp", O_PATH | O_DIRECTORY);
	CU_ASSERT(found >= 0);
	close(found);
	strcpy(path + bytes, "/magic");
	CU_ASSERT_EQUAL(wh_beneath_resolve(system, path + 1, O_PATH), -ELOOP);
	strcpy(path + bytes, "/to_stage");
	CU_ASSERT_EQUAL(wh_beneath_resolve(system, path + 1, O_PATH), -ENOENT);
	close(system);
	close(below.fd);
	folder_free(&top);
}

CU_TestInfo wh_tests[] = {
	{"lookups", test_lookups},
	{"system", test_system},
	{"folders are made", test_folders_are_made},
	{"cache", test_cache},
	{"empty folders", test_was_empty},
	{"the longest path", test_longest},
	{"parent", test_parent},
	{"memory", test_memory},
	CU_TEST_INFO_NULL,
};
