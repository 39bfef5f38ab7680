/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_HAND_H
#define WH_QUEUE_HAND_H

/* What a client makes of an operator's words, to hand them to the server of its host. */

#include <stdbool.h>

#include <jansson.h>

#include "report/transfer.h"

/*
 * A path as the server has it: below its root, a final '/' kept. The caller's to free; NULL: it is
 * not below, or no such folder.
 */
char *wh_path_below(const char *root, const char *path);

/*
 * A request job.add of a transfer whose operands were read. NULL after a complaint: a path of this
 * host is not below the server's root.
 */
json_t *wh_order_request(const struct wh_transfer *transfer, const char *root);

#endif
