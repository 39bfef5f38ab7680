/* SPDX-License-Identifier: BSD-3-Clause */

/* What is said of a file that failed names the remedy, and fits. */

#include "cli/fault_text.h"

#include <errno.h>
#include <string.h>

#include "unit.h"

const char wh_suite_name[] = "app/cli/fault_text";

static void expect(enum wh_doing doing, int error, const char *words)
{
	char text[WH_FAULT_TEXT_BYTES];

	CU_ASSERT_PTR_NOT_NULL(strstr(wh_fault_text(text, doing, error), words));
	CU_ASSERT_STRING_EQUAL(wh_fault_text(text, doing, -error), text);
	CU_ASSERT(strlen(text) < WH_FAULT_TEXT_BYTES - 1);
}

static void test_remedies(void)
{
	expect(WH_DOING_LISTING, ENOMEM, "raise --peer-memory or --buffers of the server");
	expect(WH_DOING_READING, ENOMEM, "Cannot allocate memory");
	expect(WH_DOING_LISTING, EACCES, "listing the folder failed: Permission denied");
	expect(WH_DOING_KIND, EISDIR, "add -r to transfer it");
}

CU_TestInfo wh_tests[] = {
	{"remedies", test_remedies},
	CU_TEST_INFO_NULL,
};
