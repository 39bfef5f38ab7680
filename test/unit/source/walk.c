/* SPDX-License-Identifier: BSD-3-Clause */
#include "source/walk.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "bundle_tree.h"

const char wh_suite_name[] = "walk";

#define COUNT(array)  (sizeof(array) / sizeof((array)[0]))
#define STEPS_MAX     10000000
#define LISTING_BYTES (1 << 20)

static char listing[LISTING_BYTES];

/* What the walk finds next; false: it is at its end. */
static bool next_item(struct wh_walk *walk, struct wh_walk_item *item)
{
	do
		wh_walk_next(walk, item);
	while (item->found == WH_WALK_NOTHING);
	return item->found != WH_WALK_END;
}

/*
 * "d:dir f:dir/a l:dir/b !dir/c(95,looking at its kind) w:folder/on/the/prefix", in the order
 * found.
 */
static const char *list_by(
	int root_fd, const char *const *paths, uint32_t count, bool recursive, bool whole)
{
	static const char kinds[] = {
		[WH_WALK_FILE] = 'f', [WH_WALK_FOLDER] = 'd', [WH_WALK_LINK] = 'l'};
	struct wh_walk *walk;
	struct wh_walk_item item;
	size_t at = 0;

	listing[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(wh_walk_open(&walk, root_fd, paths, count, recursive, NULL), 0);
	if (whole)
		wh_walk_keep_paths(walk);
	for (int i = 0; i < STEPS_MAX && next_item(walk, &item); i++) {
		CU_ASSERT_FATAL(at < LISTING_BYTES - 5000);
		CU_ASSERT_EQUAL(strlen(item.path), item.path_bytes);
		if (item.found == WH_WALK_FAULT)
			at += (size_t)sprintf(listing + at, "!%s(%d,%s) ", item.path, item.error,
				wh_doing_name(item.doing));
		else
			at += (size_t)sprintf(listing + at, "%c:%s ",
				item.is_prefix ? 'w' : kinds[item.found], item.path);
		if (item.is_prefix)
			CU_ASSERT(S_ISDIR(item.status.st_mode) && item.own_fd == -1);
		if (item.found != WH_WALK_FAULT)
			CU_ASSERT(wh_path_is_safe(item.path, item.path_bytes));
	}
	CU_ASSERT_EQUAL(item.found, WH_WALK_END);
	wh_walk_next(walk, &item);
	CU_ASSERT_EQUAL(item.found, WH_WALK_END);
	wh_walk_close(walk);
	return listing;
}

static const char *list(int root_fd, const char *const *paths, uint32_t count, bool recursive)
{
	return list_by(root_fd, paths, count, recursive, false);
}

static const char *list_one(const struct tree *tree, const char *path, bool recursive)
{
	char whole[PATH_MAX];
	const char *paths[] = {whole};

	snprintf(whole, sizeof(whole), "%s/%s", tree->root, path);
	return list(-1, paths, 1, recursive);
}

static int open_files(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(folder) != NULL)
		count++;
	closedir(folder);
	return count;
}

static void make_small(struct tree *tree)
{
	tree_init(tree, NULL);
	tree_folder(tree, "a");
	tree_folder(tree, "a/empty");
	tree_file(tree, "a/z", "z", 1);
	tree_file(tree, "a/B", "B", 1);
	tree_folder(tree, "a/m");
	tree_file(tree, "a/m/1", "1", 1);
	tree_link(tree, "a/l", "/nowhere");
	tree_link(tree, "a/m/up", "..");
	tree_file(tree, "f", "f", 1);
}

#define INSIDE(p) "f:" p "B d:" p "empty l:" p "l d:" p "m f:" p "m/1 l:" p "m/up f:" p "z "

