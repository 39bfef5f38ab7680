/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_QUEUE_HAND_H
#define WH_QUEUE_HAND_H

/* What a client makes of an operator's words, to hand them to the server of its host. */

#include <stdbool.h>

#include <jansson.h>

#include "control/ask.h"
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

/*
 * The server of this host that is to do what a client was asked for, by --daemon: connected, and
 * what it says of itself. NULL: there is none; *status is -1 where the client may do it by a port
 * of its own, else an exit status after a complaint.
 */
json_t *wh_hand_to(struct wh_asker *asker, const struct wh_settings *settings, enum wh_verb verb,
	bool is_piped, int *status);

#endif
