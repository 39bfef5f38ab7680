/* SPDX-License-Identifier: BSD-3-Clause */

/* What a bundle may bring: which entries are taken, which fail, and which end it. */

#include "sink/rules.h"

#include "sink_rig.h"

const char wh_suite_name[] = "rules";

static struct wh_entry entry_of(const char *path, const char *link, uint64_t bytes)
{
	return (struct wh_entry){
		.id = 1,
		.kind = link != NULL ? WH_ENTRY_LINK : WH_ENTRY_FILE,
		.content = bytes > 0 ? WH_CONTENT_ASK : WH_CONTENT_NONE,
		.path = path,
		.path_bytes = (uint16_t)strlen(path),
		.link = link,
		.link_bytes = (uint16_t)(link != NULL ? strlen(link) : 0),
		.size_bytes = bytes,
	};
}

static void test_names(void)
{
	static const struct {
		const char *path;
		bool plain;
	} cases[] = {
		{"name", true},
		{"a/b c", true},
		{"\xc3\xa4\xe2\x82\xac", true},
		{"bad\xff", true},
		{"\xc2\xa0", true},
		{"a\nb", false},
		{"\x1b[2J", false},
		{"tab\t", false},
		{"del\x7f", false},
		{"folder\x01/name", false},
		{"\xc2\x9b", false},
		{"csi \xc2\x80", false},
	};
	const struct wh_rules rules = {.plain_names = true};
	const struct wh_rules any = {0};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_entry entry = entry_of(cases[i].path, NULL, 0);
		struct wh_rules_used used = {0};
		enum wh_doing doing;

		CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &entry, &doing),
			cases[i].plain ? WH_RULING_TAKEN : WH_RULING_FAILED);
		CU_ASSERT(cases[i].plain || doing == WH_DOING_NAMING);
		CU_ASSERT_EQUAL(wh_rules_judge(&any, &used, &entry, &doing), WH_RULING_TAKEN);
	}
}

static void test_links(void)
{
	static const struct {
		const char *path;
		const char *link;
		bool inside;
	} cases[] = {
		{"link", "file", true},
		{"link", "./below//file/", true},
		{"link", "/etc/passwd", false},
		{"link", "..", false},
		{"link", "../up", false},
		{"a/link", "../file", true},
		{"a/link", "../../file", false},
		{"a/b/link", "./.././../file", true},
		{"a/b/link", "../../..", false},
		{"a/b/link", "../c/../d", false}, /* c may be a link to anywhere inside */
		{"link", "...", true},
		{"link", "..name", true},
	};
	const struct wh_rules rules = {.links_inside = true};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct wh_entry entry = entry_of(cases[i].path, cases[i].link, 0);
		struct wh_rules_used used = {0};
		enum wh_doing doing;

		CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &entry, &doing),
			cases[i].inside ? WH_RULING_TAKEN : WH_RULING_FAILED);
		CU_ASSERT(cases[i].inside || doing == WH_DOING_LINKING);
	}
}

static void test_depth(void)
{
	const struct wh_rules rules = {.depth_max = 2};
	const struct wh_entry there = entry_of("a/b/c", NULL, 0);
	const struct wh_entry below = entry_of("a/b/c/d", NULL, 0);
	struct wh_rules_used used = {0};
	enum wh_doing doing;

	CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &there, &doing), WH_RULING_TAKEN);
	CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &below, &doing), WH_RULING_FAILED);
	CU_ASSERT_EQUAL(doing, WH_DOING_DESCENDING);
}

/* Of all lanes together, to the last; sums that are too large for any number are too many. */
static void test_sums(void)
{
	const struct wh_rules rules = {.entries_max = 3, .bytes_max = 100};
	const struct wh_entry most = entry_of("most", NULL, 99);
	const struct wh_entry one = entry_of("one", NULL, 1);
	const struct wh_entry huge = entry_of("huge", NULL, INT64_MAX);
	struct wh_rules_used used = {0};
	enum wh_doing doing;

	CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &most, &doing), WH_RULING_TAKEN);
	CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &one, &doing), WH_RULING_TAKEN);
	CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &one, &doing), WH_RULING_BROKEN);
	CU_ASSERT_EQUAL(doing, WH_DOING_ADDING);
	CU_ASSERT_EQUAL(wh_rules_judge(&rules, &used, &huge, &doing), WH_RULING_BROKEN);
	CU_ASSERT_EQUAL(doing, WH_DOING_COUNTING);
	CU_ASSERT(used.entries == 3 && used.bytes == 100);
}

