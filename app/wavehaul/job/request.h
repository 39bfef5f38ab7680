/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef WH_APP_REQUEST_H
#define WH_APP_REQUEST_H

/*
 * All that one job wants. A verb makes a client's request from its settings; a server makes its
 * part from HELLO, within what its operator allows (hello.h). A request is a plain value: what it
 * points to stays its maker's, and there, for as long as a job goes by it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "bundle/choice.h"
#include "bundle/record.h"
#include "cli/repair.h"
#include "cli/settings.h"
#include "host/bounds.h"
#include "profile/profile.h"
#include "sink/rules.h"
#include "trust/identity.h"

/* What is read, or the one target that is written; in HELLO or at this end. */
struct wh_request_paths {
	int root_fd; /* they are below; -1: they are as the process sees them */
	const char *const *path;
	uint32_t count;
	bool into_folder; /* a target: a folder, whatever is there now */
	bool as_name;     /* a target: a name, even if a folder has it */
	bool is_pipe;     /* here: in place of one file; its end never waits */
	int pipe_fd;
	int64_t pipe_s; /* the file's time */
};

struct wh_request {
	enum wh_job_verb verb; /* IDLE, too, as long as nothing was asked for */
	uint32_t lanes;

	/* Of the stream with the data, where it goes out from this end; else what is asked for. */
	const struct wh_profile *profile;
	struct wh_profile_options options; /* the profile's */
	uint64_t rate_bps;                 /* of all lanes together; WH_RATE_MAX: no pacing */
	uint32_t burst_pkts;               /* 0: as suits the host's cores */
	uint32_t payload_bytes;            /* of a packet, at most */
	struct wh_known_path known;        /* of the way there; all lanes share it */
	struct wh_repair_options repair;   /* settled, but for those that a service begins with */
	uint64_t memory_bytes;             /* of the host's, at most; of all lanes together */

	/* The one server that is meant, by its key; not known: any that is trusted. */
	bool peer_known;
	uint8_t peer_id[WH_IDENTITY_BYTES];

	uint64_t peer_timeout_ns;
	uint64_t stall_timeout_ns;
	uint64_t pipe_timeout_ns; /* while the peer says that it waits for a pipe; 0: for ever */

	/* send, get */
	enum wh_resume resume;
	struct wh_rules rules; /* where files come */
	bool recursive;
	struct wh_choice choice; /* a server's terms are those of its job's HELLO */
	struct wh_request_paths here;
	struct wh_request_paths there; /* as HELLO says them; a server's are all here */

	/* bench */
	bool reverse; /* the server sends */
	uint64_t time_ns;
	uint64_t size_bytes; /* of all lanes together; 0: by time */
};

/* More than any line has is as good as none; what all lanes share is counted in 64 bits. */
static inline bool wh_rate_is_paced(uint64_t rate_bps)
{
	return rate_bps <= UINT64_C(1) << 56;
}

/* Whether the client's stream carries what the job is for, and not only what it has to say. */
static inline bool wh_verb_client_sends(uint32_t verb, bool reverse)
{
	return verb == WH_JOB_SEND || (verb == WH_JOB_BENCH && !reverse);
}

/* bench: what one of its lanes is to send; 0: by time. */
uint64_t wh_request_lane_bytes(const struct wh_request *request, uint32_t lane);

/* The rate of one of its lanes to begin with, > 0; WH_RATE_MAX: none. */
uint64_t wh_request_lane_bps(const struct wh_request *request);

/* What one of its lanes is to know of the way that they share. */
struct wh_known_path wh_request_lane_known(const struct wh_request *request);

/*
 * How long a session waits for its peer, how it sends, and its profile's options if that is the
 * request's: of streams to us and of ours, whose profile is known.
 */
void wh_request_apply(const struct wh_request *request, struct wh_session_config *config);

/*
 * Of our stream, besides: profile, sizes of packets and chunks, and repair. `bundle`: the stream is
 * what the job is for; else it carries answers, which are few and urgent, and small enough to be
 * asked for: they have no repair packets.
 */
void wh_request_configure(const struct wh_request *request, bool bundle,
	const struct wh_peer_bounds *bounds, struct wh_session_config *config);

#endif
