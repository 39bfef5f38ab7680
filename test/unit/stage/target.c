/* SPDX-License-Identifier: BSD-3-Clause */
#include "stage/target.h"

#include "folder_rig.h"

const char wh_suite_name[] = "target";

/* What is there: links by text, the rest by kind. */
static void make_all(const struct folder *top)
{
	static const char *const links[][2] = {
		{"to-file", "file"},
		{"to-inner", "folder/inner"},
		{"to-link", "folder/up"},
		{"to-folder", "folder"},
		{"to-nothing", "folder/nothing"},
		{"to-pipe", "pipe"},
		{"round", "round"},
		{"out", "../outside"},
		{"absolute", "/etc/hostname"},
		{"staged", ".wavehaul-abcdef.part/0"},
		{"folder/up", "../file"},
	};

	CU_ASSERT_FATAL(mkdirat(top->fd, "folder", 0755) == 0);
	folder_put(top, "file", "x");
	folder_put(top, "folder/inner", "x");
	CU_ASSERT_FATAL(mkfifoat(top->fd, "pipe", 0600) == 0);
	CU_ASSERT_FATAL(mkdirat(top->fd, ".wavehaul-abcdef.part", 0755) == 0);
	folder_put(top, ".wavehaul-abcdef.part/0", "x");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		CU_ASSERT_FATAL(symlinkat(links[i][1], top->fd, links[i][0]) == 0);
}

static bool is_folder(int fd, int top_fd, const char *path)
{
	struct stat found, wanted;

	return fstat(fd, &found) == 0 && fstatat(top_fd, path, &wanted, 0) == 0 &&
	       found.st_dev == wanted.st_dev && found.st_ino == wanted.st_ino;
}

static void test_what_it_stands_for(void)
{
	static const struct {
		const char *path;
		bool into;
		bool as_name;
		int error;
		const char *folder; /* without an error */
		const char *as;
	} cases[] = {
		{"", false, false, 0, ".", ""},
		{"file", false, false, 0, ".", "file"},
		{"new", false, false, 0, ".", "new"},
		{"folder/new", false, false, 0, "folder", "new"},
		{"to-folder/new", false, false, 0, "folder", "new"},
		{"to-folder", false, false, 0, "folder", ""},
		{"to-file", false, false, 0, ".", "file"},
		{"to-file", false, true, 0, ".", "file"},
		{"to-inner", false, false, 0, "folder", "inner"},
		{"to-link", false, false, 0, ".", "file"},
		{"folder/up", false, false, 0, ".", "file"},
		{"to-file", true, false, -ENOTDIR, NULL, NULL},
		{"to-file/", false, false, -ENOTDIR, NULL, NULL},
		{"to-nothing", false, false, -ENOLINK, NULL, NULL},
		{"to-nothing", true, false, -ENOLINK, NULL, NULL},
		{"to-nothing", false, true, -ENOLINK, NULL, NULL},
		{"none/new", false, false, -ENOENT, NULL, NULL},
		{"pipe", false, false, -EEXIST, NULL, NULL},
		{"pipe", false, true, -EEXIST, NULL, NULL},
		{"to-pipe", false, false, -EEXIST, NULL, NULL},
		{"pipe", true, false, -ENOTDIR, NULL, NULL},
		{"round", false, false, -ELOOP, NULL, NULL},
		{"round", false, true, -ELOOP, NULL, NULL},
		{"out", false, false, -EXDEV, NULL, NULL},
		{"out", false, true, -EXDEV, NULL, NULL},
		{"absolute", false, false, -EXDEV, NULL, NULL},
		{"absolute", false, true, -EXDEV, NULL, NULL},
		{"staged", false, false, -ENOLINK, NULL, NULL},
		{".wavehaul-abcdef.part/0", false, false, -EPERM, NULL, NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct folder top = folder_new("/tmp");
		const struct wh_target target = {
			.path = cases[i].path,
			.into_folder = cases[i].into,
			.as_name = cases[i].as_name,
		};
		char as[NAME_MAX + 1];
		enum wh_doing doing;

		make_all(&top);

		int names = folder_count(&top);
		int fd = wh_target_open(top.fd, &target, as, &doing);

		CU_ASSERT(cases[i].error == 0 ? fd >= 0 : fd == cases[i].error);
		if (fd >= 0 && cases[i].error == 0) {
			CU_ASSERT(is_folder(fd, top.fd, cases[i].folder));
			CU_ASSERT_STRING_EQUAL(as, cases[i].as);
		}
		if (fd >= 0)
			close(fd);
		CU_ASSERT(folder_count(&top) == names);
		folder_free(&top);
	}
}

/* A name as long as it may be, and one longer. */
static void test_long(void)
{
	struct folder top = folder_new("/tmp");
	struct wh_target target = {0};
	char name[NAME_MAX + 2], as[NAME_MAX + 1];
	enum wh_doing doing;

	memset(name, 'n', NAME_MAX + 1);
	name[NAME_MAX + 1] = '\0';
	target.path = name;
	CU_ASSERT(wh_target_open(top.fd, &target, as, &doing) == -ENAMETOOLONG);
	target.path = name + 1;

	int fd = wh_target_open(top.fd, &target, as, &doing);

	CU_ASSERT(fd >= 0 && strlen(as) == NAME_MAX);
	close(fd);
	folder_free(&top);
}

CU_TestInfo wh_tests[] = {
	{"what it stands for", test_what_it_stands_for},
	{"long", test_long},
	CU_TEST_INFO_NULL,
};
