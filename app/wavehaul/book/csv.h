/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_BOOK_CSV_H
#define WH_BOOK_CSV_H

#include <stdio.h>

/*
 * A field of RFC 4180. Names of peers and files may be anything: what moves a terminal is escaped,
 * and what a spreadsheet would take for a formula has an apostrophe before it.
 */
void wh_csv_text(FILE *to, const char *text);

#endif
