/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server's end of a remote operation and a client's, chunk by chunk, in real folders; and liars.
 */
#include "rpc/rpc.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "bundle/record_pack.h"
#include "rpc/reader.h"
#include "unit.h"

#define CHUNKS      4
#define CHUNK_BYTES WH_BUNDLE_CHUNK_BYTES_MIN
#define TOLD_MAX    64

const char wh_suite_name[] = "rpc";

/* One way: who fills takes from `free`, and who reads gives back there. */
struct way {
	struct wh_fifo free;
	struct wh_fifo ready;
	struct wh_chunk chunk[CHUNKS];
	uint8_t bytes[CHUNKS][CHUNK_BYTES];
};

struct rig {
	char root[64];
	int fd;
	struct way there;
	struct way back;
	struct wh_rpc *rpc;
	struct wh_rpc_reader *reader;
	struct wh_rpc_listener listener;
	bool full; /* whoever asked takes nothing */
	uint32_t items;
	char told[TOLD_MAX][256]; /* "path bytes entries" */
	uint32_t faults;
	char fault[TOLD_MAX][256]; /* "path errno" */
	uint64_t pings;
	uint32_t asked; /* of orders, in the mailbox ... */
	uint32_t looks; /* ... since then */
	uint32_t wish;
	uint64_t statuses;
};

static struct rig rig;

static bool may_take(void *context)
{
	return !((struct rig *)context)->full;
}

static void on_item(void *context, const struct wh_item *item)
{
	struct rig *to = context;

	if (to->items < TOLD_MAX)
		snprintf(to->told[to->items], sizeof(to->told[0]), "%u:%.*s %c %u %u%s%.*s",
			item->given, (int)item->path_bytes, item->path, "?fdlo"[item->kind],
			(uint32_t)item -> bytes, (uint32_t)item -> entries,
			item -> link_bytes > 0 ? " " : "", (int)item->link_bytes, item->link);
	to->items++;
}

static void on_fault(
	void *context, int error, enum wh_doing doing, const char *path, uint32_t path_bytes)
{
	struct rig *to = context;

	(void)doing;
	if (to->faults < TOLD_MAX)
		snprintf(to->fault[to->faults], sizeof(to->fault[0]), "%.*s %d", (int)path_bytes,
			path, error);
	to->faults++;
}

static void on_ping(void *context, uint64_t sequence, uint64_t rtt_tsc)
{
	struct rig *to = context;

	CU_ASSERT(sequence == to->pings && rtt_tsc > 0);
	to->pings++;
}

/* A mailbox that has no room at first, and takes its time. */
static bool put_order(void *context, const struct wh_ordering *order)
{
	struct rig *to = context;

	if (++to->looks < 3)
		return false;
	CU_ASSERT(order->number == to->statuses && order->token[0] == 7);
	CU_ASSERT(order->host_bytes == 4 && memcmp(order->host, "dtn3", 4) == 0);
	CU_ASSERT(order->words_bytes == 2 && memcmp(order->words, "[]", 2) == 0);
	to->wish = order->wish;
	to->asked++;
	to->looks = 0;
	return true;
}

static bool take_status(void *context, struct wh_order_status *order_status)
{
	struct rig *to = context;

	*order_status = (struct wh_order_status){.number = to->asked,
		.state = to->wish == WH_WISH_CANCEL ? WH_ORDER_STATUS_CANCELLED
						    : WH_ORDER_STATUS_RUNS,
		.why = "no",
		.why_bytes = 2};
	return ++to->looks % 4 == 0;
}

static bool next_order(void *context, struct wh_ordering *order)
{
	const struct rig *from = context;

	*order = (struct wh_ordering){.token = {7},
		.number = from->statuses,
		.host_bytes = 4,
		.rate_bytes = 3,
		.words_bytes = 2,
		.wish = from->statuses < 4 ? WH_WISH_RUN : WH_WISH_CANCEL,
		.host = "dtn3",
		.path = "",
		.rate = "max",
		.words = "[]"};
	return from->statuses < 5;
}

