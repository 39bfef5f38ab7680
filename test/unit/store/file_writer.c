/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/falloc.h>
#include <signal.h>
#include <sys/resource.h>

#include "ring_fault.h"
#include "store_rig.h"

const char wh_suite_name[] = "file_writer";

/* A sender of `content` through the rig: `in` is deliver, `out` is recycled. */
struct sender {
	struct rig *rig;
	struct wh_writer *writer;
	const uint8_t *content;
	uint64_t bytes;
	uint64_t number;   /* of the next chunk */
	uint32_t held;     /* bit i: chunk i of the rig is here, not with the writer */
	uint32_t chunks;   /* of the rig */
	uint32_t recycled; /* in all */
	struct wh_chunk end;
};

static void open_sender(struct sender *sender, struct rig *rig, const char *name,
	const uint8_t *content, uint64_t bytes, uint64_t object_bytes, uint32_t chunks)
{
	*sender = (struct sender){.rig = rig, .content = content, .bytes = bytes, .chunks = chunks};
	sender->held = (UINT32_C(1) << chunks) - 1;
	sender->end.end = true;
	sender->end.number = (bytes + rig->chunk_bytes - 1) / rig->chunk_bytes;
	sender->end.digest = rig_digest(content, bytes);
	CU_ASSERT_FATAL(wh_file_writer_open(&sender->writer, rig->folder, name, object_bytes,
				rig->chunk_bytes, &rig->in, &rig->out) == 0);
}

static uint64_t total(const struct sender *sender)
{
	return (sender->bytes + sender->rig->chunk_bytes - 1) / sender->rig->chunk_bytes;
}

/* Sends what it has a chunk for, then the end marker; takes back what was recycled. */
static void send_more(struct sender *sender)
{
	struct rig *rig = sender->rig;

	for (struct wh_chunk *chunk; (chunk = wh_fifo_pop(&rig->out)) != NULL;) {
		CU_ASSERT_FATAL((sender->held & (UINT32_C(1) << chunk->slot)) == 0);
		sender->held |= UINT32_C(1) << chunk->slot;
		sender->recycled++;
		memset(chunk->data, 0xa5, rig->chunk_bytes);
	}
	while (sender->held != 0 && sender->number < total(sender)) {
		struct wh_chunk *chunk = &rig->chunks[__builtin_ctz(sender->held)];
		uint64_t at = sender->number * rig->chunk_bytes;
		uint64_t left = sender->bytes - at;

		chunk->number = sender->number++;
		chunk->bytes = (uint32_t)(left < rig->chunk_bytes ? left : rig->chunk_bytes);
		memcpy(chunk->data, sender->content + at, chunk->bytes);
		sender->held &= ~(UINT32_C(1) << chunk->slot);
		CU_ASSERT_FATAL(wh_fifo_push(&rig->in, chunk));
	}
	if (sender->number == total(sender) && wh_fifo_push(&rig->in, &sender->end))
		sender->number++;
}

/* Until the writer is done and has given everything back. */
static int run(struct sender *sender)
{
	uint32_t all = (UINT32_C(1) << sender->chunks) - 1;
	int done = WH_STORE_RUNNING;

	for (int i = 0; i < RIG_POLLS_MAX; i++) {
		send_more(sender);
		wh_writer_poll(sender->writer, 0);
		done = atomic_load(&sender->writer->done);
		if (done != WH_STORE_RUNNING && sender->held == all &&
			sender->number > total(sender) && wh_fifo_count(&sender->rig->in) == 0)
			break;
		sched_yield();
	}
	CU_ASSERT(sender->held == all);
	CU_ASSERT(sender->recycled == total(sender));
	return done;
}

static void expect_written(
	struct rig *rig, const char *name, const uint8_t *content, uint64_t bytes, uint32_t chunks)
{
	struct sender sender;
	struct wh_digest digest = rig_digest(content, bytes);

	open_sender(&sender, rig, name, content, bytes, bytes, chunks);
	CU_ASSERT(run(&sender) == WH_STORE_OK);
	CU_ASSERT(sender.writer->error == 0);
	CU_ASSERT(atomic_load(&sender.writer->bytes) == bytes);
	CU_ASSERT(memcmp(&sender.writer->digest, &digest, sizeof(digest)) == 0);
	CU_ASSERT(rig_file_equals(rig, name, content, bytes));
	wh_writer_close(sender.writer);
	CU_ASSERT(rig_file_equals(rig, name, content, bytes));
	CU_ASSERT(rig_count_files(rig) == 1);
}

