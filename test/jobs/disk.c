/* SPDX-License-Identifier: BSD-3-Clause */
#include "disk.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/prng.h"
#include "file/background.h"
#include "file/ring.h"
#include "file/rings.h"
#include "power.h"

#define MS           UINT64_C(1000000)
#define MIB          (UINT64_C(1) << 20)
#define RING_ENTRIES 64
#define UNDER_WAY    4096
#define EXT4         0xef53

/* What a struct io_uring points into; sq_head is first, and so names its ring. */
struct ring {
	unsigned int sq_head;
	unsigned int sq_tail;
	unsigned int cq_head;
	unsigned int cq_tail;
	uint32_t in_air;
	struct io_uring_sqe sqe[RING_ENTRIES];
	struct io_uring_cqe cqe[RING_ENTRIES];
};

/* A request, or work. */
struct deed {
	uint64_t due_ns;
	uint64_t order;
	uint32_t process;
	struct ring *ring;
	struct io_uring_sqe sqe;
	void (*run)(void *argument);
	void *argument;
};

static struct {
	struct disk_config config;
	struct wh_prng prng;
	uint64_t now_ns;
	uint64_t orders;
	uint64_t requests;
	uint32_t process;
	bool dead;
	bool breaks;     /* the work at hand is a dying process's last */
	uint32_t breath; /* calls that it still makes */
	bool failed;
	bool full;
	bool sync_fails;
	uint32_t syncs;
	uint64_t written_bytes;
	uint32_t count;
	uint32_t rpcs;
	struct deed deed[UNDER_WAY];
} disk;

uint64_t disk_unsure_bytes(const struct disk_config *config, uint32_t lanes, uint64_t batch_bytes,
	uint64_t rate_bps, uint64_t more_ns)
{
	uint64_t sync_ns = 4 * (config->work_ns + config->latency_ns) + 2 * MS + more_ns;

	return lanes * (batch_bytes + (WH_RING_DEPTH + 1) * MIB) +
	       wh_muldiv_u64(rate_bps, sync_ns, 8 * WH_NS_PER_S);
}

void disk_begin(const struct disk_config *config)
{
	WH_ASSERT(disk.count == 0 && !disk.dead && !disk.breaks);
	disk.config = *config;
	disk.process = 0;
	disk.requests = 0;
	disk.failed = disk.full = disk.sync_fails = false;
	disk.written_bytes = 0;
	disk.syncs = 0;
	wh_prng_init(&disk.prng, config->seed);
}

void disk_enter(uint32_t process, uint64_t now_ns)
{
	disk.process = process;
	disk.now_ns = now_ns;
}

void disk_kill(bool dead)
{
	disk.dead = dead;
}

void disk_fail_sync(void)
{
	disk.sync_fails = true;
}

uint32_t disk_syncs(void)
{
	return disk.syncs;
}

bool disk_has_failed(void)
{
	return disk.failed;
}

bool disk_was_full(void)
{
	return disk.full;
}

static struct deed *add(uint64_t latency_ns)
{
	WH_ASSERT(disk.count < UNDER_WAY);

	struct deed *deed = &disk.deed[disk.count++];

	*deed = (struct deed){
		.due_ns = disk.now_ns + wh_prng_below(&disk.prng, latency_ns + 1),
		.order = disk.orders++,
		.process = disk.process,
	};
	return deed;
}

static struct deed take(uint32_t i)
{
	struct deed deed = disk.deed[i];

	disk.deed[i] = disk.deed[--disk.count];
	return deed;
}

/* The number of the deed that is due first; disk.count > 0. */
static uint32_t earliest(void)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < disk.count; i++) {
		const struct deed *a = &disk.deed[i];
		const struct deed *b = &disk.deed[found];

		if (a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->order < b->order))
			found = i;
	}
	return found;
}

uint64_t disk_deadline(void)
{
	return disk.count > 0 ? disk.deed[earliest()].due_ns : UINT64_MAX;
}