static void on_order_status(void *context, const struct wh_order_status *order_status)
{
	struct rig *to = context;

	CU_ASSERT(order_status->number == to->statuses + 1);
	CU_ASSERT(order_status->why_bytes == 2 && memcmp(order_status->why, "no", 2) == 0);
	CU_ASSERT(order_status->state ==
		  (to->statuses < 4 ? WH_ORDER_STATUS_RUNS : WH_ORDER_STATUS_CANCELLED));
	to->statuses++;
}

static void way_init(struct way *way)
{
	CU_ASSERT_FATAL(wh_fifo_init(&way->free, CHUNKS + 1) == 0);
	CU_ASSERT_FATAL(wh_fifo_init(&way->ready, CHUNKS + 1) == 0);
	for (uint32_t i = 0; i < CHUNKS; i++) {
		way->chunk[i] = (struct wh_chunk){.data = way->bytes[i], .slot = i};
		wh_fifo_push(&way->free, &way->chunk[i]);
	}
}

static void open_reader(enum wh_job_verb verb, uint32_t count)
{
	const struct wh_rpc_reader_config config = {
		.verb = verb,
		.path_count = count,
		.chunk_bytes = CHUNK_BYTES,
		.free = &rig.there.free,
		.ready = &rig.there.ready,
		.deliver = &rig.back.ready,
		.recycled = &rig.back.free,
		.listener = &rig.listener,
	};

	rig.items = rig.faults = 0;
	rig.pings = rig.statuses = 0;
	rig.asked = rig.looks = 0;
	rig.full = false;
	rig.listener = (struct wh_rpc_listener){.may_take = may_take,
		.on_item = on_item,
		.on_fault = on_fault,
		.on_ping = on_ping,
		.next_order = next_order,
		.on_order_status = on_order_status,
		.context = &rig,
		.pings = 5,
		.interval_tsc = 10};
	way_init(&rig.there);
	way_init(&rig.back);
	CU_ASSERT_FATAL(wh_rpc_reader_open(&rig.reader, &config) == 0);
}

static bool links_inside;

static void open_both(enum wh_job_verb verb, bool recursive, const char *const *paths)
{
	uint32_t count = 0;

	while (paths[count] != NULL)
		count++;

	const struct wh_rpc_config config = {
		.verb = verb,
		.root_fd = rig.fd,
		.paths = paths,
		.path_count = count,
		.recursive = recursive,
		.plain_names = true,
		.links_inside = links_inside,
		.mailbox = {.put = put_order, .take = take_status, .context = &rig},
		.chunk_bytes = CHUNK_BYTES,
		.free = &rig.back.free,
		.ready = &rig.back.ready,
		.deliver = &rig.there.ready,
		.recycled = &rig.there.free,
	};

	open_reader(verb, count);
	CU_ASSERT_FATAL(wh_rpc_open(&rig.rpc, &config) == 0);
}

static void close_both(void)
{
	wh_rpc_close(rig.rpc);
	wh_rpc_reader_close(rig.reader);
	rig.rpc = NULL;
	for (int i = 0; i < 2; i++) {
		wh_fifo_free(i == 0 ? &rig.there.free : &rig.back.free);
		wh_fifo_free(i == 0 ? &rig.there.ready : &rig.back.ready);
	}
}

/* To both ends' end. */
static void finish(void)
{
	for (uint64_t turn = 1; turn < 1000000; turn++) {
		wh_rpc_poll(rig.rpc);
		wh_rpc_reader_poll(rig.reader, turn);
		if (wh_rpc_progress(rig.rpc)->done && wh_rpc_reader_progress(rig.reader)->done)
			break;
	}
	CU_ASSERT(wh_rpc_progress(rig.rpc)->done && wh_rpc_reader_progress(rig.reader)->done);
	CU_ASSERT(wh_rpc_progress(rig.rpc)->error == 0);
	CU_ASSERT(wh_rpc_reader_progress(rig.reader)->error == 0);
	CU_ASSERT(wh_rpc_reader_progress(rig.reader)->tally.faults == rig.faults);
}

static void run(enum wh_job_verb verb, bool recursive, const char *const *paths)
{
	open_both(verb, recursive, paths);
	finish();
	close_both();
}

static bool was_told(const char *text)
{
	for (uint32_t i = 0; i < rig.items && i < TOLD_MAX; i++)
		if (strcmp(rig.told[i], text) == 0)
			return true;
	return false;
}

