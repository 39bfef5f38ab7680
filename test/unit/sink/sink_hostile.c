/* SPDX-License-Identifier: BSD-3-Clause */
/* Bundles that lie, folders that move, disks that are full. */
#include <dirent.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "sink_rig.h"

const char wh_suite_name[] = "sink_hostile";

#define BYTES 300000

static uint8_t content[BYTES]; /* 1, 2, .. 251, 1, ..: no record */

/* What a source may do, with an identifier, an offset and a count where they mean something. */
enum what {
	DONE = 0,
	EXTENT,   /* its record and its bytes */
	ANNOUNCE, /* its record alone */
	RAW,      /* a chunk of so many bytes */
	WHOLE,    /* FILE_END after so many bytes */
	FAILED,   /* FILE_END with an error */
	SAME,
	TEXT, /* a small file */
	PATH, /* a small file under a path that no encoder lets through */
	ASK,
	ASK_MORE, /* for as many as may be out, the one that is counted in */
	FAULT,
	COUNT, /* one more entry is counted than came */
	FINISH,
	FINISH_AND_END,
	END,   /* the stream's */
	WRONG, /* its digest from here on */
	SKIP,  /* the number of a chunk */
	WANT,
	HELLO,
	GARBAGE,
	EMPTY, /* chunk */
	FLUSH,
};

struct step {
	enum what what;
	uint64_t id;
	uint64_t offset;
	uint64_t count;
	const char *path;
};

#define AT(what, id, offset, count)                                                                \
	{                                                                                          \
		what, id, offset, count, NULL                                                      \
	}
#define OF(what, id) AT(what, id, 0, 0)
#define DO(what)     OF(what, 0)
#define CALLED(what, id, path)                                                                     \
	{                                                                                          \
		what, id, 0, 0, path                                                               \
	}

/* What the source says after "good" has gone, "asked" been asked for and WANT been said. */
static const struct lie {
	const char *name;
	struct step step[5];
} lies[] = {
	{"extent of nothing", {AT(EXTENT, 99, 0, 10)}},
	{"extent of a small file", {AT(EXTENT, 1, 0, 4)}},
	{"gap", {AT(EXTENT, 2, 1, 10)}},
	{"too long", {AT(EXTENT, 2, 0, 65536), AT(EXTENT, 2, 65536, BYTES - 65536 + 1)}},
	{"short raw chunk", {AT(ANNOUNCE, 2, 0, 100000), DO(FLUSH), AT(RAW, 0, 0, 65535)}},
	{"extent not last", {AT(ANNOUNCE, 2, 0, 100), CALLED(TEXT, 3, "more"), DO(FLUSH)}},
	{"end instead", {AT(ANNOUNCE, 2, 0, 100), OF(FAILED, 2)}},
	{"early end", {AT(EXTENT, 2, 0, 65536), AT(WHOLE, 2, 0, 65536)}},
	{"end at once", {OF(WHOLE, 2)}},
	{"end of nothing", {OF(FAILED, 99)}},
	{"end twice", {OF(FAILED, 2), OF(FAILED, 2)}},
	{"same as nothing", {OF(SAME, 2)}},
	{"the same, of nothing", {OF(SAME, 99)}},
	{"between extents", {AT(EXTENT, 2, 0, 65536), CALLED(TEXT, 3, "between"), DO(FLUSH)}},
	{"id again", {CALLED(TEXT, 2, "again"), DO(FLUSH)}},
	{"id descends", {CALLED(TEXT, 9, "nine"), CALLED(TEXT, 8, "eight"), DO(FLUSH)}},
	{"extent before WANT", {CALLED(ASK, 3, "other"), AT(EXTENT, 3, 0, 10)}},
	{"asks too much", {DO(ASK_MORE)}},
	{"finish unfinished", {DO(FINISH_AND_END)}},
	{"wrong count", {OF(FAILED, 2), DO(COUNT), DO(FINISH_AND_END)}},
	{"after finish", {OF(FAILED, 2), DO(FINISH), CALLED(TEXT, 3, "after"), DO(END)}},
	{"chunk after finish",
		{OF(FAILED, 2), DO(FINISH), DO(FLUSH), CALLED(FAULT, 0, "after"), DO(END)}},
	{"end without finish", {DO(END)}},
	{"digest", {OF(FAILED, 2), DO(FINISH), DO(FLUSH), DO(WRONG), DO(END)}},
	{"number", {OF(FAILED, 2), DO(FINISH), DO(FLUSH), DO(SKIP), DO(END)}},
	{"answer", {OF(WANT, 2)}},
	{"hello", {DO(HELLO)}},
	{"garbage", {DO(GARBAGE)}},
	{"nothing", {DO(EMPTY)}},
	{"above", {CALLED(PATH, 3, "../outside/x")}},
	{"above, inside", {CALLED(PATH, 3, "a/../../outside/x")}},
	{"absolute", {CALLED(PATH, 3, "/tmp/x")}},
	{"dot", {CALLED(PATH, 3, "a/./x")}},
	{"double slash", {CALLED(PATH, 3, "a//x")}},
};

