/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * `wavehaul serve --for-client`: the far end of one client, which has started it by ssh (far.h).
 * The client's line comes on standard input, the answer goes to standard output, and nothing else
 * does; complaints are part of the answer.
 *
 * It ends with the client's last line, or once it has lost the client, within a minute: it has had
 * no job for WH_FOR_CLIENT_IDLE_S, WH_FOR_CLIENT_LOST_S if there was none yet, or
 * WH_FOR_CLIENT_GONE_S if standard input has ended, since then ssh or the client is gone. A job
 * without its client is over after the client's --peer-timeout, 30 s at most; one whose ssh alone
 * has died goes on.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/settings.h"
#include "ssh/lines.h"
#include "trust/trust.h"

#define WH_FOR_CLIENT_LOST_S 60
#define WH_FOR_CLIENT_IDLE_S 30
#define WH_FOR_CLIENT_GONE_S 5

struct wh_for_client {
	struct wh_ssh_reader reader;
	struct wh_ssh_line line; /* the client's; then our answer */
	struct wh_identity own;
	bool answered;
	bool heard;   /* told so */
	bool ended;   /* by the client's last line */
	bool is_gone; /* standard input has ended */
	bool had_job;
	uint64_t since_ns; /* of the last job, or of the start */
	uint64_t ended_ns;
};

/*
 * Reads the client's line, and makes the settings fit: the port, root, user and limits of a server
 * that is for one client. -1, or an exit status after a complaint.
 */
int wh_for_client_begin(struct wh_for_client *client, struct wh_settings *settings);

/* The two ends of ssh trust each other; as wh_trust_open. */
int wh_for_client_trust(struct wh_for_client *client, struct wh_trust *trust);

/* The server is ready, at that UDP port. */
void wh_for_client_answer(
	struct wh_for_client *client, const struct wh_settings *settings, uint16_t port);

/* The end of the process: if it is early, the client hears the last complaint. */
void wh_for_client_end(struct wh_for_client *client, int status);

/*
 * Call a few times a second. `jobs`: running now. `heard`: a packet has arrived. Returns how many
 * requests to end there are, as of signals: 0, 1, or 2 if what still runs is not waited for.
 */
uint32_t wh_for_client_look(struct wh_for_client *client, uint32_t jobs, bool heard);
