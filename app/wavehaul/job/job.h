/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * A job: its request, and its state at this end. Each part has one writer, named in its comment:
 * the maker (a client's verb; a server's core that accepts), the core that accepts the peer's
 * stream, or the job's worker.
 */

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "host/host_ctx.h"
#include "job/hello.h"
#include "job/lane_group.h"
#include "job/peers.h"
#include "job/pump.h"
#include "job/waits/watch.h"
#include "rpc/reader.h"
#include "rpc/rpc.h"
#include "sink/sink.h"
#include "source/source.h"
#include "stripe/stripe.h"

#define WH_ANSWER_CHUNKS 4 /* of streams of answers */

/* Names of sessions, in OPEN. */
#define WH_JOB_NAME   "job"
#define WH_REPLY_NAME "reply %016" PRIx64

/* State of the peer's session to us. */
enum wh_seat_state {
	WH_SEAT_FREE = 0,
	WH_SEAT_TAKING, /* being accepted */
	WH_SEAT_TAKEN,  /* `in` is set */
	WH_SEAT_SHUT,   /* the job has ended before */
};

enum wh_job_role {
	WH_AT_CLIENT = 0, /* sends the request */
	WH_AT_SERVER,     /* fulfils the request */
};

enum wh_job_state {
	WH_JOB_OPENING,  /* server: waits for HELLO; client: nothing done yet */
	WH_JOB_TOLD,     /* client: waits for READY */
	WH_JOB_REFUSING, /* server: the client is being told why */
	WH_JOB_RUNNING,
	WH_JOB_ENDING, /* the outcome is known; the peer is still being told */
	WH_JOB_OVER,   /* both sessions are gone */
};

struct wh_jobs;
struct wh_worker;

/* Memory of a session of ours. */
struct wh_job_memory {
	uint8_t *chunks; /* from the arena; NULL: none */
	uint64_t table_bytes;
	uint64_t charged_bytes; /* sum of both, charged to the peer */
};

/* Of the session that carried the data, at the job's end. */
struct wh_job_figures {
	struct wh_session_stats stats;
	uint64_t rtt_ns;
	uint64_t rtt_min_ns; /* 0: not measured */
	enum wh_limit limited_by;
	uint64_t cycles;            /* of this host's cores so far, in turns with work */
	uint64_t worker_cycles;     /* of these, for files, jobs and repair packets */
	uint64_t lateness_ns[3];    /* p50, p99, p99.9; at the sending end */
	struct wh_known_path found; /* at the sending end, if the job succeeded */
	bool digest_known;          /* of the last large file sent or received */
	struct wh_digest digest;
};

/* Its shard, peer and numbers. Written by the maker; a server's numbers by its worker. */
struct wh_job_place {
	uint32_t shard;
	struct wh_address peer;
	struct wh_peer *peer_entry; /* server: the peer's entry, while it has a place */
	uint32_t lane;              /* less than request.lanes */
	uint64_t transfer;          /* common to all its lanes */
	uint64_t reply;             /* number in the name of the server's stream */
};

/*
 * rights/: the rights of a server's peer. The number is written by the accepting core, the rest by
 * the worker.
 */
struct wh_job_rights {
	uint64_t number;        /* of the store's answer; 0: the peer was not identified */
	bool entered;           /* it counts as one of the peer's jobs */
	bool has_folder;        /* the right names a folder, which is open */
	int folder_fd;          /* that folder */
	bool blind;             /* it may not learn what is here */
	uint64_t rate_bps;      /* limit for what it gets; 0: none given */
	uint32_t changes;       /* of the store, at the last check */
	uint64_t counted_bytes; /* charged to the peer */
};

/* Callbacks on the core of the job's worker. Written by the maker. */
struct wh_job_listener {
	const _Atomic bool *gate; /* true: its stream may end; NULL: no condition */
	void (*on_file)(void *context, const struct wh_file_result *result);
	void (*on_report)(void *context, const struct wh_bench_report *report);
	const struct wh_rpc_listener *rpc; /* for a remote operation */
	void *context;
};

/* The peer's stream. Written by the accepting core until TAKEN; then only its memory changes. */
struct wh_job_seat {
	_Atomic int state; /* enum wh_seat_state */
	uint32_t shard;    /* of ours, by which it came */
	struct wh_session *in;
	struct wh_job_memory memory; /* the worker's once TAKEN */
};