/* A record whose path is changed after it was encoded, as long as what it was. */
static void say_path(struct rig *rig, uint64_t id, const char *path)
{
	char decent[64] = "";

	memset(decent, 'q', strlen(path));
	rig_text(rig, id, decent, "x");

	char *found = memmem(rig->chunk->data, rig->chunk->bytes, decent, strlen(decent));

	CU_ASSERT_FATAL(found != NULL);
	memcpy(found, path, strlen(path));
	rig_flush(rig);
}

static void say_raw(struct rig *rig, uint32_t bytes)
{
	struct wh_chunk *chunk = rig_chunk(rig);

	chunk->bytes = bytes;
	rig_push(rig, chunk);
}

/* "asked" is one of them. */
static void ask_more(struct rig *rig)
{
	for (uint64_t id = 3; id < 3 + WH_SOURCE_ASKED; id++) {
		char name[16];

		snprintf(name, sizeof(name), "%d", (int)id);
		rig_ask(rig, id, name, 0644, 1);
	}
}

static void say_record(struct rig *rig, const struct step *step)
{
	struct wh_record record = {.type = WH_RECORD_FINISH, .finish.entries = rig->entries};

	if (step->what == ANNOUNCE)
		record = (struct wh_record){
			.type = WH_RECORD_EXTENT, .extent = {step->id, step->offset, step->count}};
	else if (step->what == WANT)
		record = (struct wh_record){.type = WH_RECORD_WANT, .want.id = step->id};
	else if (step->what == HELLO)
		record = (struct wh_record){.type = WH_RECORD_HELLO,
			.hello = {.version = WH_BUNDLE_VERSION, .verb = WH_JOB_IDLE, .lanes = 1}};
	rig_put(rig, &record);
	if (step->what == WANT || step->what == HELLO)
		rig_flush(rig);
}

static void say_garbage(struct rig *rig)
{
	rig->chunk = rig_chunk(rig);
	memcpy(rig->chunk->data, content, 4096);
	rig->chunk->bytes = 4096;
	rig_flush(rig);
}

