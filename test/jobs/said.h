/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_JOBS_SAID_H
#define WH_JOBS_SAID_H

#include <stdbool.h>

/* What servers and clients say is for who replays a seed; otherwise they are silent. */
void said_verbosely(bool verbose);

#endif