/* Requests to a running job. Written by any core; the worker checks them. */
struct wh_job_wishes {
	_Atomic bool hurry;        /* to end */
	_Atomic uint64_t rate_bps; /* of its request; stays WH_RATE_MAX if it began so */
};

/* For any core to read. Written by the worker. */
struct wh_job_view {
	_Atomic int state;               /* enum wh_job_state */
	_Atomic uint64_t flow_began_tsc; /* first bytes were read here, or arrived */
	_Atomic uint64_t bytes_found;    /* found so far in this lane's bundle */
	_Atomic uint64_t files_found;    /* found so far in it */
	_Atomic bool all_found;          /* the search is complete */
	_Atomic uint64_t moved_bytes;    /* payload sent and acknowledged, or received */
	_Atomic uint64_t sent_pkts; /* sent; at the receiving end: received and found missing */
	_Atomic uint64_t lost_pkts; /* of those packets */
	_Atomic uint64_t retransmitted_pkts;
	_Atomic uint64_t repair_pkts; /* sent, or received */
	/* The next four: of the sending end. */
	_Atomic int limit_now;                 /* enum wh_limit */
	_Atomic uint64_t limit_tsc[WH_LIMITS]; /* time of each limit so far */
	_Atomic uint64_t rate_now_bps;
	_Atomic uint32_t window_now_pkts; /* 0: unknown, or unlimited */
	_Atomic uint64_t rtt_now_ns;
	_Atomic uint64_t rtt_min_ns; /* 0: not measured */
	_Atomic uint64_t wire_bytes; /* sent, each packet counted as a full one */
	struct wh_totals totals;     /* read by wh_job_totals */
};

/* Of a client: the seal of its streams. Written by the worker before they open. */
struct wh_job_sealed {
	enum wh_cipher cipher; /* 0: not sealed */
	uint8_t peer_id[WH_IDENTITY_BYTES];
};

/* Of a client: the values in READY. Written by the worker before the state is RUNNING. */
struct wh_job_ready {
	uint64_t began_tsc; /* 0 until READY came, as `queues` */
	uint16_t queues;
	/* Of the server's ports: first the one of this job. */
	struct wh_address peer[WH_READY_PORTS_MAX];
	uint32_t peers;
	bool as_name; /* as in the record */
};

/*
 * The result. Written by the worker; others read it once the state is ENDING, the figures once
 * OVER.
 */
struct wh_job_result {
	enum wh_release_status failed; /* PENDING: no failure */
	char why[256];
	bool stalled;       /* noticed by our watch: `why` says who waits for whom */
	int refused_error;  /* errno in REFUSED */
	uint8_t peer_least; /* packet versions of the server, if they exclude ours; else 0 */
	uint8_t peer_most;
	uint64_t ended_tsc;
	struct wh_bench_report final; /* when the last byte had arrived */
	struct wh_tally tally;        /* of a remote operation, from the server */
	struct wh_job_figures figures;
};

/* Times of the worker's steps. Written by the worker after the job's arrival. */
struct wh_job_turn {
	uint64_t came_tsc;
	uint64_t worked_tsc;
	uint64_t noted_tsc;   /* of the last update of `view` */
	uint64_t give_up_tsc; /* for the awaited event */
	uint64_t led_tsc;     /* of a client's source that began before READY; else 0 */
};

/*
 * A session each way, between one of our ports and one of the peer's. Written by the worker, but
 * for the seat, like all following parts.
 */
struct wh_job_path {
	uint32_t shard;
	struct wh_address peer;
	struct wh_job_seat seat;
	struct wh_session *out; /* NULL: not opened */
	uint32_t out_chunks;
	struct wh_job_memory out_memory;
	bool in_left; /* released */
	bool out_left;
	bool in_gone;
	bool out_gone;
	/* Of a job with several paths (paths.h): */
	bool out_joined; /* our stream goes by it */
	bool in_joined;  /* the peer's does */
	bool summed[2];  /* it was left, and is in `left` */
	uint64_t opened_tsc;
	uint64_t due_tsc; /* when it is opened again */
};

#define WH_JOB_PATHS_MAX WH_STRIPE_PATHS_MAX

struct wh_path_sum {
	struct wh_session_stats stats;
	uint64_t moved_bytes;
	uint64_t lost_pkts;
	uint64_t rate_bps; /* of ours, now */
};

