/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void wh_assert_failed(const char *condition, const char *file, int line)
{
	fprintf(stderr, "wavehaul: internal error: '%s' does not hold at %s:%d\n", condition, file,
		line);
	abort();
}
