/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* What servers and clients say is for who replays a seed; otherwise they are silent. */
void said_verbosely(bool verbose);
