/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_JSON_H
#define WH_APP_JSON_H

/* What verbs say as JSON. Names of files hold any byte but NUL and '/', and JSON takes UTF-8. */

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* What an object begins with: "verb", "ok", "exit_status", "error": the last words. */
json_t *wh_head_json(const char *verb, int status);

/* Of a verb that moves bytes: "bytes", "seconds" and "goodput_bps", 0 if it took no time. */
void wh_flow_to_json(json_t *object, uint64_t bytes, double seconds);

/* Adds the members of `more`, which is freed. */
void wh_json_add(json_t *object, json_t *more);

/*
 * On stdout, with json_dumps' flags and an end of the line; none of another thread's lines is in
 * it, and no character that a terminal takes for anything else. The object is freed.
 */
void wh_json_print(json_t *object, size_t flags);

/* A member KEY; or KEY_hex, where the path is no UTF-8. */
void wh_path_to_json(json_t *object, const char *key, const char *path);

/* What an operator wrote, a host's name perhaps: a string, with '?' for what is no UTF-8. */
json_t *wh_word_to_json(const char *word);

/* A sentence, a peer's words in it perhaps: likewise; null when there is none. */
json_t *wh_text_to_json(const char *text);

#endif
