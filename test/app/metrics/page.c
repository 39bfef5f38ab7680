/* SPDX-License-Identifier: BSD-3-Clause */
#include "metrics/page.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "page";

#define HOSTILE "<script>alert('x')</script>&\\\"\\u001b[2J\\u202e"
#define PLAIN   "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;\\x1b[2J\\u202e"

static const struct {
	const char *request;
	const char *answer;
} answers[] = {
	{"{\"do\":\"status\"}", "{\"port\": \"" HOSTILE "\", \"seconds\": 7260, \"live\": 3,"
				" \"link_up\": true, \"draining\": true}"},
	{"{\"do\":\"totals\"}",
		"{\"totals\": {\"receiver\": {\"live\": 1, \"moved_bytes\": 2048}}}"},
	{"{\"do\":\"jobs\"}", "{\"jobs\": [{\"verb\": \"get\", \"peer\": \"" HOSTILE "\","
			      " \"path\": \"secret\", \"bytes\": 1073741824}]}"},
	{"{\"do\":\"job.list\"}", "{\"jobs\": []}"},
	{"{\"do\":\"transfers\",\"count\":30}",
		"{\"transfers\": [{\"name\": \"" HOSTILE "\", \"path\": \"secret\", \"bps\": 9.5e9,"
		" \"why\": \"secret\", \"seconds\": 1.5}]}"},
};

static bool silent;

static json_t *ask(void *context, const char *request)
{
	(void)context;
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if (strcmp(answers[i].request, request) == 0)
			return silent ? NULL : json_loads(answers[i].answer, 0, NULL);
	CU_FAIL("no such request");
	return NULL;
}

static char *written(void)
{
	const struct wh_page_asker asker = {ask, NULL};
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	wh_page_write(to, &asker);
	fclose(to);
	return text;
}

static uint32_t times(const char *text, const char *part)
{
	uint32_t count = 0;

	while ((text = strstr(text, part)) != NULL) {
		text += strlen(part);
		count++;
	}
	return count;
}

static void test_page(void)
{
	char *text = written();

	CU_ASSERT_EQUAL(strncmp(text, "<!DOCTYPE html>", 15), 0);
	CU_ASSERT_EQUAL(times(text, PLAIN), 3);
	CU_ASSERT_EQUAL(times(text, "<script"), 0);
	CU_ASSERT_EQUAL(times(text, "\x1b"), 0);
	CU_ASSERT_EQUAL(times(text, "secret"), 0);
	CU_ASSERT_EQUAL(
		times(text, "Serving for 2 h 01 min; the link is up; 3 jobs, and no new"), 1);
	CU_ASSERT_EQUAL(times(text, "<td class=\"n\">2.00 KiB</td>"), 1);
	CU_ASSERT_EQUAL(times(text, "<td class=\"n\">1.00 GiB</td>"), 1);
	CU_ASSERT_EQUAL(times(text, "<td class=\"n\">9.50 Gb/s</td>"), 1);
	CU_ASSERT_EQUAL(times(text, "<td class=\"n\">1.50 s</td>"), 1);
	CU_ASSERT_EQUAL(times(text, "<p>Empty.</p>"), 1);
	CU_ASSERT_EQUAL(times(text, "<tr>"), times(text, "</tr>"));
	CU_ASSERT_EQUAL(times(text, "<table>"), 3);
	free(text);
}

/* A server that is about to end answers nothing. */
static void test_silence(void)
{
	char *text;

	silent = true;
	text = written();
	silent = false;
	CU_ASSERT_EQUAL(times(text, "</html>"), 1);
	CU_ASSERT_EQUAL(times(text, "<b>down</b>"), 1);
	free(text);
}

CU_TestInfo wh_tests[] = {
	{"what peers say is text", test_page},
	{"no answers", test_silence},
	CU_TEST_INFO_NULL,
};