static void test_sizes(void)
{
	for (size_t c = 0; c < RIG_COUNT(rig_chunk_bytes); c++) {
		const uint64_t sizes[] = RIG_SIZES((uint64_t)rig_chunk_bytes[c]);
		struct rig rig;

		rig_init(&rig, rig_chunk_bytes[c], 16, 16);
		for (size_t s = 0; s < RIG_COUNT(sizes); s++) {
			uint8_t *content = rig_content(sizes[s], s);

			expect_written(&rig, "object", content, sizes[s], 16); /* over the last */
			free(content);
		}
		rig_free(&rig);
	}
}

static void test_few_chunks(void)
{
	static const struct {
		uint32_t chunks;
		uint32_t recycled;
	} cases[] = {{1, 1}, {2, 1}, {16, 1}, {16, 2}};
	const uint64_t bytes = 20 * 65536 + 5;
	uint8_t *content = rig_content(bytes, 1);

	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		struct rig rig;

		rig_init(&rig, 65536, cases[i].chunks, cases[i].recycled);
		expect_written(&rig, "object", content, bytes, cases[i].chunks);
		rig_free(&rig);
	}
	free(content);
}

static uint64_t allocated_bytes(const struct rig *rig, const char *name)
{
	struct stat status;
	char path[PATH_MAX];

	rig_path(rig, name, path);
	CU_ASSERT_FATAL(stat(path, &status) == 0);
	return (uint64_t)status.st_blocks * 512;
}

/* Data in two pieces of 64 KiB: one at the head of a chunk, one in the middle of another. */
static void test_holes(void)
{
	const uint64_t chunk = 1 << 20;
	const uint64_t bytes = 16 * chunk + 70000;
	struct rig rig;
	uint8_t *content = calloc(1, bytes);

	content[3 * chunk] = 1;
	content[7 * chunk + 5 * 65536 + 65535] = 1;
	rig_init(&rig, chunk, 16, 16);
	expect_written(&rig, "object", content, bytes, 16);
	CU_ASSERT(allocated_bytes(&rig, "object") >= 2 * 65536);
	CU_ASSERT(allocated_bytes(&rig, "object") <= 2 * 65536 + 16384);

	content[bytes - 1] = 1; /* the tail, less than a piece */
	expect_written(&rig, "object", content, bytes, 16);
	CU_ASSERT(allocated_bytes(&rig, "object") <= 3 * 65536 + 16384);

	memset(content, 0, bytes);
	expect_written(&rig, "object", content, bytes, 16);
	CU_ASSERT(allocated_bytes(&rig, "object") <= 16384);
	rig_free(&rig);
	free(content);
}

static void test_hole_results(void)
{
	static const struct {
		int result;
		int done;
	} cases[] = {
		{-EINTR, WH_STORE_OK},
		{-EAGAIN, WH_STORE_OK},
		{-EOPNOTSUPP, WH_STORE_OK}, /* reserved blocks are zeros too */
		{-EIO, WH_STORE_FAILED},
	};
	struct rig rig;
	uint8_t *content = calloc(1, 5 * 65536);

	rig_init(&rig, 65536, 4, 4);
	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		struct sender sender;

		ring_fault.result = cases[i].result;
		ring_fault.at_most = 0;
		ring_fault.after = 1;
		ring_fault.times = 3;
		open_sender(&sender, &rig, "object", content, 5 * 65536, 5 * 65536, 4);
		CU_ASSERT(run(&sender) == cases[i].done);
		if (cases[i].done == WH_STORE_OK) {
			CU_ASSERT(rig_file_equals(&rig, "object", content, 5 * 65536));
		} else {
			CU_ASSERT(sender.writer->error == cases[i].result);
			CU_ASSERT_STRING_EQUAL(sender.writer->doing, "making a hole");
		}
		ring_fault.times = 0;
		wh_writer_close(sender.writer);
	}
	rig_free(&rig);
	free(content);
}

