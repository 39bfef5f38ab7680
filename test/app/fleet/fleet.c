/* SPDX-License-Identifier: BSD-3-Clause */

/* What a fleet plans and keeps in files; Slurm itself is in test/e2e/fleet.py. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle_tree.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/json.h"
#include "fleet/charged.h"
#include "fleet/deadline.h"
#include "fleet/nodes.h"
#include "fleet/pieces.h"
#include "fleet/relay.h"
#include "fleet/scan/scan.h"
#include "fleet/shard_log.h"
#include "fleet/shards.h"
#include "fleet/site.h"
#include "source/walk.h"
#include "unit.h"

const char wh_suite_name[] = "app/fleet";

static int read_site(struct wh_site *site, const char *text)
{
	struct tree tree;
	int status;

	tree_init(&tree, NULL);
	tree_file(&tree, "far.conf", text, strlen(text));
	status = wh_site_read(site, tree.root, "far");
	tree_free(&tree);
	return status;
}

#define THREE                                                                                      \
	"[receiver a]\naddress = h1\n[receiver b]\naddress = [::1]\nweight = 2\n"                  \
	"[receiver c]\naddress = h3\nmaintenance = %s\n"

static void receivers_by_weight(void)
{
	static struct wh_site all, less;
	uint16_t order[WH_SITE_RECEIVERS_MAX], other[WH_SITE_RECEIVERS_MAX];
	uint32_t firsts[3] = {0};
	char text[256];

	snprintf(text, sizeof(text), THREE, "no");
	CU_ASSERT_EQUAL_FATAL(read_site(&all, text), -1);
	snprintf(text, sizeof(text), THREE, "yes");
	CU_ASSERT_EQUAL_FATAL(read_site(&less, text), -1);
	CU_ASSERT_STRING_EQUAL(all.receiver[1].address, "[::1]");
	for (uint32_t shard = 0; shard < 10000; shard++) {
		CU_ASSERT_EQUAL_FATAL(wh_site_order(&all, shard, order), 3);
		CU_ASSERT_EQUAL_FATAL(wh_site_order(&less, shard, other), 2);
		firsts[order[0]]++;
		CU_ASSERT_EQUAL(order[0] + order[1] + order[2], 3);
		CU_ASSERT_EQUAL(other[0] + other[1], 1);
		/* At no time has one had more than its weight by three shards. */
		CU_ASSERT(fabs(firsts[1] - 0.5 * (shard + 1)) < 3);
		CU_ASSERT(fabs(firsts[2] - 0.25 * (shard + 1)) < 3);
	}
}

/* The shards that run at one time follow each other: all receivers of one weight are in use. */
static void receivers_in_turn(void)
{
	static struct wh_site site = {.receivers = 32};
	uint16_t order[WH_SITE_RECEIVERS_MAX];
	uint32_t seconds[32] = {0};

	for (uint32_t i = 0; i < 32; i++) {
		snprintf(site.receiver[i].name, WH_SITE_TEXT_BYTES, "dtn%u", i);
		site.receiver[i].weight = 3;
	}
	for (uint32_t shard = 0; shard < 3200;) {
		uint64_t seen = 0;

		for (uint32_t i = 0; i < 32; i++) {
			CU_ASSERT_EQUAL_FATAL(wh_site_order(&site, shard++, order), 32);
			seen |= UINT64_C(1) << order[0];
			seconds[order[1]]++;
		}
		CU_ASSERT_EQUAL(seen, UINT32_MAX);
	}
	/* The shards of one that is gone go to all others. */
	for (uint32_t i = 0; i < 32; i++)
		CU_ASSERT(seconds[i] > 50 && seconds[i] < 150);
}

static void wrong_sites(void)
{
	static const char *const texts[] = {"", "[receiver a]\n", "[receiver a]\naddress =\n",
		"[receiver a]\naddress = h\nweight = 0\n",
		"[receiver a]\naddress = h\nweight = x\n", "[receiver a]\naddress = h\nrate = 0\n",
		"[receiver a]\naddress = h\nmaintenance = soon\n",
		"[receiver a]\naddress = h\nwait = 2\n", "[sender a]\naddress = h\n"};
	static struct wh_site site;

	wh_complain_to_nobody();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		CU_ASSERT_EQUAL(read_site(&site, texts[i]), WH_EXIT_USAGE);
	CU_ASSERT_EQUAL(wh_site_read(&site, "/", "../etc"), WH_EXIT_USAGE);
}

