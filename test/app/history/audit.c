/* SPDX-License-Identifier: BSD-3-Clause */

/* Lines of the audit on a disk that gets full, and has room again. */

#include "history/audit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/exit.h"
#include "unit.h"

const char wh_suite_name[] = "app/audit";

static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A line that was cut is lost; the next stands on a line of its own. */
static void test_torn(void)
{
	const struct wh_refusal refusal = {.times = 3};
	char path[] = "/tmp/wh_audit_XXXXXX";
	struct wh_audit audit = {0};
	char line[2000];
	uint32_t lines = 0, whole = 0;
	int fd = mkstemp(path);
	FILE *file;

	CU_ASSERT_FATAL(fd >= 0);
	close(fd);
	signal(SIGXFSZ, SIG_IGN);
	CU_ASSERT_EQUAL_FATAL(wh_audit_open(&audit, path), WH_EXIT_OK);
	wh_audit_refused(&audit, &refusal, "first");
	limit_files((rlim_t)lseek(audit.fd, 0, SEEK_CUR) + 20);
	for (int i = 0; i < 2; i++)
		wh_audit_refused(&audit, &refusal, "lost");
	CU_ASSERT_EQUAL(atomic_load(&audit.lost), 2);
	limit_files(RLIM_INFINITY);
	for (int i = 0; i < 2; i++)
		wh_audit_refused(&audit, &refusal, "later");
	CU_ASSERT_EQUAL(atomic_load(&audit.lost), 2);
	wh_audit_close(&audit);
	file = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		lines++;
		whole += line[0] == '{' && strstr(line, "}\n") != NULL &&
			 strchr(line + 1, '{') == NULL;
	}
	fclose(file);
	CU_ASSERT_EQUAL(lines, 4);
	CU_ASSERT_EQUAL(whole, 3);
	unlink(path);
}

CU_TestInfo wh_tests[] = {
	{"a disk that is full for a while", test_torn},
	CU_TEST_INFO_NULL,
};