static void complete(struct ring *ring, const struct io_uring_sqe *sqe, int result)
{
	struct io_uring_cqe *cqe = &ring->cqe[ring->cq_tail % RING_ENTRIES];

	WH_ASSERT(ring->cq_tail - ring->cq_head < RING_ENTRIES && ring->in_air > 0);
	cqe->user_data = sqe->user_data;
	cqe->res = result;
	ring->cq_tail++;
	ring->in_air--;
}

static uint64_t room_left(void)
{
	return disk.config.room_bytes - disk.written_bytes;
}

/* Whose changes are lost with power; 0: nobody's. */
static uint32_t loser(void)
{
	return disk.config.forgets ? disk.process : 0;
}

/* As many of the bytes as there is room for, which they have from here on. */
static uint64_t take_room(uint64_t bytes)
{
	if (disk.config.room_bytes == 0)
		return bytes;

	uint64_t taken = bytes < room_left() ? bytes : room_left();

	disk.written_bytes += taken;
	disk.full |= taken < bytes;
	return taken;
}

static long write_there(int fd, const void *bytes, size_t count, off_t offset)
{
	size_t taken = take_room(count);
	long written;

	if (taken == 0 && count > 0) {
		errno = ENOSPC;
		return -1;
	}
	power_resizes(loser(), fd);
	written = syscall(SYS_pwrite64, fd, bytes, taken, offset);
	if (loser() != 0 && written > 0)
		power_written(disk.process, fd, offset, (uint64_t)written);
	return written;
}

/* As on thin disks what is reserved may be gone when it is written. */
static long allocate(int fd, int mode, off_t offset, off_t bytes)
{
	if (mode == 0 && disk.config.room_bytes > 0 && (uint64_t)bytes > room_left()) {
		disk.full = true;
		errno = ENOSPC;
		return -1;
	}
	if ((mode & FALLOC_FL_KEEP_SIZE) == 0)
		power_resizes(loser(), fd);
	return syscall(SYS_fallocate, fd, mode, offset, bytes);
}

static int do_request(const struct io_uring_sqe *sqe)
{
	void *memory = (void *)(uintptr_t)sqe->addr;
	long rc;

	if (++disk.requests == disk.config.fails_after) {
		disk.failed = true;
		return -EIO;
	}

	uint32_t bytes = sqe->len;

	if (disk.config.short_one_in > 0 && bytes > 4096 &&
		wh_prng_below(&disk.prng, disk.config.short_one_in) == 0)
		bytes = 4096;
	switch (sqe->opcode) {
	case IORING_OP_READ:
		rc = syscall(SYS_pread64, sqe->fd, memory, bytes, sqe->off);
		break;
	case IORING_OP_WRITE:
		rc = write_there(sqe->fd, memory, bytes, (off_t)sqe->off);
		break;
	case IORING_OP_FALLOCATE:
		rc = allocate(sqe->fd, (int)sqe->len, (off_t)sqe->off, (off_t)sqe->addr);
		break;
	default:
		WH_ASSERT(sqe->opcode == IORING_OP_FSYNC);
		power_synced(sqe->fd, (sqe->fsync_flags & IORING_FSYNC_DATASYNC) == 0);
		rc = 0;
	}
	return rc < 0 ? -errno : (int)rc;
}

static void do_deed(const struct deed *deed)
{
	if (deed->ring != NULL) {
		complete(deed->ring, &deed->sqe, do_request(&deed->sqe));
		return;
	}
	disk.rpcs--;
	deed->run(deed->argument);
}

int32_t disk_run(uint64_t now_ns)
{
	int32_t done = 0;

	disk.now_ns = now_ns;
	while (disk.count > 0) {
		uint32_t first = earliest();

		if (disk.deed[first].due_ns > now_ns)
			break;

		const struct deed deed = take(first);

		disk.process = deed.process;
		do_deed(&deed);
		done++;
	}
	return done;
}

