/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * From now until the process ends, writes the keys of all new sessions to that file, for the
 * dissector, and reports that. "": does nothing. Only the owner can read the file. 0, or an exit
 * status after one sentence.
 */
int wh_keylog_open(const char *path);