/* One stream each way by all paths. */
struct wh_job_stripe {
	struct wh_stripe_out out;
	struct wh_stripe_in in;
	bool hears;                 /* the peer's stream on the first path */
	struct wh_path_sum left[2]; /* of paths that are gone: the peer's stream, ours */
};

struct wh_job_streams {
	struct wh_job_stripe *stripe; /* NULL: there is one path */
	struct wh_sa *sa;             /* of all, held; NULL: not sealed */
	struct wh_job_path path[WH_JOB_PATHS_MAX];
	_Atomic uint32_t main; /* the path on which the job began, or another if that has ended */
};

/* Single records before the bundle, or of a bench. */
struct wh_job_records {
	char **paths;             /* server: those of request.here, NUL-terminated */
	char *file;               /* server: the first one that came into its target; NULL: none */
	uint32_t posted;          /* chunks of single records that were sent */
	uint64_t record_bytes;    /* received, in chunks of one record */
	struct wh_chunk *reading; /* between wh_job_read and wh_job_read_done */
	struct wh_chunk end_marker;
	uint8_t their_version; /* of the last HELLO of an unknown version */
	uint64_t their_reply;  /* the number in that HELLO */
};

/* State shared with the other lanes of its transfer. */
struct wh_job_lanes {
	struct wh_lane_group *lane_group; /* NULL: it is the only lane */
	struct wh_lane_share share;       /* of the rate of all lanes; share NULL: none */
};

/* The reading, writing or measuring end. */
struct wh_job_ends {
	struct wh_source *source;
	struct wh_sink *sink;
	struct wh_rpc *rpc;               /* server */
	struct wh_mailbox_place *mailbox; /* server, of a client that gives an order */
	uint64_t polled_tsc;              /* of the last poll */
	struct wh_rpc_reader *reader;     /* client, of a remote operation */
	struct wh_pump pump;              /* session NULL: unused */
	bool sink_told;                   /* the end of the peer's stream was reported */
	struct wh_bench_report reported;  /* sending client: the server's last report */
	uint64_t next_report_tsc;
	bool reports_ended;
};

/* waits/: whether there is progress, here and at the peer. */
struct wh_job_waits {
	struct wh_watch watch;
	uint64_t worked; /* amount of work done here */
	uint64_t next_tell_tsc;
	uint64_t told_bytes;  /* sent at the last message to the peer */
	uint64_t waits_heard; /* number of the peer's messages then */
	bool rate_untold;     /* a new rate is requested, and the peer was not told yet */
	uint64_t rate_told_bps;
	uint64_t rate_heard_bps; /* last rate requested by the peer */
};

struct wh_job {
	TAILQ_ENTRY(wh_job) next;     /* in the worker's list */
	TAILQ_ENTRY(wh_job) awaiting; /* streams of its peer: in that list, under its lock */
	bool awaits;
	struct wh_jobs *jobs; /* written by the maker, as are the next two */
	struct wh_worker *worker;
	enum wh_job_role role;
	struct wh_request request; /* a server's worker replaces it according to HELLO */
	struct wh_job_place place;
	struct wh_job_rights rights;
	struct wh_job_listener listener;
	struct wh_job_wishes wishes;
	struct wh_job_view view;
	struct wh_job_sealed sealed;
	struct wh_job_ready ready;
	struct wh_job_result result;
	struct wh_job_turn turn;
	struct wh_job_streams streams;
	struct wh_job_records records;
	struct wh_job_lanes lanes;
	struct wh_job_ends ends;
	struct wh_job_waits waits;
};

TAILQ_HEAD(wh_job_list, wh_job);

/*
 * A client's job for one of the request's lanes, not started: the caller sets the rest of its
 * place, and the listener. When it is over, the caller may read it, and frees it. NULL: out of
 * memory.
 */
struct wh_job *wh_job_create(struct wh_jobs *jobs, const struct wh_request *request, uint32_t lane);

/* Hands it to a worker. */
void wh_job_start(struct wh_job *job, uint64_t now_tsc);
void wh_job_free(struct wh_job *job);

/*
 * When the job's flow ended. A failed job's flow ended with its last progress: the silence before a
 * failure moved nothing.
 */
static inline uint64_t wh_job_flowed_tsc(const struct wh_job *job)
{
	uint64_t progress_tsc = job->waits.watch.progress_tsc;

	return job->result.failed != WH_STATUS_PENDING && progress_tsc != 0 ? progress_tsc
									    : job->result.ended_tsc;
}