static void lie(struct rig *rig, const struct step *step)
{
	struct wh_digest digest = digest_of(content, step->count);

	switch (step->what) {
	case EXTENT:
		return rig_extent(rig, step->id, step->offset, content, step->count);
	case RAW:
		return say_raw(rig, (uint32_t)step->count);
	case WHOLE:
		return rig_file_end(rig, step->id, &digest, 0, 0);
	case FAILED:
		return rig_file_end(rig, step->id, NULL, EIO, WH_DOING_READING);
	case SAME:
		return rig_same(rig, step->id);
	case TEXT:
		return rig_text(rig, step->id, step->path, "x");
	case PATH:
		return say_path(rig, step->id, step->path);
	case ASK:
		return rig_ask(rig, step->id, step->path, 0644, BYTES);
	case ASK_MORE:
		return ask_more(rig);
	case FAULT:
		return rig_fault(rig, step->path, EIO, WH_DOING_READING);
	case COUNT:
		rig->entries++;
		return;
	case FINISH_AND_END:
		return rig_finish(rig);
	case END:
		return rig_end(rig);
	case WRONG:
		XXH3_128bits_update(rig->sent, "x", 1);
		return;
	case SKIP:
		rig->number++;
		return;
	case GARBAGE:
		return say_garbage(rig);
	case EMPTY:
		return say_raw(rig, 0);
	case FLUSH:
		return rig_flush(rig);
	default:
		return say_record(rig, step);
	}
}

static void fill_content(void)
{
	for (size_t i = 0; i < BYTES; i++)
		content[i] = (uint8_t)(i % 251 + 1);
}

/*
 * Every lie ends the job; nothing of it stays, but in memory what was whole and named before; every
 * chunk comes back.
 */
static void test_lies(void)
{
	fill_content();
	for (size_t i = 0; i < RIG_COUNT(lies) * RIG_COUNT(rig_bases); i++) {
		const char *base = rig_bases[i % RIG_COUNT(rig_bases)];
		bool at_once = names_at_once(base);
		struct rig *rig = rig_begin(base);

		rig_text(rig, 1, "good", "x");
		rig_ask(rig, 2, "asked", 0644, BYTES);
		rig_await(rig, WH_RECORD_WANT, 2);

		const struct lie *told = &lies[i / RIG_COUNT(rig_bases)];

		for (const struct step *step = told->step;
			step < told->step + RIG_COUNT(told->step) && step->what != DONE; step++)
			lie(rig, step);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		if (rig_state(rig) != WH_SINK_BROKEN)
			fprintf(stderr, "%s was believed\n", told->name);
		CU_ASSERT(wh_sink_progress(rig->sink)->error == -EPROTO);
		CU_ASSERT(rig->answers[rig->answer_count - 1].type == WH_RECORD_REFUSED);
		CU_ASSERT(rig->answers[rig->answer_count - 1].error == EPROTO);
		CU_ASSERT(rig_holds_text(rig, "good", "x") == at_once);
		/* One lie is an id that descends from that of another whole file. */
		CU_ASSERT(rig_count(rig->root) ==
			  at_once + (at_once && rig_holds_text(rig, "nine", "x")));
		CU_ASSERT(rig_count(rig->outside) == 0);
		/* It goes on giving back what comes. */
		rig_push(rig, rig_chunk(rig));
		rig_poll(rig);
		CU_ASSERT(rig->held == UINT32_MAX);
		rig_free(rig);
	}
}