static void names_of_given_paths(void)
{
	static const struct {
		const char *path;
		const char *found;
	} cases[] = {
		{"a", "d:a " INSIDE("a/")},
		{"a/", "d:a " INSIDE("a/")},
		{"a//", "d:a " INSIDE("a/")},
		{"./a", "d:a " INSIDE("a/")},
		{"a/m/../../a", "d:a " INSIDE("a/")},
		{"a/.", INSIDE("")},
		{"a/./", INSIDE("")},
		{"a/m/..", INSIDE("")},
		{"a/m", "d:m f:m/1 l:m/up "},
		{"a/m/up", "d:up " INSIDE("up/")}, /* given: followed */
		{"a/m/up/", "d:up " INSIDE("up/")},
		{"a/empty", "d:empty "},
		{"a/empty/.", ""},
		{"f", "f:f "},
		{"a/../f", "f:f "},
		{"a/m/1", "f:1 "},
	};
	struct tree tree;
	int before = open_files();

	make_small(&tree);
	for (size_t i = 0; i < COUNT(cases); i++)
		CU_ASSERT_STRING_EQUAL(list_one(&tree, cases[i].path, true), cases[i].found);
	tree_free(&tree);
	CU_ASSERT_EQUAL(open_files(), before);
}

/* Below a root alone, and only where nothing has that very name. */
static void wildcards(void)
{
	static const struct {
		const char *path;
		bool recursive;
		const char *found;
	} cases[] = {
		{"a/*", true, INSIDE("")},
		{"a/[Bz]", false, "f:B f:z "},
		{"/a/?", false, "f:B l:l !m(21,looking at its kind) f:z "},
		{"*/m/*", true, "f:1 l:up "},
		{"a/*/1", false, "f:1 "},
		{"a/m/u*", false, "l:up "},
		{"*", false, "!a(21,looking at its kind) f:f f:st*r "},
		{"st*r", false, "f:st*r "},
		{".*", false, "f:.hidden "},
		{"x*", true, "!x*(2,opening) "},
		{"f/*", true, "!f/*(20,opening) "},
		{"a/m/../*", true, INSIDE("")},
		{"../*", true, "!../*(18,opening) "},
		{"a/[", true, "!a/[(2,opening) "},
	};
	struct tree tree;
	int before = open_files();

	make_small(&tree);
	tree_file(&tree, "st*r", "", 0);
	tree_file(&tree, ".hidden", "", 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *found = list(tree.fd, &cases[i].path, 1, cases[i].recursive);

		CU_ASSERT_STRING_EQUAL(found, cases[i].found);
		if (strcmp(found, cases[i].found) != 0)
			printf("%s: %s\n", cases[i].path, found);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(list_one(&tree, "x*", true), "x*(2,opening)"));
	tree_free(&tree);
	CU_ASSERT_EQUAL(open_files(), before);
}

static void last_names(void)
{
	static const struct {
		const char *path;
		const char *name;
	} cases[] = {
		{"", ""},
		{"/", ""},
		{"//", ""},
		{".", ""},
		{"..", ""},
		{"a/..", ""},
		{"a/./", ""},
		{"a", "a"},
		{"/a", "a"},
		{"b/a/", "a"},
		{"../a", "a"},
		{"...", "..."},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *name;
		size_t bytes = wh_path_last_name(cases[i].path, &name);

		CU_ASSERT_EQUAL(bytes, strlen(cases[i].name));
		CU_ASSERT_EQUAL(strncmp(name, cases[i].name, bytes), 0);
	}
}

static void several_paths(void)
{
	struct tree tree;
	char root[3][PATH_MAX];
	const char *paths[] = {root[0], root[1], root[2]};

	make_small(&tree);
	snprintf(root[0], PATH_MAX, "%s/f", tree.root);
	snprintf(root[1], PATH_MAX, "%s/a/m", tree.root);
	snprintf(root[2], PATH_MAX, "%s/f", tree.root);
	CU_ASSERT_STRING_EQUAL(list(-1, paths, 3, true), "f:f d:m f:m/1 l:m/up f:f ");
	CU_ASSERT_STRING_EQUAL(list(-1, paths, 0, true), "");
	tree_free(&tree);
}