/* A reader's file of holes, through a writer: still of holes. */
static void test_sparse_through(void)
{
	const uint64_t bytes = 32 * 65536;
	struct rig rig;
	struct wh_fifo free_chunks;
	struct wh_reader *reader = NULL;
	struct wh_writer *writer = NULL;
	uint8_t *content = calloc(1, bytes);
	char path[PATH_MAX];

	memset(content + 9 * 65536 + 100, 3, 20);
	rig_init(&rig, 65536, 8, 8);
	rig_path(&rig, "source", path);
	CU_ASSERT_FATAL(wh_fifo_init(&free_chunks, 8) == 0);
	rig_write_file(&rig, "source", content, 0);

	int fd = open(path, O_WRONLY);

	CU_ASSERT_FATAL(ftruncate(fd, (off_t)bytes) == 0);
	CU_ASSERT_FATAL(pwrite(fd, content + 9 * 65536 + 100, 20, 9 * 65536 + 100) == 20);
	CU_ASSERT_FATAL(close(fd) == 0);
	for (int i = 0; i < 8; i++)
		wh_fifo_push(&free_chunks, &rig.chunks[i]);
	CU_ASSERT_FATAL(wh_file_reader_open(&reader, path, 65536, &free_chunks, &rig.in) == 0);
	CU_ASSERT_FATAL(wh_file_writer_open(&writer, rig.folder, "copy", bytes, 65536, &rig.in,
				&free_chunks) == 0);
	for (int i = 0; i < RIG_POLLS_MAX && atomic_load(&writer->done) == WH_STORE_RUNNING; i++) {
		wh_reader_poll(reader, 0);
		wh_writer_poll(writer, 0);
		sched_yield();
	}
	CU_ASSERT(atomic_load(&writer->done) == WH_STORE_OK);
	CU_ASSERT(rig_file_equals(&rig, "copy", content, bytes));
	CU_ASSERT(allocated_bytes(&rig, "copy") <= 65536 + 16384);
	wh_reader_close(reader);
	wh_writer_close(writer);
	wh_fifo_free(&free_chunks);
	rig_free(&rig);
	free(content);
}

/* Sends something that must not become the file; an older one of that name must stay. */
static void expect_mismatch(struct rig *rig, struct sender *sender)
{
	CU_ASSERT(run(sender) == WH_STORE_MISMATCH);
	CU_ASSERT(rig_count_files(rig) == 1); /* even before close */
	wh_writer_close(sender->writer);
	CU_ASSERT(rig_file_equals(rig, "object", (const uint8_t *)"older", 5));
	CU_ASSERT(rig_count_files(rig) == 1);
}

static void test_wrong_digest(void)
{
	struct rig rig;
	struct sender sender;
	uint8_t *content = rig_content(200000, 2);

	rig_init(&rig, 65536, 4, 4);
	rig_write_file(&rig, "object", (const uint8_t *)"older", 5);
	for (int i = 0; i < WH_DIGEST_BYTES; i += 5) {
		open_sender(&sender, &rig, "object", content, 200000, 200000, 4);
		sender.end.digest.bytes[i] ^= 1;
		expect_mismatch(&rig, &sender);
	}
	rig_free(&rig);

	/* Without an older one there is none afterwards. */
	rig_init(&rig, 65536, 4, 4);
	open_sender(&sender, &rig, "object", content, 200000, 200000, 4);
	sender.end.digest.bytes[0] ^= 1;
	CU_ASSERT(run(&sender) == WH_STORE_MISMATCH);
	wh_writer_close(sender.writer);
	CU_ASSERT(rig_count_files(&rig) == 0);
	rig_free(&rig);
	free(content);
}

static void test_wrong_size(void)
{
	static const struct {
		uint64_t sent;
		uint64_t promised;
	} cases[] = {
		{200000, 200001},    /* the last chunk is short */
		{200000, 199999},    /* or long */
		{2 * 65536, 200000}, /* ends early */
		{200000, 2 * 65536}, /* goes on */
		{0, 1},
		{1, 0},
	};
	struct rig rig;
	uint8_t *content = rig_content(200000, 3);

	rig_init(&rig, 65536, 4, 4);
	rig_write_file(&rig, "object", (const uint8_t *)"older", 5);
	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		struct sender sender;

		open_sender(&sender, &rig, "object", content, cases[i].sent, cases[i].promised, 4);
		expect_mismatch(&rig, &sender);
	}

	/* The marker counts otherwise than the chunks do. */
	struct sender sender;

	open_sender(&sender, &rig, "object", content, 200000, 200000, 4);
	sender.end.number++;
	expect_mismatch(&rig, &sender);
	rig_free(&rig);
	free(content);
}

static void find_temporary(const struct rig *rig, char name[NAME_MAX + 1])
{
	DIR *folder = opendir(rig->folder);

	name[0] = '\0';
	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		if (entry->d_name[0] == '.' && strlen(entry->d_name) > 2)
			strcpy(name, entry->d_name);
	closedir(folder);
}