/* A link of the bundle leads nowhere, nor does one that lies there or comes in between. */
static void test_links_lead_nowhere(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);

	CU_ASSERT_FATAL(mkdir(rig_path(rig, "real"), 0755) == 0);
	CU_ASSERT_FATAL(symlink("../outside", rig_path(rig, "there")) == 0);
	CU_ASSERT_FATAL(symlink("real", rig_path(rig, "inner")) == 0);
	rig_link(rig, 1, "came", "../outside");
	rig_link(rig, 2, "absolute", rig->outside);
	rig_flush(rig);
	rig_await(rig, WH_RECORD_COMMITTED, 3);
	rig_text(rig, 3, "came/x", "x");
	rig_text(rig, 4, "came/y/x", "x");
	rig_folder(rig, 5, "came/folder", 0777);
	rig_folder(rig, 6, "came", 0777); /* it would be chmod of what is outside */
	rig_text(rig, 7, "absolute/x", "x");
	rig_text(rig, 8, "there/x", "x");
	rig_folder(rig, 9, "there", 0777);
	rig_link(rig, 10, "there/y", "x");
	rig_ask(rig, 11, "there/z", 0644, BYTES);
	rig_text(rig, 12, "inner/x", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (uint64_t id = 3; id <= 12; id++) {
		bool folder = id == 6 || id == 9; /* by name, in a folder that is no link */

		CU_ASSERT(rig_failed(rig, id, folder ? ENOTDIR : ELOOP,
			folder ? WH_DOING_CREATING : WH_DOING_PATH));
	}
	CU_ASSERT(rig_count(rig->outside) == 0);
	CU_ASSERT(rig_count(rig_path(rig, "real")) == 0);
	rig_free(rig);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

/* Somebody replaces a folder by a link to the outside, at the worst moments. */
static void test_folder_becomes_link(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	char moved[sizeof(rig->root) + 16];

	snprintf(moved, sizeof(moved), "%s/moved", rig->root);
	rig_folder(rig, 1, "a", 0777);
	rig_text(rig, 2, "a/staged", "x");
	rig_folder(rig, 3, "b", 0777);
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(rename(rig_path(rig, "a"), moved) == 0);
	CU_ASSERT_FATAL(symlink(rig->outside, rig_path(rig, "a")) == 0);
	CU_ASSERT_FATAL(rmdir(rig_path(rig, "b")) == 0);
	CU_ASSERT_FATAL(symlink(rig->outside, rig_path(rig, "b")) == 0);
	rig_text(rig, 4, "a/new", "x");
	rig_text(rig, 5, "b/new", "x");
	rig_text(rig, 6, "good", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_count(rig->outside) == 0);
	CU_ASSERT(mode_of(rig->outside) == 0755);
	CU_ASSERT(rig_holds_text(rig, "good", "x"));
	CU_ASSERT(rig_failed(rig, 5, ELOOP, WH_DOING_PATH));
	/* Attributes of both folders, and b/new. */
	CU_ASSERT(rig->totals.failed == 3);
	rig_free(rig);
}

/*
 * The cache holds 16 folders: one that was looked up again is as safe. On a disk, where files wait
 * in a batch for their names.
 */
static void test_folder_becomes_link_uncached(void)
{
	struct rig *rig = rig_begin(rig_bases[1]);
	char name[32];

	rig_text(rig, 1, "a/staged", "x");
	for (uint64_t id = 2; id < 40; id++) {
		snprintf(name, sizeof(name), "%d/x", (int)id);
		rig_text(rig, id, name, "x");
	}
	rig_flush(rig);
	for (int i = 0; i < 40; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(rmdir(rig_path(rig, "a")) == 0);
	CU_ASSERT_FATAL(symlink(rig->outside, rig_path(rig, "a")) == 0);
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, ELOOP, WH_DOING_PATH));
	CU_ASSERT(rig_count(rig->outside) == 0);
	CU_ASSERT(rig->totals.files == 38);
	rig_free(rig);
}

/* A whole bundle, each of whose chunks has been changed at random places. */
static void mutate(struct rig *rig, struct wh_prng *prng)
{
	static const char *const bits[] = {"..", "/", ".", "\0", "../outside"};
	uint64_t changes = wh_prng_below(prng, 4);

	for (uint64_t i = 0; i < changes; i++) {
		uint64_t at = wh_prng_below(prng, rig->chunk->bytes);

		if (wh_prng_below(prng, 2) == 0) {
			rig->chunk->data[at] = (uint8_t)wh_prng_u64(prng);
		} else {
			const char *bit = bits[wh_prng_below(prng, RIG_COUNT(bits))];
			size_t bytes = strlen(bit) + (bit[0] == '\0');

			if (at + bytes <= rig->chunk->bytes)
				memcpy(rig->chunk->data + at, bit, bytes);
		}
	}
}

static bool has_staging(const struct rig *rig)
{
	bool found = false;

	await_background();

	DIR *folder = opendir(rig->root);

	for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
		found = found || strncmp(entry->d_name, ".wavehaul-", 10) == 0;
	closedir(folder);
	return found;
}

