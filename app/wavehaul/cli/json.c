/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/complain.h"
#include "cli/exit.h"
#include "cli/plain_text.h"

json_t *wh_head_json(const char *verb, int status)
{
	WH_ASSERT(status >= 0); /* -1 means: go on */

	/* A complaint may be about an attempt that was made good, or about another job. */
	const char *error = status == WH_EXIT_OK ? "" : wh_last_complaint();
	json_t *object = json_pack("{s:s, s:b, s:i, s:o}", "verb", verb, "ok", status == WH_EXIT_OK,
		"exit_status", status, "error", wh_text_to_json(error));

	WH_ASSERT(object != NULL);
	return object;
}

void wh_flow_to_json(json_t *object, uint64_t bytes, uint64_t flowed_bytes, double seconds)
{
	WH_ASSERT(seconds >= 0);
	wh_json_add(object,
		json_pack("{s:I, s:f, s:f}", "bytes", (json_int_t)bytes, "seconds", seconds,
			"goodput_bps", seconds > 0 ? (double)flowed_bytes * 8 / seconds : 0));
}

void wh_json_add(json_t *object, json_t *more)
{
	WH_ASSERT(more != NULL);
	json_object_update(object, more);
	json_decref(more);
}

void wh_json_print(json_t *object, size_t flags)
{
	char *text = json_dumps(object, flags);

	WH_ASSERT(object != NULL);
	if (text != NULL) {
		flockfile(stdout);
		wh_plain_json(text, stdout);
		putchar('\n');
		fflush(stdout);
		funlockfile(stdout);
	}
	free(text);
	json_decref(object);
}

void wh_path_to_json(json_t *object, const char *key, const char *path)
{
	json_t *string = json_string(path);
	char hex_key[64];
	char *hex;

	if (string != NULL) {
		json_object_set_new(object, key, string);
		return;
	}
	hex = malloc(2 * strlen(path) + 1);
	if (hex == NULL)
		return;
	for (size_t i = 0; path[i] != '\0'; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)path[i]);
	WH_ASSERT(strlen(key) + sizeof("_hex") <= sizeof(hex_key));
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	json_object_set_new(object, hex_key, json_string(hex));
	free(hex);
}

static int digit_of(char letter)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = letter != '\0' ? strchr(digits, letter) : NULL;

	return at != NULL ? (int)(at - digits) : 0;
}

uint16_t wh_path_from_json(const json_t *object, const char *key, char path[WH_PATH_BYTES_MAX + 1])
{
	const char *text = json_string_value(json_object_get(object, key));
	size_t bytes = 0;
	char hex_key[64];

	if (text != NULL) {
		snprintf(path, WH_PATH_BYTES_MAX + 1, "%s", text);
		return (uint16_t)strlen(path);
	}
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	text = wh_json_text(object, hex_key);
	for (; text[0] != '\0' && text[1] != '\0' && bytes < WH_PATH_BYTES_MAX; text += 2)
		path[bytes++] = (char)(digit_of(text[0]) << 4 | digit_of(text[1]));
	path[bytes] = '\0';
	return (uint16_t)bytes;
}

bool wh_list_add(json_t *list, json_t *text, const char *word)
{
	return json_array_append_new(list, text) == 0 ||
	       wh_fail(false,
		       "'%s' is not UTF-8, as all is that a server is told: name the folder above, "
		       "with --recursive, or use a port of your own (--daemon never)",
		       word);
}

const char *wh_json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL ? text : "";
}

uint64_t wh_json_count(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

bool wh_is_json_text(const char *text)
{
	json_t *string = json_string(text);
	bool is_text = string != NULL;

	json_decref(string);
	return is_text;
}

json_t *wh_word_to_json(const char *word)
{
	json_t *string = json_string(word);
	char *plain;

	if (string != NULL || (plain = strdup(word)) == NULL)
		return string;
	for (char *byte = plain; *byte != '\0'; byte++)
		if (*byte & 0x80)
			*byte = '?';
	string = json_string(plain);
	free(plain);
	return string;
}

json_t *wh_text_to_json(const char *text)
{
	return text[0] != '\0' ? wh_word_to_json(text) : json_null();
}
