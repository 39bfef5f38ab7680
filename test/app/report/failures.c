/* SPDX-License-Identifier: BSD-3-Clause */

/* What a transfer keeps of the files that failed, when the other end has no end of them. */

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/CUnit.h>
#include <jansson.h>

#include "bundle/record.h"
#include "report/failures.h"
#include "unit.h"

const char wh_suite_name[] = "app/failures";

#define MANY 999999

static struct wh_failures failures;

static json_int_t unnamed(const json_t *object, const char *of)
{
	return json_integer_value(json_object_get(json_object_get(object, "unnamed"), of));
}

static size_t in_use_bytes(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks;
}

static void test_few(void)
{
	json_t *object = json_object();

	wh_failures_init(&failures);
	CU_ASSERT_PTR_NULL(wh_failures_first(&failures));
	wh_failures_add(&failures, "a", "is a pipe", WH_FAILURE_PASSED_OVER);
	CU_ASSERT_PTR_NULL(wh_failures_first(&failures));
	wh_failures_add(&failures, "b", "no space", WH_FAILURE_FAILED);
	wh_failures_add(&failures, "c\xff", "no room", WH_FAILURE_FAILED);
	wh_failures_add(&failures, "old/", "", WH_FAILURE_REMOVED);
	CU_ASSERT_STRING_EQUAL(wh_failures_first(&failures)->path, "b");
	wh_failures_to_json(&failures, object);

	char *text = json_dumps(object, JSON_COMPACT);

	CU_ASSERT_STRING_EQUAL(text,
		"{\"failures\":[{\"error\":\"no space\",\"path\":\"b\"},"
		"{\"error\":\"no room\",\"path_hex\":\"63ff\"}],"
		"\"passed_over\":[{\"error\":\"is a pipe\",\"path\":\"a\"}],"
		"\"removed_names\":[{\"path\":\"old/\"}],"
		"\"unnamed\":{\"failures\":0,\"passed_over\":0,\"removed\":0}}");
	free(text);
	json_decref(object);
	wh_failures_forget(&failures);
}

/* A million of all kinds: the first ones by name, all counted, and no more memory than allowed. */
static void test_many(void)
{
	json_t *object = json_object();
	size_t before_bytes = in_use_bytes();
	char path[32];

	wh_failures_init(&failures);
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(path, sizeof(path), "%u", i);
		wh_failures_add(&failures, path, "why", i % WH_FAILURE_KINDS);
	}
	/* A name costs 30 bytes of JSON at least, and in memory three blocks. */
	CU_ASSERT(in_use_bytes() - before_bytes < (size_t)WH_FAILURE_KINDS * WH_FAILURES_BYTES /
							  30 * (sizeof(struct wh_failure) + 96));
	wh_failures_to_json(&failures, object);
	for (uint32_t kind = 0; kind < WH_FAILURE_KINDS; kind++) {
		static const char *const lists[] = {"failures", "passed_over", "removed_names"};
		const char *of = kind == WH_FAILURE_REMOVED ? "removed" : lists[kind];
		const json_t *list = json_object_get(object, lists[kind]);
		size_t named = json_array_size(list);
		char *text = json_dumps(list, JSON_COMPACT);

		CU_ASSERT(named > 5000 && strlen(text) <= WH_FAILURES_BYTES);
		CU_ASSERT_EQUAL(named + (size_t)unnamed(object, of), MANY / WH_FAILURE_KINDS);
		snprintf(path, sizeof(path), "%zu", WH_FAILURE_KINDS * (named - 1) + kind);
		CU_ASSERT_STRING_EQUAL(
			json_string_value(json_object_get(json_array_get(list, named - 1), "path")),
			path);
		free(text);
	}
	json_decref(object);
	wh_failures_forget(&failures);
	CU_ASSERT(STAILQ_EMPTY(&failures.named) && failures.unnamed[WH_FAILURE_FAILED] == 0);
}

/* Names that need most room in JSON: control characters, and what is not UTF-8. */
static void test_long(void)
{
	static const char bytes[] = {'\x01', '\xff', '"', 'a'};
	char path[WH_PATH_BYTES_MAX + 1] = "";
	json_t *object;
	char *text;

	for (uint32_t i = 0; i < sizeof(bytes); i++) {
		memset(path, bytes[i], sizeof(path) - 1);
		wh_failures_init(&failures);
		for (uint32_t count = 0; count < 1000; count++)
			wh_failures_add(&failures, path, "why", WH_FAILURE_FAILED);
		wh_failures_add(&failures, "short", "why", WH_FAILURE_FAILED);
		object = json_object();
		wh_failures_to_json(&failures, object);
		text = json_dumps(object, JSON_COMPACT);
		CU_ASSERT(strlen(text) > WH_FAILURES_BYTES / 2 &&
			  strlen(text) < WH_FAILURES_BYTES + 150);
		CU_ASSERT_PTR_NULL(strstr(text, "short"));
		CU_ASSERT_EQUAL(json_array_size(json_object_get(object, "failures")) +
					(size_t)unnamed(object, "failures"),
			1001);
		free(text);
		json_decref(object);
		wh_failures_forget(&failures);
	}
}

CU_TestInfo wh_tests[] = {
	{"a few are all named", test_few},
	{"of a million the first are named, and the rest counted", test_many},
	{"the longest names stay within the limit", test_long},
	CU_TEST_INFO_NULL,
};