/* Each file's names and bytes, read back. */
static uint64_t names_in(const char *folder, uint32_t shard)
{
	char path[PATH_MAX];
	uint64_t names = 0;
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "%s/%u", folder, shard);
	file = fopen(path, "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while ((c = getc(file)) != EOF)
		names += c == '\0';
	fclose(file);
	return names;
}

/* A folder in which all files are large, then one in which all are small, and so on. */
static void shards_are_level(void)
{
	struct tree tree;
	struct wh_shards shards = {.max = 50, .grain_bytes = 1 << 20, .grain_files = 100};
	uint64_t bytes = 0, names = 0;
	char name[64];

	tree_init(&tree, NULL);
	shards.folder = tree.root;
	CU_ASSERT_EQUAL_FATAL(wh_shards_open(&shards), -1);
	for (uint32_t i = 0; i < 100000; i++) {
		uint64_t size = i / 1000 % 2 == 0 ? 100000 + i : i % 100;

		snprintf(name, sizeof(name), "/x/./d%u/f%u", i / 1000, i);
		CU_ASSERT_FATAL(wh_shards_add(&shards, name, size));
		bytes += size;
	}
	CU_ASSERT(wh_shards_finish(&shards));
	CU_ASSERT_EQUAL(shards.count, 50);
	CU_ASSERT_EQUAL(shards.sum.files, 100000);
	CU_ASSERT_EQUAL(shards.sum.bytes, bytes);
	CU_ASSERT(wh_shards_balance(&shards, true) < 1.05);
	CU_ASSERT(wh_shards_balance(&shards, false) < 1.05);
	for (uint32_t i = 0; i < shards.count; i++) {
		CU_ASSERT_EQUAL(names_in(tree.root, i), shards.shard[i].files);
		names += shards.shard[i].files;
	}
	CU_ASSERT_EQUAL(names, 100000);
	wh_shards_free(&shards);
	tree_free(&tree);
}

static void too_few_shards(void)
{
	struct tree tree;
	struct wh_shards shards = {.max = 1, .grain_bytes = 1, .grain_files = 1};
	uint32_t taken = 0;

	tree_init(&tree, NULL);
	shards.folder = tree.root;
	CU_ASSERT_EQUAL_FATAL(wh_shards_open(&shards), -1);
	wh_complain_to_nobody();
	while (taken <= WH_SHARD_FILES_MAX && wh_shards_add(&shards, "/./f", 0))
		taken++;
	CU_ASSERT_EQUAL(taken, WH_SHARD_FILES_MAX);
	wh_shards_free(&shards);
	tree_free(&tree);
}

static char seen[4096];

static bool see(void *context, const char *name, uint64_t bytes)
{
	const struct tree *tree = context;
	size_t above = strlen(tree->root);

	CU_ASSERT_EQUAL(strncmp(name, tree->root, above), 0);
	sprintf(seen + strlen(seen), "%s=%d ", name + above, (int)bytes);
	return true;
}