static bool had_fault(const char *path, int error)
{
	char text[256];

	snprintf(text, sizeof(text), "%s %d", path, error);
	for (uint32_t i = 0; i < rig.faults && i < TOLD_MAX; i++)
		if (strcmp(rig.fault[i], text) == 0)
			return true;
	return false;
}

static void file(const char *name, size_t bytes)
{
	int fd = openat(rig.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	close(fd);
}

static void folder(const char *name)
{
	CU_ASSERT_FATAL(mkdirat(rig.fd, name, 0755) == 0);
}

static bool is_there(const char *name)
{
	struct stat status;

	return fstatat(rig.fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

static void plant(void)
{
	strcpy(rig.root, "/tmp/rpc-XXXXXX");
	CU_ASSERT_FATAL(mkdtemp(rig.root) != NULL);
	rig.fd = open(rig.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	folder("a");
	folder("a/b");
	folder("a/.wavehaul-parts");
	file("a/one", 100);
	file("a/b/two", 1000);
	folder("out");
	file("out/kept", 7);
	CU_ASSERT_FATAL(symlinkat("../out", rig.fd, "a/link") == 0);
	CU_ASSERT_FATAL(symlinkat("/etc", rig.fd, "a/away") == 0);
}

static void uproot(void)
{
	char command[128];

	close(rig.fd);
	snprintf(command, sizeof(command), "rm -rf %s", rig.root);
	CU_ASSERT(system(command) == 0);
}

static void test_list(void)
{
	plant();
	run(WH_JOB_LIST, false, (const char *[]){"a", "out/kept", "no", NULL});
	CU_ASSERT_EQUAL(rig.items, 5);
	CU_ASSERT(was_told("0:one f 100 0") && was_told("1:. f 7 0"));
	CU_ASSERT(was_told("0:link l 6 0 ../out") && was_told("0:away l 4 0 /etc"));
	CU_ASSERT(rig.faults == 1 && had_fault("no", ENOENT));
	run(WH_JOB_LIST, true, (const char *[]){".", NULL});
	CU_ASSERT(was_told("0:a/b/two f 1000 0") && was_told("0:out/kept f 7 0"));
	CU_ASSERT_EQUAL(rig.items, 8);
	/* Of a given path a link is followed, but not out of the root. */
	run(WH_JOB_LIST, false, (const char *[]){"a/link", "a/away", "../..", NULL});
	CU_ASSERT(rig.items == 1 && was_told("0:kept f 7 0"));
	CU_ASSERT(had_fault("a/away", EXDEV) && had_fault("../..", EXDEV));
	uproot();
}

static void test_usage(void)
{
	plant();
	run(WH_JOB_USAGE, false, (const char *[]){"a", "out/kept", NULL});
	CU_ASSERT_EQUAL(rig.items, 2);
	CU_ASSERT(was_told("0:. d 1100 5") && was_told("1:. f 7 0"));
	run(WH_JOB_USAGE, true, (const char *[]){"a", NULL});
	CU_ASSERT(rig.items == 2 && was_told("0:b d 1000 1") && was_told("0:. d 1100 5"));
	uproot();
}

/* Links go and what they lead to stays; parts that others' transfers have stay, too. */
static void test_remove(void)
{
	plant();
	run(WH_JOB_REMOVE, false, (const char *[]){"a", "out/kept", ".", "a/b/..", NULL});
	CU_ASSERT(had_fault("a", EISDIR) && had_fault(".", EBUSY) && had_fault("a/b/..", EBUSY));
	CU_ASSERT(!is_there("out/kept") && is_there("a/one"));
	file("out/kept", 7);
	run(WH_JOB_REMOVE, true, (const char *[]){"a", "a/.wavehaul-parts", NULL});
	CU_ASSERT(rig.faults == 2 && had_fault("a", ENOTEMPTY));
	CU_ASSERT(had_fault("a/.wavehaul-parts", ENOENT));
	CU_ASSERT(is_there("a/.wavehaul-parts") && !is_there("a/b") && !is_there("a/link"));
	CU_ASSERT(is_there("out/kept"));
	CU_ASSERT_FATAL(unlinkat(rig.fd, "a/.wavehaul-parts", AT_REMOVEDIR) == 0);
	CU_ASSERT_FATAL(symlinkat("out", rig.fd, "to-out") == 0);
	run(WH_JOB_REMOVE, true, (const char *[]){"a", "to-out/", "gone", NULL});
	CU_ASSERT(rig.faults == 1 && had_fault("gone", ENOENT));
	CU_ASSERT(!is_there("a") && !is_there("to-out") && is_there("out/kept"));
	uproot();
}

/* Folders in folders to beyond the bound: what is deeper stays, and is named. */
/* What matches is dealt with as if it had been given, links as links. */
static void test_wildcards(void)
{
	plant();
	file("a/other", 3);
	file("a/.hidden", 3);
	file("a/[x]", 9);
	file("a/x", 8);
	run(WH_JOB_LIST, false,
		(const char *[]){"a/o*", "*/*e", "o[u]t", "a/[x]", "a/\\[x]", NULL});
	CU_ASSERT(was_told("0:one f 100 0") && was_told("0:other f 3 0"));
	CU_ASSERT(was_told("1:a/one f 100 0"));
	/* A folder's names are below its own; the file of the very name; a quoted sign. */
	CU_ASSERT(was_told("2:out/kept f 7 0"));
	CU_ASSERT(was_told("3:. f 9 0") && was_told("4:[x] f 9 0"));
	CU_ASSERT_EQUAL(rig.items, 6);
	CU_ASSERT_EQUAL(rig.faults, 0);
	run(WH_JOB_LIST, false, (const char *[]){"a/l*", "a/.h*", "a/li*/k*", "*/.w*", "n*", NULL});
	CU_ASSERT(was_told("0:link l 6 0 ../out") && was_told("1:.hidden f 3 0"));
	CU_ASSERT_EQUAL(rig.items, 2);
	/* Links are not followed, and what is hidden is not found. */
	CU_ASSERT(had_fault("a/li*/k*", ENOENT) && had_fault("*/.w*", ENOENT));
	CU_ASSERT(had_fault("n*", ENOENT) && rig.faults == 3);

	run(WH_JOB_USAGE, false, (const char *[]){"a*", "a/o*", NULL});
	CU_ASSERT(was_told("0:a d 1123 9") && was_told("1:one f 100 0"));
	CU_ASSERT_EQUAL(rig.items, 3);
	run(WH_JOB_USAGE, true, (const char *[]){"?", NULL});
	CU_ASSERT(was_told("0:a/b d 1000 1") && was_told("0:a d 1123 9"));
	CU_ASSERT_EQUAL(rig.items, 2);
	uproot();
}

static uint64_t remove_some(bool recursive, const char *const *paths)
{
	uint64_t done;

	open_both(WH_JOB_REMOVE, recursive, paths);
	finish();
	done = wh_rpc_reader_progress(rig.reader)->tally.done;
	close_both();
	return done;
}

static void test_remove_wildcards(void)
{
	plant();
	file("a/[x]", 9);
	file("a/x", 8);
	/* The file of the very name, and nothing else. */
	CU_ASSERT_EQUAL(remove_some(true, (const char *[]){"a/[x]", NULL}), 1);
	CU_ASSERT(!is_there("a/[x]") && is_there("a/x"));
	/* Nothing matches: nothing is removed, and that is told. */
	CU_ASSERT_EQUAL(remove_some(true, (const char *[]){"a/q*", "q*/x", "a/*/q", NULL}), 0);
	CU_ASSERT(rig.faults == 3 && had_fault("a/q*", ENOENT) && had_fault("q*/x", ENOENT));
	CU_ASSERT(had_fault("a/*/q", ENOENT));
	/* Without -r files only; links themselves; parts of others never. */
	CU_ASSERT_EQUAL(remove_some(false, (const char *[]){"a/*", NULL}), 4);
	CU_ASSERT(rig.faults == 1 && had_fault("a/b", EISDIR));
	CU_ASSERT(is_there("a/b/two") && is_there("out/kept") && is_there("a/.wavehaul-parts"));
	CU_ASSERT(!is_there("a/one") && !is_there("a/link") && !is_there("a/away"));
	CU_ASSERT_EQUAL(remove_some(true, (const char *[]){"?/b", "out/../o*/*", NULL}), 3);
	CU_ASSERT(rig.faults == 0 && is_there("a") && is_there("out") && !is_there("a/b"));
	CU_ASSERT(!is_there("out/kept"));
	uproot();
}

#define DEEP 1000

/* A folder in a folder and so on, below `path`, which it prolongs. */
static void dig(char *path, int levels)
{
	folder(path);
	for (int i = 0; i < levels; i++) {
		strcat(path, "/d");
		folder(path);
	}
}

/* What is deeper than folders stay open is listed, counted and removed with few of them. */
static void test_deep(void)
{
	char path[2 * DEEP + 64] = "deep", top[32], told[64];
	struct rlimit before, few = {.rlim_cur = 3 * WH_RPC_OPEN};

	plant();
	for (int i = 0; i < 20; i++) { /* at the first levels, before and behind the next one */
		snprintf(top, sizeof(top), "deep%s/%c", i % 2 == 0 ? "" : "/d", 'A' + i);
		if (i == 0)
			dig(path, DEEP);
		folder(top);
		strcat(top, "/f");
		file(top, 10);
	}
	strcat(path, "/f");
	file(path, 1);
	CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &before) == 0);
	few.rlim_max = before.rlim_max;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &few) == 0);
	run(WH_JOB_USAGE, false, (const char *[]){"deep", NULL});
	snprintf(told, sizeof(told), "0:. d %u %u", 20 * 10 + 1, DEEP + 40 + 1);
	CU_ASSERT(rig.faults == 0 && rig.items == 1);
	CU_ASSERT_STRING_EQUAL(rig.told[0], told);
	run(WH_JOB_LIST, true, (const char *[]){"deep", NULL});
	CU_ASSERT(rig.faults == 0 && rig.items == DEEP + 40 + 1);
	run(WH_JOB_REMOVE, true, (const char *[]){"deep", NULL});
	CU_ASSERT(rig.faults == 0 && !is_there("deep"));
	CU_ASSERT(setrlimit(RLIMIT_NOFILE, &before) == 0);
	uproot();
}