/* Whether a call that changes something comes too late. */
static bool is_dead(void)
{
	if (disk.breaks && disk.breath-- == 0) {
		disk.breaks = false;
		disk.dead = true;
	}
	return disk.dead;
}

void disk_break_off(void)
{
	uint32_t last = disk.count;

	for (uint32_t i = 0; i < disk.count; i++)
		if (disk.deed[i].process == disk.process && disk.deed[i].ring == NULL &&
			(last == disk.count || disk.deed[i].order < disk.deed[last].order))
			last = i;
	if (last == disk.count)
		return;

	const struct deed deed = take(last);

	disk.breaks = true;
	disk.breath = (uint32_t)wh_prng_below(&disk.prng, 10);
	do_deed(&deed);
	disk.breaks = false;
}

void disk_lose_power(uint32_t process, bool lost)
{
	if (lost)
		power_fails(process, &disk.prng);
	else
		power_stays(process);
}

void disk_hurry(uint32_t process)
{
	for (uint32_t i = 0; i < disk.count;) {
		if (disk.deed[i].process != process) {
			i++;
			continue;
		}

		const struct deed deed = take(i);

		WH_ASSERT(deed.ring == NULL); /* rings were closed before */
		disk.rpcs--;
		deed.run(deed.argument);
	}
}

int wh_background(void (*run)(void *argument), void *argument)
{
	struct deed *deed = add(disk.config.work_ns);

	deed->run = run;
	deed->argument = argument;
	disk.rpcs++;
	return 0;
}

uint32_t wh_background_count(void)
{
	return disk.rpcs;
}

static struct ring *ring_of(const struct io_uring *ring)
{
	return (struct ring *)(void *)ring->sq.khead;
}

int io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags)
{
	struct ring *own = calloc(1, sizeof(*own));

	WH_ASSERT(own != NULL && entries <= RING_ENTRIES && flags == IORING_SETUP_R_DISABLED);
	*ring = (struct io_uring){
		.sq = {.khead = &own->sq_head,
			.ktail = &own->sq_tail,
			.sqes = own->sqe,
			.ring_entries = RING_ENTRIES,
			.ring_mask = RING_ENTRIES - 1},
		.cq = {.khead = &own->cq_head, .ktail = &own->cq_tail, .cqes = own->cqe},
	};
	return 0;
}

int wh_ring_restrict(struct io_uring *ring)
{
	return ring_of(ring)->in_air == 0 ? 0 : -EBUSY;
}

int io_uring_submit(struct io_uring *ring)
{
	struct ring *own = ring_of(ring);
	int count = 0;

	for (; own->sq_head != ring->sq.sqe_tail; own->sq_head++, count++) {
		struct deed *deed = add(disk.config.latency_ns);

		deed->ring = own;
		deed->sqe = own->sqe[own->sq_head % RING_ENTRIES];
		own->in_air++;
	}
	return count;
}

unsigned int io_uring_peek_batch_cqe(
	struct io_uring *ring, struct io_uring_cqe **cqes, unsigned int count)
{
	struct ring *own = ring_of(ring);
	unsigned int found = 0;

	while (found < count && own->cq_head + found != own->cq_tail) {
		cqes[found] = &own->cqe[(own->cq_head + found) % RING_ENTRIES];
		found++;
	}
	return found;
}

/* What can be cancelled is, by lot. */
int io_uring_register_sync_cancel(struct io_uring *ring, struct io_uring_sync_cancel_reg *reg)
{
	struct ring *own = ring_of(ring);

	(void)reg;
	for (uint32_t i = 0; i < disk.count;) {
		if (disk.deed[i].ring != own) {
			i++;
			continue;
		}

		const struct deed deed = take(i);
		bool runs = !disk.dead && wh_prng_below(&disk.prng, 2) == 0;

		complete(own, &deed.sqe, runs ? do_request(&deed.sqe) : -ECANCELED);
	}
	return 0;
}

