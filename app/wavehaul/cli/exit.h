/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

enum wh_exit {
	WH_EXIT_OK = 0,
	WH_EXIT_OTHER = 1,
	WH_EXIT_USAGE = 2,
	WH_EXIT_NO_FILE = 3,
	WH_EXIT_NETWORK = 5,
	WH_EXIT_VERIFY = 6,
	WH_EXIT_HARDWARE = 7,    /* configuration or hardware */
	WH_EXIT_EXPECTATION = 8, /* of a scenario */
	WH_EXIT_INTERRUPTED = 20,
	WH_EXIT_PARTIAL = 23, /* some files failed, the others are complete */
	WH_EXIT_STALLED = 30,
};

/* The table for --help. */
#define WH_EXIT_HELP                                                                               \
	"Exit status:\n"                                                                           \
	"  0 ok                5 network                      20 interrupted\n"                    \
	"  1 other failure     6 verification failed          23 some files failed\n"              \
	"  2 wrong usage       7 configuration or hardware    30 stalled\n"                        \
	"  3 no such file      8 an expectation failed\n"