static void given_faults(void)
{
	struct tree tree;
	char expected[2 * PATH_MAX];
	char long_path[5001];
	const char *paths[] = {"", long_path};

	make_small(&tree);
	snprintf(expected, sizeof(expected), "!%s/a(21,looking at its kind) ", tree.root);
	CU_ASSERT_STRING_EQUAL(list_one(&tree, "a", false), expected);
	snprintf(expected, sizeof(expected), "!%s/gone/(2,opening) ", tree.root);
	CU_ASSERT_STRING_EQUAL(list_one(&tree, "gone/", true), expected);
	snprintf(expected, sizeof(expected), "!%s/f/(20,opening) ", tree.root);
	CU_ASSERT_STRING_EQUAL(list_one(&tree, "f/", true), expected);
	snprintf(expected, sizeof(expected), "!%s/a/l(2,opening) ", tree.root);
	CU_ASSERT_STRING_EQUAL(list_one(&tree, "a/l", true), expected);
	CU_ASSERT_STRING_EQUAL(list_one(&tree, "f", false), "f:f ");
	CU_ASSERT_STRING_EQUAL(list(-1, paths, 1, true), "!.(2,opening) ");
	memset(long_path, 'x', 5000);
	long_path[5000] = '\0';
	snprintf(expected, sizeof(expected), "!%.4095s(36,opening) ", long_path);
	CU_ASSERT_STRING_EQUAL(list(-1, paths + 1, 1, true), expected);
	tree_free(&tree);
}

