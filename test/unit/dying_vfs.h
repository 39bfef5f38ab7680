/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The end of a process between any two writes of its database: a layer of SQLite's that counts
 * what changes files (writes, syncs, truncations, removals), and ends the process before the one
 * that is wished. Deeds run in a child of their own.
 */

#include <sys/wait.h>
#include <unistd.h>

#include <sqlite3.h>

#include "unit.h"

#define DYING_STATUS 77

static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *below;
	/* Tables of methods: databases have one, logs another. */
	struct {
		sqlite3_io_methods own; /* those of below, but for what counts */
		const sqlite3_io_methods *below;
	} methods[4];
	unsigned int left; /* changes until the end; 0: no end */
} dying;

static inline void dying_change(void)
{
	if (dying.left > 0 && --dying.left == 0)
		_exit(DYING_STATUS);
}

static inline const sqlite3_io_methods *dying_below(const sqlite3_file *file)
{
	for (int i = 0; i < 4; i++)
		if (file->pMethods == &dying.methods[i].own)
			return dying.methods[i].below;
	abort();
}

static inline int dying_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at)
{
	dying_change();
	return dying_below(file)->xWrite(file, bytes, count, at);
}

static inline int dying_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	dying_change();
	return dying_below(file)->xTruncate(file, size);
}

static inline int dying_sync(sqlite3_file *file, int flags)
{
	dying_change();
	return dying_below(file)->xSync(file, flags);
}

static inline int dying_remove(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	dying_change();
	return dying.below->xDelete(dying.below, name, sync);
}

static inline void dying_wrap(sqlite3_file *file)
{
	int i = 0;

	while (dying.methods[i].below != NULL && dying.methods[i].below != file->pMethods)
		i++;
	if (i == 4)
		abort();
	dying.methods[i].below = file->pMethods;
	dying.methods[i].own = *file->pMethods;
	dying.methods[i].own.xWrite = dying_write;
	dying.methods[i].own.xTruncate = dying_truncate;
	dying.methods[i].own.xSync = dying_sync;
	file->pMethods = &dying.methods[i].own;
}

static inline int dying_open(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	int rc = dying.below->xOpen(dying.below, name, file, flags, out);

	(void)vfs;
	if (rc == SQLITE_OK && file->pMethods != NULL)
		dying_wrap(file);
	return rc;
}

/* Runs `deed` in a child, which ends before its change number `at`. False: it came to its end. */
static inline bool dying_run(unsigned int at, void (*deed)(void *argument), void *argument)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		dying.below = sqlite3_vfs_find(NULL);
		dying.vfs = *dying.below;
		dying.vfs.zName = "dying";
		dying.vfs.xOpen = dying_open;
		dying.vfs.xDelete = dying_remove;
		sqlite3_vfs_register(&dying.vfs, 1);
		dying.left = at;
		deed(argument);
		_exit(0);
	}
	CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child);
	CU_ASSERT(WIFEXITED(status));
	CU_ASSERT(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == DYING_STATUS);
	return WEXITSTATUS(status) == DYING_STATUS;
}
