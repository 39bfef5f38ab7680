/* SPDX-License-Identifier: BSD-3-Clause */

/* A name that a job has given to one file is refused to the next. */

#include "sink_rig.h"

const char wh_suite_name[] = "made_once";

/* Of any kind, in any order, whether the first has its name by then or not. */
static void test_kinds(const char *base, bool settled)
{
	struct rig *rig = rig_begin(base);
	uint8_t *content = content_of(RIG_CHUNK_BYTES, 1);

	rig_make_file(rig, "old", "before", 6);
	rig_text(rig, 1, "old", "1");
	rig_text(rig, 2, "small", "2");
	rig_link(rig, 3, "link", "somewhere");
	rig_send(rig, 4, "large", 0644, content, RIG_CHUNK_BYTES, RIG_CHUNK_BYTES);
	rig_folder(rig, 5, "r", 0755);
	rig_text(rig, 6, "r/one", "6");
	rig_flush(rig);
	if (settled)
		rig_await(rig, WH_RECORD_COMMITTED, 7);
	rig_text(rig, 11, "old", "11");
	rig_link(rig, 12, "small", "elsewhere");
	rig_text(rig, 13, "link", "13");
	rig_text(rig, 14, "large", "14");
	rig_folder(rig, 15, "r", 0700);
	rig_text(rig, 16, "r/one", "6"); /* with the same bytes, too */
	rig_ask(rig, 17, "small", 0644, RIG_CHUNK_BYTES);
	rig_text(rig, 18, "r/two", "18");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.files == 5 && rig->totals.failed == 6 && rig->totals.skipped == 0);
	for (uint64_t id = 11; id <= 17; id++)
		CU_ASSERT_EQUAL(rig_failed(rig, id, EEXIST, WH_DOING_SHARING), id != 15);
	CU_ASSERT(rig_holds_text(rig, "old", "1") && rig_holds_text(rig, "small", "2"));
	CU_ASSERT(rig_holds(rig, "large", content, RIG_CHUNK_BYTES));
	CU_ASSERT(rig_holds_text(rig, "r/one", "6") && rig_holds_text(rig, "r/two", "18"));
	CU_ASSERT(rig_count(rig->root) == 7);
	rig_free(rig);
	free(content);
}

static void test_kind(void)
{
	for (int i = 0; i < 4; i++)
		test_kinds(rig_bases[i % 2], i / 2 == 0);
}

/* What is there with the same bytes counts as brought; the next job is free to replace it. */
static void test_there_already(const char *base)
{
	for (int i = 0; i < 2; i++) {
		struct rig *rig = rig_begin(base);

		rig_make_file(rig, "name", "first", 5);
		rig_text(rig, 1, "name", "first");
		rig_text(rig, 2, "name", i == 0 ? "other" : "first");
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
		CU_ASSERT(rig->totals.skipped == 1 && rig->totals.failed == 1);
		CU_ASSERT(rig_skipped(rig, 1) && rig_failed(rig, 2, EEXIST, WH_DOING_SHARING));
		CU_ASSERT(rig_holds_text(rig, "name", "first"));
		rig_free(rig);
	}
}

static void open_with(struct rig *rig, const struct wh_choice *choice, const char *target)
{
	struct wh_sink_config config = rig_config(rig, target);
	enum wh_doing doing;

	config.choice = *choice;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
}

/* Wishes that believe in what is there do not make the second one a success. */
static void test_wishes(const char *base)
{
	static const uint32_t wishes[] = {
		WH_CHOICE_UPDATE, WH_CHOICE_ABSENT, WH_CHOICE_QUICK, WH_CHOICE_DRY};

	for (size_t i = 0; i < RIG_COUNT(wishes); i++) {
		struct rig *rig = rig_new(base);

		open_with(rig, &(struct wh_choice){.wishes = wishes[i]}, "");
		rig_text(rig, 1, "name", "first");
		rig_flush(rig);
		rig_await(rig, WH_RECORD_COMMITTED, 2);
		rig_text(rig, 2, "name", "other");
		rig_finish(rig);
		CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
		CU_ASSERT(rig_failed(rig, 2, EEXIST, WH_DOING_SHARING));
		CU_ASSERT(rig->totals.failed == 1 && rig->totals.files == 1);
		rig_free(rig);
	}
}