/* Folders only if nothing is in them; links as they are. */
static void names_of_a_tree(void)
{
	struct wh_scan_totals totals;
	struct tree tree;
	char path[PATH_MAX + 8];
	char *trees[] = {path};

	tree_init(&tree, NULL);
	tree_folder(&tree, "a");
	tree_folder(&tree, "a/b");
	tree_folder(&tree, "a/b/none");
	tree_file(&tree, "a/b-", "four", 4);
	tree_link(&tree, "a/l", "b");
	tree_folder(&tree, "a/z");
	snprintf(path, sizeof(path), "%s/a/b/none/pipe", tree.root);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	snprintf(path, sizeof(path), "%s/a", tree.root);
	wh_complain_to_nobody();
	CU_ASSERT_EQUAL(wh_fleet_scan(trees, 1, see, &tree, &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "/./a/b-=4 /./a/l=0 /./a/z=0 "); /* `none` has a pipe */
	CU_ASSERT_EQUAL(totals.left_out, 1);
	seen[0] = '\0';
	snprintf(path, sizeof(path), "%s/a/b/none/pipe", tree.root);
	CU_ASSERT_EQUAL(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/a", tree.root);
	CU_ASSERT_EQUAL(wh_fleet_scan(trees, 1, see, &tree, &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "/./a/b/none=0 /./a/b-=4 /./a/l=0 /./a/z=0 ");
	CU_ASSERT_EQUAL(totals.files, 1);
	CU_ASSERT_EQUAL(totals.links, 1);
	CU_ASSERT_EQUAL(totals.folders, 2);
	CU_ASSERT_EQUAL(totals.bytes, 4);
	CU_ASSERT_EQUAL(totals.left_out, 0);
	seen[0] = '\0';
	snprintf(path, sizeof(path), "%s/a/.", tree.root);
	CU_ASSERT_EQUAL(wh_fleet_scan(trees, 1, see, &tree, &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "/a/./b/none=0 /a/./b-=4 /a/./l=0 /a/./z=0 ");
	snprintf(path, sizeof(path), "%s/x/y", tree.root);
	CU_ASSERT_EQUAL(wh_fleet_scan(trees, 1, see, &tree, &totals), WH_EXIT_NO_FILE);
	tree_free(&tree);
}

#define FOLDERS   96
#define DEPTH_MAX 8

struct in_order {
	struct wh_walk *walk; /* of the same tree */
	const char *root;
	uint32_t names, names_max;
};

/* The next file, or empty folder, of the walk: a folder whose successor is not in it. */
static bool see_next(void *context, const char *name, uint64_t bytes)
{
	struct in_order *in_order = context;
	const char *path = name + strlen(in_order->root) + strlen("/./");
	struct wh_walk_item item;

	do
		wh_walk_next(in_order->walk, &item);
	while (item.found == WH_WALK_NOTHING ||
		(item.found == WH_WALK_FOLDER && strcmp(item.path, path) != 0));
	CU_ASSERT_STRING_EQUAL_FATAL(item.path, path);
	CU_ASSERT_EQUAL(bytes, item.found == WH_WALK_FILE ? strlen(path) : 0);
	return ++in_order->names < in_order->names_max;
}

static void scan_in_order(const struct tree *tree, uint32_t names, uint32_t names_max)
{
	struct in_order in_order = {.root = tree->root, .names_max = names_max};
	struct wh_scan_totals totals;
	char path[PATH_MAX + 8], *trees[] = {path, path};
	const char *given[] = {path, path};

	snprintf(path, sizeof(path), "%s/a", tree->root);
	CU_ASSERT_EQUAL(wh_walk_open(&in_order.walk, -1, given, 2, true, NULL), 0);
	CU_ASSERT_EQUAL(wh_fleet_scan(trees, 2, see_next, &in_order, &totals),
		names < names_max ? -1 : WH_EXIT_OTHER);
	CU_ASSERT_EQUAL(in_order.names, names);
	CU_ASSERT_EQUAL(totals.left_out, 0);
	wh_walk_close(in_order.walk);
}

/* Threads read ahead of what is told, and nobody sees it; also when the tree is left half way. */
static void names_of_many_folders(void)
{
	uint32_t names = 0;
	char folder[256] = "a", name[300];
	struct tree tree;

	tree_init(&tree, NULL);
	tree_folder(&tree, folder);
	for (uint32_t i = 0; i < FOLDERS; i++) {
		uint32_t files = i == 7 ? 700 : i % 3 * 5; /* one that takes its time */

		if (i % DEPTH_MAX == 0)
			strcpy(folder, "a");
		sprintf(folder + strlen(folder), "/%u", i);
		tree_folder(&tree, folder);
		for (uint32_t j = 0; j < files; j++) {
			snprintf(name, sizeof(name), "%s/f%u", folder, j);
			tree_file(&tree, name, name, strlen(name));
		}
		names += files;
		names += files == 0 && i % DEPTH_MAX == DEPTH_MAX - 1;
	}
	scan_in_order(&tree, 2 * names, UINT32_MAX);
	for (uint32_t end = 1; end < names; end += names / 20)
		scan_in_order(&tree, end, end);
	tree_free(&tree);
}

static bool see_far(void *context, const char *name, uint64_t bytes)
{
	(void)context;
	sprintf(seen + strlen(seen), "%s=%d ", name, (int)bytes);
	return true;
}

/* Lists `path` at a server that answers so. */
static int list_far(const char *answer, int status, const char *path, struct wh_scan_totals *totals)
{
	struct tree tree;
	char script[4096], own[PATH_MAX + 8];
	char *trees[] = {(char *)path};
	struct wh_far_scan far = {.own = own, .host = "h"};
	int found;

	tree_init(&tree, NULL);
	snprintf(script, sizeof(script), "#!/bin/sh\ncat <<'END'\n%s\nEND\nexit %d\n", answer,
		status);
	tree_file(&tree, "ls", script, strlen(script));
	snprintf(own, sizeof(own), "%s/ls", tree.root);
	CU_ASSERT_EQUAL(chmod(own, 0755), 0);
	seen[0] = '\0';
	found = wh_fleet_scan_far(&far, trees, 1, see_far, NULL, totals);
	tree_free(&tree);
	return found;
}

#define ENTRY(path, kind) "{\"path\": \"" path "\", \"kind\": \"" kind "\", \"bytes\": 4},\n"

/* As `ls --json` tells it; a server names nothing but what is below the path that was asked for. */
static void names_at_a_server(void)
{
	static const char all[] = "{\n\"entries\": [\n" ENTRY("in/t/a", "folder") ENTRY(
		"in/t/a/none", "folder") ENTRY("in/t/a-", "file") ENTRY("in/t/l",
		"link") "{\"path_hex\": \"696e2f742fff\", \"kind\": \"file\", \"bytes\": 1}\n],\n"
			"\"verb\": \"ls\"}";
	static const char bad[] = ENTRY("in/t/../../x", "file") ENTRY("x/t/f", "file") ENTRY(
		"in/", "file")
		ENTRY("in/t/o", "other") "{\"kind\": \"file\"}\n"
					 "{\"path\": \"in/t/d\", \"error\": \"no right\"}\n" ENTRY(
						 "in/t/f", "file");
	struct wh_scan_totals totals;

	CU_ASSERT_EQUAL(list_far(all, WH_EXIT_OK, "./in//t/", &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "in/./t/a/none=0 in/./t/a-=4 in/./t/l=0 in/./t/\xff=1 ");
	CU_ASSERT_EQUAL(totals.files, 2);
	CU_ASSERT_EQUAL(totals.bytes, 5);
	CU_ASSERT_EQUAL(totals.folders, 1);
	CU_ASSERT_EQUAL(totals.left_out, 0);
	CU_ASSERT_EQUAL(list_far(all, WH_EXIT_OK, "in/t/.", &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "in/t/./a/none=0 in/t/./a-=4 in/t/./l=0 in/t/./\xff=1 ");
	CU_ASSERT_EQUAL(list_far(ENTRY("./f", "file"), WH_EXIT_OK, ".", &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "./f=4 ");
	CU_ASSERT_EQUAL(list_far(ENTRY("/r/f", "file"), WH_EXIT_OK, "/r", &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "/./r/f=4 ");
	CU_ASSERT_EQUAL(list_far("", WH_EXIT_OK, "in/none", &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "in/./none=0 ");
	wh_complain_to_nobody();
	CU_ASSERT_EQUAL(list_far(bad, WH_EXIT_PARTIAL, "in/t", &totals), -1);
	CU_ASSERT_STRING_EQUAL(seen, "in/./t/f=4 ");
	CU_ASSERT_EQUAL(totals.left_out, 6);
	CU_ASSERT_EQUAL(list_far(all, WH_EXIT_STALLED, "in/t", &totals), WH_EXIT_STALLED);
	CU_ASSERT_EQUAL(list_far("", WH_EXIT_NO_FILE, "in/t", &totals), WH_EXIT_NO_FILE);
}

static struct wh_shard_past past_of(const struct wh_plan *plan)
{
	struct wh_shard_past past;

	wh_shard_past_read(&past, plan, 7);
	wh_shard_past_free(&past); /* its counts stay */
	return past;
}

static void begin(const struct wh_plan *plan)
{
	CU_ASSERT_EQUAL(wh_shard_note(plan, 7, json_pack("{s:s}", "event", "begin")), -1);
}

static void end(const struct wh_plan *plan, int status, bool passed)
{
	CU_ASSERT_EQUAL(wh_shard_note(plan, 7,
				json_pack("{s:s, s:i, s:b}", "event", "end", "exit_status", status,
					"passed", passed)),
		-1);
}

/* A node that dies while it writes leaves a part of a line. */
static void tries_of_a_shard(void)
{
	struct wh_shard_past past;
	struct wh_plan plan = {0};
	struct tree tree;
	char path[PATH_MAX];
	FILE *log;

	tree_init(&tree, NULL);
	tree_folder(&tree, "state");
	strcpy(plan.folder, tree.root);
	CU_ASSERT_EQUAL(past_of(&plan).state, WH_SHARD_NEW);
	begin(&plan);
	CU_ASSERT_EQUAL(past_of(&plan).state, WH_SHARD_BEGUN);
	wh_plan_path(&plan, 7, "state", ".log", path);
	log = fopen(path, "ae");
	fputs("{\"event\":\"end\",\"exit_st", log);
	fclose(log);
	begin(&plan);
	end(&plan, WH_EXIT_NETWORK, true);
	past = past_of(&plan);
	CU_ASSERT_EQUAL(past.state, WH_SHARD_ENDED);
	CU_ASSERT_EQUAL(past.cut_off, 1);
	CU_ASSERT_EQUAL(past.passed, 1);
	CU_ASSERT_EQUAL(past.failures, 0);
	for (int i = 0; i < WH_SHARD_FAILURES_MAX; i++) {
		CU_ASSERT_EQUAL(past_of(&plan).failures, i);
		begin(&plan);
		end(&plan, WH_EXIT_PARTIAL, false);
	}
	CU_ASSERT_EQUAL(past_of(&plan).state, WH_SHARD_GIVEN_UP);
	CU_ASSERT_EQUAL(wh_shard_note(&plan, 7, json_pack("{s:s}", "event", "retry")), -1);
	CU_ASSERT_EQUAL(past_of(&plan).state, WH_SHARD_ENDED);
	CU_ASSERT_EQUAL(past_of(&plan).failures, 0);
	begin(&plan);
	end(&plan, WH_EXIT_OK, false);
	begin(&plan); /* a task that was requeued too late */
	CU_ASSERT_EQUAL(past_of(&plan).state, WH_SHARD_DONE);
	CU_ASSERT_EQUAL(past_of(&plan).cut_off, 1);
	tree_free(&tree);
}

static int count_piece(void *context, const char *list, const char *sums)
{
	CU_ASSERT(list != NULL && sums != NULL);
	++*(uint32_t *)context;
	return WH_EXIT_OK;
}

/* A list that cannot be read, as a folder cannot, is no shard without files. */
static void names_that_cannot_be_read(void)
{
	const struct wh_pieces_how how = {.host = "h", .names = 10, .chars = 1000};
	struct wh_plan plan = {.json = json_pack("{s:[n,n,n,n,n,n,n,n]}", "shards")};
	struct tree tree;
	uint32_t pieces = 0;

	tree_init(&tree, NULL);
	tree_folder(&tree, "state");
	tree_folder(&tree, "shards");
	tree_folder(&tree, "shards/6");
	tree_file(&tree, "shards/7", "a\0b", 4);
	strcpy(plan.folder, tree.root);
	CU_ASSERT_EQUAL(wh_pieces_go(&plan, 7, &how, count_piece, &pieces), WH_EXIT_OK);
	CU_ASSERT_EQUAL(pieces, 1);
	CU_ASSERT_EQUAL(wh_pieces_go(&plan, 6, &how, count_piece, &pieces), WH_EXIT_OTHER);
	CU_ASSERT_PTR_NOT_NULL(strstr(wh_last_complaint(), "cannot read the names of the shard"));
	CU_ASSERT_EQUAL(pieces, 1);
	wh_plan_free(&plan);
	tree_free(&tree);
}

static void try_on(const struct wh_plan *plan, uint32_t shard, const char *node,
	const char *receiver, int status)
{
	CU_ASSERT_EQUAL(wh_shard_note(plan, shard,
				json_pack("{s:s, s:s, s:s, s:s}", "event", "begin", "node", node,
					"receiver", receiver, "job", "12")),
		-1);
	CU_ASSERT_EQUAL(wh_shard_note(plan, shard,
				json_pack("{s:s, s:i, s:b}", "event", "end", "exit_status", status,
					"passed", status == WH_EXIT_NETWORK)),
		-1);
}

static bool is_broken(const struct wh_plan *plan, const char *node, uint32_t receivers)
{
	json_t *nodes = wh_fleet_nodes(plan);
	bool broken = wh_node_is_broken(nodes, node, receivers);

	json_decref(nodes);
	return broken;
}

/* Three shards in a row to more than one receiver; a full disk at one of two is not the node. */
static void nodes_that_fail(void)
{
	struct wh_plan plan = {0};
	struct tree tree;
	json_t *off = json_object();
	struct wh_shard_past past;

	tree_init(&tree, NULL);
	tree_folder(&tree, "state");
	strcpy(plan.folder, tree.root);
	plan.json = json_pack("{s:[i,i], s:[n,n,n,n,n,n]}", "jobs", 11, 12, "shards");
	for (uint32_t i = 0; i < 4; i++)
		try_on(&plan, i, "n1", "r1", WH_EXIT_PARTIAL);
	CU_ASSERT_FALSE(is_broken(&plan, "n1", 2));
	CU_ASSERT_TRUE(is_broken(&plan, "n1", 1));
	try_on(&plan, 4, "n1", "r2", WH_EXIT_NETWORK); /* passed over */
	CU_ASSERT_FALSE(is_broken(&plan, "n1", 2));
	try_on(&plan, 4, "n1", "r2", WH_EXIT_PARTIAL);
	CU_ASSERT_TRUE(is_broken(&plan, "n1", 2));
	CU_ASSERT_FALSE(is_broken(&plan, "n2", 2));
	try_on(&plan, 5, "n1", "r2", WH_EXIT_OK);
	CU_ASSERT_FALSE(is_broken(&plan, "n1", 2));
	for (uint32_t i = 0; i < 9; i++) /* one shard, however often, is not three */
		try_on(&plan, 3, "n2", i % 2 != 0 ? "r1" : "r2", WH_EXIT_PARTIAL);
	CU_ASSERT_FALSE(is_broken(&plan, "n2", 2));
	for (uint32_t i = 0; i < 3; i++) { /* all to r2 in the end, and to r1 before */
		try_on(&plan, i, "n3", "r1", WH_EXIT_NETWORK);
		CU_ASSERT_FALSE(is_broken(&plan, "n3", 2));
		try_on(&plan, i, "n3", "r2", WH_EXIT_STALLED);
		try_on(&plan, i, "n4", "r1", WH_EXIT_NETWORK);
		try_on(&plan, i, "n4", "r2", WH_EXIT_PARTIAL);
	}
	CU_ASSERT_TRUE(is_broken(&plan, "n3", 2));
	CU_ASSERT_FALSE(is_broken(&plan, "n4", 2)); /* r1 is away, the disk of r2 is full */
	wh_shard_past_read(&past, &plan, 3);
	wh_shard_failed_on(&past, off);
	CU_ASSERT_EQUAL(json_object_size(off), 2);
	wh_shard_past_free(&past);
	json_array_append_new(json_object_get(plan.json, "jobs"), json_integer(13));
	for (uint32_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(wh_shard_note(&plan, i, json_pack("{s:s}", "event", "retry")), -1);
	CU_ASSERT_FALSE(is_broken(&plan, "n1", 1));
	json_object_clear(off);
	wh_shard_past_read(&past, &plan, 2);
	wh_shard_failed_on(&past, off);
	CU_ASSERT_EQUAL(json_object_size(off), 0);
	wh_shard_past_free(&past);
	json_decref(off);
	wh_plan_free(&plan);
	tree_free(&tree);
}

/* Shards of each site one after the other; lists of names are there once. */
static void several_sites(void)
{
	struct wh_plan plan = {.folder = "/p"};
	char path[PATH_MAX];

	plan.json = json_pack("{s:s, s:s, s:[n,n,n,n,n,n], s:[{s:s, s:s}, {s:s, s:s}]}", "site",
		"a", "path", "in", "shards", "targets", "site", "a", "path", "in", "site", "b",
		"path", "on");
	CU_ASSERT_EQUAL(wh_plan_sites(&plan), 2);
	CU_ASSERT_EQUAL(wh_plan_site_shards(&plan), 3);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(wh_plan_target(&plan, 2), "site")), "a");
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(wh_plan_target(&plan, 3), "path")), "on");
	wh_plan_path(&plan, 4, "shards", "", path);
	CU_ASSERT_STRING_EQUAL(path, "/p/shards/1");
	wh_plan_path(&plan, 4, "state", ".log", path);
	CU_ASSERT_STRING_EQUAL(path, "/p/state/4.log");
	json_object_del(plan.json, "targets");
	CU_ASSERT_EQUAL(wh_plan_sites(&plan), 1);
	CU_ASSERT_PTR_EQUAL(wh_plan_target(&plan, 5), plan.json);
	wh_plan_free(&plan);
}

static void keep_log(const struct wh_plan *plan, uint32_t shard, const char *text)
{
	char path[PATH_MAX];
	FILE *log;

	wh_plan_path(plan, shard, "state", ".log", path);
	log = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(log);
	fputs(text, log);
	fclose(log);
}

#define BEGIN(job, at)  "{\"event\":\"begin\",\"job\":\"" job "\",\"at_s\":" at "}\n"
#define END(status, at) "{\"event\":\"end\",\"exit_status\":" status ",\"at_s\":" at "}\n"

static void expect_charged(const json_t *row, const char *expected)
{
	json_t *wanted = json_loads(expected, 0, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(wanted);
	CU_ASSERT_TRUE(json_equal((json_t *)row, wanted));
	json_decref(wanted);
}

/* Tries by the job that had the node, whatever came of them; those without an end are counted. */
static void what_nodes_did(void)
{
	struct wh_plan plan = {0};
	struct tree tree;
	json_t *charged;

	tree_init(&tree, NULL);
	tree_folder(&tree, "state");
	strcpy(plan.folder, tree.root);
	plan.json = json_pack("{s:[n,n,n], s:{s:{s:s, s:s, s:s}, s:{s:s, s:n, s:n}}}", "shards",
		"charged", "11", "account", "climate", "partition", "dtn", "licenses", "lambda:1",
		"12", "account", "physics", "partition", "licenses");
	keep_log(&plan, 0,
		BEGIN("11", "1000.5") END("23", "1010.5") BEGIN("11", "1020") END("0", "1050.25"));
	keep_log(&plan, 1,
		BEGIN("11", "2000") BEGIN("12", "2500")
			END("0", "2600") "{\"event\":\"check\",\"job\":\"13\",\"seconds\":8.5}\n");
	keep_log(&plan, 2, BEGIN("", "3000") END("0", "2999") BEGIN("", "3001"));
	charged = wh_fleet_charged(&plan);
	CU_ASSERT_EQUAL_FATAL(json_array_size(charged), 4);
	expect_charged(json_array_get(charged, 0),
		"{\"job\":11,\"account\":\"climate\",\"partition\":\"dtn\",\"licenses\":\"lambda:"
		"1\","
		"\"tries\":3,\"checks\":0,\"cut_off\":1,\"node_s\":40.25}");
	expect_charged(json_array_get(charged, 1),
		"{\"job\":12,\"account\":\"physics\",\"partition\":null,\"licenses\":null,"
		"\"tries\":1,\"checks\":0,\"cut_off\":0,\"node_s\":100.0}");
	expect_charged(json_array_get(charged, 2),
		"{\"job\":13,\"account\":null,\"partition\":null,\"licenses\":null,"
		"\"tries\":0,\"checks\":1,\"cut_off\":0,\"node_s\":8.5}");
	expect_charged(json_array_get(charged, 3),
		"{\"job\":null,\"account\":null,\"partition\":null,\"licenses\":null,"
		"\"tries\":2,\"checks\":0,\"cut_off\":1,\"node_s\":0.0}");
	json_decref(charged);
	wh_plan_free(&plan);
	tree_free(&tree);
}

static void note_now(void *context, json_t *now)
{
	(void)context;
	CU_ASSERT_PTR_NOT_NULL(json_object_get(now, "bytes"));
}

/* Where rows of the order come from; the last one stays. "away": it does not answer. */
#define SERVER                                                                                     \
	"#!/bin/sh\ncd %s\ncase $2 in\nadd) echo '{\"job\": 17}';;\ncancel) touch cancelled; "     \
	"echo {};;\n"                                                                              \
	"show) row=$(head -n1 rows); [ $(wc -l <rows) = 1 ] || sed -i 1d rows; "                   \
	"[ \"$row\" != away ] || exit 5; echo \"$row\";;\nesac\n"

/* Passes a shard on by a server that shows these rows of the order. */
static int relay_by(const char *rows, const char *stall, bool *cancelled, json_t **end)
{
	struct wh_plan plan = {0};
	struct tree tree;
	char script[PATH_MAX + sizeof(SERVER)], own[PATH_MAX + 16];
	struct wh_relay relay = {.own = own,
		.plan = &plan,
		.from = "a",
		.from_path = "in",
		.to = "b",
		.on_now = note_now};
	int status;

	tree_init(&tree, NULL);
	tree_folder(&tree, "state");
	tree_folder(&tree, "shards");
	tree_file(&tree, "shards/0", "/./f", 5);
	tree_file(&tree, "rows", rows, strlen(rows));
	snprintf(script, sizeof(script), SERVER, tree.root);
	tree_file(&tree, "server", script, strlen(script));
	snprintf(own, sizeof(own), "%s/server", tree.root);
	CU_ASSERT_EQUAL(chmod(own, 0755), 0);
	strcpy(plan.folder, tree.root);
	plan.json = json_pack("{s:s, s:[n], s:[s]}", "path", "to", "shards", "order", stall);
	status = wh_relay_run(&relay);
	*end = relay.end;
	snprintf(own, sizeof(own), "%s/cancelled", tree.root);
	*cancelled = access(own, F_OK) == 0;
	wh_plan_free(&plan);
	tree_free(&tree);
	return status;
}

#define ROW(state, there, moved)                                                                   \
	"{\"state\":\"" state "\",\"delegated_state\":" there ",\"moved_bytes\":" moved "}\n"
#define RUNS(moved) ROW("running", "\"running\"", moved)
#define SHORT       "--stall-timeout=20ms"

/* An order may wait in a queue, and must move where it runs. */
static void orders_are_watched(void)
{
	bool cancelled;
	json_t *end;

	wh_complain_to_nobody();
	wh_say_nothing();
	CU_ASSERT_EQUAL(relay_by(ROW("ready", "null", "0") ROW("running", "\"waiting\"", "0")
					 ROW("running", "\"paused\"", "0") RUNS("1") RUNS("2")
						 RUNS("3") ROW("done", "null", "3"),
				SHORT, &cancelled, &end),
		WH_EXIT_OK);
	CU_ASSERT_FALSE(cancelled);
	json_decref(end);
	CU_ASSERT_EQUAL(relay_by(RUNS("1") RUNS("2"), SHORT, &cancelled, &end), WH_EXIT_STALLED);
	CU_ASSERT_TRUE(cancelled);
	CU_ASSERT_STRING_EQUAL(wh_json_text(end, "error"),
		"job 17 of this host's server has moved nothing for 1.22 s, though it runs; it is "
		"cancelled");
	json_decref(end);
}

/* A server that is restarted goes on with its orders: a second one would bring all of it twice. */
static void server_is_restarted(void)
{
	bool cancelled;
	json_t *end;

	wh_complain_to_nobody();
	wh_say_nothing();
	CU_ASSERT_EQUAL(relay_by(RUNS("1") "away\n" RUNS("2") ROW("done", "null", "3"),
				"--stall-timeout=1s", &cancelled, &end),
		WH_EXIT_OK);
	CU_ASSERT_FALSE(cancelled);
	json_decref(end);
	CU_ASSERT_EQUAL(relay_by(RUNS("1") "away\n", SHORT, &cancelled, &end), WH_EXIT_NETWORK);
	CU_ASSERT_FALSE(cancelled);
	json_decref(end);
}

static void expect_deadline(json_t *found, double needs_bps, json_int_t done_s, const char *met)
{
	char *text = json_dumps(json_object_get(found, "met"), JSON_ENCODE_ANY);

	CU_ASSERT_STRING_EQUAL(text, met);
	CU_ASSERT_DOUBLE_EQUAL(
		json_number_value(json_object_get(found, "needs_bps")), needs_bps, 1e-6);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(found, "done_s")), done_s);
	free(text);
	json_decref(found);
}

static void deadlines(void)
{
	expect_deadline(wh_deadline_look(1100, 1000, 125000, 20000), 10000, 1050, "true");
	expect_deadline(wh_deadline_look(1100, 1000, 125000, 10000), 10000, 1100, "true");
	expect_deadline(wh_deadline_look(1100, 1000, 125001, 10000), 10000.08, 1101, "false");
	expect_deadline(wh_deadline_look(1100, 1000, 125000, 0), 10000, 0, "null");
	expect_deadline(wh_deadline_look(1100, 1100, 1, 1e9), 0, 1101, "false");
	expect_deadline(wh_deadline_look(1100, 1100, 0, 0), 0, 1100, "true");
	expect_deadline(wh_deadline_look(1100, 1101, 0, 0), 0, 1101, "false");
}

/* One whose rate is not known leaves the sum unknown; one under maintenance does not count. */
static void rates_of_receivers(void)
{
	static struct wh_site site;
	char text[256];

	snprintf(text, sizeof(text), THREE, "yes");
	CU_ASSERT_EQUAL_FATAL(read_site(&site, text), -1);
	CU_ASSERT_EQUAL(wh_site_bps(&site), 0);
	CU_ASSERT_EQUAL_FATAL(read_site(&site, "[receiver a]\naddress = h\nrate = 10G\n"
					       "[receiver b]\naddress = i\nrate = 2.5G\n"
					       "[receiver c]\naddress = j\nmaintenance = yes\n"),
		-1);
	CU_ASSERT_EQUAL(wh_site_bps(&site), 12.5e9);
}

CU_TestInfo wh_tests[] = {
	{"receivers by weight", receivers_by_weight},
	{"receivers in turn", receivers_in_turn},
	{"wrong sites", wrong_sites},
	{"shards are level", shards_are_level},
	{"too few shards", too_few_shards},
	{"names of a tree", names_of_a_tree},
	{"names of many folders", names_of_many_folders},
	{"names at a server", names_at_a_server},
	{"tries of a shard", tries_of_a_shard},
	{"names that cannot be read", names_that_cannot_be_read},
	{"nodes that fail", nodes_that_fail},
	{"several sites", several_sites},
	{"what nodes did", what_nodes_did},
	{"orders are watched", orders_are_watched},
	{"a server is restarted", server_is_restarted},
	{"deadlines", deadlines},
	{"rates of receivers", rates_of_receivers},
	CU_TEST_INFO_NULL,
};
