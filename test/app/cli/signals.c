/* SPDX-License-Identifier: BSD-3-Clause */

/* How often a process may be told to end before it does so by itself. */

#include "cli/signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/exit.h"
#include "unit.h"

const char wh_suite_name[] = "app/signals";

/* Of a process that is told so often at once and then later, and ends with 0 if it still can. */
static int end_after(uint32_t at_once, uint32_t later)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		wh_signals_catch();
		for (uint32_t i = 1; i <= at_once + later; i++) {
			if (i == at_once + 1)
				usleep(2100000);
			raise(i % 2 == 0 ? SIGINT : SIGTERM);
			if (wh_signals_count() != i)
				_exit(WH_EXIT_OTHER);
		}
		_exit(WH_EXIT_OK);
	}
	CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_TRUE_FATAL(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_third_ends(void)
{
	CU_ASSERT_EQUAL(end_after(5, 0), WH_EXIT_OK);
	CU_ASSERT_EQUAL(end_after(1, 1), WH_EXIT_OK);
	CU_ASSERT_EQUAL(end_after(1, 2), WH_EXIT_INTERRUPTED);
	CU_ASSERT_EQUAL(end_after(3, 1), WH_EXIT_INTERRUPTED);
}

CU_TestInfo wh_tests[] = {
	{"the third ends the process", test_third_ends},
	CU_TEST_INFO_NULL,
};
