/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fuzz target: lines on the control socket. A command runs with arguments of its types alone, and
 * any line gets an answer that says whether it was taken.
 */

#include "control/control_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/prng.h"
#include "cli/exit.h"
#include "fuzz.h"
#include "text_seed.h"

static uint64_t taken;
static uint64_t refused;

static const char *const seeds[] = {
	"{\"id\":1,\"do\":\"all\",\"text\":\"a\",\"count\":7,\"switch\":true,\"texts\":[\"a\","
	"\"b\"]}",
	"{\"do\":\"commands\"}",
	"{\"id\":[null],\"do\":\"all\",\"text\":\"\\u00e9\"}",
	"{\"do\":\"mine\"}",
};

static void run_all(struct wh_control_call *call)
{
	const char *text = wh_control_text(call, "text");
	const json_t *texts = json_object_get(call->request, "texts");

	WH_ASSERT(text != NULL && strlen(text) < WH_CONTROL_TEXT_BYTES);
	WH_ASSERT(wh_control_count(call, "count", 7) <= INT64_MAX);
	WH_ASSERT(texts == NULL || json_array_size(texts) <= WH_CONTROL_LIST_MAX);
	for (size_t i = 0; i < json_array_size(texts); i++)
		WH_ASSERT(json_string_value(json_array_get(texts, i)) != NULL);
	if (wh_control_switch(call, "switch"))
		wh_control_fail(call, WH_EXIT_OTHER, "%s", text);
	json_object_set_new(call->answer, "text", json_string(text));
}

static void run_mine(struct wh_control_call *call)
{
	WH_ASSERT(call->administers);
}

static const struct wh_control_command commands[] = {
	{.name = "all",
		.help = "one of each type",
		.run = run_all,
		.argument = {{"text", WH_CONTROL_TEXT, true, ""},
			{"count", WH_CONTROL_COUNT, false, ""},
			{"switch", WH_CONTROL_SWITCH, false, ""},
			{"texts", WH_CONTROL_TEXTS, false, ""}}},
	{.name = "mine", .help = "for who administers", .administers = true, .run = run_mine},
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static struct wh_control_tables tables;
	struct wh_control_call call = {.uid = 1000, .administers = length % 2 == 0};

	if (tables.count == 0)
		wh_control_add(&tables, commands, 2, NULL);

	json_t *answer = wh_control_answer(&tables, (const char *)bytes, length, &call);
	const json_t *ok = json_object_get(answer, "ok");
	char *text = json_dumps(answer, JSON_COMPACT);

	WH_ASSERT(json_is_boolean(ok) && text != NULL && strchr(text, '\n') == NULL);
	WH_ASSERT(json_is_true(ok) ||
		  (json_object_get(answer, "error") != NULL &&
			  json_integer_value(json_object_get(answer, "status")) != WH_EXIT_OK));
	taken += json_is_true(ok);
	refused += json_is_false(ok);
	free(text);
	json_decref(answer);
	return 0;
}

size_t wh_fuzz_seed(uint32_t number, uint8_t *bytes, size_t room)
{
	return wh_fuzz_text_seed(seeds, sizeof(seeds) / sizeof(seeds[0]), number, bytes, room);
}

/* Members of the right names, with values that are near to good ones. */
size_t wh_fuzz_make(struct wh_prng *prng, uint8_t *bytes, size_t room)
{
	static const char *const names[] = {"text", "count", "switch", "texts", "id", "x"};
	static const char *const values[] = {"\"a\"", "7", "true", "[\"a\"]", "\"\"",
		"\"a\\u0000b\"", "-1", "1e3", "9223372036854775807", "9223372036854775808", "null",
		"[]", "[\"a\", 1]", "[[[[]]]]", "{}", "\"\\ud800\""};
	size_t used = (size_t)snprintf(
		(char *)bytes, room, "{\"do\":\"%s\"", wh_prng_below(prng, 8) > 0 ? "all" : "mine");

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		/* Most are there, of their type. */
		bool good = wh_prng_below(prng, 8) > 0;
		uint64_t value = wh_prng_below(prng, sizeof(values) / sizeof(values[0]));
		char text[100];
		size_t chars = (size_t)snprintf(
			text, sizeof(text), ",\"%s\":%s", names[i], values[good ? i : value]);

		if ((i > 0 && wh_prng_below(prng, 2) == 0) || (i == 5 && good))
			continue;
		if (used + chars + 1 > room)
			break;
		memcpy(bytes + used, text, chars);
		used += chars;
	}
	if (used < room)
		bytes[used++] = '}';
	return used;
}

void wh_fuzz_report(void)
{
	printf("%" PRIu64 " lines taken, %" PRIu64 " refused\n", taken, refused);
}