/* Any core, while the job exists: asks it to end. */
static inline void wh_job_hurry(struct wh_job *job)
{
	atomic_store_explicit(&job->wishes.hurry, true, memory_order_relaxed);
}

/*
 * Any core, while the job exists: applies the changeable part of `request`, its rate, to the job;
 * if the peer sends, it is asked to apply it. False: the job has no rate, or the new one is none.
 */
bool wh_job_change(struct wh_job *job, const struct wh_request *request);

/*
 * job_memory.c: memory of sessions, charged to their peers.
 *
 * The number of chunks for the sender of a bundle.
 */
uint32_t wh_job_sender_chunks(const struct wh_job *job, uint64_t stride_bytes);
/* The number of chunks that a receiver of such a stream can use. */
uint32_t wh_job_chunks_wanted(uint32_t window_pkts, uint32_t payload_bytes, uint32_t chunk_bytes);
/* The host's buffer size for a single session to have this much. */
uint64_t wh_jobs_buffers_for(uint64_t chunk_bytes);
uint32_t wh_job_receiver_chunks(
	const struct wh_job *job, const struct wh_open_params *params, uint64_t stride_bytes);
uint8_t *wh_job_take_memory(struct wh_job *job, struct wh_job_path *path, enum wh_role role,
	const struct wh_session_config *config);
void wh_job_give_memory(struct wh_job *job, struct wh_job_path *path, enum wh_role role);

/* The account for lists of blocks, while its ends are open. */
struct wh_blocks_account wh_job_lists(struct wh_job *job);

/* Chunks guaranteed to a new session if there is memory for them. */
#define WH_JOB_CHUNKS_MIN 4