/* What cannot be removed is told once, stays with what is above it, and nothing else does. */
static void test_deep_stays(void)
{
	char path[512];

	plant();
	for (int i = 0; i < 12; i++) {
		snprintf(path, sizeof(path), "deep/%c", 'a' + i);
		if (i == 0)
			folder("deep");
		dig(path, 2 * WH_RPC_OPEN);
		if (i % 3 > 0)
			continue;
		strcat(path, "/.wavehaul-parts"); /* which is nobody's to remove */
		folder(path);
	}
	run(WH_JOB_REMOVE, true, (const char *[]){"deep", NULL});
	CU_ASSERT_EQUAL(rig.faults, 4);
	for (int i = 0; i < 12; i++) {
		snprintf(path, sizeof(path), "deep/%c", 'a' + i);
		CU_ASSERT_EQUAL(is_there(path), i % 3 == 0);
	}
	uproot();
}

/* Pipes, sockets and devices go as rm(1) and mv(1) have it, and nobody opens them. */
static void test_special(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	plant();
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/a/socket", rig.root);
	CU_ASSERT_FATAL(fd >= 0 && bind(fd, (struct sockaddr *)&name, sizeof(name)) == 0);
	CU_ASSERT_FATAL(mkfifoat(rig.fd, "a/pipe", 0600) == 0);
	CU_ASSERT_FATAL(mkfifoat(rig.fd, "a/b/pipe", 0600) == 0);
	CU_ASSERT_FATAL(mkfifoat(rig.fd, "p", 0600) == 0);
	if (geteuid() == 0)
		CU_ASSERT(mknodat(rig.fd, "a/null", S_IFCHR | 0600, makedev(1, 3)) == 0);
	run(WH_JOB_LIST, false, (const char *[]){"p", "a/socket", NULL});
	CU_ASSERT(rig.items == 2 && rig.faults == 0);
	CU_ASSERT_STRING_EQUAL(rig.told[0], "0:. o 0 0");
	run(WH_JOB_MOVE, false, (const char *[]){"p", "q", NULL});
	CU_ASSERT(rig.faults == 0 && is_there("q") && !is_there("p"));
	run(WH_JOB_MOVE, false, (const char *[]){"q", "a/socket", NULL});
	CU_ASSERT(rig.faults == 0 && !is_there("q"));
	run(WH_JOB_LIST, false, (const char *[]){"q", NULL});
	CU_ASSERT(rig.faults == 1);
	run(WH_JOB_MOVE, false, (const char *[]){"a/one", "a/pipe", NULL});
	CU_ASSERT(rig.faults == 0 && !is_there("a/one"));
	run(WH_JOB_REMOVE, false, (const char *[]){"a/socket", "a/pipe", NULL});
	CU_ASSERT(rig.faults == 0 && !is_there("a/socket") && !is_there("a/pipe"));
	run(WH_JOB_REMOVE, true, (const char *[]){"a/b", "a/null", NULL});
	CU_ASSERT(rig.faults == (geteuid() == 0 ? 0 : 1) && !is_there("a/b"));
	close(fd);
	uproot();
}

