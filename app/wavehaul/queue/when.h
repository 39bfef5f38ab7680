/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* A time as operators write it: 22:00, Thu 08:00, 2026-11-30 22:00, or 90m from now. */

#include <stdbool.h>
#include <stdint.h>

/* In local time; 22:00 and Thu 08:00 are the next ones. */
bool wh_when_parse(const char *text, int64_t now_s, int64_t *when_s);