static void test_mutations(void)
{
	struct wh_prng prng;

	wh_prng_init(&prng, 42);
	for (int run = 0; run < 1500; run++) {
		struct rig *rig = rig_begin(rig_bases[0]);

		CU_ASSERT_FATAL(symlink("../outside", rig_path(rig, "l")) == 0);
		rig_folder(rig, 1, "folder", 0755);
		rig_text(rig, 2, "folder/file", "0123456789abcdef");
		rig_link(rig, 3, "l/ink", "text");
		rig_file(rig, 4, "an/other", 0600, content, 5000);
		rig_text(rig, 5, "l", "x");
		mutate(rig, &prng);
		rig_flush(rig);
		rig_ask(rig, 6, "large", 0644, BYTES);
		for (int i = 0; i < 400 && rig_state(rig) == WH_SINK_RUNNING; i++)
			rig_poll(rig);
		if (rig_find(rig, WH_RECORD_WANT, 6) != NULL) {
			struct wh_digest digest = digest_of(content, BYTES);

			rig_extent(rig, 6, 0, content, BYTES);
			rig_file_end(rig, 6, &digest, 0, 0);
		}
		rig_fault(rig, "fault", EIO, WH_DOING_READING);
		mutate(rig, &prng);
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) != WH_SINK_RUNNING);
		CU_ASSERT(rig_count(rig->outside) == 0);
		CU_ASSERT(mode_of(rig->outside) == 0755);
		wh_sink_close(rig->sink);
		rig->sink = NULL;
		CU_ASSERT(!has_staging(rig));
		rig_free(rig);
	}
}

/* Of a pipe each byte is one file's, also when the rules do not let that one in. */
static void test_pipe_has_one_file(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;
	static uint8_t found[BYTES];
	int ends[2];

	fill_content();
	CU_ASSERT_FATAL(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
	config.is_pipe = true;
	config.pipe_fd = ends[1];
	config.rules.plain_names = true;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_file(rig, 1, "not\001plain", 0644, content, 5000);
	rig_text(rig, 2, "shorter", "0123456789");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, EPERM, WH_DOING_NAMING));
	CU_ASSERT(rig_failed(rig, 2, ENOTSUP, WH_DOING_KIND));
	CU_ASSERT(read(ends[0], found, sizeof(found)) == 5000);
	CU_ASSERT(memcmp(found, content, 5000) == 0);
	close(ends[0]);
	close(ends[1]);
	rig_free(rig);
}

/* Ranges of a file come in extents, and none of them leaves its range. */
static void test_joined_ranges(void)
{
	for (int i = 0; i < 4; i++) {
		struct rig *rig = rig_new(rig_bases[0]);
		struct wh_sink_config config = rig_config(rig, "");
		enum wh_doing doing;

		fill_content();
		config.choice.join = "0123456789abcdef";
		config.choice.has_range = true;
		config.choice.range_end = 100000;
		CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
		if (i == 0)
			rig_text(rig, 1, "small", "x");
		else
			rig_ask(rig, 1, "large", 0644, BYTES);
		if (i > 0)
			CU_ASSERT_FATAL(rig_await(rig, WH_RECORD_WANT, 1) != NULL);
		if (i == 1)
			rig_extent(rig, 1, 100000, content, 10);
		if (i == 2)
			rig_extent(rig, 1, 0, content, 100001);
		if (i == 3)
			rig_file_end(rig, 1, NULL, 0, 0);
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		CU_ASSERT_EQUAL(wh_sink_progress(rig->sink)->error, -EPROTO);
		rig_free(rig);
	}
}

/* Where the root is another file system; false: no right to mount one. */
static bool mount_root(struct rig *rig, const char *options)
{
	if (mount("wh_sink", rig->root, "tmpfs", 0, options) != 0) {
		fprintf(stderr, "no right to mount: not tested\n");
		return false;
	}
	close(rig->root_fd);
	rig->root_fd = open(rig->root, O_PATH | O_DIRECTORY);
	return true;
}

