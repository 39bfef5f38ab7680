/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_FILE_ASIDE_H
#define WH_FILE_ASIDE_H

/*
 * What may wait for a disk for longer than a working core can be spared (syncfs, the end of large
 * files, the reading of large folders) is done aside: on a thread that lives as long as that
 * takes and that nobody waits for. What it works on is its own.
 */

#include <stdint.h>

/* 0; or a negative errno: there is no thread to be had, and nothing was done. */
int wh_aside(void (*run)(void *argument), void *argument);

/* Errands under way, of the whole process. Any thread; at its end a process gives them a while. */
uint32_t wh_aside_count(void);

#endif