/* The target may replace the first component: then different paths are one name. */
static void test_as_name(const char *base)
{
	struct rig *rig = rig_begin(base);

	wh_sink_close(rig->sink);
	rig_open(rig, "copy");
	rig_text(rig, 1, "one", "1");
	rig_text(rig, 2, "two", "2");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 2, EEXIST, WH_DOING_SHARING));
	CU_ASSERT(rig_holds_text(rig, "copy", "1") && rig_count(rig->root) == 1);
	rig_free(rig);
}

/* A backup does not get the name of a file that the job has brought, and replaces older backups. */
static void test_backups(const char *base)
{
	const struct wh_choice choice = {.backup = "~"};
	struct rig *rig = rig_new(base);

	rig_make_file(rig, "a", "old a", 5);
	rig_make_file(rig, "b", "old b", 5);
	rig_make_file(rig, "b~", "older b", 7);
	open_with(rig, &choice, "");
	rig_text(rig, 1, "a~", "1");
	rig_text(rig, 2, "b", "2");
	rig_flush(rig);
	rig_await(rig, WH_RECORD_COMMITTED, 3);
	rig_text(rig, 3, "a", "3");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 3, EEXIST, WH_DOING_SHARING) && rig->totals.failed == 1);
	CU_ASSERT(rig_holds_text(rig, "a", "old a") && rig_holds_text(rig, "a~", "1"));
	CU_ASSERT(rig_holds_text(rig, "b", "2") && rig_holds_text(rig, "b~", "old b"));
	CU_ASSERT(rig_count(rig->root) == 4);
	rig_free(rig);
}

/* A peer may wish what contradicts itself: nothing but what its own folders have is removed. */
static void test_contradiction(const char *base)
{
	static const uint32_t wishes = WH_CHOICE_DELETE | WH_CHOICE_DELETE_TOP;
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "copy");
	enum wh_doing doing;

	rig_make_file(rig, "x", "x", 1); /* a shorter name than the target's */
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "copy"), 0755) == 0);
	rig_make_file(rig, "copy/stray", "x", 1);
	config.choice = (struct wh_choice){
		.wishes = wishes, .delete_max = 9, .newer_s = INT64_MIN, .bytes_max = UINT64_MAX};
	config.as_name = true;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_folder(rig, 1, "r", 0755);
	rig_text(rig, 2, "r/one", "1");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.removed == 1 && rig->totals.failed == 0);
	CU_ASSERT(rig_holds_text(rig, "x", "x") && rig_holds_text(rig, "copy/one", "1"));
	CU_ASSERT(rig_count(rig->root) == 3);
	rig_free(rig);
}

static bool is_noted = false;

static bool may_remove(void *context)
{
	(void)context;
	return is_noted;
}

/* Nothing is removed before it may be; a folder with what is left out stays, and is not counted. */
static void test_may_remove(const char *base)
{
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "");
	static const char *const terms[] = {"-*.keep"};
	enum wh_doing doing;

	CU_ASSERT_FATAL(wh_choice_parse(&config.choice, WH_CHOICE_DELETE, terms, 1) == 0);
	config.choice.delete_max = 3; /* y, u and z */
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "r"), 0755) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "r/s"), 0755) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "r/s/t"), 0755) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "r/s/u"), 0755) == 0);
	rig_make_file(rig, "r/s/t/x.keep", "x", 1);
	rig_make_file(rig, "r/s/t/y", "y", 1);
	rig_make_file(rig, "r/s/u/z", "z", 1);
	config.may_remove = may_remove;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	rig_folder(rig, 1, "r", 0755);
	rig_finish(rig);
	is_noted = false;
	/* A folder for parts goes when the disk has synchronised, however long that takes. */
	for (int i = 0; i < 10000 || (rig_count(rig->root) > 7 && i < RIG_POLLS_MAX); i++)
		rig_poll(rig);
	CU_ASSERT(rig_state(rig) == WH_SINK_RUNNING);
	CU_ASSERT_EQUAL(rig_count(rig->root), 7);
	is_noted = true;
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT_EQUAL(rig->totals.removed, 3);
	CU_ASSERT(rig_holds_text(rig, "r/s/t/x.keep", "x"));
	CU_ASSERT_EQUAL(rig_count(rig->root), 4);
	rig_free(rig);
}

