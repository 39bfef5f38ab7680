/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_CLIENT_H
#define WH_APP_CLIENT_H

/*
 * The way to a server, before and while there are jobs with it (lanes.h): the link, the proof that
 * packets of the whole MTU reach the server and come back, and what is said of them on the way. A
 * process has one for each of its servers.
 */

#include <stdatomic.h>

#include "host/host.h"
#include "job/jobs.h"
#include "neighbour/mtu_proof.h"

enum wh_client_state {
	WH_CLIENT_LINK = 0, /* waits for it */
	WH_CLIENT_PROVING,
	WH_CLIENT_READY,
	WH_CLIENT_NO_LINK,
	WH_CLIENT_NO_WAY, /* nobody answers for the server's address, or there is no gateway */
	WH_CLIENT_NARROW, /* packets of the whole MTU do not get through */
};

struct wh_client {
	struct wh_host *host;
	struct wh_address peer;
	struct wh_mtu_proof proof; /* of the core that sends for queue 0 */
	struct wh_neighbour_watch watch;
	uint64_t give_up_tsc;
	bool proved;  /* packets of the whole MTU got through at the start */
	bool looking; /* whether they still do */
	uint64_t next_look_tsc;
	uint32_t narrow_bytes; /* under way: no more than this gets through; 0: all does */
	_Atomic int state;     /* enum wh_client_state, written by that core */
};

/*
 * Adds the process to the loop of the first sending core; before wh_host_run. The link has
 * patience_ns to come up.
 */
void wh_client_init(struct wh_client *client, struct wh_host *host, const struct wh_address *peer,
	uint64_t patience_ns, uint64_t now_tsc);

/* Of one that found no link or no way: it looks for them anew, for as long. */
void wh_client_look_again(struct wh_client *client, uint64_t patience_ns, uint64_t now_tsc);

enum wh_client_state wh_client_state(const struct wh_client *client);

/* The exit status for a client that did not become ready, after one sentence on stderr. */
int wh_client_conclude(const struct wh_client *client, const char *server);

/*
 * After the words about a job: where its peer did not answer, or was gone, one sentence more on
 * what may be behind it, as far as the path has told.
 */
void wh_client_tell_hint(
	const struct wh_client *client, const struct wh_job *job, const char *server);

#endif
