/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What can stand on a command line of wavehaul where the tabulator is pressed. */

#include <stdint.h>

/*
 * Prints an offer a line, a tabulator, and what it is. `words` are those behind the program's name;
 * the last one is being completed. The shell makes further offers of lines that begin with '@':
 *
 *   @files       names of files here
 *   @jobs        numbers of jobs
 *   @peers       names of peers
 *   @peers:      names of peers, each with a colon behind
 *   @scenarios   names of scenarios
 */
void wh_offers_print(uint32_t count, char *const *words);