/* Folders on the way to what is sent are made, with mode and time, and searched for strays no. */
static void test_way(const char *base)
{
	struct rig *rig = rig_new(base);
	struct wh_record way = rig_entry(1, WH_ENTRY_PREFIX, "a", 0711);

	CU_ASSERT_FATAL(mkdir(rig_path(rig, "a"), 0755) == 0);
	CU_ASSERT_FATAL(mkdir(rig_path(rig, "a/b"), 0755) == 0);
	rig_make_file(rig, "a/stays", "x", 1);
	rig_make_file(rig, "a/b/stray", "x", 1);
	open_with(rig,
		&(struct wh_choice){.wishes = WH_CHOICE_DELETE,
			.delete_max = 9,
			.newer_s = INT64_MIN,
			.bytes_max = UINT64_MAX},
		"");
	rig_put(rig, &way);
	rig->entries++;
	rig_folder(rig, 2, "a/b", 0755);
	rig_text(rig, 3, "a/b/one", "1");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.removed == 1 && rig->totals.failed == 0);
	CU_ASSERT(rig_looks(rig, "a", 0711) && rig_holds_text(rig, "a/stays", "x"));
	CU_ASSERT(rig_holds_text(rig, "a/b/one", "1") && rig_count(rig->root) == 4);
	rig_free(rig);
}

/* Until there is no more memory for names. */
static void crowd(struct wh_names *names, const struct wh_blocks_account *account)
{
	struct wh_name name = {.bytes = sizeof(uint32_t)};
	uint32_t number = 0;

	for (name.path = (const char *)&number;
		wh_names_claim(names, account, &name) != WH_NAME_UNKNOWN; number++)
		;
	CU_ASSERT_EQUAL(number, 768);
}

static bool takes_nothing(void *context, uint64_t bytes)
{
	(void)context, (void)bytes;
	return false;
}

static void gives(void *context, uint64_t bytes)
{
	(void)context, (void)bytes;
	CU_FAIL("nothing was taken");
}

/* Without memory for names whatever is new arrives, and nothing is replaced. */
static void test_crowded(const char *base)
{
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "");
	uint8_t *content = content_of(RIG_CHUNK_BYTES, 2);
	struct wh_rules_used used = {.entries = 0};
	enum wh_doing doing;

	rig_make_file(rig, "same", "same", 4);
	rig_make_file(rig, "other", "old", 3);
	rig_make_file(rig, "other large", "old", 3);
	config.choice.backup = "~";
	config.account = (struct wh_blocks_account){takes_nothing, gives, NULL};
	config.used = &used;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	crowd(&used.names, &config.account);
	rig_text(rig, 1, "new", "1");
	rig_text(rig, 2, "new", "2");
	rig_text(rig, 3, "same", "same");
	rig_text(rig, 4, "other", "4");
	rig_send(rig, 5, "other large", 0644, content, RIG_CHUNK_BYTES, RIG_CHUNK_BYTES);
	rig_send(rig, 6, "new large", 0644, content, RIG_CHUNK_BYTES, RIG_CHUNK_BYTES);
	rig_link(rig, 7, "link", "there");
	rig_link(rig, 8, "link", "elsewhere");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig->totals.files == 2 && rig->totals.skipped == 1 && rig->totals.failed == 4);
	CU_ASSERT(rig_failed(rig, 2, EEXIST, WH_DOING_CROWDED));
	CU_ASSERT(rig_failed(rig, 4, EEXIST, WH_DOING_CROWDED));
	CU_ASSERT(rig_failed(rig, 5, EEXIST, WH_DOING_CROWDED));
	CU_ASSERT(rig_failed(rig, 8, EEXIST, WH_DOING_CROWDED));
	CU_ASSERT(rig_holds_text(rig, "new", "1") && rig_holds_text(rig, "other", "old"));
	CU_ASSERT(rig_holds_text(rig, "other large", "old"));
	CU_ASSERT(rig_holds(rig, "new large", content, RIG_CHUNK_BYTES));
	CU_ASSERT(rig_count(rig->root) == 6);
	rig_free(rig);
	free(content);
}

BOTH(there_already)
BOTH(wishes)
BOTH(as_name)
BOTH(backups)
BOTH(crowded)
BOTH(contradiction)
BOTH(way)
BOTH(may_remove)

CU_TestInfo wh_tests[] = {
	{"of any kind", test_kind},
	{"there already", both_there_already},
	{"wishes", both_wishes},
	{"as a name", both_as_name},
	{"backups", both_backups},
	{"wishes that contradict each other", both_contradiction},
	{"folders on the way", both_way},
	{"nothing is removed before it may be", both_may_remove},
	{"more names than can be remembered", both_crowded},
	CU_TEST_INFO_NULL,
};
