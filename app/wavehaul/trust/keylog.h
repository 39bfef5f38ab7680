/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_KEYLOG_H
#define WH_APP_KEYLOG_H

/*
 * Writes the keys of all sessions that begin from then on into that file, for the dissector, and
 * says so; until the process ends. "": writes none. The file is ours alone, or made so. 0, or an
 * exit status after one sentence.
 */
int wh_keylog_open(const char *path);

#endif