/* Neither waited for nor opened. */
static void other_kinds(void)
{
	struct tree tree;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	const char *null[] = {"/dev/null"};

	tree_init(&tree, NULL);
	tree_folder(&tree, "d");
	CU_ASSERT_FATAL(mkfifoat(tree.fd, "d/fifo", 0644) == 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/d/socket", tree.root);
	CU_ASSERT_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	CU_ASSERT_STRING_EQUAL(list_one(&tree, "d", true),
		"d:d !d/fifo(95,passing it over) !d/socket(95,passing it over) ");
	CU_ASSERT_STRING_EQUAL(list(-1, null, 1, true), "!/dev/null(95,looking at its kind) ");
	close(fd);
	tree_free(&tree);
}

static void below_a_root(void)
{
	static const struct {
		const char *path;
		const char *found;
	} cases[] = {
		{"in", "d:in f:in/x "},
		{"/in", "d:in f:in/x "},
		{"//in/x", "f:x "},
		{"in/../in/x", "f:x "},
		{"", "l:abs l:dots d:in f:in/x l:into "},
		{".", "l:abs l:dots d:in f:in/x l:into "},
		{"/", "l:abs l:dots d:in f:in/x l:into "},
		{"into", "f:into "}, /* a link that stays below */
		{"..", "!..(18,opening) "},
		{"../secret", "!../secret(18,opening) "},
		{"in/../../secret", "!in/../../secret(18,opening) "},
		{"dots", "!dots(18,opening) "},
		{"abs", "!abs(18,opening) "},
		{"gone", "!gone(2,opening) "},
	};
	struct tree tree;

	tree_init(&tree, NULL);
	tree_file(&tree, "secret", "s", 1);
	tree_folder(&tree, "root");
	tree_folder(&tree, "root/in");
	tree_file(&tree, "root/in/x", "x", 1);
	tree_link(&tree, "root/into", "in/x");
	tree_link(&tree, "root/dots", "../secret");
	tree_link(&tree, "root/abs", tree_path(&tree, "secret"));

	int root_fd = openat(tree.fd, "root", O_PATH | O_DIRECTORY);

	CU_ASSERT_FATAL(root_fd >= 0);
	for (size_t i = 0; i < COUNT(cases); i++)
		CU_ASSERT_STRING_EQUAL(list(root_fd, &cases[i].path, 1, true), cases[i].found);
	close(root_fd);
	tree_free(&tree);
}

static void odd_names(void)
{
	static const char *const names[] = {
		" ", "\n", "\x01", "*", "-", "...", ".hidden", "\\", "\xc3\xa4", "\xff\xfe"};
	struct tree tree;
	char path[300], expected[2000];
	size_t at;

	tree_init(&tree, NULL);
	tree_folder(&tree, "d");
	for (size_t i = 0; i < COUNT(names); i++) {
		snprintf(path, sizeof(path), "d/%s", names[i]);
		tree_file(&tree, path, "", 0);
	}
	memset(path, 'n', 257);
	memcpy(path, "d/", 2);
	path[257] = '\0';
	tree_file(&tree, path, "", 0);

	/* By bytes: what is above 127 comes last. */
	at = (size_t)sprintf(expected, "f:\x01 f:\n f:  f:* f:- f:... f:.hidden f:\\ f:");
	at += (size_t)sprintf(expected + at, "%s f:\xc3\xa4 f:\xff\xfe ", path + 2);
	CU_ASSERT_STRING_EQUAL(list_one(&tree, "d/.", true), expected);
	tree_free(&tree);
}

/* Many pieces are merged into one sorted list. */
static void large_folder(void)
{
	enum { NAMES = 20000 };
	struct tree tree;
	struct wh_walk *walk;
	struct wh_walk_item item;
	const char *paths[1];
	char name[16], last[16] = "";
	int found = 0, nothing = 0;

	tree_init(&tree, "/dev/shm");
	for (int i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "%08x", (uint32_t)i * UINT32_C(2654435761));
		CU_ASSERT_FATAL(mknodat(tree.fd, name, S_IFREG | 0644, 0) == 0);
	}
	paths[0] = tree_path(&tree, ".");
	CU_ASSERT_EQUAL_FATAL(wh_walk_open(&walk, -1, paths, 1, true, NULL), 0);
	for (int i = 0; i < STEPS_MAX; i++) {
		wh_walk_next(walk, &item);
		if (item.found == WH_WALK_END)
			break;
		nothing += item.found == WH_WALK_NOTHING;
		if (item.found != WH_WALK_FILE)
			continue;
		CU_ASSERT_FATAL(strcmp(last, item.path) < 0);
		strcpy(last, item.path);
		found++;
	}
	CU_ASSERT_EQUAL(found, NAMES);
	/* 8 KiB at a time, 32 bytes each. */
	CU_ASSERT(nothing > NAMES / 260);
	wh_walk_close(walk);
	tree_free(&tree);
}

/* More folders deep than stay open, up to the longest path; files on the way back up too. */
static void deep_tree(void)
{
	enum { DEPTH = 2000 };
	struct tree tree;
	struct wh_walk *walk;
	struct wh_walk_item item;
	const char *paths[1];
	int folders = 0, files = 0, before = open_files(), most = 0;
	bool in_order = true;

	tree_init(&tree, "/dev/shm");

	int fd = dup(tree.fd);

	for (int i = 0; i < DEPTH; i++) {
		CU_ASSERT_FATAL(mkdirat(fd, "d", 0755) == 0);
		CU_ASSERT_FATAL(mknodat(fd, "e", S_IFREG | 0644, 0) == 0);

		int below = openat(fd, "d", O_RDONLY | O_DIRECTORY);

		close(fd);
		fd = below;
	}
	close(fd);
	paths[0] = tree_path(&tree, ".");
	CU_ASSERT_EQUAL_FATAL(wh_walk_open(&walk, -1, paths, 1, true, NULL), 0);
	for (int i = 0; i < STEPS_MAX && next_item(walk, &item); i++) {
		CU_ASSERT_FATAL(item.found != WH_WALK_FAULT);
		folders += item.found == WH_WALK_FOLDER;
		files += item.found == WH_WALK_FILE;
		/* All folders come first, then the files from the deepest upwards. */
		in_order &=
			item.path_bytes ==
			(item.found == WH_WALK_FOLDER ? folders * 2 - 1 : (DEPTH - files) * 2 + 1);
		if (item.found == WH_WALK_FILE) {
			int file_fd = wh_walk_open_file(walk, &item);

			in_order &= file_fd >= 0;
			close(file_fd);
		}
		if (folders % 100 == 0) {
			int open_now = open_files();

			most = open_now > most ? open_now : most;
		}
	}
	CU_ASSERT_EQUAL(folders, DEPTH);
	CU_ASSERT_EQUAL(files, DEPTH);
	CU_ASSERT(in_order);
	CU_ASSERT(most <= before + 1 + WH_WALK_OPEN);
	wh_walk_close(walk);
	tree_free(&tree);
	CU_ASSERT_EQUAL(open_files(), before);
}

