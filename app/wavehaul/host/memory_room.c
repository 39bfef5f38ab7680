/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/memory_room.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/units.h"
#include "cli/complain.h"

#define PATH_BYTES 4096

/* The part of the memory that is left to other processes and the kernel. */
#define KEPT_PART 16

static FILE *open_file(const char *root, const char *path)
{
	char whole[PATH_BYTES];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	return fopen(whole, "re");
}

/* The number after `name` in a file of such lines, in the file's unit; UINT64_MAX: none. */
static uint64_t read_number(const char *root, const char *path, const char *name)
{
	FILE *file = open_file(root, path);
	uint64_t found = UINT64_MAX;
	char line[256];

	if (file == NULL)
		return UINT64_MAX;
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, strlen(name)) == 0 &&
			wh_scan_count(line + strlen(name) + strspn(line + strlen(name), " \t"),
				&found) != NULL)
			break;
	fclose(file);
	return found;
}

static void bound(struct wh_memory_room *room, uint64_t bytes, const char *by)
{
	if (bytes >= room->bytes)
		return;
	room->bytes = bytes;
	room->bound = by;
}

/* The memory that a cgroup may still use: clean page cache can be dropped. "max" is no number. */
static void bound_by_group(struct wh_memory_room *room, const char *root, const char *group)
{
	char path[PATH_BYTES + 32];

	snprintf(path, sizeof(path), "%s/memory.max", group);

	uint64_t most = read_number(root, path, "");

	snprintf(path, sizeof(path), "%s/memory.current", group);

	uint64_t used = read_number(root, path, "");

	snprintf(path, sizeof(path), "%s/memory.stat", group);

	uint64_t cached = read_number(root, path, "inactive_file ");

	if (most == UINT64_MAX || used == UINT64_MAX)
		return;
	if (cached != UINT64_MAX)
		used -= wh_min_u64(used, cached);
	bound(room, most - wh_min_u64(most, used), "the memory limit of its control group");
}

/* Our cgroup and its ancestors: each has its own limit (cgroups(7), version 2). */
static void bound_by_groups(struct wh_memory_room *room, const char *root)
{
	FILE *file = open_file(root, "/proc/self/cgroup");
	char group[PATH_BYTES] = "/sys/fs/cgroup";
	size_t top = strlen(group);
	char line[PATH_BYTES - 64];
	char *slash;

	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "0::", 3) == 0) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(group + top, sizeof(group) - top, "%s", line + 3);
		}
	fclose(file);
	do {
		bound_by_group(room, root, group);
		slash = strrchr(group + top, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL);
}

static void bound_by_limit(struct wh_memory_room *room, int resource, const char *by)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		bound(room, limit.rlim_cur, by);
}

struct wh_memory_room wh_memory_room(const char *root, bool pinned)
{
	uint64_t available_kib = read_number(root, "/proc/meminfo", "MemAvailable:");
	struct wh_memory_room room = {.bytes = UINT64_MAX, .bound = "nothing"};

	if (available_kib <= UINT64_MAX >> 10)
		bound(&room, available_kib << 10, "the free memory of this machine");
	bound_by_groups(&room, root);
	if (room.bytes != UINT64_MAX)
		room.bytes -= room.bytes / KEPT_PART;
	bound_by_limit(&room, RLIMIT_AS, "`ulimit -v`");
	if (pinned)
		bound_by_limit(&room, RLIMIT_MEMLOCK, "`ulimit -l`");
	return room;
}

bool wh_memory_may_be_locked(uint64_t limit_bytes, uint64_t bytes)
{
	char wanted[WH_UNITS_MAX];
	char limit[WH_UNITS_MAX];

	if (limit_bytes == RLIM_INFINITY || bytes <= limit_bytes)
		return true;
	wh_format_size(wanted, sizeof(wanted), bytes);
	wh_format_size(limit, sizeof(limit), limit_bytes);
	return wh_fail(false,
		"a NIC wants its memory locked, %s of it, and `ulimit -l` allows %s: in this shell "
		"`sudo prlimit --pid $$ --memlock=unlimited`, in a unit LimitMEMLOCK=infinity",
		wanted, limit);
}

bool wh_memory_fits(const struct wh_memory_room *room, uint64_t bytes, const char *option,
	uint64_t option_bytes)
{
	uint64_t beside = bytes - wh_min_u64(bytes, option_bytes);
	char wanted[WH_UNITS_MAX];
	char had[WH_UNITS_MAX];

	WH_ASSERT(room->bound != NULL);
	if (bytes <= room->bytes)
		return true;
	wh_format_size(wanted, sizeof(wanted), bytes);
	wh_format_size(had, sizeof(had), room->bytes);
	if (room->bytes > beside)
		wh_complain("this needs %s of memory, but only %s are available, limited by %s: "
			    "set %s to %lluM or less",
			wanted, had, room->bound, option,
			(unsigned long long)(room->bytes - beside) >> 20);
	else
		wh_complain("this needs %s of memory, but only %s are available, limited by %s: "
			    "too little even for packets",
			wanted, had, room->bound);
	return false;
}