static void test_names(void)
{
	static const struct {
		const char *name;
		int rc;
	} cases[] = {
		{"", -EINVAL},
		{".", -EINVAL},
		{"..", -EINVAL},
		{"/", -EINVAL},
		{"a/b", -EINVAL},
		{"../object", -EINVAL},
		{"folder", -EISDIR},
	};
	struct rig rig;
	struct wh_writer *writer = NULL;
	char path[PATH_MAX];
	char name[NAME_MAX + 2];

	rig_init(&rig, 65536, 4, 4);
	rig_path(&rig, "folder", path);
	CU_ASSERT_FATAL(mkdir(path, 0755) == 0);
	for (size_t i = 0; i < RIG_COUNT(cases); i++)
		CU_ASSERT(wh_file_writer_open(&writer, rig.folder, cases[i].name, 1, 65536, &rig.in,
				  &rig.out) == cases[i].rc);
	CU_ASSERT_FATAL(rmdir(path) == 0);

	memset(name, 'n', sizeof(name));
	name[NAME_MAX + 1] = '\0';
	CU_ASSERT(wh_file_writer_open(&writer, rig.folder, name, 1, 65536, &rig.in, &rig.out) ==
		  -ENAMETOOLONG);
	CU_ASSERT(wh_file_writer_open(&writer, path, "a", 1, 65536, &rig.in, &rig.out) == -ENOENT);
	CU_ASSERT(wh_file_writer_open(&writer, rig.folder, "a", UINT64_MAX, 65536, &rig.in,
			  &rig.out) == -EFBIG);
	CU_ASSERT(writer == NULL);
	CU_ASSERT(rig_count_files(&rig) == 0);

	/* 255 bytes of two-byte characters, so that the cut for the temporary name splits one. */
	name[0] = 'x';
	for (size_t i = 1; i < NAME_MAX; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	name[NAME_MAX] = '\0';
	expect_written(&rig, name, (const uint8_t *)"hello", 5, 4);

	/* 255 - strlen("..XXXXXX.part") = 242 bytes of it fit, 241 without the half character. */
	struct sender sender;
	char seen[NAME_MAX + 1];

	open_sender(&sender, &rig, name, (const uint8_t *)"hello", 5, 5, 4);
	find_temporary(&rig, seen);
	CU_ASSERT(strlen(seen) == 254);
	CU_ASSERT(strncmp(seen + 1, name, 241) == 0 && seen[242] == '.');
	wh_writer_close(sender.writer);
	CU_ASSERT(rig_count_files(&rig) == 1);
	rig_free(&rig);
}

/* While it is written, and what it is called then. */
static void test_temporary_name(void)
{
	struct rig rig;
	struct sender sender;
	uint8_t *content = rig_content(3 * 65536, 4);
	char seen[NAME_MAX + 1] = "";

	rig_init(&rig, 65536, 4, 4);
	open_sender(&sender, &rig, "object", content, 3 * 65536, 3 * 65536, 4);
	CU_ASSERT(rig_count_files(&rig) == 1);

	find_temporary(&rig, seen);
	CU_ASSERT(strlen(seen) == strlen(".object.XXXXXX.part"));
	CU_ASSERT(strncmp(seen, ".object.", 8) == 0);
	CU_ASSERT_STRING_EQUAL(seen + 14, ".part");

	struct stat status;
	char path[PATH_MAX];
	mode_t mask = umask(0);

	umask(mask);
	rig_path(&rig, seen, path);
	CU_ASSERT(stat(path, &status) == 0 && (status.st_mode & 07777) == (0644 & ~mask));
	CU_ASSERT(run(&sender) == WH_STORE_OK);
	wh_writer_close(sender.writer);
	rig_free(&rig);
	free(content);
}

static void test_faults_survived(void)
{
	static const struct {
		int result;
		int at_most;
		int after;
		int times;
	} cases[] = {
		{-EOPNOTSUPP, 0, 0, 1}, /* no fallocate there */
		{-EINTR, 0, 0, 9}, {-EAGAIN, 0, 0, 40},
		{-EINVAL, 0, 1, 1},                 /* O_DIRECT refused by one write */
		{0, 4096, 1, 20}, {0, 5000, 1, 20}, /* O_DIRECT goes on at 4096 */
		{0, 4096, 11, 1},                   /* of the tail, 4096 + 123 bytes */
		{-EINTR, 0, 11, 3},                 /* the tail, the fsyncs */
		{-EINVAL, 0, 13, 1},                /* the folder's fsync */
	};
	const uint64_t bytes = 10 * 65536 + 4096 + 123;
	uint8_t *content = rig_content(bytes, 5);

	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		struct rig rig;
		bool refuses = cases[i].result == -EINVAL && cases[i].after == 1;

		rig_init(&rig, 65536, 16, 16);
		if (!direct_here(rig.folder) && refuses) {
			rig_free(&rig);
			continue;
		}
		ring_fault.dropped = 0;
		ring_fault.result = cases[i].result;
		ring_fault.at_most = cases[i].at_most;
		ring_fault.after = cases[i].after;
		ring_fault.times = cases[i].times;
		expect_written(&rig, "object", content, bytes, 16);
		CU_ASSERT(ring_fault.times == 0);
		CU_ASSERT(ring_fault.dropped == refuses);
		ring_fault.times = 0;
		rig_free(&rig);
	}
	free(content);
}

