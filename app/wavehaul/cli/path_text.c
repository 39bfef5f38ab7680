/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/path_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/plain_text.h"

const char *wh_path_text(const char *path, char *text, size_t room)
{
	return wh_plain_text(path, true, text, room);
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