static void test_make_and_move(void)
{
	plant();
	run(WH_JOB_MAKE, false,
		(const char *[]){"new", "new/er/est", "a", "a\nb", ".wavehaul-parts", NULL});
	CU_ASSERT(is_there("new") && rig.faults == 4);
	CU_ASSERT(had_fault("new/er/est", ENOENT) && had_fault("a", EEXIST));
	CU_ASSERT(had_fault("a\nb", EPERM) && had_fault(".wavehaul-parts", EPERM));
	run(WH_JOB_MAKE, true, (const char *[]){"new/er/est", "a/link/in", "a/away/x", NULL});
	CU_ASSERT(is_there("new/er/est") && is_there("out/in"));
	CU_ASSERT(rig.faults == 1 && had_fault("a/away/x", EXDEV));
	run(WH_JOB_MAKE, true,
		(const char *[]){"a/b/../../up//er/", "a/link/../out/side", "/x", NULL});
	CU_ASSERT(is_there("up/er") && is_there("out/side"));
	CU_ASSERT(rig.faults == 1 && had_fault("/x", EXDEV));

	run(WH_JOB_MOVE, false, (const char *[]){"a/one", "a/uno", NULL});
	CU_ASSERT(rig.faults == 0 && is_there("a/uno") && !is_there("a/one"));
	run(WH_JOB_MOVE, false, (const char *[]){"a/uno", "a/link", "gone", "new", NULL});
	CU_ASSERT(is_there("new/uno") && is_there("new/link") && is_there("out/kept"));
	CU_ASSERT(rig.faults == 1 && had_fault("gone", ENOENT));
	run(WH_JOB_MOVE, false, (const char *[]){"new", "new/er", NULL});
	CU_ASSERT(rig.faults == 1 && had_fault("new", EINVAL));
	run(WH_JOB_MOVE, false, (const char *[]){"out/kept", "../stolen", NULL});
	CU_ASSERT(rig.faults == 1 && had_fault("out/kept", EXDEV) && is_there("out/kept"));
	run(WH_JOB_MOVE, false, (const char *[]){"out/kept", "a\tb", NULL});
	CU_ASSERT(had_fault("out/kept", EPERM) && is_there("out/kept"));
	uproot();
}

