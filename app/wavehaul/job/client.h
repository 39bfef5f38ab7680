/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * The path to a server, before and during jobs with it (lanes.h): the link, the proof that packets
 * of the full MTU reach the server and return, or what was asked of the server (udp), and errors
 * reported from the path. A process has one for each of its servers.
 */

#include <stdatomic.h>

#include "host/host.h"
#include "job/jobs.h"
#include "neighbour/mtu_proof.h"

enum wh_client_state {
	WH_CLIENT_LINK = 0, /* waits for the link */
	WH_CLIENT_PROVING,
	WH_CLIENT_READY,
	WH_CLIENT_NO_LINK,
	WH_CLIENT_NO_ROUTE, /* no answer for the server's MAC address, or no gateway */
	WH_CLIENT_NARROW,   /* packets of the full MTU do not get through */
	WH_CLIENT_UNHEARD,  /* the question in the host's settings has no answer */
};

struct wh_client {
	struct wh_host *host;
	struct wh_address peer;
	struct wh_mtu_proof proof; /* owned by the core that sends for queue 0 */
	struct wh_neighbour_watch watch;
	uint64_t give_up_tsc;
	bool proved;  /* packets of the full MTU got through at the start */
	bool looking; /* a check is in progress */
	uint64_t next_look_tsc;
	uint32_t narrow_bytes; /* largest size that a later check got through; 0: all do */
	_Atomic int state;     /* enum wh_client_state, written by the core of `proof` */
};

/*
 * Adds the client's task to the loop of the first sending core. To be called before the runtime
 * runs. The link may take patience_ns to come up.
 */
void wh_client_init(struct wh_client *client, struct wh_host *host, const struct wh_address *peer,
	uint64_t patience_ns, uint64_t now_tsc);

/* Restarts the search after NO_LINK or NO_ROUTE, with that patience. */
void wh_client_look_again(struct wh_client *client, uint64_t patience_ns, uint64_t now_tsc);

enum wh_client_state wh_client_state(const struct wh_client *client);

/* The exit status for a client that did not become ready, after one sentence on stderr. */
int wh_client_conclude(const struct wh_client *client, const char *server);

/*
 * To be called after a job's failure was reported: if its peer did not answer, or was gone, prints
 * one more sentence about the likely reason, as far as the path has shown it.
 */
void wh_client_tell_hint(
	const struct wh_client *client, const struct wh_job *job, const char *server);