/* Longer than a bundle's paths may be: told, and gone on with. */
static void too_long_paths(void)
{
	struct tree tree;
	const char *paths[1];
	char name[201];
	const char *text;

	memset(name, 'n', 200);
	name[200] = '\0';
	tree_init(&tree, "/dev/shm");

	int fd = dup(tree.fd);

	for (int i = 0; i < 22; i++) {
		CU_ASSERT_FATAL(mkdirat(fd, name, 0755) == 0);
		CU_ASSERT_FATAL(mknodat(fd, "z", S_IFREG | 0644, 0) == 0);

		int below = openat(fd, name, O_RDONLY | O_DIRECTORY);

		close(fd);
		fd = below;
	}
	close(fd);
	paths[0] = tree_path(&tree, ".");
	text = list(-1, paths, 1, true);

	int folders = 0, files = 0, faults = 0;

	for (const char *at = text; *at != '\0'; at++) {
		folders += strncmp(at, "d:", 2) == 0;
		files += strncmp(at, "f:", 2) == 0;
		faults += strncmp(at, "(36,looking up the path)", 24) == 0;
	}
	/* 20 names of 200 and 19 slashes are 4019 bytes; the 21st would make it 4220. */
	CU_ASSERT_EQUAL(folders, 20);
	CU_ASSERT_EQUAL(files, 21); /* with that beside the 21st */
	CU_ASSERT_EQUAL(faults, 1);
	tree_free(&tree);
}

/* The tree changes under the walk's feet. */
static void changes_meanwhile(void)
{
	struct tree tree;
	struct wh_walk *walk;
	struct wh_walk_item item;
	const char *paths[1];

	tree_init(&tree, NULL);
	tree_folder(&tree, "d");
	tree_folder(&tree, "d/sub");
	tree_file(&tree, "d/a", "a", 1);
	tree_file(&tree, "d/b", "b", 1);
	paths[0] = tree_path(&tree, "d");
	CU_ASSERT_EQUAL_FATAL(wh_walk_open(&walk, -1, paths, 1, true, NULL), 0);
	next_item(walk, &item);
	CU_ASSERT_EQUAL(item.found, WH_WALK_FOLDER);
	CU_ASSERT_EQUAL(item.status.st_mode & 07777, 0755);
	next_item(walk, &item);
	CU_ASSERT_STRING_EQUAL(item.path, "d/a");
	CU_ASSERT_FATAL(unlinkat(tree.fd, "d/a", 0) == 0);
	CU_ASSERT_EQUAL(wh_walk_open_file(walk, &item), -ENOENT);
	tree_link(&tree, "d/a", "b");
	CU_ASSERT_EQUAL(wh_walk_open_file(walk, &item), -ELOOP);
	next_item(walk, &item);
	CU_ASSERT_STRING_EQUAL(item.path, "d/b");
	CU_ASSERT_FATAL(unlinkat(tree.fd, "d/sub", AT_REMOVEDIR) == 0);
	tree_link(&tree, "d/sub", "/");
	next_item(walk, &item);
	CU_ASSERT_EQUAL(item.found, WH_WALK_FAULT);
	CU_ASSERT_STRING_EQUAL(item.path, "d/sub");
	CU_ASSERT_EQUAL(item.error, ENOTDIR);
	next_item(walk, &item);
	CU_ASSERT_EQUAL(item.found, WH_WALK_END);
	wh_walk_close(walk);
	tree_free(&tree);
}