/* A link, and a folder that may have some, does not move to where it would lead further up. */
static void test_links_stay_inside(void)
{
	plant();
	links_inside = true;
	run(WH_JOB_MAKE, true, (const char *[]){"x/y/z", NULL});
	CU_ASSERT_FATAL(symlinkat("../../../x", rig.fd, "x/y/z/l") == 0);
	run(WH_JOB_MOVE, false, (const char *[]){"x/y/z/l", "l", NULL});
	CU_ASSERT(had_fault("x/y/z/l", EPERM) && is_there("x/y/z/l"));
	run(WH_JOB_MOVE, false, (const char *[]){"x/y/z/l", "x/y/z/../../y/l", NULL});
	CU_ASSERT(had_fault("x/y/z/l", EPERM) && is_there("x/y/z/l"));
	run(WH_JOB_MOVE, false, (const char *[]){"x/y/z", "z", NULL});
	CU_ASSERT(had_fault("x/y/z", EPERM) && is_there("x/y/z/l"));
	run(WH_JOB_MOVE, false, (const char *[]){"x/y/z/l", "x/y/z/m", NULL});
	CU_ASSERT(rig.faults == 0 && is_there("x/y/z/m"));
	run(WH_JOB_MOVE, false, (const char *[]){"a/one", "one", NULL});
	CU_ASSERT(rig.faults == 0 && is_there("one"));
	links_inside = false;
	run(WH_JOB_MOVE, false, (const char *[]){"x/y/z/m", "l", NULL});
	CU_ASSERT(rig.faults == 0 && is_there("l"));
	uproot();
}