/* Neither O_DIRECT nor fallocate: exact lengths, and zeros are just left out. */
static void test_plain_file_system(void)
{
	const uint64_t sizes[] = RIG_SIZES(65536);

	ring_fault.refuse_direct = true;
	for (size_t s = 0; s < RIG_COUNT(sizes); s++) {
		struct rig rig;
		uint8_t *content = rig_content(sizes[s], s);

		if (sizes[s] > 3 * 65536)
			memset(content + 65536, 0, 2 * 65536);
		rig_init(&rig, 65536, 16, 16);
		ring_fault.no_reserving = true;
		expect_written(&rig, "object", content, sizes[s], 16);
		if (sizes[s] > 3 * 65536)
			CU_ASSERT(allocated_bytes(&rig, "object") < sizes[s] - 65536);
		rig_free(&rig);
		free(content);
	}
	ring_fault.no_reserving = false;
	CU_ASSERT(ring_fault.refused == RIG_COUNT(sizes));
	ring_fault.refuse_direct = false;
}

/* Every chunk comes back, nothing stays, the older file is not touched. */
static void test_errors(void)
{
	static const struct {
		int result;
		int after;
		int error;
		const char *doing;
	} cases[] = {
		{-ENOSPC, 0, -ENOSPC, "reserving space"},
		{-ENOSPC, 1, -ENOSPC, "writing"},
		{-EIO, 5, -EIO, "writing"},
		{0, 4, -EIO, "writing (no byte was taken)"},
		{-EIO, 31, -EIO, "syncing"},
	};
	const uint64_t bytes = 30 * 65536;
	uint8_t *content = rig_content(bytes, 6);

	for (size_t i = 0; i < RIG_COUNT(cases); i++) {
		struct rig rig;
		struct sender sender;

		rig_init(&rig, 65536, 16, 2);
		rig_write_file(&rig, "object", (const uint8_t *)"older", 5);
		ring_fault.result = cases[i].result;
		ring_fault.at_most = 0;
		ring_fault.after = cases[i].after;
		ring_fault.times = 1;
		open_sender(&sender, &rig, "object", content, bytes, bytes, 16);
		CU_ASSERT(run(&sender) == WH_STORE_FAILED);
		CU_ASSERT(sender.writer->error == cases[i].error);
		CU_ASSERT_STRING_EQUAL(sender.writer->doing, cases[i].doing);
		CU_ASSERT(rig_count_files(&rig) == 1);
		wh_writer_close(sender.writer);
		CU_ASSERT(rig_count_files(&rig) == 1);
		CU_ASSERT(rig_file_equals(&rig, "object", (const uint8_t *)"older", 5));
		ring_fault.times = 0;
		rig_free(&rig);
	}
	free(content);
}

/* The file is whole and has its name by then; that it survives a power cut is not certain. */
static void test_folder_sync_error(void)
{
	struct rig rig;
	struct sender sender;

	rig_init(&rig, 65536, 2, 2);
	ring_fault.result = -EIO;
	ring_fault.at_most = 0;
	ring_fault.after = 3; /* reserve, write, fsync */
	ring_fault.times = 1;
	open_sender(&sender, &rig, "object", (const uint8_t *)"hello", 5, 5, 2);
	CU_ASSERT(run(&sender) == WH_STORE_FAILED);
	CU_ASSERT(ring_fault.times == 0);
	CU_ASSERT(sender.writer->error == -EIO);
	CU_ASSERT_STRING_EQUAL(sender.writer->doing, "syncing the folder");
	wh_writer_close(sender.writer);
	CU_ASSERT(rig_file_equals(&rig, "object", (const uint8_t *)"hello", 5));
	CU_ASSERT(rig_count_files(&rig) == 1);
	rig_free(&rig);
}

