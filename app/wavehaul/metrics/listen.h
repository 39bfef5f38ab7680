/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_METRICS_LISTEN_H
#define WH_METRICS_LISTEN_H

/* Where figures are served: [ADDRESS:]PORT, of this host alone unless an address is named. */

#include <stddef.h>

#define WH_LISTEN_TEXT_BYTES 64

/*
 * A socket that listens there, and as `told` where that is, with the port that port 0 has become.
 * Or a negative errno; -EINVAL: that is not what the text is.
 */
int wh_listen_open(const char *text, char told[WH_LISTEN_TEXT_BYTES]);

#endif
