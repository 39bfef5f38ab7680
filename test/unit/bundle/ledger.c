/* SPDX-License-Identifier: BSD-3-Clause */
#include "bundle/ledger.h"

#include "unit.h"

const char wh_suite_name[] = "ledger";

static uint16_t path_of(uint64_t id, char *path)
{
	/* Lengths from 7 to about 130, so that ring's ends are met at every offset. */
	return (uint16_t)sprintf(path, "%06lu%.*s", (unsigned long)(id % 1000000),
		(int)(1 + id * 7 % 123),
		"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggghhhhhhhhhh"
		"iiiiiiiiiijjjjjjjjjjkkkkkkkkkkllllllllllmmmmmmmmmm");
}

static void add(struct wh_ledger *ledger)
{
	char path[160];
	uint64_t id = ledger->next;
	uint16_t bytes = path_of(id, path);

	CU_ASSERT_EQUAL_FATAL(wh_ledger_reserve(ledger, bytes), 0);
	wh_ledger_add(ledger, path, bytes)->size_bytes = id * 3;
	CU_ASSERT_EQUAL(ledger->next, id + 1);
}

static bool holds(struct wh_ledger *ledger, uint64_t id)
{
	struct wh_ledger_entry *entry = wh_ledger_find(ledger, id);
	char path[160];
	uint16_t bytes = path_of(id, path);

	return entry != NULL && entry->size_bytes == id * 3 && entry->path_bytes == bytes &&
	       entry->asked == WH_LEDGER_NO_ASKED && !entry->is_told &&
	       strcmp(wh_ledger_path(ledger, entry), path) == 0;
}

static void empty(void)
{
	struct wh_ledger ledger;

	CU_ASSERT_EQUAL_FATAL(wh_ledger_init(&ledger, WH_LEDGER_ENTRIES_MAX), 0);
	CU_ASSERT_PTR_NULL(wh_ledger_find(&ledger, 0));
	CU_ASSERT_PTR_NULL(wh_ledger_find(&ledger, UINT64_MAX));
	add(&ledger);
	CU_ASSERT(holds(&ledger, 0));
	CU_ASSERT_PTR_NULL(wh_ledger_find(&ledger, 1));
	wh_ledger_drop_first(&ledger);
	CU_ASSERT_PTR_NULL(wh_ledger_find(&ledger, 0));
	wh_ledger_free(&ledger);
}

/* A queue of steady length goes round without growing. */
static void goes_round(void)
{
	struct wh_ledger ledger;
	uint64_t wrong = 0;

	CU_ASSERT_EQUAL_FATAL(wh_ledger_init(&ledger, WH_LEDGER_ENTRIES_MAX), 0);
	for (int i = 0; i < 100; i++)
		add(&ledger);

	uint32_t path_room = ledger.path_room;

	for (int i = 0; i < 20000; i++) {
		wrong += !holds(&ledger, ledger.first) || !holds(&ledger, ledger.next - 1);
		wh_ledger_drop_first(&ledger);
		add(&ledger);
	}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(ledger.entry_room, 256);
	CU_ASSERT_EQUAL(ledger.path_room, path_room);
	wh_ledger_free(&ledger);
}

/* Growing in the middle of a round keeps everything. */
static void grows(void)
{
	struct wh_ledger ledger;
	uint64_t wrong = 0;

	CU_ASSERT_EQUAL_FATAL(wh_ledger_init(&ledger, WH_LEDGER_ENTRIES_MAX), 0);
	for (int i = 0; i < 30000; i++) {
		add(&ledger);
		if (i % 3 == 0)
			wh_ledger_drop_first(&ledger);
	}
	CU_ASSERT_EQUAL(ledger.first, 10000);
	for (uint64_t id = ledger.first; id < ledger.next; id++)
		wrong += !holds(&ledger, id);
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT_EQUAL(ledger.entry_room, 32768);
	wh_ledger_free(&ledger);
}

static void bound_of_entries(void)
{
	struct wh_ledger ledger;

	CU_ASSERT_EQUAL_FATAL(wh_ledger_init(&ledger, WH_LEDGER_ENTRIES_MAX), 0);
	for (uint32_t i = 0; i < WH_LEDGER_ENTRIES_MAX; i++) {
		CU_ASSERT_EQUAL_FATAL(wh_ledger_reserve(&ledger, 3), 0);
		wh_ledger_add(&ledger, "abc", 3);
	}
	CU_ASSERT_EQUAL(wh_ledger_reserve(&ledger, 3), -ENOBUFS);
	wh_ledger_drop_first(&ledger);
	CU_ASSERT_EQUAL(wh_ledger_reserve(&ledger, 3), 0);
	wh_ledger_free(&ledger);
}

static void bound_of_paths(void)
{
	struct wh_ledger ledger;
	char path[WH_PATH_BYTES_MAX];
	uint32_t count = 0;

	memset(path, 'p', sizeof(path));
	CU_ASSERT_EQUAL_FATAL(wh_ledger_init(&ledger, WH_LEDGER_ENTRIES_MAX), 0);
	while (wh_ledger_reserve(&ledger, sizeof(path)) == 0 && count < 5000) {
		wh_ledger_add(&ledger, path, sizeof(path));
		count++;
	}
	CU_ASSERT_EQUAL(count, 4096); /* of 4096 bytes, with the NUL */
	CU_ASSERT_EQUAL(wh_ledger_reserve(&ledger, sizeof(path)), -ENOBUFS);
	for (int i = 0; i < 10000; i++) {
		wh_ledger_drop_first(&ledger);
		CU_ASSERT_EQUAL_FATAL(wh_ledger_reserve(&ledger, sizeof(path)), 0);
		wh_ledger_add(&ledger, path, sizeof(path));
	}
	CU_ASSERT_EQUAL(ledger.path_room, WH_LEDGER_PATHS_MAX);
	wh_ledger_free(&ledger);
}

CU_TestInfo wh_tests[] = {
	{"empty", empty},
	{"goes round", goes_round},
	{"grows", grows},
	{"bound of entries", bound_of_entries},
	{"bound of paths", bound_of_paths},
	CU_TEST_INFO_NULL,
};
