/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

#define WH_MOMENT_BYTES 32

/* Seconds since 1970 in local time, for people: "2026-11-30 22:00:05"; "?": beyond any calendar. */
const char *wh_moment_text(int64_t seconds, char text[WH_MOMENT_BYTES]);