static struct rig *begin_by(const char *base, const struct wh_rules *rules)
{
	struct rig *rig = rig_new(base);
	struct wh_sink_config config = rig_config(rig, "");
	enum wh_doing doing;

	config.rules = *rules;
	CU_ASSERT_FATAL(wh_sink_open(&rig->sink, &config, &doing) == 0);
	return rig;
}

/* In a sink: entries fail by themselves, and beside them others arrive. */
static void test_failed(const char *base)
{
	struct rig *rig = begin_by(base,
		&(struct wh_rules){.depth_max = 1, .plain_names = true, .links_inside = true});

	rig_text(rig, 1, "fine", "1");
	rig_text(rig, 2, "esc\x1b]0;x\x07", "2");
	rig_link(rig, 3, "out", "../../etc/passwd");
	rig_folder(rig, 4, "a", 0755);
	rig_folder(rig, 5, "a/b", 0755);
	rig_text(rig, 6, "a/b/c", "3");
	rig_ask(rig, 7, "a/b/large", 0644, RIG_CHUNK_BYTES);
	rig_link(rig, 8, "a/in", "../fine");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	CU_ASSERT(rig_failed(rig, 2, EPERM, WH_DOING_NAMING));
	CU_ASSERT(rig_failed(rig, 3, EPERM, WH_DOING_LINKING));
	CU_ASSERT(rig_failed(rig, 6, EPERM, WH_DOING_DESCENDING));
	CU_ASSERT(rig_failed(rig, 7, EPERM, WH_DOING_DESCENDING));
	CU_ASSERT(rig->totals.failed == 4 && rig->totals.files == 1);
	CU_ASSERT(rig_holds_text(rig, "fine", "1") && rig_count(rig->root) == 4);
	rig_free(rig);
}

/* One more than may be ends it; nothing stays but what was whole in memory. */
static void test_broken(const char *base)
{
	struct rig *rig = begin_by(base, &(struct wh_rules){.entries_max = 2});

	rig_text(rig, 1, "one", "1");
	rig_text(rig, 2, "two", "2");
	rig_text(rig, 3, "three", "3");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_BROKEN);
	CU_ASSERT_EQUAL(wh_sink_progress(rig->sink)->error, -EDQUOT);
	CU_ASSERT(!rig_holds_text(rig, "three", "3"));
	rig_free(rig);
}

static void test_sinks(void)
{
	test_failed(rig_bases[0]);
	test_failed(rig_bases[1]);
	test_broken(rig_bases[0]);
	test_broken(rig_bases[1]);
}

/* Beside others, which arrive. */
static void case_clash(const char *base, enum wh_case_clash clash, bool fails)
{
	struct rig *rig = begin_by(base, &(struct wh_rules){.case_clash = clash});

	rig_text(rig, 1, "name", "1");
	rig_text(rig, 2, "Name", "2");
	rig_folder(rig, 3, "a", 0755);
	rig_text(rig, 4, "a/x", "4");
	rig_text(rig, 5, "A/y", "5");
	rig_text(rig, 6, "A/z", "6");
	rig_finish(rig);
	CU_ASSERT(rig_run(rig) == WH_SINK_DONE);
	for (uint64_t id = 2; id <= 6; id++)
		CU_ASSERT_EQUAL(
			rig_failed(rig, id, EEXIST, WH_DOING_FOLDING), fails && id != 3 && id != 4);
	CU_ASSERT(rig->totals.failed == (fails ? 3 : 0));
	CU_ASSERT(rig_holds_text(rig, "name", "1") && rig_holds_text(rig, "a/x", "4"));
	CU_ASSERT_EQUAL(rig_holds_text(rig, "Name", "2"), !fails);
	CU_ASSERT_EQUAL(rig_count(rig->root), fails ? 3 : 7);
	rig_free(rig);
}

static void test_case_clash(void)
{
	for (int i = 0; i < 2; i++) {
		case_clash(rig_bases[i], WH_CASE_REFUSE, true);
		case_clash(rig_bases[i], WH_CASE_ALLOW, false);
		case_clash(rig_bases[i], WH_CASE_BY_TARGET, false);
	}
}

CU_TestInfo wh_tests[] = {
	{"case clash", test_case_clash},
	{"names", test_names},
	{"links", test_links},
	{"depth", test_depth},
	{"sums", test_sums},
	{"sinks", test_sinks},
	CU_TEST_INFO_NULL,
};
