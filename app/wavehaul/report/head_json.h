/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_HEAD_JSON_H
#define WH_APP_HEAD_JSON_H

#include <stdint.h>

#include <jansson.h>

/* What every verb's object begins with: "verb", "ok", "exit_status", "error": the last words. */
json_t *wh_head_json(const char *verb, int status);

/* Of one that moves bytes: "bytes", "seconds" and "goodput_bps", 0 if it took no time. */
void wh_flow_to_json(json_t *object, uint64_t bytes, double seconds);

/* One line on stdout, none of another thread in it; the object is freed. */
void wh_json_print(json_t *object);

#endif