static void unmount_root(struct rig *rig)
{
	wh_sink_close(rig->sink);
	rig->sink = NULL;
	close(rig->root_fd);
	rig->root_fd = open(rig->top, O_PATH);
	CU_ASSERT(umount2(rig->root, MNT_DETACH) == 0);
}

/* A chunk that is not the source's leaves nothing, wherever names are given at once. */
static void test_forged_chunk(void)
{
	for (size_t i = 0; i < RIG_COUNT(rig_bases); i++) {
		struct rig *rig = rig_begin(rig_bases[i]);

		rig_text(rig, 1, "genuine", "x");
		rig_flush(rig);
		for (int n = 0; n < 100; n++)
			rig_poll(rig);
		rig_text(rig, 2, "forged", "12345678");

		uint8_t *text = memmem(rig->chunk->data, rig->chunk->bytes, "12345678", 8);

		rig->forges = text;
		rig_flush(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		CU_ASSERT(wh_sink_progress(rig->sink)->error == -EBADMSG);
		CU_ASSERT(wh_sink_progress(rig->sink)->doing == WH_DOING_DIGEST);
		CU_ASSERT(rig->answers[rig->answer_count - 1].type == WH_RECORD_REFUSED);
		CU_ASSERT(rig_count(rig->root) == (names_at_once(rig_bases[i]) ? 1 : 0));
		CU_ASSERT(faccessat(rig->root_fd, "forged", F_OK, 0) != 0);
		rig_free(rig);
	}
}

/* What does not fit fails alone; what finds no room ends the bundle, and what was there stays. */
static void test_full_disk(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	const uint64_t small = 50000;
	uint64_t first = 2;
	char name[8];

	if (!mount_root(rig, "size=1m")) {
		rig_free(rig);
		return;
	}
	rig_open(rig, "");
	rig_ask(rig, 1, "larger", 0644, UINT64_C(2) << 20);
	rig_await(rig, WH_RECORD_OUTCOME, 1); /* until then it holds what there is */
	for (uint64_t id = 2; id < 32; id++) {
		snprintf(name, sizeof(name), "%d", (int)id);
		rig_file(rig, id, name, 0644, content, small);
	}
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
	CU_ASSERT(wh_sink_progress(rig->sink)->error == -ENOSPC);
	CU_ASSERT(rig_failed(rig, 1, ENOSPC, WH_DOING_RESERVING));
	CU_ASSERT(rig_find(rig, WH_RECORD_WANT, 1) == NULL);
	while (rig_find(rig, WH_RECORD_OUTCOME, first) == NULL)
		first++;
	CU_ASSERT(rig_failed(rig, first, ENOSPC, WH_DOING_WRITING));
	for (uint64_t id = first + 1; id < 32; id++)
		CU_ASSERT(rig_find(rig, WH_RECORD_OUTCOME, id) == NULL);
	CU_ASSERT(first >= 17 && first <= 24);
	CU_ASSERT(rig->answers[rig->answer_count - 1].type == WH_RECORD_REFUSED);
	CU_ASSERT(rig->answers[rig->answer_count - 1].error == ENOSPC);
	CU_ASSERT(rig_holds(rig, "2", content, small));
	CU_ASSERT((uint64_t)rig_count(rig->root) == first - 2);
	unmount_root(rig);
	rig_free(rig);
}

/* Eight files that do not fit end it as well: there may be thousands, and none of them arrives. */
static void test_nothing_fits(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	char name[8];

	if (!mount_root(rig, "size=1m")) {
		rig_free(rig);
		return;
	}
	rig_open(rig, "");
	rig_text(rig, 1, "small", "text");
	for (uint64_t id = 2; id < 30; id++) {
		snprintf(name, sizeof(name), "%d", (int)id);
		rig_ask(rig, id, name, 0644, UINT64_C(2) << 20);
		rig_flush(rig);
	}
	CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
	CU_ASSERT(wh_sink_progress(rig->sink)->error == -ENOSPC);
	CU_ASSERT(wh_sink_progress(rig->sink)->totals.failed == 8);
	CU_ASSERT(rig->answers[rig->answer_count - 1].type == WH_RECORD_REFUSED);
	wh_sink_close(rig->sink);
	rig->sink = NULL;
	CU_ASSERT(rig_holds_text(rig, "small", "text"));
	CU_ASSERT(rig_count(rig->root) == 1);
	unmount_root(rig);
	rig_free(rig);
}

static void test_read_only(void)
{
	struct rig *rig = rig_new(rig_bases[0]);

	if (!mount_root(rig, "size=1m")) {
		rig_free(rig);
		return;
	}
	CU_ASSERT_FATAL(mount(NULL, rig->root, NULL, MS_REMOUNT | MS_RDONLY, NULL) == 0);
	rig_open(rig, "");
	rig_text(rig, 1, "file", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
	CU_ASSERT(wh_sink_progress(rig->sink)->error == -EROFS);
	CU_ASSERT(wh_sink_progress(rig->sink)->doing == WH_DOING_CREATING);
	CU_ASSERT(rig->answers[0].type == WH_RECORD_REFUSED && rig->answers[0].error == EROFS);
	unmount_root(rig);
	rig_free(rig);
}

static void test_root_vanishes(void)
{
	for (size_t i = 0; i < RIG_COUNT(rig_bases); i++) {
		struct rig *rig = rig_begin(rig_bases[i]);

		CU_ASSERT_FATAL(rmdir(rig->root) == 0);
		rig_text(rig, 1, "file", "x");
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
		CU_ASSERT(wh_sink_progress(rig->sink)->error == -ENOENT);
		CU_ASSERT(rig->answers[0].type == WH_RECORD_REFUSED);
		CU_ASSERT(rig->answers[0].error == ENOENT);
		rig_free(rig);
	}
}

/* Out of descriptors one file fails, and the next does not. */
static void test_no_descriptors(void)
{
	struct rig *rig = rig_begin(rig_bases[0]);
	struct rlimit limit, small;

	rig_text(rig, 1, "before", "x");
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(getrlimit(RLIMIT_NOFILE, &limit) == 0);
	small = limit;
	small.rlim_cur = 3;
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &small) == 0);
	rig_text(rig, 2, "without", "x");
	rig_flush(rig);
	for (int i = 0; i < 10; i++)
		rig_poll(rig);
	CU_ASSERT_FATAL(setrlimit(RLIMIT_NOFILE, &limit) == 0);
	rig_text(rig, 3, "after", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 2, EMFILE, WH_DOING_CREATING));
	CU_ASSERT(rig_holds_text(rig, "before", "x") && rig_holds_text(rig, "after", "x"));
	CU_ASSERT(rig->totals.files == 2 && rig->totals.failed == 1);
	rig_free(rig);
}

