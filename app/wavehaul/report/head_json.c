/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/head_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/path_text.h"
#include "cli/plain_text.h"

json_t *wh_head_json(const char *verb, int status)
{
	WH_ASSERT(status >= 0); /* -1 is to go on */

	json_t *object = json_pack("{s:s, s:b, s:i, s:o}", "verb", verb, "ok", status == WH_EXIT_OK,
		"exit_status", status, "error", wh_text_to_json(wh_last_complaint()));

	WH_ASSERT(object != NULL);
	return object;
}

void wh_flow_to_json(json_t *object, uint64_t bytes, double seconds)
{
	WH_ASSERT(seconds >= 0);
	json_object_set_new(object, "bytes", json_integer((json_int_t)bytes));
	json_object_set_new(object, "seconds", json_real(seconds));
	json_object_set_new(
		object, "goodput_bps", json_real(seconds > 0 ? (double)bytes * 8 / seconds : 0));
}

void wh_json_print(json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT);

	if (text != NULL) {
		wh_plain_json(text, stdout);
		putchar('\n');
		fflush(stdout);
	}
	free(text);
	json_decref(object);
}
