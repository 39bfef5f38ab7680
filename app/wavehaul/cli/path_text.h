/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_PATH_TEXT_H
#define WH_APP_PATH_TEXT_H

/* Names of files hold any byte but NUL and '/'; terminals and JSON do not take them all. */

#include <stddef.h>

#include <jansson.h>

/* For a terminal (plain_text.h), backslashes doubled; returns text. */
const char *wh_path_text(const char *path, char *text, size_t room);

/* A member KEY; or KEY_hex, where the path is no UTF-8. */
void wh_path_to_json(json_t *object, const char *key, const char *path);

/* What an operator wrote, a host's name perhaps: a string, with '?' for what is no UTF-8. */
json_t *wh_word_to_json(const char *word);

/* A sentence, a peer's words in it perhaps: likewise; null when there is none. */
json_t *wh_text_to_json(const char *text);

#endif
