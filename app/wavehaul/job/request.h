/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A job's complete request. A client's is made from the settings of a verb; a server's from HELLO,
 * within its operator's limits (hello.h). It is a plain value: what it points to is owned by its
 * maker, and must exist as long as any job that uses it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/choice.h"
#include "bundle/record.h"
#include "cli/cli_repair.h"
#include "cli/settings.h"
#include "host/bounds.h"
#include "profile/profile.h"
#include "sink/rules.h"
#include "trust/identity.h"

/* The paths to read, or the single target to write; in HELLO or at this end. */
struct wh_request_paths {
	int root_fd; /* to which they are relative; -1: the process's own paths */
	const char *const *path;
	uint32_t count;
	bool into_folder; /* a target: a folder, whether it exists or not */
	bool as_name;     /* a target: a file name, even if a folder has it */
	bool by_match;    /* into_folder is guessed from a wildcard there: READY may deny it */
	bool is_pipe;     /* here: a pipe instead of one file; non-blocking */
	/*
	 * The pipe is a socket, whose writer ends it by shutdown(2). If it is closed without that,
	 * the writer has died, and the bytes are incomplete.
	 */
	bool is_shut;
	int pipe_fd;
	int64_t pipe_s; /* modification time for the file */
};

struct wh_request {
	enum wh_job_verb verb; /* IDLE until there is a request */
	uint32_t lanes;
	uint32_t ports; /* of the client, each of which is a path of each lane; 0: one */

	/* Of the data stream, if this end sends it; otherwise the request to the peer. */
	const struct wh_profile *profile;
	struct wh_profile_options options; /* the profile's */
	uint64_t rate_bps;                 /* of all lanes together; WH_RATE_MAX: no pacing */
	/* The bound of several jobs together. NULL: that of the job's peer, if it has one. */
	struct wh_shared_rate *shared_rate;
	uint32_t burst_pkts;             /* 0: the default for the host's cores */
	uint32_t payload_bytes;          /* the largest of a packet */
	struct wh_known_path known;      /* of the path to the peer, shared by all lanes */
	struct wh_repair_options repair; /* settled, except in a service's `own` */
	uint64_t memory_bytes;           /* at most, of the host's memory, for all lanes */

	/* The key of the requested server; unknown: any trusted one. */
	bool peer_known;
	uint8_t peer_id[WH_IDENTITY_BYTES];

	uint64_t peer_timeout_ns;
	uint64_t stall_timeout_ns;
	uint64_t pipe_timeout_ns; /* while the peer says that it waits for a pipe; 0: unlimited */

	/* send, get */
	enum wh_resume resume;
	bool asks_first; /* nothing goes ahead of the sink's answer: it did in an attempt before */
	struct wh_rules rules; /* for arriving files */
	bool recursive;
	struct wh_choice choice; /* a server's terms point into its job's HELLO */
	struct wh_request_paths here;
	struct wh_request_paths there; /* as in HELLO; a server's are all in `here` */

	/* bench */
	bool reverse; /* the server sends */
	uint64_t time_ns;
	uint64_t size_bytes; /* of all lanes together; 0: limited by time */
};

/* A rate beyond any line's means no pacing; shared rates are summed in 64 bits. */
static inline bool wh_rate_is_paced(uint64_t rate_bps)
{
	return rate_bps <= UINT64_C(1) << 56;
}

/* Whether the client's stream carries the job's data, and not only messages. */
static inline bool wh_verb_client_sends(uint32_t verb, bool reverse)
{
	return verb == WH_JOB_SEND || (verb == WH_JOB_BENCH && !reverse);
}

/* bench: bytes to be sent by one of its lanes; 0: limited by time. */
uint64_t wh_request_lane_bytes(const struct wh_request *request, uint32_t lane);

/* The initial rate of one of its lanes, > 0; WH_RATE_MAX: none. */
uint64_t wh_request_lane_bps(const struct wh_request *request);

/* One lane's part of what is known of the shared path. */
struct wh_known_path wh_request_lane_known(const struct wh_request *request);

/*
 * Sets a session's timeouts and pacing, and the profile's options if the profile is the request's:
 * for streams to us, and for ours once their profile is set.
 */
void wh_request_apply(const struct wh_request *request, struct wh_session_config *config);

/*
 * For our stream also profile, sizes of packets and chunks, and repair. `bundle`: the stream
 * carries the job's data; otherwise answers, which are few and urgent, and small enough for
 * retransmission: they have no repair packets.
 */
void wh_request_configure(const struct wh_request *request, bool bundle,
	const struct wh_peer_bounds *bounds, struct wh_session_config *config);
