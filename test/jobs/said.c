/* SPDX-License-Identifier: BSD-3-Clause */
#include "said.h"

#include "cli/complain.h"

void said_verbosely(bool verbose)
{
	if (verbose)
		return;
	wh_say_nothing();
	wh_complain_to_nobody();
}