static void test_ping(void)
{
	plant();
	run(WH_JOB_PING, false, (const char *[]){NULL});
	CU_ASSERT_EQUAL(rig.pings, 5);
	uproot();
}

static void test_order(void)
{
	plant();
	run(WH_JOB_ORDER, false, (const char *[]){"a", "b", NULL});
	CU_ASSERT_EQUAL(rig.statuses, 5);
	CU_ASSERT_EQUAL(rig.asked, 5);
	CU_ASSERT_EQUAL(rig.items + rig.faults, 0);
	uproot();
}

/* Many names by four chunks; whoever asked reads none for a while, and the server holds no more. */
static void test_many(void)
{
	char name[64];
	uint64_t turn = 1;

	plant();
	folder("many");
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "many/%d", i);
		file(name, 1);
	}
	open_both(WH_JOB_LIST, false, (const char *[]){"many", NULL});
	rig.full = true;
	for (; turn < 5000; turn++) {
		wh_rpc_poll(rig.rpc);
		wh_rpc_reader_poll(rig.reader, turn);
	}
	CU_ASSERT_EQUAL(rig.items, 0);
	CU_ASSERT_EQUAL(wh_rpc_waits(rig.rpc), WH_WAITS_SESSION);
	CU_ASSERT_EQUAL(wh_rpc_reader_waits(rig.reader), WH_WAITS_PIPE);

	const struct wh_waits_told told = {.worked = 1, .waits = WH_WAITS_PIPE};

	CU_ASSERT(wh_rpc_reader_tell_waits(rig.reader, &told));
	wh_rpc_poll(rig.rpc);
	CU_ASSERT_EQUAL(wh_rpc_progress(rig.rpc)->waits_told, 1);
	CU_ASSERT_EQUAL(wh_rpc_progress(rig.rpc)->peer.waits, WH_WAITS_PIPE);
	rig.full = false;
	finish();
	CU_ASSERT_EQUAL(rig.items, 3000);
	close_both();
	uproot();
}

/* What a server may lie: each ends the client's end, and none asserts. */
static void lie(enum wh_job_verb verb, const struct wh_record *records, uint32_t count, bool end)
{
	static struct wh_pack pack;

	open_reader(verb, 1);
	wh_pack_init(&pack, 0, CHUNK_BYTES, &rig.back.free, &rig.back.ready);
	for (uint32_t i = 0; i < count; i++) {
		CU_ASSERT_FATAL(wh_pack_has_room(&pack, wh_record_bytes(&records[i])));
		wh_pack_put(&pack, &records[i]);
	}
	if (end)
		wh_pack_end(&pack);
	else
		wh_pack_flush(&pack);
	for (uint64_t turn = 1; turn < 100; turn++)
		wh_rpc_reader_poll(rig.reader, turn);
	CU_ASSERT_EQUAL(wh_rpc_reader_progress(rig.reader)->error, -EPROTO);
	CU_ASSERT(!wh_rpc_reader_progress(rig.reader)->done);
	close_both();
}