/* What was there before, or did not come, gets no further name; a file of the bundle does. */
static void test_hard_link_outside(void)
{
	static const char *const first[] = {"theirs", "folder/theirs", "gone", "before"};
	struct rig *rig = rig_new(rig_bases[0]);
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;
	struct stat status;

	config.choice.wishes = config.rules.keeps = WH_CHOICE_HARD_LINKS;
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "folder"), 0755) == 0);
	for (int i = 0; i < 2; i++) {
		int fd = open(rig_path(rig, first[i]), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

		CU_ASSERT_FATAL(fd >= 0 && close(fd) == 0);
	}
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_text(rig, 1, "before", "x");
	for (uint64_t i = 0; i < 4; i++) {
		char name[] = {'l', (char)('0' + i), '\0'};
		struct wh_record record = rig_entry(2 + i, WH_ENTRY_HARD, name, 0644);

		record.entry.link = first[i];
		record.entry.link_bytes = (uint16_t)strlen(first[i]);
		rig_put(rig, &record);
		rig->entries++;
	}
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (uint64_t i = 0; i < 3; i++)
		CU_ASSERT(rig_failed(rig, 2 + i, EPERM, WH_DOING_CREATING));
	CU_ASSERT(stat(rig_path(rig, "theirs"), &status) == 0 && status.st_nlink == 1);
	CU_ASSERT(stat(rig_path(rig, "folder/theirs"), &status) == 0 && status.st_nlink == 1);
	CU_ASSERT(stat(rig_path(rig, "l3"), &status) == 0 && status.st_nlink == 2);
	CU_ASSERT(rig->totals.failed == 3);
	rig_free(rig);
}