/* Logs a line about a job's peer, unless there are too many. */
void wh_job_say(const struct wh_job *job, uint64_t now_tsc, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The rate that all sessions of the job's peer share; NULL: unlimited. */
static inline struct wh_shared_rate *wh_job_shared_rate(const struct wh_job *job)
{
	struct wh_peer *peer_entry = job->place.peer_entry;
	struct wh_shared_rate *rate =
		peer_entry != NULL ? &peer_entry->rate : job->request.shared_rate;

	return rate != NULL && wh_shared_rate_bps(rate) != 0 ? rate : NULL;
}

/* Idle jobs get no reply. */
static inline bool wh_job_awaits_reply(const struct wh_job *job)
{
	return job->role == WH_AT_CLIENT && job->request.verb != WH_JOB_IDLE;
}

/* Whether this end sends the data. */
static inline bool wh_job_sends(const struct wh_job *job)
{
	const struct wh_request *request = &job->request;

	return request->verb != WH_JOB_IDLE &&
	       wh_verb_client_sends(request->verb, request->reverse) == (job->role == WH_AT_CLIENT);
}

/* Any core: whether it ended with a failure. */
static inline bool wh_job_has_failed(const struct wh_job *job)
{
	return atomic_load(&job->view.state) >= WH_JOB_ENDING &&
	       job->result.failed != WH_STATUS_PENDING;
}

/* Any core: whether the job belongs to its maker again. */
static inline bool wh_job_is_over(const struct wh_job *job)
{
	return atomic_load_explicit(&job->view.state, memory_order_acquire) == WH_JOB_OVER;
}

/*
 * figures.c: what others read of a job. The worker notes the files so far, what is found of them
 * and the flow of `span_tsc`; and when the session that carried the data is done, its figures.
 */
void wh_job_note_totals(struct wh_job *job, const struct wh_totals *totals);
void wh_job_note_found(struct wh_job *job, uint64_t files, uint64_t bytes, bool all);
void wh_job_note_flow(struct wh_job *job, uint64_t span_tsc);
void wh_job_take_figures(struct wh_job *job);

/* What waits for a port or NIC that is full is limited by the line: shares of time, in any unit. */
void wh_job_port_limits(const struct wh_host_ctx_counts *counts, uint64_t limit[WH_LIMITS]);

/* Any core: the files so far. */
struct wh_totals wh_job_totals(const struct wh_job *job);

/* Counters of the receiving end of a bench. */
void wh_bench_count(const struct wh_job *job, uint64_t now_tsc, struct wh_bench_report *report);

/*
 * waits/: wh_job_see_waits tells the peer about this end's waits, and ends a job without progress.
 * wh_job_fail_stalled lets a job fail; result.why then says who waits for whom.
 */
void wh_job_see_waits(struct wh_job *job, uint64_t now_tsc);
void wh_job_fail_stalled(struct wh_job *job, uint64_t now_tsc);

/*
 * rights/: for a server's job with a known request. wh_job_claim_rights limits its paths and rate
 * to the peer's rights; false: the peer has no right to this request, and `why` is for the peer.
 * wh_job_see_rights checks, while the job runs, whether the right still holds.
 */
#define WH_RIGHTS_WHY_BYTES 300
bool wh_job_claim_rights(struct wh_job *job, char why[WH_RIGHTS_WHY_BYTES]);
bool wh_job_see_rights(struct wh_job *job, uint64_t now_tsc);
void wh_job_drop_rights(struct wh_job *job);

/* A server waits this long for HELLO, which a client sends with its first packets. */
#define WH_HELLO_PATIENCE_S 5

/* Whether the peer is silent at present, so that its progress cannot be judged. */
static inline bool wh_job_hears_nothing(
	const struct wh_session *session, uint64_t hz, uint64_t now_tsc)
{
	return now_tsc > wh_session_heard_tsc(session) + WH_SESSION_SILENT_S * hz;
}

/* as_server.c, as_client.c: one step of a job that has not ended; returns the amount of work */
int32_t wh_job_server_step(struct wh_job *job, uint64_t now_tsc);
int32_t wh_job_client_step(struct wh_job *job, uint64_t now_tsc);

/* job_state.c: common to both sides */

/* Worker: the only way to change the state; once OVER it belongs to the maker again. */
void wh_job_enter(struct wh_job *job, enum wh_job_state state);

/* Worker, between two steps: asserts that its parts are consistent. */
void wh_job_check(const struct wh_job *job);

static inline struct wh_job_path *wh_job_main(const struct wh_job *job)
{
	uint32_t main = atomic_load_explicit(&job->streams.main, memory_order_relaxed);

	return (struct wh_job_path *)&job->streams.path[main];
}

/* The peer's session, NULL before there is one. */
static inline struct wh_session *wh_path_in(const struct wh_job_path *path)
{
	return atomic_load_explicit(&path->seat.state, memory_order_acquire) == WH_SEAT_TAKEN
		       ? path->seat.in
		       : NULL;
}

static inline struct wh_session *wh_job_in(const struct wh_job *job)
{
	return wh_path_in(wh_job_main(job));
}

/* Opens our session; false: no memory or place. With `bundle` it has a rate and large chunks. */
bool wh_job_open_out(struct wh_job *job, struct wh_job_path *path, const char *name, bool bundle);

/* Call when the request is known: joins the other lanes of its transfer, if any. 0 or -errno. */
int wh_job_join(struct wh_job *job);

/* Notes that the peer's stream was received and processed completely. */
void wh_job_tell_sink_done(struct wh_job *job);

/* Sends a chunk with one record; false: no chunk is free now. */
bool wh_job_post(struct wh_job *job, const struct wh_record *record);
void wh_job_post_end(struct wh_job *job);

/* Reads the first record of the peer's next chunk: > 0 success, 0 not yet, < 0 invalid. */
int wh_job_read(struct wh_job *job, struct wh_record *record);

/* Gives back the chunk to which wh_job_read's record points. */
void wh_job_read_done(struct wh_job *job);

/*
 * ends.c: opens the reading, writing, examining or measuring end. The peer's stream begins with one
 * record, ours with those posted. 0 or a negative errno, and for a sink what failed.
 */
int wh_job_open_end(struct wh_job *job, uint64_t now_tsc, enum wh_doing *doing);

/* step.c: polls source, sink or pump, and updates the state of both sessions. */
int32_t wh_job_run(struct wh_job *job, uint64_t now_tsc);
int32_t wh_job_run_source(struct wh_job *job, uint64_t now_tsc);

/* Lets the job fail for that reason; it ends with the next step. The first reason remains. */
void wh_job_fail(struct wh_job *job, enum wh_release_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Begins the end of the job; steps to the end follow. */
void wh_job_end(struct wh_job *job, uint64_t now_tsc);

/* Fails and ends the job at once, with that reason. */
void wh_job_give_up(
	struct wh_job *job, uint64_t now_tsc, enum wh_release_status status, const char *why);

/* One step of an ending job; true when it is over. */
bool wh_job_step_to_end(struct wh_job *job, uint64_t now_tsc);

/* Closes source, sink and pump, which discards what the sink has not committed. */
void wh_job_close_ends(struct wh_job *job);
