/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Whether what is left of a fleet's transfer can be there in time. Times are seconds since 1970. */

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/*
 * An object: "by_s"; "needs_bps" in the mean until then, null once it is over; "has_bps"; "done_s"
 * at that rate; and "met", null if has_bps is 0: no rate is known.
 */
json_t *wh_deadline_look(int64_t by_s, int64_t now_s, uint64_t bytes_left, double has_bps);

#define WH_DEADLINE_TEXT_BYTES 300

/* `has`: what the rate is, "the mean so far is". "": all is there. True: it is not met. */
bool wh_deadline_text(const json_t *deadline, const char *has, char text[WH_DEADLINE_TEXT_BYTES]);

/* On stderr if it is not met. */
void wh_deadline_print(const json_t *deadline, const char *has);