/* A folder far up is moved elsewhere: what is then above is not taken for it. */
static void moved_meanwhile(void)
{
	enum { DEPTH = WH_WALK_OPEN + 8 };
	struct tree tree;
	struct wh_walk *walk;
	struct wh_walk_item item;
	const char *paths[1];
	char path[2 * DEPTH + 8] = "", away[sizeof(path) + 2];
	int stale = 0, files = 0;

	tree_init(&tree, NULL);
	tree_folder(&tree, "elsewhere");
	tree_file(&tree, "elsewhere/secret", "s", 1);
	for (int i = 0; i < DEPTH; i++) {
		strcat(path, i == 0 ? "d" : "/d");
		tree_folder(&tree, path);
		snprintf(away, sizeof(away), "%s/e", path);
		tree_file(&tree, away, "e", 1);
	}
	paths[0] = tree_path(&tree, "d");
	CU_ASSERT_EQUAL_FATAL(wh_walk_open(&walk, -1, paths, 1, true, NULL), 0);
	do
		next_item(walk, &item);
	while (item.found == WH_WALK_FOLDER && item.path_bytes < 2 * DEPTH - 1);
	CU_ASSERT_STRING_EQUAL(item.path, path);
	/* The fifth folder goes: the fourth, closed by now, is not above it any more. */
	CU_ASSERT_FATAL(renameat(tree.fd, "d/d/d/d/d", tree.fd, "elsewhere/d") == 0);
	for (next_item(walk, &item); item.found != WH_WALK_END; next_item(walk, &item)) {
		files += item.found == WH_WALK_FILE;
		stale += item.found == WH_WALK_FAULT && item.error == ESTALE &&
			 item.doing == WH_DOING_LISTING;
		CU_ASSERT(strstr(item.path, "secret") == NULL);
	}
	CU_ASSERT_EQUAL(stale, 4);
	CU_ASSERT_EQUAL(files, DEPTH - 4);
	wh_walk_close(walk);
	tree_free(&tree);
}

static void unreadable_folder(void)
{
	struct tree tree;

	uid_t user = geteuid();

	/* Root reads everything. */
	CU_ASSERT_FATAL(user != 0 || seteuid(65534) == 0);
	tree_init(&tree, NULL);
	tree_folder(&tree, "d");
	tree_folder(&tree, "d/no");
	CU_ASSERT_FATAL(fchmodat(tree.fd, "d/no", 0, 0) == 0);
	tree_file(&tree, "d/yes", "y", 1);
	CU_ASSERT_STRING_EQUAL(
		list_one(&tree, "d", true), "d:d !d/no(13,listing the folder) f:d/yes ");
	tree_free(&tree);
	CU_ASSERT_FATAL(seteuid(user) == 0);
}

/* Descriptors run out: told folder by folder, and the walk comes to its end. */
static void no_descriptors(void)
{
	struct tree tree;
	struct rlimit before, none;

	make_small(&tree);
	CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &before) == 0);
	none = before;
	none.rlim_cur = (rlim_t)tree.fd + 1;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &none) == 0);

	const char *text = list_one(&tree, "a", true);

	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &before) == 0);
	CU_ASSERT(strstr(text, "(24,opening)") != NULL);
	tree_free(&tree);
}