int io_uring_wait_cqe_timeout(
	struct io_uring *ring, struct io_uring_cqe **cqe, struct __kernel_timespec *timeout)
{
	(void)timeout;
	return io_uring_peek_batch_cqe(ring, cqe, 1) == 1 ? 0 : -ETIME;
}

void io_uring_queue_exit(struct io_uring *ring)
{
	struct ring *own = ring_of(ring);

	WH_ASSERT(own->in_air == 0);
	free(own);
}

int fstatfs(int fd, struct statfs *status)
{
	long rc = syscall(SYS_fstatfs, fd, status);

	if (rc == 0)
		status->f_type = disk.config.in_memory ? TMPFS_MAGIC : EXT4;
	if (rc == 0 && disk.config.room_bytes > 0 && disk.config.room_is_told)
		status->f_bavail = room_left() / (uint64_t)status->f_bsize;
	return (int)rc;
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset)
{
	return write_there(fd, bytes, count, offset);
}

/* Of files alone: tests have pipes, too. */
ssize_t write(int fd, const void *bytes, size_t count)
{
	struct stat status;

	if (disk.config.room_bytes > 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
		count = take_room(count);
		if (count == 0) {
			errno = ENOSPC;
			return -1;
		}
	}
	return syscall(SYS_write, fd, bytes, count);
}

int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
	return (int)allocate(fd, mode, offset, bytes);
}

/* Of whole file systems: they may fail. */
int syncfs(int fd)
{
	(void)fd;
	if (is_dead())
		return 0;
	disk.syncs++;
	if (!disk.sync_fails) {
		power_synced_all(disk.process);
		return 0;
	}
	disk.sync_fails = false;
	errno = EIO;
	return -1;
}

int fdatasync(int fd)
{
	if (!is_dead())
		power_synced(fd, false);
	return 0;
}

int fsync(int fd)
{
	if (!is_dead())
		power_synced(fd, true);
	return 0;
}

int openat(int folder_fd, const char *name, int flags, ...)
{
	va_list more;
	mode_t mode = 0;

	if ((flags & O_CREAT) != 0) {
		if (is_dead()) {
			errno = EIO;
			return -1;
		}
		va_start(more, flags);
		mode = va_arg(more, mode_t);
		va_end(more);
	}
	return power_openat(loser(), folder_fd, name, flags, mode);
}

int mkdirat(int folder_fd, const char *name, mode_t mode)
{
	return is_dead() ? 0 : power_mkdirat(loser(), folder_fd, name, mode);
}

int fchmod(int fd, mode_t mode)
{
	return is_dead() ? 0 : power_fchmod(loser(), fd, mode);
}

int unlinkat(int fd, const char *name, int flags)
{
	return is_dead() ? 0 : power_unlinkat(loser(), fd, name, flags);
}

int renameat(int from_fd, const char *from, int to_fd, const char *to)
{
	return is_dead() ? 0 : power_renameat(loser(), from_fd, from, to_fd, to, 0);
}

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	return is_dead() ? 0 : power_renameat(loser(), from_fd, from, to_fd, to, flags);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags)
{
	return is_dead() ? 0 : power_linkat(loser(), from_fd, from, to_fd, to, flags);
}

int ftruncate(int fd, off_t bytes)
{
	if (is_dead())
		return 0;
	power_resizes(loser(), fd);
	return (int)syscall(SYS_ftruncate, fd, bytes);
}

/* Who is dead begins no transaction and ends none well. */
int sqlite3_exec(sqlite3 *database, const char *sql, int (*row)(void *, int, char **, char **),
	void *context, char **error)
{
	static __typeof__(&sqlite3_exec) next;
	bool breaks;
	int answer;

	if (strcmp(sql, "ROLLBACK") != 0 && is_dead())
		return SQLITE_IOERR;
	if (next == NULL)
		*(void **)&next = dlsym(RTLD_NEXT, "sqlite3_exec");
	breaks = disk.breaks;
	disk.breaks = false; /* it has calls of its own */
	answer = next(database, sql, row, context, error);
	disk.breaks = breaks;
	return answer;
}