/*
 * A file that has a name in another file system cannot have one more here: that is its own failure,
 * and no reason to end the bundle.
 */
static void test_hard_link_across(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	struct wh_sink_config config;
	struct wh_record record = rig_entry(2, WH_ENTRY_HARD, "second", 0644);
	enum wh_doing doing;
	int fd;

	if (!mount_root(rig, "size=1m")) {
		rig_free(rig);
		return;
	}
	config = rig_config(rig, "");
	config.choice.wishes = config.rules.keeps = WH_CHOICE_HARD_LINKS;
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "other"), 0755) == 0);
	CU_ASSERT_FATAL(mount("wh_sink", rig_path(rig, "other"), "tmpfs", 0, "size=1m") == 0);
	fd = open(rig_path(rig, "other/first"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	CU_ASSERT_FATAL(fd >= 0 && close(fd) == 0);
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_text(rig, 1, "other/first", "x"); /* which fails as well */
	record.entry.link = "other/first";
	record.entry.link_bytes = (uint16_t)strlen(record.entry.link);
	rig_put(rig, &record);
	rig->entries++;
	rig_text(rig, 3, "after", "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 2, EXDEV, WH_DOING_CREATING));
	CU_ASSERT(rig_holds_text(rig, "after", "x"));
	CU_ASSERT(umount2(rig_path(rig, "other"), MNT_DETACH) == 0);
	unmount_root(rig);
	rig_free(rig);
}

static void test_longest_path(void)
{
	struct rig *rig = rig_new(rig_bases[0]);
	char path[WH_PATH_BYTES_MAX + 1];

	/* 2048 names of a letter each; with a longer first name it is too long. */
	memset(path, '/', WH_PATH_BYTES_MAX);
	for (int i = 0; i < WH_PATH_BYTES_MAX; i += 2)
		path[i] = 'a';
	path[WH_PATH_BYTES_MAX] = '\0';
	rig_open(rig, "bb");
	rig_text(rig, 1, path, "x");
	path[WH_PATH_BYTES_MAX - 2] = '\0';
	rig_text(rig, 2, path, "x");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 1, ENAMETOOLONG, WH_DOING_PATH));
	CU_ASSERT(rig->totals.files == 1 && rig->totals.failed == 1);
	rig_free(rig);
}

CU_TestInfo wh_tests[] = {
	{"a forged chunk", test_forged_chunk},
	{"lies", test_lies},
	{"links lead nowhere", test_links_lead_nowhere},
	{"a folder becomes a link", test_folder_becomes_link},
	{"a folder becomes a link, not cached", test_folder_becomes_link_uncached},
	{"mutations", test_mutations},
	{"a full disk", test_full_disk},
	{"nothing fits", test_nothing_fits},
	{"a read-only disk", test_read_only},
	{"the root vanishes", test_root_vanishes},
	{"no descriptors", test_no_descriptors},
	{"the longest path", test_longest_path},
	{"a hard link outside", test_hard_link_outside},
	{"a hard link across file systems", test_hard_link_across},
	{"a pipe has one file", test_pipe_has_one_file},
	{"joined ranges", test_joined_ranges},
	CU_TEST_INFO_NULL,
};