/* A transfer under way, here or of another process, has no files for anybody. */
static void staging_is_not_seen(void)
{
	static const char *const paths[] = {".", ".wavehaul-x.part", ".wavehaul-x.part/0", "link",
		"file", "a/.WAVEHAUL-y.PART"};
	struct tree tree;

	tree_init(&tree, NULL);
	tree_folder(&tree, "a");
	tree_folder(&tree, "a/.WAVEHAUL-y.PART");
	tree_folder(&tree, ".wavehaul-x.part");
	tree_file(&tree, ".wavehaul-x.part/0", "x", 1);
	tree_file(&tree, "a/.wavehaul-z.part", "x", 1);
	tree_link(&tree, "link", ".wavehaul-x.part");
	tree_link(&tree, "file", ".wavehaul-x.part/0");
	CU_ASSERT_STRING_EQUAL(list(tree.fd, paths, COUNT(paths), true),
		"d:a l:file l:link !.wavehaul-x.part(2,opening) !.wavehaul-x.part/0(2,opening) "
		"!link(2,opening) !file(2,opening) !a/.WAVEHAUL-y.PART(2,opening) ");
	CU_ASSERT_STRING_EQUAL(list_one(&tree, ".", true), "d:a l:file l:link ");
	tree_free(&tree);
}

/* As a whole, or from behind the mark on; folders on the way come once. */
static void whole_paths(void)
{
	static const struct {
		const char *path[3];
		const char *found;
	} cases[] = {
		{{"a/m/1"}, "w:a w:a/m f:a/m/1 "},
		{{"./a//m/1"}, "w:a w:a/m f:a/m/1 "},
		{{"a/./m/./1"}, "w:m f:m/1 "}, /* the first mark */
		{{"a/./m/1"}, "w:m f:m/1 "},
		{{"a/m/./1"}, "f:1 "},
		{{"/a/m/1"}, "w:a w:a/m f:a/m/1 "},
		{{"a/m"}, "w:a d:a/m f:a/m/1 l:a/m/up "},
		{{"a/m/"}, "w:a d:a/m f:a/m/1 l:a/m/up "},
		{{"a/m/."}, "w:a d:a/m f:a/m/1 l:a/m/up "},
		{{"a/m/./"}, "f:1 l:up "},
		{{"f", "a/z", "a/m/1"}, "f:f w:a f:a/z w:a/m f:a/m/1 "},
		{{"a/m/1", "a/z", "f"}, "w:a w:a/m f:a/m/1 f:a/z f:f "},
		{{"a/l", "a/m/up"}, "w:a l:a/l w:a/m l:a/m/up "}, /* not followed */
		{{"a/./m/up"}, "w:m l:m/up "},
		{{"a/?"}, "w:a f:a/B l:a/l d:a/m f:a/m/1 l:a/m/up f:a/z "},
		{{"*/m/1"}, "w:a w:a/m f:a/m/1 "},
		{{"a/./*/1"}, "w:m f:m/1 "},
		{{"a/*/./1"}, "f:1 "},
		{{"a/../f"}, "!a/../f(22,looking up the path) "},
		{{"a/none"}, "!a/none(2,opening) "},
	};
	struct tree tree;
	int before = open_files();

	make_small(&tree);
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t count = 1 + (cases[i].path[1] != NULL) + (cases[i].path[2] != NULL);

		CU_ASSERT_STRING_EQUAL(
			list_by(tree.fd, cases[i].path, count, true, true), cases[i].found);
	}
	tree_free(&tree);
	CU_ASSERT_EQUAL(open_files(), before);
}

CU_TestInfo wh_tests[] = {
	{"whole paths", whole_paths},
	{"wildcards", wildcards},
	{"staging is not seen", staging_is_not_seen},
	{"names of given paths", names_of_given_paths},
	{"last names", last_names},
	{"several paths", several_paths},
	{"given faults", given_faults},
	{"other kinds", other_kinds},
	{"below a root", below_a_root},
	{"odd names", odd_names},
	{"large folder", large_folder},
	{"deep tree", deep_tree},
	{"too long paths", too_long_paths},
	{"changes meanwhile", changes_meanwhile},
	{"moved meanwhile", moved_meanwhile},
	{"unreadable folder", unreadable_folder},
	{"no descriptors", no_descriptors},
	CU_TEST_INFO_NULL,
};