static void test_lies(void)
{
	const struct wh_record item = {.type = WH_RECORD_ITEM,
		.item = {.kind = WH_ITEM_FILE, .path = "x", .path_bytes = 1}};
	const struct wh_record tally = {.type = WH_RECORD_TALLY, .tally = {.items = 1}};
	const struct wh_record empty = {.type = WH_RECORD_TALLY};
	const struct wh_record ping = {.type = WH_RECORD_PING, .ping = {.sequence = 7}};
	const struct wh_record order_status = {.type = WH_RECORD_STATUS};
	const uint8_t address[WH_READY_ADDRESS_BYTES] = {4, 192, 0, 2, 1};
	const struct wh_record ready = {
		.type = WH_RECORD_READY, .ready = {.queues = 1, .ports = 1, .addresses = address}};
	struct wh_record other = item;

	other.item.given = 1;
	lie(WH_JOB_LIST, (struct wh_record[]){item, empty}, 2, true);
	lie(WH_JOB_LIST, (struct wh_record[]){tally}, 1, true);
	lie(WH_JOB_LIST, (struct wh_record[]){other}, 1, false);
	lie(WH_JOB_LIST, (struct wh_record[]){empty, item}, 2, false);
	lie(WH_JOB_LIST, (struct wh_record[]){item}, 1, true);
	lie(WH_JOB_REMOVE, (struct wh_record[]){item}, 1, false);
	lie(WH_JOB_PING, (struct wh_record[]){ping}, 1, false);
	lie(WH_JOB_ORDER, (struct wh_record[]){order_status}, 1, false);
	lie(WH_JOB_ORDER, (struct wh_record[]){item}, 1, false);
	lie(WH_JOB_PING, (struct wh_record[]){order_status}, 1, false);
	lie(WH_JOB_LIST, (struct wh_record[]){ready}, 1, false);
}

/* And a client: what it may say is how it stands, and PING where it said so. */
static void lie_to_server(enum wh_job_verb verb, const struct wh_record *record)
{
	static struct wh_pack pack;

	plant();
	open_both(verb, false, (const char *[]){"a", NULL});
	wh_pack_init(&pack, 0, CHUNK_BYTES, &rig.there.free, &rig.there.ready);
	CU_ASSERT_FATAL(wh_pack_has_room(&pack, wh_record_bytes(record)));
	wh_pack_put(&pack, record);
	wh_pack_flush(&pack);
	wh_rpc_poll(rig.rpc);
	CU_ASSERT_EQUAL(wh_rpc_progress(rig.rpc)->error, -EPROTO);
	CU_ASSERT_EQUAL(rig.asked, 0);
	close_both();
	uproot();
}

/* One remote operation is one order: whoever wants another opens another. */
static void test_another_token(void)
{
	static struct wh_pack pack;
	struct wh_record order = {.type = WH_RECORD_ORDER};

	plant();
	open_both(WH_JOB_ORDER, false, (const char *[]){"a", NULL});
	wh_pack_init(&pack, 0, CHUNK_BYTES, &rig.there.free, &rig.there.ready);
	(void)next_order(&rig, &order.order);
	for (uint32_t i = 0; i < 2; i++) {
		CU_ASSERT_FATAL(wh_pack_has_room(&pack, wh_record_bytes(&order)));
		wh_pack_put(&pack, &order);
		order.order.token[3]++;
	}
	wh_pack_flush(&pack);
	for (uint32_t turn = 0; turn < 50; turn++)
		wh_rpc_poll(rig.rpc);
	CU_ASSERT_EQUAL(rig.asked, 1);
	CU_ASSERT_EQUAL(wh_rpc_progress(rig.rpc)->error, -EPROTO);
	close_both();
	uproot();
}

static void test_client_lies(void)
{
	const struct wh_record ping = {.type = WH_RECORD_PING};
	const struct wh_record order = {.type = WH_RECORD_ORDER,
		.order = {.host_bytes = 1,
			.rate_bytes = 1,
			.host = "a",
			.path = "",
			.rate = "1",
			.words = ""}};

	lie_to_server(WH_JOB_LIST, &ping);
	lie_to_server(WH_JOB_LIST, &order);
	lie_to_server(WH_JOB_ORDER, &ping);
}

CU_TestInfo wh_tests[] = {
	{"list", test_list},
	{"usage", test_usage},
	{"remove", test_remove},
	{"deep", test_deep},
	{"deep, and stays", test_deep_stays},
	{"special", test_special},
	{"wildcards", test_wildcards},
	{"remove wildcards", test_remove_wildcards},
	{"make and move", test_make_and_move},
	{"links stay inside", test_links_stay_inside},
	{"ping", test_ping},
	{"order", test_order},
	{"many names", test_many},
	{"a server that lies", test_lies},
	{"a client that lies", test_client_lies},
	{"another order in a remote operation", test_another_token},
	CU_TEST_INFO_NULL,
};
