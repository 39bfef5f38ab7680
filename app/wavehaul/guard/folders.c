/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard/folders.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the kernel headers: landlock(7). */
#define ACCESS_TRUNCATE (UINT64_C(1) << 14) /* since version 3 */
#define ACCESS_DEVICE   (UINT64_C(1) << 15) /* ioctl on devices that are opened later, since 5 */
#define TCP_BOTH        UINT64_C(3)         /* bind and connect, since 4 */
#define ABSTRACT        (UINT64_C(1) << 0)  /* abstract Unix sockets of other processes, since 6 */
#define SIGNALS         (UINT64_C(1) << 1)  /* to other processes, since 6 */
#define ASK_MENDED      2U                  /* asks which errors of older kernels are fixed */
#define MENDED_SIGNALS  (1 << 1)            /* threads of one process may signal each other */

#define VERSION_MIN 2 /* renames between folders */

#define READS  (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define CLEARS (LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR)
#define MAKES                                                                                      \
	(LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | \
		LANDLOCK_ACCESS_FS_REFER)
#define OF_FILE    (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)
#define EVERYTHING ((UINT64_C(1) << 14) - 1)

struct rules {
	uint64_t files;
	uint64_t network;
	uint64_t scoped;
};

static uint64_t handled; /* accesses that the rules restrict, as far as this kernel knows them */

/*
 * Each thread enters by itself. Kernels without this fix therefore treat the other threads of the
 * process as foreign, and signals to them must stay allowed.
 */
static uint64_t scopes(void)
{
	long mended = syscall(SYS_landlock_create_ruleset, NULL, 0, ASK_MENDED);

	return ABSTRACT | (mended > 0 && (mended & MENDED_SIGNALS) != 0 ? SIGNALS : 0);
}

int wh_folders_open(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	struct rules rules = {.files = EVERYTHING};
	size_t bytes = sizeof(rules.files);

	if (version < 0)
		return -errno;
	if (version < VERSION_MIN)
		return -EOPNOTSUPP;
	if (version >= 3)
		rules.files |= ACCESS_TRUNCATE;
	if (version >= 5)
		rules.files |= ACCESS_DEVICE;
	if (version >= 4) {
		rules.network = TCP_BOTH;
		bytes = offsetof(struct rules, scoped);
	}
	if (version >= 6) {
		rules.scoped = scopes();
		bytes = sizeof(rules);
	}
	handled = rules.files;

	long fd = syscall(SYS_landlock_create_ruleset, &rules, bytes, 0);

	return fd < 0 ? -errno : (int)fd;
}

static uint64_t rights_of(enum wh_let let)
{
	switch (let) {
	case WH_LET_READ:
		return READS;
	case WH_LET_WRITE:
		return READS | CLEARS | MAKES | LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE;
	default:
		return CLEARS;
	}
}

int wh_folders_let(int rules_fd, int fd, enum wh_let let)
{
	struct landlock_path_beneath_attr rule = {
		.parent_fd = fd, .allowed_access = rights_of(let)};
	struct stat status;

	if (fstat(fd, &status) != 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		rule.allowed_access &= OF_FILE;
	rule.allowed_access &= handled;
	if (rule.allowed_access == 0)
		return 0;
	return syscall(SYS_landlock_add_rule, rules_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0
		       ? -errno
		       : 0;
}

int wh_folders_enter(int rules_fd)
{
	return syscall(SYS_landlock_restrict_self, rules_fd, 0) != 0 ? -errno : 0;
}
