/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdio.h>

/*
 * Writes a field of RFC 4180. Names of peers and files may contain anything: control characters are
 * escaped, and a text that a spreadsheet would take for a formula is preceded by an apostrophe.
 */
void wh_csv_text(FILE *to, const char *text);
