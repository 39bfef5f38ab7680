/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* JSON output of verbs. File names may contain any byte but NUL and '/', while JSON is UTF-8. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "bundle/record.h"

/* The first members of an object: "verb", "ok", "exit_status", and "error": the last complaint. */
json_t *wh_head_json(const char *verb, int status);

/*
 * For a verb that moves bytes: "bytes", "seconds", and "goodput_bps" of those that flowed, 0 if
 * that took no time.
 */
void wh_flow_to_json(json_t *object, uint64_t bytes, uint64_t flowed_bytes, double seconds);

/* Adds the members of `more`, which it frees. */
void wh_json_add(json_t *object, json_t *more);

/*
 * Prints on stdout, with json_dumps' flags and a newline, not mixed with lines of other threads,
 * and with control characters escaped. Frees the object.
 */
void wh_json_print(json_t *object, size_t flags);

/* A member KEY; or KEY_hex if the path is not UTF-8. */
void wh_path_to_json(json_t *object, const char *key, const char *path);

/* The inverse, with a NUL; returns the bytes before it: 0 if there is no such member. */
uint16_t wh_path_from_json(const json_t *object, const char *key, char path[WH_PATH_BYTES_MAX + 1]);

/*
 * Appends a text to a list, which takes it. False after a complaint that names `word`: json_string
 * or json_sprintf has made NULL of it, as it is not UTF-8.
 */
bool wh_list_add(json_t *list, json_t *text, const char *word);

/* A member's text, "" if it has none; and its number, 0 if it has none. */
const char *wh_json_text(const json_t *object, const char *key);
uint64_t wh_json_count(const json_t *object, const char *key);

/* Whether JSON has it: it is UTF-8. */
bool wh_is_json_text(const char *text);

/* Text of an operator, such as a host's name: a string, with '?' for invalid UTF-8. */
json_t *wh_word_to_json(const char *word);

/*
 * A sentence, possibly with text from a peer: a string, with '?' for invalid UTF-8; null if empty.
 */
json_t *wh_text_to_json(const char *text);