/* Errors of the kernel, not made up: a limit that is there at once, and one that comes later. */
static void test_file_size_limit(void)
{
	const uint64_t bytes = 8 * 65536;
	struct rlimit before;
	struct sender sender;
	uint8_t *content = rig_content(bytes, 7);

	CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &before) == 0);
	signal(SIGXFSZ, SIG_IGN);
	for (int later = 0; later < 2; later++) {
		struct rlimit limit = {.rlim_cur = 4 * 65536, .rlim_max = before.rlim_max};
		struct rig rig;

		rig_init(&rig, 65536, 2, 2);
		if (!later)
			CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		open_sender(&sender, &rig, "object", content, bytes, bytes, 2);
		for (int i = 0; later && i < RIG_POLLS_MAX && sender.recycled < 1; i++) {
			send_more(&sender);
			wh_writer_poll(sender.writer, 0);
			sched_yield();
		}
		CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		CU_ASSERT(run(&sender) == WH_STORE_FAILED);
		CU_ASSERT(sender.writer->error == -EFBIG);
		CU_ASSERT_STRING_EQUAL(sender.writer->doing, later ? "writing" : "reserving space");
		CU_ASSERT_FATAL(setrlimit(RLIMIT_FSIZE, &before) == 0);
		wh_writer_close(sender.writer);
		CU_ASSERT(rig_count_files(&rig) == 0);
		rig_free(&rig);
	}
	free(content);
}

static void test_folder_takes_the_name(void)
{
	struct rig rig;
	struct sender sender;
	char path[PATH_MAX];

	rig_init(&rig, 65536, 2, 2);
	open_sender(&sender, &rig, "object", (const uint8_t *)"hello", 5, 5, 2);
	rig_path(&rig, "object", path);
	CU_ASSERT_FATAL(mkdir(path, 0755) == 0);
	CU_ASSERT(run(&sender) == WH_STORE_FAILED);
	CU_ASSERT(sender.writer->error == -EISDIR);
	CU_ASSERT_STRING_EQUAL(sender.writer->doing, "renaming");
	wh_writer_close(sender.writer);
	CU_ASSERT(rig_count_files(&rig) == 1);
	rig_free(&rig);
}

/* With requests in the air; the chunk memory goes right after. */
static void test_close_midway(void)
{
	const uint64_t bytes = UINT64_C(12) << 20;
	uint8_t *content = rig_content(bytes, 8);

	memset(content + (1 << 20), 0, 1 << 20);
	for (int polls = 0; polls < 64; polls = polls * 2 + 1) {
		struct rig rig;
		struct sender sender;

		rig_init(&rig, 1 << 20, 12, 16);
		rig_write_file(&rig, "object", (const uint8_t *)"older", 5);
		open_sender(&sender, &rig, "object", content, bytes, bytes, 12);
		sender.end.number++; /* should it get that far */
		for (int i = 0; i < polls; i++) {
			send_more(&sender);
			wh_writer_poll(sender.writer, 0);
		}
		wh_writer_close(sender.writer);
		CU_ASSERT(rig_count_files(&rig) == 1);
		CU_ASSERT(rig_file_equals(&rig, "object", (const uint8_t *)"older", 5));
		rig_free(&rig);
	}
	wh_writer_close(NULL);
	free(content);
}

CU_TestInfo wh_tests[] = {
	{"sizes", test_sizes},
	{"few chunks", test_few_chunks},
	{"holes", test_holes},
	{"hole results", test_hole_results},
	{"sparse through", test_sparse_through},
	{"wrong digest", test_wrong_digest},
	{"wrong size", test_wrong_size},
	{"names", test_names},
	{"temporary name", test_temporary_name},
	{"faults survived", test_faults_survived},
	{"plain file system", test_plain_file_system},
	{"errors", test_errors},
	{"folder sync error", test_folder_sync_error},
	{"file size limit", test_file_size_limit},
	{"folder takes the name", test_folder_takes_the_name},
	{"close midway", test_close_midway},
	CU_TEST_INFO_NULL,
};
