/* SPDX-License-Identifier: BSD-3-Clause */

/* Answers about jobs as people read them: the table, one job, times as times. */

#include "console/shown.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unit.h"

const char wh_suite_name[] = "app/shown";

static const char running[] =
	"{'job': 7, 'state': 'running', 'verb': 'send', 'host': 'dtn2', 'priority': 5, 'rate': "
	"'9.5G', 'tries': 1, 'retries': 3, 'owner': 0, 'attached': false, 'here': ['run42', 'b', "
	"'c'], 'there': ['in/'], 'options': ['--recursive'], 'after': null, 'due': null, 'added': "
	"1700000000, 'began': 1700000005, 'ended': null, 'exit_status': 0, 'error': null, 'files': "
	"0, 'skipped': 0, 'failed': 0, 'bytes': 0, 'moved_bytes': 1073741824, 'seconds': 0.0, "
	"'rate_bps': 9500000000, 'percent': 43.21, 'now_bps': 9840000000.0, 'eta_s': 3665.2}";

static const char fetched[] =
	"{'job': 8, 'state': 'done', 'verb': 'get', 'host': '2001:db8::1', 'here': ['home'], "
	"'there': ['a'], 'began': null, 'moved_bytes': 5, 'percent': null, 'now_bps': null, "
	"'eta_s': null, 'error': null}";

static const char copied[] =
	"{'job': 9, 'state': 'ready', 'verb': 'copy', 'host': 'dtn2', 'here': ['x'], 'there': "
	"['dtn3:y'], 'began': null, 'moved_bytes': 0, 'percent': null, 'now_bps': null, 'eta_s': "
	"null, 'error': 'dtn2 does not know yet'}";

/* The text has ' for ". */
static json_t *parse(const char *format, const char *one, const char *two, const char *three)
{
	char text[4096];
	json_t *answer;

	snprintf(text, sizeof(text), format, one, two, three);
	for (char *c = text; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	answer = json_loads(text, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(answer);
	return answer;
}

static char *show(const char *command, json_t *answer)
{
	char *text = NULL;
	size_t bytes = 0;

	setenv("TZ", "UTC0", 1);
	tzset();

	FILE *to = open_memstream(&text, &bytes);

	wh_answer_show(command, answer, NULL, 0, (struct wh_shown_room){0}, to);
	fclose(to);
	json_decref(answer);
	return text;
}

static void test_list(void)
{
	char *text = show("job.list", parse("{'jobs': [%s, %s, %s]}", running, fetched, copied));

	CU_ASSERT_STRING_EQUAL(text,
		"job  state    verb  percent  moved     now        left     began                "
		"from               to        error\n"
		"7    running  send  43.2     1.00 GiB  9.84 Gb/s  1:01:05  2023-11-14 22:13:25  "
		"run42, and 2 more  dtn2:in/  -\n"
		"8    done     get   100.0    5 B       -          -        -                    "
		"[2001:db8::1]:a    home      -\n"
		"9    ready    copy  -        0 B       -          -        -                    "
		"dtn2:x             dtn3:y    dtn2 does not know yet\n");
	free(text);
	text = show("job.list", parse("{'jobs': []}%s%s%s", "", "", ""));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "job  state"));
	free(text);
}

static void test_show(void)
{
	char *text = show("job.show", parse("{'ok': true, 'job': %s}%s%s", running, "", ""));

	CU_ASSERT_STRING_EQUAL(text, "job                      7\n"
				     "state                    running\n"
				     "verb                     send\n"
				     "from                     run42\n"
				     "                         b\n"
				     "                         c\n"
				     "to                       dtn2:in/\n"
				     "options                  --recursive\n"
				     "percent                  43.2\n"
				     "rate now                 9.84 Gb/s\n"
				     "time left                1:01:05\n"
				     "moved                    1.00 GiB\n"
				     "files                    0\n"
				     "bytes of files           0 B\n"
				     "skipped                  0\n"
				     "failed                   0\n"
				     "seconds                  0\n"
				     "rate limit               9.5G\n"
				     "rate limit now           9.50 Gb/s\n"
				     "priority                 5\n"
				     "added                    2023-11-14 22:13:20\n"
				     "began                    2023-11-14 22:13:25\n"
				     "tries                    1\n"
				     "retries                  3\n"
				     "owner                    root\n");
	free(text);
}

/* Whatever a server says is shown, or not, and never believed to be there. */
static void test_other_servers(void)
{
	static const char *const answers[] = {"{}", "{'job': 5}", "{'job': {}}",
		"{'jobs': [1, {}]}", "{'jobs': {'a': 1}}",
		"{'job': {'here': 'a', 'there': [1, null], 'began': 1e300}}",
		"{'jobs': [{'verb': 5, 'eta_s': -1e300, 'percent': 'x', 'began': "
		"9223372036854775807}]}"};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		free(show("job.list", parse("%s%s%s", answers[i], "", "")));
		free(show("job.show", parse("%s%s%s", answers[i], "", "")));
	}
}

CU_TestInfo wh_tests[] = {
	{"list", test_list},
	{"show", test_show},
	{"other servers", test_other_servers},
	CU_TEST_INFO_NULL,
};
