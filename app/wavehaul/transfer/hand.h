/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Converts a client's operands and options into a request to the server of its host. */

#include <jansson.h>

#include "control/control_ask.h"
#include "transfer/operands.h"

/*
 * A request job.add for a transfer whose operands were read. NULL after a complaint: a local path
 * is not below the server's root.
 */
json_t *wh_order_request(const struct wh_wanted *wanted, const char *root);

/*
 * Connects to the server of this host that is to run a client's request, by --daemon; returns its
 * description. NULL: none; *status is -1 if the client may use its own port, else an exit status
 * after a complaint.
 */
json_t *wh_hand_to(
	struct wh_asker *asker, const struct wh_settings *settings, enum wh_verb verb, int *status);
