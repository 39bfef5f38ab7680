/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_ASIDE_H
#define WH_FILE_ASIDE_H

/*
 * Work that may wait for a disk for longer than a working core can afford (syncfs, the end of large
 * files, reading large folders) runs on a detached thread of its own, which uses only data of its
 * own.
 */

#include <stdint.h>

/* 0; or a negative errno: no thread could be created, and nothing was run. */
int wh_aside(void (*run)(void *argument), void *argument);

/*
 * Number of such threads now running in this process. Any thread; a process waits a while for them
 * when it ends.
 */
uint32_t wh_aside_count(void);

#endif
